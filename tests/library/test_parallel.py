"""lib.parallel: the parts are the whole, in one process.

What needs several processes is in test_workers.py.
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


def shares(attention, network, rank, tensor=lambda weight: weight.data):
    """What one of three workers holds of each weight, or of its gradient."""
    own, hidden = (slice(n * rank, n * (rank + 1)) for n in (4, 6))
    qkv, b_qkv, out, b_out, one, b_one, two, b_two = (
        tensor(weight)
        for layer in (
            *(attention.in_proj, attention.out_proj),
            *(network.widen, network.narrow),
        )
        for weight in (layer.weight, layer.bias)
    )
    return [
        *(b_out, qkv.view(3, 12, 12)[:, own].flatten(0, 1)),
        *(b_qkv.view(3, 12)[:, own].flatten(), out.T[own]),
        *(b_two, one[hidden], b_one[hidden], two.T[hidden]),
    ]


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
    (attention, network), _ = layers()
    for rank in range(3):
        parts = cut(attention, 3)[rank], cut(network, 3)[rank]
        assert parts[0].heads == 2
        found = [weight for part in parts for weight in part.parameters()]
        wanted = shares(attention, network, rank)
        for ours, whole in zip(found, wanted, strict=True):
            same(ours.data, whole)
            ours.data.zero_()
            assert whole.all()
    assert shard(12, 1, 3) == slice(4, 8)


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


BAD = [
    (LocalHeads, (0, 4), {}, "heads", "a multiple of the 4 workers", "6"),
    (LocalHeads, (3, 3), {}, "rank", "0 to 2", "3"),
    (LocalHeads, (0, 0), {}, "world_size", "at least 1", "0"),
    (LocalHeads, (0, 2), {"dropout": 0.5}, "attention", "no dropout", "0.5"),
    (LocalFeedForward, (0, 4), {}, "d_ff", "the 4 workers", "18"),
    (LocalFeedForward, (-1, 2), {}, "rank", "0 to 1", "-1"),
    (LocalFeedForward, (0, 2), {"dropout": 0.5}, "network", "no d", "0.5"),
]


@pytest.mark.bad_input
@pytest.mark.parametrize("kind, where, options, name, expected, got", BAD)
def test_what_cannot_be_shared_is_refused(
    kind, where, options, name, expected, got
):
    sizes = (12, 6) if kind is LocalHeads else (12, 18)
    whole = MultiHeadAttention if kind is LocalHeads else FeedForward
    with refused(ValueError, name, expected, got):
        kind(whole(*sizes, **options), *where)


@pytest.mark.bad_input
def test_what_is_no_layer_is_refused():
    with refused(TypeError, "attention", "a MultiHeadAttention", "Linear"):
        LocalHeads(nn.Linear(2, 2), 0, 1)
    with refused(TypeError, "network", "a FeedForward", "Linear"):
        LocalFeedForward(nn.Linear(2, 2), 0, 1)
    made, x = layers()
    for layer in made:
        with refused(ValueError, "x", "a last axis of width 12", "11"):
            cut(layer, 2)[0].partial(x[..., :11])
    with refused(TypeError, "target", "an integer tensor", "float32"):
        token_share(torch.ones(2, 3))
    with refused(TypeError, "pad_id", "an integer", "float"):
        token_share(torch.ones(2, 3).long(), 0.0)
    with refused(ValueError, "total", "a multiple of the 5 workers", "12"):
        shard(12, 0, 5)
