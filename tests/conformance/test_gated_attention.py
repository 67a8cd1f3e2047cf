"""Chapter 19's gated attention is Qwen3-Next's, and without its gate Qwen3's.

Random weights from configurations; nothing is downloaded. Their norms compute
in float32 always, so both are compared in float32.
"""

from functools import partial

import pytest
import torch
from transformers import DynamicCache, Qwen3Config, Qwen3NextConfig
from transformers.models.qwen3 import modeling_qwen3 as qwen3
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next

from lib.cache import CachedSelfAttention
from lib.gated_attention import GatedAttention, GatedConfig
from tests.conformance import beside
from tests.conformance.tiny_llama import randomise

OURS = {  # each field, and its name in a file
    "d_model": "hidden_size",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "d_head": "head_dim",
}
SIZES = {"d_model": 23, "heads": 6, "kv_heads": 3, "d_head": 16, "eps": 1e-3}
KINDS = {
    "qwen3": (Qwen3Config, qwen3.Qwen3Attention, qwen3.Qwen3RotaryEmbedding),
    "qwen3_next": (
        Qwen3NextConfig,
        qwen3_next.Qwen3NextAttention,
        qwen3_next.Qwen3NextRotaryEmbedding,
    ),
}
PART = {"qwen3": 1.0, "qwen3_next": 0.25}  # of each head is turned


def theirs(kind):
    """Their layer, and what makes its angles."""
    config, layer, rotary = KINDS[kind]
    config = config(
        **{name: SIZES[own] for own, name in OURS.items()},
        rms_norm_eps=SIZES["eps"],
        rope_parameters=beside.ROPE | {"partial_rotary_factor": PART[kind]},
        num_hidden_layers=4,
        attn_implementation="eager",
    )
    return randomise(layer(config, layer_idx=0)), rotary(config)


def ours(kind, layer):
    """Our layer with their weights, pairs of halves beside each other."""
    d_head, turned = SIZES["d_head"], int(PART[kind] * SIZES["d_head"])
    pairs = torch.arange(turned).view(2, -1).T.flatten()
    order = torch.cat([pairs, torch.arange(turned, d_head)])
    q = layer.q_proj.weight.unflatten(0, (SIZES["heads"], -1))
    weights = {"out_proj.weight": layer.o_proj.weight}
    gated, shift = kind == "qwen3_next", 0.0
    if gated:  # the rows of a head's gate stand behind those of its query
        q, gate = q.split(d_head, dim=1)
        weights["W_G.weight"], shift = gate.flatten(0, 1), 1.0
    k = layer.k_proj.weight.unflatten(0, (SIZES["kv_heads"], -1))
    q, k = (W[:, order].flatten(0, 1) for W in (q, k))
    weights["in_proj.weight"] = torch.cat([q, k, layer.v_proj.weight])
    for name in ("q_norm", "k_norm"):  # Qwen3-Next's gain is 1 + weight
        gain = getattr(layer, name).weight
        weights[f"{name}.weight"] = shift + gain[order]
    config = GatedConfig(
        **SIZES, d_rotary=turned, base=beside.BASE, gated=gated
    )
    made = GatedAttention(config).requires_grad_(False)
    made.load_state_dict(weights)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_full_pass_and_cached_are_theirs(kind):
    layer, rotary = theirs(kind)
    made, x = ours(kind, layer), beside.text(11, SIZES["d_model"])
    past, kept = DynamicCache(), CachedSelfAttention(made)
    read = partial(beside.read, layer, lambda at: rotary(x, at[None]))
    beside.compare(made, kept, read, past, x, (4, 1, 3, 1, 2))
    beside.close(kept.buffer[1, :, :, :11], past.layers[0].values)


def test_the_sizes_are_qwen3_nexts():
    their, own = Qwen3NextConfig(), GatedConfig()
    for name, in_file in OURS.items():
        assert getattr(own, name) == getattr(their, in_file)
    share = their.rope_parameters["partial_rotary_factor"]
    assert own.d_rotary == share * own.d_head and own.eps == their.rms_norm_eps
    with torch.device("meta"):
        layers = qwen3_next.Qwen3NextAttention(their, 0), GatedAttention(own)
    counts = [sum(p.numel() for p in layer.parameters()) for layer in layers]
    assert counts[0] == counts[1]
