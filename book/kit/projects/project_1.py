"""Project I: A soft dictionary of your own. Not taught.

Keys and values in whatever structure the student likes; a query is answered
by attention. PyTorch is the judge.
"""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from kit.exercises import expect
from kit.projects import Judged, numbers, requires, tensor


class SoftDictionary(Protocol):
    """Answers a query with a weighted mean of all that is stored."""

    def store(self, key: list[float], value: list[float]) -> int:
        """Keep a pair; gives the number by which it can be forgotten."""

    def forget(self, number: int) -> None:
        """Remove a pair; a KeyError if there is none of this number."""

    def read(self, query: list[float], sharpness: float = 1.0) -> list[float]:
        """The mean of the values, weighted by the softmax of
        sharpness * (query . key) / sqrt(width). With nothing stored a
        LookupError, with a query of another width a ValueError."""

    def __len__(self) -> int:
        """How many pairs there are."""


INTERFACE = SoftDictionary


class Adapter(Judged):
    """Somebody's structure, and the pairs that stand in it."""

    def __init__(self, made: type, keys: Tensor, values: Tensor) -> None:
        self.mine = made()
        self.pairs = list(zip(keys, values, strict=True))
        self.numbers = [self.store(*pair) for pair in self.pairs]

    def store(self, key: Tensor, value: Tensor) -> int:
        return self.mine.store(key.tolist(), value.tolist())

    def __call__(self, query: Tensor, sharpness: float = 1.0) -> Tensor:
        """What it reads."""
        return tensor(self.mine.read(query.tolist(), sharpness), "read")

    def judge(self, query: Tensor, sharpness: float = 1.0) -> Tensor:
        """What PyTorch answers with the same pairs."""
        keys, values = map(torch.stack, zip(*self.pairs, strict=True))
        return attention(query, keys, values, sharpness)


def attention(
    query: Tensor, keys: Tensor, values: Tensor, sharpness: float
) -> Tensor:
    """The answer that PyTorch gives."""
    scale = sharpness / keys.shape[1] ** 0.5
    return scaled_dot_product_attention(
        query[None], keys, values, scale=scale
    )[0]


def inputs(draw, pairs: int = 7) -> tuple[Tensor, Tensor, Tensor]:
    """A query, keys of width 3, values of width 5."""
    return numbers(draw, 3), numbers(draw, pairs, 3), numbers(draw, pairs, 5)


@requires(12)
def is_attention(made, draw):
    """It answers what attention computes."""
    for pairs in (1, 2, 7):
        query, keys, values = inputs(draw, pairs)
        undivided = attention(query, keys, values, 3**0.5)
        best = values[(keys @ query).argmax()]
        Adapter(made, keys, values).check(
            f"with {pairs} pairs the mean is not that of PyTorch.",
            query,
            mistakes=[
                (
                    undivided,
                    "the scores are not divided by the root of the width.",
                ),
                (best, "it gives the best value alone: a hard look-up."),
                (values.mean(0), "all values weigh the same."),
            ],
        )


@requires(6)
def sharpness_counts(made, draw):
    """Sharpness 0 gives the plain mean, a great one the best value."""
    query, *stored = inputs(draw)
    mine = Adapter(made, *stored)
    for sharpness, hint in {
        2.5: "sharpness 2.5 must multiply each score by 2.5.",
        0.0: "with sharpness 0 all scores are 0, so all weights are equal.",
        1e4: "with sharpness 10,000 nearly all the weight is on one value.",
    }.items():
        mine.check(hint, query, sharpness)


@requires(8)
def large_scores(made, draw):
    """Scores of a million do not overflow."""
    query, keys, values = inputs(draw)
    mine = Adapter(made, keys * 1e3, values)
    expect.that(
        mine(query * 1e3).isfinite(),
        "the exponential of a large score overflows: take the largest score "
        "off first.",
    )
    mine.check("finite, but not what attention gives.", query * 1e3)
    keys += 1e6 * query / query.square().sum()
    Adapter(made, keys, values).check(
        "scores near a million that differ by little share the weight.", query
    )


@requires(12)
def forgetting(made, draw):
    """What is forgotten leaves no trace, and other numbers stay valid."""
    query, *stored = inputs(draw)
    mine = Adapter(made, *stored)
    left = dict(enumerate(mine.pairs))
    for place in (2, 0, 4):
        number = mine.numbers[place]
        mine.mine.forget(number)
        del left[place]
        mine.pairs = list(left.values())
        mine.check(
            f"after the pair of number {number} is forgotten, the answer is "
            "not that of the pairs that are left.",
            query,
        )
    expect.refusal(
        "forgetting a pair twice must raise a KeyError.",
        lambda: mine.mine.forget(mine.numbers[2]),
        KeyError,
    )


@requires(6)
def new_after_forgetting(made, draw):
    """A pair stored later gets a number of its own."""
    query, keys, values = inputs(draw)
    mine = Adapter(made, keys[:3], values[:3])
    mine.mine.forget(mine.numbers[1])
    new = mine.store(keys[3], values[3])
    expect.that(
        new not in (mine.numbers[0], mine.numbers[2]),
        f"the new pair got the number {new}, which another one has.",
    )
    mine.pairs[1] = keys[3], values[3]
    mine.check(
        "after forgetting one and storing another the answer is not that of "
        "the three pairs.",
        query,
    )


@requires(6)
def counts(made, draw):
    """It knows how many pairs it holds."""
    query, keys, values = inputs(draw)
    keys[3] = keys[5]
    mine = Adapter(made, keys, values)
    mine.check(
        "two pairs with the same key are two pairs, and both count.", query
    )
    mine.mine.forget(mine.numbers[0])
    got = (len(made()), len(mine.mine))
    expect.that(got == (0, 6), f"len is {got[1]} where 6 pairs are left.")


@requires(5)
def keeps_copies(made, draw):
    """A list that changes later does not change what is stored."""
    query, keys, values = (t.tolist() for t in inputs(draw, 2))
    mine = made()
    for pair in zip(keys, values, strict=True):
        mine.store(*pair)
    before = mine.read(query)
    keys[0][0] += 10
    values[0][0] += 10
    expect.close(
        mine.read(query),
        before,
        "it holds the caller's own list, and the caller has changed it.",
        tolerance=1e-12,
    )


@requires(5)
def refuses(made, draw):
    """It refuses what has no answer, with the errors that are agreed."""
    query, *stored = inputs(draw)
    expect.refusal(
        "with nothing stored there is no mean: a LookupError.",
        lambda: made().read(query.tolist()),
        LookupError,
    )
    mine = Adapter(made, *stored)
    for width in (2, 4):
        expect.refusal(
            "a query of another width is a ValueError; zip cuts it in "
            "silence.",
            lambda w=width: mine.mine.read([1.0] * w),
            ValueError,
        )
