"""What Colab opens: the chapters with the address in their first cell.

Beside them lies all that they run on, so that a notebook fetches the very
state of the book that it belongs to.
"""

from pathlib import Path

from tools.chapters import sync
from tools.source import colab
from tools.source.address import Place
from tools.source.taught import notebooks

README = """\
# Notebooks

`make publish` has written these from `{branch}` of {url}: the chapters, with
that address in their first cells, and what they run on. Change them there.
"""


def write(folder: Path, place: Place, tracked: list[str], root: Path) -> None:
    """Fill an empty folder with all that the branch is to hold.

    Args:
        folder: to be filled.
        place: whose address the notebooks carry.
        tracked: the files of the book, seen from its root.
        root: of the book.
    """
    student = colab.student_path(root)
    kept = (*colab.COPIED, *colab.LICENCES, *filter(None, [student]))
    inside = tuple(f"{name}/" for name in kept)
    for name in tracked:
        if name in kept or name.startswith(inside):
            put(folder / name, (root / name).read_bytes())
    paths = notebooks(root)
    paths += sorted((root / student).glob("*.ipynb")) if student else []
    for path in paths:
        name = path.relative_to(root)
        put(folder / name, with_address(path, name, place, root).encode())
    text = README.format(branch=place.branch, url=place.url)
    put(folder / "README.md", text.encode())


def put(path: Path, content: bytes) -> None:
    """Write a file into a folder that may not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def with_address(path: Path, name: Path, place: Place, root: Path) -> str:
    """A notebook that fetches the branch in which it lies, as text."""
    notebook = sync.read(path)
    here = Place(place.url, place.notebooks)
    count = sync.code_cells(notebook)[0].execution_count
    colab.put_first_cell(notebook, colab.first_cell(here, colab.pins(root)))
    sync.code_cells(notebook)[0].execution_count = count
    badge = colab.badge(here, name.name, name.parent.as_posix())
    colab.put_badge(notebook, badge)
    return sync.to_text(notebook)
