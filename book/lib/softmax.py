"""Chapter 2: from scores to weights that sum to one."""

import torch
from jaxtyping import Float
from torch import Tensor

from . import validate


def softmax(x: Float[Tensor, "..."], dim: int = -1) -> Float[Tensor, "..."]:
    """exp(x) / sum(exp(x)) along `dim`.

    The largest entry is subtracted first. That changes nothing in exact
    arithmetic and keeps exp from overflowing. Half-precision input is computed
    in float32 and cast back, because its exponentials and their sum need the
    range and the digits.

    An entry of -inf gets exactly 0. A slice with nothing but -inf has no
    softmax and gives NaN, as in torch; `lib.attention` deals with such rows.

    Args:
        x: scores of any shape, floating point.
        dim: the axis whose entries compete.

    Returns:
        Weights of the shape and dtype of `x`, with sum 1 along `dim`.

    Raises:
        TypeError: `x` is not a floating-point tensor, `dim` not an integer.
        ValueError: `x` has no axis `dim`, or it is empty.
    """
    validate.floating(x=x)
    validate.axis(dim, x=x)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    exp = torch.exp(wide - wide.amax(dim, keepdim=True))
    return (exp / exp.sum(dim, keepdim=True)).to(x.dtype)
