"""lib.heads: what is promised beyond equality with torch (test_interop)."""

import copy
import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from einops import rearrange
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
from lib.masks import causal_mask
from tests.library.draw import (
    DEVICE,
    close,
    coins,
    dtype,
    normal,
    same,
    size,
)
from tests.library.refusals import (
    by_dtype,
    by_shape,
    no_dropout,
    no_floating_tensor,
    no_size,
    no_switch,
    refuses,
)

WAYS = pytest.mark.parametrize("need_weights", [False, True])
MODES = pytest.mark.parametrize("training", [False, True])
CROSS = pytest.mark.parametrize("cross", [False, True])
BIASED = pytest.mark.parametrize("biased", [False, True])


def module(d_model=6, heads=2, dtype=torch.float32, **options):
    torch.manual_seed(1)
    made = MultiHeadAttention(d_model, heads, **options)
    if made.in_proj.bias is not None:
        nn.init.normal_(made.in_proj.bias)
        nn.init.normal_(made.out_proj.bias)
    return made.to(DEVICE, dtype)


def output_of(multi, *inputs, need_weights=False, **options):
    result = multi(*inputs, need_weights=need_weights, **options)
    return result[0] if need_weights else result


@given(size, size, size, size, dtype)
def test_heads_are_stretches_of_the_last_axis(
    batch, length, heads, d_head, dtype
):
    x = normal(batch, length, heads * d_head, dtype=dtype)
    parts = split_heads(x, heads)
    same(parts, rearrange(x, "b n (h d) -> b h n d", h=heads))
    same(merge_heads(parts), x)


def by_hand(multi, sources, may_attend, score_bias):
    """The formula, a head at a time; the output and the weights."""
    matrices = multi.in_proj.weight.split(multi.d_model)
    shift = multi.in_proj.bias
    shift = 0 * multi.in_proj.weight[:, 0] if shift is None else shift
    shifts, width = shift.split(multi.d_model), multi.d_model // multi.heads
    contexts, weights = [], []
    for h in range(multi.heads):
        mine = slice(h * width, (h + 1) * width)
        q, k, v = (
            F.linear(x, matrix[mine], shift[mine])
            for x, matrix, shift in zip(sources, matrices, shifts, strict=True)
        )
        options = {
            "may_attend": may_attend[:, h],
            "score_bias": score_bias[:, h],
        }
        weights.append(attention_weights(q, k, **options))
        contexts.append(attention(q, k, v, **options))
    return multi.out_proj(torch.cat(contexts, -1)), torch.stack(weights, 1)


def narrowed(draw, shape, kept):
    """Numbers of this shape, or with only some of its axes, or None."""
    if kept is None:
        return None
    return draw(*(n if k else 1 for n, k in zip(shape, kept, strict=True)))


kept = st.none() | st.tuples(*[st.booleans()] * 4)


@given(
    st.sampled_from([(1, 1), (2, 2), (6, 2), (6, 3), (10, 5), (7, 1)]),
    st.tuples(size, size),
    st.sampled_from(["xxx", "xxy", "xyx", "xyy", "xyz"]),
    st.booleans(),
    st.tuples(kept, kept),
    dtype,
)
def test_is_attention_head_by_head(sizes, lengths, sources, bias, kept, dtype):
    """Each matrix projects its own source; by hand it does so in float64."""
    (d_model, heads), (q_len, k_len) = sizes, lengths
    multi = module(d_model, heads, dtype, bias=bias)
    if "x" in sources[1:]:
        k_len = q_len
    tensors = {
        name: normal(2, n, d_model, seed=ord(name), dtype=dtype)
        for name, n in (("x", q_len), ("y", k_len), ("z", k_len))
    }
    inputs, scores = [tensors[n] for n in sources], (2, heads, q_len, k_len)
    may = narrowed(coins, scores, kept[0])
    shift = narrowed(partial(normal, scale=3.0, dtype=dtype), scores, kept[1])
    zeros = normal(*scores, scale=0.0, dtype=torch.float64)
    output, weights = by_hand(
        copy.deepcopy(multi).double(),
        [x.double() for x in inputs],
        zeros == 0 if may is None else may.expand(scores),
        zeros if shift is None else zeros + shift,
    )
    options = {"may_attend": may, "score_bias": shift}
    close(multi(*inputs, **options), output.to(dtype), steps=64)
    both = multi(*inputs, **options, need_weights=True)
    close(both[0], output.to(dtype), steps=64)
    close(both[1], weights.to(dtype), steps=64)


