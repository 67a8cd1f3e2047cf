"""Chapter 19, on a deeper page: keys of all heads from one vector a token.

Multi-head latent attention. A cache keeps that vector and one rotary key;
keys and values are built of it, or, absorbed, never built. Angles are not
stretched for longer texts, as DeepSeek's are by YaRN.
"""

import math
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from . import validate
from .heads import attend_in_heads, merge_heads, split_heads
from .masks import causal_mask
from .modern import RMSNorm, rotary_steps, turn_by


@dataclass(frozen=True)
class LatentConfig:
    """All sizes of a latent attention; they are DeepSeek-V3's.

    Source: DeepSeek-AI 2024b, section 4.2; in its letters:

    Args:
        d_model: d.
        heads: n_h.
        d_latent: d_c, the width of what keys and values are made of.
        d_query: d_c', the same of queries; None: they are made of x.
        d_head: d_h, of a query and a key, without their rotary parts.
        d_rotary: d_h^R, of those parts; even.
        d_value: of a value; in the report d_h, too.
        base: of the rotary angles.
        eps: of the norms of both latents.
    """

    d_model: int = 7_168
    heads: int = 128
    d_latent: int = 512
    d_query: int | None = 1_536
    d_head: int = 128
    d_rotary: int = 64
    d_value: int = 128
    base: float = 10_000.0
    eps: float = 1e-6

    def __post_init__(self):
        validate.latent_sizes(self)


class LatentCache:
    """What is kept of each token: its latent, and its rotary key.

    As in `lib.cache`, a full buffer gives way to one of twice the length.
    """

    def __init__(self):
        self.length, self.buffer = 0, None

    def append(
        self, kept: Float[Tensor, "batch length width"]
    ) -> Float[Tensor, "batch k_len width"]:
        """Write what is new after the old; returns all of it."""
        start, end = self.length, self.length + kept.shape[1]
        if self.buffer is None:
            self.buffer = kept[:, :0]
        if end > self.buffer.shape[1]:
            room = 2 * end - start
            self.buffer = F.pad(self.buffer[:, :start], (0, 0, 0, room))
        self.buffer[:, start:end] = kept
        self.length = end
        return self.buffer[:, :end]

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Only these rows of the batch, in this order."""
        if self.buffer is not None:
            self.buffer = self.buffer[rows]


def built_attention(
    q: Float[Tensor, "batch heads q_len d_q"],
    kept: Float[Tensor, "batch k_len d_kept"],
    W_UK: Float[Tensor, "heads d_head d_latent"],
    W_UV: Float[Tensor, "heads d_value d_latent"],
    may_attend: Bool[Tensor, "_ _ _ _"] | None = None,
) -> Float[Tensor, "batch heads q_len d_value"]:
    """Build the keys [W_UK c, k_R] and values W_UV c, then attend.

    Args:
        q: queries, the last d_q - d_head entries for the rotary key.
        kept: of each token, the latent c and after it the rotary key k_R.
    """
    validate.latent_parts(q, kept, W_UK, W_UV)
    heads, _, d_latent = W_UK.shape
    c, k_R = kept[:, None].tensor_split([d_latent], -1)
    k = torch.cat([c @ W_UK.mT, k_R.expand(-1, heads, -1, -1)], -1)
    return attend_in_heads(q, k, c @ W_UV.mT, may_attend, 0.0)[0]


def absorbed_attention(
    q: Float[Tensor, "batch heads q_len d_q"],
    kept: Float[Tensor, "batch k_len d_kept"],
    W_UK: Float[Tensor, "heads d_head d_latent"],
    W_UV: Float[Tensor, "heads d_value d_latent"],
    may_attend: Bool[Tensor, "_ _ _ _"] | None = None,
) -> Float[Tensor, "batch heads q_len d_value"]:
    """As `built_attention`; W_UK changes the query, and W_UV the mean.

    Source: DeepSeek-AI 2024, section 2.1.2. What is kept is the key of all
    heads, and c their value.
    """
    validate.latent_parts(q, kept, W_UK, W_UV)
    heads, d_head, d_latent = W_UK.shape
    asked, q_R = q.tensor_split([d_head], -1)
    wide = torch.cat([asked @ W_UK, q_R], -1)
    wide = wide * math.sqrt(wide.shape[-1] / q.shape[-1])  # scores: / root d_q
    k = kept[:, None].expand(-1, heads, -1, -1)
    v = k[..., :d_latent]
    return attend_in_heads(wide, k, v, may_attend, 0.0)[0] @ W_UV.mT


class LatentAttention(nn.Module):
    """Head h has the keys [c W_UK^h, k_R] and the values c W_UV^h.

    Source: DeepSeek-AI 2024, appendix C; of a token, c = RMSNorm(x W_DKV) and
    the turned k_R = x W_KR serve all heads. Queries are made of a latent of
    their own. Causal, without biases.
    """

    def __init__(self, config: LatentConfig):
        super().__init__()
        validate.instance(LatentConfig, config=config)
        self.config, c = config, config
        matrix, width = partial(nn.Linear, bias=False), c.d_model
        self.query_latent = nn.Identity()
        if c.d_query is not None:
            W_DQ, width = matrix(width, c.d_query), c.d_query
            self.query_latent = nn.Sequential(W_DQ, RMSNorm(width, c.eps))
        self.W_UQ = matrix(width, c.heads * c.d_head)
        self.W_QR = matrix(width, c.heads * c.d_rotary)
        self.W_DKV = matrix(c.d_model, c.d_latent)
        self.norm = RMSNorm(c.d_latent, c.eps)
        self.W_KR = matrix(c.d_model, c.d_rotary)
        self.W_UK = matrix(c.d_latent, c.heads * c.d_head)
        self.W_UV = matrix(c.d_latent, c.heads * c.d_value)
        self.W_O = matrix(c.heads * c.d_value, c.d_model)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        past: LatentCache | None = None,
        absorbed: bool = False,
    ) -> Float[Tensor, "batch length d_model"]:
        """Every position looks at itself and those before it.

        Args:
            past: what is kept of the positions before; it grows, and needs
                `torch.no_grad`.
            absorbed: compare with latents, and build no keys; equal.
        """
        validate.instance_or_none(LatentCache, past=past)
        validate.latent_text(x, past, self.config)
        validate.booleans(absorbed=absorbed)
        start = 0 if past is None else past.length
        q, kept = self.project(x, start)
        if past is not None:
            kept = past.append(kept)
        seen = causal_mask(kept.shape[1], x.device)[:, :, start:]
        W_UK, W_UV = (
            matrix.weight.unflatten(0, (self.config.heads, -1))
            for matrix in (self.W_UK, self.W_UV)
        )
        attend = absorbed_attention if absorbed else built_attention
        return self.W_O(merge_heads(attend(q, kept, W_UK, W_UV, seen)))

    def project(
        self, x: Float[Tensor, "batch length d_model"], start: int
    ) -> tuple[Tensor, Tensor]:
        """The queries, and what is kept; the last part of each is turned."""
        c, latent = self.config, self.query_latent(x)
        steps = rotary_steps(c.d_rotary, c.base)
        q, q_R, k_R = self.W_UQ(latent), self.W_QR(latent), self.W_KR(x)
        q, q_R = (split_heads(part, c.heads) for part in (q, q_R))
        q_R, k_R = (turn_by(part, start, steps) for part in (q_R, k_R))
        kept = torch.cat([self.norm(self.W_DKV(x)), k_R], -1)
        return torch.cat([q, q_R], -1), kept
