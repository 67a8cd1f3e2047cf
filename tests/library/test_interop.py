"""kit.interop: our modules give torch's numbers with torch's weights."""

from functools import partial
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from kit.interop import from_torch
from lib.layers import ACTIVATIONS
from lib.masks import causal_mask, padding_mask
from tests.library.draw import DEVICE, normal, same
from tests.library.refusals import refuses

BATCH, WIDTH, HEADS, HIDDEN, S_LEN, T_LEN = 3, 15, 3, 11, 7, 5
ALLOWED = {
    torch.float64: 1e-10,
    torch.float32: 1e-5,
    torch.bfloat16: 5e-2,
    torch.float16: 5e-3,
}
MHA = nn.MultiheadAttention
STACKS = {
    nn.TransformerEncoder: nn.TransformerEncoderLayer,
    nn.TransformerDecoder: nn.TransformerDecoderLayer,
}
LAYERS = [*STACKS.values()]
LENGTHS = {
    MHA: (T_LEN, S_LEN, S_LEN),
    nn.LayerNorm: (3,),
    **dict.fromkeys((nn.TransformerEncoder, LAYERS[0]), (S_LEN,)),
    **dict.fromkeys((nn.TransformerDecoder, LAYERS[1]), (T_LEN, S_LEN)),
}
KINDS = pytest.mark.parametrize("kind", LENGTHS)
BLOCKS = pytest.mark.parametrize("kind", LAYERS)
BIASES = pytest.mark.parametrize("bias", [True, False])


def made(kind, dtype=torch.float64, dropout=0.0, norm=None, **options):
    """A module of torch's with weights that no initialisation would give."""
    torch.manual_seed(1)
    if kind is nn.LayerNorm:
        module = nn.LayerNorm(WIDTH, **options)
    elif kind is MHA:
        module = MHA(WIDTH, HEADS, dropout, batch_first=True, **options)
    elif kind in LAYERS:
        sizes = WIDTH, HEADS, HIDDEN, dropout
        module = kind(*sizes, batch_first=True, **options)
    else:
        layer = made(STACKS[kind], dropout=dropout, **options)
        is_encoder = kind is nn.TransformerEncoder
        nested = {"enable_nested_tensor": False} if is_encoder else {}
        module = kind(layer, 3, norm, **nested)
    for name, parameter in module.named_parameters():
        is_gain = parameter.ndim == 1 and name.endswith("weight")
        nn.init.normal_(parameter, mean=float(is_gain), std=0.2)
    return module.to(DEVICE, dtype)


