"""Project V: An attention that reads only what it needs. Not taught.

A causal window with a few positions that all may see: long texts at the cost
of short ones. PyTorch with a mask is the judge, and every key is counted.
"""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from kit.exercises import expect
from kit.projects import Judged, numbers, requires, tensor


class Rows:
    """Vectors that are fetched one by one, and count it."""

    def __init__(self, rows: list[list[float]]) -> None:
        self.rows, self.fetched = rows, 0

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> list[float]:
        if not isinstance(place, int):
            raise TypeError("one row at a time, by its place")
        self.fetched += 1
        return list(self.rows[place])


class SparseAttention(Protocol):
    """Position i sees j <= i if i - j < window, or if j is a landmark."""

    def __init__(self, length: int, window: int, landmarks: list[int]) -> None:
        """A ValueError if the window is below 1 or a landmark is no
        position."""

    def pairs(self) -> int:
        """How many pairs (i, j) there are, without a loop over all of
        length times length."""

    def attend(
        self, queries: Rows, keys: Rows, values: Rows
    ) -> list[list[float]]:
        """The output of each position."""


INTERFACE = SparseAttention


class Adapter(Judged):
    """Tensors outside, somebody's structure inside; reads are counted."""

    def __init__(self, made: type, length, window, landmarks) -> None:
        self.mine = made(length, window, list(landmarks))
        place = torch.arange(length)
        distance = place[:, None] - place
        is_landmark = torch.isin(place, torch.tensor(landmarks))
        self.mask = (distance >= 0) & ((distance < window) | is_landmark)
        self.counted: tuple[Rows, ...] = ()

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Its output; `counted` are the queries, keys and values."""
        self.counted = tuple(Rows(t.tolist()) for t in (q, k, v))
        return tensor(self.mine.attend(*self.counted), "attend")

    def judge(self, *x: Tensor) -> Tensor:
        return scaled_dot_product_attention(*x, self.mask)


CASES = ((9, 3, []), (9, 1, []), (10, 3, [0]), (12, 2, [4, 7]), (5, 9, [2]))


def inputs(draw, length: int, scale: float = 1.0) -> tuple[Tensor, ...]:
    return tuple(scale * numbers(draw, length, w) for w in (4, 4, 3))


@requires(16)
def is_attention(made, draw):
    """It gives what attention with the mask gives."""
    for length, window, landmarks in CASES:
        x = inputs(draw, length)
        causal = scaled_dot_product_attention(*x, is_causal=True)
        hint = "every earlier position is seen, not only the window."
        unmasked = scaled_dot_product_attention(*x)
        Adapter(made, length, window, landmarks).check(
            f"with length {length}, window {window} and landmarks "
            f"{landmarks} the output is not that of PyTorch.",
            *x,
            mistakes=[
                (causal, hint),
                (unmasked, "later positions are seen."),
            ],
        )


@requires(8)
def counts_pairs(made, draw):
    """It knows how many pairs there are."""
    for length, window, landmarks in CASES:
        sparse = Adapter(made, length, window, landmarks)
        expected = int(sparse.mask.sum())
        expect.close(
            sparse.mine.pairs(),
            expected,
            f"length {length}, window {window}, landmarks {landmarks} "
            f"have {expected} pairs: a landmark in the window counts once.",
        )


@requires(12)
def reads_little(made, draw):
    """It fetches no more keys and values than there are pairs."""
    for length, window, landmarks in CASES:
        sparse = Adapter(made, length, window, landmarks)
        sparse(*inputs(draw, length))
        most = int(sparse.mask.sum())
        for name, rows in zip(
            ("queries", "keys", "values"), sparse.counted, strict=True
        ):
            limit = length if name == "queries" else most
            expect.that(
                rows.fetched <= limit,
                f"{rows.fetched} {name} are fetched where {limit} do, with "
                f"length {length} and window {window}.",
            )


@requires(12)
def long_texts(made, draw):
    """A text of 1,000 positions costs 5 times one of 200, not 25 times."""
    fetched = []
    for length in (200, 1000):
        sparse = Adapter(made, length, 4, [0])
        x = inputs(draw, length)
        got = sparse(*x)
        fetched.append(sparse.counted[1].fetched)
        expect.close(
            got[-3:],
            sparse.judge(*x)[-3:],
            f"the last outputs of {length} positions are wrong.",
        )
    expect.that(
        fetched[1] <= 6 * fetched[0],
        f"{fetched[0]:,} keys for 200 positions and {fetched[1]:,} for "
        "1,000: the cost grows faster than the text.",
    )


@requires(6)
def large_scores(made, draw):
    """Large scores do not overflow."""
    sparse, x = Adapter(made, 8, 3, [0]), inputs(draw, 8, 300.0)
    expect.that(sparse(*x).isfinite(), "the exponential of a score overflows.")
    sparse.check("finite, but not attention.", *x)


@requires(6)
def refuses(made, draw):
    """A window below 1 and a landmark that is no position are refused."""
    for arguments in ((5, 0, []), (5, 2, [5]), (5, 2, [-1])):
        expect.refusal(
            f"SparseAttention{arguments} must raise a ValueError.",
            lambda a=arguments: made(*a),
            ValueError,
        )
