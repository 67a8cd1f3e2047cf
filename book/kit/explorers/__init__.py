"""Small machines in the page that a reader can turn.

Not taught. Each module makes one: `Explorer` writes a custom element whose
children, a table or a sentence, are what a reader sees without a script. The
scripts beside the modules draw the rest, on the site and in a notebook.

A new one is a module with one function, `<name>_explorer`, which returns
`Explorer(tag, fallback, **attributes)`: the fallback is computed by the
library, attributes are JSON. `<tag>.js` is a plain script on `core.js`:
`static state` has the fields that a reader chooses, `build(root)` makes it,
`update()` draws it; what is made anew keeps the focus by its `data-key`.
`fullest` gives states that need most room: the frame keeps that height.
`this.slider`, `toggle`, `choice` and `select` make controls, `this.part` what
is drawn each time; colours are `var(--fg)`, `--hi`, `--c-query`. The chapter
has a sentence that says what to do, a cell with that one call and the tags
`hide-input` and `explorer`, a question that only its use can answer, and a
check of the answer. `sample()` in
tests/browser/explorers/test_<name>.py enters it in what every explorer is
asked; there, what it shows is compared with torch. The date model and the
lab run in the page: `engine.js` has the modules of lib/ once more, with their
gradients, and `trainer.js` trains them.
"""

import html
import json
from pathlib import Path

FOLDER = Path(__file__).parent


def source(names: list[str]) -> str:
    """The text of scripts of this folder, for a page that cannot load them."""
    texts = (FOLDER / f"{name}.js" for name in names)
    return "\n".join(path.read_text(encoding="utf-8") for path in texts)


class Explorer:
    """A custom element with what stands in its place without a script.

    Args:
        tag: its name, which is that of its script too.
        fallback: HTML that says the same, with the values it starts with.
        scripts: more scripts of this folder that its own one needs.
        attributes: fields of the script, as `this.name`; anything that JSON
            can say.
    """

    later = ()  # scripts that a page loads when a reader asks for them

    def __init__(self, tag, fallback, scripts=(), **attributes):
        self.tag, self.fallback = tag, fallback
        self.scripts = ["core", *scripts, tag]
        self.attributes = attributes

    def element(self) -> str:
        """The element alone: what a page of the site needs."""
        data = "".join(
            f' data-{name.replace("_", "-")}="{as_json(value)}"'
            for name, value in self.attributes.items()
        )
        scripts = " ".join(self.scripts)
        return (
            f'<{self.tag} class="explorer" data-scripts="{scripts}"{data}>\n'
            f"{self.fallback}\n</{self.tag}>"
        )

    def _repr_html_(self) -> str:
        """With its scripts inside, for a notebook, which can ask nobody."""
        script = source([*self.later, *self.scripts])
        return f"{self.element()}\n<script data-explorer>{script}</script>"

    def __repr__(self) -> str:
        return f"<{self.tag}, to be used in a browser>"


def as_json(value) -> str:
    """A value for an attribute."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return html.escape(text)


def table(caption: str, columns: list[str], rows) -> str:
    """A table as a fallback: a heading for each row and each column.

    Args:
        caption: what it shows.
        columns: their headings, that of the row headings first.
        rows: the heading of each row with its cells, as pairs or a dict.
    """
    said = html.escape
    head = "".join(f'<th scope="col">{said(name)}</th>' for name in columns)
    lines = []
    for name, cells in rows.items() if isinstance(rows, dict) else rows:
        filled = "".join(f"<td>{said(str(cell))}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{said(name)}</th>{filled}</tr>')
    return (
        f"<table><caption>{said(caption)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n"
        "<tbody>" + "\n".join(lines) + "</tbody></table>"
    )
