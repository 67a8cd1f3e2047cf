"""What else several workers do for chapters 17 and 18, and what counts it.

Not taught. The same attention by PyTorch's `parallelize_module`, experts whose
answers take time, and several tasks in one launch.
"""

import copy
import time
from collections.abc import Callable, Mapping

import torch.distributed as dist
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from lib import validate
from lib.attention import attention
from lib.expert_parallel import LocalExperts, to_experts_and_back
from lib.experts import MixtureOfExperts
from lib.heads import MultiHeadAttention, merge_heads, split_heads
from lib.parallel import SharedLayer, shard, train_together


class Traffic(TorchDispatchMode):
    """Inside, `sizes` gets the bytes of every tensor that is all-reduced.

    `away` gets those that leave this worker in every all-to-all, `gathered`
    and `scattered` the bytes of every whole tensor that an all-gather makes,
    or a reduce-scatter takes.
    """

    def __init__(self):
        super().__init__()
        self.sizes: list[int] = []
        self.away: list[int] = []
        self.gathered: list[int] = []
        self.scattered: list[int] = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        """See every operation before it is done."""
        if any(kind.__name__ == "DTensor" for kind in types):
            return NotImplemented  # it comes again, with the local tensors
        name = operation.name().replace("_", "")
        if "allreduce" in name and "coalesced" not in name:
            tensors = args[0] if isinstance(args[0], list) else args[:1]
            self.sizes += [tensor.nbytes for tensor in tensors]
        elif "alltoallbase" in name:
            self.away.append(leaving(*args[1:2], *args[4:5]))
        elif "allgatherbase" in name:
            self.gathered.append(args[0].nbytes)
        elif "reducescatterbase" in name:
            self.scattered.append(args[1].nbytes)
        return operation(*args, **(kwargs or {}))

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to skip the compiler is to import it, for a second


def leaving(rows: Tensor, sent: list[int]) -> int:
    """The bytes of the rows that are not for this worker itself.

    If `sent` is empty, all workers get equally many.
    """
    world_size = dist.get_world_size()
    sent = sent or [len(rows) // world_size] * world_size
    others = sum(sent) - sent[dist.get_rank()]
    return others * rows[:1].nbytes


class FourMatrices(nn.Module):
    """A copy of an attention; W_q, W_k, W_v and W_O are layers of their own.

    `parallelize_module` may narrow the first three; the number of heads
    follows their width.
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


def by_torch(
    model: nn.Module,
    plans: Mapping[str, dict],
    x: Float[Tensor, "batch length d_model"],
    gradient: Float[Tensor, "batch length d_model"],
) -> dict[str, dict]:
    """A copy of a model there and back, cut up by each of several plans.

    The gradient is that of the loss by the model's output. Each plan, which
    is one for `parallelize_module`, has as results the `output`, the
    gradients by `x` and by all of the `weights`, and the bytes of the `sums`.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import parallelize_module

    mesh = init_device_mesh(x.device.type, (dist.get_world_size(),))
    by_name = {}
    for name, plan in plans.items():
        own_x = x.clone().requires_grad_()
        part = parallelize_module(copy.deepcopy(model), mesh, plan)
        with Traffic() as traffic:
            output = part(own_x)
            output.backward(gradient)
        weights = [p.grad.full_tensor() for p in part.parameters()]
        by_name[name] = {
            "output": output.detach().clone(),
            "x": own_x.grad.clone(),
            "weights": weights,
            "sums": traffic.sizes,
        }
    return by_name


def train_both_ways(**given: object) -> dict:
    """The losses if every token counts the same, and if every worker does.

    With them the `weights` after the first.
    """
    tokens, weights = train_together(**given, weighted=True)
    workers, _ = train_together(**given, weighted=False)
    return {"tokens": tokens, "workers": workers, "weights": weights}


class Toil(nn.Module):
    """An expert that takes so many seconds for every row."""

    def __init__(self, expert: nn.Module, seconds: float):
        super().__init__()
        self.expert, self.seconds = expert, seconds

    def forward(
        self, rows: Float[Tensor, "rows d_model"]
    ) -> Float[Tensor, "rows d_model"]:
        """What the expert makes of the rows, later."""
        time.sleep(self.seconds * len(rows))
        return self.expert(rows)


def seconds_for(
    mixture: MixtureOfExperts, x: Float[Tensor, "tokens d_model"]
) -> float:
    """How long a worker needs for its tokens, from when all are ready."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    part = LocalExperts(mixture, rank, world_size)
    dist.barrier()
    start = time.perf_counter()
    part(x[shard(len(x), rank, world_size)])
    return time.perf_counter() - start


def experts_counted(*given: object) -> dict:
    """`to_experts_and_back`, and the bytes that left in each all-to-all."""
    with Traffic() as traffic:
        result = to_experts_and_back(*given)
    return result | {"away": traffic.away}


def in_turn(**tasks: Callable[[], object]) -> dict:
    """What each of several functions returns, by its name."""
    return {name: task() for name, task in tasks.items()}
