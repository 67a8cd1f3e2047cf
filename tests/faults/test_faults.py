"""The fault lists fit the library, and the harness can say both answers."""

import json
import subprocess
import sys

import pytest

from tools.faults import __main__ as command
from tools.faults.endless import ENDLESS
from tools.faults.equivalent import EQUIVALENT
from tools.faults.fault import (
    ROOT,
    Answer,
    Fault,
    Verdict,
    source_of,
    taught_modules,
)
from tools.faults.generate import faults_in, generated
from tools.faults.listed import LISTED, faulty_modules
from tools.faults.notebooks import SLOW, chapters_for, stored
from tools.faults.report import gone, problems, row, totals
from tools.faults.units import FirstFailure, files_for

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


def fits(fault):
    right = source_of(fault.module)
    try:
        wrong = fault.apply(right)
        compile(wrong, fault.module, "exec")
    except (ValueError, SyntaxError):
        return False
    return wrong != right


def test_listed_faults_fit_the_library():
    assert [fault for fault in LISTED if not fits(fault)] == []


def test_the_list_is_long_and_its_names_differ():
    assert len(LISTED) >= 30
    assert len({(f.module, f.name) for f in LISTED}) == len(LISTED)
    assert {f.module for f in LISTED} == set(faulty_modules())


@pytest.mark.slow
def test_a_module_that_no_chapter_shows_is_tried_if_it_is_listed(monkeypatch):
    taught = taught_modules()
    assert faulty_modules()[: len(taught)] == taught
    assert {"decoders", "dates", "checkpoints"} <= {*faulty_modules()}
    asked = []
    monkeypatch.setattr(
        command, "verdicts", lambda f, *_: asked.extend(f) or []
    )
    monkeypatch.setattr(command, "keep", lambda *_: [])
    monkeypatch.setattr(sys, "argv", ["faults", "--module", "decoders"])
    command.main()
    listed = [f for f in LISTED if f.module == "decoders"]
    assert asked == [*listed, *generated("decoders")] and listed


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


def test_generated_faults_leave_aliases_of_annotations_alone():
    alias = 'Mask = Bool[Tensor, "q_len k_len"] | None\n'
    assert faults_in("m", alias) == []
    assert faults_in("m", "mask = masks[1]\n")


@pytest.mark.parametrize("module", faulty_modules())
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


CELL = Answer("01_a, In [2]", "3 became 4")
TEST = Answer("t.py::a", "AssertionError")
NOBODY = Answer()


def verdict(notebooks=CELL, units=TEST, **fault):
    return Verdict(Fault("text", "a", "b", "c", **fault), notebooks, units)


def test_a_survivor_is_a_problem():
    assert not list(problems([verdict()]))
    assert list(problems([verdict(NOBODY)])) == [
        "SURVIVED notebooks\n    text: c"
    ]
    both = problems([verdict(NOBODY, NOBODY)])
    assert list(both) == ["SURVIVED notebooks and unit tests\n    text: c"]
    assert not list(problems([verdict(NOBODY, shown=False)]))
    (hidden,) = problems([verdict(NOBODY, NOBODY, shown=False)])
    assert hidden.startswith("SURVIVED unit tests\n")


def test_a_fault_that_was_not_tried_is_a_problem_and_was_not_noticed():
    died = Answer(untried="the process died")
    assert list(problems([verdict(died)])) == [
        "NOT TRIED by notebooks text: c\n    the process died"
    ]
    (line,) = totals([verdict(died, died)])
    assert "notebooks 0 of 1 (0.0%), by unit tests 0 of 1" in line
    assert line.endswith("; 1 not tried")


def test_an_equivalent_fault_must_survive(monkeypatch):
    monkeypatch.setitem(EQUIVALENT, ("text", "c"), "a reason")
    survivor = verdict(NOBODY, NOBODY, generated=True)
    assert not list(problems([survivor]))
    (noticed,) = problems([verdict(NOBODY, generated=True)])
    assert noticed.startswith("NOT EQUIVALENT text: c\n    noticed by t.py")
    assert list(
        problems([verdict(NOBODY, NOBODY)])
    )  # listed faults have no excuse
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
    assert row(verdict(NOBODY, NOBODY)).split() == ["text:", "c", "-", "-"]
    assert list(totals([verdict(), verdict(NOBODY)])) == [
        "2 faults listed, 0 of them equivalent; noticed by notebooks 1 of 2 "
        "(50.0%), by unit tests 2 of 2 (100.0%); 0 not tried"
    ]


def test_the_order_of_the_chapters():
    names = list(stored())
    assert set(SLOW) <= set(names)
    shown, *others = chapters_for("attention")
    assert shown.startswith("04_") and set(others) < set(names)
    assert others[-len(SLOW) :] == [n for n in others if n in SLOW]
    first = chapters_for("attention", f"{others[-1]}, In [3]")
    assert first == [others[-1], shown, *others[:-1]]
    assert not any(n.startswith("02_") for n in others)  # it cannot see it


