"""lib.efficient: equal to what it saves work on, where it must be."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from lib.attention import attention
from lib.cache import CachedSelfAttention, MemoryAttention
from lib.efficient import (
    GroupedQueryAttention,
    cache_bytes,
    layer_operations,
    linear_attention,
    local_attention,
)
from lib.heads import merge_heads
from lib.layers import FeedForward
from lib.masks import causal_mask
from tests.library import no
from tests.library.draw import DEVICE, close, coins, normal
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.strategies import dtype, lead

lengths = st.integers(1, 23)


def grouped(d_model=12, heads=4, kv_heads=2, dtype=torch.float32, **options):
    torch.manual_seed(1)
    made = GroupedQueryAttention(d_model, heads, kv_heads, **options)
    nn.init.normal_(made.in_proj.bias)
    return made.to(DEVICE, dtype)


def texts(lead, length, dtype, wide=3):
    """Queries, keys and values of one length."""
    return [
        normal(*lead, length, width, dtype=dtype, seed=seed)
        for seed, width in enumerate((4, 4, wide))
    ]


@given(lead, lengths, st.sampled_from([1, 2, 3, 5, 8, 23, 24, 40]), dtype)
def test_local_attention_is_attention_in_a_band(lead, length, window, dtype):
    inputs = texts(lead, length, dtype)
    wide, mask = [x.double() for x in inputs], causal_mask(length, DEVICE)
    mask &= mask.triu(1 - window)
    expected = attention(*wide, mask[0, 0]).to(dtype)
    close(local_attention(*inputs, window), expected, steps=16)


@given(lead, lengths, st.sampled_from([1, 2, 5, 23, 64]), dtype)
def test_linear_attention_is_its_formula_in_any_chunks(
    lead, length, chunk, dtype
):
    inputs = texts(lead, length, dtype)
    q, k = (F.elu(x.double()) + 1 for x in inputs[:2])
    weights = (q @ k.mT).tril()
    weights /= weights.sum(-1, keepdim=True)
    expected = (weights @ inputs[2].double()).to(dtype)
    close(linear_attention(*inputs, chunk), expected, steps=16)
    close(linear_attention(*inputs), expected, steps=16)


def test_two_sizes_have_defaults():
    """As wide as all keys, and two bytes a number."""
    whole = layer_operations(3, 4, 5, kv_width=4)
    assert layer_operations(3, 4, 5) == whole
    assert cache_bytes(3, 4, 5, 6) == cache_bytes(3, 4, 5, 6, number=2)


@pytest.mark.parametrize("length", [64, 128])
def test_the_cost_of_a_window_grows_with_the_length_only(length):
    with FlopCounterMode(display=False) as counted:
        local_attention(*texts((2,), length, torch.float32, 4), 16)
    assert counted.get_total_flops() == 2 * 2 * length * 2 * 16 * (4 + 4)


def test_half_precision_does_not_lose_the_sum():
    """After 4,096 steps a sum in float16 would stand still, or be inf."""
    q, k, v = texts((), 5_000, torch.float16)
    k = k.abs() * 30
    wide = linear_attention(*(x.double() for x in (q, k, v)))
    close(linear_attention(q, k, v), wide.half(), steps=4)


@given(lengths, st.sampled_from([(8, 2, 2), (12, 4, 2), (12, 4, 1)]), lengths)
def test_operations_are_those_that_torch_counts(length, sizes, d_ff):
    d_model, heads, kv_heads = sizes
    layer = GroupedQueryAttention(d_model, heads, kv_heads).to(DEVICE)
    x = normal(1, length, d_model)
    ours = layer_operations(length, d_model, d_ff, layer.widths[1])
    with FlopCounterMode(display=False) as counted:
        FeedForward(d_model, d_ff).to(DEVICE)(x)
    assert counted.get_total_flops() == ours.pop("feed-forward")
    with FlopCounterMode(display=False) as counted:
        layer(x, need_weights=True)
    assert counted.get_total_flops() == sum(ours.values())
    assert ours["scores"] == ours["weighted means"]


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_bytes_are_those_of_a_cache(kv_heads):
    past = CachedSelfAttention(grouped(kv_heads=kv_heads))
    past(normal(3, 1, 12))  # makes room for two
    assert past.buffer.nbytes == cache_bytes(6, 1, kv_heads, 3, 4)
    assert cache_bytes(6, 5, kv_heads, 3) == 5 * past.buffer.nbytes / 2


@given(dtype, st.booleans(), st.sampled_from([1, 2, 4]))
def test_is_the_grouped_attention_of_torch(dtype, masked, kv_heads):
    shared = grouped(kv_heads=kv_heads, dtype=dtype)
    x, y = normal(2, 3, 12, dtype=dtype), normal(2, 5, 12, dtype=dtype)
    may = coins(2, 1, 3, 5) if masked else None
    q, k, v = shared.project(x, y, y)
    out = F.scaled_dot_product_attention(q, k, v, may, enable_gqa=True)
    if masked:
        out = out.masked_fill(~may.any(-1, keepdim=True), 0.0)
    close(shared(x, y, may_attend=may), shared.output(out), steps=32)


def test_each_matrix_projects_its_own_source():
    shared, x, y = grouped(), normal(2, 6, 12), normal(2, 5, 12, seed=1)
    for sources in ((x, x, x), (x, x, -x), (x, y, -y)):
        pairs = zip(sources, shared.matrices(), strict=True)
        wanted = [F.linear(source, *matrix) for source, matrix in pairs]
        found = map(merge_heads, shared.project(*sources))
        torch.testing.assert_close([*found], wanted)


def test_shared_heads_are_cached_and_dropped():
    """A cache keeps the shared heads only."""
    shared, x, y = grouped(), normal(2, 6, 12), normal(2, 5, 12, seed=1)
    past = CachedSelfAttention(shared)
    parts = [past(part) for part in x.split([1, 3, 1, 1], dim=1)]
    close(torch.cat(parts, 1), shared(x, may_attend=causal_mask(6, DEVICE)))
    assert past.buffer.shape[:3] == (2, 2, 2)  # k and v, batch, kv_heads
    across = MemoryAttention(shared, y)
    close(across(x), shared(x, y))
    assert across.k.shape == (2, 2, 5, 3)
    assert (grouped(dropout=0.5)(x) != shared(x)).any()


@pytest.mark.parametrize("call", [local_attention, linear_attention])
def test_gradients_of_the_cheaper_ones(call):
    inputs = [x.requires_grad_() for x in texts((2,), 5, torch.float64)]
    assert torch.autograd.gradcheck(lambda *x: call(*x, 2), inputs)


Q, K, V = (torch.ones(2, 5, width) for width in (4, 4, 3))
local = partial(local_attention, q=Q, k=K, v=V, window=2)
linear = partial(linear_attention, q=Q, k=K, v=V, chunk=2)
empty = partial(local, k=K[:, :0], v=V[:, :0])
operations = partial(layer_operations, length=4, d_model=4, d_ff=4)
room = partial(cache_bytes, tokens=4, layers=4, kv_heads=4, d_head=4)
group = partial(GroupedQueryAttention, d_model=12, heads=4, kv_heads=1)
ask = GroupedQueryAttention(12, 4, 2)
heads, X = torch.ones(2, 4, 3, 3), torch.ones(2, 3, 12)
test_bad_input_is_refused = refuses(
    *no.size(local, "window"),
    *no.size(linear, "chunk"),
    ("k", partial(local, v=V[:, :4]), ValueError, "length of q, 5",
     {"4": K[:, :4]}),
    ("v", local, ValueError, "length of q, 5", {"4": V[:, :4]}),
    ("k", partial(local, v=V[:1]), ValueError, "leading axes (2,)",
     {"(1,)": K[:1]}),
    ("k", local, ValueError, "width 4", {"3": K[..., :3]}),
    ("v", local, TypeError, "torch.float32", by_dtype(V.double())),
    ("q", empty, ValueError, "one position", by_shape(Q[:, :0])),
    ("v", linear, ValueError, "length of q, 5", {"4": V[:, :4]}),
    *no.size(operations, "length", "d_model", "d_ff"),
    ("kv_width", operations, ValueError, "at least 1", {"0": 0}),
    *no.size(room, "tokens", "layers", "kv_heads", "d_head", "number"),
    *no.size(group, "d_model", "heads", "kv_heads"),
    ("kv_heads", group, ValueError, "a divisor of heads=4", {"3": 3}),
    ("d_model", group, ValueError, "a multiple of heads=4", {"13": 13}),
    ("k", partial(ask.attend, heads, v=heads), ValueError,
     "leading axes (2, 4)", {"(2, 8)": heads}),
    ("query", ask, ValueError, "width 12", {"11": X[..., :11]}),
)  # fmt: skip
