"""Masks: boolean, True = may attend; and what is said to those that differ."""

import math

import torch
from torch import Tensor

from lib.validate.kinds import instance, whole_numbers
from lib.validate.numbers import integer, positive
from lib.validate.refuse import expect, shape, wrong, wrong_kind
from lib.validate.shapes import axes

CONVENTION = {
    "may_attend": "True = may attend",
    "mask": "True = may NOT attend, as in torch",
}
NUMBERS = "lib.masks.from_zero_one converts a mask of 0 and 1"
BIAS = (
    "; a bias is more than a mask: torch's scaled_dot_product_attention adds "
    "one to the scores, lib.attention takes none"
)
RANK_HINT = {
    2: "; if it is (batch, k_len) use mask[:, None, None], if it is "
    "(q_len, k_len) use mask[None, None]",
    3: "; if it is (batch, q_len, k_len) use mask[:, None], if it is "
    "(heads, q_len, k_len) use mask[None]",
}


def boolean(**named: object) -> None:
    """Every argument is a boolean tensor; its name says what True means."""
    instance(Tensor, **named)
    for name, tensor in named.items():
        if tensor.dtype == torch.bool:
            continue
        converter = NUMBERS
        if tensor.is_floating_point():
            converter = (
                "lib.masks.from_additive converts a mask of 0 and -inf, "
                "lib.masks.from_zero_one one of 0 and 1"
            )
        expected = f"a boolean tensor, {CONVENTION[name]}"
        wrong_kind(name, expected, f"{tensor.dtype}; {converter}")


def numeric(**named: object) -> None:
    """A tensor of numbers, not of truth values."""
    instance(Tensor, **named)
    for name, tensor in named.items():
        if tensor.dtype == torch.bool:
            got = "a boolean mask is used as it is, or inverted with ~"
            wrong_kind(name, "numbers 0 and 1", f"{tensor.dtype}; {got}")


def only(mask: Tensor, allowed: tuple) -> None:
    """Every entry of the mask is one of the two allowed values."""
    other = mask[(mask != allowed[0]) & (mask != allowed[1])]
    if other.numel():
        hint = BIAS if -math.inf in allowed else ""
        got = f"{other.flatten()[0].item()}{hint}"
        wrong("mask", f"only {allowed[0]} and {allowed[1]}", got)


def lengths(lengths: object, max_length: object) -> None:
    """The lengths of some sentences, none beyond `max_length`."""
    whole_numbers("lengths", lengths)
    axes("lengths: batch", lengths=lengths)
    expect(lengths.numel(), "lengths", "at least one sentence", "none")
    least, most = (bound.item() for bound in lengths.aminmax())
    expect(least >= 0, "lengths", "none below 0", least)
    if max_length is not None:
        integer("max_length", max_length, least=0)
        expected = f"none beyond max_length={max_length}"
        expect(most <= max_length, "lengths", expected, most)


def attn_mask(mask: object, heads: object) -> None:
    """(q_len, k_len) or (batch * heads, q_len, k_len), boolean."""
    boolean(mask=mask)
    positive(heads=heads)
    expected = "(q_len, k_len) or (batch * heads, q_len, k_len)"
    expect(mask.ndim in (2, 3), "mask", expected, shape(mask))
    if mask.ndim == 3:
        expected, first = f"a first axis of batch * {heads} heads", len(mask)
        expect(first % heads == 0, "mask", expected, first)


def broadcasts(may_attend: Tensor, wanted: tuple, what: str) -> None:
    """The mask broadcasts to a shape, and adds no axis to it."""
    sizes = tuple(may_attend.shape)
    front = len(wanted) - len(sizes)
    fine = front >= 0
    for have, size in zip(sizes, wanted[max(front, 0) :], strict=False):
        fine = fine and have in (1, size)
    if not fine:
        expected = f"a shape that broadcasts to {what} {tuple(wanted)}"
        wrong("may_attend", expected, sizes)


def mask(may_attend: object, scores: Tensor) -> None:
    """A boolean mask, True = may attend, that broadcasts to the scores."""
    if may_attend is not None:
        boolean(may_attend=may_attend)
        broadcasts(may_attend, scores.shape, "the scores,")


def module_mask(may_attend: object, shape_wanted: tuple[int, ...]) -> None:
    """A mask of rank 4 that broadcasts to (batch, heads, q_len, k_len)."""
    if may_attend is None:
        return
    boolean(may_attend=may_attend)
    four = "(batch, heads, q_len, k_len)"
    if may_attend.ndim != 4:
        hint = RANK_HINT.get(may_attend.ndim, "")
        wrong("may_attend", f"four axes {four}", shape(may_attend) + hint)
    broadcasts(may_attend, shape_wanted, f"{four} =")
