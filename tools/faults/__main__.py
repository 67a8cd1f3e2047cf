"""Try the faults and say who noticed them: `python -m tools.faults`.

A fault is a small change of a module of book/lib that makes it wrong. Each
is written into a copy of the book and should be noticed twice: by the
notebooks alone and by the unit tests alone.
"""

import argparse
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tools.faults.generate import Fault, generated
from tools.faults.realistic import realistic
from tools.faults.trial import Trial, seen_without_fault, trials_of, tried
from tools.source.taught import homes, library


def faults(module: str | None, sample: int | None) -> list[Fault]:
    """The realistic faults, then so many of the generated ones."""
    texts, modules = library(), [module] if module else homes()
    made = [f for name in modules for f in generated(name, texts[name])]
    if sample is not None:
        made = random.Random(0).sample(made, min(sample, len(made)))
    patterned = realistic({name: texts[name] for name in homes()})
    return [fault for fault in patterned if fault.module in modules] + made


def summary(trials: Iterable[Trial]) -> Iterator[str]:
    """How many faults of each kind were noticed in each way."""
    noticed = defaultdict(list)
    for trial in trials:
        noticed[trial.fault.kind, trial.way].append(bool(trial.noticed))
    for (kind, way), each in noticed.items():
        share = f"{sum(each)} of {len(each)}, {sum(each) / len(each):.1%}"
        yield f"{kind} faults noticed by {way}: {share}"


def main() -> int:
    """Try them, and print who did not notice; 1 if all is not well."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults")
    add = parser.add_argument
    add("--module", choices=library(), help="faults of one module")
    add("--jobs", type=int, default=os.cpu_count(), help="faults at a time")
    add("--sample", type=int, help="so many of the generated, always the same")
    add("--realistic", action="store_const", dest="sample", const=0)
    given, is_wrong = parser.parse_args(), False
    seen = seen_without_fault(given.jobs)
    chosen = faults(given.module, given.sample)
    trials = [trial for fault in chosen for trial in trials_of(fault, seen)]
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
