"""Checks of the exercises of chapter 13, decoding. Not taught."""

import heapq
import math
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from itertools import count
from operator import itemgetter, mul, or_, truediv

import torch

from kit.exercises import expect
from kit.exercises.contract import asks, floats, hunts, made, whole

SHARES = 0.1, 0.2, 0.3, 0.5, 0.7, 1.0


class far_apart(floats):
    """Logits in steps of a quarter: no quotient of p is nearly a share.

    The large ones are so large that an exponential overflows.
    """

    def drawn(self, draw, case):
        x = super().drawn(draw, replace(case, times=4.0)).round() / 4
        if case.times == 1:
            return x
        ends = torch.linspace(-1000, 1000, len(x), dtype=case.dtype)
        return x * case.times + ends.to(x)[:, None, None]


def some_share(draw, case):
    return 1.0 if case.length == 1 else draw.lots.choice(SHARES)


def top(logits):
    return logits.amax(-1, keepdim=True)


def cut(is_kept, low=-math.inf):
    """The logits where a condition on them holds, and below it elsewhere."""
    return lambda x, share: x.where(is_kept(x, share), low)


def is_near_best(x, share):
    p = x.softmax(-1)
    return p >= share * top(p)


@asks(
    {"logits": far_apart("b n v"), "share": made(some_share)},
    "compare each p with the best p of its row; what is cut off becomes "
    "-inf, and all else stays as it was.",
    {
        "a token is measured by the probability itself: it is to be measured "
        "by the best one.": cut(lambda x, share: x.softmax(-1) >= share),
        "this is a share of the best logit: logits are logarithms, of which "
        "a share is no share.": cut(lambda x, share: x >= share * top(x)),
        "the share is subtracted from the best logit: which difference of "
        "logits is a quotient of probabilities?": (
            cut(lambda x, share: x >= top(x) - share)
        ),
        "what is kept must stay as it was: yours are logarithms of "
        "probabilities.": (
            lambda x, share: cut(is_near_best)(x.log_softmax(-1), share)
        ),
        "what is cut off becomes -inf.": cut(is_near_best, -1e9),
        "a logit of 0 is not cut off, since exp(0) is 1.": (
            cut(is_near_best, 0.0)
        ),
        "the best of the whole batch is taken: each row has its own.": (
            cut(lambda x, share: x >= x.max() + math.log(share))
        ),
        "the first token of a row need not be the best one.": (
            cut(lambda x, share: x >= x[..., :1] + math.log(share))
        ),
        "a token that is as probable as the best has a share of 1, and that "
        "is at least 1.": cut(lambda x, share: x > top(x) + math.log(share)),
    },
    calls=lambda answer, logits, share: [
        answer(x, share)
        for x in (logits[0, 0], logits[0], logits, logits[None])
    ],
)
def filtered_by_best(logits, share):
    return cut(is_near_best)(logits, share)


def wild(seed, text):
    """Some letters with probabilities, and one that is impossible."""
    lots = random.Random(f"{seed} {text}")
    shares = [lots.uniform(0.1, 1.0) for _ in "uvx."]
    p = dict(zip("uvx.", shares, strict=True)) | {"w": 0.0, "y": 1e-6}
    return {c: p[c] / sum(p.values()) for c in lots.sample("uvwxy.", 6)}


def parts(answer, seed):
    """What goes on and what has ended, for each width, in order."""
    results, lots, told = [], random.Random(seed), {}

    def next_letters(text):
        return told.setdefault(text, wild(seed, text))

    beams = {c * n: lots.uniform(-2, 0) for n, c in enumerate("abcdef")}
    beams["g"] = -800.0  # a probability that is 0 as a number
    for width in (1, 2, 3, 5, 8, 12, 17, 30):
        mine = dict(beams)
        with expect.stops(NO_LOGARITHM, (ValueError,)):
            got = answer(mine, next_letters, width)
        expect.that(
            mine == beams and all(told[t] == wild(seed, t) for t in told),
            "your code changes the beams, or what next_letters returned.",
        )
        expect.that(
            isinstance(got, tuple | list)
            and [isinstance(part, Mapping) for part in got] == [True] * 2,
            "two dictionaries are asked for: first what goes on.",
        )
        filled = [[*p.items(), *[("", 0.0)] * 30][:30] for p in got]
        results.append(filled)
    return results


NO_LOGARITHM = (
    "a letter with probability 0 stops your code: it has no logarithm."
)


def is_unfinished(text):
    return not text.endswith(".")


