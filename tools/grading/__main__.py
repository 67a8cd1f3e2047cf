"""`make grade`: grades a folder of notebooks, in a sandbox."""

import argparse
import os
import secrets
import sys
import time
from dataclasses import asdict
from pathlib import Path

from tools.grading import answers, page, roster, submissions, tables
from tools.grading.gradebook import Gradebook
from tools.grading.grading import Course, Row, rows
from tools.grading.key import selected
from tools.grading.results import Results
from tools.grading.roster import RosterError
from tools.grading.running import run
from tools.grading.sandbox import Limits, SandboxError, hidden_places
from tools.source.taught import ROOT

STEP = 10  # seconds between two lines that say how far it is


def options(arguments: list[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.grading", description=__doc__
    )
    add = parser.add_argument
    add("submissions", nargs="?", type=Path, help="a folder with notebooks")
    add("--out", type=Path, default=ROOT / "_build" / "grades")
    add("--chapter", default="", help="grade only this one, such as 04")
    add("--roster", type=Path, help="a CSV file of the students")
    add("--jobs", type=int, default=os.cpu_count(), help="at the same time")
    add("--seed", type=int, help="of all inputs; else drawn once and kept")
    add("--cpu", type=int, default=Limits.cpu, help="seconds an answer")
    add("--wall", type=int, help="seconds by the clock; twice as many if not")
    add("--memory", type=int, default=Limits.memory >> 20, help="megabytes")
    add("--answers", action="store_true", help="write the answers as files")
    return parser.parse_args(arguments)


def limits(given: argparse.Namespace) -> Limits:
    wall = given.wall or 2 * given.cpu
    return Limits(cpu=given.cpu, wall=wall, memory=given.memory << 20)


def seed(given: argparse.Namespace) -> int:
    """Of the inputs of all checks, the same for everybody and every run.

    It is drawn, so that nobody can know what answers will be tried with.
    """
    if given.seed is not None:
        return given.seed
    kept = given.out / "seed.txt"
    if not kept.exists():
        kept.write_text(f"{secrets.randbelow(10_000)}\n", encoding="utf-8")
    return int(kept.read_text(encoding="utf-8"))


class Progress:
    """Says now and then how many answers are done."""

    def __init__(self) -> None:
        self.first = self.last = None

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.first is None:  # before it, torch was imported
            self.first = self.last = now
        if now - self.last >= STEP or done == total:
            left = (now - self.first) / max(1, done - 1) * (total - done)
            print(f"{done} of {total} answers, {left:.0f} s to go", flush=True)
            self.last = now


def grade(found: list[Row], course: Course, given: argparse.Namespace) -> str:
    """Try what must be tried, and write the reports; what to look at."""
    allowed = limits(given)
    results = Results(given.out / "results.jsonl", asdict(allowed))
    tried = {r.attempt.fingerprint(): r.attempt for r in found if r.attempt}
    hidden = hidden_places(given.submissions, given.out)
    run(tried, results, allowed, max(1, given.jobs), hidden, Progress())
    for row in found:
        if row.attempt:
            row.result = results.known[row.attempt.fingerprint()]
    book = Gradebook(found, course)
    tables.write_grades(book, given.out / "grades.csv")
    tables.write_students(book, given.out / "students.csv")
    tables.write_canvas(book, given.out / "canvas.csv")
    tables.write_moodle(book, given.out / "moodle.csv")
    tables.write_moodle_xml(book, given.out / "moodle.xml")
    page.write(book, given.out / "summary.html")
    return f"{len(found)} rows: {given.out / 'summary.html'}"


def main(arguments: list[str] | None = None) -> str | int:
    """Grade a folder; returns what `sys.exit` is to be given."""
    given = options(arguments)
    if given.submissions is None:
        return "name the folder: make grade SUBMISSIONS=folder"
    if not given.submissions.is_dir():
        return f"there is no folder {given.submissions}"
    given.out.mkdir(parents=True, exist_ok=True)
    try:
        chosen = selected([given.chapter])
        course = Course(chosen, roster.read(given.roster), seed(given))
    except (LookupError, RosterError) as error:
        return str(error)
    handed_in = submissions.find(given.submissions, course.key)
    if not handed_in:
        return f"nothing was handed in: {given.submissions} is empty"
    handed_in = list(rows(handed_in, course, given.submissions))
    if given.answers:
        folder = given.out / "answers"
        count = answers.write(handed_in, course.key, folder)
        print(f"{count} answers: {folder}")
        return 0
    try:
        print(grade(handed_in, course, given))
    except SandboxError as error:
        return str(error)
    except KeyboardInterrupt:
        return "Stopped. Run it again to go on from here."
    return 0


if __name__ == "__main__":
    sys.exit(main())
