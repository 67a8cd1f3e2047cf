"""The fault lists fit the library, and the harness can say both answers."""

import json
import subprocess
import sys

import pytest

from tools.faults.equivalent import EQUIVALENT
from tools.faults.fault import (
    ROOT,
    Fault,
    Verdict,
    source_of,
    taught_modules,
)
from tools.faults.generate import faults_in, generated
from tools.faults.listed import LISTED
from tools.faults.report import gone, problems, row, totals

SOURCE = '''\
"""Doc 1."""


def clip(x: "word 1", low: int = 0, strict=False):
    """Keep x above low."""
    validate.integer("low", low)
    if x < low and not strict:
        raise ValueError(f"x: {x} is below {low + 1}")
    return max(x, low, key=abs)
'''
CHANGED = {
    ("0", "1"),
    ("0", "(-1)"),
    ("False", "True"),
    ("x < low and not strict", "(not (x < low and (not strict)))"),
    ("x < low and not strict", "(x < low or not strict)"),
    ("x < low and not strict", "(x < low)"),
    ("x < low and not strict", "(not strict)"),
    ("x < low", "(x <= low)"),
    ("x < low", "(x >= low)"),
    ("not strict", "strict"),
    ("max(x, low, key=abs)", "max(x, low)"),
    ("max(x, low, key=abs)", "max(low, key=abs)"),
    ("max(x, low, key=abs)", "max(x, key=abs)"),
    ("max(x, low, key=abs)", "max(low, x, key=abs)"),
    ("max(x, low, key=abs)", "x"),
}


@pytest.mark.parametrize("fault", LISTED, ids=lambda fault: fault.name)
def test_a_listed_fault_fits_the_library(fault):
    right = source_of(fault.module)
    wrong = fault.apply(right)
    compile(wrong, fault.module, "exec")
    assert wrong != right


def test_the_list_is_long_and_its_names_differ():
    assert len(LISTED) >= 30
    assert len({(f.module, f.name) for f in LISTED}) == len(LISTED)
    assert {f.module for f in LISTED} == set(taught_modules())


@pytest.mark.parametrize("text", ["no such text", "return"])
def test_a_text_that_does_not_occur_once_is_refused(text):
    with pytest.raises(ValueError, match="expected the text once, found it"):
        Fault("text", text, "", "a name").apply(source_of("text"))


def test_generated_faults_of_a_small_source():
    faults = faults_in("clip", SOURCE)
    assert {f.name for f in faults if not f.shown} == {
        'clip: validate.integer("low", low)  ->  pass'
    }
    assert {(f.old, f.new) for f in faults if f.shown} == CHANGED


def test_generated_faults_leave_messages_and_documentation_alone():
    for fault in faults_in("clip", SOURCE):
        wrong = fault.apply(SOURCE)
        for kept in ("Doc 1", "word 1", "Keep x", "is below {low + 1}"):
            assert kept in wrong


@pytest.mark.parametrize("module", taught_modules())
def test_generated_faults_of_the_library(module):
    faults = generated(module)
    source = source_of(module)
    results = {fault.apply(source) for fault in faults}
    assert len(results) == len(faults) > 20
    assert source not in results
    assert len({fault.name for fault in faults}) == len(faults)


def test_a_neighbour_in_an_einops_pattern_is_swapped():
    (swap, *_) = [
        fault.new
        for fault in faults_in("m", 'pattern = "n i d, n j d -> n i j"\n')
        if fault.new.endswith("n j i'")
    ]
    assert swap == "'n i d, n j d -> n j i'"


def verdict(notebooks="01_a, In [2]: 3 became 4", units="t.py::a", **fault):
    return Verdict(Fault("text", "a", "b", "c", **fault), notebooks, units)


def test_a_survivor_is_a_problem():
    assert not list(problems([verdict()]))
    assert list(problems([verdict(notebooks="")])) == [
        "SURVIVED notebooks\n    text: c"
    ]
    both = problems([verdict(notebooks="", units="")])
    assert list(both) == ["SURVIVED notebooks and unit tests\n    text: c"]
    assert not list(problems([verdict(notebooks="", shown=False)]))
    (hidden,) = problems([verdict(notebooks="", units="", shown=False)])
    assert hidden.startswith("SURVIVED unit tests\n")


def test_an_equivalent_fault_must_survive(monkeypatch):
    monkeypatch.setitem(EQUIVALENT, ("text", "c"), "a reason")
    survivor = verdict("", "", generated=True)
    assert not list(problems([survivor]))
    (noticed,) = problems([verdict("", generated=True)])
    assert noticed.startswith("NOT EQUIVALENT text: c\n    noticed by t.py")
    assert list(problems([verdict("", "")]))  # listed faults have no excuse
    others = [key for key in EQUIVALENT if key[0] == "text"]
    assert len(gone(["text"], [survivor])) == len(others) - 1
    assert len(gone(["text"], [])) == len(others)


def test_the_table_and_its_totals():
    assert row(verdict()).split() == [
        "text:",
        "c",
        "01",
        "In",
        "[2]",
        "t.py::a",
    ]
    assert row(verdict("", "")).split() == ["text:", "c", "-", "-"]
    assert list(totals([verdict(), verdict(notebooks="")])) == [
        "2 faults listed, 0 of them equivalent; noticed by notebooks "
        "1 of 2 (50.0 %), by unit tests 2 of 2 (100.0 %)"
    ]


def test_both_ways_say_survived_and_caught():
    """In a process of its own, because the harness forks."""
    script = """if True:
        import json
        from tools.faults.__main__ import NOTHING
        from tools.faults.fault import Fault
        from tools.faults.trial import verdicts
        scale = " / math.sqrt(q.shape[-1])"
        faults = [NOTHING, Fault("attention", scale, "", "no scale")]
        found = [(v.notebooks, v.units, v.survived) for v in verdicts(faults)]
        print(json.dumps(found))
    """
    session = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    nothing, no_scale = json.loads(session.stdout)
    assert nothing == ["", "", ["notebooks", "unit tests"]]
    notebook, test, survived = no_scale
    assert notebook.startswith("03_") and "In [" in notebook
    assert test.startswith("test_attention.py::") and not survived


def test_the_equivalent_faults_are_still_generated():
    known = {(m, f.name) for m in taught_modules() for f in generated(m)}
    assert EQUIVALENT.keys() <= known
