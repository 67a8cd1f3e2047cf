"""How to cite the book: the directive `citation`, from CITATION.cff.

    ```{citation} bibtex
    ```

The styles are `text`, `apa` and `bibtex`, an entry that every BibTeX style
understands.
"""

from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ..frame.repository import repository

FILE = "CITATION.cff"
NAME = ("family-names", "given-names", "name")  # the last one of a group
STYLES = {
    "text": "{}: {title}. Edition {version}, {date}. {url}",
    "apa": "{} ({year}). {title} (Version {version}) "
    "[Computer software]. {url}",
    "bibtex": """\
@misc{{{key}{year},
  author = {{{}}},
  title  = {{{{{title}}}}},
  year   = {{{year}}},
  note   = {{Edition {version}}},
  url    = {{{url}}},
}}""",
}
BETWEEN = {"text": " and ", "apa": ", & ", "bibtex": " and "}


def cited(data: dict, style: str, known: str) -> str:
    """The book in a style of citation.

    Args:
        data: what the citation file says.
        known: the address of the repository, "" as long as nobody has said it.
    """
    people = []
    for person in data["authors"]:
        name = ", ".join(person[part] for part in NAME if part in person)
        # A group's name is no "first last".
        is_whole = style == "bibtex" and "name" in person
        people.append(f"{{{name}}}" if is_whole else name)
    text = STYLES[style].format(
        BETWEEN[style].join(people),
        title=data["title"],
        version=data["version"],
        date=data["date-released"],
        year=str(data["date-released"])[:4],
        key="".join(word[0] for word in data["title"].split()).lower(),
        url=data.get("url") or data.get("repository-code") or known,
    )
    return text.replace("  url    = {},\n", "").rstrip()


class CitationDirective(SphinxDirective):
    """The book in a style of citation, as a box to copy from."""

    required_arguments = 1

    def run(self):
        path, style = Path(self.env.srcdir, FILE), self.arguments[0]
        self.env.note_dependency(str(path))
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        known = repository(self.env.app)
        text = cited(data, style, known.url if known else "")
        language = "bibtex" if style == "bibtex" else "text"
        box = nodes.literal_block(text, text, language=language)
        return [nodes.container("", box, classes=["citation-box"])]


def setup(app):
    app.add_directive("citation", CitationDirective)
