"""Checks of the exercises of chapter 8, the encoder. Not taught."""

import math
from collections import Counter
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from kit.exercises import expect
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    ids,
    lengths,
    made,
    padding,
    whole,
)
from lib.embedding import TokenEmbedding
from lib.encoder import Encoder, EncoderBlock
from lib.positions import PositionalEncoding
from lib.runtime import device


def drawn_anew(module, draw, case):
    """A module, no number of which is 0 or 1, ready to be used."""
    draw.fill(module, lambda x: x / x.shape[-1] ** (x.ndim / 2 - 0.5))
    return module.to(device(), case.dtype).eval()


class Reader(nn.Module):
    """The parts of the page's model, which are to be called one by one."""

    def __init__(self, draw, case):
        super().__init__()
        blocks, numbers, longest = lengths("b v j", case)
        width = 2 * longest
        layers = [EncoderBlock(width, 2, numbers) for _ in range(blocks)]
        self.embedding = TokenEmbedding(numbers, width)
        self.positions = PositionalEncoding(width, 2 * longest)
        self.encoder = Encoder(layers)
        self.output = nn.Linear(width, numbers)
        drawn_anew(self, draw, case)


def ragged(draw, case):
    """Rows of ids, one of them the longest, with different ids at the end."""
    rows, numbers, longest = lengths("n v j", case)
    shorter = [draw.whole(1, max(1, longest - 1)) for _ in range(rows - 1)]
    some = draw.shuffled([longest, *shorter])
    return [
        F.pad(draw.ids(0, numbers - 1, n - 1), (0, 1), value=i % numbers)
        for i, n in enumerate(some)
    ]


def read(masks, side="right"):
    """An answer that pads, and gives the blocks these masks."""

    def answers(model, rows):
        ids = pad_sequence(rows, True, 0, side)
        ones = [torch.ones_like(row) for row in rows]
        real = pad_sequence(ones, True, 0, side)[:, None, None] > 0
        x = model.positions(model.embedding(ids))
        for i, block in enumerate(model.encoder.blocks):
            x = block(x, masks(real, ids, i))
        return [y[r[0, 0]] for y, r in zip(model.output(x), real, strict=True)]

    return answers


def each_part_once(answer, model, rows):
    runs = Counter()
    for part in model.modules():
        part.register_forward_hook(lambda part, *_: runs.update([part]))
    answer(model, rows)
    most = max(runs.values(), default=1)
    expect.that(
        most == 1,
        f"a part of the model ran {most} times for {len(rows)} rows: pad the "
        "rows, and run all of them together, once.",
    )


@asks(
    {
        "model": made(Reader, "b v j", is_floating=True),
        "rows": made(ragged, "n v j"),
    },
    "a row gets other logits than alone. At which places does it stand in "
    "your batch, and what does it see?",
    {
        "every block looked at the PAD behind a short row: it must be told "
        "which positions are real.": read(lambda real, ids, i: None),
        "the mask of this book says True where a position may be seen, and "
        "yours is True at PAD.": read(lambda real, ids, i: ~real),
        "0 is a number of ours, too: the lengths know what is PAD, and the "
        "ids do not.": read(lambda real, ids, i: (ids != 0)[:, None, None]),
        "the second block looked at PAD: every block needs the mask.": (
            read(lambda real, ids, i: None if i else real)
        ),
        "PAD stands in front of a short row, so its numbers get the "
        "positions of later ones: pad behind.": (
            read(lambda real, ids, i: real, "left")
        ),
    },
    sizes={"b": (2, 3)},
    leaves_out=("strided", "large"),  # no input is a tensor
    also=(each_part_once,),
    ways=(by_oneself("Encoder"),),
)
def answers(model, rows):
    alone = []
    for row in rows:
        x = model.positions(model.embedding(row[None]))
        for block in model.encoder.blocks:
            x = block(x)
        alone.append(model.output(x)[0])
    return alone


def with_repeats(draw, case):
    """A row of whole numbers; more than ten are from a few."""
    row = draw.ids(-3, 3, *lengths("n", case)).tolist()
    row = draw.given.row if case.is_given else row[: case.length]
    return torch.tensor(row) * int(case.times) ** 3  # no float32 has i / 10


COUNTING = ("sum", "count_nonzero", "bincount", "cumsum", "searchsorted")
SORTING = ("sort", "argsort", "sorted", "topk", "unique", "msort")


