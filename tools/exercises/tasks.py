"""The exercises of the chapters, and what becomes of an answer.

An exercise is three cells with their metadata:

-   the task, Markdown: `### Exercise 4.7 · Title`, then `**10 minutes ·
    easy.** …`, with `· transfer` if the page has not shown it, and at least
    one hint in `<details>`;
-   the answer: one definition, whose name is the `grade_id` of its `nbgrader`
    metadata; what a student writes stands between `### BEGIN SOLUTION` and
    `### END SOLUTION`. No code below uses it: students run the page before
    they have one;
-   the check, always `from kit.exercises import check`, an empty line, and
    `check("name", name)`. Its `grade_id` is `name-check`, its `points` are 1
    for easy, 2 for medium and 3 for hard.

`book/kit/exercises/chapter_04.py` says what is asked, as a contract (see
there): what each argument is drawn from, the reference (a function of the
exercise's name; torch, the library or a plain loop, never the solution), and
what a known mistake gives, by its hint. All exercises are tried in the same
cases: one row and many, float64, strided, large numbers, padding on either
side; inputs, modes and random numbers must stay as they were. What the values
cannot show is a demand (`also`) or a remark (`ways`), which costs no points.
`asks(..., width=(3, 2, 4))` gives variants: the first value is the book's, the
task says it as `<span data-given="width">3</span>`, an input is
`whole(2, 9, given="width")`, and a line of the answer may end in `# given`.

`book/teach/mistakes/chapter_04.py` has five to eight wrong answers, each named
by its misconception, with a part of the hint that it must get: what is to be
changed in the solution, or a whole answer. At least three right ones, by
routes that the author did not take, stand in tests/exercises/right_answers.
`python -m tools.exercises.mutants 4.7` breaks the solution by rule: a survivor
is a gap of the check, or right as well and an entry of `EQUIVALENT`.
"""

import contextlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import torch

from tools.chapters import sync
from tools.exercises import slices
from tools.source import cells
from tools.source.answers import GIVEN, SOLUTION, stub
from tools.source.taught import ROOT, lessons

HEADING = re.compile(r"^### Exercise (?P<number>\d+\.\d+) · (?P<title>.+)$")
GIVEN_LINE = re.compile(rf"^(?P<names>[\w, ]+) = (?P<values>.+){GIVEN}$", re.M)
GIVEN_SPAN = re.compile(
    r'(?P<open><span data-given="(?P<name>\w+)">)(?P<value>.*?)</span>', re.S
)
POINTS = {"easy": 1, "medium": 2, "hard": 3}


@dataclass(frozen=True, repr=False)
class Task:
    """An exercise as it stands in its lesson."""

    path: Path
    number: str
    title: str
    name: str
    text: str
    answer: str
    check: object
    before: tuple

    def __repr__(self) -> str:
        return f"{self.number} {self.name}"

    @property
    def chapter(self) -> int:
        return int(self.number.partition(".")[0])

    @cached_property
    def effort(self) -> re.Match:
        return cells.EFFORT.search(self.text)

    @property
    def minutes(self) -> int:
        return int(self.effort["minutes"])

    @property
    def difficulty(self) -> str:
        return self.effort["difficulty"]

    @property
    def points(self) -> int:
        return self.check.metadata["nbgrader"]["points"]

    @property
    def solution(self) -> str:
        """The answer cell without the markers."""
        return SOLUTION.sub(r"\2", self.answer)

    @property
    def stub(self) -> str:
        """The answer cell as a student gets it."""
        return stub(self.answer)


@cache
def tasks(root: Path = ROOT) -> tuple[Task, ...]:
    """All exercises, in the order of the book."""
    return tuple(
        task
        for path in lessons(root)
        for task in tasks_of(path, sync.read(path).cells)
    )


