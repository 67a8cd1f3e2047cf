"""Chapter 19's indexer picks what that of `transformers` picks.

Random weights from configurations; nothing is downloaded. Scores are what
their indexer hands to `topk`, in float32; in float64 where `Tensor.float` and
what else is float32 in their layer is replaced. Their rotary parts turn pairs
(i, i + half), ours neighbours, so rows of weights are permuted.
"""

from functools import partial

import pytest
import torch
from torch import nn

from lib.heads import merge_heads
from lib.indexer import Indexer
from lib.latent import LatentCache, LatentConfig, built_attention
from lib.masks import causal_mask
from tests.conformance.test_latent import OURS, angles, fields, ours
from tests.conformance.tiny_llama import randomise

pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)
from transformers import DeepseekV32Config, DynamicCache  # noqa: E402
from transformers.models.deepseek_v32 import (  # noqa: E402
    modeling_deepseek_v32 as deepseek,
)

SIZES = 23, 3, 7, 5, 4, 6, 13
HEADS, D_HEAD, TOP_K = 5, 11, 4
LENGTH, ROWS, BASE = 13, 2, 1_000.0
KINDS = pytest.mark.parametrize(
    ("dtype", "near"), [(torch.float32, 1e-5), (torch.float64, 1e-12)]
)


@pytest.fixture
def seen(monkeypatch):
    """The scores from which their indexer takes the highest."""
    kept, topk = [], torch.Tensor.topk

    def recording(scores, *args, **named):
        kept.append(scores)
        return topk(scores, *args, **named)

    monkeypatch.setattr(torch.Tensor, "topk", recording)
    return kept


def theirs(dtype, monkeypatch):
    """Their layer; in float64 nothing of it is float32."""
    rope = {"rope_type": "default", "rope_theta": BASE}
    named = {"index_n_heads": HEADS, "index_head_dim": D_HEAD}
    config = DeepseekV32Config(
        **fields(SIZES), **named, index_topk=TOP_K, rope_parameters=rope
    )
    is_exact = dtype == torch.float64
    config._attn_implementation = "sdpa" if is_exact else "eager"
    layer = randomise(deepseek.DeepseekV32Attention(config, 0)).to(dtype)
    layer.indexer.k_norm.bias.normal_()
    if is_exact:
        monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
        for name in ("q_a_layernorm", "kv_a_layernorm"):
            norm = getattr(layer, name)
            exact = nn.RMSNorm(norm.weight.shape, norm.variance_epsilon)
            exact.weight = norm.weight
            setattr(layer, name, exact)
    return layer.requires_grad_(False)


def indexer_of(layer):
    """Our indexer with their weights."""
    their, config = layer.indexer, LatentConfig(*SIZES, base=BASE)
    made = Indexer(config, HEADS, D_HEAD, TOP_K).requires_grad_(False)
    half = torch.arange(config.d_rotary).view(2, -1).T.flatten()
    order = torch.cat([half, torch.arange(config.d_rotary, D_HEAD)])
    q = their.wq_b.weight.unflatten(0, (HEADS, -1))[:, order].flatten(0, 1)
    weights = {
        "W_Q.weight": q,
        "W_K.weight": their.wk.weight[order],
        "norm.weight": their.k_norm.weight[order],
        "norm.bias": their.k_norm.bias[order],
        "W_w.weight": their.weights_proj.weight,
    }
    made.to(q.dtype).load_state_dict(weights)
    return made


def read(layer, x, start=0, past=None):
    """What their layer gives for positions from `start` on."""
    places = torch.arange(start, start + x.shape[1])
    later = places[:, None] < torch.arange(start + x.shape[1])
    mask = torch.zeros(later.shape).to(x).masked_fill(later, -torch.inf)
    mask = mask.expand(len(x), 1, -1, -1)
    turned = angles(layer, places, x.dtype, BASE)
    return layer(x, turned, mask, past_key_values=past)[0]


def text(dtype):
    torch.manual_seed(1)
    return torch.randn(ROWS, LENGTH, SIZES[0], dtype=dtype)


@KINDS
def test_scores_and_picks_are_deepseeks(dtype, near, seen, monkeypatch):
    layer, x = theirs(dtype, monkeypatch), text(dtype)
    read(layer, x)
    made, latent = indexer_of(layer), ours(SIZES, layer, BASE).query_latent(x)
    (expected,), may = seen, causal_mask(LENGTH)[0]
    scores = made.scores(x, latent)
    compared = scores.masked_fill(~may, -torch.inf)
    torch.testing.assert_close(compared, expected, rtol=0, atol=near)
    assert compared[may.expand_as(compared)].abs().mean() > 0.05
    picked = made(x, latent)[:, 0]
    highest = expected.topk(TOP_K).values.sort().values
    chosen = compared.masked_fill(~picked, -torch.inf)
    chosen = chosen.topk(TOP_K).values.sort().values
    torch.testing.assert_close(chosen, highest, rtol=0, atol=near)


def attend(layer, indexer, x, kept=None, keys=None):
    """Latent attention over the picked keys, and their mask."""
    W_UK, W_UV = (
        matrix.weight.unflatten(0, (SIZES[1], -1))
        for matrix in (layer.W_UK, layer.W_UV)
    )
    q, new = layer.project(x, 0 if kept is None else kept.length)
    mask = indexer(x, layer.query_latent(x), keys)
    new = new if kept is None else kept.append(new)
    found = built_attention(q, new, W_UK, W_UV, mask)
    return layer.W_O(merge_heads(found)), mask


@KINDS
def test_the_sparse_layer_is_deepseeks(dtype, near, monkeypatch):
    layer, x = theirs(dtype, monkeypatch), text(dtype)
    close = partial(torch.testing.assert_close, rtol=0, atol=near)
    parts = ours(SIZES, layer, BASE), indexer_of(layer)
    found, whole = attend(*parts, x)
    close(found, read(layer, x))
    number = torch.arange(1, LENGTH + 1).clamp(max=TOP_K)
    assert (whole.sum(-1) == number).all()
    past, start = DynamicCache(config=layer.config), 0
    ours_past = LatentCache(), LatentCache()
    for part in x.split([4, 1, 3, 1, 4], dim=1):
        found, mask = attend(*parts, part, *ours_past)
        close(found, read(layer, part, start, past))
        end = start + part.shape[1]
        assert torch.equal(mask, whole[:, :, start:end, :end])
        start = end


def test_the_sizes_are_deepseeks():
    their = DeepseekV32Config()
    for name, in_file in OURS.items():
        assert getattr(LatentConfig(), name) == getattr(their, in_file)
    with torch.device("meta"):
        layer = deepseek.DeepseekV32Indexer(their, 0)
        own = Indexer(LatentConfig())
    assert own.top_k == layer.index_topk == 2_048
    assert (own.heads, own.W_K.out_features) == (64, 128)
    counts = [sum(p.numel() for p in m.parameters()) for m in (layer, own)]
    assert counts[0] == counts[1] and own.norm.eps == layer.k_norm.eps
    assert their.max_position_embeddings == 163_840
