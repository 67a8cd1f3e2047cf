"""The faults that are made; `make faults` tries them every night."""

import os
import signal
import subprocess
import sys

import pytest

from tools.faults.__main__ import summary
from tools.faults.generate import Fault, generated
from tools.faults.realistic import realistic
from tools.faults.trial import Trial
from tools.source.taught import ROOT, homes, library


def made(line):
    """What becomes of a small function of one line."""
    source = f"def f(x, y, n):\n    {line}\n"
    wrong = {fault.wrong for fault in generated("m", source)}
    return {text.partition("\n    ")[2].rstrip() for text in wrong}


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        ("return x + y", {"(x - y)", "x", "y"}),
        ("return x / y", {"(x * y)", "(y / x)", "x", "y"}),
        ("return x <= y", {"(x < y)", "(x > y)"}),
        ("return x and not y", {"(x or not y)", "x", "(not y)", "x and y"}),
        ("return x[-1]", {"x[-2]", "x[-0]"}),
        ("return x[y:]", {"x[:]", "x[(y + 1):]"}),
        ("return x[:, y]", {"x[y,]", "x[:,]", "x[y, :]"}),
        ("return f(x, y)", {"f(y)", "f(x)", "f(y, x)", "x"}),
        ("return max(x, y)", {"max(y)", "max(x)", "x"}),
        ("return x.sum(dim=n)", {"x.mean(dim=n)", "x.sum()", "x"}),
        ("return x.sort(dim=-1)", {"x", "x.sort(dim=-2)", "x.sort(dim=-0)"}),
        ("return x.to(y.device)", set()),
        ("return f('a b, c -> a')", {"f('b a, c -> a')", "'a b, c -> a'"}),
    ],
)
def test_expressions(line, faults):
    assert made(line) == {f"return {fault}" for fault in faults}


def test_statements():
    may_go = ["f(x)", "x += y", "x = f(x)", "x.n = y", "if x: return y"]
    assert all("pass" in made(line) for line in may_go)
    assert not any("pass" in made(line) for line in ["n = y", "return f(x)"])


def test_what_no_program_shows_is_left_alone():
    source = (
        '"""Doc 1."""\nMask = Bool[Tensor, "q k"]\n'
        'def f(x: "a b"):\n    """Words."""\n'
        '    validate.integer("x", 1)\n    raise ValueError(f"{1}", 2)\n'
    )
    assert generated("m", source) == []


def test_a_fault_is_shown_as_its_line_before_and_after():
    fault, *_ = generated("m", "ε = 0\n\ndef f():\n    return 'ε', x - 1\n")
    assert str(fault) == "m:1: ε = 0  ->  ε = 1"
    assert fault.wrong.startswith("ε = 1\n\ndef f")


def test_every_pattern_fits_the_library():
    texts = {module: library()[module] for module in homes()}
    faults = realistic(texts)
    assert len(faults) > 40
    for fault in faults:
        compile(fault.wrong, fault.module, "exec")
        assert fault.wrong != fault.source
    with pytest.raises(LookupError, match="no taught module has"):
        realistic({"softmax": texts["softmax"]})


ENDLESS = """if True:
    import signal
    from tools.faults import trial
    from tools.faults.generate import Fault

    trial.Trial.look = lambda self: [print(flush=True) for _ in iter(int, 1)]
    trial.os.dup2 = lambda *_: None  # the child is heard
    # A job in the background is started with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    list(trial.tried([trial.Trial(Fault("m", "", 0, 0, ""), "units", [])], 1))
"""


@pytest.mark.slow
def test_an_interrupt_leaves_no_child():
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as session:
        session.stdout.readline()  # the child runs
        session.send_signal(signal.SIGINT)
        session.wait()
        with pytest.raises(ProcessLookupError):
            os.killpg(session.pid, signal.SIGKILL)


def test_totals_add_up():
    fault = Fault("m", "", 0, 0, "", "generated")
    trials = [Trial(fault, "units", [], noticed=n) for n in ("test_a", "", "")]
    (line,) = summary(trials)
    assert line == "generated faults noticed by units: 1 of 3, 33.3%"