def tasks_of(path: Path, page: list) -> Iterator[Task]:
    """The exercises of a lesson."""
    checks = {
        cell.metadata["nbgrader"]["grade_id"]: cell
        for cell in page
        if cells.is_exercise(cell) and cell.metadata["nbgrader"]["grade"]
    }
    text = heading = None
    for place, cell in enumerate(page):
        if cell.cell_type == "markdown":
            first = cell.source.partition("\n")[0]
            if match := HEADING.match(first):
                text, heading = cell.source, match
        elif cell.metadata.get("nbgrader", {}).get("solution"):
            name = cell.metadata["nbgrader"]["grade_id"]
            yield Task(
                path,
                heading["number"],
                heading["title"],
                name,
                text,
                cell.source,
                checks[f"{name}-check"],
                tuple(page[:place]),
            )


def with_given(source: str, numbers: dict) -> str:
    """The text or the answer of a task with the numbers of a variant."""

    def line(found: re.Match) -> str:
        names = [name.strip() for name in found["names"].split(",")]
        values = ", ".join(repr(numbers[name]) for name in names)
        return f"{found['names']} = {values}{GIVEN}"

    def span(found: re.Match) -> str:
        return f"{found['open']}{shown(numbers[found['name']])}</span>"

    return GIVEN_SPAN.sub(span, GIVEN_LINE.sub(line, source))


def shown(value: object) -> str:
    """A given value in a sentence: 8,192 and not 8192."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_whole else str(value)


@dataclass(frozen=True)
class Outcome:
    """What a check says of an answer."""

    kind: str  # "right", "not started", "wrong" or "stopped"
    hint: str = ""
    share: float = 0.0


class TooSlow(BaseException):
    """An answer took longer than it may; no answer's code can catch it."""


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Stop what computes longer.

    The seconds are the processor's, so that a busy machine changes nothing.
    """

    def stop(number, frame):
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(source: str, names: dict) -> None:
    """Run a cell in silence."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "answer", "exec"), names)


@contextlib.contextmanager
def in_book() -> Iterator[None]:
    """Where the cells of a chapter run, and what they change put back."""
    folder, path, state = os.getcwd(), list(sys.path), torch.get_rng_state()
    book = str(ROOT / "book")
    os.chdir(book)
    sys.path.insert(0, book)
    try:
        yield
    finally:
        os.chdir(folder)
        sys.path[:] = path
        torch.set_rng_state(state)
        torch.set_deterministic_debug_mode("default")
        torch.set_printoptions(profile="default")


def outcome(task: Task, source: str, *, seed: int = 0, **how) -> Outcome:
    """Try an answer once: see `outcomes`."""
    return outcomes(task, source, [seed], **how)[0]


def outcomes(
    task: Task,
    source: str,
    seeds: Iterable[int],
    *,
    variant: int = 0,
    seconds: float = 60,
) -> list[Outcome]:
    """Try an answer with several draws; it may take so long for each.

    Raises:
        SyntaxError, NameError: it is no answer at all.
        TooSlow: it took too long.
    """
    with in_book():
        from kit import exercises

        asked = exercises.find(task.name)
        given = asked.numbers(variant)
        names = {"__name__": "__main__"}
        with limit(seconds):
            for cell in [*slices.needed(list(task.before), source), source]:
                run(cell, names)
        found = []
        for seed in seeds:
            with limit(seconds):
                draw = exercises.Draw(seed, **given)
                found.append(judged(asked, names[task.name], draw))
    return found


def judged(asked, answer: Callable, draw) -> Outcome:
    """What the check says of an answer, in silence."""
    from kit import exercises

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            remark = exercises.judge(asked, answer, draw)
    except exercises.NotStarted as wrong:
        return Outcome("not started", wrong.hint)
    except exercises.Wrong as wrong:
        stopped = "your code stops" in wrong.hint
        if stopped and "NameError" in wrong.hint:
            raise NameError(wrong.hint) from None
        kind = "stopped" if stopped else "wrong"
        return Outcome(kind, wrong.hint, wrong.share)
    return Outcome("right", remark, 1.0)
