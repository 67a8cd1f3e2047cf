"""Every exercise refuses the wrong answers that stand for a misconception.

A chapter is run once, in this process. At each exercise the wrong answers are
tried on a copy of what the page has defined, before the right one.
"""

import contextlib
import copy
import importlib
import io
import warnings

import matplotlib.pyplot as plt
import pytest
import torch
from nbformat.v4 import new_code_cell

from tools import cells, sync
from tools.taught import ROOT, chapters

FEWEST = 5  # for an exercise


def wrong_answers(path) -> dict[str, dict[str, str]]:
    name = f"tests.notebooks.wrong_answers.chapter_{path.name[:2]}"
    return importlib.import_module(name).WRONG


def graded(page: list) -> dict[str, str]:
    """The text of each check cell by the exercise's grade_id."""
    return {
        cell.metadata["nbgrader"]["grade_id"].removesuffix("-check"): cell
        for cell in page
        if cells.is_exercise(cell) and cell.metadata["nbgrader"]["grade"]
    }


def run(source: str, names: dict) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "cell", "exec"), names)


def refused(answer: str, check: str, names: dict) -> str:
    """How an answer fails a check; empty if it passes.

    Code that is no answer at all (a syntax error, a name that nobody
    defined) raises here.
    """
    tried = copied(names)
    state = torch.get_rng_state()
    try:
        run(answer, tried)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(check, tried)
    except (NameError, SyntaxError):
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        torch.set_rng_state(state)
    return ""


def copied(value):
    """A page's names, or one value; answers may write into the copy."""
    if isinstance(value, dict):
        return {
            name: part if name == "__builtins__" else copied(part)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [copied(part) for part in value]
    if isinstance(value, torch.Tensor) and not value.is_leaf:
        return value.clone()  # deepcopy takes leaves of a graph only
    if isinstance(value, torch.Tensor | torch.nn.Module):
        return copy.deepcopy(value)
    return value


def passes(page: list, wrong: dict[str, dict[str, str]]) -> list[str]:
    """The wrong answers that no check refuses."""
    names, accepted, checks = {"__name__": "__main__"}, [], graded(page)
    for cell in page:
        if cell.cell_type != "code" or "colab" in cell.metadata.get(
            "tags", []
        ):
            continue
        grader = cell.metadata.get("nbgrader", {})
        if grader.get("solution"):
            name = grader["grade_id"]
            for misconception, answer in wrong.get(name, {}).items():
                if not refused(answer, checks[name].source, names):
                    accepted.append(f"{name}: {misconception}")
        run(cell.source, names)
    return accepted


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_an_exercise_refuses_misconceptions(path, monkeypatch):
    monkeypatch.chdir(ROOT / "book")
    monkeypatch.syspath_prepend(str(ROOT / "book"))
    page, wrong = sync.read(path).cells, wrong_answers(path)
    few = [n for n in graded(page) if len(wrong.get(n, {})) < FEWEST]
    assert not few, f"fewer than {FEWEST} wrong answers: {few}"
    unknown = wrong.keys() - graded(page).keys()
    assert not unknown, f"no such exercise: {unknown}"
    try:
        accepted = passes(page, wrong)
    finally:
        plt.close("all")
        torch.set_deterministic_debug_mode("default")
        torch.set_printoptions(profile="default")
    assert not accepted, "\n".join(["these pass:", *accepted])


# The test itself.

DOUBLE = {"grade_id": "double", "solution": True, "grade": False}


def exercise(check):
    right = "def double(x):\n    return 2 * x"
    grader = {"grade_id": "double-check", "solution": False, "grade": True}
    return [
        new_code_cell("values = [3]"),
        new_code_cell(right, metadata={"nbgrader": DOUBLE}),
        new_code_cell(check, metadata={"nbgrader": grader}),
    ]


WRONG = {"double": {"squares": "def double(x):\n    return x * x"}}


def test_a_weak_check_is_found():
    assert passes(exercise("assert double(2) == 4"), WRONG) == [
        "double: squares"
    ]
    assert passes(exercise("assert double(3) == 6"), WRONG) == []


def test_an_answer_cannot_spoil_the_page():
    spoils = "def double(x):\n    values.clear()\n    return 0"
    check = "assert double(2) == 4 and values == [3]"
    assert passes(exercise(check), {"double": {"clears": spoils}}) == []


@pytest.mark.parametrize("broken", ["def double(x) return", "doubel(2)"])
def test_what_is_no_answer_is_not_refused(broken):
    with pytest.raises((SyntaxError, NameError)):
        passes(
            exercise("assert double(2) == 4"),
            {"double": {"slip": f"def double(x):\n    return 1\n{broken}"}},
        )
