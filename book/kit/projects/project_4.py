"""Project IV: A cache of your own. Not taught.

Keys and values of the texts that are being written, for sampling and for
beam search, in a structure that need not copy what several texts share.
"""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from kit.exercises import expect
from kit.projects import numbers, requires

Rows = list[list[float]]


class Cache(Protocol):
    """The keys and values of several texts, one row each."""

    def __init__(self, rows: int) -> None:
        """So many texts, all empty."""

    def append(self, row: int, key: list[float], value: list[float]) -> None:
        """One position more at the end of a text."""

    def read(self, row: int) -> tuple[Rows, Rows]:
        """All keys and all values of a text, in their order."""

    def keep(self, rows: list[int]) -> None:
        """These texts go on, in this order; one may go on several times.
        From now on row 0 is the first of them."""

    def rewind(self, row: int, positions: int) -> None:
        """Take back the last positions; a ValueError if there are fewer."""

    def numbers(self) -> int:
        """How many numbers are held, shared ones counted once."""


INTERFACE = Cache
WIDTH = 3


class Adapter:
    """Tensors outside, somebody's structure of plain lists inside.

    Beside it stands the plainest cache there is, which copies everything.
    """

    def __init__(self, made: type, rows: int, draw) -> None:
        self.mine, self.draw = made(rows), draw
        self.plain: list[list[Tensor]] = [[] for _ in range(rows)]

    def append(self, row: int, times: int = 1) -> None:
        """New positions with drawn keys and values."""
        for _ in range(times):
            pair = numbers(self.draw, 2, WIDTH)
            self.mine.append(row, *pair.tolist())
            self.plain[row].append(pair)

    def keep(self, rows: list[int]) -> None:
        self.mine.keep(list(rows))
        self.plain = [list(self.plain[row]) for row in rows]

    def rewind(self, row: int, positions: int) -> None:
        self.mine.rewind(row, positions)
        self.plain[row] = self.plain[row][: len(self.plain[row]) - positions]

    def compare(self, when: str) -> None:
        """Every text is what the plain cache holds."""
        for row, pairs in enumerate(self.plain):
            got = self.mine.read(row)
            expected = [[p[side].tolist() for p in pairs] for side in (0, 1)]
            for name, mine, plain in zip(
                ("keys", "values"), got, expected, strict=True
            ):
                expect.that(
                    [list(x) for x in mine] == plain,
                    f"{when} row {row} has {len(mine)} {name}, and they are "
                    f"not the {len(plain)} that were appended.",
                )


@requires(10)
def reads_what_was_appended(made, draw):
    """It reads what was appended, texts of different lengths apart."""
    cache = Adapter(made, 3, draw)
    cache.compare("while nothing is appended")
    for row in (0, 2, 2, 0, 1, 2):
        cache.append(row)
    cache.compare("after six positions")


@requires(6)
def attention_through_it(made, draw):
    """Attention through the cache is attention to the whole text."""
    cache = Adapter(made, 1, draw)
    for length in range(1, 6):
        cache.append(0)
        query = numbers(draw, 1, WIDTH)
        both = cache.mine.read(0)
        read = (torch.tensor(rows, dtype=torch.float64) for rows in both)
        pairs = torch.stack(cache.plain[0], 1)
        expect.close(
            scaled_dot_product_attention(query, *read),
            scaled_dot_product_attention(query, *pairs),
            f"at position {length} the outputs differ.",
        )


@requires(10)
def beams(made, draw):
    """Texts are kept, dropped and doubled, and then go on by themselves."""
    cache = Adapter(made, 3, draw)
    for row in range(3):
        cache.append(row, 2)
    for rows in ([2, 0, 0], [1, 1, 0], [2, 2, 2]):
        cache.keep(rows)
        cache.compare(f"after keep({rows})")
        for row in range(3):
            cache.append(row)
        cache.compare(f"after keep({rows}) and one position more")


@requires(4)
def fewer_or_more(made, draw):
    """keep may change the number of texts."""
    cache = Adapter(made, 2, draw)
    cache.append(0, 3)
    cache.append(1, 1)
    for rows in ([0, 1, 1, 0], [2]):
        cache.keep(rows)
        cache.append(0)
        cache.compare(f"after keep({rows})")


@requires(8)
def rewinding(made, draw):
    """Positions are taken back in one text, and in no other."""
    cache = Adapter(made, 2, draw)
    cache.append(0, 5)
    cache.keep([0, 0])
    cache.rewind(0, 0)
    cache.compare("after rewind(0, 0)")
    cache.rewind(1, 3)
    cache.compare("after rewind(1, 3)")
    cache.append(1, 2)
    cache.append(0, 1)
    cache.compare("after rewind(1, 3) and new positions")
    expect.refusal(
        "six positions cannot be taken back from five: a ValueError.",
        lambda: cache.mine.rewind(1, 6),
        ValueError,
    )


@requires(12)
def sharing(made, draw):
    """Eight texts with the same beginning hold it once."""
    cache = Adapter(made, 1, draw)
    cache.append(0, 200)
    alone = cache.mine.numbers()
    expect.that(
        alone >= 2 * WIDTH * 200,
        f"200 positions are {2 * WIDTH * 200} numbers, and it counts {alone}.",
    )
    cache.keep([0] * 8)
    for row in range(8):
        cache.append(row, 2)
    cache.compare("after eight texts have gone on")
    shared, least = cache.mine.numbers(), 2 * WIDTH * (200 + 8 * 2)
    expect.that(
        shared >= least,
        f"one beginning and eight endings are {least} numbers, and it counts "
        f"{shared}.",
    )
    expect.that(
        shared <= 2 * alone,
        f"{shared} numbers for eight texts with one beginning of {alone}: "
        "it is copied, not shared.",
    )


@requires(6)
def letting_go(made, draw):
    """What no text needs any more is let go."""
    cache = Adapter(made, 2, draw)
    cache.append(0, 100)
    cache.append(1, 10)
    cache.keep([1])
    held = cache.mine.numbers()
    expect.that(
        held >= 2 * WIDTH * 10,
        f"the short text has {2 * WIDTH * 10} numbers, and it counts {held}.",
    )
    expect.that(
        held <= 2 * 2 * WIDTH * 32,
        f"the long text is gone and {held} numbers are still held.",
    )


@requires(4)
def many_steps(made, draw):
    """It stays right over 300 steps of a beam search."""
    cache = Adapter(made, 4, draw)
    for _ in range(300):
        for row in range(4):
            cache.append(row)
        cache.keep([draw.whole(0, 3) for _ in range(4)])
    cache.compare("after 300 steps")
