"""Two ways for several workers to train one model: with copies, and in shards.

Not taught. Chapter 18's page on `fully_shard` compares them with one process.
"""

import copy
from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from kit.workers import Traffic
from lib.parallel import sum_over_workers
from lib.training import Batch, label_smoothed_loss


def own_part(weight: Tensor) -> Tensor:
    """What this worker has of a tensor that may be dealt out."""
    return weight.to_local() if isinstance(weight, DTensor) else weight


def all_of(weight: Tensor) -> Tensor:
    """A tensor that may be dealt out, in one piece; all workers must ask."""
    whole = weight.full_tensor() if isinstance(weight, DTensor) else weight
    return whole.detach().clone()


def kept(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict:
    """The bytes of what this worker keeps for the training of a model."""

    def size(tensors):
        return sum(own_part(tensor).nbytes for tensor in tensors)

    weights = [*model.parameters()]
    state = [optimizer.state[weight] for weight in weights]
    return {
        "weights": size(weights),
        "gradients": size(weight.grad for weight in weights),
        "first moments": size(one["exp_avg"] for one in state),
        "second moments": size(one["exp_avg_sq"] for one in state),
    }


def deal_out(
    model: nn.Module, kinds: tuple[type, ...], frees: bool
) -> list[int]:
    """Shard the weights of a model, block by block, and what is left of it.

    Args:
        kinds: the classes of its blocks.
        frees: a block that has computed forward lets its weights go.

    Returns:
        A list that gets the number of weights that are whole whenever a block
        begins to compute.
    """
    place = next(model.parameters()).device.type
    mesh, whole = init_device_mesh(place, (dist.get_world_size(),)), []

    def note(block, given):
        those = (w for w in model.parameters() if not isinstance(w, DTensor))
        whole.append(sum(weight.numel() for weight in those))

    for block in [m for m in model.modules() if isinstance(m, kinds)]:
        fully_shard(block, mesh=mesh, reshard_after_forward=frees)
        block.register_forward_pre_hook(note)
    fully_shard(model, mesh=mesh)
    return whole


def train_by_adam(
    model: nn.Module,
    batches: Sequence[Batch],
    kinds: tuple[type, ...] | None = None,
    frees: bool = True,
    rate: float = 1e-2,
) -> dict:
    """Every worker learns from its rows, with whole weights or its part.

    Args:
        model: called with source and decoder input; it is copied.
        batches: as in `train_together`; all targets have the same length.
        kinds, frees: as in `deal_out`; without kinds, every worker has all
            weights.
        rate: of Adam.

    Returns:
        The `losses`, the `weights` after the last step, the bytes `kept`,
        what was sent in the last step, and how many weights were `whole`.
    """
    rank, world_size = dist.get_rank(), dist.get_world_size()
    model, losses, whole = copy.deepcopy(model), [], []
    together = model if kinds else DistributedDataParallel(model)
    if kinds:
        whole = deal_out(model, kinds, frees)
    optimizer = torch.optim.Adam(together.parameters(), rate)
    for batch in batches:
        own = Batch(*(ids[rank::world_size] for ids in batch))
        whole.clear()
        optimizer.zero_grad()
        with Traffic() as traffic:
            logits = together(own.source, own.decoder_input)
            loss = label_smoothed_loss(logits, own.target)
            loss.backward()
        optimizer.step()
        losses.append(sum_over_workers(loss) / world_size)
    return {
        "losses": torch.stack(losses),
        "weights": [all_of(weight) for weight in model.parameters()],
        "kept": kept(model, optimizer),
        "whole": whole,
        "summed": traffic.sizes,
        "gathered": traffic.gathered,
        "scattered": traffic.scattered,
    }
