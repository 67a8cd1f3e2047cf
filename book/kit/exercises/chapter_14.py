"""Checks of the exercises of chapter 14, the cache. Not taught."""

import math
from functools import partial

import torch
import torch.nn.functional as F

from kit.exercises import expect
from kit.exercises.contract import asks, by_oneself, floats, made, several
from lib.decoders import decoder_for
from lib.runtime import device
from lib.transformer import Transformer, TransformerConfig


def at_once_and_in_parts(answer, x, matrices, keys, values):
    """What all new rows give after the old ones; and in twos after none."""
    whole = three(answer(x, matrices, keys, values))
    found, keys, values = [], keys[:0], values[:0]
    for new in x.split(2):
        context, keys, values = three(answer(new, matrices, keys, values))
        found.append(context)
    return whole, found, keys, values


def three(got):
    expect.that(
        isinstance(got, tuple | list) and len(got) == 3,
        "three tensors are asked for: the context, all keys, all values.",
    )
    return got


def appended(
    sees=lambda row, key, old: key <= row + old,
    joined=lambda old, new: torch.cat([old, new]),
    kept=lambda every, old: every,
    made_by=(0, 1, 2),
    attends=F.scaled_dot_product_attention,
):
    """Rows that see and keep what is said."""

    def append_and_attend(x, matrices, keys, values):
        q, k, v = (x @ matrices[n] for n in made_by)
        old, keys, values = len(keys), joined(keys, k), joined(values, v)
        row = torch.arange(len(x), device=x.device)[:, None]
        may_attend = sees(row, torch.arange(len(keys)).to(row), old)
        context = attends(q, keys, values, may_attend)
        return context, kept(keys, old), kept(values, old)

    return append_and_attend


def hidden_by_zeros(q, k, v, may_attend):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    return (scores * may_attend).softmax(-1) @ v


def hidden_afterwards(q, k, v, may_attend):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    return (scores.softmax(-1) * may_attend) @ v


@asks(
    {
        "x": floats("n w"),
        "matrices": several(floats("w d"), floats("w d"), floats("w e")),
        "keys": floats("o d"),
        "values": floats("o e"),
    },
    "first look at the keys and values that come back; then at what each "
    "new row sees, and by which width the scores are divided.",
    {
        "the triangle begins at the top left: before the first new row "
        "stand old ones, and it sees them all.": appended(
            lambda row, key, old: key <= row
        ),
        "a new row sees a later one: among the new rows a mask is needed.": (
            appended(lambda row, key, old: key >= 0)
        ),
        "a row does not see itself.": appended(
            lambda row, key, old: key < row + old
        ),
        "the new rows look at each other only: the old keys are to be seen "
        "as well.": appended(
            lambda row, key, old: (key <= row + old) & (key >= old)
        ),
        "the new rows stand before the old ones: the order of the text is "
        "lost.": appended(
            lambda row, key, old: (key <= row) | (key >= len(row)),
            lambda old, new: torch.cat([new, old]),
        ),
        "only what is new comes back: the next call needs the old ones, "
        "too.": appended(kept=lambda every, old: every[old:]),
        "queries are kept in place of keys: which matrix makes a key?": (
            appended(made_by=(1, 0, 2))
        ),
        "the scale is missing: divide the scores by the root of the keys' "
        "width.": appended(
            attends=partial(F.scaled_dot_product_attention, scale=1.0)
        ),
        "a hidden score becomes 0, and exp(0) is 1: hide it with -inf.": (
            appended(attends=hidden_by_zeros)
        ),
        "weights are hidden after the softmax, so that the rest no longer "
        "sums to 1.": appended(attends=hidden_afterwards),
    },
    calls=at_once_and_in_parts,
    ways=(by_oneself("CachedSelfAttention", "scaled_dot_product_attention"),),
)
def append_and_attend(x, matrices, keys, values):
    return appended()(x, matrices, keys, values)


