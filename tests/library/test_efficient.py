"""lib.efficient: equal to what it saves work on, where it must be."""

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
from lib.heads import merge_heads, record_weights, split_heads
from lib.layers import FeedForward
from lib.masks import causal_mask
from tests.library.draw import (
    DEVICE,
    close,
    coins,
    dtype,
    lead,
    normal,
    refused,
    same,
    size,
)

GROUPS = st.sampled_from([(6, 6, 6), (6, 6, 3), (6, 6, 2), (6, 6, 1),
                          (12, 4, 2), (10, 5, 1), (7, 1, 1)])  # fmt: skip
lengths = st.integers(1, 23)


def grouped(d_model=12, heads=4, kv_heads=2, dtype=torch.float32, **options):
    torch.manual_seed(1)
    made = GroupedQueryAttention(d_model, heads, kv_heads, **options)
    if made.in_proj.bias is not None:
        nn.init.normal_(made.in_proj.bias)
        nn.init.normal_(made.out_proj.bias)
    return made.to(DEVICE, dtype)


def texts(lead, length, dtype, wide=3):
    """Queries, keys and values of one length."""
    return [
        normal(*lead, length, width, dtype=dtype, seed=seed)
        for seed, width in enumerate((4, 4, wide))
    ]


def band(length, window):
    place = torch.arange(length, device=DEVICE)
    back = place[:, None] - place
    return (back >= 0) & (back < window)


def in_full(q, k, v):
    """Linear attention by its formula."""
    q, k = (F.elu(x) + 1 for x in (q, k))
    weights = (q @ k.mT).tril()
    return weights / weights.sum(-1, keepdim=True) @ v


@given(lead, lengths, st.sampled_from([1, 2, 3, 5, 8, 23, 24, 40]), dtype)
def test_local_attention_is_attention_in_a_band(lead, length, window, dtype):
    inputs = texts(lead, length, dtype)
    wide = [x.double() for x in inputs]
    expected = attention(*wide, band(length, window)).to(dtype)
    close(local_attention(*inputs, window), expected, steps=16)


def test_the_cost_of_a_window_grows_with_the_length_only():
    for length in (64, 128):
        with FlopCounterMode(display=False) as counted:
            local_attention(*texts((2,), length, torch.float32, 4), 16)
        assert counted.get_total_flops() == 2 * 2 * length * 2 * 16 * (4 + 4)


@given(lead, lengths, st.sampled_from([1, 2, 5, 23, 64]), dtype)
def test_linear_attention_is_its_formula_in_any_chunks(
    lead, length, chunk, dtype
):
    inputs = texts(lead, length, dtype)
    expected = in_full(*(x.double() for x in inputs)).to(dtype)
    close(linear_attention(*inputs, chunk), expected, steps=16)
    close(linear_attention(*inputs), expected, steps=16)


def test_half_precision_does_not_lose_the_sum():
    """In float16 it would soon stand still, or be inf."""
    q, k, v = texts((), 2_500, torch.float16)
    k = k.abs() * 30
    expected = in_full(*(x.double() for x in (q, k, v)))
    close(linear_attention(q, k, v), expected.half(), steps=4)


@pytest.mark.parametrize("call", [local_attention, linear_attention])
def test_gradients_of_the_cheaper_ones(call):
    inputs = [x.requires_grad_() for x in texts((2,), 5, torch.float64)]
    assert torch.autograd.gradcheck(lambda *x: call(*x, 2), inputs)


@given(size, st.sampled_from([(8, 2, 2), (12, 4, 2), (12, 4, 1)]), size)
def test_operations_are_those_that_torch_counts(length, sizes, d_ff):
    d_model, heads, kv_heads = sizes
    layer = GroupedQueryAttention(d_model, heads, kv_heads).to(DEVICE)
    x = normal(1, length, d_model)
    ours = layer_operations(length, d_model, d_ff, layer.widths[1])
    with FlopCounterMode(display=False) as counted:
        layer(x, need_weights=True)
    names = "projections", "scores", "weighted means"
    assert counted.get_total_flops() == sum(ours[name] for name in names)
    assert ours["scores"] == ours["weighted means"]
    with FlopCounterMode(display=False) as counted:
        FeedForward(d_model, d_ff).to(DEVICE)(x)
    assert counted.get_total_flops() == ours["feed-forward"]
    default = layer_operations(length, d_model, d_ff)
    assert default == layer_operations(length, d_model, d_ff, d_model)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_bytes_are_those_of_a_cache(kv_heads):
    past = CachedSelfAttention(grouped(kv_heads=kv_heads))
    past(normal(3, 1, 12))  # makes room for two
    assert past.buffer.nbytes == cache_bytes(6, 1, kv_heads, 3, 4)
    assert cache_bytes(6, 5, kv_heads, 3) == 5 * past.buffer.nbytes / 2


