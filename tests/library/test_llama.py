"""lib.llama: the recorded LLaMA of a public package, and its cache."""

import json
from dataclasses import replace
from functools import partial

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
from tests.library.draw import DEVICE, close, drawn_ids, refused, same
from tests.library.llama_files import HONEST, LLAMA_3_1, SIZES, SLOWER
from tests.library.refusals import refuses

SMALL = DecoderOnlyConfig(11, 16, 4, 2, 12, 2)
NEAR = {"rtol": 0, "atol": 1e-5}
TINY = {"model_type": "llama"} | SIZES
FEW = {k: v for k, v in TINY.items() if k != "num_key_value_heads"}
MISTRAL = {"model_type": "mistral", "sliding_window": 3}


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


def small(seed=0, **changes):
    torch.manual_seed(seed)
    model = DecoderOnly(replace(SMALL, **changes))
    return model.to(DEVICE).double().requires_grad_(False)


def some_ids(length=9, batch=2):
    return drawn_ids(0, 11, batch, length)


@pytest.mark.parametrize(
    ("said", "change"),
    [("logits", {}), ("stretched", {"rope_parameters": SLOWER})],
)
@pytest.mark.parametrize("sizes", [(12,), (1,) * 12, (5, 1, 4, 2)])
def test_it_is_llama_and_llama_3_1(sizes, said, change):
    fields, weights, theirs = files()
    model = built(fields | change, weights)
    cache, parts = model.empty_cache(), []
    for part in theirs["ids"].split(sizes, dim=1):
        parts.append(model(part, cache))
    for logits in (torch.cat(parts, 1), model(theirs["ids"])):
        torch.testing.assert_close(logits, theirs[said], **NEAR)


@pytest.mark.parametrize(
    "changes", [{"window": 3}, {"tied": True}, {"kv_heads": 1}]
)
def test_cached_in_parts(changes):
    model, ids = small(**changes), some_ids()
    cache = model.empty_cache()
    parts = [model(part, cache) for part in ids.split((4, 1, 3, 1), dim=1)]
    close(torch.cat(parts, 1), model(ids), steps=256)
    assert model.blocks[1].attention.window == changes.get("window")


def test_tied_matrices_are_one():
    tied, two = small(tied=True), small()
    assert tied.output.weight is tied.table.weight
    assert len([*two.parameters()]) == len([*tied.parameters()]) + 1
    assert 0.2 < tied.table.weight.std() < 0.3 < 0.8 < two.table.weight.std()


def test_every_weight_learns():
    model = small().requires_grad_(True)
    model(some_ids()).square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad.abs().max() > 0, name


def test_an_old_and_a_new_file_say_the_same():
    fields, _, _ = files()
    old = {k: v for k, v in fields.items() if k != "rope_parameters"}
    old["rope_theta"] = fields["rope_parameters"]["rope_theta"]
    config = DecoderOnlyConfig(50, 32, 4, 2, 44, 2, 1_000.0, None, 1e-3, False)
    assert read_config(old) == read_config(fields) == config
    scaling = {k: v for k, v in SLOWER.items() if k != "rope_theta"}
    spelt = {"type" if k == "rope_type" else k: v for k, v in scaling.items()}
    stretched = replace(config, stretch=Stretch(8.0, 64, 1.0, 4.0))
    assert read_config(fields | {"rope_parameters": SLOWER}) == stretched
    for one in (scaling, spelt, scaling | spelt):
        assert read_config(old | {"rope_scaling": one}) == stretched
    other = SLOWER | {"low_freq_factor": 2, "high_freq_factor": 8}
    other = read_config(fields | {"rope_parameters": other})
    assert other.stretch == Stretch(8.0, 64, 2.0, 8.0)


def test_where_a_file_says_nothing_it_is_what_transformers_takes():
    assert read_config(HONEST["LLaMA 2 7B"][1]) == DecoderOnlyConfig()
    assert read_config(FEW) == DecoderOnlyConfig(
        50, 32, 4, 4, 44, 2, 10_000.0, None, 1e-6, False
    )
    heads = {"num_attention_heads": 16, "model_type": "mistral"}
    said = {"num_key_value_heads": None, "sliding_window": None}
    for more, expected in (({}, (8, 4_096)), (said, (16, None))):
        mistral = read_config(FEW | heads | more)
        assert (mistral.kv_heads, mistral.window) == expected
    for more in ({}, {"use_sliding_window": True}):
        assert read_config(TINY | MISTRAL | more).window == 3


