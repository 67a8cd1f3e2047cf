"""One page of each kind still looks as it did when somebody last looked.

The first screen is photographed in the book's own typeface, made eight times
smaller and compared with the picture in `pinned/`. Of its pixels at most
`SHARE` may be off by more than `STEP` of 255: another version of Chromium
stays below that, a box that has moved or a lost colour does not. Looked at
and found better? `BOOK_PIN=1` takes them anew.
"""

import io
import os

import numpy as np
import pytest
from PIL import Image

from tests.browser.visit import ADD_STYLE, FONTS, HERE, SETTLE
from tests.built import first_quick, quickly

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


@pytest.mark.parametrize("kind", quickly(KINDS, SOONER.__contains__))
@pytest.mark.parametrize("name", first_quick(WINDOWS))
def test_a_page_looks_as_it_did(window, address, name, kind):
    width, height = WINDOWS[name]
    scheme = name.rpartition("-")[2]
    options = {"color_scheme": scheme, "reduced_motion": "reduce"}
    tab = window(width, height, **options).tab
    tab.goto(address + KINDS[kind])
    tab.evaluate(ADD_STYLE, STYLE)
    tab.evaluate(FONTS)
    tab.evaluate(SETTLE)
    with Image.open(io.BytesIO(tab.screenshot())) as image:
        seen = image.convert("RGB").reduce(SMALLER)
    pinned = HERE / "pinned" / f"{kind}-{name}.png"
    if os.environ.get("BOOK_PIN"):
        seen.save(pinned, optimize=True)
    with Image.open(pinned) as image:
        wanted = np.asarray(image.convert("RGB"), int)
    apart = abs(np.asarray(seen, int) - wanted).max(axis=2)
    share = (apart > STEP).mean()
    assert share <= SHARE, f"{share:.1%} of {kind}, {name}, look different"
