"""The table of faults, and what is to be put right."""

from collections.abc import Iterator

from tools.faults.endless import ENDLESS
from tools.faults.equivalent import EQUIVALENT
from tools.faults.fault import Answer, Verdict


def row(verdict: Verdict) -> str:
    """One line of the table: the fault, a cell, a test."""
    fault = verdict.fault
    chapter, _, cell = verdict.notebooks.noticed.partition(", ")
    shown = f"{chapter[:2]} {cell}".strip() if fault.shown else "(not shown)"
    tests = verdict.units.noticed
    return f"{fault.brief:<70.70}  {shown or '-':<11}  {tests or '-'}"


def key(verdict: Verdict) -> tuple[str, str]:
    return verdict.fault.module, verdict.fault.name


def is_equivalent(verdict: Verdict) -> bool:
    return verdict.fault.generated and key(verdict) in EQUIVALENT


def problems(found: list[Verdict]) -> Iterator[str]:
    """What must be put right, one text each."""
    for verdict in found:
        where = f"{verdict.fault.module}: {verdict.fault.name}"
        for way, why in verdict.untried.items():
            yield f"NOT TRIED by {way} {where}\n    {why}"
        if is_equivalent(verdict):
            seen = [a for a in verdict.answers.values() if a.noticed]
            if seen:
                yield (
                    f"NOT EQUIVALENT {where}\n    noticed by "
                    f"{seen[0].noticed}: {seen[0].why}"
                )
        elif verdict.survived:
            yield f"SURVIVED {' and '.join(verdict.survived)}\n    {where}"


def gone(modules: list[str], found: list[Verdict]) -> list[str]:
    """The entries of two tables that are no longer generated."""
    generated_keys = {key(v) for v in found if v.fault.generated}
    tables = {"equivalent.py": EQUIVALENT, "endless.py": ENDLESS}
    return [
        f"STALE entry in {file}\n    {module}: {name}"
        for file, table in tables.items()
        for module, name in table
        if module in modules and (module, name) not in generated_keys
    ]


def totals(found: list[Verdict]) -> Iterator[str]:
    """How many faults of each kind were noticed, in each way."""
    for kind in (False, True):
        mine = [v for v in found if v.fault.generated is kind]
        same = sum(map(is_equivalent, mine))
        real = [v for v in mine if not is_equivalent(v)]
        shown = [v.notebooks for v in real if v.fault.shown]
        untried = sum(bool(v.untried) for v in mine)
        if mine:
            yield (
                f"{len(mine)} faults {'generated' if kind else 'listed'}, "
                f"{same} of them equivalent; noticed by notebooks "
                f"{share(shown)}, by unit tests "
                f"{share([v.units for v in real])}; {untried} not tried"
            )


def share(answers: list[Answer]) -> str:
    caught = sum(bool(answer.noticed) for answer in answers)
    percent = 100 * caught / len(answers) if answers else 100
    return f"{caught} of {len(answers)} ({percent:.1f}%)"
