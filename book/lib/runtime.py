"""Where the numbers of the book run: device, seeds and printing.

Not taught. Every chapter calls `setup()` first, so that its stored outputs
come out the same on every machine, with a GPU and without.
"""

import os

import torch
from torch import Tensor


def device() -> torch.device:
    """The device the book computes on: a CUDA GPU if there is one, else CPU.

    The environment variable `BOOK_DEVICE` (`cpu` or `cuda`) overrides the
    choice.

    Raises:
        ValueError: `BOOK_DEVICE` is neither `cpu`, `cuda` nor unset.
        RuntimeError: `BOOK_DEVICE` is `cuda` and no GPU is visible.
    """
    wanted = os.environ.get("BOOK_DEVICE", "")
    if wanted not in ("", "cpu", "cuda"):
        raise ValueError(
            f"BOOK_DEVICE: expected 'cpu', 'cuda' or nothing, got {wanted!r}"
        )
    if wanted == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("BOOK_DEVICE is 'cuda', but torch sees no GPU")
    use_gpu = wanted != "cpu" and torch.cuda.is_available()
    return torch.device("cuda" if use_gpu else "cpu")


def setup(seed: int = 0) -> torch.device:
    """Make a notebook repeatable and return the device it computes on.

    Seeds torch, turns TensorFloat-32 off (it keeps 10 bits of a product,
    which shows in the fourth decimal), asks for deterministic kernels, and
    prints tensors with four decimals.

    Raises:
        TypeError: the seed is not an integer.
    """
    if not isinstance(seed, int):
        raise TypeError(
            f"seed: expected an integer, got {type(seed).__name__}"
        )
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.manual_seed(seed)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    # The same as use_deterministic_algorithms(True), which would spend a
    # second on importing torch's compiler.
    torch.set_deterministic_debug_mode("error")
    torch.set_printoptions(precision=4, sci_mode=False, linewidth=79)
    _show_tensors_without_device()
    return device()


def _show_tensors_without_device() -> None:
    """In IPython, show `tensor([1.])`, whatever device holds it.

    `device='cuda:0'` and `grad_fn=<...>` would make the same value look
    different on a GPU, and re-wrap its lines.
    """
    try:
        from IPython import get_ipython
    except ImportError:
        return
    if shell := get_ipython():
        formatter = shell.display_formatter.formatters["text/plain"]
        formatter.for_type(Tensor, _pretty_tensor)
        formatter.for_type(torch.nn.Parameter, _pretty_tensor)


def _pretty_tensor(tensor: Tensor, printer, cycle: bool) -> None:
    printer.text(repr(tensor.detach().cpu()))
