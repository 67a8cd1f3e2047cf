"""What a recorded answer rests on, and what it does not."""

import json

import nbformat
import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from tools.faults import notebooks, reach, record
from tools.faults.fault import Answer, Fault, Verdict, taught_modules
from tools.faults.listed import LISTED
from tools.faults.record import COMMITTED, Record

FAULT = Fault("near", "1", "2", "another number")
CELL, TEST = "01_one, In [2]", "test_near.py::test_near"
FILES = {
    "book/lib/__init__.py": "",
    "book/lib/near.py": "from lib import check\nx = 1\n",
    "book/lib/far.py": "from lib.near import x\n",
    "book/lib/check/__init__.py": "from .numbers import integer\n",
    "book/lib/check/numbers.py": "from ..deep import y\nfrom . import far\n",
    "book/lib/check/far.py": "",
    "book/lib/deep.py": "y = 1\n",
    "book/data/read.json": "{}",
    "book/data/unread.json": "{}",
    "tests/library/conftest.py": "",
    "tests/library/draw.py": "",
    "tests/library/other.py": "",
    "tests/library/test_near.py": "from lib.near import x\n"
    "from tests.library.draw import same\nopen('data/read.json')\n",
    "tests/library/test_far.py": "from lib.far import x\n",
    "constraints.txt": "torch==2\n",
}
CACHED = [
    *(reach.files, reach.modules, reach.direct, reach.test_files),
    *(reach.reached_by_test, record.content, record.data_files),
    *(notebooks.stored, notebooks.reached_by),
]


def forget():
    for function in CACHED:
        function.cache_clear()


def chapter():
    image = new_output("display_data", {"image/png": "AAAA"})
    said = new_output("stream", name="stdout", text="0.25\n")
    cells = [
        new_markdown_cell("# One"),
        new_code_cell("from lib.near import x\nopen('data/read.json')"),
        new_code_cell("x", outputs=[said, image]),
        new_code_cell("from lib.far import x", outputs=[said]),
    ]
    return new_notebook(cells=cells)


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A small book in the place of ours, with a record of one fault."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    path = tmp_path / "book" / "01_one.ipynb"
    nbformat.write(chapter(), path)
    library, tests = tmp_path / "book" / "lib", tmp_path / "tests" / "library"
    for module in (reach, record):
        monkeypatch.setattr(module, "LIBRARY", library)
        monkeypatch.setattr(module, "TESTS", tests)
    monkeypatch.setattr(record, "DATA", (tmp_path / "book" / "data", library))
    monkeypatch.setattr(record, "PINS", tmp_path / "constraints.txt")
    monkeypatch.setattr(notebooks, "chapters", lambda: [path])
    forget()
    answers = Record(tmp_path / "record.json")
    answers.put(Verdict(FAULT, Answer(CELL, "why"), Answer(TEST, "why")))
    answers.write([FAULT])
    yield tmp_path
    forget()


def stale(book, fault=FAULT) -> set[str]:
    """The ways in which the fault would have to be tried again."""
    forget()
    known = Record(book / "record.json")
    ways = {"notebooks", "units"}
    return {way for way in ways if known.fresh(fault, way) is None}


def edit(book, name, text="# changed\n"):
    path = book / name
    path.write_text(path.read_text() + text)


def edit_cell(book, number, **change):
    path = book / "book" / "01_one.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[number].update(change)
    nbformat.write(notebook, path)


def test_what_is_unchanged_stands_and_says_where(book):
    assert stale(book) == set()
    known = Record(book / "record.json")
    assert known.fresh(FAULT, "units") == Answer(TEST, recorded=True)
    assert known.fresh(FAULT, "notebooks").noticed == CELL


