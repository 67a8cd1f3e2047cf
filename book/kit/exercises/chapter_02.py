"""Checks of the exercises of chapter 2, scores and softmax. Not taught."""

import math
import tracemalloc

import torch

from kit.exercises import exercise, expect
from kit.exercises.calls import Calls, Watch
from kit.exercises.chapter_01 import AUTOGRAD


@exercise()
@expect.own_work("softmax", "naive_softmax", "Softmax", "softmin")
def scaled_shares(answer, draw):
    keys, query = draw.normal(5, 9), 2 * draw.normal(9)
    with expect.untouched(query, keys), Watch() as watch:
        got = answer(query, keys)
    ready = [name for name in watch.called if "soft" in name or "dot_" in name]
    expect.that(not ready, f"write it without {' and '.join(ready)}.")
    expect.tensor(got, (5,), torch.float32, "the shares")
    expect.close(
        got,
        torch.softmax(keys @ query / 3, 0),
        "these are not the shares: scores, divided by the root of the width, "
        "exponentials, divided by their sum.",
        wrong_shares(query, keys),
    )
    keys[3] = query
    keys[2] = query * (1 - 3 / (100 * query @ query))  # one point less
    large = answer(100 * query, keys)
    expect.that(
        large.isfinite(),
        "a query that is 100 times as long gives NaN: which constant may you "
        "subtract, so that no exponential is too large?",
    )
    expect.close(
        large,
        torch.softmax(keys @ (100 * query) / 3, 0),
        "right for small scores, but not if the query is 100 times as long.",
        tolerance=1e-2,
    )
    # Near -12,000 a number of float32 is known to a thousandth: nine products,
    # added up in another order, move a share by less than a hundredth.
    expect.close(
        answer(query, -1000 * query.expand(3, -1)),
        torch.full((3,), 1 / 3),
        "three equal scores far below 0 must give three equal shares.",
        tolerance=1e-2,
    )


def wrong_shares(query, keys):
    """What mistakes make of 5 keys of width 9."""
    scores = keys @ query
    return [
        (torch.softmax(scores, 0), "the scores are not scaled."),
        (
            torch.softmax(scores / 9, 0),
            "you divide by the width, 9, and not by its root.",
        ),
        (
            torch.softmax(scores / math.sqrt(5), 0),
            "there are 5 keys of width 9: the root is that of the width.",
        ),
        (
            torch.softmax(scores, 0) / 3,
            "scale the scores, not the shares: yours add up to 1/3.",
        ),
        (
            scores / scores.sum(),
            "without the exponential some shares are negative.",
        ),
        (
            (scores / 3).exp(),
            "divide by the sum, so that the shares add up to 1.",
        ),
        (
            torch.softmax(scores / keys.norm(dim=1) / query.norm(), 0),
            "a cosine takes the lengths out, but here they count; only the "
            "width is to be made up for.",
        ),
        (
            torch.softmax(scores / query.norm(), 0),
            "you divide by the length of this query: the factor is the root "
            "of the width, the same for all queries.",
        ),
    ]


@exercise()
def finds_wrong_softmax(answer, draw):
    expect.kills_mutants(answer, RIGHT, {})
    expect.refusal(
        "it accepts a function that returns the scores themselves: a check "
        "raises an error when something is wrong, as assert does.",
        lambda: answer(lambda x: x),
        Exception,
    )
    expect.kills_mutants(answer, RIGHT, WRONG)


def by_loops(x):
    """Row by row, with Python's own numbers."""
    shares = []
    for row in x.reshape(-1, x.shape[-1]).tolist():
        exp = [math.exp(score - max(row)) for score in row]
        shares += [e / sum(exp) for e in exp]
    return torch.tensor(shares, dtype=x.dtype, device=x.device).view_as(x)


def by_logarithms(x):
    """The exponential of the logarithm of a share."""
    x = shifted(x)
    return (x - x.logsumexp(-1, keepdim=True)).exp()


