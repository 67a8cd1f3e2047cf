"""Checks of the exercises of chapter 15, what attention costs. Not taught."""

import math

import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from kit.exercises import Wrong, exercise, expect
from kit.meter import peak_bytes
from lib.heads import MultiHeadAttention


@exercise(length=(3072, 4096, 5120, 6144))
def predicted_mib(answer, draw):
    times = draw.given.length // 1024
    got = answer()
    expect.that(
        isinstance(got, int | float),
        f"return a plain number; yours is a {type(got).__name__}.",
    )
    expect.close(
        float(got),
        8 * times * times,
        f"count the places where a row meets a column: a text {times} times "
        "as long has more rows, and each row has more columns.",
        [
            (
                8 * times,
                f"{times} times the tokens are not {times} times the pairs: "
                "each of the new rows is longer, too.",
            ),
            (
                4 * times * times,
                "that is one of the two tables: while softmax runs, scores "
                "and weights are both there.",
            ),
            (
                8 * times**3,
                "a table has two directions that grow, not three: its third "
                "size, d, is used up by the dot products.",
            ),
            (
                times * times,
                "that is how many times as large they are. How many MiB were "
                "they?",
            ),
            (
                8,
                "these are the tables of 1,024 tokens: the width of a head "
                "does not set their size, the length does.",
            ),
        ],
    )


@exercise(card=(80, 40, 96, 48), texts=(7, 3, 8, 5))
def longest_text(answer, draw):
    billion = 10**9
    card, weights = draw.given.card * billion, 19_327_352_832
    one_card(answer, card, weights, 48, 64, 64, draw.given.texts)
    for _ in range(3):
        layers, kv_heads, d_head, texts = draw.different(4, 3, 9)
        each = 2 * 2 * texts * layers * kv_heads * d_head
        weights = draw.whole(10_000, 20_000)
        full = weights + each * draw.whole(7, 60)
        for card in (full + draw.whole(1, each - 2), full, full - 1):
            one_card(answer, card, weights, layers, kv_heads, d_head, texts)
        one_card(answer, weights, weights, layers, kv_heads, d_head, texts)
        small = weights - draw.whole(1, 5_000)
        one_card(answer, small, weights, layers, kv_heads, d_head, texts)


