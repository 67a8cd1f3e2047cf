"""Checks of the exercises of chapter 1, tokens and embeddings. Not taught."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import Wrong, exercise, expect
from lib.runtime import device
from lib.text import Vocabulary

KNOWN = ["dessert", "eat", "first"]


@exercise(
    text=(
        "eat soup first, then dessert",
        "first eat bread, then eat dessert",
        "eat, eat, but first cook",
        "dessert first, soup second, bread last",
    ),
)
def unknown_share(answer, draw):
    menu = Vocabulary.from_texts([" ".join(KNOWN)])
    text, share, mistakes = unknown_text(draw)
    got = answer(menu, text)
    if isinstance(got, torch.Tensor) and got.ndim == 0:
        got = got.item()
    expect.that(
        isinstance(got, int | float),
        f"a share is one number, and yours is a {type(got).__name__}.",
    )
    expect.close(
        float(got),
        share,
        f"with the words {KNOWN} known, what is unknown in {text!r}? The "
        f"share is {share:.3f}, and yours is {got:.3f}.",
        mistakes,
    )
    given = draw.given.text
    pieces = given.replace(",", " ,").split()
    unknown = sum(piece not in KNOWN for piece in pieces)
    for example, right in (
        (" ".join(KNOWN), 0.0),
        ("soup", 1.0),
        (given, unknown / len(pieces)),
    ):
        expect.close(
            float(answer(menu, example)),
            right,
            f"right for one text, but not for {example!r}.",
        )
    letters = Vocabulary.from_texts(["abc"], split=list, join="".join)
    expect.close(
        float(answer(letters, "abcdab")),
        1 / 6,
        "a vocabulary brings its own way to cut a text, and this one cuts "
        "into letters: let it do the cutting.",
    )


def unknown_text(draw):
    """A text, its share of unknown tokens, and what mistakes make of it."""
    while True:
        known = [draw.lots.choice(KNOWN) for _ in range(draw.whole(4, 7))]
        soup = draw.whole(2, 4)
        n, u, k = len(known) + soup + 1, soup + 1, len(known)
        mistakes = {
            2 / (2 + len(set(known))): "a token that occurs twice counts "
            "twice, and a set holds it once.",
            u / (n - 1): "cut at the spaces, a comma sticks to its word: "
            "let the vocabulary cut the text.",
            soup / (n - 1): "a comma is a token too, and this vocabulary "
            "does not know it.",
            u: "that is the number of unknown tokens; the share is a part "
            "of all tokens.",
            k / n: "that is the share of the known tokens: the question is "
            "what is missing to 1.",
            u / k: "you divide by the known tokens: the whole is all of them.",
            u / (n + 2): "BOS and EOS are no tokens of the text.",
            known.count("first") / n: "you count the id of an ordinary word: "
            "which of the four special ids stands for an unknown token?",
        }
        if len({u / n, *mistakes}) == 9:
            break
    words = [f"{known[0]},", *draw.shuffled([*known[1:], *soup * ["soup"]])]
    return " ".join(words), u / n, list(mistakes.items())


@exercise()
def OwnEmbedding(answer, draw):
    rows, width = draw.whole(900, 1_000), draw.lots.choice((36, 64, 100))
    torch.manual_seed(draw.whole(0, 9_999))
    layer = answer(rows, width)
    ready = [m for m in layer.modules() if isinstance(m, nn.Embedding)]
    expect.that(
        not ready, "write the table yourself, without a ready-made embedding."
    )
    held = list(layer.parameters())
    expect.that(
        held, "nothing in your layer is trained: it holds no nn.Parameter."
    )
    trained = [weight for weight in held if weight.requires_grad]
    expect.that(
        trained,
        "your table is frozen: with requires_grad=False nothing trains it.",
    )
    expect.that(
        len(trained) == 1,
        "only the table is trained, and yours has "
        f"{len(trained)} parameters; the factor is a plain number.",
    )
    table = trained[0]
    expect.that(
        table.shape != (width, rows),
        "your table has one column an id: each id needs a row.",
    )
    expect.tensor(table, (rows, width), torch.float32, "the table")
    starts_right(table.detach(), width)
    looks_up(layer.to(device()), table.shape, draw)


def starts_right(table, width):
    """The table begins with standard deviation 1 / sqrt(width)."""
    root = math.sqrt(width)
    mean, deviation = table.mean().item(), table.std().item() * root
    expect.that(
        deviation > 0,
        "all entries start as the same number, so no two words differ: begin "
        "with random ones.",
    )
    expect.that(
        abs(mean) < 0.1 * table.std(),
        "the entries are to lie around 0, and yours have the mean "
        f"{mean:.3f}: torch.rand draws from 0 to 1.",
    )
    for factor, hint in (
        (root, "1, as in nn.Embedding: make the numbers smaller."),
        (1 / root, "1 / d_model: that would be right for the variance."),
        (
            1 / math.sqrt(3),
            "too small by √3: uniform numbers between -a and a have the "
            "standard deviation a / √3.",
        ),
        (deviation, f"{deviation / root:.3f}, not {1 / root:.3f}."),
    ):
        expect.that(
            abs(deviation - 1) < 0.03 or abs(deviation / factor - 1) > 0.03,
            f"the table starts with standard deviation {hint}",
        )


def looks_up(layer, shape, draw):
    """The rows of the ids, scaled, and a gradient for each of them."""
    (table,) = (
        weight for weight in layer.parameters() if weight.requires_grad
    )
    rows, width = shape
    ids = draw.ids(5, rows - 1, 2, 3)
    ids[1, 0], ids[0, 1] = ids[0, 0], 0
    got = layer(ids)
    expect.tensor(got, what="the output")
    expect.that(
        tuple(got.shape) == (2, 3, width),
        "ids of shape (2, 3) give (2, 3, d_model), a row for each id; yours "
        f"give {tuple(got.shape)}.",
    )
    expect.tensor(got, (2, 3, width), torch.float32, "the output")
    scaled_rows(got, F.embedding(ids, table), rows)
    expect.that(
        got.requires_grad,
        "no gradient reaches the table: .data and .detach() cut it off.",
    )
    hint = "right for ids with two axes, but they may have any number, also 1."
    with expect.stops(hint):
        one_axis = layer(ids[0])
    expect.that(expect.same(one_axis, got[0]), hint)
    got.sum().backward()
    read = torch.bincount(ids.flatten(), minlength=rows) * math.sqrt(width)
    expect.close(
        table.grad[:, 0],
        read.float(),
        f"row 0 was read once and row {ids[0, 0]} twice or more: their "
        "gradients must say so, and no id is special here.",
    )


def scaled_rows(got, plain, rows):
    """The rows of the table times the root of their width."""
    width = plain.shape[-1]
    expect.close(
        got,
        plain * math.sqrt(width),
        "these are not the rows of the ids times the root of d_model.",
        [
            (plain, "the rows are right, but not multiplied by the root."),
            (
                plain * math.sqrt(rows),
                "you multiply by the root of the vocabulary's size: the "
                "factor belongs to the width.",
            ),
            (
                plain * width,
                "you multiply by the width, and not by its root.",
            ),
        ],
    )


AUTOGRAD = (
    *("autograd", "autograd.forward_ad", "autograd.functional"),
    *("backward", "grad", "hessian", "jacfwd", "jacrev", "jvp", "vjp"),
)


@exercise()
@expect.own_work(*AUTOGRAD, "requires_grad_")
def table_gradient(answer, draw):
    rows, width = draw.whole(9, 11), draw.whole(2, 3)
    often, once = draw.different(2, 1, rows - 4)
    ids = [often, once, often, 0, rows - 3, often]
    ids, upstream = torch.tensor(ids, device=device()), draw.normal(6, width)
    with (
        expect.untouched(ids, upstream),
        expect.stops(
            "an id is the number of a row of the table: upstream has a row "
            "for each place of the text, and so fewer.",
            (IndexError,),
        ),
    ):
        got = answer(ids, upstream, rows)
    expect.tensor(got, what="the gradient")
    gradient_shape(got, ids, upstream, rows)
    gradient_rows(got, ids, upstream, often)
    double = answer(ids, upstream.double(), rows)
    expect.tensor(double, (rows, width), torch.float64, "the gradient")


def gradient_shape(got, ids, upstream, rows):
    """A row for each row of the table, and not for each id."""
    shape, width = tuple(got.shape), upstream.shape[1]
    expect.that(
        shape != tuple(upstream.shape),
        "yours has one row for each id, the table has one for each word: "
        f"{rows} rows.",
    )
    expect.that(
        shape != (ids.max().item() + 1, width),
        f"yours ends at the largest id that was read: a table of {rows} rows "
        f"has a gradient of {rows} rows.",
    )
    expect.tensor(got, (rows, width), upstream.dtype, "the gradient")


def gradient_rows(got, ids, upstream, often):
    """The sum of what arrived, row by row; one id was read three times."""
    rows, width = got.shape
    right = torch.zeros(rows, width)
    for id, arrived in zip(ids.tolist(), upstream.cpu(), strict=True):
        right[id] += arrived
    one_of_them = (got[often].detach() == upstream[ids == often]).all(dim=1)
    expect.that(
        not one_of_them.any(),
        f"id {often} is read three times, and its row keeps only one of the "
        "three gradients.",
    )
    counts = torch.bincount(ids, minlength=rows)[:, None].cpu()
    without_pad = right.clone()
    without_pad[0] = 0
    expect.close(
        got,
        right,
        f"row {often} is the sum of all gradients that arrive where id "
        f"{often} was read, and a row that nobody read is 0.",
        [
            (
                right / counts.clamp(min=1),
                f"you take the mean of what id {often} receives: a gradient "
                "is the sum.",
            ),
            (
                counts.expand(-1, width).to(right),
                "you count how often an id is read: that is the gradient "
                "only if all ones arrive.",
            ),
            (
                right.sum(dim=1, keepdim=True).expand(-1, width),
                "each column has a gradient of its own, and you add up the "
                "columns.",
            ),
            (
                without_pad,
                "id 0 was read as well, and your row 0 gets nothing: only a "
                "table with padding_idx leaves PAD out.",
            ),
        ],
    )


@exercise()
def pad_in_front(answer, draw):
    pad, first, *words = draw.different(9, 0, 90)
    sequences = [words[:5], [first], words[4:6], words[2:5]]
    sequences = draw.shuffled(sequences)
    before = copy.deepcopy(sequences)
    got = answer(sequences, pad)
    expect.that(
        isinstance(got, tuple | list) and len(got) == 2,
        "two things are to come back: the tensor, and the list of columns.",
    )
    expect.that(
        sequences == before,
        "the caller's lists are changed: build new rows instead.",
    )
    padded, begins = got
    expect.tensor(padded, what="the first thing")
    expect.that(
        padded.shape != (4, 1),
        "your rows are as long as the shortest sequence: nothing may be cut.",
    )
    expect.tensor(padded, (4, 5), torch.int64, "the tensor")
    right_rows(padded, sequences, pad)
    right_begins(begins, [len(row) for row in sequences])
    with expect.stops(
        "your code stops where a sequence is empty: think of row[-0:], and "
        "of the first token of an empty list."
    ):
        padded, begins = answer([words, []], pad)
    expect.that(
        padded.tolist() == [words, [pad] * len(words)]
        and list(begins) == [0, len(words)],
        "a sequence may be empty: its row is all padding, and it begins "
        "behind the last column.",
    )


def right_rows(padded, sequences, pad):
    """Each row ends with its sequence, and PAD fills what is before it."""
    for row, words in zip(padded.tolist(), sequences, strict=True):
        gaps = 5 - len(words)
        if row == [pad] * gaps + words:
            continue
        where = f"[{', '.join(map(str, words))}] becomes {row}"
        if row == words + [pad] * gaps:
            raise Wrong(f"the padding is to stand in front: {where}.")
        if row == [pad] * gaps + words[::-1]:
            raise Wrong(f"the words stand in reverse order: {where}.")
        if row[gaps:] == words:
            raise Wrong(f"the filler is pad_id, here {pad}: {where}.")
        raise Wrong(f"the last token belongs into the last column: {where}.")


def right_begins(begins, lengths):
    """The column of each sequence's first token."""
    expect.that(
        isinstance(begins, list) and all(type(b) is int for b in begins),
        "the second thing is to be a list of whole numbers.",
    )
    right = [5 - length for length in lengths]
    expect.close(
        begins,
        right,
        f"sequences of the lengths {lengths} in 5 columns begin in the "
        f"columns {right}, and you say {begins}.",
        [
            (lengths, "your columns are the lengths of the sequences."),
            (
                [b + 1 for b in right],
                "columns count from 0, and yours count from 1.",
            ),
            (
                [b - 1 for b in right],
                "that is the column of the last PAD, one before the first "
                "token.",
            ),
        ],
    )