def test_key_and_value_default_to_the_query_and_the_key():
    multi, x, y = module(), normal(2, 3, 6), normal(2, 5, 6, seed=1)
    close(multi(x), multi(x, x.clone(), x.clone()))
    close(multi(x, y), multi(x, y, y.clone()))


@WAYS
@BIASED
def test_gradients_equal_those_by_hand(biased, need_weights):
    """Under a mask by which one sentence may attend to nothing.

    In anomaly mode no step backward may yield NaN, not even a hidden one.
    """
    multi, may = module(dtype=torch.float64), coins(2, 2, 3, 5)
    may[1] = False
    x, y = (normal(2, n, 6, seed=n, dtype=torch.float64) for n in (3, 5))
    bias = normal(2, 2, 3, 5, scale=3.0 * biased, dtype=torch.float64)
    leaves = [t.requires_grad_() for t in (x, y, *multi.parameters())]
    leaves += [bias.requires_grad_()] * biased
    options = {"may_attend": may, "score_bias": bias if biased else None}
    with torch.autograd.set_detect_anomaly(True):
        out = output_of(multi, x, y, need_weights=need_weights, **options)
        expected, _ = by_hand(multi, (x, y, y), may, bias)
        pair = (
            torch.autograd.grad(y.square().sum(), leaves)
            for y in (out, expected)
        )
        for ours, wanted in zip(*pair, strict=True):
            close(ours, wanted, steps=256)


@pytest.mark.parametrize("bias", [True, False])
def test_parameters(bias):
    names = [
        f"{m}_proj.{p}" for m in ("in", "out") for p in ("weight", "bias")
    ]
    assert [*module(bias=bias).state_dict()] == names[:: 1 if bias else 2]


@pytest.mark.parametrize("bias", [False, True])
@CROSS
def test_the_parts_are_the_module(cross, bias):
    """Projection, attention and output, called one by one."""
    multi, x = module(bias=bias), normal(2, 3, 6)
    y = normal(2, 5, 6, seed=1) if cross else x
    may = coins(2, 1, 3, y.shape[1])
    expected, weights = multi(x, y, may_attend=may, need_weights=True)
    parts = multi.project(x, y, y)
    for source, matrix, part in zip(
        (x, y, y), multi.matrices(), parts, strict=True
    ):
        close(part, split_heads(F.linear(source, *matrix), 2))
    context, none = multi.attend(*parts, may)
    assert none is None
    close(multi.output(context), expected)
    asked, found = multi.attend(*parts, may, need_weights=True)
    close(asked, context)
    same(found, weights)


@WAYS
@MODES
@CROSS
def test_nothing_leaks_from_later_positions(cross, training, need_weights):
    """Bit for bit, with the same dropout."""
    multi = module(dropout=0.5).train(training)
    x, may = normal(3, 11, 6), causal_mask(11, DEVICE)
    other = x.clone()
    other[:, 4:] = 100 * normal(3, 7, 6, seed=1)

    def run(x):
        torch.manual_seed(5)
        inputs = (normal(3, 11, 6, seed=2), x, x.clone()) if cross else (x,)
        return output_of(
            multi, *inputs, may_attend=may, need_weights=need_weights
        )

    before, after = run(x), run(other)
    same(after[:, :4], before[:, :4])
    assert (after[:, 4] != before[:, 4]).any()


@WAYS
@BIASED
@given(dtype, st.booleans())
def test_a_query_that_may_attend_to_nothing(
    need_weights, biased, dtype, training
):
    """It gets the context 0: the output is the bias of the output matrix."""
    multi = module(dtype=dtype).train(training)
    x = normal(2, 5, 6, dtype=dtype).requires_grad_()
    bias = normal(1, 2, 5, 5, seed=4, dtype=dtype) if biased else None
    options = {"score_bias": bias, "need_weights": need_weights}
    may = coins(2, 1, 5, 5)
    may[..., 0], may[0, :, 2], may[1] = True, False, False
    out = output_of(multi, x, may_attend=may, **options)
    same(out[0, 2], multi.out_proj.bias)
    same(out[1], multi.out_proj.bias.expand(5, 6))
    out.square().sum().backward()
    for tensor in (x, *multi.parameters()):
        assert tensor.grad.isfinite().all()
    same(x.grad[1], torch.zeros_like(x.grad[1]))
    assert (x.grad[0, 0] != 0).any()


