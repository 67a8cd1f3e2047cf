"""Three layouts of multi-head attention: data for a figure of chapter 5.

Self-attention as textbooks write it. Each takes a `MultiHeadAttention` and an
input, and computes what the module does.
"""

import math

import torch
from torch import Tensor

from benchmarks.timing import ratio, side_by_side
from lib.heads import MultiHeadAttention, merge_heads

TOKENS, LENGTHS = 4096, [32, 128, 512, 2048]


def loop_over_heads(module: MultiHeadAttention, x: Tensor) -> Tensor:
    """One attention after the other."""
    q, k, v = module.project(x, x, x)
    heads = []
    for h in range(module.heads):
        scores = (q[:, h] / math.sqrt(q.shape[-1])) @ k[:, h].mT
        heads.append(scores.softmax(dim=-1) @ v[:, h])
    return module.out_proj(merge_heads(torch.stack(heads, dim=1)))


def einsum_nlhd(module: MultiHeadAttention, x: Tensor) -> Tensor:
    """The head axis stays behind the length."""
    parts = module.in_proj(x).chunk(3, dim=-1)
    q, k, v = (part.unflatten(-1, (module.heads, -1)) for part in parts)
    scores = torch.einsum("nihd,njhd->nhij", q, k) / math.sqrt(q.shape[-1])
    weights = scores.softmax(dim=-1)
    context = torch.einsum("nhij,njhd->nihd", weights, v)
    return module.out_proj(context.flatten(2))


def matmul_nhld(module: MultiHeadAttention, x: Tensor) -> Tensor:
    """The head axis in front, one batched product."""
    q, k, v = module.project(x, x, x)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return module.out_proj(merge_heads(scores.softmax(dim=-1) @ v))


LAYOUTS = {
    "loop over heads": loop_over_heads,
    "einsum, n l h d": einsum_nlhd,
    "matmul, n h l d": matmul_nhld,
}


def record() -> dict:
    torch.manual_seed(0)
    module = MultiHeadAttention(512, 8).requires_grad_(False)
    by_layout = {name: [] for name in LAYOUTS}
    for length in LENGTHS:
        x = torch.randn(TOKENS // length, length, 512)
        ways = LAYOUTS | {"ours": type(module).__call__}
        runs = {
            name: lambda f=f, x=x: f(module, x) for name, f in ways.items()
        }
        times = side_by_side(runs, rounds=9)
        for name, ratios in by_layout.items():
            ratios.append(ratio(times, name, "ours"))
    return {"tokens": TOKENS, "length": LENGTHS, "ratio": by_layout}
