"""kit.sharded and the counters of kit.workers, in one process.

deeper/18_fsdp and deeper/18_devices launch two.
"""

import copy
from functools import partial

import pytest
import torch
import torch.distributed as dist
from torch.optim import Adam

from kit import sharded, workers
from kit.workers import Toil, Traffic, experts_counted, seconds_for
from lib.decoder import DecoderBlock
from lib.encoder import EncoderBlock
from lib.parallel import group_of_workers
from lib.training import Batch
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import normal
from tests.library.test_expert_parallel import alone, as_one, mixture
from tests.library.test_workers import near, one, trained_alone

__all__ = ["one"]  # a fixture
D64 = torch.float64
KINDS = EncoderBlock, DecoderBlock


def test_copies_and_shards_of_one_worker_are_the_whole(one):
    config = TransformerConfig(9, 9, 8, 2, 16, 2, 1, dropout=0.0)
    torch.manual_seed(5)
    model = Transformer(config).double()
    batches = [Batch(*torch.randint(3, 9, (3, 6, 4))) for _ in range(3)]
    before = copy.deepcopy(model.state_dict())
    losses, weights = trained_alone(model, batches, 0.02, Adam)
    train = partial(sharded.train_by_adam, model, batches, rate=0.02)
    with group_of_workers():
        copies, freed = train(), train(KINDS)
        stays = train(KINDS, frees=False)
    near(dict(model.state_dict()), dict(before))
    for found in (copies, freed, stays):
        near(found["losses"], losses)
        near(found["weights"], weights)
        assert set(found["kept"].values()) == {
            8 * sum(map(torch.numel, weights))
        }
    small, large = (
        sum(map(torch.numel, stack.blocks[0].parameters()))
        for stack in (model.encoder, model.decoder)
    )
    rest = sum(map(torch.numel, weights)) - 2 * small - large
    assert copies["whole"] == []
    assert freed["whole"] == [rest + small, rest + small, rest + large]
    steps = [small, 2 * small, 2 * small + large]
    assert stays["whole"] == [rest + step for step in steps]
    for found in (freed, stays):
        assert not found["summed"]


def newest(*names):
    """The first of these functions that this PyTorch has."""
    return next(getattr(dist, name) for name in names if hasattr(dist, name))


def test_messages_of_each_kind_are_counted(one):
    gather = newest("all_gather_single", "all_gather_into_tensor")
    scatter = newest("reduce_scatter_single", "reduce_scatter_tensor")
    whole, part = torch.ones(4, 3), torch.ones(4, 3)
    with group_of_workers(), Traffic() as traffic:
        gather(whole, part)
        scatter(part, whole)
        dist.all_to_all_single(whole, part)
        dist.all_reduce(torch.ones(5))
        dist.broadcast(whole, src=0)
    assert (traffic.gathered, traffic.scattered) == ([48], [48])
    assert (traffic.away, traffic.sizes) == ([0], [20])


@pytest.mark.parametrize(
    "rank, sent, expected",
    [(0, [1, 2, 3], 5), (2, [1, 2, 3], 3), (1, [], 4), (1, [0, 6, 0], 0)],
)
def test_what_leaves_is_not_for_the_worker_itself(
    monkeypatch, rank, sent, expected
):
    monkeypatch.setattr(dist, "get_rank", lambda: rank)
    monkeypatch.setattr(dist, "get_world_size", lambda: 3)
    rows = torch.ones(6, 5, dtype=D64)
    assert workers.leaving(rows, sent) == expected * 5 * 8


def test_experts_of_one_worker_take_their_time(one):
    model = mixture().cpu()
    x, gradient = (normal(4, 5, dtype=D64, seed=s).cpu() for s in (0, 1))
    slow = copy.deepcopy(model)
    slow.experts[0] = Toil(model.experts[0], 0.01)
    model.router.bias[0] = slow.router.bias[0] = 9
    with group_of_workers():
        found = experts_counted(model, x, gradient)
        assert seconds_for(slow, x) > 0.01 * len(x)
    assert found["away"] == [0] * 5
    as_one([found], model, x, gradient)
    near(slow(x).detach(), alone(copy.deepcopy(model), x, gradient)[0])
