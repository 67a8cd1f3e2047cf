"""The back-matter page book/shapes.md, written from a forward pass.

`make sync` writes it; a test compares it with a fresh pass.
"""

from itertools import groupby
from pathlib import Path

import torch

from kit import shapes
from lib.runtime import setup
from lib.transformer import Transformer, TransformerConfig
from tools.source.taught import ROOT, homes, write_page

PAGE = Path("book", "shapes.md")
HEAD = """\
# Shapes on one page

The axes of every tensor in one forward pass, as a program recorded them. All
sizes differed, so each told its axis: {sizes}.
{model} shows such a pass on a drawing.

`s_len` is the length of the source, `t_len` of the target, `vocab` the
number of target tokens; [the page of notation](notation.md) has the other
words. An axis of size 1 stands for "the same for all". Of each stack the first
block is shown; the others repeat its shapes."""
# What the chapters to read about each part teach.
TAUGHT = {
    "Into the stacks": ("embedding", "positions"),
    "Attention": ("masks", "heads", "encoder", "decoder"),
    "Feed-forward": ("layers",),
    "Out of the stacks": ("encoder", "decoder", "transformer"),
}


def link(module: str, word: str = "chapter") -> str:
    """A link to the lesson that teaches a module."""
    name = homes()[module].relative_to(ROOT / "book").as_posix()
    return f"[{word} {int(homes()[module].name[:2])}]({name})"


def part(title: str, columns: dict[str, list], names: dict) -> str:
    """A table: a row for each tensor, a column for each stage."""
    links = ", ".join(link(module) for module in TAUGHT[title])
    rows = [("Tensor", *columns), ["---"] * (1 + len(columns))]
    for steps in zip(*columns.values(), strict=True):
        (tensor,) = {step.tensor for step in steps}
        axes = (shapes.in_words(step.shape, names) for step in steps)
        rows.append((tensor, *axes))
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"\n## {title}\n\nSee {links}.\n\n{lines}"


def page() -> str:
    """The text of the page, from a pass through a small model."""
    setup()
    config = TransformerConfig(
        source_vocab_size=11,
        target_vocab_size=13,
        d_model=28,
        heads=4,
        d_ff=56,
        encoder_layers=2,
        decoder_layers=2,
    )
    model = Transformer(config)
    source = torch.randint(4, 11, (3, 6))
    target = torch.randint(4, 13, (3, 5))
    steps = shapes.trace(model, source, target)
    names = shapes.words(model, source, target)
    *sizes, last = (f"`{n}` {size}" for size, n in names.items() if size > 1)
    stages = groupby(steps, key=lambda step: step.where)
    # The parts in the order in which they run.
    # fmt: off
    (
        source, itself, wide, memory,
        target, causal, across, wider, states, logits,
    ) = (list(stage) for _, stage in stages)
    # fmt: on
    parts = (
        {"Source": source, "Target, shifted by one": target},
        {
            "Encoder": itself,
            "Decoder, causal": causal,
            "Decoder, cross": across,
        },
        {"Encoder": wide, "Decoder": wider},
        {"Axes": [*memory, *states, *logits]},
    )
    head = HEAD.format(
        sizes=f"{', '.join(sizes)} and {last}",
        model=link("transformer", "Chapter"),
    )
    tables = (part(t, p, names) for t, p in zip(TAUGHT, parts, strict=True))
    return "\n".join([head, *tables]) + "\n"


if __name__ == "__main__":
    print(write_page(PAGE, page()))
