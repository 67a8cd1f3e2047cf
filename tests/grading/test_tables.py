"""The tables that are opened, and those that are imported elsewhere."""

import csv
from xml.etree import ElementTree

import pytest

from tests.grading.graded import EVIL, RIGHT, book, row, some
from tests.grading.handed_in import chapter
from tools.grading import roster, tables
from tools.grading.results import Result

POINTS = [task.points for task in chapter().tasks.values()]


def written(write, grades, tmp_path) -> list[list[str]]:
    path = tmp_path / "table.csv"
    write(grades, path)
    assert not path.with_suffix(".part").exists()
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def people(tmp_path, text: str) -> roster.Roster:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return roster.read(path)


def test_grades_have_a_row_for_each_submission_and_exercise(tmp_path):
    header, *rows = written(tables.write_grades, book(some()), tmp_path)
    assert header == (
        "student chapter exercise points of hint seconds notes file".split()
    )
    assert len(rows) == len(some())
    exercise = "4.1 window_mask"
    assert rows[0][:5] == ["alice", "04_masks", exercise, "1", "1"]
    half = f"{POINTS[1] / 2:g}"
    assert rows[1][3:6] == [half, str(POINTS[1]), "half (seed=1)"]
    said = "tampered with: look by hand (it wrote)"
    assert rows[3][3:8] == ["0", str(POINTS[1]), said, "", "replaced x"]
    assert rows[5][3] == "", "what could not be graded has no points"
    assert rows[5][5] == "could not be graded (the sandbox ended)"
    assert rows[6][5] == rows[7][5] == "no valid JSON"
    assert rows[8] == [
        "dave", "", "", "", "", "empty", "", "", "dave/x.ipynb"
    ]  # fmt: skip


def test_no_cell_is_a_formula(tmp_path):
    rows = [row("=cmd|'/c calc'!A1", 1, Result("wrong", 0.0, "@SUM(1)"))]
    _, found = written(tables.write_grades, book(rows), tmp_path)
    assert found[0].startswith("'=") and found[5].startswith("'@")
    for value in ("=1", "+1", "-1", "@x", "\t=1"):
        assert tables.harmless(value) == f"'{value}"
    assert tables.harmless("a=1") == "a=1"


def test_students_have_a_row_each(tmp_path):
    grades = book(some(), people(tmp_path, "student\nbob\nfrida\n"))
    header, *rows = written(tables.write_students, grades, tmp_path)
    numbers = [task.number for task in chapter().tasks.values()]
    assert header == ["student", "total", "of", "04_masks", *numbers, "notes"]
    by_name = {found[0]: found for found in rows}
    assert list(by_name) == [
        "bob",
        "frida",
        "alice",
        "'=carol",
        "erin",
        "dave",
    ]
    total = f"{1 + POINTS[1] / 2:g}"
    assert by_name["alice"][1:6] == [
        total, str(sum(POINTS)), total, "1", f"{POINTS[1] / 2:g}"
    ]  # fmt: skip
    assert by_name["frida"][-1] == "nothing was handed in"
    assert by_name["frida"][3] == ""
    assert by_name["erin"][-1] == "no valid JSON"
    assert by_name["bob"][-1] == "1 to look at by hand"
    assert by_name["dave"][-1] == "empty"


def test_of_two_notebooks_the_better_answers_count(tmp_path):
    second = row("alice", 1, RIGHT)
    second.file = "alice/again.ipynb"
    rows = [row("alice", 1, Result("wrong", 0.0, "no")), second]
    grades = book([*rows, row("alice", 2, RIGHT)])
    assert grades.total("alice") == POINTS[0] + POINTS[1]
    assert "2 notebooks of 04_masks" in grades.notes("alice")[0]


def test_what_canvas_gave_goes_back_to_canvas(tmp_path):
    """Its importer wants these columns first, and knows the assignment."""
    known = people(
        tmp_path,
        "Student,ID,SIS User ID,SIS Login ID,Section,Chapter 4 (99),"
        "Chapter 4 Current Score\n"
        "Points Possible,,,,,12,(read only)\n"
        '"Doe, Alice",77,S1,alice,Group 1,,\n'
        '"Roe, Bob",78,,broe,Group 1,,\n',
    )
    rows = some()[:2]
    for one in rows:
        one.student = known.find("alice").student
    header, points, alice, bob = written(
        tables.write_canvas, book(rows, known), tmp_path
    )
    assert header == [*tables.CANVAS, "Chapter 4 (99)"]
    assert points[0].strip() == "Points Possible"
    assert points[-1] == str(sum(POINTS))
    total = f"{1 + POINTS[1] / 2:g}"
    assert alice == ["Doe, Alice", "77", "S1", "alice", "Group 1", total]
    assert bob == ["Roe, Bob", "78", "", "broe", "Group 1", ""]


def test_without_a_roster_canvas_gets_names_and_a_new_assignment(tmp_path):
    grades = book([row("alice", 1, RIGHT)])
    header, _, alice = written(tables.write_canvas, grades, tmp_path)
    assert header[-1] == "Chapter 4: Masks"
    assert alice == ["alice", "", "", "", "", "1"]


def test_a_file_for_another_system_begins_with_its_header(tmp_path):
    grades = book([row("alice", 1, RIGHT)])
    for write in (tables.write_canvas, tables.write_moodle):
        path = tmp_path / "table.csv"
        write(grades, path)
        assert path.read_bytes()[:1] in (b"S", b"F"), "no byte order mark"


@pytest.fixture
def moodle(tmp_path):
    return people(
        tmp_path,
        "First name,Last name,ID number,Email address\n"
        "Alice,Doe,s1,alice@x.edu\nBob,Roe,,bob@x.edu\n",
    )


def test_moodle_gets_points_and_feedback(tmp_path, moodle):
    """Feedback without points would delete points there."""
    rows = some()[:4]
    for one in rows:
        one.student = {"alice": "Alice Doe", "bob": "Bob Roe"}[one.student]
    grades = book(rows, moodle)
    header, alice, bob = written(tables.write_moodle, grades, tmp_path)
    title = "Chapter 4: Masks"
    assert header == [*tables.MOODLE, title, f"{title} (feedback)"]
    assert alice[:4] == ["Alice", "Doe", "s1", "alice@x.edu"]
    assert alice[5].startswith("4.1: 1 of 1; 4.2: ")
    assert bob[4] == "0" and EVIL in bob[5]


def test_moodles_xml_names_only_whom_moodle_knows(tmp_path, moodle):
    rows = some()[:4]
    for one in rows:
        one.student = {"alice": "Alice Doe", "bob": "Bob Roe"}[one.student]
    path = tmp_path / "moodle.xml"
    tables.write_moodle_xml(book(rows, moodle), path)
    (result,) = ElementTree.parse(path).getroot()
    total = f"{1 + POINTS[1] / 2:g}"
    assert {part.tag: part.text for part in result} == {
        "state": "new",
        "assignment": "04_masks",
        "student": "s1",
        "score": total,
        "feedback": result.find("feedback").text,
    }
    tables.write_moodle_xml(book(rows), path)
    results = ElementTree.parse(path).getroot()
    assert [r.findtext("student") for r in results] == ["Alice Doe", "Bob Roe"]
    assert EVIL in results[1].findtext("feedback")
