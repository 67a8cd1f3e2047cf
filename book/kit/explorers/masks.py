"""The mask builder of chapter 4. Not taught."""

import torch

from kit.explorers import Explorer, table
from lib.masks import causal_mask, padding_mask

SOURCE = ["I", "like", "tea", "now", "and", "then"]
TARGET = ["BOS", "ich", "mag", "Tee", "jetzt"]
LENGTH = 4  # words of each that are there; PAD stands for the others


def mask_explorer() -> Explorer:
    """Which query may attend to which key, by the masks that are on."""
    tokens = TARGET[:LENGTH] + ["PAD"] * (len(TARGET) - LENGTH)
    padding = padding_mask(torch.tensor([LENGTH]), len(TARGET))
    mask = (padding & causal_mask(len(TARGET)))[0, 0].tolist()
    fallback = table(
        "Padding and causal mask of a target sentence. True: the word of "
        "this row may attend to the word of that column.",
        ["", *tokens],
        zip(tokens, mask, strict=True),
    )
    return Explorer(
        "mask-explorer",
        fallback,
        source=SOURCE,
        target=TARGET,
        lengths=[LENGTH, LENGTH],
    )
