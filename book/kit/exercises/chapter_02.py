"""Checks of the exercises of chapter 2, scores and softmax. Not taught."""

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import normalize
from torch.utils._python_dispatch import TorchDispatchMode

from kit.exercises import expect
from kit.exercises.calls import Watch
from kit.exercises.chapter_01 import AUTOGRAD
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    hunts,
    made,
    uses,
    whole,
)


def softmax(x):
    return x.softmax(-1)


def shares(exp):
    """Positive numbers over their sum."""
    return exp / exp.sum(-1, keepdim=True)


def near_and_far(answer, query, keys):
    """Shares of scores near 0, far above it and, reversed, far below it.

    Those of scores of thousands are known to fewer digits: they count less.
    """
    above, below = 1e3 * keys + 5e3 * query, 1e3 * keys - 5e3 * query
    shares = [answer(query, k) for k in (keys, above, below.flip(0))]
    for one in shares:
        expect.tensor(one)
    return [shares[0], 1e-3 * shares[1], 1e-3 * shares[2]]


def of_scores(make, power=0.5):
    """What is made of the scores, divided by a power of the width."""
    return lambda q, keys: make(keys @ q / len(q) ** power)


@asks(
    {"query": floats("d"), "keys": floats("n d")},
    "these are not the shares: scores, divided by the root of the width, "
    "exponentials, divided by their sum.",
    {
        "the scores are not scaled.": of_scores(softmax, 0),
        "you divide by the width, and not by its root.": of_scores(softmax, 1),
        "the root is that of the width, and you take that of the number of "
        "keys.": lambda q, keys: softmax(keys @ q / len(keys) ** 0.5),
        "scale the scores, not the shares: yours do not add up to 1.": (
            lambda q, keys: softmax(keys @ q) / len(q) ** 0.5
        ),
        "without the exponential some shares are negative.": of_scores(shares),
        "you divide by the length of this query: the factor is the root of "
        "the width, the same for all queries.": (
            lambda q, keys: softmax(keys @ normalize(q, dim=0))
        ),
        "large scores give NaN: which constant may you subtract, so that no "
        "exponential is too large?": of_scores(lambda s: shares(s.exp())),
        "scores far below 0 give NaN, because all their exponentials are 0: "
        "which constant may you subtract?": of_scores(
            lambda s: shares((s - s.max().clamp(min=0)).exp())
        ),
    },
    sizes={"d": (9, 16)},
    leaves_out=("large",),  # its numbers are in near_and_far
    calls=near_and_far,
    ways=(by_oneself("softmax", "log_softmax", "Softmax", "softmin"),),
)
def scaled_shares(query, keys):
    return softmax(keys @ query / keys.shape[1] ** 0.5)


def by_loops(x):
    """Row by row, with Python's own numbers."""
    rows = []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        exp = [math.exp(score - max(row)) for score in row]
        rows += [e / sum(exp) for e in exp]
    return torch.tensor(rows, dtype=x.dtype, device=x.device).view_as(x)


RIGHT = {
    "is PyTorch's own": softmax,
    "goes through rows by loops": by_loops,
    "goes by logarithms": lambda x: x.log_softmax(-1).exp(),
    "gives 0 where all scores are -inf": lambda x: softmax(x).nan_to_num(),
    "computes with twice the digits": lambda x: x.double().softmax(-1).to(x),
}


def shifted(x):
    """Scores of which the largest is 0."""
    return x - x.amax(-1, keepdim=True)


def in_place(x):
    """Right, and the scores are gone."""
    x -= x.amax(-1, keepdim=True)
    return softmax(x)


