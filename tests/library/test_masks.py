"""lib.masks against torch, in every convention that torch has."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from kit.interop import from_torch
from lib.attention import attention
from lib.masks import (
    additive,
    causal_mask,
    for_torch_mha,
    from_additive,
    from_attn_mask,
    from_key_padding_mask,
    from_zero_one,
    padding_mask,
    padding_mask_from_ids,
)
from tests.library.draw import (
    DEVICE,
    DTYPES,
    close,
    coins,
    dtype,
    lead,
    normal,
    refused,
    same,
    size,
)


def tensor(data):
    return torch.tensor(data, device=DEVICE)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=5), st.booleans())
def test_padding_mask_is_true_at_the_first_keys(lengths, int32):
    numbers = tensor(lengths).to(torch.int32 if int32 else torch.int64)
    expected = [[j < length for j in range(7)] for length in lengths]
    mask = padding_mask(numbers, 7)
    same(mask, tensor(expected).view(len(lengths), 1, 1, 7))
    longest = max(lengths)
    same(padding_mask(numbers), mask[..., :longest])


@given(size, size, st.integers(0, 3))
def test_padding_mask_from_ids_is_true_where_there_is_a_token(
    batch, k_len, pad_id
):
    generator = torch.Generator().manual_seed(k_len)
    ids = torch.randint(4, (batch, k_len), generator=generator).to(DEVICE)
    mask = padding_mask_from_ids(ids, pad_id)
    assert mask.shape == (batch, 1, 1, k_len)
    expected = [[i != pad_id for i in row] for row in ids.tolist()]
    assert mask[:, 0, 0].tolist() == expected
    same(padding_mask_from_ids(ids.int(), pad_id), mask)


def test_both_padding_masks_agree():
    ids = tensor([[4, 5, 0, 0], [6, 0, 0, 0], [7, 8, 9, 4]])
    lengths = tensor([2, 1, 4])
    same(padding_mask_from_ids(ids, 0), padding_mask(lengths))


@given(size)
def test_causal_mask_is_the_lower_triangle(length):
    square = torch.ones(1, 1, length, length, device=DEVICE)
    same(causal_mask(length, DEVICE), square.tril().bool())


def test_causal_mask_is_made_where_it_is_wanted():
    assert causal_mask(3, "meta").device.type == "meta"
    assert causal_mask(3, torch.device("cpu")).device.type == "cpu"
    with torch.device("meta"):
        assert causal_mask(3).device.type == "meta"
    assert additive(causal_mask(3, "meta")).device.type == "meta"


def test_the_masks_are_where_their_tensors_are():
    lengths = torch.ones(2, dtype=torch.int64, device=DEVICE)
    assert padding_mask(lengths, 3).device == lengths.device
    assert padding_mask_from_ids(lengths[None], 0).device == lengths.device
    assert additive(coins(2, 3)).device == lengths.device


def test_masks_combine_with_and():
    both = padding_mask(tensor([2, 3])) & causal_mask(3, DEVICE)
    first = [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    second = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert both.int().tolist() == [[first], [second]]


@given(dtype)
def test_causal_attention_equals_torchs(dtype):
    q, k, v = (normal(2, 3, 5, 7, seed=s, dtype=dtype) for s in range(3))
    wide = (x.double() for x in (q, k, v))
    expected = F.scaled_dot_product_attention(*wide, is_causal=True)
    ours = attention(q, k, v, causal_mask(5, DEVICE))
    close(ours, expected.to(dtype), steps=32)


@given(lead, size, dtype)
def test_additive_and_back(lead, length, dtype):
    may = coins(*lead, length)
    mask = additive(may, dtype)
    assert mask.dtype == dtype and mask.shape == may.shape
    assert (mask[may] == 0).all() and (mask[~may] == -math.inf).all()
    same(from_additive(mask), may)


def test_additive_is_single_precision_by_default():
    assert additive(coins(3)).dtype == torch.float32


def test_torchs_own_additive_mask_is_understood():
    square = nn.Transformer.generate_square_subsequent_mask(7, device=DEVICE)
    same(from_additive(square)[None, None], causal_mask(7, DEVICE))
    same(additive(causal_mask(7, DEVICE))[0, 0], square)


def test_added_to_scores_it_does_what_the_boolean_mask_does():
    q, k, v = (normal(2, 1, n, 7, seed=n) for n in (3, 5, 5))
    may = coins(2, 1, 3, 5)
    may[..., 0] = True
    added = F.scaled_dot_product_attention(q, k, v, additive(may))
    close(added, attention(q, k, v, may))


@given(lead, size)
def test_from_zero_one(lead, length):
    may = coins(*lead, length)
    for number in (torch.uint8, torch.int32, torch.int64, *DTYPES):
        same(from_zero_one(may.to(number)), may)


def torchs(heads=2, d_model=6):
    """torch's module and an input of batch 3, length 5."""
    torch.manual_seed(1)
    module = nn.MultiheadAttention(d_model, heads, batch_first=True)
    x = normal(3, 5, d_model, dtype=torch.float64)
    return module.to(DEVICE, torch.float64), x