@exercise()
def pretrained_table(answer, draw):
    words = draw.shuffled(["bread", "cook", "eat", "first", "menu", "soup"])
    while sorted([*words[1:3], *words[4:]])[:2] == words[1:3]:
        words = draw.shuffled(words)
    downloaded = {word: draw.normal(3).tolist() for word in words[:4]}
    # Two of the four, and two without a vector.
    vocabulary = Vocabulary([*words[1:3], *words[4:]])
    before = copy.deepcopy(downloaded)
    table = answer(vocabulary, downloaded)
    expect.that(
        downloaded == before, "the dictionary of the caller is changed."
    )
    expect.tensor(table)
    table = table.detach().cpu()
    expect.that(
        len(table) != 4,
        "the four special tokens have rows too, and they come first.",
    )
    expect.that(
        len(table) != 10,
        "you make a row for every downloaded word, but only tokens of your "
        "vocabulary have an id.",
    )
    expect.tensor(table, (8, 3), torch.float32, "the table")
    right_vectors(table, vocabulary, downloaded)
    whole = answer(Vocabulary(words[:4]), downloaded)
    expect.close(
        whole[4:],
        torch.tensor([downloaded[word] for word in sorted(words[:4])]),
        "right for one vocabulary, but not for that of the downloaded words "
        "alone.",
    )


