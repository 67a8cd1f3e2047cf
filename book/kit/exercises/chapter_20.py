"""Checks of the exercises of chapter 20, bugs. Not taught."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import expect
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    hunts,
    made,
    masks,
    whole,
)
from kit.gallery import bug, function


def drawn_texts(draw, case):
    """A text of the page's length at first, then several."""
    if case.is_given:
        return [(15, draw.given.random)]
    return [(draw.whole(8, 20), draw.whole(1, 7)) for _ in range(3)]


def line(answer, texts, symbols):
    """The loss below which an answer says that it is too good."""
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        if answer(middle, texts, symbols):
            low = middle
        else:
            high = middle
    return low


def zero_is_honest(answer, texts, symbols):
    known = [(places, 0) for places, _ in texts]
    expect.that(
        not answer(0.0, known, symbols),
        "where every place can be known, a loss of 0 is honest: only below "
        "the entropy is too good.",
    )


def below(cost, over=lambda places, random: sum(random) / sum(places)):
    """Too good is what lies below a share of this cost of a symbol."""

    def too_good(loss, texts, symbols):
        places, random = zip(*texts, strict=True)
        return loss < over(places, random) * cost(symbols)

    return too_good


def means_of_texts(places, random):
    shares = [r / p for p, r in zip(places, random, strict=True)]
    return sum(shares) / len(shares)


def over_known(places, random):
    return sum(random) / max(1, sum(places) - sum(random))


@asks(
    {"texts": made(drawn_texts), "symbols": whole(3, 40, given="symbols")},
    "an honest model pays log(symbols) at a random place and nothing at a "
    "known one, on average over all places.",
    {
        "too good is what lies below, and you call a loss of 50 too good.": (
            lambda loss, *rest: not below(math.log)(loss, *rest)
        ),
        "a long text has more places: average over places, not over texts.": (
            below(math.log, means_of_texts)
        ),
        "the cross-entropy is measured with the natural logarithm, and your "
        "line in bits.": below(math.log2),
        "not every place is random: those that can be known cost nothing.": (
            below(math.log, lambda places, random: 1)
        ),
        "the mean goes over all places, not over the known ones.": (
            below(math.log, over_known)
        ),
        "you look at the first text only.": (
            below(math.log, lambda places, random: random[0] / places[0])
        ),
    },
    calls=line,
    also=(zero_is_honest,),
    random=(7, 6, 5, 9),
    symbols=(10, 26, 4, 12),
)
def too_good(loss, texts, symbols):
    costs = []
    for places, random in texts:
        costs += [math.log(symbols)] * random + [0.0] * (places - random)
    return loss < math.fsum(costs) / len(costs)


def by_torch(x, may_attend):
    """Self-attention of x as it is."""
    return F.scaled_dot_product_attention(x, x, x, may_attend)


class Follows:
    """Attention that makes of its mask what it likes."""

    def __init__(self, shows):
        self.shows = shows

    def __call__(self, x, may_attend):
        return by_torch(x, self.shows(may_attend)).nan_to_num()


class AfterSoftmax(Follows):
    """Hidden tokens hand over nothing, but count in the sum."""

    def __call__(self, x, may_attend):
        weights = torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, dim=-1)
        return (weights * self.shows(may_attend)) @ x


ATTENTIONS = (
    Follows(lambda mask: mask),
    Follows(lambda mask: ~mask),
    Follows(lambda mask: mask | True),
    Follows(lambda mask: mask.mT),
    AfterSoftmax(lambda mask: mask),
)


def tables(answer, x, may_attend):
    """Those of several attentions, for loud texts and for faint ones."""
    found = []
    for attend in ATTENTIONS:
        for text in (x, 0.002 * x):
            table = answer(attend, text, may_attend)
            expect.tensor(table, may_attend.shape[1:], torch.bool, "the table")
            expect.that(
                not isinstance(attend, AfterSoftmax) or not table.all(),
                "a token that only counts in the sum moves the output a "
                "little: how large can it become if nobody takes its value?",
            )
            found.append(table)
    return found


def heard(attend, may_attend):
    return attend.shows(may_attend)[0]


