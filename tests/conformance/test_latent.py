"""Chapter 19's latent attention is `DeepseekV3Attention` of `transformers`.

Random weights from configurations; nothing is downloaded. In float32 with
their eager attention. Its softmax and their norms compute in float32 always,
so in float64 other ones stand in: their SDPA attention, and torch's norms.
"""

from functools import partial

import pytest
import torch
from torch import nn
from transformers import DeepseekV3Config, DynamicCache
from transformers.models.deepseek_v3 import modeling_deepseek_v3 as deepseek

from lib.latent import LatentAttention, LatentCache, LatentConfig
from tests.conformance import beside
from tests.conformance.tiny_llama import randomise

OURS = {  # each field, and its name in a file
    "d_model": "hidden_size",
    "heads": "num_attention_heads",
    "d_latent": "kv_lora_rank",
    "d_query": "q_lora_rank",
    "d_head": "qk_nope_head_dim",
    "d_rotary": "qk_rope_head_dim",
    "d_value": "v_head_dim",
}
SIZES = (23, 3, 7, 5, 4, 6, 13)
ATTENTION, LENGTH = deepseek.DeepseekV3Attention, 11


def theirs(config, layer, sizes, dtype, **more):
    """Their layer, with all of its parts in `dtype`."""
    named = dict(zip(OURS.values(), sizes, strict=True))
    is_exact = dtype == torch.float64
    config = config(
        **named | more,
        num_key_value_heads=named["num_attention_heads"],
        rope_parameters=beside.ROPE,
        attn_implementation="sdpa" if is_exact else "eager",
    )
    layer = randomise(layer(config, layer_idx=0)).to(dtype)
    if is_exact:
        for name in ("q_a_layernorm", "kv_a_layernorm"):
            if (norm := getattr(layer, name)) is not None:
                exact = nn.RMSNorm(norm.weight.shape, norm.variance_epsilon)
                exact.weight = norm.weight
                setattr(layer, name, exact)
    return layer.requires_grad_(False)


def reader(layer, dtype):
    """What reads with it: with their angles, or with those of float64."""

    def angles(places):
        if dtype == torch.float64:
            return beside.angles(places, layer.qk_rope_head_dim, dtype)
        rotary = deepseek.DeepseekV3RotaryEmbedding(layer.config)
        return rotary(torch.zeros(1), places[None])

    return partial(beside.read, layer, angles)


def ours(sizes, layer):
    """Our layer with their weights, which are those of several matrices."""
    c = LatentConfig(*sizes, base=beside.BASE)
    has_latent = c.d_query is not None
    query = layer.q_b_proj if has_latent else layer.q_proj
    q, q_R = query.weight.unflatten(0, (c.heads, -1)).split(
        [c.d_head, c.d_rotary], 1
    )
    k, v = layer.kv_b_proj.weight.unflatten(0, (c.heads, -1)).split(
        [c.d_head, c.d_value], 1
    )
    down, k_R = layer.kv_a_proj_with_mqa.weight.split([c.d_latent, c.d_rotary])
    weights = {
        "W_UQ.weight": q.flatten(0, 1),
        "W_QR.weight": q_R.flatten(0, 1),
        "W_UK.weight": k.flatten(0, 1),
        "W_UV.weight": v.flatten(0, 1),
        "W_DKV.weight": down,
        "W_KR.weight": k_R,
        "norm.weight": layer.kv_a_layernorm.weight,
        "W_O.weight": layer.o_proj.weight,
    }
    if has_latent:
        weights["query_latent.0.weight"] = layer.q_a_proj.weight
        weights["query_latent.1.weight"] = layer.q_a_layernorm.weight
    made = LatentAttention(c).to(down.dtype).requires_grad_(False)
    made.load_state_dict(weights)
    return made


@pytest.mark.parametrize("absorbed", [False, True])
@beside.PRECISIONS
@pytest.mark.parametrize("d_query", [5, None])
def test_full_pass_and_cached_are_deepseeks(d_query, dtype, near, absorbed):
    sizes = *SIZES[:3], d_query, *SIZES[4:]
    layer = theirs(DeepseekV3Config, ATTENTION, sizes, dtype)
    made = partial(ours(sizes, layer), absorbed=absorbed)
    past, kept = DynamicCache(), LatentCache()
    x, read = beside.text(LENGTH, SIZES[0], dtype), reader(layer, dtype)
    beside.compare(made, kept, read, past, x, (4, 1, 3, 1, 2), near)
    latent = kept.buffer[:, :LENGTH, : SIZES[2]]
    beside.close(latent, past.layers[0].keys[:, 0], near)


def test_the_sizes_are_deepseeks():
    their, own = DeepseekV3Config(), LatentConfig()
    for name, in_file in OURS.items():
        assert getattr(own, name) == getattr(their, in_file)
    assert their.num_hidden_layers == 61
    with torch.device("meta"):
        layers = ATTENTION(their, 0), LatentAttention(own)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in layers]
    assert counts[0] == counts[1]
    assert layers[0].kv_a_layernorm.variance_epsilon == own.eps