def by_einsum(x, temperature=1.0):
    """With letters for axes, and a temperature that nobody asked for."""
    exp = ((x - x.amax(-1, keepdim=True)) / temperature).exp()
    return torch.einsum("...i,...->...i", exp, 1 / exp.sum(-1))


def in_pieces(x):
    """One score after another, as a fast kernel reads them."""
    largest = torch.full_like(x[..., :1], -math.inf)
    total = torch.zeros_like(largest)
    for score in x.split(1, dim=-1):
        new = torch.maximum(largest, score)
        known = new > -math.inf  # else nothing has counted yet
        change = torch.where(known, largest - new, 0.0).exp()
        more = torch.where(known, score - new, -math.inf).exp()
        largest, total = new, change * total + more
    return (x - largest).exp() / total


def with_more_digits(x, dim=-1, dtype=torch.float64):
    """Computed with more digits than it gives back."""
    return torch.softmax(x.to(dtype), dim).to(x.dtype)


RIGHT = {
    "is PyTorch's own": lambda x: torch.softmax(x, -1),
    "goes through rows by loops": by_loops,
    "goes by logarithms": by_logarithms,
    "is written with einsum": by_einsum,
    "reads the scores one by one": in_pieces,
    "computes with twice the digits": with_more_digits,
}


def shares(exp, dim=-1):
    """Positive numbers over their sum."""
    return exp / exp.sum(dim, keepdim=True)


def shifted(x):
    """Scores of which the largest is 0."""
    return x - x.amax(-1, keepdim=True)


def in_place(x):
    """Right, and the scores are gone."""
    x -= x.amax(-1, keepdim=True)
    return shares(x.exp())


WRONG = {
    "gives equal shares to all": lambda x: shares(torch.ones_like(x)),
    "squares the scores instead of taking exponentials": lambda x: shares(
        x.masked_fill(x.isinf(), 0.0).square() + 1e-9
    ),
    "counts in powers of 2 instead of e": lambda x: shares(shifted(x).exp2()),
    "lets the entries of the first axis compete": lambda x: torch.softmax(
        x, 0
    ),
    "shares out one whole among all rows": lambda x: torch.softmax(
        x.flatten(), 0
    ).view_as(x),
    "returns the logarithms of the shares": lambda x: x.log_softmax(-1),
    "gives everything to the largest score": lambda x: torch.softmax(
        1e6 * shifted(x), -1
    ),
    "divides the scores by the root of their number": lambda x: torch.softmax(
        x / x.shape[-1] ** 0.5, -1
    ),
    "adds a hundredth to the sum, for safety": lambda x: (
        shifted(x).exp() / (shifted(x).exp().sum(-1, keepdim=True) + 0.01)
    ),
    "types the formula in, and overflows": lambda x: shares(x.exp()),
    "takes a score of -inf for 0": lambda x: torch.softmax(
        x.masked_fill(x.isinf(), 0.0), -1
    ),
    "lets the entries of axis 1 compete, which is right for a table": (
        lambda x: torch.softmax(x, min(1, x.ndim - 1))
    ),
    "subtracts one largest score from all rows, so that a row far below it "
    "becomes NaN": lambda x: shares((x - x.max()).exp()),
    "changes the scores that it is given": in_place,
    "returns float32 when float64 came in": lambda x: x.float().softmax(-1),
    "returns float64 when float32 came in": lambda x: x.double().softmax(-1),
    "stops with an error if there is one axis only": lambda x: (
        x.flatten(0, -2).softmax(-1).view_as(x)
    ),
}


