"""Chapter 19: the layer around the delta rule.

Three of four layers of Qwen3-Next are of this kind. `lib.delta` has the rule;
`DeltaInputs` makes its queries, keys and values from the vectors of a text,
`GatedDeltaNet` its two gates, and what becomes of the result.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from . import validate
from .delta import chunked_delta_rule, delta_rule
from .heads import merge_heads, split_heads
from .modern import RMSNorm


class DeltaPast:
    """What a `GatedDeltaNet` keeps of a text: the same amount, always.

    Its memory, and the last vectors that went into its convolution.
    """

    def __init__(self):
        self.state, self.recent = None, None


def unit_length(
    x: Float[Tensor, "... width"], eps: float = 1e-6
) -> Float[Tensor, "... width"]:
    """x / sqrt(sum(x²) + eps): rows of length 1.

    Source: the code of Yang et al. 2025.

    Args:
        eps: keeps the root away from zero.
    """
    validate.shapes("x: ... width", x=x)
    validate.real("eps", eps, least=0)
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + eps)


class DeltaInputs(nn.Module):
    """Queries, keys and values for the delta rule, from a text.

    Source: Yang et al. 2025, section 3.4, in the form of Qwen3-Next. They go
    through a short causal convolution; each head of keys serves several of
    values.

    Args:
        d_model: the width between the layers.
        key_heads, value_heads: the second is a multiple of the first.
        d_key, d_value: the sides of each value head's memory.
        kernel: of the convolution: how many tokens it looks at.
    """

    def __init__(
        self, d_model, key_heads, value_heads, d_key, d_value, kernel=4
    ):
        super().__init__()
        validate.positive(d_model=d_model, d_key=d_key, d_value=d_value)
        validate.positive(key_heads=key_heads, kernel=kernel)
        validate.value_heads(value_heads, key_heads)
        self.d_model, self.kernel = d_model, kernel
        self.key_heads, self.value_heads = key_heads, value_heads
        keys, values = key_heads * d_key, value_heads * d_value
        self.widths, width = [keys, keys, values], 2 * keys + values
        self.in_proj_qkv = nn.Linear(d_model, width, bias=False)
        self.conv1d = nn.Conv1d(width, width, kernel, groups=width, bias=False)

    def convolve(
        self, rows: Float[Tensor, "batch length width"], past: DeltaPast
    ) -> Float[Tensor, "batch length width"]:
        """Each number from its last `kernel` values, then silu."""
        before = rows.new_zeros(len(rows), self.kernel - 1, rows.shape[2])
        before = before if past.recent is None else past.recent
        rows = torch.cat([before, rows], dim=1)
        past.recent = rows[:, rows.shape[1] - self.kernel + 1 :]
        return F.silu(self.conv1d(rows.mT)).mT

    def project(
        self, x: Float[Tensor, "batch length d_model"], past: DeltaPast
    ) -> list[Float[Tensor, "batch heads length _"]]:
        """Q, K and V in `value_heads` heads, at least in float32.

        Queries and keys have length 1; the scores are scaled as in attention.
        """
        wide = torch.promote_types(x.dtype, torch.float32)
        rows = self.convolve(self.in_proj_qkv(x), past).to(wide)
        q, k, v = rows.split(self.widths, dim=-1)
        q, k = (split_heads(part, self.key_heads) for part in (q, k))
        q, k = unit_length(q) * q.shape[-1] ** -0.5, unit_length(k)
        group = self.value_heads // self.key_heads
        q, k = (torch.repeat_interleave(part, group, dim=1) for part in (q, k))
        return [q, k, split_heads(v, self.value_heads)]


class GatedDeltaNet(DeltaInputs):
    """A layer that reads a memory of fixed size, and overwrites it.

    Source: Yang et al. 2025, section 3.4, in the form of Qwen3-Next. Weights
    have the names that they have in Hugging Face's files of Qwen3.5.

    Args:
        d_model, key_heads, value_heads, d_key, d_value, kernel: as in
            `DeltaInputs`.
        eps: of the norm.
    """

    def __init__(
        self,
        d_model,
        key_heads,
        value_heads,
        d_key,
        d_value,
        kernel=4,
        eps=1e-6,
    ):
        super().__init__(
            d_model, key_heads, value_heads, d_key, d_value, kernel
        )
        values = value_heads * d_value
        self.in_proj_z = nn.Linear(d_model, values, bias=False)
        self.in_proj_b = nn.Linear(d_model, value_heads, bias=False)
        self.in_proj_a = nn.Linear(d_model, value_heads, bias=False)
        self.dt_bias = nn.Parameter(torch.ones(value_heads))
        rates = torch.empty(value_heads).uniform_(0.01, 16)
        self.A_log = nn.Parameter(rates.log())
        self.norm = RMSNorm(d_value, eps)
        self.out_proj = nn.Linear(values, d_model, bias=False)

    def gates(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> list[Float[Tensor, "batch heads length"]]:
        """β = sigmoid(b) and α = exp(-exp(A_log) softplus(a + dt_bias)).

        Both between 0 and 1, at least in float32.
        """
        wide = torch.promote_types(x.dtype, torch.float32)
        beta = self.in_proj_b(x).sigmoid().to(wide)
        step = F.softplus(self.in_proj_a(x).to(wide) + self.dt_bias.to(wide))
        decay = torch.exp(-self.A_log.to(wide).exp() * step)
        return [beta.mT, decay.mT]

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        past: DeltaPast | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Every position reads what it and those before it have written.

        Args:
            past: what was kept of the positions before; it changes.
        """
        validate.delta_past(x, past, DeltaPast, self.d_model)
        past = DeltaPast() if past is None else past
        q, k, v = self.project(x, past)
        rule = delta_rule if x.shape[1] == 1 else chunked_delta_rule
        found, past.state = rule(q, k, v, *self.gates(x), past.state)
        gate = F.silu(split_heads(self.in_proj_z(x), self.value_heads))
        return self.out_proj(merge_heads(self.norm(found.to(x.dtype)) * gate))
