"""Try faults, each in a process of its own that has torch imported already.

A child is forked for every fault and way to notice it, so that no fault can
reach another and an endless loop can be ended: it counts as noticed.
"""

import os

# Before torch is imported: one thread, on the CPU, figures as in a kernel.
os.environ |= {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "BOOK_DEVICE": "cpu",
    "TQDM_DISABLE": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}

import multiprocessing
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from pathlib import Path

import einops  # noqa: F401  imported here once, for every child
import jaxtyping  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import torch
import torch._dynamo  # noqa: F401
import torch.distributed.tensor  # noqa: F401

from tools.faults.fault import Fault, Verdict, faulty_book
from tools.faults.notebooks import caught_by_notebooks, stored
from tools.faults.units import caught_by_units

SECONDS = 240  # of processor time; a machine may be busy with other things
WALL_SECONDS = 20 * SECONDS
Way = Callable[[Fault, Path], str]
WAYS = (caught_by_notebooks, caught_by_units)


def ways_for(fault: Fault) -> tuple[Way, ...]:
    return WAYS if fault.shown else (caught_by_units,)


def in_child(way: Way, fault: Fault, pipe) -> None:
    """Send what the child finds through the pipe."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        with faulty_book(fault) as book:
            pipe.send((True, way(fault, book)))
    except BaseException:  # also SystemExit: the parent must hear of it
        pipe.send((False, traceback.format_exc()))
    finally:
        pipe.close()
        os._exit(0)


class Child:
    """A process that tries one fault in one way."""

    def __init__(self, fault: Fault, way: Way):
        fork = multiprocessing.get_context("fork")
        self.fault = fault
        self.pipe, send = fork.Pipe(duplex=False)
        self.process = fork.Process(target=in_child, args=(way, fault, send))
        self.process.start()
        send.close()
        self.deadline = time.monotonic() + WALL_SECONDS

    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def answer(self) -> str:
        """What the child found; its end is near, or its time is over."""
        if not self.pipe.poll():
            self.process.kill()
            worked, found = True, "waits for ever"
        else:
            try:
                worked, found = self.pipe.recv()
            except EOFError:
                worked, found = True, "the process died or did not end"
        self.process.join()
        self.pipe.close()
        if not worked:
            raise RuntimeError(f"{self.fault.name}: not tried\n{found}")
        return found


def verdicts(faults: list[Fault], jobs: int = 1) -> Iterator[Verdict]:
    """What becomes of each fault, in the order of the faults."""
    torch.set_num_threads(1)
    stored()
    tasks = [(fault, way) for fault in faults for way in ways_for(fault)]
    waiting, running, found = list(tasks), {}, {}
    for fault in faults:
        while not all((fault, way) in found for way in ways_for(fault)):
            while waiting and len(running) < jobs:
                task = waiting.pop(0)
                running[task] = Child(*task)
            pipes = [child.pipe for child in running.values()]
            wait(pipes, min(child.left() for child in running.values()))
            for task, child in list(running.items()):
                if child.pipe.poll() or not child.left():
                    found[task] = running.pop(task).answer()
        yield Verdict(fault, *(found.get((fault, way), "") for way in WAYS))
