"""The teacher's pages say what the notebooks and the checks say."""

import json
import re

import pytest
import yaml

from book._ext.book_site.pages import made
from book._ext.book_site.source.chapters import chapters
from tools.exercises import mutants, teaching
from tools.exercises import tasks as exercises
from tools.source.taught import ROOT

FOLDER = ROOT / "book" / "teach"
BOOK = chapters(ROOT)
GUIDE = (
    "Goals",
    "On the board",
    "Where students get stuck",
    "To discuss",
    "Projects",
)
WORDS = (300, 800)
WHOLE = ("week", "month", "semester")  # another edition may add shorter ones


COURSES = yaml.safe_load((FOLDER / "schedules.yml").read_text("utf-8"))
WRITTEN = json.loads((FOLDER / "exercises.json").read_text("utf-8"))


def test_the_data_of_the_pages_are_those_of_the_notebooks(pytestconfig):
    every = 50 if pytestconfig.getoption("quick") else 1
    tasks, record = exercises.tasks(), mutants.read()
    entries = [teaching.entry(task, record) for task in tasks[::every]]
    assert entries == WRITTEN[::every], "run `make kill-rates`"
    assert len(WRITTEN) == len(tasks)


@pytest.mark.parametrize("name", WHOLE)
def test_a_course_reads_every_chapter_once(name):
    read = [n for s in COURSES[name] for n in s.get("chapters", [])]
    assert read == [chapter.number for chapter in BOOK]


@pytest.mark.parametrize("course", COURSES.values(), ids=list(COURSES))
def test_exercises_of_a_course_come_after_their_chapter(course):
    number = {task.name: task.chapter for task in exercises.tasks()}
    read, done = set(), []
    for session in course:
        read |= set(session.get("chapters", []))
        for name in session.get("exercises", []):
            assert number[name] in read, name
            done.append(name)
    assert len(done) == len(set(done))


@pytest.mark.parametrize("chapter", BOOK, ids=lambda c: str(c.number))
def test_a_chapter_has_a_page_for_its_teacher(chapter):
    name = f"chapter_{chapter.number:02}"
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# Teaching chapter {chapter.number}: ")
    assert re.findall(r"^## (.+)$", text, re.M) == [*GUIDE, "The exercises"]
    assert f"```{{exercises}} {chapter.number}\n```" in text
    few, many = WORDS
    assert few <= len(text.split()) <= many


# What the pages are made of.

EXERCISE = next(e for e in WRITTEN if e["name"] == "window_mask") | {
    "mistakes": {"x_1 is *all*": "Look at `m[0]`."},
    "mutants": 16,
    "equivalent": 1,
}


def test_minutes_points_and_mutants_are_counted():
    text = made.text("exercises", exercises=[EXERCISE])
    assert text.startswith("1 exercise, about 10 minutes, 1 point.")
    assert "**4.1 A window** (10 minutes · easy · variants · 1 point)" in text
    assert "1 typical mistake; 15 of 16 mutants noticed, 1 right too" in text
    assert r"- **x\_1 is \*all\***: Look at \`m\[0\]\`." in text
    other = EXERCISE | {"mutants": 9, "equivalent": 0}
    text = made.text("kill-rates", exercises=[EXERCISE, other])
    assert "24 mutants noticed of 25. Of the other 1" in text
    assert "| 4.1 A window | 1 | 9 of 9 |  |" in text
    session = {"when": "Monday", "class": "Draw.", "home": "rest"}
    session |= {"chapters": [4, 5], "exercises": ["window_mask"]}
    sessions = made.sessions([session], BOOK, [EXERCISE])
    text = made.text("schedule", sessions=sessions)
    minutes = sum(c.minutes for c in BOOK if c.number in (4, 5))
    assert f"read {minutes} minutes: [4. Masks](../04_masks.ipynb)" in text
    assert "exercise 4.1 (10 minutes, 1 point); rest |" in text