@exercise()
@expect.own_work(*AUTOGRAD)
def softmax_backward(answer, draw):
    p, g = draw.normal(3, 7).softmax(-1), draw.normal(3, 7)
    with expect.untouched(p, g):
        got = answer(p, g)
    expect.tensor(got, (3, 7), torch.float32, "the gradient")
    expect.close(
        got,
        sent_back(p, g),
        "this is not what autograd sends back.",
        wrong_gradients(p, g),
    )
    p, g = draw.normal(1, 200).softmax(-1), draw.normal(1, 200)
    with Watch() as watch:
        answer(p, g)
    expect.that(
        watch.work < 50 * 200,
        f"for 200 shares you compute {watch.work:,} numbers: the matrix "
        "must not be built.",
    )
    for shape in ((4, 5, 10), (10,)):
        p, g = draw.normal(*shape).softmax(-1), draw.normal(*shape)
        hint = (
            f"right for a table, but not for the shape {shape}: the shares "
            "of one softmax always lie along the last axis."
        )
        with expect.stops(hint, (IndexError, RuntimeError)):
            got = answer(p, g)
        expect.close(got, sent_back(p, g), hint)


def sent_back(p, g):
    """The gradient of the scores of shares p, by autograd."""
    scores = p.log().requires_grad_()
    return torch.autograd.grad(scores.softmax(-1), scores, g)[0]


def wrong_gradients(p, g):
    """What mistakes send back instead."""
    both = p * g
    total = both.sum(-1, keepdim=True)
    return [
        (
            p * (1 - p) * g,
            "beside its diagonal J has entries too: a share also moves when "
            "another score does.",
        ),
        (both, "what a share wins, the others lose: a term is missing."),
        (
            p * (g - both.sum()),
            "each row has a sum of its own, and you add up all rows.",
        ),
        (
            p * (g - g.mean(-1, keepdim=True)),
            "the mean to take off is weighted with the shares.",
        ),
        (p * (g + total), "one of the two terms has the wrong sign."),
        (both - total, "the sum is multiplied by the share as well."),
        (
            p - g,
            "p - y is for a softmax under cross-entropy; here any gradient g "
            "arrives.",
        ),
    ]


@exercise(points=(400, 200, 300, 500), odds=(10, 3, 5, 4))
def win_probability(answer, draw):
    points, odds = draw.given.points, draw.given.odds
    low = draw.whole(1000, 1500)
    with Calls("softmax") as calls:
        got = answer(low + points, low)
    expect.that(
        isinstance(got, float),
        f"a probability is one number, and yours is a {type(got).__name__}.",
    )
    expect.close(
        got,
        odds / (odds + 1),
        f"{points} points more make a win {odds} times as likely as a loss, "
        f"and yours gives it the probability {got:.3f}.",
        wrong_chances(low, points, odds),
    )
    for lead in (-points, 0, 2 * points, draw.whole(1, points)):
        right = 1 / (1 + odds ** (-lead / points))
        with calls:
            got = answer(low + 1000 + lead, low + 1000)
        expect.close(
            got,
            right,
            f"right for a lead of {points} points, but with one of {lead} "
            f"yours gives {got:.4f}.",
        )
    expect.that(
        calls.made, "the numbers are right, but softmax was to do the work."
    )


def wrong_chances(low, points, odds):
    """What mistakes make of a lead of so many points."""
    log = math.log(odds)
    return [
        (
            chance(1.0),
            f"a lead of one temperature makes the win e times as likely, not "
            f"{odds} times.",
        ),
        (
            chance(points * points * log),
            "the stronger one always wins: divide the ratings by the "
            "temperature, and do not multiply.",
        ),
        (
            chance(1 / log),
            "the logarithm stands on the wrong side: the larger the factor, "
            "the lower the temperature.",
        ),
        (
            chance(math.log2(odds)),
            "softmax counts in powers of e, and you in powers of 2.",
        ),
        (
            chance(odds),
            f"a factor of {odds} between two shares is no lead of {odds}: "
            "which power of e is it?",
        ),
        (float(odds), "these are the odds; a probability is at most 1."),
        (1 / (odds + 1), "that is the share of the other player."),
        (
            (low + points) / (2 * low + points),
            "you give each player a share of the points, but only the lead "
            "counts.",
        ),
    ]


def chance(lead):
    """The larger of two shares."""
    return 1 / (1 + math.exp(-lead))


