"""Tensors to test with, the two ways to compare, figures and their colours.

Numbers are drawn on the CPU, so that they are the same on every device, and
moved to the device that the book computes on.
"""

from contextlib import contextmanager
from math import dist
from operator import mul

import pytest
import torch
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from lib.runtime import device

DEVICE = device()
SIZES = (1, 2, 3, 5, 7, 11)
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

size = st.sampled_from(SIZES)
dtype = st.sampled_from(DTYPES)
lead = st.lists(st.sampled_from(SIZES[:4]), max_size=2).map(tuple)


def normal(*shape, dtype=torch.float32, seed=0, scale=1.0):
    """Normally distributed numbers, drawn in float64."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(shape, generator=generator, dtype=torch.float64)
    return (scale * numbers).to(DEVICE, dtype)


def coins(*shape, seed=0):
    """Booleans, True twice as often as False."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape, generator=generator) < 2 / 3).to(DEVICE)


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


def draws(name):
    """Give the test, as `drawn`, what this function draws from `DRAWN`."""
    return pytest.mark.parametrize("drawn", [name], indirect=True)


# What `figure img` gets in book/_static/custom.css on a dark page: invert(1),
# then hue-rotate(180deg) as CSS defines it, then brightness(1.25), and all of
# it over the page by `screen`.
TURN = (
    (-0.574, 1.430, 0.144),
    (0.426, 0.430, 0.144),
    (0.426, 1.430, -0.856),
)
BRIGHTER = 1.25
DARK_PAGE = "#15181d"


def clipped(parts):
    return [min(1, max(0, part)) for part in parts]


def dark(colour):
    """What a colour of a figure is on a dark page."""
    inverse = [1 - part for part in to_rgb(colour)]
    turned = clipped(
        sum(a * b for a, b in zip(row, inverse, strict=True)) for row in TURN
    )
    bright = clipped(BRIGHTER * part for part in turned)
    page = to_rgb(DARK_PAGE)
    return [1 - (1 - a) * (1 - b) for a, b in zip(bright, page, strict=True)]


def linear(colour):
    return [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    ]


def luminance(colour):
    """Relative luminance by WCAG 2.2."""
    weights = (0.2126, 0.7152, 0.0722)
    return sum(w * c for w, c in zip(weights, linear(colour), strict=True))


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


# Linear sRGB to XYZ, each row divided by what white has of it.
TO_XYZ = (
    (0.43395, 0.37622, 0.18983),
    (0.21260, 0.71520, 0.07220),
    (0.01773, 0.10947, 0.87280),
)


def apart(one, other):
    """The distance of two colours in CIELAB."""

    def lab(colour):
        parts = linear(colour)
        xyz = [sum(map(mul, row, parts)) for row in TO_XYZ]
        x, y, z = (
            c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in xyz
        )
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)

    return dist(lab(one), lab(other))
