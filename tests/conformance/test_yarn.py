"""Angles for longer texts are those that `transformers` computes.

Theirs are float32. Nothing is downloaded.
"""

import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama import modeling_llama

from lib.modern import Stretch, rotary_steps, turn_by
from lib.yarn import Yarn, yarn_steps

NEAR = {"rtol": 1e-6, "atol": 1e-6}
RATIO = {"rtol": 1e-5, "atol": 0}  # of the slowest pairs, too


def config(kind, d_head, base, factor, trained, **more):
    rope = {
        "rope_type": kind,
        "rope_theta": base,
        "factor": factor,
        "original_max_position_embeddings": trained,
    }
    return LlamaConfig(
        hidden_size=2 * d_head,
        num_attention_heads=2,
        max_position_embeddings=int(factor * trained),
        rope_parameters=rope | more,
    )


CASES = [
    (128, 5e5, 128.0, 8_192),  # as on the page
    (128, 1e6, 4.0, 32_768),  # Qwen2.5 and Qwen3, for longer texts
    (64, 1e4, 40.0, 4_096),  # DeepSeek-V3
    (64, 150_000.0, 32.0, 4_096),
    (16, 100.0, 2.0, 64),  # no pair turns 32 times
    (8, 50.0, 3.0, 100_000),  # every pair does
]


@pytest.mark.parametrize("betas", [(32, 1), (16, 2)])
@pytest.mark.parametrize(("d_head", "base", "factor", "trained"), CASES)
def test_yarn_is_theirs(d_head, base, factor, trained, betas):
    more = {"beta_fast": betas[0], "beta_slow": betas[1]}
    asked = config("yarn", d_head, base, factor, trained, **more)
    expected, scale = ROPE_INIT_FUNCTIONS["yarn"](asked, "cpu")
    yarn = Yarn(factor, trained, *betas)
    found = yarn_steps(d_head, base, yarn).float()
    torch.testing.assert_close(found, expected, **NEAR)
    torch.testing.assert_close(found, expected, **RATIO)
    assert abs(yarn.attention_factor - scale) < 1e-12


@pytest.mark.parametrize(("d_head", "base", "factor", "trained"), CASES)
def test_stretched_angles_are_theirs(d_head, base, factor, trained):
    more = {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
    asked = config("llama3", d_head, base, factor, trained, **more)
    expected, scale = ROPE_INIT_FUNCTIONS["llama3"](asked, "cpu")
    found = rotary_steps(d_head, base, Stretch(factor, trained)).float()
    torch.testing.assert_close(found, expected, **NEAR)
    torch.testing.assert_close(found, expected, **RATIO)
    linear, _ = ROPE_INIT_FUNCTIONS["linear"](asked, "cpu")
    found = rotary_steps(d_head, base, Stretch(factor)).float()
    torch.testing.assert_close(found, linear, **RATIO)
    assert scale == 1


def test_scores_are_theirs():
    """Their cosines and sines carry the factor, ours the queries and keys."""
    asked, start = config("yarn", 16, 1e4, 8.0, 512), 300
    q, k = torch.randn(2, 1, 2, 7, 16, generator=torch.Generator())
    places = torch.arange(start, start + 7)[None]
    turned = modeling_llama.LlamaRotaryEmbedding(asked)(q, places)
    halves = [x.unflatten(-1, (-1, 2)).mT.flatten(-2) for x in (q, k)]
    a, b = modeling_llama.apply_rotary_pos_emb(*halves, *turned)
    yarn = Yarn(8.0, 512)
    steps = yarn_steps(16, 1e4, yarn)
    own = [turn_by(x, start, steps) * yarn.attention_factor for x in (q, k)]
    torch.testing.assert_close(
        own[0] @ own[1].mT, a @ b.mT, **RATIO | {"atol": 1e-5}
    )
