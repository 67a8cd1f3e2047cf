"""Whatever is handed in gets a row, costs only itself, and learns nothing."""

import csv
import json
import os
import re
import socket
from collections import defaultdict
from pathlib import Path

import pytest

from tests.built import first_quick, slow
from tests.grading.handed_in import (
    NAME,
    chapter,
    code,
    handed_in,
    save,
    solutions,
)
from tests.grading.hostile import ATTACKS, ENDS, NOTED
from tools.grading import __main__ as command
from tools.grading import attempts, notebook, running, sandbox
from tools.grading.key import key
from tools.grading.results import Results
from tools.source.taught import ROOT

ELSEWHERE = ("my_attention", "decoder_mask")  # where all earn their points
SHORT = ["--cpu", "2", "--wall", "10"]  # for what only its time stops
AMPLE = ["--cpu", "60", "--wall", "120"]  # that nothing else runs out of it


@pytest.fixture(scope="module", params=[slow("graded")])
def rows(bubblewrap, tmp_path_factory):
    """The grades of all who hand in an attack, or what is no notebook.

    By student and exercise.
    """
    folder = tmp_path_factory.mktemp("hostile")
    endless = {name for name, (_, sign) in ATTACKS.items() if ENDS in sign}
    hand_in_attacks(endless, folder / "endless")
    hand_in_attacks(ATTACKS.keys() - endless, folder / "others")
    hand_in_oddities(folder / "others")
    found = defaultdict(dict)
    for row in (
        *grades(folder / "endless", SHORT),
        *grades(folder / "others", AMPLE),
    ):
        exercise = row["exercise"].partition(" ")[2]
        found[row["student"]][exercise] = row
    return found


def hand_in_attacks(names: set[str], folder: Path) -> None:
    for name in names:
        answers = {
            other: f"{text}\n# by {name}"
            for other, text in solutions(*ELSEWHERE).items()
        }
        answers["window_mask"] = ATTACKS[name][0]
        save(handed_in(answers), folder / name / f"{NAME}.ipynb")


def grades(folder: Path, limits: list[str]) -> list[dict]:
    """The rows of `make grade` for what lies in a folder."""
    out = folder.with_name(f"{folder.name} graded")
    arguments = [f"{folder}", "--out", f"{out}", "--jobs", "2", *limits]
    rest = ["--memory", "1024", "--chapter", "04"]
    assert command.main([*arguments, *rest]) == 0
    with (out / "grades.csv").open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_earns_nothing_and_costs_only_itself(rows, name):
    (source, sign), row = ATTACKS[name], rows[name]["window_mask"]
    assert row["points"] == "0", row
    assert re.search(sign, row["hint"]), row["hint"]
    assert len(row["hint"]) <= 400
    assert all(noted in row["notes"] for noted in NOTED.findall(source))
    for other in ELSEWHERE:
        row = rows[name][other]
        assert row["points"] == row["of"], row["hint"]


# One answer after the other in one sandbox.


@pytest.fixture(scope="module")
def any_box(bubblewrap):
    with sandbox.Sandbox(sandbox.Limits(), sandbox.hidden_places()) as box:
        yield box


@pytest.fixture
def box(any_box):
    if any_box.process is None:
        any_box.start()
    if not any_box.apart:
        pytest.skip("here nothing is apart within a sandbox")
    return any_box


def attempt_of(source: str, first: list[str] = ()) -> attempts.Attempt:
    """What is run for an answer to exercise 4.1, and cells above it."""
    raw = handed_in({"window_mask": source}, first=[*first])["cells"]
    cells = [notebook.cell(cell) for cell in raw]
    answer = notebook.answer_to("window_mask", cells, chapter())
    task = chapter().tasks["window_mask"]
    return attempts.attempt_of(task, answer, cells, chapter(), 0, 1)


def tried(box, source: str, first: list[str] = ()) -> dict:
    """What came of it."""
    return box.attempt(attempt_of(source, first).job())


