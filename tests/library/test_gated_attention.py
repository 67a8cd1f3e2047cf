"""lib.gated_attention against its formula, written head by head.

That it is Qwen3's and Qwen3-Next's stands in
tests/conformance/test_gated_attention.py.
"""

import copy
from dataclasses import replace
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from lib.cache import CachedSelfAttention
from lib.gated_attention import GatedAttention, GatedConfig
from lib.positions import rotary
from tests.library import no
from tests.library.draw import DEVICE, DTYPES, close, filled, normal
from tests.library.refusals import by_dtype, by_shape, refuses

CONFIG = GatedConfig(11, 6, 3, 8, 4, base=50.0, eps=1e-2)
KINDS = pytest.mark.parametrize(
    "config",
    [CONFIG, replace(CONFIG, gated=False), replace(CONFIG, d_rotary=8)],
)


def attention(config=CONFIG, dtype=torch.float64):
    return filled(GatedAttention(config), dtype)


def by_heads(m, x):
    """One head after the other; gates are rows of W_G."""
    c, (W_q, W_k, W_v) = m.config, (W for W, _ in m.matrices())
    causal = torch.ones(x.shape[1], x.shape[1], device=DEVICE).tril().bool()
    heads = []
    for h, W in enumerate(W_q.chunk(c.heads)):
        shared = slice(h // 2 * c.d_head, (h // 2 + 1) * c.d_head)
        q, k = (
            F.rms_norm(x @ part.T, (c.d_head,), norm.weight, c.eps)
            for part, norm in ((W, m.q_norm), (W_k[shared], m.k_norm))
        )
        turned, still = slice(c.d_rotary), slice(c.d_rotary, None)
        a, b = (rotary(part[..., turned], base=c.base) for part in (q, k))
        scores = a @ b.mT + q[..., still] @ k[..., still].mT
        scores = scores.where(causal, -torch.inf) / c.d_head**0.5
        head = scores.softmax(-1) @ (x @ W_v[shared].T)
        if c.gated:
            gate = m.W_G.weight[h * c.d_head : (h + 1) * c.d_head]
            head = head / (1 + torch.exp(-x @ gate.T))
        heads.append(head)
    return torch.cat(heads, -1) @ m.out_proj.weight.T


@KINDS
def test_it_is_the_formula(config):
    made, x = attention(config), normal(2, 7, 11, dtype=torch.float64)
    close(made(x), by_heads(made, x), steps=64)


def test_the_sizes_are_qwen3_nexts():
    """As its file has them; the package agrees (tests/conformance)."""
    sizes = GatedConfig(2_048, 16, 2, 256, 64, 10_000_000.0, 1e-6, True)
    assert GatedConfig() == sizes


@KINDS
@pytest.mark.parametrize("cuts", [[7], [1] * 7, [3, 1, 3], [2, 5]])
def test_what_is_kept_gives_the_same(cuts, config):
    made, x = attention(config), normal(2, 7, 11, dtype=torch.float64)
    past = CachedSelfAttention(made)
    found = [made(part, past) for part in x.split(cuts, dim=1)]
    close(torch.cat(found, 1), made(x), steps=64)
    assert past.length == 7


@pytest.mark.parametrize("kind", DTYPES)
def test_precisions(kind):
    made, x = attention(dtype=kind), normal(2, 5, 11, dtype=kind)
    exact = copy.deepcopy(made).double()(x.double())
    close(made(x), exact.to(kind), steps=16)


@pytest.mark.parametrize("gated", [True, False])
def test_gradients(gated):
    config = GatedConfig(5, 2, 1, 4, 2, gated=gated)
    made = GatedAttention(config).to(DEVICE, torch.float64)
    x = normal(1, 3, 5, dtype=torch.float64).requires_grad_()
    inputs = x, *made.parameters()  # changed in place by the check
    assert torch.autograd.gradcheck(lambda x, *_: made(x), inputs)


x, sizes = torch.zeros(2, 3, 11), partial(replace, CONFIG)
plain = attention(dtype=torch.float32).cpu()
plain(x, past := CachedSelfAttention(plain))
test_bad_input_is_refused = refuses(
    *no.size(sizes, "d_model", "heads", "kv_heads"),
    *no.integer(sizes, "d_head", "d_rotary"),
    *no.number(sizes, "base", "eps"),
    *no.switch(sizes, "gated"),
    ("kv_heads", sizes, ValueError, "a divisor of heads=6", {"4": 4}),
    ("d_head", sizes, ValueError, "even", {"7": 7}),
    ("d_rotary", sizes, ValueError, "even", {"3": 3}),
    ("d_rotary", sizes, ValueError, "at most d_head=8", {"10": 10}),
    ("base", sizes, ValueError, "above 1", {"1": 1}),
    ("eps", sizes, ValueError, "at least 0", {"-1": -1}),
    ("config", GatedAttention, TypeError, "a GatedConfig", {"int": 11}),
    ("query", lambda query: plain(query), ValueError, "width 11",
     by_shape(x[..., :10])),
    ("query", lambda query: plain(query), TypeError, "floating-point",
     by_dtype(x.long())),
    ("x", partial(plain, past=past), ValueError, "2 rows, as the past has",
     by_shape(x[:1])),
)  # fmt: skip
