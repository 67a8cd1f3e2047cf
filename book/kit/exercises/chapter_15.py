"""Checks of the exercises of chapter 15, what attention costs. Not taught."""

import math
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from kit.exercises import expect
from kit.exercises.chapter_05 import with_biases
from kit.exercises.contract import (
    asks,
    by_oneself,
    floats,
    made,
    padding,
    size,
)
from kit.meter import peak_bytes
from lib.efficient import GroupedQueryAttention


def drawn_cards(draw, case):
    """Cards that are just full, or one byte short of it, or too small."""
    given = draw.given.card * 10**9, 19_327_352_832, 48, 64, 64
    cards = [(*given, draw.given.texts)] if case.is_given else []
    weights, sizes = draw.whole(10_000, 20_000), draw.different(4, 3, 9)
    token = 4 * math.prod(sizes)
    full = weights + token * draw.whole(7, 60)
    small = weights - draw.whole(1, 5_000)
    for card in (full, full - 1, full + token // 2, weights, small):
        cards.append((card, weights, *sizes))
    return cards


def fits(
    token=lambda layers, kv_heads, d_head, texts: (
        4 * layers * kv_heads * d_head * texts
    ),
    left=lambda card, weights, texts: card - weights,
    rounded=lambda left, token: max(0, left) // token,
):
    """How many tokens fit, by what each takes and what is left."""

    def longest_text(card, weights, *sizes):
        return rounded(left(card, weights, sizes[-1]), token(*sizes))

    return longest_text


@asks(
    {"cards": made(drawn_cards)},
    "take one text and one layer first: how many bytes does a token keep? "
    "Then what is left beside the weights holds how many of them?",
    {
        "your token has half of its bytes: it keeps a key and a value, and "
        "each number of them takes two bytes.": fits(
            lambda *sizes: 2 * math.prod(sizes)
        ),
        "every layer keeps keys and values of its own, and you count those "
        "of one.": fits(lambda layers, *sizes: 4 * math.prod(sizes)),
        "the weights lie on the card as well: what is left of it is less "
        "than all of it.": fits(left=lambda card, weights, texts: card),
        "that is what all texts have together: each of them can have less.": (
            fits(lambda *sizes: 4 * math.prod(sizes[:-1]))
        ),
        "your token has twice its bytes: a kept number takes two of them, "
        "and key and value count once each.": fits(
            lambda *sizes: 8 * math.prod(sizes)
        ),
        "the last token fits only in part: round down.": fits(
            rounded=lambda left, token: max(0, -(-left // token))
        ),
        "all texts read the same weights: these lie on the card once.": fits(
            left=lambda card, weights, texts: card - texts * weights
        ),
        "where not even the weights fit, no token does: 0, and not less.": (
            fits(rounded=lambda left, token: left // token)
        ),
    },
    calls=lambda answer, cards: [answer(*card) for card in cards],
    card=(80, 40, 96, 48),
    texts=(7, 3, 8, 5),
)
def longest_text(card, weights, *sizes):
    return fits()(card, weights, *sizes)


def in_order(q, k, v):
    """Causal attention, by torch."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def staircase(q, k, v, block):
    """No mask inside the block on the diagonal."""
    place = torch.arange(len(q), device=q.device)
    seen = place[:, None] // block >= place // block
    return F.scaled_dot_product_attention(q, k, v, seen)


def row_by_row(q, k, v, block, faded):
    """Two mistakes: sums that are not repaired, a mean of means."""
    scores = q @ k.T / q.shape[-1] ** 0.5
    rows = []
    for i, row in enumerate(scores):
        m, s, c, means = torch.tensor(-math.inf).to(v), 0, 0, []
        for j in range(0, i + 1, block):
            part = row[j : min(j + block, i + 1)]
            m = part.max() if faded else torch.maximum(m, part.max())
            e = torch.exp(part - m)
            means.append(e @ v[j : j + len(part)] / e.sum())
            s, c = s + e.sum(), c + e @ v[j : j + len(part)]
        rows.append(sum(means) / len(means) if faded else c / s)
    return torch.stack(rows)


def only_what_is_needed(answer, q, k, v, block):
    """No large table, and no block that lies in the future."""
    held = peak_bytes(lambda *x: answer(*x, 16), *torch.ones(3, 1024, 1).to(q))
    bytes_of_one = q.element_size()
    expect.that(
        held < 128 * 1024 * bytes_of_one,
        "somewhere there is a table of n by n: with 1,024 tokens and blocks "
        f"of 16 your code holds {held:,} bytes at a time.",
    )
    expect.that(
        held < 16 * 1024 * bytes_of_one,
        "somewhere there is a table of n by block: cut the queries and the "
        "keys, so that block by block is the largest.",
    )
    narrow, wide = torch.ones(48, 1).to(q), torch.ones(48, 64).to(q)
    with FlopCounterMode(display=False) as counter:
        answer(narrow, narrow, wide, 8)  # scores may be computed twice
    tables = counter.get_total_flops() // (2 * 8 * 8 * (1 + 64))
    expect.that(
        tables <= 21,
        f"of 48 tokens in blocks of 8 it computes {tables} blocks, and 21 are "
        "needed: leave out those that lie wholly in the future.",
    )


@asks(
    {
        "q": floats("i d"),
        "k": floats("i d"),
        "v": floats("i e"),
        "block": made(
            lambda draw, case: draw.whole(1, case.sizes["i"] + 2), "i"
        ),
    },
    "some rows are wrong. Which is the first, and in which block does it "
    "lie? The last block may be shorter than the others, and the maximum "
    "must begin below every score.",
    {
        "the scale is missing: divide the scores by the square root of d.": (
            lambda q, k, v, block: in_order(q.shape[-1] ** 0.5 * q, k, v)
        ),
        "nothing is hidden: every query sees the future.": (
            lambda q, k, v, block: F.scaled_dot_product_attention(q, k, v)
        ),
        "inside the block on the diagonal a query still sees later keys: "
        "some of its pairs are in the future.": staircase,
        "when a larger score arrives, what was summed so far must shrink: it "
        "was measured from the old maximum.": (
            lambda *given: row_by_row(*given, faded=False)
        ),
        "a mean of the blocks' own means counts all blocks alike: add up "
        "sums and counts, and divide once.": (
            lambda *given: row_by_row(*given, faded=True)
        ),
    },
    sizes={"i": (9, 23), "d": (2, 8)},
    also=(only_what_is_needed,),
    ways=(by_oneself("attention", "softmax", "scaled_dot_product_attention"),),
)
def causal_in_blocks(q, k, v, block):
    return in_order(q, k, v)


def positive(x):
    """The feature map phi, as the chapter writes it."""
    return torch.where(x > 0, x + 1, x.exp())


def weighed(
    hidden=lambda weights, seen: weights * seen,
    summed=None,
    keys=lambda k, seen: k,
    rows=lambda out, seen: out,
):
    """The table in full, in which something may be hidden otherwise."""

    def linear_encoder(q, k, v, seen):
        weights = positive(q) @ positive(keys(k, seen)).mT
        sums = (summed or hidden)(weights, seen).sum(-1, keepdim=True)
        out = hidden(weights, seen) @ v / sums.where(sums != 0, 1.0)
        return rows(out, seen)

    return linear_encoder


def everything(weights, seen):
    return weights


def no_table(answer, q, k, v, seen):
    """Nothing is as large as n by n."""
    long, shown = (
        torch.ones(3, 1, 1, 512, 4).to(q),
        seen.new_ones(1, 1, 1, 512),
    )
    held = peak_bytes(lambda *x: answer(*x, shown), *long)
    expect.that(
        held < 64 * 512 * q.element_size(),
        "the numbers are right, but there is a table of n by n: multiply "
        "keys and values first.",
    )


@asks(
    {
        "q": floats("n h i d"),
        "k": floats("n h i d"),
        "v": floats("n h i e"),
        "may_attend": padding("n 1 1 i", has_empty=True),
    },
    "not the mean of the values by the weights phi(q)·phi(k). In a sentence "
    "that is all padding it is 0, and not 0 divided by 0.",
    {
        "padding is heard: nothing hides its keys.": weighed(everything),
        "a key of zeros is not silent: phi(0) is 1. Hide it after phi.": (
            weighed(everything, keys=lambda k, seen: k * seen.mT)
        ),
        "the sum of the weights still counts padding: hide what the keys add "
        "to both sums.": weighed(summed=everything),
        "you hide the rows of queries; it is keys that nobody may see.": (
            weighed(everything, rows=lambda out, seen: out * seen.mT)
        ),
        "you hide rows of queries as well; it is keys alone that nobody may "
        "see.": weighed(rows=lambda out, seen: out * seen.mT),
        "this is still causal: in an encoder every query sees all keys of "
        "its sentence.": weighed(
            lambda weights, seen: (weights * seen).tril()
        ),
        "the weights of a row must sum to 1: divide by their sum.": weighed(
            summed=lambda weights, seen: weights[..., :1] * 0
        ),
    },
    leaves_out=("large",),  # phi is 0 there, and so is what it weighs
    also=(no_table,),
)
def linear_encoder(q, k, v, may_attend):
    return weighed()(q, k, v, may_attend)


def drawn_full(draw, case):
    """A trained module; not always with biases or dropout."""
    sizes = case.sizes | {"h": case.sizes["g"] * case.sizes["t"]}
    case = replace(case, sizes=sizes)
    full = with_biases(draw, case, case.is_given or draw.whole(0, 1) == 1)
    full.dropout = 0.25 if case.is_given else draw.whole(0, 3) / 8
    return full.eval()


def shared(answer, full, kv_heads, x, context):
    """What the new layer makes of a text, and of what heads hand over."""
    grouped = answer(full, kv_heads)
    kinds = [kind.__name__ for kind in type(grouped).__mro__]
    expect.that(
        "GroupedQueryAttention" in kinds,
        f"return a GroupedQueryAttention; yours is a {kinds[0]}.",
    )
    old = {weight.data_ptr() for weight in full.parameters()}
    expect.that(
        all(w.data_ptr() not in old for w in grouped.parameters()),
        "a weight is the old model's own: who trains the new layer changes "
        "full as well. Copy the numbers.",
    )
    projected = grouped.project(x, x, x)
    after = grouped.output(context)
    trains = all(weight.requires_grad for weight in grouped.parameters())
    return *projected, after, grouped.dropout, grouped.kv_heads, trains


def pooled(means, biases=True, dropout=True):
    """A layer whose keys and values are means, by a table, of the old."""

    def to_grouped(full, kv_heads):
        has_bias = full.in_proj.bias is not None
        made = GroupedQueryAttention(
            full.d_model,
            full.heads,
            kv_heads,
            full.dropout if dropout else 0.1,
            has_bias,
        ).to(full.in_proj.weight)
        made.out_proj.load_state_dict(full.out_proj.state_dict())
        table = means(full, kv_heads).to(full.in_proj.weight)
        rows = [torch.eye(full.d_model).to(table), table, table]
        pairs = zip(rows, full.matrices(), made.matrices(), strict=True)
        for take, old, new in pairs:
            new[0].data.copy_(take @ old[0])
            if has_bias:
                new[1].data.copy_(take @ old[1])
        if has_bias and not biases:
            made.in_proj.bias.data[full.d_model :] = 0
        return made

    return to_grouped


def of_heads(choose):
    """Whole heads are chosen or averaged, by a table (groups, heads)."""

    def means(full, groups):
        width = torch.eye(full.d_model // full.heads)
        return torch.kron(choose(full.heads, groups), width)

    return means


def side_by_side(heads, groups):
    times = heads // groups
    table = torch.kron(torch.eye(groups), torch.ones(1, times))
    return table.double() / times


def every_nth(heads, groups):
    times = heads // groups
    return torch.eye(groups).repeat(1, times).double() / times


def of_rows(full, groups):
    """Neighbouring rows are averaged, not heads."""
    times = full.heads // groups
    return side_by_side(full.d_model, full.d_model // times)


@asks(
    {
        "full": made(drawn_full, "g t w", is_floating=True),
        "kv_heads": size("g"),
        "x": floats("n i g*t*w"),
        "context": floats("n g*t i w"),
    },
    "keys and values are not the means of the heads of each group: look at "
    "their rows first, then at their biases.",
    {
        "you keep the first head of each group; keys and values are to be "
        "the mean of all its heads.": pooled(
            of_heads(lambda h, g: torch.eye(h)[:: h // g])
        ),
        "you keep the first heads and drop the others.": pooled(
            of_heads(lambda h, g: torch.eye(h)[:g])
        ),
        "keys and values are the sum of a group, not its mean.": pooled(
            of_heads(lambda h, g: side_by_side(h, g) * (h // g))
        ),
        "heads that stand side by side make a group; yours lie apart.": (
            pooled(of_heads(every_nth))
        ),
        "you take means of neighbouring rows, which belong to one head: the "
        "mean goes over heads.": pooled(of_rows),
        "each group has a mean of its own; yours is that of all heads.": (
            pooled(of_heads(lambda h, g: torch.ones(g, h).double() / h))
        ),
        "the biases are missing: they belong to the heads as the rows do.": (
            pooled(of_heads(side_by_side), biases=False)
        ),
        "the dropout is another one than that of the old layer.": pooled(
            of_heads(side_by_side), dropout=False
        ),
    },
    sizes={
        "g": (1, 3, lambda given: 2),
        "t": (1, 3, lambda given: 2),
        "w": (2, 4),
    },
    leaves_out=("one",),
    calls=shared,
)
def to_grouped(full, kv_heads):
    return pooled(of_heads(side_by_side))(full, kv_heads)


def two_texts(answer, q, k, v, window):
    """The contexts of two texts, token by token, in turns."""
    texts = [(q, k, v), (300 * q.flip(2), k.flip(2), v.flip(2))]
    rings = [answer(len(q), q.shape[1], window, q.shape[3]) for _text in texts]
    found = []
    for t in range(q.shape[2]):
        for ring, text in zip(rings, texts, strict=True):
            one = [x[:, :, t : t + 1].clone() for x in text]
            found.append(called(ring, one, t))
    return found


def called(ring, token, t):
    """The context, by a buffer that is never moved."""
    if isinstance(ring, Remembers):
        return ring(*token)
    before, home = ring.buffer.clone(), ring.buffer.data_ptr()
    context = ring(*(given := [x.clone() for x in token]))
    expect.that(
        all(map(torch.equal, given, token)),
        f"call {t + 1} changes what it is given in place.",
    )
    expect.that(
        ring.buffer.data_ptr() == home and ring.buffer.shape == before.shape,
        f"the buffer is made once: call {t + 1} has put another in its place.",
    )
    written = ring.buffer.ne(before) & ~(ring.buffer.isnan() & before.isnan())
    places = written.transpose(0, 3).flatten(1).any(1).sum()
    expect.that(
        places == 1,
        f"call {t + 1} writes {places} places of the buffer; one is to be "
        "written, the oldest token's if all are full.",
    )
    expect.that(
        not isinstance(context, torch.Tensor) or context.isfinite(),
        f"call {t + 1} gives NaN: write the new key and value first, and "
        "read only places that have been written.",
    )
    return context


class Remembers:
    """All that was said, of which a choice is seen."""

    def __init__(self, batch, heads, window, d_head):
        self.window, self.keys, self.values = window, [], []

    def seen(self, t):
        return range(max(0, t - self.window + 1), t + 1)

    def __call__(self, q, k, v):
        self.keys.append(k)
        self.values.append(v)
        chosen = self.seen(len(self.keys) - 1)
        keys, values = (
            torch.cat([said[n] for n in chosen], 2)
            for said in (self.keys, self.values)
        )
        return F.scaled_dot_product_attention(q, keys, values)


class AveragesKeys(Remembers):
    def __call__(self, q, k, v):
        return super().__call__(q, k, k)


class SeesAll(Remembers):
    def seen(self, t):
        return range(t + 1)


class BeginsAgain(Remembers):
    def seen(self, t):
        return range(t - t % self.window, t + 1)


class KeepsTheFirst(Remembers):
    def seen(self, t):
        return [*range(min(t, self.window - 1)), t]


class SeesBlanks(Remembers):
    def __call__(self, q, k, v):
        if not self.keys:
            blank = torch.zeros_like(k)
            self.keys, self.values = ([blank] * self.window for _ in "kv")
        return super().__call__(q, k, v)


@asks(
    {
        "q": floats("n h t d"),
        "k": floats("n h t d"),
        "v": floats("n h t d"),
        "window": size("m"),
    },
    "this is not the context over the last tokens, the new one included. "
    "Which call is the first to be wrong?",
    {
        "the keys are averaged where the values should be.": AveragesKeys,
        "a query sees more than the window.": SeesAll,
        "a query also attends to places that are still empty.": SeesBlanks,
        "what was written in the round before is forgotten: a full buffer "
        "stays full.": BeginsAgain,
        "the first tokens are still seen: the oldest is the one to "
        "overwrite.": KeepsTheFirst,
    },
    sizes={"t": (8, 13), "m": (1, 6, lambda given: given.window)},
    leaves_out=("double", "large"),  # nobody tells the buffer its dtype
    calls=two_texts,
    window=(4, 3, 5, 6),
)
class WindowCache(Remembers):
    """The reference."""
