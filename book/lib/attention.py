"""Chapter 3: scaled dot-product attention.

Works on the last two axes, `length width`; any number of leading axes (batch,
heads) may stand before them. Masks are explained in chapter 4, heads and
their projections in chapter 5.
"""

import math

import torch.nn.functional as F
from einops import einsum
from jaxtyping import Bool, Float
from torch import Tensor

from lib import validate
from lib.softmax import softmax


def attention_weights(
    q: Float[Tensor, "*lead q_len d_head"],
    k: Float[Tensor, "*lead k_len d_head"],
    may_attend: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "*lead q_len k_len"]:
    """softmax(Q Kᵀ / sqrt(d_head)): row i says how position i attends.

    Source: Vaswani et al. 2017, equation 1.

    Args:
        q: one query a row.
        k: one key a row, of the width of the queries.
        may_attend: boolean, True = may attend, broadcastable to the result.
            A query that may attend to nothing gets weights 0.

    Raises:
        TypeError: not floating point, different dtypes, or a mask that is not
            boolean.
        ValueError: leading axes or widths differ, there is no key, or the
            mask does not broadcast to the scores.
    """
    validate.attention_operands(q, k)
    pattern = "... q_len d_head, ... k_len d_head -> ... q_len k_len"
    scores = einsum(q, k, pattern) / math.sqrt(q.shape[-1])
    validate.mask(may_attend, scores)
    if may_attend is None:
        return softmax(scores)
    idle = ~may_attend.any(-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | idle), -math.inf)
    return softmax(scores).masked_fill(idle, 0.0)


def attention(
    q: Float[Tensor, "*lead q_len d_head"],
    k: Float[Tensor, "*lead k_len d_head"],
    v: Float[Tensor, "*lead k_len d_value"],
    may_attend: Bool[Tensor, "..."] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "*lead q_len d_value"]:
    """softmax(Q Kᵀ / sqrt(d_head)) V: a weighted mean of the values.

    Source: Vaswani et al. 2017, equation 1.

    Args:
        q: one query a row.
        k: one key a row, of the width of the queries.
        v: one value for each key, of any width.
        may_attend: boolean, True = may attend, broadcastable to
            (*lead, q_len, k_len). A query that may attend to nothing gets
            the output 0.
        dropout: probability with which a weight is set to zero; the others
            are divided by 1 - dropout. Pass 0 outside training.

    Raises:
        TypeError: not floating point, different dtypes, or a mask that is not
            boolean.
        ValueError: shapes that do not fit together, or a dropout that is not
            a probability below 1.
    """
    weights = attention_weights(q, k, may_attend)
    validate.values(k, v)
    validate.probability("dropout", dropout)
    weights = F.dropout(weights, dropout)
    pattern = "... q_len k_len, ... k_len d_value -> ... q_len d_value"
    return einsum(weights, v, pattern)
