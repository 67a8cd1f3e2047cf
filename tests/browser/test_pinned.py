"""One page of each kind still looks as it did when somebody last looked.

The first screen is photographed in the book's own typeface, made eight times
smaller and compared with the picture in `pinned/`. Of its pixels at most
`SHARE` may be off by more than `STEP` of 255: another version of Chromium
stays below that, a box that has moved or a lost colour does not. Looked at
and found better? `BOOK_PIN=1` takes them anew.
"""

import io
import os
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from tests.browser.visit import ADD_STYLE, FONTS, SETTLE
from tests.built import quickly

HERE = Path(__file__).parent
STYLE = (HERE / "pinned.css").read_text(encoding="utf-8")
SMALLER = 8
STEP = 24
SHARE = 0.01
KINDS = {
    "home": "book/index.html",
    "chapter": "book/04_masks.html",
    "library": "book/library_1.html",
    "glossary": "book/glossary.html",
    "bibliography": "book/bibliography.html",
    "teaching": "book/teach/chapter_04.html",
    "search": "search.html",
}
SOONER = ("home", "chapter", "glossary")
WINDOWS = {"wide-light": (1440, 900), "narrow-dark": (360, 740)}
BROKEN = {
    "a lost column": ".book-nav { display: none }",
    "a text that has moved": "main { translate: 0 24px }",
    "a lost background": "body { background: #808080 !important }",
}


@pytest.fixture(
    params=["wide-light", pytest.param("narrow-dark", marks=pytest.mark.slow)]
)
def window(request, browser):
    width, height = WINDOWS[request.param]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=request.param.rpartition("-")[2],
        reduced_motion="reduce",
    )
    yield request.param, context.new_page()
    context.close()


def photograph(page, address, style=""):
    """The first screen, small, after everything has come to rest."""
    page.goto(address, wait_until="load")
    page.evaluate(ADD_STYLE, STYLE + style)
    page.evaluate(FONTS)
    page.evaluate(SETTLE)
    with Image.open(io.BytesIO(page.screenshot())) as image:
        return image.convert("RGB").reduce(SMALLER)


def differing(one, other):
    """The share of pixels that differ by more than `STEP`."""
    if one.size != other.size:
        return 1.0
    bands = ImageChops.difference(one, other).split()
    worst = bands[0]
    for band in bands[1:]:
        worst = ImageChops.lighter(worst, band)
    counts = worst.histogram()
    return sum(counts[STEP + 1 :]) / sum(counts)


@pytest.mark.parametrize("kind", quickly(KINDS, SOONER.__contains__))
def test_a_page_looks_as_it_did(window, address, kind):
    name, page = window
    seen = photograph(page, address + KINDS[kind])
    pinned = HERE / "pinned" / f"{kind}-{name}.png"
    if os.environ.get("BOOK_PIN"):
        seen.save(pinned, optimize=True)
    with Image.open(pinned) as image:
        share = differing(seen, image.convert("RGB"))
    assert share <= SHARE, f"{share:.1%} of {kind}, {name}, look different"


@pytest.mark.slow
@pytest.mark.parametrize("fault", BROKEN)
def test_what_breaks_a_page_is_seen(browser, address, fault):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    whole = photograph(page, address + KINDS["chapter"])
    broken = photograph(page, address + KINDS["chapter"], BROKEN[fault])
    page.close()
    assert differing(whole, broken) > 2 * SHARE
