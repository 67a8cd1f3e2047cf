"""lib.modern against PyTorch's own kernels."""

import copy
import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.cache import CachedSelfAttention
from lib.modern import (
    GatedFeedForward,
    RelativeBias,
    RMSNorm,
    RotaryAttention,
    Stretch,
    alibi,
    alibi_slopes,
    distance_buckets,
    halves_from_pairs,
    pairs_from_halves,
    rotary_steps,
    turn_by,
)
from tests.library.draw import DEVICE, DTYPES, close, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.strategies import lead, size


@pytest.mark.parametrize("kind", DTYPES)
@given(lead, size, st.sampled_from([0, 1, 300]))
def test_rms_norm_is_torchs(kind, before, width, scale):
    """The square of 300 is no number in float16."""
    norm = RMSNorm(width, eps=0.01).to(DEVICE, kind)
    x = 2 * scale + normal(*before, width, dtype=kind, scale=scale)
    with torch.no_grad():
        norm.weight.uniform_(0.5, 2.0)
    wide = [t.detach().double() for t in (x, norm.weight)]
    expected = F.rms_norm(wide[0], (width,), wide[1], 0.01).to(kind)
    close(norm(x).detach(), expected, steps=4)
    assert RMSNorm(width).eps == 1e-5


def test_rows_of_halves_become_pairs_again():
    weight = normal(18, 5)
    same(pairs_from_halves(halves_from_pairs(weight, 3), 3), weight)


@pytest.mark.parametrize(
    "layer", [RMSNorm(4), GatedFeedForward(4, 6), RotaryAttention(4, 2, 1)]
)
def test_precisions_and_gradients(layer):
    for kind in DTYPES:
        layer, x = layer.to(DEVICE, kind), normal(2, 3, 4, dtype=kind)
        exact = copy.deepcopy(layer).double()(x.double())
        close(layer(x).detach(), exact.detach().to(kind), steps=16)
    x = x.requires_grad_()  # of float64, the last kind
    inputs = x, *layer.parameters()  # changed in place by the check
    assert torch.autograd.gradcheck(lambda x, *_: layer(x), inputs)


def test_a_window_hides_what_lies_further_back():
    attend, x = RotaryAttention(8, 2, 1, window=3).to(DEVICE), normal(2, 7, 8)
    before = attend(x)
    x[:, :3] = normal(2, 3, 8, seed=1)
    after = attend(x)
    close(after[:, 5:], before[:, 5:])
    assert (after[:, 4] - before[:, 4]).abs().max() > 1e-3


def test_slopes_are_those_of_the_paper():
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    twelve = alibi_slopes(12)
    same(twelve[:8], alibi_slopes(8))
    same(twelve[8:], alibi_slopes(16)[::2][:4])
    ahead = alibi(2, 4)[0, 1, 0]  # it hides nothing
    assert ahead.tolist() == [0, -1 / 256, -2 / 256, -3 / 256]


def test_buckets_of_distances():
    into = distance_buckets(torch.arange(-5, 300)).tolist()
    assert into[:5] == [0] * 5 and into[5:21] == list(range(16))
    assert into[5:] == sorted(into[5:]) and into[-1] == 31
    far = [
        16 + int(16 * math.log(d / 16) / math.log(8)) for d in range(16, 128)
    ]
    assert into[21 : 21 + 112] == far
    few = distance_buckets(torch.arange(9), 4, 6)
    assert few.tolist() == [0, 1, 2, 2, 3, 3, 3, 3, 3]
    module = RelativeBias(3, buckets=4, furthest=6).to(DEVICE)
    looked_up = module.table.weight[few].T  # by the last query
    same(module(9)[0, :, 8], looked_up.flip(1))


layer = partial(RotaryAttention, d_model=8, heads=2, kv_heads=1)
stretch, x, steps = partial(Stretch, 8.0), torch.zeros(5, 8), torch.zeros(4)
turn, bias = partial(turn_by, x, start=0, steps=steps), RelativeBias(2)
bucket = partial(distance_buckets, torch.arange(3))
ZERO, BELOW, ODD, WHOLE = {"0": 0}, {"-1": -1}, {"3": 3}, by_dtype(x.long())
plain, three = layer().requires_grad_(False), torch.zeros(2, 3, 8)
plain(three, past := CachedSelfAttention(plain))
test_bad_input_is_refused = refuses(
    *(
        (name, call, ValueError, "at least 1", ZERO)
        for name, call in (
            ("d_model", RMSNorm),
            ("d_model", partial(GatedFeedForward, d_ff=1)),
            ("d_ff", partial(GatedFeedForward, 4)),
            ("window", layer),
            ("heads", alibi_slopes),
            ("length", partial(alibi, 2)),
            ("heads", RelativeBias),
            ("length", bias),
            ("heads", partial(halves_from_pairs, x)),
            ("heads", partial(pairs_from_halves, x)),
        )
    ),
    ("eps", partial(RMSNorm, 4), ValueError, "at least 0", BELOW),
    ("factor", Stretch, ValueError, "at least 1", {"0.5": 0.5}),
    ("trained", stretch, ValueError, "at least 0", BELOW),
    ("trained", stretch, TypeError, "an integer", {"float": 64.0}),
    ("low", stretch, ValueError, "above 0", {"0.0": 0.0}),
    ("high", partial(stretch, low=4.0), ValueError, "above 4.0", {"4.0": 4.0}),
    ("d_head", rotary_steps, ValueError, "even", ODD),
    ("d_head", lambda d_head: RotaryAttention(2 * d_head, 2, 1), ValueError,
     "even", ODD),
    ("kv_heads", layer, ValueError, "a divisor of heads=2", ODD),
    ("base", layer, ValueError, "above 1", {"1": 1}),
    ("stretch", layer, TypeError, "a Stretch", {"int": 8}),
    ("buckets", partial(RelativeBias, 2), ValueError, "even", ODD),
    ("furthest", bucket, ValueError, "at least 17", {"16": 16}),
    ("distance", distance_buckets, TypeError, "integer tensor", by_dtype(x)),
    ("x", RMSNorm(4), ValueError, "width 4", by_shape(x)),
    ("x", RMSNorm(4), TypeError, "floating-point", WHOLE),
    ("x", GatedFeedForward(4, 8), ValueError, "width 4", by_shape(x)),
    ("x", GatedFeedForward(4, 8), TypeError, "floating-point", WHOLE),
    *(
        ("weight", partial(convert, heads=2), ValueError, expected, wrong)
        for convert in (halves_from_pairs, pairs_from_halves)
        for expected, wrong in (
            ("even number of rows", by_shape(x)),
            ("2 axes, (width, d_model)", by_shape(steps)),
        )
    ),
    ("steps", turn, ValueError, "each pair of 8", by_shape(steps[:3])),
    ("start", turn, ValueError, "at least 0", BELOW),
    ("x", partial(plain, past=past), ValueError, "2 rows, as the past has",
     by_shape(three[:1])),
)  # fmt: skip
