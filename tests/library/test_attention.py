"""lib.attention against torch's own, and against what it promises."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import attention, attention_weights
from tests.library import no
from tests.library.draw import DEVICE, close, coins, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.strategies import dtype, lead, size


def draw_qkv(*lead, q_len=3, k_len=5, d_head=7, d_value=2, **options):
    q = normal(*lead, q_len, d_head, seed=1, **options)
    k = normal(*lead, k_len, d_head, seed=2, **options)
    v = normal(*lead, k_len, d_value, seed=3, **options)
    return q, k, v


shapes = st.fixed_dictionaries(
    {"q_len": size, "k_len": size, "d_head": size, "d_value": size}
)
MASKED = pytest.mark.parametrize("masked", [False, True])
BIASED = pytest.mark.parametrize("biased", [False, True])


def draw_options(*shape, masked, biased, **options):
    """A mask and a bias for scores of this shape, or None."""
    may = coins(*shape) if masked else None
    bias = normal(*shape, seed=4, scale=3.0, **options) if biased else None
    return {"may_attend": may, "score_bias": bias}


def torchs(q, k, v, may_attend, score_bias):
    """Torch's answer; 0 for a query that may attend to nothing."""
    scores = torch.zeros(*q.shape[:-1], k.shape[-2]).to(q)
    may = scores == 0 if may_attend is None else may_attend
    added = scores if score_bias is None else scores + score_bias
    idle = ~may.any(-1, keepdim=True)
    added = added.masked_fill(~(may | idle), -math.inf)
    out = F.scaled_dot_product_attention(q, k, v, added)
    return out.masked_fill(idle, 0.0)


@given(lead, shapes, dtype, st.booleans(), st.booleans())
def test_equals_torch(lead, shapes, dtype, masked, biased):
    """Torch computes in float64 here, whatever the dtype that we are given.

    The values of a unit matrix are the weights.
    """
    q, k, v = draw_qkv(*lead, **shapes, dtype=dtype)
    q_len, k_len = shapes["q_len"], shapes["k_len"]
    options = draw_options(
        *lead, q_len, k_len, masked=masked, biased=biased, dtype=dtype
    )
    wide = torch.cat([v, torch.eye(k_len).to(v).expand(*lead, -1, -1)], -1)
    expected = torchs(*(x.double() for x in (q, k, wide)), **options)
    parts = attention(q, k, v, **options), attention_weights(q, k, **options)
    close(torch.cat(parts, -1), expected.to(dtype), steps=64)


@MASKED
@BIASED
def test_gradients_equal_torchs(masked, biased):
    """Anomaly mode: no step backward may yield NaN, not even a hidden one."""
    double = {"dtype": torch.float64}
    leaves = [x.requires_grad_() for x in draw_qkv(2, **double)]
    options = draw_options(2, 3, 5, masked=masked, biased=biased, **double)
    if masked:
        options["may_attend"][0, 1] = False
    if biased:
        leaves.append(options["score_bias"].requires_grad_())
    with torch.autograd.set_detect_anomaly(True):
        pairs = (
            torch.autograd.grad(
                f(*leaves[:3], **options).square().sum(), leaves
            )
            for f in (attention, torchs)
        )
        for ours, expected in zip(*pairs, strict=True):
            close(ours, expected, steps=64)


def test_huge_scores_of_an_idle_query_stay_out():
    """They are NaN: infinities of both signs are added up in them."""
    q, k, v = draw_qkv()
    q[1] = math.inf
    may = torch.tensor([[True], [False], [True]], device=DEVICE)
    out = attention(q, k, v, may)
    assert out.isfinite().all() and (out[1] == 0).all()


@pytest.mark.parametrize("huge", [-10_000.0, 10_000.0])
def test_a_masked_key_may_be_huge_in_half_precision(huge):
    """Its score is infinite in float16; added to -inf it would be NaN."""
    q, k, v = draw_qkv(2, dtype=torch.float16)
    q[0], k[:, 1] = 50.0, huge
    may = torch.tensor([True, False, True, True, True], device=DEVICE)
    assert ((q @ k.mT / math.sqrt(7)).abs() == math.inf).any()
    weights = attention_weights(q.requires_grad_(), k, may)
    same(weights[..., may], attention_weights(q, k[:, may]))
    attention(q, k, v, may).sum().backward()
    assert (weights[..., ~may] == 0).all() and q.grad.isfinite().all()


