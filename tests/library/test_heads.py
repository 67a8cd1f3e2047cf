"""lib.heads: what is promised beyond equality with torch (test_interop)."""

import copy
import math
import pickle

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
    refused,
    same,
    size,
)


def module(d_model=6, heads=2, dtype=torch.float32, **options):
    torch.manual_seed(1)
    made = MultiHeadAttention(d_model, heads, **options)
    if made.in_proj.bias is not None:
        nn.init.normal_(made.in_proj.bias)
        nn.init.normal_(made.out_proj.bias)
    return made.to(DEVICE, dtype)


@given(size, size, size, size, dtype)
def test_split_heads_cuts_the_last_axis(batch, length, heads, d_head, dtype):
    x = normal(batch, length, heads * d_head, dtype=dtype)
    parts = split_heads(x, heads)
    same(parts, rearrange(x, "b n (h d) -> b h n d", h=heads))
    for h in range(heads):
        same(parts[:, h], x[..., h * d_head : (h + 1) * d_head])
    same(merge_heads(parts), x)


@given(size, size, size, size, dtype)
def test_merge_heads_puts_them_side_by_side(
    batch, length, heads, d_head, dtype
):
    x = normal(batch, heads, length, d_head, dtype=dtype)
    same(merge_heads(x), torch.cat(list(x.unbind(1)), -1))
    same(split_heads(merge_heads(x), heads), x)


def by_hand(module, query, key, value, may):
    """The formula, a head at a time; the output and the weights."""
    width = module.d_model // module.heads
    w_q, w_k, w_v = module.in_proj.weight.split(module.d_model)
    b_q, b_k, b_v = module.in_proj.bias.split(module.d_model)
    may = may.expand(-1, module.heads, -1, -1)
    contexts, weights = [], []
    for h in range(module.heads):
        mine = slice(h * width, (h + 1) * width)
        q = query @ w_q[mine].T + b_q[mine]
        k = key @ w_k[mine].T + b_k[mine]
        v = value @ w_v[mine].T + b_v[mine]
        weights.append(attention_weights(q, k, may[:, h]))
        contexts.append(attention(q, k, v, may[:, h]))
    joined = torch.cat(contexts, -1)
    output = joined @ module.out_proj.weight.T + module.out_proj.bias
    return output, torch.stack(weights, 1)


@given(
    st.sampled_from([(1, 1), (2, 2), (6, 2), (6, 3), (10, 5), (7, 1)]),
    st.tuples(size, size, size),
    st.booleans(),
)
def test_is_attention_head_by_head(sizes, lengths, per_head):
    batch, q_len, k_len = lengths
    d_model, heads = sizes
    multi = module(d_model, heads, torch.float64)
    query, key, value = (
        normal(batch, n, d_model, seed=s, dtype=torch.float64)
        for s, n in enumerate((q_len, k_len, k_len))
    )
    may = coins(batch, heads if per_head else 1, q_len, k_len)
    output, weights = by_hand(multi, query, key, value, may)
    close(multi(query, key, value, may), output, steps=64)
    ours = multi(query, key, value, may, need_weights=True)
    close(ours[0], output, steps=64)
    close(ours[1], weights, steps=64)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sources", ["xxx", "xxy", "xyx", "xyy", "xyz"])
def test_each_matrix_projects_its_own_source(sources, bias):
    x = {name: normal(2, 5, 6, seed=i) for i, name in enumerate("xyz")}
    query, key, value = (x[name] for name in sources)
    layer = module(bias=bias)
    apart = layer(query.clone(), key.clone(), value.clone())
    close(layer(query, key, value), apart)
    W = layer.in_proj.weight.chunk(3)
    b = layer.in_proj.bias.chunk(3) if bias else (0, 0, 0)
    for part, source, i in zip(
        layer.project(query, key, value), sources, range(3), strict=True
    ):
        close(merge_heads(part), x[source] @ W[i].T + b[i])


def test_key_and_value_default_to_the_query_and_the_key():
    multi, x, y = module(), normal(2, 3, 6), normal(2, 5, 6, seed=1)
    close(multi(x), multi(x, x.clone(), x.clone()))
    close(multi(x, y), multi(x, y, y))
    assert (multi(x, y) - multi(y[:, :3], x)).abs().max() > 0.1


