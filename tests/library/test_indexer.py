"""lib.indexer against its formulas, written as plain loops.

That it is DeepSeek's stands in tests/conformance/test_indexer.py.
"""

import copy
import itertools
import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from lib.indexer import Indexer, index_scores, pick_keys
from lib.latent import LatentCache, LatentConfig
from lib.masks import causal_mask
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
from tests.library.strategies import lead

CONFIG = LatentConfig(11, 3, 7, 5, 2, 4, 13, base=50.0, eps=1e-3)
LONG = LatentConfig(11, 3, 7, None, 2, 4, 13)
KINDS = pytest.mark.parametrize("config", [CONFIG, LONG])


def made(config=CONFIG, dtype=torch.float64, top_k=3):
    """Two heads of width 7."""
    return filled(Indexer(config, 2, 7, top_k), dtype)


def inputs(length=13, width=5, dtype=torch.float64):
    """x and the latents of the queries."""
    x = normal(2, length, 11, dtype=dtype)
    return x, normal(2, length, width, dtype=dtype, seed=1)


def parts(*lead, dtype=torch.float64):
    """Queries of two heads, keys, and a weight for each head of a query."""
    shapes = (2, 3, 5), (7, 5), (2, 3)
    return [
        normal(*lead, *shape, seed=n, dtype=dtype)
        for n, shape in enumerate(shapes)
    ]


def by_loops(q, k, weights):
    scores = torch.zeros(q.shape[1], len(k)).to(q)
    for t in range(q.shape[1]):
        for s in range(len(k)):
            for j in range(len(q)):
                fit = max(0, (q[j, t] @ k[s]).item())
                scores[t, s] += weights[j, t] * fit
    return scores


@given(lead)
def test_scores_are_the_formula(lead):
    many = parts(*lead)
    found = index_scores(*many)
    assert found.shape == (*lead, 3, 7)
    for place in itertools.product(*map(range, lead)):
        one = [part[place] for part in many]
        close(found[place], by_loops(*one), steps=16)


def picked_by_loops(scores, top_k, may_attend):
    picked = torch.zeros(scores.shape, dtype=torch.bool)
    for t, row in enumerate(scores.tolist()):
        seen = [s for s in range(len(row)) if may_attend[t][s]]
        for s in sorted(seen, key=lambda s: -row[s])[:top_k]:
            picked[t, s] = True
    return picked.to(DEVICE)


@given(st.integers(1, 9), st.integers(1, 13), st.integers(0, 99))
def test_the_highest_are_picked_of_equal_ones_the_earlier(top_k, k_len, seed):
    """Scores are whole numbers, of which many are equal."""
    scores = normal(5, k_len, seed=seed, scale=1.5).round()
    mask = coins(5, k_len, seed=seed)
    everything = torch.ones_like(mask)
    found = pick_keys(scores, top_k, mask)
    same(found, picked_by_loops(scores, top_k, mask.tolist()))
    same(pick_keys(scores, top_k), pick_keys(scores, top_k, everything))


def test_masks_are_broadcast_and_the_scores_stay():
    scores, mask = normal(2, 5, 7), coins(1, 7)
    before = scores.clone()
    found = pick_keys(scores, 2, mask)
    same(found, pick_keys(scores, 2, mask.expand(2, 5, 7)))
    same(scores, before)
    assert not pick_keys(scores, 2, torch.zeros_like(mask)).any()


def beside(m, x, latent):
    """The scores of the whole layer, head by head."""
    c = m.config

    def turn(y):
        first = rotary(y[..., : c.d_rotary], base=c.base)
        return torch.cat([first, y[..., c.d_rotary :]], -1)

    k = x @ m.W_K.weight.T
    k = F.layer_norm(k, (7,), m.norm.weight, m.norm.bias, c.eps)
    weights, k = x @ m.W_w.weight.T / math.sqrt(2 * 7), turn(k)
    heads = m.W_Q.weight.chunk(2)
    return sum(
        weights[..., j, None] * (turn(latent @ W.T) @ k.mT).clamp(min=0)
        for j, W in enumerate(heads)
    )


@KINDS
def test_it_is_the_formula(config):
    indexer = made(config)
    x, latent = inputs(width=config.d_query or 11)
    scores = beside(indexer, x, latent)
    close(indexer.scores(x, latent), scores, steps=64)
    seen = causal_mask(13, x.device)[0]
    expected = pick_keys(scores, 3, seen)[:, None]
    same(indexer(x, latent), expected)