def writer(draw, case):
    """Not trained; its texts differ in length, and PAD and BOS score high.

    At first its special tokens are the usual ones.
    """
    pad, bos, eos = (0, 1, 2) if case.is_given else draw.different(3, 0, 5)
    ids = {"pad_id": pad, "bos_id": bos, "eos_id": eos}
    config = TransformerConfig(13, 6, 16, 2, 24, 1, 1, tied="none", **ids)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4 if case.is_given else draw.whole(0, 999))
        model = Transformer(config).requires_grad_(False)
    for weight in model.parameters():
        weight.mul_(1.5 if weight.ndim > 1 else 1.0)
    model.tables.output.weight[[pad, bos]] *= 2
    return model.double().eval().to(device())


def drawn_texts(draw, case, rows):
    """A model and sources, with padding; some texts end early, not all.

    Whoever reads the padding too writes something else.
    """
    while True:
        model = writer(draw, case)
        source = draw.ids(6, 12, rows, 7)
        source[::2, 2:] = model.config.pad_id
        texts = written(model, source, 10)
        lengths = [len(text) for text in texts]
        if min(lengths) > 8 or max(lengths) < 10:
            continue
        if texts != written(model, source, 10, all_of):
            ends = [length < 9 for length in lengths]
            return model, source, ends


def real(model, source):
    return model.source_mask(source)


def all_of(model, source):
    return None


def written(model, source, limit, sees=real, goes_on=False):
    """What greedy decoding writes for each source, with no cache."""
    c, memory = model.config, model.encode(source)
    ids = torch.full((len(source), 1), c.bos_id, device=device())
    for _ in range(limit):
        logits = model.decode(ids, memory, None, sees(model, source))[:, -1]
        logits[:, [c.pad_id, c.bos_id]] = -math.inf
        ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], 1)
    texts = ids[:, 1:].tolist()
    return texts if goes_on else [up_to(c.eos_id, text) for text in texts]


def up_to(eos, text):
    return text[: text.index(eos) + 1] if eos in text else text


def texts(sees=real, more=0, goes_on=False, then=lambda model, texts: texts):
    """The texts of all sources."""

    def write_and_drop(model, source, limit):
        return then(model, written(model, source, limit + more, sees, goes_on))

    return write_and_drop


def without_end(model, texts):
    return [[t for t in text if t != model.config.eos_id] for text in texts]


def until_all_have_ended(model, texts):
    eos = model.config.eos_id
    ends = [text.index(eos) if eos in text else len(text) for text in texts]
    return [text[: max(ends) + 1] for text in texts]


def as_long_as_the_longest(model, texts):
    longest, pad = max(map(len, texts)), [model.config.pad_id]
    return [text + pad * (longest - len(text)) for text in texts]


def drawn_sources(draw, case):
    """A model and its sources; later all texts end early."""
    model, source, ends = drawn_texts(draw, case, draw.whole(5, 7))
    return model, source if case.is_given else source[ends]


def no_row_too_many(answer, model_and_source, limit):
    """Every row of the decoder that was computed was needed."""
    model, source = model_and_source
    read = []
    model.tables.target_embedding.register_forward_hook(
        lambda module, given, out: read.append(given[0].shape)
    )
    wanted = texts()(model, source, limit)
    ended = [n for n, text in enumerate(wanted) if len(text) < limit]
    for rows in filter(None, (range(len(wanted)), ended)):
        read.clear()
        answer(model, source[list(rows)], limit)
        longest = max(len(wanted[n]) for n in rows)
        needed = sum(len(wanted[n]) for n in rows)
        expect.that(
            len(read) <= longest,
            f"the texts are right, but the decoder is called {len(read)} "
            f"times and not {longest}: all texts are to be written together, "
            "until the last one has ended.",
        )
        computed = sum(shape[0] for shape in read)
        expect.that(
            computed <= needed,
            f"the texts are right, but {computed} rows are computed, and "
            f"they have {needed} tokens: rows that have ended go on.",
        )


