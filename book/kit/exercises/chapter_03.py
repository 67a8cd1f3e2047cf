"""Checks of the exercises of chapter 3, scoring with einsum. Not taught."""

import math

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from kit.exercises import Wrong, exercise, expect
from kit.exercises.calls import Calls
from kit.exercises.chapter_02 import Watch


class Factors(TorchFunctionMode):
    """Count the factors of each einsum, and make its result twice as large."""

    def __init__(self):
        super().__init__()
        self.factors = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        if function is not torch.einsum:
            return out
        given = args[1] if isinstance(args[1], list | tuple) else args[1:]
        self.factors.append(len(given))
        return 2 * out


@exercise(1)
def bilinear_scores(answer, draw):
    for i, d, e, j in ((4, 6, 6, 5), (3, 5, 2, 7)):
        q, W, k = draw.normal(i, d), draw.normal(d, e), draw.normal(j, e)
        with expect.untouched(q, W, k):
            got = answer(q, W, k)
        table_of_scores(got, q, W, k)
        with Factors() as einsums:
            twice = answer(q.clone(), W.clone(), k.clone())
        expect.that(
            einsums.factors == [3] and expect.same(twice, 2 * got),
            "the numbers are right, and now write them as one torch.einsum, "
            "with all three factors in it.",
        )


def table_of_scores(got, q, W, k):
    """Each query by W by each key, computed one by one."""
    expect.tensor(got, what="the table")
    expect.that(
        got.ndim == 2,
        f"the table has two axes, and yours {got.ndim}: which letters stand "
        "on the right?",
    )
    expect.that(
        tuple(got.shape) != (len(k), len(q)),
        "queries are the rows of the table, and keys its columns.",
    )
    scores = [[(W * torch.outer(a, b)).sum() for b in k] for a in q]
    right = torch.tensor(scores)
    mistakes = [
        (
            right / q.shape[1] ** 0.5,
            "nothing is to be scaled here: the matrix can hold any factor.",
        )
    ]
    if W.shape[0] == W.shape[1]:
        mistakes += [
            (
                q @ W.T @ k.T,
                "W is transposed in yours, which only a square one allows: "
                "its first axis meets the query.",
            ),
            (
                (q * W.sum(1)) @ k.T,
                "a letter of W occurs nowhere else, so W is summed along it "
                "before it meets the key.",
            ),
            (q @ k.T, "W makes no difference in yours."),
            (
                q @ (W.diagonal()[:, None] * k.T),
                "the same letter for both axes of W takes its diagonal.",
            ),
        ]
    expect.close(got, right, "these are not the scores q W k.", mistakes, 1e-4)


@exercise(2)
def attend_heads_last(answer, draw):
    q, k, v = (draw.normal(2, 4, 3, width) for width in (5, 5, 6))
    with expect.untouched(q, k, v):
        got = answer(q, k, v)
    expect.tensor(got, what="the result")
    expect.that(
        tuple(got.shape) != (2, 3, 4, 6),
        "your heads come out in front: they stay where they were, third.",
    )
    expect.tensor(got, (2, 4, 3, 6), torch.float32, "the result")
    expect.close(
        got,
        heads_last(q, k, v),
        "the weighted means are not PyTorch's: compare a table of scores "
        "with letters for n, i, j and h, step by step.",
        wrong_heads(q, k, v),
    )
    for i, j, h, d in ((5, 7, 3, 11), (1, 4, 1, 2)):
        q, k = draw.normal(3, i, h, d), draw.normal(3, j, h, d)
        v = draw.normal(3, j, h, 2)
        expect.close(
            answer(q, k, v),
            heads_last(q, k, v),
            f"right for 4 queries and 4 keys, but not for {i} and {j}.",
        )


def heads_last(q, k, v, scale=None):
    """PyTorch's attention, its axes moved there and back."""
    moved = (x.transpose(1, 2) for x in (q, k, v))
    return scaled_dot_product_attention(*moved, scale=scale).transpose(1, 2)