def sources(kind, dtype=torch.float64):
    """A tensor for each input of this kind of module, all different."""
    return [
        normal(BATCH, n, WIDTH, seed=n + i, dtype=dtype).requires_grad_()
        for i, n in enumerate(LENGTHS[kind])
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


def by_torch(module, leaves, attends, pads):
    """What torch's module answers, and the weights of an attention."""
    if isinstance(module, MHA):
        return module(
            *leaves, *pads, attn_mask=attends[0], average_attn_weights=False
        )
    return module(*leaves, *attends, *pads), None


def twins(module, ours):
    """The parameters of both in one order: equal ones are copies."""
    mine, theirs = [*ours.parameters()], [*module.parameters()]
    assert len(mine) == len(theirs)
    return theirs, [
        next(p for p in mine if p.shape == q.shape and p.equal(q))
        for q in theirs
    ]


def gradients(output, leaves, parameters):
    slope = normal(*output.shape, seed=9, dtype=output.dtype)
    return torch.autograd.grad(output, [*leaves, *parameters], slope)


def agree(module, dtype):
    """Outputs, gradients and weights are torch's, under every mask."""
    ours, leaves = from_torch(module), sources(type(module), dtype)
    (theirs, mine), allowed = twins(module, ours), ALLOWED[dtype]
    lengths = LENGTHS[type(module)]
    k_lens = lengths[-1:] if type(module) is MHA else lengths
    for calls in product(*(masks(lengths[0], k_len) for k_len in k_lens)):
        both, our_masks = zip(*calls, strict=True)
        attends, pads = zip(*both, strict=True)
        expected, weights = by_torch(module, leaves, attends, pads)
        wanted = gradients(expected, leaves, theirs)
        actual = [ours(*leaves, *our_masks)]
        if weights is not None:
            slow, shown = ours(*leaves, *our_masks, need_weights=True)
            near(shown, weights, allowed)
            actual.append(slow)
        for output in actual:
            near(output, expected, allowed)
            if dtype.itemsize > 2:
                found = gradients(output, leaves, mine)
                for one, other in zip(found, wanted, strict=True):
                    near(one, other, allowed)


@BIASES
@pytest.mark.parametrize("dtype", ALLOWED)
def test_an_attention_equals_torchs(dtype, bias):
    agree(made(MHA, dtype, bias=bias), dtype)


def test_an_attention_equals_torchs_under_autocast():
    """Self-attention: the key and the value are the query."""
    module = made(MHA, torch.float32)
    ours, x = from_torch(module), sources(MHA, torch.float32)[0]
    with torch.autocast(DEVICE.type, torch.bfloat16):
        expected, weights = module(x, x, x, average_attn_weights=False)
        slow, shown = ours(x, need_weights=True)
        for output in (ours(x), slow):
            near(output, expected, 5e-2)
    near(shown, weights.to(shown.dtype), 5e-2)


@pytest.mark.parametrize("dtype", ALLOWED)
def test_where_torch_gives_nan_we_give_the_bias_and_no_gradient(dtype):
    """The second sentence is empty: none of its queries may attend."""
    module = made(MHA, dtype)
    ours, leaves = from_torch(module), sources(MHA, dtype)
    may = padding_mask(torch.tensor([S_LEN, 0, 2], device=DEVICE), S_LEN)
    expected, weights = by_torch(module, leaves, [None], [~may[:, 0, 0]])
    assert expected[1].isnan().all()
    slow, shown = ours(*leaves, may, need_weights=True)
    same(shown[1], torch.zeros_like(shown[1]))
    near(shown[::2], weights[::2], ALLOWED[dtype])
    for result in (ours(*leaves, may), slow):
        near(result[::2], expected[::2], ALLOWED[dtype])
        same(result[1], module.out_proj.bias.expand(T_LEN, -1))
        for gradient in gradients(result, leaves, ours.parameters()):
            assert gradient.isfinite().all()
            if gradient.ndim == 3:
                same(gradient[1], torch.zeros_like(gradient[1]))
                assert (gradient[0] != 0).any()


@pytest.mark.covered(2)
@BIASES
@pytest.mark.parametrize("kind", [*LAYERS, *STACKS])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("other", [False, True])
def test_blocks_and_stacks_equal_torchs(kind, dtype, norm_first, bias, other):
    """The other ones have GELU and, in a stack, a norm at the end."""
    options = {"norm_first": norm_first, "bias": bias}
    options["activation"] = "gelu" if other else "relu"
    norm = nn.LayerNorm(WIDTH, eps=0.01) if other and kind in STACKS else None
    agree(made(kind, dtype, norm=norm, **options), dtype)


@BLOCKS
@pytest.mark.parametrize(
    ("activation", "name"),
    [
        (torch.relu, "relu"),
        (nn.ReLU(inplace=True), "relu"),
        (F.gelu, "gelu"),
        (nn.GELU("tanh"), "gelu_tanh"),
    ],
)
def test_an_activation_may_be_a_function_or_a_module(kind, activation, name):
    ours = from_torch(made(kind, activation=activation))
    assert ours.feed_forward.activation is ACTIVATIONS[name]


@KINDS
@pytest.mark.parametrize("training", [True, False])
def test_weights_are_copies_and_dtype_mode_and_frozen_ones_stay(
    kind, training
):
    module = made(kind, torch.bfloat16).train(training)
    frozen = next(p for p in module.parameters() if p.ndim == 1)
    frozen.requires_grad_(False)
    ours = from_torch(module)
    assert {m.training for m in ours.modules()} == {training}
    known = {(p.dtype, p.device) for p in module.parameters()}
    assert {(p.dtype, p.device) for p in ours.parameters()} == known
    (still,) = [p for p in ours.parameters() if not p.requires_grad]
    same(still.data, frozen.data)
    for parameter in module.parameters():
        parameter.data.zero_()
    assert any(p.any() for p in ours.parameters())


@BLOCKS
def test_each_part_keeps_its_own_mode_and_dtype(kind):
    module = made(kind, torch.float32).train()
    module.self_attn.eval()
    module.linear1.double()
    module.linear2.double()
    ours = from_torch(module)
    attention = next(ours.children())
    assert not attention.training and not attention.in_proj.training
    assert ours.training and ours.feed_forward.dropout.training
    assert attention.in_proj.weight.dtype == torch.float32
    assert ours.feed_forward.widen.weight.dtype == torch.float64


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


attention = partial(MHA, 6, 2)
block = partial(made, nn.TransformerEncoderLayer)
stacked = partial(exchanged, nn.TransformerEncoder)
REFUSED = {
    (TypeError, "LayerNorm"): {
        "None": None,
        "Linear": nn.Linear(3, 3),
        "Identity": stacked("layers.1", nn.Identity()),
        "RMSNorm": made(nn.TransformerDecoder, norm=nn.RMSNorm(WIDTH)),
    },
    (ValueError, "to embed_dim"): {"5, 7 and 6": attention(kdim=5, vdim=7)},
    (ValueError, "add_zero_attn=False"): {
        "True and False": attention(add_bias_kv=True),
        "False and True": attention(add_zero_attn=True),
    },
    (ValueError, "one axis with a weight"): {
        "(3, 7)": nn.LayerNorm((3, 7)),
        "affine=False": nn.LayerNorm(7, elementwise_affine=False),
    },
    (ValueError, "relu or gelu"): {
        "tanh": block(activation=torch.tanh),
        "SiLU": block(activation=nn.SiLU()),
        "partial": block(activation=partial(F.gelu, approximate="tanh")),
    },
}
EMPTY = {"none": stacked("layers", nn.ModuleList())}
test_what_we_do_not_have_is_refused = refuses(
    *(("module", from_torch, *a, x) for a, x in REFUSED.items()),
    ("blocks", lambda blocks: from_torch(blocks), ValueError, "one", EMPTY),
)
