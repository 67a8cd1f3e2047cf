"""Checks of the exercises of chapter 14, the cache. Not taught."""

import copy
import math

import torch
from torch.nn.functional import scaled_dot_product_attention

from kit.exercises import exercise, expect
from kit.exercises.chapter_13 import BOS, EOS, PAD, wild_model
from lib.decoders import decoder_for
from lib.runtime import device
from lib.transformer import Transformer, TransformerConfig


def tower(draw, encoders, decoders):
    """A small model with blocks, not trained."""
    config = TransformerConfig(
        13, 9, 16, 2, 24, encoders, decoders, dropout=0.0, max_length=40
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw.whole(0, 99))
        model = Transformer(config).requires_grad_(False)
    return model.double().eval().to(device())


def text_of(model, source, limit):
    """What greedy decoding writes for one source, with no cache."""
    memory, ids = model.encode(source[None]), [BOS]
    while len(ids) <= limit and ids[-1] != EOS:
        row = torch.tensor([ids], device=device())
        logits = model.decode(row, memory)[0, -1]
        logits[[PAD, BOS]] = -math.inf
        ids.append(logits.argmax().item())
    return ids[1:]


@exercise()
@expect.own_work("CachedSelfAttention", "scaled_dot_product_attention", "sdpa")
def append_and_attend(answer, draw):
    double = {"dtype": torch.float64}
    text = draw.normal(7, 6, **double)
    # Halved, so that no weight comes close to 1 and hides a mistake.
    matrices = [draw.normal(6, wide, **double) / 2 for wide in (3, 3, 5)]
    old, new = text[:3], text[3:5]
    q, k, v = (text[:5] @ W for W in matrices)
    with expect.untouched(text, k, v, *matrices):
        got = answer(new, matrices, k[:3], v[:3])
    expect.that(
        isinstance(got, tuple | list) and len(got) == 3,
        "three tensors are asked for: the context, all keys, all values.",
    )
    expect.tensor(got[0], (2, 5), what="the context")
    kept(got[1:], k, v, old, new, matrices)
    contexts(got[0], q, k, v)
    in_parts(answer, text, matrices)


def kept(got, k, v, old, new, matrices):
    """All keys and all values, or those of a known mistake."""
    only_q = torch.cat([old @ matrices[1], new @ matrices[0]])
    for what, mine, right in zip(("keys", "values"), got, (k, v), strict=True):
        expect.close(
            mine,
            right,
            f"the {what} that come back are not those of all rows.",
            [
                (
                    right[3:],
                    f"only the {what} of the new rows come back: the next "
                    "call needs the old ones, too.",
                ),
                (
                    torch.cat([right[3:], right[:3]]),
                    f"the new {what} stand before the old ones: the order of "
                    "the text is lost.",
                ),
                (
                    torch.cat([right[:3], right[4:]]),
                    "two rows are new, and only one of them is appended.",
                ),
                (
                    only_q,
                    "queries are kept in place of keys: which matrix makes "
                    "a key?",
                ),
            ],
        )


def contexts(got, q, k, v):
    """The context of two new rows after three old ones."""
    rows, columns = torch.tensor([[3], [4]]), torch.arange(5)
    may = (columns <= rows).to(q.device)

    def of(mask, **options):
        return scaled_dot_product_attention(
            q[None, 3:], k[None], v[None], mask, **options
        )[0]

    expect.close(
        got,
        of(may),
        "keys and values are right, the context is not.",
        [
            (
                of((columns <= rows - 3).to(q.device)),
                "the triangle begins at the top left: the first new row is "
                "number 4 of the text, and it sees one key.",
            ),
            (
                of(None),
                "a new row sees a later one: among the new rows a mask is "
                "needed.",
            ),
            (
                of((columns < rows).to(q.device)),
                "a row does not see itself.",
            ),
            (
                of(may & (columns >= 3).to(q.device)),
                "the new rows look at each other only: the old keys are to "
                "be seen as well.",
            ),
            (
                of(may, scale=1.0),
                "the scale is missing: divide the scores by the root of the "
                "keys' width.",
            ),
            (
                of(may, scale=6**-0.5),
                "the scale is the root of the keys' width, and yours is that "
                "of the rows.",
            ),
            (
                (q[3:] @ k.mT / 3**0.5 * may).softmax(-1) @ v,
                "a hidden score becomes 0, and exp(0) is 1: hide it with "
                "-inf.",
            ),
            (
                ((q[3:] @ k.mT / 3**0.5).softmax(-1) * may) @ v,
                "weights are hidden after the softmax, so that the rest no "
                "longer sums to 1.",
            ),
        ],
    )


