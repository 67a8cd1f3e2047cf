"""Checks of the exercises of chapter 11, training. Not taught."""

import copy
import math

import torch
from torch import nn
from torch.nn.functional import cross_entropy, pad

from kit.exercises import Wrong, exercise, expect
from lib.training import Batch


class Toy(nn.Module):
    """A model of 150 numbers; it is called like the Transformer."""

    def __init__(self, draw):
        super().__init__()
        double = {"dtype": torch.float64}
        self.reads = nn.Parameter(draw.normal(9, 5, **double))
        self.given = nn.Parameter(draw.normal(10, 5, **double))
        self.out = nn.Parameter(draw.normal(5, 10, **double))

    def forward(self, source, decoder_input):
        real = (source != 0).unsqueeze(-1)
        read = (self.reads[source] * real).sum(1, keepdim=True)
        return (self.given[decoder_input] + read).tanh() @ self.out


def ragged(draw, rows, length=6):
    """A batch whose texts have different lengths: EOS is 2, PAD 0."""
    source = draw.ids(4, 8, rows, 4)
    text = draw.ids(4, 9, rows, length - 1)
    given = torch.cat([torch.ones_like(text[:, :1]), text], dim=1)
    target = torch.cat([text, 2 * torch.ones_like(text[:, :1])], dim=1)
    for row in range(rows):
        end = (row + draw.whole(0, 1)) % (length - 2)
        if end:
            given[row, -end:] = 0
            target[row, -end - 1 :] = 0
            target[row, -end - 1] = 2
    return Batch(source, given, target)


def full(draw, rows):
    """A batch without PAD."""
    source, given, target = ragged(draw, rows)
    return Batch(
        source,
        given.masked_fill(given == 0, 4),
        target.masked_fill(target == 0, 4),
    )


# 11.1


@exercise()
def wished(answer, draw):
    vocab, smoothing = draw.whole(5, 8), draw.whole(2, 4) / 10
    row, table = draw.ids(0, vocab - 2, 4), draw.ids(1, vocab - 1, 2, 3)
    row[0] = 0
    one_wish(answer, row, vocab, smoothing)
    with expect.stops(
        "right for a row of tokens, but `right` may have any number of axes: "
        "a table of tokens stops it."
    ):
        answer(table, vocab, smoothing)
    one_wish(answer, table, vocab, smoothing)
    one_wish(answer, table, vocab, 0.0)


def one_wish(answer, right, vocab, smoothing):
    with expect.untouched(right):
        got = answer(right, vocab, smoothing)
    expect.tensor(got, (*right.shape, vocab))
    expect.that(
        got.is_floating_point(),
        f"with a smoothing of {smoothing} whole numbers come back: "
        "probabilities are floating-point numbers.",
    )
    wish = torch.zeros(*right.shape, vocab)
    hit = wish.scatter(-1, right.cpu()[..., None], 1.0)
    wish += smoothing / vocab
    wish[hit == 1] += 1 - smoothing
    others = smoothing / (vocab - 1)
    but_pad = torch.full_like(wish, others)
    but_pad[..., 0] = 0
    expect.close(
        got.cpu(),
        wish,
        f"with a smoothing of {smoothing} and {vocab} tokens, what should "
        "the right one get, and what each of the others?",
        [
            (
                torch.where(hit == 1, 1 - smoothing, others),
                "the share goes evenly to the whole vocabulary, the right "
                "token included; yours leaves that one out.",
            ),
            (
                torch.where(hit == 1, 1 - smoothing, smoothing / vocab),
                "the probabilities sum to less than 1: the right token, too, "
                "gets its part of what is spread.",
            ),
            (
                hit + smoothing / vocab,
                "the probabilities sum to more than 1: what is spread must "
                "be taken from the right token first.",
            ),
            (
                (1 - smoothing) * hit + smoothing,
                "each token gets the whole share: it is to be divided among "
                f"all {vocab}.",
            ),
            (
                (1 - smoothing) * hit + but_pad,
                "PAD is a token of the vocabulary like any other here, and "
                "yours gives it nothing.",
            ),
            (
                smoothing * hit + (1 - smoothing) / vocab,
                "the two shares have changed places: the right token is to "
                "keep the larger one.",
            ),
        ],
    )


