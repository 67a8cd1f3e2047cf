"""Checks of the exercises of chapter 17, heads over devices. Not taught."""

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import exercise, expect
from lib.training import Batch


@exercise(world=(8, 4, 16, 6))
def sent_bytes(answer, draw):
    one_bill(answer, 1, 8_192, 4_096, 48, 2, draw.given.world)
    for _ in range(3):
        batch, layers, bytes_each = draw.different(3, 2, 9)
        length, d_model = draw.different(2, 10, 40)
        for world in (draw.whole(3, 9), 2, 1):  # in equal pieces
            sizes = batch, length, d_model * world, layers, bytes_each
            one_bill(answer, *sizes, world)


def one_bill(answer, batch, length, d_model, layers, bytes_each, world):
    """Piece by piece: what goes around the ring."""
    got = answer(batch, length, d_model, layers, bytes_each, world)
    expect.that(
        isinstance(got, int | float),
        f"return a number of bytes; yours is a {type(got).__name__}.",
    )
    tensor = batch * length * d_model * bytes_each
    sums, pieces = 0, 0
    for _layer in range(layers):
        for _part in ("attention", "network"):
            for _way in ("there", "back"):
                sums += 1
                pieces += (world - 1) + (world - 1)  # to add, to hand on
    right = pieces * tensor / world
    if world == 1:
        expect.that(got == 0, "a worker that is alone sends nothing.")
        return
    weights = 12 * d_model**2 * bytes_each
    expect.close(
        float(got),
        right,
        f"sent_bytes{(batch, length, d_model, layers, bytes_each, world)} "
        f"gives {got / right:.2f} times what goes around the ring. How many "
        "sums, of which tensor, in how many steps?",
        [
            (
                right / 2,
                "you have half of it. A layer has two sums there and two "
                "back, and a sum goes around twice: to add, and to hand on.",
            ),
            (
                sums * tensor,
                "that is how much is summed up; on a ring of "
                f"{world} a worker sends 2 · {world - 1} pieces for each "
                "tensor.",
            ),
            (
                sums * (world - 1) * tensor,
                "you send the whole tensor to every other worker: on a ring "
                "it goes in pieces, and to one neighbour.",
            ),
            (
                world * right,
                "that is what all workers send together; the task asks for "
                "one.",
            ),
            (
                pieces * weights / world,
                "the weights stay where they are: what is added up has a row "
                "for each token.",
            ),
            (
                right / bytes_each * 4,
                f"a number has {bytes_each} bytes here, and you take 4.",
            ),
        ],
    )


@exercise()
@expect.own_work("LocalHeads")
def worker_part(answer, draw):
    x = draw.normal(2, 5, 8, dtype=torch.float64)
    for heads, d_head, d_value in ((4, 2, 2), (4, 3, 1), (6, 1, 2)):
        keys, values = heads * d_head, heads * d_value
        shapes = (8, keys), (8, keys), (8, values), (values, 8)
        drawn = [draw.normal(*two, dtype=torch.float64) for two in shapes]
        for may_attend in (draw.mask(1, 1, 5, 5), None):
            for world in (2, heads, 1):
                rank = draw.whole(min(1, world - 1), world - 1)
                given = x, drawn, heads, rank, world, may_attend
                with expect.untouched(x, *drawn):
                    got = answer(*given)
                expect.that(
                    got.shape[-1] == 8,
                    "what a worker adds is as wide as the output; yours is "
                    f"{got.shape[-1]} wide. How is W_o to be cut?",
                )
                expect.tensor(got, (2, 5, 8), what="the part")
                one_part(got, *given)


def one_part(got, x, drawn, heads, rank, world, may_attend):
    """The heads of one worker, one after the other."""
    size, whole = heads // world, range(heads)

    def added(columns, rows, heads=heads, mask=may_attend):
        return sum(
            one_head(x, drawn, h, r, heads, mask)
            for h, r in zip(columns, rows, strict=True)
        )

    own = range(rank * size, (rank + 1) * size)
    dealt = range(rank, heads, world)
    expect.close(
        got,
        added(own, own),
        f"with {heads} heads, worker {rank} of {world} adds something else: "
        f"its own are heads {own[0]} to {own[-1]}.",
        [
            (
                added(own, own, mask=None),
                "may_attend is not passed on to attention.",
            ),
            (
                added([rank], [rank], heads=world),
                f"the columns of a worker hold {size} heads, and you "
                "make one wide head of them.",
            ),
            (
                added(range(size), own),
                "every worker computes the first heads: rank chooses the "
                "columns, too.",
            ),
            (
                added(whole, whole) / world,
                "you compute all heads and divide: a worker has the weights "
                "of its own heads only.",
            ),
            (
                added(dealt, dealt),
                "you deal the heads out in turn; each worker has a stretch "
                "of neighbours.",
            ),
        ],
    )


