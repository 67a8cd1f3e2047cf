"""Multi-head self-attention as textbooks write it, with our weights.

Each takes a `lib.heads.MultiHeadAttention`, an input and a mask, and gives
the same output as the module.
"""

import math

import torch
from torch import Tensor

from lib.heads import MultiHeadAttention, merge_heads


def loop_over_heads(module: MultiHeadAttention, x: Tensor, mask=None):
    """One attention after the other."""
    q, k, v = module.project(x, x, x)
    heads = []
    for h in range(module.heads):
        scores = (q[:, h] / math.sqrt(q.shape[-1])) @ k[:, h].mT
        if mask is not None:
            scores = scores.masked_fill(~mask[:, 0], -math.inf)
        heads.append(scores.softmax(dim=-1) @ v[:, h])
    return module.out_proj(merge_heads(torch.stack(heads, dim=1)))


def einsum_nlhd(module: MultiHeadAttention, x: Tensor, mask=None):
    """The head axis stays behind the length; scores n h i j."""
    return _einsum(module, x, mask, "nhij")


def einsum_nijh(module: MultiHeadAttention, x: Tensor, mask=None):
    """The head axis stays last in the scores too."""
    return _einsum(module, x, mask, "nijh")


def _einsum(module, x, mask, layout):
    batch, length, width = x.shape
    split = (batch, length, module.heads, width // module.heads)
    q, k, v = (part.view(split) for part in module.in_proj(x).chunk(3, -1))
    scores = torch.einsum(f"nihd,njhd->{layout}", q, k) / math.sqrt(split[-1])
    keys = layout.index("j")
    if mask is not None:
        mask = mask if layout == "nhij" else mask.permute(0, 2, 3, 1)
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=keys)
    context = torch.einsum(f"{layout},njhd->nihd", weights, v)
    return module.out_proj(context.flatten(2))


def matmul_nhld(module: MultiHeadAttention, x: Tensor, mask=None):
    """The head axis in front, one batched product."""
    q, k, v = module.project(x, x, x)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return module.out_proj(merge_heads(scores.softmax(dim=-1) @ v))


VARIANTS = {
    "loop over heads": loop_over_heads,
    "einsum, n l h d": einsum_nlhd,
    "einsum, scores n i j h": einsum_nijh,
    "matmul, n h l d": matmul_nhld,
}