@given(GROUPS, dtype, *[st.booleans()] * 3)
def test_shared_heads_are_the_grouped_attention_of_torch(
    sizes, dtype, bias, masked, alone
):
    """Each matrix projects its own source; some sources are one."""
    shared, (d_model, *heads) = grouped(*sizes, dtype, bias=bias), sizes
    heads.append(heads[-1])
    x, y, z = (
        normal(2, n, d_model, seed=s, dtype=dtype)
        for s, n in enumerate((5, 3, 3))
    )
    y, z = (x, x) if alone else (y, z)
    may = coins(2, 1, 5, y.shape[1]) if masked else None
    weight, bias = (
        [None] * 3 if t is None else t.double().split(shared.widths)
        for t in (shared.in_proj.weight, shared.in_proj.bias)
    )
    parts = [
        split_heads(F.linear(source.double(), *matrix), count)
        for source, *matrix, count in zip(
            (x, y, z), weight, bias, heads, strict=True
        )
    ]
    for ours, part in zip(shared.project(x, y, z), parts, strict=True):
        close(ours, part.to(dtype), steps=16)
    context = F.scaled_dot_product_attention(*parts, may, enable_gqa=True)
    expected = shared.out_proj(merge_heads(context.to(dtype)))
    close(shared(x, y, z, may), expected, steps=32)
    output, weights = shared(x, y, z, may, need_weights=True)
    close(output, expected, steps=32)
    assert weights.shape == (2, heads[0], 5, y.shape[1])


@pytest.mark.parametrize("options", [{}, {"bias": False}])
def test_parameters_shrink_with_the_shared_heads(options):
    named = grouped(**options).named_parameters()
    expected = {"in_proj.weight": (24, 12), "out_proj.weight": (12, 12)}
    if not options:
        expected |= {"in_proj.bias": (24,), "out_proj.bias": (12,)}
    assert {name: tuple(p.shape) for name, p in named} == expected


def test_a_cache_keeps_the_shared_heads_only():
    shared, x = grouped(), normal(2, 6, 12)
    expected = shared(x, may_attend=causal_mask(6, DEVICE))
    past = CachedSelfAttention(shared)
    parts = [past(part) for part in x.split([1, 3, 1, 1], dim=1)]
    close(torch.cat(parts, 1), expected)
    assert past.buffer.shape[:3] == (2, 2, 2)  # k and v, batch, kv_heads
    y = normal(2, 5, 12, seed=1)
    across = MemoryAttention(shared, y)
    close(across(x), shared(x, y))
    assert across.k.shape == (2, 2, 5, 3)


def test_weights_of_all_heads_are_recorded_and_dropped_in_training_only():
    shared, x = grouped(dropout=0.5), normal(2, 5, 12)
    plain = grouped()(x)
    assert (shared(x) != plain).any()
    same(shared.eval()(x), plain)
    with record_weights(shared) as recorded:
        _, weights = shared(x, need_weights=True)
    same(recorded[""], weights.detach())


def test_gradients_of_shared_heads():
    shared = grouped(6, 2, 1, torch.float64)
    x = normal(1, 3, 6, dtype=torch.float64).requires_grad_()
    y = normal(1, 2, 6, dtype=torch.float64, seed=1).requires_grad_()
    inputs = x, y, *shared.parameters()  # changed in place by the check
    assert torch.autograd.gradcheck(
        lambda x, y, *_: (shared(x), shared(x, y)), inputs
    )


@pytest.mark.bad_input
@pytest.mark.parametrize("call", [local_attention, linear_attention])
def test_the_cheaper_ones_refuse_what_does_not_fit(call):
    q, k, v = (torch.ones(2, 5, width) for width in (4, 4, 3))
    name = {local_attention: "window", linear_attention: "chunk"}[call]
    with refused(ValueError, name, "at least 1", "0"):
        call(q, k, v, 0)
    with refused(TypeError, name, "an integer", "float"):
        call(q, k, v, 2.0)
    with refused(ValueError, "k", "length of q, 5", "4"):
        call(q, k[:, :4], v[:, :4], 2)
    with refused(ValueError, "v", "length of q, 5", "4"):
        call(q, k, v[:, :4], 2)
    with refused(ValueError, "k", "leading axes (2,)", "(1,)"):
        call(q, k[:1], v[:1], 2)
    with refused(ValueError, "k", "width 4", "3"):
        call(q, k[..., :3], v, 2)
    with refused(TypeError, "v", "torch.float32", "torch.float64"):
        call(q, k, v.double(), 2)
    with refused(ValueError, "q", "at least one position", "(2, 0, 4)"):
        call(q[:, :0], k[:, :0], v[:, :0], 2)


SIZES = {
    layer_operations: ("length", "d_model", "d_ff", "kv_width"),
    cache_bytes: ("tokens", "layers", "kv_heads", "d_head", "number"),
    GroupedQueryAttention: ("d_model", "heads", "kv_heads"),
}


@pytest.mark.bad_input
@pytest.mark.parametrize("call", SIZES)
def test_sizes_that_are_none_are_refused(call):
    for name in SIZES[call]:
        sizes = dict.fromkeys(SIZES[call], 4)
        with refused(ValueError, name, "at least 1", "0"):
            call(**sizes | {name: 0})
        with refused(TypeError, name, "an integer", "float"):
            call(**sizes | {name: 2.0})


@pytest.mark.bad_input
def test_heads_that_cannot_share_are_refused():
    with refused(ValueError, "kv_heads", "a divisor of heads=4", "3"):
        GroupedQueryAttention(12, 4, 3)
    with refused(ValueError, "d_model", "a multiple of heads=5", "12"):
        GroupedQueryAttention(12, 5, 1)
    shared, x = GroupedQueryAttention(12, 4, 2), torch.ones(2, 3, 12)
    q, _, _ = shared.project(x, x, x)
    with refused(ValueError, "k", "leading axes (2, 4)", "(2, 8)"):
        shared.attend(q, q, q)
    with refused(ValueError, "query", "width 12", "11"):
        shared(x[..., :11])
