"""The model in the page against the library, weight by weight.

The page computes in float64, as `date_model` does, so both must agree to the
last digits: with the weights as they are kept (float32) and as the page loads
them (float16).
"""

import base64
import copy
import math
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from kit import explorers
from kit.dates import generate, splits
from kit.trained import FOLDER, date_model
from lib.beams import beam_search
from lib.decoding import greedy
from lib.heads import record_weights
from lib.text import pad_batch
from lib.transformer import Transformer, TransformerConfig
from tests.browser.explorers.shown import close
from tests.built import first_quick
from tools.editions import weights

SCRIPTS = explorers.source(["engine", "beam-search"])
PAGE = Path(__file__).with_name("engine.js").read_text()
KINDS = ("float16", "float32")
ENCODER = "encoder.blocks.0.attention"
SELF = "decoder.blocks.0.self_attention"
CROSS = "decoder.blocks.0.cross_attention"
BASE64 = re.compile(r"weights: `(?P<weights>[^`]*)`")
ROUNDING = 1e-11  # of float64, after all layers
BEAMS = {"width": 4, "alpha": 0.6}
LIMIT = 16


@pytest.fixture(scope="module")
def engine(browser):
    """A page with the model of the book, its weights in either kind."""
    page = browser.new_page()
    page.add_script_tag(content=SCRIPTS + PAGE)
    kept = (FOLDER / "dates.safetensors").read_bytes()
    add(page, "float32", kept, date_model().card["config"])
    script = (explorers.FOLDER / weights.MODEL).read_text()
    halves = base64.b64decode(BASE64.search(script)["weights"])
    add(page, "float16", halves, date_model().card["config"])
    yield page
    page.close()


def add(page, name, tensors: bytes, config):
    """Load a model from the bytes of a safetensors file."""
    page.evaluate("add", [name, base64.b64encode(tensors).decode(), config])


def rounded(model):
    """The same model with its weights in float16."""
    halves = copy.deepcopy(model)
    for weight in halves.parameters():
        weight.data = weight.data.half().double()
    return halves


@pytest.fixture(scope="module")
def models():
    """The library's model with either kind of weights."""
    kept = date_model().model
    return {"float32": kept, "float16": rounded(kept)}


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
    of = {name: [] for name in ("encoder", "self", "cross")}
    for name, weight in found.items():
        kind = name.rpartition(".")[2].removesuffix("attention")
        of[kind.removesuffix("_") or "encoder"].append(weight[0])
    return {"logits": logits[0]} | {k: torch.stack(v) for k, v in of.items()}


def assert_as_library(
    page, name, model, source, change=None, *, beams=BEAMS, target_mask=None
):
    """All that the page's model tells is what the library's computes."""
    ids = torch.tensor([source])
    (written,) = texts_of(greedy(model, ids, LIMIT))
    target = [model.config.bos_id, *written[:-1]]
    told = page.evaluate(
        "tell", [name, source, target, change or {}, beams, LIMIT]
    )
    expected = tensors_of(model, source, target, target_mask)
    assert told["tensors"].keys() == expected.keys()
    for kind, tensor in expected.items():
        close(told["tensors"][kind], tensor, ROUNDING)
    if target_mask is None:
        assert told["stepped"] == told["tensors"]["logits"]
    assert told["written"] == written
    assert_same_beams(told["beams"], model, source, beams)


def assert_same_beams(found, model, source, beams):
    ids = torch.tensor([source])
    width, alpha = beams["width"], beams["alpha"]
    expected = beam_search(model, ids, width, alpha, LIMIT)
    exist = expected.scores[0].isfinite()
    texts, logs, scores = zip(*found, strict=True)
    assert [*texts] == texts_of(expected.ids[0, exist])
    close(logs, expected.log_p[0, exist], 1e-9)
    close(scores, expected.scores[0, exist], 1e-9)


def test_the_files_of_the_page_are_not_stale():
    for name, text in weights.texts().items():
        stored = (explorers.FOLDER / name).read_text(encoding="utf-8")
        assert stored == text, "run `make weights`"


@pytest.mark.slow
def test_every_float16_is_read(engine):
    every = torch.arange(-(2**15), 2**15).short().view(torch.float16)
    text = base64.b64encode(save({"every": every})).decode()
    found = engine.evaluate(
        "(text) => [...Engine.readSafetensors(bytes(text)).every.data]"
        ".map((x) => Number.isFinite(x) ? x : null)",
        text,
    )
    expected = every.double().tolist()
    assert found == [x if math.isfinite(x) else None for x in expected]