def said(box, source: str) -> str:
    """What an answer has found out, which it says in an error."""
    body = "\n    ".join(source.strip().splitlines())
    text = f"def window_mask(length, width):\n    {body}"
    found = tried(box, f"{text}\n    raise ValueError(repr(seen))")
    return found["hint"]


LOOK = """
import os, sys
seen = []
for place in {places}:
    try:
        if os.path.isdir(place):
            seen += [f"{{place}}/{{n}}" for n in os.listdir(place)][:2]
        else:
            with open(place, "rb") as file:
                seen.append((place, file.read(10)))
    except OSError:
        pass
"""


def test_it_sees_neither_key_nor_tests_nor_others(box, tmp_path):
    (tmp_path / "other.ipynb").write_text("secret")
    places = [ROOT / "book" / f"{NAME}.ipynb", ROOT / "tests", ROOT / "tools"]
    places += [ROOT / ".git", tmp_path, tmp_path / "other.ipynb", Path.home()]
    places += ["/etc/passwd", "/etc/shadow", "/home", "/var", "/proc", "/run"]
    assert (ROOT / "tests").exists()
    hint = said(box, LOOK.format(places=[str(place) for place in places]))
    assert "ValueError: []" in hint or only_folders(hint)


def only_folders(hint: str) -> bool:
    """Of a home, only the way to the Python in it may be seen."""
    home = str(Path.home())
    names = [home, *(str(p) for p in sandbox.python_homes())]
    seen = hint.partition("[")[2].partition("]")[0].split(", ")
    return all(
        any(name.startswith(place.strip("'")) for name in names)
        for place in seen
    )


WALK = """
import os
seen = []
for place, folders, names in os.walk("/"):
    folders[:] = [f for f in folders if f not in ("usr", "sys")]
    seen += [n for n in names if n in {names}]
"""


def test_no_notebook_lies_anywhere_in_it(box):
    names = (f"{NAME}.ipynb", "grades.csv", "results.jsonl", "slices.py")
    assert "ValueError: []" in said(box, WALK.format(names=names))


def test_it_reaches_no_network(box):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        hint = said(
            box,
            f"""
import socket
seen = []
for place in (("127.0.0.1", {port}), ("1.1.1.1", 53)):
    try:
        socket.create_connection(place, timeout=1)
        seen.append(place)
    except OSError:
        pass
""",
        )
    assert "ValueError: []" in hint


def test_it_is_nobody_and_alone(box):
    hint = said(box, "import os\nseen = (os.getpid(), os.getuid())")
    assert "(1, 65534)" in hint
    hint = said(
        box,
        """
import os
seen = []
for pid in range(2, 500):
    try:
        os.kill(pid, 0)
        seen.append(pid)
    except ProcessLookupError:
        pass
""",
    )
    assert "ValueError: []" in hint


def test_nothing_is_left_for_the_next(box):
    """Files, processes, and names: each answer starts from the same."""
    leave = """
import os, time
for place in ("/answer/left", "/dev/shm/left", "left"):
    open(place, "w").write("for the next")
left = lib_left = 1
torch.left = 1
if not os.fork():
    os.setsid()
    if not os.fork():
        time.sleep(10_000)
    os._exit(0)
seen = "left behind"
"""
    assert "left behind" in said(box, leave)
    look = """
import os
places = ("/answer/left", "/dev/shm/left", "left")
seen = [p for p in places if os.path.exists(p)]
seen += [n for n in ("left", "lib_left") if n in globals()]
seen += [1] * hasattr(torch, "left")
"""
    assert "ValueError: []" in said(box, look)
    assert box.process is not None, "the same sandbox tried both"


