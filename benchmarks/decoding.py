"""The time of a written token, with and without the key/value cache.

The n-th token of one text, by itself; the first call with many tokens at
once; and greedy writing of whole texts, with the cache, without it, and with
two loops over `nn.Transformer` of the same size: one that calls the model for
each token, and one that encodes the source only once. Random weights, and a
search that never ends before its limit.
"""

import statistics
from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.timing import ratio, seconds, side_by_side
from benchmarks.torchs import Torchs, pair
from lib.cache import IncrementalDecoder
from lib.decoders import WholeDecoder
from lib.decoding import write_tokens
from lib.masks import causal_mask
from lib.transformer import Transformer, TransformerConfig

LENGTHS = {"1": [11, 32, 128, 500], "64": [11, 64, 256]}
LOOPS = (64, 11), (64, 20), (64, 64)
VOCAB, SOURCE = 20, 20
KINDS = {"without cache": WholeDecoder, "with cache": IncrementalDecoder}
TEXT, WINDOW, ROUNDS = 512, 32, 5  # tokens, tokens of one mean, texts
CALLS = 21  # of each length of a first call
AT_ONCE = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


def never_ending(logits: Tensor) -> Tensor:
    """The best token that is not EOS."""
    return logits[:, 3:].argmax(-1) + 3


def sources(rows: int) -> Tensor:
    return torch.randint(3, VOCAB, (rows, SOURCE))


def one_text() -> tuple[Transformer, Tensor, Tensor]:
    """A model of width 256, what it has read, and what it is to read."""
    sizes = TransformerConfig(
        VOCAB, VOCAB, 256, 8, 1024, 2, 2, dropout=0.0, max_length=TEXT
    )
    model = Transformer(sizes).eval()
    ids = torch.randint(3, VOCAB, (1, TEXT))
    return model, model.encode(sources(1)), ids


@torch.no_grad()
def nth_token() -> dict:
    """The time of the n-th token; 1 is the mean with a cache.

    Of each token the median over the texts, then means of WINDOW tokens.
    """
    model, memory, ids = one_text()
    times = {name: [] for name in KINDS}
    for _ in range(ROUNDS):
        for name, kind in KINDS.items():
            decoder = kind(model, memory)
            tokens = ids.split(1, dim=1)
            times[name].append([seconds(partial(decoder, t)) for t in tokens])
    each = {n: torch.tensor(t).median(0).values for n, t in times.items()}
    unit = each["with cache"].mean()
    curves = {}
    for name, steps in each.items():
        means = steps.view(-1, WINDOW).mean(1) / unit
        curves[name] = [round(mean, 3) for mean in means.tolist()]
    windows = range(0, TEXT, WINDOW)
    return {"token": [n + WINDOW // 2 for n in windows], "time": curves}


@torch.no_grad()
def prefill() -> dict:
    """The time of a first call with many tokens, by that of one token."""
    model, memory, ids = one_text()
    times = {n: [] for n in AT_ONCE}
    for _ in range(CALLS):
        for n, row in times.items():
            decoder = IncrementalDecoder(model, memory)
            row.append(seconds(partial(decoder, ids[:, :n])))
    median = [*map(statistics.median, times.values())]
    by_one = [round(each / median[0], 2) for each in median]
    return {"tokens": AT_ONCE, "calls with one token": by_one}


def gain(rows: int, length: int) -> float:
    """How many times as fast texts are written with the cache."""
    sizes = TransformerConfig(
        VOCAB, VOCAB, 64, 4, 128, 2, 2, dropout=0.0, max_length=512
    )
    model, source = Transformer(sizes).eval(), sources(rows)
    write = partial(write_tokens, model, source, never_ending, length)
    runs = {"without": lambda: write(cached=False), "with": write}
    return ratio(side_by_side(runs, rounds=5), "without", "with")


@torch.no_grad()
def loop(logits: Callable, source: Tensor, length: int) -> Tensor:
    """Greedy writing that reads all tokens again for each new one."""
    ids = source.new_ones(len(source), 1)
    for _ in range(length):
        best = never_ending(logits(ids)[:, -1])
        ids = torch.cat([ids, best[:, None]], 1)
    return ids[:, 1:]


@torch.no_grad()
def encoded_once(theirs: Torchs, source: Tensor, length: int) -> Tensor:
    """The loop in which only the decoder of `nn.Transformer` is called."""
    model, stack = theirs.ours, theirs.theirs
    memory = stack.encoder(
        model.positions(model.tables.source_embedding(source))
    )

    def logits(ids):
        future = ~causal_mask(ids.shape[1])[0, 0]
        x = model.positions(model.tables.target_embedding(ids))
        states = stack.decoder(x, memory, tgt_mask=future)[:, -1:]
        return F.linear(states, model.tables.output_matrix)

    return loop(logits, source, length)


def against_torch(rows: int, length: int) -> dict[str, float]:
    """Tokens a second with our cache by those of either loop."""
    sizes = TransformerConfig(100, 100, 64, 4, 256, 2, 2, final_norms=True)
    ours, theirs = pair(sizes)
    source = torch.randint(3, 100, (rows, SOURCE))
    ours.eval(), theirs.eval()
    runs = {
        "ours": lambda: write_tokens(ours, source, never_ending, length),
        "whole model": lambda: loop(partial(theirs, source), source, length),
        "encoded once": lambda: encoded_once(theirs, source, length),
    }
    written, *others = (run() for run in runs.values())
    for other in others:
        torch.testing.assert_close(other, written)
    times = side_by_side(runs)
    return {
        name: ratio(times, name, "ours") for name in runs if name != "ours"
    }


def record() -> dict:
    torch.manual_seed(0)
    batch = {
        rows: {
            "length": lengths,
            "gain": [gain(int(rows), n) for n in lengths],
        }
        for rows, lengths in LENGTHS.items()
    }
    loops = {
        f"{rows} rows, {length} tokens": against_torch(rows, length)
        for rows, length in LOOPS
    }
    return {
        "n-th token": nth_token(),
        "prefill": prefill(),
        "batch": batch,
        "tokens a second, ours by torch's loops": loops,
    }
