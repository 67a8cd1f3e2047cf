"""Chapter 18, deeper: the experts of one layer, dealt out to several workers.

Each worker has some of the experts and some of the tokens; a token travels to
its experts and back. Not here: a limit on the tokens of an expert, and a group
of fewer workers than all.
"""

import copy

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor, nn

from . import validate
from .experts import MixtureOfExperts, loads
from .parallel import shard, sum_over_workers


def all_to_all(rows: Tensor, sent: list[int], received: list[int]) -> Tensor:
    """The first `sent[0]` rows go to worker 0, the next to worker 1, ...

    What comes stands in the same order: `received[w]` rows from worker w.
    """
    came = rows.new_empty(sum(received), *rows.shape[1:])
    dist.all_to_all_single(came, rows.contiguous(), received, sent)
    return came


class Exchange(torch.autograd.Function):
    """Forward: rows to other workers. Backward: their gradients, back.

    All workers must call it, also one that has no row for anybody.
    """

    @staticmethod
    def forward(ctx, rows, sent, received):
        ctx.way_back = received, sent
        return all_to_all(rows, sent, received)

    @staticmethod
    def backward(ctx, gradient):
        return all_to_all(gradient, *ctx.way_back), None, None


class LocalExperts(nn.Module):
    """The experts of one worker, and the way of all tokens to theirs.

    The router and the shared expert are copied. Sources: Lepikhin et al. 2021,
    section 3; Shazeer et al. 2017, section 3.1.

    Args:
        mixture: the whole, of which a part is copied.
        rank: which worker, from 0.
        world_size: the number of workers.

    Raises:
        ValueError: the workers cannot have equally many experts.
    """

    def __init__(self, mixture: MixtureOfExperts, rank: int, world_size: int):
        validate.experts_to_share(MixtureOfExperts, mixture, rank, world_size)
        super().__init__()
        self.router, self.shared = copy.deepcopy(
            (mixture.router, mixture.shared)
        )
        own = shard(len(mixture.experts), rank, world_size)
        self.experts = copy.deepcopy(mixture.experts[own])
        self.world_size = world_size

    def forward(
        self, x: Float[Tensor, "*lead tokens d_model"]
    ) -> Float[Tensor, "*lead tokens d_model"]:
        """The mixture for this worker's tokens; two exchanges of rows."""
        validate.shapes("x: ... tokens d_model", x=x)
        _, chosen, weights = self.router(x)
        output = torch.zeros_like(x) if self.shared is None else self.shared(x)
        order = chosen.flatten().argsort(stable=True)  # by expert
        token = order // chosen.shape[-1]
        going = loads(chosen, self.world_size * len(self.experts))
        going = going.view(self.world_size, -1)  # by worker and its expert
        coming = torch.empty_like(going)
        dist.all_to_all_single(coming, going)
        ways = going.sum(1).tolist(), coming.sum(1).tolist()
        came = Exchange.apply(x.flatten(0, -2)[token], *ways)
        back = Exchange.apply(self.answers(came, coming), *ways[::-1])
        parts = weights.flatten()[order, None] * back
        return output.flatten(0, -2).index_add(0, token, parts).view_as(x)

    def answers(
        self,
        rows: Float[Tensor, "rows d_model"],
        coming: Int[Tensor, "workers experts"],
    ) -> Float[Tensor, "rows d_model"]:
        """What the experts here make of the rows, which stay in order.

        First come the rows of worker 0, those for the first expert before
        those for the next; `coming` says how many.
        """
        experts = torch.arange(coming.shape[1], device=rows.device)
        whose = experts.repeat(len(coming)).repeat_interleave(coming.flatten())
        done = torch.zeros_like(rows)
        for e, expert in enumerate(self.experts):
            (mine,) = torch.where(whose == e)
            done = done.index_copy(0, mine, expert(rows[mine]))
        return done


def to_experts_and_back(
    mixture: MixtureOfExperts,
    x: Float[Tensor, "tokens d_model"],
    gradient: Float[Tensor, "tokens d_model"],
) -> dict:
    """One worker's share of the tokens, through the mixture and back.

    Args:
        mixture: the whole.
        x: the tokens of all workers, in equal shares one after the other.
        gradient: of the loss, by the mixture's output.

    Returns:
        The `output` and the gradients by `x` for this worker's tokens, those
        by the `copied` weights, which are summed over the workers, and by the
        weights of the `experts` here, which are not.
    """
    rank, world_size = dist.get_rank(), dist.get_world_size()
    part = LocalExperts(mixture, rank, world_size)
    own = shard(len(x), rank, world_size)
    own_x = x[own].clone().requires_grad_()
    output = part(own_x)
    output.backward(gradient[own])
    copied = [*part.router.parameters()]
    copied += [] if part.shared is None else part.shared.parameters()
    return {
        "output": output.detach(),
        "x": own_x.grad,
        "copied": [sum_over_workers(weight.grad) for weight in copied],
        "experts": [weight.grad for weight in part.experts.parameters()],
    }
