"""Try the faults and print who noticed them: `python -m tools.faults`."""

import argparse
import os
import sys

from tools.faults.fault import Fault
from tools.faults.generate import generated
from tools.faults.listed import LISTED, faulty_modules
from tools.faults.record import COMMITTED, UNCOMMITTED, Record, keep
from tools.faults.report import gone, problems, row, totals
from tools.faults.trial import control, verdicts


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults")
    parser.add_argument(
        "--listed", action="store_true", help="leave generated faults out"
    )
    parser.add_argument(
        "--stale",
        action="store_true",
        help="try only those whose recorded answer rests on changed files",
    )
    parser.add_argument(
        "--module", choices=faulty_modules(), help="faults of one module"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes at a time"
    )
    return parser.parse_args()


def tried(faults: list[Fault], record: Record, stale: bool, jobs: int):
    """The verdicts, those that had to be found out, and what is wrong.

    The latter are printed, and remembered if their places are right without
    a fault.
    """
    found, new = [], []
    for verdict in verdicts(faults, jobs, record, stale):
        found.append(verdict)
        if not verdict.recorded:
            new.append(verdict)
            print(row(verdict), flush=True)
    wrong = control(new, jobs)
    for verdict in new:
        if not wrong:
            record.put(verdict)
    return found, new, wrong


def main() -> int:
    given = options()
    found, new, wrong, notes = [], [], [], []
    records = [(Record(COMMITTED), LISTED)]
    if not given.listed:
        made = [f for module in faulty_modules() for f in generated(module)]
        records.append((Record(UNCOMMITTED), made))
    modules = [given.module] if given.module else faulty_modules()
    for module in modules:
        for record, every in records:
            faults = [fault for fault in every if fault.module == module]
            parts = tried(faults, record, given.stale, given.jobs)
            found, new = found + parts[0], new + parts[1]
            wrong += parts[2]
            notes += keep(record, every)
    wrong += problems(found)
    if not given.listed:
        wrong += gone(modules, found)
    notes = [f"{len(found) - len(new)} answers stand as recorded", *set(notes)]
    print("\n".join(["", *wrong, *notes, *totals(found)]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
