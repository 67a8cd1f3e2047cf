"""Run a file of unit tests over a faulty book."""

import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import hypothesis
import pytest
from pytest import ExitCode

from tools.faults.generate import Fault
from tools.source.taught import ROOT

TESTS = ROOT / "tests" / "library"
OPTIONS = [
    *("-q", "-x", "-p", "no:xdist", "--hypothesis-profile=faults"),
    *("-m", "not compiled"),  # slow, and finds nothing that others do not
    *("--assert=plain", "--tb=no"),  # only whether a test fails is asked
]
hypothesis.settings.register_profile(
    "faults",  # examples are always the same, and are not shrunk
    deadline=None,
    database=None,
    derandomize=True,
    max_examples=25,
    phases=[hypothesis.Phase.generate],
)


def targets(module: str) -> list[str]:
    """The test files, a module's own first."""
    own = {f"test_{name}.py" for name in module.split("/")}
    names = [path.name for path in TESTS.glob("test_*.py")]
    return sorted(names, key=lambda name: (name not in own, name))


def failure(place: str, fault: Fault, book: Path) -> str:
    """What pytest says at the end of a file in which a test fails."""
    os.chdir(ROOT)
    command = [f"{TESTS / place}", *OPTIONS, "-o", f"pythonpath={book} {ROOT}"]
    with redirect_stdout(StringIO()) as output, redirect_stderr(output):
        code = pytest.main(command)
    last = output.getvalue()[-500:]
    match code:
        case ExitCode.OK | ExitCode.NO_TESTS_COLLECTED:
            return ""
        case ExitCode.TESTS_FAILED | ExitCode.INTERRUPTED:  # by bad imports
            return last
    raise RuntimeError(f"pytest: {code!r}: {last}")
