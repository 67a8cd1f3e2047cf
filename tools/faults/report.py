"""The table of faults, and what is to be put right."""

from collections.abc import Iterator

from tools.faults.equivalent import EQUIVALENT
from tools.faults.fault import Verdict


def row(verdict: Verdict) -> str:
    """One line of the table: the fault, a cell, a test."""
    fault = verdict.fault
    chapter, _, rest = verdict.notebooks.partition(", ")
    cell = f"{chapter[:2]} {rest.partition(':')[0]}".strip()
    if not fault.shown:
        cell = "(not shown)"
    return f"{fault.brief:<70.70}  {cell or '-':<11}  {verdict.units or '-'}"


def key(verdict: Verdict) -> tuple[str, str]:
    return verdict.fault.module, verdict.fault.name


def is_equivalent(verdict: Verdict) -> bool:
    return verdict.fault.generated and key(verdict) in EQUIVALENT


def problems(found: list[Verdict]) -> Iterator[str]:
    """What must be put right, one text each."""
    for verdict in found:
        where = f"{verdict.fault.module}: {verdict.fault.name}"
        if is_equivalent(verdict):
            if verdict.notebooks or verdict.units:
                seen = verdict.notebooks or verdict.units
                yield f"NOT EQUIVALENT {where}\n    noticed by {seen}"
        elif verdict.survived:
            yield f"SURVIVED {' and '.join(verdict.survived)}\n    {where}"


def gone(modules: list[str], found: list[Verdict]) -> list[str]:
    """The entries of EQUIVALENT that are no longer generated."""
    generated_keys = {key(v) for v in found if v.fault.generated}
    return [
        f"STALE entry in equivalent.py\n    {module}: {name}"
        for module, name in EQUIVALENT
        if module in modules and (module, name) not in generated_keys
    ]


def totals(found: list[Verdict]) -> Iterator[str]:
    """How many faults of each kind were noticed, in each way."""
    for kind in (False, True):
        mine = [v for v in found if v.fault.generated is kind]
        same = sum(map(is_equivalent, mine))
        real = [v for v in mine if not is_equivalent(v)]
        shown = [v.notebooks for v in real if v.fault.shown]
        if mine:
            yield (
                f"{len(mine)} faults {'generated' if kind else 'listed'}, "
                f"{same} of them equivalent; noticed by notebooks "
                f"{share(shown)}, by unit tests "
                f"{share([v.units for v in real])}"
            )


def share(noticed: list[str]) -> str:
    caught = sum(map(bool, noticed))
    percent = 100 * caught / len(noticed) if noticed else 100
    return f"{caught} of {len(noticed)} ({percent:.1f} %)"
