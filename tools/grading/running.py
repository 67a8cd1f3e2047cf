"""Tries answers in several sandboxes at once."""

import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue

from tools.grading import sandbox
from tools.grading.attempts import Attempt
from tools.grading.results import Result, Results, understood
from tools.grading.sandbox import Limits, Sandbox, SandboxError

TRIES = 2  # in a fresh sandbox each, if one fails


def run(
    attempts: dict[str, Attempt],
    results: Results,
    limits: Limits,
    jobs: int,
    hidden: list[Path],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Try what has no result yet; the results are kept as they come.

    Args:
        attempts: by their fingerprints.
        results: those that are there, and those that come.
        limits: of each answer.
        jobs: how many sandboxes work at the same time.
        hidden: what must not be seen in them.
        progress: is told how many of how many are done.

    Raises:
        SandboxError: there can be no sandbox here.
    """
    missing = [a for a in attempts.items() if a[0] not in results.known]
    if not missing:
        return
    sandbox.as_root()  # says at once if there can be none
    crew = Crew(missing, results, progress)
    boxes = [Sandbox(limits, hidden) for _ in range(min(jobs, len(missing)))]
    try:
        crew.finish(boxes)
    except KeyboardInterrupt:
        crew.stop()
        for box in boxes:
            box.close()
        raise
    if crew.problem:
        raise crew.problem


class Crew:
    """Threads that take what is next until nothing is left."""

    def __init__(self, missing: list, results: Results, progress) -> None:
        self.queue = SimpleQueue()
        for item in missing:
            self.queue.put(item)
        self.total, self.done = len(missing), 0
        self.results, self.progress = results, progress
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.problem = None

    def finish(self, boxes: list[Sandbox]) -> None:
        """Do everything, a thread for each sandbox."""
        threads = [
            threading.Thread(target=self.work, args=(box,)) for box in boxes
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self) -> None:
        self.stopped.set()

    def work(self, box: Sandbox) -> None:
        """What a thread does, with a sandbox of its own."""
        with box:
            while not self.stopped.is_set():
                try:
                    fingerprint, attempt = self.queue.get_nowait()
                except Empty:
                    return
                try:
                    result = self.result(box, attempt)
                except SandboxError as error:
                    self.problem = error
                    self.stop()
                    return
                if not self.stopped.is_set():
                    self.keep(fingerprint, result)

    def result(self, box: Sandbox, attempt: Attempt) -> Result:
        """What came of an answer; a sandbox that fails costs it alone.

        Raises:
            SandboxError: no sandbox starts.
        """
        why = ""
        for _ in range(TRIES):
            if box.process is None:
                box.start()
            try:
                return understood(box.attempt(attempt.job()))
            except SandboxError as error:
                why = str(error)
                if self.stopped.is_set():
                    break
        return understood({"state": "not graded", "hint": why})

    def keep(self, fingerprint: str, result: Result) -> None:
        with self.lock:
            self.results.add(fingerprint, result)
            self.done += 1
            self.progress(self.done, self.total)
