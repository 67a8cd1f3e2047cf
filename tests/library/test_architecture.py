"""The drawing of the architecture shows the trace, and where boxes lead."""

from dataclasses import replace

import pytest
import torch
from bs4 import BeautifulSoup

from kit.figures.architecture import architecture
from kit.shapes import in_words, trace, words
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import DEVICE, refused

CONFIG = TransformerConfig(17, 19, 30, 6, 60, 2, 3)
BOTH = (
    torch.tensor([[5, 3, 2], [7, 2, 0]], device=DEVICE),
    torch.tensor([[1, 6, 18, 9], [1, 8, 0, 0]], device=DEVICE),
)
MODEL = Transformer(CONFIG).to(DEVICE)
STEPS, NAMES = trace(MODEL, *BOTH), words(MODEL, *BOTH)
BLOCK = ["add & norm", "feed-forward", "add & norm"]
COLUMNS = {
    "source": [
        *("source ids", "embedding", "+ positions"),
        *("self-attention", *BLOCK, "memory"),
    ],
    "target": [
        *("target ids", "embedding", "+ positions", "causal attention"),
        *("add & norm", "cross-attention", *BLOCK, "output matrix"),
    ],
}
CHAPTERS = {
    "01_tokens_and_embeddings": {"source ids", "target ids", "embedding"},
    "04_masks": {"causal attention"},
    "05_heads": {"self-attention"},
    "06_positions": {"+ positions"},
    "07_layers": {"add & norm", "feed-forward"},
    "08_encoder": {"memory", "encoder × 2"},
    "09_decoder": {"cross-attention", "decoder × 3"},
    "10_transformer": {"output matrix"},
}


@pytest.fixture
def drawing():
    return architecture(CONFIG, STEPS, NAMES)


@pytest.fixture
def svg(drawing):
    return BeautifulSoup(drawing._repr_html_(), "html.parser").svg


def lines(link):
    return [text.get_text() for text in link.find_all("text")]


def test_a_box_bears_the_number_of_its_chapter(svg):
    for link in svg.find_all("a"):
        if link.rect:
            assert int(link["href"][:2]) == int(lines(link)[-1])


def test_boxes_are_those_of_the_paper(drawing):
    names = {side: [b.name for b in c] for side, c in drawing.boxes.items()}
    assert names == COLUMNS


def test_drawn_shapes_are_traced_and_the_other_way_round(drawing):
    assert drawing.shapes == {step.shape for step in STEPS}


def test_shapes_stand_in_their_own_boxes(drawing):
    boxes = {b.name: b.shapes for c in drawing.boxes.values() for b in c}
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


def test_each_shape_is_written_in_numbers_and_in_words(drawing, svg):
    links = [a for a in svg.find_all("a") if a.rect]
    boxes = [box for column in drawing.boxes.values() for box in column]
    for link, box in zip(links, boxes, strict=True):
        name, *entries, _ = lines(link)
        assert name == box.name
        sizes, axes = entries[::2], entries[1::2]
        wanted = list(dict.fromkeys(box.shapes.values()))
        assert [s.split(": ")[-1] for s in sizes] == [
            " × ".join(map(str, shape)) for shape in wanted
        ]
        assert axes == [in_words(shape, NAMES) for shape in wanted]
        labels = [s.split(": ")[0].split(", ") for s in sizes if ": " in s]
        assert sum(labels, []) == list(box.shapes) * bool(labels)


def test_long_lines_are_broken(svg):
    """No line has more letters than DejaVu, a wide typeface, gets into a box.

    "batch heads s_len d_head" is the longest that does.
    """
    for link in svg.find_all("a"):
        height = float(link.rect["height"]) if link.rect else 99
        texts = [list(text.strings) for text in link.find_all("text")]
        if link.rect:
            texts.pop()  # the number beside the name
        assert all(len(line) <= 24 for lines in texts for line in lines)
        assert 12.5 * sum(map(len, texts)) < height + 1


def test_boxes_lead_to_their_chapters(svg):
    led = {}
    for link in svg.find_all("a"):
        led.setdefault(link["href"], set()).add(lines(link)[0])
    assert led == {f"{name}.ipynb": boxes for name, boxes in CHAPTERS.items()}


def test_it_says_what_it_shows(svg):
    assert svg.title.get_text() and "keys" in svg.desc.get_text()
    assert {"K", "V"} <= {t.get_text() for t in svg.find_all("text")}


def test_everything_is_inside_and_no_box_covers_another(svg):
    left, top, width, height = map(float, svg["viewbox"].split())
    edges = []
    for rect in svg.find_all("rect"):
        x, y, w, h = (float(rect[k]) for k in ("x", "y", "width", "height"))
        assert left <= x and x + w <= left + width
        assert top <= y and y + h <= top + height
        if rect.parent.name == "a":
            edges.append((x, y, x + w, y + h))
    for line in svg.find_all("polyline"):
        for point in line["points"].split():
            x, y = map(float, point.split(","))
            assert left <= x <= left + width and top <= y <= top + height
    for i, (x0, y0, x1, y1) in enumerate(edges):
        for u0, v0, u1, v1 in edges[:i]:
            assert x1 <= u0 or u1 <= x0 or y1 <= v0 or v1 <= y0


def test_a_residual_path_passes_every_part(svg):
    bent = [p for p in svg.find_all("polyline") if p["points"].count(" ") == 3]
    assert sum(p["stroke"] == "#888888" for p in bent) == 5
    assert len(bent) == 5 + 2  # and K and V


def test_it_asks_for_nothing_and_is_always_the_same(drawing):
    html = drawing._repr_html_()
    for word in ("script", "http", "url(", "@import", " id="):
        assert word not in html
    assert html == architecture(CONFIG, STEPS, NAMES)._repr_html_()


def test_a_terminal_shows_the_boxes(drawing):
    columns = (f"{s}: {' > '.join(names)}" for s, names in COLUMNS.items())
    assert repr(drawing) == "\n".join(columns)


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