def seen_in_looks(answer, row):
    """Whom each number counts, and whom each place fetches.

    It may count the larger ones as well, if it then looks from the end.
    """
    looks = answer(row)
    if not isinstance(looks, list | tuple) or len(looks) != 2:
        return looks
    for look in looks:
        expect.tensor(look, (len(row), len(row)))
        expect.that(
            (look.sum(-1) - 1).abs() < 1e-3,
            "the rows of a look do not sum to 1: each is a softmax over the "
            "numbers that are looked at.",
        )
    least = torch.full_like(looks[0], 1e-3).fill_diagonal_(1e-6)
    counted = looks[0] > least * looks[0].amax(-1, keepdim=True)
    numbers = counted.sum(-1)[looks[1].argmax(-1)]
    falls = numbers[0] > numbers[-1]
    return counted.mT if falls else counted, looks[1] > 0.99


def equal_shares(answer, row):
    """What a number keeps tells how many it counts, if all get as much."""
    look = answer(torch.cat([row, 3 * row, -row]))[0]
    others = look - look.diag().diag()
    counted = others > 1e-3 * others.amax(-1, keepdim=True)
    least = others.where(counted, 1).amin(-1)
    expect.that(
        others.amax(-1) < 1.01 * least,
        "a number gives different weights to those that it counts: then what "
        "it keeps does not tell how many they are.",
    )


def by_counts(counts, high=20.0, sure=20.0):
    """Two looks; `counts` tells of two numbers at i and j who counts."""

    def two_looks(row):
        i = torch.arange(len(row))
        look_1 = (high * counts(row[:, None], row, i[:, None], i)).softmax(-1)
        count = (1 / look_1.diagonal() - 1).round()
        return look_1, (sure * (i[:, None] == count)).softmax(-1)

    return two_looks


def rightly(a, b, i, j):
    """A number counts the smaller ones, and its equals up to itself."""
    return (a > b) | (a == b) & (i >= j)


@asks(
    {"row": made(with_repeats, "n", is_floating=True)},
    "the first look is to tell each number its place, by the share that the "
    "number keeps, and in the second each place fetches its number.",
    {
        "equal numbers count the same, so they claim the same place. What do "
        "two equal numbers differ in?": by_counts(lambda a, b, i, j: a >= b),
        "equal numbers change their order: of two, which one must count the "
        "other?": by_counts(lambda a, b, i, j: (a > b) | (a == b) & (i <= j)),
        "a number keeps no share for itself, and without it nothing tells "
        "how many it has counted.": (
            by_counts(lambda a, b, i, j: rightly(a, b, i, j) & (i != j))
        ),
        "the larger numbers still get weight, because your scores are low: "
        "the page gives 20.": by_counts(rightly, high=1.0),
        "make the second look as sure as the page's.": (
            by_counts(rightly, sure=2.0)
        ),
    },
    sizes={"n": (11, 30)},
    calls=seen_in_looks,
    also=(equal_shares,),
    ways=(by_oneself(*SORTING, *COUNTING),),
    row=([7, 3, 7], [5, 9, 5], [4, 1, 4], [2, 8, 2]),
)
def two_looks(row):
    places = row.argsort(stable=True)
    counts = places.argsort()[:, None] + 1
    look_1 = (places.argsort() < counts) / counts
    return look_1, torch.eye(len(row))[places]


def some_task(draw, case):
    """A place writes its own number, a sum, or another's.

    The first place reads another, which no exchange with the first shows; a
    place in the middle adds up those before it, which no neighbours show.
    """
    length = case.sizes["length"]
    middle = draw.whole(2, length - 3)
    others = {*range(1, length)} - {middle}
    _own, sums, other, last, *rest = draw.shuffled(sorted(others))

    def task(rows):
        answers = rows.clone()
        answers[:, sums] = rows.sum(-1)
        answers[:, middle] = rows[:, :middle].sum(-1)
        answers[:, 0] = rows[:, other]
        answers[:, last] = rows[:, 0]
        for place in rest:
            answers[:, place] = rows.gather(-1, rows)[:, place]
        return answers

    return task


def differences(task, row, pairs=None, put=None):
    """Where the answers differ if two numbers are exchanged; by pair."""
    for j, k in pairs or combinations(range(len(row)), 2):
        other = row.clone()
        other[[j, k]] = row[[k, j]] if put is None else put
        yield [j, k], task(other[None])[0] != task(row[None])[0]


