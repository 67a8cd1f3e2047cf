"""`make conformance`: the checks of chapter 18 over public packages.

Writes what chapter 18 shows: for each attention of `benchmarks.public` and
each property, whether it holds, and the number seen.
"""

import datetime
import json
import platform
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "book")]

import torch  # noqa: E402

from benchmarks.public import SUBJECTS, Subject  # noqa: E402
from kit.conformance import FAMILIES, PROPERTIES, failing, table  # noqa: E402
from lib.diagnose import diagnose  # noqa: E402
from lib.diagnose.convention import prepare  # noqa: E402
from lib.diagnose.report import Finding  # noqa: E402

RESULT = Path(__file__).parent / "results" / "conformance.json"
SHOWN = "benchmarks/public/reproductions/{}.py"
ORDER = ("torch", "transformers", "keras", "lucidrains", "others")
DROPOUT_OFF, CALL = "dropout off in evaluation", "q k v mask -> out"
LEFT_OUT = {
    "einops": "the examples of its documentation are not in the package",
    "timm, vit-pytorch": "need torchvision, whose builds on PyPI need CUDA",
    "torchtune": "needs a torchao of its time, which this torch refuses",
    "xformers, flash-attn": "no kernel of theirs runs on a CPU",
    "flax, equinox": "their tensors are not torch's",
}


def load() -> list[Subject]:
    """Every attention, in the order of the table."""
    if not SUBJECTS:
        for name in ORDER:
            import_module(f"benchmarks.public.of_{name}")
    return SUBJECTS


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
    probe = prepare(attention, **{"call": CALL} | convention)
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
    name, verdict = finding.name, finding.verdict
    if why := subject.left(name):
        return left_out(why)
    seen = finding.seen
    entry = {
        "verdict": "raises" if is_error(finding) else verdict,
        "seen": None if seen is None else float(f"{seen:.3g}"),
        "words": finding.words,
    }
    if verdict == "fails" and name in subject.by_design:
        entry["verdict"] = "note"
        entry["words"] += f" ({subject.by_design[name]})"
    elif verdict == "fails":
        proof = subject.shown.get(name)
        entry["reproduction"] = SHOWN.format(proof) if proof else None
    return entry


def is_error(finding: Finding) -> bool:
    """Whether the attention ended in an error, not in a wrong number."""
    words = finding.words.split(" raises ")
    return finding.verdict == "fails" and (
        len(words) > 1 or finding.words.startswith("raises ")
    )


def released(package: str) -> str:
    """The version of a package; the book's own is in pyproject.toml."""
    try:
        return version(package).split("+")[0]
    except PackageNotFoundError:
        lines = (ROOT / "pyproject.toml").read_text().splitlines()
        line = next(x for x in lines if x.startswith("version"))
        return line.split('"')[1]


def measure() -> dict:
    """The whole table."""
    rows = [
        {
            "package": subject.package,
            "version": released(subject.package),
            "entry": subject.entry,
            "way": subject.way,
            "findings": examined(subject),
        }
        for subject in load()
    ]
    return {
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "torch": released("torch"),
        "device": "CPU",
        "properties": list(PROPERTIES),
        "left out": LEFT_OUT,
        "rows": rows,
    }


def main() -> None:
    record = measure()
    RESULT.write_text(json.dumps(record, indent=1) + "\n")
    for family in FAMILIES:
        print(f"\n{family}\n\n{table(record, family)}")
    for one in failing(record):
        print(f"\n{one['who']}: {one['property']}\n  {one['words']}")
        print(f"  {one['reproduction']}")


if __name__ == "__main__":
    main()
