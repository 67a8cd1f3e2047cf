"""kit.interop: our modules give torch's numbers with torch's weights."""

import copy
import itertools
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from kit.interop import from_torch
from lib.layers import ACTIVATIONS
from lib.masks import causal_mask, for_torch_mha, padding_mask
from tests.library.draw import DEVICE, normal, refused, same

ALLOWED = {
    torch.float64: 1e-10,
    torch.float32: 1e-5,
    torch.bfloat16: 5e-2,
    torch.float16: 5e-3,
}
HALF = [torch.bfloat16, torch.float16][: 1 + (DEVICE.type == "cuda")]
BATCH, Q_LEN, D_MODEL, HEADS = 3, 5, 12, 4


def torchs(dtype=torch.float64, dropout=0.0, **options):
    torch.manual_seed(1)
    module = nn.MultiheadAttention(D_MODEL, HEADS, dropout, **options)
    if module.in_proj_bias is not None:
        nn.init.normal_(module.in_proj_bias)
        nn.init.normal_(module.out_proj.bias)
    return module.to(DEVICE, dtype)


def inputs(k_len, dtype):
    """Query, key and value, three different tensors."""
    return tuple(
        normal(BATCH, n, D_MODEL, seed=s, dtype=dtype)
        for s, n in enumerate((Q_LEN, k_len, k_len))
    )


def mask(kind, k_len):
    may = torch.ones(1, 1, Q_LEN, k_len, dtype=torch.bool, device=DEVICE)
    lengths = torch.tensor([2, k_len, 1], device=DEVICE)
    if kind in ("padding", "both"):
        may = may & padding_mask(lengths, k_len)
    if kind in ("causal", "both"):
        longest = max(Q_LEN, k_len)
        may = may & causal_mask(longest, DEVICE)[..., :Q_LEN, :k_len]
    return may if kind != "none" else None


def answers(module, query, key, value, may):
    """What torch's module gives, batch first, with the weights per head."""
    first = module.batch_first
    parts = [x if first else x.transpose(0, 1) for x in (query, key, value)]
    if may is not None:
        may = for_torch_mha(may, BATCH, HEADS, Q_LEN)
    output, weights = module(*parts, attn_mask=may, average_attn_weights=False)
    return output if first else output.transpose(0, 1), weights


def equal(actual, expected, allowed):
    torch.testing.assert_close(actual, expected, atol=allowed, rtol=allowed)


def agree(ours, expected, allowed, *inputs):
    """Our module gives the expected pair on both of its paths."""
    output, weights = expected
    equal(ours(*inputs), output, allowed)
    both = ours(*inputs, need_weights=True)
    equal(both[0], output, allowed)
    equal(both[1], weights.to(both[1].dtype), allowed)


KINDS = pytest.mark.parametrize("kind", ["none", "padding", "causal", "both"])
K_LENGTHS = pytest.mark.parametrize("k_len", [5, 7, 2])


@pytest.mark.covered(2)
@KINDS
@K_LENGTHS
@pytest.mark.parametrize("dtype", ALLOWED)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_attention_equals_torchs(kind, k_len, dtype, bias, batch_first):
    module = torchs(dtype, bias=bias, batch_first=batch_first)
    parts, may = inputs(k_len, dtype), mask(kind, k_len)
    expected = answers(module, *parts, may)
    agree(from_torch(module), expected, ALLOWED[dtype], *parts, may)


@pytest.mark.covered(2)
@KINDS
@pytest.mark.parametrize("dtype", ALLOWED)
@pytest.mark.parametrize("bias", [True, False])
def test_self_attention_equals_torchs(kind, dtype, bias):
    module = torchs(dtype, bias=bias, batch_first=True)
    x, may = inputs(5, dtype)[0], mask(kind, 5)
    expected = answers(module, x, x, x, may)
    agree(from_torch(module), expected, ALLOWED[dtype], x, None, None, may)


@KINDS
@K_LENGTHS
@pytest.mark.parametrize("half", HALF)
def test_attention_equals_torchs_under_autocast(kind, k_len, half):
    module = torchs(torch.float32, batch_first=True)
    parts, may = inputs(k_len, torch.float32), mask(kind, k_len)
    with torch.autocast(DEVICE.type, half):
        expected = answers(module, *parts, may)
        assert expected[0].dtype == half
        agree(from_torch(module), expected, ALLOWED[half], *parts, may)


