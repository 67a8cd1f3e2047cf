"""lib.families: recorded models of three families, and what is refused.

What the public package says of other files stands in
tests/conformance/test_families.py.
"""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from safetensors.torch import load_file

from kit.trained import FOLDER
from lib.experts import MixtureOfExperts
from lib.families import (
    ExpertsConfig,
    FamilyBlock,
    FamilyConfig,
    FamilyModel,
    load_family,
    read_family,
)
from lib.llama import write_on
from lib.modern import Stretch
from tests.library.draw import DEVICE, drawn_ids, refused, same
from tests.library.refusals import refuses

FILES = json.loads((FOLDER / "families.json").read_text(encoding="utf-8"))
REAL = json.loads((FOLDER / "qwen3_235b.json").read_text(encoding="utf-8"))
NEAR = {"rtol": 0, "atol": 1e-5}
EXPERTS = ExpertsConfig((1,), 3, 2, 5, 2, "sigmoid", False, 1.5)
SMALL = FamilyConfig(
    vocab_size=11, d_model=7, heads=6, kv_heads=3, d_ff=13, layers=2,
    base=50.0, d_head=4, experts=EXPERTS,
)  # fmt: skip


def weights_of(family):
    """The weights of a record, and what the package said of them."""
    tensors = load_file(FOLDER / "families.safetensors", device=str(DEVICE))
    parts = [(*name.partition("/"), x) for name, x in tensors.items()]
    weights = {name: x for of, _, name, x in parts if of == family}
    return weights, tensors["ids"], weights.pop("logits")


def built(fields, weights, dtype=torch.float32):
    model = FamilyModel(read_family(fields)).to(DEVICE, dtype)
    load_family(model.requires_grad_(False), weights)
    return model


def small():
    torch.manual_seed(0)
    return FamilyModel(SMALL).to(DEVICE).double()


@pytest.mark.parametrize("sizes", [(12,), (1,) * 12, (5, 1, 4, 2)])
@pytest.mark.parametrize("family", FILES)
def test_it_is_what_the_package_computes(family, sizes):
    weights, ids, theirs = weights_of(family)
    model = built(FILES[family], weights)
    cache = model.empty_cache()
    parts = [model(part, cache) for part in ids.split(sizes, dim=1)]
    for logits in (torch.cat(parts, 1), model(ids)):
        torch.testing.assert_close(logits, theirs, **NEAR)


def test_the_real_file_is_the_model_of_its_name():
    counted = []
    for layers in (1, 2):
        with torch.device("meta"):
            fields = REAL | {"num_hidden_layers": layers}
            model = FamilyModel(read_family(fields))
        counted.append(sum(p.numel() for p in model.parameters()))
    first, second = counted
    assert first + 93 * (second - first) == 235_093_634_560
    config = read_family(REAL)
    assert config.experts.layers == tuple(range(94))
    assert (config.eps, config.base, config.tied) == (1e-6, 1e6, False)


def test_which_layers_have_experts():
    def layers(family, **changes):
        fields = FILES[family] | {"num_hidden_layers": 6} | changes
        fields |= {"layer_types": None}
        return read_family(fields).experts.layers

    moe, dots = partial(layers, "qwen3_moe"), partial(layers, "dots1")
    assert moe(decoder_sparse_step=2) == (1, 3, 5)
    assert moe(decoder_sparse_step=2, mlp_only_layers=[3, 4]) == (1, 5)
    assert moe(mlp_only_layers=[0, 9]) == (1, 2, 3, 4, 5)
    assert dots() == (1, 2, 3, 4, 5) and dots(first_k_dense_replace=9) == ()
    kinds = [type(b.feed_forward) is MixtureOfExperts for b in small().blocks]
    assert kinds == [False, True]


def test_what_goes_without_saying():
    def less(family, *names):
        fields = FILES[family].items()
        return read_family({k: v for k, v in fields if k not in names})

    assert less("qwen3", "head_dim").d_head == 128
    assert less("qwen3", "rope_parameters", "rms_norm_eps") == replace(
        less("qwen3"), base=10_000.0, eps=1e-6
    )
    even = FILES["dots1"] | {"hidden_size": 16}
    del even["head_dim"]
    assert read_family(even).d_head == 4
    for family in ("qwen3_moe", "dots1"):
        assert less(family).experts.renormalize
        assert not less(family, "norm_topk_prob").experts.renormalize
    assert less("dots1", "routed_scaling_factor").experts.scale == 1.0
    newer = FILES["qwen3_moe"]
    older = {k: v for k, v in newer.items() if k != "num_local_experts"}
    assert read_family(older | {"num_experts": 5}) == read_family(newer)


def test_it_writes_on():
    model, ids = small().requires_grad_(False), drawn_ids(0, 11, 2, 9)
    best = model(ids)[:, -1].argmax(-1)
    same(write_on(model, ids, limit=1)[:, 0], best)


def test_tied_matrices_are_one():
    weights, _, _ = weights_of("qwen3")
    fields = FILES["qwen3"] | {"tie_word_embeddings": True}
    table = weights["model.embed_tokens.weight"]
    for given in ({}, {"lm_head.weight": table.clone()}):
        rest = {k: v for k, v in weights.items() if k != "lm_head.weight"}
        model = built(fields, rest | given)
        assert model.output.weight is model.table.weight
        same(model.output.weight, table)
    with refused(ValueError, "lm_head.weight", "as the model is tied", "oth"):
        built(fields, weights)


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
def test_other_precisions(kind):
    weights, ids, theirs = weights_of("dots1")
    logits = built(FILES["dots1"], weights, kind)(ids)
    assert logits.dtype == kind
    if kind == torch.float64:
        torch.testing.assert_close(logits.float(), theirs, **NEAR)


