"""lib.positions against the formulas, and against what they promise."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lib.positions import (
    LearnedPositions,
    PositionalEncoding,
    rotary,
    sinusoidal_positions,
)
from tests.library import no
from tests.library.draw import DEVICE, close, normal, same
from tests.library.refusals import by_shape, refuses
from tests.library.strategies import dtype, lead, size

even = st.sampled_from([2, 4, 6, 10, 14])
offset = st.sampled_from([0, 1, 3, 7])
base = st.sampled_from([10_000.0, 100.0, 2.0])
MODULES = pytest.mark.parametrize(
    "kind", [PositionalEncoding, LearnedPositions]
)


@given(size, even, base, dtype)
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


def test_late_positions_are_rounded_only_once():
    """In float32, the sine of an angle of 1e5 is off by 1e-3."""
    late = sinusoidal_positions(100_001, 6)[-1]
    assert abs(late[0].item() - math.sin(1e5)) < 1e-7


def test_base_and_dtype_are_by_default_those_of_the_papers():
    paper = 10_000.0, torch.float32
    same(sinusoidal_positions(300, 8), sinusoidal_positions(300, 8, *paper))
    x = normal(300, 8)
    same(rotary(x), rotary(x, 0, 10_000.0))


@MODULES
@given(lead, size, even, offset, dtype)
def test_positions_are_added(kind, lead, length, d_model, offset, dtype):
    add = kind(d_model, 19).to(DEVICE)
    x = normal(*lead, length, d_model, dtype=dtype)
    table = add.table
    if kind is PositionalEncoding:
        table = sinusoidal_positions(19, d_model).to(DEVICE)
    same(add(x, offset), x + table[offset : offset + length].to(dtype))
    same(add(x), x + table[:length].to(dtype))


def test_positional_encoding_has_a_buffer_and_nothing_to_train_or_save():
    add = PositionalEncoding(6)
    assert not list(add.parameters()) and not add.state_dict()
    assert add.table.shape == (5_000, 6)
    assert add.to("meta").table.is_meta


def test_learned_positions_are_trained_and_start_at_size_one():
    torch.manual_seed(0)
    table = LearnedPositions(50, 400).table
    assert abs(table.std().item() - 1) < 4 / math.sqrt(2 * table.numel())
    assert abs(table.mean().item()) < 4 / math.sqrt(table.numel())
    add = LearnedPositions(5, 11).to(DEVICE)
    assert [name for name, _ in add.named_parameters()] == ["table"]
    add(normal(2, 3, 5), 4).sum().backward()
    used = torch.zeros(11, 5, device=DEVICE)
    used[4:7] = 2
    same(add.table.grad, used)


@MODULES
def test_dropout_only_in_training_and_on_the_sum(kind):
    add, x = kind(50, 101, dropout=0.25).to(DEVICE), normal(2, 101, 50)
    same(add.eval()(x), x + add.table)
    torch.manual_seed(5)
    out = add.train()(x)
    torch.manual_seed(5)
    same(out, F.dropout(x + add.table, 0.25))


def turned(x, offset, base):
    """The formula with complex numbers: pair i times e^(i angle)."""
    *_, length, width = x.shape
    pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    position = torch.arange(offset, offset + length, dtype=torch.float64)
    rate = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.outer(position, rate).to(x.device)
    turn = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(pairs * turn).flatten(-2)


@given(lead, size, even, offset, base, dtype)
def test_rotary_turns_each_pair_by_its_angle(
    lead, length, d_head, offset, base, dtype
):
    x = normal(*lead, length, d_head, dtype=dtype).requires_grad_()
    pair = rotary(x, offset, base), turned(x, offset, base).to(dtype)
    close(*pair, steps=16)
    slope = normal(*x.shape, seed=1, dtype=dtype)
    close(*(torch.autograd.grad(y, x, slope)[0] for y in pair), steps=16)


def test_late_queries_are_turned_exactly():
    x = normal(1, 6)
    close(rotary(x, 100_000), turned(x, 100_000, 10_000.0).float())


ADDERS = [PositionalEncoding(6, 11), LearnedPositions(6, 11)]


@pytest.mark.compiled
@pytest.mark.parametrize("add", [*ADDERS, rotary], ids=["sin", "learned", "r"])
def test_compiled_it_gives_the_same_numbers(add):
    torch.compiler.reset()
    add = add.to(DEVICE) if isinstance(add, nn.Module) else add
    compiled = torch.compile(add, backend="aot_eager", fullgraph=True)
    x = normal(2, 5, 6)
    for offset in (0, 3):
        close(compiled(x, offset), add(x, offset))


X = torch.ones(5, 6)
table = partial(sinusoidal_positions, length=5, d_model=6)
encode = partial(PositionalEncoding, d_model=6, max_length=5)
learn = partial(LearnedPositions, d_model=6, max_length=5)
turn = partial(rotary, X)
SMALL = {"1": 1, "0.0": 0.0, "-2": -2, "inf": math.inf, "nan": math.nan}
NO_DTYPE = {f"{x}": x for x in (torch.int64, "float32", None)}
ODD, NARROW = {"3": 3, "7": 7}, by_shape(X[:, :4], X[:, :1])
LONG, LATE = {"12 (offset 0": torch.ones(12, 6)}, {"12 (offset 7": X}
BEYOND = "at most 11 positions (max_length)"
test_bad_input_is_refused = refuses(
    *no.size(table, "length", "d_model"),
    *no.size(learn, "d_model", "max_length"),
    ("d_model", table, ValueError, "an even number", ODD),
    ("the width of x", rotary, ValueError, "an even number", {"3": X[:, :3]}),
    *no.number(table, "base"),
    *no.number(turn, "base"),
    ("base", table, ValueError, "a number above 1", SMALL),
    ("base", turn, ValueError, "a number above 1", SMALL),
    ("dtype", table, TypeError, "floating-point", NO_DTYPE),
    *no.dropout(encode),
    *no.dropout(learn),
    *(
        row
        for add in (*ADDERS, rotary)
        for row in (
            *no.floating_tensor(add, "x"),
            ("x", add, ValueError, "at least 2 axes", by_shape(X[0])),
            *no.integer(partial(add, X), "offset"),
            ("offset", partial(add, X), ValueError, "at least 0", {"-1": -1}),
        )
    ),
    *(
        row
        for add in ADDERS
        for row in (
            ("x", add, ValueError, BEYOND, LONG),
            ("x", partial(add, offset=7), ValueError, BEYOND, LATE),
            ("x", add, ValueError, "of width 6", NARROW),
        )
    ),
)
