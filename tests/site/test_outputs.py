"""Outputs of notebooks: what a page shows of them, and what stops a build."""

import contextlib
import random
from types import SimpleNamespace

import nbformat
import outputs
import page_view
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from outputs import Refused, clean, cleaned

from book._ext.explorers import without_scripts
from tests.site.conftest import ROOT
from tests.site.pages import NOTEBOOKS

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
EXPLORER = (
    '<mask-explorer class="explorer" data-scripts="core mask-explorer" '
    'data-words="[&quot;I&quot;, &quot;&lt;pad&gt;&quot;]">\n'
    "<p>What it shows<br>without scripts.</p></mask-explorer>"
)
PICTURE = '<img src="data:image/png;base64,iVBORw0KGgo=" alt="a dot">'
FOLDED = '<details open=""><summary>More</summary><pre>a\n b</pre></details>'


@pytest.mark.parametrize(
    "html", [TABLE, DRAWING, EXPLORER, PICTURE, FOLDED, "", "a < b &amp; c"]
)
def test_what_pages_need_stays_as_it_is(html):
    assert cleaned(html).replace("&lt;", "<") == html.replace("&lt;", "<")
    assert cleaned(cleaned(html)) == cleaned(html)


def test_the_style_of_a_table_of_pandas_is_passed_over():
    html = f"<div><style scoped>th {{ color: red }}</style>{TABLE}</div>"
    assert cleaned(html) == f"<div>{TABLE}</div>"


HOSTILE = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//harm.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</script>",
    "<svg><script>alert(1)</script></svg>",
    "<img src=x:y onerror=alert(1)>",
    '<img src="x.png"onerror="alert(1)">',
    "<img src=x.png\nonerror\n=alert(1)>",
    "<p onclick='alert(1)'>x</p>",
    "<p ONCLICK=alert(1)>x</p>",
    "<svg onload=alert(1)></svg>",
    "<svg><g onclick='alert(1)'></g></svg>",
    "<details open ontoggle=alert(1)></details>",
    '<a href="javascript:alert(1)">x</a>',
    '<a href=" javascript:alert(1)">x</a>',
    '<a href="JaVaScRiPt:alert(1)">x</a>',
    '<a href="java\tscript:alert(1)">x</a>',
    '<a href="java&#10;script:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="javascript&colon;alert(1)">x</a>',
    '<a href="\x01javascript:alert(1)">x</a>',
    '<a href="vbscript:x">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<a href="file:///etc/passwd">x</a>',
    '<svg><a href="javascript:alert(1)"><text>x</text></a></svg>',
    '<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>',
    '<svg><use href="https://harm.example/x.svg#a"/></svg>',
    '<svg><use href="data:image/svg+xml,x#a"/></svg>',
    '<svg><animate attributeName="href" to="javascript:alert(1)"/></svg>',
    '<svg><set attributeName="onclick" to="alert(1)"/></svg>',
    "<svg><foreignObject><p>x</p></foreignObject></svg>",
    "<svg><p>x</p></svg>",
    "<svg><image href='https://harm.example/x.png'/></svg>",
    '<svg><rect fill="url(https://harm.example/x)"/></svg>',
    '<svg><rect fill="URL( //harm.example/x )"/></svg>',
    "<rect/>",
    "<title><img src=x onerror=alert(1)></title>",
    '<iframe src="https://harm.example/"></iframe>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data="x.swf"></object>',
    '<embed src="x.swf">',
    '<link rel="stylesheet" href="https://harm.example/x.css">',
    '<meta http-equiv="refresh" content="0; url=https://harm.example/">',
    '<base href="https://harm.example/">',
    '<form action="https://harm.example/"><input name="a"></form>',
    "<button>x</button>",
    "<textarea></textarea><img src=x onerror=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<math><mtext></mtext></math>",
    '<video src="https://harm.example/x"></video>',
    '<img src="https://harm.example/x.png" alt="">',
    '<img src="//harm.example/x.png" alt="">',
    '<img src="data:text/html,x" alt="">',
    '<img src="data:image/svg+xml;base64,PHN2Zz4=" alt="">',
    '<img srcset="https://harm.example/x.png" alt="">',
    '<p style="background: url(https://harm.example/x)">x</p>',
    '<p style="background:\\75rl(x)">x</p>',
    '<p style="position: fixed; width: 100%">x</p>',
    '<p style="width: expression(alert(1))">x</p>',
    '<p style="@import x">x</p>',
    "<!-- a comment -->",
    "<!--><img src=x onerror=alert(1)>-->",
    "<!DOCTYPE html>",
    "<?xml version='1.0'?>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "</main><p>x</p>",
    "<p>x",
    "<p>x</div>",
    "<div/>x",
    "<h1>A second title</h1>",
    "<evil-element>x</evil-element>",
    "<mask-explorer onclick='alert(1)'></mask-explorer>",
    "<style>p { color: red }</style><script>alert(1)</script>",
    "<style>",
]


