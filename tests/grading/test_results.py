"""What is remembered of a run, and what is believed of a sandbox."""

import json

import pytest

from tools.grading.results import Result, Results, one_line, understood

LIMITS = {"cpu": 1}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.jsonl"


def test_results_are_there_in_the_next_run(path):
    results = Results(path, LIMITS)
    right = Result("right", 1.0, "", 0.25, ("a note",))
    results.add("a", right)
    results.add("b", Result("wrong", 0.5, "half"))
    assert Results(path, LIMITS).known == results.known
    assert Results(path, LIMITS).known["a"] == right


@pytest.mark.parametrize(
    "left",
    ['{"fingerprint": "b", "sta', "", "\n", "[1]", '{"state": "right"}'],
)
def test_a_line_that_broke_off_is_no_result(path, left):
    Results(path, LIMITS).add("a", Result("right", 1.0))
    with path.open("a") as file:
        file.write(left)
    results = Results(path, LIMITS)
    assert results.known.keys() == {"a"}
    results.add("c", Result("right", 1.0))
    assert Results(path, LIMITS).known.keys() == {"a", "c"}


def test_what_came_to_its_limits_is_tried_again_under_others(path):
    results = Results(path, LIMITS)
    results.add("a", Result("ended", hint="too slow"))
    results.add("b", Result("right", 1.0))
    assert Results(path, LIMITS).known.keys() == {"a", "b"}
    assert Results(path, {"cpu": 2}).known.keys() == {"b"}


def test_what_was_not_graded_is_tried_again(path):
    results = Results(path, LIMITS)
    results.add("a", Result("not graded", hint="the sandbox ended"))
    assert "a" in results.known
    assert not path.exists()


@pytest.mark.parametrize(
    "said, state, share",
    [
        ({"state": "right", "share": 1.0}, "right", 1.0),
        ({"state": "right", "share": 99}, "right", 1.0),
        ({"state": "wrong", "share": 0.5}, "wrong", 0.5),
        ({"state": "wrong", "share": 1.0}, "wrong", 0.99),
        ({"state": "wrong", "share": -1}, "wrong", 0.0),
        ({"state": "wrong", "share": "1"}, "wrong", 0.0),
        ({"state": "wrong", "share": float("nan")}, "wrong", 0.0),
        ({"state": "stopped", "share": 1.0}, "stopped", 0.0),
        ({"state": "broken", "hint": "x"}, "not graded", 0.0),
        ({"state": "best"}, "tampered", 0.0),
        ({"state": ["right"]}, "tampered", 0.0),
        ({}, "tampered", 0.0),
    ],
)
def test_what_a_sandbox_says_is_measured(said, state, share):
    found = understood(said)
    assert (found.state, found.share) == (state, share)


def test_what_a_sandbox_says_is_cut_to_a_line():
    found = understood({
        "state": "wrong",
        "hint": "one\ntwo\x1b[31m\x00" + "x" * 10_000,
        "notes": ["a\nb"] * 1000 + [7],
        "seconds": "long",
    })  # fmt: skip
    assert found.hint.startswith("one two\ufffd[31m\ufffdx")
    assert len(found.hint) == 300
    assert found.notes == ("a b",) * 10
    assert found.seconds == 0.0
    assert json.dumps(understood({"state": "wrong", "notes": 3}).notes)


def test_half_a_character_is_a_character():
    one_line("\ud800").encode("utf-8")
