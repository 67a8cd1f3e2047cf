"""lib.heads: what is promised beyond equality with torch (test_interop)."""

import copy
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from lib.attention import attention, attention_weights
from lib.heads import (
    MultiHeadAttention,
    merge_heads,
    record_weights,
    split_heads,
)
from tests.library import no
from tests.library.draw import DEVICE, close, coins, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.strategies import dtype, size

WAYS = pytest.mark.parametrize("need_weights", [False, True])


def module(d_model=6, heads=2, dtype=torch.float32, **options):
    torch.manual_seed(1)
    made = MultiHeadAttention(d_model, heads, **options)
    if made.in_proj.bias is not None:
        nn.init.normal_(made.in_proj.bias)
        nn.init.normal_(made.out_proj.bias)
    return made.to(DEVICE, dtype)


def narrowed(draw, shape, kept):
    """Numbers of this shape, or with only some of its axes, or None."""
    if kept is None:
        return None
    return draw(*(n if k else 1 for n, k in zip(shape, kept, strict=True)))


kept = st.none() | st.tuples(*[st.booleans()] * 4)


@pytest.mark.parametrize("sources", ["x", "xy", "xxy", "xyx", "xyz"])
@given(
    st.sampled_from([(1, 1), (2, 2), (6, 2), (6, 3), (10, 5), (7, 1)]),
    st.tuples(size, size),
    st.booleans(),
    st.tuples(kept, kept),
    dtype,
)
def test_is_attention_in_heads(sources, sizes, lengths, bias, kept, dtype):
    """Each matrix projects its own source; by hand it does so in float64.

    Keys are by default the queries, and values the keys.
    """
    (d_model, heads), (q_len, k_len) = sizes, lengths
    multi, whole = module(d_model, heads, dtype, bias=bias), sources
    whole += sources[-1] * (3 - len(sources))
    k_len = q_len if "x" in whole[1:] else k_len
    tensors = {
        name: normal(2, n, d_model, seed=ord(name), dtype=dtype)
        for name, n in (("x", q_len), ("y", k_len), ("z", k_len))
    }
    scores = (2, heads, q_len, k_len)
    may = narrowed(coins, scores, kept[0])
    shift = narrowed(partial(normal, scale=3.0, dtype=dtype), scores, kept[1])
    exact = copy.deepcopy(multi).double()
    q, k, v = (
        split_heads(F.linear(tensors[name].double(), *matrix), heads)
        for name, matrix in zip(whole, exact.matrices(), strict=True)
    )
    wide = {
        "may_attend": may,
        "score_bias": shift if shift is None else shift.double(),
    }
    output = exact.output(attention(q, k, v, **wide))
    weights = attention_weights(q, k, **wide)
    given = [tensors[name] for name in sources]
    options = {"may_attend": may, "score_bias": shift}
    close(multi(*given, **options), output.to(dtype), steps=64)
    both = multi(*given, **options, need_weights=True)
    close(both[0], output.to(dtype), steps=64)
    close(both[1], weights.to(dtype), steps=64)


def test_weights_are_dropped_after_they_are_given():
    multi, x = module(dropout=0.25), normal(2, 5, 6)
    torch.manual_seed(5)
    output, given = multi(x, need_weights=True)
    q, k, v = multi.project(x, x, x)
    same(given, attention_weights(q, k))
    torch.manual_seed(5)
    close(output, multi.output(F.dropout(given, 0.25) @ v))


def test_empty_batches_and_no_query():
    multi, x, y = module(), normal(2, 0, 6), normal(2, 5, 6)
    assert multi(x, y).shape == (2, 0, 6) and multi(y[:0]).shape == (0, 5, 6)
    assert multi(x, y, need_weights=True)[1].shape == (2, 2, 0, 5)


@pytest.mark.compiled
@WAYS
@pytest.mark.parametrize("biased", [False, True])
def test_compiled_it_gives_the_same_numbers(biased, need_weights):
    torch.compiler.reset()
    multi, x, may = module(), normal(2, 5, 6), coins(2, 1, 5, 5)
    may[0, :, 1] = False
    options = {"may_attend": may, "need_weights": need_weights}
    options["score_bias"] = normal(1, 2, 5, 5) if biased else None
    compiled = torch.compile(multi, fullgraph=True, backend="aot_eager")
    results = compiled(x, **options), multi(x, **options)
    for ours, expected in zip(*results, strict=True):
        close(ours, expected)


def test_record_weights_names_every_attention_and_leaves_nothing_behind():
    """Also after an error; each pass overwrites the one before."""
    parts = {"first": module(), "inner": nn.Sequential(module(heads=3))}
    model, x = nn.ModuleDict(parts), normal(2, 5, 6)
    before = [sorted(vars(m)) for m in model.modules()]
    with pytest.raises(ZeroDivisionError), record_weights(model) as weights:
        for length in (3, 5):
            assert torch.is_tensor(parts["first"](x[:, :length]))
            parts["inner"](x[:, :length])
        raise ZeroDivisionError
    assert [sorted(vars(m)) for m in model.modules()] == before
    assert [*weights] == ["first", "inner.0"]
    for name, recorded in weights.items():
        _, asked = model.get_submodule(name)(x, need_weights=True)
        same(recorded, asked)
        assert not recorded.requires_grad