@pytest.mark.parametrize("name", HONEST)
def test_honest_files_are_read(name):
    weights, fields = HONEST[name]
    given = json.loads(json.dumps(fields))
    with torch.device("meta"):
        model = DecoderOnly(read_config(given))
    assert sum(p.numel() for p in model.parameters()) == weights
    assert given == fields
    slow = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    stretch = model.config.stretch
    assert (stretch and stretch.factor) == slow.get("factor")
    said = fields.get("rope_theta", slow.get("rope_theta", 10_000.0))
    assert model.config.base == said
    assert model.config.window == fields.get("sliding_window")
    assert model.config.eps == fields["rms_norm_eps"]


def test_a_tied_model_needs_no_output_matrix():
    fields, weights, _ = files()
    fields = fields | {"tie_word_embeddings": True}
    name, table = "lm_head.weight", weights["model.embed_tokens.weight"]
    alone = {k: v for k, v in weights.items() if k != name}
    for given in (alone, alone | {name: table.clone()}):
        same(built(fields, given).output.weight.detach(), table)
    with refused(ValueError, name, "as the model is tied", "others"):
        built(fields, weights)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_of_a_file_loses_nothing(kind):
    fields, weights, _ = files()
    half = {name: weight.to(kind) for name, weight in weights.items()}
    wide = {name: weight.float() for name, weight in half.items()}
    one, other = built(fields, half), built(fields, wide)
    same([*one.parameters()], [*other.parameters()])
    assert one.table.weight.dtype == torch.float32
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


def test_writing_takes_the_best_token_until_all_have_ended():
    model, ids = small(), some_ids(4)
    whole, text = write_on(model, ids, limit=8), ids
    for _ in range(8):
        text = torch.cat([text, model(text)[:, -1:].argmax(-1)], dim=1)
    same(whole, text[:, 4:])
    for end in whole[0].unique().tolist():
        last = [(row + [end]).index(end) for row in whole.tolist()]
        found = write_on(model, ids, limit=8, eos_id=end)
        same(found, whole[:, : min(max(last) + 1, 8)])


def reading(base, field=None):
    """`read_config` of a good file in which fields, or words of one field,
    are changed or (...) missing."""

    def read(**changes):
        more = changes if field is None else {field: LLAMA_3_1 | changes}
        more = {k: v for k, v in (base | more).items() if v is not ...}
        return read_config(more)

    return read


def loading(**changes):
    """The model of the file, with another tensor, or (...) without one."""
    fields, weights, _ = files()
    weights = {k: v for k, v in (weights | changes).items() if v is not ...}
    return built(fields, weights)


