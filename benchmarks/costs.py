"""Time and memory of attention as a text grows: chapter 15.

One text, forward, without a mask or (the cheaper two) causal. Memory is the
most that the allocator has handed out at any time, beyond the inputs, as
torch's profiler has seen it.
"""

import math
import statistics
from collections.abc import Callable
from itertools import accumulate

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from benchmarks.timing import seconds
from lib.efficient import linear_attention, local_attention

LENGTHS = [128, 256, 512, 1024, 2048, 4096, 8192]
D_HEAD, WINDOW, ROUNDS = 64, 256, 7


def in_full(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """As the formula says: the whole table, and the whole softmax of it."""
    scores = (q / math.sqrt(q.shape[-1])) @ k.mT
    return torch.softmax(scores, dim=-1) @ v


CALLS: dict[str, Callable] = {
    "the table in full": in_full,
    "in blocks (SDPA)": F.scaled_dot_product_attention,
    "window of 256": lambda q, k, v: local_attention(q, k, v, WINDOW),
    "linear attention": linear_attention,
}


def peak(call: Callable, *given: Tensor) -> int:
    """The most bytes in use during a call, beyond those before it."""
    kinds = {"activities": [ProfilerActivity.CPU], "profile_memory": True}
    with profile(**kinds) as seen:
        call(*given)
    changes = sorted(
        (event.start_ns(), event.nbytes())
        for event in seen.profiler.kineto_results.events()
        if event.name() == "[memory]"
    )
    return max(accumulate(change for _, change in changes))


@torch.no_grad()
def measure(call: Callable, length: int) -> tuple[float, int]:
    """Median seconds, and peak bytes."""
    given = torch.randn(3, 1, 1, length, D_HEAD)
    call(*given)
    repeats = max(1, 2**20 // length**2)
    times = [seconds(lambda: call(*given), repeats) for _ in range(ROUNDS)]
    return statistics.median(times), peak(call, *given)


def record() -> dict:
    """Of each call, times and bytes by length.

    Times are divided by that of SDPA at the smallest length.
    """
    torch.manual_seed(0)
    by_call = {
        name: [measure(call, n) for n in LENGTHS]
        for name, call in CALLS.items()
    }
    unit, _ = by_call["in blocks (SDPA)"][0]
    return {
        "n": LENGTHS,
        "time": {
            name: [round(took / unit, 3) for took, _ in row]
            for name, row in by_call.items()
        },
        "bytes": {name: [b for _, b in row] for name, row in by_call.items()},
    }
