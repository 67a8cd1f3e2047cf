"""Run a file of unit tests over a faulty book."""

import os
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import hypothesis
import pytest

from tools.faults.fault import At, Fault
from tools.source.taught import ROOT

TESTS = ROOT / "tests" / "library"
OPTIONS = [
    *("-q", "-x", "-p", "no:xdist", "--hypothesis-profile=faults"),
    *("-m", "not compiled"),  # slow, and finds nothing that others do not
    "--assert=plain",  # only whether a test fails is asked
]
hypothesis.settings.register_profile(
    "faults",  # examples are always the same, and are not shrunk
    deadline=None,
    database=None,
    derandomize=True,
    max_examples=25,
    phases=[hypothesis.Phase.generate],
)


class FirstFailure:
    """A pytest plugin: the first test that failed; it says which runs.

    A file that cannot be imported fails as a whole, and an interrupt that no
    test expects is a failure, too.
    """

    def __init__(self, at: At):
        self.at, self.now, self.name = at, "", ""

    def pytest_runtest_logstart(self, nodeid):
        self.now = nodeid.rpartition("tests/library/")[2]
        self.at(self.now)

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.name:
            self.name = report.nodeid.rpartition("tests/library/")[2]

    pytest_collectreport = pytest_runtest_logreport

    def pytest_keyboard_interrupt(self):
        self.name = self.name or self.now


def targets(module: str) -> list[str]:
    """The test files, a module's own first."""
    own = {f"test_{name}.py" for name in module.split("/")}
    names = [path.name for path in TESTS.glob("test_*.py")]
    return sorted(names, key=lambda name: (name not in own, name))


def failure(place: str, fault: Fault, book: Path, at: At) -> str:
    """The first test of a file that fails.

    Raises:
        RuntimeError: pytest stopped, but no test failed.
    """
    os.chdir(ROOT)
    first, output = FirstFailure(at), StringIO()
    roots = ["-o", f"pythonpath={book} {ROOT}"]
    with redirect_stdout(output), redirect_stderr(output):
        command = [str(TESTS / place), *OPTIONS, *roots]
        code = pytest.main(command, plugins=[first])
    if not first.name and code not in (0, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"pytest: {code!r}: {output.getvalue()[-500:]}")
    return first.name
