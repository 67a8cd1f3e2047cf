"""Try faults, each in a process of its own that has torch imported already.

A child is forked for every fault and way of looking, so that no fault can
reach another. What a child ran without noticing anything teaches the next
ones which chapters and test files cannot see a module.
"""

import os

# Before torch is imported: one thread, on the CPU, figures as in a kernel.
os.environ |= {
    "OMP_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "BOOK_DEVICE": "cpu",
    "TQDM_DISABLE": "1",
    "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}

import gc
import pickle
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from resource import RLIMIT_CPU, getrlimit, setrlimit
from tempfile import TemporaryDirectory

import torch._dynamo  # noqa: F401  imported here once, for every child
import torch.distributed.tensor  # noqa: F401

from tools.faults import notebooks, units
from tools.faults.fault import Fault, faulty_book

SECONDS = 200  # of processor time, for one cell or one test
CALM = SECONDS // 4  # for the same without a fault
BUSY = 8  # times as long may pass by the clock
WAYS = {"notebooks": notebooks, "units": units}
seen: dict[str, set[str]] = {}  # the modules that a chapter or file sees


@dataclass(eq=False)
class Trial:
    """One fault, and who notices it in one way of looking."""

    fault: Fault
    way: str
    places: Sequence[str] = ()  # only these cells or tests of one file
    seconds: int = SECONDS
    noticed: str = ""  # the cell or test that failed or did not end
    untried: str = ""  # why it cannot be said who notices
    passed: dict[str, set[str]] = field(default_factory=dict)  # see `seen`

    def start(self) -> int:
        """Begin in a child, whose number is returned."""
        self.folder = TemporaryDirectory(prefix="fault-")
        self.said = Path(self.folder.name, "said")
        if child := os.fork():
            return child
        try:
            sys.dont_write_bytecode = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            self.look()
        except BaseException:  # also SystemExit: the parent must hear of it
            said = traceback.format_exc().strip()
            self.untried = said.rpartition("\n")[2]
        finally:
            found = self.noticed, self.untried, self.passed
            self.said.write_bytes(pickle.dumps(found))
            os._exit(0)

    def look(self) -> None:
        """Run one chapter or file after the other until one notices."""
        way, module = WAYS[self.way], self.fault.module
        book = faulty_book(self.fault, self.said.parent)
        for name in [""] if self.places else way.targets(module):
            if not self.noticed and module in seen.get(name, {module}):
                forget()
                os.chdir(book)
                places = self.places or [name]
                self.noticed = way.failure(places, self.fault, book, self.at)
                if name and not self.noticed:  # so it ran to its end
                    self.passed[name] = visible(name)

    def at(self, place: str) -> None:
        """Say which cell or test begins, and limit how long it may take."""
        self.said.write_text(place)
        limit = int(time.process_time()) + self.seconds
        setrlimit(RLIMIT_CPU, (limit, getrlimit(RLIMIT_CPU)[1]))
        signal.alarm(BUSY * self.seconds)

    def end(self, status: int) -> None:
        """Read what the child has found out."""
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            found = pickle.loads(self.said.read_bytes())
            self.noticed, self.untried, self.passed = found
            seen.update(self.passed)
        elif code in (-signal.SIGXCPU, -signal.SIGALRM):
            self.noticed = self.said.read_text()
        else:
            self.untried = f"the process died ({code})"
        self.folder.cleanup()


def forget() -> None:
    """Let the next import read the library and the tests again."""
    for name in list(sys.modules):
        if name.partition(".")[0] in {"lib", "kit", "tests"}:
            del sys.modules[name]
    sys.path[:] = [path for path in sys.path if not path.endswith("/book")]


def visible(name: str) -> set[str]:
    """The modules that a chapter or file has imported or shown."""
    imported = {
        m[4:].replace(".", "/") for m in sys.modules if m[:4] == "lib."
    }
    is_chapter = name in notebooks.stored()
    return imported | notebooks.shown(name) if is_chapter else imported


def tried(trials: Iterable[Trial], jobs: int) -> Iterator[Trial]:
    """The trials as they end, so many at a time."""
    torch.set_num_threads(1)
    notebooks.stored()  # read once, for every child
    gc.freeze()  # children collect only their own garbage
    waiting, running = [*trials][::-1], {}
    while waiting or running:
        while waiting and len(running) < jobs:
            trial = waiting.pop()
            running[trial.start()] = trial
        child, status = os.wait()
        trial = running.pop(child)
        trial.end(status)
        yield trial


def control(trials: Iterable[Trial], jobs: int) -> None:
    """Take back what was noticed by what is not right without a fault, too.

    A cell or test that failed or did not end must pass without the fault,
    and in a quarter of the time.
    """
    groups = defaultdict(list)
    for trial in trials:
        if trial.noticed:
            groups[trial.way, trial.noticed.partition("::")[0]].append(trial)
    without = {}
    for (way, _), group in groups.items():
        places = sorted({trial.noticed for trial in group})
        nothing = replace(group[0].fault, start=0, end=0, new="")
        without[Trial(nothing, way, places, CALM)] = group
    for trial in tried(without, jobs):
        if wrong := trial.noticed or trial.untried:
            for other in without[trial]:
                other.noticed, other.untried = "", f"without a fault: {wrong}"