WRONG = {
    "counts in powers of 2 instead of e": lambda x: shares(shifted(x).exp2()),
    "lets the entries of the first axis compete": lambda x: x.softmax(0),
    "lets the entries of axis 1 compete, which is right for a table": (
        lambda x: x.softmax(min(1, x.ndim - 1))
    ),
    "shares out one whole among all rows": (
        lambda x: x.flatten().softmax(0).view_as(x)
    ),
    "returns the logarithms of the shares": lambda x: x.log_softmax(-1),
    "gives all to the largest score": lambda x: softmax(1e6 * shifted(x)),
    "divides the scores by the root of their number": (
        lambda x: softmax(x / x.shape[-1] ** 0.5)
    ),
    "adds a hundredth to the sum, for safety": (
        lambda x: 1 / (1 / softmax(x) + 0.01 / shifted(x).exp())
    ),
    "types the formula in, and overflows": lambda x: shares(x.exp()),
    "takes a score of -inf for 0": (
        lambda x: softmax(x.nan_to_num(neginf=0.0))
    ),
    "subtracts one largest score from all rows, so that a row far below it "
    "becomes NaN": lambda x: shares((x - x.max()).exp()),
    "changes the scores that it is given": in_place,
    "returns float32 when float64 came in": lambda x: softmax(x.float()),
    "returns float64 when float32 came in": lambda x: softmax(x.double()),
    "stops with an error if there is one axis only": (
        lambda x: softmax(x.flatten(0, -2)).view_as(x)
    ),
}


def raises_an_error(answer):
    expect.refusal(
        "it accepts a function that returns the scores themselves: a check "
        "raises an error when something is wrong, as assert does.",
        lambda: answer(lambda x: x),
        Exception,
    )


@hunts(raises_an_error)
def finds_wrong_softmax(draw):
    """In any order: nobody may count."""
    return [dict(draw.shuffled(some.items())) for some in (RIGHT, WRONG)]


class Work(TorchDispatchMode):
    """Counts the numbers that torch computes, also within its functions."""

    done = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        self.done += out.numel() if isinstance(out, Tensor) else 0
        return out


def builds_no_matrix(answer, p, g):
    p, g = p[0, 0, 0], g[0, 0, 0]
    with Work() as work:
        answer(p, g)
    expect.that(
        work.done < len(p) ** 2 / 2,
        f"for {len(p)} shares you compute {work.done:,} numbers: the "
        "matrix must not be built.",
    )


def for_all_axes(answer, p, g):
    """Of four axes, three, two, and one."""
    fewer = [[x, x[0], x[:, 0, 0], x[0, 0, 0]] for x in (p, g)]
    return [answer(*pair) for pair in zip(*fewer, strict=True)]


def total(p, g):
    return (p * g).sum(-1, keepdim=True)


def some_shares(draw, case):
    """Of ordinary scores, or each would be 0 or 1 and nothing to send."""
    scores = floats("a b c n").drawn(draw, replace(case, times=1.0))
    return softmax(scores)


@asks(
    {
        "p": made(some_shares, "a b c n", is_floating=True),
        "g": floats("a b c n"),
    },
    "this is not what autograd sends back.",
    {
        "beside its diagonal J has entries too: a share also moves when "
        "another score does.": lambda p, g: p * (1 - p) * g,
        "what a share wins, the others lose: a term is missing.": torch.mul,
        "each row has a sum of its own, and you add up all rows.": (
            lambda p, g: p * (g - (p * g).sum())
        ),
        "the mean to take off is weighted with the shares.": (
            lambda p, g: p * (g - g.mean(-1, keepdim=True))
        ),
        "one of the two terms has the wrong sign.": (
            lambda p, g: p * (g + total(p, g))
        ),
        "the sum is multiplied by the share as well.": (
            lambda p, g: p * g - total(p, g)
        ),
        "p - y is for a softmax under cross-entropy; here any gradient g "
        "arrives.": torch.sub,
        "right for a table, but there may be fewer axes or more: the shares "
        "of one softmax always lie along the last one.": (
            lambda p, g: p * (g - (p * g).sum(1, keepdim=True))
        ),
    },
    sizes={"n": (2, 60, lambda given: 120)},
    calls=for_all_axes,
    also=(builds_no_matrix,),
    ways=(by_oneself(*AUTOGRAD),),
)
def softmax_backward(p, g):
    scores = p.log().requires_grad_()
    return torch.autograd.grad(scores.softmax(-1), scores, g)[0]