def test_dropout_zeroes_weights_and_scales_the_others():
    q, k, _ = draw_qkv(q_len=101, k_len=103)
    weights = attention_weights(q, k)
    dropped = attention(q, k, torch.eye(103, device=DEVICE), dropout=0.25)
    zero = dropped == 0
    rate = zero.float().mean().item()
    assert abs(rate - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 1e4)
    close(dropped[~zero], weights[~zero] / 0.75)


@BIASED
def test_autocast(biased):
    """The bias may be wider than the queries then."""
    q, k, v = draw_qkv(2)
    may = torch.tensor([[True] * 5, [False] * 5, [True] * 5], device=DEVICE)
    bias = normal(3, 5, seed=4) if biased else None
    expected = attention(q, k, v, may, score_bias=bias)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        halves = (x.bfloat16() for x in (q, k, v))
        for parts in ((q, k, v), halves):
            out = attention(*parts, may, score_bias=bias)
            close(out, expected.to(out.dtype), steps=8)
            assert out.dtype == torch.bfloat16 and (out[:, 1] == 0).all()


Q, K, V = (torch.ones(shape) for shape in ((2, 3, 7), (2, 5, 7), (2, 5, 4)))
call = partial(attention, q=Q, k=K, v=V)
SHAPE, TO_SCORES = "shape (7,)", "broadcasts to the scores, (2, 3, 5)"
BIAS, WIDE = torch.ones(7, 3, 5), by_dtype(K.double())
BIASES = by_shape(BIAS, BIAS[0, 0, :3], BIAS[0].T, BIAS[None, :1])
MASKS = {got: x > 0 for got, x in BIASES.items()}
WHOLE = by_dtype(BIAS > 0, BIAS.int())
OTHER = by_dtype(BIAS[0].double(), BIAS[0].half())
HINT = "; what may not be attended to is said by the mask may_attend"
ENDLESS = {
    f"{x}{HINT}": torch.full((5,), x) for x in (-math.inf, math.inf, math.nan)
}
test_bad_input_is_refused = refuses(
    *no.floating_tensor(call, "q", "k", "v"),
    ("k", call, TypeError, "torch.float32, the dtype of q", WIDE),
    ("v", call, TypeError, "torch.float32, the dtype of k", WIDE),
    ("q", call, ValueError, "at least 2 axes", {SHAPE: Q[0, 0]}),
    ("k", call, ValueError, "the leading axes (2,) of q", {"()": K[0]}),
    ("k", call, ValueError, "the leading axes (2,) of q", {"(1,)": K[:1]}),
    ("k", call, ValueError, "the width 7 of q", {"4": V}),
    ("q", call, ValueError, "a width of at least 1", {"none": Q[..., :0]}),
    ("k", call, ValueError, "at least one key", {"none": K[:, :0]}),
    ("v", call, ValueError, "for each key, (2, 5)", {"(2, 3)": V[:, :3]}),
    ("v", call, ValueError, "for each key, (2, 5)", {"(5,)": V[0]}),
    ("may_attend", call, TypeError, "a tensor", {"list": [True]}),
    ("may_attend", call, TypeError, "boolean tensor, True = may", by_dtype(Q)),
    ("may_attend", call, ValueError, TO_SCORES, MASKS),
    ("score_bias", call, TypeError, "a tensor", {"list": [1.0]}),
    ("score_bias", call, TypeError, "a floating-point tensor", WHOLE),
    ("score_bias", call, TypeError, "dtype of the queries", OTHER),
    ("score_bias", call, ValueError, TO_SCORES, BIASES),
    ("score_bias", call, ValueError, "finite numbers", ENDLESS),
    *no.dropout(call),
)
