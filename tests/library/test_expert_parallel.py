"""lib.expert_parallel: dealt out, a mixture is the whole one.

Threads play the workers here; deeper/18_devices launches two.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import torch
import torch.distributed as dist
from torch import nn

from lib.expert_parallel import Exchange, LocalExperts, to_experts_and_back
from lib.experts import MixtureOfExperts, Router
from lib.modern import GatedFeedForward
from tests.library.draw import DEVICE, DTYPES, close, normal
from tests.library.refusals import by_shape, refuses

D64 = torch.float64


class Office:
    """Messages between threads, each of which is a worker."""

    def __init__(self, world_size):
        self.world_size, self.posted = world_size, {}
        self.barrier = threading.Barrier(world_size, timeout=30)
        self.own = threading.local()

    def rank(self):
        return self.own.rank

    def all_of(self, mine):
        """What everybody hands in, by rank."""
        self.posted[self.rank()] = mine
        self.barrier.wait()
        posted = [self.posted[w] for w in range(self.world_size)]
        self.barrier.wait()
        return posted

    def all_to_all_single(self, came, rows, received=None, sent=None):
        assert rows.is_contiguous()
        equal = [len(rows) // self.world_size] * self.world_size
        posted = self.all_of(rows.detach().split(sent or equal))
        parts = [parts[self.rank()] for parts in posted]
        assert [len(part) for part in parts] == (received or equal)
        came.copy_(torch.cat(parts))

    def all_reduce(self, x):
        x.copy_(sum(self.all_of(x.clone())))

    def results(self, task):
        """What the task returns to each worker."""

        def work(rank):
            self.own.rank = rank
            try:
                return task()
            except BaseException:
                self.barrier.abort()
                raise

        with ThreadPoolExecutor(self.world_size) as pool:
            return [*pool.map(work, range(self.world_size))]


@pytest.fixture
def together(monkeypatch):
    """Run a task on several workers at once."""

    def run(world_size, task):
        office = Office(world_size)
        monkeypatch.setattr(dist, "get_rank", office.rank)
        monkeypatch.setattr(dist, "get_world_size", lambda: world_size)
        for name in ("all_to_all_single", "all_reduce"):
            monkeypatch.setattr(dist, name, getattr(office, name))
        return office.results(task)

    return run


def mixture(experts=6, top_k=2, shared=False, dtype=D64):
    torch.manual_seed(1)
    router = Router(5, experts, top_k, renormalize=top_k > 1)
    networks = [GatedFeedForward(5, 3) for _ in range(experts)]
    extra = GatedFeedForward(5, 7) if shared else None
    return MixtureOfExperts(router, networks, extra).to(DEVICE, dtype)


def alone(model, x, gradient):
    """What one process computes: output, and gradients by x and weights."""
    x = x.clone().requires_grad_()
    output = model(x)
    output.backward(gradient)
    return output.detach(), x.grad


def as_one(results, model, x, gradient):
    """All workers' results are those of a single process."""
    output, slope = alone(model, x, gradient)
    close(torch.cat([r["output"] for r in results]), output, steps=32)
    close(torch.cat([r["x"] for r in results]), slope, steps=64)
    copied = [*model.router.parameters()]
    copied += [] if model.shared is None else model.shared.parameters()
    for result in results:
        for found, weight in zip(result["copied"], copied, strict=True):
            close(found, weight.grad, steps=256)
    dealt = [slope for r in results for slope in r["experts"]]
    for found, weight in zip(dealt, model.experts.parameters(), strict=True):
        close(found, weight.grad, steps=256)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("world", "top_k"), [(1, 2), (2, 1), (2, 2), (3, 4), (6, 3)]
)
def test_workers_are_one_process(together, world, top_k, shared):
    model = mixture(top_k=top_k, shared=shared)
    x = normal(7 * world, 5, dtype=D64)
    gradient = normal(7 * world, 5, dtype=D64, seed=1)
    task = partial(to_experts_and_back, model, x, gradient)
    as_one(together(world, task), model, x, gradient)


@pytest.mark.parametrize("popular", [0, 5])
def test_workers_that_get_no_row_take_part(together, popular):
    """All tokens of all workers want one expert."""
    model = mixture(top_k=1)
    model.router.bias[popular] = 9
    x, gradient = normal(6, 5, dtype=D64), normal(6, 5, dtype=D64, seed=1)
    task = partial(to_experts_and_back, model, x, gradient)
    as_one(together(3, task), model, x, gradient)


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_leading_axes_and_dtypes(together, dtype):
    model, x = mixture(dtype=dtype), normal(2, 3, 4, 5, dtype=dtype)

    def task():
        rank = dist.get_rank()
        return LocalExperts(model, rank, 2)(x[rank]).detach()

    close(torch.stack(together(2, task)), model(x).detach(), steps=32)


def test_workers_with_unequal_numbers_of_tokens(together):
    """Even one that has none."""
    model, x = mixture(), normal(7, 5, dtype=D64)

    def task():
        rank = dist.get_rank()
        return LocalExperts(model, rank, 3)(x.split([5, 0, 2])[rank]).detach()

    close(torch.cat(together(3, task)), model(x).detach(), steps=32)


def test_an_exchange_and_its_gradient_by_hand(together):
    """Worker 0 sends its first row to itself and two to worker 1, ..."""

    def task():
        rank = dist.get_rank()
        column = 10.0 * rank + torch.arange(3 - rank)[:, None]
        rows = column.repeat(1, 2).requires_grad_()
        sent, received = ([1, 2], [1, 1]) if rank == 0 else ([1, 1], [2, 1])
        came = Exchange.apply(rows.T.contiguous().T, sent, received)
        came.backward(came.detach()[:, :1].add(0.5).expand(-1, 2))
        return came[:, 0].tolist(), rows.grad[:, 0].tolist()

    zero, one = together(2, task)
    assert zero == ([0, 10], [0.5, 1.5, 2.5])
    assert one == ([1, 2, 11], [10.5, 11.5])


def test_a_part_is_a_copy():
    model = mixture(shared=True)
    for weight in LocalExperts(model, 1, 3).parameters():
        nn.init.zeros_(weight)
    assert all(weight.all() for weight in model.parameters())


whole, x = mixture().cpu(), torch.ones(2, 5)
deal = partial(LocalExperts, mixture=whole, rank=0, world_size=2)
test_bad_input_is_refused = refuses(
    ("experts", lambda experts: deal(world_size=experts), ValueError,
     "a multiple of the 4 work", {"6": 4}),
    ("rank", partial(deal, world_size=3), ValueError, "0 to 2", {"3": 3}),
    ("world_size", deal, ValueError, "at least 1", {"0": 0}),
    ("mixture", deal, TypeError, "a MixtureOfExperts",
     {"Router": whole.router}),
    ("x", deal().forward, ValueError, "", by_shape(x[:, :4], x[0])),
)  # fmt: skip
