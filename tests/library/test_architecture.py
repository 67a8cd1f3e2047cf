"""The drawing of the architecture shows the trace, and where boxes lead."""

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
BLOCK = [("add & norm", 7), ("feed-forward", 7), ("add & norm", 7)]
START = [("embedding", 1), ("+ positions", 6)]
COLUMNS = {  # boxes, each with the number of its chapter
    "source": [
        *(("source ids", 1), *START, ("self-attention", 5)),
        *(*BLOCK, ("memory", 8)),
    ],
    "target": [
        *(("target ids", 1), *START, ("causal attention", 4)),
        *(("add & norm", 7), ("cross-attention", 9)),
        *(*BLOCK, ("output matrix", 10)),
    ],
}


DRAWING = architecture(CONFIG, STEPS, NAMES)
SVG = BeautifulSoup(DRAWING._repr_html_(), "html.parser").svg
LINKS = SVG.find_all("a")
BOXES = [box for column in DRAWING.boxes.values() for box in column]


def lines(link):
    return [text.get_text() for text in link.find_all("text")]


def test_boxes_are_those_of_the_paper_and_lead_to_their_chapters():
    columns = [[b.name for b in c] for c in DRAWING.boxes.values()]
    assert columns == [[name for name, _ in c] for c in COLUMNS.values()]
    assert repr(DRAWING).startswith("source: source ids > embedding > +")
    led = {side: [] for side in COLUMNS}
    frames = []
    for link in LINKS:
        (BOOK / link["href"]).read_bytes()
        assert link["href"][2] == "_"
        name, number = lines(link)[0], int(link["href"][:2])
        if link.rect:
            assert int(lines(link)[-1]) == number
            side = "source" if float(link.rect["x"]) < 100 else "target"
            led[side].append((name, number))
        else:
            frames.append((name, number))
    assert (led, frames) == (COLUMNS, [("encoder × 2", 8), ("decoder × 3", 9)])


def test_drawn_shapes_are_traced_and_stand_in_their_own_boxes():
    assert DRAWING.shapes == {step.shape for step in STEPS}
    boxes = {box.name: box.shapes for box in BOXES}
    assert boxes["self-attention"]["padding mask"] == (2, 1, 1, 3)
    assert boxes["causal attention"]["causal & padding mask"] == (2, 1, 4, 4)
    assert boxes["cross-attention"] == {
        "memory mask": (2, 1, 1, 3),
        "Q": (2, 6, 4, 5),
        "K": (2, 6, 3, 5),
        "V": (2, 6, 3, 5),
        "weights": (2, 6, 4, 3),
    }
    assert boxes["memory"] == {"memory": (2, 3, 30)}


def test_long_lines_are_broken():
    """No line has more letters than DejaVu, a wide typeface, gets into a box.

    "batch heads s_len d_head" is the longest that does.
    """
    for link in (link for link in LINKS if link.rect):
        texts = [list(text.strings) for text in link.find_all("text")]
        texts.pop()  # the number beside the name
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
    for lost in ("Q, split", "logits", "embedding"):
        steps = [s for s in STEPS if s.tensor != lost]
        with refused(ValueError, "steps", lost, "without it"):
            architecture(CONFIG, steps, NAMES)
    source = [s for s in STEPS if s.where != "target"]
    with refused(ValueError, "steps", "target", "none"):
        architecture(CONFIG, source, NAMES)