@exercise()
def streamed_mean(answer, draw):
    scores, values = draw.normal(12), draw.normal(12, 3)
    scores[[3, 6, 11]] += torch.tensor([1.0, 2.0, 4.0]).to(scores)
    got = answer(stream(scores, values, 4))
    expect.tensor(got, (3,), torch.float32, "the mean")
    right = scores.softmax(0) @ values
    expect.close(
        got,
        right,
        "for three blocks of ordinary scores this is not the mean.",
        wrong_means(scores, values),
    )
    far_scores(answer, scores, values)
    hidden_scores(answer, scores, values)
    for size in (1, 5, 12):
        expect.close(
            answer(stream(scores, values, size)),
            right,
            f"right for blocks of 4, but not for blocks of {size}.",
        )
    expect.close(
        answer(stream(scores, values, 4, one_room=True)),
        right,
        "each block overwrites the one before: what you need of it must be "
        "computed before you ask for the next.",
    )
    many = draw.normal(40), draw.normal(40, 3)
    with Watch() as watch:
        answer(list(stream(*many, 4)))
    expect.that(
        watch.largest < 40,
        f"you make a tensor of {watch.largest} numbers, more than a block "
        "has: what if all of them do not fit?",
    )
    long = draw.normal(2000), draw.normal(2000, 3)
    # The least of three: other threads of a notebook ask for memory as well.
    held = min(memory(answer, stream(*long, 4)) for _ in range(3))
    expect.that(
        held < 20_000,
        "what you keep grows with the number of blocks: keep three things, "
        "and let each block go.",
    )


def far_scores(answer, scores, values):
    """Scores far above and below 0."""
    for far, hint in (
        (1000, "scores near 1,000 give NaN: their exponentials overflow."),
        (
            -1000,
            "scores near -1,000 give NaN: with which largest score do you "
            "begin?",
        ),
    ):
        got = answer(stream(scores + far, values, 4))
        expect.that(got.isfinite(), hint)
        right = (scores + far).softmax(0) @ values
        expect.close(
            got,
            right,
            f"scores near {far:,} have another mean in yours than the same "
            "scores near 0, but only differences count.",
            tolerance=1e-4,
        )
    rising = scores + torch.arange(12).to(scores) // 4 * 100
    expect.close(
        answer(stream(rising, values, 4)),
        rising.softmax(0) @ values,
        "if the scores of each block lie 100 above those of the block "
        "before, your mean is wrong: subtract the largest score so far.",
    )


def hidden_scores(answer, scores, values):
    """Some scores are minus infinity, and so is a whole block of them."""
    holes = scores.clone()
    holes[[0, 1, 2, 3, 6]] = -math.inf
    for place in ("first", "last"):
        got = answer(stream(holes, values, 4))
        expect.that(
            not got.isnan().any(),
            f"if the {place} block holds only -inf, you get NaN: what is "
            "-inf minus -inf?",
        )
        clean = holes.view(3, 4).isfinite().all(1).repeat_interleave(4)
        expect.close(
            got,
            holes.softmax(0) @ values,
            f"the {place} block holds only -inf, and counts nothing; your "
            "mean is another.",
            [
                (
                    holes[clean].softmax(0) @ values[clean],
                    "a block in which one score is -inf still has others: "
                    "you leave all of them out.",
                ),
            ],
        )
        holes, values = holes.flip(0), values.flip(0)


def memory(answer, blocks):
    """By how many bytes more is held between the tenth block and the last."""
    held = []

    def noted():
        for block in blocks:
            held.append(tracemalloc.get_traced_memory()[0])
            yield block

    tracemalloc.start()
    try:
        answer(noted())
    finally:
        tracemalloc.stop()
    return held[-1] - held[10]


def stream(scores, values, size, one_room=False):
    """Blocks of scores and values, perhaps in one piece of memory."""
    room = scores[:size].clone(), values[:size].clone()
    for pair in zip(scores.split(size), values.split(size), strict=True):
        if one_room:
            pair = [a.copy_(b) for a, b in zip(room, pair, strict=True)]
        yield tuple(pair)


