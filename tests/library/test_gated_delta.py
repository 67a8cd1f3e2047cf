"""lib.gated_delta: every part written out once more; parts of a text.

That it is the layer of `transformers` stands in
tests/conformance/test_delta.py.
"""

from functools import partial

import pytest
import torch
import torch.nn.functional as F

from lib.delta import delta_rule
from lib.gated_delta import DeltaInputs, DeltaPast, GatedDeltaNet, unit_length
from tests.library import no
from tests.library.draw import DEVICE, DTYPES, close, filled, normal, same
from tests.library.refusals import by_shape, refuses


def layer(dtype=torch.float64, kernel=4, **options):
    return filled(GatedDeltaNet(11, 2, 6, 5, 3, kernel, **options), dtype)


def test_the_layer_token_by_token_in_numbers():
    """Every part written out once more, for one row."""
    made, x = layer(), normal(1, 7, 11, dtype=torch.float64)
    mixed = made.in_proj_qkv(x)[0]
    weight = made.conv1d.weight[:, 0]
    rows = torch.zeros_like(mixed)
    for t in range(7):
        for back in range(min(4, t + 1)):
            rows[t] += weight[:, 3 - back] * mixed[t - back]
    rows = rows * rows.sigmoid()
    q, k, v = rows[:, :10], rows[:, 10:20], rows[:, 20:]
    beta = torch.sigmoid(made.in_proj_b(x)[0])
    step = torch.log1p(torch.exp(made.in_proj_a(x)[0] + made.dt_bias))
    decay = torch.exp(-torch.exp(made.A_log) * step)
    heads = []
    for head in range(6):
        key = slice(5 * (head // 3), 5 * (head // 3) + 5)
        value = slice(3 * head, 3 * head + 3)
        one_q, one_k = (
            part[:, key]
            / (part[:, key].square().sum(1) + 1e-6).sqrt()[:, None]
            for part in (q, k)
        )
        found, _state = delta_rule(
            one_q / 5**0.5, one_k, v[:, value], beta[:, head], decay[:, head]
        )
        size = (found.square().mean(1, keepdim=True) + 1e-6).sqrt()
        z = made.in_proj_z(x)[0, :, value]
        heads.append(found / size * made.norm.weight * z * z.sigmoid())
    wanted = made.out_proj(torch.cat(heads, dim=1))[None]
    close(made(x), wanted, steps=64)


@pytest.mark.parametrize("kernel", [1, 2, 4])
@pytest.mark.parametrize("cuts", [[1] * 9, [4, 1, 4], [1, 8], [2, 3, 4]])
def test_the_layer_goes_on_where_it_stopped(kernel, cuts):
    made, past = layer(kernel=kernel), DeltaPast()
    x = normal(2, 9, 11, dtype=torch.float64)
    parts = [made(part, past) for part in x.split(cuts, dim=1)]
    close(torch.cat(parts, dim=1), made(x), steps=64)
    assert past.state.shape == (2, 6, 5, 3)
    assert past.recent.shape == (2, kernel - 1, 2 * 10 + 18)


@pytest.mark.parametrize("dtype", DTYPES[:2])
def test_half_precision_keeps_its_memory_in_float32(dtype):
    made, x, past = layer(dtype), normal(2, 9, 11, dtype=dtype), DeltaPast()
    parts = [made(part, past) for part in x.split([4, 1, 4], dim=1)]
    assert past.state.dtype == torch.float32 and parts[0].dtype == dtype
    wide = layer()
    wide.load_state_dict(made.state_dict())
    close(torch.cat(parts, dim=1), wide(x.double()).to(dtype), steps=32)


def test_gates_begin_open():
    """Without their inputs, by the sizes that Qwen3-Next begins with."""
    torch.manual_seed(0)
    made = GatedDeltaNet(11, 2, 1_000, 5, 3).to(DEVICE)
    beta, decay = made.gates(torch.zeros(1, 1, 11, device=DEVICE))
    assert (beta == 0.5).all() and made.dt_bias.eq(1).all()
    rates = -decay.log() / F.softplus(torch.ones((), device=DEVICE))
    close(rates[0, :, 0], made.A_log.exp(), steps=1_000)
    assert 0.01 <= rates.min() < 0.1 and 15.9 < rates.max() <= 16


def test_sizes_and_names():
    made = GatedDeltaNet(11, 2, 6, 5, 3)
    assert DeltaInputs(11, 2, 6, 5, 3).kernel == made.kernel == 4
    inputs = ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a")
    matrices = (*inputs, "conv1d", "norm", "out_proj")
    names = {"dt_bias", "A_log", *(f"{name}.weight" for name in matrices)}
    assert made.state_dict().keys() == names
    assert made.norm.eps == 1e-6 and layer(eps=0.5).norm.eps == 0.5


def test_rows_of_length_one():
    x = normal(2, 3, 5, dtype=torch.float64)
    close(unit_length(x, eps=0.0), F.normalize(x, dim=-1))
    same(unit_length(x), unit_length(x, eps=1e-6))
    assert not unit_length(0 * x).any()


def test_gradients_of_the_layer():
    made, x = layer(), normal(1, 3, 11).double().requires_grad_()
    assert torch.autograd.gradcheck(made, [x])


X, KEPT = torch.ones(2, 3, 11), DeltaPast()
KEPT.state = torch.ones(3, 6, 5, 3)
sizes = partial(
    GatedDeltaNet, d_model=11, key_heads=2, value_heads=6, d_key=5, d_value=3
)
ask = GatedDeltaNet(11, 2, 6, 5, 3)
test_bad_input_is_refused = refuses(
    *no.floating_tensor(unit_length, "x"),
    *no.number(partial(unit_length, X), "eps"),
    ("eps", partial(unit_length, X), ValueError, "at least 0", {"-1": -1.0}),
    *no.size(sizes, "d_model", "key_heads", "value_heads", "d_key", "d_value",
             "kernel"),
    *no.number(sizes, "eps"),
    ("value_heads", sizes, ValueError, "multiple of key_heads=2", {"3": 3}),
    ("x", ask, ValueError, "width 11", {"10": X[..., :10]}),
    ("x", ask, ValueError, "one position", by_shape(X[:, :0])),
    ("x", partial(ask, past=KEPT), ValueError, "3 rows", {"(2, 3": X}),
    ("past", partial(ask, X), TypeError, "a DeltaPast or None",
     {"list": []}),
)  # fmt: skip
