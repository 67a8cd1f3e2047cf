"""lib.windows against plain references.

That it is what gpt-oss and Gemma do stands in
tests/conformance/test_windows.py.
"""

from functools import partial

import pytest
import torch

from lib.cache import CachedSelfAttention
from lib.efficient import cache_bytes
from lib.heads import merge_heads, record_weights
from lib.masks import causal_mask
from lib.positions import rotary
from lib.windows import (
    SinkAttention,
    attention_with_sink,
    kept_bytes,
    layer_windows,
    lenders,
)
from tests.library import no
from tests.library.draw import DEVICE, DTYPES, close, coins, filled, normal
from tests.library.refusals import by_dtype, by_shape, refuses

HEADS, Q_LEN, K_LEN, D_HEAD, D_VALUE = 3, 5, 7, 2, 11


def drawn(dtype=torch.float64):
    """Queries, keys, values and sinks of two rows."""
    shapes = (
        (2, HEADS, Q_LEN, D_HEAD),
        (2, HEADS, K_LEN, D_HEAD),
        (2, HEADS, K_LEN, D_VALUE),
        (HEADS,),
    )
    return [normal(*s, dtype=dtype, seed=n) for n, s in enumerate(shapes)]


def by_hand(q, k, v, sink, mask):
    """One query after the other: exponentials, and a larger denominator."""
    found = torch.zeros(*q.shape[:-1], v.shape[-1]).to(v)
    for n, h, i in torch.cartesian_prod(*map(torch.arange, q.shape[:3])):
        grown = (k[n, h] @ q[n, h, i] / q.shape[-1] ** 0.5).exp()
        grown = grown * mask[n, h, i]
        weights = grown / (sink[h].exp() + grown.sum())
        found[n, h, i] = weights @ v[n, h]
    return found


def drawn_mask():
    """One of the queries may attend to nothing, and gets zeros."""
    mask = coins(2, HEADS, Q_LEN, K_LEN)
    mask[0, 1, 2] = False
    return mask


def test_it_is_the_formula():
    *tensors, mask = *drawn(), drawn_mask()
    everything = torch.ones_like(mask)
    close(attention_with_sink(*tensors, mask), by_hand(*tensors, mask))
    close(attention_with_sink(*tensors), by_hand(*tensors, everything))


@pytest.mark.parametrize("kind", DTYPES)
def test_precisions(kind):
    """Also where exponentials would overflow, of scores and of sinks."""
    tensors = drawn(kind)
    exact = attention_with_sink(*(x.double() for x in tensors))
    close(attention_with_sink(*tensors), exact.to(kind), steps=16)
    q, k, v, _ = tensors
    high = torch.full((HEADS,), 1e4).to(q)
    found = attention_with_sink(100 * q, 100 * k, v, high)
    assert found.dtype == kind and found.isfinite().all()


def test_gradients():
    tensors = [x.requires_grad_() for x in drawn()]
    attend = partial(attention_with_sink, may_attend=drawn_mask())
    assert torch.autograd.gradcheck(attend, tensors)


def layer(dtype=torch.float64, window=3):
    return filled(SinkAttention(12, 6, 3, 500.0, window), dtype)


@pytest.mark.parametrize("window", [None, 1, 3, 7])
def test_a_layer_is_its_parts(window):
    made, x = layer(window=window), normal(2, 7, 12, dtype=torch.float64)
    q, k, v = made.project(x, x, x)
    q, k = (rotary(part, base=500.0) for part in (q, k))
    k, v = (part.repeat_interleave(2, 1) for part in (k, v))
    mask = causal_mask(7, DEVICE, window=window)
    context = attention_with_sink(q, k, v, made.sink, mask)
    close(made(x), made.output(context))


@pytest.mark.parametrize("cuts", [[7], [1] * 7, [3, 1, 3]])
def test_token_by_token_it_is_the_same(cuts):
    made, x = layer(), normal(2, 7, 12, dtype=torch.float64)
    past, parts = CachedSelfAttention(made), x.split(cuts, dim=1)
    close(torch.cat([made(part, past) for part in parts], 1), made(x))


def test_a_new_layer_has_sinks_of_zero_and_learns_them():
    made = SinkAttention(12, 6, 3)
    assert made.sink.tolist() == [0] * 6
    assert (made.base, made.window, made.stretch) == (150_000, None, None)
    made(normal(2, 7, 12).cpu()).sum().backward()
    assert (made.sink.grad != 0).all()