def right_vectors(table, vocabulary, downloaded):
    """A row for each token: its own vector, the mean, or zeros for PAD."""
    rows = torch.tensor(list(downloaded.values()))
    mean = sum(rows) / len(rows)
    for token, row in zip(vocabulary.tokens, table, strict=True):
        for word, vector in downloaded.items():
            expect.that(
                word == token or not expect.same(row, vector),
                f"the row of {token!r} holds the vector of {word!r}: the "
                "rows go by the ids of your vocabulary.",
            )
    expect.that(
        table[0] == 0,
        "row 0 is PAD's: it holds zeros, because nothing is there.",
    )
    used = [downloaded[t] for t in vocabulary.tokens if t in downloaded]
    for token, row in zip(vocabulary.tokens, table, strict=True):
        if token in downloaded:
            expect.close(
                row,
                torch.tensor(downloaded[token]),
                f"{token!r} has a downloaded vector, and its row is another.",
            )
    for token, row in zip(vocabulary.tokens[4:], table[4:], strict=True):
        if token not in downloaded:
            mean_row(row, mean, rows, used, token)
    for token, row in zip(vocabulary.tokens[1:4], table[1:4], strict=True):
        expect.close(
            row,
            mean,
            f"{token} has no downloaded vector either, so it gets the mean: "
            "only PAD is zero.",
        )


