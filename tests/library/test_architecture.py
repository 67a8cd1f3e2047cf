"""kit.shapes and the drawing of the architecture that is made of it.

What is recorded is the pass itself, and nothing stays. In the drawing no box
covers another, none is lost. Chapter 10 prints every shape and stores the
drawing as it is, and counts its boxes and shapes.
"""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup

from kit.figures.architecture import architecture
from kit.shapes import Step, table, trace, words
from lib.heads import MultiHeadAttention
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import DEVICE, refused, same

CONFIG = TransformerConfig(17, 19, 30, 6, 60, 2, 3)
SOURCE = torch.tensor([[5, 3, 2], [7, 2, 0]], device=DEVICE)
TARGET = torch.tensor([[1, 6, 18, 9], [1, 8, 0, 0]], device=DEVICE)
BOTH = (SOURCE, TARGET)


def model(**options):
    torch.manual_seed(0)
    return Transformer(replace(CONFIG, **options)).to(DEVICE)


def inside(made):
    """Hooks, methods and modes: what a trace could leave changed."""
    return [
        (name, [*module._forward_hooks], [*module._forward_pre_hooks])
        + ("project" in vars(module), module.training)
        for name, module in made.named_modules()
    ]


@pytest.mark.parametrize(
    "options", [{"tied": "target"}, {"tied": "all"}, {"norm_first": True}]
)
def test_other_models_have_the_same_shapes(options):
    plain = trace(model(source_vocab_size=19), *BOTH)
    joined = "added" if "norm_first" in options else "added, normed"
    assert trace(model(source_vocab_size=19, **options), *BOTH) == [
        replace(step, tensor=step.tensor.replace("added, normed", joined))
        for step in plain
    ]
    assert Step("cross-attention", "weights", (2, 6, 4, 3)) in plain


def test_the_pass_itself_is_recorded():
    """A model that does not do what its configuration says."""
    made = model()
    attention = made.encoder.blocks[0].attention
    project = MultiHeadAttention.project

    def narrower(*inputs):
        q, k, v = project(attention, *inputs)
        return [q[..., :2], k[..., :2], v]

    attention.project = narrower
    shapes = {s.tensor: s.shape for s in trace(made, *BOTH)[3:11]}
    assert shapes["Q, split"] == (2, 6, 3, 2)
    assert shapes["V, split"] == (2, 6, 3, 5)


@pytest.mark.parametrize("training", [False, True])
def test_nothing_stays_behind(training):
    made = model().eval()
    wanted = made(*BOTH)
    made.train(training).encoder.eval()  # every module keeps its own mode
    before, state = inside(made), torch.get_rng_state()
    for refused_ids in [(SOURCE + 17, TARGET), (SOURCE, TARGET + 19)]:
        with pytest.raises(ValueError, match="expected ids from 0"):
            trace(made, *refused_ids)
        assert inside(made) == before
    trace(made, *BOTH)
    assert inside(made) == before
    assert torch.equal(torch.get_rng_state(), state)  # no dropout was drawn
    same(made.eval()(*BOTH), wanted)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "options, inputs, got",
    [
        ({}, (SOURCE, TARGET[:, :3]), "3 for both s_len and t_len"),
        ({}, (SOURCE[:1], TARGET[:1]), "1 for both 1 and batch"),
        ({"d_ff": 30}, BOTH, "30 for both d_model and d_ff"),
        ({"target_vocab_size": 60}, BOTH, "60 for both d_ff and vocab"),
        ({"heads": 15}, BOTH, "2 for both batch and d_head"),
    ],
)
def test_a_size_that_names_two_axes_is_refused(options, inputs, got):
    with refused(ValueError, "sizes", "different", got):
        words(model(**options), *inputs)


def test_the_table_of_the_base_model_fits_the_page():
    made = model(d_model=512, heads=8, d_ff=2048, target_vocab_size=37_000)
    both = [torch.full((12, n), 3, device=DEVICE) for n in (21, 23)]
    text = table(trace(made, *both), words(made, *both))
    assert max(map(len, text.split("\n"))) <= 79


# --- the drawing

ROOT = Path(__file__).parents[2]
STEPS, NAMES = trace(model(), *BOTH), words(model(), *BOTH)
DRAWING = architecture(CONFIG, STEPS, NAMES)
SVG = BeautifulSoup(DRAWING._repr_html_(), "html.parser").svg
LINKS = SVG.find_all("a")


def test_every_link_leads_to_a_chapter_that_is_there():
    for link in LINKS:
        (ROOT / "book" / link["href"]).read_bytes()
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
def test_a_drawing_of_pre_norm_is_refused():
    with refused(ValueError, "config", "norm_first=False", "True"):
        architecture(replace(CONFIG, norm_first=True), STEPS, NAMES)
