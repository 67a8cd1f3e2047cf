"""Chapter 19, on a deeper page: angles for longer texts, by YaRN.

It stands beside `Stretch` of chapter 16. The ramp is that of the authors'
code, over the numbers of the pairs; that of their paper, over turns, is
`Stretch` with `high` = 32. Borders of the ramp are rounded to whole pairs,
as where a file does not say `"truncate": false`.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from . import validate
from .modern import rotary_steps


@dataclass(frozen=True)
class Yarn:
    """For longer texts: slow pairs turn `factor` times more slowly.

    Source: Peng et al. 2024, and their code.

    Args:
        factor: by how much more slowly, and how much longer texts become.
        trained: how long texts were before; turns are counted in it.
        beta_fast: with so many turns or more, a pair stays as it is.
        beta_slow: with so many turns or fewer, it gets the whole factor.

    Raises:
        ValueError: a factor below 1, not 0 < beta_slow < beta_fast, or texts
            so short that no pair turns beta_slow times.
    """

    factor: float
    trained: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0

    def __post_init__(self):
        validate.yarn(self)

    @property
    def attention_factor(self) -> float:
        """0.1 ln(factor) + 1, by which queries and keys are multiplied.

        Source: Peng et al. 2024, section 3.4. Scores get its square.
        """
        return 0.1 * math.log(self.factor) + 1

    def pair(self, turns: float, d_head: int, base: float) -> float:
        """Which pair, counted from 0, turns so often; mostly a fraction."""
        ratio = self.trained / (2 * math.pi * turns)
        return d_head * math.log(ratio) / (2 * math.log(base))


def yarn_steps(
    d_head: int, base: float, yarn: Yarn
) -> Float[Tensor, " pairs"]:
    """The angle from one position to the next, of each rotary pair.

    As `rotary_steps`, in float64 on the CPU.
    """
    validate.instance(Yarn, yarn=yarn)
    steps = rotary_steps(d_head, base)
    first = max(math.floor(yarn.pair(yarn.beta_fast, d_head, base)), 0)
    last = math.ceil(yarn.pair(yarn.beta_slow, d_head, base))
    last = max(min(last, d_head - 1), first + 0.001)
    place = torch.arange(len(steps)).to(steps)
    slowed = ((place - first) / (last - first)).clamp(0, 1)
    return steps * (1 - slowed + slowed / yarn.factor)
