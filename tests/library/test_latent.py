"""lib.latent against its formulas, written head by head.

That it is DeepSeek's stands in tests/conformance/test_latent.py.
"""

import copy
from dataclasses import replace
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from lib.latent import (
    LatentAttention,
    LatentCache,
    LatentConfig,
    absorbed_attention,
    built_attention,
)
from lib.positions import rotary
from tests.library import no
from tests.library.draw import (
    DEVICE,
    DTYPES,
    close,
    coins,
    filled,
    normal,
    same,
)
from tests.library.refusals import by_dtype, by_shape, refuses

CONFIG = LatentConfig(11, 3, 7, 5, 2, 4, 13)  # primes, where they may be
FORMS = pytest.mark.parametrize("absorbed", [False, True])
KINDS = pytest.mark.parametrize(
    "config", [CONFIG, replace(CONFIG, d_query=None, base=50.0)]
)


def attention(config=CONFIG, dtype=torch.float64):
    return filled(LatentAttention(config), dtype)


def by_heads(m, x):
    """Appendix C of the paper, one head after the other."""
    c, causal = m.config, torch.ones(x.shape[1], x.shape[1]).tril().bool()
    latent = F.rms_norm(
        x @ m.W_DKV.weight.T, (c.d_latent,), m.norm.weight, c.eps
    )
    asking, heads = x, []
    if c.d_query is not None:
        down, norm = m.query_latent
        asking = F.rms_norm(
            x @ down.weight.T, (c.d_query,), norm.weight, c.eps
        )
    k_R = rotary(x @ m.W_KR.weight.T, base=c.base)
    for q, q_R, k, v in zip(
        *(W.weight.chunk(c.heads) for W in (m.W_UQ, m.W_QR, m.W_UK, m.W_UV)),
        strict=True,
    ):
        scores = torch.einsum("nid,njd->nij", asking @ q.T, latent @ k.T)
        turned = rotary(asking @ q_R.T, base=c.base)
        scores = scores + torch.einsum("nid,njd->nij", turned, k_R)
        scores = scores / (c.d_head + c.d_rotary) ** 0.5
        weights = scores.where(causal.to(x.device), -torch.inf).softmax(-1)
        heads.append(weights @ (latent @ v.T))
    return torch.cat(heads, -1) @ m.W_O.weight.T


@FORMS
@KINDS
def test_it_is_the_formula(config, absorbed):
    made, x = attention(config), normal(2, 7, 11, dtype=torch.float64)
    close(made(x, absorbed=absorbed), by_heads(made, x), steps=64)


def test_the_sizes_are_deepseeks():
    """As its report has them; the package agrees (tests/conformance)."""
    sizes = LatentConfig(7_168, 128, 512, 1_536, 128, 64, 128, 10_000.0, 1e-6)
    assert LatentConfig() == sizes


@FORMS
@pytest.mark.parametrize("cuts", [[7], [1] * 7, [3, 1, 3], [2, 5]])
def test_what_is_kept_gives_the_same(cuts, absorbed):
    made, x = attention(), normal(2, 7, 11, dtype=torch.float64)
    past, parts = LatentCache(), x.split(cuts, dim=1)
    found = [made(part, past, absorbed=absorbed) for part in parts]
    close(torch.cat(found, 1), made(x), steps=64)
    assert past.length == 7 and past.buffer.shape[::2] == (2, 7 + 4)


def test_a_cache_keeps_rows_and_has_room():
    past, new = LatentCache(), normal(3, 8, 5)
    past.keep(torch.tensor([0]))  # of nothing
    same(past.append(new[:, :2]), new[:, :2])
    first = past.buffer
    same(past.append(new[:, 2:4]), new[:, :4])
    assert past.buffer is first  # there was room for two more
    same(past.append(new[:, 4:7]), new[:, :7])
    assert (first.shape, past.buffer.shape) == ((3, 4, 5), (3, 14, 5))
    past.keep(torch.tensor([2, 0, 2], device=DEVICE))
    rows = new[[2, 0, 2]]
    same(past.append(rows[:, 7:]), rows)