def wrong_means(scores, values):
    """What mistakes make of three blocks of four."""
    means = scores.view(3, 4, 1).softmax(1) * values.view(3, 4, 3)
    return [
        (
            streamed(scores, values, 0, 0),
            "when a larger score arrives, what was summed before it is too "
            "large, and you leave it so.",
        ),
        (
            streamed(scores, values, 1, 0),
            "you correct the sum of the exponentials, and forget that of "
            "the values.",
        ),
        (
            streamed(scores, values, 0, 1),
            "you correct the sum of the values, and forget that of the "
            "exponentials.",
        ),
        (
            streamed(scores, values, -1, -1),
            "you correct in the wrong direction: what was summed before a "
            "larger score is too large.",
        ),
        (
            means.sum(1).mean(0),
            "you take the mean of the blocks' means, but a block with "
            "higher scores counts more.",
        ),
        (
            (scores[-4:].softmax(0) @ values[-4:]),
            "only the last block counts in yours.",
        ),
    ]


def streamed(scores, values, total_power, mean_power):
    """The mean with corrections raised to powers: 0 leaves them out."""
    total, weighted, largest = 0.0, torch.zeros(3), scores[0].item()
    for score, value in zip(scores.split(4), values.split(4), strict=True):
        new = max(largest, score.max().item())
        exp, change = (score - new).exp(), math.exp(largest - new)
        total = total * change**total_power + exp.sum().item()
        weighted = weighted * change**mean_power + (exp @ value).cpu()
        largest = new
    return weighted / total


@exercise(direction=((3, 0), (0, 2), (-4, 0), (0, -3)))
def without(answer, draw):
    direction = 2.5 * draw.normal(4)
    axis = torch.tensor(draw.given.direction).to(direction)
    menu = torch.tensor([[1.0, -1], [1, 0.5], [-1, -1], [-1, 2]]).to(axis)
    taken_out(answer, menu, axis)
    taken_out(answer, draw.normal(5, 4), direction)


def taken_out(answer, keys, direction):
    """No score with the direction is left, and nothing else is lost."""
    with expect.untouched(keys, direction):
        got = answer(keys, direction)
    expect.tensor(got, tuple(keys.shape), torch.float32, "the answer")
    expect.that(
        got.abs().sum() > 1e-3,
        "nothing is left of the keys: only their part along the direction "
        "is to go.",
    )
    for mistake, hint in wrong_remains(keys, direction):
        expect.that(not expect.same(got, mistake), hint)
    scores = got @ direction
    expect.that(
        scores.abs() < 1e-3,
        "a key still has a score with the direction, "
        f"{scores[scores.abs().argmax()]:.3f}: all are to be 0.",
    )
    gone, unit = keys - got, direction / direction.norm()
    expect.close(
        gone,
        torch.outer(gone @ unit, unit),
        "the scores are 0, but you also changed what does not lie along the "
        "direction.",
        tolerance=1e-4,
    )


def wrong_remains(keys, direction):
    """What mistakes leave of the keys, each with its hint."""
    scores, length = keys @ direction, direction.norm()
    along = torch.outer(scores, direction)
    return (
        (
            keys - direction,
            "each key has a shadow of its own, and you take the same off all.",
        ),
        (
            keys - along,
            "a direction that is twice as long gives four times as much in "
            "yours, but the shadow on its line stays the same.",
        ),
        (
            keys - along / length,
            "the length of the direction stands in your product twice, in "
            "the score and in the vector, and you divide by it once.",
        ),
        (
            along / length**2,
            "you return the shadows: what is left without them?",
        ),
        (
            keys * (1 - scores / keys.square().sum(dim=1))[:, None],
            "you shorten each key along its own line, and not along the "
            "direction.",
        ),
        (
            keys * (1 - (scores / length).abs() / keys.norm(dim=1))[:, None],
            "lengths cannot be subtracted like this: the shadow is a vector, "
            "along the direction, and so is what you take off.",
        ),
    )