@pytest.mark.slow
def test_halves_write_what_the_kept_weights_write(models, sources):
    halves, kept = (
        greedy(models[kind], pad_batch(sources), LIMIT) for kind in KINDS
    )
    assert (halves != kept).any(1).sum() <= 2


@pytest.mark.parametrize("kind", first_quick(KINDS))
def test_the_model_of_the_book_is_that_of_the_library(
    engine, models, sources, kind
):
    for n, source in enumerate(sources[::10]):
        padded = source + [0] * (n % 5)
        beams = {"width": 1 + n % 7, "alpha": (0.0, 0.6, 1.5)[n % 3]}
        assert_as_library(engine, kind, models[kind], padded, beams=beams)


def silenced(model, silent):
    """Chapter 12's way: zero columns in the output matrix."""
    changed = copy.deepcopy(model)
    for head in silent:
        name, number = head.rsplit(".", 1)
        columns = slice(16 * int(number), 16 * int(number) + 16)
        changed.get_submodule(name).out_proj.weight[:, columns] = 0
    return changed


def without_scale(model):
    """Queries that are as much longer as the scale would shorten them."""
    changed = copy.deepcopy(model)
    for name in (ENCODER, SELF, CROSS):
        projection = changed.get_submodule(name).in_proj
        projection.weight[:64] *= 4
        projection.bias[:64] *= 4
    return changed


def without_positions(model):
    changed = copy.deepcopy(model)
    changed.positions.table.zero_()
    return changed


def without_padding_mask(model):
    changed = copy.deepcopy(model)
    changed.source_mask = lambda ids: torch.ones_like(ids)[:, None, None] > 0
    return changed


HEADS = [f"{CROSS}.1", f"{SELF}.3", f"{ENCODER}.0"]
CHANGES = {
    "all": (
        {"silent": HEADS, "scale": False, "positions": False},
        lambda model: without_scale(without_positions(silenced(model, HEADS))),
    ),
    "heads": ({"silent": HEADS}, lambda model: silenced(model, HEADS)),
    "scale": ({"scale": False}, without_scale),
    "positions": ({"positions": False}, without_positions),
    "padding mask": ({"padding": False}, without_padding_mask),
}


@pytest.mark.parametrize("name", first_quick(CHANGES))
def test_without_a_part_it_is_the_library_without_it(
    engine, models, sources, name
):
    change, changed = CHANGES[name]
    model, some = changed(models["float32"]), sources[::40]
    some = [source + [0] * (n % 9) for n, source in enumerate(some)]
    for source in some:
        assert_as_library(engine, "float32", model, source, change)
    both = [
        texts_of(greedy(one, pad_batch(some), LIMIT))
        for one in (model, models["float32"])
    ]
    assert both[0] != both[1]


def test_without_the_causal_mask_each_row_sees_all(engine, models, sources):
    """With one layer it writes as before: nothing is behind the last row."""
    model = models["float32"]
    for source in sources[::50]:
        (written,) = texts_of(greedy(model, torch.tensor([source]), LIMIT))
        size = len(written)
        every = torch.ones(1, 1, size, size, dtype=torch.bool)
        assert_as_library(
            engine,
            "float32",
            model,
            source,
            {"causal": False},
            target_mask=every,
        )


def test_a_row_that_may_see_nothing_gets_weights_zero(engine, models):
    assert_as_library(engine, "float32", models["float32"], [0, 0, 0])


OTHERS = {
    "pre-norm": {"norm_first": True},
    "pre-norm, bare": {"norm_first": True, "final_norms": False},
    "post-norm, final": {"final_norms": True},
    "tied to the target": {"tied": "target"},
    "all tied": {"tied": "all"},
    "deep": {"encoder_layers": 3, "decoder_layers": 2},
    "one head": {"heads": 1},
}


@pytest.mark.parametrize("name", first_quick(OTHERS))
def test_other_models_of_the_library_run_too(engine, name):
    torch.manual_seed(0)
    sizes = {"d_model": 12, "heads": 3, "d_ff": 20, "dropout": 0.0}
    depth = {"encoder_layers": 1, "decoder_layers": 1, "max_length": 20}
    options = {"tied": "none"} | sizes | depth | OTHERS[name]
    model = Transformer(TransformerConfig(9, 9, **options)).eval()
    model = model.requires_grad_(False)
    add(engine, "small", save(model.state_dict()), vars(model.config))
    model = model.double()
    for pads in range(5):
        source = torch.randint(3, 9, (6,)).tolist() + [0] * pads
        beams = {"width": 6, "alpha": 0.6}
        assert_as_library(engine, "small", model, source, beams=beams)