@KINDS
@K_LENGTHS
def test_gradients_equal_torchs(kind, k_len):
    module = torchs(batch_first=True)
    ours = from_torch(module)
    parts, may = inputs(k_len, torch.float64), mask(kind, k_len)
    leaves = [x.requires_grad_() for x in parts]

    def gradients(output, module):
        named = dict(module.named_parameters())
        wanted = [*leaves, *(named[name] for name in sorted(named))]
        return torch.autograd.grad(output.square().sum(), wanted)

    expected = gradients(answers(module, *parts, may)[0], module)
    for output in (
        ours(*parts, may),
        ours(*parts, may, need_weights=True)[0],
    ):
        for gradient, theirs in zip(
            gradients(output, ours), expected, strict=True
        ):
            equal(gradient, theirs, 1e-10)


@pytest.mark.parametrize("dtype", ALLOWED)
def test_where_torch_gives_nan_we_give_the_bias(dtype):
    """The second sentence is empty: none of its queries may attend."""
    module = torchs(dtype, batch_first=True)
    parts = inputs(5, dtype)
    empty = torch.tensor([5, 0, 2], device=DEVICE)
    may = padding_mask(empty, 5)
    output, weights = answers(module, *parts, may)
    assert output[1].isnan().all() and weights[1].isnan().all()
    ours = from_torch(module)
    output[1], weights[1] = module.out_proj.bias, 0.0
    agree(ours, (output, weights), ALLOWED[dtype], *parts, may)
    same(ours(*parts, may)[1], module.out_proj.bias.expand(Q_LEN, -1))


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("dtype", ALLOWED)
def test_where_torch_gives_nan_our_gradients_are_zero(dtype, need_weights):
    ours = from_torch(torchs(dtype, batch_first=True))
    leaves = [x.requires_grad_() for x in inputs(5, dtype)]
    may = padding_mask(torch.tensor([5, 0, 2], device=DEVICE), 5)
    result = ours(*leaves, may, need_weights=need_weights)
    output = result[0] if need_weights else result
    wanted = [*leaves, *ours.parameters()]
    for gradient in torch.autograd.grad(output.square().sum(), wanted):
        assert gradient.isfinite().all()
        if gradient.ndim == 3:
            same(gradient[1], torch.zeros_like(gradient[1]))
            assert (gradient[0] != 0).any()


@pytest.mark.parametrize("dtype", ALLOWED)
@pytest.mark.parametrize("training", [True, False])
def test_dtype_device_mode_and_options_are_taken_over(dtype, training):
    module = torchs(dtype, dropout=0.25).train(training)
    ours = from_torch(module)
    assert ours.training == ours.in_proj.training == training
    assert (ours.dropout, ours.heads, ours.d_model) == (0.25, HEADS, D_MODEL)
    for parameter in ours.parameters():
        assert parameter.dtype == dtype
        assert parameter.device == module.in_proj_weight.device


def test_the_weights_are_a_copy():
    module = torchs()
    ours, parts = from_torch(module), inputs(5, torch.float64)
    before = ours(*parts)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()
    same(ours(*parts), before)
    assert all(p.requires_grad for p in ours.parameters())


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("module", "got"),
    [(nn.Linear(3, 3), "Linear"), (nn.RMSNorm(3), "RMS"), (None, "None")],
)
def test_refuses_a_module_without_counterpart(module, got):
    with refused(TypeError, "module", "MultiheadAttention", got):
        from_torch(module)


@pytest.mark.bad_input
def test_refuses_options_that_we_do_not_have():
    module = nn.MultiheadAttention(6, 2, kdim=5, vdim=7)
    with refused(ValueError, "module", "equal to embed_dim", "5, 7 and 6"):
        from_torch(module)
    module = nn.MultiheadAttention(6, 2, add_bias_kv=True)
    with refused(ValueError, "module", "add_bias_kv=False", "True and False"):
        from_torch(module)
    module = nn.MultiheadAttention(6, 2, add_zero_attn=True)
    with refused(ValueError, "module", "zero_attn=False", "False and True"):
        from_torch(module)


