"""Chapter 19's indexer picks what that of `transformers` picks.

Random weights from configurations; nothing is downloaded. Scores are what
their indexer hands to `topk`, in float32; in float64 where `Tensor.float` and
what else is float32 in their layer is replaced. Their rotary parts turn pairs
(i, i + half), ours neighbours, so rows of weights are permuted.
"""

import pytest
import torch
from transformers import DeepseekV32Config, DynamicCache
from transformers.models.deepseek_v32 import modeling_deepseek_v32 as deepseek

from lib.heads import merge_heads
from lib.indexer import Indexer
from lib.latent import LatentCache, LatentConfig, built_attention
from lib.masks import causal_mask
from tests.conformance import beside, test_latent
from tests.conformance.test_latent import OURS, SIZES, ours, reader

LENGTH = 13
HEADS, D_HEAD, TOP_K = 5, 11, 4


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
    layer = test_latent.theirs(
        *(DeepseekV32Config, deepseek.DeepseekV32Attention, SIZES, dtype),
        index_n_heads=HEADS,
        index_head_dim=D_HEAD,
        index_topk=TOP_K,
    )
    layer.indexer.k_norm.bias.normal_()
    if dtype == torch.float64:
        monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    return layer


def indexer_of(layer):
    """Our indexer with their weights."""
    their, config = layer.indexer, LatentConfig(*SIZES, base=beside.BASE)
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


@beside.PRECISIONS
def test_scores_and_picks_are_deepseeks(dtype, near, seen, monkeypatch):
    layer = theirs(dtype, monkeypatch)
    x = beside.text(LENGTH, SIZES[0], dtype)
    reader(layer, dtype)(x)
    made, latent = indexer_of(layer), ours(SIZES, layer).query_latent(x)
    (expected,), may = seen, causal_mask(LENGTH)[0]
    scores = made.scores(x, latent)
    compared = scores.masked_fill(~may, -torch.inf)
    beside.close(compared, expected, near)
    assert compared[may.expand_as(compared)].abs().mean() > 0.05
    picked = made(x, latent)[:, 0]
    highest = expected.topk(TOP_K).values.sort().values
    chosen = compared.masked_fill(~picked, -torch.inf)
    chosen = chosen.topk(TOP_K).values.sort().values
    beside.close(chosen, highest, near)


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


@beside.PRECISIONS
def test_the_sparse_layer_is_deepseeks(dtype, near, monkeypatch):
    layer, masks = theirs(dtype, monkeypatch), []
    parts = ours(SIZES, layer), indexer_of(layer)

    def made(x, kept=(None, None)):
        found, mask = attend(*parts, x, *kept)
        masks.append(mask)
        return found

    kept = LatentCache(), LatentCache()
    past = DynamicCache(config=layer.config)
    x, read = beside.text(LENGTH, SIZES[0], dtype), reader(layer, dtype)
    beside.compare(made, kept, read, past, x, (4, 1, 3, 1, 4), near)
    whole, *each = masks
    number = torch.arange(1, LENGTH + 1).clamp(max=TOP_K)
    assert (whole.sum(-1) == number).all()
    for mask in each:
        asking, among = mask.shape[-2:]
        assert torch.equal(mask, whole[:, :, among - asking : among, :among])


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