def in_parts(answer, text, matrices):
    """However a text is cut, its rows come out as those of the whole."""
    whole = [text @ W for W in matrices]
    right = scaled_dot_product_attention(
        *(t[None] for t in whole), is_causal=True
    )[0]
    for sizes in ((1,) * 7, (7,), (2, 3, 2), (4, 1, 1, 1)):
        keys, values, found = whole[1][:0], whole[2][:0], []
        for new in text.split(sizes):
            context, keys, values = answer(new, matrices, keys, values)
            found.append(context)
        expect.that(
            expect.same(torch.cat(found), right)
            and expect.same(keys, whole[1])
            and expect.same(values, whole[2]),
            f"right for two rows after three, but not if seven rows come in "
            f"parts of {sizes}.",
        )


@exercise()
def write_and_drop(answer, draw):
    model = wild_model()
    source = draw.ids(3, 12, 9, 7)
    source[::3, 5:] = PAD
    wanted = [text_of(model, row[row != PAD], 10) for row in source]
    read = []
    hook = model.tables.target_embedding.register_forward_hook(
        lambda module, given, out: read.append(given[0].shape)
    )
    try:
        for limit, rows in (
            (10, range(9)),
            (3, range(9)),
            (10, [n for n in range(9) if len(wanted[n]) < 10]),
        ):
            read.clear()
            texts = [wanted[n][:limit] for n in rows]
            got = answer(model, source[list(rows)], limit)
            texts_are(got, texts, limit)
            rows_are(read, texts)
    finally:
        hook.remove()


def texts_are(got, wanted, limit):
    """The ids of each text, in the order of the sources."""
    expect.that(
        isinstance(got, list)
        and len(got) == len(wanted)
        and all(isinstance(text, list) for text in got),
        f"a list of {len(wanted)} lists of ids is asked for.",
    )
    expect.that(
        all(isinstance(token, int) for text in got for token in text),
        "the ids are to be plain numbers, not tensors.",
    )
    expect.that(
        not any(PAD in text for text in got), "a text is filled up with PAD."
    )
    expect.that(
        max(map(len, got)) <= limit,
        f"a text has {max(map(len, got))} tokens, and the limit is {limit}.",
    )
    no_eos = [[t for t in text if t != EOS] for text in wanted]
    expect.that(
        got == wanted or got != no_eos,
        "the EOS at the end of each text is missing.",
    )
    expect.that(
        got == wanted or sorted(got) != sorted(wanted),
        "the texts are right, but not in the order of their sources.",
    )
    cut = [t[: t.index(EOS) + 1] if EOS in t else t for t in got]
    expect.that(
        got == wanted or cut != wanted,
        "a text goes on after its EOS: what comes then is no part of it.",
    )
    shortest = min(map(len, wanted))
    expect.that(
        got == wanted or got != [text[:shortest] for text in wanted],
        "all texts stop with the first that ends.",
    )
    for n, (mine, right) in enumerate(zip(got, wanted, strict=True)):
        expect.that(
            mine[:shortest] == right[:shortest],
            f"text number {n} differs at the beginning already, before any "
            "row was dropped.",
        )
    expect.that(
        got == wanted,
        "right until the first text ends, after "
        f"{expect.plural(shortest, 'token')}; then tokens, rows and texts "
        "no longer belong together.",
    )


def rows_are(read, wanted):
    """Every row of the decoder that was computed was needed."""
    longest, rows = max(map(len, wanted)), sum(map(len, wanted))
    expect.that(
        len(read) <= longest,
        f"the texts are right, but the decoder is called {len(read)} times "
        f"and not {longest}: all texts are to be written together, until "
        "the last one has ended.",
    )
    computed = sum(shape.numel() for shape in read)
    expect.that(
        computed <= rows,
        f"the texts are right, but {computed} rows are computed, and they "
        f"have {rows} tokens: rows that have ended go on.",
    )


@exercise()
def rewind(answer, draw):
    model = tower(draw, 1, 3)
    read, other = draw.ids(3, 8, 2, 9), draw.ids(3, 8, 2, 9)
    source = draw.ids(3, 12, 2, 5)
    for stay in (6, 3, 1, 0):
        decoder = decoder_for(model, source)
        decoder(read[:, :4])
        decoder(read[:, 4:8])
        before = copy.copy(decoder.layers)
        places = [place(past.buffer) for _, past, _ in before]
        held = [across.k.shape for *_, across in before]
        answer(decoder, stay)
        counted(decoder, stay, places, held)
        found = decoder(other[:, stay:8])
        anew = decoder_for(model, source)(
            torch.cat([read[:, :stay], other[:, stay:8]], dim=1)
        )
        expect.that(
            expect.same(found, anew[:, stay:]),
            f"after going back to {expect.plural(stay, 'token')} the decoder "
            "does not go on as one that has read no more.",
        )


def place(tensor):
    """Where the numbers lie, those that are cut off included."""
    return tensor.untyped_storage().data_ptr()


