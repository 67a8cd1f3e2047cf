"""Sizes and gradients through a stack of new blocks: explorer of chapter 7.

A stack of `EncoderBlock`s that were never trained reads random vectors, and
random numbers of size 1 are put on its output as a gradient. Of every block
the record has the size of what leaves it, and of the gradient that arrives
there, in four arrangements of residual and norm. Sizes are roots of mean
squares. Their decimal logarithms are kept: the mean of five seeds, and its
standard error. Everything is float64 on the processor, so the record is the
same wherever it is made.
"""

import math

import torch
from torch import Tensor

from lib.encoder import EncoderBlock
from lib.layers import LayerNorm

DEPTHS, SEEDS = [6, 12, 24, 48], 5
WIDTH, HEADS, TEXTS, LENGTH = 32, 4, 4, 12

ARRANGEMENTS = {
    "no residual": lambda around, x, f: f(x),
    "no norm": lambda around, x, f: x + f(x),
    "post-norm": lambda around, x, f: around(x, f),
    "pre-norm": lambda around, x, f: around(x, f),
}


def stack(name: str, depth: int) -> list[EncoderBlock]:
    """New blocks; only pre-norm puts its norms before the sub-layers."""
    first = name == "pre-norm"
    sizes = WIDTH, HEADS, 4 * WIDTH
    return [
        EncoderBlock(*sizes, norm_first=first, bias=False).double()
        for _ in range(depth)
    ]


def measure(name: str, depth: int, seed: int) -> dict[str, Tensor]:
    """Logarithms of both sizes: at the input, then after every block."""
    torch.manual_seed(seed)
    join, blocks = ARRANGEMENTS[name], stack(name, depth)
    x, arriving = torch.randn(2, TEXTS, LENGTH, WIDTH, dtype=torch.float64)
    after = [x.requires_grad_()]
    for block in blocks:
        x = join(block.around_attention, x, block.attention)
        x = join(block.around_feed_forward, x, block.feed_forward)
        after.append(x)
    if name == "pre-norm":  # whose sums were never normalised
        x = LayerNorm(WIDTH).double()(x)
    gradients = torch.autograd.grad(x, after, arriving)
    return {"size": logarithms(after), "gradient": logarithms(gradients)}


def logarithms(tensors: list[Tensor]) -> Tensor:
    """Decimal logarithms of the roots of the mean squares."""
    squares = [x.detach().square().mean() for x in tensors]
    return torch.stack(squares).log10() / 2


def summary(name: str, depth: int) -> dict[str, dict[str, list[float]]]:
    """Mean and standard error over the seeds, of each measure."""
    runs = [measure(name, depth, seed) for seed in range(SEEDS)]
    measures = {}
    for kind in runs[0]:
        values = torch.stack([run[kind] for run in runs])
        mean, error = values.mean(0), values.std(0) / math.sqrt(SEEDS)
        measures[kind] = {"mean": rounded(mean), "error": rounded(error)}
    return measures


def rounded(values: Tensor) -> list[float]:
    return [round(value, 3) + 0.0 for value in values.tolist()]


def record() -> dict:
    about = {"depths": DEPTHS, "seeds": SEEDS, "width": WIDTH, "heads": HEADS}
    runs = {
        name: {str(depth): summary(name, depth) for depth in DEPTHS}
        for name in ARRANGEMENTS
    }
    return about | {"runs": runs}