WIDTH, PARTS, HIDDEN, S_LEN, T_LEN = 15, 3, 11, 7, 5
WORDS = {
    "layers.": "blocks.",
    "in_proj_": "in_proj.",
    "linear1": "feed_forward.widen",
    "linear2": "feed_forward.narrow",
}
ENCODER_WORDS = {
    "self_attn": "attention",
    "norm1": "around_attention.norm",
    "norm2": "around_feed_forward.norm",
}
DECODER_WORDS = {
    "self_attn": "self_attention",
    "multihead_attn": "cross_attention",
    "norm1": "around_self_attention.norm",
    "norm2": "around_cross_attention.norm",
    "norm3": "around_feed_forward.norm",
}
EXACT = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
ORDERS = pytest.mark.parametrize("norm_first", [False, True])
FIRST = pytest.mark.parametrize("batch_first", [False, True])
FINAL = pytest.mark.parametrize("final", [False, True])
NAMES = pytest.mark.parametrize("activation", ["relu", "gelu"])
BIASES = pytest.mark.parametrize("bias", [True, False])


def scattered(module):
    """All parameters random, the gains around 1."""
    for name, parameter in module.named_parameters():
        is_gain = "norm" in name and name.endswith("weight")
        nn.init.normal_(parameter, mean=float(is_gain), std=0.2)
    return module


def layer(kind, dtype=torch.float64, dropout=0.0, **options):
    """A layer of torch's with weights that no initialisation would give."""
    torch.manual_seed(1)
    made = kind(WIDTH, PARTS, HIDDEN, dropout, **options)
    return scattered(made).to(DEVICE, dtype)


def stack(kind, norm=None, **options):
    """Three layers that differ."""
    decoder = kind is nn.TransformerDecoder
    part = (
        nn.TransformerDecoderLayer if decoder else nn.TransformerEncoderLayer
    )
    more = {} if decoder else {"enable_nested_tensor": False}
    first = layer(part, **options)
    made = kind(first, 3, norm, **more)
    return scattered(made).to(first.linear1.weight)


def last_norm():
    return nn.LayerNorm(WIDTH, eps=0.01)


def masks(q_len, k_len, kinds):
    """(torch's pair of masks, ours) of each kind."""
    pad = padding_mask(torch.tensor([2, k_len, 1], device=DEVICE), k_len)
    causal = causal_mask(max(q_len, k_len), DEVICE)[..., :q_len, :k_len]
    every = {
        "none": ((None, None), None),
        "padding": ((None, ~pad[:, 0, 0]), pad),
        "causal": ((~causal[0, 0], None), causal),
        "both": ((~causal[0, 0], ~pad[:, 0, 0]), pad & causal),
    }
    return [every[kind] for kind in kinds]


ALL_KINDS = ("none", "padding", "causal", "both")


def encoder_calls():
    """Arguments for torch's encoder, and for ours."""
    for (mask, padding), ours in masks(S_LEN, S_LEN, ALL_KINDS):
        yield (mask, padding), (ours,)


def decoder_calls():
    """Arguments for torch's decoder after x and memory, and for ours."""
    looks_back = masks(T_LEN, T_LEN, ALL_KINDS)
    looks_across = masks(T_LEN, S_LEN, ALL_KINDS)
    for back, across in itertools.product(looks_back, looks_across):
        (mask, padding), ours = back
        (memory_mask, memory_padding), memory_ours = across
        yield (mask, memory_mask, padding, memory_padding), (ours, memory_ours)


def our_name(name, words):
    for old, new in (WORDS | words).items():
        name = name.replace(old, new)
    return name


def near(actual, expected, allowed):
    """Equal, up to a share of the largest entry."""
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    largest = expected.abs().max().item()
    assert (actual - expected).abs().max().item() <= allowed * largest


def agree_on(module, sources, calls, words):
    """Outputs and all gradients are torch's, under every mask."""
    ours = from_torch(module)
    dtype = sources[0].dtype
    allowed = {torch.float64: 1e-10, torch.float32: 1e-5}[dtype]
    theirs = dict(module.named_parameters())
    renamed = {our_name(name, words): theirs[name] for name in theirs}
    mine = dict(ours.named_parameters())
    assert sorted(renamed) == sorted(mine)
    leaves = [x.requires_grad_() for x in sources]
    first = getattr(module, "layers", [module])[0].self_attn.batch_first

    def turned(x):
        return x if first else x.transpose(0, 1)

    slope = normal(*leaves[0].shape, seed=9, dtype=dtype)
    for torch_masks, our_masks in calls:
        expected = turned(module(*map(turned, leaves), *torch_masks))
        actual = ours(*leaves, *our_masks)
        near(actual, expected, allowed)
        wanted = torch.autograd.grad(
            expected, [*leaves, *renamed.values()], slope
        )
        given = torch.autograd.grad(
            actual, [*leaves, *(mine[name] for name in renamed)], slope
        )
        for one, other in zip(given, wanted, strict=True):
            near(one, other, allowed)


