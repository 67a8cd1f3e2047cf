"""lib.attention against torch's own, and against what it promises."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.attention import attention, attention_weights
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


def draw_qkv(*lead, q_len=3, k_len=5, d_head=7, d_value=2, **options):
    q = normal(*lead, q_len, d_head, seed=1, **options)
    k = normal(*lead, k_len, d_head, seed=2, **options)
    v = normal(*lead, k_len, d_value, seed=3, **options)
    return q, k, v


shapes = st.fixed_dictionaries(
    {"q_len": size, "k_len": size, "d_head": size, "d_value": size}
)


@given(lead, shapes, dtype)
def test_weights_are_the_softmax_of_scaled_scores(lead, shapes, dtype):
    q, k, _ = draw_qkv(*lead, **shapes, dtype=dtype)
    scores = q.double() @ k.double().mT / math.sqrt(shapes["d_head"])
    expected = F.softmax(scores, -1).to(dtype)
    close(attention_weights(q, k), expected, steps=32)


@given(lead, shapes, dtype, st.booleans())
def test_equals_torch(lead, shapes, dtype, masked):
    """Torch computes in float64 here, whatever the dtype that we are given."""
    q, k, v = draw_qkv(*lead, **shapes, dtype=dtype)
    may = coins(*lead, shapes["q_len"], shapes["k_len"]) if masked else None
    expected = F.scaled_dot_product_attention(
        q.double(), k.double(), v.double(), may
    )
    close(attention(q, k, v, may), expected.to(dtype), steps=32)


@given(lead, shapes)
def test_masked_weights_sum_to_one_or_are_all_zero(lead, shapes):
    q, k, _ = draw_qkv(*lead, **shapes)
    may = coins(*lead, shapes["q_len"], shapes["k_len"])
    weights = attention_weights(q, k, may)
    close(weights.sum(-1), may.any(-1).float())
    assert (weights[~may] == 0).all()


def rounded(table):
    return [[round(entry, 4) for entry in row] for row in table.tolist()]


def test_worked_example():
    """The sentence of the book; its numbers were found without this code."""
    torch.manual_seed(123)
    x = torch.nn.Embedding(50_000, 3)(torch.tensor([0, 4, 5, 2, 1, 3]))
    torch.manual_seed(123)
    x = x.detach().to(DEVICE)
    q, k, v = (x @ torch.rand(3, n).to(DEVICE) for n in (2, 2, 4))
    weights = attention_weights(q, k)[2:3]
    expected = [0.1965, 0.0618, 0.2506, 0.1452, 0.1146, 0.2312]
    assert rounded(weights.double()) == [expected]
    context = attention(q, k, v)[2:3].double()
    assert rounded(context[:, [0, 1, 3]]) == [[-0.3542, -0.1234, -0.3706]]


def test_numbers_by_hand():
    """Scores 0 and log 3, from a width of 4 and a scale of 1/2."""
    q = torch.tensor([[2.0, 0, 0, 0]], device=DEVICE)
    k = torch.tensor([[0, 9.0, 9, 9], [math.log(3), 0, 0, 0]], device=DEVICE)
    v = torch.tensor([[4.0, 0.0, 1.0], [0.0, 8.0, 1.0]], device=DEVICE)
    close(attention_weights(q, k), torch.tensor([[0.25, 0.75]]).to(DEVICE))
    close(attention(q, k, v), torch.tensor([[1.0, 6.0, 1.0]]).to(DEVICE))


def test_any_leading_axes():
    q, k, v = draw_qkv(2, 3)
    one_by_one = [
        [attention(*parts) for parts in zip(*rows, strict=True)]
        for rows in zip(q, k, v, strict=True)
    ]
    close(
        attention(q, k, v), torch.stack([torch.stack(r) for r in one_by_one])
    )


@pytest.mark.parametrize(
    "shape",
    [(), (5,), (1,), (3, 1), (3, 5), (1, 5), (2, 1, 1, 5), (7, 3, 5)],
)
def test_a_mask_is_broadcast(shape):
    q, k, v = draw_qkv(2, 7)
    may = coins(*shape)
    whole = may.expand(2, 7, 3, 5)
    same(attention_weights(q, k, may), attention_weights(q, k, whole))
    same(attention(q, k, v, may), attention(q, k, v, whole))


def test_what_is_masked_does_not_leak():
    q, k, v = draw_qkv(2)
    may = torch.tensor([True, True, False, True, False], device=DEVICE)
    before = attention(q, k, v, may)
    k[:, ~may], v[:, ~may] = -1e30, 1e30
    same(attention(q, k, v, may), before)
    close(before, attention(q, k[:, may], v[:, may]))


def test_a_mask_that_allows_all_changes_no_bit():
    q, k, v = draw_qkv(2)
    may = torch.ones(3, 5, dtype=torch.bool, device=DEVICE)
    same(attention(q, k, v, may), attention(q, k, v))


@given(dtype)
def test_a_query_that_may_attend_to_nothing_gets_zeros(dtype):
    q, k, v = (x.requires_grad_() for x in draw_qkv(2, dtype=dtype))
    may = torch.ones(2, 3, 5, dtype=torch.bool, device=DEVICE)
    may[0, 1] = may[1, 2] = False
    weights, out = attention_weights(q, k, may), attention(q, k, v, may)
    for idle in (weights[0, 1], weights[1, 2], out[0, 1], out[1, 2]):
        same(idle, torch.zeros_like(idle))
    (out.sum() + weights.square().sum()).backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))
    same(q.grad[0, 1], torch.zeros_like(q.grad[0, 1]))
    assert (q.grad[0, 0] != 0).any()


def test_nothing_may_attend_to_anything():
    q, k, v = (x.requires_grad_() for x in draw_qkv(2))
    may = torch.zeros(3, 5, dtype=torch.bool, device=DEVICE)
    attention(q, k, v, may).sum().backward()
    for gradient in (q.grad, k.grad, v.grad):
        same(gradient, torch.zeros_like(gradient))


def test_an_idle_query_is_no_detour_through_nan():
    """In anomaly mode torch raises when any step backward yields NaN."""
    q, k, v = (x.requires_grad_() for x in draw_qkv())
    may = torch.tensor([[True], [False], [True]], device=DEVICE)
    with torch.autograd.set_detect_anomaly(True):
        attention(q, k, v, may).sum().backward()


def test_huge_scores_of_an_idle_query_stay_out():
    q, k, v = draw_qkv()
    q[1] = 1e38
    may = torch.tensor([[True], [False], [True]], device=DEVICE)
    out = attention(q, k, v, may)
    assert out.isfinite().all() and (out[1] == 0).all()


@pytest.mark.parametrize("huge", [-10_000.0, 10_000.0])
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_a_masked_key_may_be_huge_in_half_precision(huge, kind):
    """Its score is infinite in float16; added to -inf it would be NaN."""
    q, k, v = draw_qkv(2, dtype=kind)
    q[0], k[:, 1] = 50.0, huge
    may = torch.tensor([True, False, True, True, True], device=DEVICE)
    if kind == torch.float16:
        assert ((q @ k.mT / math.sqrt(7)).abs() == math.inf).any()
    q.requires_grad_()
    weights, out = attention_weights(q, k, may), attention(q, k, v, may)
    same(weights[..., may], attention_weights(q, k[:, may]))
    close(out, F.scaled_dot_product_attention(q, k, v, may), steps=32)
    out.sum().backward()
    assert (weights[..., ~may] == 0).all() and q.grad.isfinite().all()


@pytest.mark.parametrize("masked", [False, True])
def test_gradient(masked):
    q, k, v = (x.requires_grad_() for x in draw_qkv(2, dtype=torch.float64))
    may = coins(2, 3, 5)
    may[0, 1] = False
    mask = may if masked else None
    assert torch.autograd.gradcheck(
        lambda q, k: attention_weights(q, k, mask), (q, k)
    )
    assert torch.autograd.gradcheck(
        lambda q, k, v: attention(q, k, v, mask), (q, k, v)
    )


def test_gradient_equals_torch():
    q, k, v = (x.requires_grad_() for x in draw_qkv(2, dtype=torch.float64))
    may = coins(2, 3, 5)
    ours = attention(q, k, v, may).square().sum()
    torchs = F.scaled_dot_product_attention(q, k, v, may).square().sum()
    for gradient, expected in zip(
        torch.autograd.grad(ours, (q, k, v)),
        torch.autograd.grad(torchs, (q, k, v)),
        strict=True,
    ):
        close(gradient, expected, steps=32)


def test_the_output_is_a_weighted_mean_of_the_values():
    q, k, v = draw_qkv(2, q_len=11)
    out = attention(q, k, v)
    assert (out <= v.amax(-2, keepdim=True) + 1e-6).all()
    assert (out >= v.amin(-2, keepdim=True) - 1e-6).all()
    close(attention(q, k, torch.ones_like(v)), torch.ones_like(out))


def test_the_order_of_keys_does_not_matter_that_of_queries_moves_along():
    q, k, v = draw_qkv(2, q_len=5)
    order = torch.tensor([3, 0, 4, 2, 1], device=DEVICE)
    close(attention(q, k[:, order], v[:, order]), attention(q, k, v))
    close(attention(q[:, order], k, v), attention(q, k, v)[:, order])


def test_a_query_finds_its_own_key():
    keys = torch.eye(7, device=DEVICE)
    out = attention(1000 * keys, keys, normal(7, 3))
    close(out, normal(7, 3))


@pytest.mark.parametrize("d_head", [1, 5, 64])
def test_scores_of_unit_variance_stay_at_unit_variance(d_head):
    """log-weights are scores up to one constant a row."""
    q, k = normal(50, d_head, seed=1), normal(400, d_head, seed=2)
    scores = attention_weights(q.double(), k.double()).log()
    wanted = (q.double() @ k.double().mT).var(-1) / d_head
    close(scores.var(-1), wanted, steps=1e5)


@pytest.mark.parametrize("dropout", [0.25, 0.5])
def test_dropout_zeroes_weights_and_scales_the_others(dropout):
    q, k, _ = draw_qkv(q_len=101, k_len=103)
    values = torch.eye(103, device=DEVICE)
    weights = attention_weights(q, k)
    dropped = attention(q, k, values, dropout=dropout)
    zero = dropped == 0
    rate = zero.float().mean().item()
    assert abs(rate - dropout) < 4 * math.sqrt(dropout * (1 - dropout) / 1e4)
    close(dropped[~zero], weights[~zero] / (1 - dropout))


def test_without_dropout_every_call_is_equal():
    q, k, v = draw_qkv()
    once = attention(q, k, v)
    same(attention(q, k, v), once)
    same(attention(q, k, v, dropout=0.0), once)


def test_no_query_gives_an_empty_answer():
    q, k, v = draw_qkv(2)
    assert attention(q[:, :0], k, v).shape == (2, 0, 2)


def test_autocast():
    q, k, v = draw_qkv(2)
    may = torch.tensor([[True] * 5, [False] * 5, [True] * 5], device=DEVICE)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        out = attention(q, k, v, may)
    close(out, attention(q, k, v, may).to(out.dtype), steps=8)
    assert out.dtype == torch.bfloat16 and (out[:, 1] == 0).all()


@pytest.mark.compiled
def test_compiled_it_gives_the_same_numbers():
    compiled = torch.compile(attention, backend="eager")
    q, k, v = draw_qkv(2)
    may = coins(3, 5)
    same(compiled(q, k, v, may), attention(q, k, v, may))
    same(compiled(q, k, v), attention(q, k, v))


@pytest.mark.bad_input
@pytest.mark.parametrize("argument", ["q", "k", "v"])
@pytest.mark.parametrize(
    ("value", "expected", "got"),
    [
        (None, "a tensor", "NoneType"),
        ([[1.0]], "a tensor", "list"),
        (torch.ones(1, 1).long(), "a floating-point tensor", "torch.int64"),
        (torch.ones(1, 1).bool(), "a floating-point tensor", "torch.bool"),
    ],
)
def test_refuses_what_is_no_floating_point_tensor(
    argument, value, expected, got
):
    operands = dict.fromkeys("qkv", torch.ones(1, 1)) | {argument: value}
    with refused(TypeError, argument, expected, got):
        attention(**operands)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("argument", "first"), [("k", "q"), ("v", "k"), ("q", "q")]
)
def test_refuses_mixed_dtypes(argument, first):
    operands = dict.fromkeys("qkv", torch.ones(1, 1))
    operands[argument] = operands[argument].double()
    wanted, got = "torch.float32", "torch.float64"
    if argument == "q":
        argument, wanted, got = "k", got, wanted
    with refused(TypeError, argument, f"{wanted}, the dtype of {first}", got):
        attention(**operands)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("shapes", "argument", "expected", "got"),
    [
        (((5,), (5,), (5,)), "q", "at least 2 axes", "1 (shape (5,))"),
        (((3, 5), (5,), (5,)), "k", "at least 2 axes", "1 (shape (5,))"),
        (((), (3, 5), (3, 5)), "q", "at least 2 axes", "0 (shape ())"),
        (((2, 3, 5), (3, 5), (3, 5)), "k", "axes (2,) of q", "()"),
        (((2, 3, 5), (1, 3, 5), (1, 3, 5)), "k", "axes (2,) of q", "(1,)"),
        (((3, 5), (7, 4), (7, 5)), "k", "the width 5 of q", "4"),
        (((3, 0), (7, 0), (7, 5)), "q", "a width of at least 1", "0"),
        (((3, 5), (0, 5), (0, 5)), "k", "at least one key", "none"),
        (((3, 5), (7, 5), (6, 5)), "v", "for each key, (7,)", "(6,)"),
        (((2, 3, 5), (2, 7, 5), (7, 5)), "v", "each key, (2, 7)", "(7,)"),
        (((3, 5), (7, 5), (7,)), "v", "each key, (7,)", "()"),
    ],
)
def test_refuses_shapes_that_do_not_fit(shapes, argument, expected, got):
    operands = [torch.ones(shape) for shape in shapes]
    with refused(ValueError, argument, expected, got):
        attention(*operands)


@pytest.mark.bad_input
@pytest.mark.parametrize("masked", [attention_weights, attention])
@pytest.mark.parametrize(
    ("may", "error", "expected", "got"),
    [
        ([True], TypeError, "a tensor", "list"),
        (torch.ones(3, 5), TypeError, "boolean", "torch.float32"),
        (torch.ones(3, 5).int(), TypeError, "True = may", "torch.int32"),
        (torch.ones(3).bool(), ValueError, "(2, 3, 5)", "(3,)"),
        (torch.ones(5, 3).bool(), ValueError, "(2, 3, 5)", "(5, 3)"),
        (torch.ones(7, 3, 5).bool(), ValueError, "(2, 3, 5)", "(7, 3, 5)"),
        (torch.ones(2, 2, 3, 5).bool(), ValueError, "(2, 3, 5)", "(2, 2,"),
        (torch.ones(1, 1, 3, 5).bool(), ValueError, "(2, 3, 5)", "(1, 1,"),
    ],
)
def test_refuses_a_mask_that_is_none(masked, may, error, expected, got):
    q, k, v = (x.cpu() for x in draw_qkv(2))
    operands = (q, k, v)[: 3 if masked is attention else 2]
    with refused(error, "may_attend", expected, got):
        masked(*operands, may_attend=may)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("dropout", "error", "expected", "got"),
    [
        (None, TypeError, "a number", "NoneType"),
        ("0.1", TypeError, "a number", "str"),
        (True, TypeError, "a number", "bool"),
        (-0.1, ValueError, "0 <= dropout < 1", "-0.1"),
        (1, ValueError, "0 <= dropout < 1", "1"),
        (math.nan, ValueError, "0 <= dropout < 1", "nan"),
    ],
)
def test_refuses_a_dropout_that_is_no_probability(
    dropout, error, expected, got
):
    with refused(error, "dropout", expected, got):
        attention(*draw_qkv(), dropout=dropout)


# --- a bias on the scores

BIAS_SHAPES = [(), (5,), (3, 1), (1, 1), (3, 5), (2, 1, 5), (2, 3, 5)]


@given(lead, shapes, dtype, st.booleans())
def test_a_bias_is_torchs_float_mask(lead, shapes, dtype, masked):
    q, k, v = draw_qkv(*lead, **shapes, dtype=dtype)
    scores = *lead, shapes["q_len"], shapes["k_len"]
    bias = normal(*scores, seed=4, dtype=dtype, scale=3.0)
    may = coins(*scores) if masked else torch.ones_like(bias) > 0
    added = bias.double().masked_fill(~may, -math.inf)
    expected = F.scaled_dot_product_attention(
        q.double(), k.double(), v.double(), added
    ).masked_fill(~may.any(-1, keepdim=True), 0.0)
    actual = attention(q, k, v, may if masked else None, score_bias=bias)
    close(actual, expected.to(dtype), steps=64)


@pytest.mark.parametrize("shape", BIAS_SHAPES)
def test_a_bias_is_broadcast(shape):
    q, k, v = draw_qkv(2)
    bias = normal(*shape, seed=4)
    whole = bias.expand(2, 3, 5)
    for may in (None, coins(3, 5)):
        same(
            attention(q, k, v, may, score_bias=bias),
            attention(q, k, v, may, score_bias=whole),
        )


def test_a_bias_of_zero_changes_no_bit():
    q, k, v = draw_qkv(2)
    for may in (None, coins(2, 3, 5)):
        same(
            attention(q, k, v, may, score_bias=torch.zeros_like(q[:1, :1, 0])),
            attention(q, k, v, may),
        )


def test_a_bias_is_added_to_the_scaled_scores():
    """log 3 on the second of two equal scores: a quarter, three quarters."""
    q = k = torch.ones(2, 64, device=DEVICE)
    bias = torch.tensor([0.0, math.log(3)], device=DEVICE)
    weights = attention_weights(q, k, score_bias=bias)
    close(weights, torch.tensor([[0.25, 0.75]] * 2).to(DEVICE))


@given(dtype)
def test_with_a_bias_a_query_that_may_attend_to_nothing_gets_zeros(dtype):
    q, k, v = (x.requires_grad_() for x in draw_qkv(2, dtype=dtype))
    bias = normal(3, 5, seed=4, dtype=dtype).requires_grad_()
    may = torch.ones(2, 3, 5, dtype=torch.bool, device=DEVICE)
    may[0, 1] = may[:, 2] = False
    with torch.autograd.set_detect_anomaly(True):
        out = attention(q, k, v, may, score_bias=bias)
        out.square().sum().backward()
    same(out[0, 1], torch.zeros_like(out[0, 1]))
    same(bias.grad[2], torch.zeros_like(bias.grad[2]))
    assert all(x.grad.isfinite().all() for x in (q, k, v, bias))
    assert (bias.grad[0] != 0).all()


def test_the_gradient_flows_into_the_bias():
    q, k, v = (x.requires_grad_() for x in draw_qkv(2, dtype=torch.float64))
    bias = normal(3, 1, seed=4, dtype=torch.float64).requires_grad_()
    may = coins(2, 3, 5)
    may[0, 1] = False
    for mask in (None, may):
        assert torch.autograd.gradcheck(
            lambda *x, m=mask: attention(*x[:3], m, score_bias=x[3]),
            (q, k, v, bias),
        )


def test_a_bias_under_autocast_may_be_wider():
    q, k, v = draw_qkv(2)
    bias = normal(3, 5, seed=4)
    with torch.autocast(DEVICE.type, torch.bfloat16):
        halves = (x.bfloat16() for x in (q, k, v))
        out = attention(*halves, score_bias=bias)
    expected = attention(q, k, v, score_bias=bias)
    assert (out - expected).abs().max() < 0.05


@pytest.mark.compiled
def test_compiled_a_bias_gives_the_same_numbers():
    compiled = torch.compile(attention, backend="eager", fullgraph=True)
    q, k, v = draw_qkv(2)
    may, bias = coins(3, 5), normal(3, 5, seed=4)
    for mask in (None, may):
        same(
            compiled(q, k, v, mask, score_bias=bias),
            attention(q, k, v, mask, score_bias=bias),
        )


@pytest.mark.bad_input
@pytest.mark.parametrize("biased", [attention_weights, attention])
@pytest.mark.parametrize(
    ("bias", "error", "expected", "got"),
    [
        ([1.0], TypeError, "a tensor", "list"),
        (torch.ones(3, 5) > 0, TypeError, "floating", "torch.bool"),
        (torch.ones(3, 5).int(), TypeError, "floating", "torch.int32"),
        (torch.ones(5).double(), TypeError, "of the queries", "float64"),
        (torch.ones(5).half(), TypeError, "of the queries", "float16"),
        (torch.ones(3), ValueError, "(2, 3, 5)", "(3,)"),
        (torch.ones(7, 3, 5), ValueError, "(2, 3, 5)", "(7, 3, 5)"),
        (torch.ones(1, 1, 3, 5), ValueError, "(2, 3, 5)", "(1, 1,"),
        (torch.full((5,), -math.inf), ValueError, "finite", "may_attend"),
        (torch.full((5,), math.inf), ValueError, "finite numbers", "inf"),
        (torch.full((5,), math.nan), ValueError, "finite numbers", "nan"),
    ],
)
def test_refuses_a_bias_that_is_none(biased, bias, error, expected, got):
    q, k, v = (x.cpu() for x in draw_qkv(2))
    operands = (q, k, v)[: 3 if biased is attention else 2]
    with refused(error, "score_bias", expected, got):
        biased(*operands, score_bias=bias)
