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
TIMES = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"
HEAD = """\
# Shapes on one page

Every tensor of one forward pass, in order. This page is written by the
program that it describes: a model with {sizes} reads {batch} sentences,
and each line below was recorded on the way.
{model} shows the same on a drawing, and
[the page of notation](notation.md) says what the words mean.

`s_len` is the length of the source, `t_len` of the target, `vocab` the
number of target tokens. An axis of size 1 stands for "the same for all". Of
each stack the first block is shown; the others repeat its shapes."""
# Each stage with its title and the modules that the chapters to read teach.
STAGES = {
    "source": ("Source", "embedding", "positions"),
    "self-attention": ("Encoder: self-attention", "heads", "encoder"),
    "feed-forward": ("{side}: feed-forward", "layers"),
    "encoder": ("Memory", "encoder"),
    "target": ("Target, shifted by one", "embedding", "positions"),
    "causal attention": (
        "Decoder: causal self-attention", "masks", "decoder",
    ),
    "cross-attention": ("Decoder: cross-attention", "decoder"),
    "decoder": ("After the last block", "decoder"),
    "output": ("Scores", "transformer"),
}  # fmt: skip


def link(module: str, word: str = "chapter") -> str:
    """A link to the lesson that teaches a module."""
    name = homes()[module].relative_to(ROOT / "book").as_posix()
    return f"[{word} {int(homes()[module].name[:2])}]({name})"


def heading(stage: str, side: str) -> str:
    """The title of a stage, and links to the chapters that explain it."""
    title, *modules = STAGES[stage]
    links = ", ".join(link(module) for module in modules)
    return (
        f"\n## {title.format(side=side)}\n\nSee {links}.\n\n"
        "| Tensor | Axes | Sizes |\n| --- | --- | --- |"
    )


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
    model_link = link("transformer", "Chapter")
    lines = [HEAD.format(sizes=sizes, batch=len(source), model=model_link)]
    side = "Encoder"
    for stage, group in groupby(steps, key=lambda step: step.where):
        side = "Decoder" if stage == "target" else side
        lines.append(heading(stage, side))
        for step in group:
            numbers = TIMES.join(map(str, step.shape))
            axes = shapes.in_words(step.shape, names)
            lines.append(f"| {step.tensor} | {axes} | {numbers} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(write_page(PAGE, page()))
