"""Checks of the exercises of chapter 11, training. Not taught."""

import weakref
from functools import partial

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import cross_entropy

from kit.exercises import expect
from kit.exercises.contract import asks, between, ids, leaves, made
from lib.runtime import device
from lib.training import Batch


class Toy(nn.Module):
    """Called like the Transformer; in training its logits are twice as large.

    It is in float64, as Adam divides by numbers that may be near zero.
    """

    def __init__(self, draw, case):
        super().__init__()
        v, w, d = (case.sizes[letter] for letter in "vwd")
        shapes = {"reads": (v, d), "given": (w, d), "out": (d, w)}
        for name, shape in shapes.items():
            weight = draw.normal(*shape, dtype=torch.float64)
            setattr(self, name, nn.Parameter(weight))
        self.out.data *= case.times**2

    def forward(self, source, decoder_input):
        read = self.reads[source].sum(1, keepdim=True)
        x = (self.given[decoder_input] + read).tanh()
        return x @ self.out * (1 + self.training)


def batches(draw, case, has_pad=True):
    """Of different sizes: texts, what the decoder is given, and the target.

    Each target ends with EOS; then comes PAD, also in the first row.
    """
    k, n, s, t, v, w = (case.sizes[letter] for letter in "knstvw")
    found = []
    for i in range(k):
        rows, length = n + i % 3, t + i % 2
        place = torch.arange(length, device=device())
        text = draw.ids(3, w - 1, rows, length)
        end = draw.ids(0, length - 1, rows, 1)
        end[0] = (length - 1) // 2
        end = end if has_pad else torch.full_like(end, length - 1)
        given = text.roll(1, 1).masked_fill(place == 0, 1)
        given = given.masked_fill(place > end, 0)
        target = text.masked_fill(place == end, 2).masked_fill(place > end, 0)
        found.append((draw.ids(3, v - 1, rows, s), given, target))
    return found


TOY = made(Toy, "v w d", is_floating=True)
PARTS = made(batches, "k n s t v w")
FULL = made(partial(batches, has_pad=False), "k n s t v w")
SIZES = {"k": (3, 5), "n": (4, 6), "v": (5, 9), "w": (6, 9)}
REPEATS = ("double", "strided")  # the toy is in float64 always
# A step of Adam is rate · g / (|g| + 1e-8), with a rate of at most 0.1 here:
# so much a weight moves by what rounding leaves of a gradient.
ROUNDED = 0.1 * torch.finfo(torch.float64).eps / 1e-8


def as_batches(answer, parts):
    """Batches of the class that the page has."""
    kind = expect.beside(answer, "Batch") or Batch
    return [kind(*part) for part in parts]


def trained(answer, model, parts, *rates):
    """What an answer returns, and the weights and modes that it leaves.

    A gradient of an earlier training stands in `.grad`.
    """
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    got = answer(model, as_batches(answer, parts), *rates)
    expect.that(
        not any(
            isinstance(x, Tensor) and x.requires_grad for x in leaves(got)
        ),
        "a loss with a graph keeps its whole batch in memory: return plain "
        "numbers.",
    )
    weights = list(model.parameters())
    return got, weights, model.training, [w.requires_grad for w in weights]


def plain(model, source, given, target, pad=0):
    """The mean over the characters."""
    return cross_entropy(model(source, given).mT, target, ignore_index=pad)


def training(model, batches, rates, loss=plain, clears=True, forgets=False):
    """The losses of a training in which each step has a rate of its own."""
    optimiser = torch.optim.Adam(model.parameters())
    losses = []
    for batch, rate in zip(batches, rates, strict=True):
        value = loss(model, *batch)
        if clears is True:
            optimiser.zero_grad()
        value.backward()
        optimiser.param_groups[0]["lr"] = rate
        optimiser.step()
        if clears == "late":
            optimiser.zero_grad()
        if forgets:
            optimiser.state.clear()
        losses.append(value.item())
    return losses


