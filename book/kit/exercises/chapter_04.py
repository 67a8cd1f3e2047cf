"""Checks of the exercises of chapter 4, masks. Not taught."""

from itertools import product

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

from kit.exercises import Wrong, exercise, expect

FORBIDDEN = (
    "attention",
    "attention_weights",
    "masked_attention",
    "scaled_dot_product_attention",
    "sdpa",
)


def boolean(rows):
    """A table of 0 and 1 as a mask."""
    return torch.tensor(rows) == 1


@exercise(width=(3, 2, 4, 5), length=(7, 8, 9, 10))
def window_mask(answer, draw):
    length, width = draw.given.length, draw.given.width
    mask = answer(length, width)
    expect.that(
        not isinstance(mask, torch.Tensor) or mask.ndim == 4,
        "a mask of this book has four axes, (1, 1, length, length): without "
        "the axes of batch and heads it does not meet the scores.",
    )
    expect.tensor(mask, (1, 1, length, length), torch.bool, "the mask")
    right = window_by_hand(length, width)
    expect.close(
        mask[0, 0].cpu(),
        right,
        f"look at the last row of window_mask({length}, {width}): which "
        f"{width} positions may it see?",
        window_mistakes(right, width),
    )
    for _ in range(3):
        length = draw.whole(1, 12)
        width = draw.whole(1, length + 2)
        mask = answer(length, width)[0, 0].cpu()
        expect.that(
            expect.same(mask, window_by_hand(length, width)),
            "right for the numbers of the task, but not for "
            f"window_mask({length}, {width}).",
        )


def window_mistakes(right, width):
    """What a window is taken for."""
    length = len(right)
    wider = window_by_hand(length, width + 1)
    diagonal = torch.eye(length) == 1
    return [
        (
            ~right,
            "True means may attend, and your mask says True where a "
            "position is hidden.",
        ),
        (
            right.T,
            "rows are queries and columns are keys: row i looks at "
            "columns up to i, and yours looks the other way.",
        ),
        (
            right | right.T,
            "your window reaches into the future: row 0 sees position 1.",
        ),
        (
            wider,
            "the query's own position counts as one of the width, and "
            "yours sees one more.",
        ),
        *(
            (
                seen & ~diagonal,
                "a position may look at itself: the diagonal must be True.",
            )
            for seen in (right, wider)
        ),
        (
            (torch.arange(length) < width) & torch.ones_like(right).tril(),
            "your window does not move: the last row must see the last "
            "positions, not the first.",
        ),
    ]


def window_by_hand(length, width):
    """Which key each query may see, place by place."""
    return boolean(
        [
            [0 <= query - key < width for key in range(length)]
            for query in range(length)
        ]
    )


@exercise()
@expect.own_work(*FORBIDDEN)
def my_attention(answer, draw):
    q, k, v = (
        draw.normal(3, 2, 4, 5),
        draw.normal(3, 2, 6, 5),
        draw.normal(3, 2, 6, 7),
    )
    mask = draw.mask(3, 1, 4, 6)
    mask[0, 0, 0] = boolean([0, 1, 1, 0, 1, 0])
    with expect.untouched(q, k, v, mask):
        got = answer(q, k, v, mask)
    expect.tensor(got, (3, 2, 4, 7), what="the output")
    expect.close(
        got,
        sdpa(q, k, v, mask),
        "the weighted means are not PyTorch's. Compare scores, masked scores "
        "and weights one by one, with three vectors.",
        attention_mistakes(q, k, v, mask),
    )
    two_axes(answer, q[0, 0], k[0, 0], v[0, 0])
    empty_rows(answer, q, k, v, mask)


def attention_mistakes(q, k, v, mask):
    """What attention with a mask is taken for."""
    scores = q @ k.mT / 5**0.5
    return [
        (
            sdpa(q, k, v, mask, scale=1.0),
            "the scale is missing: divide the scores by the square root "
            "of the keys' width.",
        ),
        (
            sdpa(q, k, v, mask, scale=1 / 5),
            "you divide the scores by the width itself. A sum of d "
            "products spreads by the root of d.",
        ),
        (
            sdpa(q, k, v, mask, scale=7**-0.5),
            "you divide by the root of the values' width. A score is a sum "
            "over the width of the keys.",
        ),
        (
            (scores.softmax(-1) * mask) @ v,
            "zeros after the softmax: the rows no longer sum to 1. Mask "
            "the scores, before it.",
        ),
        (
            scores.masked_fill(~mask, 0.0).softmax(-1) @ v,
            "a score of 0 does not forbid, since exp(0) is 1: use minus "
            "infinity.",
        ),
        (
            sdpa(q, k, v, ~mask),
            "True means may attend, and you hide what may be seen.",
        ),
        (
            scores.masked_fill(~mask, -torch.inf).softmax(-2) @ v,
            "the softmax goes over the keys, the last axis, so that each "
            "query's weights sum to 1.",
        ),
        (
            sdpa(q, k, v),
            "the mask changes nothing: masked_fill returns a new tensor "
            "and leaves the old one as it was.",
        ),
    ]


