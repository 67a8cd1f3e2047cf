"""Outputs of notebooks: what a page shows of them, and what stops a build."""

import contextlib
import re
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook, new_output

from book._ext.book_site.source import notebook as view
from book._ext.book_site.source.outputs import Refused, clean, cleaned

TABLE = (
    '<table border="1" class="dataframe"><caption>A &amp; B</caption>'
    '<thead><tr><th scope="col" style="text-align: right;">a</th></tr></thead>'
    '<tbody><tr><td colspan="2">1 &lt; 2</td></tr></tbody></table>'
)
DRAWING = (
    '<svg viewBox="0 0 9 9" role="img" aria-label="x"><title>T</title>'
    '<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs>'
    '<rect x="1" fill="url(#g)" stroke-width="2"/>'
    '<a href="05_heads.html#x"><text y="2">5 × 5</text></a></svg>'
)
# Each breaks one rule, and a few would if a rule were read loosely.
HOSTILE = [
    "<script>alert(1)</script>",
    "<svg><script>alert(1)</script></svg>",
    "<p ONCLICK=alert(1)>x</p>",
    '<img src="x.png"onerror="alert(1)">',
    '<a href="JaVaScRiPt:alert(1)">x</a>',
    '<a href="java&#10;script:alert(1)">x</a>',
    '<a href="https:\\harm.example">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
    '<svg><animate attributeName="href" to="javascript:alert(1)"/></svg>',
    "<svg><foreignObject></foreignObject></svg>",
    "<svg><p>x</p></svg>",
    '<svg><rect fill="URL( //harm.example/x )"/></svg>',
    "<rect/>",
    "<iframe></iframe>",
    "<h1>A second title</h1>",
    "<evil-element>x</evil-element>",
    '<img src="//harm.example/x.png" alt="">',
    '<img src="data:image/svg+xml;base64,PHN2Zz4=" alt="">',
    '<p style="background: url(x.png)">x</p>',
    '<p style="background:\\75rl(x)">x</p>',
    '<p style="position: fixed; width: 100%">x</p>',
    "<!-- a comment -->",
    "<?xml version='1.0'?>",
    "<![CDATA[<script>alert(1)</script>]]>",
]


def same(html):
    """What it says, however its attributes are ordered and quoted."""
    spelt = {*re.findall("[<a-z]+[A-Z][A-Za-z]+", html)}  # <linearGradient
    return BeautifulSoup(html, "html.parser"), spelt


def test_a_table_and_a_drawing_stay_but_for_the_style_of_pandas():
    style = "<style scoped>th { color: red }</style>"
    shown = cleaned(f"<div>{style}{TABLE}{DRAWING}</div>")
    assert same(shown) == same(f"<div>{TABLE}{DRAWING}</div>")


def test_what_does_not_end_is_ended():
    assert cleaned("<p>x</div>") == "<p>x</p>"


def test_what_could_do_harm_is_refused():
    shown = []
    for html in [*HOSTILE, *(f"<div>{html}</div>" for html in HOSTILE)]:
        with contextlib.suppress(Refused):
            shown.append((html, cleaned(html)))
    assert shown == []


SAFE = {"text/plain": "x", "image/png": "aGk=", "text/latex": "$x$"}


@pytest.mark.parametrize(
    "data, refused",
    [
        (SAFE, []),
        ({"application/javascript": "1"}, ["of this kind"]),
        ({"application/vnd.jupyter.widget-view+json": 1}, ["of this kind"]),
        ({"image/svg+xml": DRAWING}, []),
        ({"image/svg+xml": "<svg><script/></svg>"}, ["<script>"]),
        ({"text/markdown": "**1** < 2"}, []),
        ({"text/markdown": "a <!-- x -->"}, ["HTML in Markdown"]),
        ({"text/markdown": "<SCRIPT>"}, ["HTML in Markdown"]),
    ],
)
def test_of_an_output_the_kinds_are_left_that_a_page_may_show(data, refused):
    output, said = new_output("display_data", SAFE | data), []
    clean(output, said.append)
    assert output.data.keys() == (SAFE if refused else SAFE | data).keys()
    assert said == [
        f"{kind}: {why}" for kind, why in zip(data, refused, strict=False)
    ]


def test_a_page_names_the_notebook_whose_output_it_refuses(caplog):
    output = new_output("display_data", {"text/html": "<script>1</script>"})
    cell = new_code_cell("show()", outputs=[output])
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda n: f"{n}.ipynb"))
    content = [nbformat.writes(new_notebook(cells=[cell]))]
    view.rewrite_notebook(app, "book/05_heads", content)
    assert "<script" not in content[0]
    (record,) = caplog.records  # and a warning fails the build
    assert record.levelname == "WARNING"
    said = record.getMessage()
    assert said.startswith("book/05_heads: ") and "<script>" in said