def mean_row(row, mean, rows, used, token):
    """The row of a word that was not downloaded."""
    expect.close(
        row,
        mean,
        f"{token!r} has no vector: it gets the mean of all that were "
        "downloaded.",
        [
            (
                row * 0,
                f"{token!r} has no vector and gets zeros, so that the model "
                "takes it for PAD: the mean was asked for.",
            ),
            (
                sum(torch.tensor(used)) / len(used),
                "you take the mean of the vectors that your vocabulary "
                "uses: it is to be that of all downloaded ones.",
            ),
            (
                torch.full_like(mean, rows.mean().item()),
                "you take one mean of all numbers: each column has its own.",
            ),
        ],
    )


@exercise(
    text=(
        "low lower lowest",
        "slow slower slowest",
        "eat eats eaten",
        "first thirst third",
    ),
)
def merge_commonest(answer, draw):
    a, b, x, y = draw.shuffled("dehprtwz")[:4]
    tokens = [a, a, a]
    got = answer(tokens)
    expect.that(tokens == [a, a, a], "the caller's list is changed.")
    expect.that(
        isinstance(got, list), f"you return a {type(got).__name__}, no list."
    )
    for tokens, right, mistakes in telling(a, b, x, y):
        got = answer(list(tokens))
        said = f"{tokens} becomes {got}"
        expect.close(
            got,
            right,
            f"{said}: which pair of neighbours is the commonest?",
            [(value, f"{hint}: {said}.") for value, hint in mistakes],
        )
    for length in (2, draw.whole(3, 9), 9):
        one_step(
            answer, [draw.lots.choice(a + b + " ") for _ in range(length)]
        )
    one_step(answer, one_step(answer, list(draw.given.text)))