def wrong_heads(q, k, v):
    """What mistakes make of 3 heads of width 5, and 4 positions."""
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(5)

    def mean(weights):
        return torch.einsum("nijh,njhe->nihe", weights, v)

    one_table = (math.sqrt(5) * scores).sum(-1, keepdim=True)
    one_table = (one_table / math.sqrt(5)).softmax(2).expand(-1, -1, -1, 3)
    return [
        (
            mean(scores.softmax(-1)),
            "the last axis of your scores are the heads: the keys compete "
            "along another.",
        ),
        (
            mean(scores.softmax(1)),
            "your queries compete for each key; it is the keys that compete "
            "for each query.",
        ),
        (heads_last(q, k, v, 1.0), "the scores are not scaled."),
        (
            heads_last(q, k, v, 1.0) / math.sqrt(5),
            "scale the scores, not the shares: yours do not add up to 1.",
        ),
        (
            heads_last(q, k, v, 1 / math.sqrt(6)),
            "the scale is the root of the width of a query, and you take "
            "that of a value.",
        ),
        (
            heads_last(q, k, v, 1 / math.sqrt(3)),
            "the scale is the root of the width, and you take that of the "
            "number of heads.",
        ),
        (
            scaled_dot_product_attention(q, k, v),
            "in yours the heads of one position attend to each other: @ "
            "takes the last two axes, and here they are heads and width.",
        ),
        (
            scaled_dot_product_attention(
                *(x.reshape(2, 3, 4, -1) for x in (q, k, v))
            ).reshape(2, 4, 3, 6),
            "reshape and view cut the numbers anew: they do not exchange "
            "axes.",
        ),
        (
            mean(one_table),
            "all your heads share one table: h is missing on the right of "
            "the scores, so the heads are added up.",
        ),
    ]


@exercise(3)
def squared_distances(answer, draw):
    a = draw.normal(11, 5, 30, dtype=torch.float64)
    b = draw.normal(11, 7, 30, dtype=torch.float64)
    with expect.untouched(a, b), Watch() as watch:
        got = answer(a, b)
    expect.tensor(got, (11, 5, 7), torch.float64, "the table")
    expect.close(
        got,
        torch.cdist(a, b).square(),
        "these are not the squared distances: what is |a - b|² multiplied "
        "out?",
        wrong_distances(a, b),
    )
    expect.that(
        not any("dist" in name for name in watch.called),
        "torch.cdist is what you are writing.",
    )
    expect.that(
        watch.largest < 11 * 5 * 7 * 30,
        f"you make a tensor of {watch.largest:,} numbers, one for each n, i, "
        "j and d.",
    )
    expect.that(
        watch.calls < 30,
        f"you call torch {watch.calls} times: einsum needs no loop.",
    )
    expect.that("einsum" in watch.called, "write it with torch.einsum.")


def wrong_distances(a, b):
    """What mistakes make of the table."""
    dot, right = a @ b.mT, torch.cdist(a, b).square()
    square = [x.square().sum(-1) for x in (a, b)]
    both = square[0][:, :, None] + square[1][:, None]
    sums = a.sum(-1)[:, :, None] - b.sum(-1)[:, None]
    return [
        (right.sqrt(), "you take the root: squares were asked for."),
        (both - dot, "the mixed term comes twice in (a - b)²."),
        (both + 2 * dot, "the mixed term of (a - b)² has a minus."),
        (
            dot,
            "a dot product is large for what is alike, a distance small.",
        ),
        (sums**2, "you add up the entries before you square them."),
        (
            both - 2 * a @ b.sum(0).T,
            "the sentences are mixed: n is one letter in both factors.",
        ),
    ]


@exercise(4, length=(1_000, 2_000, 500, 800), width=(64, 32, 128, 16))
def multiplications(answer, draw):
    given = draw.given
    cost(answer, given.length, given.width)
    cost(answer, draw.whole(2, 30), draw.whole(31, 60))
    cost(answer, 64, 64)