@pytest.mark.parametrize("biased", [False, True])
def test_recording_changes_no_answer(biased):
    """Also where the weights are asked for, and where only a part runs.

    The decoder of chapter 14 calls the parts and never `forward`.
    """
    multi, x = module(), normal(2, 5, 6)
    bias = normal(1, 2, 5, 5, scale=3.0) if biased else None
    options = {"score_bias": bias}
    expected, asked = multi(x, need_weights=True, **options)
    with record_weights(multi) as weights:
        close(multi(x, **options), expected)
        same(weights.pop(""), asked)
        result = multi(x, x, x, None, need_weights=True, **options)
        same(result[1], asked)
        assert result[1].requires_grad
        weights.clear()
        _, none = multi.attend(*multi.project(x, x, x), **options)
        assert none is None
        same(weights[""], asked)


def test_recordings_inside_each_other():
    """Each open one has the weights of the last pass."""
    multi, x, other = module(), normal(2, 5, 6), normal(3, 7, 6)
    first, second = (multi(y, need_weights=True)[1] for y in (x, other))
    with record_weights(multi) as outer:
        with record_weights(multi) as inner:
            multi(x)
        same(outer[""], first)
        multi(other)
    same(inner[""], first)
    same(outer[""], second)


@pytest.mark.bad_input
def test_the_weights_are_asked_for_by_name():
    multi, x = module(), normal(2, 5, 6)
    for call in (multi, multi.attend):
        with pytest.raises(TypeError, match="positional"):
            call(x, x, x, None, True)


X, Y = torch.ones(2, 3, 6), torch.ones(2, 5, 6)
RANKS, NARROW = by_shape(X[0], X[None]), by_shape(X[..., :3])
MASK = torch.ones(2, 1, 1, 5)
USE = {
    "(5,)": torch.ones(5),
    "use {}[:, None, None]": torch.ones(2, 5),
    "use {}[None, None]": torch.ones(3, 5),
    "use {}[:, None],": torch.ones(2, 3, 5),
    "use {}[None]": torch.ones(2, 3, 5),
}
BIASES = {got.format("bias"): x for got, x in USE.items()}
MASKS = {got.format("mask"): x > 0 for got, x in USE.items()}
MISFITS = [torch.ones(s) for s in ((3, 1, 3, 5), (2, 3, 3, 5), (2, 1, 5, 3))]
NO_MASK, NO_BIAS = by_shape(*(x > 0 for x in MISFITS)), by_shape(*MISFITS)


def attending(need_weights):
    """What neither of the two paths takes.

    On the one without weights torch would read past the end of the keys.
    """
    multi, k = MultiHeadAttention(6, 2), torch.ones(2, 2, 5, 3)
    part = partial(
        multi.attend, q=k[:, :, :3], k=k, v=k, need_weights=need_weights
    )
    alone = partial(part, k=k[0], v=k[0])
    ask = partial(multi, X, Y, need_weights=need_weights)
    long = {"(2, 2, 7)": torch.ones(2, 2, 7, 3)}
    return [
        ("v", part, ValueError, "one value for each key", long),
        ("k", part, ValueError, "leading axes (2, 2)", {"(1, 2)": k[:1]}),
        ("k", part, ValueError, "width 3", {"2": k[..., :2]}),
        ("q", alone, ValueError, "4 axes", by_shape(k[0])),
        ("may_attend", part, ValueError, "four axes", MASKS),
        ("may_attend", ask, TypeError, "boolean tensor", by_dtype(MASK)),
        ("may_attend", ask, ValueError, "four axes", MASKS),
        ("may_attend", ask, ValueError, "(2, 2, 3, 5)", NO_MASK),
        ("score_bias", ask, TypeError, "floating-point", by_dtype(MASK > 0)),
        ("score_bias", ask, TypeError, "the queries", by_dtype(MASK.half())),
        ("score_bias", ask, ValueError, "four axes", BIASES),
        ("score_bias", ask, ValueError, "(2, 2, 3, 5)", NO_BIAS),
    ]


build, multi = partial(MultiHeadAttention, 6, 2), MultiHeadAttention(6, 2)
sizes = partial(MultiHeadAttention, d_model=6, heads=2)
three, keyed = partial(multi, query=Y, key=Y, value=Y), partial(multi, Y)
valued, split = partial(multi, Y, Y), partial(split_heads, heads=4)
test_bad_input_is_refused = refuses(
    *attending(need_weights=False),
    *attending(need_weights=True),
    *no.size(sizes, "d_model", "heads"),
    ("d_model", sizes, ValueError, "a multiple of heads=2", {"7": 7}),
    *no.dropout(build),
    *no.switch(build, "bias"),
    *(
        (name, three, *answer)
        for name in ("query", "key", "value")
        for answer in (
            (TypeError, "a tensor", {"list": [[[1.0] * 6]]}),
            (TypeError, "floating-point", by_dtype(X.int())),
            (ValueError, "3 axes, (batch, length", RANKS),
            (ValueError, "of width 6", NARROW),
        )
    ),
    ("key", keyed, TypeError, "the dtype of query", by_dtype(Y.double())),
    ("key", keyed, ValueError, "the batch of the query, 2", {"1": Y[:1]}),
    ("key", keyed, ValueError, "at least one key", {"none": Y[:, :0]}),
    ("value", keyed, ValueError, "a key too", {"a value alone": Y}),
    ("value", valued, ValueError, "for each key, (2, 5)", {"(2, 3)": X}),
    ("value", valued, ValueError, "for each key, (2, 5)", {"(1, 5)": Y[:1]}),
    *no.floating_tensor(split, "x"),
    ("x", split, ValueError, "3 axes", RANKS),
    ("x", split, ValueError, "multiple of heads=4", by_shape(X)),
    *no.size(partial(split_heads, X), "heads"),
    *no.floating_tensor(merge_heads, "x"),
    ("x", merge_heads, ValueError, "4 axes", by_shape(X, MASK[None])),
)