def vectors(*lengths, dtype=torch.float64):
    return [normal(BATCH, n, WIDTH, seed=n, dtype=dtype) for n in lengths]


@pytest.mark.covered(2)
@EXACT
@ORDERS
@NAMES
@FIRST
@BIASES
def test_encoder_block_equals_torchs(
    dtype, norm_first, activation, batch_first, bias
):
    module = layer(
        nn.TransformerEncoderLayer,
        dtype,
        bias=bias,
        norm_first=norm_first,
        activation=activation,
        batch_first=batch_first,
    )
    sources = vectors(S_LEN, dtype=dtype)
    agree_on(module, sources, encoder_calls(), ENCODER_WORDS)


@pytest.mark.covered(2)
@EXACT
@ORDERS
@NAMES
@FIRST
@BIASES
def test_decoder_block_equals_torchs(
    dtype, norm_first, activation, batch_first, bias
):
    module = layer(
        nn.TransformerDecoderLayer,
        dtype,
        bias=bias,
        norm_first=norm_first,
        activation=activation,
        batch_first=batch_first,
    )
    sources = vectors(T_LEN, S_LEN, dtype=dtype)
    agree_on(module, sources, decoder_calls(), DECODER_WORDS)


@pytest.mark.covered(2)
@EXACT
@ORDERS
@FINAL
@FIRST
def test_encoder_equals_torchs(dtype, norm_first, final, batch_first):
    module = stack(
        nn.TransformerEncoder,
        last_norm() if final else None,
        dtype=dtype,
        norm_first=norm_first,
        activation="gelu",
        batch_first=batch_first,
    )
    sources = vectors(S_LEN, dtype=dtype)
    agree_on(module, sources, encoder_calls(), ENCODER_WORDS)


@pytest.mark.covered(2)
@EXACT
@ORDERS
@FINAL
@FIRST
def test_decoder_equals_torchs(dtype, norm_first, final, batch_first):
    module = stack(
        nn.TransformerDecoder,
        last_norm() if final else None,
        dtype=dtype,
        norm_first=norm_first,
        batch_first=batch_first,
    )
    sources = vectors(T_LEN, S_LEN, dtype=dtype)
    agree_on(module, sources, decoder_calls(), DECODER_WORDS)


LAYERS = {
    nn.TransformerEncoderLayer: (S_LEN,),
    nn.TransformerDecoderLayer: (T_LEN, S_LEN),
}
STACKS = {
    nn.TransformerEncoder: (S_LEN,),
    nn.TransformerDecoder: (T_LEN, S_LEN),
}
BOTH = pytest.mark.parametrize(("kind", "lengths"), LAYERS.items())
STACKED = pytest.mark.parametrize(("kind", "lengths"), STACKS.items())


@BOTH
@pytest.mark.parametrize(
    ("activation", "name"),
    [
        (F.relu, "relu"),
        (torch.relu, "relu"),
        (nn.ReLU(), "relu"),
        (nn.ReLU(inplace=True), "relu"),
        (F.gelu, "gelu"),
        (nn.GELU(), "gelu"),
        (nn.GELU("tanh"), "gelu_tanh"),
    ],
)
def test_an_activation_may_be_a_function_or_a_module(
    kind, lengths, activation, name
):
    module = layer(kind, activation=activation, batch_first=True)
    ours, sources = from_torch(module), vectors(*lengths)
    near(ours(*sources), module(*sources), 1e-10)
    assert ours.feed_forward.activation is ACTIVATIONS[name]


@BOTH
@EXACT
@pytest.mark.parametrize("training", [False, True])
def test_layers_keep_mode_dtype_eps_and_rates(kind, lengths, dtype, training):
    module = layer(kind, dtype, 0.25, layer_norm_eps=0.5).train(training)
    module.norm2.eps, module.dropout1.p = 0.125, 0.5
    module.self_attn.dropout, module.dropout.p = 0.0625, 0.375
    ours = from_torch(module)
    around = [m for n, m in ours.named_children() if n.startswith("around")]
    epses = [0.5, 0.125, 0.5][: len(around)]
    assert [m.norm.eps for m in around] == epses
    assert [m.dropout.p for m in around] == [0.5, 0.25, 0.25][: len(around)]
    attention = next(ours.children())
    assert (attention.dropout, attention.heads) == (0.0625, PARTS)
    assert ours.feed_forward.dropout.p == 0.375
    assert {m.training for m in ours.modules()} == {training}
    for parameter in ours.parameters():
        assert parameter.dtype == dtype
        assert parameter.device == module.linear1.weight.device


