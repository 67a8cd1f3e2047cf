"""Waits in the sandbox with everything imported, and tries answers.

A byte on the standard input announces an answer, a line of JSON after it is
the answer, and a line on the standard output says what came of it. Each is
tried in a fork of this process, which starts in some hundredths of a second
and not in the seconds that importing torch takes. The fork has namespaces of
its own (`isolation`), so that this process is out of its reach. The fork
itself reads the answer: nothing of it is left here for the next to find.
"""

import gc
import importlib
import json
import os
import pkgutil
import secrets
import select
import signal
import sys
import time

import isolation
from attempt import attempt, new_shell

LONGEST = 100_000  # bytes of a verdict
LOOK = "look by hand: it stopped the check"
FOLDER = "/answer/book"  # as the chapters know it, with what is beside it


def say(message: dict) -> None:
    os.write(1, json.dumps(message).encode() + b"\n")


def warm_up():
    """Import all that answers may want; returns the shell that runs them."""
    import torch

    import kit
    import lib

    for package in (lib, kit):
        start = f"{package.__name__}."
        for module in pkgutil.walk_packages(package.__path__, start):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                print(f"{module.name}: {error}", file=sys.stderr)
    # Torch looks once at what the processor can do, in /proc, and imports
    # more when it first compares or optimises.
    ones = torch.ones(2, 2)
    torch.testing.assert_close(ones @ ones, 2 * ones)
    torch.optim.Adam([torch.nn.Parameter(ones)])
    shell = new_shell()
    shell.run_cell("pass")  # and imports what IPython needs for a cell
    gc.collect()
    gc.freeze()
    return shell


def enter(apart: bool, limits: dict) -> None:
    """Shut this process off; it has no way back."""
    isolation.die_first()
    isolation.set_limits(limits)
    if apart:
        isolation.hide_everything(limits["folders"], limits["disk"])
        isolation.give_up_powers()
    isolation.refuse_uncounted_memory()
    os.makedirs(FOLDER)
    os.chdir(FOLDER)
    for name in ("lib", "kit", "data"):
        os.symlink(f"/book/{name}", name)
    os.symlink("/benchmarks", "../benchmarks")


def be_silent(keep: int) -> None:
    """Close all that leads out, but for the pipe of the verdict."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.closerange(3, keep)
    os.closerange(keep + 1, 1024)


def child(shell, apart: bool, limits: dict, pipes: tuple, token: str) -> None:
    """What happens in the fork; it does not return."""
    pids, verdicts = pipes
    try:
        job = read_job() if shell else None
        if apart:
            isolation.enter_namespaces()
            if inner := os.fork():
                os.write(pids, str(inner).encode())
                os._exit(0)
        os.setsid()  # or a signal to its group would come here as well
        me = os.getpid()
        be_silent(verdicts)
        enter(apart, limits)
        verdict = judged(shell, job) if shell else {}
        if os.getpid() != me:
            os._exit(0)  # the answer has forked, and this is its child
        text = json.dumps({**verdict, "token": token})
    except BaseException as error:
        text = json.dumps({"failed": f"{type(error).__name__}: {error}"})
    os.write(verdicts, text.encode() + b"\n")
    os._exit(0)


def judged(shell, job: dict) -> dict:
    """What came of an answer, even if it has made the check itself stop."""
    try:
        return attempt(shell, job)
    except BaseException:
        why = "your code stops the check itself"
        return {"state": "stopped", "hint": why, "notes": [LOOK]}


def read_job() -> dict:
    """The line that follows the byte."""
    text = b""
    while not text.endswith(b"\n"):
        if not (more := os.read(0, 1 << 20)):
            raise EOFError("the answer is cut off")
        text += more
    return json.loads(text)


def fork(shell, apart: bool, limits: dict, token: str) -> tuple[int, int]:
    """Start it; returns its process and the pipe of its verdict."""
    (pid_reader, pids), (reader, verdicts) = os.pipe(), os.pipe()
    outer = os.fork()
    if not outer:
        child(shell, apart, limits, (pids, verdicts), token)
    os.close(pids)
    os.close(verdicts)
    pid = outer
    if apart:
        pid = int(os.read(pid_reader, 20) or 0)
        os.waitpid(outer, 0)
    os.close(pid_reader)
    return pid, reader


def read_line(reader: int, seconds: float) -> bytes:
    """A line, or what there is of it when the time is over or it ends."""
    text, end = b"", time.monotonic() + seconds
    while b"\n" not in text and len(text) < LONGEST:
        left = end - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            raise TimeoutError
        if not (more := os.read(reader, 65536)):
            break
        text += more
    return text


def bring_to_end(pid: int) -> tuple[int, float]:
    """Its exit status, and the processor time that it took."""
    os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    return status, used.ru_utime + used.ru_stime


def tried(shell, apart: bool, limits: dict) -> dict:
    """What came of the next answer; without a shell, of none."""
    start, late, token = time.monotonic(), False, secrets.token_hex(16)
    pid, reader = fork(shell, apart, limits, token)
    try:
        text = read_line(reader, limits["wall"])
    except TimeoutError:
        text, late = b"", True
    finally:
        os.close(reader)
    seconds = time.monotonic() - start
    status, used = bring_to_end(pid) if pid else (0, 0.0)
    verdict = understood(text, token)
    if not verdict:
        why = how_it_ended(status, used, late, limits)
        verdict = {"state": "ended", "hint": why}
    return {**verdict, "seconds": round(seconds, 3)}


def understood(text: bytes, token: str) -> dict:
    """A verdict, if it is one."""
    if not text:
        return {}
    try:
        verdict = dict(json.loads(text))
        if "failed" in verdict or verdict.pop("token") == token:
            return verdict
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return {"state": "tampered", "hint": "it wrote its verdict itself"}


def how_it_ended(status: int, used: float, late: bool, limits: dict) -> str:
    """Why there is no verdict, in words.

    The kernel measures the limit coarsely: on a busy machine it kills a
    process that has used less than all of its time.
    """
    if late:
        return f"it did not end within {limits['wall']} s"
    if not os.WIFSIGNALED(status):
        return "it ended Python"
    if os.WTERMSIG(status) != signal.SIGKILL:
        name = signal.Signals(os.WTERMSIG(status)).name
        return f"it brought Python down ({name})"
    if used > limits["cpu"] / 2:
        return f"it took more than {limits['cpu']} s of processor time"
    return "it was killed, most likely for want of memory"


def main(limits: dict) -> None:
    isolation.stop_being_root()
    isolation.adopt_orphans()
    shell = warm_up()
    why = tried(None, True, limits).get("failed", "")
    say({"apart": not why, "why": why})
    while os.read(0, 1):
        say(tried(shell, not why, limits))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