tiny, mistral = reading(TINY), reading(TINY | MISTRAL)
odd = reading(TINY | {"hidden_size": 36})
slower = reading(TINY, "rope_scaling")
newer = reading(TINY | {"rope_parameters": {"rope_theta": 1e4}})
changed, model = partial(replace, SMALL), small()
run, NO_CONFIG = partial(model, some_ids()), {"dict": {}}
UNKNOWN, SCALING, NORM = "no such field", "rope_scaling", torch.ones(32)
LAYER, BYTES = "model.layers.1", NORM.to(torch.int8)
MISSING, ROWS = {"nothing": ...}, {"(32,)": NORM}
test_bad_input_is_refused = refuses(
    *(
        (name, changed, ValueError, "at least 1", {"0": 0})
        for name in ("vocab_size", "d_ff", "layers", "window")
    ),
    ("eps", changed, ValueError, "at least 0", {"-1.0": -1.0}),
    ("d_model", changed, ValueError, "a multiple of heads=4", {"18": 18}),
    ("kv_heads", changed, ValueError, "a divisor of heads=4", {"3": 3}),
    ("base", changed, ValueError, "above 1", {"1.0": 1.0}),
    ("tied", changed, TypeError, "True or False", {"int": 1}),
    ("stretch", changed, TypeError, "a Stretch", {"int": 8}),
    ("config", DecoderOnly, TypeError, "DecoderOnlyConfig", NO_CONFIG),
    ("config", DecoderOnlyBlock, TypeError, "DecoderOnlyConfig", NO_CONFIG),
    ("ids", model, ValueError, "0 to 10", {"11": 0 * some_ids() + 11}),
    ("ids", model, ValueError, "one position", {"(1, 0)": some_ids(0, 1)}),
    ("cache", run, ValueError, "for each of 2", {"1": [None]}),
    ("limit", partial(write_on, model, some_ids()), ValueError, "at least 1",
     {"0": 0}),
    # a field that asks for something else
    ("fields", read_config, TypeError, "Mapping", {"list": [*TINY]}),
    ("model_type", tiny, ValueError, "'llama' or 'mistral'",
     {"'qwen2'": "qwen2", "['llama']": ["llama"], "None": None}),
    ("attention_bias", tiny, ValueError, "False", {"True": True, "0": 0}),
    ("head_dim", tiny, ValueError, "8", {"16": 16}),
    ("sliding_window", tiny, ValueError, "None", {"3": 3}),
    ("use_sliding_window", tiny, ValueError, "False", {"True": True}),
    ("layer_types", tiny, ValueError, "2 times 'full_attention'",
     {"sliding": ["full_attention", "sliding"]}),
    ("architectures", tiny, ValueError, "LlamaForCausalLM",
     {"['LlamaModel']": ["LlamaModel"]}),
    ("attn_logit_softcapping", tiny, ValueError, UNKNOWN, {"50.0": 50.0}),
    ("num_key_value_heads", tiny, ValueError, "a divisor of 4", {"3": 3}),
    ("num_key_value_heads", tiny, ValueError, "at least 1", {"0": 0}),
    ("hidden_size", tiny, ValueError, "a multiple of 4", {"34": 34}),
    ("num_attention_heads", odd, ValueError, "even width", {"9": 4}),
    ("rms_norm_eps", tiny, ValueError, "at least 0", {"-1.0": -1.0}),
    ("rope_theta", tiny, ValueError, "above 1", {"1.0": 1.0}),
    ("hidden_size", tiny, TypeError, "an integer", {"float": 32.0}),
    ("tie_word_embeddings", tiny, TypeError, "True or False", {"int": 0}),
    ("rms_norm_eps", tiny, TypeError, "a float", {"str": "1e-5"}),
    ("rope_theta", tiny, TypeError, "a number", {"NoneType": None}),
    (SCALING, tiny, TypeError, "Mapping", {"str": "linear"}),
    *((name, tiny, ValueError, "an integer", MISSING)
      for name in FEW if name != "model_type"),
    # a Mistral has its window in every layer
    ("use_sliding_window", mistral, ValueError, "True", {"False": False}),
    ("layer_types", mistral, ValueError, UNKNOWN, {"full": ["full"] * 2}),
    ("sliding_window", mistral, ValueError, "at least 1", {"0": 0}),
    # angles
    ("rope_type of rope_scaling", tiny, ValueError, "'llama3'",
     {"'yarn'": {"rope_type": "yarn"}, "'dynamic'": {"type": "dynamic"}}),
    ("type of rope_scaling", tiny, ValueError, "'default'",
     {"'linear'": {"type": "linear", "rope_type": "default"}}),
    ("factor of rope_scaling", tiny, ValueError, "a number for 'linear'",
     {"nothing": {"rope_type": "linear"}}),
    ("attention_factor of rope_scaling", tiny, ValueError, "no such",
     {"1.0": LLAMA_3_1 | {"attention_factor": 1.0}}),
    ("partial_rotary_factor of rope_scaling", tiny, ValueError, "1.0",
     {"0.5": LLAMA_3_1 | {"partial_rotary_factor": 0.5}}),
    ("high_freq_factor", slower, ValueError, "above 1.0", {"1.0": 1.0}),
    ("low_freq_factor", slower, ValueError, "above 0", {"0.0": 0.0}),
    ("factor", slower, ValueError, "at least 1", {"0.5": 0.5}),
    ("original_max_position_embeddings", slower, ValueError, "at least 1",
     {"0": 0}),
    ("full_attention of rope_parameters", tiny, ValueError, "no such",
     {"rope_theta": {"full_attention": {"rope_theta": 1e4}}}),
    ("rope_theta", newer, ValueError, "1000000.0 here as well",
     {"10000.0": 1e6}),
    (SCALING, newer, ValueError, "the same as rope_parameters",
     {"llama3": LLAMA_3_1}),
    # every tensor is used or refused
    (f"{LAYER}.self_attn.q_proj.bias", loading, ValueError, "no such", ROWS),
    ("model.layers.2.input_layernorm.weight", loading, ValueError, "no such",
     ROWS),
    (f"{LAYER}.mlp.up_proj.weight", loading, ValueError, "(44, 32)", ROWS),
    (f"{LAYER}.input_layernorm.weight", loading, ValueError, "(32,)", MISSING),
    ("lm_head.weight", loading, ValueError, "(50, 32)", MISSING),
    ("model.norm.weight", loading, TypeError, "tensor",
     {"list": NORM.tolist(), "int8": BYTES,
      "float8_e4m3fn": NORM.to(torch.float8_e4m3fn)}),
)  # fmt: skip
