"""The attention of the book beside PyTorch's and the textbook variants.

Every number is a ratio of times taken side by side in one process; below 1
means that the first is faster. On a GPU the module runs in bfloat16 and is
compared with its projections and flash attention alone.
"""

import json
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.timing import (
    circumstances,
    geometric_mean,
    ratio,
    side_by_side,
)
from benchmarks.variants import VARIANTS
from kit.interop import from_torch
from lib.heads import MultiHeadAttention
from lib.masks import causal_mask, padding_mask

RESULT = Path(__file__).parent / "results" / "attention.json"
SIZES = {
    "tiny": (2, 6, 16, 2),
    "short": (32, 128, 512, 8),
    "middle": (8, 512, 512, 8),
    "long": (1, 2048, 512, 8),
}
GPU_SIZES = {
    "short": (64, 128, 512, 8),
    "middle": (16, 1024, 1024, 16),
    "long": (8, 4096, 1024, 16),
}
MASKS = ("none", "causal", "padded")
REPEATS = {"tiny": 300}
TARGETS = {  # pairs that are compared, in both directions of the pass
    "without weights": ("ours", "torch"),
    "with weights": ("ours, weights", "torch, weights"),
}


def masks(
    case: str, batch: int, length: int
) -> tuple[Tensor | None, dict[str, Tensor]]:
    """Our mask, and the same as arguments of torch in their usual form.

    The padded sentences have 4/7 to 7/7 of the length.
    """
    if case == "causal":
        mask = causal_mask(length)
        return mask, {"attn_mask": ~mask[0, 0]}
    if case == "padded":
        lengths = length * (torch.arange(batch) % 4 + 4) // 7
        mask = padding_mask(lengths, length)
        return mask, {"key_padding_mask": ~mask[:, 0, 0]}
    return None, {}


def calls(size: str, case: str) -> dict[str, Callable]:
    """What is compared: the same weights, input and mask for all."""
    batch, length, d_model, heads = SIZES[size]
    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
    ours = from_torch(theirs)
    evaluated = nn.MultiheadAttention(d_model, heads, batch_first=True).eval()
    evaluated.load_state_dict(theirs.state_dict())
    x = torch.randn(batch, length, d_model)
    mask, kwargs = masks(case, batch, length)
    plain = kwargs | {"need_weights": False}
    full = kwargs | {"need_weights": True, "average_attn_weights": False}
    return {
        "ours": lambda: ours(x, may_attend=mask),
        "torch": lambda: theirs(x, x, x, **plain)[0],
        "ours, weights": lambda: ours(x, may_attend=mask, need_weights=True)[
            0
        ],
        "torch, weights": lambda: theirs(x, x, x, **full)[0],
        "torch, eval": lambda: evaluated(x, x, x, **plain)[0],
    } | {name: lambda f=f: f(ours, x, mask) for name, f in VARIANTS.items()}


def forward(call: Callable) -> Callable[[], None]:
    """A pass as in use: nothing is kept for a backward pass."""

    def run():
        with torch.no_grad():
            call()

    return run


def both(call: Callable) -> Callable[[], None]:
    """A forward and a backward pass, as in training."""

    def run():
        call().sum().backward()

    return run


def compare(size: str, case: str) -> dict[str, float]:
    """All ratios of one size under one mask."""
    found, repeats = {}, REPEATS.get(size, 1)
    candidates = calls(size, case)
    times = side_by_side({n: forward(c) for n, c in candidates.items()},
                         repeats)  # fmt: skip
    for label, (ours, theirs) in TARGETS.items():
        found[f"{label}, forward"] = ratio(times, ours, theirs)
    found["without weights, eval"] = ratio(times, "ours", "torch, eval")
    for name in VARIANTS:
        found[name] = ratio(times, name, "ours")
    pairs = [name for pair in TARGETS.values() for name in pair]
    times = side_by_side({n: both(candidates[n]) for n in pairs}, repeats)
    for label, (ours, theirs) in TARGETS.items():
        found[f"{label}, both"] = ratio(times, ours, theirs)
    return found


