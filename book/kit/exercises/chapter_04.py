"""Checks of the exercises of chapter 4, masks. Not taught."""

import contextlib

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

from kit.exercises import expect
from kit.exercises.contract import (
    FAR,
    asks,
    by_oneself,
    floats,
    made,
    masks,
    padding,
    size,
    whole,
)
from lib.runtime import device


def pairs(sees):
    """The mask of those for which `sees(row, query, key)` is True.

    It is made place by place, for each row of an input, or for a number.
    """

    def mask(*inputs):
        *length, rows = inputs
        rows = rows.tolist() if isinstance(rows, torch.Tensor) else [rows]
        places = range(*length or [len(rows[0])])
        tables = [
            [[[bool(sees(row, i, j)) for j in places] for i in places]]
            for row in rows
        ]
        return torch.tensor(tables)

    return mask


@asks(
    {
        "length": whole(1, 12, given="length"),
        "width": whole(1, 13, given="width"),
    },
    "look at the last row of your mask: which positions may it see?",
    {
        "True means may attend, and your mask says True where a position is "
        "hidden.": pairs(lambda width, i, j: not 0 <= i - j < width),
        "rows are queries and columns are keys: row i looks at columns up to "
        "i, and yours looks the other way.": pairs(
            lambda width, i, j: 0 <= j - i < width
        ),
        "your window reaches into the future: row 0 sees position 1.": pairs(
            lambda width, i, j: abs(i - j) < width
        ),
        "the query's own position counts as one of the width, and yours sees "
        "one more.": pairs(lambda width, i, j: 0 <= i - j <= width),
        "a position may look at itself: the diagonal must be True.": pairs(
            lambda width, i, j: 0 < i - j <= width
        ),
        "your window does not move: the last row must see the last "
        "positions, not the first.": pairs(
            lambda width, i, j: j <= i and j < width
        ),
    },
    width=(3, 2, 4, 5),
    length=(7, 8, 9, 10),
)
def window_mask(length, width):
    return pairs(lambda width, i, j: 0 <= i - j < width)(length, width)


def idle(mask):
    """The queries that may attend to nothing."""
    return ~mask.any(-1, keepdim=True)


def hide(scores, mask, by=-torch.inf):
    """Where nothing may be seen, the scores stay."""
    return scores.masked_fill(~(mask | idle(mask)), by)


def attention_by(
    weigh=lambda scores, mask: hide(scores, mask).softmax(-1),
    root=lambda q, v: q.shape[-1] ** 0.5,
    gives=0.0,
):
    """Attention, some step of which may be another one."""

    def attend(q, k, v, mask):
        weights = weigh(q @ k.mT / root(q, v), mask)
        if gives is not None:
            weights = weights.masked_fill(idle(mask), gives)
        return weights @ v

    return attend


def some_idle(draw, case):
    """A mask of sentences: in each, a query may attend to nothing."""
    n, i, j = (case.sizes[letter] for letter in "nij")
    mask = draw.mask(1, n, 1, i, j)
    mask[..., draw.whole(0, i - 1), :] = False
    return mask


def whatever_stands_in_front(answer, q, k, v, mask):
    """Five axes, four, three and two, and masks that have some of them."""
    given = q, k, v, mask
    found = [
        answer(q, k, v, m) for m in (mask[..., -1:, :], mask[..., :, -1:])
    ]
    while q.ndim > 2:
        found += [answer(*given), answer(q, k, v, mask[0, 0, 0])]
        q, k, v, m = given = [x[0] for x in given]
    return [*found, answer(*given)]


def hidden_keys_change_nothing(answer, q, k, v, mask):
    """One hidden key of a score far above 0, the others far below."""
    first = torch.eye(q.shape[-1], dtype=torch.float64, device=q.device)[:1]
    values = v[0, 0, 0].double()
    far = 2.0**40 * first
    got = answer(
        first.expand(q.shape[-2:]),
        torch.cat([far, -far.expand(len(values), -1)]),
        torch.cat([values[:1] + 1, values]),
        torch.arange(len(values) + 1, device=q.device)[None] > 0,
    )
    expect.that(
        (got - values.mean(0)).abs() < 1e-3,
        "a hidden key spoils the row if its score is large, or those of the "
        "others are far below 0: it must not take part in the softmax.",
    )


