"""What is run for an answer, and what makes it another one."""

import ast

import pytest

from tests.grading.handed_in import chapter, handed_in, solutions
from tools.grading import attempts, notebook

RIGHT = solutions("window_mask")["window_mask"]


def attempt(source=RIGHT, name="window_mask", variant=0, seed=1, **more):
    raw = handed_in({name: source}, **more)
    cells = [notebook.cell(cell) for cell in raw["cells"]]
    answer = notebook.answer_to(name, cells, chapter())
    task = chapter().tasks[name]
    return attempts.attempt_of(task, answer, cells, chapter(), variant, seed)


def test_only_what_an_answer_needs_is_run():
    found = attempt()
    assert found.own == (RIGHT,)
    assert any("import torch" in cell for cell in found.chapter)
    everything = notebook.code(
        [notebook.cell(cell) for cell in handed_in()["cells"]]
    )
    assert len(found.chapter) < len(everything) / 4


def test_a_students_own_function_goes_before_the_answer():
    source = "def window_mask(length, width):\n    return mine(length)"
    helper = "def mine(length):\n    return causal_mask(length)"
    found = attempt(source, first=["noise = 1", helper])
    assert found.own == (helper, source)
    assert any("def causal_mask" in cell for cell in found.chapter)


def test_a_students_own_import_is_run():
    source = "def window_mask(length, width):\n    return np.eye(3)"
    found = attempt(source, last=["import numpy as np"])
    assert found.own == ("import numpy as np", source)


def test_a_helper_is_run_as_it_was_written():
    """Its magic is left out only where names are looked for."""
    source = "def window_mask(length, width):\n    return mine"
    helper = "%matplotlib inline\nmine = 1"
    assert attempt(source, first=[helper]).own == (helper, source)


def test_names_that_a_star_may_give_are_looked_for():
    source = "def window_mask(length, width):\n    return sqrt(length)"
    found = attempt(source, first=["from math import *", "noise = 2"])
    assert found.own == ("from math import *", source)


@pytest.mark.parametrize(
    "home, which",
    [("kit", "window_mask"), ("lib", "4.1")],  # as it was in 2026
)
def test_a_check_needs_no_cell_of_the_students(home, which):
    call = f'from {home}.exercises import check\ncheck("{which}", window_mask)'
    other = f"slow = 1\n{call}"
    found = attempt(f"{RIGHT}\n{call}", last=[other])
    assert found.own == (f"{RIGHT}\n{call}",)
    assert attempts.suspicions(found.own) == []


def test_no_solution_is_ever_run():
    for name, task in chapter().tasks.items():
        found = attempt(task.solution, name)
        others = [t for t in chapter().tasks.values() if t is not task]
        for cell in found.chapter:
            assert "BEGIN SOLUTION" not in cell
            assert all(other.solution not in cell for other in others)


def test_the_check_is_the_books():
    call = 'check("window_mask", window_mask'
    cells = f"from kit.exercises import check\n{call}"
    assert attempt(variant=3, seed=17).check == (
        f"{cells.replace(chr(34), chr(39))}, variant=3, seed=17)"
    )


def test_what_is_no_python_is_tried_nevertheless():
    """The sandbox says best what is wrong with it."""
    assert attempt("def window_mask(:").own == ("def window_mask(:",)


def test_a_fingerprint_changes_with_all_that_counts(monkeypatch):
    same = attempt().fingerprint()
    assert attempt().fingerprint() == same
    others = [
        attempt(RIGHT + "\n# other"),
        attempt(variant=1),
        attempt(seed=2),
        attempt(first=["import torch as torch"]),
    ]
    found = {same, *(other.fingerprint() for other in others)}
    assert len(found) == 1 + len(others)
    monkeypatch.setattr(attempts, "library_digest", lambda: "changed")
    assert attempt().fingerprint() not in found


def test_the_digest_is_of_the_library_and_of_what_runs_answers(tmp_path):
    lib = tmp_path / "book" / "lib"
    lib.mkdir(parents=True)
    (lib / "a.py").write_text("x = 1")
    before = attempts.library_digest(tmp_path)
    attempts.library_digest.cache_clear()
    (lib / "a.py").write_text("x = 2")
    assert attempts.library_digest(tmp_path) != before


@pytest.mark.parametrize(
    "source, signs",
    [
        ("import os.path", ["os.path"]),
        (
            "import ctypes, gc, inspect, signal, socket, subprocess, sys",
            "ctypes gc inspect signal socket subprocess sys".split(),
        ),
        (
            "from kit.exercises.chapter_04 import x",
            ["kit.exercises.chapter_04"],
        ),
        ("from kit.exercises import Wrong", ["kit.exercises"]),
        ("eval('1'); open('x')", ["eval", "open"]),
        ("f.__code__", ["__code__"]),
        ("class T:\n    def __eq__(self, x): 0", ["__eq__"]),
        ("torch.equal = f", ["sets torch.equal"]),
        ("F.softmax = f", ["sets F.softmax"]),
        ("model.eval(); x.mask = 1; self.lib = 2", []),
        ("import math\nfrom torch import nn", []),
        ("def (", []),
    ],
)
def test_what_an_honest_answer_hardly_needs_is_named(source, signs):
    assert attempts.suspicions((source,)) == signs


def test_what_the_book_says_itself_is_not_suspicious():
    imports = "from pathlib import Path\nimport math\nimport gc"
    books = {ast.dump(n) for n in ast.parse(imports).body[:1]}
    assert attempts.suspicions((imports,), books) == ["gc"]
    call = 'from kit.exercises import check\ncheck("4.1", window_mask)'
    assert attempts.suspicions((f"{RIGHT}\n{call}",)) == []


def test_no_solution_of_the_book_is_suspicious():
    for task in chapter().tasks.values():
        assert attempts.suspicions((task.solution,)) == []
