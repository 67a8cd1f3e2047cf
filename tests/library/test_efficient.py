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
from lib.heads import MultiHeadAttention, merge_heads, record_weights
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


def grouped(d_model=12, heads=4, kv_heads=2, dtype=torch.float32, **options):
    torch.manual_seed(1)
    made = GroupedQueryAttention(d_model, heads, kv_heads, **options)
    if made.in_proj.bias is not None:
        nn.init.normal_(made.in_proj.bias)
        nn.init.normal_(made.out_proj.bias)
    return made.to(DEVICE, dtype)


def repeated(shared):
    """A `MultiHeadAttention` with the weights of the shared heads copied."""
    full = MultiHeadAttention(
        shared.d_model, shared.heads, bias=shared.in_proj.bias is not None
    ).to(shared.in_proj.weight)
    group = shared.heads // shared.kv_heads
    with torch.no_grad():
        for mine, its in zip(full.matrices(), shared.matrices(), strict=True):
            for to, part in zip(mine, its, strict=True):
                if part is not None:
                    rows = part.unflatten(0, (-1, full.d_model // full.heads))
                    times = 1 if part.shape == to.shape else group
                    rows = rows.repeat_interleave(times, 0)
                    to.copy_(rows.flatten(0, 1))
    full.out_proj.load_state_dict(shared.out_proj.state_dict())
    return full


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


lengths = st.integers(1, 23)
windows = st.sampled_from([1, 2, 3, 5, 8, 23, 24, 40])


@given(lead, lengths, windows, dtype)
def test_local_attention_is_attention_in_a_band(lead, length, window, dtype):
    inputs = texts(lead, length, dtype)
    wide = [x.double() for x in inputs]
    expected = attention(*wide, band(length, window)).to(dtype)
    close(local_attention(*inputs, window), expected, steps=16)


@pytest.mark.parametrize("length", [64, 128, 256])
def test_the_cost_of_a_window_grows_with_the_length_only(length):
    with FlopCounterMode(display=False) as counted:
        local_attention(*texts((2,), length, torch.float32, 4), 16)
    assert counted.get_total_flops() == 2 * 2 * length * 2 * 16 * (4 + 4)


@pytest.mark.parametrize("window", [1, 4, 9])
def test_nothing_outside_the_window_matters(window):
    q, k, v = texts((2,), 13, torch.float64)
    before = local_attention(q, k, v, window)
    for j in range(13):
        other = [x.clone() for x in (k, v)]
        for x in other:
            x[:, j] = 1e3
        after = local_attention(q, *other, window)
        moved = (after != before).any(-1).all(0)
        place = torch.arange(13, device=DEVICE)
        assert (moved <= ((place >= j) & (place < j + window))).all()
        assert moved[j]


def in_full(q, k, v):
    """Linear attention by its formula."""
    q, k = (F.elu(x) + 1 for x in (q, k))
    weights = (q @ k.mT).tril()
    return weights / weights.sum(-1, keepdim=True) @ v


@given(lead, lengths, st.sampled_from([1, 2, 5, 23, 64]), dtype)
def test_linear_attention_is_its_formula_in_any_chunks(
    lead, length, chunk, dtype
):
    inputs = texts(lead, length, dtype)
    expected = in_full(*(x.double() for x in inputs)).to(dtype)
    close(linear_attention(*inputs, chunk), expected, steps=16)
    close(linear_attention(*inputs), expected, steps=16)


def test_linear_attention_averages_so_far():
    q, k, v = texts((), 7, torch.float32)
    rows = linear_attention(q, k, v)
    same(rows[:1], v[:1])
    ones = torch.ones_like(v)
    close(linear_attention(q, k, ones), ones)
    equal = linear_attention(q, torch.ones_like(k), v)
    count = torch.arange(1, 8, device=DEVICE)[:, None]
    close(equal, v.cumsum(0) / count)


def test_half_precision_does_not_lose_the_sum():
    """After 4,096 steps a sum in float16 would stand still, or be inf."""
    q, k, v = texts((), 5_000, torch.float16)
    k = k.abs() * 30
    expected = in_full(*(x.double() for x in (q, k, v)))
    close(linear_attention(q, k, v), expected.half(), steps=4)


def test_linear_attention_is_causal():
    q, k, v = texts((2,), 11, torch.float64)
    before = linear_attention(q, k, v, 4)
    k[:, 6], v[:, 6] = 5.0, 100.0
    after = linear_attention(q, k, v, 4)
    same(after[:, :6], before[:, :6])
    assert (after[:, 6:] != before[:, 6:]).any(-1).all()


@pytest.mark.parametrize("call", [local_attention, linear_attention])
def test_gradients_of_the_cheaper_ones(call):
    inputs = [x.requires_grad_() for x in texts((2,), 5, torch.float64)]
    assert torch.autograd.gradcheck(lambda *x: call(*x, 2), inputs)


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


@pytest.mark.bad_input
def test_counting_refuses_sizes_that_are_none():
    sizes = {"length": 2, "d_model": 4, "d_ff": 8, "kv_width": 4}
    for name in sizes:
        with refused(ValueError, name, "at least 1", "0"):
            layer_operations(**(sizes | {name: 0}))
    sizes = {"tokens": 2, "layers": 4, "kv_heads": 8, "d_head": 4}
    for name in (*sizes, "number"):
        with refused(TypeError, name, "an integer", "float"):
            cache_bytes(**(sizes | {name: 2.0}))


@given(GROUPS, size, size, size, st.booleans(), st.booleans())
def test_is_attention_with_the_shared_heads_repeated(
    sizes, batch, q_len, k_len, bias, masked
):
    shared = grouped(*sizes, torch.float64, bias=bias)
    full, may = repeated(shared), None
    x, y, z = (
        normal(batch, n, sizes[0], seed=s, dtype=torch.float64)
        for s, n in enumerate((q_len, k_len, k_len))
    )
    if masked:
        may = coins(batch, 1, q_len, k_len)
    close(shared(x, y, z, may), full(x, y, z, may), steps=32)
    for ours, its in zip(
        shared(x, y, z, may, need_weights=True),
        full(x, y, z, may, need_weights=True),
        strict=True,
    ):
        close(ours, its, steps=32)


def test_with_as_many_heads_it_is_multi_head_attention():
    full, shared = MultiHeadAttention(12, 4), GroupedQueryAttention(12, 4, 4)
    shared.load_state_dict(full.state_dict())
    x, y = normal(2, 5, 12).cpu(), normal(2, 3, 12, seed=1).cpu()
    may = causal_mask(5)
    same(shared(x, may_attend=may), full(x, may_attend=may))
    same(shared(x, y), full(x, y))


@given(dtype, st.booleans(), st.sampled_from([1, 2, 4]))
def test_is_the_grouped_attention_of_torch(dtype, masked, kv_heads):
    shared = grouped(kv_heads=kv_heads, dtype=dtype)
    x, y = normal(2, 3, 12, dtype=dtype), normal(2, 5, 12, dtype=dtype)
    may = coins(2, 1, 3, 5) if masked else None
    q, k, v = shared.project(x, y, y)
    assert q.shape == (2, 4, 3, 3)
    assert k.shape == v.shape == (2, kv_heads, 5, 3)
    expected = F.scaled_dot_product_attention(
        *(q.double(), k.double(), v.double()), may, enable_gqa=True
    )
    close(shared.attend(q, k, v, may)[0], expected.to(dtype), steps=32)
    context, weights = shared.attend(q, k, v, may, need_weights=True)
    close(context, expected.to(dtype), steps=32)
    assert weights.shape == (2, 4, 3, 5)
    out = shared.out_proj(merge_heads(context))
    close(shared(x, y, may_attend=may), out, steps=32)


@pytest.mark.parametrize("bias", [True, False])
def test_each_matrix_projects_its_own_source(bias):
    shared = grouped(bias=bias)
    x, y, z = (normal(2, 5, 12, seed=s) for s in range(3))
    b = shared.in_proj.bias
    b = b.split([12, 6, 6]) if bias else (0, 0, 0)
    W = shared.in_proj.weight.split([12, 6, 6])
    for parts, sources in (
        (shared.project(x, y, z), (x, y, z)),
        (shared.project(x, x, x), (x, x, x)),
    ):
        for part, source, i in zip(parts, sources, range(3), strict=True):
            close(merge_heads(part), source @ W[i].T + b[i])


@pytest.mark.parametrize("bias", [True, False])
def test_parameters_shrink_with_the_shared_heads(bias):
    shapes = {n: tuple(p.shape) for n, p in grouped(bias=bias)
              .named_parameters()}  # fmt: skip
    expected = {"in_proj.weight": (24, 12), "out_proj.weight": (12, 12)}
    if bias:
        expected |= {"in_proj.bias": (24,), "out_proj.bias": (12,)}
    assert shapes == expected


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


def test_the_weights_of_all_query_heads_are_recorded():
    shared, x = grouped(), normal(2, 5, 12)
    with record_weights(shared) as weights:
        shared(x)
    assert weights[""].shape == (2, 4, 5, 5)
    same(weights[""], shared(x, need_weights=True)[1].detach())


def test_weights_are_dropped_in_training_only():
    shared, x = grouped(dropout=0.5), normal(2, 5, 12)
    plain = grouped()(x)
    assert (shared(x) != plain).any()
    close(shared.eval()(x), plain)


def test_gradient():
    shared = grouped(6, 2, 1, torch.float64)
    x = normal(1, 3, 6, dtype=torch.float64).requires_grad_()

    def run(x, *weights):
        names = [name for name, _ in shared.named_parameters()]
        named = dict(zip(names, weights, strict=True))
        return torch.func.functional_call(shared, named, (x,))

    assert torch.autograd.gradcheck(run, (x, *shared.parameters()))


@pytest.mark.bad_input
def test_refuses_heads_that_cannot_share():
    with refused(ValueError, "kv_heads", "a divisor of heads=4", "3"):
        GroupedQueryAttention(12, 4, 3)
    with refused(ValueError, "kv_heads", "a divisor of heads=4", "8"):
        GroupedQueryAttention(16, 4, 8)
    with refused(ValueError, "kv_heads", "at least 1", "0"):
        GroupedQueryAttention(12, 4, 0)
    with refused(TypeError, "kv_heads", "an integer", "float"):
        GroupedQueryAttention(12, 4, 2.0)
    with refused(ValueError, "d_model", "a multiple of heads=5", "12"):
        GroupedQueryAttention(12, 5, 1)
    shared = GroupedQueryAttention(12, 4, 2)
    x = torch.ones(2, 3, 12)
    q, k, v = shared.project(x, x, x)
    with refused(ValueError, "k", "leading axes (2, 4)", "(2, 8)"):
        shared.attend(q, q, q)
    with refused(ValueError, "query", "width 12", "11"):
        shared(x[..., :11])