@pytest.mark.parametrize("cuts", [[13], [1] * 13, [3, 1, 9], [5, 8]])
def test_from_a_cache_the_same_keys(cuts):
    indexer, (x, latent) = made(), inputs()
    whole, past, start = indexer(x, latent), LatentCache(), 0
    pieces = x.split(cuts, 1), latent.split(cuts, 1)
    for new, of_it in zip(*pieces, strict=True):
        end = start + new.shape[1]
        same(indexer(new, of_it, past), whole[:, :, start:end, :end])
        start = end
    assert past.length == 13 and past.buffer.shape[-1] == 7


@pytest.mark.parametrize("kind", DTYPES)
def test_precisions(kind):
    """Scores are float32 at least."""
    wide = torch.promote_types(kind, torch.float32)
    q, k, weights = parts(dtype=kind)
    exact = index_scores(q.double(), k.double(), weights.double())
    close(index_scores(q, k, weights), exact.to(wide), steps=16)
    indexer, (x, latent) = made(dtype=kind), inputs(dtype=kind)
    exact = copy.deepcopy(indexer).double()
    exact = exact.scores(x.double(), latent.double())
    found = indexer.scores(x, latent)
    assert found.dtype == wide and indexer(x, latent).dtype == torch.bool
    close(found.to(kind), exact.to(kind), steps=32)
    same(pick_keys(scores := found.to(kind), 3), pick_keys(scores.double(), 3))


def test_gradients():
    indexer = made().requires_grad_(True)
    x, latent = (part.requires_grad_() for part in inputs(length=3))
    leaves = x, latent, *indexer.parameters()  # changed in place by the check
    assert torch.autograd.gradcheck(
        lambda x, latent, *_: indexer.scores(x, latent), leaves
    )


def test_the_sizes_are_deepseeks():
    """As its configuration has them; the package agrees."""
    with torch.device("meta"):
        indexer = Indexer(LatentConfig())
    sizes = indexer.heads, indexer.W_K.out_features, indexer.top_k
    assert sizes == (64, 128, 2_048)


q, k, weights = (part.float().cpu() for part in parts())
scores = torch.zeros(3, 7)
x, latent = torch.zeros(2, 13, 11), torch.zeros(2, 13, 5)
plain = made(dtype=torch.float32).cpu()
plain(x, latent, past := LatentCache())
other = LatentCache()
other.append(torch.zeros(2, 4, 6))
fits = partial(index_scores, q=q, k=k, weights=weights)
pick = partial(pick_keys, scores=scores, top_k=2)
ask = partial(plain, x=x, latent=latent)
sizes = partial(Indexer, CONFIG)
test_bad_input_is_refused = refuses(
    *no.floating_tensor(fits, "q"),
    *no.floating_tensor(pick, "scores"),
    *no.size(pick, "top_k"),
    *no.size(sizes, "heads", "d_head", "top_k"),
    ("k", fits, ValueError, "the width 5 of q", {"4": k[:, :4]}),
    ("k", fits, ValueError, "at least one key", {"none": k[:0]}),
    ("k", fits, TypeError, "torch.float32", by_dtype(k.double())),
    ("weights", fits, ValueError, "the heads of q, 2",
     {"1": weights[:1], "3": weights.T}),
    ("weights", fits, ValueError, "at least 2 axes", {"1": weights[0]}),
    ("scores", pick, ValueError, "at least 2 axes", by_shape(scores[0])),
    ("scores", pick, ValueError, "finite numbers",
     {"nan": scores / 0, "-inf": scores - math.inf}),
    ("may_attend", pick, TypeError, "a boolean tensor",
     by_dtype(scores, scores.long())),
    ("may_attend", pick, ValueError, "broadcasts to the scores",
     {"(1, 3, 7)": coins(1, 3, 7).cpu(), "(3, 6)": coins(3, 6).cpu()}),
    ("config", Indexer, TypeError, "a LatentConfig", {"int": 11}),
    ("d_head", sizes, ValueError, "at least the 4 numbers that turn",
     {"3": 3}),
    ("x", ask, ValueError, "width 11", by_shape(x[..., :10])),
    ("x", partial(ask, latent=latent[:, :0]), ValueError,
     "at least one position", by_shape(x[:, :0])),
    ("x", ask, TypeError, "floating-point", by_dtype(x.long())),
    ("latent", ask, ValueError, "width 5", by_shape(latent[..., :4])),
    ("latent", ask, ValueError, "the length of x, 13",
     {"12": latent[:, :12]}),
    ("x", partial(ask, latent=latent[:1], past=past), ValueError,
     "2 rows, as the past has", by_shape(x[:1])),
    ("past", ask, ValueError, "keys of width 7", {"6": other}),
    ("past", ask, TypeError, "a LatentCache", {"list": []}),
)  # fmt: skip