# 11.2


@exercise()
def fit(answer, draw):
    data = [ragged(draw, rows) for rows in (3, 5, 2, 4)]
    model, rate = Toy(draw), draw.whole(3, 9) / 100
    mine = copy.deepcopy(model)
    losses = answer(mine, data, rate)
    list_of(losses, "losses", 4)
    right, after = training(model, data, [rate] * 4)
    expect.close(
        losses[0],
        right[0],
        "the first loss is not the mean of -log p over the characters.",
        [
            (training(model, data, [rate], slip)[0][0], hint)
            for slip, hint in LOSSES.items()
        ],
    )
    cleared = all(
        w.grad is None or not w.grad.any() for w in mine.parameters()
    )
    still = training(model, data, [0.0] * 4)[0]
    expect.that(
        not (expect.same(losses, still) and cleared),
        "the weights do not move: the gradient is cleared before the step "
        "has used it.",
    )
    expect.close(
        losses,
        right,
        "the first loss is right, the later ones are not: a plain "
        f"torch.optim.Adam at the rate {rate} gives others.",
        [(still, "the weights never move: who takes the step?")]
        + [
            (training(model, data, [rate] * 4, slip)[0], hint)
            for slip, hint in STEPS.items()
        ],
    )
    weights_are(mine, after, model, training(model, data, [rate] * 3 + [0])[1])


def weights_are(mine, after, before, one_less):
    """The weights in the end, or those of a known mistake."""
    pairs = [
        (after, ""),
        (before, "the model that was given is as it was: was a copy trained?"),
        (one_less, "the last batch needs a step, too."),
    ]
    for other, hint in pairs:
        if all(map(expect.same, mine.parameters(), other.parameters())):
            expect.that(not hint, f"all losses are right, but {hint}")
            return
    raise Wrong("all losses are right, but the weights in the end are not.")


def list_of(got, what, number):
    """A list with an entry for each batch."""
    expect.that(isinstance(got, list), f"the {what} are to be a list.")
    expect.that(
        len(got) == number,
        f"{number} batches give {number} {what}; yours are {len(got)}.",
    )
    expect.that(
        not any(isinstance(entry, torch.Tensor) for entry in got),
        f"the {what} are tensors, and one with a graph keeps its whole batch "
        "in memory: return plain numbers.",
    )


LOSSES = {
    "pad": "PAD counts in your loss: most texts have some, and the model is "
    "not to learn it.",
    "no shift": "the decoder is given the characters that it must say: then "
    "it only needs to copy.",
    "softmax": "the softmax is taken twice: cross-entropy wants logits.",
    "smoothing": "the loss is to be plain: no label smoothing here.",
}
STEPS = {
    "adds up": "the gradients of all steps add up: before each backward pass "
    "they must be cleared.",
    "new Adam": "Adam forgets its two means at each step: it must be made "
    "once, before the loop.",
    "descent": "this is plain gradient descent: the steps are to be Adam's.",
    "set late": "a rate is set after the step that it is meant for.",
}


def training(model, data, rates, slip=""):
    """The losses, and the model afterwards: Adam by its formula."""
    model = copy.deepcopy(model)
    weights = list(model.parameters())
    m, v, g = ([torch.zeros_like(w) for w in weights] for _ in "mvg")
    losses, t = [], 0
    before = rates[0]
    for batch, rate in zip(data, rates, strict=False):
        loss = slipped(model, batch, slip)
        losses.append(loss.item())
        t = 1 if slip == "new Adam" else t + 1
        now = before if slip == "set late" else rate
        before = rate
        for i, new in enumerate(torch.autograd.grad(loss, weights)):
            g[i] = new + g[i] if slip == "adds up" else new
            first = t == 1
            m[i] = 0.1 * g[i] if first else 0.9 * m[i] + 0.1 * g[i]
            v[i] = (0 if first else 0.999 * v[i]) + 0.001 * g[i] ** 2
            root = (v[i] / (1 - 0.999**t)).sqrt() + 1e-8
            step = m[i] / (1 - 0.9**t) / root
            with torch.no_grad():
                weights[i] -= now * (g[i] if slip == "descent" else step)
    return losses, model


