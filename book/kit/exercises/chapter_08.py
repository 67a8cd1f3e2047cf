"""Checks of the exercises of chapter 8, the encoder. Not taught."""

import copy
import math

import torch
from torch import nn

from kit.exercises import Wrong, exercise, expect
from lib.embedding import TokenEmbedding
from lib.encoder import Encoder, EncoderBlock
from lib.masks import causal_mask, padding_mask
from lib.positions import PositionalEncoding
from lib.runtime import device


@exercise(layers=(6, 4, 8, 12), width=(512, 256, 384, 768), units=(2048, 1024))
@expect.own_work("parameters", "numel")
def encoder_parameters(answer, draw):
    given = draw.given
    sizes = [(5, 12, 20), (3, 10, 7), (given.layers, given.width, given.units)]
    sizes.append([draw.whole(1, 9), draw.whole(2, 9), draw.whole(10, 40)])
    for layers, width, units in sizes:
        for final_norm in (True, False):
            got = answer(layers, width, units, final_norm)
            number_of_parameters(got, layers, width, units, final_norm)
    expect.that(
        answer(2, 3, 5) == answer(2, 3, 5, False),
        "without a word about it there is no last norm.",
    )


def number_of_parameters(got, layers, width, units, final_norm):
    """One number, and what it was made of if it is wrong."""
    expect.that(
        isinstance(got, int),
        f"a number of parameters is a whole number, not a "
        f"{type(got).__name__}.",
    )
    here = counted(layers, width, units, final_norm)
    right, last = sum(here.values()), final_norm * 2 * width
    other = counted(layers, width, 4 * width, final_norm)
    case = f"encoder_parameters({layers}, {width}, {units}, {final_norm})"
    expect.close(
        got,
        right,
        f"{case} is {right:,} in PyTorch, and yours is {got:,}: list the "
        "matrices along the thick path of figure 8.2, one after the other.",
        [
            (
                right
                - here["out_proj.weight"]
                - here["out_proj.bias"]
                - here["in_proj_bias"],
                "attention has four matrices, and you count three: when the "
                "heads are side by side again, W_O mixes them.",
            ),
            (
                right - here["in_proj_bias"] - here["out_proj.bias"],
                "the four matrices of attention have a bias each.",
            ),
            (
                right - sum(n for name, n in here.items() if is_bias(name)),
                "every matrix of a block has a bias: four in attention, two "
                "in the feed-forward network.",
            ),
            (
                right - here["linear1.bias"] - here["linear2.bias"],
                "both matrices of the feed-forward network have a bias, one "
                "as wide as its hidden layer and one as wide as the model.",
            ),
            (
                right - layers * 2 * width,
                "two sums stand on the path of a block, and a norm follows "
                "each of them.",
            ),
            (
                right - layers * 2 * width - last // 2,
                "a norm has two rows of numbers, a gain and a shift.",
            ),
            (
                sum(other.values()),
                "d_ff may be any number, not only four times d_model.",
            ),
            *last_norms(right, last, layers, width),
        ],
    )


def is_bias(name):
    """Is it the bias of a matrix, and not the shift of a norm?"""
    return name.endswith("bias") and "norm" not in name


def last_norms(right, last, layers, width):
    """What may be wrong with the norm at the end of the stack."""
    return [
        (
            right - last + 2 * width,
            "the last norm is there only if final_norm says so.",
        ),
        (
            right - last // 2,
            "the last norm, too, has a gain and a shift.",
        ),
        (
            right + (layers - 1) * last,
            "the last norm stands once, at the end of the stack, and not in "
            "every layer.",
        ),
    ]


def counted(layers, width, units, final_norm):
    """PyTorch's encoder: how many numbers all parameters of a name have."""
    with torch.device("meta"):
        layer = nn.TransformerEncoderLayer(width, 1, units)
    found = {
        name.removeprefix("self_attn."): layers * parameter.numel()
        for name, parameter in layer.named_parameters()
    }
    return found | {"last": final_norm * 2 * width}


class Reader(nn.Module):
    """A small model with the parts of the page's, which counts its runs."""

    def __init__(self):
        super().__init__()
        self.embedding = TokenEmbedding(20, 8)
        self.positions = PositionalEncoding(8, 12)
        blocks = [EncoderBlock(8, 2, 16) for _ in range(2)]
        self.encoder = Encoder(blocks)
        self.output = nn.Linear(8, 20)
        self.double().to(device())
        self.runs = {"embedding": 0, "encoder": 0, "block": 0}
        self.embedding.register_forward_hook(self.seen("embedding"))
        self.encoder.register_forward_hook(self.seen("encoder"))
        blocks[0].register_forward_hook(self.seen("block"))

    def seen(self, part):
        def count(*_):
            self.runs[part] += 1

        return count

    def one_pass(self, ids, masks=(None, None), places="first"):
        """The logits, with a mask for each block."""
        x = self.embedding(ids)
        x = self.positions(x) if places == "first" else x
        for block, mask in zip(self.encoder.blocks, masks, strict=True):
            x = block(x, mask)
        return self.output(self.positions(x) if places == "last" else x)