@asks(
    {"x": floats("1 i d"), "may_attend": masks("1 i i")},
    "some entries are wrong. A shout can get a very negative score: with "
    "either sign?",
    {
        "that is the mask you were given; whether the attention follows it "
        "is the question.": lambda attend, x, mask: mask[0],
        "your True says who does not hear.": (
            lambda attend, x, mask: ~heard(attend, mask)
        ),
        "rows are outputs and columns are the tokens that shout; yours are "
        "exchanged.": lambda attend, x, mask: heard(attend, mask).T,
        "you hear nobody where the numbers of x are near 0.002: what is loud "
        "beside them?": (
            lambda attend, x, mask: (
                heard(attend, mask) & (x.abs().max() > 0.05)
            )
        ),
    },
    sizes={"i": (5, 7), "d": (6, 9)},
    calls=tables,
    ways=(by_oneself("influence"),),
)
def takes_from(attend, x, may_attend):
    return heard(attend, may_attend)


class Moved:
    """A right attention that moves each sentence of a batch by so much."""

    def __init__(self, lengths, moves, places):
        self.lengths, self.moves, self.places = lengths, moves, places
        self.alone = []

    def __call__(self, x, may_attend):
        expect.tensor(may_attend, None, torch.bool, "the mask")
        if len(x) == 1:
            self.alone.append(x.shape[1])
            return by_torch(x, may_attend)
        shown = may_attend.expand(len(x), -1, -1)[:, 0]
        lengths = torch.tensor(self.lengths)[:, None]
        real = (torch.arange(x.shape[1]) < lengths).to(x.device)
        expect.that(
            not torch.equal(shown, ~real),
            "True means may attend, and your mask shows PAD.",
        )
        expect.that(
            torch.equal(shown, real),
            f"of {self.lengths} tokens, your mask shows "
            f"{shown.sum(-1).tolist()}.",
        )
        moved = by_torch(x, may_attend)
        for n, move in enumerate(self.moves):  # in one number of a real row
            row = self.places[n] % self.lengths[n]
            moved[n, row, self.places[n] % x.shape[2]] += move
        return moved.masked_fill(~real[:, :, None], 100.0)


def gaps(answer, x, lengths, moves, places):
    """Those of batches of which one sentence is moved, or all, or none."""
    found = []
    for move in (*torch.diag(moves), moves, 0 * moves):
        attend = Moved(lengths, move, places)
        found.append(answer(attend, x, list(lengths)))
        expect.that(
            {*attend.alone} in (set(), {*lengths}),
            f"alone, without their padding, sentences have {lengths} tokens; "
            f"yours came with {attend.alone}.",
        )
    return found


def drawn_lengths(draw, case):
    n, i = case.sizes["n"], case.sizes["i"]
    return draw.shuffled([i, *(draw.whole(1, i - 1) for _ in range(n - 1))])


def drawn_moves(draw, case):
    sizes = [draw.lots.uniform(0.5, 1.5) for _ in range(case.sizes["n"])]
    sizes[0] *= -1
    return torch.tensor(sizes, dtype=case.dtype)


@asks(
    {
        "x": floats("n i d"),
        "lengths": made(drawn_lengths, "n i"),
        "moves": made(drawn_moves, "n"),
        "places": made(lambda draw, case: draw.different(5, 0, 99)),
    },
    "the gap is the largest difference between a real row of the batch and "
    "the same row alone.",
    {
        "rows of PAD do not count: cut them off in the batch, too.": (
            lambda attend, x, lengths: 100.0
        ),
        "the largest difference is asked, not the mean over the sentences.": (
            lambda attend, x, lengths: attend.moves.abs().mean().item()
        ),
        "downwards counts as much as upwards.": (
            lambda attend, x, lengths: attend.moves.max().item()
        ),
        "ask every sentence: you look at the last one only.": (
            lambda attend, x, lengths: attend.moves[-1].abs().item()
        ),
    },
    sizes={"n": (2, 4), "i": (4, 7)},
    within=1e-4,
    calls=gaps,
)
def padding_gap(attend, x, lengths):
    return attend.moves.abs().max().item()


class Shows:
    """Self-attention that shows just that."""

    def __init__(self, shown, window):
        self.shown, self.window = shown, window

    def __call__(self, x):
        expect.that(
            len(x) == 1, f"attend takes one text, and you give it {len(x)}."
        )
        return by_torch(x, self.shown[: x.shape[1], : x.shape[1]])


