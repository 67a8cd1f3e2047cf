"""Checks of the exercises of chapter 18, bugs. Not taught."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import Wrong, exercise, expect
from kit.gallery import bug, function


@exercise(random=(7, 6, 5, 9), symbols=(10, 26, 4, 12))
def too_good(answer, draw):
    page = [(15, draw.given.random)], draw.given.symbols
    one_line(answer, *page)
    for _ in range(3):
        texts = [(draw.whole(8, 20), draw.whole(1, 7)) for _ in range(3)]
        one_line(answer, [(5, 4), *texts], draw.whole(3, 40))
    one_line(answer, [(4, 4)], 2)
    known = [(5, 0), (draw.whole(3, 9), 0)]
    expect.that(
        not answer(0.0, known, 7),
        "where every place can be known, a loss of 0 is honest: only below "
        "the entropy is too good.",
    )


def one_line(answer, texts, symbols):
    """Where does the answer begin to call a loss honest?"""
    expect.that(
        not answer(50.0, texts, symbols),
        "a loss of 50 is called too good: too good is what lies below.",
    )
    low, high = 0.0, 50.0
    for _ in range(40):
        middle = (low + high) / 2
        if answer(middle, texts, symbols):
            low = middle
        else:
            high = middle
    places = [n for n, _ in texts]
    random = [n for _, n in texts]
    share = sum(random) / sum(places)
    mean = sum(a / b for a, b in zip(random, places, strict=True)) / len(texts)
    known = max(1, sum(places) - sum(random))
    cost = math.log(symbols)
    expect.close(
        low,
        share * cost,
        f"for texts of {texts} and {symbols} symbols you draw the line at "
        f"{low:.3f}; an honest model can reach {share * cost:.3f}.",
        [
            (
                mean * cost,
                "a long text has more places: average over places, not over "
                "texts.",
            ),
            (
                share * math.log2(symbols),
                "the cross-entropy is measured with the natural logarithm, "
                "and your line in bits.",
            ),
            (
                cost,
                "not every place is random: those that can be known cost "
                "nothing.",
            ),
            (
                sum(random) / known * cost,
                "the mean goes over all places, not over the known ones.",
            ),
            (
                share * (1 - 1 / symbols),
                "each symbol has the probability 1/n, and what that costs is "
                "its logarithm.",
            ),
            (
                random[0] / places[0] * cost,
                f"you look at the first of {len(texts)} texts only.",
            ),
        ],
        tolerance=1e-4,
    )


@exercise()
@expect.own_work("influence")
def takes_from(answer, draw):
    triangle = torch.ones(1, 5, 5).tril() > 0
    masks = triangle, triangle.mT, torch.eye(5)[None] > 0
    masks += (draw.mask(1, 5, 5).cpu() | masks[2],)
    for mask in masks:
        one_table(answer, draw, by_torch, mask, mask[0])
        one_table(answer, draw, after_softmax, mask, mask[0])
    one_table(answer, draw, inverted, triangle, ~triangle[0])
    one_table(answer, draw, by_torch, triangle, triangle[0], size=0.002)


def one_table(answer, draw, attend, mask, right, size=1.0):
    """Who takes something from whom, in an attention that we know."""
    x = size * draw.normal(1, 5, 8).cpu()
    with expect.untouched(x, hint="x is left shouting: change a copy of it."):
        got = answer(attend, x, mask)
    expect.tensor(got, (5, 5), torch.bool, "the table")
    mistakes = [
        (
            mask[0],
            "that is the mask you were given; whether the attention follows "
            "it is the question.",
        ),
        (~right, "your True says who does not hear."),
        (
            right.T,
            "rows are outputs and columns are the tokens that shout; yours "
            "are exchanged.",
        ),
    ]
    if attend is after_softmax and (got | right == got).all():
        mistakes.append(
            (
                got,
                "a token that only counts in the sum moves the output a "
                "little: how large can it become if nobody takes its value?",
            )
        )
    wrong = (got != right).nonzero().tolist()
    i, j = wrong[0] if wrong else (0, 0)
    if (got & right == got).all():
        hint = f"output {i} takes something of token {j}, and you miss it. "
        if size == 1.0:
            hint += "A shout can get a very negative score: with either sign?"
        else:
            hint += f"The numbers of x are near {size} here: what is loud "
            hint += "beside them?"
        mistakes = [(got, hint), *mistakes][:: -1 if got.any() else 1]
    expect.close(
        got,
        right,
        f"output {i} takes nothing of token {j}, and your table says so.",
        mistakes,
    )


def by_torch(x, may_attend):
    """Self-attention of x as it is."""
    return F.scaled_dot_product_attention(x, x, x, may_attend)


def inverted(x, may_attend):
    """It shows what it should hide."""
    return by_torch(x, ~may_attend).nan_to_num()


def after_softmax(x, may_attend):
    """Hidden tokens hand over nothing, but count in the sum."""
    weights = torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, dim=-1)
    return (weights * may_attend) @ x


class Heard:
    """An attention that notes how it is called and adds a known gap."""

    def __init__(self, lengths, change):
        self.lengths, self.change = lengths, change
        self.wrong, self.alone = "", []

    def __call__(self, x, may_attend):
        """Right, but for the change to the whole batch."""
        if len(x) == 1:
            self.alone.append(x.shape[1])
            if getattr(may_attend, "dtype", None) != torch.bool:
                self.wrong = "a mask is boolean, also where all is shown."
            return by_torch(x, may_attend)
        self.look_at(may_attend.expand(len(x), -1, -1)[:, 0].tolist())
        return by_torch(x, may_attend).nan_to_num() + self.change

    def look_at(self, shown):
        """Is it the padding that the mask of the batch hides?"""
        width = len(shown[0])
        real = [[t < n for t in range(width)] for n in self.lengths]
        if shown == [[not seen for seen in row] for row in real]:
            self.wrong = "True means may attend, and your mask shows PAD."
        elif shown != real:
            row = next(n for n, r in enumerate(real) if r != shown[n])
            self.wrong = (
                f"sentence {row} has "
                f"{expect.plural(self.lengths[row], 'token')}, and your "
                f"mask shows {sum(shown[row])}."
            )


@exercise()
def padding_gap(answer, draw):
    x = draw.normal(3, 6, 8).cpu()
    lengths = draw.shuffled([6, 2, 4])
    pad = torch.arange(6) >= torch.tensor(lengths)[:, None]
    noise = 100.0 * pad[:, :, None].expand(3, 6, 8)  # rows of PAD do not count
    expect_gap(answer, x, lengths, noise, 0.0, "nobody")
    for n, length in enumerate(lengths):
        for size in (1.0, -1.0):
            change = noise.clone()
            change[n, length - 1, draw.whole(0, 7)] = size
            expect_gap(answer, x, lengths, change, size, n)
    unlike = draw.normal(3, 1, 1).cpu().abs() + 0.1
    change = noise + unlike * ~pad[:, :, None]
    expect_gap(answer, x, lengths, change, unlike.max().item(), "all")


def expect_gap(answer, x, lengths, change, size, who):
    """The padded batch is wrong by so much, for one sentence or all."""
    attend = Heard(lengths, change)
    with expect.untouched(x):
        got = answer(attend, x, list(lengths))
    expect.that(not attend.wrong, attend.wrong)
    expect.that(
        sorted(attend.alone) == sorted(lengths),
        f"alone, without their padding, sentences have {sorted(lengths)} "
        f"tokens; yours came with {sorted(attend.alone)}.",
    )
    expect.that(
        isinstance(got, int | float),
        f"return a plain number; yours is a {type(got).__name__}.",
    )
    shift = f"the batch moves sentence {who} by {size:.3f}"
    if who == "nobody":
        shift = "the batch moves no real token"
    mistakes = [
        (
            abs(size) / 3,
            f"{shift}, and the largest difference is asked, not the mean "
            "over the sentences.",
        ),
    ]
    if got > 50:
        hint = "rows of PAD do not count: cut them off in the batch, too."
        mistakes = [(got, hint)]
    elif who == "all":
        mistakes = []
    elif size < 0 and got <= 0:
        hint = f"{shift}: downwards counts as much as upwards."
        mistakes.append((got, hint))
    elif got == 0 or abs(got) < 1e-5:
        hint = f"{shift}, and you do not see it: ask every sentence."
        mistakes.append((got, hint))
    expect.close(
        float(got),
        abs(size),
        f"{shift}; your gap is {got:.3f}.",
        mistakes,
    )


@exercise(length=(9, 8, 7, 6))
def window(answer, draw):
    for length in (draw.given.length, 5):
        for size in (1, 2, length - 1, length):
            one_window(answer, length, size)
    i = torch.arange(9)
    back = i[:, None] - i
    late = (i[:, None] < 4) | ((back >= 0) & (back < 3))
    hole = (back >= 0) & (back < 3) & ((i[:, None] != 5) | (back != 1))
    wider = (back >= 0) & (back < torch.where(i < 6, 2, 3)[:, None])
    for shown, hint in (
        (
            (back == 0) | (back == 2),
            "the last token hears itself and the one two places back, and "
            "none between: that is no window.",
        ),
        (back.abs() < 3, "tokens hear later ones: that is no window."),
        (
            (back >= -1) & (back < 2),
            "all but the last token hear the next one: that is no window.",
        ),
        (
            ((back >= 0) & (back < 3)) | ((i == 0) & (back >= 0)),
            "everybody also hears token 0, so a gap lies in the middle: that "
            "is no window.",
        ),
        (
            late,
            "the last token has a window of 3, the first four tokens hear "
            "everybody: look at all rows.",
        ),
        (
            hole,
            "token 5 hears itself and token 3, and token 4 is left out: look "
            "at all rows.",
        ),
        (
            wider,
            "the last tokens hear 3 and those before them 2: a window is as "
            "wide for everybody.",
        ),
    ):
        got = answer(with_mask(shown), 9, 8)
        expect.that(got is None, f"{hint} You return {got}.")


def one_window(answer, length, size):
    """A causal attention that looks back so far."""
    i = torch.arange(length)
    back = i[:, None] - i
    got = answer(with_mask((back >= 0) & (back < size)), length, 8)
    seen = f"{length} tokens with a window of {size}"
    if got is None and size == length:
        raise Wrong(
            "an attention that hears everything before it has a window as "
            "long as the text."
        )
    expect.that(
        got is not None, f"{seen} give None, and it is a window: in each row."
    )
    expect.that(
        got != size - 1,
        f"{seen} give {got}: a token hears itself, and that counts.",
    )
    expect.that(
        type(got) is int,
        f"a number of tokens is an int; yours is a {type(got).__name__}.",
    )
    expect.that(got == size, f"{seen} give {got}: count the last row.")


def with_mask(shown):
    """Self-attention that shows just that."""

    def attend(x):
        expect.that(
            len(x) == 1, f"attend takes one text, and you give it {len(x)}."
        )
        return by_torch(x, shown[: x.shape[1], : x.shape[1]])

    return attend


@exercise()
def key_head(answer, draw):
    heads = draw.shuffled([0, 0, 1, 1, 2, 2])
    for order in (
        [0, 0, 0, 1, 1, 1],
        [0, 1, 0, 1, 0, 1],
        [2, 2, 0, 1, 1, 0],
        heads,
        [0, 0],
    ):
        one_sharing(answer, order, sharing(order))
        one_sharing(answer, order, sharing(order, causal=True))
    for keys, values in (
        ([0, 0, 1, 1], [0, 1, 0, 1]),
        ([0, 0, 1, 1], [1, 1, 0, 0]),
        ([0, 1, 1, 0], [0, 1, 1, 1]),
    ):
        expect.refusal(
            f"with keys of the heads {keys} and values of {values} nothing "
            "is raised: ask about both.",
            lambda k=keys, v=values: answer(sharing(k, v), 4, 2, 4),
            ValueError,
        )


def one_sharing(answer, order, attend):
    """Heads of keys and values are shared alike."""
    heads, key_heads = len(order), max(order) + 1
    with expect.stops(
        f"keys and values are shared alike, as {order}, and you raise a "
        "ValueError. Does your change of the keys move every output?",
        (ValueError,),
    ):
        got = answer(attend, heads, key_heads, 4)
    expect.that(
        isinstance(got, list | tuple) and len(got) == heads,
        f"for {heads} query heads you return {got}: one number each, "
        "the key head that it uses.",
    )
    got = list(got)
    expect.that(
        None not in got,
        f"you find {got}: for None, none of your changes moved its output. "
        "What is the same for all keys, a softmax does not see.",
    )
    for guess, name in (
        ([h * key_heads // heads for h in range(heads)], "blocks"),
        ([h % key_heads for h in range(heads)], "turns"),
    ):
        expect.that(
            got == order or got != guess,
            f"you say that heads are shared in {name}; this attention "
            f"shares them as {order}. Ask it.",
        )
    expect.that(
        got == order, f"the heads are shared as {order}, and you find {got}."
    )


def sharing(keys, values=None, causal=False):
    """An attention whose query heads use these heads of k and v.

    Its numbers are rounded: what only moves the last digits is not seen.
    """
    values = keys if values is None else values

    def attend(q, k, v):
        wanted = (1, len(keys), k.shape[2], k.shape[3])
        expect.that(
            tuple(q.shape) == wanted and k.shape == v.shape and len(k) == 1,
            f"attend takes q of the shape {wanted}, and you give it "
            f"{tuple(q.shape)}; k and v have one text, too.",
        )
        out = F.scaled_dot_product_attention(
            q, k[:, keys], v[:, values], is_causal=causal
        )
        return out.round(decimals=4)

    return attend


@exercise()
def finds_wrong_attention(answer, draw):
    def examine(attend):
        if isinstance(attend, nn.Module):
            attend.eval()
        answer(attend)

    expect.kills_mutants(examine, RIGHT | {"is a module": Dropped(0.1)}, WRONG)


def by_loops(q, k, v, may_attend):
    """Query by query, with the keys that it may see."""
    batch, heads, length, _ = q.shape
    shown = may_attend.expand(batch, heads, length, k.shape[2])
    out = torch.zeros(*q.shape[:3], v.shape[-1]).to(q)
    for n in range(batch):
        for h in range(heads):
            for i, row in enumerate(shown[n, h]):
                scores = k[n, h, row] @ q[n, h, i] / q.shape[-1] ** 0.5
                out[n, h, i] = torch.softmax(scores, dim=0) @ v[n, h, row]
    return out


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
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        future = torch.ones_like(scores).triu(1) > 0
        scores = scores.masked_fill(future, -math.inf)
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0.0).softmax(-1)
    return weights.masked_fill(empty, 0.0) @ v


def added(q, k, v, may_attend):
    """A mask of numbers, added to the scores."""
    zeros = torch.zeros(may_attend.shape).to(q)
    extra = zeros.masked_fill(~may_attend, -math.inf)
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5 + extra, dim=-1) @ v


class Dropped(nn.Module):
    """Dropout of the weights, in training or always; a mask, or not."""

    def __init__(self, share, always=False, masks_in_evaluation=True):
        super().__init__()
        self.share, self.always = share, always
        self.masks_in_evaluation = masks_in_evaluation

    def forward(self, q, k, v, may_attend):
        """Weights with dropout, times the values."""
        if not (self.training or self.masks_in_evaluation):
            may_attend = torch.ones_like(may_attend)
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(
            ~may_attend, -math.inf
        )
        on = self.training or self.always
        return F.dropout(scores.softmax(-1), self.share, on) @ v


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


RIGHT = {
    "is PyTorch's own": F.scaled_dot_product_attention,
    "goes query by query": by_loops,
    "uses einsum in float64": by_einsum,
    "reads the keys in blocks": in_blocks,
    "gives 0 to a query without a key": with_more,
    "adds minus infinity to hidden scores": added,
}
WRONG = {
    "shows what it should hide": of_gallery("the mask is inverted"),
    "makes the mask and throws it away": of_gallery(
        "the mask is made and thrown away"
    ),
    "hides queries instead of keys": of_gallery(
        "it hides the queries, not the keys"
    ),
    "hides with a score of 0": of_gallery("hidden scores become 0, not -inf"),
    "masks after the softmax": of_gallery("the mask comes after the softmax"),
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
    "overflows where scores are large": of_gallery("the softmax overflows"),
    "rounds to eight binary digits inside": half_inside,
    "raises an error in float16": of_gallery("-1e9 in float16"),
    "gives NaN in float16": adds_a_penalty,
    "drops weights in evaluation, too": Dropped(0.1, always=True),
    "leaves the mask out in evaluation": Dropped(
        0.0, masks_in_evaluation=False
    ),
    "scales the queries in place": scales_in_place,
}