def one_head(x, drawn, columns, rows, heads, may_attend):
    """One head of so many, times rows of W_o."""
    *projections, W_o = drawn
    q, k, v = (x @ W.chunk(heads, dim=1)[columns] for W in projections)
    mask = None if may_attend is None else may_attend[:, 0]
    context = F.scaled_dot_product_attention(q, k, v, mask)
    return context @ W_o.chunk(heads)[rows]


@exercise()
def ring_all_reduce(answer, draw):
    for p, size in ((3, 2), (4, 3), (5, 2), (2, 3), (1, 4)):
        vectors = [
            draw.normal(p * size, dtype=torch.float64) for _ in range(p)
        ]
        with expect.untouched(*vectors):
            got = answer(list(vectors))
        expect.that(
            isinstance(got, tuple | list) and len(got) == 2,
            "return two lists: what each worker has, and what each has sent.",
        )
        totals, sent = got
        expect.that(
            isinstance(sent, list | tuple) and len(sent) == p,
            f"the second is a list as well: how many numbers each of the {p} "
            "workers has sent.",
        )
        expect.that(
            len(totals) == p,
            f"{expect.plural(p, 'worker')} have "
            f"{expect.plural(len(totals), 'result')}.",
        )
        what_they_have(torch.stack(list(totals)), vectors)
        what_was_sent(list(sent), p, p * size)
    on_a_ring(answer, draw)


def what_they_have(totals, vectors):
    """The sum, piece by piece, on each worker."""
    p, right = len(vectors), sum(vectors).expand(len(vectors), -1)
    pieces = [
        (w, i)
        for w in range(p)
        for i in range(p)
        if not expect.same(totals[w].chunk(p)[i], right[w].chunk(p)[i])
    ]
    w, i = pieces[0] if pieces else (0, 0)
    expect.close(
        totals,
        right,
        f"of {expect.plural(p, 'worker')}, worker {w} ends with a wrong "
        f"piece {i}.",
        [
            (
                around(vectors, p - 1, p - 1),
                "after the adding each worker has one finished piece: these "
                "are still to be handed around.",
            ),
            (
                around(vectors, 2 * (p - 1), 2 * (p - 1)),
                "in the second round pieces are finished: the receiver "
                "replaces its own and adds nothing.",
            ),
        ],
    )


def on_a_ring(answer, draw):
    """The rounding tells in which order each piece was added up."""
    p, size = 5, 40
    vectors = [draw.normal(p * size, dtype=torch.float64) for _ in range(p)]
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


def around(vectors, steps, adding):
    """What a ring of so many steps leaves, of which the first ones add."""
    p = len(vectors)
    held = torch.stack([vector.unflatten(0, (p, -1)) for vector in vectors])
    for step in range(steps):
        before = held.clone()
        for w in range(p):
            piece, other = (w - step) % p, (w + 1) % p
            arrived = before[w, piece]
            mine = before[other, piece] if step < adding else 0
            held[other, piece] = arrived + mine
    return held.flatten(1)


def what_was_sent(sent, p, numbers):
    """How many numbers each worker says that it has sent."""
    steps = 2 * (p - 1)
    right = steps * numbers // p
    expect.that(
        len(set(sent)) == 1,
        f"on a ring all workers send equally much; yours say {sent}.",
    )
    expect.close(
        sent[0],
        right,
        f"{expect.plural(p, 'worker')} with {numbers} numbers each: a piece "
        f"has {numbers // p}, and there are {steps} steps; you count "
        f"{sent[0]}.",
        [
            (
                (p - 1) * numbers,
                "whole vectors go around in your count: in pieces, each "
                "worker sends less than two vectors.",
            ),
            (steps, "you count pieces; each holds several numbers."),
            (
                (steps + 1) * numbers // p,
                f"there is one step too many: {p - 1} to add and {p - 1} to "
                "hand on.",
            ),
        ],
    )


