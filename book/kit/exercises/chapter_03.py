"""Checks of the exercises of chapter 3, attention. Not taught."""

import math

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from kit.exercises import expect
from kit.exercises.calls import Watch
from kit.exercises.contract import (
    asks,
    between,
    by_oneself,
    floats,
    ids,
    uses,
    whole,
)


class Factors(TorchFunctionMode):
    """Counts the factors of each einsum."""

    def __init__(self):
        super().__init__()
        self.factors = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.einsum:
            given = args[1] if isinstance(args[1], list | tuple) else args[1:]
            self.factors.append(len(given))
        return function(*args, **(kwargs or {}))


def asked_by(facts, partner):
    """The table of the partners, with the arrows backwards."""
    return facts[partner].mT @ facts


@asks(
    {"facts": floats("words facts"), "partner": ids("words", "words")},
    "these are not the sums, over all arrows, of a fact of the word that "
    "asks times a fact of its partner.",
    {
        "the rows of the matrix are for the facts of the word that asks, and "
        "in yours for those of its partner.": asked_by,
        "the arrows are added up, and you take their mean.": (
            lambda facts, partner: facts.mT @ facts[partner] / len(partner)
        ),
        "no partner occurs in yours: each word is its own.": (
            lambda facts, partner: facts.mT @ facts
        ),
        "only the last arrow is left in yours: each one is to be added.": (
            lambda facts, partner: facts[-1].outer(facts[partner[-1]])
        ),
        "your table has a row for each word; it is to have one for each "
        "fact.": lambda facts, partner: facts @ facts[partner].mT,
        "a letter is missing on the right: sum over the arrows alone.": (
            lambda facts, partner: (facts * facts[partner]).sum(0).diag()
        ),
    },
)
def rules_from(facts, partner):
    return sum(facts[i].outer(facts[int(j)]) for i, j in enumerate(partner))


def three_factors(answer, q, W, k):
    with Factors() as einsums:
        answer(q, W, k)
    is_one = einsums.factors == [3]
    return "" if is_one else "Can one torch.einsum have all three factors?"


@asks(
    {"q": floats("i d"), "W": floats("d e"), "k": floats("j e")},
    "these are not the scores q W k.",
    {
        "queries are the rows of the table, and keys its columns.": (
            lambda q, W, k: (q @ W @ k.mT).mT
        ),
        "nothing is to be scaled here: the matrix can hold any factor.": (
            lambda q, W, k: q @ W @ k.mT / q.shape[1] ** 0.5
        ),
        "W is transposed in yours, which only a square one allows: its first "
        "axis meets the query.": lambda q, W, k: q @ W.mT @ k.mT,
        "a letter of W occurs nowhere else, so W is summed along it before it "
        "meets the key.": lambda q, W, k: q * W.sum(1) @ k.mT,
        "W makes no difference in yours.": lambda q, W, k: q @ k.mT,
        "the same letter for both axes of W takes its diagonal.": (
            lambda q, W, k: q * W.diagonal() @ k.mT
        ),
    },
    ways=(three_factors,),
)
def bilinear_scores(q, W, k):
    return q @ W @ k.mT


def heads_last(q, k, v, scale=None):
    """PyTorch's attention, its axes moved there and back."""
    moved = (x.transpose(1, 2) for x in (q, k, v))
    return scaled_dot_product_attention(*moved, scale=scale).transpose(1, 2)


def mean_over(axis):
    """The weighted mean if this axis of the scores competes."""

    def mean(q, k, v):
        scores = torch.einsum("nihd,njhd->nijh", q, k) / q.shape[-1] ** 0.5
        return torch.einsum("nijh,njhe->nihe", scores.softmax(axis), v)

    return mean


def one_table(q, k, v):
    scores = torch.einsum("nihd,njhd->nij", q, k) / q.shape[-1] ** 0.5
    return torch.einsum("nij,njhe->nihe", scores.softmax(-1), v)


def reshaped(q, k, v):
    (n, i, h, _), e = q.shape, v.shape[-1]
    heads = (x.reshape(n, h, x.shape[1], -1) for x in (q, k, v))
    return scaled_dot_product_attention(*heads).reshape(n, i, h, e)


@asks(
    {
        "q": floats("n i h d"),
        "k": floats("n j h d"),
        "v": floats("n j h e"),
    },
    "the weighted means are not PyTorch's: compare a table of scores with "
    "letters for n, i, j and h, step by step.",
    {
        "the last axis of your scores are the heads: the keys compete along "
        "another.": mean_over(-1),
        "your queries compete for each key; it is the keys that compete for "
        "each query.": mean_over(1),
        "the scores are not scaled.": (
            lambda q, k, v: heads_last(q, k, v, 1.0)
        ),
        "the scale is the root of the width of a query, and you take that of "
        "a value.": lambda q, k, v: heads_last(q, k, v, v.shape[-1] ** -0.5),
        "in yours the heads of one position attend to each other: @ takes "
        "the last two axes, and here they are heads and width.": (
            scaled_dot_product_attention
        ),
        "reshape and view cut the numbers anew: they do not exchange axes.": (
            reshaped
        ),
        "all your heads share one table: h is missing on the right of the "
        "scores, so the heads are added up.": one_table,
    },
)
def attend_heads_last(q, k, v):
    return heads_last(q, k, v)


def squares(x):
    return x.square().sum(-1)


def both(a, b):
    """The sum of |a|² and |b|², for every pair."""
    return squares(a)[:, :, None] + squares(b)[:, None]