@pytest.mark.parametrize("bias", [True, False])
def test_parameters(bias):
    shapes = {
        n: tuple(p.shape) for n, p in module(bias=bias).named_parameters()
    }
    expected = {"in_proj.weight": (18, 6), "out_proj.weight": (6, 6)}
    if bias:
        expected |= {"in_proj.bias": (18,), "out_proj.bias": (6,)}
    assert shapes == expected


WAYS = pytest.mark.parametrize("need_weights", [False, True])
MODES = pytest.mark.parametrize("training", [False, True])


def output_of(multi, *inputs, need_weights=False, **options):
    result = multi(*inputs, need_weights=need_weights, **options)
    return result[0] if need_weights else result


@WAYS
@MODES
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("t", [1, 4, 10])
def test_nothing_leaks_from_later_positions(t, cross, training, need_weights):
    """Bit for bit, with the same dropout."""
    multi = module(dropout=0.5).train(training)
    x, may = normal(3, 11, 6), causal_mask(11, DEVICE)
    other = x.clone()
    other[:, t:] = normal(3, 11, 6, seed=1)[:, t:] * 100

    def run(x):
        torch.manual_seed(5)
        inputs = (normal(3, 11, 6, seed=2), x, x.clone()) if cross else (x,)
        return output_of(
            multi, *inputs, may_attend=may, need_weights=need_weights
        )

    before, after = run(x), run(other)
    same(after[:, :t], before[:, :t])
    assert (after[:, t] != before[:, t]).any()


@WAYS
def test_a_padded_key_does_not_leak(need_weights):
    multi, query, key = module(), normal(2, 3, 6), normal(2, 5, 6, seed=1)
    may = torch.tensor([True, True, True, False, True], device=DEVICE)
    other = key.clone()
    other[:, 3] = 1e6
    mask = may[None, None, None]
    before, after = (
        output_of(multi, query, k, may_attend=mask, need_weights=need_weights)
        for k in (key, other)
    )
    same(after, before)
    without = output_of(multi, query, key[:, may], need_weights=need_weights)
    close(before, without)


@WAYS
@given(dtype, st.booleans())
def test_a_query_that_may_attend_to_nothing(need_weights, dtype, training):
    """It gets the context 0: the output is the bias of the output matrix."""
    multi = module(dtype=dtype).train(training)
    x = normal(2, 5, 6, dtype=dtype).requires_grad_()
    may = coins(2, 1, 5, 5)
    may[..., 0], may[0, :, 2], may[1] = True, False, False
    out = output_of(multi, x, may_attend=may, need_weights=need_weights)
    same(out[0, 2], multi.out_proj.bias)
    same(out[1], multi.out_proj.bias.expand(5, 6))
    out.square().sum().backward()
    for tensor in (x, *multi.parameters()):
        assert tensor.grad.isfinite().all()
    same(x.grad[1], torch.zeros_like(x.grad[1]))
    assert (x.grad[0, 0] != 0).any()


@WAYS
def test_an_idle_query_alone_gives_zero_gradients(need_weights):
    multi, x = module(), normal(1, 3, 6).requires_grad_()
    may = torch.zeros(1, 1, 3, 3, dtype=torch.bool, device=DEVICE)
    with torch.autograd.set_detect_anomaly(True):
        out = output_of(multi, x, may_attend=may, need_weights=need_weights)
        out.sum().backward()
    for gradient in (x.grad, multi.in_proj.weight.grad):
        same(gradient, torch.zeros_like(gradient))


@given(dtype, st.booleans(), st.booleans())
def test_both_paths_agree(dtype, masked, cross):
    multi, x = module(dtype=dtype), normal(2, 3, 6, dtype=dtype)
    y = normal(2, 5, 6, seed=1, dtype=dtype) if cross else x
    may = coins(2, 2, 3, y.shape[1]) if masked else None
    plain = multi(x, y, may_attend=may)
    output, weights = multi(x, y, may_attend=may, need_weights=True)
    close(plain, output, steps=32)
    total = (
        may.any(-1).to(dtype) if masked else torch.ones_like(weights[..., 0])
    )
    close(weights.sum(-1), total)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_the_parts_are_the_module(cross, bias):
    """Projection, attention and output, called one by one."""
    multi, x = module(bias=bias, dtype=torch.float64), normal(2, 3, 6)
    x = x.double()
    y = normal(2, 5, 6, seed=1).double() if cross else x
    may = coins(2, 1, 3, y.shape[1])
    expected, weights = multi(x, y, may_attend=may, need_weights=True)
    parts = q, k, v = multi.project(x, y, y)
    for source, (matrix, shift), part in zip(
        (x, y, y), multi.matrices(), parts, strict=True
    ):
        close(part, split_heads(F.linear(source, matrix, shift), 2))
    context, none = multi.attend(q, k, v, may)
    assert none is None and context.shape == (2, 2, 3, 3)
    close(multi.output(context), expected)
    asked, found = multi.attend(q, k, v, may, need_weights=True)
    close(asked, context)
    same(found, weights)
    same(context[:, 1], multi.attend(*(p[:, 1:] for p in parts), may)[0][:, 0])


