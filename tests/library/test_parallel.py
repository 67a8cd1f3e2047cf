"""lib.parallel: the parts are the whole, in one process.

Chapter 17 launches several, and compares them with one.
"""

import pytest
import torch
import torch.distributed as dist
from torch import nn

from lib.heads import MultiHeadAttention
from lib.layers import FeedForward
from lib.masks import causal_mask
from lib.parallel import (
    LocalFeedForward,
    LocalHeads,
    shard,
    sum_over_workers,
    token_share,
)
from tests.library.draw import DTYPES, close, normal, refused, same

D64 = torch.float64


@pytest.fixture
def three(monkeypatch):
    """An all-reduce that pretends to be three workers with the same."""
    monkeypatch.setattr(dist, "all_reduce", lambda x: x.mul_(3))
    monkeypatch.setattr(dist, "get_world_size", lambda: 3)


def layers(bias=True, dtype=D64):
    """An attention and a feed-forward network with weights of all sizes."""
    torch.manual_seed(3)
    made = [
        MultiHeadAttention(12, 6, bias=bias),
        FeedForward(12, 18, activation="gelu", bias=bias),
    ]
    for layer in made:
        for weight in layer.parameters():
            nn.init.normal_(weight, std=0.4)
    x = normal(2, 5, 12, dtype=dtype)
    return [layer.to(x.device, dtype) for layer in made], x


def cut(layer, world):
    kind = LocalHeads if hasattr(layer, "heads") else LocalFeedForward
    return [kind(layer, rank, world) for rank in range(world)]


@pytest.mark.parametrize("world", [1, 2, 3, 6])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_parts_add_up_to_the_layer(world, bias, dtype):
    (attention, network), x = layers(bias, dtype)
    mask = causal_mask(5, x.device)
    for layer, masks, expected in (
        (attention, (), attention(x)),
        (attention, (mask,), attention(x, may_attend=mask)),
        (network, (), network(x)),
    ):
        parts = cut(layer, world)
        total = sum(part.partial(x, *masks) for part in parts)
        total = total if parts[0].bias is None else total + parts[0].bias
        close(total, expected, steps=32)


def test_a_part_has_a_copy_of_its_share_of_the_weights():
    for layer in layers()[0]:
        for part in cut(layer, 3):
            for weight in part.parameters():
                weight.data.zero_()
        assert all(weight.all() for weight in layer.parameters())


def test_a_sum_leaves_what_is_handed_in(three):
    x = normal(2, 3).requires_grad_()
    before = x.detach().clone()
    same(sum_over_workers(x), 3 * before)
    same(x.detach(), before)
    assert sum_over_workers(normal(3, 2).T).is_contiguous()


@pytest.mark.parametrize("bias", [True, False])
def test_the_bias_is_added_once_and_the_input_gets_all_gradients(three, bias):
    """Each of the two functions adds up in one direction only."""
    (attention, network), x = layers(bias)
    mask = causal_mask(5, x.device)
    for layer, masks in ((attention, (mask,)), (network, ())):
        x, y = (x.detach().clone().requires_grad_() for _ in "xy")
        part = cut(layer, 3)[0]
        own, output = part.partial(y, *masks), part(x, *masks)
        close(output, 3 * own + (part.bias if bias else 0))
        output.sum().backward()
        own.sum().backward()
        close(x.grad, 3 * y.grad)


@pytest.mark.parametrize("pad", [{}, {"pad_id": 9}])
def test_shares_of_tokens_have_the_mean_one(monkeypatch, pad):
    p = pad.get("pad_id", 0)
    targets = [torch.tensor([[7, 7, p]]), torch.tensor([[1, p, p]])]
    counts = torch.tensor(3)  # of both
    monkeypatch.setattr(dist, "all_reduce", lambda x: x.copy_(counts))
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    assert [token_share(ids, **pad) for ids in targets] == [4 / 3, 2 / 3]


heads, units = MultiHeadAttention(12, 6), FeedForward(12, 18)
dropping, thinning = MultiHeadAttention(12, 6, 0.5), FeedForward(12, 18, 0.5)
narrow, words, few = torch.ones(2, 5, 11), torch.ones(2, 3), "the 4 workers"
WIDTH = "a last axis of width 12"
BAD = {
    ValueError: [
        (LocalHeads, (heads, 0, 4), "heads", f"a multiple of {few}", "6"),
        (LocalHeads, (heads, 3, 3), "rank", "0 to 2", "3"),
        (LocalHeads, (heads, 0, 0), "world_size", "at least 1", "0"),
        (LocalHeads, (dropping, 0, 2), "attention", "no dropout", "0.5"),
        (LocalFeedForward, (units, 0, 4), "d_ff", few, "18"),
        (LocalFeedForward, (units, -1, 2), "rank", "0 to 1", "-1"),
        (LocalFeedForward, (thinning, 0, 2), "network", "no dropout", "0.5"),
        (LocalHeads(heads, 0, 2).partial, (narrow,), "x", WIDTH, "11"),
        (LocalFeedForward(units, 0, 2).partial, (narrow,), "x", WIDTH, "11"),
        (shard, (12, 0, 5), "total", "a multiple of the 5 workers", "12"),
    ],
    TypeError: [
        (LocalHeads, (units, 0, 1), "attention", "a MultiHead", "FeedForward"),
        (LocalFeedForward, (heads, 0, 1), "network", "a FeedFor", "MultiHead"),
        (token_share, (words,), "target", "an integer tensor", "float32"),
        (token_share, (words.long(), 0.0), "pad_id", "an integer", "float"),
    ],
}


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "kind, call, arguments, name, expected, got",
    [(kind, *row) for kind, rows in BAD.items() for row in rows],
)
def test_bad_input_is_refused(kind, call, arguments, name, expected, got):
    with refused(kind, name, expected, got):
        call(*arguments)
