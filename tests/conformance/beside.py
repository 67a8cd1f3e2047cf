"""A layer of `transformers` beside ours: what several tests need.

Their models hand a layer its angles and its mask, and make both in float32;
here they are made in any dtype.
"""

import pytest
import torch

BASE, ROWS = 1_000.0, 2
ROPE = {"rope_type": "default", "rope_theta": BASE}
PRECISIONS = pytest.mark.parametrize(
    ("dtype", "near"), [(torch.float32, 1e-5), (torch.float64, 1e-12)]
)


def text(length, width, dtype=torch.float32):
    torch.manual_seed(1)
    return torch.randn(ROWS, length, width, dtype=dtype)


def angles(places, width, dtype, repeats=2):
    """Cosines and sines; mostly of both halves of the rotary pairs."""
    steps = BASE ** (-torch.arange(0, width, 2, dtype=dtype) / width)
    angle = (places[:, None] * steps).repeat(1, repeats)[None]
    return angle.cos(), angle.sin()


def their_mask(x, start=0, window=None):
    """Of 0 and -inf; their cache keeps no key that a window has left."""
    stop = start + x.shape[1]
    first = max(0, start - window + 1) if window else 0
    back = torch.arange(start, stop)[:, None] - torch.arange(first, stop)
    hidden = (back < 0) | (back >= (window or stop))
    mask = torch.zeros(hidden.shape).to(x).masked_fill(hidden, -torch.inf)
    return mask.expand(len(x), 1, -1, -1)


def read(layer, angles_of, x, start=0, past=None, window=None):
    """What their layer gives for positions from `start` on."""
    turned = angles_of(torch.arange(start, start + x.shape[1]))
    mask = their_mask(x, start, window)
    return layer(x, turned, mask, past_key_values=past)[0]


def close(found, expected, near=1e-5):
    torch.testing.assert_close(found, expected, rtol=0, atol=near)


def compare(made, kept, theirs, past, x, parts, near=1e-5):
    """The full pass, and parts with what each has kept of the text.

    Args:
        made: ours, called as `made(x)` and `made(part, kept)`.
        theirs: called as `theirs(x)` and `theirs(part, start, past)`.
    """
    whole, start = theirs(x), 0
    assert whole.abs().mean() > 0.1
    close(made(x), whole, near)
    for part in x.split(parts, dim=1):
        stop = start + part.shape[1]
        expected = theirs(part, start, past)
        close(expected, whole[:, start:stop], near)
        close(made(part, kept), expected, near)
        start = stop
