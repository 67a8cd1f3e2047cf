"""The attention of the book beside PyTorch's.

Every number is a ratio of times taken side by side in one process;
below 1 means that ours is faster. On a GPU the module runs in bfloat16 and is
compared with its projections and flash attention alone.
"""

import copy
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from benchmarks.timing import ratio, side_by_side
from kit.interop import from_torch
from lib.heads import MultiHeadAttention
from lib.masks import causal_mask, padding_mask

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


def calls(size: str, case: str) -> tuple[dict[str, Callable], Tensor]:
    """What is compared, with the same weights and mask, and the input."""
    batch, length, d_model, heads = SIZES[size]
    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
    ours, evaluated = from_torch(theirs), copy.deepcopy(theirs).eval()
    mask, kwargs = masks(case, batch, length)
    plain = kwargs | {"need_weights": False}
    full = kwargs | {"average_attn_weights": False}
    own = {"may_attend": mask, "need_weights": True}
    return {
        "ours": lambda x: ours(x, may_attend=mask),
        "torch": lambda x: theirs(x, x, x, **plain)[0],
        "ours, weights": lambda x: ours(x, **own)[0],
        "torch, weights": lambda x: theirs(x, x, x, **full)[0],
        "torch, eval": lambda x: evaluated(x, x, x, **plain)[0],
    }, torch.randn(batch, length, d_model)


def forward(call: Callable, x: Tensor) -> Callable[[], None]:
    """A pass as in use: nothing is kept for a backward pass."""

    def run():
        with torch.no_grad():
            call(x)

    return run


def both(call: Callable, x: Tensor) -> Callable[[], None]:
    """A forward and a backward pass, as in training."""

    def run():
        call(x).sum().backward()

    return run


PAIRS = {  # times of which kind, of which by which
    "without weights, forward": (forward, "ours", "torch"),
    "with weights, forward": (forward, "ours, weights", "torch, weights"),
    "without weights, eval": (forward, "ours", "torch, eval"),
    "without weights, both": (both, "ours", "torch"),
    "with weights, both": (both, "ours, weights", "torch, weights"),
}


def compare(size: str, case: str) -> dict[str, float]:
    """All ratios of one size under one mask."""
    candidates, x = calls(size, case)
    times = {}
    for kind in (forward, both):
        runs = {name: kind(call, x) for name, call in candidates.items()}
        times[kind] = side_by_side(runs, REPEATS.get(size, 1))
    return {
        label: ratio(times[kind], ours, theirs)
        for label, (kind, ours, theirs) in PAIRS.items()
    }


def on_gpu(size: str) -> dict[str, float]:
    """In bfloat16: our module by its projections and flash attention."""
    batch, length, d_model, heads = GPU_SIZES[size]
    module = MultiHeadAttention(d_model, heads).cuda().bfloat16()
    x = torch.randn(batch, length, d_model, device="cuda").bfloat16()

    def bare(x):
        parts = module.in_proj(x).unflatten(-1, (3, heads, -1))
        q, k, v = parts.transpose(1, 3).unbind(2)
        context = F.scaled_dot_product_attention(q, k, v)
        return module.out_proj(context.transpose(1, 2).flatten(2))

    candidates = {"ours": module, "bare": bare}
    found = {}
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        for kind in (forward, both):
            runs = {name: kind(call, x) for name, call in candidates.items()}
            times = side_by_side(runs, repeats=20)
            label = f"without weights, {kind.__name__}"
            found[label] = ratio(times, "ours", "bare")
    return found


def record() -> dict:
    torch.manual_seed(0)
    if torch.cuda.is_available():
        times = {size: on_gpu(size) for size in GPU_SIZES}
        return {"sizes": GPU_SIZES, "gpu": times}
    return {
        "sizes": SIZES,
        "ratio": {
            size: {case: compare(size, case) for case in MASKS}
            for size in SIZES
        },
    }
