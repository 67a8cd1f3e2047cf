"""lib.positions against the formulas, and against what they promise."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lib.positions import (
    LearnedPositions,
    PositionalEncoding,
    rotary,
    sinusoidal_positions,
)
from tests.library.draw import (
    DEVICE,
    DTYPES,
    close,
    dtype,
    lead,
    normal,
    refused,
    same,
    size,
)

even = st.sampled_from([2, 4, 6, 10, 14])
offset = st.sampled_from([0, 1, 3, 7])
MODULES = pytest.mark.parametrize(
    "kind", [PositionalEncoding, LearnedPositions]
)


@given(size, even, st.sampled_from([10_000.0, 100.0, 2.0]), dtype)
def test_sinusoids_equal_the_formula(length, d_model, base, dtype):
    table = sinusoidal_positions(length, d_model, base, dtype)
    expected = [
        [
            (math.sin, math.cos)[j % 2](p / base ** (2 * (j // 2) / d_model))
            for j in range(d_model)
        ]
        for p in range(length)
    ]
    close(table, torch.tensor(expected, dtype=torch.float64).to(dtype))


def test_sinusoids_by_hand_and_by_default():
    table = sinusoidal_positions(2, 4)
    assert table.dtype == torch.float32
    assert table[0].tolist() == [0, 1, 0, 1]
    second = [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]
    close(table[1], torch.tensor(second))


def test_late_positions_are_rounded_only_once():
    """In float32, the sine of an angle of 1e5 is off by 1e-3."""
    late, early = sinusoidal_positions(100_001, 6)[-1], math.sin(1e5)
    assert abs(late[0].item() - early) < 1e-7


@given(size, size, even)
def test_a_row_does_not_depend_on_the_length(length, more, d_model):
    longer = sinusoidal_positions(length + more, d_model)
    same(longer[:length], sinusoidal_positions(length, d_model))


@given(even, st.integers(0, 9), st.integers(0, 9))
def test_a_shift_is_a_rotation_of_each_pair(d_model, p, k):
    """R_k turns row p into row p + k, whatever p."""
    table = sinusoidal_positions(20, d_model, dtype=torch.float64)
    sin, cos = table[k, 0::2], table[k, 1::2]
    blocks = [
        torch.tensor([[c, s], [-s, c]], dtype=torch.float64)
        for s, c in zip(sin.tolist(), cos.tolist(), strict=True)
    ]
    close(torch.block_diag(*blocks) @ table[p], table[p + k])


@given(lead, size, even, offset, dtype)
def test_positional_encoding_adds_the_sinusoids(
    lead, length, d_model, offset, dtype
):
    add = PositionalEncoding(d_model, 19).to(DEVICE)
    x = normal(*lead, length, d_model, dtype=dtype)
    table = sinusoidal_positions(offset + length, d_model).to(DEVICE, dtype)
    same(add(x, offset), x + table[offset:])
    same(add(x), add(x, 0))


@given(lead, size, size, offset, dtype)
def test_learned_positions_add_their_table(
    lead, length, d_model, offset, dtype
):
    add = LearnedPositions(d_model, 19).to(DEVICE)
    x = normal(*lead, length, d_model, dtype=dtype)
    rows = add.table[offset : offset + length].to(dtype)
    same(add(x, offset), x + rows)
    same(add(x), add(x, 0))


@MODULES
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_module_of_another_dtype_gives_that_dtype(kind, dtype):
    add, x = kind(6, 11), normal(2, 5, 6, dtype=dtype)
    expected = add.to(DEVICE)(x.float())
    added = add.to(dtype)(x)
    close(added, expected.to(dtype), steps=8 if dtype.itemsize < 8 else 1e9)


@MODULES
def test_a_later_part_gets_the_numbers_of_the_whole(kind):
    add, x = kind(6, 11).to(DEVICE), normal(2, 7, 6)
    same(torch.cat([add(x[:, :3]), add(x[:, 3:], 3)], 1), add(x))


def test_positional_encoding_has_a_buffer_and_nothing_to_train_or_save():
    add = PositionalEncoding(6)
    assert not list(add.parameters()) and not add.state_dict()
    assert [name for name, _ in add.named_buffers()] == ["table"]
    assert add.table.shape == (5_000, 6)
    assert add.to("meta").table.device.type == "meta"


def test_learned_positions_are_trained():
    add = LearnedPositions(6, 11).to(DEVICE)
    assert [name for name, _ in add.named_parameters()] == ["table"]
    assert add.table.shape == (11, 6)
    x = normal(2, 3, 6)
    add(x, 4).sum().backward()
    used = torch.zeros(11, 6, device=DEVICE)
    used[4:7] = 2
    same(add.table.grad, used)


def test_learned_positions_start_at_size_one():
    torch.manual_seed(0)
    table = LearnedPositions(50, 400).table
    assert abs(table.std().item() - 1) < 4 / math.sqrt(2 * table.numel())
    assert abs(table.mean().item()) < 4 / math.sqrt(table.numel())


@MODULES
def test_dropout_only_in_training_and_on_the_sum(kind):
    add, x = kind(50, 101, dropout=0.25).to(DEVICE), normal(2, 101, 50)
    same(add.eval()(x), x + add.table)
    out = add.train()(x)
    zero = out == 0
    rate = zero.float().mean().item()
    assert abs(rate - 0.25) < 4 * math.sqrt(0.25 * 0.75 / x.numel())
    close(out[~zero], ((x + add.table) / 0.75)[~zero])


@MODULES
def test_without_dropout_training_changes_nothing(kind):
    add, x = kind(6, 11).to(DEVICE), normal(2, 5, 6)
    same(add.train()(x), add.eval()(x))


@MODULES
def test_copies_give_the_same_numbers(kind):
    add, x = kind(6, 11).to(DEVICE), normal(2, 5, 6)
    fresh = kind(6, 11).to(DEVICE)
    fresh.load_state_dict(add.state_dict())
    for twin in (copy.deepcopy(add), pickle.loads(pickle.dumps(add)), fresh):
        same(twin(x), add(x))


@MODULES
def test_gradient_of_the_modules(kind):
    add = kind(4, 7).to(DEVICE, torch.float64)
    x = normal(2, 3, 4, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: add(x, 2), x)


def turned(x, offset=0, base=10_000.0):
    """The formula with complex numbers: pair i times e^(i angle)."""
    *_, length, width = x.shape
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    position = torch.arange(offset, offset + length, dtype=torch.float64)
    rate = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.outer(position, rate).to(x.device)
    turn = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(pairs * turn).flatten(-2)


@given(
    lead, size, even, offset, st.sampled_from([10_000.0, 100.0, 2.0]), dtype
)
def test_rotary_turns_each_pair_by_its_angle(
    lead, length, d_head, offset, base, dtype
):
    x = normal(*lead, length, d_head, dtype=dtype)
    expected = turned(x, offset, base)
    close(rotary(x, offset, base), expected.to(dtype), steps=16)


def test_rotary_by_hand():
    """Position 0 turns by nothing, position 1 by one radian."""
    x = torch.tensor([[3.0, 4.0]] * 3, dtype=torch.float64, device=DEVICE)
    sin, cos = math.sin(1), math.cos(1)
    second = [3 * cos - 4 * sin, 3 * sin + 4 * cos]
    close(rotary(x)[0], x[0])
    close(rotary(x)[1], x.new_tensor(second))


@given(lead, size, even, offset, dtype)
def test_rotary_keeps_the_length_of_a_vector(
    lead, length, d_head, offset, dtype
):
    x = normal(*lead, length, d_head, dtype=dtype)
    norms = rotary(x, offset).double().norm(dim=-1)
    close(norms.to(dtype), x.double().norm(dim=-1).to(dtype), steps=16)


@given(even, offset, st.integers(0, 1000))
def test_rotary_scores_depend_on_the_distance_only(d_head, distance, start):
    q, k = (normal(1, d_head, seed=s, dtype=torch.float64) for s in range(2))
    here = rotary(q, distance) @ rotary(k).mT
    there = rotary(q, start + distance) @ rotary(k, start).mT
    close(there, here, steps=1e5)


def test_rotary_of_a_later_part_equals_that_of_the_whole():
    x = normal(2, 3, 7, 6)
    parts = rotary(x[..., :3, :]), rotary(x[..., 3:, :], 3)
    same(torch.cat(parts, -2), rotary(x))
    same(rotary(x[..., :1, :]), x[..., :1, :])


def test_gradient_of_rotary():
    x = normal(2, 3, 4, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: rotary(x, 2), x)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "add",
    [PositionalEncoding(6, 11), LearnedPositions(6, 11), rotary],
    ids=["sinusoidal", "learned", "rotary"],
)
def test_compiled_it_gives_the_same_numbers(add):
    torch.compiler.reset()
    add = add.to(DEVICE) if isinstance(add, nn.Module) else add
    compiled = torch.compile(add, backend="aot_eager", fullgraph=True)
    x = normal(2, 5, 6)
    for offset in (0, 3):
        close(compiled(x, offset), add(x, offset))


@pytest.mark.bad_input
@pytest.mark.parametrize("width", [3, 7])
def test_refuses_an_odd_width(width):
    with refused(ValueError, "d_model", "an even number", f"{width}"):
        sinusoidal_positions(5, width)
    with refused(ValueError, "d_model", "an even number", f"{width}"):
        PositionalEncoding(width)
    with refused(ValueError, "the width of x", "an even number", f"{width}"):
        rotary(torch.ones(5, width))


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("argument", "make"),
    [
        ("length", lambda n: sinusoidal_positions(n, 6)),
        ("d_model", lambda n: sinusoidal_positions(5, n)),
        ("length", lambda n: PositionalEncoding(6, n)),
        ("d_model", PositionalEncoding),
        ("d_model", lambda n: LearnedPositions(n, 5)),
        ("max_length", lambda n: LearnedPositions(6, n)),
    ],
)
def test_refuses_sizes_that_are_none(argument, make):
    for value, got in ((None, "NoneType"), (2.0, "float"), (True, "bool")):
        with refused(TypeError, argument, "an integer", got):
            make(value)
    for value in (0, -2):
        with refused(ValueError, argument, "at least", f"{value}"):
            make(value)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "turn",
    [
        lambda base: sinusoidal_positions(5, 6, base),
        lambda base: rotary(torch.ones(5, 6), base=base),
    ],
)
def test_refuses_a_base_that_is_none(turn):
    for value, got in ((None, "NoneType"), ("2", "str"), (True, "bool")):
        with refused(TypeError, "base", "a number", got):
            turn(value)
    for value in (1, 0.0, -2, math.inf, math.nan):
        with refused(ValueError, "base", "a number above 1", f"{value}"):
            turn(value)


@pytest.mark.bad_input
def test_refuses_a_dtype_that_is_not_floating_point():
    for value in (torch.int64, "float32", None):
        with refused(TypeError, "dtype", "floating-point", f"{value}"):
            sinusoidal_positions(5, 6, dtype=value)


@pytest.mark.bad_input
@MODULES
def test_refuses_a_dropout_that_is_no_probability(kind):
    with refused(ValueError, "dropout", "0 <= dropout < 1", "1.5"):
        kind(6, 5, dropout=1.5)
    with refused(TypeError, "dropout", "a number", "str"):
        kind(6, 5, dropout="0.1")


ADDERS = [PositionalEncoding(6, 11), LearnedPositions(6, 11), rotary]
EVERY = pytest.mark.parametrize(
    "add", ADDERS, ids=["sinusoidal", "learned", "rotary"]
)


@pytest.mark.bad_input
@EVERY
def test_refuses_inputs_that_are_none(add):
    with refused(TypeError, "x", "a tensor", "list"):
        add([[1.0] * 6])
    with refused(TypeError, "x", "a floating-point tensor", "torch.int64"):
        add(torch.ones(5, 6).long())
    with refused(ValueError, "x", "at least 2 axes", "(6,)"):
        add(torch.ones(6))
    for value, got in ((None, "NoneType"), (1.0, "float"), (True, "bool")):
        with refused(TypeError, "offset", "an integer", got):
            add(torch.ones(5, 6), value)
    with refused(ValueError, "offset", "at least 0", "-1"):
        add(torch.ones(5, 6), -1)


@pytest.mark.bad_input
@pytest.mark.parametrize("add", ADDERS[:2], ids=["sinusoidal", "learned"])
def test_refuses_positions_beyond_the_table(add):
    add(torch.ones(11, 6)), add(torch.ones(4, 6), 7)
    beyond = "at most 11 positions (max_length)"
    with refused(ValueError, "x", beyond, "12 (offset 0, length 12)"):
        add(torch.ones(12, 6))
    with refused(ValueError, "x", beyond, "12 (offset 7, length 5)"):
        add(torch.ones(2, 5, 6), 7)
    with refused(ValueError, "x", "of width 6", "(5, 4)"):
        add(torch.ones(5, 4))
    with refused(ValueError, "x", "of width 6", "(5, 1)"):
        add(torch.ones(5, 1))


def test_the_bases_are_those_of_the_papers():
    x = normal(300, 8)
    same(rotary(x), rotary(x, base=10_000.0))
    assert not torch.equal(rotary(x), rotary(x, base=10_001.0))
    same(sinusoidal_positions(300, 8), sinusoidal_positions(300, 8, 10_000.0))
