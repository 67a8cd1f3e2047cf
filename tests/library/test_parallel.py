"""lib.parallel: the parts are the whole, in one process.

What needs several processes is in test_workers.py.
"""

import copy

import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from torch import nn

from kit.launching import surroundings
from lib.heads import MultiHeadAttention
from lib.layers import FeedForward
from lib.masks import causal_mask
from lib.parallel import (
    CopyToRegion,
    LocalFeedForward,
    LocalHeads,
    ReduceFromRegion,
    shard,
    sum_over_workers,
    token_share,
)
from tests.library.draw import close, dtype, normal, refused, same

WORLDS = (1, 2, 3, 6)
D64 = torch.float64


@pytest.fixture
def alone(monkeypatch):
    """A group of one worker, in this process."""
    loopback = surroundings()["GLOO_SOCKET_IFNAME"]
    monkeypatch.setenv("GLOO_SOCKET_IFNAME", loopback)
    store = dist.HashStore()
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def layers(heads=6, bias=True, dtype=D64):
    """An attention and a feed-forward network with weights of all sizes."""
    torch.manual_seed(3)
    made = [
        MultiHeadAttention(12, heads, bias=bias),
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


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("bias", [True, False])
def test_the_parts_add_up_to_the_layer(world, bias):
    made, x = layers(bias=bias)
    for layer in made:
        parts = cut(layer, world)
        total = sum(part.partial(x) for part in parts)
        if parts[0].bias is not None:
            total = total + parts[0].bias
        close(total, layer(x))


@pytest.mark.parametrize("world", WORLDS)
def test_a_mask_is_for_every_head(world):
    (attention, _), x = layers()
    mask = causal_mask(5, x.device)
    parts = cut(attention, world)
    total = sum(part.partial(x, mask) for part in parts) + parts[0].bias
    close(total, attention(x, may_attend=mask))


@given(dtype=dtype)
def test_every_dtype_stays(dtype):
    made, x = layers(dtype=dtype)
    for layer in made:
        part = cut(layer, 2)[0].partial(x)
        assert part.dtype == dtype and part.shape == x.shape


def test_a_part_has_its_share_of_the_weights_and_its_own_copy():
    (attention, network), _ = layers()
    heads, units = cut(attention, 3)[1], cut(network, 3)[1]
    assert heads.heads == 2
    sizes = {name: tuple(w.shape) for name, w in heads.named_parameters()}
    assert sizes == {
        "bias": (12,), "W_qkv": (12, 12), "b_qkv": (12,), "W_o": (4, 12)
    }  # fmt: skip
    sizes = {name: tuple(w.shape) for name, w in units.named_parameters()}
    assert sizes == {
        "bias": (12,), "W_1": (6, 12), "b_1": (6,), "W_2": (6, 12)
    }  # fmt: skip
    before = copy.deepcopy(attention.state_dict())
    for weight in heads.parameters():
        weight.data.zero_()
    for name, weight in attention.state_dict().items():
        same(weight, before[name])


def test_the_parts_of_the_heads_are_stretches():
    (attention, _), x = layers()
    context, _ = attention.attend(*attention.project(x, x, x))
    for rank, part in enumerate(cut(attention, 3)):
        own = torch.zeros_like(context)
        own[:, 2 * rank : 2 * rank + 2] = context[:, 2 * rank : 2 * rank + 2]
        close(part.partial(x), attention.output(own) - part.bias)


@pytest.mark.parametrize(
    "rank, expected", [(0, (0, 4)), (1, (4, 8)), (2, (8, 12))]
)
def test_a_worker_owns_a_stretch(rank, expected):
    own = shard(12, rank, 3)
    assert (own.start, own.stop) == expected


def test_alone_a_layer_is_itself_forward_and_backward(alone):
    for layer in layers()[0]:
        x, y = (normal(2, 5, 12, dtype=D64).requires_grad_() for _ in "xy")
        part = cut(layer, 1)[0]
        output, expected = part(x), layer(y)
        close(output, expected)
        output.square().mean().backward()  # gradients of about 1, as a step is
        expected.square().mean().backward()
        close(x.grad, y.grad)
    (attention, _), x = layers()
    mask = causal_mask(5, x.device)
    part = cut(attention, 1)[0]
    close(part(x, mask), attention(x, may_attend=mask))
    part = cut(layers(bias=False)[0][0], 1)[0]
    close(part(x), layers(bias=False)[0][0](x))


@pytest.fixture
def three(monkeypatch):
    """An all-reduce that pretends to be three workers with the same."""
    monkeypatch.setattr(dist, "all_reduce", lambda x: x.mul_(3))
    monkeypatch.setattr(dist, "get_world_size", lambda: 3)


def test_a_sum_leaves_what_is_handed_in(three):
    x = normal(2, 3).requires_grad_()
    before = x.detach().clone()
    same(sum_over_workers(x), 3 * before)
    same(x.detach(), before)
    turned = normal(3, 2).T
    assert sum_over_workers(turned).is_contiguous()


def test_copying_adds_up_backward_only(three):
    x = normal(2, 3).requires_grad_()
    copied = CopyToRegion.apply(x)
    same(copied, x)
    copied.sum().backward()
    same(x.grad, torch.full_like(x, 3.0))


def test_adding_up_copies_backward(three):
    x = normal(2, 3).requires_grad_()
    total = ReduceFromRegion.apply(x)
    same(total.detach(), 3 * x.detach())
    total.sum().backward()
    same(x.grad, torch.ones_like(x))


def test_the_bias_is_added_once_and_the_input_gets_all_gradients(three):
    for layer in layers()[0]:
        part = cut(layer, 3)[0]
        x, y = (normal(2, 5, 12, dtype=D64).requires_grad_() for _ in "xy")
        own = part.partial(y)
        output = part(x)
        close(output, 3 * own + part.bias)
        output.sum().backward()
        own.sum().backward()
        close(x.grad, 3 * y.grad)


def test_a_share_is_of_the_tokens_that_are_none_of_padding(alone):
    assert token_share(torch.tensor([[4, 5, 0], [6, 0, 0]])) == 1.0


def test_shares_have_the_mean_one(monkeypatch):
    targets = [torch.tensor([[7, 7, 9]]), torch.tensor([[1, 9, 9]])]
    counts = torch.tensor(3)  # of both, where 9 is the padding
    monkeypatch.setattr(dist, "all_reduce", lambda x: x.copy_(counts))
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    assert [token_share(ids, 9) for ids in targets] == [4 / 3, 2 / 3]


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
    (attention, network), x = layers()
    for part in (cut(attention, 2)[0], cut(network, 2)[0]):
        with refused(ValueError, "x", "a last axis of width 12", "11"):
            part.partial(x[..., :11])
    with refused(TypeError, "target", "an integer tensor", "float32"):
        token_share(torch.ones(2, 3))
    with refused(ValueError, "total", "a multiple of the 5 workers", "12"):
        shard(12, 0, 5)
