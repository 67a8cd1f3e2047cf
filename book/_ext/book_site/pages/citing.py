"""How to cite the book: the directive `citation`, from CITATION.cff.

    ```{citation} bibtex
    ```

The styles are `text`, `apa` and `bibtex`.
"""

from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ..frame.repository import repository

FILE = "CITATION.cff"


def read(root: Path) -> dict:
    """What the citation file says."""
    return yaml.safe_load((root / FILE).read_text(encoding="utf-8"))


def authors(data: dict) -> list[str]:
    """Each author, family name first where there is one."""
    return [
        person.get("name")
        or ", ".join(person[p] for p in ("family-names", "given-names"))
        for person in data["authors"]
    ]


def address(data: dict, found: str) -> str:
    """Where the book is; nothing as long as nobody has said it."""
    return data.get("url") or data.get("repository-code") or found


def as_text(data: dict, url: str) -> str:
    names = " and ".join(authors(data))
    day = data["date-released"]
    text = f"{names}: {data['title']}. Edition {data['version']}, {day}."
    return f"{text} {url}" if url else text


def as_apa(data: dict, url: str) -> str:
    names = ", & ".join(authors(data))
    year = str(data["date-released"])[:4]
    title = f"{data['title']} (Version {data['version']})"
    text = f"{names} ({year}). {title} [Computer software]."
    return f"{text} {url}" if url else text


def as_bibtex(data: dict, url: str) -> str:
    """An entry that every BibTeX style understands."""
    given = ["family-names" in person for person in data["authors"]]
    names = [
        name if has_family else f"{{{name}}}"
        for name, has_family in zip(authors(data), given, strict=True)
    ]
    fields = {
        "author": " and ".join(names),
        "title": f"{{{data['title']}}}",
        "year": str(data["date-released"])[:4],
        "note": f"Edition {data['version']}",
    }
    if url:
        fields["url"] = url
    width = max(map(len, fields))
    lines = [f"  {k:{width}} = {{{v}}}," for k, v in fields.items()]
    key = "".join(word[0] for word in data["title"].split()).lower()
    return "\n".join([f"@misc{{{key}{fields['year']},", *lines, "}"])


STYLES = {"text": as_text, "apa": as_apa, "bibtex": as_bibtex}


class CitationDirective(SphinxDirective):
    """The book in a style of citation, as a box to copy from."""

    required_arguments = 1

    def run(self):
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / FILE))
        data, known = read(root), repository(self.env.app)
        url = address(data, known.url if known else "")
        text = STYLES[self.arguments[0]](data, url)
        language = "bibtex" if self.arguments[0] == "bibtex" else "text"
        box = nodes.literal_block(text, text, language=language)
        return [nodes.container("", box, classes=["citation-box"])]


def setup(app):
    app.add_directive("citation", CitationDirective)