def a_season(answer, mine, theirs, *rule):
    """Who is ahead, who is behind, and who is neither.

    An answer knows the rule of its league; what stands here is told it.
    """
    rule = rule if getattr(answer, "__module__", "") == __name__ else ()
    pairs = (mine, theirs), (theirs, mine), (mine, mine)
    return [answer(*pair, *rule) for pair in pairs]


def softmax_works(answer, mine, theirs, *rule):
    way = uses("softmax", "The numbers are right; can softmax do the work?")
    return way(answer, mine + 1, theirs)  # which nobody knows by heart


def chance(lead):
    """The larger share, by the lead in powers of e."""
    return lambda mine, theirs, points, odds: (
        1 / (1 + math.exp(-lead((mine - theirs) / points, odds)))
    )


@asks(
    {
        "mine": whole(1600, 1900),
        "theirs": whole(1200, 1500),
        "points": made(lambda draw, case: draw.given.points),
        "odds": made(lambda draw, case: draw.given.odds),
    },
    "how many times as likely as a loss is a win in yours, for a lead of 0, "
    "of the points in the rule, and of twice as many?",
    {
        "a lead of one temperature makes the win e times as likely: the "
        "rule has another factor.": chance(lambda x, odds: x),
        "the logarithm stands on the wrong side: the larger the factor, the "
        "lower the temperature.": chance(lambda x, odds: x / math.log(odds)),
        "softmax counts in powers of e, and you in powers of 2.": chance(
            lambda x, odds: x * math.log2(odds)
        ),
        "a factor between two shares is no lead: which power of e is it?": (
            chance(lambda x, odds: x * odds)
        ),
        "these are the odds; a probability is at most 1.": (
            lambda mine, theirs, points, odds: (
                odds ** ((mine - theirs) / points)
            )
        ),
        "that is the share of the other player.": chance(
            lambda x, odds: -x * math.log(odds)
        ),
        "you give each player a share of the points, but only the lead "
        "counts.": lambda mine, theirs, *rule: mine / (mine + theirs),
    },
    within=1e-5,  # ratings of four digits in float32
    calls=a_season,
    ways=(softmax_works,),
    points=(400, 200, 300, 500),
    odds=(10, 3, 5, 4),
)
def win_probability(mine, theirs, points, odds):
    return 1 / (1 + odds ** ((theirs - mine) / points))


def stream(scores, values, size):
    """Blocks in one piece of memory: each overwrites the one before."""
    room = scores[:size].clone(), values[:size].clone()
    for s, v in zip(scores.split(size), values.split(size), strict=True):
        yield room[0][: len(s)].copy_(s), room[1][: len(v)].copy_(v)


def in_blocks(answer, scores, values):
    sizes = 4, 1, len(scores)
    return [answer(stream(scores, values, size)) for size in sizes]


def hidden(scores, *places):
    places = torch.tensor(places, device=scores.device)
    return scores.index_fill(0, places, -math.inf)


def rising(scores):
    """Near 5,000 in the first block, and then near 6,000."""
    return scores + 5000 + 1000 * (torch.arange(len(scores)) >= 4).to(scores)


SITUATIONS: dict[str, Callable] = {
    "scores near 5,000 and then near 6,000 have another mean in yours, but "
    "only differences count: subtract the largest score so far.": rising,
    "however low all scores are, one is the largest, and -inf is lower "
    "still: with which one do you begin?": (
        lambda scores: hidden(-1e30 * (1 + scores.abs()), 2, 6)
    ),
    "a score of -inf counts nothing, and a block of nothing else changes "
    "nothing, also the first one: what is -inf minus -inf?": (
        lambda scores: hidden(scores, *range(4), 6, *range(8, 12))
    ),
}


def right_everywhere(answer, scores, values):
    for hint, change in SITUATIONS.items():
        changed = change(scores)
        with expect.stops(hint):
            got = answer(stream(changed, values, 4))
        # near 5,000 a logarithm of float32 is known to a thousandth
        expect.close(got, changed.softmax(0) @ values, hint, tolerance=1e-2)


def memory(answer, blocks):
    """By how many bytes more is held between the tenth block and the last."""
    held = {}

    def noted():
        for number, block in enumerate(blocks):
            held[number > 10] = tracemalloc.get_traced_memory()[0]
            yield block

    tracemalloc.start()
    try:
        answer(noted())
    finally:
        tracemalloc.stop()
    return held[True] - held[False]


