"""Chapter 15: attention that costs less.

`local_attention` and `linear_attention` are causal and take, like
`lib.attention.attention`, any number of leading axes. `GroupedQueryAttention`
stands in for `MultiHeadAttention`. Two functions count costs.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from . import validate
from .attention import attention
from .heads import MultiHeadAttention, split_heads


def layer_operations(
    length: int, d_model: int, d_ff: int, kv_width: int | None = None
) -> dict[str, int]:
    """Multiplications and additions of one layer for a text, by its parts.

    Only those of matrix products; the rest (softmax, norms, biases) is small
    beside them. Half of the scores lie in the future of their query, and
    count here all the same.

    Args:
        length: the number n of positions.
        d_model: the width of the layer.
        d_ff: the number of units of its feed-forward network.
        kv_width: the width of all keys of a position; by default d_model.
    """
    kv_width = d_model if kv_width is None else kv_width
    validate.positive(length=length, d_model=d_model, d_ff=d_ff)
    validate.positive(kv_width=kv_width)
    return {
        "projections": 4 * length * d_model * (d_model + kv_width),
        "scores": 2 * length * length * d_model,
        "weighted means": 2 * length * length * d_model,
        "feed-forward": 4 * length * d_model * d_ff,
    }


def cache_bytes(
    tokens: int, layers: int, kv_heads: int, d_head: int, number: int = 2
) -> int:
    """Bytes of the keys and values of `tokens`, 2 bytes for each number.

    Args:
        tokens: those of all texts together.
        layers: the layers that keep keys and values.
        kv_heads: the heads of keys, and of values.
        d_head: the width of a key, and of a value.
        number: bytes of one number.
    """
    validate.positive(tokens=tokens, layers=layers, kv_heads=kv_heads)
    validate.positive(d_head=d_head, number=number)
    return 2 * tokens * layers * kv_heads * d_head * number


def local_attention(
    q: Float[Tensor, "*lead length d_head"],
    k: Float[Tensor, "*lead length d_head"],
    v: Float[Tensor, "*lead length d_value"],
    window: int,
) -> Float[Tensor, "*lead length d_value"]:
    """Causal attention of each position to the last `window`, its own too.

    Source: Beltagy et al. 2020, section 3.1. The text is cut into blocks of
    `window` positions; a block looks at itself and at the one before it, so
    that 2 · length · window scores are computed. The result is that of
    `attention` with `causal_mask(length, window=window)`.
    """
    validate.one_text(q, k, v)
    validate.positive(window=window)
    length = q.shape[-2]
    room = (0, 0, 0, -length % window)
    q, k, v = (F.pad(x, room).unflatten(-2, (-1, window)) for x in (q, k, v))
    k, v = (  # each block, and ahead of it the one before
        torch.cat([F.pad(x, (0, 0, 0, 0, 1, -1)), x], dim=-2) for x in (k, v)
    )
    place = torch.arange(window, device=q.device)[:, None]
    other = torch.arange(-window, window, device=q.device)
    near = (other <= place) & (place - other < window)
    may_attend = near.repeat(q.shape[-3], 1, 1)
    may_attend[0, :, :window] = False  # before the first block is nothing
    return attention(q, k, v, may_attend).flatten(-3, -2)[..., :length, :]


def linear_attention(
    q: Float[Tensor, "*lead length d_head"],
    k: Float[Tensor, "*lead length d_head"],
    v: Float[Tensor, "*lead length d_value"],
    chunk: int = 64,
) -> Float[Tensor, "*lead length d_value"]:
    """Causal; the weight of key j for query i is φ(q_i)·φ(k_j), over a sum.

    Source: Katharopoulos et al. 2020, φ(x) = elu(x) + 1. What is known of all
    earlier chunks is one matrix, d_head wide and d_value + 1 long: the sum of
    φ(k_j) times [v_j, 1]. `chunk` decides how much is computed at once, and
    changes nothing else: 1 is the recurrence, `length` the product.
    """
    validate.one_text(q, k, v)
    validate.positive(chunk=chunk)
    wide = torch.promote_types(q.dtype, torch.float32)
    q, k = (F.elu(x.to(wide)) + 1 for x in (q, k))
    values = F.pad(v.to(wide), (0, 1), value=1.0)  # the 1 counts the weights
    state = k[..., :0, :].mT @ values[..., :0, :]  # zeros: no keys yet
    found = []
    for q_i, k_i, v_i in zip(
        *(x.split(chunk, dim=-2) for x in (q, k, values)), strict=True
    ):
        found.append((q_i @ k_i.mT).tril() @ v_i + q_i @ state)
        state = state + k_i.mT @ v_i
    sums = torch.cat(found, dim=-2)
    return (sums[..., :-1] / sums[..., -1:]).to(v.dtype)


class GroupedQueryAttention(MultiHeadAttention):
    """Several heads of queries share one head of keys and values.

    Source: Ainslie et al. 2023. With one head of keys and values it is the
    multi-query attention of Shazeer 2019; with `kv_heads` = `heads` it is
    `MultiHeadAttention`. Head h of the queries asks head
    h // (heads / kv_heads) of the keys.

    Args:
        d_model, heads, dropout, bias: as in `MultiHeadAttention`; the heads
            are those of the queries.
        kv_heads: of keys, and of values; a divisor of the query heads.
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
        """Q in `heads` heads, K and V in `kv_heads`, which a cache keeps."""
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
