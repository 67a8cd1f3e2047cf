"""Where the numbers of the book run: device, seeds and printing.

Not taught. Every chapter calls `setup()` first, so that its stored outputs
come out the same on every machine, with a GPU and without.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn


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
    prints tensors with four decimals. The CPU works with one thread, unless
    the environment variable `OMP_NUM_THREADS` says otherwise: the tensors of
    the book are so small that threads spend their time waiting for each
    other. On two busy cores chapter 8 cost 334 s of processor time with two
    threads and 67 s with one.
    """
    if not isinstance(seed, int):
        raise TypeError(
            f"seed: expected an integer, got {type(seed).__name__}"
        )
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(1)
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


@contextmanager
def evaluation(model: nn.Module) -> Iterator[None]:
    """Inside, no dropout and no gradients; afterwards all as it was.

    Tensors made inside cannot be trained or changed in place later; those
    that leave are copied (`clone`) outside.
    """
    in_training = [module for module in model.modules() if module.training]
    if in_training:
        model.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        for module in in_training:
            module.training = True


@contextmanager
def progress(done: int, total: int) -> Iterator[Callable[[float], None]]:
    """A bar with the time that is left; yields a function to call per step.

    It shows in a terminal and in a notebook, and is silent elsewhere and
    where the environment variable `TQDM_DISABLE` is set.
    """
    from tqdm import tqdm

    seen = sys.stderr.isatty() or "ipykernel" in sys.modules
    off = not seen or os.environ.get("TQDM_DISABLE", "") not in ("", "0")
    with tqdm(initial=done, total=total, unit="step", disable=off) as bar:

        def step(loss: float) -> None:
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
            bar.update()

        yield step


@contextmanager
def finish_first() -> Iterator[list]:
    """Inside, Ctrl-C only fills the list that is yielded.

    The loop looks at the list when its step is complete, so that nothing is
    left half done. A second Ctrl-C interrupts at once. Python can do this in
    the main thread only; elsewhere the list stays empty.
    """
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number, frame):
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before or signal.default_int_handler)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that it is the old one or the new one, never half.

    Raises:
        OSError: it cannot be written (disk full, say); the old one stays.
    """
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(
            error.errno,
            f"checkpoint: expected to write {len(content)} bytes, got "
            f"{error.strerror}; what was there before is intact",
            str(path),
        ) from error


def random_states() -> dict[str, Tensor]:
    """The states of torch's generators, by device."""
    devices = {"cpu": torch.get_rng_state, "cuda": torch.cuda.get_rng_state}
    return {name: devices[name]() for name in generators()}


def set_random_states(states: dict[str, Tensor]) -> None:
    """Go on with the random numbers where `random_states` was called."""
    devices = {"cpu": torch.set_rng_state, "cuda": torch.cuda.set_rng_state}
    for name in states.keys() & set(generators()):
        devices[name](states[name])


def generators() -> list[str]:
    """The devices that have a generator of random numbers here."""
    return ["cpu", *["cuda"] * torch.cuda.is_available()]
