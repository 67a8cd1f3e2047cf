"""lib.interop: our modules give torch's numbers with torch's weights."""

import pytest
import torch
from torch import nn

from lib.interop import from_torch
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
    result = ours(*leaves, may, need_weights)
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
    [(nn.Linear(3, 3), "Linear"), (nn.LayerNorm(3), "Norm"), (None, "None")],
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
