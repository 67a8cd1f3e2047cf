"""Chapter 5: where numbers go when heads are split and merged.

Not taught.
"""

import torch
from torch import Tensor

from kit.explorers import Explorer, table

WORDS = ["Life", "is", "short", "eat"]
START = dict(task="split", length=3, heads=4, d_head=2, number=10)


def heads_explorer() -> Explorer:
    """Split and merge, and the view that looks the same."""
    length, heads, d_head = (START[n] for n in ("length", "heads", "d_head"))
    counted = torch.arange(length * heads * d_head)
    cut = counted.view(length, heads, d_head)
    wrong = counted.view(heads, length, d_head).transpose(0, 1)
    whose = [f"{row}, {word}" for row, word in enumerate(WORDS[:length])]
    fallback = "\n".join((
        as_table("Split: each head has a part of every word", cut, whose),
        as_table(
            "The wrong view, of the same shape, mixes heads and words",
            wrong,
            range(length),
        ),
    ))  # fmt: skip
    return Explorer("heads-explorer", fallback, words=WORDS, start=START)


def as_table(caption: str, cut: Tensor, names) -> str:
    """The numbers of each head in a column; `names` are those of the rows."""
    columns = ["", *(f"head {h}" for h in range(cut.shape[1]))]
    rows = {
        f"row {name}": [", ".join(map(str, n)) for n in numbers]
        for name, numbers in zip(names, cut.tolist(), strict=True)
    }
    return table(caption, columns, rows)
