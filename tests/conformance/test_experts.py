"""What chapter 18 has of experts is that of Qwen3, Mixtral and DeepSeek-V3.

Random weights from configurations; nothing is downloaded.
"""

import pytest
import torch

from lib.experts import MixtureOfExperts, Router, balancing_loss
from lib.modern import GatedFeedForward

pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)
from transformers import (  # noqa: E402
    DeepseekV3Config,
    MixtralConfig,
    Qwen3MoeConfig,
)
from transformers.models.deepseek_v3 import modeling_deepseek_v3  # noqa: E402
from transformers.models.mixtral import modeling_mixtral  # noqa: E402
from transformers.models.qwen3_moe import modeling_qwen3_moe  # noqa: E402

SIZES = {"hidden_size": 16, "num_experts_per_tok": 3}
NEAR = {"rtol": 0, "atol": 1e-5}


def qwen3(renormalize):
    config = Qwen3MoeConfig(
        moe_intermediate_size=12, num_experts=7, norm_topk_prob=renormalize,
        **SIZES,
    )  # fmt: skip
    ours = Router(16, 7, 3, renormalize=renormalize)
    return modeling_qwen3_moe.Qwen3MoeSparseMoeBlock(config), ours


def mixtral():
    config = MixtralConfig(intermediate_size=12, num_local_experts=7, **SIZES)
    ours = Router(16, 7, 3)
    return modeling_mixtral.MixtralSparseMoeBlock(config), ours


def deepseek(renormalize):
    config = DeepseekV3Config(
        moe_intermediate_size=12, n_routed_experts=7, n_shared_experts=2,
        n_group=1, topk_group=1, norm_topk_prob=renormalize,
        routed_scaling_factor=2.5, **SIZES,
    )  # fmt: skip
    ours = Router(16, 7, 3, "sigmoid", renormalize, scale=2.5)
    return modeling_deepseek_v3.DeepseekV3MoE(config), ours


BLOCKS = {
    "Qwen3": lambda: qwen3(True),
    "Qwen3, not renormalised": lambda: qwen3(False),
    "Mixtral": mixtral,
    "DeepSeek-V3": lambda: deepseek(True),
    "DeepSeek-V3, not renormalised": lambda: deepseek(False),
}


def expert(weights):
    """One of ours with the weights of theirs: gate, widen, narrow."""
    gate, widen, narrow = weights
    network = GatedFeedForward(gate.shape[1], gate.shape[0])
    network.gate.weight.data = gate
    network.widen.weight.data = widen
    network.narrow.weight.data = narrow
    return network


@pytest.mark.parametrize("name", BLOCKS)
def test_a_mixture_is_that_of_the_family(name):
    theirs, router = BLOCKS[name]()
    generator = torch.Generator().manual_seed(0)
    for tensor in theirs.state_dict().values():
        tensor.copy_(torch.randn(tensor.shape, generator=generator) / 4)
    packed = theirs.experts
    experts = [
        expert((*both.chunk(2), narrow))
        for both, narrow in zip(
            packed.gate_up_proj.data, packed.down_proj.data, strict=True
        )
    ]
    router.keys.weight.data = theirs.gate.weight.data
    shared = getattr(theirs, "shared_experts", None)
    if shared is not None:
        router.bias.copy_(theirs.gate.e_score_correction_bias)
        parts = (shared.gate_proj, shared.up_proj, shared.down_proj)
        shared = expert([part.weight.data for part in parts])
    ours = MixtureOfExperts(router, experts, shared)
    x = torch.randn(2, 11, 16, generator=generator)
    expected = theirs(x)
    output, routing = ours(x, need_routing=True)
    torch.testing.assert_close(output, expected, **NEAR)
    if router.score == "softmax":
        loss = modeling_qwen3_moe.load_balancing_loss_func(
            (x.flatten(0, 1) @ router.keys.weight.T,), 7, 3
        )
        ours_loss = 3 * balancing_loss(routing.scores, routing.chosen)
        torch.testing.assert_close(ours_loss, loss, **NEAR)
