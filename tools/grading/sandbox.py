"""A sandbox of bubblewrap, and the process in it that tries answers.

There is no network in it. Of this machine it shows the system's programs, the
Python that runs this, and the book's library, data and measurements, all of
them read-only. The answer key, the tests, the tools, the submissions and the
grades are not there.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tools.source.taught import ROOT

INSIDE = Path(__file__).with_name("inside")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
LINKERS = ("/etc/ld.so.cache", "/etc/alternatives")
BOOK = ("book/lib", "book/kit", "book/data", "benchmarks/results")
READ_ONLY = ("--remount-ro", "/dev", "--remount-ro", "/")
STARTING = 180  # seconds that importing torch may take on a busy machine
SPARE = 30  # seconds that a limit may be overrun until the sandbox goes
LONGEST = 1 << 20  # bytes of what it says
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/answer",
    "TMPDIR": "/answer",
    "USER": "student",
    "LANG": "C.UTF-8",
    "PYTHONPATH": "/book",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "BOOK_STRICT": "1",
    "BOOK_DEVICE": "cpu",
    "CUDA_VISIBLE_DEVICES": "",
    "MPLBACKEND": "agg",
    "TQDM_DISABLE": "1",
}
CONTAINER = "the page on grading has a recipe for a container"
INSTALL = (
    "grading needs bubblewrap, in which submissions run: `apt-get install "
    "-y bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora)"
)


class SandboxError(Exception):
    """Why answers cannot be tried, or one could not."""


@dataclass(frozen=True)
class Limits:
    """What an answer may use: seconds and bytes, and how many processes."""

    cpu: int = 30
    wall: int = 60
    memory: int = 2 << 30
    file: int = 64 << 20
    disk: int = 128 << 20
    processes: int = 64


def hidden_places(*others: Path) -> list[Path]:
    """What must not be seen in it, wherever it lies."""
    return [path.resolve() for path in (ROOT, *others)]


def is_in(path: Path, folders: list[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def shown(path: Path, at: Path | None = None) -> list[str]:
    """Arguments that show a folder; anybody may pass those above it."""
    at = at or path
    arguments = []
    for above in reversed(at.parents[:-1]):
        arguments += ["--perms", "0755", "--dir", str(above)]
    return [*arguments, "--ro-bind", str(path), str(at)]


def system() -> list[str]:
    """Arguments that show what every program needs."""
    arguments = []
    for name in SYSTEM:
        if os.path.islink(name):
            arguments += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            arguments += ["--ro-bind", name, name]
    for name in LINKERS:
        arguments += ["--ro-bind-try", name, name]
    return arguments


def python_homes() -> list[Path]:
    """Where this Python and its packages lie, if not in the system."""
    program = Path(sys.executable).resolve().parents[1]
    named = [Path(sys.base_prefix), Path(sys.prefix), program]
    homes = dict.fromkeys([*named, *(home.resolve() for home in named)])
    usual = [Path(name) for name in SYSTEM]
    return [home for home in homes if not is_in(home, usual)]


def view(hidden: list[Path]) -> list[str]:
    """Arguments that say what is seen in the sandbox.

    A Python in a folder that is hidden is shown again, after it was hidden.
    """
    homes = python_homes()
    inner = [home for home in homes if is_in(home.resolve(), hidden)]
    outer = [home for home in homes if home not in inner]
    arguments = system()
    for home in outer:
        arguments += shown(home.resolve(), home)
    seen = [Path(name) for name in SYSTEM] + outer
    for place in hidden:
        if is_in(place, seen) and place not in seen:
            arguments += ["--tmpfs", str(place)]
    for home in inner:
        arguments += shown(home.resolve(), home)
    for name in BOOK:
        arguments += shown(ROOT / name, Path("/", name))
    return [*arguments, *shown(INSIDE, Path("/grader"))]


def walls(as_root: bool) -> list[str]:
    """Arguments that shut the sandbox off.

    Where it is root who grades, the process in the sandbox becomes nobody by
    itself, and needs the right to do so.
    """
    arguments = "--unshare-pid --unshare-net --unshare-ipc --unshare-uts"
    own = "--unshare-user"
    if as_root:
        own = "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID"
    rest = "--unshare-cgroup-try --die-with-parent --new-session --clearenv"
    return f"{arguments} {own} {rest}".split()


def writable() -> list[str]:
    """The folders that each answer finds empty.

    Where the Python that runs this lies in /tmp, that is none of them.
    """
    folders = ["/answer", "/dev/shm", "/tmp"]
    homes = python_homes()
    return [f for f in folders if not any(is_in(h, [Path(f)]) for h in homes)]


def folders(disk: int) -> list[str]:
    """Arguments for the folders that a program expects."""
    arguments = ["--proc", "/proc", "--dev", "/dev"]
    for name in writable():
        arguments += ["--perms", "1777", "--size", str(disk)]
        arguments += ["--tmpfs", name]
    return arguments


@cache
def program() -> str:
    """The path of bubblewrap.

    Raises:
        SandboxError: there is none.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxError(f"grading needs Linux: {CONTAINER}")
    if not (path := shutil.which("bwrap")):
        raise SandboxError(INSTALL)
    return path