def two_axes(answer, q, k, v):
    """One sentence alone, and a hidden score that outweighs all others."""
    mask = torch.ones(4, 6, dtype=torch.bool, device=q.device)
    mask[:, 0] = False
    with expect.stops(
        "right for tensors with four axes, but with two your code stops. "
        "Count axes from the end: -1 is the width, -2 the length."
    ):
        answer(q, k, v, mask)
    loud = torch.cat([1_000 * q[:1], k[1:]])
    expect.close(
        answer(q, loud, v, mask),
        sdpa(q, k, v, mask),
        "a hidden key with a large score spoils the row: its score takes "
        "part in the softmax before it is hidden.",
    )


def empty_rows(answer, q, k, v, mask):
    """A query that may see nothing gets zeros, and no gradient is NaN."""
    mask[0, :, 1] = False
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    got = answer(*leaves, mask)
    row = got[0, :, 1]
    if row.isnan().any():
        raise Wrong(
            "a query that may attend to nothing gives NaN, because softmax "
            "divides by a sum of zeros there."
        )
    expect.that(
        row == 0,
        "a query that may attend to nothing must get 0, and yours gets a "
        "mean of values.",
    )
    got.square().sum().backward()
    if any(leaf.grad.isnan().any() for leaf in leaves):
        raise Wrong(
            "the output is repaired, but its gradient is NaN: the NaN must "
            "never arise, not be replaced afterwards."
        )


@exercise(row=([1, 1, 2, 2, 2, 0], [1, 2, 2, 3, 3, 0], [1, 1, 1, 2, 0, 0]))
def packed_mask(answer, draw):
    rows = [draw.given.row, *other_rows(draw)]
    sentence = torch.tensor(rows, device=draw.normal(1).device)
    with expect.untouched(sentence):
        mask = answer(sentence)
    expect.that(
        not isinstance(mask, torch.Tensor) or mask.ndim == 4,
        "the mask needs an axis for the heads: (batch, 1, length, length).",
    )
    expect.tensor(mask, (3, 1, 6, 6), torch.bool, "the mask")
    mask = mask[:, 0].cpu()
    for n, row in enumerate(rows):
        for query in range(6):
            for key in range(6):
                packed_entry(mask[n, query, key].item(), row, query, key)


def other_rows(draw):
    """Two rows of three sentences of one to two words, and padding."""
    possible = []
    for lengths in product((1, 2), repeat=3):
        row = [n for n, many in enumerate(lengths, 1) for _ in range(many)]
        possible.append((row + [0] * 6)[:6])
    return draw.lots.sample([r for r in possible if r != draw.given.row], 2)


def packed_entry(seen, row, query, key):
    """One entry of the mask, and what it means if it is wrong."""
    where = f"in the row {row}, query {query} and key {key}"
    if row[key] == 0:
        expect.that(not seen, f"padding may not be looked at: {where}.")
    elif key > query:
        expect.that(not seen, f"nobody may look ahead: {where}.")
    elif row[query] == 0:
        expect.that(
            not seen, f"a PAD belongs to no sentence, and sees none: {where}."
        )
    elif row[key] != row[query]:
        expect.that(
            not seen,
            f"these positions belong to different sentences: {where}.",
        )
    else:
        expect.that(
            seen,
            f"an earlier position of the same sentence must be seen: {where}.",
        )


@exercise()
def decoder_mask(answer, draw):
    rows = [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1], [1] * 5]
    zero_one = torch.tensor(draw.shuffled(rows), device=draw.normal(1).device)
    with expect.untouched(zero_one):
        mask = answer(zero_one)
    if isinstance(mask, torch.Tensor) and mask.dtype != torch.bool:
        raise Wrong(
            "the mask is to be boolean: numbers are added to the scores."
        )
    expect.tensor(mask, (3, 1, 5, 5), torch.bool, "the mask")
    real = (zero_one.cpu() == 1)[:, None, None]
    past = torch.ones(5, 5).tril() == 1
    right = real & past
    empty = ~right.any(-1, keepdim=True)
    expect.close(
        mask.cpu(),
        right,
        f"compare your mask with the text: the rows are {zero_one.tolist()}.",
        decoder_mistakes(real, past, right, empty),
    )


def decoder_mistakes(real, past, right, empty):
    """What a decoder's mask is taken for."""
    lengths = real.sum(-1, keepdim=True)
    left = torch.arange(5) < lengths
    return [
        (real.expand(-1, -1, 5, -1), "a query sees a later position."),
        (past.expand(3, 1, 5, 5), "a key that is padding is seen."),
        (
            real.mT & past,
            "your rows of padding are hidden, and its columns are seen. "
            "Which axis of the mask are the keys?",
        ),
        (
            real & real.mT & past,
            "where a PAD asks, your rows are empty. Hide keys only: what a "
            "PAD computes, nobody reads.",
        ),
        (
            ~real & past,
            "a tokenizer's 1 means a real token, and your mask hides these.",
        ),
        (
            left & past,
            "a row whose padding stands in front is wrong: the number of "
            "real tokens does not say where they stand.",
        ),
        (
            real | past,
            "a pair must pass both masks, and with | one of them is enough.",
        ),
        (
            right | empty,
            "in front of the first real token there is nothing to see: such "
            "a row stays empty, and attention gives it 0.",
        ),
        (
            real & past & ~(torch.eye(5) == 1),
            "a token is to see itself too: the shift by one makes sure that "
            "it gives nothing away.",
        ),
    ]


