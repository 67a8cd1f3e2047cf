"""Chapter 19, on a deeper page: layers that look at less, by turns.

Most layers of a model look at a window of keys and only some at all; a head
may give weight to nothing; the last layers keep no keys of their own. The
window of a single layer is a mask of chapter 4 (`causal_mask`).
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from . import validate
from .efficient import cache_bytes
from .modern import RotaryAttention


def layer_windows(layers: int, every: int, window: int) -> list[int | None]:
    """The window of each layer; every `every`-th has None, and sees all.

    Sources: Gemma Team 2025, every = 6; OpenAI 2025, every = 2.
    """
    validate.positive(layers=layers, every=every, window=window)
    return [None if n % every == 0 else window for n in range(1, layers + 1)]


def lenders(windows: Sequence[int | None], shared: int) -> list[int]:
    """For each layer the number, from 0, of the one whose keys it asks.

    The last `shared` layers take those of the last layer before them with
    the same window; the others have their own. Source: the code of Gemma 3n
    and Gemma 4 in `transformers`, `kv_sharing_modes`.

    Raises:
        ValueError: no layer is left that could lend to one of them.
    """
    validate.lending(windows, shared)
    own = len(windows) - shared
    last = {window: n for n, window in enumerate(windows[:own])}
    return [*range(own), *(last[window] for window in windows[own:])]


def kept_bytes(
    tokens: int,
    windows: Sequence[int | None],
    kv_heads: int,
    d_head: int,
    number: int = 2,
) -> int:
    """Bytes of the keys and values that layers with these windows can see.

    Args:
        windows: of those layers only that have keys of their own.
        tokens, kv_heads, d_head, number: as in `cache_bytes`.
    """
    validate.positive(tokens=tokens)
    validate.windows(windows)
    seen = sum(tokens if w is None else min(tokens, w) for w in windows)
    return cache_bytes(seen, 1, kv_heads, d_head, number)


def sink_weights(
    q: Float[Tensor, "*lead heads q_len d_head"],
    k: Float[Tensor, "*lead heads k_len d_head"],
    sink: Float[Tensor, " heads"],
    may_attend: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "*lead heads q_len k_len"]:
    """softmax([Q Kᵀ / sqrt(d_head), sink]) without its last column.

    Source: OpenAI 2025, section 2.2, and their code. Rows sum to less than 1;
    a query that may attend to nothing has weights 0.

    Args:
        sink: for each head a finite score, which no key has.
        q, k, may_attend: as in `attention_weights`.
    """
    validate.shapes("q: *lead q_len d_head, k: *lead k_len d_head", q=q, k=k)
    validate.sink(sink, q)
    scores = (q / math.sqrt(q.shape[-1])) @ k.mT
    validate.mask(may_attend, scores)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -math.inf)
    column = sink[:, None, None].expand(*scores.shape[:-1], 1)
    return torch.softmax(torch.cat([scores, column], -1), -1)[..., :-1]


def attention_with_sink(
    q: Float[Tensor, "*lead heads q_len d_head"],
    k: Float[Tensor, "*lead heads k_len d_head"],
    v: Float[Tensor, "*lead heads k_len d_value"],
    sink: Float[Tensor, " heads"],
    may_attend: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "*lead heads q_len d_value"]:
    """As `attention`, with one more key whose value is zero.

    Args:
        q, k, sink, may_attend: as in `sink_weights`.
        v: one value for each key, of any width.
    """
    weights = sink_weights(q, k, sink, may_attend)
    validate.shapes("k: *lead k_len d_head, v: *lead k_len d_value", k=k, v=v)
    return weights @ v


class SinkAttention(RotaryAttention):
    """`RotaryAttention` whose heads each have a learnt sink.

    Args:
        d_model, heads, kv_heads, base, window, stretch: as there.
    """

    def __init__(
        self, d_model, heads, kv_heads, base=1.5e5, window=None, stretch=None
    ):
        super().__init__(d_model, heads, kv_heads, base, window, stretch)
        self.sink = nn.Parameter(torch.zeros(heads))

    def attend(self, q, k, v, may_attend=None, need_weights=False):
        """As `attention_with_sink`; a key head serves its group."""
        group = self.heads // self.kv_heads
        k, v = (torch.repeat_interleave(x, group, dim=1) for x in (k, v))
        weights = sink_weights(q, k, self.sink.to(q), may_attend)
        return weights @ v, weights if need_weights else None
