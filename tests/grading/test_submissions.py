"""Who handed in what, in the folders that teachers have."""

from pathlib import Path

import pytest

from tools.grading import roster, submissions
from tools.grading.key import key


def found(folder: Path, *names: str) -> dict[str, list[str]]:
    """The students of a folder with these files, and their files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    hers = {}
    for one in submissions.find(folder, key()):
        path = one.path.relative_to(folder).as_posix() if one.path else ""
        hers.setdefault(one.student, []).append(path)
    return hers


@pytest.mark.parametrize(
    "name, student",
    [
        ("alice/04_masks.ipynb", "alice"),
        ("alice/submission/masks/04_masks.ipynb", "alice"),
        ("alice/homework.ipynb", "alice"),
        ("alice_04_masks.ipynb", "alice"),
        ("04_masks_alice.ipynb", "alice"),
        ("04_masks-alice (2).ipynb", "alice"),
        ("04_masks/alice.ipynb", "alice"),
        ("04_masks/alice/04_masks.ipynb", "alice"),
        ("doealice_LATE_77_1234_04_masks-1.ipynb", "doealice_77"),
        ("doealice_77_1234_04_masks.ipynb", "doealice_77"),
        ("Alice Doe_123_assignsubmission_file_/04_masks.ipynb", "Alice Doe"),
        ("Alice Doe_123_assignsubmission_file/a/b.ipynb", "Alice Doe"),
    ],
)
def test_a_student_is_known_by_folder_or_file(tmp_path, name, student):
    assert found(tmp_path, name) == {student: [name]}


def test_all_notebooks_of_a_student_are_hers(tmp_path):
    names = ["alice/04_masks.ipynb", "alice/05_heads.ipynb"]
    assert found(tmp_path, *names, "bob/04_masks.ipynb") == {
        "alice": names,
        "bob": ["bob/04_masks.ipynb"],
    }


def test_what_systems_leave_behind_is_nobodys(tmp_path):
    names = [
        "__MACOSX/alice/04_masks.ipynb",
        ".ipynb_checkpoints/04_masks.ipynb",
        "alice/.ipynb_checkpoints/04_masks-checkpoint.ipynb",
        ".DS_Store",
    ]
    assert found(tmp_path, *names, "alice/04_masks.ipynb") == {
        "alice": ["alice/04_masks.ipynb"]
    }


def test_nobody_is_forgotten(tmp_path):
    (tmp_path / "nothing").mkdir()
    found(tmp_path, "pdf/04_masks.pdf", "note.txt")
    problems = {
        one.student: one.problem for one in submissions.find(tmp_path, key())
    }
    assert problems == {
        "nothing": "no notebook was handed in (the folder is empty)",
        "pdf": "no notebook was handed in (04_masks.pdf)",
        "note": "note.txt is no notebook",
    }


def test_two_of_the_same_name_stay_two(tmp_path):
    names = [f"Jo Doe_{n}_assignsubmission_file_" for n in (1, 2)]
    assert found(tmp_path, *(f"{n}/04_masks.ipynb" for n in names)) == {
        n: [f"{n}/04_masks.ipynb"] for n in names
    }


# The roster.


def read(folder: Path, text: str) -> roster.Roster:
    path = folder / "roster.csv"
    path.write_text(text, encoding="utf-8-sig")
    return roster.read(path)


def test_two_columns_are_enough(tmp_path):
    course = read(tmp_path, "student,variant\nalice,3\nbob,\n")
    assert course.find("alice").variant == 3
    assert course.find("ALICE").variant == 3
    assert course.find("bob").variant is None
    assert course.find("carol") is None


def test_what_canvas_exports_is_a_roster(tmp_path):
    course = read(
        tmp_path,
        "Student,ID,SIS User ID,SIS Login ID,Section,Chapter 4 (99)\n"
        "    Points Possible,,,,,12\n"
        '"Doe, Alice",77,S1,adoe,Group 1,\n'
        '"Roe, Bob",78,S2,broe,Group 1,\n',
    )
    assert [p.student for p in course.people] == ["Doe, Alice", "Roe, Bob"]
    for name in ("doealice", "77", "adoe", "S1", "Doe, Alice"):
        assert course.find(name).student == "Doe, Alice"
    assert course.find("Group 1") is None


def test_what_moodle_exports_is_a_roster(tmp_path):
    course = read(
        tmp_path,
        "First name;Last name;ID number;Email address\n"
        "Alice;Doe;s1;a@example.edu\n",
    )
    for name in ("Alice Doe", "s1", "a@example.edu"):
        assert course.find(name).student == "Alice Doe"


def test_two_of_the_same_name_in_the_roster_are_told_apart(tmp_path):
    course = read(tmp_path, "name,email\nJo Doe,a@x.edu\nJo Doe,b@x.edu\n")
    assert [p.student for p in course.people] == [
        "Jo Doe (a@x.edu)",
        "Jo Doe (b@x.edu)",
    ]
    assert course.find("Jo Doe") is None, "nobody knows which"
    assert course.find("b@x.edu").student == "Jo Doe (b@x.edu)"


@pytest.mark.parametrize(
    "text, why",
    [
        ("colour\nred\n", "no column names the students"),
        ("", "no column names the students"),
        ("student,variant\nalice,three\n", "'three', not a number"),
    ],
)
def test_a_roster_that_is_none_is_refused(tmp_path, text, why):
    with pytest.raises(roster.RosterError, match=why):
        read(tmp_path, text)


def test_a_roster_that_is_not_there_is_named(tmp_path):
    with pytest.raises(roster.RosterError, match="missing.csv"):
        roster.read(tmp_path / "missing.csv")
