"""Checks of the exercises of chapter 17, heads over devices. Not taught."""

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import expect
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    made,
    masks,
    several,
    size,
)
from lib.runtime import device
from lib.training import Batch


def drawn_bills(draw, case):
    """That of the page at first; then small ones, in equal pieces."""
    if case.is_given:
        return [(1, 8_192, 4_096, 48, 2, draw.given.world)]
    bills = []
    for world in (draw.whole(3, 9), 2, 1):
        batch, layers, bytes_each = draw.different(3, 2, 9)
        length, d_model = draw.different(2, 10, 40)
        bills.append(
            (batch, length, d_model * world, layers, bytes_each, world)
        )
    return bills


def around(
    sums=4,
    steps=lambda world: 2 * (world - 1),
    tensor=lambda batch, length, d_model: batch * length * d_model,
    size=lambda bytes_each: bytes_each,
):
    """What is sent: so many sums a layer, of a tensor, piece by piece."""

    def sent_bytes(batch, length, d_model, layers, bytes_each, world):
        piece = tensor(batch, length, d_model) * size(bytes_each) / world
        return layers * sums * steps(world) * piece

    return sent_bytes


@asks(
    {"bills": made(drawn_bills)},
    "this is not what goes around the ring. How many sums, of which tensor, "
    "in how many steps?",
    {
        "you have half of it. A layer has two sums there and two back, and a "
        "sum goes around twice: to add, and to hand on.": around(2),
        "that is how much is summed up; on a ring a worker sends "
        "2 · (world - 1) pieces of each tensor.": around(
            steps=lambda world: world
        ),
        "you send the whole tensor to every other worker: on a ring it goes "
        "in pieces, and to one neighbour.": around(
            steps=lambda world: (world - 1) * world
        ),
        "that is what all workers send together; the task asks for one.": (
            around(steps=lambda world: 2 * (world - 1) * world)
        ),
        "the weights stay where they are: what is added up has a row for "
        "each token.": around(
            tensor=lambda batch, length, d_model: 12 * d_model**2
        ),
        "a number has bytes_each bytes here, and you take 4.": around(
            size=lambda bytes_each: 4
        ),
        "a worker that is alone sends nothing.": around(
            steps=lambda world: 2 * max(1, world - 1)
        ),
    },
    calls=lambda answer, bills: [answer(*bill) for bill in bills],
    world=(8, 4, 16, 6),
)
def sent_bytes(*bill):
    return around()(*bill)


def some_parts(answer, x, matrices, rank, world, own, may_attend):
    """Of one worker, of the last of as many as heads, of one alone."""
    heads = world * own
    return [
        answer(x, matrices, heads, worker, workers, mask)
        for worker, workers in ((rank, world), (heads - 1, heads), (0, 1))
        for mask in (may_attend, may_attend[:1], None)
    ]


def stretch(rank, heads, world):
    """The heads of a worker: neighbours."""
    size = heads // world
    return range(rank * size, (rank + 1) * size)


def added(
    heads_of=stretch,
    rows_of=None,
    many=lambda heads, world: heads,
    is_masked=True,
    share=lambda world: 1,
):
    """Head after head: what a worker adds."""

    def worker_part(x, matrices, heads, rank, world, may_attend=None):
        *projections, W_o = matrices
        mask = (
            may_attend[:, 0] if is_masked and may_attend is not None else None
        )
        cut, total = many(heads, world), 0
        columns = heads_of(rank, cut, world)
        rows = (rows_of or heads_of)(rank, cut, world)
        for h, r in zip(columns, rows, strict=True):
            q, k, v = (x @ W.chunk(cut, dim=1)[h] for W in projections)
            context = F.scaled_dot_product_attention(q, k, v, mask)
            total = total + context @ W_o.chunk(cut)[r]
        return total / share(world)

    return worker_part


