"""The content-security policy: what it says, and that browsers hold to it.

What a page breaks of it stands in the console, which each visit notes.
"""

import re

import pytest
from bs4 import BeautifulSoup

from book._ext.book_site.frame.policy import INLINE, digest
from tests.browser.record import press
from tests.browser.visit import until
from tests.built import NOTEBOOKS, PAGES

MOVED = "book/12_decoding.html"
LEAD_ON = {"index.html": "book/index.html", MOVED: "book/13_decoding.html"}
# Not among the pages of which a visit notes what they break.
OTHERS = [*LEAD_ON, "404.html", "search.html?q=softmax"]
UNFIT = re.compile(
    r"<(?:style|iframe|object|embed|base)\b|<[a-z][^<>]*\son[a-z]+=", re.I
)
INLINE_SCRIPT = """(() => {
  const script = document.createElement("script");
  script.textContent = "window.harm = 1";
  document.head.append(script);
})()"""


def assert_strict(path):
    """No script but the site's own files and those that are known.

    Returns:
        The directives of the page, and what each allows.
    """
    text = path.read_text()
    head = BeautifulSoup(text.split("</head>")[0], "html.parser")
    name = {"http-equiv": "Content-Security-Policy"}
    (meta,) = head.find_all("meta", attrs=name)
    before = {tag.name for tag in meta.find_all_previous()}
    assert not {"script", "link", "style", "body"} & before
    parts = (part.split() for part in meta["content"].split("; "))
    said = {name: sources for name, *sources in parts}
    # Boxes of KaTeX have a style, and for print Reveal writes one.
    loose = {"style-src", "style-src-attr", "style-src-elem"}
    for name in said.keys() - loose:
        others = {*said[name]} - {"'self'", "'none'", "data:"}
        assert all(other.startswith("'sha256-") for other in others), name
    for name in ("default-src", "object-src", "base-uri"):
        assert said[name] == ["'none'"]
    scripts = {digest(script) for script in INLINE.findall(text)}
    assert scripts <= {*said["script-src"]}
    return said


def test_every_page_has_a_strict_policy(site):
    # Decks have styles for print: test_slides.
    pages = [p for p in site.rglob("*.html") if "slides" not in p.parts]
    assert len(pages) >= len(PAGES) + 1
    for path in pages:
        said = assert_strict(path)
        assert "data:" not in said["script-src"]
        assert "'unsafe-inline'" not in said["style-src-elem"]
        text = path.read_text()
        if path.name == "404.html":  # its style is known by its hash
            text = text.replace("<style>", "")
        assert not UNFIT.search(text), path


@pytest.mark.parametrize("page", OTHERS)
def test_no_other_page_breaks_its_policy(window, root, page):
    visit = window()
    tab = visit.tab
    tab.goto(root + page)
    until(tab, f"location.href.includes('{LEAD_ON.get(page, page)}')")
    tab.wait_for_load_state("load")
    if "?q" in page:
        tab.wait_for_selector("#search-results li a")
    press(visit)
    visit.assert_calm()
    margin = "getComputedStyle(document.body).marginTop"
    assert tab.evaluate(margin) == "0px"  # the style has arrived


@pytest.mark.slow
def test_firefox_runs_the_sites_scripts_and_no_other(firefox, root):
    firefox.open(f"{root}{NOTEBOOKS[3]}.html")
    ready = "document.querySelector('.explorer').hasAttribute('data-ready')"
    assert firefox.evaluate(ready) is True
    hidden = "document.querySelector('.theme-button').hidden"
    assert firefox.evaluate(hidden) is False
    firefox.evaluate(INLINE_SCRIPT)
    assert firefox.evaluate("window.harm === undefined") is True
