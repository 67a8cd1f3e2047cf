"""Run the unit tests over a faulty book."""

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import hypothesis
import pytest

from tools.faults.fault import ROOT, Fault
from tools.faults.notebooks import forget_library

# Compiling is slow and finds nothing that the other tests do not.
OPTIONS = ["-x", "-q", "-p", "no:xdist", "-m", "not compiled"]
OPTIONS += ["--assert=plain"]  # only whether a test fails is asked


class FirstFailure:
    """A pytest plugin that remembers which test failed."""

    name = ""

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.name = self.name or report.nodeid.rpartition("/")[2]

    def pytest_collectreport(self, report):
        if report.failed:
            self.name = f"cannot import {report.nodeid.rpartition('/')[2]}"


def caught_by_units(fault: Fault, book: Path) -> str:
    """The first test that notices the fault; empty if none does.

    The tests of the module run first: they will notice soonest.
    """
    forget_library()
    os.chdir(ROOT)
    hypothesis.settings.register_profile(
        "faults", phases=[hypothesis.Phase.generate]
    )
    hypothesis.settings.load_profile("faults")  # no time to shrink examples
    folder = ROOT / "tests" / "library"
    files = sorted(folder.glob("test_*.py"))
    files.remove(folder / "test_shapes.py")  # runs the same tests again
    files.sort(key=lambda path: path.stem != f"test_{fault.module}")
    failure = FirstFailure()
    path = f"pythonpath={book} {ROOT}"
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        status = pytest.main(
            [*map(str, files), *OPTIONS, "-o", path], plugins=[failure]
        )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        return failure.name or f"pytest: {output.getvalue()[-300:]}"
    return failure.name