def windows(answer, length, width, row):
    """What is found of attentions with a window, and of those without.

    Some have a window but for one row.
    """
    i = torch.arange(length)
    back = i[:, None] - i
    past, two, three = back >= 0, back < 2, back < 3
    late, flawed = i[:, None] >= length - 2, i[:, None] == row
    attentions = [
        *(Shows(past & (back < n), n) for n in (1, 2, length - 1, length)),
        Shows((back == 0) | (back == 2), None),
        Shows(back.abs() < 3, None),
        Shows((back >= -1) & two, None),
        Shows((past & two) | ((i == 0) & past), None),
        Shows((past & three) | ~late, None),
        Shows(past & three & (late | (back != 1)), None),
        Shows(past & three & (late | two), None),
        Shows((past & three) | (flawed & (back == -1)), None),
        Shows(past & three & ~(flawed & (back == 1)), None),
    ]
    return [answer(attend, length, width) for attend in attentions]


def but_for(places):
    """The window that there is if nobody looks at some places."""

    def window(attend, length, width):
        key = torch.arange(length)
        back = key[:, None] - key
        size = int(attend.shown[-1].flip(0).cumprod(0).sum())
        is_right = attend.shown == ((back >= 0) & (back < size))
        return size if (is_right | places(back, key)).all() else None

    return window


def last_row(attend, length, width):
    return int(attend.shown[-1].sum())


@asks(
    {
        "length": whole(6, 10, given="length"),
        "width": whole(6, 12),
        "row": whole(1, 4),
    },
    "ask every token, and compare with the table of a window: nobody hears a "
    "later token, none is left out between, and each hears equally many.",
    {
        "a token hears itself, and that counts.": lambda attend, *rest: (
            attend.window and attend.window - 1
        ),
        "an attention that hears everything before it has a window as long "
        "as the text.": lambda attend, length, width: (
            None if attend.window == length else attend.window
        ),
        "count the last row: the tokens, not all pairs.": (
            lambda attend, *rest: attend.window and int(attend.shown.sum())
        ),
        "you look at the last token only: look at all rows.": (
            lambda attend, length, width: (
                None
                if attend.shown[-1].int().diff().lt(0).any()
                else last_row(attend, length, width)
            )
        ),
        "somebody hears the next token: that is no window.": but_for(
            lambda back, key: back == -1
        ),
        "everybody also hears token 0, so a gap lies in the middle: that is "
        "no window.": but_for(lambda back, key: key == 0),
    },
    calls=windows,
    length=(9, 8, 7, 6),
)
def window(attend, length, width):
    return attend.window


class Shared:
    """Attention whose query heads use these heads of keys and of values.

    Its numbers are rounded: what only moves the last digits is not seen.
    """

    def __init__(self, keys, values, causal):
        self.keys, self.values, self.causal = keys, values, causal

    def __call__(self, q, k, v):
        wanted = (1, len(self.keys), k.shape[2], k.shape[3])
        expect.that(
            tuple(q.shape) == wanted and k.shape == v.shape and len(k) == 1,
            f"attend takes q of the shape {wanted}, and you give it "
            f"{tuple(q.shape)}; k and v have one text, too.",
        )
        k, v = k[:, self.keys], v[:, self.values]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return out + (out.round(decimals=3) - out).detach()


def found(answer, orders, width):
    """What is found of each sharing; None where a ValueError is raised."""
    results = []
    for keys, values, causal in orders:
        many = max(*keys, *values) + 1
        attend = Shared(keys, values, causal)
        try:
            results.append(answer(attend, len(keys), many, width))
        except ValueError:
            results.append(None)
            expect.that(
                keys != values,
                f"keys and values are shared alike, as {keys}, and you raise "
                "a ValueError. Does your change of the keys move every "
                "output?",
            )
    return results


def drawn_orders(draw, case):
    """Blocks, turns, and others; then keys and values of other heads."""
    heads = draw.shuffled([0, 0, 1, 1, 2, 2])
    alike = [[0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1], heads, [0, 0]]
    both = [
        (order, order, causal) for order in alike for causal in (False, True)
    ]
    other = [heads[1:] + heads[:1], [2 - head for head in heads], [1, 0, 1]]
    unlike = [(heads, order, False) for order in other[:2] if order != heads]
    swapped = draw.lots.choice(([0, 2, 1], [1, 0, 2], [2, 1, 0]))
    unlike += [([0, 1, 2], swapped, False), ([0, 1, 1], other[2], False)]
    return both + unlike


