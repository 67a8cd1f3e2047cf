"""What the teacher's pages say of the exercises, as data.

`python -m tools.exercises.teaching` writes `book/teach/exercises.json`: each
exercise with its minutes and points, the typical mistakes with the hint that
each gets, and how many mutants of the solution the check notices. The pages
are built from it, where there is no PyTorch.
"""

import importlib
import json
import re
import warnings
from pathlib import Path

from tools.exercises import mutants
from tools.exercises.tasks import Task, outcome, tasks
from tools.source.taught import ROOT

PAGE = Path("book", "teach", "exercises.json")
SEED = re.compile(r" \(seed=\d+\)\Z")


def wrong_module(chapter: int):
    """Where the wrong answers to the exercises of a chapter stand."""
    return importlib.import_module(f"book.teach.mistakes.chapter_{chapter:02}")


def wrong_answers(task: Task) -> dict[str, tuple[str, str]]:
    """The hint and the text of each wrong answer, by its misconception.

    Raises:
        ValueError: a text that is to be changed is not once in the solution.
    """
    answers = {}
    known = wrong_module(task.chapter).WRONG[task.name]
    for name, (hint, answer) in known.items():
        if isinstance(answer, dict):
            changes, answer = answer, task.solution
            for old, new in changes.items():
                if answer.count(old) != 1:
                    raise ValueError(f"{task.name}: {name}: {old!r}")
                answer = answer.replace(old, new)
        answers[name] = hint, answer
    return answers


def hint_for(task: Task, answer: str) -> str:
    """The hint that a wrong answer gets, without the inputs' seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hint = outcome(task, answer, seed=0).hint
    hint = SEED.sub("", hint).removeprefix("not yet. ")
    return hint[:1].upper() + hint[1:]


def entry(task: Task, record: dict[str, dict]) -> dict:
    """All that is said of an exercise."""
    tried = record.get(task.name, {"mutants": 0, "survivors": []})
    return {
        "number": task.number,
        "name": task.name,
        "title": task.title,
        "minutes": task.minutes,
        "difficulty": task.difficulty,
        "transfer": bool(task.effort["transfer"]),
        "points": task.points,
        "variants": "data-given" in task.text or "  # given" in task.answer,
        "mistakes": {
            name: hint_for(task, code)
            for name, (_, code) in wrong_answers(task).items()
        },
        "mutants": tried["mutants"],
        "equivalent": len(tried["survivors"]),
    }


def text() -> str:
    """What the file is to hold."""
    record = mutants.read()
    entries = [entry(task, record) for task in tasks()]
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (ROOT / PAGE).write_text(text(), encoding="utf-8")
    print(f"{PAGE}: written")