def masked_by_torch(**masks):
    """What torch's module answers, and its weights, with its own masks."""
    module, x = torchs()
    return module(x, x, x, average_attn_weights=False, **masks)


def open_somewhere(*shape):
    """A mask in which every query may attend to its first key."""
    may = coins(*shape)
    may[..., 0] = True
    return may


@pytest.mark.parametrize(
    "shape", [(3, 2, 5, 5), (3, 1, 1, 5), (1, 1, 5, 5), (1, 2, 5, 5)]
)
def test_for_torch_mha_means_to_torch_what_it_means_to_us(shape):
    may = open_somewhere(*shape)
    theirs = for_torch_mha(may, 3, 2, 5)
    assert theirs.shape == (6, 5, 5)
    _, weights = masked_by_torch(attn_mask=theirs)
    same(weights != 0, may.expand(3, 2, 5, 5))


def test_for_torch_mha_with_queries_and_keys_of_other_lengths():
    module, x = torchs()
    may = open_somewhere(3, 2, 4, 5)
    theirs = for_torch_mha(may, 3, 2, 4)
    _, weights = module(
        x[:, :4], x, x, attn_mask=theirs, average_attn_weights=False
    )
    same(weights != 0, may)


def test_from_key_padding_mask_means_to_us_what_it_means_to_torch():
    ignore = ~padding_mask(tensor([3, 5, 1]))[:, 0, 0]
    ours = from_key_padding_mask(ignore)
    out, weights = masked_by_torch(key_padding_mask=ignore)
    same(weights != 0, ours.expand(3, 2, 5, 5))
    attn_mask = for_torch_mha(ours, 3, 2, 5)
    close(masked_by_torch(attn_mask=attn_mask)[0], out)


@pytest.mark.parametrize("shape", [(5, 5), (6, 5, 5)])
def test_from_attn_mask_means_to_us_what_it_means_to_torch(shape):
    forbidden = ~open_somewhere(*shape)
    ours = from_attn_mask(forbidden, 2)
    assert ours.shape == ((1, 1, 5, 5), (3, 2, 5, 5))[len(shape) - 2]
    out, weights = masked_by_torch(attn_mask=forbidden)
    same(weights != 0, ours.expand(3, 2, 5, 5))
    attn_mask = for_torch_mha(ours, 3, 2, 5)
    close(masked_by_torch(attn_mask=attn_mask)[0], out)


def test_the_averaged_weights_of_torch_are_our_mean_over_the_heads():
    module, x = torchs()
    mask = padding_mask(tensor([3, 5, 1]))
    theirs = {"key_padding_mask": ~mask[:, 0, 0], "average_attn_weights": True}
    _, averaged = module(x, x, x, **theirs)
    ours = from_torch(module)
    _, weights = ours(x, may_attend=mask, need_weights=True)
    assert weights.shape == (3, 2, 5, 5)
    close(weights.mean(1), averaged)


@given(size, size, size, size)
def test_for_torch_mha_and_back(batch, heads, q_len, k_len):
    may = coins(batch, heads, q_len, k_len)
    theirs = for_torch_mha(may, batch, heads, q_len)
    same(from_attn_mask(theirs, heads), may)


ZERO_ONE = "lib.masks.from_zero_one"
ADDITIVE = "lib.masks.from_additive"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("call", "argument", "convention"),
    [
        (additive, "may_attend", "True = may attend"),
        (lambda m: for_torch_mha(m, 2, 3, 5), "may_attend", "= may attend"),
        (from_key_padding_mask, "mask", "True = may NOT attend"),
        (lambda m: from_attn_mask(m, 3), "mask", "True = may NOT attend"),
    ],
)
def test_a_mask_of_numbers_is_refused_and_its_converter_named(
    call, argument, convention
):
    with refused(TypeError, argument, convention, "torch.int64"):
        call(torch.ones(2, 5).long())
    with refused(TypeError, argument, "a boolean tensor", ZERO_ONE):
        call(torch.ones(2, 5).to(torch.uint8))
    for kind in DTYPES:
        with refused(TypeError, argument, "a boolean tensor", ADDITIVE):
            call(torch.zeros(2, 5, dtype=kind))
    with refused(TypeError, argument, "a boolean tensor", ZERO_ONE):
        call(torch.zeros(2, 5))
    with refused(TypeError, argument, "a tensor", "list"):
        call([[True]])