def slipped(model, batch, slip=""):
    """The mean of -log p of all real characters, or of something else."""
    given = batch.target if slip == "no shift" else batch.decoder_input
    logits = model(batch.source, given)
    if slip == "softmax":
        logits = logits.softmax(-1)
    smoothing = 0.1 if slip == "smoothing" else 0.0
    terms = []
    for row, ids in zip(logits.log_softmax(-1), batch.target, strict=True):
        for log_p, token in zip(row, ids.tolist(), strict=True):
            if token or slip == "pad":
                kept = (1 - smoothing) * log_p[token]
                terms.append(-kept - smoothing * log_p.mean())
    return torch.stack(terms).mean()


# 11.3


@exercise(places=(1, 2, 3))
def mismatched(answer, draw):
    places, rows = draw.given.places, draw.whole(8, 11)
    batch = ragged(draw, rows)
    batch.source[:, 0] = torch.arange(rows)  # no two texts are alike
    for ids in (batch.decoder_input, batch.target):
        ids[:, 0] = 30 + torch.arange(rows)
    batch.decoder_input[:, 0] = 1
    batch.decoder_input[:, 1] = 30 + torch.arange(rows)
    with expect.untouched(
        *batch, hint="the batch that was given is changed: make a new one."
    ):
        got = answer(batch)
    fields = getattr(got, "_fields", None)  # the class may be the chapter's
    expect.that(fields == Batch._fields, "what comes back is to be a Batch.")
    expect.that(
        [t.shape for t in got] == [t.shape for t in batch],
        "the three parts must keep their shapes.",
    )
    source, given, target = batch
    expect.close(
        [torch.equal(source, got.source), *came_from(got, batch)],
        [True, -places, -places],
        f"look at the text number {places}: whose answer stands beside it?",
        [
            (
                [True, 0, -places],
                "the target moves, but what the decoder is given still "
                "belongs to the right answer.",
            ),
            (
                [True, -places, 0],
                "what the decoder is given moves, but the target is still "
                "the right answer.",
            ),
            (
                [True, places, places],
                "each text gets the answer of a text after it.",
            ),
            (
                [False, -places, -places],
                "texts and answers move together, so that all fits again.",
            ),
            (
                [False, 0, 0],
                "the texts are to stay where they are: move the answers.",
            ),
            (
                [True, "torn", "torn"],
                "the answers are torn apart: whole rows are to move, not "
                "the characters within a row.",
            ),
            (
                [True, "rows", "rows"],
                "whole answers stand beside the texts, but not in the right "
                f"order: each moves {expect.plural(places, 'row')} down, "
                "and the last ones come to the first texts.",
            ),
        ],
    )


def came_from(got, batch):
    """How many rows down the answers come from; or what else they are."""
    for new, old in zip(got[1:], batch[1:], strict=True):
        moves = [
            move
            for move in range(-3, 4)
            if torch.equal(new, old.roll(-move, dims=0))
        ]
        whole = all((old == row).all(1).any() for row in new)
        yield moves[0] if moves else "rows" if whole else "torn"


# 11.4


@exercise()
def add_gradients(answer, draw):
    parts = [ragged(draw, rows, n) for rows, n in ((2, 9), (4, 5), (3, 7))]
    model, what = Toy(draw), []
    mine = copy.deepcopy(model)
    mine.register_forward_pre_hook(lambda *_: what.append("forward"))
    mine.out.register_hook(lambda _: what.append("backward"))
    answer(mine, *parts)
    expect.that(
        what.count("forward") == len(parts),
        f"each of the {len(parts)} parts is to go through the model once, "
        f"and yours asks it {expect.plural(what.count('forward'), 'time')}.",
    )
    expect.that(
        what.count("backward"),
        "there is no backward pass, so no gradient is left.",
    )
    expect.that(
        what == ["forward", "backward"] * len(parts),
        "the backward pass waits until all parts went forward, so that all "
        "their graphs are in memory at once.",
    )
    right_gradients(mine, model, parts)


