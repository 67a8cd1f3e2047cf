"""The back-matter page book/shapes.md, written from a forward pass.

`make sync` writes it; a test compares it with a fresh pass.
"""

import sys
from itertools import groupby
from pathlib import Path

import torch

from lib import shapes
from lib.runtime import setup
from lib.transformer import Transformer, TransformerConfig
from tools.taught import ROOT

PAGE = Path("book", "shapes.md")
HEAD = """\
# Shapes on one page

Every tensor of one forward pass, in order. This page is written by the
program that it describes: a model with {sizes} reads {batch} sentences,
and each line below was recorded on the way.
[Chapter 10](10_transformer.ipynb) shows the same on a drawing, and
[the page of notation](notation.md) says what the words mean.

`s_len` is the length of the source, `t_len` of the target, `vocab` the
number of target tokens. An axis of size 1 stands for "the same for all". Of
each stack the first block is shown; the others repeat its shapes."""
CHAPTERS = {
    1: "01_tokens_and_embeddings",
    4: "04_masks",
    5: "05_heads",
    6: "06_positions",
    7: "07_layers",
    8: "08_encoder",
    9: "09_decoder",
    10: "10_transformer",
}
STAGES = {
    "source": ("Source", 1, 6),
    "self-attention": ("Encoder: self-attention", 5, 8),
    "feed-forward": ("{side}: feed-forward", 7),
    "encoder": ("Memory", 8),
    "target": ("Target, shifted by one", 1, 6),
    "causal attention": ("Decoder: causal self-attention", 4, 9),
    "cross-attention": ("Decoder: cross-attention", 9),
    "decoder": ("After the last block", 9),
    "output": ("Scores", 10),
}


def heading(stage: str, side: str) -> str:
    """The title of a stage, and links to the chapters that explain it."""
    title, *numbers = STAGES[stage]
    links = [f"[chapter {n}]({CHAPTERS[n]}.ipynb)" for n in numbers]
    return f"\n## {title.format(side=side)}\n\nSee {', '.join(links)}.\n"


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
    sizes = ", ".join(
        f"{name} {size}" for size, name in names.items() if size > 6
    )
    lines = [HEAD.format(sizes=sizes, batch=len(source))]
    side = "Encoder"
    for stage, group in groupby(steps, key=lambda step: step.where):
        side = "Decoder" if stage == "target" else side
        lines.append(heading(stage, side))
        for step in group:
            numbers = " × ".join(map(str, step.shape))
            axes = shapes.in_words(step.shape, names)
            lines.append(f"- {step.tensor}: `{axes}` = {numbers}")
    return "\n".join(lines) + "\n"


def main(root: Path = ROOT) -> str:
    """Write the page if it has changed; what happened, in one line."""
    path, text = root / PAGE, page()
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return f"{PAGE.name}: up to date"
    path.write_text(text, encoding="utf-8")
    return f"{PAGE.name}: written"


if __name__ == "__main__":
    sys.exit(print(main()))