@cache
def as_root() -> bool:
    """Is it root who makes the sandbox, with all of root's rights?

    Raises:
        SandboxError: this system lets nobody make one, or not this user.
    """
    ways = [True, False] if os.getuid() == 0 else [False]
    for way in ways:
        tried = subprocess.run(
            [program(), *walls(way), *folders(1 << 20), *system(), "true"],
            capture_output=True,
            text=True,
        )
        if tried.returncode == 0:
            return way
    raise SandboxError(
        f"bubblewrap may not make a sandbox here ({tried.stderr.strip()}). "
        "Many systems keep ordinary users from it: `sysctl -w "
        "kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu) or `sysctl "
        "-w kernel.unprivileged_userns_clone=1` (Debian) allows it, root may "
        f"always, and {CONTAINER}"
    )


def command(limits: Limits, hidden: list[Path]) -> list[str]:
    """What starts the process that tries answers."""
    variables = []
    for name, value in ENVIRONMENT.items():
        variables += ["--setenv", name, value]
    sandbox = [program(), *walls(as_root()), *variables]
    sandbox += [*folders(limits.disk), *view(hidden), *READ_ONLY]
    told = json.dumps(asdict(limits) | {"folders": writable()})
    return [*sandbox, sys.executable, "/grader/worker.py", told]


class Sandbox:
    """Tries one answer after the other; starts when it is first needed."""

    def __init__(self, limits: Limits, hidden: list[Path]) -> None:
        self.limits = limits
        self.hidden = hidden
        self.process = None
        self.apart = False

    def start(self) -> None:
        """Start the process in the sandbox, and wait until it is warm.

        Raises:
            SandboxError: it does not start.
        """
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command(self.limits, self.hidden),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        try:
            said = read(self.process, STARTING)
        except SandboxError:
            self.errors.seek(0)
            last = self.errors.read()[-2000:].decode(errors="replace")
            self.close()
            raise SandboxError(
                f"the sandbox does not start:\n{last}"
            ) from None
        self.apart = said["apart"]

    def attempt(self, job: dict) -> dict:
        """What came of an answer.

        Raises:
            SandboxError: nothing, and not by the answer's fault alone.
        """
        process = self.process
        try:
            process.stdin.write(b"!" + json.dumps(job).encode() + b"\n")
            process.stdin.flush()
            verdict = read(process, self.limits.wall + SPARE)
        except (OSError, ValueError, SandboxError) as error:
            self.close()
            raise SandboxError(f"the sandbox ended: {error}") from None
        if "failed" in verdict or not self.apart:
            self.close()  # what was tried in it may have changed it
        if "failed" in verdict:
            raise SandboxError(str(verdict["failed"]))
        return verdict

    def close(self) -> None:
        """End it, and with it all that runs in it."""
        process, self.process = self.process, None
        if process is None:
            return
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        self.errors.close()

    def __enter__(self):
        return self

    def __exit__(self, *given) -> None:
        self.close()


def read(process: subprocess.Popen, seconds: float) -> dict:
    """The next line that the process in a sandbox says.

    Raises:
        SandboxError: it says nothing, or something else.
    """
    text, end = b"", time.monotonic() + seconds
    while not text.endswith(b"\n"):
        left = max(0, end - time.monotonic())
        if not select.select([process.stdout], [], [], left)[0]:
            raise SandboxError(f"it said nothing for {seconds} s")
        more = os.read(process.stdout.fileno(), 1 << 16)
        if not more or len(text) > LONGEST:
            raise SandboxError("it broke off")
        text += more
    try:
        return dict(json.loads(text))
    except (TypeError, ValueError):
        raise SandboxError("it said what is no answer") from None