def test_recording_hears_a_part_alone():
    """As the decoder of chapter 14 uses it, which never calls `forward`."""
    multi, x = module(), normal(2, 5, 6)
    with record_weights(multi) as weights:
        context, none = multi.attend(*multi.project(x, x, x))
    assert none is None and context.shape == (2, 2, 5, 3)
    same(weights[""], multi(x, need_weights=True)[1].detach())


@pytest.mark.bad_input
def test_the_weights_are_asked_for_by_name():
    multi, x = module(), normal(2, 5, 6)
    with pytest.raises(TypeError, match="positional"):
        multi(x, x, x, None, True)
    with pytest.raises(TypeError, match="positional"):
        multi.attend(*multi.project(x, x, x), None, True)


@pytest.mark.bad_input
def test_attend_refuses_what_does_not_fit_together():
    """On the fast path torch would read past the end of the keys."""
    multi, q = module().cpu(), torch.ones(2, 2, 3, 3)
    k, may = torch.ones(2, 2, 5, 3), torch.ones(3, 5) > 0
    for ask in (False, True):
        options = {"need_weights": ask}
        with refused(ValueError, "v", "one value for each key", "(2, 2, 7)"):
            multi.attend(q, k, torch.ones(2, 2, 7, 3), **options)
        with refused(ValueError, "k", "leading axes (2, 2)", "(1, 2)"):
            multi.attend(q, k[:1], k[:1], **options)
        with refused(ValueError, "k", "width 3", "2"):
            multi.attend(q, k[..., :2], k, **options)
        with refused(ValueError, "q", "4 axes", "(2, 3, 3)"):
            multi.attend(q[0], k[0], k[0], **options)
        with refused(TypeError, "v", "torch.float32", "torch.float64"):
            multi.attend(q, k, k.double(), **options)
        with refused(ValueError, "may_attend", "four axes", "(3, 5)"):
            multi.attend(q, k, k, may, **options)


@WAYS
def test_gradient(need_weights):
    multi = module(dtype=torch.float64)
    x, y = (normal(1, n, 6, seed=n, dtype=torch.float64) for n in (2, 3))
    may = coins(1, 2, 2, 3)
    may[0, :, 1] = False

    def run(x, y, *parameters):
        named = dict(
            zip(dict(multi.named_parameters()), parameters, strict=True)
        )
        options = {"need_weights": need_weights}
        return torch.func.functional_call(
            multi, named, (x, y, None, may), options
        )

    inputs = (x.requires_grad_(), y.requires_grad_(), *multi.parameters())
    assert torch.autograd.gradcheck(run, inputs)


@WAYS
def test_dropout_only_in_training(need_weights):
    multi, x = module(dropout=0.5), normal(2, 5, 6)
    plain = module()
    multi.eval()
    for _ in range(2):
        out = output_of(multi, x, need_weights=need_weights)
        same(out, output_of(plain, x, need_weights=need_weights))
    multi.train()
    once = output_of(multi, x, need_weights=need_weights)
    assert (once != output_of(multi, x, need_weights=need_weights)).any()


@WAYS
def test_dropout_drops_weights_at_its_rate(need_weights):
    """Values 1 for all: what arrives is the sum of the weights that stay."""
    multi = module(1, 1, dropout=0.25, bias=False)
    with torch.no_grad():
        multi.in_proj.weight.copy_(torch.tensor([[0.0], [0.0], [1.0]]))
        multi.out_proj.weight.fill_(1.0)
    x = torch.ones(1, 101, 1, device=DEVICE)
    out = output_of(multi, x, need_weights=need_weights)
    stay = out * 0.75
    assert abs(stay.mean().item() - 0.75) < 4 * (0.75 * 0.25) ** 0.5 / 101
    assert abs(stay.std().item() - (0.75 * 0.25 / 101) ** 0.5) < 0.02


