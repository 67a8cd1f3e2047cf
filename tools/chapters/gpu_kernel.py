"""The kernel book-gpu: IPython that refuses to start without a GPU.

A check in the notebooks would not be enough: cells that never ask for the
device would pass on a CPU.
"""

import sys

import torch

if not torch.cuda.is_available():
    sys.exit(f"book-gpu needs a GPU; torch {torch.__version__} sees none here")

from ipykernel.kernelapp import launch_new_instance  # noqa: E402

sys.path.pop(0)  # this folder: a notebook must not import from it
launch_new_instance()