class Speller(nn.Module):
    """Scores for the next token, from the one before and from the source."""

    def __init__(self, draw):
        super().__init__()
        for name, *shape in (("reads", 7, 4), ("was", 6, 4), ("says", 4, 6)):
            table = draw.normal(*shape, dtype=torch.float64)
            self.register_parameter(name, nn.Parameter(table))

    def forward(self, source, decoder_input):
        """Token ids in, logits out."""
        read = self.reads[source].mean(1, keepdim=True)
        return (read + self.was[decoder_input]).tanh() @ self.says


@exercise()
def accumulate(answer, draw):
    model, calls = Speller(draw), []

    def note(module, given, out):
        calls.append(len(out))
        if out.requires_grad:
            out.register_hook(lambda g: calls.append("back"))

    model.register_forward_hook(note)
    for sizes in ((1, 4, 2), (3, 1), (5,)):
        parts = [
            a_batch(draw, rows, 4 * n + 3) for n, rows in enumerate(sizes)
        ]
        counts = [(part.target != 0).sum().item() for part in parts]
        alone = [gradient(model, part) for part in parts]
        pairs = list(zip(alone, counts, strict=True))
        right = sum(g * n for g, n in pairs) / sum(counts)
        for old in (None, draw.normal(len(right), dtype=torch.float64)):
            put_gradient(model, old)
            calls.clear()
            with expect.untouched(
                *model.parameters(),
                hint="only gradients are asked for: the "
                "weights stay as they are.",
            ):
                answer(model, parts)
            came = [rows for rows in calls if rows != "back"]
            expect.that(
                came == list(sizes),
                f"parts of {list(sizes)} rows are to go through the model "
                f"one by one and once; yours came as {came}.",
            )
            expect.that(
                all(w.grad is not None for w in model.parameters()),
                "afterwards the weights have no gradient.",
            )
            expect.that(
                calls[1::2] == ["back"] * len(sizes),
                "go back after each part: as long as no backward has "
                "passed, all that the parts have computed stays in memory.",
            )
            got = torch.cat([w.grad.flatten() for w in model.parameters()])
            one_gradient(got, right, pairs, parts, old)


def one_gradient(got, right, pairs, parts, old):
    """The gradient of the mean over tokens, or a known other one."""
    grads, counts = zip(*pairs, strict=True)
    rows = [len(part.target) for part in parts]
    places = [part.target.numel() for part in parts]

    def weighed(by):
        return sum(g * n for g, n in zip(grads, by, strict=True)) / sum(by)

    mistakes = [
        (
            sum(grads) / len(grads),
            "this is the mean of the parts' means: a part of "
            f"{expect.plural(min(counts), 'token')} counts as much as "
            f"one of {max(counts)}.",
        ),
        (
            sum(grads),
            "the parts' means are added up: with more parts the gradient "
            "grows.",
        ),
        (
            weighed(rows),
            "you weigh by rows; a long row has more tokens than a short one.",
        ),
        (weighed(places), "PAD is counted: only targets other than 0 are."),
        (
            grads[-1] * counts[-1] / sum(counts),
            "only the last part is left: .grad is cleared between the parts.",
        ),
        (
            right * len(grads),
            "the shares of the parts must add up to 1; yours add up to "
            f"{len(grads)}.",
        ),
    ]
    if old is not None:
        hint = "what was in .grad before is still in it: clear it first."
        mistakes.append((right + old, hint))
    expect.close(
        got,
        right,
        f"for parts of {list(counts)} tokens this is not the gradient of the "
        "mean over all of them.",
        mistakes,
    )


def a_batch(draw, rows, length):
    """Texts of unlike lengths, filled up with 0."""
    lengths = [length] + [draw.whole(1, length - 1) for _ in range(rows - 1)]
    shown = torch.arange(length) < torch.tensor(lengths)[:, None]
    target = draw.ids(1, 5, rows, length)
    target = target.masked_fill(~shown.to(target.device), 0)
    source = draw.ids(1, 6, rows, draw.whole(2, 5))
    return Batch(source, draw.ids(1, 5, rows, length), target)


def gradient(model, part):
    """Of the mean loss of one part, by torch."""
    logits = model(part.source, part.decoder_input)
    loss = F.cross_entropy(
        logits.mT, part.target, ignore_index=0, label_smoothing=0.1
    )
    grads = torch.autograd.grad(loss, list(model.parameters()))
    return torch.cat([g.flatten() for g in grads])