@exercise()
def answers(answer, draw):
    torch.manual_seed(draw.whole(0, 9_999))
    model = Reader()
    rows = [
        torch.tensor(row, device=device())
        for row in ([5, 3], draw.different(6, 1, 19), [7], [4, 0, 0])
    ]
    with expect.untouched(*rows):
        got = answer(model, rows)
    runs = dict(model.runs)
    expect.that(
        isinstance(got, list | tuple) and len(got) == len(rows),
        "the answer is a list with one tensor of logits for each row.",
    )
    expect.that(
        runs["embedding"] <= 1 and runs["block"] <= 1,
        f"the first block ran {expect.plural(runs['block'], 'time')} for "
        f"{len(rows)} rows: pad the rows, and run all of them together, once.",
    )
    expect.that(
        not runs["encoder"],
        "the encoder was called as a whole: call each of its blocks.",
    )
    for logits, row in zip(got, rows, strict=True):
        expect.tensor(
            logits, (len(row), 20), what=f"the answer to a row of {len(row)}"
        )
    for place, (logits, row) in enumerate(zip(got, rows, strict=True)):
        expect.close(
            logits,
            model.one_pass(row[None])[0],
            f"the row {row.tolist()} gets other logits than alone. At which "
            "places does it stand in your batch, and what does it see?",
            misread(model, rows, place),
            1e-9,
        )


def misread(model, rows, place):
    """The logits of a row of the batch, read in a wrong way, and hints."""
    lengths = torch.tensor([len(row) for row in rows], device=device())
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    real, end = padding_mask(lengths), lengths[place]
    past = real & causal_mask(ids.shape[1], ids.device)
    wide = padding_mask(lengths + 1, int(lengths.max()) + 1)[..., :-1]
    zeros = (ids != 0)[:, None, None]
    seen = {
        "every block looked at the PAD behind a short row: it must be told "
        "which positions are real.": ([None, None], "first"),
        "the mask of this book says True where a position may be seen, and "
        "yours is True at PAD.": ([~real, ~real], "first"),
        "one PAD behind each row is still seen: position n is past the end "
        "of a row of n.": ([wide, wide], "first"),
        "0 is a number of ours, too: the lengths know what is PAD, and the "
        "ids do not.": ([zeros, zeros], "first"),
        "the second block looked at PAD: every block needs the mask.": (
            [real, None],
            "first",
        ),
        "an encoder reads in both directions: nothing but PAD is hidden.": (
            [past, past],
            "first",
        ),
        "no block knows where a number stands: the positions belong to the "
        "vectors before the first block.": ([real, real], "never"),
        "the positions are added behind the stack, and all looking is done "
        "by then.": ([real, real], "last"),
    }
    for hint, (masks, places) in seen.items():
        yield model.one_pass(ids, masks, places)[place, :end], hint
    in_front = [row.flip(0) for row in rows]
    in_front = nn.utils.rnn.pad_sequence(in_front, batch_first=True).flip(1)
    for mask in (real.flip(-1), real, None):
        logits = model.one_pass(in_front, [mask, mask])[place]
        for found in (logits[-end:], logits[:end]):
            yield (
                found,
                "PAD stands in front of a short row, so its numbers get the "
                "positions of later ones: pad behind.",
            )


COUNTING = ("sum", "count_nonzero", "bincount", "cumsum", "searchsorted")
SORTING = ("sort", "argsort", "sorted", "topk", "unique", "msort")


@exercise(row=([7, 3, 7], [5, 9, 5], [4, 1, 4], [2, 8, 2]))
@expect.own_work(*SORTING, *COUNTING)
def two_looks(answer, draw):
    rows = [draw.given.row, [2], [5] * 4]
    rows += [draw.ids(-3, 3, n).tolist() for n in (6, 9)]
    for row in rows:
        given = torch.tensor(row)
        with expect.untouched(given):
            looks = answer(given)
        expect.that(
            isinstance(looks, tuple) and len(looks) == 2,
            "two tables are to come back, look_1 and look_2.",
        )
        for name, look in zip(("look_1", "look_2"), looks, strict=True):
            expect.tensor(look, (len(row), len(row)), what=name)
            expect.that(
                expect.same(look.double().sum(-1), [1.0] * len(row), 1e-3),
                f"the rows of {name} do not sum to 1: each is a softmax over "
                "the numbers that are looked at.",
            )
        first_look(row, looks[0].double())
        second_look(row, looks[1].double())


