"""Try the faults and say who noticed them: `python -m tools.faults`."""

import argparse
import os
import random
import sys
from collections import defaultdict

from tools.faults.fault import Fault
from tools.faults.generate import generated
from tools.faults.realistic import realistic
from tools.faults.trial import WAYS, Trial, control, tried
from tools.source.taught import homes, library


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults")
    add = parser.add_argument
    add("--module", choices=library(), help="faults of one module")
    add("--jobs", type=int, default=os.cpu_count(), help="faults at a time")
    add("--realistic", action="store_true", help="leave out the generated")
    add("--sample", type=int, help="so many of the generated, always the same")
    add("--ways", nargs="+", choices=WAYS, default=[*WAYS], help="who looks")
    return parser.parse_args()


def faults(given: argparse.Namespace) -> list[Fault]:
    """The realistic faults, then the generated ones."""
    texts, modules = library(), [given.module] if given.module else homes()
    made = [f for module in modules for f in generated(module, texts[module])]
    number = 0 if given.realistic else given.sample
    if number is not None:
        made = random.Random(0).sample(made, min(number, len(made)))
    found = realistic({module: texts[module] for module in homes()})
    return [fault for fault in found if fault.module in modules] + made


def main() -> int:
    """Try them, and print who did not notice; 1 if all is not well."""
    given = options()
    trials = [Trial(f, way) for f in faults(given) for way in given.ways]
    for trial in tried(trials, given.jobs):
        if not trial.noticed and not trial.untried:
            print(f"not noticed by {trial.way}: {trial.fault}", flush=True)
    control(trials, given.jobs)
    kinds, is_wrong = defaultdict(list), False
    for trial in trials:
        is_realistic = trial.fault.is_realistic
        kind = "realistic" if is_realistic else "generated"
        kinds[f"{kind} faults noticed by {trial.way}"].append(trial)
        is_wrong |= bool(trial.untried) or is_realistic and not trial.noticed
        if trial.untried:
            print(f"NOT TRIED by {trial.way}: {trial.fault}: {trial.untried}")
    for kind, mine in kinds.items():
        caught = sum(bool(trial.noticed) for trial in mine)
        print(f"{kind}: {caught} of {len(mine)}, {caught / len(mine):.1%}")
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