def reading(family):
    """`read_family` of a good file with changed or (...) missing fields."""

    def read(**changes):
        fields = FILES[family] | changes
        return read_family({k: v for k, v in fields.items() if v is not ...})

    return read


def loading(family):
    """The model of a file, with another tensor, or (...) without one."""
    weights, _, _ = weights_of(family)

    def load(**changes):
        given = {k: v for k, v in (weights | changes).items() if v is not ...}
        return built(FILES[family], given)

    return load


qwen, moe, dots = map(reading, FILES)
load, load_moe, load_dots = map(loading, FILES)
changed, experts = partial(replace, SMALL), partial(replace, EXPERTS)
UNKNOWN, MISSING, NO_CONFIG = "no such field", {"nothing": ...}, {"dict": {}}
LAYER, ROWS = "model.layers.1", {"(6,)": torch.ones(6)}
YARN = {"'yarn'": {"rope_type": "yarn", "factor": 4.0}}
test_bad_input_is_refused = refuses(
    ("d_head", changed, ValueError, "an even number", {"5": 5}),
    ("kv_heads", changed, ValueError, "a divisor of heads=6", {"4": 4}),
    ("window", changed, ValueError, "None", {"3": 3}),
    ("stretch", changed, ValueError, "None", {"Stretch": Stretch(2.0)}),
    ("experts", changed, TypeError, "ExpertsConfig", NO_CONFIG),
    ("shared", experts, ValueError, "at least 0", {"-1": -1}),
    ("layers", experts, TypeError, "a tuple", {"list": [1]}),
    ("layers", experts, ValueError, "at least 0", {"-1": (-1,)}),
    ("config", FamilyModel, TypeError, "FamilyConfig", NO_CONFIG),
    ("config", partial(FamilyBlock, layer=0), TypeError, "FamilyConfig",
     NO_CONFIG),
    ("layer", partial(FamilyBlock, SMALL), ValueError, "at least 0",
     {"-1": -1}),
    ("model", partial(load_family, weights={}), TypeError, "FamilyModel",
     {"dict": {}}),
    # fields
    ("model_type", qwen, ValueError, "'qwen3' or 'qwen3_moe' or 'dots1'",
     {"'qwen3_next'": "qwen3_next"}),
    ("num_key_value_heads", qwen, ValueError, "a divisor of 4", {"3": 3}),
    ("num_key_value_heads", qwen, ValueError, "an integer", MISSING),
    ("head_dim", qwen, ValueError, "an even number", {"5": 5}),
    ("use_sliding_window", qwen, ValueError, "False", {"True": True}),
    ("layer_types", qwen, ValueError, "2 times 'full_attention'",
     {"sliding": ["full_attention", "sliding_attention"]}),
    ("architectures", qwen, ValueError, "Qwen3ForCausalLM",
     {"LlamaForCausalLM": ["LlamaForCausalLM"]}),
    ("attention_bias", qwen, ValueError, "False", {"True": True}),
    ("hidden_act", moe, ValueError, "silu", {"gelu": "gelu"}),
    ("num_experts", qwen, ValueError, UNKNOWN, {"5": 5}),
    ("rope_type of rope_scaling", qwen, ValueError, "'default'", YARN),
    ("rope_type of rope_parameters", qwen, ValueError, "'default'",
     {"'linear'": {"rope_type": "linear", "factor": 4.0}}),
    ("num_local_experts", partial(moe, num_experts=5), ValueError,
     "5, as num_experts has", {"6": 6}),
    ("num_experts_per_tok", moe, ValueError, "1 to 5", {"6": 6}),
    ("moe_intermediate_size", moe, ValueError, "an integer", MISSING),
    ("norm_topk_prob", moe, TypeError, "True or False", {"int": 1}),
    ("decoder_sparse_step", moe, ValueError, "at least 1", {"0": 0}),
    ("mlp_only_layers", moe, TypeError, "a list", {"int": 1}),
    ("mlp_only_layers", moe, TypeError, "an integer", {"bool": [True]}),
    ("n_group", dots, ValueError, "1", {"2": 2}),
    ("n_shared_experts", dots, TypeError, "an integer", {"NoneType": None}),
    ("first_k_dense_replace", dots, ValueError, "at least 0", {"-1": -1}),
    ("routed_scaling_factor", dots, ValueError, "above 0", {"0.0": 0.0}),
    ("routed_scaling_factor", dots, TypeError, "a float", {"int": 2}),
    ("max_window_layers", dots, TypeError, "an integer", {"NoneType": None}),
    ("sliding_window", dots, ValueError, "at least 1", {"0": 0}),
    ("sliding_window", partial(dots, max_window_layers=1), ValueError,
     "None in all 2 layers", {"8": 8}),
    # every tensor is used or refused
    *((f"{LAYER}.{name}", load, ValueError, "no such", ROWS)
      for name in ("self_attn.q_proj.bias", "mlp.experts.0.up_proj.weight")),
    (f"{LAYER}.self_attn.q_norm.weight", load, ValueError, "(6,)", MISSING),
    (f"{LAYER}.mlp.gate.weight", load_moe, ValueError, "(5, 14)", MISSING),
    (f"{LAYER}.mlp.gate.e_score_correction_bias", load_moe, ValueError,
     "no such", ROWS),
    (f"{LAYER}.mlp.gate.e_score_correction_bias", load_dots, ValueError,
     "(5,)", MISSING),
    (f"{LAYER}.mlp.shared_experts.up_proj.weight", load_dots, ValueError,
     "(18, 14)", ROWS),
)  # fmt: skip