@WAYS
def test_dropout_drops_weights_at_its_rate_in_training_only(need_weights):
    """Values 1 for all: what arrives is the sum of the weights that stay."""
    multi = module(1, 1, dropout=0.25, bias=False)
    with torch.no_grad():
        multi.in_proj.weight.copy_(torch.tensor([[0.0], [0.0], [1.0]]))
        multi.out_proj.weight.fill_(1.0)
    x = torch.ones(1, 101, 1, device=DEVICE)
    close(output_of(multi.eval(), x, need_weights=need_weights), x)
    stay = 0.75 * output_of(multi.train(), x, need_weights=need_weights)
    assert abs(stay.mean().item() - 0.75) < 4 * (0.75 * 0.25) ** 0.5 / 101
    assert abs(stay.std().item() - (0.75 * 0.25 / 101) ** 0.5) < 0.02


def test_no_dropout_is_the_default_and_weights_are_those_before_it():
    x = normal(2, 5, 6)
    _, weights = module(dropout=0.5)(x, need_weights=True)
    same(weights, module()(x, need_weights=True)[1])
    same(module()(x), module().eval()(x))


@WAYS
def test_empty_batches_and_no_query(need_weights):
    run = partial(output_of, module(), need_weights=need_weights)
    x, y = normal(2, 0, 6), normal(2, 5, 6)
    assert run(x, y).shape == (2, 0, 6) and run(y[:0]).shape == (0, 5, 6)


@WAYS
@CROSS
def test_autocast(need_weights, cross):
    """Autocast on the CPU; on a GPU with both half precisions."""
    kinds = [torch.bfloat16, torch.float16][: 1 + (DEVICE.type == "cuda")]
    multi, x = module(), normal(2, 5, 6)
    y = normal(2, 5, 6, seed=1) if cross else x
    may = coins(2, 1, 5, 5)
    may[0, :, 1] = False
    wanted = multi(x, y, may_attend=may)
    for kind in kinds:
        with torch.autocast(DEVICE.type, kind):
            out = output_of(
                multi, x, y, may_attend=may, need_weights=need_weights
            )
        assert out.dtype == kind
        close(out, wanted.to(kind), steps=16)
        same(out[0, 1], multi.out_proj.bias.to(kind))


@pytest.mark.compiled
@WAYS
@BIASED
@CROSS
def test_compiled_it_gives_the_same_numbers(cross, biased, need_weights):
    torch.compiler.reset()
    multi, x = module(), normal(2, 5, 6)
    inputs = (x, normal(2, 5, 6, seed=1)) if cross else (x,)
    may = coins(2, 1, 5, 5)
    may[0, :, 1] = False
    bias = normal(1, 2, 5, 5) if biased else None
    options = {"may_attend": may, "score_bias": bias}
    options["need_weights"] = need_weights
    compiled = torch.compile(multi, fullgraph=True, backend="aot_eager")
    results = compiled(*inputs, **options), multi(*inputs, **options)
    for ours, expected in zip(*results, strict=True):
        close(ours, expected)


@pytest.mark.compiled
def test_exported_it_gives_the_same_weights():
    multi, x = module(), normal(2, 5, 6)
    may = coins(2, 1, 5, 5)
    may[0, :, 1] = False
    inputs, options = (x, None, None, may), {"need_weights": True}
    exported = torch.export.export(multi, inputs, options).module()
    other = (normal(2, 5, 6, seed=1), None, None, ~may)
    results = exported(*other, **options), multi(*other, **options)
    for ours, expected in zip(*results, strict=True):
        close(ours, expected)


# --- recording


class Layer(nn.Module):
    """Two attentions, one of them deeper in the module."""

    def __init__(self):
        super().__init__()
        self.first = module()
        self.inner = nn.Sequential(module(d_model=6, heads=3))

    def forward(self, x, fail=False):
        x = self.first(x, x, x, causal_mask(x.shape[1], DEVICE))
        if fail:
            raise RuntimeError("on purpose")
        return self.inner(x)


def test_record_weights_names_every_attention_and_leaves_nothing_behind():
    layer, x = Layer(), normal(2, 5, 6)
    plain = layer(x)
    before = [sorted(vars(m)) for m in layer.modules()]
    with record_weights(layer) as weights:
        assert weights == {}
        close(layer(x), plain)
    assert [sorted(vars(m)) for m in layer.modules()] == before
    assert not any(m._forward_hooks for m in layer.modules())
    may = causal_mask(5, DEVICE)
    output, first = layer.first(x, may_attend=may, need_weights=True)
    _, second = layer.inner[0](output, need_weights=True)
    assert list(weights) == ["first", "inner.0"]
    same(weights["first"], first)
    same(weights["inner.0"], second)
    assert not weights["first"].requires_grad