def put_gradient(model, old):
    """Something that was in .grad before, or nothing."""
    weights = list(model.parameters())
    for weight in weights:
        weight.grad = None
    if old is not None:
        parts = old.split([weight.numel() for weight in weights])
        for weight, part in zip(weights, parts, strict=True):
            weight.grad = part.view_as(weight).clone()


@exercise()
def loss_of(answer, draw):
    summary = expect.beside(answer, "summary")
    expect.that(callable(summary), "write summary as well, in the same cell.")
    for columns in ([4, 4, 4], [12], [1, 7, 4]):
        for scale in (1.0, 300.0):
            logits = scale * draw.normal(9, 12, dtype=torch.float64)
            logits[0] -= 3 * scale
            logits[1] += 3 * scale
            target = draw.ids(0, 11, 9)
            target[:4] = torch.tensor([0, 4, 8, 11])
            parts = [part.clone() for part in logits.split(columns, dim=1)]
            starts = [sum(columns[:n]) for n in range(len(columns))]
            summaries = []
            for part, first in zip(parts, starts, strict=True):
                with expect.untouched(part, target):
                    summaries.append(summary(part, target, first))
                few_numbers(summaries[-1], part)
            got = answer(summaries)
            expect.that(
                scale < 2 or torch.as_tensor(got).isfinite(),
                "logits near 1,000 give a loss of "
                f"{float(got):.0f}: their exponentials overflow, or all "
                "become 0. Take off the largest logit, row by row.",
            )
            one_loss(got, logits, target, parts, starts)


def few_numbers(got, part):
    """At most three for each token."""
    expect.tensor(got, what="the summary")
    expect.that(
        got.ndim == 2 and len(got) == 9,
        f"for 9 tokens the summary has the shape {tuple(got.shape)}, not "
        "(9, k).",
    )
    expect.that(
        got.shape[1] <= 3,
        f"{got.shape[1]} numbers are sent for each token: three must do.",
    )


def one_loss(got, logits, target, parts, starts):
    """Torch's cross-entropy of the logits side by side."""
    rows = range(len(target))
    logs = torch.stack([part.logsumexp(1) for part in parts])
    largest = torch.stack([part.amax(1) for part in parts])
    ends = [
        first + part.shape[1]
        for first, part in zip(starts, parts, strict=True)
    ]
    owner = [sum(t >= end for end in ends) for t in target.tolist()]
    right = logits[rows, target]
    log = logs.logsumexp(0)

    def picked(place):
        return sum(
            part[rows, place(target, first, part.shape[1])]
            for part, first in zip(parts, starts, strict=True)
        )

    taken = [
        part[rows, target.clamp(max=part.shape[1] - 1)]
        * (target < part.shape[1])
        for part in parts
    ]
    named = [
        part[rows, (target - first).clamp(0, part.shape[1] - 1)]
        * ((target >= first) & (target <= end))
        for part, first, end in zip(parts, starts, ends, strict=True)
    ]
    mistakes = [
        (
            ((logs - largest).logsumexp(0) - right + largest[owner, rows]),
            "each worker measures from its own largest logit, and these "
            "differ: their sums cannot simply be added.",
        ),
        (
            logs.sum(0) - right,
            "logarithms of the parts are added up; it is the sums of "
            "exponentials that add.",
        ),
        (
            log - picked(lambda t, first, n: (t - first).clamp(0, n - 1)),
            "every worker names a logit for the target, and only the one "
            "that holds its column may.",
        ),
        (
            log - sum(named),
            "a worker's last column is token number first + columns - 1: "
            "the next one is its neighbour's.",
        ),
        (
            log - sum(taken),
            "a token's number is not its column: the first column of a "
            "worker is token number first.",
        ),
        (
            log - torch.where(right > 0, right, torch.zeros_like(right)),
            "one worker knows the target's logit and the others say 0: the "
            "largest of these is wrong where the logit is negative.",
        ),
    ]
    expect.close(
        torch.as_tensor(got).double(),
        F.cross_entropy(logits, target),
        f"with {expect.plural(len(parts), 'worker')} the loss is "
        f"{float(got):.4f}, and "
        f"{F.cross_entropy(logits, target).item():.4f} in one process.",
        [((log - right).sum(), "the sum over the tokens; asked is the mean.")]
        + [(each.mean(), hint) for each, hint in mistakes],
    )