def saved_bytes(call: Callable, given: set[int]) -> int:
    """Bytes kept for the backward pass, in storages that were not given."""
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in given:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        result = call()  # holds on to what is kept, so that no address is used
    del result  # twice
    return sum(kept.values())


def saved(size: str, case: str) -> dict[str, float]:
    """MiB saved for backward, without the parameters and the input."""
    batch, length, d_model, heads = SIZES[size]
    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
    ours, x = from_torch(theirs), torch.randn(batch, length, d_model)
    mask, kwargs = masks(case, batch, length)
    full = kwargs | {"average_attn_weights": False}
    given = [x, *ours.parameters(), *theirs.parameters()]
    addresses = {tensor.untyped_storage().data_ptr() for tensor in given}
    runs = {
        "ours": lambda: ours(x, may_attend=mask),
        "torch": lambda: theirs(x, x, x, need_weights=False, **kwargs),
        "ours, weights": lambda: ours(x, may_attend=mask, need_weights=True),
        "torch, weights": lambda: theirs(x, x, x, **full),
    } | {name: lambda f=f: f(ours, x, mask) for name, f in VARIANTS.items()}
    return {
        name: round(saved_bytes(call, addresses) / 2**20, 2)
        for name, call in runs.items()
    }


def on_gpu(size: str) -> dict[str, float]:
    """In bfloat16: our module by its projections and flash attention."""
    batch, length, d_model, heads = GPU_SIZES[size]
    module = MultiHeadAttention(d_model, heads).cuda().bfloat16()
    x = torch.randn(batch, length, d_model, device="cuda").bfloat16()

    def bare():
        parts = module.in_proj(x).unflatten(-1, (3, heads, -1))
        q, k, v = parts.transpose(1, 3).unbind(2)
        context = F.scaled_dot_product_attention(q, k, v)
        return module.out_proj(context.transpose(1, 2).flatten(2))

    candidates = {"ours": lambda: module(x), "bare": bare}
    found = {}
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        for name, kind in {"forward": forward, "both": both}.items():
            runs = {n: kind(call) for n, call in candidates.items()}
            times = side_by_side(runs, repeats=20)
            found[f"without weights, {name}"] = ratio(times, "ours", "bare")
    return found


def ratios() -> dict:
    """All that `make bench` and the GPU report record of attention."""
    torch.manual_seed(0)
    if torch.cuda.is_available():
        times = {size: on_gpu(size) for size in GPU_SIZES}
        return circumstances() | {"sizes": GPU_SIZES, "gpu": times}
    return circumstances() | {
        "sizes": SIZES,
        "ratio": {
            size: {case: compare(size, case) for case in MASKS}
            for size in SIZES
        },
        "MiB saved for backward": {
            size: {case: saved(size, case) for case in MASKS}
            for size in SIZES
            if size != "tiny"
        },
    }


def show(record: dict) -> None:
    """Print the ratios and their geometric means."""
    rows = {
        f"{size} {case}": row
        for size, cases in record["ratio"].items()
        for case, row in cases.items()
    }
    print(" " * 26, *(f"{name:>14}" for name in rows))
    for label in rows["tiny none"]:
        values = [row[label] for row in rows.values()]
        print(f"{label:26}", *(f"{value:14.2f}" for value in values))
        print(f"{'':26} geometric mean {geometric_mean(values):.2f}, "
              f"largest {max(values):.2f}")  # fmt: skip
    for size, cases in record["MiB saved for backward"].items():
        for case, row in cases.items():
            print(f"MiB saved for backward, {size} {case}: {row}")


def main() -> None:
    torch.set_num_threads(1)
    record = ratios()
    if "gpu" in record:
        print(json.dumps(record["gpu"], indent=1))
        return
    RESULT.write_text(json.dumps(record, indent=1) + "\n")
    show(record)


if __name__ == "__main__":
    main()
