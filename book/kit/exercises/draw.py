"""Fresh inputs for the exercises. Not taught."""

import random
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn

from lib.runtime import device


class Draw:
    """Draws inputs by a seed, and knows what a variant of a task is given.

    Tensors are drawn on the CPU, so that a seed means the same everywhere,
    and lie on the device of the book.
    """

    def __init__(self, seed: int, **given: Any) -> None:
        self.seed = seed
        self.given = SimpleNamespace(**given)
        self.drawn = False
        self._lots = random.Random(seed)
        self._generator = torch.Generator().manual_seed(seed)

    @property
    def lots(self) -> random.Random:
        """Python's random numbers: `draw.lots.choice("abc")`."""
        self.drawn = True
        return self._lots

    @property
    def generator(self) -> torch.Generator:
        """Torch's random numbers, on the CPU."""
        self.drawn = True
        return self._generator

    def whole(self, low: int, high: int) -> int:
        """A number from low to high, both of them possible."""
        return self.lots.randint(low, high)

    def different(self, number: int, low: int, high: int) -> list[int]:
        """Several numbers from low to high, no two alike."""
        return self.lots.sample(range(low, high + 1), number)

    def normal(
        self, *shape: int, dtype: torch.dtype = torch.float32
    ) -> Tensor:
        """Normal numbers of mean 0 and variance 1."""
        x = torch.randn(shape, generator=self.generator, dtype=torch.float64)
        return x.to(device=device(), dtype=dtype)

    def uniform(
        self, *shape: int, dtype: torch.dtype = torch.float32
    ) -> Tensor:
        """Numbers from 0 to 1."""
        x = torch.rand(shape, generator=self.generator, dtype=torch.float64)
        return x.to(device=device(), dtype=dtype)

    def fill(
        self, module: nn.Module, made_of: Callable[[Tensor], Tensor]
    ) -> nn.Module:
        """Put what is made of normal numbers into all weights of a module."""
        with torch.no_grad():
            for weight in module.parameters():
                drawn = self.normal(*weight.shape, dtype=weight.dtype)
                weight.copy_(made_of(drawn))
        return module

    def ids(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers from low to high, both of them possible."""
        ids = torch.randint(low, high + 1, shape, generator=self.generator)
        return ids.to(device())

    def mask(self, *shape: int) -> Tensor:
        """True at about half of the places, and somewhere in each row."""
        may_attend = self.uniform(*shape) < 0.5
        always = self.ids(0, shape[-1] - 1, *shape[:-1], 1)
        return may_attend.scatter(-1, always, True)

    def shuffled(self, values: Sequence) -> list:
        """The same values in another order."""
        return self.lots.sample(list(values), len(values))