def keeps_three_things(answer, scores, values):
    scores, values = scores.repeat(12), values.repeat(12, 1)
    with Watch() as watch:
        answer(stream(scores, values, 1))
    # The least of three: other threads of a notebook ask for memory as well.
    held = min(memory(answer, stream(scores, values, 1)) for _ in range(3))
    expect.that(
        held < 12 * len(scores) and watch.largest < len(scores),
        "what you keep grows with the number of blocks: keep three things, "
        "and let each block go.",
    )


def corrected(of_total, of_values):
    """The mean with corrections raised to powers: 0 leaves them out."""

    def mean(blocks):
        largest, total, weighted = -math.inf, 0.0, 0.0
        for scores, values in blocks:
            new = max(largest, scores.max().item())
            change, exp = math.exp(largest - new), (scores - new).exp()
            total = total * change**of_total + exp.sum()
            weighted = weighted * change**of_values + exp @ values
            largest = new
        return weighted / total

    return mean


def joined(blocks):
    scores, values = zip(*blocks, strict=True)
    return torch.cat(scores).softmax(0) @ torch.cat(values)


def means(blocks):
    return torch.stack([softmax(scores) @ values for scores, values in blocks])


@asks(
    {"scores": floats("m"), "values": floats("m width")},
    "for a few blocks of ordinary scores this is not the mean.",
    {
        "when a larger score arrives, what was summed before it is too "
        "large, and you leave it so.": corrected(0, 0),
        "you correct the sum of the exponentials, and forget that of the "
        "values.": corrected(1, 0),
        "you take the mean of the blocks' means, but a block with higher "
        "scores counts more.": lambda blocks: means(blocks).mean(0),
        "only the last block counts in yours.": lambda b: means(b)[-1],
        "each block overwrites the one before: what you need of it must be "
        "computed before you ask for the next.": joined,
    },
    sizes={"m": (12, 16)},
    leaves_out=("large",),  # right_everywhere has larger ones
    calls=in_blocks,
    also=(right_everywhere, keeps_three_things),
)
def streamed_mean(blocks):
    return joined([[x.clone() for x in block] for block in blocks])


def long_or_short(draw, case):
    direction = floats("d").drawn(draw, case)
    return direction / 300 if case.pads == "in front" else direction


@asks(
    {
        "keys": floats("n d"),
        "direction": made(long_or_short, "d", is_floating=True),
    },
    "a key still has a score with the direction, or more is gone than its "
    "shadow.",
    {
        "nothing is left of the keys: only their part along the direction "
        "is to go.": lambda keys, line: 0 * keys,
        "each key has a shadow of its own, and you take the same off all.": (
            torch.sub
        ),
        "a direction that is twice as long gives four times as much in "
        "yours, but the shadow on its line stays the same.": (
            lambda keys, line: keys - torch.outer(keys @ line, line)
        ),
        "the length of the direction stands in your product twice, in the "
        "score and in the vector, and you divide by it once.": (
            lambda keys, line: (
                keys - torch.outer(keys @ line, normalize(line, dim=0))
            )
        ),
        "you return the shadows: what is left without them?": (
            lambda keys, line: keys - without_line(keys, line)
        ),
        "you shorten each key along its own line, and not along the "
        "direction.": lambda keys, line: keys.addcmul(
            keys, (keys @ line / keys.square().sum(1))[:, None], value=-1
        ),
        "the scores are 0, but the rest of each vector must stay as it was: "
        "yours is longer.": lambda keys, line: (
            normalize(without_line(keys, line)) * keys.norm(dim=1)[:, None]
        ),
    },
    sizes={"d": (2, 9)},
    direction=((3, 0), (0, 2), (-4, 0), (0, -3)),
)
def without(keys, direction):
    return without_line(keys, direction)


def without_line(keys, direction):
    unit = normalize(direction, dim=0)
    return keys @ (torch.eye(len(unit)).to(unit) - torch.outer(unit, unit))
