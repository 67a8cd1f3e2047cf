"""lib.embedding against torch's look-up, and how its table starts."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.embedding import TokenEmbedding
from tests.library import no
from tests.library.draw import DEVICE, close, normal, same
from tests.library.refusals import refuses
from tests.library.strategies import dtype, lead, size


@given(lead, size, size, dtype, st.booleans())
def test_is_a_scaled_look_up_in_which_pad_gets_no_gradient(
    lead, vocab_size, d_model, dtype, has_pad
):
    pad_id = vocab_size // 2 if has_pad else None
    model = TokenEmbedding(vocab_size, d_model, pad_id).to(DEVICE, dtype)
    ids = torch.randint(vocab_size, (*lead, 3)).to(DEVICE)
    weight = model.table.weight
    plain = F.embedding(ids, weight, padding_idx=pad_id)
    pair = model(ids), plain * math.sqrt(d_model)
    same(*pair)
    slope = normal(*ids.shape, d_model, dtype=dtype)
    close(*(torch.autograd.grad(y, weight, slope)[0] for y in pair))
    same(model(ids.int()), model(ids))
    assert model(ids[..., :0]).shape == (*lead, 0, d_model)


@pytest.mark.parametrize("pad_id", [None, 0, 4])
def test_the_row_of_pad_is_zero_and_no_other(pad_id):
    zero_rows = (TokenEmbedding(7, 5, pad_id).table.weight == 0).all(-1)
    expected = [] if pad_id is None else [pad_id]
    assert zero_rows.nonzero().flatten().tolist() == expected


@pytest.mark.parametrize("d_model", [2, 256])
def test_entries_start_small_and_come_out_at_size_one(d_model):
    """Four standard errors of a standard deviation are allowed."""
    vocab_size = 200_000 // d_model
    numbers = TokenEmbedding(vocab_size, d_model)(torch.arange(vocab_size))
    allowed = 4 / math.sqrt(2 * numbers.numel())
    assert abs(numbers.std().item() - 1) < allowed
    assert abs(numbers.mean().item()) < 2 * allowed


IDS = torch.ones(2, 3, dtype=torch.int64)
BEYOND = {"-1": IDS - 2, "7": IDS + 6}
OTHERS = {f"{x.dtype}": x for x in (IDS.float(), IDS.bool(), IDS.byte())}
look_up = TokenEmbedding(7, 5)
build = partial(TokenEmbedding, vocab_size=7, d_model=5)
test_bad_input_is_refused = refuses(
    *no.size(build, "vocab_size", "d_model"),
    ("pad_id", build, TypeError, "an integer", {"str": "0"}),
    ("pad_id", build, ValueError, "at least 0", {"-1": -1}),
    ("pad_id", build, ValueError, "at most 6", {"7": 7}),
    ("ids", look_up, TypeError, "a tensor", {"list": [1], "int": 3}),
    ("ids", look_up, TypeError, "an integer tensor", OTHERS),
    ("ids", look_up, ValueError, "ids from 0 to 6", BEYOND),
)