def gradients_are_right(answer, q, k, v, mask):
    """And numbers, also where the exponential of a score overflows."""
    if not mask.any():  # then it may be a 0 that knows of no input
        return
    for times in (1, FAR):
        inputs = [(times * x).requires_grad_() for x in (q, k, v)]
        got = answer(*inputs, mask)
        cut = "what reaches q, k and v is not their gradient: is it cut off?"
        expect.that(got.requires_grad, cut)
        found, right = (
            torch.autograd.grad(
                x.sum(), inputs, allow_unused=True, materialize_grads=True
            )
            for x in (got, attention_by()(*inputs, mask))
        )
        expect.that(
            not any(x.isnan().any() for x in found),
            "the output is right, but its gradient is NaN: the NaN must "
            "never arise, not be replaced afterwards.",
        )
        if times == 1:
            are_right = map(expect.same, found, right, [1e-3] * 3)
            expect.that(all(are_right), cut)


@asks(
    {
        "q": floats("g n h i d"),
        "k": floats("g n h j d"),
        "v": floats("g n h j e"),
        "may_attend": made(some_idle, "n i j"),
    },
    "the weighted means are not PyTorch's. Compare scores, masked scores and "
    "weights one by one, with three vectors.",
    {
        "the scale is missing: divide the scores by the square root of the "
        "keys' width.": attention_by(root=lambda q, v: 1),
        "you divide the scores by the width itself. A sum of d products "
        "spreads by the root of d.": attention_by(
            root=lambda q, v: q.shape[-1]
        ),
        "zeros after the softmax: the rows no longer sum to 1. Mask the "
        "scores, before it.": attention_by(
            lambda scores, mask: scores.softmax(-1) * mask
        ),
        "a score of 0 does not forbid, since exp(0) is 1: use minus "
        "infinity.": attention_by(
            lambda scores, mask: hide(scores, mask, 0.0).softmax(-1)
        ),
        "True means may attend, and you hide what may be seen.": (
            lambda q, k, v, mask: attention_by()(q, k, v, ~mask)
        ),
        "the mask changes nothing: masked_fill returns a new tensor and "
        "leaves the old one as it was.": attention_by(
            lambda scores, mask: scores.softmax(-1)
        ),
        "a query that may attend to nothing must get 0, and yours gets a "
        "mean of values.": attention_by(gives=None),
        "no number is minus infinity: a query that may attend to nothing "
        "finds all scores equal, and gets a mean of values.": attention_by(
            lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1),
            gives=None,
        ),
        "a query that may attend to nothing gives NaN, because softmax "
        "divides by a sum of zeros there.": attention_by(gives=torch.nan),
    },
    sizes={"g": (1, 2), "n": (1, 3), "h": (1, 3)},
    calls=whatever_stands_in_front,
    also=(hidden_keys_change_nothing, gradients_are_right),
    ways=(
        by_oneself(
            "attention",
            "attention_weights",
            "masked_attention",
            "multi_head_attention_forward",
            "scaled_dot_product_attention",
        ),
    ),
)
def my_attention(q, k, v, may_attend):
    return sdpa(q, k, v, may_attend)