def together(parts):
    """One batch of all rows, as long as the longest."""
    length = max(part.target.shape[1] for part in parts)
    return Batch(
        torch.cat([part.source for part in parts]),
        *(
            torch.cat([pad(ids, (0, length - ids.shape[1])) for ids in column])
            for column in list(zip(*parts, strict=True))[1:]
        ),
    )


def right_gradients(mine, model, parts):
    """The gradients of the whole batch, or of one of the known mistakes."""
    whole = together(parts)
    real = [int((part.target != 0).sum()) for part in parts]
    rows = [len(part.target) for part in parts]
    places = [part.target.numel() for part in parts]
    n = len(parts)
    missing = any(w.grad is None for w in mine.parameters())
    expect.that(
        not missing,
        "no gradient is left in `.grad` when you are done: it was cleared, or "
        "never put there.",
    )
    expect.close(
        flat([w.grad for w in mine.parameters()]),
        gradient(model, [whole], [1]),
        "this is not the gradient of the whole batch.",
        [
            (
                gradient(model, parts, [1 / n] * n),
                "each part counts the same, whether it holds many real "
                "characters or few.",
            ),
            (
                gradient(model, parts, [1] * n),
                "the gradients of the means add up to too much: together "
                "the parts must weigh as much as one batch.",
            ),
            (
                gradient(model, parts, real),
                "the parts are weighed rightly against each other, but "
                "together they weigh too much: divide by the real characters "
                "of all parts.",
            ),
            (
                gradient(model, parts, [r / sum(rows) for r in rows]),
                "the parts are weighed by their examples, but the mean goes "
                "over characters.",
            ),
            (
                gradient(model, parts, [p / sum(places) for p in places]),
                "PAD counts in the weight of a part, though not in its mean.",
            ),
            (
                gradient(model, parts[-1:], [real[-1] / sum(real)]),
                "only the last part is left: something clears the gradients "
                "in between.",
            ),
            (
                gradient(model, [whole], [1], 0.0),
                "the loss is to be smoothed as in label_smoothed_loss.",
            ),
        ],
    )


def gradient(model, parts, shares, smoothing=0.1):
    """Of a weighted sum of the losses of parts, by torch's own loss."""
    total = 0
    for part, share in zip(parts, shares, strict=True):
        logits = model(part.source, part.decoder_input).flatten(0, 1)
        total += share * cross_entropy(
            logits,
            part.target.flatten(),
            ignore_index=0,
            label_smoothing=smoothing,
        )
    return flat(torch.autograd.grad(total, list(model.parameters())))


def flat(tensors):
    return torch.cat([t.flatten() for t in tensors])


# 11.5


@exercise()
def sweep(answer, draw):
    number = draw.whole(4, 6)
    data = [full(draw, 3) for _ in range(number)]
    low, high = draw.whole(1, 9) / 1_000, draw.whole(3, 9) / 10
    model = Toy(draw)
    mine = copy.deepcopy(model)
    got = answer(mine, data, low, high)
    expect.that(
        isinstance(got, list | tuple) and len(got) == 2,
        "two lists are asked for: the rates and the losses.",
    )
    rates, losses = got
    list_of(rates, "rates", number)
    list_of(losses, "losses", number)
    right = growing(low, high, number)
    expect.close(
        rates,
        right,
        f"from {low} to {high} in {number} steps the rates must grow by the "
        "same factor each time.",
        [
            (
                [low + (high - low) * i / (number - 1) for i in range(number)],
                "the rate grows by equal amounts: it is to grow by equal "
                "factors.",
            ),
            (
                growing(low, high, number + 1)[:-1],
                f"the last rate is not {high}: how many factors lie between "
                f"{number} rates?",
            ),
            (
                [rate * right[1] / low for rate in right],
                f"the first rate is to be {low}, and yours begins one factor "
                "higher.",
            ),
        ],
    )
    swept(losses, mine, model, data, right)