@pytest.mark.bad_input
@pytest.mark.parametrize("other", [1.0, -1e9, math.inf, math.nan, -0.5])
def test_from_additive_refuses_what_is_more_than_a_mask(other):
    mask = tensor([[0.0, -math.inf], [other, 0.0]])
    with refused(ValueError, "mask", "only 0 and -inf", f"{other}"):
        from_additive(mask)
    bias = "a bias is more than a mask: lib.attention takes it as score_bias"
    way_out = "mask.masked_fill(mask < -1e4, -math.inf)"
    hint = way_out if other == -1e9 else bias
    with refused(ValueError, "mask", "only 0 and -inf", hint):
        from_additive(mask)


@pytest.mark.bad_input
@pytest.mark.parametrize("kind", DTYPES)
def test_the_way_out_for_the_least_number_leads_out(kind):
    may = coins(5, 7)
    least = torch.finfo(kind).min
    mask = torch.zeros(5, 7, dtype=kind, device=DEVICE)
    mask = mask.masked_fill(~may, least)
    with refused(ValueError, "mask", "0 and -inf", "if it stands for -inf"):
        from_additive(mask)
    same(from_additive(mask.masked_fill(mask < -1e4, -math.inf)), may)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("mask", "got"),
    [
        ([0.0], "list"),
        (torch.zeros(3).long(), "torch.int64"),
        (torch.zeros(3).bool(), "torch.bool"),
    ],
)
def test_from_additive_refuses_other_dtypes(mask, got):
    expected = "floating-point" if torch.is_tensor(mask) else "a tensor"
    with refused(TypeError, "mask", expected, got):
        from_additive(mask)


@pytest.mark.bad_input
def test_from_zero_one_refuses_everything_else():
    with refused(TypeError, "mask", "numbers 0 and 1", "inverted with ~"):
        from_zero_one(coins(2, 3))
    with refused(TypeError, "mask", "a tensor", "list"):
        from_zero_one([0, 1])
    with refused(ValueError, "mask", "only 0 and 1", "2"):
        from_zero_one(tensor([[0, 1], [1, 2]]))
    with refused(ValueError, "mask", "only 0 and 1", "-inf"):
        from_zero_one(tensor([0.0, -math.inf]))


@pytest.mark.bad_input
@pytest.mark.parametrize("value", [torch.int64, torch.bool, "float32", None])
def test_additive_refuses_a_dtype_that_is_not_floating_point(value):
    with refused(TypeError, "dtype", "floating-point dtype", f"{value}"):
        additive(coins(3), value)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("lengths", "error", "expected", "got"),
    [
        ([1, 2], TypeError, "a tensor", "list"),
        (torch.ones(2), TypeError, "an integer tensor", "torch.float32"),
        (torch.ones(2).bool(), TypeError, "integer tensor", "torch.bool"),
        (torch.tensor(3), ValueError, "1 axes", "0 (shape ())"),
        (torch.tensor([[3]]), ValueError, "1 axes", "2 (shape (1, 1))"),
        (torch.tensor([3, -1]), ValueError, "none below 0", "-1"),
        (torch.tensor([3, 8]), ValueError, "beyond max_length=7", "8"),
        (torch.ones(0).long(), ValueError, "one sentence", "none"),
    ],
)
def test_padding_mask_refuses_lengths_that_are_none(
    lengths, error, expected, got
):
    with refused(error, "lengths", expected, got):
        padding_mask(lengths, 7)


@pytest.mark.bad_input
def test_padding_mask_refuses_a_max_length_that_is_none():
    with refused(TypeError, "max_length", "an integer", "float"):
        padding_mask(tensor([1]), 7.0)
    with refused(ValueError, "max_length", "at least 0", "-1"):
        padding_mask(tensor([0]), -1)