ADDS_UP = (
    "the gradients of all steps add up: before each backward pass they must "
    "be cleared."
)
LATE = (
    "a gradient of an earlier training may stand in `.grad`: clear it before "
    "the first backward pass as well."
)
FORGETS = (
    "Adam forgets its two means at each step: it must be made once, before "
    "the loop."
)


def evenly(**slips):
    """A training at one rate."""
    return lambda model, batches, rate: training(
        model, batches, [rate] * len(batches), **slips
    )


@asks(
    {"model": TOY, "batches": PARTS, "rate": between(0.03, 0.1)},
    "a plain torch.optim.Adam with the mean of -log p over the characters "
    "gives other losses, or leaves other weights.",
    {
        "PAD counts in your loss: most texts have some, and the model is not "
        "to learn it.": evenly(loss=partial(plain, pad=-100)),
        "the decoder is given the characters that it must say: then it only "
        "needs to copy.": evenly(
            loss=lambda model, source, _, target: plain(
                model, source, target, target
            )
        ),
        ADDS_UP: evenly(clears=False),
        LATE: evenly(clears="late"),
        FORGETS: evenly(forgets=True),
        "the weights never move: who takes the step, and is the gradient "
        "still there?": lambda model, batches, rate: training(
            model, batches, [0.0] * len(batches)
        ),
        "the model is to stay as it is for training: eval turns dropout "
        "off.": lambda model, *given: evenly()(model.eval(), *given),
    },
    sizes=SIZES,
    calls=trained,
    changes=("model",),
    leaves_out=REPEATS,
    within=ROUNDED,
)
def fit(model, batches, rate):
    return training(model, batches, [rate] * len(batches))


class Known(Batch):
    """A batch that knows how many rows its answers are to move."""

    places: int


def slipped(answer, source, given, target, places):
    batch = Known(source, given, target)
    batch.places = places
    got = answer(batch)
    fields = getattr(got, "_fields", None)  # the class may be the chapter's
    expect.that(fields == Batch._fields, "what comes back is to be a Batch.")
    return got


def moved(*steps, axis=0):
    """A batch whose three parts move so many times as far as is asked."""
    return lambda batch: Batch(
        *(
            part.roll(step * batch.places, axis)
            for part, step in zip(batch, steps, strict=True)
        )
    )


@asks(
    {
        "source": ids("n s", below="v"),
        "decoder_input": ids("n t", below="v"),
        "target": ids("n t", below="v"),
        "places": made(lambda draw, case: draw.given.places),
    },
    "look at one text: whose answer is to stand beside it?",
    {
        "the target moves, but what the decoder is given still belongs to "
        "the right answer.": moved(0, 0, 1),
        "what the decoder is given moves, but the target is still the right "
        "answer.": moved(0, 1, 0),
        "each text gets the answer of a text after it.": moved(0, -1, -1),
        "texts and answers move together, so that all fits again.": (
            moved(1, 1, 1)
        ),
        "the answers are torn apart: whole rows are to move, not the "
        "characters within a row.": moved(0, 1, 1, axis=1),
    },
    sizes={"n": (8, 11), "v": (50, 90)},
    calls=slipped,
    places=(1, 2, 3),
)
def mismatched(batch):
    return moved(0, 1, 1)(batch)


def left(answer, model, parts):
    """The gradients that an answer leaves."""
    answer(model, *as_batches(answer, parts))
    slopes = [weight.grad for weight in model.parameters()]
    expect.that(
        None not in slopes,
        "no gradient is left in `.grad` when you are done: it was cleared, "
        "or never put there.",
    )
    return slopes


def most_kept(answer, model, parts):
    """How many numbers graphs keep at the same time, at most."""
    kept, sums = [], []

    def keep(tensor):
        tensor = tensor.clone()
        kept.append(weakref.ref(tensor))
        alive = [x for ref in kept if (x := ref()) is not None]
        sums.append(sum(x.numel() for x in alive))
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        answer(model, *as_batches(answer, parts))
    return max(sums)