def is_refused(html):
    with contextlib.suppress(Refused):
        return cleaned(html) is None
    return True


def test_what_could_do_harm_is_refused():
    inside = [f"<div>{html}</div>" for html in HOSTILE]
    assert [h for h in HOSTILE + inside if not is_refused(h)] == []


def test_what_an_output_says_as_text_does_no_harm():
    """Text that looks like an element comes out as text again."""
    for html in HOSTILE:
        said = html.replace("&", "&amp;").replace("<", "&lt;")
        assert cleaned(f"<p>{said}</p>").count("<") == 2, html


PIECES = [
    *HOSTILE,
    *(TABLE, DRAWING, EXPLORER, PICTURE, FOLDED),
    *("<", ">", "</", "/>", '"', "'", "`", "&", "&lt;", "&#60;", "=", "\0"),
    *("<svg>", "</svg>", "<title>", "</title>", "<desc>", "</desc>", "<p>"),
    *("</p>", "<table>", "</table>", "<a href=", "<style>", "</style>"),
    *("<!--", "-->", "<![CDATA[", "]]>", "<br", " x=", " onerror=", "\n"),
]
PARSED = """(texts) => texts.map((text) => {
  const page = new DOMParser().parseFromString(text, "text/html");
  const all = [...page.body.querySelectorAll("*"), ...page.head.children];
  return all.map((element) => [element.localName,
    ...element.getAttributeNames(), element.protocol ?? ""]);
})"""


def test_a_browser_reads_no_more_than_what_was_allowed(browser, pytestconfig):
    """However broken it was, and whichever way browsers mend it."""
    draw, shown = random.Random(0), []
    number = 200 if pytestconfig.getoption("quick") else 1000
    while len(shown) <= number:  # how many are refused is the parser's way
        text = "".join(draw.choices(PIECES, k=draw.randint(1, 6)))
        with contextlib.suppress(Refused):
            shown.append(cleaned(text))
    elements = {*outputs.TEXT, *outputs.DRAWING, "mask-explorer"}
    named = {*outputs.OF_TEXT, *outputs.OF_DRAWING}
    tab = browser.new_page()
    parsed = tab.evaluate(PARSED, shown)
    tab.close()
    assert sum(map(len, parsed)) > number
    for text, found in zip(shown, parsed, strict=True):
        for element, *names, protocol in found:
            assert element in elements, text
            assert protocol in ("", "http:", "https:", "mailto:", "about:")
            for name in names:
                known = name in named or outputs.GENERAL.fullmatch(name)
                assert known, text


def left(data):
    """What stays of an output, and what is said of the rest."""
    output, said = new_output("display_data", dict(data)), []
    clean(output, said.append)
    return dict(output.data), said


def test_other_kinds_of_outputs_are_refused_but_for_their_text():
    fine = {"text/plain": "x", "image/png": "aGk=", "text/latex": "$x$"}
    assert left(fine) == (fine, [])
    for kind in (
        "application/javascript",
        "application/vnd.jupyter.widget-view+json",
        "application/vnd.plotly.v1+json",
        "application/pdf",
    ):
        kept, said = left({"text/plain": "x", kind: "alert(1)"})
        assert kept == {"text/plain": "x"}
        assert said == [f"{kind}: of this kind"]


def test_pictures_of_vectors_and_markdown_are_looked_at():
    assert left({"image/svg+xml": DRAWING})[1] == []
    bad = "<svg><script>alert(1)</script></svg>"
    assert left({"image/svg+xml": bad}) == ({}, ["image/svg+xml: <script>"])
    assert left({"text/markdown": "**1** < 2"})[1] == []
    for text in ("<b>x</b>", "a <!-- x -->", "</p>", "<SCRIPT>", "<?x?>"):
        kept, said = left({"text/markdown": text})
        assert kept == {} and said == ["text/markdown: HTML in Markdown"]


def test_streams_and_errors_have_nothing_to_refuse():
    for output in (
        new_output("stream", text="<script>"),
        new_output("error", ename="E", evalue="<script>", traceback=[]),
    ):
        before = dict(output)
        clean(output, pytest.fail)
        assert output == before


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_all_outputs_of_the_book_are_shown_as_they_are(name):
    notebook = nbformat.read(ROOT / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = without_scripts(data["text/html"])
            before = dict(data)
            clean(output, pytest.fail)
            assert dict(data) == before


def test_a_page_names_the_notebook_whose_output_it_refuses(caplog):
    output = new_output("display_data", {"text/html": "<script>1</script>"})
    cell = new_code_cell("show()", outputs=[output])
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda n: f"{n}.ipynb"))
    content = [nbformat.writes(new_notebook(cells=[cell]))]
    page_view.rewrite_notebook(app, "book/05_heads", content)
    assert "<script" not in content[0]
    (record,) = caplog.records  # and a warning fails the build
    assert record.levelname == "WARNING"
    said = record.getMessage()
    assert said.startswith("book/05_heads: ") and "<script>" in said
