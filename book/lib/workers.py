"""Chapter 17: what each of several workers runs.

`lib.launching` starts them with torchrun. Every worker calls the same
function; it learns from `torch.distributed` which of them it is.
"""

import copy
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import (
    allreduce_hook,
)
from torch.nn.parallel import DistributedDataParallel
from torch.utils._python_dispatch import TorchDispatchMode

from lib import validate
from lib.attention import attention
from lib.dates import Batch
from lib.heads import MultiHeadAttention, merge_heads, split_heads
from lib.layers import FeedForward
from lib.parallel import (
    LocalFeedForward,
    LocalHeads,
    SharedLayer,
    sum_over_workers,
    token_share,
)
from lib.runtime import device
from lib.training import label_smoothed_loss


@contextmanager
def group_of_workers(patience: int = 60) -> Iterator[torch.device]:
    """Inside, this process is one of the workers; yields its device.

    On GPUs if there is one for each worker of this machine, and otherwise on
    the processor.

    Args:
        patience: the seconds after which a worker that waits for another
            gives up.

    Raises:
        TypeError: patience is not an integer.
        ValueError: it is below 1.
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


class FourMatrices(nn.Module):
    """An attention in which W_q, W_k, W_v and W_O are layers of their own.

    `parallelize_module` may narrow the first three; the number of heads
    follows their width.

    Args:
        attention: its weights are copied.

    Raises:
        TypeError: the attention is none.
    """

    def __init__(self, attention: MultiHeadAttention):
        validate.instance(MultiHeadAttention, attention=attention)
        super().__init__()
        self.d_head = attention.d_model // attention.heads
        layers = [nn.Linear(1, 1) for _ in range(3)]
        for layer, pair in zip(layers, attention.matrices(), strict=True):
            layer.weight = SharedLayer.own(pair[0], slice(None))
            layer.bias = SharedLayer.own(pair[1], slice(None))
        self.to_q, self.to_k, self.to_v = layers
        self.out = copy.deepcopy(attention.out_proj)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        may_attend: Bool[Tensor, "_ _ _ _"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Self-attention of x."""
        layers = (self.to_q, self.to_k, self.to_v)
        q, k, v = (
            split_heads(part, part.shape[-1] // self.d_head)
            for part in (layer(x) for layer in layers)
        )
        return self.out(merge_heads(attention(q, k, v, may_attend)))


class Traffic(TorchDispatchMode):
    """Inside, `sizes` gets the bytes of every tensor that is all-reduced."""

    def __init__(self):
        super().__init__()
        self.sizes: list[int] = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        """See every operation before it is done."""
        if any(kind.__name__ == "DTensor" for kind in types):
            return NotImplemented  # it comes again, with the local tensors
        name = operation.name().replace("_", "")
        if "allreduce" in name and "coalesced" not in name:
            tensors = args[0] if isinstance(args[0], list) else args[:1]
            self.sizes += [tensor.nbytes for tensor in tensors]
        return operation(*args, **(kwargs or {}))

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to skip the compiler is to import it, for a second


def own_part(layer: nn.Module) -> SharedLayer:
    """This worker's part of an attention or a feed-forward network."""
    kind = LocalFeedForward if isinstance(layer, FeedForward) else LocalHeads
    return kind(layer, dist.get_rank(), dist.get_world_size())


def part_by_torch(layer: nn.Module) -> nn.Module:
    """The same by PyTorch, from a plan that says how each matrix is cut."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    if isinstance(layer, FeedForward):
        layer = copy.deepcopy(layer)
        plan = {"widen": ColwiseParallel(), "narrow": RowwiseParallel()}
    else:
        layer = FourMatrices(layer)
        plan = {name: ColwiseParallel() for name in ("to_q", "to_k", "to_v")}
        plan["out"] = RowwiseParallel()
    kind = next(layer.parameters()).device.type
    workers = init_device_mesh(kind, (dist.get_world_size(),))
    return parallelize_module(layer, workers, plan)


def prepared_by_torch(layer: nn.Module) -> nn.Module:
    """The same; an attention's input is made ready once, for all matrices."""
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import (
        PrepareModuleInput,
        parallelize_module,
    )

    part = part_by_torch(layer)
    if isinstance(layer, FeedForward):
        return part
    every = (Replicate(),)
    plan = PrepareModuleInput(input_layouts=every, desired_input_layouts=every)
    return parallelize_module(part, part.out.weight.device_mesh, plan)


def there_and_back(
    layers: Sequence[nn.Module],
    x: Float[Tensor, "batch length d_model"],
    gradient: Float[Tensor, "batch length d_model"],
    cut: Callable[[nn.Module], nn.Module] = own_part,
) -> dict:
    """Layers one after the other, each cut up, forward and backward.

    Args:
        layers: attentions and feed-forward networks, uncut.
        x: the input of the first.
        gradient: of the loss, by the output of the last.
        cut: makes a worker's part of a layer.

    Returns:
        The `outputs` of all layers, the gradients by `x` and by the
        `weights`, and the bytes of what was all-reduced on the way `there`
        and `back`.
    """
    parts = nn.ModuleList(cut(layer) for layer in layers)
    outputs = [x.clone().requires_grad_()]
    with Traffic() as there:
        for part in parts:
            outputs.append(part(outputs[-1]))
    with Traffic() as back:
        outputs[-1].backward(gradient)
    return {
        "outputs": [put_together(y.detach()) for y in outputs[1:]],
        "x": outputs[0].grad,
        "weights": [put_together(p.grad) for p in parts.parameters()],
        "there": there.sizes,
        "back": back.sizes,
    }


def put_together(x: Tensor) -> Tensor:
    """A plain tensor, of one that is spread out or still under way."""
    x = x.full_tensor() if hasattr(x, "full_tensor") else x
    return x.wait() if hasattr(x, "wait") else x


def both_by_torch(**given: object) -> dict:
    """`there_and_back` by PyTorch, the input not prepared, and prepared."""
    return {
        "plain": there_and_back(**given, cut=part_by_torch),
        "prepared": there_and_back(**given, cut=prepared_by_torch),
    }


def train_together(
    model: nn.Module,
    batches: Sequence[Batch],
    weighted: bool = True,
    rate: float = 0.1,
) -> dict:
    """Every worker learns from its rows of each batch, by plain descent.

    Args:
        model: called with source and decoder input; worker 0's weights are
            given to all.
        batches: of all workers together; row i is for worker i mod world.
        weighted: every token counts the same, and not every worker.
        rate: the learning rate.

    Returns:
        The `losses`, the bytes `sent` in the last step, and the `weights`.
    """
    rank, world = dist.get_rank(), dist.get_world_size()
    model, losses, sent = copy.deepcopy(model), [], []
    together = DistributedDataParallel(model)
    together.register_comm_hook(sent, note_size)
    for batch in batches:
        own = Batch(*(ids[rank::world] for ids in batch))
        logits = together(own.source, own.decoder_input)
        loss = label_smoothed_loss(logits, own.target)
        if weighted:
            loss = loss * token_share(own.target)
        sent.clear()
        together.zero_grad()
        loss.backward()
        for weight in model.parameters():
            weight.data -= rate * weight.grad
        losses.append(sum_over_workers(loss) / world)
    weights = [weight.data for weight in model.parameters()]
    return {"losses": torch.stack(losses), "sent": sent, "weights": weights}


def train_both_ways(**given: object) -> dict:
    """`train_together`: every worker counts the same, or every token."""
    return {
        "workers": train_together(**given, weighted=False),
        "tokens": train_together(**given, weighted=True),
    }


def note_size(sizes: list, bucket):
    """Write down how many bytes are sent, and send them."""
    sizes.append(bucket.buffer().nbytes)
    return allreduce_hook(None, bucket)


def lose_one(fate: Callable[[], object]) -> Tensor:
    """All workers add up 1, but worker 1 meets its fate before."""
    if dist.get_rank() == 1:
        fate()
    return sum_over_workers(torch.ones(1))