def test_returned_weights_are_those_before_dropout():
    multi, x = module(dropout=0.5), normal(2, 5, 6)
    _, weights = multi(x, need_weights=True)
    same(weights, module()(x, need_weights=True)[1])
    close(weights.sum(-1), torch.ones(2, 2, 5, device=DEVICE))


@WAYS
def test_nothing_is_stored_on_the_module(need_weights):
    multi = module()

    def inventory():
        parts = [(n, sorted(vars(m))) for n, m in multi.named_modules()]
        return parts, list(multi.state_dict())

    before = inventory()
    multi(normal(2, 5, 6), need_weights=need_weights)
    with record_weights(multi):
        multi(normal(2, 5, 6))
    assert inventory() == before
    assert not any(m._forward_hooks for m in multi.modules())
    assert not any(m._forward_pre_hooks for m in multi.modules())


def test_copies_give_the_same_numbers():
    multi, x = module(), normal(2, 5, 6)
    fresh = MultiHeadAttention(6, 2).to(DEVICE)
    fresh.load_state_dict(multi.state_dict())
    for twin in (
        copy.deepcopy(multi),
        pickle.loads(pickle.dumps(multi)),
        fresh,
    ):
        same(twin(x), multi(x))


def test_empty_batches_and_no_query():
    multi = module()
    for ask in (False, True):
        x, y = normal(2, 0, 6), normal(2, 5, 6)
        assert output_of(multi, x, y, need_weights=ask).shape == (2, 0, 6)
        assert output_of(multi, y[:0], need_weights=ask).shape == (0, 5, 6)


@WAYS
@pytest.mark.parametrize("cross", [False, True])
def test_autocast(need_weights, cross):
    """Autocast on the CPU; on a GPU with both half precisions."""
    kinds = [torch.bfloat16, torch.float16][: 1 + (DEVICE.type == "cuda")]
    multi, x = module(), normal(2, 5, 6)
    y = normal(2, 5, 6, seed=1) if cross else x
    may = coins(2, 1, 5, 5)
    may[0, :, 1] = False
    wanted = output_of(multi, x, y, may_attend=may)
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
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_compiled_it_gives_the_same_numbers(cross, masked, need_weights):
    torch.compiler.reset()
    multi, x = module(), normal(2, 5, 6)
    inputs = (x, normal(2, 5, 6, seed=1)) if cross else (x,)
    may = coins(2, 1, 5, 5) if masked else None
    if masked:
        may[0, :, 1] = False
    compiled = torch.compile(multi, fullgraph=True, backend="aot_eager")
    options = {"may_attend": may, "need_weights": need_weights}
    results = compiled(*inputs, **options), multi(*inputs, **options)
    for ours, expected in zip(*results, strict=True):
        close(ours, expected)


@pytest.mark.compiled
@WAYS
def test_exported_it_gives_the_same_numbers(need_weights):
    multi, x = module(), normal(2, 5, 6)
    may = coins(2, 1, 5, 5)
    may[0, :, 1] = False
    inputs, options = (x, None, None, may), {"need_weights": need_weights}
    exported = torch.export.export(multi, inputs, options).module()
    other = (normal(2, 5, 6, seed=1), None, None, ~may)
    results = exported(*other, **options), multi(*other, **options)
    for ours, expected in zip(*results, strict=True):
        close(ours, expected)


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


def test_record_weights_names_every_attention():
    layer, x = Layer(), normal(2, 5, 6)
    plain = layer(x)
    with record_weights(layer) as weights:
        assert weights == {}
        close(layer(x), plain)
        may = causal_mask(5, DEVICE)
        output, first = layer.first(x, may_attend=may, need_weights=True)
        _, second = layer.inner[0](output, need_weights=True)
    assert list(weights) == ["first", "inner.0"]
    same(weights["first"], first)
    same(weights["inner.0"], second)
    assert not weights["first"].requires_grad


def test_record_weights_of_an_attention_alone_and_of_none():
    multi, x = module(), normal(2, 5, 6)
    with record_weights(multi) as weights:
        multi(x)
    assert list(weights) == [""]
    with record_weights(nn.Linear(6, 6).to(DEVICE)) as weights:
        pass
    assert weights == {}


