"""The drawing of the architecture: no box covers another, none is lost.

Chapter 10 stores the drawing as it is, and counts its boxes and shapes.
"""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup

from kit.figures.architecture import architecture
from kit.shapes import trace, words
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import DEVICE, refused

BOOK = Path(__file__).parents[2] / "book"
CONFIG = TransformerConfig(17, 19, 30, 6, 60, 2, 3)
BOTH = (
    torch.tensor([[5, 3, 2], [7, 2, 0]], device=DEVICE),
    torch.tensor([[1, 6, 18, 9], [1, 8, 0, 0]], device=DEVICE),
)
MODEL = Transformer(CONFIG).to(DEVICE)
STEPS, NAMES = trace(MODEL, *BOTH), words(MODEL, *BOTH)
DRAWING = architecture(CONFIG, STEPS, NAMES)
SVG = BeautifulSoup(DRAWING._repr_html_(), "html.parser").svg
LINKS = SVG.find_all("a")


def test_every_link_leads_to_a_chapter_that_is_there():
    for link in LINKS:
        (BOOK / link["href"]).read_bytes()
        if link.rect:  # its last text is the number
            number = link.find_all("text")[-1].get_text()
            assert link["href"].startswith(f"{number:0>2}_")


def test_long_lines_are_broken():
    """24 letters of a wide typeface get into a box, and each has its line."""
    for link in (link for link in LINKS if link.rect):
        texts = [[*text.strings] for text in link.find_all("text")][:-1]
        assert all(len(line) <= 24 for lines in texts for line in lines)
        assert 12.5 * sum(map(len, texts)) < float(link.rect["height"]) + 1


def edges(rect):
    """Left, top, right and bottom."""
    x, y, w, h = (float(rect[k]) for k in ("x", "y", "width", "height"))
    return x, y, x + w, y + h


def test_everything_is_inside_and_no_box_covers_another():
    left, top, width, height = map(float, SVG["viewbox"].split())
    right, bottom = left + width, top + height
    corners = [
        tuple(map(float, p.split(",")))
        for line in SVG.find_all("polyline")
        for p in line["points"].split()
    ]
    for rect in SVG.find_all("rect"):
        x0, y0, x1, y1 = edges(rect)
        corners += [(x0, y0), (x1, y1)]
    for x, y in corners:
        assert left <= x <= right and top <= y <= bottom
    boxes = [edges(link.rect) for link in LINKS if link.rect]
    for (x0, y0, x1, y1), (u0, v0, u1, v1) in combinations(boxes, 2):
        assert x1 <= u0 or u1 <= x0 or y1 <= v0 or v1 <= y0


@pytest.mark.bad_input
def test_bad_input_is_refused():
    with refused(ValueError, "config", "norm_first=False", "True"):
        architecture(replace(CONFIG, norm_first=True), STEPS, NAMES)
