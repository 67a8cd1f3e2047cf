"""Chapter 4: scaled dot-product attention.

Works on the last two axes, `length width`; any number of leading axes (batch,
heads) may stand before them. Chapter 3 derives the formula; heads and their
projections follow in chapter 5.
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from . import validate


def attention_weights(
    q: Float[Tensor, "*lead q_len d_head"],
    k: Float[Tensor, "*lead k_len d_head"],
    may_attend: Bool[Tensor, "..."] | None = None,
    *,
    score_bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "*lead q_len k_len"]:
    """softmax(Q Kᵀ / sqrt(d_head)): row i says how position i attends.

    Source: Vaswani et al. 2017, equation 1.

    Args:
        q: one query a row.
        k: one key a row, of the width of the queries.
        may_attend: boolean, True = may attend, broadcastable to the result.
            A query that may attend to nothing gets weights 0.
        score_bias: finite numbers that are added to the scaled scores, of the
            dtype of the queries and broadcastable to the result.

    Raises:
        TypeError: the mask is not boolean, or the dtypes differ.
        ValueError: there is no key, the mask or the bias does not broadcast
            to the scores, or the bias is not finite.
    """
    validate.shapes("q: *lead q_len d_head, k: *lead k_len d_head", q=q, k=k)
    scores = (q / math.sqrt(q.shape[-1])) @ k.mT
    validate.mask(may_attend, scores)
    if score_bias is not None:
        validate.score_bias(score_bias, q, scores)
        scores = scores + score_bias
    if may_attend is None:
        return torch.softmax(scores, dim=-1)
    idle = ~may_attend.any(-1, keepdim=True)
    scores.masked_fill_(~(may_attend | idle), -math.inf)
    weights = torch.softmax(scores, dim=-1)
    if torch.compiler.is_compiling() or idle.any():
        weights = weights.masked_fill(idle, 0.0)
    return weights


def attention(
    q: Float[Tensor, "*lead q_len d_head"],
    k: Float[Tensor, "*lead k_len d_head"],
    v: Float[Tensor, "*lead k_len d_value"],
    may_attend: Bool[Tensor, "..."] | None = None,
    dropout: float = 0.0,
    *,
    score_bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "*lead q_len d_value"]:
    """softmax(Q Kᵀ / sqrt(d_head)) V: a weighted mean of the values.

    Source: Vaswani et al. 2017, equation 1.

    Args:
        q, k, may_attend, score_bias: as in `attention_weights`. A query that
            may attend to nothing gets the output 0.
        v: one value for each key, of any width.
        dropout: probability with which a weight is set to zero; the others
            are divided by 1 - dropout. Pass 0 outside training.

    Raises:
        TypeError: as in `attention_weights`.
        ValueError: as there; or not one value for each key, or a dropout that
            is not in [0, 1).
    """
    weights = attention_weights(q, k, may_attend, score_bias=score_bias)
    validate.shapes("k: *lead k_len d_head, v: *lead k_len d_value", k=k, v=v)
    validate.probability("dropout", dropout)
    return F.dropout(weights, dropout) @ v
