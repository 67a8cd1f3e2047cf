"""The model in the page against the library, weight by weight.

What the page computes with is float64, as `date_model` does, so both must
agree to the last digits: with the weights as they are kept (float32) and as
the page loads them (float16).
"""

import base64
import copy
import json
import math
import re

import pytest
import torch
from playwright.sync_api import Error
from safetensors.torch import load, save

from kit import explorers
from kit.dates import generate, splits
from kit.trained import FOLDER, date_model
from lib.beams import beam_search
from lib.decoding import greedy
from lib.heads import record_weights
from lib.text import pad_batch
from lib.transformer import Transformer, TransformerConfig
from tests.explorers.shown import first_quick
from tools.editions import weights

SCRIPTS = explorers.source(["engine", "beam-search"])
KINDS = ("float16", "float32")
slow = pytest.mark.slow
ENCODER = "encoder.blocks.0.attention"
SELF = "decoder.blocks.0.self_attention"
CROSS = "decoder.blocks.0.cross_attention"
BASE64 = re.compile(r"weights: `(?P<weights>[^`]*)`")
CARD = re.compile(r"^card: (?P<card>\{.*\}),$", re.MULTILINE)
ROUNDING = 1e-11  # of float64, after all layers
LIMIT = 16
F64 = torch.float64

PAGE = """
globalThis.bytes = (text) =>
  Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
globalThis.models = {};
globalThis.plain = (x) => {
  if (ArrayBuffer.isView(x)) return [...x];
  return Array.isArray(x) ? x.map(plain) : x;
};
globalThis.rows = ({ data, cols }) =>
  Array.from({ length: data.length / cols },
    (_, r) => [...data.slice(r * cols, (r + 1) * cols)]);
globalThis.searched = (model, source, options) => {
  const memory = model.encode(source);
  const next = (ids, cache) => {
    const step = cache ? model.step(cache, ids.at(-1))
      : model.step(model.begin(memory), model.config.bos_id);
    return [model.logP(step), step.cache];
  };
  const steps = beamSearch(next, model.config.eos_id, options);
  return [...steps].at(-1).map(({ ids, logP, score }) => [ids, logP, score]);
};
"""


class Page:
    """A page that has nothing but the engine."""

    def __init__(self, page, scripts=SCRIPTS):
        self.page = page
        page.add_script_tag(content=scripts + PAGE)

    def add(self, name, tensors: bytes, config: dict):
        """Load a model from the bytes of a safetensors file."""
        self.page.evaluate(
            "([name, text, config]) => { const weights = Engine."
            "readSafetensors(bytes(text)); models[name] = new Engine."
            "Transformer(weights, config) }",
            [name, base64.b64encode(tensors).decode(), config],
        )

    def written(self, name, sources, change=None):
        """The greedy tokens of each source."""
        return self.page.evaluate(
            "([name, sources, change, limit]) => { const model = models[name]"
            ".changed(change); return sources.map((source) => [...model.write("
            "model.encode(source), limit)].map((step) => step.token)) }",
            [name, sources, change or {}, LIMIT],
        )

    def decoded(self, name, source, target, change=None):
        """Logits and all weights of a source and a target, as tensors."""
        found = self.page.evaluate(
            "([name, source, target, change]) => { const model = models[name]"
            ".changed(change); const memory = model.encode(source);"
            "const { logits, self, cross } = model.decode(memory, target);"
            "return { logits: rows(logits), self: plain(self), cross: "
            "plain(cross), encoder: plain(memory.encoder) } }",
            [name, source, target, change or {}],
        )
        return {k: torch.tensor(v, dtype=F64) for k, v in found.items()}

    def stepped(self, name, source, target):
        """The logits of each target position, one at a time."""
        return self.page.evaluate(
            "([name, source, target]) => { const model = models[name]; let "
            "cache = model.begin(model.encode(source)); return target.map("
            "(id) => { const step = model.step(cache, id); cache = step.cache;"
            "return rows(step.logits)[0] }) }",
            [name, source, target],
        )

    def searched(self, name, source, **options):
        """The beams of a source: ids, log p and score of each."""
        return self.page.evaluate(
            "([name, source, options]) => "
            "searched(models[name], source, options)",
            [name, source, options],
        )


