"""The book's own answers earn all points in the sandbox, and no suspicion."""

import pytest

from tools.grading import attempts, notebook, sandbox
from tools.grading.key import key


@pytest.fixture(scope="module")
def box(bubblewrap):
    with sandbox.Sandbox(sandbox.Limits(), sandbox.hidden_places()) as box:
        yield box


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name != "04_masks"))
        for name in key()
    ],
)
def test_the_books_own_answers_are_right(box, name):
    chapter = key()[name]
    page = [
        notebook.Cell("code", task.solution, name)
        for name, task in chapter.tasks.items()
    ]
    for name, task in chapter.tasks.items():
        answer = notebook.answer_to(name, page, chapter)
        attempt = attempts.attempt_of(task, answer, page, chapter, 0, 1)
        assert not attempts.suspicions(attempt.own), task
        if box.process is None:
            box.start()
        found = box.attempt(attempt.job())
        assert found["state"] == "right", (task, found)
        assert found["notes"] == [], task


def test_what_was_to_be_written_otherwise_is_noted_and_costs_nothing(box):
    chapter, name = key()["03_scoring_with_einsum"], "bilinear_scores"
    task = chapter.tasks[name]
    source = f"def {name}(q, W, k):\n    return q @ W @ k.T"
    page = [notebook.Cell("code", source, name)]
    answer = notebook.answer_to(name, page, chapter)
    attempt = attempts.attempt_of(task, answer, page, chapter, 0, 1)
    if box.process is None:
        box.start()
    found = box.attempt(attempt.job())
    assert found["state"] == "right"
    remark = "ask: Can one torch.einsum have all three factors?"
    assert found["notes"] == [remark]
