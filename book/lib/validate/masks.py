"""Masks: boolean, True = may attend; and what is said to those that differ."""

import math

import torch
from torch import Tensor

from .. import validate
from .refuse import expect, shape, wrong, wrong_kind

CONVENTION = {
    "may_attend": "a boolean tensor, True = may attend",
    "mask": "a boolean tensor, True = may NOT attend, as in torch",
}
NUMBERS = "lib.masks.from_zero_one converts a mask of 0 and 1"
ADDED = (
    "lib.masks.from_additive converts a mask of 0 and -inf, "
    "lib.masks.from_zero_one one of 0 and 1; a bias is passed as score_bias"
)
BIAS = "; a bias is more than a mask: lib.attention takes it as score_bias"
LARGE = (
    "; if it stands for -inf, replace it first: "
    "mask.masked_fill(mask < -1e4, -math.inf)"
)
CALLED = {"may_attend": "mask", "score_bias": "bias"}
RANK_HINT = {
    2: "; if it is (batch, k_len) use {0}[:, None, None], if it is "
    "(q_len, k_len) use {0}[None, None]",
    3: "; if it is (batch, q_len, k_len) use {0}[:, None], if it is "
    "(heads, q_len, k_len) use {0}[None]",
}


def boolean(**named: object) -> None:
    """A boolean tensor; its name says what True means."""
    validate.instance(Tensor, **named)
    ((name, tensor),) = named.items()
    if tensor.dtype != torch.bool:
        hint = ADDED if tensor.is_floating_point() else NUMBERS
        wrong_kind(name, CONVENTION[name], f"{tensor.dtype}; {hint}")


def numeric(mask: object) -> None:
    """A tensor of numbers, not of truth values."""
    validate.instance(Tensor, mask=mask)
    if mask.dtype == torch.bool:
        got = "torch.bool; a boolean mask is used as it is, or inverted with ~"
        wrong_kind("mask", "numbers 0 and 1", got)


def only(mask: Tensor, allowed: tuple) -> None:
    """Every entry of the mask is one of the two allowed values."""
    other = mask[(mask != allowed[0]) & (mask != allowed[1])]
    if other.numel():
        first, hint = other[0].item(), ""
        if -math.inf in allowed:
            hint = LARGE if first < -1e4 else BIAS
        wrong("mask", f"only {allowed[0]} and {allowed[1]}", f"{first}{hint}")


def lengths(lengths: object, max_length: object) -> None:
    """The lengths of some sentences, none beyond `max_length`."""
    validate.whole_numbers("lengths", lengths)
    validate.axes("lengths: batch", lengths=lengths)
    expect(lengths.numel(), "lengths", "at least one sentence", "none")
    least, most = (bound.item() for bound in lengths.aminmax())
    expect(least >= 0, "lengths", "none below 0", least)
    if max_length is not None:
        validate.integer("max_length", max_length, least=0)
        expected = f"none beyond max_length={max_length}"
        expect(most <= max_length, "lengths", expected, most)


def attn_mask(mask: object, heads: object) -> None:
    """(q_len, k_len) or (batch * heads, q_len, k_len), boolean."""
    boolean(mask=mask)
    validate.positive(heads=heads)
    expected = "(q_len, k_len) or (batch * heads, q_len, k_len)"
    expect(mask.ndim in (2, 3), "mask", expected, shape(mask))
    if mask.ndim == 3:
        expected, first = f"a first axis of batch * {heads} heads", len(mask)
        expect(first % heads == 0, "mask", expected, first)


def broadcasts(wanted: tuple, what: str, **named: Tensor) -> None:
    """The mask or bias broadcasts to a shape, and adds no axis to it."""
    ((name, tensor),) = named.items()
    sizes = tuple(tensor.shape)
    front = len(wanted) - len(sizes)
    if front < 0 or any(
        have != 1 and have != size
        for have, size in zip(sizes, wanted[front:], strict=True)
    ):
        expected = f"a shape that broadcasts to {what} {tuple(wanted)}"
        wrong(name, expected, sizes)


def mask(may_attend: object, scores: Tensor) -> None:
    """A boolean mask, True = may attend, that broadcasts to the scores."""
    if may_attend is not None:
        boolean(may_attend=may_attend)
        broadcasts(scores.shape, "the scores,", may_attend=may_attend)


def score_bias(bias: object, q: Tensor, scores: Tensor) -> None:
    """Finite numbers of the queries' dtype that broadcast to the scores."""
    validate.floating(score_bias=bias)
    if bias.dtype != q.dtype and not torch.is_autocast_enabled(q.device.type):
        expected = f"{q.dtype}, the dtype of the queries"
        wrong_kind("score_bias", expected, bias.dtype)
    broadcasts(scores.shape, "the scores,", score_bias=bias)
    if not torch.compiler.is_compiling() and not bias.isfinite().all():
        got = bias[~bias.isfinite()][0].item()
        hint = "; what may not be attended to is said by the mask may_attend"
        wrong("score_bias", "finite numbers", f"{got}{hint}")


def module_mask(may_attend: object, shape_wanted: tuple[int, ...]) -> None:
    """A mask of rank 4 that broadcasts to (batch, heads, q_len, k_len)."""
    if may_attend is not None:
        boolean(may_attend=may_attend)
        four_axes(shape_wanted, may_attend=may_attend)


def four_axes(shape_wanted: tuple[int, ...], **named: Tensor) -> None:
    """A mask or bias for every head of every sentence."""
    ((name, tensor),) = named.items()
    four = "(batch, heads, q_len, k_len)"
    if tensor.ndim != 4:
        hint = RANK_HINT.get(tensor.ndim, "").format(CALLED[name])
        wrong(name, f"four axes {four}", shape(tensor) + hint)
    broadcasts(shape_wanted, f"{four} =", **named)