def walk(
    log=lambda before, p: before + math.log(p),
    worth=itemgetter(1),
    counts=is_unfinished,
):
    """One step that walks down a ranking until enough texts have counted."""

    def step(beams, next_letters, width):
        found = [
            (text + c, log(before, p), p)
            for text, before in beams.items()
            for c, p in next_letters(text).items()
            if p
        ]
        found.sort(key=worth, reverse=True)
        places = [n for n, new in enumerate(found, 1) if counts(new[0])]
        end = (places + [len(found)] * width)[width - 1]
        walked = {text: log for text, log, _ in found[:end]}
        going = {t: log for t, log in walked.items() if is_unfinished(t)}
        return going, {t: walked[t] for t in walked if t not in going}

    return step


def best_of_each(beams, next_letters, width):
    best = walk(counts=bool)
    parts = [best({t: log}, next_letters, 1) for t, log in beams.items()]
    return [reduce(or_, part) for part in zip(*parts, strict=True)]


@asks(
    {"seed": whole(0, 10**6)},
    "walk down the ranking of all continuations, the most probable first, "
    "until enough unfinished texts are collected; keep its order.",
    {
        "log p is multiplied by a probability: to multiply probabilities, "
        "add logarithms.": walk(lambda before, p: before * p),
        "a probability is added to log p: its logarithm must be.": (
            walk(lambda before, p: before + p)
        ),
        "the log p that a beam had before is lost: add to it.": (
            walk(lambda before, p: math.log(p))
        ),
        "an ended text takes a place: only unfinished texts count for the "
        "width.": walk(counts=bool),
        "texts are ranked by their last letter alone: log p of the whole "
        "text counts.": walk(worth=itemgetter(2)),
        "texts of different lengths are compared by something else than "
        "log p: the ranking has no penalty.": (
            walk(worth=lambda new: new[1] / (5 + len(new[0])) ** 0.6)
        ),
        "each beam keeps its own best: all continuations compete.": (
            best_of_each
        ),
        "you collect ended texts that are not passed on the way: the walk "
        "stops when the width is reached.": lambda beams, more, width: (
            walk()(beams, more, width)[0],
            walk()(beams, more, 99)[1],
        ),
        "the two dictionaries have changed places: first what goes on.": (
            lambda *given: walk()(*given)[::-1]
        ),
    },
    within=1e-4,  # log p is -800, perhaps in float32
    calls=parts,
)
def step_aside(beams, next_letters, width):
    return walk()(beams, next_letters, width)


def crowd(seed, text):
    """Of 1,201 beginnings that of the best text looks worst."""
    if not text:
        letters = {chr(0x4E00 + n): 1 / 1201 for n in range(1200)}
        return letters | {"z": 0.9 / 1201}
    return {".": 0.95, "a": 0.05} if text == "z" else wild(seed, text)


def one_long(p, text):
    """A long text, nearly certain once it has begun."""
    p = 0.99 if text else p
    return {"a": p, ".": 1 - p} if len(text) < 60 else {".": 1.0}


def found_in_all(answer, seed):
    """What is found in four trees, with no more questions than sensible."""
    trees = (wild, seed), (crowd, seed), (one_long, 0.45), (one_long, 0.7)
    questions = count()

    def ask(next_letters, given, text):
        expect.that(
            len(text) < 1000 and next(questions) < 200_000,
            "too many questions: go on with the most probable text each "
            "time, and stop at a finished one.",
        )
        return next_letters(given, text)

    with expect.stops(NO_LOGARITHM, (ValueError,)):
        return [answer(partial(ask, *tree)) for tree in trees]


def best(next_letters):
    """The best text, by going through all that can still be better."""
    text, p, alive = "", 0.0, [("", 1.0)]
    while alive:
        longer = [
            (begun + letter, before * share)
            for begun, before in alive
            for letter, share in next_letters(begun).items()
        ]
        ended = [new for new in longer if not is_unfinished(new[0])]
        text, p = max([(text, p), *ended], key=itemgetter(1))
        alive = [x for x in longer if is_unfinished(x[0]) and x[1] > p]
    return text, p


def first_ended(next_letters):
    """The first finished text that turns up on the way of the best."""
    queue = [(-1.0, "")]
    while True:
        p, text = heapq.heappop(queue)
        letters = next_letters(text)
        if "." in letters:
            return text + ".", -p * letters["."]
        for letter, share in letters.items():
            heapq.heappush(queue, (p * share, text + letter))