@STACKED
@EXACT
@pytest.mark.parametrize("training", [False, True])
def test_stacks_keep_mode_dtype_and_eps(kind, lengths, dtype, training):
    module = stack(kind, last_norm(), dtype=dtype, dropout=0.25)
    ours = from_torch(module.train(training))
    assert (len(ours.blocks), ours.norm.eps) == (3, 0.01)
    assert {m.training for m in ours.modules()} == {training}
    assert {p.dtype for p in ours.parameters()} == {dtype}
    assert isinstance(from_torch(stack(kind)).norm, nn.Identity)


@STACKED
def test_the_weights_of_stacks_are_copies(kind, lengths):
    module, sources = stack(kind, last_norm()), vectors(*lengths)
    ours = from_torch(module)
    before = ours(*sources)
    for parameter in module.parameters():
        parameter.data.zero_()
    same(ours(*sources), before)
    assert all(p.requires_grad for p in ours.parameters())


def test_layer_norm_keeps_everything():
    module = nn.LayerNorm(7, eps=0.25).to(DEVICE, torch.float64).eval()
    module.weight.data = normal(7, dtype=torch.float64)
    module.bias.data = normal(7, seed=1, dtype=torch.float64)
    ours, x = from_torch(module), normal(3, 7, dtype=torch.float64)
    near(ours(x), module(x), 1e-14)
    assert (ours.eps, ours.training) == (0.25, False)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "norm",
    [
        nn.LayerNorm((3, 7)),
        nn.LayerNorm(7, elementwise_affine=False),
    ],
)
def test_refuses_a_layer_norm_that_we_do_not_have(norm):
    with refused(ValueError, "module", "one axis with a weight", "LayerN"):
        from_torch(norm)


def test_a_layer_norm_may_have_no_bias():
    module = nn.LayerNorm(7, bias=False).to(DEVICE, torch.float64)
    module.weight.data = normal(7, dtype=torch.float64)
    ours, x = from_torch(module), normal(3, 7, dtype=torch.float64)
    near(ours(x), module(x), 1e-14)
    assert ours.bias is None and list(ours.state_dict()) == ["weight"]


@BOTH
def test_a_layer_without_bias_has_none_anywhere(kind, lengths):
    ours = from_torch(layer(kind, bias=False))
    names = {name.split(".")[-1] for name, _ in ours.named_parameters()}
    assert names == {"weight"}


@pytest.mark.bad_input
@BOTH
def test_refuses_layers_that_we_do_not_have(kind, lengths):
    for activation, got in (
        (torch.tanh, "tanh"),
        (nn.SiLU(), "SiLU"),
        (partial(F.gelu, approximate="tanh"), "partial"),
    ):
        with refused(ValueError, "module", "relu or gelu", got):
            from_torch(layer(kind, activation=activation))
    module = layer(kind)
    module.norm2 = nn.RMSNorm(WIDTH)
    with refused(TypeError, "module", "LayerNorm", "RMSNorm"):
        from_torch(module)


@pytest.mark.bad_input
@STACKED
def test_refuses_stacks_that_we_do_not_have(kind, lengths):
    with refused(TypeError, "module", "LayerNorm", "RMSNorm"):
        from_torch(stack(kind, nn.RMSNorm(WIDTH)))
    module = stack(kind)
    module.layers[1] = nn.Linear(WIDTH, WIDTH)
    with refused(TypeError, "module", "TransformerEncoderLayer", "Linear"):
        from_torch(module)
    module = copy.deepcopy(stack(kind))
    module.layers = nn.ModuleList()
    with refused(ValueError, "blocks", "at least one", "none"):
        from_torch(module)


def test_frozen_weights_stay_frozen():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    layer.linear1.requires_grad_(False)
    ours = from_torch(layer)
    assert not ours.feed_forward.widen.weight.requires_grad
    assert ours.feed_forward.narrow.weight.requires_grad
