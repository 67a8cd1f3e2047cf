"""Chapter 17: one attention, or one batch, on several devices.

The part of a layer that one worker holds, the two sums that make the parts a
whole, and what each worker runs: it learns from `torch.distributed` which of
them it is. `kit.launching` starts them with torchrun. Pipelines are described
in the chapter only.
"""

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from . import validate
from .attention import attention
from .heads import MultiHeadAttention, merge_heads, split_heads
from .layers import FeedForward
from .runtime import device
from .training import Batch, label_smoothed_loss


def sum_over_workers(x: Tensor) -> Tensor:
    """The sum of what all workers hand in: an all-reduce."""
    total = x.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total)
    return total


class CopyToRegion(torch.autograd.Function):
    """Forward: x as it is. Backward: the gradients of all workers, added.

    Source: Shoeybi et al. 2019, section 3, where it is called f.
    """

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return sum_over_workers(gradient)


class ReduceFromRegion(torch.autograd.Function):
    """Forward: the parts of all workers, added. Backward: a copy for each.

    Source: Shoeybi et al. 2019, section 3, where it is called g.
    """

    @staticmethod
    def forward(ctx, part):
        return sum_over_workers(part)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def shard(total: int, rank: int, world_size: int) -> slice:
    """Which of `total` columns worker `rank` of `world_size` holds.

    Raises:
        ValueError: `total` is not a multiple of `world_size`.
    """
    validate.shared_out("total", total, rank, world_size)
    size = total // world_size
    return slice(rank * size, (rank + 1) * size)


class SharedLayer(nn.Module):
    """A layer that is the sum of what its workers compute, and a bias.

    A class below has `partial`, which asks nothing of the other workers.

    Args:
        bias: added once, after the sum; or None.
    """

    def __init__(self, bias: Tensor | None):
        super().__init__()
        self.bias = self.own(bias, slice(None))

    @staticmethod
    def own(weight, which) -> nn.Parameter | None:
        """A part of a weight, as a parameter of this worker."""
        if weight is None:
            return None
        return nn.Parameter(weight.detach()[which].clone())

    def forward(self, x: Float[Tensor, "batch length d_model"], *masks):
        """Batch length d_model; one all-reduce forward, one backward."""
        own = self.partial(CopyToRegion.apply(x), *masks)
        output = ReduceFromRegion.apply(own)
        return output if self.bias is None else output + self.bias