def nothing_large(answer, a, b):
    """Neither a loop nor a number for each n, i, j and d."""
    with Watch() as watch:
        answer(a, b)
    expect.that(
        watch.largest < a.numel() * b.shape[1] or a.shape[2] == 1,
        f"you make a tensor of {watch.largest:,} numbers, one for each n, i, "
        "j and d.",
    )
    expect.that(
        watch.calls < 30,
        f"you call torch {watch.calls} times: einsum needs no loop.",
    )


@asks(
    {"a": floats("n i d"), "b": floats("n j d")},
    "these are not the squared distances: what is |a - b|² multiplied out?",
    {
        "you take the root: squares were asked for.": torch.cdist,
        "the mixed term comes twice in (a - b)².": (
            lambda a, b: both(a, b) - a @ b.mT
        ),
        "a dot product is large for what is alike, a distance small.": (
            lambda a, b: a @ b.mT
        ),
        "the sentences are mixed: n is one letter in both factors.": (
            lambda a, b: both(a, b) - 2 * a @ b.sum(0).T
        ),
    },
    sizes={"n": (8, 11), "i": (5, 6), "j": (6, 7), "d": (20, 30)},
    also=(nothing_large,),
    ways=(
        by_oneself("cdist"),
        uses("einsum", "Can you write it with torch.einsum?"),
    ),
)
def squared_distances(a, b):
    return both(a, b) - 2 * a @ b.mT


@asks(
    {
        "length": whole(2, 30, given="length"),
        "width": whole(31, 60, given="width"),
    },
    "how many numbers does each product have, and how many terms has each?",
    {
        "each order has two products, and you count one of them.": (
            lambda length, width: (length**2 * width, length * width**2)
        ),
        "only multiplications are asked for, and you count the additions, "
        "too.": lambda length, width: (
            4 * length**2 * width,
            4 * length * width**2,
        ),
        "the two orders are exchanged.": lambda length, width: (
            2 * length * width**2,
            2 * length**2 * width,
        ),
        "both orders cost the same in yours: K transposed times V is a table "
        "of another size.": lambda length, width: (2 * length**2 * width,) * 2,
        "the columns of V have the letter of the width of K in yours, so "
        "that K transposed times V is no table.": lambda length, width: (
            2 * length**2 * width,
            2 * length * width,
        ),
        "these are the sizes of the results: each number in them takes a "
        "whole sum.": lambda length, width: (
            length**2 + length * width,
            width**2 + length * width,
        ),
        "one equation with three factors runs all loops at once: multiply "
        "two of them first.": lambda length, width: (
            (2 * length**2 * width**2,) * 2
        ),
    },
    length=(1_000, 2_000, 500, 800),
    width=(64, 32, 128, 16),
)
def multiplications(length, width):
    """As PyTorch counts them; it counts the additions as well."""
    q, k, v = (torch.empty(length, width, device="meta") for _ in "qkv")
    with FlopCounterMode(display=False) as first:
        (q @ k.T) @ v
    with FlopCounterMode(display=False) as second:
        q @ (k.T @ v)
    return tuple(c.get_total_flops() // 2 for c in (first, second))


def every_row_learns(answer, ids, table):
    table = table.double().requires_grad_()
    got = answer(ids, table)
    hint = "no gradient reaches the table: .data and .detach() cut it off."
    expect.that(got.requires_grad, hint)
    got.sum().backward()
    expect.that(table.grad.any(), hint)
    expect.that(
        table.grad > 0,
        "rows that are not asked for get no gradient: let plain_attention "
        "mix them in, with queries so short that no share is exactly 0.",
    )


@asks(
    {"ids": ids("n", "rows"), "table": floats("rows d")},
    "each id is to find its own row, and for up to 400 rows nearly alone: a "
    "key has the dot product 0 with the query of every other row, and the "
    "division by the root of their width makes the query shorter.",
    sizes={"rows": (10, 60, lambda given: 400)},
    leaves_out=("large",),
    within=5e-5,
    also=(every_row_learns,),
    ways=(uses("plain_attention", "Can plain_attention do the mixing?"),),
)
def soft_look_up(ids, table):
    return table[ids]


def weighted(scores):
    """The curve, if `scores` are the places' scores."""
    return lambda t, t_known, y_known, width: (
        scores(t[:, None], t_known, width).softmax(1) @ y_known
    )


@asks(
    {
        "t": floats("n"),
        "t_known": floats("m"),
        "y_known": floats("m"),
        "width": between(0.3, 1.5, given="width"),
    },
    "these are not the weighted means.",
    {
        "plain_attention divides by the root of the keys' width, and you "
        "have not made up for it.": weighted(
            lambda t, s, w: (t * s - s**2 / 2) / w**2 / math.sqrt(2)
        ),
        "your score is the product of the places: one of the two terms that "
        "are left is missing.": weighted(lambda t, s, w: t * s / w**2),
        "the width is not squared.": weighted(
            lambda t, s, w: (t * s - s**2 / 2) / w
        ),
        "in yours the places far away count most.": weighted(
            lambda t, s, w: (t - s) ** 2 / 2 / w**2
        ),
        "one of the two terms that are left has the wrong sign.": weighted(
            lambda t, s, w: (t * s + s**2 / 2) / w**2
        ),
        "only the nearest point answers in yours, as if the width were 0.": (
            weighted(lambda t, s, w: -1e9 * (t - s) ** 2)
        ),
    },
    sizes={"m": (7, 9)},
    leaves_out=("large",),
    width=(0.4, 0.5, 0.3, 0.6),
    ways=(uses("plain_attention", "Can plain_attention do the work?"),),
)
def smooth(t, t_known, y_known, width):
    return weighted(lambda t, s, w: -((t - s) ** 2) / 2 / w**2)(
        t, t_known, y_known, width
    )
