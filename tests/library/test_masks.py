"""lib.masks against torch, in every convention that torch has."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

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
from tests.library import no
from tests.library.draw import DEVICE, DTYPES, coins, drawn_ids, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.strategies import dtype, lead, size

whole = st.sampled_from([torch.int32, torch.int64])


def tensor(data):
    return torch.tensor(data, device=DEVICE)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=5), whole)
def test_padding_mask_is_true_at_the_first_keys(lengths, whole):
    numbers = tensor(lengths).to(whole)
    expected = [[j < length for j in range(7)] for length in lengths]
    mask = padding_mask(numbers, 7)
    same(mask, tensor(expected).view(len(lengths), 1, 1, 7))
    same(padding_mask(numbers), mask[..., : max(lengths)])


@given(size, size, st.integers(0, 3), whole)
def test_padding_mask_from_ids_is_true_where_there_is_a_token(
    batch, k_len, pad_id, whole
):
    ids = drawn_ids(0, 4, batch, k_len, seed=k_len).to(whole)
    expected = [[[[i != pad_id for i in row]]] for row in ids.tolist()]
    same(padding_mask_from_ids(ids, pad_id), tensor(expected))


@given(size, st.none() | st.integers(1, 13))
def test_causal_mask_is_a_triangle_or_a_band_below_the_diagonal(
    length, window
):
    expected = [
        [0 <= query - key < (window or length) for key in range(length)]
        for query in range(length)
    ]
    mask = causal_mask(length, DEVICE, window=window)
    same(mask, tensor(expected)[None, None])


def test_a_mask_is_made_where_it_is_wanted_or_where_its_tensor_is():
    assert causal_mask(3, torch.device("meta"), window=2).is_meta
    with torch.device("meta"):
        assert causal_mask(3).is_meta
    assert additive(causal_mask(3, "meta")).is_meta
    lengths = torch.ones(2, dtype=torch.int64, device=DEVICE)
    assert padding_mask(lengths, 3).device == lengths.device
    assert padding_mask_from_ids(lengths[None], 0).device == lengths.device


@given(lead, size, dtype)
def test_additive_and_back(lead, length, dtype):
    may = coins(*lead, length)
    mask = additive(may, dtype)
    same(mask, torch.where(may, 0.0, -math.inf).to(dtype))
    same(from_additive(mask), may)


def test_an_additive_mask_is_by_default_torchs_own():
    square = nn.Transformer.generate_square_subsequent_mask(7, device=DEVICE)
    same(additive(causal_mask(7, DEVICE))[0, 0], square)


@given(lead, size)
def test_from_zero_one(lead, length):
    may = coins(*lead, length)
    for number in (torch.uint8, torch.int32, torch.int64, *DTYPES):
        same(from_zero_one(may.to(number)), may)


torch.manual_seed(1)
TORCHS = nn.MultiheadAttention(6, 2, batch_first=True).to(
    DEVICE, torch.float64
)
X = normal(3, 5, 6, dtype=torch.float64)


def attended(q_len=5, **masks):
    """Where the weights of torch's module are not 0 under its own masks."""
    _, weights = TORCHS(
        X[:, :q_len], X, X, average_attn_weights=False, **masks
    )
    return weights != 0


def open_somewhere(*shape):
    """A mask in which every query may attend to its first key."""
    may = coins(*shape)
    may[..., 0] = True
    return may


@pytest.mark.parametrize(
    "shape", [(3, 2, 5, 5), (3, 1, 1, 5), (1, 2, 5, 5), (3, 2, 4, 5)]
)
def test_for_torch_mha_means_to_torch_what_it_means_to_us(shape):
    may, q_len = open_somewhere(*shape), max(shape[2], 4)
    found = attended(q_len, attn_mask=for_torch_mha(may, 3, 2, q_len))
    same(found, may.expand(3, 2, q_len, 5))


@pytest.mark.parametrize(
    ("name", "shape", "ours"),
    [
        ("key_padding_mask", (3, 5), from_key_padding_mask),
        ("attn_mask", (5, 5), partial(from_attn_mask, heads=2)),
        ("attn_mask", (6, 5, 5), partial(from_attn_mask, heads=2)),
    ],
)
def test_masks_of_torch_mean_to_us_what_they_mean_to_torch(name, shape, ours):
    forbidden = ~open_somewhere(*shape)
    may = ours(forbidden)
    assert may.ndim == 4
    same(attended(**{name: forbidden}), may.expand(3, 2, 5, 5))