def one_card(answer, card, weights, layers, kv_heads, d_head, texts):
    """So many tokens fit that one more would not."""
    got = answer(card, weights, layers, kv_heads, d_head, texts)
    expect.that(
        type(got) is int,
        "a number of tokens is an int; yours is a "
        f"{type(got).__name__}: {got}.",
    )
    if card < weights:
        expect.that(
            got == 0,
            f"the weights alone need {weights - card:,} bytes more than the "
            f"card has, so no token fits; you say {got}.",
        )
        return
    room, each = card - weights, 2 * 2 * layers * kv_heads * d_head * texts
    if 0 <= room - got * each < each:
        return
    called = f"longest_text{(card, weights, layers, kv_heads, d_head, texts)}"
    found = {
        room // (each // 2): "your token has half of its bytes: it keeps "
        "a key and a value, and each number of them takes two bytes.",
        room // (each // layers): "every layer keeps keys and values of its "
        "own, and you count those of one.",
        card // each: "the weights lie on the card as well: what is left of "
        "it is less than all of it.",
        room // (each // texts): "that is what all texts have together: "
        "each of them can have less.",
        room // (2 * each): "your token has twice its bytes: a kept number "
        "takes two of them, and key and value count once each.",
        -(-room // each): "the last token fits only in part: round down.",
        max(0, card // texts - weights) // (each // texts): "the weights lie "
        "on the card once, however many texts there are.",
    }
    if got in found:
        raise Wrong(found[got])
    raise Wrong(
        f"{called}: your {expect.plural(got, 'token')} of each text take "
        f"{got * each:,} bytes, and {room:,} are left beside the weights."
    )


BORROWED = ("attention", "softmax", "scaled_dot_product_attention")


@exercise()
@expect.own_work(*BORROWED)
def causal_in_blocks(answer, draw):
    n, block = draw.lots.choice([(17, 5), (19, 4), (23, 7)])
    q, k, v = (draw.normal(n, d, dtype=torch.float64) for d in (7, 7, 5))
    even = n - n % block  # what stops even here says itself why
    answer(q[:even].clone(), k[:even].clone(), v[:even].clone(), block)
    with (
        expect.untouched(q, k, v),
        expect.stops(
            f"it stops with {n} tokens in blocks of {block}: the last block "
            "is shorter than the others."
        ),
    ):
        got = answer(q, k, v, block)
    expect.tensor(got, (n, 5), what="the output")
    expect.that(
        got[0].isfinite(),
        "the first row is NaN: a query sees at least itself, so the block "
        "on the diagonal is needed.",
    )
    expect.close(
        got,
        in_order(q, k, v),
        f"some rows of {n} tokens in blocks of {block} are wrong. Which is "
        "the first, and in which block does it lie?",
        slips_in_blocks(q, k, v, block),
    )
    only_what_is_needed(answer, draw)
    for length, size in ((24, 8), (5, 8), (6, 1), (1, 3)):
        parts = [
            draw.normal(length, d, dtype=torch.float64) for d in (8, 8, 5)
        ]
        hint = f"right for {n} tokens in blocks of {block}, but not for "
        hint += f"{length} in blocks of {size}."
        with expect.stops(hint):
            got = answer(*parts, size)
        expect.close(got, in_order(*parts), hint)
    far_from_zero(answer, draw)


def slips_in_blocks(q, k, v, block):
    """What known mistakes give, each with its hint."""
    place = torch.arange(len(q), device=q.device)
    staircase = place[:, None] // block >= place // block
    scores = q @ k.T / q.shape[-1] ** 0.5
    return [
        (
            in_order(q.shape[-1] ** 0.5 * q, k, v),
            "the scale is missing: divide the scores by the square root of d.",
        ),
        (
            F.scaled_dot_product_attention(q, k, v),
            "nothing is hidden: every query sees the future.",
        ),
        (
            F.scaled_dot_product_attention(q, k, v, staircase),
            "inside the block on the diagonal a query still sees later "
            "keys: some of its pairs are in the future.",
        ),
        (
            row_by_row(scores, v, block, faded=False),
            "when a larger score arrives, what was summed so far must "
            "shrink: it was measured from the old maximum.",
        ),
        (
            row_by_row(scores, v, block, faded=True),
            "a mean of the blocks' own means counts all blocks alike: "
            "add up sums and counts, and divide once.",
        ),
    ]


def in_order(q, k, v):
    """Causal attention, by torch."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def row_by_row(scores, v, block, faded):
    """Two mistakes: sums that are not repaired, a mean of means."""
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


def only_what_is_needed(answer, draw):
    """No large table, and no block that lies in the future."""
    text = draw.normal(3, 512, 2)
    held = peak_bytes(lambda *x: answer(*x, 16), *text)
    expect.that(
        held < 512 * 512,
        "somewhere there is a table of n by n: with 512 tokens and blocks "
        f"of 16 your code holds {held:,} bytes at a time.",
    )
    expect.that(
        held < 512 * 16 * 4,
        "somewhere there is a table of n by block: cut the queries and the "
        "keys, so that block by block is the largest.",
    )
    q, k, v = draw.normal(3, 24, 8, dtype=torch.float64)
    with FlopCounterMode(display=False) as counter:
        answer(q, k, v, 8)
    tables = counter.get_total_flops() // (4 * 8 * 8 * 8)
    expect.that(
        tables <= 6,
        f"of 24 tokens in blocks of 8 it computes {tables} blocks of scores, "
        "and 6 are needed: leave out those that lie wholly in the future.",
    )


def far_from_zero(answer, draw):
    """Scores of many hundreds, below zero and above."""
    q, k, v = draw.normal(3, 24, 8, dtype=torch.float64)
    low, high = (q.abs(), -900 * k.abs()), (900 * q.abs(), k.abs())
    expect.that(
        expect.same(answer(*high, v, 8), in_order(*high, v)),
        "where scores are large it fails: their exponentials overflow, or "
        "all become 0, unless each row's own maximum is taken off.",
    )
    expect.that(
        expect.same(answer(*low, v, 8), in_order(*low, v)),
        "where all scores lie far below 0 it fails: the maximum so far must "
        "begin below every score.",
    )


@exercise()
def linear_encoder(answer, draw):
    q, k, v = (draw.normal(3, 2, 7, d, dtype=torch.float64) for d in (5, 5, 3))
    lengths = draw.shuffled([7, draw.whole(2, 5), 0])
    empty = lengths.index(0)
    real = [[t < n for t in range(7)] for n in lengths]
    may_attend = torch.tensor(real, device=q.device)[:, None, None]
    v = torch.where(may_attend.mT, v, 100 * v)  # PAD has something to say
    with expect.untouched(q, k, v):
        got = answer(q, k, v, may_attend)
    expect.tensor(got, (3, 2, 7, 3), torch.float64, "the output")
    some = [n for n in range(3) if n != empty]
    weights = positive(q) @ positive(k).mT
    weights_0 = positive(q) @ positive(k * may_attend.mT).mT
    hidden = weights * may_attend
    all_of_it = weights.sum(-1, keepdim=True)
    mistakes = {
        "padding is heard: nothing hides its keys.": weights @ v / all_of_it,
        "a key of zeros is not silent, since phi(0) is 1: hide it after "
        "phi.": weights_0 @ v / weights_0.sum(-1, keepdim=True),
        "the sum of the weights still counts padding: hide what the keys "
        "add to both sums.": hidden @ v / all_of_it,
        "you hide the rows of queries; it is keys that nobody may see.": (
            weights @ v / all_of_it * may_attend.mT
        ),
        "you hide rows of queries as well; it is keys alone that nobody may "
        "see.": ((hidden @ v / hidden.sum(-1, True)) * may_attend.mT),
        "this is still causal: in an encoder every query sees all keys of "
        "its sentence.": hidden.tril() @ v / hidden.tril().sum(-1, True),
        "the weights of a row must sum to 1: divide by their sum.": (
            hidden @ v
        ),
    }
    expect.close(
        got[some],
        (hidden @ v / hidden.sum(-1, keepdim=True))[some],
        "not the mean of the values by the weights phi(q)·phi(k).",
        [(value[some], hint) for hint, value in mistakes.items()],
    )
    expect.that(
        not got[empty].isnan().any(),
        "a sentence that is all padding gives NaN: 0 is divided by 0.",
    )
    expect.that(got[empty] == 0, "a sentence that is all padding must give 0.")
    long = [draw.normal(1, 1, 512, 4) for _ in range(3)]
    shown = torch.ones(1, 1, 1, 512, device=q.device) > 0
    held = peak_bytes(lambda *x: answer(*x, shown), *long)
    expect.that(
        held < 512 * 512,
        "the numbers are right, but there is a table of n by n: multiply "
        "keys and values first.",
    )


def positive(x):
    """The feature map phi, as the chapter writes it."""
    return torch.where(x > 0, x + 1, x.exp())


@exercise()
def to_grouped(answer, draw):
    for bias, dropout in ((True, 0.25), (False, 0.0)):
        full = MultiHeadAttention(24, 6, dropout=dropout, bias=bias)
        full = full.eval().to(draw.normal(1, dtype=torch.float64))
        for weight in full.parameters():
            weight.data = draw.normal(*weight.shape, dtype=torch.float64)
        with expect.untouched(
            *full.parameters(), hint="the model that was given is changed."
        ):
            for kv_heads in (3, 2, 1, 6):
                made = answer(full, kv_heads)
                expect.that(
                    any(
                        kind.__name__ == "GroupedQueryAttention"
                        for kind in type(made).__mro__
                    ),
                    "return a GroupedQueryAttention; yours is a "
                    f"{type(made).__name__}.",
                )
                expect.that(
                    made.kv_heads == kv_heads,
                    f"asked for {kv_heads} key heads, it has {made.kv_heads}.",
                )
                had = {w.data_ptr() for w in full.parameters()}
                expect.that(
                    all(w.data_ptr() not in had for w in made.parameters()),
                    "a weight is the old model's own: who trains the new "
                    "layer changes full as well. Copy the numbers.",
                )
                one_grouping(full, made.eval(), draw)


def one_grouping(full, made, draw):
    """Keys and values are means of heads; the rest is as before."""
    x = draw.normal(2, 5, 24, dtype=torch.float64)
    nothing = torch.zeros_like(x)
    expect.that(
        all(w.dtype == x.dtype for w in made.parameters()),
        "the new layer is to have the dtype of the old one.",
    )
    parts = [full.project(t, t, t) for t in (x, nothing)]
    ours = [made.project(t, t, t) for t in (x, nothing)]
    expect.that(
        expect.same(ours[0][0], parts[0][0]),
        "the queries stay as they are: their rows and biases are copied.",
    )
    for which, name in ((1, "keys"), (2, "values")):
        had, has = (t[0][which] - t[1][which] for t in (parts, ours))
        by_heads(had, has, name)
        had, has = parts[1][which], ours[1][which]
        expect.close(
            has,
            had.unflatten(1, (has.shape[1], -1)).mean(2),
            f"the matrices are right, but not the biases of the {name}: "
            "they belong to the heads as the rows do.",
        )
    context = draw.normal(2, 6, 5, 4, dtype=torch.float64)
    expect.close(
        made.output(context),
        full.output(context),
        "what comes after the heads, out_proj, must be taken over as it is.",
    )
    expect.that(
        made.dropout == full.dropout,
        f"the dropout was {full.dropout} and is now {made.dropout}.",
    )


def by_heads(had, has, name):
    """Each new head is the mean of those that it stands for."""
    heads, groups = had.shape[1], has.shape[1]
    group = heads // groups
    rows = had.transpose(1, 2).flatten(2)
    mixed = rows.unflatten(2, (-1, group)).mean(3).unflatten(2, (groups, -1))
    expect.close(
        has,
        had.unflatten(1, (groups, group)).mean(2),
        f"with {groups} key heads for 6, the {name} are not the means of "
        "the heads of each group.",
        [
            (
                had.unflatten(1, (groups, group))[:, :, 0],
                f"you keep the first head of each group; the {name} are to "
                "be the mean of all its heads.",
            ),
            (
                had[:, :groups],
                f"you keep the first heads of the {name} and drop the others.",
            ),
            (
                had.unflatten(1, (groups, group)).sum(2),
                f"the {name} are the sum of a group, not its mean.",
            ),
            (
                had.unflatten(1, (group, groups)).mean(1),
                "heads that stand side by side make a group; you join every "
                f"{groups}th.",
            ),
            (
                mixed.transpose(1, 2),
                "you take means of neighbouring rows, which belong to one "
                "head: the mean goes over heads.",
            ),
            (
                had.mean(1, keepdim=True).expand_as(has),
                "each group has a mean of its own; yours is that of all "
                "heads.",
            ),
        ],
    )


@exercise(window=(4, 3, 5, 6))
def WindowCache(answer, draw):
    for window in (draw.given.window, 1, 2, 20):
        q, k, v = draw.normal(3, 3, 2, 13, 5)
        ring = answer(3, 2, window, 5)
        home = ring.buffer.data_ptr()
        for t in range(13):
            before = ring.buffer.clone()
            now = [x[:, :, t : t + 1].clone() for x in (q, k, v)]
            with expect.untouched(*now):
                got = ring(*now)
            one_call(got, q, k, v, window, t)
            expect.that(
                ring.buffer.data_ptr() == home,
                "the buffer is made once: call "
                f"{t + 1} has put another in its place.",
            )
            places = [
                not expect.same(ring.buffer[:, :, :, p], before[:, :, :, p])
                for p in range(window)
            ]
            expect.that(
                sum(places) <= 1,
                f"call {t + 1} writes {sum(places)} places of the buffer; "
                "only the oldest token's need be overwritten.",
            )


def one_call(got, q, k, v, window, t):
    """The context of token t, and what it means if it is wrong."""
    where = f"call {t + 1} with a window of {window}"
    expect.tensor(got, (3, 2, 1, 5), what="the context")
    expect.that(
        got.isfinite(),
        f"{where} gives NaN: write the new key and value first, and read "
        "only places that have been written.",
    )

    def over(tokens, k=k, v=v):
        seen = k[:, :, tokens], v[:, :, tokens]
        return F.scaled_dot_product_attention(q[:, :, t : t + 1], *seen)

    first = max(0, t - window + 1)
    missing = max(0, window - t - 1)
    blank = [F.pad(x[:, :, first : t + 1], (0, 0, 0, missing)) for x in (k, v)]
    expect.close(
        got,
        over(slice(first, t + 1)),
        f"{where} does not give the context over tokens {first} to {t}.",
        [
            (
                over(slice(first, t + 1), v=k),
                "the keys are averaged where the values should be.",
            ),
            (
                over(slice(0, t + 1)),
                f"{where} sees more than {window} tokens.",
            ),
            (
                over(slice(0, window + missing), *blank),
                f"{where} also attends to places that are still empty.",
            ),
            (
                over(slice(t - t % window, t + 1)),
                f"{where} has forgotten what was written in the round "
                "before: a full buffer stays full.",
            ),
            (
                over([*range(min(t, window - 1)), t]),
                f"{where} still sees the first tokens: the oldest is the one "
                "to overwrite.",
            ),
        ],
    )