def growing(low, high, number):
    """Rates with a constant ratio, by their logarithms."""
    a, b = math.log(low), math.log(high)
    return [math.exp(a + (b - a) * i / (number - 1)) for i in range(number)]


def swept(losses, mine, model, data, rates):
    """The losses of the growing rates, and the weights afterwards."""
    right, after = training(model, data, rates)
    constant = training(model, data, [rates[0]] * len(data))[0]
    slips = "adds up", "new Adam", "set late", "descent"
    expect.close(
        losses,
        right,
        "the rates are right, the losses are not those of a training with "
        "them.",
        [(constant, "the rates are noted, but Adam never hears of them.")]
        + [
            (training(model, data, rates, slip)[0], STEPS[slip])
            for slip in slips
        ],
    )
    one_less = training(model, data, [*rates[:-1], 0.0])[1]
    weights_are(mine, after, model, one_less)


# 11.6


@exercise()
def log_p(answer, draw):
    batch, model = ragged(draw, 5), Toy(draw)
    got = answer(model, batch)
    expect.tensor(got)
    expect.that(
        got.shape == (5,),
        f"5 examples have 5 probabilities, one for each; yours has the shape "
        f"{tuple(got.shape)}.",
    )
    logits = model(batch.source, batch.decoder_input).detach()
    by_hand = sums(logits.log_softmax(-1), batch.target)
    lengths = (batch.target != 0).sum(1)
    every = logits.log_softmax(-1)
    pad = every[..., 0].masked_fill(batch.target != 0, 0.0).sum(1)
    expect.close(
        got.cpu(),
        by_hand.cpu(),
        "this is not the sum of log p over the characters and EOS.",
        [
            ((-by_hand).cpu(), "this is the loss: log p is negative."),
            (
                by_hand.exp().cpu(),
                "this is the probability itself: its logarithm is asked for.",
            ),
            (
                (by_hand / batch.target.shape[1]).cpu(),
                "a mean over places: the logarithm of a product is a sum.",
            ),
            (
                (by_hand / lengths).cpu(),
                "a mean over characters: the logarithm of a product is a sum.",
            ),
            (
                (by_hand + pad).cpu(),
                "PAD counts: a text ends with EOS, and what fills up its row "
                "has no probability.",
            ),
            (
                sums(every, batch.target, skip=(0, 2)).cpu(),
                "EOS is missing: that the text ends there is a part of it.",
            ),
            (
                sums(logits.softmax(-1), batch.target).cpu(),
                "probabilities are added: their product is asked for, so add "
                "logarithms.",
            ),
            (
                sums(logits, batch.target).cpu(),
                "logits are added, and they are no logarithms of "
                "probabilities yet.",
            ),
            (
                sums(logits.log_softmax(1), batch.target).cpu(),
                "the softmax goes over the places: at each place the "
                "probabilities of all tokens sum to 1.",
            ),
            (
                sums(every, batch.target, batch.decoder_input).cpu(),
                "the probabilities are those of the characters that the "
                "decoder is given, not of those that it must say.",
            ),
            (
                sums(every, batch.target, every.argmax(-1)).cpu(),
                "the probabilities are those of the likeliest characters, "
                "not of the right ones.",
            ),
        ],
    )


def sums(every, target, picked=None, skip=(0,)):
    """For each row the sum of what its tokens have, one by one."""
    picked = target if picked is None else picked
    rows = []
    for row in range(len(target)):
        total = every.new_zeros(())
        for place, token in enumerate(target[row].tolist()):
            if token not in skip:
                total += every[row, place, picked[row, place]]
        rows.append(total)
    return torch.stack(rows)
