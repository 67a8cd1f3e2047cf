"""The fault engine: what it makes, and that both ways can say both answers."""

import json
import subprocess
import sys

import pytest

from tools.faults.generate import generated
from tools.faults.realistic import realistic
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


SCRIPT = """if True:
    import json
    from tools.faults import notebooks, trial, units
    from tools.faults.fault import Fault
    from tools.source.taught import library

    notebooks.targets = lambda module: [
        name for name in notebooks.stored() if module in notebooks.shown(name)
    ]
    units.targets = lambda module: [f"test_{module}.py"]
    source, old = library()["attention"], " / math.sqrt(q.shape[-1])"
    start, trial.BUSY = source.index(old), 100  # the machine may be busy

    def answers(new):
        fault = Fault("attention", source, start, start + len(old), new)
        trials = [trial.Trial(fault, way, seconds=15) for way in trial.WAYS]
        list(trial.tried(trials, 1))
        before = [t.noticed for t in trials]
        trial.control(trials, 1)
        after = [t.noticed for t in trials]
        return before, after, [t.untried for t in trials]

    texts = old, "", " / sum(iter(int, 1))", " / __import__('os')._exit(3)"
    found = [answers(text) for text in texts]
    trial.replace = lambda fault, **_: fault  # the control is wrong, too
    print(json.dumps([*found, answers("")]))
"""


@pytest.mark.slow
def test_both_ways_say_both_answers():
    """Nothing, no scale, an endless loop, an exit; what is always wrong."""
    command = [sys.executable, "-c", SCRIPT]
    session = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert session.returncode == 0, session.stderr
    nothing, scale, endless, died, always = json.loads(session.stdout)
    assert nothing == [["", ""]] * 3
    for before, after, untried in (scale, endless):
        assert before == after and untried == ["", ""]
        assert before[0].startswith("04_")
        assert before[1].startswith("test_attention.py::")
    assert died == [["", ""], ["", ""], ["the process died (3)"] * 2]
    assert always[:2] == [scale[0], ["", ""]]
    assert all(why.startswith("without a fault: ") for why in always[2])