def counted(decoder, stay, places, held):
    """What is counted, and what is to stay where it is."""
    pasts = [past for _, past, _ in decoder.layers]
    lengths = [past.length for past in pasts]
    expect.that(
        [across.k.shape for *_, across in decoder.layers] == held,
        "the keys of the source change: the source is still the same.",
    )
    expect.that(
        all(past.buffer is not None for past in pasts),
        "the buffers are thrown away: the keys of the first tokens are "
        "still needed.",
    )
    expect.that(
        [place(past.buffer) for past in pasts] == places,
        "keys are copied to another place: it is enough to forget that "
        "they are there.",
    )
    every = [decoder.length, *lengths]
    expect.that(
        every[0] == stay or len(set(every)) > 1,
        f"with a length of {stay} of 8 tokens the decoder has {every[0]}.",
    )
    expect.that(
        every[0] == stay,
        f"the next token would stand at position {every[0]} instead of "
        f"{stay}: the decoder counts, too.",
    )
    expect.that(
        any(length == stay for length in lengths),
        "the attentions still remember "
        f"{expect.plural(lengths[0], 'token')}, not {stay}.",
    )
    expect.that(
        all(length == stay for length in lengths),
        f"the blocks remember {lengths} tokens: each has a past of its own.",
    )


@exercise()
def accepted(answer, draw):
    model, calls = wild_model(), []
    source = draw.ids(3, 12, 7, 7)
    source[::2, 5:] = PAD
    hook = model.tables.target_embedding.register_forward_hook(
        lambda module, given, out: calls.append(given[0].shape)
    )
    found, asked = [], []
    try:
        for row in source:
            for guess, place in guesses(model, row):
                calls.clear()
                got = answer(model, row[None], guess)
                expect.that(
                    len(calls) == 1,
                    f"the decoder is called {len(calls)} times: one call "
                    "scores all tokens of the guess.",
                )
                expect.that(
                    isinstance(got, int | float),
                    f"a {type(got).__name__} comes back: a plain number is "
                    "asked for.",
                )
                found.append(got)
                asked.append((row, guess, place))
    finally:
        hook.remove()
    counts_are(found, asked, model)


def guesses(model, row):
    """Right up to each place, and how many tokens are right."""
    text = text_of(model, row[row != PAD], 8)
    for place in range(len(text) + 1):
        guess = list(text)
        if place < len(text):
            guess[place] = 3 if text[place] != 3 else 4
        yield guess, place


def counts_are(found, asked, model):
    """How many tokens are accepted, for all guesses; or a known mistake."""
    right = [place for *_, place in asked]
    if found == right:
        return
    lengths = [len(guess) for _, guess, _ in asked]
    pairs = list(zip(right, lengths, strict=True))

    def by(rule):
        return [rule(model, row, guess) for row, guess, _ in asked]

    first = next((i for i, n in enumerate(found) if n != right[i]), 0)
    expect.close(
        found,
        right,
        f"of the guess {asked[first][1]} the model would write "
        f"{expect.plural(right[first], 'token')} itself, and you "
        f"accept {found[first]}.",
        [
            (
                by(lambda *a: sum(agree(*a))),
                "tokens after the first wrong one are counted: their rows "
                "have read what the model would not write.",
            ),
            (
                by(lambda *a: prefix(agree(*a, free=False))),
                "PAD or BOS wins a place: they are never written.",
            ),
            (
                by(lambda *a: prefix(agree(*a, blind=True))),
                "the PAD of the source is read: its mask is missing.",
            ),
            (by(lambda *a: prefix(agree(*a, begin=[]))), SHIFTED),
            (by(lambda *a: prefix(agree(*a, late=1))), SHIFTED),
            (
                [n if n == length else 0 for n, length in pairs],
                "a guess counts for nothing if one token is wrong: those "
                "before it are accepted.",
            ),
            (
                [0 if n == length else n for n, length in pairs],
                "a guess without a wrong token gets 0: all of its tokens are "
                "accepted.",
            ),
        ],
    )


SHIFTED = (
    "each row scores the token that comes after what it has read: yours is "
    "compared with one that it has read already."
)


def agree(model, row, guess, *, free=True, blind=False, begin=(BOS,), late=0):
    """For each token of a guess: is it the best of its row?"""
    row = row if blind else row[row != PAD]
    ids = torch.tensor([[*begin, *guess]], device=device())
    logits = model.decode(ids, model.encode(row[None]))[0, late:]
    if free:
        logits[:, [PAD, BOS]] = -math.inf
    best = logits.argmax(-1).tolist()[: len(guess)]
    return [a == b for a, b in zip(best, guess, strict=True)]


def prefix(right):
    """How many are right before the first that is not."""
    return [*right, False].index(False)