def test_it_gains_no_powers(box):
    """In namespaces of its own making it is not more than it was."""
    hint = said(
        box,
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
seen = []
if libc.mount(b"proc", b"/proc", b"proc", 0, None) == 0:
    seen.append("mounted")
if libc.umount2(b"/proc", 2) == 0:
    seen.append("unmounted")
if libc.unshare(0x10000000 | 0x00020000) == 0:
    for name in (b"/proc", b"/tmp", b"/dev/shm"):
        if libc.umount2(name, 2) == 0:
            seen.append(name)
""",
    )
    assert "ValueError: []" in hint


def test_the_library_is_the_teachers(box):
    """Whatever lies beside the notebook, `lib` is the book's."""
    shadow = "import sys\nsys.path.insert(0, '.')\n"
    found = tried(box, shadow + solutions("window_mask")["window_mask"])
    assert found["state"] == "right", found
    hint = said(box, "import lib.softmax\nseen = lib.softmax.__file__")
    assert "/book/lib/softmax.py" in hint


HONEST = solutions("window_mask")["window_mask"]
CALL = 'from kit.exercises import check\ncheck("window_mask", window_mask)'
ROWS = """
def check(name, row):
    return row

out.append(check("row", 2))
out.append(check("4.1", 3))
check("row", out.append(4))
assert out == [1, 2, 3, 4]
"""
ROOTS = """
def window_mask(length, width):
    far = torch.arange(length)[:, None] - torch.arange(length)
    return ((far >= 0) & (far < sqrt(width) ** 2 - 0.5))[None, None]
"""


@pytest.mark.parametrize(
    "source, first",
    [
        (f"%matplotlib inline\n{HONEST}", []),
        (f"%matplotlib widget\n%load_ext mine\n%colors\n{HONEST}", []),
        (f"{HONEST}\n{CALL}", []),
        (f"{HONEST}\nif True:\n    {CALL.splitlines()[1]}", []),
        (
            ROOTS,
            ["def sqrt(x):\n return (\n  x**0.5\n  % 99\n )"],
        ),
        (f"out = [1]\n{HONEST}\n{ROWS}", []),
        (ROOTS, ["from math import *"]),
        (ROOTS, ["from math import *\n!pip install nothing"]),
    ],
)
def test_what_stands_around_an_answer_costs_nothing(box, source, first):
    assert tried(box, source, first)["state"] == "right"


# What one notebook can be.


# What stands in files that are called notebooks, and what is said of it.
TEXTS = {
    "broken": (json.dumps(handed_in()).encode()[:-100], "no valid JSON"),
    "empty": (b"", "it is empty"),
    "list": (b"[1, 2]", "it has no cells"),
    "text": (b"my homework", "no valid JSON"),
    "nested": (b"[" * 200_000, "nested too deeply"),
    "no cells": (b'{"metadata": {}}', "it has no cells"),
    "not utf-8": (b"\xff\xfe\x00cells", "no text in UTF-8"),
}
# The same of what is no such file.
OTHERS = {
    "pipe": "not an ordinary file",
    "link": "links are not read",
    "linked folder": "links are not read",
    "folder in folder": "no notebook was handed in",
    "pdf only": "no notebook was handed in (04_masks.pdf)",
}
ODD_CELLS = [
    1,
    None,
    {"cell_type": 5, "source": 7},
    {"cell_type": "code", "source": [1, "x"], "metadata": []},
    {"cell_type": "code", "metadata": {"nbgrader": 3}},
]


def hand_in_oddities(folder: Path) -> None:
    name = f"{NAME}.ipynb"
    (folder / "linked folder").symlink_to(ROOT / "book")
    for student in {*TEXTS, *OTHERS} - {"linked folder"}:
        (folder / student).mkdir(parents=True)
    for student, (text, _) in TEXTS.items():
        (folder / student / name).write_bytes(text)
    os.mkfifo(folder / "pipe" / name)
    (folder / "link" / name).symlink_to(chapter().path)
    (folder / "folder in folder" / "deep").mkdir()
    (folder / "folder in folder" / "book").symlink_to(ROOT / "book")
    (folder / "pdf only" / "04_masks.pdf").write_bytes(b"%PDF")
    odd = handed_in(solutions())
    odd["cells"] = ODD_CELLS + odd["cells"]
    save(odd, folder / "odd cells" / name)
    loud = handed_in(solutions())
    output = {"output_type": "stream", "name": "stdout", "text": "x" * 10**7}
    loud["cells"].append({**code("1"), "outputs": [output]})
    save(loud, folder / "loud" / name)
    shipped = folder / "ships a library"
    save(handed_in({"window_mask": "x = 1"}), shipped / name)
    (shipped / "lib").mkdir()
    (shipped / "lib" / "exercises.py").write_text("def check(*a, **k): 0")
    save(handed_in(), folder / "=HYPERLINK(1)" / name)


SAID = {student: hint for student, (_, hint) in TEXTS.items()} | OTHERS


@pytest.mark.parametrize("student, hint", SAID.items())
def test_what_is_no_notebook_gets_its_rows(rows, student, hint):
    for row in rows[student].values():
        assert hint in row["hint"]
        assert row["points"] in ("0", "")


@pytest.mark.parametrize("student", ["odd cells", "loud"])
def test_what_is_odd_around_the_answers_costs_nothing(rows, student):
    assert len(rows[student]) == len(chapter().tasks)
    for row in rows[student].values():
        assert row["points"] == row["of"], row["hint"]


def test_a_library_that_is_handed_in_is_not_used(rows):
    row = rows["ships a library"]["window_mask"]
    assert (row["points"], row["hint"]) == ("0", "window_mask is not defined")


def test_a_name_that_is_a_formula_is_only_a_name(rows):
    assert len(rows["'=HYPERLINK(1)"]) == len(chapter().tasks)


# The book's own answers.


def answered(box, chapter, name: str, answers: dict[str, str]):
    """What is run for one of these answers, and what came of it."""
    if box.process is None:
        box.start()
    page = [
        notebook.Cell("code", text, name) for name, text in answers.items()
    ]
    answer, task = notebook.answer_to(name, page, chapter), chapter.tasks[name]
    attempt = attempts.attempt_of(task, answer, page, chapter, 0, 1)
    return attempt, box.attempt(attempt.job())


@pytest.mark.parametrize("name", first_quick(sorted(key(), key=NAME.__ne__)))
def test_the_books_own_answers_are_right(any_box, name):
    tasks = key()[name].tasks
    answers = {name: task.solution for name, task in tasks.items()}
    for exercise in tasks:
        attempt, found = answered(any_box, key()[name], exercise, answers)
        assert not attempts.suspicions(attempt.own), exercise
        assert found["state"] == "right", (exercise, found)
        assert found["notes"] == [], exercise


def test_what_was_to_be_written_otherwise_is_noted_and_costs_nothing(any_box):
    name = "bilinear_scores"
    answers = {name: f"def {name}(q, W, k):\n    return q @ W @ k.T"}
    chapter = key()["03_scoring_with_einsum"]
    _, found = answered(any_box, chapter, name, answers)
    assert found["state"] == "right"
    remark = "ask: Can one torch.einsum have all three factors?"
    assert found["notes"] == [remark]


# A sandbox that ends; these come last, because they end one.


@pytest.mark.slow
def test_a_sandbox_that_ends_costs_one_answer(box, tmp_path, monkeypatch):
    """The answer is tried again in a fresh one, then given up."""
    results = Results(tmp_path / "results.jsonl", {})
    crew = running.Crew([], results, lambda done, total: None)
    box.process.kill()
    attempt = attempt_of(solutions("window_mask")["window_mask"])
    assert crew.result(box, attempt).state == "right"
    with monkeypatch.context() as patch:
        patch.setattr(box, "attempt", fails)
        assert crew.result(box, attempt).state == "not graded"


def fails(job: dict) -> dict:
    raise sandbox.SandboxError("it broke off")


def test_where_answers_cannot_be_apart_each_has_a_sandbox(box):
    """Some systems allow one sandbox and nothing within it."""
    box.apart = False
    assert tried(box, solutions("window_mask")["window_mask"])["state"] == (
        "right"
    )
    assert box.process is None
