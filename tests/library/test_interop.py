"""kit.interop: our modules give torch's numbers with torch's weights."""

from contextlib import nullcontext
from functools import partial
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from kit.interop import from_torch
from lib.layers import ACTIVATIONS
from lib.masks import causal_mask, for_torch_mha, padding_mask
from tests.library.draw import DEVICE, normal, refused, same

BATCH, WIDTH, HEADS, HIDDEN, S_LEN, T_LEN = 3, 15, 3, 11, 7, 5
ALLOWED = {
    torch.float64: 1e-10,
    torch.float32: 1e-5,
    torch.bfloat16: 5e-2,
    torch.float16: 5e-3,
}
HALF = [torch.bfloat16, torch.float16][: 1 + (DEVICE.type == "cuda")]
PRECISIONS = [(dtype, None) for dtype in ALLOWED]
PRECISIONS += [(torch.float32, half) for half in HALF]  # under autocast
LAYERS = {
    nn.TransformerEncoderLayer: (S_LEN,),
    nn.TransformerDecoderLayer: (T_LEN, S_LEN),
}
STACKS = {
    nn.TransformerEncoder: (S_LEN,),
    nn.TransformerDecoder: (T_LEN, S_LEN),
}
LENGTHS = {nn.MultiheadAttention: (T_LEN, S_LEN, S_LEN), nn.LayerNorm: (3,)}
LENGTHS |= LAYERS | STACKS
KINDS = pytest.mark.parametrize("kind", LENGTHS)
BLOCKS = pytest.mark.parametrize("kind", LAYERS)
STACKED = pytest.mark.parametrize("kind", STACKS)
EXACT = pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
ORDERS = pytest.mark.parametrize("norm_first", [False, True])
FIRST = pytest.mark.parametrize("batch_first", [False, True])
FINAL = pytest.mark.parametrize("final", [False, True])
BIASES = pytest.mark.parametrize("bias", [True, False])


def made(kind, dtype=torch.float64, dropout=0.0, norm=None, **options):
    """A module of torch's with weights that no initialisation would give."""
    torch.manual_seed(1)
    if kind is nn.LayerNorm:
        module = nn.LayerNorm(WIDTH, **options)
    elif kind is nn.MultiheadAttention:
        module = kind(WIDTH, HEADS, dropout, **options)
    elif kind in LAYERS:
        module = kind(WIDTH, HEADS, HIDDEN, dropout, **options)
    else:
        part = dict(zip(STACKS, LAYERS, strict=True))[kind]
        layer = made(part, dropout=dropout, **options)
        nested = {"enable_nested_tensor": False}
        is_encoder = kind is nn.TransformerEncoder
        module = kind(layer, 3, norm, **nested if is_encoder else {})
    for name, parameter in module.named_parameters():
        is_gain = parameter.ndim == 1 and name.endswith("weight")
        nn.init.normal_(parameter, mean=float(is_gain), std=0.2)
    return module.to(DEVICE, dtype)


def sources(*lengths, dtype=torch.float64):
    """Tensors of these lengths, all different."""
    return [
        normal(BATCH, n, WIDTH, seed=n + i, dtype=dtype).requires_grad_()
        for i, n in enumerate(lengths)
    ]


def masks(q_len, k_len):
    """Torch's pair of masks, and ours: none, padding, causal, both."""
    pad = padding_mask(torch.tensor([2, k_len, 1], device=DEVICE), k_len)
    causal = causal_mask(max(q_len, k_len), DEVICE)[..., :q_len, :k_len]
    hidden, future = ~pad[:, 0, 0], ~causal[0, 0]
    yield (None, None), None
    yield (None, hidden), pad
    yield (future, None), causal
    yield (future, hidden), pad & causal


def near(actual, expected, allowed):
    """Equal, up to a share of the largest entry."""
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    largest = expected.abs().max().item()
    assert (actual - expected).abs().max().item() <= allowed * largest


def all_near(actual, expected, allowed):
    for one, other in zip(actual, expected, strict=True):
        near(one, other, allowed)


def turned(module, *parts):
    """Sources for a module of torch's, or its output, batch first again."""
    part = getattr(module, "layers", [module])[0]
    first = getattr(part, "self_attn", part).batch_first
    return [x if first else x.transpose(0, 1) for x in parts]