def test_recorded_weights_are_those_of_the_values():
    made, x = layer(), normal(2, 7, 12, dtype=torch.float64)
    with record_weights(made) as weights:
        made(x)
    values = made.project(x, x, x)[2].repeat_interleave(2, 1)
    close(made.out_proj(merge_heads(weights[""] @ values)), made(x))


def test_under_autocast_a_sink_follows_its_queries():
    made, x = layer(torch.float32), normal(2, 5, 12)
    with torch.autocast(x.device.type, torch.bfloat16):
        found = made(x)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), made(x), atol=0.1, rtol=0.1)


def test_every_so_many_layers_one_is_full():
    assert layer_windows(1, 1, 5) == [None]
    assert layer_windows(1, 2, 5) == [5]
    assert layer_windows(5, 2, 7) == [7, None, 7, None, 7]
    assert layer_windows(7, 3, 1) == [1, 1, None, 1, 1, None, 1]


def test_the_last_of_the_same_window_lends():
    windows = [5, 3, None, 5, None, 3, 5]
    assert lenders(windows, 0) == [0, 1, 2, 3, 4, 5, 6]
    assert lenders(windows, 2) == [0, 1, 2, 3, 4, 1, 3]
    assert lenders(windows, 4) == [0, 1, 2, 0, 2, 1, 0]
    assert lenders(tuple(windows), 1) == [0, 1, 2, 3, 4, 5, 3]


def test_bytes_are_those_of_what_is_seen():
    assert kept_bytes(7, [None], 3, 5) == cache_bytes(7, 1, 3, 5)
    assert kept_bytes(7, [None] * 4, 3, 5, 4) == cache_bytes(7, 4, 3, 5, 4)
    keys = torch.empty(2, 3, 2 + 7 + 7, 5, dtype=torch.bfloat16)
    assert kept_bytes(7, (2, 11, None), 3, 5) == keys.nbytes


q, k, v, sink = (x.cpu() for x in drawn(torch.float32))
attend = partial(attention_with_sink, q=q, k=k, v=v, sink=sink)
attend()
mixed = [3, None, 3]
turns = partial(layer_windows, layers=2, every=3, window=3)
kept = partial(kept_bytes, tokens=3, windows=mixed, kv_heads=3, d_head=5)
test_bad_input_is_refused = refuses(
    *no.size(turns, "layers", "every", "window"),
    *no.size(kept, "tokens", "kv_heads", "d_head", "number"),
    *no.integer(partial(lenders, mixed), "shared"),
    ("shared", partial(lenders, mixed), ValueError, "0 to 2",
     {"-1": -1, "3": 3}),
    ("windows", partial(lenders, shared=2), ValueError,
     "a layer with the window None among the first 1", {"[3]": mixed}),
    ("windows", partial(lenders, shared=0), TypeError,
     "a list of integers or None", {"int": 3, "str": "3"}),
    ("windows", partial(lenders, shared=0), ValueError, "at least one",
     {"none": []}),
    ("window", lambda window: lenders([window], 0), ValueError,
     "at least 1", {"0": 0}),
    ("window", lambda window: kept_bytes(3, [window], 1, 1), TypeError,
     "an integer", {"float": 1.0, "bool": True}),
    *no.floating_tensor(partial(attention_with_sink, q, k, v), "sink"),
    ("sink", attend, ValueError, "one number for each head of q",
     by_shape(sink[:2], sink[None], sink[0])),
    ("sink", attend, ValueError, "finite numbers",
     {"[-inf]": sink - torch.inf, "[nan]": sink * torch.nan}),
    ("sink", attend, TypeError, "torch.float32", by_dtype(sink.double())),
    ("k", attend, ValueError, "the leading axes", {"(3,)": k[0]}),
    ("k", attend, ValueError, "at least one key",
     {"(2, 3, 0, 2)": k[:, :, :0]}),
    ("v", attend, ValueError, "one value for each key",
     {"(2, 3, 6)": v[:, :, :6]}),
    ("may_attend", attend, TypeError, "True = may attend",
     by_dtype(torch.ones(Q_LEN, K_LEN))),
    ("may_attend", attend, ValueError, "the scores",
     {"(5, 6)": torch.ones(Q_LEN, 6).bool()}),
    ("sink", partial(attention_with_sink, q[0, 0], k[0, 0], v[0, 0]),
     ValueError, "one number for each head of q", by_shape(sink)),
)  # fmt: skip
