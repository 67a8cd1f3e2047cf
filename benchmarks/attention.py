"""The attention of the book beside PyTorch's: what a GPU's report says.

Every number is a ratio of times taken side by side in one process; below 1
ours is faster. On a GPU both compute in bfloat16.
"""

from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.timing import ratio, side_by_side
from kit.interop import from_torch

SIZES = {  # batch, length, d_model, heads
    "short": (64, 128, 512, 8),
    "middle": (16, 512, 512, 8),
    "long": (4, 2048, 512, 8),
}


def there(module: nn.Module, x: Tensor) -> None:
    """A forward pass as in use: nothing is kept for a backward pass."""
    with torch.no_grad():
        module(x, x, x, need_weights=False)


def there_and_back(module: nn.Module, x: Tensor) -> None:
    """A forward and a backward pass, as in training."""
    output = module(x, x, x, need_weights=False)
    (output if isinstance(output, Tensor) else output[0]).sum().backward()


def record() -> dict:
    torch.manual_seed(0)
    on_gpu = torch.cuda.is_available()
    place = ("cuda", torch.bfloat16) if on_gpu else ("cpu", torch.float32)
    ratios = {"sizes": SIZES, "forward": {}, "both": {}}
    for size, (batch, length, d_model, heads) in SIZES.items():
        theirs = nn.MultiheadAttention(d_model, heads, batch_first=True)
        theirs, x = theirs.to(*place), torch.randn(batch, length, d_model)
        modules = {"ours": from_torch(theirs), "torch": theirs}
        for name, run in (("forward", there), ("both", there_and_back)):
            runs = {
                whose: partial(run, module, x.to(*place))
                for whose, module in modules.items()
            }
            ratios[name][size] = ratio(side_by_side(runs), "ours", "torch")
    return ratios