@pytest.mark.covered(2)
@FIRST
@BIASES
@pytest.mark.parametrize("k_len", [S_LEN, T_LEN, 2, None])
@pytest.mark.parametrize(("dtype", "autocast"), PRECISIONS)
def test_attention_equals_torchs(dtype, autocast, k_len, bias, batch_first):
    """On both paths; without `k_len` it is self-attention."""
    module = made(
        nn.MultiheadAttention, dtype, bias=bias, batch_first=batch_first
    )
    ours, allowed = from_torch(module), ALLOWED[autocast or dtype]
    theirs, mine = twins(module, ours)
    lengths = (T_LEN, k_len, k_len) if k_len else (T_LEN,)
    given = sources(*lengths, dtype=dtype)
    parts = given if k_len else given * 3
    given = given if k_len else [*given, None, None]
    mixed = torch.autocast(DEVICE.type, autocast) if autocast else None
    for _, may in masks(T_LEN, k_len or T_LEN):
        hidden = may
        if may is not None:
            hidden = for_torch_mha(may, BATCH, HEADS, T_LEN)
        with mixed or nullcontext():
            output, weights = module(
                *turned(module, *parts),
                attn_mask=hidden,
                average_attn_weights=False,
            )
            expected = turned(module, output)[0]
            fast = ours(*given, may)
            slow, shown = ours(*given, may, need_weights=True)
        all_near([fast, slow], [expected] * 2, allowed)
        near(shown, weights.to(shown.dtype), allowed)
        if dtype == torch.float64:
            leaves = given[: len(lengths)]
            wanted = gradients(expected, leaves, theirs)
            for result in (fast, slow):
                all_near(gradients(result, leaves, mine), wanted, allowed)


def gradients(output, leaves, parameters):
    slope = normal(*output.shape, seed=9, dtype=output.dtype)
    return torch.autograd.grad(output, [*leaves, *parameters], slope)


def twins(module, ours):
    """The parameters of both in one order: equal ones are copies."""
    mine, theirs = [*ours.parameters()], [*module.parameters()]
    assert len(mine) == len(theirs)
    return theirs, [
        next(p for p in mine if p.shape == q.shape and p.equal(q))
        for q in theirs
    ]


@pytest.mark.parametrize("dtype", ALLOWED)
def test_where_torch_gives_nan_we_give_the_bias_and_no_gradient(dtype):
    """The second sentence is empty: none of its queries may attend."""
    module = made(nn.MultiheadAttention, dtype, batch_first=True)
    ours, leaves = from_torch(module), sources(5, 5, 5, dtype=dtype)
    may = padding_mask(torch.tensor([5, 0, 2], device=DEVICE), 5)
    hidden = for_torch_mha(may, BATCH, HEADS, 5)
    output, weights = module(
        *leaves, attn_mask=hidden, average_attn_weights=False
    )
    assert output[1].isnan().all() and weights[1].isnan().all()
    slow, shown = ours(*leaves, may, need_weights=True)
    fast = ours(*leaves, may)
    same(shown[1], torch.zeros_like(shown[1]))
    near(shown[::2], weights[::2], ALLOWED[dtype])
    for result in (fast, slow):
        near(result[::2], output[::2], ALLOWED[dtype])
        same(result[1], module.out_proj.bias.expand(5, -1))
        for gradient in gradients(result, leaves, ours.parameters()):
            assert gradient.isfinite().all()
            if gradient.ndim == 3:
                same(gradient[1], torch.zeros_like(gradient[1]))
                assert (gradient[0] != 0).any()


def agree(module, dtype):
    """Outputs and all gradients are torch's, under every mask."""
    ours, lengths = from_torch(module), LENGTHS[type(module)]
    theirs, mine = twins(module, ours)
    leaves = sources(*lengths, dtype=dtype)
    for calls in product(*(masks(lengths[0], k_len) for k_len in lengths)):
        both, our_masks = zip(*calls, strict=True)
        attends, pads = zip(*both, strict=True)
        output = module(*turned(module, *leaves), *attends, *pads)
        expected = turned(module, output)[0]
        actual = ours(*leaves, *our_masks)
        near(actual, expected, ALLOWED[dtype])
        wanted = gradients(expected, leaves, theirs)
        all_near(gradients(actual, leaves, mine), wanted, ALLOWED[dtype])


@pytest.mark.covered(2)
@BLOCKS
@EXACT
@ORDERS
@FIRST
@BIASES
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_block_equals_torchs(
    kind, dtype, norm_first, batch_first, bias, activation
):
    options = {"norm_first": norm_first, "batch_first": batch_first}
    options |= {"bias": bias, "activation": activation}
    agree(made(kind, dtype, **options), dtype)


@pytest.mark.covered(2)
@STACKED
@EXACT
@ORDERS
@FIRST
@FINAL
def test_a_stack_equals_torchs(kind, dtype, norm_first, batch_first, final):
    options = {"norm_first": norm_first, "batch_first": batch_first}
    norm = nn.LayerNorm(WIDTH, eps=0.01) if final else None
    agree(made(kind, dtype, norm=norm, **options), dtype)