def test_masks_of_others_and_no_rotary_part():
    """A query that may attend to nothing gets zeros."""
    sizes = (2, 3, 5, 4), (2, 7, 6), (3, 4, 6), (3, 2, 6)
    parts = [normal(*shape, seed=n) for n, shape in enumerate(sizes)]
    mask = coins(2, 3, 5, 7)
    mask[0, 0, 0] = False
    found = [
        attend(*parts, mask)
        for attend in (built_attention, absorbed_attention)
    ]
    close(*found, steps=64)
    assert not found[0][0, 0, 0].any() and not found[1][0, 0, 0].any()
    everything = torch.ones_like(mask)
    same(absorbed_attention(*parts), absorbed_attention(*parts, everything))


@pytest.mark.parametrize("kind", DTYPES)
@FORMS
def test_precisions(kind, absorbed):
    made, x = attention(dtype=kind), normal(2, 5, 11, dtype=kind)
    exact = copy.deepcopy(made).double()(x.double())
    close(made(x, absorbed=absorbed), exact.to(kind), steps=16)


@FORMS
def test_gradients(absorbed):
    made = LatentAttention(CONFIG).to(DEVICE, torch.float64)
    x = normal(1, 3, 11, dtype=torch.float64).requires_grad_()
    inputs = x, *made.parameters()  # changed in place by the check
    run = partial(made, absorbed=absorbed)
    assert torch.autograd.gradcheck(lambda x, *_: run(x), inputs)


q, kept = torch.zeros(2, 3, 5, 4), torch.zeros(2, 7, 8)
W_UK, W_UV = torch.zeros(3, 2, 6), torch.zeros(3, 5, 6)


def refused_by(attend):
    call = partial(attend, q=q, kept=kept, W_UK=W_UK, W_UV=W_UV)
    return [
        *no.floating_tensor(call, "q", "kept", "W_UK", "W_UV"),
        ("q", call, ValueError, "a width of 4", by_shape(q[..., :3])),
        ("q", call, ValueError, "4 axes", by_shape(q[0])),
        ("kept", call, ValueError, "the batch of q, 2", {"1": kept[:1]}),
        ("kept", call, ValueError, "at least 6", by_shape(kept[..., :5])),
        ("kept", call, ValueError, "3 axes", by_shape(kept[0])),
        ("W_UK", call, ValueError, "the heads of q, 3", {"2": W_UK[:2]}),
        ("W_UV", call, ValueError, "the heads of q, 3", {"2": W_UV[:2]}),
        ("W_UV", call, ValueError, "width 6 of W_UK", {"5": W_UV[..., :5]}),
        ("W_UV", call, ValueError, "3 axes", by_shape(W_UV[0])),
    ]


x, sizes = torch.zeros(2, 3, 11), partial(replace, CONFIG)
plain = attention(dtype=torch.float32).cpu()
plain(x, past := LatentCache())
narrow = attention(replace(CONFIG, d_latent=6), torch.float32).cpu()
test_bad_input_is_refused = refuses(
    *refused_by(built_attention),
    *refused_by(absorbed_attention),
    *no.size(sizes, "d_model", "heads", "d_latent", "d_head", "d_value"),
    *no.integer(sizes, "d_rotary"),
    *no.number(sizes, "base", "eps"),
    *no.switch(partial(plain, x), "absorbed"),
    ("d_query", sizes, ValueError, "at least 1", {"0": 0}),
    ("d_query", sizes, TypeError, "an integer", {"float": 1.0}),
    ("d_rotary", sizes, ValueError, "even", {"3": 3}),
    ("base", sizes, ValueError, "above 1", {"1": 1}),
    ("eps", sizes, ValueError, "at least 0", {"-1": -1}),
    ("config", LatentAttention, TypeError, "a LatentConfig", {"int": 11}),
    ("x", plain, ValueError, "width 11", by_shape(x[..., :10])),
    ("x", plain, ValueError, "3 axes", by_shape(x[0])),
    ("x", plain, ValueError, "at least one position", by_shape(x[:, :0])),
    ("x", plain, TypeError, "floating-point", by_dtype(x.long())),
    ("x", partial(plain, past=past), ValueError, "2 rows, as the past has",
     by_shape(x[:1])),
    ("past", partial(narrow, x), ValueError, "10 numbers kept", {"11": past}),
    ("past", partial(plain, x), TypeError, "a LatentCache", {"list": []}),
)  # fmt: skip
