"""What is an answer in a notebook, and what belongs to it."""

import json
from pathlib import Path

import pytest

from tests.grading.handed_in import (
    NAME,
    chapter,
    code,
    handed_in,
    save,
    solutions,
)
from tools.grading import notebook
from tools.grading.grading import asked
from tools.grading.key import key, meaning, plain, selected

RIGHT = solutions("window_mask")["window_mask"]


def cells(raw: dict) -> list[notebook.Cell]:
    return [notebook.cell(cell) for cell in raw["cells"]]


def answer(raw: dict, name: str = "window_mask"):
    return notebook.answer_to(name, cells(raw), chapter())


def without_metadata(raw: dict) -> dict:
    for cell in raw["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    return raw


def test_an_answer_is_known_by_its_grade_id():
    found = answer(handed_in({"window_mask": RIGHT}))
    assert found.source == RIGHT and not found.notes


def test_an_answer_is_known_by_its_name_where_metadata_are_lost():
    found = answer(without_metadata(handed_in({"window_mask": RIGHT})))
    assert found.source == RIGHT
    assert found.notes == ("recognised by the name that it defines",)


def test_metadata_that_are_another_cells_do_not_matter():
    raw = handed_in({"window_mask": RIGHT})
    for cell in raw["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["grade_id"] = "cell-1"
    assert answer(raw).source == RIGHT


def test_an_answer_may_stand_in_a_cell_below_the_stub():
    assert answer(handed_in(last=[RIGHT])).source == RIGHT


def test_an_answer_that_only_binds_the_name_is_one():
    text = "window_mask = lambda length, width: None"
    assert answer(handed_in(last=[text])).source == text


def test_of_two_answers_the_last_counts():
    first = "def window_mask(length, width):\n    return 1"
    found = answer(handed_in({"window_mask": first}, last=[RIGHT]))
    assert found.source == RIGHT
    assert "2 cells answer it: the last one counts" in found.notes


def test_a_stub_is_one_with_other_comments_and_other_numbers():
    stub = answer(handed_in()).source
    assert notebook.is_stub(stub, chapter())
    assert notebook.is_stub(f"# mine\n\n{stub}\n# later", chapter())
    line = "length, width = {}  # given\n"
    assert meaning(line.format("7, 3")) != meaning(line.format("9, 2"))
    assert not notebook.is_stub(RIGHT, chapter())


CALL = 'check("window_mask", window_mask)'
CHECK = f"from kit.exercises import check\n\n{CALL}"


def test_a_call_of_the_check_in_the_answer_is_no_part_of_it():
    found = answer(handed_in({"window_mask": f"{RIGHT}\n\n{CHECK}"}))
    assert found.source.startswith(RIGHT)
    assert notebook.is_stub(
        f"{answer(handed_in()).source}\n{CHECK}", chapter()
    )


def test_an_answer_may_stand_in_the_check_cell():
    raw = handed_in()
    for cell in raw["cells"]:
        if text(cell) == CHECK:
            cell["source"] = f"{RIGHT}\n\n{CHECK}"
    assert answer(raw).source.startswith(RIGHT)


def test_a_check_alone_is_nobodys_answer():
    raw = handed_in({"window_mask": RIGHT}, last=[CHECK, "# later", " \n"])
    found = notebook.code(cells(raw))
    assert not [cell for _, cell in found if "check(" in cell.source]
    assert answer(raw).source == RIGHT


def test_an_answer_under_a_magic_counts():
    source = f"%%time\n{RIGHT}\n%timeit window_mask(5, 2)"
    assert answer(handed_in(last=[source])).source == source


def test_what_a_student_adds_to_the_first_cell_is_hers():
    raw = handed_in({"window_mask": RIGHT})
    (first,) = (
        c for c in raw["cells"] if "colab" in c["metadata"].get("tags", [])
    )
    more = "\nneeded = []\nscale = 3\nsys.path[0] = ''\nprint(scale)\n"
    first["source"] = "import math\n" + text(first) + more
    own = notebook.helpers(answer(raw), cells(raw), chapter())
    assert own == ["import math\nscale = 3"]


def test_all_names_of_a_notebook():
    last = ["%time late = 1", "from math import *", "broken = (", "f(unbound)"]
    names = notebook.named(cells(handed_in(last=last)))
    assert {"late", "*", "broken", "window_mask"} <= names
    assert "unbound" not in names


def test_an_answer_that_was_deleted_is_missing():
    raw = handed_in()
    raw["cells"] = [c for c in raw["cells"] if "window_mask" not in text(c)]
    assert answer(raw) is None


def text(cell: dict) -> str:
    return "".join(cell["source"])


def test_helpers_are_what_the_book_did_not_write():
    raw = handed_in(
        {"window_mask": RIGHT}, first=["size = 1"], last=["size = 2", "1 +"]
    )
    found = answer(raw)
    own = notebook.helpers(found, cells(raw), chapter())
    assert own == ["size = 2", "size = 1"], "those before the answer win"


def test_the_books_own_cells_are_no_helpers_when_laid_out_anew():
    raw = without_metadata(handed_in({"window_mask": RIGHT}))
    for cell in raw["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = text(cell) + "\n\n# tidied\n"
    found = answer(raw)
    assert notebook.helpers(found, cells(raw), chapter()) == []


def test_another_answer_may_be_a_helper():
    other = solutions("packed_mask")["packed_mask"]
    raw = handed_in({"window_mask": RIGHT, "packed_mask": other})
    own = notebook.helpers(answer(raw), cells(raw), chapter())
    assert own == [other]


# Which chapter it is.


def chapter_of(path: str, raw: dict):
    found, note = notebook.chapter_of(Path(path), cells(raw), key())
    return (found.name if found else None), note


@pytest.mark.parametrize(
    "source",
    [
        f"### Exercise {'1' * 5000}.1 · x",
        f"check('{'1' * 5000}.1', f)",
        f"check('4.1', f, variant={'1' * 4000})",
        "check('4.1', f, variant=-1)",
        "check(['4.1'], f, **{})",
        "check(*'4.1')",
    ],
)
def test_no_number_is_too_long(source):
    raw = handed_in(last=[source])
    raw["cells"][-1:] = [
        code(source),
        code(source) | {"cell_type": "markdown"},
    ]
    assert chapter_of("x.ipynb", raw)[0] == NAME
    assert notebook.variant_of(cells(raw)) == 0


@pytest.mark.parametrize(
    "name",
    [
        "04_masks.ipynb",
        "alice_04_masks (1).ipynb",
        "CHAPTER 4.ipynb",
        "ch04-final.ipynb",
        "4.ipynb",
        "04_masks/alice.ipynb",
    ],
)
def test_a_chapter_is_known_by_its_files_name(name):
    assert chapter_of(name, {"cells": []}) == (NAME, "")


@pytest.mark.parametrize("name", ["homework.ipynb", "14 of mine.ipynb"])
def test_a_chapter_is_known_by_what_is_in_it(name):
    assert chapter_of(name, handed_in())[0] == NAME
    assert chapter_of(name, without_metadata(handed_in()))[0] == NAME


def test_a_name_that_lies_is_noted():
    found = chapter_of("05_heads.ipynb", handed_in())
    assert found == (NAME, "the file is named 05_heads.ipynb")


def test_the_number_of_an_older_notebook_is_another_chapters_now():
    raw = handed_in()
    for cell in raw["cells"]:
        cell["source"] = text(cell).replace(
            "### Exercise 4.", "### Exercise 5."
        )
    found = chapter_of("05_masks.ipynb", raw)
    assert found == (NAME, "the file is named 05_masks.ipynb")


def test_what_has_no_exercise_is_of_no_chapter():
    assert chapter_of("homework.ipynb", {"cells": [code("x = 1")]})[0] is None


def test_chapters_are_selected_by_their_names():
    assert list(selected(["04"])) == [NAME]
    assert len(selected([""])) == len(key())
    with pytest.raises(LookupError, match="is named 99"):
        selected(["99"])


# What it says about itself.


@pytest.mark.parametrize("which", ["window_mask", "4.1"])  # of 2026
def test_a_variant_is_read_from_the_check_cells(which):
    raw = handed_in()
    assert notebook.variant_of(cells(raw)) == 0
    for cell in raw["cells"]:
        cell["source"] = text(cell).replace(
            CALL, f'check("{which}", window_mask, variant=7)'
        )
    assert notebook.variant_of(cells(raw)) == 7
    name = "window_mask"
    assert not notebook.has_edited_check(name, cells(raw), chapter())


def test_an_edited_check_is_noticed():
    raw = handed_in()
    for cell in raw["cells"]:
        if CALL in text(cell):
            cell["source"] = "print('window_mask: right.')"
    assert notebook.has_edited_check("window_mask", cells(raw), chapter())
    assert not notebook.has_edited_check("my_attention", cells(raw), chapter())


# Reading.


def test_a_source_may_be_lines(tmp_path):
    raw = handed_in({"window_mask": RIGHT})
    for cell in raw["cells"]:
        cell["source"] = text(cell).splitlines(keepends=True)
    path = save(raw, tmp_path / "a.ipynb")
    found = notebook.answer_to("window_mask", notebook.read(path), chapter())
    assert found.source == RIGHT


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(handed_in()), encoding="utf-8-sig")
    assert notebook.read(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(notebook, "LARGEST", 1 << 20)
    path = tmp_path / "a.ipynb"
    path.write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(notebook.Unreadable, match="larger than 1 MB"):
        notebook.read(path)


def test_too_much_text_is_not_read(tmp_path):
    raw = handed_in(last=["x = 1\n" * 100_000] * 3)
    path = save(raw, tmp_path / "a.ipynb")
    assert notebook.read(path)
    raw["cells"].append(code("\n" * 500_000))
    save(raw, path)
    with pytest.raises(notebook.Unreadable, match="hold more than 2 MB"):
        notebook.read(path)


def test_too_many_cells_are_not_read(tmp_path):
    path = save({"cells": [{}] * 1001}, tmp_path / "a.ipynb")
    with pytest.raises(notebook.Unreadable, match="more than 1000 cells"):
        notebook.read(path)


# As Black breaks lines: neither is a magic.
BROKEN = "x = (\n    7\n    % 3\n    != 2\n)"


@pytest.mark.parametrize(
    "source, expected",
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls", "if x:\n    pass"),
        ("files = !ls", "files = None"),
        ("x = 7 % 3", "x = 7 % 3"),
        (BROKEN, BROKEN),
        ("%%time\nx = 1", "x = 1"),
        ("  %%capture\n%%time\nx = !ls\n", "x = None"),
        ("x?\ny = 1", "pass\ny = 1"),
        pytest.param("%a\n" * 1000, None, marks=pytest.mark.slow),
        ("def (", None),
        ("x = " + "(" * 1000 + ")" * 1000, None),
        ("-" * 100_000 + "1", None),
        ("x = 1" + " + 1" * 50_000, None),
        ("x" * 200_001, None),
        ("\0", None),
    ],
)
def test_a_cell_as_plain_python(source, expected):
    assert plain(source) == expected


def test_exercises_of_an_older_notebook_are_found_where_they_stand_now():
    """A file from before the deeper pages has those of all of them."""
    walk, names = key()["03_scoring_with_einsum"], ["soft_look_up", "smooth"]
    page = [
        notebook.Cell("code", f"def {n}(x):\n    return x", n) for n in names
    ]
    found = [(c.name, name) for c, name in asked(walk, page, key())]
    own = [(walk.name, name) for name in walk.tasks]
    assert found == [*own, ("03_soft_dictionary", "smooth")]
