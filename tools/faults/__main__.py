"""Try the faults and print who noticed them: `python -m tools.faults`."""

import argparse
import os
import sys

from tools.faults.fault import Fault, taught_modules
from tools.faults.generate import generated
from tools.faults.listed import LISTED
from tools.faults.report import gone, problems, row, totals
from tools.faults.trial import verdicts

NOTHING = Fault("softmax", "def softmax", "def softmax", "nothing is changed")


def main() -> int | str:
    parser = argparse.ArgumentParser(prog="python -m tools.faults")
    parser.add_argument(
        "--listed", action="store_true", help="leave generated faults out"
    )
    parser.add_argument(
        "--module", choices=taught_modules(), help="faults of one module"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), help="processes at a time"
    )
    options = parser.parse_args()
    modules = [options.module] if options.module else taught_modules()
    faults = [fault for fault in LISTED if fault.module in modules]
    if not options.listed:
        faults += [f for module in modules for f in generated(module)]
    (control,) = verdicts([NOTHING])
    if control.notebooks or control.units:
        return f"Not tried: {control.notebooks or control.units} without fault"
    found = []
    for verdict in verdicts(faults, options.jobs):
        found.append(verdict)
        print(row(verdict), flush=True)
    wrong = list(problems(found))
    if not options.listed:
        wrong += gone(modules, found)
    print("\n".join(["", *totals(found), *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
