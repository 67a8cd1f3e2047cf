"""Small random layers of experts, as the public package computes them.

    python -m tests.conformance.tiny_experts

in the environment of `make conformance` writes `book/data/experts.safetensors`
for chapter 18: for each family the weights under our names, and the output for
the same ten tokens. Nothing is downloaded.
"""

from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import DeepseekV3Config, MixtralConfig, Qwen3MoeConfig
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3MoE
from transformers.models.mixtral import modeling_mixtral
from transformers.models.qwen3_moe import modeling_qwen3_moe

FILE = Path(__file__).parents[2] / "book" / "data" / "experts.safetensors"
TOKENS, D_MODEL, D_FF, EXPERTS, TOP_K = 10, 8, 6, 5, 2
FAMILIES = {
    "mixtral": (
        modeling_mixtral.MixtralSparseMoeBlock,
        MixtralConfig,
        {"intermediate_size": D_FF, "num_local_experts": EXPERTS},
    ),
    "qwen3": (
        modeling_qwen3_moe.Qwen3MoeSparseMoeBlock,
        Qwen3MoeConfig,
        {"moe_intermediate_size": D_FF, "num_experts": EXPERTS},
    ),
    "deepseek_v3": (
        DeepseekV3MoE,
        DeepseekV3Config,
        {
            "moe_intermediate_size": D_FF,
            "n_routed_experts": EXPERTS,
            "n_shared_experts": 2,
            "n_group": 1,
            "topk_group": 1,
            "routed_scaling_factor": 2.5,
        },
    ),
}


def build(family, renormalize=True):
    """A layer of the package; Mixtral always renormalises."""
    block, config, fields = FAMILIES[family]
    sizes = {"hidden_size": D_MODEL, "num_experts_per_tok": TOP_K}
    return block(config(**sizes, **fields, norm_topk_prob=renormalize))


def tokens():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(1, TOKENS, D_MODEL, generator=generator)


@torch.no_grad()
def recorded(block) -> dict[str, torch.Tensor]:
    """Random weights of a block under our names, and what it computes."""
    generator = torch.Generator().manual_seed(0)
    for tensor in block.state_dict().values():
        tensor.copy_(torch.randn(tensor.shape, generator=generator) / 2)
    found = {"router.keys": block.gate.weight}
    if hasattr(block.gate, "e_score_correction_bias"):
        found["router.bias"] = block.gate.e_score_correction_bias
    packed = block.experts.gate_up_proj, block.experts.down_proj
    for e, (both, narrow) in enumerate(zip(*packed, strict=True)):
        gate, widen = both.chunk(2)
        names = {"gate": gate, "widen": widen, "narrow": narrow}
        found |= {f"experts.{e}.{n}": weight for n, weight in names.items()}
    if (shared := getattr(block, "shared_experts", None)) is not None:
        found["shared.gate"] = shared.gate_proj.weight
        found["shared.widen"] = shared.up_proj.weight
        found["shared.narrow"] = shared.down_proj.weight
    found["output"] = block(tokens())
    return {name: tensor.clone() for name, tensor in found.items()}


def main() -> None:
    files = {"tokens": tokens()}
    for family in FAMILIES:
        for name, tensor in recorded(build(family)).items():
            files[f"{family}.{name}"] = tensor
    save_file(files, FILE)


if __name__ == "__main__":
    main()
