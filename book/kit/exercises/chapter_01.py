"""Checks of the exercises of chapter 1, tokens and embeddings. Not taught."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from kit.exercises import expect
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    ids,
    made,
    size,
    whole,
)
from lib.text import Vocabulary, split_words

WORDS = "bread cook dessert eat first menu soup then".split()
AUTOGRAD = (
    *("autograd", "autograd.forward_ad", "autograd.functional"),
    *("backward", "grad", "hessian", "jacfwd", "jacrev", "jvp", "vjp"),
)


def some_vocabulary(draw, case):
    return Vocabulary(draw.shuffled(WORDS)[:4])


def some_text(draw, case):
    if case.is_given:
        return draw.given.text
    ends = draw.lots.choices([" ", "  ", ", "], k=30)
    words = draw.lots.choices([*WORDS, *map(str.upper, WORDS)], k=30)
    return "".join(map("".join, zip(words, ends, strict=True))) + "!"


def words_and_letters(answer, vocabulary, text):
    """With a vocabulary of words, and with one of letters; and one sign."""
    letters = Vocabulary(list(vocabulary.tokens[4]), list, "".join)
    pairs = (vocabulary, text), (letters, text), (letters, text[-1])
    return [answer(*pair) for pair in pairs]


def unknown(tokens, menu):
    return sum(token not in menu.tokens for token in tokens)


def share(tokens, menu):
    return unknown(tokens, menu) / len(tokens)


@asks(
    {"vocabulary": made(some_vocabulary), "text": made(some_text)},
    "count the ids of the text that are UNK, and all of its ids.",
    {
        "a token that occurs twice counts twice, and a set holds it once.": (
            lambda menu, text: share(set(menu.split(text)), menu)
        ),
        "cut at the spaces, a comma sticks to its word: let the vocabulary "
        "cut the text.": lambda menu, text: share(text.split(), menu),
        "that is the number of unknown tokens; the share is a part of all "
        "tokens.": lambda menu, text: unknown(menu.split(text), menu),
        "that is the share of the known tokens: the question is what is "
        "missing to 1.": lambda menu, text: 1 - share(menu.split(text), menu),
        "BOS and EOS are no tokens of the text.": lambda menu, text: (
            unknown(menu.split(text), menu) / (len(menu.split(text)) + 2)
        ),
        "a vocabulary brings its own way to cut a text, into letters "
        "perhaps: let it do the cutting.": (
            lambda menu, text: share(split_words(text), menu)
        ),
    },
    within=1e-6,  # the task leaves open how many digits
    calls=words_and_letters,
    text=(
        "eat soup first, then dessert",
        "first eat bread, then eat dessert",
        "eat, eat, but first cook",
        "dessert first, soup second, bread last",
    ),
)
def unknown_share(vocabulary, text):
    return share(vocabulary.split(text), vocabulary)


class Scaled(nn.Module):
    """An embedding times a factor of its two sizes."""

    def __init__(self, rows, width, factor, **options):
        super().__init__()
        self.table = nn.Embedding(rows, width)
        self.factor, self.options = factor(rows, width), options

    def forward(self, ids):
        return self.factor * F.embedding(
            ids, self.table.weight, **self.options
        )


def scaled(factor, **options):
    return lambda rows, width: Scaled(rows, width, factor, **options)


def trained(layer):
    """The table of a layer, which alone is trained."""
    trained = [weight for weight in layer.parameters() if weight.requires_grad]
    expect.that(
        len(trained) == 1,
        f"your layer trains {expect.plural(len(trained), 'parameter')}, and "
        "the table is to be the only one: a plain tensor is none, and the "
        "factor is a plain number.",
    )
    return trained[0]


def upright(weight, rows):
    """A row for each token: a layer that multiplies may hold columns."""
    return weight.mT if weight.shape[1:] == (rows,) else weight


def looks_up(answer, ids, table):
    """Rows for ids with two axes, one, none and three, and the gradient.

    And rows for a layer that does not train.
    """
    layer = answer(*table.shape).to(table)
    weight = trained(layer)
    expect.tensor(upright(weight, len(table)), table.shape, what="the table")
    with torch.no_grad():
        upright(weight, len(table)).copy_(table)
    found = [layer(some) for some in (ids, ids[0], ids[0, 0], ids[None])]
    expect.that(
        not isinstance(found[0], Tensor) or found[0].requires_grad,
        "no gradient reaches the table: .data and .detach() cut it off.",
    )
    found[0].square().sum().backward()
    found.append(layer.eval()(ids))
    return [*found, upright(weight.grad, len(table))]


def starts_right(answer, ids, table):
    """The table begins with standard deviation 1 / sqrt(width)."""
    width = 8 * table.shape[1] + 20
    root = math.sqrt(width)
    start, other = (
        upright(trained(answer(1500, width)).detach(), 1500) * root
        for _ in range(2)
    )
    expect.that(
        (start.std(0) > 0.01)
        & (start.std(1)[:, None] > 0.01)
        & (start != other).any(),
        "each number of each table is drawn for itself: no two words start "
        "alike, and no two tables.",
    )
    expect.that(
        (start.mean(0).abs() < 0.2)
        & (abs(start.std() - 1) < 0.03)
        & (abs(start.std(0) - 1) < 0.2),
        "the numbers of the table are to lie around 0 with the standard "
        f"deviation {1 / root:.2f}, that is 1 / sqrt(d_model): yours have "
        f"{start.std() / root:.2f}.",
    )


@asks(
    {"ids": ids("n j", "rows"), "table": floats("rows d")},
    "these are not the rows of the ids times the root of d_model.",
    {
        "the rows are right, but not multiplied by the root.": (
            scaled(lambda rows, width: 1)
        ),
        "you multiply by the root of the vocabulary's size: the factor "
        "belongs to the width.": scaled(lambda rows, width: rows**0.5),
        "you multiply by the width, and not by its root.": scaled(
            lambda rows, width: width
        ),
        "a row that was read twice gets both gradients, and no id is "
        "special here.": scaled(lambda r, width: width**0.5, padding_idx=0),
    },
    sizes={"rows": (7, 9), "d": (3, 6)},  # not a square: see upright
    leaves_out=("double", "large"),  # a layer starts in float32
    calls=looks_up,
    also=(starts_right,),
    ways=(by_oneself("Embedding"),),
)
def OwnEmbedding(vocab_size, d_model):
    return Scaled(vocab_size, d_model, lambda rows, width: width**0.5)


def ids_of_some(draw, case):
    """At first nobody reads the last two rows, and then the last one."""
    last = case.sizes["rows"] - 1
    ids = draw.ids(0, last - 2, case.sizes["n"])
    if not case.is_given:
        ids[-1] = last
    return ids


def counts(ids, up, rows):
    return torch.bincount(ids, minlength=rows)[:, None]


def summed(ids, up, rows):
    return up.new_zeros(rows, up.shape[1]).index_add(0, ids, up)


@asks(
    {
        "ids": made(ids_of_some, "n rows"),
        "upstream": floats("n d"),
        "rows": size("rows"),
    },
    "the row of an id is the sum of all gradients that arrive where it was "
    "read, and a row that nobody read is 0.",
    {
        "an id that is read several times keeps only one of its gradients.": (
            lambda ids, up, rows: up.new_zeros(rows, up.shape[1]).index_put(
                (ids,), up
            )
        ),
        "you take the mean of what an id receives: a gradient is the sum.": (
            lambda *given: summed(*given) / counts(*given).clamp(1)
        ),
        "yours ends at the largest id that was read: the table has more "
        "rows.": lambda ids, up, rows: summed(ids, up, ids.max() + 1),
        "you count how often an id is read: that is the gradient only if "
        "all ones arrive.": lambda *given: counts(*given) + 0 * summed(*given),
        "yours has one row for each id, the table has one for each word.": (
            lambda ids, up, rows: up
        ),
        "id 0 was read as well, and your row 0 gets nothing: only a table "
        "with padding_idx leaves PAD out.": lambda ids, up, rows: summed(
            ids, up * (ids > 0)[:, None], rows
        ),
    },
    sizes={
        "n": (5, 30, lambda given: 40),
        "rows": (7, 40, lambda given: 8),
    },
    ways=(by_oneself(*AUTOGRAD, "requires_grad_"),),
)
def table_gradient(ids, upstream, rows):
    return summed(ids, upstream, rows)


def some_sequences(draw, case):
    """Of several lengths, and later one that is empty."""
    lengths = draw.different(4, 1, 9)
    if not case.is_given:
        lengths = [0, *draw.different(4, 10, 19), lengths[0]]
    ids = (1001 * draw.ids(0, 90, n) for n in draw.shuffled(lengths))
    return [some.tolist() for some in ids]


def both_ways(answer, sequences, pad):
    """The sequences, from the last to the first, and the longest alone."""
    before = copy.deepcopy(sequences)
    alone = [max(sequences, key=len)]
    batches = sequences, sequences[::-1], alone
    got = [answer(some, pad) for some in batches]
    expect.that(
        sequences == before,
        "the caller's lists are changed: build new rows instead.",
    )
    for pair in got:
        has_two = isinstance(pair, list | tuple)
        expect.that(
            not (has_two and isinstance(pair[-1], Tensor)),
            "the second thing is to be a list of whole numbers.",
        )
    return got


def rows_made(row, begin=lambda gaps, length: gaps):
    """What is made of each sequence and of the gaps that it leaves."""

    def pad_all(sequences, pad):
        width = max(map(len, sequences))
        rows = [row(s, [pad] * (width - len(s))) for s in sequences]
        begins = [begin(width - len(s), len(s)) for s in sequences]
        return torch.tensor(rows), begins

    return pad_all


def in_front(sequence, gaps):
    return gaps + sequence


@asks(
    {"sequences": made(some_sequences), "pad_id": whole(91, 99)},
    "the last token belongs into the last column, and a sequence begins "
    "where its first one stands.",
    {
        "the padding is to stand in front.": rows_made(
            lambda s, gaps: s + gaps
        ),
        "the words stand in reverse order.": rows_made(
            lambda s, gaps: gaps + s[::-1]
        ),
        "the filler is pad_id.": rows_made(
            lambda s, gaps: [0 * p for p in gaps] + s
        ),
        "your columns are the lengths of the sequences.": rows_made(
            in_front, lambda gaps, length: length
        ),
        "columns count from 0, and yours count from 1.": rows_made(
            in_front, lambda gaps, length: gaps + 1
        ),
        "that is the column of the last PAD, one before the first token.": (
            rows_made(in_front, lambda gaps, length: gaps - 1)
        ),
        "your code stops where a sequence is empty: think of row[-0:], and "
        "of the first token of an empty list.": (
            lambda sequences, pad: [row[0] for row in sequences]
        ),
    },
    calls=both_ways,
)
def pad_in_front(sequences, pad_id):
    return rows_made(in_front)(sequences, pad_id)


def some_words(draw, case):
    """Later with special tokens, and one word in capitals."""
    words = draw.shuffled(WORDS)
    if not case.is_given:
        words[:3] = "<pad>", "<unk>", words[-1].upper()
    return words


def with_vectors(answer, words, vectors):
    """Two of the words are downloaded alone, two are of the vocabulary.

    Beside a vector for PAD all numbers are whole.
    """
    if "<pad>" in words:
        vectors = (9 * vectors).long()
    downloaded = dict(zip(words, vectors.tolist(), strict=False))
    vocabulary = Vocabulary(words[2 : len(vectors) + 2])
    before = copy.deepcopy(downloaded)
    got = answer(vocabulary, downloaded)
    expect.that(
        downloaded == before, "the dictionary of the caller is changed."
    )
    return got


def rows_for(first=0, silent=1, is_of_all=True):
    """A row for each token from a first one on, some of them zeros.

    The mean is that of all downloaded vectors, or of those that are used.
    """

    def table(menu, known):
        counted = [known[t] for t in known if is_of_all or t in menu.tokens]
        mean = torch.tensor(counted, dtype=torch.float32).mean(0).tolist()
        table = torch.tensor([known.get(t, mean) for t in menu.tokens])
        for token, row in zip(menu.tokens[:silent], table, strict=False):
            row *= silent is None and token in known and token != "<pad>"
        return table[first:]

    return table


@asks(
    {
        "words": made(some_words),
        "vectors": floats("n d"),
    },
    "a token has its own vector if there is one, and else the mean of all "
    "that were downloaded.",
    {
        "the four special tokens have rows too, and they come first.": (
            rows_for(first=4)
        ),
        "row 0 is PAD's: it holds zeros, because nothing is there.": (
            rows_for(silent=0)
        ),
        "a token without a vector gets zeros, so that the model takes it for "
        "PAD: the mean was asked for.": rows_for(silent=None),
        "BOS, EOS and UNK have no downloaded vector either, so they get the "
        "mean: only PAD is zero.": rows_for(silent=4),
        "you take the mean of the vectors that your vocabulary uses: it is "
        "to be that of all downloaded ones.": rows_for(is_of_all=False),
    },
    sizes={"n": (4, 6), "d": (5, 12)},
    leaves_out=("double", "large"),  # the table is float32
    calls=with_vectors,
)
def pretrained_table(vocabulary, downloaded):
    return rows_for()(vocabulary, downloaded)


def some_texts(draw, case):
    """Lists of tokens: letters, spaces and what was merged before."""
    a, b = draw.shuffled("dehprtwz")[:2]
    drawn = [
        draw.lots.choices(tokens, k=length)
        for length in range(2, 15)
        for tokens in ([a, b, " "], [a, b, a + a])
    ]
    by_text = [[a, a + a, a + a, a], [b, b, a, a + a, a + a, a]]
    return [list(draw.given.text), [a, a, a], *by_text, *drawn]


def each_once(answer, texts):
    given = copy.deepcopy(texts)
    got = [answer(tokens) for tokens in given]
    expect.that(given == texts, "the caller's list is changed.")
    for tokens in got:
        kind = type(tokens).__name__
        expect.that(
            isinstance(tokens, list | tuple), f"you return a {kind}, no list."
        )
    return list(map("|".join, got))


def neighbours(tokens):
    return list(zip(tokens, tokens[1:], strict=False))


def merged(tokens, pair, whole="", is_it=tuple.__eq__):
    """From left to right."""
    if not is_it(tuple(tokens[:2]), pair):
        rest = merged(tokens[1:], pair, whole, is_it) if tokens else []
        return tokens[:1] + rest
    rest = merged(tokens[2:], pair, whole, is_it)
    return [whole or "".join(pair), *rest]


def from_the_right(tokens, pair):
    return merged(tokens[::-1], pair[::-1], "".join(pair))[::-1]


def first_only(tokens, pair):
    at = neighbours(tokens).index(pair)
    return [*tokens[:at], "".join(pair), *tokens[at + 2 :]]


def by_text(tokens, pair):
    return merged(
        tokens, pair, is_it=lambda two, pair: "".join(two) == "".join(pair)
    )


def step(pairs=neighbours, merge=merged):
    """Merge the first of the commonest pairs."""

    def merge_once(tokens):
        found = pairs(tokens)
        return merge(tokens, max(found, key=found.count))

    return merge_once


@asks(
    {"texts": made(some_texts)},
    "which pair of neighbours is the commonest, and where does it stand?",
    {
        "merge every place of the pair.": step(merge=first_only),
        "of two common pairs the first wins.": step(
            lambda tokens: neighbours(tokens)[::-1]
        ),
        "go from left to right.": step(merge=from_the_right),
        "every token has a pair with the next one.": step(
            lambda tokens: neighbours(tokens)[::2]
        ),
        "a space is a token like any other.": step(
            lambda tokens: (
                [p for p in neighbours(tokens) if " " not in p]
                or neighbours(tokens)
            )
        ),
        "a pair is two tokens, not their text.": step(merge=by_text),
    },
    calls=each_once,
    text=(
        "low lower lowest",
        "slow slower slowest",
        "eat eats eaten",
        "first thirst third",
    ),
)
def merge_commonest(tokens):
    return step()(tokens)