def packed_rows(draw, case):
    """Ascending numbers of sentences, and padding behind or in front."""
    n, length = case.sizes["n"], case.sizes["j"]
    numbers = draw.ids(1, 1 + length // 2, n, length).sort(-1).values
    rows = numbers * padding("n j").drawn(draw, case)
    if case.is_given:
        rows[0] = torch.tensor(draw.given.row)
    return rows


@asks(
    {"sentence": made(packed_rows, "n j")},
    "an earlier position is seen if it belongs to the same sentence: compare "
    "the number of each query with that of each key, in every row.",
    {
        "padding may not be looked at.": pairs(
            lambda row, i, j: j <= i and row[i] == row[j]
        ),
        "nobody may look ahead.": pairs(
            lambda row, i, j: row[i] == row[j] != 0
        ),
        "a PAD belongs to no sentence, and sees none.": pairs(
            lambda row, i, j: j <= i and row[j] and row[i] in (0, row[j])
        ),
        "your sentences read those before them: these positions belong to "
        "different sentences.": pairs(
            lambda row, i, j: j <= i and row[i] and row[j]
        ),
        "padding and future are hidden, and all else is seen: these "
        "positions belong to different sentences.": pairs(
            lambda row, i, j: j <= i and row[j]
        ),
    },
    sizes={
        "n": (1, 4, lambda given: 3),
        "j": (1, 9, lambda given: len(given.row)),
    },
    row=([1, 1, 2, 2, 2, 0], [1, 2, 2, 3, 3, 0], [1, 1, 1, 2, 0, 0]),
)
def packed_mask(sentence):
    return pairs(lambda row, i, j: j <= i and row[i] == row[j] != 0)(sentence)


def zero_one(draw, case):
    """Padding behind or in front, in the first row surely."""
    real = padding("n j").drawn(draw, case)
    real[0, -1 if case.pads == "behind" else 0] = False
    real[1::2] = real[1::2].flip(-1)
    return real.long()


@asks(
    {"zero_one": made(zero_one, "n j")},
    "compare your mask with the text, row by row.",
    {
        "a query sees a later position.": pairs(lambda row, i, j: row[j]),
        "a key that is padding is seen.": pairs(lambda row, i, j: j <= i),
        "your rows of padding are hidden, and its columns are seen. Which "
        "axis of the mask are the keys?": pairs(
            lambda row, i, j: j <= i and row[i]
        ),
        "where a PAD asks, your rows are empty. Hide keys only: what a PAD "
        "computes, nobody reads.": pairs(
            lambda row, i, j: j <= i and row[i] and row[j]
        ),
        "a tokenizer's 1 means a real token, and your mask hides these.": (
            pairs(lambda row, i, j: j <= i and not row[j])
        ),
        "a row whose padding stands in front is wrong: the number of real "
        "tokens does not say where they stand.": pairs(
            lambda row, i, j: j <= i and j < sum(row)
        ),
        "a pair must pass both masks, and with | one of them is enough.": (
            pairs(lambda row, i, j: j <= i or row[j])
        ),
        "in front of the first real token there is nothing to see: such a "
        "row stays empty, and attention gives it 0.": pairs(
            lambda row, i, j: (j <= i and row[j]) or not any(row[: i + 1])
        ),
        "a token is to see itself too: the shift by one makes sure that it "
        "gives nothing away.": pairs(lambda row, i, j: j < i and row[j]),
    },
    sizes={"n": (1, 4, lambda given: 4), "j": (1, 5, lambda given: 7)},
)
def decoder_mask(zero_one):
    return pairs(lambda row, i, j: j <= i and row[j])(zero_one)


def prompts(draw, case):
    """Two that differ, none, and any number; all tokens at first only."""
    n, length = case.sizes["n"], case.sizes["j"]
    two = draw.different(min(2, length - 1), 1, length - 1)
    some = [*two, length * case.is_given, 0]
    more = draw.ids(0, length - 1, 2)
    return torch.cat([torch.tensor(some).to(device()), more])[:n]


@asks(
    {"length": size("j"), "prefix": made(prompts, "n j")},
    "take one sentence after the other, each with a prompt of its own "
    "length: if that is 2, which keys do the queries 0 and 3 see?",
    {
        "a prompt token must see the whole prompt: each of the two reasons "
        "alone is enough.": pairs(lambda end, i, j: j <= i and j < end),
        "all prompts get the same mask: prefix is not read.": pairs(
            lambda end, i, j: j <= i
        ),
        "the prompt ends one token earlier: a prompt of 2 has the keys 0 and "
        "1.": pairs(lambda end, i, j: j <= i or j <= end),
        "a prompt token sees the prompt and no more.": pairs(
            lambda end, i, j: j <= i or i < end
        ),
        "nobody may see what comes later: what is written sees its past.": (
            pairs(lambda end, i, j: j < end or end <= i)
        ),
        "what was written before, and itself, is seen.": pairs(
            lambda end, i, j: j < end
        ),
        "what is written must see the whole prompt.": pairs(
            lambda end, i, j: i < end and j < end or end <= j <= i
        ),
    },
    sizes={"n": (1, 6, lambda given: 6), "j": (1, 5, lambda given: 8)},
)
def prefix_mask(length, prefix):
    return pairs(lambda end, i, j: j <= i or j < end)(length, prefix)


def exact_rows(draw, case):
    """Numbers whose sums are the same in any order, and none is whole."""
    x = draw.normal(case.sizes["i"], case.sizes["d"], dtype=case.dtype)
    return (64 * x).round() / 64 + 1 / 128


def what_it_sees(answer, sees, x):
    """Functions whose outputs are made of the rows that they see."""

    def mix(x):
        return sees.to(x) @ x

    functions = [
        mix,
        lambda x: mix(x[..., -1:]),
        lambda x: mix(x.sum(-1, True)) * torch.tensor([1, -1, 0]).to(x),
        lambda x: 1 + mix(x.double()) / 1e6,
        lambda x: mix(x.detach()[..., :1]),
        lambda x: mix((100 * x).round()),
    ]
    return [answer(function, x) for function in functions]


def any_row(answer, sees, x):
    """A row is changed whatever it holds."""
    for number in (0, 1, -1, 1.5):
        expect.that(
            answer(torch.neg, torch.full_like(x, number)).diagonal(),
            f"a row of {number} stays what it is in your way of changing "
            "rows: find one that changes every number.",
        )
    rows, asked = x.clone(), []
    answer(lambda x: asked.append(x.clone()) or x, x)
    with contextlib.suppress(RuntimeError):  # those of vmap are gone
        for other in asked:
            rows = torch.where(other == x, rows, other)
    expect.that(
        answer(torch.neg, rows).diagonal(),
        "you set rows to fixed numbers, and a row that holds these already "
        "seems to have no influence: start from what it was.",
    )


def by_changing(
    change=lambda row: row + 7,
    differs=lambda a, b: (a != b).any(1),
):
    """A row at a time, in some way, and what counts as a change."""

    def answer(attend, x):
        columns = []
        for j in range(len(x)):
            other = x.clone()
            other[j] = change(other[j])
            columns.append(differs(attend(other), attend(x)))
        return torch.stack(columns, 1)

    return answer


def by_gradient(attend, x):
    slopes = torch.autograd.functional.jacobian(attend, x)
    return (slopes != 0).any(3).any(1)


@asks(
    {
        "sees": masks("i i"),
        "x": made(exact_rows, "i d", is_floating=True),
    },
    "some entries are wrong: change one row at a time, starting each time "
    "from x itself.",
    {
        "outputs are the rows and inputs the columns; yours are exchanged.": (
            lambda attend, x: by_changing()(attend, x).mT
        ),
        "you return a triangle without asking the function.": (
            lambda attend, x: torch.ones(len(x), len(x)).tril() == 1
        ),
        "a change of a millionth is a change: compare bit for bit.": (
            by_changing(
                differs=lambda a, b: ~torch.isclose(a, b, atol=1e-4).all(1)
            )
        ),
        "an output changes if any of its entries does, even if others do "
        "not, or the changes cancel in a sum.": by_changing(
            differs=lambda a, b: (a - b).sum(1) != 0
        ),
        "change the whole row: the function may read any of its numbers.": (
            by_changing(lambda row: torch.cat([row[:1] + 7, row[1:]]))
        ),
        "a gradient says nothing of what goes through detach or a rounding, "
        "and the output changes all the same: change a row, and compare.": (
            by_gradient
        ),
    },
    sizes={"d": (3, 5)},
    calls=what_it_sees,
    also=(any_row,),
)
def depends_on(attend, x):
    """Of each copy another row is moved."""
    each = torch.eye(len(x)).to(x)[..., None]
    changed = [attend(copy) != attend(x) for copy in x + 9 * each]
    return torch.stack(changed).any(-1).mT
