"""Chapter 19, on a deeper page: which keys a query looks at.

The lightning indexer scores all keys with narrow heads, and attention reads
only the keys with the highest scores. None is forgotten: another query may
pick it. DeepSeek's kernel for the scores, which counts in 8 bits, is not here,
nor the Hadamard matrix that turns q and k for it and changes no product. A
mask says what is picked; it saves no work, as a kernel that gathers does.
"""

from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from . import validate
from .heads import split_heads
from .latent import LatentCache, LatentConfig
from .layers import LayerNorm
from .masks import causal_mask
from .modern import rotary_steps, turn_by


def index_scores(
    q: Float[Tensor, "*lead heads q_len d_head"],
    k: Float[Tensor, "*lead k_len d_head"],
    weights: Float[Tensor, "*lead heads q_len"],
) -> Float[Tensor, "*lead q_len k_len"]:
    """I_ts = sum over the heads j of w_tj · relu(q_tj · k_s).

    Source: DeepSeek-AI 2025, equation 1. All heads share the keys. Half
    precision is computed, and given back, in float32.
    """
    validate.index_parts(q, k, weights)
    wide = torch.promote_types(q.dtype, torch.float32)
    q, k, weights = q.to(wide), k.to(wide), weights.to(wide)
    fits = torch.relu(q @ k[..., None, :, :].mT)
    return (weights[..., None] * fits).sum(-3)


def pick_keys(
    scores: Float[Tensor, "*lead q_len k_len"],
    top_k: int,
    may_attend: Bool[Tensor, "..."] | None = None,
) -> Bool[Tensor, "*lead q_len k_len"]:
    """True at the top_k highest scores of the keys that may be attended to.

    Of equal scores the earlier one goes first. Where no more than top_k keys
    are allowed, all of them are picked.

    Args:
        scores: finite.
        may_attend: boolean, True = may attend, broadcastable to the scores.
    """
    validate.to_pick(scores, top_k, may_attend)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    order = scores.argsort(dim=-1, descending=True, stable=True)
    picked = torch.zeros_like(scores, dtype=torch.bool)
    picked.scatter_(-1, order[..., :top_k], True)
    return picked if may_attend is None else picked & may_attend


class Indexer(nn.Module):
    """Picks the keys of each position: its own and those before it.

    Source: DeepSeek-AI 2025, section 2.1; the norm, the rotary part and the
    factor (heads · d_head)^-½, which changes no choice, as in `transformers`.

    Args:
        config: of the latent attention that is to read the keys.
        heads, d_head: of the indexer; one key serves all of its heads.
        top_k: how many keys a position reads.
    """

    def __init__(
        self,
        config: LatentConfig,
        heads: int = 64,
        d_head: int = 128,
        top_k: int = 2_048,
    ):
        super().__init__()
        validate.index_sizes(LatentConfig, config, heads, d_head, top_k)
        self.config, self.heads, self.top_k = config, heads, top_k
        self.d_query = config.d_query or config.d_model
        matrix = partial(nn.Linear, bias=False)
        self.W_Q = matrix(self.d_query, heads * d_head)
        self.W_K = matrix(config.d_model, d_head)
        self.norm = LayerNorm(d_head, config.eps)
        self.W_w = matrix(config.d_model, heads)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        latent: Float[Tensor, "batch length d_query"],
        past: LatentCache | None = None,
    ) -> Bool[Tensor, "batch 1 length k_len"]:
        """The mask with which attention reads; for all of its heads.

        Args:
            latent: of the queries, as attention makes it of x.
            past: the keys of the indexer for the positions before; it grows,
                and needs `torch.no_grad`.
        """
        scores = self.scores(x, latent, past)
        length, k_len = scores.shape[1:]
        seen = causal_mask(k_len, x.device)[0, :, k_len - length :]
        return pick_keys(scores, self.top_k, seen)[:, None]

    def scores(
        self,
        x: Float[Tensor, "batch length d_model"],
        latent: Float[Tensor, "batch length d_query"],
        past: LatentCache | None = None,
    ) -> Float[Tensor, "batch length k_len"]:
        """Of all keys, later ones included; what is trained."""
        validate.instance_or_none(LatentCache, past=past)
        validate.to_index(x, latent, past, self)
        start = 0 if past is None else past.length
        q = split_heads(self.W_Q(latent), self.heads)
        q, k = (self.turn(y, start) for y in (q, self.norm(self.W_K(x))))
        if past is not None:
            k = past.append(k)
        factor = (self.heads * k.shape[-1]) ** -0.5
        return index_scores(q, k, factor * self.W_w(x).mT)

    def turn(
        self, y: Float[Tensor, "... length d_head"], start: int
    ) -> Float[Tensor, "... length d_head"]:
        """The first d_rotary entries, by the position."""
        c = self.config
        turned, rest = y.tensor_split([c.d_rotary], -1)
        turned = turn_by(turned, start, rotary_steps(c.d_rotary, c.base))
        return torch.cat([turned, rest], -1)