def one_graph_at_a_time(answer, model, parts):
    alone = max(most_kept(answer, model, [part]) for part in parts)
    expect.that(
        most_kept(answer, model, parts) < 1.3 * alone,
        "graphs of several parts are in memory at once: backward through one "
        "part, and only then forward through the next.",
    )


def smoothed(model, source, given, target, reduction="mean"):
    return cross_entropy(
        model(source, given).mT,
        target,
        ignore_index=0,
        label_smoothing=0.1,
        reduction=reduction,
    )


def real(target):
    return (target != 0).sum()


def weighed(share, loss=smoothed):
    """Part after part, by its own share and those of all."""

    def added(model, *parts):
        shares = [share(target) for _, _, target in parts]
        for part, mine in zip(parts, shares, strict=True):
            (mine / sum(shares) * loss(model, *part)).backward()

    return added


@asks(
    {
        "model": made(lambda *of: Toy(*of).float(), "v w d", is_floating=True),
        "parts": PARTS,
    },
    "this is not the gradient of the whole batch.",
    {
        "each part counts the same, whether it holds many real characters or "
        "few.": weighed(lambda target: 1),
        "the gradients of the means add up to too much: together the parts "
        "must weigh as much as one batch.": lambda model, *parts: sum(
            smoothed(model, *part) for part in parts
        ).backward(),
        "the parts are weighed by their examples, but the mean goes over "
        "characters.": weighed(len),
        "PAD counts in the weight of a part, though not in its mean.": (
            weighed(torch.numel)
        ),
        "the loss is to be smoothed as in label_smoothed_loss.": (
            weighed(real, plain)
        ),
    },
    sizes=SIZES,
    calls=left,
    leaves_out=("double", "strided"),  # shares of counts are float32
    also=(one_graph_at_a_time,),
)
def add_gradients(model, *parts):
    """All parts at once, as a batch would be."""
    losses = [smoothed(model, *part, reduction="sum") for part in parts]
    number = sum(real(target) for _, _, target in parts)
    (sum(losses) / number).backward()


def growing(low, high, number):
    """Equal steps of the logarithm."""
    exponents = torch.linspace(0, 1, number, dtype=torch.float64)
    return (low * (high / low) ** exponents).tolist()


def sweeping(rates=growing, used=lambda rates: rates, **slips):
    """A training whose rates are noted, and used in some way."""

    def swept(model, batches, low, high):
        noted = rates(low, high, len(batches))
        return noted, training(model, batches, used(noted), **slips)

    return swept


@asks(
    {
        "model": TOY,
        "batches": FULL,
        "low": between(0.001, 0.009),
        "high": between(0.1, 0.5),
    },
    "a step of a plain torch.optim.Adam for each batch, from low to high, "
    "gives other rates or losses, or leaves other weights.",
    {
        "the rate grows by equal amounts: it is to grow by equal factors.": (
            sweeping(lambda *of: torch.linspace(*of).tolist())
        ),
        "the last rate is not the highest: how many factors lie between the "
        "rates?": sweeping(
            lambda low, high, number: growing(low, high, number + 1)[:-1]
        ),
        "the rates are noted, but Adam never hears of them.": sweeping(
            used=lambda rates: rates[:1] * len(rates)
        ),
        "a rate is set after the step that it is meant for.": sweeping(
            used=lambda rates: rates[:1] + rates[:-1]
        ),
        ADDS_UP: sweeping(clears=False),
        LATE: sweeping(clears="late"),
        FORGETS: sweeping(forgets=True),
    },
    sizes=SIZES,
    calls=trained,
    changes=("model",),
    leaves_out=REPEATS,
    # The rates may be computed in float32.
    within=lambda size: 1e-6 * max(1, size),
)
def sweep(model, batches, low, high):
    return sweeping()(model, batches, low, high)