@BIASED
def test_recording_changes_no_answer(biased):
    """Also where the weights are asked for, and where only a part runs.

    The decoder of chapter 14 calls the parts and never `forward`.
    """
    multi, x = module(), normal(2, 5, 6)
    bias = normal(1, 2, 5, 5, scale=3.0) if biased else None
    options = {"score_bias": bias}
    expected, asked = multi(x, need_weights=True, **options)
    with record_weights(multi) as weights:
        for ask in (False, True):
            result = multi(x, x, x, None, need_weights=ask, **options)
            assert isinstance(result, tuple) == ask
            close(result[0] if ask else result, expected)
            same(weights.pop(""), asked)
        assert result[1].requires_grad
        _, none = multi.attend(*multi.project(x, x, x), **options)
        assert none is None
        same(weights[""], asked)


def test_recording_twice_at_once_and_several_passes():
    """Each pass overwrites the last one, in every recording that is open."""
    multi, x, other = module(), normal(2, 5, 6), normal(3, 7, 6)
    first, second = (multi(y, need_weights=True)[1] for y in (x, other))
    with record_weights(multi) as outer:
        with record_weights(multi) as inner:
            multi(x)
        same(outer[""], first)
        assert torch.is_tensor(multi(other))
    same(inner[""], first)
    same(outer[""], second)


def test_an_error_ends_the_recording():
    layer, x = Layer(), normal(2, 5, 6)
    with pytest.raises(RuntimeError, match="on purpose"):
        with record_weights(layer) as weights:
            layer(x, fail=True)
    assert list(weights) == ["first"]
    assert not any("attend" in vars(m) for m in layer.modules())


# --- bad input


@pytest.mark.bad_input
def test_the_weights_are_asked_for_by_name():
    multi, x = module(), normal(2, 5, 6)
    for call in (multi, multi.attend):
        with pytest.raises(TypeError, match="positional"):
            call(x, x, x, None, True)


X, Y = torch.ones(2, 3, 6), torch.ones(2, 5, 6)
RANKS, NARROW = by_shape(X[0], X[None]), by_shape(X[..., :3])
MASK = torch.ones(2, 1, 1, 5)
NUMBERS = {
    "lib.masks.from_additive": MASK,
    "torch.int32; lib.masks.from_zero_one": MASK.int(),
}
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
ENDLESS = {"-inf; what may not be attended to is said": MASK - math.inf}


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
        ("v", part, TypeError, "torch.float32", by_dtype(k.double())),
        ("k", part, ValueError, "leading axes (2, 2)", {"(1, 2)": k[:1]}),
        ("k", part, ValueError, "width 3", {"2": k[..., :2]}),
        ("q", alone, ValueError, "4 axes", by_shape(k[0])),
        ("may_attend", part, ValueError, "four axes", MASKS),
        ("may_attend", ask, TypeError, "a tensor", {"list": [[True]]}),
        ("may_attend", ask, TypeError, "boolean tensor, True = may", NUMBERS),
        ("may_attend", ask, ValueError, "four axes", MASKS),
        ("may_attend", ask, ValueError, "(2, 2, 3, 5)", NO_MASK),
        ("score_bias", ask, TypeError, "a tensor", {"list": [[1.0]]}),
        ("score_bias", ask, TypeError, "floating-point", by_dtype(MASK > 0)),
        ("score_bias", ask, TypeError, "the queries", by_dtype(MASK.half())),
        ("score_bias", ask, ValueError, "four axes", BIASES),
        ("score_bias", ask, ValueError, "(2, 2, 3, 5)", NO_BIAS),
        ("score_bias", ask, ValueError, "finite numbers", ENDLESS),
    ]


build, multi = partial(MultiHeadAttention, 6, 2), MultiHeadAttention(6, 2)
sizes = partial(MultiHeadAttention, d_model=6, heads=2)
three, keyed = partial(multi, query=Y, key=Y, value=Y), partial(multi, Y)
valued, split = partial(multi, Y, Y), partial(split_heads, heads=4)
test_bad_input_is_refused = refuses(
    *attending(need_weights=False),
    *attending(need_weights=True),
    *no_size(sizes, "d_model", "heads"),
    ("d_model", sizes, ValueError, "a multiple of heads=2", {"7": 7}),
    *no_dropout(build),
    *no_switch(build, "bias"),
    *no_floating_tensor(multi, "query"),
    ("query", multi, ValueError, "3 axes, (batch, length", RANKS),
    ("query", multi, ValueError, "of width 6", NARROW),
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
    *no_floating_tensor(split, "x"),
    ("x", split, ValueError, "3 axes", RANKS),
    ("x", split, ValueError, "multiple of heads=4", by_shape(X)),
    *no_size(partial(split_heads, X), "heads"),
    *no_floating_tensor(merge_heads, "x"),
    ("x", merge_heads, ValueError, "4 axes", by_shape(X, MASK[None])),
)
