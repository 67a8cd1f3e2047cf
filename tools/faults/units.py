"""Run the unit tests over a faulty book."""

import io
import os
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest

from tools.faults.fault import ROOT, Answer, Fault, taught_modules
from tools.faults.notebooks import At, forget_library
from tools.faults.reach import TESTS, reached_by_test

# Compiling is slow and finds nothing that the other tests do not.
OPTIONS = ["-q", "-p", "no:xdist", "-m", "not compiled"]
OPTIONS += ["--hypothesis-profile=faults"]
OPTIONS += ["--assert=plain"]  # only whether a test fails is asked
RAN = {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
GONE = {pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED}
# Examples are always the same, and are not shrunk.
hypothesis.settings.register_profile(
    "faults",
    deadline=None,
    database=None,
    derandomize=True,
    max_examples=25,
    phases=[hypothesis.Phase.generate],
)


WARM = """\
from hypothesis import given, strategies

@given(strategies.integers())
def test_warm(number): pass
"""


def warm_up() -> None:
    """Import what pytest and hypothesis import, here once for all trials."""
    for path in TESTS.glob("test_*.py"):
        reached_by_test(path.name)
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        Path(folder, "test_warm.py").write_text(WARM, encoding="utf-8")
        pytest.main([folder, *OPTIONS, f"--rootdir={folder}"])


class FirstFailure:
    """A pytest plugin that remembers which test failed, and says which runs.

    A file that cannot be imported fails as a whole.
    """

    def __init__(self, at: At):
        self.at, self.answer, self.now = at, Answer(), ""

    def pytest_runtest_logstart(self, nodeid):
        self.now = short(nodeid)
        self.at(self.now)

    def pytest_keyboard_interrupt(self, excinfo):
        """What a test does not expect is noticed, also this."""
        if not self.answer.noticed:
            self.answer = Answer(self.now, excinfo.exconly())

    def pytest_runtest_logreport(self, report):
        self.remember(report)

    def pytest_collectreport(self, report):
        self.remember(report)

    def remember(self, report):
        if report.failed and not self.answer.noticed:
            why = str(report.longrepr).strip().rpartition("\n")[2]
            self.answer = Answer(short(report.nodeid), why)


def short(nodeid: str) -> str:
    """A test as the report names it: its file needs no folder."""
    return nodeid.removeprefix("tests/library/")


def caught_by_units(
    fault: Fault, book: Path, at: At, first: str = ""
) -> Answer:
    """The first test that notices the fault.

    The test that noticed it last time is run first, then the tests of the
    module, then all that can see the module.
    """
    start(book)
    if first and (TESTS / first.partition("::")[0]).exists():
        status, answer, _ = session([first], book, at)
        if answer.noticed and status not in GONE:
            return answer
    own, *others = files_for(fault.module)
    for names in filter(None, ([own], others)):
        status, answer, output = session(names, book, at)
        ended = status is pytest.ExitCode.INTERRUPTED
        if status not in RAN and not (ended and answer.noticed):
            return Answer(untried=f"pytest: {status!r}: {output[-500:]}")
        if answer.noticed:
            return answer
    return Answer()


def tests_are_right(
    fault: Fault, book: Path, at: At, tests: list[str]
) -> Answer:
    """Whether these tests pass, and these files can be imported."""
    start(book)
    files = [name for name in tests if "::" not in name]
    named = [name for name in tests if "::" in name]
    for names, options in ((files, ["--collect-only"]), (named, [])):
        if names:
            status, answer, output = session(names, book, at, options)
            if status not in RAN:
                return Answer(untried=f"pytest: {status!r}: {output[-500:]}")
            if answer.noticed:
                return answer
    return Answer()


def files_for(module: str) -> list[str]:
    """The test files that can see a module, those that do it best first."""
    names = [path.name for path in TESTS.glob("test_*.py")]
    order = [f"test_{name}.py" for name in taught_modules()]
    place = {name: number for number, name in enumerate(order)}
    own = f"test_{module}.py"
    return sorted(
        (name for name in names if module in reached_by_test(name)),
        key=lambda name: (name != own, place.get(name, len(order)), name),
    )


def start(book: Path) -> None:
    """Read the library anew."""
    forget_library()
    os.chdir(ROOT)


def session(
    names: list[str], book: Path, at: At, options: Sequence[str] = ()
) -> tuple[int, Answer, str]:
    """Run tests until one fails: pytest's status, the test, what was said."""
    failure, output = FirstFailure(at), io.StringIO()
    paths = [str(TESTS / name) for name in names]
    path = f"pythonpath={book} {ROOT}"
    with redirect_stdout(output), redirect_stderr(output):
        status = pytest.main(
            [*paths, "-x", *OPTIONS, *options, "-o", path], plugins=[failure]
        )
    return status, failure.answer, output.getvalue()
