"""Start workers with torchrun, wait for them, and hand over what they return.

Not taught. `python -m kit.launching FOLDER` is what each worker runs.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from kit.workers import Traffic
from lib import validate
from lib.parallel import group_of_workers

BOOK = Path(__file__).parents[1]
OURS = re.compile(r"RANK|WORLD|MASTER_|TORCHELASTIC_|PYTHON_EXEC|^PET_")
ENDED = re.compile(r"rank +: (\d+) .*\n +exitcode +: (-?\d+)")
STOPPED = -signal.SIGTERM  # what torchrun does to the others


class WorkerError(RuntimeError):
    """A worker failed or died; the message says which, and why."""


def on_workers(
    task: str,
    world_size: int = 2,
    patience: int = 60,
    limit: int = 300,
    count: bool = False,
    **given: object,
) -> list:
    """What a function returns in each of several processes.

    Args:
        task: a function of `lib.parallel`, or "module:function".
        world_size: the number of processes.
        patience: the seconds that one of them waits for another.
        limit: the seconds that all of them may take.
        count: add to the result, which is a dictionary, the bytes of every
            tensor that was all-reduced, as `sums`.
        given: the arguments of the function.

    Returns:
        One result for each worker, on the CPU.

    Raises:
        WorkerError: a worker failed or died; the others were stopped.
        TimeoutError: the limit has passed; all were stopped.
    """
    validate.string(task=task)
    validate.booleans(count=count)
    validate.positive(world_size=world_size, patience=patience, limit=limit)
    with TemporaryDirectory(prefix="book-workers-") as name:
        folder = Path(name)
        torch.save((task, patience, count), folder / "task.pt")
        torch.save(given, folder / "given.pt")
        code, output = finished(command(folder, world_size), limit)
        if code:
            raise WorkerError(what_happened(folder, output, world_size))
        return [read(folder / f"{rank}.pt") for rank in range(world_size)]


def command(folder: Path, world_size: int) -> list[str]:
    """torchrun, for this machine alone, on any port that is free."""
    local = (
        "--nnodes=1 --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:0 "
        f"--local-addr=127.0.0.1 --nproc-per-node={world_size}"
    )
    return [
        *(sys.executable, "-m", "torch.distributed.run", *local.split()),
        *(f"--rdzv-id={folder.name}", f"--log-dir={folder}"),
        *("-m", "kit.launching", str(folder)),
    ]


def surroundings() -> dict[str, str]:
    """The environment of the workers: the same library, and no network.

    torchrun asks for the name of this machine more than ten times; where no
    name server answers, each question would take many seconds.
    """
    loopback = [n for _, n in socket.if_nameindex() if n.startswith("lo")]
    usual = {"OMP_NUM_THREADS": "1", "RES_OPTIONS": "timeout:1 attempts:1"}
    if loopback:
        usual["GLOO_SOCKET_IFNAME"] = loopback[0]
    kept = {k: v for k, v in os.environ.items() if not OURS.search(k)}
    paths = filter(None, (str(BOOK), kept.get("PYTHONPATH")))
    return usual | kept | {"PYTHONPATH": os.pathsep.join(paths)}


def finished(command: list[str], limit: int) -> tuple[int, str]:
    """Run torchrun to its end: its exit code, and what it complained of.

    When time is up, or on Ctrl-C, it is told to stop, and stops the workers.
    """
    process = subprocess.Popen(
        command,
        cwd=BOOK,
        env=surroundings(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _, output = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise TimeoutError(
            f"the workers: expected an end within {limit} seconds, got none; "
            "all were stopped"
        ) from None
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate()
    return process.returncode, output


def what_happened(folder: Path, output: str, world_size: int) -> str:
    """Which worker is to blame, and for what; the others only lost it."""
    for rank, code in ENDED.findall(output):
        if int(code) < 0 and int(code) != STOPPED:
            name = signal.Signals(-int(code)).name
            return (
                f"worker {rank} of {world_size} was killed ({name}); the "
                "others could not go on alone"
            )
    errors = [json.loads(p.read_text()) for p in folder.glob("*.json")]
    if errors:
        first = min(errors, key=lambda error: error["time"])
        return f"worker {first['rank']} of {world_size}: {first['error']}"
    return f"torchrun failed: {output.strip()[-1000:]}"


def read(path: Path, place: torch.device | str = "cpu"):
    """What was saved in a file of this launch, on a device."""
    return torch.load(path, map_location=place, weights_only=False)


def work(folder: Path) -> None:
    """One worker: read the order, join the others, and do it."""
    rank = os.environ["RANK"]
    task, patience, count = read(folder / "task.pt")
    module, _, name = task.rpartition(":")
    note = noted(folder, rank)  # of what fails before and after the task
    with note, group_of_workers(patience) as place, noted(folder, rank):
        function = getattr(import_module(module or "lib.parallel"), name)
        given = read(folder / "given.pt", place)
        with Traffic() if count else nullcontext() as traffic:
            result = function(**given)
        if count:
            result["sums"] = traffic.sizes
        torch.save(result, folder / f"{rank}.pt")


@contextmanager
def noted(folder: Path, rank: str) -> Iterator[None]:
    """Write an error down, once, before the other workers can notice it."""
    path = folder / f"{rank}.json"
    try:
        yield
    except Exception as error:
        if path.exists():
            raise
        message = re.sub(r"^\[\S+\] ", "", str(error))  # a file of PyTorch's
        note = {"rank": rank, "error": f"{type(error).__name__}: {message}"}
        note["time"] = time.time()
        path.write_text(json.dumps(note))
        raise


if __name__ == "__main__":
    work(Path(sys.argv[1]))
