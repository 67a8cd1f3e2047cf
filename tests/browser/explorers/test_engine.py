"""The model in the page against the library, weight by weight.

The page computes in float64, as `date_model` does, so both must agree to the
last digits, with the weights as the page loads them (float16).
"""

import copy
import re
from pathlib import Path

import pytest
import torch

from kit import explorers
from kit.dates import generate, splits
from kit.trained import date_model
from lib.decoding import greedy
from lib.heads import record_weights
from lib.text import pad_batch
from tests.browser.explorers.shown import close
from tools.editions import weights

SCRIPTS = explorers.source(["engine"])
PAGE = Path(__file__).with_name("engine.js").read_text()
ENCODER = "encoder.blocks.0.attention"
SELF = "decoder.blocks.0.self_attention"
CROSS = "decoder.blocks.0.cross_attention"
BASE64 = re.compile(r"weights: `(?P<weights>[^`]*)`")
ROUNDING = 1e-11  # of float64, after all layers
LIMIT = 16


@pytest.fixture(scope="module")
def engine(browser):
    """A page with the model of the book, its weights as the page has them."""
    page = browser.new_page()
    page.add_script_tag(content=SCRIPTS + PAGE)
    script = (explorers.FOLDER / weights.MODEL).read_text()
    text = BASE64.search(script)["weights"]
    page.evaluate("add", [text, date_model().card["config"]])
    yield page
    page.close()


def rounded(model):
    """The same model with its weights in float16."""
    halves = copy.deepcopy(model)
    for weight in halves.parameters():
        weight.data = weight.data.half().double()
    return halves


@pytest.fixture(scope="module")
def model():
    """The library's model with the weights of the page."""
    return rounded(date_model().model)


@pytest.fixture(scope="module")
def sources(few):
    """1,000 test dates in all languages, as ids; with --quick 40."""
    drawn = generate(splits()["test"], few(1_000, 40), seed=15)
    return [date_model().source.encode(example.text) for example in drawn]


def texts_of(ids):
    """The tokens of each row, without PAD."""
    return [[i for i in row if i] for row in ids.tolist()]


def tensors_of(model, source, target, target_mask=None):
    """Logits and all weights, by the library."""
    source, target = torch.tensor([source]), torch.tensor([target])
    mask = model.source_mask(source)
    with record_weights(model) as found:
        memory = model.encode(source, mask)
        logits = model.decode(target, memory, target_mask, mask)
    assert len(found) == 3
    return {"logits": logits[0]} | {
        kind: weight[0]
        for kind in ("encoder", "self", "cross")
        for name, weight in found.items()
        if kind in name.removeprefix("decoder")
    }


def agrees(page, model, source, change=None):
    """All that the page's model tells is what the library's computes."""
    change, ids = change or {}, torch.tensor([source])
    (written,) = texts_of(greedy(model, ids, LIMIT))
    target = [model.config.bos_id, *written[:-1]]
    told = page.evaluate("tell", [source, target, change, LIMIT])
    size, is_causal = len(target), change.get("causal", True)
    every = None if is_causal else torch.ones(1, 1, size, size) > 0
    for kind, tensor in tensors_of(model, source, target, every).items():
        close(told["tensors"].pop(kind), tensor, ROUNDING)
        if kind == "logits" and is_causal:
            close(told["stepped"], tensor, ROUNDING)
    assert not told["tensors"]
    assert told["written"] == written


def test_the_files_of_the_page_are_not_stale():
    for name, text in weights.texts().items():
        stored = (explorers.FOLDER / name).read_text(encoding="utf-8")
        assert stored == text, "run `make weights`"


@pytest.mark.slow
def test_halves_write_what_the_kept_weights_write(model, sources):
    halves, kept = (
        greedy(one, pad_batch(sources), LIMIT)
        for one in (model, date_model().model)
    )
    assert (halves != kept).any(1).sum() <= 2


def test_the_model_of_the_book_is_that_of_the_library(engine, model, sources):
    for n, source in enumerate([*sources[::10], []]):
        padded = source + [0] * (n % 5 or 3)  # also nothing but PAD
        agrees(engine, model, padded)


def silenced(model, silent):
    """Chapter 12's way: zero columns in the output matrix."""
    changed = copy.deepcopy(model)
    for head in silent:
        name, number = head.rsplit(".", 1)
        columns = slice(16 * int(number), 16 * int(number) + 16)
        changed.get_submodule(name).out_proj.weight[:, columns] = 0
    return changed


def without_parts(model, silent):
    """Without these heads, the scale, the positions and the padding mask."""
    changed = silenced(model, silent)
    changed.positions.table.zero_()
    changed.source_mask = lambda ids: torch.ones_like(ids)[:, None, None] > 0
    for name in (ENCODER, SELF, CROSS):
        projection = changed.get_submodule(name).in_proj
        projection.weight[:64] *= 4  # by so much the scale would shorten it
        projection.bias[:64] *= 4
    return changed


def test_without_its_parts_it_is_the_library_without_them(
    engine, model, sources
):
    silent = [f"{CROSS}.1", f"{SELF}.3", f"{ENCODER}.0"]
    parts = {"silent": silent}
    parts |= dict.fromkeys(["scale", "positions", "padding"], False)
    bare = without_parts(model, silent)
    for n, source in enumerate(sources[:9]):
        padded = source + [0] * n
        agrees(engine, bare, padded, parts)
        # With one layer it writes as before: nothing is behind the last row.
        agrees(engine, model, padded, {"causal": False})