def elsewhere(task, row, **how):
    """The places whose answers differ, the exchanged ones left out."""
    found = torch.zeros_like(row, dtype=torch.bool)
    for pair, differs in differences(task, row, **how):
        differs[pair] = False
        found |= differs
    return found


def anywhere(task, row):
    return sum(differs.int() for _, differs in differences(task, row)) > 0


@asks(
    {
        "task": made(some_task, "length"),
        "row": ids("length", "length"),
    },
    "at which places does the answer change when the numbers of two other "
    "places are exchanged?",
    {
        "at the two places themselves an answer may change: they hold other "
        "numbers now. Leave them out.": anywhere,
        "try every pair of places, not only neighbours.": (
            lambda task, row: elsewhere(
                task, row, pairs=[(n, n + 1) for n in range(len(row) - 1)]
            )
        ),
        "try every pair of places, not only those with the first.": (
            lambda task, row: elsewhere(
                task, row, pairs=[(0, n) for n in range(1, len(row))]
            )
        ),
        "do not put other numbers into the row: exchange two that are "
        "there.": lambda task, row: elsewhere(task, row, put=0),
        "True and False are exchanged in yours.": (
            lambda task, row: ~elsewhere(task, row)
        ),
    },
    sizes={"length": (6, 8)},
)
def must_choose(task, row):
    return elsewhere(task, row)


def with_an_empty(draw, case):
    """A padding mask; of several sentences one is empty."""
    mask = padding("n 1 1 j").drawn(draw, case)
    if len(mask) > 1:
        mask[draw.whole(0, len(mask) - 1)] = False
    return mask