def first_look(row, look):
    """What each number has kept for itself tells how many it counts."""
    kept, where = look.diagonal(), f"in {row}"
    if len(row) > 1 and look.amax(-1).min() > 0.9:
        raise Wrong(
            f"{where} look_1 fetches one number for each place: the first "
            "look counts, and the second fetches."
        )
    expect.that(
        kept > 0.5 / len(row),
        f"{where} a number keeps no share for itself, and without it "
        "nothing tells how many it has counted.",
    )
    found = 1 / kept - 1
    right = counts(row, lambda number, place: (number, place))
    others = len(row) - 1 - right
    expect.close(
        found,
        right,
        f"{where} the shares that the numbers keep stand for the counts "
        f"{[round(c, 1) for c in found.tolist()]}, not for "
        f"{[round(c) for c in right.tolist()]}.",
        [
            (
                counts(row, lambda number, place: number, 1) - 1,
                f"{where} equal numbers count the same, so they claim the "
                "same place. What do two equal numbers differ in?",
            ),
            (
                counts(row, lambda number, place: (number, -place)),
                f"{where} equal numbers change their order: of two, which "
                "one must count the other?",
            ),
            (
                counts(row, lambda number, place: (-number, place)),
                f"{where} the larger numbers are counted: the row would be "
                "sorted downwards.",
            ),
            (
                right + others / math.e,
                f"{where} the larger numbers still get weight, because your "
                "scores are low: the page gives 20.",
            ),
        ],
        1e-3,
    )


def counts(row, key, own=0):
    """How many stand before each number, or, with `own`, beside it."""
    keys = [key(number, place) for place, number in enumerate(row)]
    before = [
        sum(other < mine or (own and other == mine) for other in keys)
        for mine in keys
    ]
    return torch.tensor(before, dtype=torch.float64)


def second_look(row, look):
    """Each place fetches the number that belongs there."""
    wanted = sorted(range(len(row)), key=lambda i: (row[i], i))
    fetched, sure = look.argmax(-1).tolist(), look.amax(-1)
    lost = [i for i, s in enumerate(sure.tolist()) if s < 1.1 / len(row)]
    if lost == [0] and fetched[1:] == wanted[:-1] and len(row) > 1:
        raise Wrong(
            f"in {row} place 0 finds nobody: the smallest number counts no "
            "other, so its count is 0."
        )
    expect.that(
        not lost or len(row) == 1,
        f"in {row} the places {lost} find nobody: in the second look a "
        "number is known by its count.",
    )
    expect.that(
        fetched == wanted or look.argmax(0).tolist() != wanted,
        f"in {row} the numbers ask and the places answer: in the second look "
        "the places are the rows.",
    )
    expect.that(
        sure > 0.9,
        f"in {row} a place gives its number only {sure.min():.0%} of its "
        "weight: make the second look as sure as the page's.",
    )
    expect.that(
        fetched == wanted,
        f"in {row} the places fetch the numbers at {fetched}, not those at "
        f"{wanted}.",
    )


@exercise()
def mean_of_real(answer, draw):
    x = draw.normal(5, 7, 4)
    lengths = [4, 7, draw.whole(2, 3), 1, 0]
    mask = padding_mask(torch.tensor(lengths, device=x.device), 7)
    with expect.untouched(x):
        got = answer(x, mask)
    expect.tensor(got, (5, 4), torch.float32, "the answer")
    expect.that(
        not got[4].isnan().any(),
        "an empty sentence gets NaN, because you divide by a count of 0. "
        "By what could you divide instead?",
    )
    expected = [
        row[:n].sum(0) / max(n, 1) for row, n in zip(x, lengths, strict=True)
    ]
    expected, counts = torch.stack(expected), torch.tensor(lengths).to(x)
    total = expected * counts[:, None]
    pad = x.sum(1) - total
    expect.close(
        got,
        expected,
        "the vectors are not the means over the real positions.",
        [
            (x.mean(1), "PAD is in your mean: the mask says what is real."),
            (
                total / 7,
                "PAD is left out of the sum but not of the count: divide by "
                "the number of real positions.",
            ),
            (total, "that is the sum; divide by the number of positions."),
            (
                total / (counts[:, None] + 1),
                "only an empty sentence needs another divisor, and you add "
                "1 to every count.",
            ),
            (
                pad / (7 - counts[:, None]).clamp(min=1),
                "that is the mean of PAD: True in the mask means real.",
            ),
            (
                x[:, 0] * (counts > 0)[:, None],
                "that is the vector of the first position alone.",
            ),
            (
                total / 4,
                "every sentence is divided by the count of the first: each "
                "has its own.",
            ),
        ],
    )
    x[0, 4:], x[4] = math.inf, math.nan
    expect.close(
        answer(x, mask),
        expected,
        "where PAD holds NaN or infinity, so does your answer: 0 times NaN "
        "is NaN. Replace what stands at PAD, do not multiply it.",
    )


