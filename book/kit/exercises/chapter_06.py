"""Checks of the exercises of chapter 6, positions. Not taught."""

import math
from dataclasses import replace

import torch

from kit.exercises import expect
from kit.exercises.contract import asks, floats, made, size, whole
from lib.positions import sinusoidal_positions


class even(whole):
    """Twice a whole number."""

    def some(self, draw):
        return 2 * draw.whole(self.low, self.high)


def speeds(d_model):
    """By how much each hand turns from a place to the next."""
    steps = torch.arange(d_model // 2, dtype=torch.float64)
    return 10_000 ** (-2 * steps / d_model)


def turned(answer, d_model):
    """How far hands turn while they are said to turn once."""
    each = speeds(d_model).tolist()
    return [answer(i, d_model) * speed for i, speed in enumerate(each)]


def places(turn, share=2):
    """Places in a turn of this size, by such a share of the exponent."""
    return lambda i, d_model: turn * 10_000 ** (share * i / d_model)


@asks(
    {"d_model": even(17, 24, "d_model")},
    "a turn is over when the place times the speed is a whole turn.",
    {
        "this is the way of one radian, 1 / speed. A whole turn is 2π of "
        "them.": places(1),
        "after half a turn the hand points the other way: the wave crosses "
        "zero, but does not begin again.": places(math.pi),
        "the formula measures angles in radians: a turn is 2π.": places(360),
        "hand 0 is the fastest, so its turn is the shortest. Yours is the "
        "longest: divide by the speed.": places(math.tau, -2),
        "i counts the hands, and a hand has two entries: compare the exponent "
        "with that of the formula.": places(math.tau, 1),
        "the digits of a counter double their rhythm; the speeds of the "
        "formula fall by another factor.": lambda i, d: math.tau * 2**i,
    },
    within=2e-5,  # angles in float32
    calls=turned,
    i=(3, 2, 4, 5),
    d_model=(16, 20, 24, 32),
)
def wavelength(i, d_model):
    return math.tau / speeds(d_model)[i].item()


def shift(k, turns):
    """Turns each pair of neighbours by k times its number."""
    still = torch.zeros(2 * len(turns), dtype=torch.float64)
    ahead = torch.stack([k * turns, torch.zeros_like(turns)], 1).flatten()
    lifts = still.diag() + torch.diag(ahead[:-1], 1)
    return torch.linalg.matrix_exp(lifts - lifts.T)


def mirror(k, d_model):
    R = shift(k, speeds(d_model))
    return R.triu() + R.triu(1).T


def halves_paired(k, d_model):
    order = torch.arange(d_model).view(-1, 2).T.flatten()
    return shift(k, speeds(d_model))[order][:, order]


def there_and_back(answer, k, d_model):
    """The matrices of several shifts."""
    first = answer(k, d_model)
    with expect.stops(
        "right at first, but a shift by 0 or by less stops your code. No "
        "place is needed, as the matrix is made from k alone."
    ):
        return [first, answer(-k, d_model), answer(0, d_model)]


@asks(
    {"k": whole(20, 160, "k"), "d_model": even(7, 12, "d_model")},
    "this does not bring place p to place p + k, whatever k is. Compare its "
    "first block with the derivation.",
    {
        "your matrix turns back: it brings place p + k to place p. Where does "
        "the minus stand?": lambda k, d: shift(-k, speeds(d)),
        "each hand has a speed of its own.": (
            lambda k, d: shift(k, speeds(d) ** 0)
        ),
        "the speeds fall too fast: does your i count hands, or entries, which "
        "are twice as many?": lambda k, d: shift(k, speeds(d) ** 2),
        "the pairs here are neighbours, entries 0 and 1, 2 and 3; yours are "
        "an entry of each half.": halves_paired,
        "your blocks are symmetric, so they mirror. A rotation has opposite "
        "signs beside its diagonal.": mirror,
    },
    calls=there_and_back,
    k=(3, 2, 4, 5),
    d_model=(8, 6, 10, 12),
)
def shift_matrix(k, d_model):
    return shift(k, speeds(d_model))


def hours(draw, case):
    return 24 * draw.uniform(case.sizes["n"])


def apart(answer, hours):
    """How far times are from each other, and from those half a day later.

    The largest of these distances is 1.
    """
    tips = []
    for times in (hours, (hours + 12) % 24, hours[:1]):
        tips.append(answer(times))
        expect.tensor(tips[-1], (len(times), 2))
    tips = torch.cat(tips).float()
    gaps = (tips[:, None] - tips).norm(dim=-1)
    return gaps / gaps.max()


def clock(per_day, second=torch.cos):
    """One hand, or two, one for each entry."""

    def tips(hours):
        angle = math.tau * per_day / 24 * hours
        return torch.stack([angle.sin(), second(angle)], 1)

    return tips


@asks(
    {"hours": made(hours, "n", is_floating=True)},
    "times equally far apart must have vectors equally far apart: the tip of "
    "the hand goes round in a circle, once a day.",
    {
        "the sine takes radians: a turn is 2π.": clock(360 / math.tau),
        "this hand turns once in 2π hours.": clock(24 / math.tau),
        "the day ends where it began: 0 and 24 o'clock are the same time and "
        "must have the same vector.": (
            lambda hours: torch.stack([hours / 24, 1 - hours / 24], 1)
        ),
        "noon has the vector of midnight. How many turns does your hand make "
        "in a day?": clock(2),
        "times between the full hours count, too.": (
            lambda hours: clock(1)(hours.floor())
        ),
        "one wave takes every value twice, so some times have the same "
        "vector.": clock(1, torch.sin),
    },
    # The task names no dtype, no hour is above 24, and one is tried above.
    leaves_out=("double", "large", "one"),
    calls=apart,
)
def clock_vector(hours):
    return torch.view_as_real(torch.polar(hours**0, math.tau / 24 * hours))


def pictures(answer, rows, columns, quarter):
    """A wide picture, a high one, a single column, and a single row."""
    first = answer(rows, columns, 4 * quarter)
    with expect.stops(
        "right at first, but there may be more rows than columns, and more "
        "columns than rows.",
        (IndexError,),
    ):
        sizes = (columns, rows, 4 * quarter), (rows, 1, 4), (1, columns, 8)
        others = [answer(*size) for size in sizes]
    return [as_floats(picture) for picture in (first, *others)]


def as_floats(x):
    """The same in float32, as the task names no dtype."""
    expect.tensor(x)
    return x.float()


def picture(places, join=torch.cat, share=2):
    """A vector for each patch n: the encodings of two places, joined."""

    def table(rows, columns, d_model):
        line = sinusoidal_positions(rows * columns, d_model // share)
        pairs = [places(n, rows, columns) for n in range(rows * columns)]
        return torch.stack([join([line[a], line[b]]) for a, b in pairs])

    return table


def read(n, rows, columns):
    return divmod(n, columns)


@asks(
    {
        "rows": whole(2, 4, "rows"),
        "columns": whole(9, 11, "columns"),
        "quarter": whole(2, 5),
    },
    "in which row and column is the last patch, all counted from 0, and what "
    "does your table hold for it?",
    {
        "row and column are exchanged: the first half is for the row.": (
            picture(lambda n, r, c: (n % c, n // c))
        ),
        "the patches are read row by row: you go down the columns.": (
            picture(lambda n, r, c: (n % r, n // r))
        ),
        "a new row begins after as many patches as there are columns, not "
        "rows.": picture(lambda n, r, c: (n // r, n % c)),
        "this is a line of patches: two patches, one above the other, look "
        "as far apart as the row is long.": (
            lambda rows, columns, d: sinusoidal_positions(rows * columns, d)
        ),
        "each half is an encoding of its own, with fast hands and slow ones. "
        "You cut both from one of the full width.": picture(
            read, lambda x: torch.cat([x[0].chunk(2)[0], x[1].chunk(2)[1]]), 1
        ),
        "added, row and column cannot be told apart: patch (1, 2) gets what "
        "patch (2, 1) gets.": picture(read, sum, 1),
        "row and column take turns, entry by entry. Each is to have a half "
        "of its own.": picture(read, lambda x: torch.stack(x, 1).flatten()),
    },
    within=1e-5,  # angles in float32
    calls=pictures,
    rows=(3, 2, 4),
    columns=(5, 7, 8, 6),
)
def grid_positions(rows, columns, d_model):
    return picture(read)(rows, columns, d_model)


def biases(answer, length, heads):
    """For several heads, for one, and for a single place."""
    sizes = (length, heads), (length, 1), (1, heads)
    return [as_floats(answer(*size)) for size in sizes]


def minus(distance=torch.abs, share=lambda n, heads: n / heads):
    """Head n, counted from 1, has a share of the exponent -8."""

    def bias(length, heads):
        places = torch.arange(length).double()
        slopes = 2 ** (-8 * share(torch.arange(1, heads + 1).double(), heads))
        apart = distance(places[:, None] - places)
        return -slopes[None, :, None, None] * apart

    return bias


@asks(
    {"length": whole(10, 14, "length"), "heads": whole(5, 7, "heads")},
    "what should head 0 take off the score of two neighbours?",
    {
        "without abs one side is rewarded: a distance is never negative.": (
            minus(torch.positive)
        ),
        "your bias grows with the distance. What is far away is to lose.": (
            minus(lambda apart: -apart.abs())
        ),
        "the penalty grows with the distance, and yours with its square.": (
            minus(torch.square)
        ),
        "these are the slopes of eight heads, whatever their number.": (
            minus(share=lambda n, heads: n / 8)
        ),
        "head 0 has the slope 1: the formula says h + 1.": (
            minus(share=lambda n, heads: (n - 1) / heads)
        ),
        "the slopes stand in reverse: head 0 has the steepest.": (
            minus(share=lambda n, heads: (heads + 1 - n) / heads)
        ),
        "keys in the future lose nothing. A distance counts on both sides; "
        "hiding the future is the mask's task.": minus(torch.relu),
        "you hide the future as well. That is the mask's task: as a bias -inf "
        "would hide it from encoders, too.": minus(
            lambda apart: apart.masked_fill(apart < 0, torch.inf)
        ),
    },
    within=1e-5,  # in float32
    calls=biases,
    length=(5, 6, 7, 9),
    heads=(8, 4, 2, 16),
)
def alibi_bias(length, heads):
    places = torch.arange(length, dtype=torch.float32)[:, None]
    slopes = torch.logspace(-8 / heads, -8, heads, base=2)
    return -slopes[None, :, None, None] * torch.cdist(places, places)


def weights(draw, case):
    """Those that make queries for h heads of p pairs."""
    width = 2 * case.sizes["h"] * case.sizes["p"]
    return floats("w w").drawn(draw, replace(case, sizes={"w": width}))


def order(weight, heads):
    """Which old row each new row is: in each head even ones, odd ones."""
    return torch.arange(len(weight)).view(heads, -1, 2).mT.flatten()


def in_a_new_tensor(answer, weight, heads):
    """Also if no row moves, as in heads that are two wide."""
    got = answer(weight, len(weight) // 2)
    mine, given = (x.untyped_storage().data_ptr() for x in (got, weight))
    expect.that(
        mine != given,
        "where no row moves, you return the given tensor, or a view of it: "
        "who writes into the new weight writes into the old one.",
    )


@asks(
    {
        "weight": made(weights, "h p", is_floating=True),
        "heads": size("h"),
    },
    "new row 1 should be old row 2, if a head is wide enough for two pairs. "
    "Follow the arrows of figure 6.8.",
    {
        "nothing has moved. A dot product has no order, but the other program "
        "turns other entries together.": lambda weight, heads: weight,
        "you have moved columns. nn.Linear computes x @ weight.T, so an entry "
        "of a query comes from a row.": (
            lambda weight, heads: weight[:, order(weight, heads)]
        ),
        "this is the way back, from halves to neighbours.": (
            lambda weight, heads: weight[order(weight, heads).argsort()]
        ),
        "you exchange the halves of each head: no new pairs arise.": (
            lambda weight, heads: (
                weight.unflatten(0, (heads, 2, -1)).flip(1).flatten(0, 2)
            )
        ),
        "all even rows stand in front of all odd ones. Rows must stay in "
        "their head.": lambda weight, heads: weight[order(weight, 1)],
    },
    also=(in_a_new_tensor,),
    heads=(3, 2, 4, 5),
)
def to_halves(weight, heads):
    return weight[order(weight, heads)]
