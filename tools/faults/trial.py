"""Try faults, each in a process of its own that has torch imported already.

A child is forked for every fault and way of looking, so that no fault can
reach another.
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
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from resource import RLIMIT_CPU, getrlimit, setrlimit
from tempfile import TemporaryDirectory

import torch._dynamo  # noqa: F401  imported here once, for every child
import torch.distributed.tensor  # noqa: F401

from tools.faults import notebooks, units
from tools.faults.generate import Fault
from tools.source.taught import ROOT, library

SECONDS = 200  # of processor time, for one chapter or file of tests
BUSY = 8  # times as long may pass by the clock
WAYS = {"notebooks": notebooks, "units": units}


@dataclass(eq=False)
class Trial:
    """One fault, and who notices it in one way of looking."""

    fault: Fault
    way: str
    places: list[str]  # the chapters or files that are run
    noticed: str = ""  # what failed or did not end
    untried: str = ""  # why it cannot be said who notices
    seen: set[str] = field(default_factory=set)  # modules that were imported

    def start(self) -> int:
        """Begin in a child, whose number is returned."""
        self.folder = TemporaryDirectory(prefix="fault-")
        self.note = Path(self.folder.name, "note")
        if child := os.fork():
            return child
        try:
            sys.dont_write_bytecode = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(1, 2)
            self.look()
        except BaseException as error:  # the parent must hear of SystemExit
            self.untried = repr(error)
        finally:
            note = self.noticed, self.untried, self.seen
            self.note.write_bytes(pickle.dumps(note))
            os._exit(0)

    def look(self) -> None:
        """Run one chapter or file after the other until one notices."""
        book, way = faulty_book(self.fault, self.note.parent), WAYS[self.way]
        for place in self.places:
            forget()
            os.chdir(book)
            self.note.write_text(f"{place}: too slow")
            limit = int(time.process_time()) + SECONDS
            setrlimit(RLIMIT_CPU, (limit, getrlimit(RLIMIT_CPU)[1]))
            signal.alarm(BUSY * SECONDS)
            if why := way.failure(place, self.fault, book):
                self.noticed = f"{place}: {why}"
                break
        names = [n[4:] for n in sys.modules if n.startswith("lib.")]
        self.seen = {name.replace(".", "/") for name in names}
        if way is notebooks:
            self.seen = self.seen.union(*map(notebooks.shown, self.places))

    def end(self, status: int) -> None:
        """Read what the child has found out."""
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            note = pickle.loads(self.note.read_bytes())
            self.noticed, self.untried, self.seen = note
        elif code in (-signal.SIGXCPU, -signal.SIGALRM):
            self.noticed = self.note.read_text()
        else:
            self.untried = f"the process died ({code})"
        self.folder.cleanup()


def faulty_book(fault: Fault, folder: Path) -> Path:
    """Make a book with this fault; all its other files are links."""
    for path in ROOT.glob("[!.]*"):
        if path.name != "book":
            (folder / path.name).symlink_to(path)
    book = shutil.copytree(
        ROOT / "book", folder / "book", copy_function=os.symlink
    )
    stem = book / "lib" / fault.module
    path = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
    path.unlink()
    path.write_text(fault.wrong, encoding="utf-8")
    return book


def forget() -> None:
    """Let the next import read the library and the tests again."""
    for name in list(sys.modules):
        if name.partition(".")[0] in {"lib", "kit", "tests"}:
            del sys.modules[name]
    sys.path[:] = [path for path in sys.path if not path.endswith("/book")]


def tried(trials: Iterable[Trial], jobs: int) -> Iterator[Trial]:
    """The trials as they end, so many at a time."""
    torch.set_num_threads(1)
    notebooks.stored()  # read once, for every child
    gc.freeze()  # children collect only their own garbage
    waiting, running = [*trials][::-1], {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                trial = waiting.pop()
                running[trial.start()] = trial
            child, status = os.wait()
            trial = running.pop(child)
            trial.end(status)
            yield trial
    finally:  # an interrupt leaves no child
        for child in running:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def seen_without_fault(jobs: int) -> dict[tuple[str, str], set[str]]:
    """The modules that each chapter and each test file imports."""
    nothing, seen = Fault("runtime", library()["runtime"], 0, 0, ""), {}
    places = [(name, p) for name, way in WAYS.items() for p in way.targets("")]
    for trial in tried([Trial(nothing, n, [p]) for n, p in places], jobs):
        if wrong := trial.noticed or trial.untried:
            raise RuntimeError(f"without a fault, {trial.way}: {wrong}")
        seen[trial.way, trial.places[0]] = trial.seen
    return seen


def trials_of(fault: Fault, seen: dict) -> Iterator[Trial]:
    """A trial for each way, in the places that see the module."""
    for name, way in WAYS.items():
        places = way.targets(fault.module)
        seeing = [p for p in places if fault.module in seen[name, p]]
        yield Trial(fault, name, seeing)
