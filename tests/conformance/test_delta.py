"""The gated delta rule and its layer are those of Qwen3-Next and Qwen3.5.

Random weights from configurations; nothing is downloaded.
"""

import pytest
import torch
from transformers import DynamicCache, Qwen3NextConfig
from transformers.models.qwen3_5.configuration_qwen3_5 import Qwen3_5TextConfig
from transformers.models.qwen3_5.modeling_qwen3_5 import Qwen3_5GatedDeltaNet
from transformers.models.qwen3_next import modeling_qwen3_next as theirs

from lib.delta import chunked_delta_rule, delta_chunk, delta_rule
from lib.gated_delta import DeltaPast, GatedDeltaNet
from tests.conformance.beside import close
from tests.conformance.tiny_llama import randomise

SIZES = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "layer_types": ["linear_attention"] * 2,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 6,
    "linear_key_head_dim": 5,
    "linear_value_head_dim": 3,
    "rms_norm_eps": 1e-3,
}
LAYERS = [
    (Qwen3NextConfig, theirs.Qwen3NextGatedDeltaNet),
    (Qwen3_5TextConfig, Qwen3_5GatedDeltaNet),
]
PARTS = (70,), (1,) * 6 + (64,), (4, 1, 1, 3, 61)


@pytest.mark.parametrize("rule", [delta_rule, delta_chunk, chunked_delta_rule])
@pytest.mark.parametrize(
    "their_rule",
    [
        theirs.torch_recurrent_gated_delta_rule,
        theirs.torch_chunk_gated_delta_rule,
    ],
)
def test_the_rule_is_theirs(rule, their_rule):
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 70, 3, width) for width in (5, 5, 4))
    k = torch.nn.functional.normalize(k, dim=-1)
    beta, decay, state = (torch.rand(2, 70, 3) for _ in range(3))
    state = torch.randn(2, 3, 5, 4)
    wanted = their_rule(
        q, k, v, decay.log(), beta, initial_state=state,
        output_final_state=True,
    )  # fmt: skip
    q, k, v = (x.transpose(1, 2) for x in (q * 5**-0.5, k, v))
    found, last = rule(q, k, v, beta.mT, decay.mT, state)
    close(found.transpose(1, 2), wanted[0])
    close(last, wanted[1])


def ours_of(layer):
    """Our layer with the weights of theirs, by the names of Qwen3.5."""
    sizes = [SIZES[name] for name in SIZES if name.startswith("linear_")]
    made = GatedDeltaNet(24, *sizes, eps=1e-3).requires_grad_(False)
    weights = dict(layer.state_dict())
    if "in_proj_qkvz.weight" in weights:
        weights |= separated(weights)
    made.load_state_dict(weights)
    return made


def separated(weights):
    """Qwen3-Next keeps together what belongs to one head of keys."""
    heads, group, d_key, d_value = 2, 3, 5, 3
    qkvz = weights.pop("in_proj_qkvz.weight").unflatten(0, (heads, -1))
    parts = [d_key, d_key, group * d_value, group * d_value]
    q, k, v, z = (x.flatten(0, 1) for x in qkvz.split(parts, dim=1))
    ba = weights.pop("in_proj_ba.weight").unflatten(0, (heads, -1))
    b, a = (x.flatten(0, 1) for x in ba.split(group, dim=1))
    parts = {"qkv": torch.cat([q, k, v]), "z": z, "b": b, "a": a}
    return {f"in_proj_{name}.weight": x for name, x in parts.items()}


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(("config", "layer"), LAYERS)
def test_the_layer_is_theirs_in_parts(config, layer, parts):
    """Both with what they kept of the text; in one part without."""
    config = config(**SIZES)
    layer = randomise(layer(config, 0))
    made, x = ours_of(layer), torch.randn(2, 70, 24)
    whole = layer(x)
    close(made(x), whole)
    cache, past = DynamicCache(config=config), DeltaPast()
    for part in x.split(parts, dim=1):
        wanted = layer(part, cache_params=cache)
        close(made(part, past), wanted)
        state = cache.get_recurrent_state(0, state_idx=0)
        close(past.state, state)
    assert wanted.abs().max() > 0.1


def test_the_sizes_of_the_page_are_the_configurations_defaults():
    """Chapter 19 counts the caches of Qwen3-Next."""
    config = Qwen3NextConfig()
    assert config.layer_types == (
        ["linear_attention"] * 3 + ["full_attention"]
    ) * (48 // 4)
    found = (
        config.hidden_size,
        config.num_key_value_heads,
        config.head_dim,
        config.linear_num_key_heads,
        config.linear_num_value_heads,
        config.linear_key_head_dim,
        config.linear_value_head_dim,
        config.linear_conv_kernel_dim,
    )
    assert found == (2048, 2, 256, 16, 32, 128, 128, 4)