MASK = torch.ones(2, 3, 5, 7) > 0
HINT = "lib.masks.from_zero_one"
NUMBERS = {
    **{f"{x}; {HINT}": MASK.to(x) for x in (torch.uint8, torch.int64)},
    **{f"{x}; lib.masks.from_additive": MASK.to(x) for x in DTYPES},
}
OURS, TORCHS_OWN = "True = may attend", "True = may NOT attend"
BIAS = "a bias is more than a mask: lib.attention takes it as score_bias"
LARGE = "replace it first: mask.masked_fill(mask < -1e4, -math.inf)"
ADDED = {
    f"{x}; {BIAS}": tensor([[0.0, -math.inf], [x, 0.0]])
    for x in (1.0, -0.5, math.inf, math.nan)
}
ADDED["-65504.0; if it stands for -inf, " + LARGE] = tensor([-65504]).half()
NOT_FOUR = {
    "shape (7,)": coins(7),
    "(batch, k_len) use mask[:, None, None]": coins(2, 7),
    "(q_len, k_len) use mask[None, None]": coins(5, 7),
    "(batch, q_len, k_len) use mask[:, None]": coins(2, 5, 7),
    "(heads, q_len, k_len) use mask[None]": coins(3, 5, 7),
    "shape (1, 2, 3, 5, 7)": coins(1, 2, 3, 5, 7),
}
IDS, BELOW = torch.ones(2, 3, dtype=torch.int64), {"-1": -1}
MISFITS = by_shape(coins(4, 3, 5, 7), coins(2, 2, 5, 7), coins(2, 3, 7, 7))
NO_BATCH = by_shape(coins(5), coins(2, 1, 5), coins(2, 1, 1, 5))
NOT_TORCHS = by_shape(coins(5), coins(2, 3, 5, 5))
NO_IDS = by_dtype(torch.ones(2), torch.ones(2) > 0)
NO_DTYPE = {f"{x}": x for x in (torch.int64, torch.bool, "float32", None)}
LIST = {"list": [[1]]}
lengths = partial(padding_mask, max_length=7)
beyond = partial(padding_mask, torch.tensor([0]))
real = partial(padding_mask_from_ids, IDS, pad_id=0)
from_ids = partial(padding_mask_from_ids, pad_id=0)
window = partial(causal_mask, 5)
for_mha = partial(for_torch_mha, MASK, batch=2, heads=3, q_len=5)
to_mha = partial(for_torch_mha, batch=2, heads=3, q_len=5)
from_mha = partial(from_attn_mask, heads=3)
test_bad_input_is_refused = refuses(
    *(
        row
        for name, call, means in (
            ("may_attend", additive, OURS),
            ("may_attend", to_mha, OURS),
            ("mask", from_key_padding_mask, TORCHS_OWN),
            ("mask", from_mha, TORCHS_OWN),
        )
        for row in (
            (name, call, TypeError, "a tensor", LIST),
            (name, call, TypeError, f"a boolean tensor, {means}", NUMBERS),
        )
    ),
    ("dtype", partial(additive, MASK), TypeError, "floating", NO_DTYPE),
    ("mask", from_additive, TypeError, "floating", by_dtype(IDS, MASK)),
    ("mask", from_additive, ValueError, "only 0 and -inf", ADDED),
    ("mask", from_zero_one, TypeError, "numbers", {"inverted with ~": MASK}),
    ("mask", from_zero_one, ValueError, "only 0 and 1", {"2": IDS + IDS}),
    ("lengths", lengths, TypeError, "integer", NO_IDS),
    ("lengths", lengths, ValueError, "1 axes", by_shape(IDS.sum(), IDS)),
    ("lengths", lengths, ValueError, "none below 0", {"-2": IDS[0] - 3}),
    ("lengths", lengths, ValueError, "beyond max_length=7", {"8": IDS[0] + 7}),
    ("lengths", lengths, ValueError, "one sentence", {"none": IDS[0, :0]}),
    ("max_length", beyond, TypeError, "an integer", {"float": 7.0}),
    ("max_length", beyond, ValueError, "at least 0", BELOW),
    ("ids", from_ids, ValueError, "2 axes", by_shape(IDS[0])),
    *no.integer(real, "pad_id"),
    ("pad_id", real, ValueError, "at least 0", BELOW),
    *no.size(causal_mask, "length"),
    ("window", window, TypeError, "integer", {"float": 2.0}),
    ("window", window, ValueError, "at least 1", {"0": 0}),
    *no.size(for_mha, "batch", "heads", "q_len"),
    ("may_attend", to_mha, ValueError, "(batch, heads, q_len", NOT_FOUR),
    ("may_attend", to_mha, ValueError, "k_len) = (2, 3, 5, 7)", MISFITS),
    ("mask", from_key_padding_mask, ValueError, "2 axes", NO_BATCH),
    ("mask", from_mha, ValueError, "(q_len, k_len) or", NOT_TORCHS),
    ("mask", from_mha, ValueError, "batch * 3 heads", {"7": coins(7, 5, 5)}),
    *no.size(partial(from_attn_mask, coins(6, 5, 5)), "heads"),
)
