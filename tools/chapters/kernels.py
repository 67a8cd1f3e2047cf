"""Write the two kernels the book is checked on: book-cpu and book-gpu.

`python -m tools.chapters.kernels` puts them into the environment whose
Python runs it.
"""

import json
import sys
from pathlib import Path

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
        {"BOOK_DEVICE": "cuda", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
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


if __name__ == "__main__":
    target = Path(sys.prefix, "share", "jupyter", "kernels")
    write_kernels(target)
    print(f"kernels {' and '.join(KERNELS)} are in {target}")