def rounded(model):
    """The same model with its weights in float16."""
    halves = copy.deepcopy(model)
    for weight in halves.parameters():
        weight.data = weight.data.half().double()
    return halves


@pytest.fixture(scope="module")
def trained():
    return date_model()


@pytest.fixture(scope="module")
def models(trained):
    """The library's model with either kind of weights."""
    return {"float32": trained.model, "float16": rounded(trained.model)}


@pytest.fixture(scope="module")
def engine(browser, trained):
    """The page's model with either kind of weights."""
    page = browser.new_page()
    engine = Page(page)
    engine.add("float32", saved_bytes(), trained.card["config"])
    script = (explorers.FOLDER / weights.MODEL).read_text()
    halves = base64.b64decode(BASE64.search(script)["weights"])
    engine.add("float16", halves, trained.card["config"])
    yield engine
    page.close()


def saved_bytes():
    return (FOLDER / "dates.safetensors").read_bytes()


@pytest.fixture(scope="module")
def sources(trained, few):
    """1,000 test dates in all languages, as ids; with --quick 40."""
    drawn = generate(splits()["test"], few(1_000, 40), seed=15)
    return [trained.source.encode(example.text) for example in drawn]


def texts_of(ids):
    """The tokens of each row, without PAD."""
    return [[i for i in row if i] for row in ids.tolist()]


def by_library(model, source, target, target_mask=None):
    """What `Page.decoded` is to find."""
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


def assert_equal(found, expected, within=ROUNDING):
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(
            found[name], tensor.double(), atol=within, rtol=0
        )


def given(model, source):
    """BOS and what the model writes, but its last token."""
    (written,) = texts_of(greedy(model, torch.tensor([source]), LIMIT))
    return [model.config.bos_id, *written[:-1]]


def test_the_files_of_the_page_are_not_stale():
    for name, text in weights.texts().items():
        stored = (explorers.FOLDER / name).read_text(encoding="utf-8")
        assert stored == text, "run `make weights`"


def test_the_page_has_the_weights_of_the_card_in_half(trained):
    script = (explorers.FOLDER / weights.MODEL).read_text(encoding="utf-8")
    card = json.loads(CARD.search(script)["card"])
    assert card["sha256"] == trained.card["sha256"]
    assert card["source"] == trained.source.tokens
    halves = load(base64.b64decode(BASE64.search(script)["weights"]))
    kept = load(saved_bytes())
    assert halves.keys() == kept.keys()
    for name, weight in kept.items():
        assert halves[name].dtype == torch.float16
        assert torch.equal(halves[name], weight.half())


@slow
def test_every_float16_is_read(engine):
    every = torch.arange(-(2**15), 2**15).short().view(torch.float16)
    text = base64.b64encode(save({"every": every})).decode()
    found = engine.page.evaluate(
        "(text) => [...Engine.readSafetensors(bytes(text)).every.data]"
        ".map((x) => Number.isFinite(x) ? x : null)",
        text,
    )
    expected = every.double().tolist()
    assert found == [x if math.isfinite(x) else None for x in expected]


@pytest.mark.parametrize("kind", first_quick(KINDS))
def test_it_writes_dates_as_the_library_does(engine, models, sources, kind):
    expected = greedy(models[kind], pad_batch(sources), LIMIT)
    assert engine.written(kind, sources) == texts_of(expected)


@slow
def test_halves_write_what_the_kept_weights_write(models, sources):
    halves, kept = (
        greedy(models[kind], pad_batch(sources), LIMIT) for kind in KINDS
    )
    assert (halves != kept).any(1).sum() <= 2


@pytest.mark.parametrize("kind", first_quick(KINDS))
def test_logits_and_weights_are_those_of_the_library(
    engine, models, sources, kind
):
    for source in sources[::20]:
        padded = source + [0] * (len(source) % 5)
        target = given(models[kind], source)
        found = engine.decoded(kind, padded, target)
        assert_equal(found, by_library(models[kind], padded, target))


@slow
def test_against_float32_the_error_is_small(engine, models, sources):
    """The library in float32 differs by its own rounding."""
    single = copy.deepcopy(models["float32"]).float()
    for source in sources[::20]:
        target = given(single, source)
        found = engine.decoded("float32", source, target)
        assert_equal(found, by_library(single, source, target), 1e-5)


