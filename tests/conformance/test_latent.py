"""Chapter 19's latent attention is `DeepseekV3Attention` of `transformers`.

Random weights from configurations; nothing is downloaded. In float32 with
their eager attention. Its softmax and their norms compute in float32 always,
so in float64 other ones stand in: their SDPA attention, and torch's norms.
"""

import pytest
import torch
from torch import nn

from lib.latent import LatentAttention, LatentCache, LatentConfig
from tests.conformance.tiny_llama import randomise

pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)
from transformers import DeepseekV3Config, DynamicCache  # noqa: E402
from transformers.models.deepseek_v3 import (  # noqa: E402
    modeling_deepseek_v3 as deepseek,
)

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
LENGTH, ROWS = 11, 2


def fields(sizes):
    """Sizes by their names in a file."""
    named = dict(zip(OURS.values(), sizes, strict=True))
    return named | {"num_key_value_heads": named["num_attention_heads"]}


def theirs(sizes, dtype, base=1_000.0):
    """Their layer, with all of its parts in `dtype`."""
    rope = {"rope_type": "default", "rope_theta": base}
    config = DeepseekV3Config(**fields(sizes), rope_parameters=rope)
    is_exact = dtype == torch.float64
    config._attn_implementation = "sdpa" if is_exact else "eager"
    layer = randomise(deepseek.DeepseekV3Attention(config, layer_idx=0))
    layer = layer.to(dtype)
    if is_exact:
        for name in ("q_a_layernorm", "kv_a_layernorm"):
            if (norm := getattr(layer, name)) is not None:
                exact = nn.RMSNorm(norm.weight.shape, norm.variance_epsilon)
                exact.weight = norm.weight
                setattr(layer, name, exact)
    return layer.requires_grad_(False)


def ours(sizes, layer, base=1_000.0):
    """Our layer with their weights, which are those of several matrices."""
    config = LatentConfig(*sizes, base=base)
    c, has_latent = config, config.d_query is not None
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
    made = LatentAttention(config).to(down.dtype).requires_grad_(False)
    made.load_state_dict(weights)
    return made


def angles(layer, places, dtype, base=1_000.0):
    """Cosines and sines as their model hands them over, but of `dtype`."""
    width = layer.qk_rope_head_dim
    if dtype == torch.float32:
        rotary = deepseek.DeepseekV3RotaryEmbedding(layer.config)
        return rotary(torch.zeros(1), places[None])
    steps = base ** (-torch.arange(0, width, 2, dtype=dtype) / width)
    angle = (places[:, None] * steps).repeat(1, 2)[None]
    return angle.cos(), angle.sin()


def read(layer, x, start=0, past=None):
    """What their layer gives for positions from `start` on."""
    places = torch.arange(start, start + x.shape[1])
    later = places[:, None] < torch.arange(start + x.shape[1])
    mask = torch.zeros(later.shape).to(x).masked_fill(later, -torch.inf)
    turned = angles(layer, places, x.dtype)
    output, _ = layer(x, turned, mask[None, None], past_key_values=past)
    return output


@pytest.mark.parametrize("absorbed", [False, True])
@pytest.mark.parametrize(
    ("dtype", "near"), [(torch.float32, 1e-5), (torch.float64, 1e-12)]
)
@pytest.mark.parametrize("d_query", [5, None])
def test_full_pass_and_cached_are_deepseeks(d_query, dtype, near, absorbed):
    sizes = *SIZES[:3], d_query, *SIZES[4:]
    layer = theirs(sizes, dtype)
    made = ours(sizes, layer)
    torch.manual_seed(1)
    x = torch.randn(ROWS, LENGTH, SIZES[0], dtype=dtype)
    expected, close = read(layer, x), {"rtol": 0, "atol": near}
    assert expected.abs().mean() > 0.1
    found = made(x, absorbed=absorbed)
    torch.testing.assert_close(found, expected, **close)
    past, kept, start = DynamicCache(), LatentCache(), 0
    for part in x.split([4, 1, 3, 1, 2], dim=1):
        expected = read(layer, part, start, past)
        found = made(part, kept, absorbed=absorbed)
        torch.testing.assert_close(found, expected, **close)
        start += part.shape[1]
    latent = kept.buffer[:, :LENGTH, : SIZES[2]]
    torch.testing.assert_close(latent, past.layers[0].keys[:, 0], **close)


def test_the_sizes_are_deepseeks():
    their, own = DeepseekV3Config(), LatentConfig()
    for name, in_file in OURS.items():
        assert getattr(own, name) == getattr(their, in_file)
    assert their.num_hidden_layers == 61
    with torch.device("meta"):
        layers = deepseek.DeepseekV3Attention(their, 0), LatentAttention(own)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in layers]
    assert counts[0] == counts[1]
    assert layers[0].kv_a_layernorm.variance_epsilon == own.eps
