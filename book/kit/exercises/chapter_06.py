"""Checks of the exercises of chapter 6, positions. Not taught."""

import math

import torch

from kit.exercises import exercise, expect


@exercise(i=(3, 2, 4, 5), d_model=(16, 20, 24, 32))
def wavelength(answer, draw):
    pairs = [(draw.given.i, draw.given.d_model), (0, 10)]
    for _ in range(3):
        d_model = 2 * draw.whole(4, 20)
        pairs.append((draw.whole(1, d_model // 2 - 1), d_model))
    for i, d_model in pairs:
        got, wider = (float(answer(i, d)) for d in (d_model, 2 * d_model))
        expect.close(
            got,
            2 * math.pi / speed(i, d_model),
            f"wavelength({i}, {d_model}) is not {got:.6g}: a turn is over "
            "when the place times the speed is a whole turn.",
            [
                *turn_mistakes(i, d_model),
                (
                    wider,
                    "yours does not change with d_model. But more hands fall "
                    "from the first speed to the last in smaller steps.",
                ),
            ],
        )


def turn_mistakes(i, d_model):
    """What is taken for the places of one turn."""
    places = 1 / speed(i, d_model)  # for one radian
    return [
        (
            places,
            "this is the way of one radian, 1 / speed. A whole turn is 2π "
            "of them.",
        ),
        (
            math.pi * places,
            "after half a turn the hand points the other way: the wave "
            "crosses zero, but does not begin again.",
        ),
        (
            360 * places,
            "the formula measures angles in radians, so a turn is 2π, not "
            "360.",
        ),
        (
            2 * math.pi / places,
            "hand 0 is the fastest, so its turn is the shortest. Yours is "
            "the longest: divide by the speed.",
        ),
        (
            2 * math.pi * 10_000 ** (i / d_model),
            "i counts the hands, and a hand has two entries: compare the "
            "exponent with that of the formula.",
        ),
        (
            2 * math.pi * 10_000 ** (i / max(1, d_model // 2 - 1)),
            "these are tensor2tensor's speeds, whose last is exactly 1/10000.",
        ),
        (
            2 * math.pi * 2**i,
            "the digits of a counter double their rhythm; the speeds of the "
            "formula fall by another factor.",
        ),
    ]


def speed(i, d_model):
    """By how much hand i turns from a place to the next, step by step."""
    factor = 10_000 ** (-1 / (d_model / 2))
    return math.prod([factor] * i)


def encoded(place, d_model):
    """The tips of all hands at a place, one by one."""
    tips = []
    for i in range(d_model // 2):
        angle = place * speed(i, d_model)
        tips += [math.sin(angle), math.cos(angle)]
    return torch.tensor(tips, dtype=torch.float64)


@exercise(k=(3, 2, 4, 5), d_model=(8, 6, 10, 12))
@expect.own_work("find_shift", "lstsq")
def shift_matrix(answer, draw):
    k, d_model = draw.given.k, draw.given.d_model
    R = answer(k, d_model)
    expect.tensor(R, (d_model, d_model), torch.float64, "the matrix")
    R = R.cpu()
    expect.close(
        R,
        turning(k, d_model),
        f"shift_matrix({k}, {d_model}) does not bring place 1 to place "
        f"{k + 1}. Compare its first block with the derivation.",
        shift_mistakes(k, d_model),
    )
    asked = f"right for shift_matrix({k}, {d_model}), but"
    for k, place, d_model in (
        (-draw.whole(2, 9), 40, 8),
        (0, draw.whole(1, 30), 6),
        (draw.whole(60, 90), draw.whole(0, 9), 2 * draw.whole(1, 4)),
    ):
        with expect.stops(
            f"{asked} shift_matrix({k}, {d_model}) stops your code. No place "
            "is needed, as the matrix is made from k alone."
        ):
            moved = answer(k, d_model).cpu() @ encoded(place, d_model)
        expect.close(
            moved,
            encoded(place + k, d_model),
            f"{asked} shift_matrix({k}, {d_model}) does not bring place "
            f"{place} to place {place + k}.",
        )


def shift_mistakes(k, d_model):
    """What a shift is taken for."""
    return [
        (
            turning(-k, d_model),
            "your matrix turns back: it brings place "
            f"{k + 1} to place 1. Where does the minus stand?",
        ),
        (
            turning(k, d_model, lambda i: 1.0),
            "all hands turn by k, but each has a speed of its own.",
        ),
        (
            turning(k, d_model, lambda i: speed(i, d_model) ** 2),
            "the speeds fall too fast: is your i the number of a hand, "
            "or of an entry, which is twice as large?",
        ),
        (
            paired_as_halves(k, d_model),
            "the pairs here are neighbours, entries 0 and 1, 2 and 3; "
            "yours are an entry of each half.",
        ),
        (
            mirror(k, d_model),
            "your blocks are symmetric, so they mirror. A rotation has "
            "opposite signs beside its diagonal.",
        ),
    ]


def turning(k, d_model, turns=None):
    """Entry by entry: what a shift by k does to the tips of the hands."""
    R = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i in range(d_model // 2):
        angle = k * (turns(i) if turns else speed(i, d_model))
        R[2 * i, 2 * i] = R[2 * i + 1, 2 * i + 1] = math.cos(angle)
        R[2 * i, 2 * i + 1] = math.sin(angle)
        R[2 * i + 1, 2 * i] = -math.sin(angle)
    return R


def mirror(k, d_model):
    """The same without the minus."""
    R = turning(k, d_model)
    for i in range(d_model // 2):
        R[2 * i + 1, 2 * i] = R[2 * i, 2 * i + 1]
    return R


def paired_as_halves(k, d_model):
    """The same for an entry of each half."""
    order = [*range(0, d_model, 2), *range(1, d_model, 2)]
    return turning(k, d_model)[order][:, order]


@exercise()
def clock_vector(answer, draw):
    hours = draw.uniform(7, dtype=torch.float64) * 24
    with expect.untouched(hours):
        tips = answer(hours)
    expect.tensor(tips, (7, 2), what="the table of vectors")
    for per_hour, hint in (
        (360 / 24, "the sine takes radians: a whole turn is 2π, not 360."),
        (1.0, "this hand turns once in 2π hours, not once in a day."),
    ):
        angle = hours * per_hour
        taken = torch.stack([angle.sin(), angle.cos()], dim=1)
        expect.that(not expect.same(tips, taken), hint)
    midnight = answer(torch.tensor([0.0, 24.0]).to(hours)).cpu()
    expect.that(
        expect.same(midnight[0], midnight[1]),
        "the day ends where it began: 0 and 24 o'clock are the same time and "
        "must have the same vector.",
    )
    half_hours = answer(torch.arange(48).to(hours) / 2).cpu()
    on_one_circle(torch.cdist(half_hours, half_hours))


def on_one_circle(gaps):
    """Times equally far apart have vectors equally far apart, and differ."""
    later = torch.stack([gaps.roll(-n, 1).diagonal() for n in range(48)])
    for n in range(1, 25):
        place = later[n].argmin().item()
        alike = later[n] < 1e-4
        both = f"{place / 2} and {(place + n) % 48 / 2} o'clock"
        expect.that(
            not alike.all(),
            f"all times {n / 2} hours apart have the same vector. How many "
            "turns does your hand make in a day?",
        )
        expect.that(
            n > 1 or not alike.any(),
            f"{both} have the same vector: times between the full hours "
            "count too.",
        )
        expect.that(
            not alike.any(),
            f"{both} have the same vector. One wave takes every value twice, "
            "so the other entry must belong to the same angle.",
        )
    for n in range(1, 25):
        near, far = later[n].argmin().item(), later[n].argmax().item()
        expect.that(
            later[n, far] - later[n, near] < 1e-4,
            f"{near / 2} and {far / 2} o'clock are not equally far from the "
            f"times {n / 2} hours later: the tip of the hand must go round "
            "in a circle.",
        )
    expect.that(
        later[1:25, 0].diff() > 0,
        "up to half a day, later must be farther away: your hand passes "
        "its start more than once a day.",
    )


@exercise(rows=(3, 2, 4), columns=(5, 7, 8, 6))
def grid_positions(answer, draw):
    given = draw.given.rows, draw.given.columns
    for rows, columns in (given, (1, 4), (draw.whole(4, 6), draw.whole(2, 3))):
        a_picture(answer, rows, columns, 4 * draw.whole(2, 4))


def a_picture(answer, rows, columns, d_model):
    """Every patch has its row in the first half, its column in the other."""
    call = f"grid_positions({rows}, {columns}, {d_model})"
    with expect.stops(
        f"{call} stops your code. There may be more rows than columns, and "
        "more columns than rows.",
        (IndexError,),
    ):
        got = answer(rows, columns, d_model)
    expect.tensor(got, (rows * columns, d_model), what=call)
    half = line(max(rows, columns), d_model // 2)
    expect.close(
        got.cpu(),
        patches(rows, columns, lambda r, c: [half[r], half[c]]),
        f"{call} is wrong. In which row and column is patch "
        f"{rows * columns - 1}, all counted from 0, and what does your table "
        "hold for it?",
        grid_mistakes(rows, columns, d_model),
    )


def line(length, d_model):
    """The encodings of some places, one by one."""
    return torch.stack([encoded(place, d_model) for place in range(length)])


def patches(rows, columns, parts):
    """A row for each patch, as a picture is read."""
    places = [(r, c) for r in range(rows) for c in range(columns)]
    return torch.stack([torch.cat(parts(r, c)) for r, c in places])


def grid_mistakes(rows, columns, d_model):
    """What the places of a picture are taken for."""
    middle = d_model // 2
    half, whole = line(rows * columns, middle), line(rows * columns, d_model)

    def table(parts):
        return patches(rows, columns, parts)

    def number(r, c):
        return r * columns + c

    return [
        (
            table(lambda r, c: [half[c], half[r]]),
            "row and column are exchanged: the first half is for the row.",
        ),
        (
            table(
                lambda r, c: [
                    half[number(r, c) % rows],
                    half[number(r, c) // rows],
                ]
            ),
            "the patches are read row by row, and you go down the columns.",
        ),
        (
            table(
                lambda r, c: [
                    half[number(r, c) // rows],
                    half[number(r, c) % columns],
                ]
            ),
            "a new row begins after as many patches as there are columns; "
            "you divide by the number of rows.",
        ),
        (
            whole,
            "this is a line of patches: two patches, one above the other, "
            "look as far apart as the row is long.",
        ),
        (
            table(lambda r, c: [whole[r, :middle], whole[c, middle:]]),
            "each half is an encoding of its own, with fast hands and slow "
            "ones. You cut both from one of the full width.",
        ),
        (
            table(lambda r, c: [whole[r] + whole[c]]),
            "added, row and column cannot be told apart: patch (1, 2) gets "
            "what patch (2, 1) gets.",
        ),
        (
            table(lambda r, c: [torch.stack([half[r], half[c]], 1).flatten()]),
            "row and column take turns, entry by entry. Each is to have a "
            "half of its own.",
        ),
    ]


@exercise(length=(5, 6, 7, 9), heads=(8, 4, 2, 16))
def alibi_bias(answer, draw):
    given = draw.given.length, draw.given.heads
    for length, heads in (
        given,
        (draw.whole(7, 12), draw.whole(2, 6)),
        (1, 3),
    ):
        bias = answer(length, heads)
        call = f"alibi_bias({length}, {heads})"
        expect.that(
            not isinstance(bias, torch.Tensor) or bias.ndim == 4,
            "scores have four axes, and the batch is the first: "
            "(1, heads, length, length).",
        )
        expect.tensor(bias, (1, heads, length, length), what=call)
        expect.close(
            bias[0].cpu(),
            by_place(length, heads),
            f"{call} is wrong. What should head 0 take off the score of two "
            "neighbours?",
            alibi_mistakes(length, heads),
        )


def by_place(length, heads, of=None, slope=None):
    """Entry by entry: minus slope times distance."""
    of = of or (lambda m, n: -abs(m - n))
    slope = slope or (lambda h: 2 ** (-8 * (h + 1) / heads))
    return torch.tensor(
        [
            [
                [slope(h) * of(m, n) for n in range(length)]
                for m in range(length)
            ]
            for h in range(heads)
        ],
        dtype=torch.float64,
    )


def alibi_mistakes(length, heads):
    """What a penalty for distance is taken for."""
    signed = "without abs one side is rewarded: a distance is never negative."

    def table(of=None, slope=None):
        return by_place(length, heads, of, slope)

    return [
        (table(lambda m, n: m - n), signed),
        (table(lambda m, n: n - m), signed),
        (
            table(lambda m, n: abs(m - n)),
            "your bias grows with the distance. What is far away is to lose.",
        ),
        (
            table(lambda m, n: -((m - n) ** 2)),
            "the penalty grows with the distance, and yours with its square.",
        ),
        (
            table(slope=lambda h: 2.0 ** -(h + 1)),
            f"these are the slopes of eight heads, and here are {heads}.",
        ),
        (
            table(slope=lambda h: 2 ** (-8 * h / heads)),
            "head 0 has the slope 1: the formula says h + 1.",
        ),
        (
            table(slope=lambda h: 2 ** (-8 * (heads - h) / heads)),
            "the slopes stand in reverse: head 0 has the steepest.",
        ),
        (
            table(lambda m, n: -abs(m - n) if n <= m else 0),
            "keys in the future lose nothing. A distance counts on both "
            "sides; hiding the future is the mask's task.",
        ),
        (
            table(lambda m, n: -abs(m - n) if n <= m else -math.inf),
            "you hide the future as well. That is the mask's task: as a bias "
            "-inf would hide it from encoders, too.",
        ),
    ]


@exercise(heads=(3, 2, 4, 5))
def to_halves(answer, draw):
    for heads in (draw.given.heads, 1, draw.whole(2, 3)):
        width = heads * 2 * draw.whole(3, 5)
        weight = draw.normal(width, width, dtype=torch.float64)
        with expect.untouched(
            weight, hint="the weight that you were lent is overwritten."
        ):
            got = answer(weight, heads)
        expect.tensor(got, (width, width), what="the new weight")
        old, got = weight.cpu(), got.cpu()
        rows = half_order(width, heads)
        expect.close(
            got,
            old[rows],
            f"with {heads} heads of width {width // heads}, new row 1 should "
            f"be old row {rows[1]}. Follow the arrows of figure 6.8.",
            halves_mistakes(old, width, heads, rows),
        )


def half_order(width, heads):
    """Which old row each new row is, head by head."""
    d_head = width // heads
    order = []
    for first in range(0, width, d_head):
        order += range(first, first + d_head, 2)
        order += range(first + 1, first + d_head, 2)
    return order


def halves_mistakes(old, width, heads, rows):
    """Other orders of rows, and of columns."""
    d_head = width // heads
    back = torch.tensor(rows).argsort()
    evens = [row for row in rows if row % 2 == 0]
    odds = [row for row in rows if row % 2]
    turned = old.unflatten(0, (heads, 2, -1)).flip(1).flatten(0, 2)
    mistakes = [
        (
            old,
            "nothing has moved. A dot product has no order, but the other "
            "program turns other entries together.",
        ),
        (
            old[:, rows],
            "you have moved columns. nn.Linear computes x @ weight.T, so an "
            "entry of a query comes from a row.",
        ),
        (
            old[back],
            "this is the way back, from halves to neighbours.",
        ),
        (
            turned,
            "you exchange the halves of each head: no new pairs arise.",
        ),
    ]
    if heads > 1:
        mistakes.append(
            (
                old[evens + odds],
                "all even rows stand in front of all odd ones. Rows must stay "
                f"in their head, and here a head has {d_head} of them.",
            )
        )
    return mistakes
