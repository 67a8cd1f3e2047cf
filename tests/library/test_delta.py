"""lib.delta: the rule by hand, and by chunks the same.

That they are those of `transformers` stands in
tests/conformance/test_delta.py.
"""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.delta import chunked_delta_rule, decays, delta_chunk, delta_rule
from tests.library import no
from tests.library.draw import DEVICE, close, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.strategies import dtype, lead

lengths = st.integers(1, 13)
RULES = pytest.mark.parametrize(
    "rule", [delta_rule, delta_chunk, chunked_delta_rule]
)


def texts(lead, length, dtype=torch.float64, wide=3):
    """Queries, keys of length 1, values, both gates and a memory."""
    q, k = (normal(*lead, length, 5, dtype=dtype, seed=s) for s in (0, 1))
    v = normal(*lead, length, wide, dtype=dtype, seed=2)
    beta, decay = (
        normal(*lead, length, dtype=dtype, seed=s).sigmoid() for s in (3, 4)
    )
    wider = torch.promote_types(dtype, torch.float32)
    state = normal(*lead, 5, wide, dtype=wider, seed=5)
    return q, F.normalize(k, dim=-1), v, beta, decay, state


def by_hand(q, k, v, beta, decay, state):
    """One row, number by number, in Python's floats."""
    state, found = state.tolist(), []
    q, k, v = q.tolist(), k.tolist(), v.tolist()
    rows, columns = range(len(state)), range(len(state[0]))
    for t in range(len(q)):
        for i in rows:
            for j in columns:
                state[i][j] *= decay[t].item()
        finds = [sum(k[t][i] * state[i][j] for i in rows) for j in columns]
        for i in rows:
            for j in columns:
                error = v[t][j] - finds[j]
                state[i][j] += beta[t].item() * k[t][i] * error
        found.append(
            [sum(q[t][i] * state[i][j] for i in rows) for j in columns]
        )
    return [torch.tensor(x).double().to(DEVICE) for x in (found, state)]


@RULES
@pytest.mark.parametrize("kept", [1, 0])
def test_is_the_rule_number_by_number(rule, kept):
    """Also where a decay of 0 forgets everything."""
    row = texts((), 7)
    row[4][3] *= kept
    for ours, wanted in zip(rule(*row), by_hand(*row), strict=True):
        torch.testing.assert_close(ours, wanted, rtol=1e-6, atol=1e-6)


@given(lead, lengths, dtype, st.sampled_from([1, 2, 5, 13, 64]))
def test_chunks_change_nothing(lead, length, dtype, chunk):
    inputs = texts(lead, length, dtype)
    wide = delta_rule(*(x.double() for x in inputs))
    for rule in (delta_rule, delta_chunk, chunked_delta_rule):
        own = {"chunk": chunk} if rule is chunked_delta_rule else {}
        found, state = rule(*inputs, **own)
        close(found, wide[0].to(dtype), steps=64)
        close(state, wide[1].to(state.dtype), steps=64)
        assert state.dtype == torch.promote_types(dtype, torch.float32)


@RULES
def test_by_default_all_is_kept_and_nothing_known(rule):
    q, k, v, beta, _decay, state = texts((2, 3), 7)
    ones, zeros = torch.ones_like(beta), torch.zeros_like(state)
    told = rule(q, k, v, beta, ones, zeros)
    for ours, wanted in zip(rule(q, k, v, beta), told, strict=True):
        close(ours, wanted)


@RULES
def test_a_memory_of_half_precision_goes_on_in_float32(rule):
    *inputs, state = texts((2,), 3, torch.bfloat16)
    half = rule(*inputs, state.bfloat16())
    whole = rule(*inputs, state.bfloat16().float())
    same(half[1], whole[1])
    assert half[1].dtype == torch.float32


def test_a_chunk_is_64_tokens():
    q, k, v, beta, decay, state = texts((), 70)
    whole = chunked_delta_rule(q, k, v, beta, decay, state)
    parts = chunked_delta_rule(q, k, v, beta, decay, state, chunk=64)
    same(whole[0], parts[0])


@given(lead, lengths)
def test_decays_are_products(lead, length):
    decay = normal(*lead, length, dtype=torch.float64).sigmoid()
    table = decays(decay)
    for i in range(length):
        for j in range(length):
            wanted = decay[..., j + 1 : i + 1].prod(dim=-1) * (j <= i)
            close(table[..., i, j], wanted)


@RULES
def test_gradients_of_the_rule(rule):
    """Also where a decay is 0, and a product of decays with it."""
    inputs = texts((2,), 5)
    inputs[4][1, 2] = 0
    inputs = [x.requires_grad_() for x in inputs]
    own = {"chunk": 2} if rule is chunked_delta_rule else {}
    assert torch.autograd.gradcheck(lambda *x: rule(*x, **own), inputs)


Q, K, V = (torch.ones(2, 5, width) for width in (4, 4, 3))
BETA, STATE = torch.ones(2, 5), torch.ones(2, 4, 3)
TALL, WIDE = torch.ones(2, 5, 3), torch.ones(2, 4, 5)
given_all = {"q": Q, "k": K, "v": V, "beta": BETA}


def refused_by(call):
    return [
        ("k", call, ValueError, "width 4", {"3": K[..., :3]}),
        ("v", call, ValueError, "length of q, 5", {"4": V[:, :4]}),
        ("v", call, TypeError, "torch.float32", by_dtype(V.double())),
        ("beta", call, ValueError, "length of q, 5", {"4": BETA[:, :4]}),
        ("beta", call, ValueError, "leading axes (2,)", {"(1,)": BETA[:1]}),
        ("beta", call, TypeError, "torch.float32", by_dtype(BETA.double())),
        *no.floating_tensor(call, "beta"),
        ("decay", call, ValueError, "length of q, 5", {"4": BETA[:, :4]}),
        ("decay", call, TypeError, "torch.float32", by_dtype(BETA.double())),
        ("state", call, ValueError, "width 4 of k", {"5": TALL}),
        ("state", call, ValueError, "width 3 of v", {"5": WIDE}),
        ("state", call, ValueError, "leading axes (2,)", {"(1,)": STATE[:1]}),
        ("state", call, TypeError, "a floating-point tensor",
         by_dtype(STATE.long())),
    ]  # fmt: skip


empty = partial(delta_rule, k=K[:, :0], v=V[:, :0], beta=BETA[:, :0])
chunked = partial(chunked_delta_rule, **given_all)
test_bad_input_is_refused = refuses(
    *refused_by(partial(delta_rule, **given_all)),
    *refused_by(partial(delta_chunk, **given_all)),
    *refused_by(chunked),
    *no.size(chunked, "chunk"),
    ("q", empty, ValueError, "one position", by_shape(Q[:, :0])),
    *no.floating_tensor(decays, "decay"),
)  # fmt: skip
