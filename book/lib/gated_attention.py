"""Chapter 19, on a deeper page: bounded scores, and heads that are silent.

`RotaryAttention` of chapter 16 with three changes: queries and keys pass a
norm, only a part of a head is turned, and a gate stands before W_O.
"""

from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from . import validate
from .cache import CachedSelfAttention
from .heads import merge_heads
from .masks import causal_mask
from .modern import RMSNorm, RotaryAttention, rotary_steps, turn_by


@dataclass(frozen=True)
class GatedConfig:
    """All sizes of a gated attention; they are Qwen3-Next's.

    Source: `config.json` of Qwen3-Next-80B-A3B.

    Args:
        d_model, heads, kv_heads: as in `RotaryAttention`.
        d_head: of a query, a key and a value; even. heads · d_head need not
            be d_model.
        d_rotary: how many entries of a query and a key are turned; even.
        base: of the rotary angles.
        eps: of the norms of queries and keys.
        gated: without the gate it is the attention of Qwen3.
    """

    d_model: int = 2_048
    heads: int = 16
    kv_heads: int = 2
    d_head: int = 256
    d_rotary: int = 64
    base: float = 10_000_000.0
    eps: float = 1e-6
    gated: bool = True

    def __post_init__(self):
        validate.gated_sizes(self)


class GatedAttention(RotaryAttention):
    """(attention of normed q and k, and v) ⊙ sigmoid(x W_G), times W_O.

    Sources: Henry et al. 2020 for the norms, as Qwen3 has them: of each head,
    before the turning, with one gain for all heads; Qiu et al. 2025 for the
    gate, one number for each entry of each head. Causal, without biases.
    """

    def __init__(self, config: GatedConfig):
        validate.instance(GatedConfig, config=config)
        c, width = config, config.heads * config.d_head
        super().__init__(width, c.heads, c.kv_heads, c.base)
        self.config, self.d_model = config, c.d_model
        matrix = partial(nn.Linear, bias=False)
        self.in_proj = matrix(c.d_model, sum(self.widths))
        self.out_proj = matrix(width, c.d_model)
        self.q_norm = RMSNorm(c.d_head, c.eps)
        self.k_norm = RMSNorm(c.d_head, c.eps)
        self.W_G = matrix(c.d_model, width) if c.gated else None

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        past: CachedSelfAttention | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Every position looks at itself and those before it.

        Args:
            past: the keys and values of the positions before; it grows.
        """
        validate.past(x, past)
        q, k, v = self.project(x, x, x)
        start = 0 if past is None else past.length
        q = self.turn(self.q_norm(q), start)
        k = self.turn(self.k_norm(k), start)
        if past is not None:
            k, v = past.append(k, v)
        seen = causal_mask(k.shape[2], x.device)
        context, _ = self.attend(q, k, v, seen[:, :, start:])
        context = merge_heads(context)
        if self.W_G is not None:
            context = context * self.W_G(x).sigmoid()
        return self.out_proj(context)

    def turn(
        self, x: Float[Tensor, "batch heads length d_head"], start: int
    ) -> Float[Tensor, "batch heads length d_head"]:
        """The first d_rotary entries by their positions, the others not."""
        d_rotary = self.config.d_rotary
        first, rest = x.tensor_split([d_rotary], -1)
        first = turn_by(first, start, rotary_steps(d_rotary, self.base))
        return torch.cat([first, rest], -1)
