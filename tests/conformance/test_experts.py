"""What chapter 18 has of experts is that of Mixtral, Qwen3 and DeepSeek-V3."""

import pytest
import torch
from safetensors.torch import load_file
from transformers.models.qwen3_moe import modeling_qwen3_moe

from lib.experts import MixtureOfExperts, Router, balancing_loss
from lib.modern import GatedFeedForward
from tests.conformance import tiny_experts as tiny
from tests.conformance.beside import close

SIGMOID = {"score": "sigmoid", "scale": 2.5}
# A family, whether it renormalises, and how ours chooses.
KINDS = [
    ("mixtral", True, {}),
    ("qwen3", True, {}),
    ("qwen3", False, {}),
    ("deepseek_v3", True, SIGMOID),
    ("deepseek_v3", False, SIGMOID),
]


def ours(weights, **choices):
    """Our layer with the weights of a record."""
    router = Router(tiny.D_MODEL, tiny.EXPERTS, tiny.TOP_K, **choices)
    experts = [
        GatedFeedForward(tiny.D_MODEL, tiny.D_FF) for _ in range(tiny.EXPERTS)
    ]
    shared = None
    if "shared.gate" in weights:
        shared = GatedFeedForward(*weights["shared.narrow"].shape)
    layer = MixtureOfExperts(router, experts, shared)
    named = {f"{name}.weight": tensor for name, tensor in weights.items()}
    named.pop("output.weight")
    named["router.bias"] = named.pop(
        "router.bias.weight", torch.zeros(tiny.EXPERTS)
    )
    layer.load_state_dict(named)
    return layer


@pytest.mark.parametrize(("family", "renormalize", "choices"), KINDS)
def test_a_mixture_is_that_of_the_family(family, renormalize, choices):
    theirs = tiny.recorded(tiny.build(family, renormalize))
    layer = ours(theirs, **choices, renormalize=renormalize)
    x = tiny.tokens()
    output, routing = layer(x, need_routing=True)
    close(output, theirs["output"])
    if layer.router.score == "softmax":
        logits = (x.flatten(0, 1) @ layer.router.keys.weight.T,)
        loss = modeling_qwen3_moe.load_balancing_loss_func(
            logits, tiny.EXPERTS, tiny.TOP_K
        )
        mine = balancing_loss(routing.scores, routing.chosen)
        close(tiny.TOP_K * mine, loss)


def test_the_record_of_the_page_is_what_the_package_says():
    record = load_file(tiny.FILE)
    assert torch.equal(record.pop("tokens"), tiny.tokens())
    for family in tiny.FAMILIES:
        for name, tensor in tiny.recorded(tiny.build(family)).items():
            kept = record.pop(f"{family}.{name}")
            close(kept, tensor)
    assert not record
