"""The mask builder of chapter 4. Not taught."""

import torch

from kit.explorers import Explorer, table
from lib.masks import causal_mask, padding_mask

SOURCE = ["I", "like", "tea", "now", "and", "then"]
TARGET = ["BOS", "ich", "mag", "Tee", "jetzt"]


def with_pad(words: list[str], length: int) -> list[str]:
    """The tokens of a sentence of which only the first words are there."""
    return words[:length] + ["PAD"] * (len(words) - length)


def mask_explorer(source=SOURCE, target=TARGET, lengths=(4, 4)):
    """Which query may attend to which key, by the masks that are on.

    Args:
        source: the words of one sentence, all that there could be.
        target: those of another one.
        lengths: how many of each are there; PAD stands for the others.
    """
    tokens = with_pad(target, lengths[1])
    padding = padding_mask(torch.tensor(lengths[1:]), len(target))
    mask = (padding & causal_mask(len(target)))[0, 0].tolist()
    fallback = table(
        "Padding and causal mask of a target sentence. True: the word of "
        "this row may attend to the word of that column.",
        ["", *tokens],
        zip(tokens, mask, strict=True),
    )
    return Explorer(
        "mask-explorer",
        fallback,
        source=source,
        target=target,
        lengths=lengths,
    )
