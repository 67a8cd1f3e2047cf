"""What Chromium does not write into the file, or not the same twice."""

from io import BytesIO
from pathlib import Path

import pikepdf


def places(pdf: bytes) -> dict[str, int]:
    """The page of every place that a link of the book leads to."""
    with pikepdf.open(BytesIO(pdf)) as book:
        numbers = {page.objgen: n for n, page in enumerate(book.pages, 1)}
        return {
            name.lstrip("/"): numbers[place[0].objgen]
            for name, place in book.Root.Dests.items()
        }


def close_sections(book: pikepdf.Pdf) -> None:
    """A reader first sees the parts and chapters among the bookmarks."""
    with book.open_outline() as outline:
        for part in outline.root:
            part.is_closed = False
            for chapter in part.children:
                chapter.is_closed = True


def write(pdf: bytes, contents: dict, path: Path) -> None:
    """Put the book into its place, with its authors and without a date."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with pikepdf.open(BytesIO(pdf)) as book:
        close_sections(book)
        del book.docinfo
        book.docinfo["/Title"] = contents["title"]
        book.docinfo["/Author"] = contents["author"]
        book.docinfo["/Subject"] = f"Edition {contents['edition']}"
        book.Root.Lang = "en-GB"
        book.Root.PageMode = pikepdf.Name.UseOutlines
        book.save(
            part,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            deterministic_id=True,
        )
    part.replace(path)