class LocalHeads(SharedLayer):
    """The heads of one worker: columns of W_q, W_k, W_v and rows of W_O.

    Source: Shoeybi et al. 2019, section 3. A matrix that multiplies from the
    right is stored transposed in `nn.Linear`: its columns are rows there.

    Args:
        attention: the whole, of which a part is copied.
        rank: which worker, from 0.
        world_size: the number of workers.

    Raises:
        ValueError: the workers cannot have equally many heads, or the
            attention has dropout.
    """

    def __init__(
        self, attention: MultiHeadAttention, rank: int, world_size: int
    ):
        validate.heads_to_share(
            MultiHeadAttention, attention, rank, world_size
        )
        super().__init__(attention.out_proj.bias)
        self.heads, width = attention.heads // world_size, attention.d_model
        own = shard(width, rank, world_size)
        columns = torch.arange(3 * width).view(3, width)[:, own].flatten()
        self.W_qkv = self.own(attention.in_proj.weight, columns)
        self.b_qkv = self.own(attention.in_proj.bias, columns)
        self.W_o = self.own(attention.out_proj.weight.T, own)

    def partial(
        self,
        x: Float[Tensor, "batch length d_model"],
        may_attend: Bool[Tensor, "_ _ _ _"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """What these heads add to the output."""
        d_model = self.W_o.shape[1]
        validate.shapes("x: batch length d_model", x=x, d_model=d_model)
        qkv = F.linear(x, self.W_qkv, self.b_qkv).chunk(3, dim=-1)
        q, k, v = (split_heads(part, self.heads) for part in qkv)
        return merge_heads(attention(q, k, v, may_attend)) @ self.W_o


class LocalFeedForward(SharedLayer):
    """The hidden units of one worker: columns of W_1 and rows of W_2.

    Args:
        network: the whole, of which a part is copied.
        rank, world_size: as in `LocalHeads`.

    Raises:
        ValueError: the workers cannot have equally many hidden units, or the
            network has dropout.
    """

    def __init__(self, network: FeedForward, rank: int, world_size: int):
        validate.units_to_share(FeedForward, network, rank, world_size)
        super().__init__(network.narrow.bias)
        own = shard(network.widen.out_features, rank, world_size)
        self.W_1 = self.own(network.widen.weight, own)
        self.b_1 = self.own(network.widen.bias, own)
        self.W_2 = self.own(network.narrow.weight.T, own)
        self.activation = network.activation

    def partial(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """What these hidden units add to the output."""
        d_model = self.W_2.shape[1]
        validate.shapes("x: batch length d_model", x=x, d_model=d_model)
        return self.activation(F.linear(x, self.W_1, self.b_1)) @ self.W_2


@contextmanager
def group_of_workers(patience: int = 60) -> Iterator[torch.device]:
    """Inside, this process is one of the workers; yields its device.

    On GPUs if there is one for each worker of this machine, and otherwise on
    the processor.

    Args:
        patience: the seconds after which a worker that waits for another
            gives up.
    """
    validate.positive(patience=patience)
    rank = int(os.environ["LOCAL_RANK"])  # torchrun says so
    workers = int(os.environ["LOCAL_WORLD_SIZE"])
    gpus = torch.cuda.device_count() if device().type == "cuda" else 0
    place = torch.device("cuda", rank) if gpus >= workers else None
    dist.init_process_group(
        "nccl" if place else "gloo",
        timeout=timedelta(seconds=patience),
        device_id=place,
    )
    try:
        yield place or torch.device("cpu")
    finally:
        dist.destroy_process_group()


def there_and_back(
    layers: Sequence[nn.Module],
    x: Float[Tensor, "batch length d_model"],
    gradient: Float[Tensor, "batch length d_model"],
) -> dict:
    """One worker's way through layers that are cut up, and back.

    Args:
        layers: attentions and feed-forward networks, uncut, one after the
            other.
        x: the input of the first.
        gradient: of the loss, by the output of the last.

    Returns:
        The `outputs` of all layers, and the gradients by `x` and by this
        worker's part of the `weights`.
    """
    rank, world_size = dist.get_rank(), dist.get_world_size()
    outputs, weights = [x.clone().requires_grad_()], []
    for layer in layers:
        is_attention = isinstance(layer, MultiHeadAttention)
        kind = LocalHeads if is_attention else LocalFeedForward
        part = kind(layer, rank, world_size)
        outputs.append(part(outputs[-1]))
        weights += part.parameters()
    outputs[-1].backward(gradient)
    return {
        "outputs": [output.detach() for output in outputs[1:]],
        "x": outputs[0].grad,
        "weights": [weight.grad for weight in weights],
    }


def token_share(target: Int[Tensor, "batch length"], pad_id=0) -> float:
    """What a worker multiplies its mean loss by before a mean over workers.

    It is the number of its own tokens by the mean of all workers' numbers, so
    that every token counts the same. Every worker must have a token.

    Args:
        target: the tokens that this worker's loss is the mean of.
        pad_id: the target that does not count.
    """
    validate.targets(target, pad_id)
    own = (target != pad_id).sum()
    mean = sum_over_workers(own).item() / dist.get_world_size()
    return own.item() / mean


def train_together(
    model: nn.Module,
    batches: Sequence[Batch],
    weighted: bool = True,
    rate: float = 0.1,
) -> tuple[Tensor, list[Tensor]]:
    """Every worker learns from its rows of each batch, by plain descent.

    Args:
        model: called with source and decoder input; it is copied.
        batches: of all workers together; row i is for worker i mod world_size.
        weighted: every token counts the same, and not every worker.

    Returns:
        The loss of each step, and the weights after the last.
    """
    rank, world_size = dist.get_rank(), dist.get_world_size()
    model, losses = copy.deepcopy(model), []
    together = DistributedDataParallel(model)
    for batch in batches:
        own = Batch(*(ids[rank::world_size] for ids in batch))
        logits = together(own.source, own.decoder_input)
        loss = label_smoothed_loss(logits, own.target)
        if weighted:
            loss = loss * token_share(own.target)
        together.zero_grad()
        loss.backward()
        for weight in model.parameters():
            weight.data -= rate * weight.grad
        losses.append(sum_over_workers(loss) / world_size)
    weights = [weight.data for weight in model.parameters()]
    return torch.stack(losses), weights


def lose_one(fate: Callable[[], object]) -> Tensor:
    """All workers add up 1, but worker 1 meets its fate before."""
    if dist.get_rank() == 1:
        fate()
    return sum_over_workers(torch.ones(1))