@BIASES
def test_layer_norm_equals_torchs(bias):
    module = made(nn.LayerNorm, eps=0.25, bias=bias)
    ours, (x,) = from_torch(module), sources(3)
    near(ours(x), module(x), 1e-14)
    assert (ours.eps, ours.bias is None) == (0.25, not bias)


@BLOCKS
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
def test_an_activation_may_be_a_function_or_a_module(kind, activation, name):
    module = made(kind, activation=activation, batch_first=True)
    ours, given = from_torch(module), sources(*LENGTHS[kind])
    near(ours(*given), module(*given), 1e-10)
    assert ours.feed_forward.activation is ACTIVATIONS[name]


@KINDS
@pytest.mark.parametrize("dtype", ALLOWED)
@pytest.mark.parametrize("training", [True, False])
def test_dtype_device_and_mode_are_taken_over(kind, dtype, training):
    module = made(kind, dtype).train(training)
    ours = from_torch(module)
    assert {m.training for m in ours.modules()} == {training}
    assert {p.dtype for p in ours.parameters()} == {dtype}
    devices = {p.device for p in module.parameters()}
    assert {p.device for p in ours.parameters()} == devices


@KINDS
def test_the_weights_are_copies_and_frozen_ones_stay_frozen(kind):
    module, given = made(kind), sources(*LENGTHS[kind])
    frozen = next(p for p in module.parameters() if p.ndim == 1)
    frozen.requires_grad_(False)
    ours = from_torch(module)
    still = [p for p in ours.parameters() if not p.requires_grad]
    assert len(still) == 1 and torch.equal(still[0], frozen)
    before = ours(*given)
    for parameter in module.parameters():
        parameter.data.zero_()
    same(ours(*given), before)


@BLOCKS
def test_each_eps_and_each_rate_of_dropout_is_taken_over(kind):
    module = made(kind, dropout=0.25, layer_norm_eps=0.5)
    module.norm2.eps, module.dropout1.p = 0.125, 0.5
    module.self_attn.dropout, module.dropout.p = 0.0625, 0.375
    ours = from_torch(module)
    around = [m for n, m in ours.named_children() if n.startswith("around")]
    assert [m.norm.eps for m in around] == [0.5, 0.125, 0.5][: len(around)]
    assert [m.dropout.p for m in around] == [0.5, 0.25, 0.25][: len(around)]
    attention = next(ours.children())
    assert (attention.dropout, attention.heads) == (0.0625, HEADS)
    assert ours.feed_forward.dropout.p == 0.375


def exchanged(kind, name, part):
    """A module of torch's, one part of which is another."""
    module = made(kind)
    owner, _, attribute = name.rpartition(".")
    setattr(module.get_submodule(owner), attribute, part)
    return module


mha = partial(nn.MultiheadAttention, 6, 2)
block = partial(made, nn.TransformerEncoderLayer)
tanh = partial(F.gelu, approximate="tanh")
no_gain = nn.LayerNorm(7, elementwise_affine=False)
no_norm = exchanged(nn.TransformerDecoderLayer, "norm2", nn.RMSNorm(WIDTH))
no_layer = exchanged(nn.TransformerEncoder, "layers", nn.ModuleList())
no_block = exchanged(nn.TransformerEncoder, "layers.1", nn.Identity())
last_norm = made(nn.TransformerDecoder, norm=nn.RMSNorm(WIDTH))
ONE_AXIS = "one axis with a weight"
BAD = [
    (nn.Linear(3, 3), TypeError, "module", "MultiheadAttention", "Linear"),
    (None, TypeError, "module", "MultiheadAttention", "None"),
    (mha(kdim=5, vdim=7), ValueError, "module", "embed_dim", "5, 7 and 6"),
    (mha(add_bias_kv=True), ValueError, "module", "kv=False", "True and F"),
    (mha(add_zero_attn=True), ValueError, "module", "=False", "False and T"),
    (nn.LayerNorm((3, 7)), ValueError, "module", ONE_AXIS, "LayerNorm"),
    (no_gain, ValueError, "module", ONE_AXIS, "LayerNorm"),
    (block(activation=torch.tanh), ValueError, "module", "gelu", "tanh"),
    (block(activation=nn.SiLU()), ValueError, "module", "gelu", "SiLU"),
    (block(activation=tanh), ValueError, "module", "gelu", "partial"),
    (no_norm, TypeError, "module", "LayerNorm", "RMSNorm"),
    (last_norm, TypeError, "module", "LayerNorm", "RMSNorm"),
    (no_block, TypeError, "module", "TransformerEncoderLayer", "Identity"),
    (no_layer, ValueError, "blocks", "at least one", "none"),
]


@pytest.mark.bad_input
@pytest.mark.parametrize(("module", "kind", "named", "expected", "got"), BAD)
def test_refuses_what_we_do_not_have(module, kind, named, expected, got):
    with refused(kind, named, expected, got):
        from_torch(module)