@asks(
    {
        "model_and_source": made(drawn_sources),
        "limit": made(
            lambda draw, case: 10 if case.is_given else draw.whole(1, 12)
        ),
    },
    "until the first text ends, or later, something is not what greedy "
    "decoding writes: do tokens, rows and texts still belong together?",
    {
        "the EOS at the end of each text is missing.": texts(then=without_end),
        "the texts are right, but not in the order of their sources.": texts(
            then=lambda model, texts: sorted(texts, key=len)
        ),
        "a text goes on after its EOS: what comes then is no part of it.": (
            texts(goes_on=True, then=until_all_have_ended)
        ),
        "all texts stop with the first that ends.": texts(
            then=lambda model, texts: [
                text[: min(map(len, texts))] for text in texts
            ]
        ),
        "a text is filled up with PAD.": texts(then=as_long_as_the_longest),
        "a text has one token more than the limit.": texts(more=1),
        "the PAD of the sources is read: their mask is missing.": texts(
            all_of
        ),
    },
    calls=lambda answer, both, limit: answer(*both, limit),
    also=(no_row_too_many,),
)
def write_and_drop(model, source, limit):
    return texts()(model, source, limit)


def tower(draw, case):
    """A small model with some blocks, not trained."""
    config = TransformerConfig(
        13, 9, 16, 2, 24, 1, draw.whole(2, 4), dropout=0.0, max_length=40
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw.whole(0, 99))
        model = Transformer(config).requires_grad_(False)
    return model.double().eval().to(device())


