"""The two kernels the book is checked on: book-cpu and book-gpu.

`python -m tools.chapters.kernels` puts them into the environment whose
Python runs it.
"""

import json
import multiprocessing
import os
import runpy
import sys
from pathlib import Path

from pytest import MonkeyPatch

ROOT = Path(__file__).resolve().parents[2]
# Kernels are forked from a process that has imported what takes seconds. What
# a notebook does not import itself has no name in it all the same; `make sync`
# runs it in an ordinary kernel.
FORKS = multiprocessing.get_context("forkserver")
if sys.platform == "linux":  # a Mac's libraries may not survive a fork
    FORKS.set_forkserver_preload(
        [
            "ipykernel.kernelapp",
            "matplotlib.pyplot",
            "torch._dynamo",  # the first optimiser asks for it
            "torch.distributed.tensor",  # the first `assert_close` does
        ]
    )

GPU_LAUNCHER = Path(__file__).resolve().with_name("gpu_kernel.py")

# One thread: sums split over threads round differently. The inline backend
# by name: an MPLBACKEND of the caller would leave the notebooks no figures.
COMMON = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TQDM_DISABLE": "1",  # a bar shows times, which no page stores
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}
KERNELS = {
    "book-cpu": (
        ["-m", "ipykernel_launcher"],
        {"CUDA_VISIBLE_DEVICES": "", "BOOK_DEVICE": "cpu"},
    ),
    "book-gpu": (
        [str(GPU_LAUNCHER)],
        {
            "BOOK_DEVICE": "cuda",
            "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
            # To ask for a GPU must not open it: a fork could not use it.
            "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        },
    ),
}


def write_kernels(folder: Path) -> None:
    """Write both kernels into `folder`, one of Jupyter's `kernels` folders."""
    for name, (entry, env) in KERNELS.items():
        spec = {
            "argv": [
                sys.executable,
                *entry,
                "-f",
                "{connection_file}",
                # The plugin keeps a history, as a reader's Jupyter does, but
                # not in the file of whoever runs the tests.
                "--HistoryManager.hist_file=:memory:",
            ],
            "display_name": name,
            "language": "python",
            "env": COMMON | env,
        }
        (folder / name).mkdir(parents=True, exist_ok=True)
        text = json.dumps(spec, indent=1) + "\n"
        (folder / name / "kernel.json").write_text(text, encoding="utf-8")


def forked(manager, folder: str):
    """Start the kernel of a manager in a folder; returns its process."""
    env, command = manager.kernel_spec.env, manager.format_kernel_cmd()
    process = FORKS.Process(target=become, args=(command, env, folder))
    with MonkeyPatch.context() as patch:
        for name, value in env.items():  # what is imported reads some of it
            patch.setenv(name, value)
        process.start()
    return process


def become(command: list[str], env: dict[str, str], folder: str) -> None:
    """Be the kernel that this command would start."""
    os.setsid()
    os.chdir(folder)
    os.environ |= env | {"JPY_PARENT_PID": str(os.getppid())}
    ours = {str(ROOT), str(ROOT / "book")}  # where the tests import from
    sys.path[:] = [path for path in sys.path if path not in ours]
    sys.argv = command[2:] if command[1] == "-m" else command[1:]
    if command[1] == "-m":
        runpy.run_module(command[2], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(command[1]).parent))
        runpy.run_path(command[1], run_name="__main__")


if __name__ == "__main__":
    target = Path(sys.prefix, "share", "jupyter", "kernels")
    write_kernels(target)
    print(f"kernels {' and '.join(KERNELS)} are in {target}")