def cost(answer, length, width):
    """The multiplications of both orders, as PyTorch counts them."""
    q, k, v = (torch.empty(length, width, device="meta") for _ in "qkv")
    with FlopCounterMode(display=False) as first:
        (q @ k.T) @ v
    with FlopCounterMode(display=False) as second:
        q @ (k.T @ v)
    # PyTorch counts the additions as well.
    right = tuple(c.get_total_flops() // 2 for c in (first, second))
    got = answer(length, width)
    expect.that(
        isinstance(got, tuple | list) and len(got) == 2,
        "two numbers are to come back, one for each order.",
    )
    expect.close(
        tuple(got),
        right,
        f"for {length} words of width {width} the two orders take {right}, "
        f"and you say {tuple(got)}.",
        wrong_costs(length, width, *right),
    )


def wrong_costs(length, width, first, second):
    """What mistakes make of the two orders."""
    size, all_loops = length * width, 2 * length**2 * width**2
    return [
        (
            (first // 2, second // 2),
            "each order has two products, and you count one of them.",
        ),
        (
            (2 * first, 2 * second),
            "only multiplications are asked for, and you count the "
            "additions, too.",
        ),
        ((second, first), "the two orders are exchanged."),
        (
            (first, first),
            "both orders cost the same in yours: K transposed times V is a "
            "table of another size.",
        ),
        (
            (first, 2 * size),
            "the columns of V have the letter of the width of K in yours, so "
            "that K transposed times V is no table.",
        ),
        (
            (length**2 + size, width**2 + size),
            "these are the sizes of the results: each number in them takes a "
            "whole sum.",
        ),
        (
            (all_loops, all_loops),
            "one equation with three factors runs all loops at once: "
            "multiply two of them first.",
        ),
    ]


@exercise(5)
def soft_look_up(answer, draw):
    for rows in (6, 50, 400):
        ids = torch.tensor([3, 0, 3, 5])
        ids = ids.to(draw.normal(1).device)
        shares_of_rows(answer, ids, rows)
    table = draw.normal(8, 3, dtype=torch.float64).requires_grad_()
    got = answer(ids, table)
    expect.close(
        got,
        table[ids],
        "right for a table of 0 and 1, but not for other numbers: the keys "
        "may not depend on what the rows hold.",
        tolerance=5e-5,
    )
    hint = "no gradient reaches the table: .data and .detach() cut it off."
    expect.that(got.requires_grad, hint)
    got.sum().backward()
    expect.that(table.grad > 0, hint)


def shares_of_rows(answer, ids, rows):
    """The rows of the table are one-hot: the answer shows their shares."""
    table = torch.eye(rows, dtype=torch.float64, device=ids.device)
    with Calls("plain_attention") as calls:
        got = answer(ids, table)
    expect.tensor(got, (4, rows), torch.float64)
    for id, found in zip(ids.tolist(), got.argmax(1).tolist(), strict=True):
        expect.that(
            found == id,
            f"id {id} finds row {found}: a key is to have the dot product 0 "
            "with the query of every other row.",
        )
    if (got == 0).any():
        raise Wrong(
            "the queries are so long that other shares are exactly 0, and "
            "their gradients as well: how far may a score lie below the best?"
            if calls.made
            else "rows that are not asked for have no share at all, so they "
            "get no gradient: let plain_attention mix them in."
        )
    share = got.gather(1, ids[:, None]).min().item()
    expect.that(
        share > 1 - 5e-5,
        f"of {rows} rows the one that is asked for gets only the share "
        f"{share:.4f}: after the division by √{rows} the query is too short.",
    )
    expect.that(
        calls.made,
        "the numbers are right; now let plain_attention do the mixing.",
    )


@exercise(6, width=(0.4, 0.5, 0.3, 0.6))
def smooth(answer, draw):
    t_known = draw.uniform(7, dtype=torch.float64) * 3
    y_known = draw.normal(7, dtype=torch.float64)
    t = draw.uniform(4, dtype=torch.float64) * 3
    for width in (draw.given.width, 1.5):
        attends = Calls("plain_attention")
        with expect.untouched(t, t_known, y_known), attends:
            got = answer(t, t_known, y_known, width)
        expect.tensor(got, what="the curve")
        expect.that(
            got.ndim == 1,
            f"your answer has the shape {tuple(got.shape)}: one number for "
            "each new place was asked for.",
        )
        expect.tensor(got, (4,), torch.float64, "the curve")
        expect.close(
            got,
            by_hand(t, t_known, y_known, width),
            f"with a width of {width} these are not the weighted means.",
            wrong_curves(t, t_known, y_known, width),
        )
    expect.that(
        attends.made,
        "the numbers are right; now let plain_attention do the work.",
    )


def by_hand(t, t_known, y_known, width):
    """The formula, place by place."""
    curve = []
    for place in t.tolist():
        weights = [
            math.exp(-((place - known) ** 2) / (2 * width**2))
            for known in t_known.tolist()
        ]
        pairs = zip(weights, y_known.tolist(), strict=True)
        curve.append(sum(w * y for w, y in pairs) / sum(weights))
    return torch.tensor(curve, dtype=t.dtype)


def wrong_curves(t, t_known, y_known, width):
    """What mistakes make of the curve, each with its hint."""
    apart = t[:, None] - t_known
    scores = -apart.square() / (2 * width**2)
    product = t[:, None] * t_known

    def mean(scores):
        return scores.softmax(1) @ y_known

    return [
        (
            mean(scores / math.sqrt(2)),
            "plain_attention divides by the root of the keys' width, and you "
            "have not made up for it.",
        ),
        (
            mean(product / width**2),
            "your score is the product of the places: one of the two terms "
            "that are left is missing.",
        ),
        (mean(scores * width), "the width is not squared."),
        (
            mean((product - t_known**2) / width**2),
            "one half is forgotten: the mixed term comes twice, and the "
            "square once.",
        ),
        (mean(-scores), "in yours the places far away count most."),
        (
            mean((product + t_known**2 / 2) / width**2),
            "one of the two terms that are left has the wrong sign.",
        ),
        (
            y_known[apart.abs().argmin(1)],
            "only the nearest point answers in yours, as if the width were 0.",
        ),
        (
            mean(-apart.abs() / (2 * width**2)),
            "you take the distance, and not its square.",
        ),
    ]