@pytest.mark.bad_input
def test_padding_mask_from_ids_refuses_what_are_no_ids():
    with refused(TypeError, "ids", "a tensor", "list"):
        padding_mask_from_ids([[1]], 0)
    with refused(TypeError, "ids", "an integer tensor", "torch.float32"):
        padding_mask_from_ids(torch.ones(2, 3), 0)
    with refused(ValueError, "ids", "2 axes", "1 (shape (3,))"):
        padding_mask_from_ids(torch.ones(3).long(), 0)
    with refused(TypeError, "pad_id", "an integer", "str"):
        padding_mask_from_ids(torch.ones(2, 3).long(), "0")
    with refused(ValueError, "pad_id", "at least 0", "-1"):
        padding_mask_from_ids(torch.ones(2, 3).long(), -1)


@pytest.mark.bad_input
def test_causal_mask_refuses_a_length_that_is_none():
    for value, got in ((None, "NoneType"), (3.0, "float"), (True, "bool")):
        with refused(TypeError, "length", "an integer", got):
            causal_mask(value)
    with refused(ValueError, "length", "at least 1", "0"):
        causal_mask(0)


@pytest.mark.bad_input
@pytest.mark.parametrize("argument", ["batch", "heads", "q_len"])
def test_for_torch_mha_refuses_a_size_that_is_none(argument):
    sizes = {"batch": 2, "heads": 3, "q_len": 5}
    with refused(TypeError, argument, "an integer", "float"):
        for_torch_mha(coins(2, 3, 5, 7), **sizes | {argument: 2.0})
    with refused(ValueError, argument, "at least 1", "0"):
        for_torch_mha(coins(2, 3, 5, 7), **sizes | {argument: 0})


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("shape", "expected", "got"),
    [
        ((7,), "four axes (batch, heads, q_len, k_len)", "shape (7,)"),
        ((2, 7), "four axes", "(batch, k_len) use mask[:, None, None]"),
        ((5, 7), "four axes", "(q_len, k_len) use mask[None, None]"),
        ((2, 5, 7), "four axes", "(batch, q_len, k_len) use mask[:, None]"),
        ((3, 5, 7), "four axes", "(heads, q_len, k_len) use mask[None]"),
        ((1, 2, 3, 5, 7), "four axes", "shape (1, 2, 3, 5, 7)"),
        ((4, 3, 5, 7), "= (2, 3, 5, 7)", "(4, 3, 5, 7)"),
        ((2, 2, 5, 7), "broadcasts to (batch, heads, q_len", "(2, 2, 5, 7)"),
        ((2, 3, 7, 7), "= (2, 3, 5, 7)", "(2, 3, 7, 7)"),
    ],
)
def test_for_torch_mha_refuses_a_shape_that_does_not_fit(shape, expected, got):
    with refused(ValueError, "may_attend", expected, got):
        for_torch_mha(coins(*shape), 2, 3, 5)


@pytest.mark.bad_input
def test_masks_of_torch_with_another_rank_are_refused():
    for shape in ((5,), (2, 1, 5), (2, 1, 1, 5)):
        got = f"{len(shape)} (shape {shape})"
        with refused(ValueError, "mask", "2 axes", got):
            from_key_padding_mask(coins(*shape))
    for shape in ((5,), (2, 3, 5, 5)):
        with refused(ValueError, "mask", "(q_len, k_len) or", f"{shape}"):
            from_attn_mask(coins(*shape), 3)
    with refused(ValueError, "mask", "batch * 3 heads", "7"):
        from_attn_mask(coins(7, 5, 5), 3)
    with refused(TypeError, "heads", "an integer", "float"):
        from_attn_mask(coins(6, 5, 5), 3.0)
    with refused(ValueError, "heads", "at least 1", "0"):
        from_attn_mask(coins(6, 5, 5), 0)


def test_additive_stays_on_the_device_of_the_mask():
    assert additive(causal_mask(5, device="meta")).is_meta


@given(size, st.integers(1, 13))
def test_a_window_is_a_band_below_the_diagonal(length, window):
    band = [
        [key <= query and query - key < window for key in range(length)]
        for query in range(length)
    ]
    mask = causal_mask(length, DEVICE, window=window)
    same(mask, tensor(band)[None, None])
    same(mask.sum(-1).flatten().clamp(max=window), mask.sum(-1).flatten())


def test_a_window_as_long_as_the_text_hides_no_more():
    same(causal_mask(7, DEVICE, window=7), causal_mask(7, DEVICE))
    same(causal_mask(7, DEVICE, window=None), causal_mask(7, DEVICE))


@pytest.mark.bad_input
def test_a_window_is_a_positive_integer():
    with refused(ValueError, "window", "at least 1", "0"):
        causal_mask(5, window=0)
    with refused(TypeError, "window", "an integer", "float"):
        causal_mask(5, window=2.0)
