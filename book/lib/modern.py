"""Chapter 16: what language models of today are made of.

Each part is a small change of one that an earlier chapter taught. Shared heads
of keys and values come from chapter 15, the room of a cache
from chapter 14. `lib.llama` puts the parts together.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from . import validate
from .cache import CachedSelfAttention
from .efficient import GroupedQueryAttention
from .masks import causal_mask


class RMSNorm(nn.Module):
    """x / sqrt(mean(x²) + eps) · weight, at each position.

    Source: Zhang and Sennrich 2019, equation 4. A LayerNorm that takes no
    mean off and adds no bias. Half precision is computed in float32.

    Args:
        eps: keeps the root away from zero.
    """

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        validate.positive(d_model=d_model)
        validate.real("eps", eps, least=0)
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(
        self, x: Float[Tensor, "... d_model"]
    ) -> Float[Tensor, "... d_model"]:
        """Every position with the mean square 1, times the gain."""
        validate.shapes("x: ... d_model", x=x, d_model=self.d_model)
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        mean_square = wide.square().mean(-1, keepdim=True)
        normed = wide * torch.rsqrt(mean_square + self.eps)
        return normed.to(x.dtype) * self.weight


class GatedFeedForward(nn.Module):
    """(silu(x W_1) ⊙ x W_3) W_2, at every position alike: SwiGLU.

    Source: Shazeer 2020, equation 6. Without biases.

    Args:
        d_ff: the hidden width; 8/3 · d_model gives as many weights as a
            `FeedForward` of 4 · d_model.
    """

    def __init__(self, d_model, d_ff):
        super().__init__()
        validate.positive(d_model=d_model, d_ff=d_ff)
        self.gate = nn.Linear(d_model, d_ff, bias=False)  # W_1
        self.widen = nn.Linear(d_model, d_ff, bias=False)  # W_3
        self.narrow = nn.Linear(d_ff, d_model, bias=False)  # W_2

    def forward(
        self, x: Float[Tensor, "... d_model"]
    ) -> Float[Tensor, "... d_model"]:
        """The gate says how much of each hidden entry passes."""
        d_model = self.widen.in_features
        validate.shapes("x: ... d_model", x=x, d_model=d_model)
        return self.narrow(F.silu(self.gate(x)) * self.widen(x))


def halves_from_pairs(
    weight: Float[Tensor, "width d_model"], heads: int
) -> Float[Tensor, "width d_model"]:
    """W_Q or W_K for rotary pairs (i, i + d_head / 2), from (2i, 2i + 1).

    In each head the even rows come first, then the odd ones.
    """
    validate.rotary_rows(weight, heads)
    return weight.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def pairs_from_halves(
    weight: Float[Tensor, "width d_model"], heads: int
) -> Float[Tensor, "width d_model"]:
    """The inverse of `halves_from_pairs`: W_Q or W_K for this book."""
    validate.rotary_rows(weight, heads)
    return weight.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


@dataclass(frozen=True)
class Stretch:
    """For longer texts: the slow pairs turn `factor` times more slowly.

    Source: Meta's code of LLaMA 3.1. With `trained` = 0 all pairs do, which
    Hugging Face's files call linear.

    Args:
        factor: by how much more slowly.
        trained: how long texts were before; a pair's turns are counted in it.
        low: with so many turns or fewer, a pair gets the whole factor.
        high: with so many turns or more, it stays as it is.

    Raises:
        ValueError: a factor below 1, or not 0 < low < high.
    """

    factor: float
    trained: int = 0
    low: float = 1.0
    high: float = 4.0

    def __post_init__(self):
        validate.stretch(self)

    @classmethod
    def read(cls, angles: Mapping[str, object]) -> "Stretch | None":
        """By the words of a file; None if it asks for no stretch.

        Args:
            angles: `rope_scaling` of `config.json`, or `rope_parameters`, in
                which `lib.llama.read_config` has found nothing strange.
        """
        if "factor" not in angles:
            return None
        trained = angles.get("original_max_position_embeddings", cls.trained)
        low = float(angles.get("low_freq_factor", cls.low))
        high = float(angles.get("high_freq_factor", cls.high))
        return cls(float(angles["factor"]), trained, low, high)


def rotary_steps(
    d_head: int, base: float = 10_000.0, stretch: Stretch | None = None
) -> Float[Tensor, " pairs"]:
    """The angle from one position to the next, of each rotary pair.

    In float64, on the CPU.

    Args:
        base: above 1; pair i of `rotary` turns by base^(-2i / d_head).
        stretch: turns slow pairs more slowly; None: none.
    """
    validate.turning(d_head, base)
    pair = torch.arange(0, d_head, 2, dtype=torch.float64, device="cpu")
    steps = base ** (-pair / d_head)
    if stretch is None:
        return steps
    turns = stretch.trained * steps / (2 * math.pi)
    kept = ((turns - stretch.low) / (stretch.high - stretch.low)).clamp(0, 1)
    return steps * (kept + (1 - kept) / stretch.factor)


def turn_by(
    x: Float[Tensor, "... length d_head"],
    start: int,
    steps: Float[Tensor, " pairs"],
) -> Float[Tensor, "... length d_head"]:
    """`rotary`, by steps[i] from one position to the next.

    Args:
        x: queries or keys; an even width.
        start: the position of the first row.
        steps: as from `rotary_steps`.
    """
    validate.turnable_by(x, start, steps)
    place = torch.arange(start, start + x.shape[-2]).to(steps)
    angle = torch.outer(place, steps)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    turned = (even * cos - odd * sin, even * sin + odd * cos)
    return torch.stack(turned, -1).flatten(-2)


class RotaryAttention(GroupedQueryAttention):
    """Causal self-attention of turned queries and keys, without biases.

    Sources: Su et al. 2021 for the turning, Ainslie et al. 2023 for shared
    keys and values, Beltagy et al. 2020 for the window.

    Args:
        d_model, heads, kv_heads: as in `GroupedQueryAttention`.
        base, stretch: as in `rotary_steps`.
        window: how many keys a query sees, itself included; None: all.
    """

    def __init__(
        self, d_model, heads, kv_heads, base=1e4, window=None, stretch=None
    ):
        super().__init__(d_model, heads, kv_heads, bias=False)
        validate.turning(d_model // heads, base, window)
        validate.instance_or_none(Stretch, stretch=stretch)
        self.base, self.window, self.stretch = base, window, stretch

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
        steps = rotary_steps(q.shape[-1], self.base, self.stretch)
        q, k = (turn_by(part, start, steps) for part in (q, k))
        if past is not None:
            k, v = past.append(k, v)
        seen = causal_mask(k.shape[2], x.device, window=self.window)
        context, _ = self.attend(q, k, v, seen[:, :, start:])
        return self.output(context)


def alibi_slopes(heads: int) -> Float[Tensor, " {heads}"]:
    """2^(-8 h / heads) for head h = 1, 2, ...: how steep its penalty is.

    Source: Press et al. 2022, section 3. If the number of heads is no power
    of two, the slopes of the next lower power come first, and then every
    other one of the next higher, as in the authors' code.
    """
    validate.positive(heads=heads)
    power = 2 ** int(math.log2(heads))
    finer = torch.arange(1, 2 * power + 1, dtype=torch.float64) / (2 * power)
    exponents = torch.cat([finer[1::2], finer[::2]])[:heads]
    return (2 ** (-8 * exponents)).float()


def alibi(
    heads: int, length: int
) -> Float[Tensor, "1 {heads} {length} {length}"]:
    """-slope · (distance of query and key), to be added to the scores.

    Source: Press et al. 2022, section 3. It hides nothing: the
    causal mask stays beside it.
    """
    validate.positive(length=length)
    position = torch.arange(length)
    distance = (position[:, None] - position[None, :]).abs()
    return -alibi_slopes(heads)[None, :, None, None] * distance


def distance_buckets(
    distance: Int[Tensor, "..."], buckets: int = 32, furthest: int = 128
) -> Int[Tensor, "..."]:
    """Near distances one by one, far ones together, the rest in the last.

    Source: Raffel et al. 2020, section 2.1, and their code; the form of a
    decoder, in which a negative distance (a later key) counts as 0.

    Args:
        distance: place of the query minus place of the key.
        buckets: an even number; half of them hold a single distance.
        furthest: beyond that half; from here on all is one bucket.
    """
    validate.to_sort_in(distance, buckets, furthest)
    near = buckets // 2
    distance = distance.clamp(min=0)
    growth = torch.log(distance.clamp(min=near) / near)
    far = near + (near * growth / math.log(furthest / near)).long()
    return torch.where(distance < near, distance, far.clamp(max=buckets - 1))


class RelativeBias(nn.Module):
    """A learnt number for each head and each bucket of distances.

    Source: Raffel et al. 2020, section 2.1.

    Args:
        heads: each has numbers of its own.
        buckets, furthest: as in `distance_buckets`.
    """

    def __init__(self, heads, buckets=32, furthest=128):
        super().__init__()
        validate.positive(heads=heads)
        validate.buckets(buckets, furthest)
        self.table = nn.Embedding(buckets, heads)
        self.buckets, self.furthest = buckets, furthest

    def forward(
        self, length: int
    ) -> Float[Tensor, "1 heads {length} {length}"]:
        """The bias of every query and key, to be added to the scores."""
        validate.positive(length=length)
        place = torch.arange(length, device=self.table.weight.device)
        distance = place[:, None] - place[None, :]
        bucket = distance_buckets(distance, self.buckets, self.furthest)
        return self.table(bucket).permute(2, 0, 1)[None]