@exercise()
def shared_encoder(answer, draw):
    x = draw.normal(2, 5, 8)
    mask = padding_mask(torch.tensor([5, 3], device=x.device))
    torch.manual_seed(draw.seed)
    # The page's stack takes blocks of the page's class only.
    kind = expect.beside(answer, "EncoderBlock") or EncoderBlock
    block = kind(8, 2, 16).to(x.device)
    apart = copy.deepcopy(block)
    for times in draw.different(2, 3, 6):
        shared = answer(block, times)
        one_block(shared, block, times)
        got, expected = shared(x, mask), x
        for _ in range(times):
            expected = apart(expected, mask)
        expect.close(got, expected, "the output is not that of repeated runs.")
    trained = [p.requires_grad for p in block.parameters()]
    expect.that(all(trained), "the block can no longer be trained.")


def one_block(shared, block, times):
    """An encoder whose blocks are all the one that was given."""
    expect.that(
        type(shared).__name__ == "Encoder",
        f"an Encoder is asked for, and yours is a {type(shared).__name__}.",
    )
    own = sum(p.numel() for p in block.parameters())
    mine = sum(p.numel() for p in shared.parameters())
    expect.that(
        mine < times * own,
        f"your encoder has {mine:,} parameters, and the block has {own:,}: "
        "these are copies, and nothing is shared.",
    )
    expect.that(
        isinstance(shared.norm, nn.Identity),
        "your encoder ends in a norm that nobody asked for.",
    )
    expect.that(
        len(shared.blocks) == times,
        f"{times} runs were asked for, and yours makes {len(shared.blocks)}.",
    )
    expect.that(
        all(one is block for one in shared.blocks),
        "the blocks of your encoder are not the block that was given.",
    )


@exercise()
def known_sets(answer, draw):
    trained = torch.tensor([[0, 1, 2], [3, 4, 5], [1, 2, 3], [0, 5, 7]])
    cases = [
        ([[2, 1, 0], [4, 5, 3], [0, 3, 6], [3, 4, 6]], 0.5),
        ([[5, 4, 3]] * 2 + [[5, 4, 2], [3, 4, 7]], 0.5),
        ([[0, 2, 4], [1, 0, 5], [0, 6, 7], [0, 1, 4], [7, 5, 0]], 0.2),
    ]
    for unseen, share in cases:
        unseen = torch.tensor(draw.shuffled(unseen))
        with expect.untouched(trained, unseen):
            got = answer(trained, unseen)
        known_share(got, share, trained.tolist(), unseen.tolist())
    rows = [draw.different(4, 0, 6) for _ in range(40)]
    known = [sorted(row) for row in rows[:10]]
    share = sum(sorted(row) in known for row in rows[10:]) / 30
    expect.close(
        float(answer(torch.tensor(rows[:10]), torch.tensor(rows[10:]))),
        share,
        "right for rows of three numbers, but not for rows of four.",
    )


def known_share(got, share, trained, unseen):
    """One share, and what was compared instead if it is wrong."""
    expect.that(
        isinstance(got, int | float),
        f"the share is a number, and yours is a {type(got).__name__}.",
    )
    flat = {number for row in trained for number in row}
    sets = {tuple(sorted(row)) for row in trained}
    different = {tuple(sorted(row)) for row in unseen}
    count, all_of_them = share * len(unseen), len(unseen)
    ends = [(min(row), max(row)) for row in trained]
    sums = [sum(row) for row in trained]
    mistakes = [
        (
            sum(row in trained for row in unseen) / all_of_them,
            "the order counts in your comparison, and a set has none.",
        ),
        (1 - share, "that is the share of the sets that are not known."),
        (
            sum(sum(row) in sums for row in unseen) / all_of_them,
            "equal sums do not make equal sets: 0, 2, 4 and 0, 1, 5.",
        ),
        (
            sum((min(r), max(r)) in ends for r in unseen) / all_of_them,
            "equal ends do not make equal sets: 0, 3, 5 and 0, 4, 5.",
        ),
        (
            sum(flat >= set(row) for row in unseen) / all_of_them,
            "each number is known by itself, but is the set of all three?",
        ),
        (
            sum(bool(flat & set(row)) for row in unseen) / all_of_them,
            "one number in common is not the same set.",
        ),
        (
            len(sets & different) / len(different),
            "every row counts, also if another row has the same set.",
        ),
        (
            count / len(trained),
            "it is a share of the unseen rows, and you divide by the number "
            "of training rows.",
        ),
    ]
    expect.close(
        float(got), share, f"the share of {unseen} is {share}.", mistakes
    )
