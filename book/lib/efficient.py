"""Chapter 15: attention that costs less.

Not taught.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from lib import validate
from lib.heads import MultiHeadAttention, split_heads


class GroupedQueryAttention(MultiHeadAttention):
    """Several heads of queries share one head of keys and values.

    Source: Ainslie et al. 2023. With one head of keys and values it is the
    multi-query attention of Shazeer 2019; with `kv_heads` = `heads` it is
    `MultiHeadAttention`. Head h of the queries asks head
    h // (heads / kv_heads) of the keys.

    Args:
        d_model: the width of inputs and outputs.
        heads: the number H of query heads, each d_model / H wide.
        kv_heads: the number of key heads and of value heads.
        dropout: on the attention weights, in training only.
        bias: add a bias after each of the four matrices.

    Raises:
        TypeError: a size is not an integer, or bias not a boolean.
        ValueError: d_model is not a multiple of heads, heads not one of
            kv_heads, or dropout not a probability below 1.
    """

    def __init__(self, d_model, heads, kv_heads, dropout=0.0, bias=True):
        super().__init__(d_model, heads, dropout, bias)
        validate.shared_heads(heads, kv_heads)
        self.kv_heads, shared = kv_heads, d_model // heads * kv_heads
        self.widths = [d_model, shared, shared]
        self.in_proj = nn.Linear(d_model, sum(self.widths), bias)

    def matrices(self) -> list[tuple[Tensor, Tensor | None]]:
        """W_Q, W_K and W_V, each with its bias."""
        weights, bias = self.in_proj.weight, self.in_proj.bias
        biases = [None] * 3 if bias is None else bias.split(self.widths)
        return list(zip(weights.split(self.widths), biases, strict=True))

    def project(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"],
        value: Float[Tensor, "batch k_len d_model"],
    ) -> list[Float[Tensor, "batch _ _ d_head"]]:
        """Q in `heads` heads, K and V in `kv_heads`; these a cache keeps."""
        validate.sources(query, key, value, self.d_model)
        if key is query and value is query:
            parts = self.in_proj(query).split(self.widths, dim=-1)
        else:
            pairs = zip((query, key, value), self.matrices(), strict=True)
            parts = [F.linear(x, *matrix) for x, matrix in pairs]
        counts = self.heads, self.kv_heads, self.kv_heads
        return [split_heads(*pair) for pair in zip(parts, counts, strict=True)]

    def attend(self, q, k, v, *masks, **options):
        """As `MultiHeadAttention.attend`; a key head serves its group."""
        group = self.heads // self.kv_heads
        k, v = (torch.repeat_interleave(x, group, dim=1) for x in (k, v))
        return super().attend(q, k, v, *masks, **options)