def with_nan(answer, x, m):
    """What becomes of x, of NaN and infinity at PAD, and of one real NaN.

    The emptiest sentence is also tried alone.
    """
    is_pad = ~m[:, 0].mT
    others = [x.masked_fill(is_pad, bad) for bad in (math.nan, math.inf)]
    real = m[:, 0, 0].nonzero().tolist()
    n, j = real[len(real) // 2]
    others.append(x.clone())
    others[-1][n, j, j % x.shape[-1]] = math.nan
    at = count(m)[:, 0].argmin().item()
    alone = answer(x[at : at + 1], m[at : at + 1])
    return [alone, *(answer(y, m) for y in (x, *others))]


def summed(x, m):
    return x.masked_fill(~m[:, 0].mT, 0).sum(1)


def count(m):
    return m.sum(-1)[:, 0]


@asks(
    {"x": floats("n j d"), "may_attend": made(with_an_empty, "n j")},
    "the vectors are not the means over the real positions.",
    {
        "PAD is in your mean: the mask says what is real.": (
            lambda x, m: x.mean(1)
        ),
        "PAD is left out of the sum but not of the count: divide by the "
        "number of real positions.": lambda x, m: summed(x, m) / x.shape[1],
        "only an empty sentence needs another divisor, and you add 1 to "
        "every count.": lambda x, m: summed(x, m) / (count(m) + 1),
        "PAD may stand in front: the mask says where the real positions are, "
        "and not only how many.": lambda x, m: (
            summed(x, m.sort(-1, descending=True).values) / count(m).clamp(1)
        ),
        "an empty sentence gets NaN, because you divide by a count of 0. By "
        "what could you divide instead?": (
            lambda x, m: summed(x, m) / count(m)
        ),
        "where PAD holds NaN or infinity, so does your answer: 0 times NaN "
        "is NaN. Replace what stands at PAD, do not multiply it.": (
            lambda x, m: (x * m[:, 0].mT).sum(1) / count(m).clamp(1)
        ),
        "a NaN at a real position must be seen: let none arise, instead of "
        "repairing all of them.": (
            lambda x, m: (summed(x, m) / count(m)).nan_to_num()
        ),
    },
    calls=with_nan,
)
def mean_of_real(x, may_attend):
    pairs = zip(x, may_attend[:, 0, 0], strict=True)
    return torch.stack([y[m].sum(0) / max(1, m.sum()) for y, m in pairs])


def one_block(draw, case):
    (width,) = lengths("d", case)
    first, bias = draw.lots.choices((True, False), k=2)
    options = {"norm_first": first, "bias": bias}
    return drawn_anew(EncoderBlock(width, 1, 6, **options), draw, case)


def shared(answer, block, times):
    """What an answer makes; the page's stack takes the page's class only."""
    block.__class__ = expect.beside(answer, "EncoderBlock") or EncoderBlock
    return answer(block, times)


def run(answer, block, times, x, may_attend):
    """Under a mask, and under none."""
    encoder = shared(answer, block, times)
    got = encoder(x, may_attend), encoder(x, None)
    block.__class__ = EncoderBlock
    return got


def one_block_only(answer, block, times, *inputs):
    encoder = shared(answer, block, times)
    kinds = [kind.__name__ for kind in type(encoder).__mro__]
    expect.that(
        "Encoder" in kinds,
        f"an Encoder is asked for, and yours is a {kinds[0]}.",
    )
    mine, own = (
        sum(p.numel() for p in m.parameters()) for m in (encoder, block)
    )
    expect.that(
        mine == own and block in encoder.modules(),
        f"your encoder has {mine:,} parameters, and the block has {own:,}: "
        "these are copies, and nothing is shared.",
    )


def slope_of_all_runs(answer, block, times, *inputs):
    """The gradients that reach the block, beside those of the reference."""
    encoders = (shared(make, block, times) for make in (answer, in_a_loop))
    mine, own = (encoder(*inputs).square().sum() for encoder in encoders)
    hint = "the gradients of all runs are to reach the block."
    expect.that(mine.requires_grad, hint)
    weights = list(block.parameters())
    slopes = [torch.autograd.grad(y, weights) for y in (mine, own)]
    for one, other in zip(*slopes, strict=True):
        expect.that(torch.allclose(one, other, 1e-2, 1e-2), hint)


def in_a_loop(block, times):
    def repeated(x, may_attend):
        for _ in range(times):
            x = block(x, may_attend)
        return x

    return repeated


@asks(
    {
        "block": made(one_block, "d", is_floating=True),
        "times": whole(2, 6),
        "x": floats("n j d"),
        "may_attend": padding("n 1 1 j"),
    },
    "the output is not that of as many runs as were asked for, and nothing "
    "behind them.",
    calls=run,
    also=(one_block_only, slope_of_all_runs),
)
def shared_encoder(block, times):
    return in_a_loop(block, times)


def two_groups(draw, case):
    """Rows that are trained on, and others; some have the same sets."""
    rows, width, more = lengths("n w m", case)
    some = torch.tensor(draw.different(width + 3, 0, 30)).to(device())
    draws = [some[draw.ids(0, width + 2, n, width)] for n in (rows, more)]
    same = [draw.shuffled(row) for row in draws[0][: more // 2].tolist()]
    same += same[:2]  # a row may be there twice
    return [draws[0], torch.cat([draws[1], torch.tensor(same).to(draws[1])])]


def share(sign):
    """The share of the unseen rows whose sign a training row has, too."""

    def known_sets(trained, unseen):
        signs = [sign(row) for row in trained.tolist()]
        return sum(sign(u) in signs for u in unseen.tolist()) / len(unseen)

    return known_sets


@asks(
    {"rows": made(two_groups, "n w m", is_floating=True)},
    "the share is a number from 0 to 1: of all unseen rows, those whose set "
    "of numbers is that of some training row.",
    {
        "the order counts in your comparison, and a set has none.": (
            share(tuple)
        ),
        "a set does not say how often a number occurs: 1, 1, 2 and 1, 2, 2.": (
            share(sorted)
        ),
        "equal sums do not make equal sets: 0, 2, 4 and 0, 1, 5.": share(sum),
        "that is the share of the sets that are not known.": (
            lambda trained, unseen: 1 - share(set)(trained, unseen)
        ),
        "it is a share of the unseen rows, and you divide by the number of "
        "training rows.": lambda trained, unseen: (
            share(set)(trained, unseen) * len(unseen) / len(trained)
        ),
    },
    sizes={"n": (20, 24), "w": (4, 6), "m": (20, 40)},
    within=1e-6,  # it may be computed in float32
    calls=lambda answer, groups: answer(*groups),
)
def known_sets(trained_on, unseen):
    known = F.one_hot(torch.cat([trained_on, unseen])).amax(1)
    pairs = (known[:, None] == known).all(-1)
    return (
        pairs[len(trained_on) :, : len(trained_on)]
        .any(1)
        .double()
        .mean()
        .item()
    )
