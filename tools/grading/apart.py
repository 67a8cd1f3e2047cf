"""Does what could take for ever in a process of its own, under limits.

What is handed in is only read here, and never run. But a text can be made to
keep whoever reads it busy, or to fill the memory: then the process ends, and
with it nobody else's.
"""

import multiprocessing
import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SECONDS = 20  # of the processor; a chapter takes less than one
WAIT = 60  # seconds by the clock
MEMORY = 1 << 30  # bytes, beside those that are taken already
COPIES = multiprocessing.get_context("fork")


class Overrun(Exception):
    """Which limit was reached."""


def apart(work: Callable[[], Any]) -> Any:
    """What a function returns that runs in a copy of this process.

    Raises:
        Overrun: it came to a limit, or to its end.
    """
    reader, writer = COPIES.Pipe(duplex=False)
    copy = COPIES.Process(target=child, args=(work, writer))
    copy.start()
    writer.close()
    result = Overrun(f"it takes more than {SECONDS} s to read")
    try:
        if reader.poll(WAIT):
            result = reader.recv()
    except (EOFError, OSError):  # it broke off
        copy.join()
        if copy.exitcode != -signal.SIGXCPU:
            result = Overrun("it ends Python when it is read")
    finally:
        reader.close()
        copy.kill()
        copy.join()
    if isinstance(result, Overrun):
        raise result
    return result


def child(work: Callable[[], Any], writer: Connection) -> None:
    """What happens in the copy."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if mapped := Path("/proc/self/statm").read_text().split():
        most = int(mapped[0]) * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    writer.send(outcome(work))


def outcome(work: Callable[[], Any]) -> Any:
    """What a function returns, or why it returns nothing."""
    try:
        return work()
    except MemoryError:
        why = f"it takes more than {MEMORY >> 20} MB of memory to read"
    except Exception as error:
        why = f"it cannot be read ({type(error).__name__}: {error})"
    return Overrun(why)