def test_recording_changes_no_answer():
    """Also where the weights are asked for."""
    multi, x = module(), normal(2, 5, 6)
    expected, _ = multi(x, need_weights=True)
    with record_weights(multi) as weights:
        for ask in (False, True):
            alone = multi(x, need_weights=ask)
            across = multi(x, x, x, None, need_weights=ask)
            for result in (alone, across):
                assert isinstance(result, tuple) == ask
                output, asked = result if ask else (result, weights[""])
                close(output, expected)
                same(asked.detach(), weights[""])
                assert asked.requires_grad == ask


def test_recording_twice_at_once():
    multi, x = module(), normal(2, 5, 6)
    with record_weights(multi) as outer:
        with record_weights(multi) as inner:
            output = multi(x)
        same(outer[""], inner[""])
        other = multi(normal(2, 5, 6, seed=1))
    assert output.shape == other.shape == x.shape
    assert (outer[""] != inner[""]).any()


def test_each_pass_overwrites_the_last_one():
    multi = module()
    with record_weights(multi) as weights:
        multi(normal(2, 5, 6))
        multi(normal(3, 7, 6))
    assert weights[""].shape == (3, 2, 7, 7)
    _, expected = multi(normal(3, 7, 6), need_weights=True)
    same(weights[""], expected)


def test_an_error_ends_the_recording():
    layer, x = Layer(), normal(2, 5, 6)
    with pytest.raises(RuntimeError, match="on purpose"):
        with record_weights(layer) as weights:
            layer(x, fail=True)
    assert list(weights) == ["first"]
    assert not any("attend" in vars(m) for m in layer.modules())
    weights.clear()
    layer(x)
    assert weights == {}


def test_a_pass_that_fails_inside_an_attention_leaves_the_next_ones_alone():
    multi, x = module(), normal(2, 5, 6)
    with record_weights(multi) as weights:
        with pytest.raises(RuntimeError):
            with torch.device("meta"):
                multi(x.to("meta"), need_weights=True)
        assert torch.is_tensor(multi(x))
    assert list(weights) == [""]


@pytest.mark.bad_input
@pytest.mark.parametrize("argument", ["d_model", "heads"])
def test_refuses_sizes_that_are_none(argument):
    sizes = {"d_model": 6, "heads": 2}
    for value, got in ((None, "NoneType"), (2.0, "float"), (True, "bool")):
        with refused(TypeError, argument, "an integer", got):
            MultiHeadAttention(**sizes | {argument: value})
    for value in (0, -2):
        with refused(ValueError, argument, "at least 1", f"{value}"):
            MultiHeadAttention(**sizes | {argument: value})


@pytest.mark.bad_input
def test_refuses_a_bias_that_is_none():
    with refused(TypeError, "bias", "True or False", "str"):
        MultiHeadAttention(8, 2, 0.0, "no")


@pytest.mark.bad_input
def test_refuses_a_width_that_cannot_be_divided():
    with refused(ValueError, "d_model", "a multiple of heads=4", "6"):
        MultiHeadAttention(6, 4)
    with refused(ValueError, "dropout", "0 <= dropout < 1", "1.0"):
        MultiHeadAttention(6, 2, dropout=1.0)
    with refused(TypeError, "dropout", "a number", "str"):
        MultiHeadAttention(6, 2, dropout="0.1")


@pytest.mark.bad_input
def test_split_heads_refuses_what_it_cannot_cut():
    for value, got in ((None, "NoneType"), ([[[1.0]]], "list")):
        with refused(TypeError, "x", "a tensor", got):
            split_heads(value, 2)
    with refused(TypeError, "x", "a floating-point tensor", "torch.int64"):
        split_heads(torch.ones(2, 3, 6).long(), 2)
    for shape in ((3, 6), (2, 3, 5, 6)):
        with refused(ValueError, "x", "3 axes", f"{shape}"):
            split_heads(torch.ones(shape), 2)
    with refused(ValueError, "x", "multiple of heads=4", "(2, 3, 6)"):
        split_heads(torch.ones(2, 3, 6), 4)
    for heads, got in ((2.0, "float"), (None, "NoneType"), (True, "bool")):
        with refused(TypeError, "heads", "an integer", got):
            split_heads(torch.ones(2, 3, 6), heads)
    with refused(ValueError, "heads", "at least 1", "0"):
        split_heads(torch.ones(2, 3, 6), 0)


