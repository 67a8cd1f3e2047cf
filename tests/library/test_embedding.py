"""lib.embedding against nn.Embedding and against one-hot times matrix."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lib.embedding import TokenEmbedding
from tests.library.draw import (
    DEVICE,
    close,
    dtype,
    lead,
    refused,
    same,
    size,
)


def draw_ids(*shape, below, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(below, shape, generator=generator).to(DEVICE)


def embedding(vocab_size, d_model, pad_id=None, dtype=torch.float32):
    return TokenEmbedding(vocab_size, d_model, pad_id).to(DEVICE, dtype)


@given(lead, size, size, dtype)
def test_is_a_scaled_look_up(lead, vocab_size, d_model, dtype):
    model = embedding(vocab_size, d_model, dtype=dtype)
    ids = draw_ids(*lead, below=vocab_size)
    plain = nn.Embedding.from_pretrained(model.table.weight)
    same(model(ids), plain(ids) * math.sqrt(d_model))
    one_hot = F.one_hot(ids, vocab_size).to(dtype)
    close(model(ids), one_hot @ model.table.weight * math.sqrt(d_model))


@given(size, size, dtype, st.data())
def test_the_row_of_pad_stays_zero(vocab_size, d_model, dtype, data):
    pad_id = data.draw(st.integers(0, vocab_size - 1))
    model = embedding(vocab_size, d_model, pad_id, dtype)
    ids = torch.arange(vocab_size, device=DEVICE)
    model(ids).sum().backward()
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    zero_rows = (model(ids) == 0).all(-1)
    assert zero_rows[pad_id] and zero_rows.sum() == 1


def test_without_pad_no_row_is_zero():
    model = embedding(11, 7)
    assert model.table.padding_idx is None
    assert (model.table.weight != 0).all()


@pytest.mark.parametrize("d_model", [2, 16, 256])
def test_entries_start_small_and_come_out_at_size_one(d_model):
    """Four standard errors of a standard deviation are allowed."""
    vocab_size = 200_000 // d_model
    model = embedding(vocab_size, d_model)
    numbers = model(torch.arange(vocab_size, device=DEVICE))
    allowed = 4 / math.sqrt(2 * numbers.numel())
    assert abs(numbers.std().item() - 1) < allowed
    assert abs(numbers.mean().item()) < 2 * allowed
    table_std = model.table.weight.std().item()
    assert abs(table_std * math.sqrt(d_model) - 1) < allowed


def test_the_table_depends_on_the_seed_alone():
    tables = []
    for _ in range(2):
        torch.manual_seed(5)
        tables.append(embedding(7, 5, pad_id=0).table.weight)
    same(*tables)


def test_only_rows_that_were_used_get_a_gradient():
    model = embedding(7, 5, pad_id=0)
    model(torch.tensor([3, 3, 6, 0], device=DEVICE)).sum().backward()
    count = torch.tensor([0, 0, 0, 2, 0, 0, 1.0], device=DEVICE)
    close(
        model.table.weight.grad, (count * math.sqrt(5))[:, None].expand(7, 5)
    )


def test_gradient():
    model = embedding(5, 3, dtype=torch.float64)
    ids = draw_ids(2, 7, below=5)
    name = "table.weight"

    def look_up(weight):
        return torch.func.functional_call(model, {name: weight}, (ids,))

    assert torch.autograd.gradcheck(look_up, model.table.weight)


def test_int32_ids_and_no_ids():
    model = embedding(7, 5)
    ids = draw_ids(2, 3, below=7)
    same(model(ids.int()), model(ids))
    assert model(ids[:0]).shape == (0, 3, 5)


@pytest.mark.compiled
def test_compiled_it_gives_the_same_numbers():
    model = embedding(7, 5, pad_id=0)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    ids = draw_ids(2, 11, below=7)
    same(compiled(ids), model(ids))


@pytest.mark.compiled
def test_exported_it_gives_the_same_numbers():
    model = embedding(7, 5)
    exported = torch.export.export(model, (draw_ids(2, 11, below=7),))
    ids = draw_ids(2, 11, below=7, seed=1)
    same(exported.module()(ids), model(ids))


@pytest.mark.bad_input
@pytest.mark.parametrize("argument", ["vocab_size", "d_model"])
def test_refuses_a_size_that_is_no_positive_integer(argument):
    sizes = {"vocab_size": 7, "d_model": 5}
    for value, got in ((None, "NoneType"), (5.0, "float"), (True, "bool")):
        with refused(TypeError, argument, "an integer", got):
            TokenEmbedding(**sizes | {argument: value})
    for value in (0, -1):
        with refused(ValueError, argument, "at least 1", f"{value}"):
            TokenEmbedding(**sizes | {argument: value})


@pytest.mark.bad_input
def test_refuses_a_pad_id_that_is_no_row():
    with refused(TypeError, "pad_id", "an integer", "str"):
        TokenEmbedding(7, 5, pad_id="0")
    with refused(ValueError, "pad_id", "at least 0", "-1"):
        TokenEmbedding(7, 5, pad_id=-1)
    with refused(ValueError, "pad_id", "at most 6", "7"):
        TokenEmbedding(7, 5, pad_id=7)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("ids", "got"),
    [
        (None, "NoneType"),
        ([1, 2], "list"),
        (3, "int"),
        (torch.tensor([1.0]), "torch.float32"),
        (torch.tensor([True]), "torch.bool"),
        (torch.tensor([1], dtype=torch.uint8), "torch.uint8"),
    ],
)
def test_refuses_ids_that_are_no_integer_tensor(ids, got):
    expected = "an integer tensor" if torch.is_tensor(ids) else "a tensor"
    with refused(TypeError, "ids", expected, got):
        TokenEmbedding(7, 5)(ids)


@pytest.mark.bad_input
@pytest.mark.parametrize("wrong", [-1, 7])
def test_refuses_an_id_that_is_no_row(wrong):
    ids = torch.tensor([[0, 6], [wrong, 3]], device=DEVICE)
    with refused(ValueError, "ids", "ids from 0 to 6", f"{wrong}"):
        embedding(7, 5)(ids)
