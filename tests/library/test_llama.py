"""lib.llama: the recorded LLaMA of a public package, and its cache."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from kit.trained import FOLDER
from lib.llama import (
    DecoderOnly,
    DecoderOnlyBlock,
    DecoderOnlyConfig,
    load_llama,
    read_config,
    write_on,
)
from lib.modern import Stretch, rotary_steps
from tests.library.draw import DEVICE, close, refused, same
from tests.library.llama_files import CHANGES, HONEST, KINDS, SLOWER, TINY

BAD = pytest.mark.bad_input
SMALL = DecoderOnlyConfig(11, 16, 4, 2, 12, 2)
NEAR = {"rtol": 0, "atol": 1e-5}
FEW = {k: v for k, v in TINY.items() if k != "num_key_value_heads"}


def files():
    """The fields, the weights, and what the package said of them."""
    fields = json.loads((FOLDER / "llama.json").read_text(encoding="utf-8"))
    weights = load_file(FOLDER / "llama.safetensors", device=str(DEVICE))
    names = "ids", "logits", "stretched"
    return fields, weights, {name: weights.pop(name) for name in names}


def built(fields, weights):
    model = DecoderOnly(read_config(fields)).to(DEVICE)
    load_llama(model.requires_grad_(False), weights)
    return model


def recorded():
    """The fields, what the package said, and our model of the weights."""
    fields, weights, said = files()
    return fields, said, built(fields, weights)


def small(seed=0, **changes):
    torch.manual_seed(seed)
    model = DecoderOnly(replace(SMALL, **changes))
    return model.to(DEVICE).double().requires_grad_(False)


def some_ids(length=9, batch=2):
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(11, (batch, length), generator=generator)
    return ids.to(DEVICE)


def test_it_is_llama():
    _, theirs, model = recorded()
    torch.testing.assert_close(model(theirs["ids"]), theirs["logits"], **NEAR)


@pytest.mark.parametrize("sizes", [(1,) * 12, (5, 1, 4, 2), (11, 1)])
def test_it_is_llama_with_a_cache(sizes):
    _, theirs, model = recorded()
    cache, parts = model.empty_cache(), []
    for part in theirs["ids"].split(sizes, dim=1):
        parts.append(model(part, cache))
    torch.testing.assert_close(torch.cat(parts, 1), theirs["logits"], **NEAR)


@pytest.mark.parametrize(
    "changes", [{}, {"window": 3}, {"tied": True}, {"kv_heads": 1}]
)
def test_cached_in_parts(changes):
    model, ids = small(**changes), some_ids()
    cache = model.empty_cache()
    parts = [model(part, cache) for part in ids.split((4, 1, 3, 1), dim=1)]
    close(torch.cat(parts, 1), model(ids), steps=256)


def test_what_fills_up_the_end_is_never_looked_at():
    model, ids = small(), some_ids()
    same(
        model(ids)[:, :5], model(torch.cat([ids[:, :5], ids[:, :4]], 1))[:, :5]
    )


def test_tied_matrices_are_one():
    tied, two = small(tied=True), small()
    assert tied.output.weight is tied.table.weight
    assert sum(p.numel() for p in two.parameters()) == 11 * 16 + sum(
        p.numel() for p in tied.parameters()
    )
    assert 0.2 < tied.table.weight.std() < 0.3 < 0.8 < two.table.weight.std()


def test_every_weight_learns():
    model = small().requires_grad_(True)
    model(some_ids()).square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad.abs().max() > 0, name


@pytest.mark.parametrize("sizes", [(12,), (5, 1, 4, 2)])
def test_it_is_llama_3_1(sizes):
    fields, weights, said = files()
    model = built(fields | {"rope_parameters": SLOWER}, weights)
    cache, parts = model.empty_cache(), []
    for part in said["ids"].split(sizes, dim=1):
        parts.append(model(part, cache))
    torch.testing.assert_close(torch.cat(parts, 1), said["stretched"], **NEAR)


def test_an_old_and_a_new_file_say_the_same():
    fields, _, model = recorded()
    old = {k: v for k, v in fields.items() if k != "rope_parameters"}
    old["rope_theta"] = fields["rope_parameters"]["rope_theta"]
    assert read_config(old) == read_config(fields) == model.config
    assert model.config == DecoderOnlyConfig(
        50, 32, 4, 2, 44, 2, 1_000.0, None, 1e-3, False
    )
    scaling = {k: v for k, v in SLOWER.items() if k != "rope_theta"}
    spelt = {"type" if k == "rope_type" else k: v for k, v in scaling.items()}
    new = read_config(fields | {"rope_parameters": SLOWER})
    for one in (scaling, spelt, scaling | spelt):
        assert read_config(old | {"rope_scaling": one}) == new
    assert new == replace(model.config, stretch=Stretch(8.0, 64, 1.0, 4.0))
    linear = read_config(
        old | {"rope_scaling": {"type": "linear", "factor": 4}}
    )
    assert linear.stretch == Stretch(4.0, 0, 1.0, 4.0)
    other = SLOWER | {"low_freq_factor": 2, "high_freq_factor": 8}
    other = read_config(fields | {"rope_parameters": other})
    assert other.stretch == Stretch(8.0, 64, 2.0, 8.0)


def test_where_a_file_says_nothing_it_is_what_transformers_takes():
    assert read_config(HONEST["LLaMA 2 7B"][1]) == DecoderOnlyConfig()
    assert read_config(FEW) == DecoderOnlyConfig(
        50, 32, 4, 4, 44, 2, 10_000.0, None, 1e-6, False
    )
    heads = {"num_attention_heads": 16, "model_type": "mistral"}
    mistral = read_config(FEW | heads)
    assert (mistral.kv_heads, mistral.window) == (8, 4_096)
    shared = {"num_key_value_heads": None, "sliding_window": None}
    mistral = read_config(FEW | heads | shared)
    assert (mistral.kv_heads, mistral.window) == (16, None)


@pytest.mark.parametrize("name", HONEST)
def test_honest_files_are_read(name):
    weights, fields = HONEST[name]
    given = json.loads(json.dumps(fields))
    with torch.device("meta"):
        model = DecoderOnly(read_config(given))
    assert sum(p.numel() for p in model.parameters()) == weights
    assert given == fields
    slow = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    assert (model.config.stretch is None) == (not slow)
    if slow:
        assert model.config.stretch.factor == slow["factor"]
    said = fields.get("rope_theta", slow.get("rope_theta", 10_000.0))
    assert model.config.base == said
    assert model.config.window == fields.get("sliding_window")
    assert model.config.eps == fields["rms_norm_eps"]


def test_a_tied_model_needs_no_output_matrix():
    fields, weights, _ = files()
    fields = fields | {"tie_word_embeddings": True}
    table = weights["model.embed_tokens.weight"]
    for more in ({}, {"lm_head.weight": table.clone()}):
        given = {k: v for k, v in weights.items() if k != "lm_head.weight"}
        model = built(fields, given | more)
        same(model.output.weight.detach(), table)
    with refused(
        ValueError, "lm_head.weight", "as the model is tied", "others"
    ):
        built(fields, weights)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_of_a_file_loses_nothing(kind):
    fields, weights, _ = files()
    half = {name: weight.to(kind) for name, weight in weights.items()}
    wide = {name: weight.float() for name, weight in half.items()}
    one, other = built(fields, half), built(fields, wide)
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    for ours, theirs in pairs:
        assert ours.dtype == torch.float32
        same(ours, theirs)
    narrow = DecoderOnly(one.config).to(DEVICE, kind).requires_grad_(False)
    load_llama(narrow, half)
    same(narrow.table.weight, half["model.embed_tokens.weight"])


@pytest.mark.parametrize("kind", [torch.float32, torch.float16])
def test_angles_in_an_old_file_are_compared(kind):
    fields, weights, said = files()
    steps = rotary_steps(8, 1_000.0).to(DEVICE, kind)
    name = "model.layers.1.self_attn.rotary_emb.inv_freq"
    model = built(fields, weights | {name: steps})
    torch.testing.assert_close(model(said["ids"]), said["logits"], **NEAR)
    for other in (rotary_steps(8).to(DEVICE, kind), steps[:2]):
        with refused(ValueError, name, "of the configuration", "others"):
            built(fields, weights | {name: other})


def test_writing_takes_the_best_token():
    model, ids = small(), some_ids(4)
    written, text = write_on(model, ids, limit=6), ids
    for t in range(6):
        best = model(text)[:, -1:].argmax(-1)
        same(written[:, t : t + 1], best)
        text = torch.cat([text, best], dim=1)


def test_writing_stops_when_all_have_ended():
    model, ids = small(), some_ids(4)
    whole = write_on(model, ids, limit=8)
    for end in whole[0].unique().tolist():
        found = write_on(model, ids, limit=8, eos_id=end)
        same(found, whole[:, : found.shape[1]])
        both = (whole == end).any(1).all()
        last = [row.index(end) for row in whole.tolist() if end in row]
        assert found.shape[1] == (max(last) + 1 if both else 8)


@BAD
def test_sizes_are_refused():
    for field, value, words in (
        ("vocab_size", 0, ("at least 1", "0")),
        ("layers", 0, ("at least 1", "0")),
        ("eps", -1.0, ("at least 0", "-1")),
        ("d_model", 18, ("a multiple of heads=4", "18")),
        ("kv_heads", 3, ("a divisor of heads=4", "3")),
        ("base", 1.0, ("above 1", "1.0")),
        ("window", 0, ("at least 1", "0")),
    ):
        with refused(ValueError, field, *words):
            replace(SMALL, **{field: value})
    with refused(TypeError, "tied", "True or False", "int"):
        replace(SMALL, tied=1)
    with refused(TypeError, "stretch", "a Stretch", "int"):
        replace(SMALL, stretch=8)
    for make in (DecoderOnly, DecoderOnlyBlock):
        with refused(TypeError, "config", "DecoderOnlyConfig", "dict"):
            make({})


@BAD
def test_ids_and_caches_are_refused():
    model = small()
    with refused(ValueError, "ids", "0 to 10", "11"):
        model(torch.tensor([[11]]).to(DEVICE))
    with refused(ValueError, "ids", "at least one position", "(1, 0)"):
        model(some_ids()[:1, :0])
    with refused(ValueError, "cache", "one past for each of 2", "1"):
        model(some_ids(), model.empty_cache()[:1])
    with refused(ValueError, "limit", "at least 1", "0"):
        write_on(model, some_ids(), 0)


@BAD
@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_a_field_that_asks_for_something_else_is_refused(change, words):
    with refused(ValueError, *words):
        read_config(TINY | change)


@BAD
@pytest.mark.parametrize(("change", "words"), KINDS)
def test_a_field_of_a_wrong_kind_is_refused(change, words):
    with refused(TypeError, *words):
        read_config(TINY | change)


@BAD
@pytest.mark.parametrize("name", FEW)
def test_a_field_without_which_there_is_no_model(name):
    fields = {k: v for k, v in TINY.items() if k != name}
    with refused(ValueError, name, "", "No" if "type" in name else "nothing"):
        read_config(fields)


@BAD
def test_what_is_no_dictionary_is_refused():
    with refused(TypeError, "fields", "Mapping", "list"):
        read_config([*TINY])


@BAD
def test_a_mistral_has_its_window_in_every_layer():
    mistral = TINY | {"model_type": "mistral", "sliding_window": 3}
    for more in ({}, {"use_sliding_window": True}):
        assert read_config(mistral | more).window == 3
    with refused(ValueError, "use_sliding_window", "True", "False"):
        read_config(mistral | {"use_sliding_window": False})
    with refused(ValueError, "layer_types", "no such field", "full"):
        read_config(mistral | {"layer_types": ["full_attention"] * 2})
    with refused(ValueError, "sliding_window", "at least 1", "0"):
        read_config(mistral | {"sliding_window": 0})


@BAD
@pytest.mark.parametrize(
    ("name", "tensor", "words"),
    [
        ("self_attn.q_norm.weight", torch.ones(8), ("no such tensor", "(8,)")),
        ("self_attn.q_proj.bias", torch.ones(32), ("no such", "(32,)")),
        ("mlp.gate.weight", torch.ones(4, 32), ("no such tensor", "(4, 32)")),
        ("mlp.up_proj.weight", torch.ones(32, 44), ("(44, 32)", "(32, 44)")),
        ("self_attn.k_proj.weight", torch.ones(32, 32), ("(16,", "(32,")),
        ("input_layernorm.weight", None, ("shape (32,)", "nothing")),
    ],
)
def test_every_tensor_is_used_or_refused(name, tensor, words):
    fields, weights, _ = files()
    name = f"model.layers.1.{name}"
    weights = {k: v for k, v in weights.items() if k != name}
    more = {} if tensor is None else {name: tensor}
    with refused(ValueError, name, *words):
        built(fields, weights | more)


@BAD
def test_what_is_no_weight_is_refused():
    fields, weights, _ = files()
    name = "model.norm.weight"
    for other, got in (
        (weights[name].to(torch.int8), "int8"),
        (weights[name].to(torch.float8_e4m3fn), "float8"),
        (weights[name].tolist(), "list"),
    ):
        with refused(TypeError, name, "tensor", got):
            built(fields, weights | {name: other})
    other = "model.layers.2.input_layernorm.weight"
    with refused(ValueError, "lm_head.weight", "(50, 32)", "nothing"):
        built(fields, {k: v for k, v in weights.items() if "lm" not in k})
    with refused(ValueError, other, "no such tensor", "(32,)"):
        built(fields, weights | {other: weights[name]})
