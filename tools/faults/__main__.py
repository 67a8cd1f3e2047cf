"""Try the faults and print who noticed them: `python -m tools.faults`."""

import argparse
import os
import sys

from tools.faults.fault import Fault, taught_modules
from tools.faults.generate import generated
from tools.faults.listed import LISTED
from tools.faults.record import COMMITTED, UNCOMMITTED, Record
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
        "--module", choices=taught_modules(), help="faults of one module"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes at a time"
    )
    return parser.parse_args()


def tried(faults: list[Fault], record: Record, stale: bool, jobs: int):
    """The verdicts; those that had to be found out are printed and put."""
    found, new = [], []
    for verdict in verdicts(faults, jobs, record, stale):
        found.append(verdict)
        if not verdict.recorded:
            new.append(verdict)
            record.put(verdict)
            print(row(verdict), flush=True)
    return found, new


def main() -> int:
    given = options()
    modules = [given.module] if given.module else taught_modules()
    listed = [fault for fault in LISTED if fault.module in modules]
    made = [f for module in modules for f in generated(module)]
    kinds = [(listed, LISTED, COMMITTED)]
    if not given.listed:
        every = [f for module in taught_modules() for f in generated(module)]
        kinds.append((made, every, UNCOMMITTED))
    found, new, notes = [], [], []
    for faults, every, path in kinds:
        record = Record(path)
        try:
            some, others = tried(faults, record, given.stale, given.jobs)
        finally:
            notes += keep(record, every)
        found, new = found + some, new + others
    wrong = [*control(new, given.jobs), *problems(found)]
    if not given.listed:
        wrong += gone(modules, found)
    notes = [f"{len(found) - len(new)} answers stand as recorded", *notes]
    print("\n".join(["", *wrong, *notes, *totals(found)]))
    return 1 if wrong else 0


def keep(record: Record, faults: list[Fault]) -> list[str]:
    """Write a record that has changed; CI only says that somebody should."""
    if not record.changed(faults):
        return []
    if os.environ.get("CI") and record.path == COMMITTED:
        name = record.path.name
        return [f"{name} is stale: run `make faults LISTED=1`, commit it"]
    record.write(faults)
    return []


if __name__ == "__main__":
    sys.exit(main())
