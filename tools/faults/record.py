"""Which cell and which test noticed each fault, and what they read then.

The listed faults stand in `record.json` beside this file, so that a run need
only try what has changed. An answer counts as long as everything that the
cell or the test read is the same to the letter: the fault, the modules it can
reach, the code before it, the files it names and the tools that compare.
"""

import hashlib
import json
import os
from functools import cache
from pathlib import Path

from tools.faults.fault import ROOT, Answer, Fault, Verdict
from tools.faults.notebooks import code_of, stored
from tools.faults.reach import (
    LIBRARY,
    TESTS,
    files,
    reached,
    reached_by_cells,
    reached_by_test,
    test_files,
)

COMMITTED = ROOT / "tools" / "faults" / "record.json"
UNCOMMITTED = ROOT / "_build" / "faults.json"
HERE = Path(__file__).parent
COMPARES = {
    "notebooks": (HERE / "notebooks.py", ROOT / "tools" / "compare.py"),
    "units": (HERE / "units.py",),
}
PINS = ROOT / "constraints.txt"
DATA = (ROOT / "book" / "data", ROOT / "benchmarks" / "results", LIBRARY)


def digest(parts: list[str | Path]) -> str:
    """A short name for texts and the contents of files."""
    found = hashlib.sha256()
    for part in parts:
        is_file = isinstance(part, Path)
        found.update(content(part) if is_file else part.encode())
        found.update(b"\0")
    return found.hexdigest()[:16]


@cache
def content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


@cache
def data_files() -> tuple[Path, ...]:
    """What chapters and tests may read beside programs."""
    paths = [path for folder in DATA for path in folder.glob("*.*")]
    return tuple(sorted(p for p in paths if p.suffix != ".py"))


def read_by(way: str, fault: Fault, place: str) -> list[str | Path]:
    """Everything that the answer of a cell or test rests on.

    Raises:
        LookupError: there is no such place any more.
    """
    change = [fault.module, fault.old, fault.new, str(fault.start), place]
    of_place = read_by_cell if way == "notebooks" else read_by_test
    names, texts = of_place(place)
    modules = sorted(reached({*names, fault.module}))
    programs = [path for name in modules for path in files(name)]
    code = "\0".join([*texts, *(content(p).decode() for p in programs)])
    named = [path for path in data_files() if path.name in code]
    return [*change, *texts, *programs, *named, *COMPARES[way], PINS]


def read_by_cell(place: str) -> tuple[set[str], list[str]]:
    """The modules that a cell and those before it reach, and their texts."""
    name, _, number = place.partition(", In [")
    if name not in stored() or not number:
        raise LookupError(place)
    count = int(number.removesuffix("]"))
    cells = code_of(stored()[name])[:count]
    if len(cells) < count:
        raise LookupError(place)
    sources = [cell.source for cell in cells]
    tags = [json.dumps(cell.metadata.get("tags", [])) for cell in cells]
    outputs = [expected(output) for output in cells[-1].outputs]
    return reached_by_cells(sources), [*sources, *tags, *outputs]


def expected(output: dict) -> str:
    """A stored output as it is compared: of a figure, that there is one."""
    data = output.get("data", {})
    data = {k: "" if k == "image/png" else v for k, v in data.items()}
    kept = {k: output[k] for k in ("name", "text", "ename", "evalue")
            if k in output}  # fmt: skip
    return json.dumps([output["output_type"], data, kept], sort_keys=True)


def read_by_test(place: str) -> tuple[set[str], list[str]]:
    """The modules that a test file reaches, and its text."""
    name = place.partition("::")[0]
    if not (TESTS / name).is_file():
        raise LookupError(place)
    texts = [content(path).decode() for path in test_files(name)]
    return set(reached_by_test(name)), texts


def key(fault: Fault) -> str:
    return f"{fault.module}: {fault.name}"


class Record:
    """Answers of an earlier run, by fault and way."""

    def __init__(self, path: Path = COMMITTED):
        self.path, self.entries = path, {}
        if path.exists():
            self.entries = json.loads(path.read_text(encoding="utf-8"))

    def place(self, fault: Fault, way: str) -> str:
        """The cell or test that noticed the fault last time, or nothing."""
        return self.entries.get(key(fault), {}).get(way, ["", ""])[0]

    def fresh(self, fault: Fault, way: str) -> Answer | None:
        """The answer, if nothing that it rests on has changed."""
        place, known = self.entries.get(key(fault), {}).get(way, ["", ""])
        try:
            if place and digest(read_by(way, fault, place)) == known:
                return Answer(place, recorded=True)
        except (LookupError, ValueError):
            pass
        return None

    def put(self, verdict: Verdict) -> None:
        """Remember who noticed a fault; of a survivor nothing is kept."""
        fault, entry = verdict.fault, {}
        for way in ("notebooks", "units"):
            if place := getattr(verdict, way).noticed:
                entry[way] = [place, digest(read_by(way, fault, place))]
        self.entries[key(fault)] = entry

    def text(self, faults: list[Fault]) -> str:
        """The entries of these faults, in their order, one a line."""
        lines = [
            f"{json.dumps(key(f), ensure_ascii=False)}: "
            f"{json.dumps(self.entries[key(f)], ensure_ascii=False)}"
            for f in faults
            if self.entries.get(key(f))
        ]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def changed(self, faults: list[Fault]) -> bool:
        """Whether the file says something else."""
        if not self.path.exists():
            return True
        return self.path.read_text(encoding="utf-8") != self.text(faults)

    def write(self, faults: list[Fault]) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(self.text(faults), encoding="utf-8")


def keep(record: Record, faults: list[Fault]) -> list[str]:
    """Write a record that has changed; CI only says that somebody should."""
    if not record.changed(faults):
        return []
    if os.environ.get("CI") and record.path == COMMITTED:
        name = record.path.name
        return [f"{name} is stale: run `make faults LISTED=1`, commit it"]
    record.write(faults)
    return []