def test_the_order_of_the_test_files():
    own, *others = files_for("attention")
    assert own == "test_attention.py" and "test_softmax.py" not in others
    assert others.index("test_heads.py") < others.index("test_decoder.py")


SCRIPT = """if True:
    import json
    from dataclasses import asdict, replace
    from functools import partial
    from tools.faults import notebooks, trial, units
    from tools.faults.fault import NOTHING, Fault
    from tools.faults.trial import (
        Task, answers, chapter_is_right, control, task_for, verdicts,
    )

    (chapter,) = (n for n in notebooks.stored() if n.startswith("04_"))
    for name in set(notebooks.stored()) - {chapter}:
        del notebooks.stored()[name]
    units.files_for = lambda module: ["test_attention.py"]

    def wrong(new, **options):
        old = " / math.sqrt(q.shape[-1])"
        return Fault("attention", old, new, new, **options)

    endless = " / sum(iter(int, 1))"
    unscaled, *_ = found = list(verdicts([wrong(""), NOTHING]))
    several = [
        replace(task_for(wrong(endless), "notebooks"), seconds=2),
        task_for(wrong(endless, loops=2), "notebooks"),
        task_for(wrong(endless, loops=2), "units"),
        task_for(wrong(" / __import__('os')._exit(3)"), "units"),
        task_for(wrong(""), "units", "test_masks.py::test_that_is_gone"),
    ]
    several = [asdict(a) for _, a in sorted(answers(several, 1))]
    units.files_for = lambda module: ["test_gone.py", "test_gone.py"]
    several += [asdict(a) for _, a in answers([task_for(NOTHING, "units")], 1)]
    first = partial(chapter_is_right, name=chapter, cells=30)
    renamed = Fault("softmax", "def softmax", "def soft_max", "renamed")
    several += [asdict(a) for _, a in answers([Task(renamed, first)], 1)]
    ways = [[asdict(v.notebooks), asdict(v.units)] for v in found]
    print(json.dumps([ways, several, control([unscaled])]))
"""


@pytest.fixture(scope="module")
def tried():
    """Faults tried on chapter 3 alone, in a process of its own: it forks."""
    session = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert session.returncode == 0, session.stderr
    return json.loads(session.stdout)


@pytest.mark.slow
def test_both_ways_say_survived_and_caught(tried):
    ((notebook, test), nothing), _, without = tried
    assert notebook["noticed"].startswith("04_")
    assert "In [" in notebook["noticed"] and notebook["why"]
    assert test["noticed"].startswith("test_attention.py::") and test["why"]
    for answer in nothing:
        assert not answer["noticed"] and not answer["untried"]
    assert without == []


@pytest.mark.slow
def test_what_does_not_end_is_noticed_only_where_it_is_expected(tried):
    _, (undeclared, cell, test, *_), _ = tried
    assert not undeclared["noticed"]
    assert "does not end within 2 seconds" in undeclared["untried"]
    for answer, place in ((cell, "04_"), (test, "test_attention.py::")):
        assert answer["noticed"].startswith(place)
        assert answer["why"] == "does not end" and not answer["untried"]


@pytest.mark.slow
def test_a_process_that_dies_has_noticed_nothing(tried):
    _, (*_, died, _, _, _), _ = tried
    assert not died["noticed"] and "the process died (3)" in died["untried"]


@pytest.mark.slow
def test_a_recorded_test_that_is_gone_does_not_matter(tried):
    _, (*_, gone, _, _), _ = tried
    assert gone["noticed"].startswith("test_attention.py::")


@pytest.mark.slow
def test_a_usage_error_of_pytest_is_not_a_catch(tried):
    _, (*_, usage, _), _ = tried
    assert not usage["noticed"] and "USAGE_ERROR" in usage["untried"]


@pytest.mark.slow
def test_the_control_would_notice_a_chapter_that_is_wrong(tried):
    _, (*_, chapter), _ = tried
    assert chapter["noticed"].startswith("04_")
    assert chapter["why"].startswith("ImportError: cannot import name")


def test_an_interrupt_that_no_test_expects_is_noticed(tmp_path, capsys):
    file = tmp_path / "test_stop.py"
    file.write_text("def test_it():\n    raise KeyboardInterrupt('enough')\n")
    failure = FirstFailure(lambda place: None)
    options = [f"--rootdir={tmp_path}", "-q", "-p", "no:xdist"]
    status = pytest.main([str(file), *options], plugins=[failure])
    assert status is pytest.ExitCode.INTERRUPTED
    assert failure.answer.noticed.endswith("test_stop.py::test_it")
    assert failure.answer.why == "KeyboardInterrupt: enough"


def test_the_equivalent_faults_are_still_generated():
    known = {(m, f.name) for m in faulty_modules() for f in generated(m)}
    assert EQUIVALENT.keys() | ENDLESS.keys() <= known


def test_a_generated_fault_may_be_declared_endless(monkeypatch):
    name = generated("softmax")[0].name
    monkeypatch.setitem(ENDLESS, ("softmax", name), 5)
    generated.cache_clear()
    assert [fault.loops for fault in generated("softmax")][:2] == [5, 0]
    generated.cache_clear()