@slow
def test_halves_move_logits_little(models, sources):
    halves, kept = (models[kind] for kind in KINDS)
    for source in sources[::20]:
        target = given(kept, source)
        pair = [by_library(m, source, target) for m in (kept, halves)]
        assert_equal(*pair, within=0.01)


@pytest.mark.parametrize("kind", first_quick(KINDS))
def test_a_cached_step_is_the_whole_decoder(engine, models, sources, kind):
    for source in sources[::40]:
        target = given(models[kind], source)
        whole = engine.decoded(kind, source, target)["logits"].tolist()
        assert engine.stepped(kind, source, target) == whole


def assert_same_beams(found, model, source, width, alpha):
    ids = torch.tensor([source])
    expected = beam_search(model, ids, width, alpha, LIMIT)
    exist = expected.scores[0].isfinite()
    texts, logs, scores = zip(*found, strict=True)
    assert [*texts] == texts_of(expected.ids[0, exist])
    for values, tensor in ((logs, expected.log_p), (scores, expected.scores)):
        torch.testing.assert_close(
            torch.tensor(values, dtype=F64),
            tensor[0, exist],
            atol=1e-9,
            rtol=0,
        )


@pytest.mark.parametrize("width", first_quick([4, 1, 2, 7]))
@pytest.mark.parametrize("alpha", first_quick([0.6, 0.0, 1.5]))
def test_beams_are_those_of_the_library(
    engine, trained, sources, width, alpha
):
    for source in sources[width::70]:
        found = engine.searched(
            "float32", source, width=width, alpha=alpha, limit=LIMIT
        )
        assert_same_beams(found, trained.model, source, width, alpha)


def heads():
    return [f"{name}.{n}" for name in (ENCODER, SELF, CROSS) for n in range(4)]


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


CHANGES = {
    "all": (
        {"silent": [f"{CROSS}.1"], "scale": False, "positions": False},
        lambda model: without_scale(
            without_positions(silenced(model, [f"{CROSS}.1"]))
        ),
    ),
    "a head": (
        {"silent": [f"{SELF}.0"]},
        lambda model: silenced(model, [f"{SELF}.0"]),
    ),
    "scale": ({"scale": False}, without_scale),
    "positions": ({"positions": False}, without_positions),
    "padding mask": ({"padding": False}, without_padding_mask),
}


@pytest.mark.parametrize("name", first_quick(CHANGES))
def test_without_a_part_it_is_the_library_without_it(
    engine, trained, sources, name
):
    change, changed = CHANGES[name]
    model, some = changed(trained.model), sources[::25]
    some = [source + [0] * (n % 9) for n, source in enumerate(some)]
    written = [
        texts_of(greedy(model, torch.tensor([s]), LIMIT))[0] for s in some
    ]
    assert engine.written("float32", some, change) == written
    intact = greedy(trained.model, pad_batch(some), LIMIT)
    assert written != texts_of(intact)
    for source in some[::8]:
        target = given(trained.model, source)
        found = engine.decoded("float32", source, target, change)
        assert_equal(found, by_library(model, source, target))


@slow
@pytest.mark.parametrize("head", heads())
def test_each_head_can_be_silenced(engine, trained, sources, head):
    model = silenced(trained.model, [head])
    change = {"silent": [head]}
    for source in sources[::200]:
        target = given(trained.model, source)
        found = engine.decoded("float32", source, target, change)
        assert_equal(found, by_library(model, source, target))


def test_without_the_causal_mask_each_row_sees_all(engine, trained, sources):
    model, change = trained.model, {"causal": False}
    for source in sources[::50]:
        target = given(model, source)
        every = torch.ones(1, 1, len(target), len(target), dtype=torch.bool)
        found = engine.decoded("float32", source, target, change)
        assert_equal(found, by_library(model, source, target, every))


@slow
def test_without_the_causal_mask_it_writes_as_before(engine, sources):
    """With one layer nothing stands behind the last row; chapter 12 asks."""
    some = sources[::50]
    blind = engine.written("float32", some, {"causal": False})
    assert blind == engine.written("float32", some)