@pytest.mark.bad_input
def test_merge_heads_refuses_what_has_no_heads():
    with refused(TypeError, "x", "a tensor", "list"):
        merge_heads([1.0])
    with refused(TypeError, "x", "a floating-point tensor", "torch.bool"):
        merge_heads(coins(2, 3, 5, 7))
    for shape in ((2, 3, 6), (1, 2, 3, 5, 6)):
        with refused(ValueError, "x", "4 axes", f"{shape}"):
            merge_heads(torch.ones(shape))


@pytest.mark.bad_input
@pytest.mark.parametrize("argument", ["query", "key", "value"])
@pytest.mark.parametrize(
    ("wrong", "error", "expected", "got"),
    [
        ([[[1.0] * 6]], TypeError, "a tensor", "list"),
        (torch.ones(2, 5, 6).int(), TypeError, "floating", "torch.int32"),
        (torch.ones(5, 6), ValueError, "3 axes, (batch, length", "(5, 6)"),
        (torch.ones(1, 2, 5, 6), ValueError, "3 axes", "(1, 2, 5, 6)"),
        (torch.ones(2, 5, 7), ValueError, "of width 6", "(2, 5, 7)"),
    ],
)
def test_refuses_inputs_that_are_none(argument, wrong, error, expected, got):
    inputs = dict.fromkeys(("query", "key", "value"), torch.ones(2, 5, 6))
    inputs[argument] = wrong
    with refused(error, argument, expected, got):
        module().cpu()(**inputs)


@pytest.mark.bad_input
def test_refuses_inputs_that_do_not_fit_together():
    multi, x = module().cpu(), torch.ones(2, 5, 6)
    with refused(TypeError, "key", "the dtype of query", "torch.float64"):
        multi(x, x.double())
    with refused(ValueError, "key", "the batch of the query, 2", "1"):
        multi(x, x[:1])
    with refused(ValueError, "value", "one for each key, (2, 5)", "(2, 3)"):
        multi(x, x, x[:, :3])
    with refused(ValueError, "value", "one for each key, (2, 5)", "(1, 5)"):
        multi(x, x, x[:1])
    with refused(ValueError, "key", "at least one key", "none"):
        multi(x, x[:, :0])
    with refused(ValueError, "query", "of width 6", "(2, 5, 3)"):
        multi(x[..., :3])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("may", "error", "expected", "got"),
    [
        ([[True]], TypeError, "a tensor", "list"),
        (torch.ones(2, 1, 1, 5), TypeError, "= may", "masks.from_additive"),
        (torch.ones(2, 1, 1, 5).int(), TypeError, "boolean", "from_zero_one"),
        (torch.ones(5) > 0, ValueError, "four axes", "(5,)"),
        (torch.ones(2, 5) > 0, ValueError, "four axes", "[:, None, None]"),
        (torch.ones(3, 5) > 0, ValueError, "four axes", "mask[None, None]"),
        (torch.ones(2, 3, 5) > 0, ValueError, "four axes", "mask[:, None]"),
        (torch.ones(2, 3, 5) > 0, ValueError, "four axes", "mask[None]"),
        (torch.ones(3, 1, 3, 5) > 0, ValueError, "(2, 2, 3, 5)", "(3, 1, 3"),
        (torch.ones(2, 3, 3, 5) > 0, ValueError, "(2, 2, 3, 5)", "(2, 3, 3"),
        (torch.ones(2, 1, 5, 3) > 0, ValueError, "(2, 2, 3, 5)", "(2, 1, 5"),
    ],
)
def test_refuses_a_mask_that_is_none(may, error, expected, got):
    multi, x, y = module().cpu(), torch.ones(2, 3, 6), torch.ones(2, 5, 6)
    for ask in (False, True):
        with refused(error, "may_attend", expected, got):
            multi(x, y, may_attend=may, need_weights=ask)


@pytest.mark.parametrize("axes", [(2, 2, 3, 1), (1, 1, 1, 5), (1, 2, 1, 1)])
def test_a_mask_is_broadcast(axes):
    multi, x, y = module(), normal(2, 3, 6), normal(2, 5, 6, seed=1)
    may = coins(*axes)
    whole = may.expand(2, 2, 3, 5)
    for ask in (False, True):
        close(
            output_of(multi, x, y, may_attend=may, need_weights=ask),
            output_of(multi, x, y, may_attend=whole, need_weights=ask),
        )


