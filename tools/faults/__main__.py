"""Try the faults and say who noticed them: `python -m tools.faults`."""

import argparse
import os
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from tools.faults.fault import Fault
from tools.faults.generate import generated
from tools.faults.realistic import realistic
from tools.faults.trial import Trial, seen_without_fault, trials_of, tried
from tools.source.taught import homes, library


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.faults")
    add = parser.add_argument
    add("--module", choices=library(), help="faults of one module")
    add("--jobs", type=int, default=os.cpu_count(), help="faults at a time")
    add("--realistic", action="store_true", help="leave out the generated")
    add("--sample", type=int, help="so many of the generated, always the same")
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


def summary(trials: Iterable[Trial]) -> Iterator[str]:
    """How many faults of each kind were noticed in each way."""
    all_of, noticed = Counter(), Counter()
    for trial in trials:
        kind = trial.fault.kind, trial.way
        all_of[kind] += 1
        noticed[kind] += bool(trial.noticed)
    for (kind, way), number in all_of.items():
        caught = noticed[kind, way]
        share = f"{caught} of {number}, {caught / number:.1%}"
        yield f"{kind} faults noticed by {way}: {share}"


def main() -> int:
    """Try them, and print who did not notice; 1 if all is not well."""
    given, is_wrong = options(), False
    seen = seen_without_fault(given.jobs)
    trials = [t for fault in faults(given) for t in trials_of(fault, seen)]
    for trial in tried(trials, given.jobs):
        if trial.untried:
            print(f"NOT TRIED by {trial.way}: {trial.fault}: {trial.untried}")
            is_wrong = True
        elif not trial.noticed:
            print(f"not noticed by {trial.way}: {trial.fault}", flush=True)
            is_wrong |= trial.fault.kind == "realistic"
    print(*summary(trials), sep="\n")
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
