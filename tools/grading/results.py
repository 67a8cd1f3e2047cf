"""What came of answers, and the file that remembers it.

A line is written for each answer as soon as it was tried. A second run reads
the file and tries only what is not in it: answers that are new, or whose
notebook, key or library has changed.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

STATES = (
    "right",
    "wrong",
    "not started",
    "stopped",  # by an error
    "ended",  # by a limit, or by itself
    "tampered",
    "not graded",
)
LONGEST = 300  # characters of a hint
MOST_NOTES = 10


@dataclass(frozen=True)
class Result:
    """What an answer has earned, and what its author is told."""

    state: str
    share: float = 0.0
    hint: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


def one_line(text: object, longest: int = LONGEST) -> str:
    """A text that any table can hold, whoever wrote it."""
    line = " ".join(str(text)[: 10 * longest].split())
    line = "".join(c if c.isprintable() else "\ufffd" for c in line)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def understood(found: dict) -> Result:
    """What the sandbox said, which an answer may have made it say."""
    state = found.get("state")
    if state == "broken":
        state = "not graded"
    if state not in STATES:
        return Result("tampered", hint="its verdict is none")
    notes = found.get("notes")
    notes = notes[:MOST_NOTES] if isinstance(notes, list) else []
    return Result(
        state,
        share_of(state, found.get("share")),
        one_line(found.get("hint", "")),
        number(found.get("seconds")),
        tuple(one_line(note, 100) for note in notes),
    )


def share_of(state: str, share: object) -> float:
    """All for a right answer, and for a wrong one always less."""
    if state == "right":
        return 1.0
    return min(max(number(share), 0.0), 0.99) if state == "wrong" else 0.0


def number(value: object) -> float:
    if isinstance(value, int | float) and -1e9 < value < 1e9:  # so no NaN
        return float(value)
    return 0.0


class Results:
    """Results by the fingerprints of their attempts, kept in a file."""

    def __init__(self, path: Path, limits: dict) -> None:
        self.path = path
        self.limits = limits
        self.known = dict(self.read())

    def read(self):
        """What earlier runs have left; a line that broke off is no result.

        An answer that came to its limits is tried again under others.
        """
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                    limits = entry.pop("limits", None)
                    fingerprint = entry.pop("fingerprint")
                    entry["notes"] = tuple(entry["notes"])
                    result = Result(**entry)
                except (ValueError, TypeError, KeyError, AttributeError):
                    continue
                if limits in (None, self.limits):
                    yield fingerprint, result

    def add(self, fingerprint: str, result: Result) -> None:
        """Remember a result; what failed without fault is tried again."""
        self.known[fingerprint] = result
        if result.state == "not graded":
            return
        entry = {"fingerprint": fingerprint, **asdict(result)}
        if result.state == "ended":
            entry["limits"] = self.limits
        data = (json.dumps(entry) + "\n").encode()
        with self.path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    data = b"\n" + data
            file.write(data)
