"""Windows by layers, shared keys, and sinks."""

from collections.abc import Sequence

import torch
from torch import Tensor

from .. import validate
from .refuse import expect, shape


def windows(given: object) -> None:
    """For each layer a positive integer, or None."""
    validate.some_items("windows", given, "integers or None")
    for window in given:
        if window is not None:
            validate.positive(window=window)


def lending(given: Sequence[int | None], shared: object) -> None:
    """Layers that share keys, each with one before all of them to lend."""
    windows(given)
    validate.between("shared", shared, 0, len(given) - 1)
    own = len(given) - shared
    for window in given[own:]:
        expected = f"a layer with the window {window} among the first {own}"
        expect(window in given[:own], "windows", expected, given[:own])


def sink(given: object, q: Tensor) -> None:
    """A finite score for each head of the queries, of their dtype."""
    validate.floating(q=q, sink=given)
    heads = f"one number for each head of q ({shape(q)})"
    fine = q.ndim > 2 and given.shape == q.shape[-3:-2]
    expect(fine, "sink", heads, shape(given))
    if not torch.compiler.is_compiling():
        fine = given.isfinite()
        wrong_one = given[~fine][:1].tolist()
        expect(fine.all(), "sink", "finite numbers", wrong_one)
