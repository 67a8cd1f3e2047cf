"""Time and memory of attention as a text grows: chapter 15.

One text, forward, without a mask or (the cheaper two) causal. Memory is the
most that the allocator has handed out at any time, beyond the inputs: on a
processor seen by torch's profiler, on a GPU by its own count. A GPU gets more
heads, half precision, and lengths up to 65,536; what does not fit is null.
"""

import json
import math
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from benchmarks.timing import seconds
from lib.efficient import linear_attention, local_attention

LENGTHS = [128, 256, 512, 1024, 2048, 4096, 8192]
GPU_LENGTHS = [*LENGTHS, 16384, 32768, 65536]
D_HEAD, WINDOW, ROUNDS, GPU_HEADS = 64, 256, 7, 16


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


def inputs(length: int) -> list[Tensor]:
    """Queries, keys and values."""
    shape = (3, 1, 1, length, D_HEAD)
    if torch.cuda.is_available():
        shape = (3, 1, GPU_HEADS, length, D_HEAD)
        return list(torch.randn(shape).to("cuda", torch.bfloat16))
    return list(torch.randn(shape))


def peak(call: Callable, *given: Tensor) -> int:
    """The most bytes in use during a call, beyond those before it."""
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call(*given)
        return torch.cuda.max_memory_allocated() - before
    kinds = {"activities": [ProfilerActivity.CPU], "profile_memory": True}
    with profile(**kinds) as seen:
        call(*given)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        seen.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    changes = sorted(
        (event["ts"], event["args"]["Bytes"])
        for event in events
        if event.get("name") == "[memory]"
    )
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


@torch.no_grad()
def measure(name: str, length: int) -> dict | None:
    """Median seconds and peak bytes, or None if memory did not suffice."""
    given, call = inputs(length), CALLS[name]
    try:
        call(*given)
        repeats = max(1, 2**20 // length**2)
        times = [
            seconds(lambda: call(*given), repeats) / repeats
            for _ in range(ROUNDS)
        ]
        return {
            "seconds": statistics.median(times),
            "bytes": peak(call, *given),
        }
    except torch.OutOfMemoryError:
        return None


def record() -> dict:
    """Of each call, times and bytes by length.

    Times are divided by that of SDPA at the smallest length.
    """
    torch.manual_seed(0)
    on_gpu = torch.cuda.is_available()
    lengths = GPU_LENGTHS if on_gpu else LENGTHS
    found = {name: [measure(name, n) for n in lengths] for name in CALLS}
    unit = found["in blocks (SDPA)"][0]["seconds"]
    return {
        "d_head": D_HEAD,
        "window": WINDOW,
        "heads": GPU_HEADS if on_gpu else 1,
        "dtype": "bfloat16" if on_gpu else "float32",
        "n": lengths,
        "time": {
            name: [one and round(one["seconds"] / unit, 3) for one in row]
            for name, row in found.items()
        },
        "bytes": {
            name: [one and one["bytes"] for one in row]
            for name, row in found.items()
        },
    }