def if_alike(guess):
    """A guess, where keys and values are shared alike."""

    def key_head(attend, heads, key_heads, d_head):
        if attend.keys != attend.values:
            raise ValueError("keys of one head, values of another")
        return [guess(attend, h, heads, key_heads) for h in range(heads)]

    return key_head


@asks(
    {"orders": made(drawn_orders), "width": whole(3, 6)},
    "ask the attention: change the keys of one head, then its values, and "
    "see whose output moves.",
    {
        "keys of one head with values of another raise nothing in yours: ask "
        "about both.": lambda attend, *sizes: attend.values,
        "you say that heads are shared in blocks; ask this attention.": (
            if_alike(lambda attend, h, heads, many: h * many // heads)
        ),
        "you say that heads are shared in turns; ask this attention.": (
            if_alike(lambda attend, h, heads, many: h % many)
        ),
        "none of your changes of the keys moves an output: what is the same "
        "for all keys, a softmax does not see.": (
            lambda attend, heads, many, width: [None] * heads
        ),
    },
    calls=found,
)
def key_head(attend, query_heads, key_heads, d_head):
    if attend.keys != attend.values:
        raise ValueError("keys of one head, values of another")
    return attend.keys


def widened(*tensors):
    """In float32 at least: a score of float16 may be infinite."""
    return [x.to(torch.promote_types(x.dtype, torch.float32)) for x in tensors]


def by_loops(q, k, v, may_attend):
    """Query by query, with the keys that it may see."""
    given, (q, k, v) = v.dtype, widened(q, k, v)
    batch, heads, length, _ = q.shape
    shown = may_attend.expand(batch, heads, length, k.shape[2])
    out = torch.zeros(*q.shape[:3], v.shape[-1]).to(q)
    for n in range(batch):
        for h in range(heads):
            for i, row in enumerate(shown[n, h]):
                scores = k[n, h, row] @ q[n, h, i] / q.shape[-1] ** 0.5
                out[n, h, i] = torch.softmax(scores, dim=0) @ v[n, h, row]
    return out.to(given)


def by_einsum(q, k, v, may_attend):
    """In float64, and back."""
    wide = [x.double() for x in (q, k, v)]
    scores = torch.einsum("bhqd,bhkd->bhqk", wide[0], wide[1])
    scores = scores * q.shape[-1] ** -0.5
    scores = scores.where(may_attend, torch.full_like(scores, -math.inf))
    weights = scores.softmax(dim=-1)
    return torch.einsum("bhqk,bhkv->bhqv", weights, wide[2]).to(v.dtype)


def in_blocks(q, k, v, may_attend, block=2):
    """An online softmax over blocks of keys, in float32."""
    given, (q, k, v) = v.dtype, (x.float() for x in (q, k, v))
    shown = may_attend.expand(*q.shape[:3], k.shape[2])
    m = torch.full_like(q[..., :1], torch.finfo(torch.float32).min)
    s, c = torch.zeros_like(m), torch.zeros(*q.shape[:3], v.shape[-1])
    c = c.to(q)
    for j in range(0, k.shape[2], block):
        scores = q @ k[:, :, j : j + block].mT / q.shape[-1] ** 0.5
        scores = scores.masked_fill(~shown[..., j : j + block], -math.inf)
        largest = torch.maximum(m, scores.amax(-1, keepdim=True))
        fade, e = torch.exp(m - largest), torch.exp(scores - largest)
        s = s * fade + e.sum(-1, keepdim=True)
        c, m = c * fade + e @ v[:, :, j : j + block], largest
    return (c / s).to(given)


def with_more(q, k, v, may_attend=None, *, causal=False, scale=None):
    """It can do more than was asked, and gives 0 where nothing is seen."""
    given, (q, k, v) = v.dtype, widened(q, k, v)
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        future = torch.ones_like(scores).triu(1) > 0
        scores = scores.masked_fill(future, -math.inf)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0.0).softmax(-1)
    return (weights.masked_fill(empty, 0.0) @ v).to(given)


def added(q, k, v, may_attend):
    """A mask of numbers, added to the scores."""
    given, (q, k, v) = v.dtype, widened(q, k, v)
    zeros = torch.zeros(may_attend.shape).to(q)
    extra = zeros.masked_fill(~may_attend, -math.inf)
    weights = torch.softmax(q @ k.mT / q.shape[-1] ** 0.5 + extra, dim=-1)
    return (weights @ v).to(given)