def read_again(answer, model, source, read, other, lengths):
    """What is counted after going back, and what other tokens give then."""
    results = []
    for length in lengths:
        decoder = having_read(model, source, read)
        held = [across.k.shape for *_, across in decoder.layers]
        answer(decoder, length)
        pasts = [past for _, past, _ in decoder.layers]
        expect.that(
            [across.k.shape for *_, across in decoder.layers] == held,
            "the keys of the source change: the source is still the same.",
        )
        expect.that(
            length == 0 or all(past.buffer is not None for past in pasts),
            "the buffers are thrown away: the keys of the first tokens are "
            "still needed.",
        )
        counts = decoder.length, [past.length for past in pasts]
        results.append((counts, decoder(other[:, length:])))
        answer(decoder, length // 2)
        results.append(decoder(read[:, length // 2 :]))
    return results


def having_read(model, source, read):
    decoder = decoder_for(model, source)
    for some in read.split(4, dim=1):
        decoder(some)
    return decoder


def nothing_is_moved(answer, model, source, read, other, lengths):
    """The numbers lie where they lay, also those that are forgotten."""
    decoder = having_read(model, source, read)
    buffers = [past.buffer for _, past, _ in decoder.layers]
    places = [buffer.untyped_storage().data_ptr() for buffer in buffers]
    before = [buffer.clone() for buffer in buffers]
    answer(decoder, 3)
    now = [past.buffer.untyped_storage() for _, past, _ in decoder.layers]
    expect.that(
        [buffer.data_ptr() for buffer in now] == places,
        "keys are copied to another place: it is enough to forget that they "
        "are there.",
    )
    expect.that(
        all(
            torch.equal(a[..., :8, :], b[..., :8, :])
            for a, b in zip(buffers, before, strict=True)
        ),
        "keys are overwritten, and nothing is to be computed: what comes "
        "next takes their place anyway.",
    )


def set_to(
    count=lambda now, length: length,
    past=lambda now, length: length,
    blocks=slice(None),
):
    """The rows that stay are copied; the counts are said."""

    def rewind(decoder, length):
        decoder.length = count(decoder.length, length)
        for _, cached, _ in decoder.layers[blocks]:
            cached.buffer = cached.buffer.clone()
            cached.length = past(cached.length, length)

    return rewind


def as_it_was(now, length):
    return now


@asks(
    {
        "model": made(tower),
        "source": made(lambda draw, case: draw.ids(3, 12, 2, 5).tril(3)),
        "read": made(lambda draw, case: draw.ids(3, 8, 2, 8)),
        "other": made(lambda draw, case: draw.ids(3, 8, 2, 9)),
        "lengths": made(lambda draw, case: [0, *draw.different(2, 1, 7)]),
    },
    "the decoder does not go on as one that has read no more: how many "
    "tokens does it count, and how many does each attention remember?",
    {
        "the attentions still remember all tokens: they count as well.": (
            set_to(past=as_it_was)
        ),
        "the next token would stand behind all that was read: the decoder "
        "counts, too.": set_to(count=as_it_was),
        "one block forgets, and the others do not: each has a past of its "
        "own.": set_to(blocks=slice(1)),
        "length says how many tokens stay, not how many go.": set_to(
            *[lambda now, length: now - length] * 2
        ),
        "of the tokens that are to stay, the last is forgotten.": set_to(
            *[lambda now, length: max(length - 1, 0)] * 2
        ),
    },
    calls=read_again,
    also=(nothing_is_moved,),
)
def rewind(decoder, length):
    set_to()(decoder, length)


def guesses(draw, case):
    """A model; for each source a guess that is right up to each place."""
    model, source, _ends = drawn_texts(draw, case, 4)
    c, asked = model.config, []
    usual = {*range(6)} - {c.pad_id, c.bos_id, c.eos_id}
    for row in source:
        [text] = written(model, row[None], draw.whole(3, 8))
        for place in range(len(text) + 1):
            guess = list(text)
            if place < len(text):
                guess[place] = min(usual - {text[place]})
                guess = guess[: place + 1 + draw.whole(0, 9)]
            asked.append((row[None], guess))
    return model, asked


def one_call(answer, model_and_asked):
    (model, asked), calls = model_and_asked, []
    model.tables.target_embedding.register_forward_hook(
        lambda module, given, out: calls.append(given[0].shape)
    )
    for source, guess in asked:
        calls.clear()
        answer(model, source, guess)
        expect.that(
            len(calls) == 1,
            f"the decoder is called {expect.plural(len(calls), 'time')}: one "
            "call scores all tokens of the guess.",
        )


def agreeing(
    count=lambda right: [*right, False].index(False),
    sees=real,
    begin=True,
    may_be_any=False,
):
    """What is counted of the places where a guess is the best token."""

    def accepted(model, source, guess):
        c = model.config
        ids = torch.tensor([[c.bos_id] * begin + guess], device=device())
        memory, may_see = model.encode(source), sees(model, source)
        logits = model.decode(ids, memory, None, may_see)[0]
        if not may_be_any:
            logits[:, [c.pad_id, c.bos_id]] = -math.inf
        best = logits.argmax(-1).tolist()
        return count([a == b for a, b in zip(best, guess, strict=False)])

    return accepted


@asks(
    {
        "model_and_asked": made(guesses),
    },
    "decode a source yourself, token by token: how many tokens of the guess "
    "come out before the first that differs?",
    {
        "tokens after the first wrong one are counted: their rows have read "
        "what the model would not write.": agreeing(sum),
        "PAD or BOS wins a place: they are never written.": agreeing(
            may_be_any=True
        ),
        "the PAD of the source is read: its mask is missing.": agreeing(
            sees=all_of
        ),
        "each row scores the token after those that it has read: without "
        "BOS, or one row later, yours is compared with one that it has "
        "read.": agreeing(begin=False),
        "a guess counts for nothing if one token is wrong: those before it "
        "are accepted.": agreeing(lambda right: len(right) * all(right)),
        "a guess without a wrong token gets 0: all of its tokens are "
        "accepted.": agreeing(
            lambda right: (right + [False]).index(False) % len(right)
        ),
    },
    calls=lambda answer, both: [answer(both[0], *one) for one in both[1]],
    also=(one_call,),
)
def accepted(model, source, guess):
    return agreeing()(model, source, guess)