@exercise()
def prefix_mask(answer, draw):
    length = draw.whole(6, 8)
    prefix = torch.tensor([2, 0, 4, length], device=draw.normal(1).device)
    mask = answer(length, prefix)
    expect.tensor(mask, (4, 1, length, length), torch.bool, "the mask")
    mask = mask.cpu()
    alike = {n: answer(length, prefix * 0 + n).cpu() for n in (2, length)}
    expect.that(
        not torch.equal(alike[2], alike[length]),
        f"prompts of 2 and of {length} tokens get the same mask.",
    )
    for same, whole in alike.items():
        expect.that(
            not torch.equal(mask, whole),
            "each sentence has a prompt of its own length: with "
            f"{prefix.tolist()} all are treated as if they had {same}.",
        )
    ends = [row[0].sum().item() for row in mask[:, 0]]
    expect.that(
        ends[:3] != [3, 1, 5],
        "the prompt ends one token earlier: a prompt of 2 has the keys 0 and "
        "1.",
    )
    for n, prompt in enumerate(prefix.tolist()):
        for query in range(length):
            for key in range(length):
                seen = mask[n, 0, query, key].item()
                prefix_entry(seen, prompt, query, key)


def prefix_entry(seen, prompt, query, key):
    """One entry of the mask, and what it means if it is wrong."""
    where = f"with a prompt of {prompt}, query {query} and key {key}"
    if key < prompt:
        who = "a prompt token" if query < prompt else "what is written"
        expect.that(seen, f"{who} must see the whole prompt: {where}.")
    elif key <= query:
        expect.that(
            seen, f"what was written before, and itself, is seen: {where}."
        )
    elif query < prompt:
        expect.that(
            not seen,
            f"a prompt token sees the prompt and no more: {where}.",
        )
    else:
        expect.that(not seen, f"nobody may see what comes later: {where}.")


@exercise()
def depends_on(answer, draw):
    length = draw.whole(4, 6)
    sees = draw.mask(length, length)
    sees[0] = False
    sees[0, -1] = True
    x = draw.normal(length, 3, dtype=torch.float64)
    with expect.untouched(
        x, hint="x itself is changed: change one row of a copy."
    ):
        got = answer(lambda x: sees.to(x) @ x, x)
    expect.tensor(got, (length, length), torch.bool)
    first = answer(lambda x: x[:, :1] * torch.tensor([1, -1, 0]).to(x), x)
    expect.that(
        first.cpu().diagonal(),
        "an output depends on a row if any of its entries changes, even if "
        "the changes cancel in a sum.",
    )
    got, sees = got.cpu(), sees.cpu()
    expect.close(
        got,
        sees,
        "some entries are wrong: change one row at a time, starting each "
        "time from x itself.",
        [
            (
                sees.T,
                "outputs are the rows and inputs the columns; yours are "
                "exchanged.",
            ),
            (
                torch.ones(length, length).tril() == 1,
                "you return a triangle without asking the function.",
            ),
        ],
    )
    hard_to_see(answer, x)
    any_row(answer, x)


def hard_to_see(answer, x):
    """A change is small, or no gradient knows of it."""
    faint = answer(lambda x: x + whisper(x), x)
    expect.that(
        faint.cpu().diagonal(-1),
        "a change of a millionth is a change: compare bit for bit.",
    )
    hidden = answer(lambda x: x + whisper(x).detach(), x)
    expect.that(
        hidden.cpu().diagonal(-1),
        "a gradient says nothing of what goes through detach or a rounding, "
        "and the output changes all the same: change a row, and compare.",
    )


def any_row(answer, x):
    """A row is changed whatever it holds."""
    for number in (0, 1, -1):
        all_alike = torch.full_like(x, number)
        expect.that(
            answer(lambda x: 2 * x, all_alike).cpu().diagonal(),
            f"a row of {number} stays what it is in your way of changing "
            "rows: find one that changes every number.",
        )
    expect.that(
        answer(lambda x: 2 * x, as_changed(answer, x)).cpu().diagonal(),
        "you set rows to fixed numbers, and a row that holds these already "
        "seems to have no influence: start from what it was.",
    )


def as_changed(answer, x):
    """Every row as it is after the change that the answer makes."""
    rows, asked = x.clone(), []

    def listen(x):
        asked.append(x.clone())
        return 2 * x

    answer(listen, x)
    for other in asked:
        changed = (other != x).any(1)
        rows[changed] = other[changed]
    return rows


def whisper(x):
    """A millionth of the row before; nothing for the first."""
    return torch.cat([torch.zeros_like(x[:1]), x[:-1]]) / 1_000_000