def telling(a, b, x, y):
    """Tokens, what becomes of them, and what mistakes make of them."""
    ab, xy = a + b, x + y
    return (
        (
            [a, a, a],
            [a + a, a],
            [
                ([a + a, a + a], "the middle token is used twice"),
                ([a, a + a], "go from left to right"),
            ],
        ),
        (
            [a, b, a, b, x, y, x, y],
            [ab, ab, x, y, x, y],
            [
                ([ab, a, b, x, y, x, y], "merge every place of the pair"),
                ([ab, ab, xy, xy], "only one pair is merged in a step"),
                ([a, b, a, b, xy, xy], "of two common pairs the first wins"),
            ],
        ),
        (
            [y, a, b, a, b],
            [y, ab, ab],
            [([y + a, b, a, b], "every token has a pair with the next one")],
        ),
        (
            [x, a, y, a],
            [x + a, y, a],
            [([x, a, y, a], "count the pairs, not the single tokens")],
        ),
        (
            [a, a, a, b, x, b, x],
            [a + a, a, b, x, b, x],
            [([a, a, a, b + x, b + x], f"{a!r}, {a!r} is there twice")],
        ),
        (
            [a, " ", a, " ", b],
            [a + " ", a + " ", b],
            [([a, " ", a, " " + b], "a space is a token like any other")],
        ),
        (
            [a, " ", a, " ", a, b],
            [a + " ", a + " ", a, b],
            [([a, " ", a, " ", ab], "a space is a token like any other")],
        ),
        (
            [a, b, ab, ab, ab],
            [a, b, ab + ab, ab],
            [([ab + ab] * 2, "a pair is two tokens, not their text")],
        ),
    )


def one_step(answer, tokens):
    """One step, by signs: each token becomes one, and the pair another."""
    signs = {t: chr(0x4E00 + n) for n, t in enumerate(dict.fromkeys(tokens))}
    text = "".join(signs[token] for token in tokens)
    pairs = [text[i : i + 2] for i in range(len(text) - 1)]
    pair = sorted(pairs, key=lambda p: (-pairs.count(p), pairs.index(p)))[0]
    back = {sign: token for token, sign in signs.items()}
    whole = "".join(back[sign] for sign in pair)
    right = [back.get(s, whole) for s in text.replace(pair, chr(0x4DFF))]
    got = answer(list(tokens))
    expect.that(
        got == right,
        f"{tokens} becomes {got}, but its commonest pair makes {whole!r}.",
    )
    return got
