"""`make conformance`: the checks of chapter 20 over public packages.

Writes what chapter 20 shows: for each attention of `benchmarks.public` and
each property, whether it holds, and the number seen.
"""

import datetime
import platform
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "book")]

import torch  # noqa: E402

from benchmarks.public import Subject  # noqa: E402
from benchmarks.records import RESULTS, write  # noqa: E402
from kit.conformance import FAMILIES, PROPERTIES, failing, table  # noqa: E402
from lib.diagnose import diagnose  # noqa: E402
from lib.diagnose.convention import prepare  # noqa: E402
from lib.diagnose.report import Finding  # noqa: E402

RESULT = RESULTS / "conformance.json"
SHOWN = "benchmarks/public/reproductions/{}.py"
# einops shows its examples in the documentation only; timm and vit-pytorch
# need torchvision, torchtune a torchao of its time; xformers and flash-attn
# have no kernel for a CPU; flax and equinox have tensors of their own.
ORDER = ("torch", "transformers", "lucidrains", "others")
DROPOUT_OFF = "dropout off in evaluation"


def examined(subject: Subject) -> dict[str, dict]:
    """What is found out of one attention: property -> finding."""
    torch.manual_seed(0)
    attention, convention = subject.build()
    report = diagnose(attention, **convention)
    if report["call"].verdict != "holds":
        raise RuntimeError(f"{subject}: {report['call'].words}")
    cells = {name: cell(subject, report[name]) for name in PROPERTIES}
    if why := drops_nothing(attention, convention):
        cells[DROPOUT_OFF] = left_out(why)
    return cells


def drops_nothing(attention: Callable, convention: dict) -> str | None:
    """Why it says nothing that two evaluations are equal, or None."""
    probe = prepare(attention, **convention)
    if probe.module is None:
        return "a function: its dropout is an argument of each call"
    x = probe.draw(4)
    try:
        with probe.mode(True):
            once = probe(x)
            with probe.other_noise():
                again = probe(x)
    except Exception as error:  # whatever the package raises
        return f"a training pass raises {type(error).__name__}"
    return "two training passes are equal too" if once.equal(again) else None


def left_out(why: str) -> dict:
    return {"verdict": "not offered", "seen": None, "words": why}


def cell(subject: Subject, finding: Finding) -> dict:
    """One entry of the table; a failure names its design or its proof."""
    name, verdict, seen = finding.name, finding.verdict, finding.seen
    if why := subject.left(name):
        return left_out(why)
    entry = {
        "verdict": verdict,
        "seen": None if seen is None else float(f"{seen:.3g}"),
        "words": finding.words,
    }
    if verdict == "fails" and name in subject.by_design:
        entry["verdict"] = "note"
        entry["words"] += f" ({subject.by_design[name]})"
    elif verdict == "fails":
        # an error, and not a wrong number, is said in these words
        if "raises " in finding.words:
            entry["verdict"] = "raises"
        proof = subject.shown.get(name)
        entry["reproduction"] = SHOWN.format(proof) if proof else None
    return entry


def released(package: str) -> str:
    """The version of a package; the book's own is in pyproject.toml."""
    try:
        return version(package).split("+")[0]
    except PackageNotFoundError:
        book = tomllib.loads((ROOT / "pyproject.toml").read_text())
        return book["project"]["version"]


def measure() -> dict:
    """The whole table."""
    rows = [
        {
            "package": subject.package,
            "version": released(subject.package),
            "way": subject.way,
            "findings": examined(subject),
        }
        for name in ORDER
        for subject in import_module(f"benchmarks.public.of_{name}").SUBJECTS
    ]
    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "torch": released("torch"),
        "device": "CPU",
        "properties": list(PROPERTIES),
        "rows": rows,
    }


def main() -> None:
    record = measure()
    write(RESULT, record)
    for family in FAMILIES:
        print(f"\n{family}\n\n{table(record, family)}")
    for one in failing(record):
        print(f"\n{one['who']}: {one['property']}\n  {one['words']}")
        print(f"  {one['reproduction']}")


if __name__ == "__main__":
    main()