@asks(
    {
        "x": floats("n i m"),
        "matrices": several(
            floats("m w*s*d"),
            floats("m w*s*d"),
            floats("m w*s*e"),
            floats("w*s*e m"),
        ),
        "rank": made(
            lambda draw, case: draw.whole(1, case.sizes["w"] - 1), "w"
        ),
        "world": size("w"),
        "own": size("s"),
        "may_attend": masks("n 1 i i"),
    },
    "this is not what the worker's own heads add: which columns has it of "
    "each matrix, which rows of W_o, and how many heads are in them?",
    {
        "may_attend is not passed on to attention.": added(is_masked=False),
        "the columns of a worker hold several heads, and you make one wide "
        "head of them.": added(
            lambda rank, heads, world: [rank], many=lambda heads, world: world
        ),
        "every worker computes the first heads: rank chooses the columns, "
        "too.": added(
            lambda rank, heads, world: range(heads // world), stretch
        ),
        "you compute all heads and divide: a worker has the weights of its "
        "own heads only.": added(
            lambda rank, heads, world: range(heads), share=lambda world: world
        ),
        "you deal the heads out in turn; each worker has a stretch of "
        "neighbours.": added(
            lambda rank, heads, world: range(rank, heads, world)
        ),
    },
    sizes={"w": (2, 4), "s": (2, 3)},
    calls=some_parts,
    ways=(by_oneself("LocalHeads"),),
)
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    return added()(x, matrices, heads, rank, world, may_attend)


def drawn_vectors(draw, case):
    """One for each of so many workers."""
    p, size = case.sizes["p"], case.sizes["s"]
    return list(draw.normal(p, p * size, dtype=case.dtype) * case.times)


def ring(
    steps=lambda p: 2 * (p - 1),
    adding=lambda p: p - 1,
    said=lambda p, size, steps: steps * size,
):
    """What is left of so many steps, of which the first ones add."""

    def ring_all_reduce(vectors):
        p = len(vectors)
        held = torch.stack([v.unflatten(0, (p, -1)) for v in vectors])
        for step in range(steps(p)):
            before = held.clone()
            for w in range(p):
                piece, other = (w - step) % p, (w + 1) % p
                mine = before[other, piece] if step < adding(p) else 0
                held[other, piece] = before[w, piece] + mine
        sent = said(p, held.shape[-1], steps(p))
        return list(held.flatten(1)), [sent] * p

    return ring_all_reduce


def on_a_ring(answer, tensors):
    """The rounding tells in which order each piece was added up."""
    p, lots = 5, torch.Generator().manual_seed(len(tensors))
    vectors = [
        torch.randn(40 * p, generator=lots, dtype=torch.float64).to(device())
        for _ in range(p)
    ]
    totals, _ = answer([vector.clone() for vector in vectors])
    pieces = [vector.chunk(p) for vector in vectors]

    def begins(total, i, step):
        """The worker at which a piece began to go round, if it did."""
        for first in range(p):
            passed = [(first + step * n) % p for n in range(p)]
            if torch.equal(total, sum(pieces[w][i] for w in passed)):
                return first
        return None

    for total in totals:
        parts = list(enumerate(total.chunk(p)))
        back = {begins(part, i, -1) for i, part in parts}
        expect.that(
            len(back - {None}) < p,
            "your pieces go to the worker before; each is to be sent to the "
            "next one.",
        )
        found = {begins(part, i, 1) for i, part in parts}
        expect.that(
            len(found - {None}) == p,
            "the results are right, and nothing went around a ring: there, "
            "each piece begins at another worker and grows from one to the "
            "next, so that all are busy in each step.",
        )


@asks(
    {"tensors": made(drawn_vectors, "p s", is_floating=True)},
    "some worker ends with a wrong piece, or has sent something else: with "
    "two workers and two numbers each, go through the steps on paper.",
    {
        "after the adding each worker has one finished piece: these are "
        "still to be handed around.": ring(steps=lambda p: p - 1),
        "in the second round pieces are finished: the receiver replaces its "
        "own and adds nothing.": ring(adding=lambda p: 2 * p),
        "whole vectors go around in your count: in pieces, each worker sends "
        "less than two vectors.": ring(
            said=lambda p, size, steps: (p - 1) * p * size
        ),
        "you count pieces; each holds several numbers.": ring(
            said=lambda p, size, steps: steps
        ),
        "there is one step too many: p - 1 to add and p - 1 to hand on.": (
            ring(steps=lambda p: 2 * p - 1)
        ),
        "of the two rounds you count the numbers of one.": ring(
            said=lambda p, size, steps: (p - 1) * size
        ),
    },
    sizes={"p": (1, 6, lambda given: 3), "s": (2, 5)},
    also=(on_a_ring,),
)
def ring_all_reduce(tensors):
    return ring()(tensors)


class Speller(nn.Module):
    """Scores for the next token, from the one before and from the source."""

    def __init__(self, draw, case):
        super().__init__()
        for name, *shape in (("reads", 7, 4), ("was", 6, 4), ("says", 4, 6)):
            table = draw.normal(*shape, dtype=case.dtype)
            self.register_parameter(name, nn.Parameter(table))

    def forward(self, source, decoder_input):
        """Token ids in, logits out."""
        read = self.reads[source].mean(1, keepdim=True)
        return (read + self.was[decoder_input]).tanh() @ self.says


def drawn_parts(draw, case):
    """Texts of unlike lengths, filled up with 0."""
    many = (1, 4, 2)
    if not case.is_given:
        many = [draw.whole(1, 5) for _ in range(draw.whole(1, 4))]
    parts = []
    for n, rows in enumerate(many):
        length = 4 * n + 3
        lengths = draw.ids(1, length - 1, rows, 1)
        lengths[0] = length
        shown = torch.arange(length).to(lengths) < lengths
        target = draw.ids(1, 5, rows, length).masked_fill(~shown, 0)
        source = draw.ids(1, 6, rows, draw.whole(2, 5))
        parts.append(Batch(source, draw.ids(1, 5, rows, length), target))
    return parts


def gradients(answer, model, parts, old):
    """What is in .grad afterwards, if nothing was before, or something."""
    found = []
    weights = list(model.parameters())
    for before in (None, old):
        for n, weight in enumerate(weights):
            weight.grad = None if before is None else before[n].clone()
        answer(model, parts)
        expect.that(
            all(weight.grad is not None for weight in weights),
            "afterwards the weights have no gradient.",
        )
        found.append([weight.grad.clone() for weight in weights])
    return found


def tokens(part):
    return (part.target != 0).sum().item()


def shares_of(measure):
    """A part's share of what is measured."""
    return lambda part, parts: measure(part) / sum(map(measure, parts))


of_tokens = shares_of(tokens)


def summed(share=of_tokens, begins=lambda n: n == 0):
    """The gradient of the parts' means, each times a number."""

    def accumulate(model, parts):
        for n, part in enumerate(parts):
            if begins(n):
                model.zero_grad()
            logits = model(part.source, part.decoder_input)
            loss = F.cross_entropy(
                logits.mT, part.target, ignore_index=0, label_smoothing=0.1
            )
            (loss * share(part, parts)).backward()

    return accumulate


def one_by_one(answer, model, parts, old):
    """Forward and back, part by part; and the weights stay."""
    calls = []

    def note(module, given, out):
        calls.append(len(out))
        if out.requires_grad:
            out.register_hook(lambda g: calls.append("back"))

    model.register_forward_hook(note)
    answer(model, parts)
    rows, came = (
        [len(p.target) for p in parts],
        [c for c in calls if c != "back"],
    )
    expect.that(
        sorted(came) == sorted(rows),
        f"parts of {rows} rows are to go through the model one by one and "
        f"once; yours came as {came}.",
    )
    expect.that(
        calls[1::2] == ["back"] * len(rows),
        "go back after each part: as long as no backward has passed, all "
        "that the parts have computed stays in memory.",
    )


@asks(
    {
        "model": made(Speller, is_floating=True),
        "parts": made(drawn_parts),
        "old": several(floats("a b"), floats("c b"), floats("b c")),
    },
    "this is not the gradient of the mean over all tokens, with the loss "
    "that is asked for.",
    {
        "this is the mean of the parts' means: a part of few tokens counts "
        "as much as one of many.": summed(shares_of(lambda part: 1)),
        "the parts' means are added up: with more parts the gradient "
        "grows.": summed(lambda part, parts: 1),
        "you weigh by rows; a long row has more tokens than a short one.": (
            summed(shares_of(lambda part: len(part.target)))
        ),
        "PAD is counted: only targets other than 0 are.": summed(
            shares_of(lambda part: part.target.numel())
        ),
        "only the last part is left: .grad is cleared between the parts.": (
            summed(begins=lambda n: True)
        ),
        "the shares of the parts must add up to 1; yours add up to their "
        "number.": summed(
            lambda part, parts: len(parts) * of_tokens(part, parts)
        ),
        "what was in .grad before is still in it: clear it first.": summed(
            begins=lambda n: False
        ),
    },
    sizes={"a": (7, 7), "b": (4, 4), "c": (6, 6)},
    leaves_out=("strided",),  # old gradients lie as weights do
    within=1e-6,  # a share may be a number in float32
    calls=gradients,
    also=(one_by_one,),
)
def accumulate(model, parts):
    summed()(model, parts)


class far_off(floats):
    """Logits; those of a row lie far below 0, or above, or on both sides."""

    def drawn(self, draw, case):
        logits = super().drawn(draw, case)
        logits[0] -= 3 * case.times
        logits[1] += 3 * case.times
        half = logits.shape[1] // 2
        logits[2, :half] += 3 * case.times
        logits[2, half:] -= 3 * case.times
        logits[3] = -logits[2]
        return logits


def drawn_cuts(draw, case):
    """How many columns each worker has; targets at the edges and within."""
    rows, words = case.sizes["t"], case.sizes["v"]
    cuts = sorted(draw.lots.sample(range(1, words), draw.whole(0, 2)))
    if case.is_given:
        cuts = [words // 3, words // 2]
    edges = [0, *cuts, words]
    columns = [b - a for a, b in zip(edges, edges[1:], strict=False)]
    target = draw.ids(0, words - 1, rows)
    ends = [*edges[:-1], *[edge - 1 for edge in edges[1:]]][:rows]
    target[: len(ends)] = torch.tensor(ends)
    return columns, target


def by_summaries(answer, logits, cuts):
    """The loss, from what each worker says of its columns."""
    columns, target = cuts
    summary = expect.beside(answer, "summary")
    expect.that(callable(summary), "write summary as well, in the same cell.")
    summaries, first = [], 0
    for part in logits.split(columns, dim=1):
        said = summary(part, target, first)
        if summary is not everything:
            few_numbers(said, len(target))
        summaries.append(said)
        first += part.shape[1]
    got = torch.as_tensor(answer(summaries))
    expect.that(
        got.numel() == 1, "one number is asked for: the mean over all tokens."
    )
    return got.item()


def few_numbers(said, rows):
    """At most three for each token."""
    expect.tensor(said, what="the summary")
    expect.that(
        said.ndim == 2 and len(said) == rows,
        f"for {rows} tokens the summary has the shape {tuple(said.shape)}, "
        f"not ({rows}, k).",
    )
    expect.that(
        said.shape[1] <= 3,
        f"{said.shape[1]} numbers are sent for each token: three must do.",
    )


def summary(part, target, first):
    """All that there is: of the reference and the mistakes."""
    return part, target, first


everything = summary


def every_row(part, place):
    """A logit of each row."""
    return part[range(len(part)), place.clamp(0, part.shape[1] - 1)]


def known(part, target, first):
    own = (target >= first) & (target < first + part.shape[1])
    return every_row(part, target - first) * own


def at_most_one_off(part, target, first):
    own = (target >= first) & (target <= first + part.shape[1])
    return every_row(part, target - first) * own


def by_its_number(part, target, first):
    return every_row(part, target) * (target < part.shape[1])


def of_each_its_own_largest(parts):
    """Sums that are measured from different numbers are added."""
    return sum(
        (part - part.amax(1, keepdim=True)).exp().sum(1) for part in parts
    ).log()


def lost(
    logs=lambda parts: torch.cat(parts, dim=1).logsumexp(1),
    right=known,
    joined=sum,
    mean=torch.mean,
):
    """The loss by what is known of the parts, or a known other one."""

    def loss_of(summaries):
        parts, _, _ = zip(*summaries, strict=True)
        rights = joined([right(*one) for one in summaries])
        return mean(logs(parts) - rights)

    return loss_of


@asks(
    {"logits": far_off("t v"), "cuts": made(drawn_cuts, "t v")},
    "this is not the loss in one process: what must be known of all columns, "
    "and what of the target's alone?",
    {
        "each worker measures from its own largest logit, and these differ: "
        "their sums cannot simply be added.": lost(
            of_each_its_own_largest,
            lambda part, target, first: known(
                part - part.amax(1, keepdim=True), target, first
            ),
        ),
        "logarithms of the parts are added up; it is the sums of "
        "exponentials that add.": lost(
            lambda parts: sum(part.logsumexp(1) for part in parts)
        ),
        "every worker names a logit for the target, and only the one that "
        "holds its column may.": lost(
            right=lambda part, target, first: every_row(part, target - first)
        ),
        "a worker's last column is token number first + columns - 1: the "
        "next one is its neighbour's.": lost(right=at_most_one_off),
        "a token's number is not its column: the first column of a worker is "
        "token number first.": lost(right=by_its_number),
        "one worker knows the target's logit and the others say 0: the "
        "largest of these is wrong where the logit is negative.": lost(
            joined=lambda rights: torch.stack(rights).amax(0)
        ),
        "exponentials overflow, or all become 0: take off the largest logit, "
        "row by row.": lost(
            lambda parts: torch.cat(parts, dim=1).exp().sum(1).log()
        ),
        "this is the sum over the tokens; asked is the mean.": lost(
            mean=torch.sum
        ),
    },
    sizes={"t": (7, 11), "v": (8, 14)},
    calls=by_summaries,
)
def loss_of(summaries):
    parts, (target, *_), _ = zip(*summaries, strict=True)
    return F.cross_entropy(torch.cat(parts, dim=1), target)