@pytest.mark.parametrize(
    ("name", "ways"),
    [
        ("book/lib/near.py", {"notebooks", "units"}),
        ("book/lib/check/numbers.py", {"notebooks", "units"}),
        ("book/lib/check/far.py", {"notebooks", "units"}),
        ("book/lib/deep.py", {"notebooks", "units"}),
        ("book/lib/__init__.py", {"notebooks", "units"}),
        ("book/data/read.json", {"notebooks", "units"}),
        ("constraints.txt", {"notebooks", "units"}),
        ("tests/library/test_near.py", {"units"}),
        ("tests/library/draw.py", {"units"}),
        ("tests/library/conftest.py", {"units"}),
        ("book/lib/far.py", set()),
        ("book/data/unread.json", set()),
        ("tests/library/other.py", set()),
        ("tests/library/test_far.py", set()),
    ],
)
def test_which_files_an_answer_rests_on(book, name, ways):
    edit(book, name)
    assert stale(book) == ways


@pytest.mark.parametrize(
    ("number", "change", "is_stale"),
    [
        (0, {"source": "# Two\n\nMore words."}, False),
        (1, {"source": "from lib.near import x"}, True),
        (2, {"source": "x + 1"}, True),
        (2, {"outputs": []}, True),
        (2, {"metadata": {"tags": ["nbval-ignore-output"]}}, True),
        (3, {"source": "pass"}, False),
        (3, {"outputs": []}, False),
    ],
)
def test_which_cells_an_answer_rests_on(book, number, change, is_stale):
    edit_cell(book, number, **change)
    assert stale(book) == ({"notebooks"} if is_stale else set())


def test_another_picture_is_as_good(book):
    image = new_output("display_data", {"image/png": "BBBB"})
    said = new_output("stream", name="stdout", text="0.25\n")
    edit_cell(book, 2, outputs=[said, image])
    assert stale(book) == set()


def test_a_changed_fault_or_another_is_tried(book):
    both = {"notebooks", "units"}
    other = Fault("near", "1", "3", "another number")
    assert stale(book, other) == both
    assert stale(book, Fault("near", "1", "2", "another name")) == both


@pytest.mark.parametrize(
    "lie",
    [
        {"notebooks": ["01_one, In [1]"], "units": ["test_near.py::other"]},
        {"notebooks": ["01_one, In [9]"], "units": ["test_gone.py::test"]},
        {"notebooks": ["02_two, In [1]"], "units": ["test_far.py::test"]},
        {"notebooks": ["anything"], "units": [""]},
    ],
)
def test_a_lie_does_not_stand(book, lie):
    path = book / "record.json"
    ((name, entry),) = json.loads(path.read_text()).items()
    for way, (place,) in lie.items():
        entry[way][0] = place
    path.write_text(json.dumps({name: entry}))
    assert stale(book) == {"notebooks", "units"}


def test_a_survivor_is_not_remembered(book):
    known = Record(book / "record.json")
    known.put(Verdict(FAULT, Answer(), Answer(untried="it died")))
    assert known.changed([FAULT])
    known.write([FAULT])
    assert json.loads(known.path.read_text()) == {}


@pytest.mark.parametrize("ci", ["", "true"])
def test_ci_says_that_the_record_is_stale_and_leaves_it(book, monkeypatch, ci):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(record, "COMMITTED", book / "record.json")
    known = Record(book / "record.json")
    before = known.path.read_text()
    assert record.keep(known, [FAULT]) == []
    edit(book, "book/lib/near.py")
    forget()
    known.put(Verdict(FAULT, Answer(CELL, "why"), Answer(TEST, "why")))
    notes = record.keep(known, [FAULT])
    forget()
    assert (known.path.read_text() == before) == bool(ci)
    assert bool(notes) == bool(ci)
    assert not notes or "run `make faults LISTED=1`, commit it" in notes[0]


def test_the_committed_record_knows_no_other_faults():
    entries = json.loads(COMMITTED.read_text(encoding="utf-8"))
    assert entries.keys() <= {record.key(fault) for fault in LISTED}


def test_the_modules_that_ours_reach():
    """Read from the text; and the modules are those that Python finds."""
    for module in taught_modules():
        assert {"__init__", module} <= reach.reached([module])
    assert "decoding" not in reach.reached(["heads"])
    assert {"heads", "attention"} <= reach.reached(["transformer"])