@pytest.mark.bad_input
def test_values_without_keys_are_refused():
    multi, x = module(), normal(2, 3, 6)
    with refused(ValueError, "value", "a key too", "a value alone"):
        multi(x, value=x.clone())


# --- a bias on the scores


@WAYS
@MODES
@given(dtype, st.booleans(), st.sampled_from([(2, 2), (1, 2), (1, 1)]))
def test_a_bias_is_torchs_float_mask(
    need_weights, training, dtype, masked, front
):
    multi = module(dtype=dtype).train(training)
    x = normal(2, 3, 6, dtype=dtype)
    y = normal(2, 5, 6, seed=1, dtype=dtype)
    bias = normal(*front, 3, 5, seed=4, dtype=dtype, scale=3.0)
    may = coins(2, 1, 3, 5)
    may[..., 0] = True
    wide = copy.deepcopy(multi).double()
    q, k, v = wide.project(x.double(), y.double(), y.double())
    added = bias.double()
    if masked:
        added = added.masked_fill(~may, -math.inf)
    context = F.scaled_dot_product_attention(q, k, v, added)
    close(
        output_of(
            multi,
            x,
            y,
            may_attend=may if masked else None,
            score_bias=bias,
            need_weights=need_weights,
        ),
        wide.output(context).to(dtype),
        steps=64,
    )


@WAYS
@MODES
def test_a_bias_leaves_an_idle_query_at_zero(need_weights, training):
    multi, x = module().train(training), normal(2, 3, 6).requires_grad_()
    bias = normal(1, 2, 3, 3, seed=4).requires_grad_()
    may = coins(2, 1, 3, 3)
    may[..., 0], may[0, :, 2] = True, False
    options = {"may_attend": may, "score_bias": bias}
    with torch.autograd.set_detect_anomaly(True):
        out = output_of(multi, x, need_weights=need_weights, **options)
        out.square().sum().backward()
    same(out[0, 2], multi.out_proj.bias)
    for tensor in (x, bias, *multi.parameters()):
        assert tensor.grad.isfinite().all()
    assert (bias.grad[0, :, 1] != 0).any()


def test_a_bias_of_zero_changes_nothing():
    multi, x = module(), normal(2, 3, 6)
    zero = torch.zeros(1, 1, 1, 1, device=DEVICE)
    for ask in (False, True):
        close(
            output_of(multi, x, score_bias=zero, need_weights=ask),
            output_of(multi, x, need_weights=ask),
        )


def test_recorded_weights_are_those_with_the_bias():
    multi, x = module(), normal(2, 3, 6)
    bias = normal(1, 2, 3, 3, scale=3.0)
    output, weights = multi(x, score_bias=bias, need_weights=True)
    with record_weights(multi) as recorded:
        close(multi(x, score_bias=bias), output)
    same(recorded[""], weights)


@pytest.mark.compiled
def test_compiled_with_a_bias_it_gives_the_same_numbers():
    multi, x = module(), normal(2, 3, 6)
    bias, may = normal(1, 2, 3, 3), causal_mask(3, DEVICE)
    compiled = torch.compile(multi, backend="eager", fullgraph=True)
    same(
        compiled(x, may_attend=may, score_bias=bias),
        multi(x, may_attend=may, score_bias=bias),
    )


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("bias", "error", "expected", "got"),
    [
        ([[1.0]], TypeError, "a tensor", "list"),
        (torch.ones(2, 1, 1, 5) > 0, TypeError, "floating", "torch.bool"),
        (torch.ones(1, 1, 3, 5).half(), TypeError, "queries", "float16"),
        (torch.ones(3, 5), ValueError, "four axes", "bias[None, None]"),
        (torch.ones(2, 3, 5), ValueError, "four axes", "bias[None]"),
        (torch.ones(5), ValueError, "four axes", "(5,)"),
        (torch.ones(2, 3, 3, 5), ValueError, "(2, 2, 3, 5)", "(2, 3, 3"),
        (
            torch.full((1, 1, 1, 5), -math.inf),
            ValueError,
            "finite",
            "may_attend",
        ),
    ],
)
def test_refuses_a_score_bias_that_is_none(bias, error, expected, got):
    multi, x, y = module().cpu(), torch.ones(2, 3, 6), torch.ones(2, 5, 6)
    for ask in (False, True):
        with refused(error, "score_bias", expected, got):
            multi(x, y, score_bias=bias, need_weights=ask)
