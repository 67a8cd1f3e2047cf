"""Tensors to test with, and the ways to compare.

Numbers are drawn on the CPU, so that they are the same on every device, and
moved to the device that the book computes on.
"""

from contextlib import contextmanager

import pytest
import torch

from lib.runtime import device

DEVICE = device()
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def normal(*shape, dtype=torch.float32, seed=0, scale=1.0):
    """Normally distributed numbers, drawn in float64."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(shape, generator=generator, dtype=torch.float64)
    return (scale * numbers).to(DEVICE, dtype)


def filled(layer, dtype=torch.float64):
    """The layer with weights of all sizes, also of its norms."""
    layer.requires_grad_(False)
    for n, weight in enumerate(layer.parameters()):
        weight.copy_(normal(*weight.shape, seed=n, scale=0.4))
    return layer.to(DEVICE, dtype)


def coins(*shape, seed=0):
    """Booleans, True twice as often as False."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=generator) < 2 / 3).to(DEVICE)


def drawn_ids(low, high, *shape, seed=0):
    """Token ids, not below `low` and below `high`."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=generator).to(DEVICE)


def close(actual, expected, steps=8):
    """Equal shape and dtype, entries equal up to some steps of rounding."""
    allowed = steps * torch.finfo(actual.dtype).eps
    torch.testing.assert_close(actual, expected, atol=allowed, rtol=allowed)


def same(actual, expected):
    """Bit for bit equal, shape and dtype included."""
    torch.testing.assert_close(
        actual, expected, atol=0, rtol=0, equal_nan=True
    )


@contextmanager
def refused(kind, argument, expected, got):
    """The call raises `kind`, and its message has all three parts."""
    with pytest.raises(kind) as caught:
        yield
    assert type(caught.value) is kind
    named, _, rest = str(caught.value).partition(": expected ")
    wanted, _, came = rest.partition("got ")
    assert (named, expected in wanted, got in came) == (argument, True, True)