def test_a_row_that_may_see_nothing_gets_weights_zero(engine, trained):
    found = engine.decoded("float32", [0, 0, 0], [1, 6])
    assert_equal(found, by_library(trained.model, [0, 0, 0], [1, 6]))
    assert found["encoder"].abs().max() == found["cross"].abs().max() == 0


OTHERS = {
    "pre-norm": {"norm_first": True},
    "pre-norm, bare": {"norm_first": True, "final_norms": False},
    "post-norm, final": {"final_norms": True},
    "tied to the target": {"tied": "target"},
    "all tied": {"tied": "all"},
    "deep": {"encoder_layers": 3, "decoder_layers": 2},
    "one head": {"heads": 1},
}


def small(engine, **options):
    """A small model with random weights, in the page too, as "small"."""
    torch.manual_seed(0)
    plain = {"d_model": 12, "heads": 3, "d_ff": 20, "dropout": 0.0}
    depth = {"encoder_layers": 1, "decoder_layers": 1, "max_length": 20}
    options = {"tied": "none"} | plain | depth | options
    model = Transformer(TransformerConfig(9, 9, **options)).eval()
    model = model.requires_grad_(False)
    engine.add("small", save(model.state_dict()), vars(model.config))
    return model.double()


@pytest.mark.parametrize("name", first_quick(OTHERS))
def test_other_models_of_the_library_run_too(engine, name):
    model = small(engine, **OTHERS[name])
    for seed in range(5):
        torch.manual_seed(seed)
        source = torch.randint(3, 9, (6,)).tolist() + [0] * seed
        target = [1, *torch.randint(3, 9, (5,)).tolist()]
        found = engine.decoded("small", source, target)
        assert_equal(found, by_library(model, source, target))
        beams = engine.searched("small", source, width=6, limit=LIMIT)
        assert_same_beams(beams, model, source, 6, 0.6)


FAULTS = {
    "one key too few": ("j <= old + i", "j < old + i"),
    "the scale is lost": ("Math.sqrt(width) : 1", "1 : 1"),
    "another epsilon": ("1e-5", "1e-3"),
    "no activation": ("Math.max(0, v)", "v"),
    "keys and values exchanged": ("k = stack(k", "v = stack(k"),
    "pads are seen": ("source[j] !== pad", "true"),
    "no residual": ("v + branch.data[i]", "branch.data[i]"),
    "embeddings are not scaled": ("scale * table", "table"),
    "positions begin again": (
        "rowOf(this.table, offset + t)",
        "rowOf(this.table, t)",
    ),
    "rows that see nothing": ("most === -Infinity", "false"),
    "another penalty": ("(5 + length)", "(4 + length)"),
    "ended beams go on": ("if (beam.ended)", "if (false)"),
    "halves are doubled": ("(exponent - 15)", "(exponent - 14)"),
}


@pytest.mark.parametrize("name", first_quick(FAULTS))
def test_faults_are_noticed(browser, trained, sources, name):
    old, new = FAULTS[name]
    assert SCRIPTS.count(old) == 1
    page = browser.new_page()
    try:
        engine = Page(page, SCRIPTS.replace(old, new))
        config = trained.card["config"]
        halves = save({k: v.half() for k, v in load(saved_bytes()).items()})
        engine.add("float16", halves, config)
        with pytest.raises((AssertionError, Error)):
            assert_faultless(engine, rounded(trained.model), sources[0])
    finally:
        page.close()


def assert_faultless(engine, model, source):
    padded, target = source + [0, 0], given(model, source)
    found = engine.decoded("float16", padded, target)
    assert_equal(found, by_library(model, padded, target))
    assert engine.stepped("float16", padded, target) == (
        found["logits"].tolist()
    )
    found = engine.decoded("float16", [0, 0], target)
    assert_equal(found, by_library(model, [0, 0], target))
    unsure = small(engine)
    found = engine.searched("small", [5, 4, 8], width=3, limit=LIMIT)
    assert_same_beams(found, unsure, [5, 4, 8], 3, 0.6)


def test_without_a_fault_nothing_is_noticed(engine, models, sources):
    assert_faultless(engine, models["float16"], sources[0])