def turned_in_memory(*given):
    """PyTorch's own, and not contiguous."""
    return F.scaled_dot_product_attention(*given).mT.contiguous().mT


class Dropped(nn.Module):
    """Dropout of the weights, in training or always; a mask, or not."""

    def __init__(self, share, always=False, masks_in_evaluation=True):
        super().__init__()
        self.share, self.always = share, always
        self.masks_in_evaluation = masks_in_evaluation

    def forward(self, q, k, v, may_attend):
        """Weights with dropout, times the values."""
        given, (q, k, v) = v.dtype, widened(q, k, v)
        if not (self.training or self.masks_in_evaluation):
            may_attend = torch.ones_like(may_attend)
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(
            ~may_attend, -math.inf
        )
        on = self.training or self.always
        return (F.dropout(scores.softmax(-1), self.share, on) @ v).to(given)


def last_key_lost(q, k, v, may_attend):
    """One key too few."""
    return with_more(q, k[:, :, :-1], v[:, :, :-1], may_attend[..., :-1])


def first_sentence(q, k, v, may_attend):
    """The mask of one sentence for the whole batch."""
    return with_more(q, k, v, may_attend[:1])


def scales_in_place(q, k, v, may_attend):
    """The caller's queries are smaller afterwards."""
    q /= q.shape[-1] ** 0.5
    return with_more(q, k, v, may_attend, scale=1.0)


def half_inside(q, k, v, may_attend):
    """Eight binary digits, and back."""
    return with_more(*(x.bfloat16() for x in (q, k, v)), may_attend).to(v)


def adds_a_penalty(q, k, v, may_attend):
    """In float16 its penalty is infinite, and 0 times that is NaN."""
    hidden, penalty = (~may_attend).to(q), torch.tensor(-1e9).to(q)
    scores = q @ k.mT / q.shape[-1] ** 0.5 + hidden * penalty
    return torch.softmax(scores, dim=-1) @ v


def of_gallery(name):
    """The wrong lines of a bug of the gallery."""
    return function(bug(name).wrong)


@hunts()
def finds_wrong_attention(draw):
    right = {
        "is PyTorch's own": F.scaled_dot_product_attention,
        "returns what is not contiguous": turned_in_memory,
        "goes query by query": by_loops,
        "uses einsum in float64": by_einsum,
        "reads the keys in blocks": in_blocks,
        "gives 0 to a query without a key": with_more,
        "adds minus infinity to hidden scores": added,
        "is a module": Dropped(0.1).eval(),
    }
    wrong = {
        "shows what it should hide": of_gallery("the mask is inverted"),
        "makes the mask and throws it away": of_gallery(
            "the mask is made and thrown away"
        ),
        "hides queries instead of keys": of_gallery(
            "it hides the queries, not the keys"
        ),
        "hides with a score of 0": of_gallery(
            "hidden scores become 0, not -inf"
        ),
        "masks after the softmax": of_gallery(
            "the mask comes after the softmax"
        ),
        "uses the first sentence's mask for all": first_sentence,
        "leaves the last key out": last_key_lost,
        "forgets the scale": of_gallery("the scale is forgotten"),
        "divides by the square root of 8, whatever the width": (
            lambda q, k, v, m: with_more(q, k, v, m, scale=8**-0.5)
        ),
        "lets the softmax run over the queries": of_gallery(
            "the softmax runs over the queries"
        ),
        "lets the softmax run over the heads": of_gallery(
            "the softmax runs over the heads"
        ),
        "averages keys, not values": lambda q, k, v, m: with_more(q, k, k, m),
        "hides with -20, which large scores outweigh": of_gallery(
            "a finite number hides"
        ),
        "overflows where scores are large": of_gallery(
            "the softmax overflows"
        ),
        "rounds to eight binary digits inside": half_inside,
        "raises an error in float16": of_gallery("-1e9 in float16"),
        "gives NaN in float16": adds_a_penalty,
        "drops weights in evaluation, too": Dropped(0.1, always=True).eval(),
        "leaves the mask out in evaluation": Dropped(
            0.0, masks_in_evaluation=False
        ).eval(),
        "scales the queries in place": scales_in_place,
    }
    return right, wrong