def greedy_text(next_letters):
    text, p = "", 1.0
    while is_unfinished(text):
        letter, share = max(next_letters(text).items(), key=itemgetter(1))
        text, p = text + letter, p * share
    return text, p


@asks(
    {"seed": whole(0, 10**6)},
    "this is not the most probable text with its probability: take the most "
    "probable one out of the queue each time, finished or not.",
    {
        "this is the greedy text: a less probable first letter can lead to a "
        "better one.": greedy_text,
        "the first finished text that turns up need not be the best: wait "
        "until it comes to the head of the queue.": first_ended,
        "the text alone comes back: its probability is asked for, too.": (
            lambda next_letters: best(next_letters)[0]
        ),
    },
    within=1e-6,
    calls=found_in_all,
)
def best_of_all(next_letters):
    return best(next_letters)


def search(
    next_letters,
    width,
    pruned_by,  # the length penalty
    said_by,  # that of the scores which come back
    log_p=lambda shares: sum(math.log(p or 1e-9) for p in shares),
    scored=truediv,
    keeps=lambda width: width,
    is_done=all,
    is_over=lambda text: text.endswith("."),
    begins=1,
    ended=1,  # how often a text that is over is kept
    of_each=None,
    asked=1,
    above=0.0,
    is_backwards=False,
    is_best_first=True,
):
    """A beam search, right unless its parts are changed."""

    def score(beam, penalty):
        return scored(log_p(beam[1]), penalty(beam[0]))

    beams = [("", ())] * begins
    for _ in range(1000):
        new = []
        for text, shares in beams:
            if is_over(text):
                new += [(text, shares)] * ended
                continue
            for _ in range(asked):
                letters = next_letters(text)
            p = {c: p for c, p in letters.items() if p > above}
            best = sorted(p, key=p.get, reverse=True)[:of_each]
            new += [(text + c, (*shares, p[c])) for c in best]
        new.sort(reverse=is_backwards)
        new.sort(key=lambda beam: score(beam, pruned_by), reverse=True)
        beams = new[: keeps(width)]
        if is_done([text.endswith(".") for text, _ in beams]):
            break
    pairs = [(beam[0], score(beam, said_by)) for beam in beams]
    return sorted(pairs, key=itemgetter(1), reverse=is_best_first)


def log_of_product(shares):
    """Of any size."""
    product = math.prod(map(Fraction, shares))
    return math.log(product.numerator) - math.log(product.denominator)


def by(penalty):
    return {"pruned_by": penalty, "said_by": penalty}


def nothing(text):
    return 1


@hunts(alpha=(0.6, 0.5, 0.7, 0.8))
def finds_wrong_search(draw):
    def penalty(text, alpha=draw.given.alpha):
        return ((5 + len(text)) / 6) ** alpha

    right = {
        "keeps its beams in a list": {},
        "multiplies probabilities and takes the logarithm last": {
            "log_p": log_of_product
        },
        "adds logarithms exactly": {
            "log_p": lambda shares: math.fsum(map(math.log, shares))
        },
        "puts equally good texts in the reverse order": {"is_backwards": True},
        "asks everything twice": {"asked": 2},
    }
    wrong = {
        "follows one text only": {"keeps": lambda width: 1},
        "gives the worst text first": {"is_best_first": False},
        "ranks by log p and forgets the length penalty": by(nothing),
        "stops as soon as one text has ended": {"is_done": any},
        "stops when the best text has ended": {"is_done": itemgetter(0)},
        "goes on with texts that have ended": {"is_over": lambda text: False},
        "forgets a text once it has ended": {"ended": 0},
        "finds each text twice": {"begins": 2},
        "keeps one text more than the width": {"keeps": lambda n: n + 1},
        "adds probabilities instead of their logarithms": {"log_p": sum},
        "multiplies by the length penalty": {"scored": mul},
        "leaves the full stop out of the length": by(
            lambda text: penalty(text.removesuffix("."))
        ),
        "divides by the length itself": by(len),
        "has an alpha of 1": by(partial(penalty, alpha=1)),
        "gives log p beside the text": {"said_by": nothing},
        "keeps the best continuation of each beam": {"of_each": 1},
        "writes letters of probability 0": {"above": -1.0},
        "prunes by log p, without the penalty": {"pruned_by": nothing},
    }
    return [
        {
            does: partial(search, **by(penalty) | part)
            for does, part in c.items()
        }
        for c in (right, wrong)
    ]
