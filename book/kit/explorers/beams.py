"""The tree of a beam search, for chapter 13. Not taught."""

from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

from kit.explorers import Explorer, table
from kit.explorers.dates import LiveExplorer
from lib.beams import penalty
from lib.decoders import decoder_for
from lib.decoding import next_logits
from lib.text import Vocabulary
from lib.transformer import Transformer

END, UNKNOWN = "▪", "?"  # EOS, as in the figures, and UNK
WIDEST, PRUNED = 6, 2  # beams that are kept, and shown beside them
ALPHA = 0.6
DIGITS = 4
LIMIT = 16  # steps, as in the script

Table = dict[str, dict[str, float]]


def beam_explorer(
    model: Transformer,
    vocabulary: Vocabulary,
    sources: dict[str, Tensor],
    start: str,
) -> Explorer:
    """A search step by step: what is kept and what is pruned.

    Args:
        model: it writes single characters.
        vocabulary: of what it writes.
        sources: token ids of what can be asked, by what the reader sees.
        start: the source to begin with.
    """
    trees = {
        name: tree(letters_after(model, vocabulary, source))
        for name, source in sources.items()
    }
    return of_trees(trees, start)


def of_trees(trees: dict[str, Table], start: str, width: int = 3) -> Explorer:
    """The explorer of trees that are known; `width` beams to begin with."""
    return LiveExplorer(
        "beam-explorer",
        steps_as_table(trees[start], start, width),
        ["beam-search"],
        trees=trees,
        source=start,
        width=width,
        alpha=ALPHA,
    )


def signs(vocabulary: Vocabulary) -> list[str]:
    """Its tokens; those that a text may have are one character each."""
    names = list(vocabulary.tokens)
    names[vocabulary.eos_id], names[vocabulary.unk_id] = END, UNKNOWN
    return names


@torch.no_grad()
def letters_after(
    model: Transformer, vocabulary: Vocabulary, source: Tensor
) -> Callable[[str], dict[str, float]]:
    """A function from a beginning to log p of the letters after it."""
    names = signs(vocabulary)
    ids = {name: i for i, name in enumerate(names)}

    def after(text: str) -> dict[str, float]:
        decoder = decoder_for(model, source[None], cached=False)
        begun = [vocabulary.bos_id, *(ids[letter] for letter in text)]
        if text:
            decoder(source.new_tensor([begun[:-1]]))
        last = source.new_tensor([begun[-1]])
        log_p = next_logits(decoder, last)[0].log_softmax(-1)
        best = log_p.topk(min(WIDEST + PRUNED, len(names) - 2))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return {names[i]: round(log, DIGITS) for i, log in pairs}

    return after


def tree(after: Callable[[str], dict[str, float]]) -> Table:
    """All beginnings that some search goes on from, and what follows them."""
    known: Table = {}

    def remembered(text):
        if text not in known:
            known[text] = after(text)
        return known[text]

    for width, alpha in product(range(1, WIDEST + 1), (0.0, ALPHA)):
        search(remembered, width, alpha)
    return known


def search(
    after: Callable[[str], dict[str, float]], width: int, alpha: float
) -> list[dict[str, float]]:
    """Each step as texts with their log p, best first; `width` go on."""
    beams, steps = {"": 0.0}, []
    while len(steps) < LIMIT and not all(t.endswith(END) for t in beams):
        candidates = {}
        for text, log_p in beams.items():
            onward = {"": 0.0} if text.endswith(END) else after(text)
            for letter, more in onward.items():
                candidates[text + letter] = log_p + more
        ranked = sorted(
            candidates,
            key=lambda text: candidates[text] / penalty(len(text), alpha),
            reverse=True,
        )
        steps.append({t: candidates[t] for t in ranked[: width + PRUNED]})
        beams = {text: candidates[text] for text in ranked[:width]}
    return steps


def steps_as_table(known: Table, name: str, width: int) -> str:
    """What a search without length penalty keeps, step by step."""
    rows = {}
    for number, step in enumerate(search(known.get, width, 0.0), start=1):
        kept = list(step.items())[:width]
        rows[f"{number}"] = [f"{text} {log_p:.2f}" for text, log_p in kept]
    columns = ["step", *(f"beam {i + 1}" for i in range(width))]
    return table(
        f"Beam search for {name}: what is kept, with its log p", columns, rows
    )
