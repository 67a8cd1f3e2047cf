"""Try faults, each in a process of its own that has torch imported already.

A child is forked for every fault and way to notice it, so that no fault can
reach another. A child that dies or does not end has tried nothing, unless
its fault is known to make a loop endless.
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

import gc
import multiprocessing
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory

import einops  # noqa: F401  imported here once, for every child
import jaxtyping  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import torch
import torch._dynamo  # noqa: F401
import torch.distributed.tensor  # noqa: F401

from tools.faults.fault import (
    NOTHING,
    Answer,
    Fault,
    Verdict,
    faulty_book,
)
from tools.faults.notebooks import (
    At,
    caught_by_notebooks,
    chapter_is_right,
    reached_by,
    stored,
)
from tools.faults.units import caught_by_units, tests_are_right, warm_up

SECONDS = 240  # of processor time, for one cell or one test
BUSY = 8  # times as long it may take on a machine that does other things
Way = Callable[[Fault, Path, At], Answer]
WAYS = {"notebooks": caught_by_notebooks, "units": caught_by_units}
ENDLESS = "does not end"


@dataclass(frozen=True)
class Task:
    """One fault to be looked at in one way."""

    fault: Fault
    way: Way
    seconds: int = SECONDS


def task_for(fault: Fault, way: str, first: str = "") -> Task:
    """The task that tries a fault, beginning with the place `first`."""
    seconds = fault.loops or SECONDS
    return Task(fault, partial(WAYS[way], first=first), seconds)


def ways_for(fault: Fault) -> list[str]:
    return list(WAYS) if fault.shown else ["units"]


def in_child(task: Task, folder: str, pipe) -> None:
    """Send through the pipe where the child is, and then what it found."""
    sys.dont_write_bytecode = True
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)

    def at(place: str) -> None:
        used = int(time.process_time())
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (used + task.seconds, hard))
        pipe.send(place)

    try:
        book = faulty_book(task.fault, Path(folder))
        pipe.send(task.way(task.fault, book, at))
    except BaseException:  # also SystemExit: the parent must hear of it
        pipe.send(Answer(untried=traceback.format_exc()))
    finally:
        pipe.close()
        os._exit(0)


class Child:
    """A process that does one task."""

    def __init__(self, task: Task):
        fork = multiprocessing.get_context("fork")
        self.task, self.place, self.answer = task, "the start", None
        self.folder = TemporaryDirectory(prefix="fault-")
        self.pipe, send = fork.Pipe(duplex=False)
        self.process = fork.Process(
            target=in_child, args=(task, self.folder.name, send)
        )
        self.process.start()
        send.close()
        self.wait_longer()

    def wait_longer(self) -> None:
        seconds = BUSY * max(self.task.seconds, 30)
        self.deadline = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def listen(self) -> None:
        """Read what the child says; sets the answer once there is one."""
        try:
            while self.pipe.poll():
                said = self.pipe.recv()
                if isinstance(said, Answer):
                    return self.end(said)
                self.place = said
                self.wait_longer()
        except EOFError:
            self.process.join()
            code = self.process.exitcode
            if code == -signal.SIGXCPU:
                return self.end(self.endless())
            died = f"{self.place}: the process died ({code})"
            return self.end(Answer(untried=died))
        if not self.left():
            self.process.kill()
            self.end(self.endless())

    def endless(self) -> Answer:
        """What it means that the child did not end."""
        if self.task.fault.loops:
            return Answer(self.place, ENDLESS)
        return Answer(
            untried=f"{self.place}: {ENDLESS} within {self.task.seconds} "
            "seconds of processor time; if that is what the fault does, say "
            "so by `loops=` or in endless.py"
        )

    def end(self, answer: Answer) -> None:
        self.answer = answer
        self.process.join()
        self.pipe.close()
        self.folder.cleanup()


@cache
def prepare() -> None:
    """Do once what every child would do again."""
    torch.set_num_threads(1)
    for name in stored():
        reached_by(name)
    warm_up()
    gc.freeze()  # children collect only their own garbage


def answers(tasks: list[Task], jobs: int) -> Iterator[tuple[int, Answer]]:
    """The number of each task and what was found, as they end."""
    prepare()
    waiting, running = list(enumerate(tasks)), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            number, task = waiting.pop(0)
            running[number] = Child(task)
        pipes = [child.pipe for child in running.values()]
        wait(pipes, min(child.left() for child in running.values()))
        for number, child in list(running.items()):
            child.listen()
            if child.answer is not None:
                del running[number]
                yield number, child.answer


def verdicts(
    faults: list[Fault], jobs: int = 1, record=None, stale: bool = False
) -> Iterator[Verdict]:
    """What becomes of each fault, in the order of the faults.

    Args:
        faults: what is tried.
        jobs: the number of processes at a time.
        record: it knows the places that noticed them last time, and whether
            anything has changed since.
        stale: do not try what has not changed.
    """
    found, tasks, keys = {}, [], []
    for fault in faults:
        for way in ways_for(fault):
            if stale and (known := record.fresh(fault, way)):
                found[fault, way] = known
                continue
            first = record.place(fault, way) if record else ""
            tasks.append(task_for(fault, way, first))
            keys.append((fault, way))
    ending = answers(tasks, jobs)
    for fault in faults:
        while not all((fault, way) in found for way in ways_for(fault)):
            number, answer = next(ending)
            found[keys[number]] = answer
        yield Verdict(
            fault, *(found.get((fault, way), Answer()) for way in WAYS)
        )


def control(found: list[Verdict], jobs: int = 1) -> list[str]:
    """The places that noticed a fault and fail without one, too.

    Each chapter is run once, up to the last cell that noticed a fault, and
    the tests that noticed one; within the time that ended an endless loop.
    """
    tasks = [*control_of_chapters(found), *control_of_tests(found)]
    return [
        f"NOT TRIED {answer.untried or answer.noticed}: without a fault "
        f"{answer.why or 'it could not be run'}"
        for _, answer in answers(tasks, jobs)
        if answer.noticed or answer.untried
    ]


def limit_of(verdict: Verdict, answer: Answer) -> int:
    return verdict.fault.loops if answer.why == ENDLESS else SECONDS


def control_of_chapters(found: list[Verdict]) -> Iterator[Task]:
    cells, seconds = {}, {}
    for verdict in found:
        name, _, cell = verdict.notebooks.noticed.partition(", In [")
        if cell:
            number = int(cell.removesuffix("]"))
            cells[name] = max(number, cells.get(name, 0))
            limit = limit_of(verdict, verdict.notebooks)
            seconds[name] = min(limit, seconds.get(name, limit))
    for name, count in cells.items():
        way = partial(chapter_is_right, name=name, cells=count)
        yield Task(NOTHING, way, seconds[name])


def control_of_tests(found: list[Verdict]) -> Iterator[Task]:
    tests = {}
    for verdict in found:
        if verdict.units.noticed:
            limit = limit_of(verdict, verdict.units)
            tests.setdefault(limit, set()).add(verdict.units.noticed)
    for limit, names in tests.items():
        way = partial(tests_are_right, tests=sorted(names))
        yield Task(NOTHING, way, limit)
