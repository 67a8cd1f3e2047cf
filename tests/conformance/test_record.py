"""The stored table: well formed, proved, and what the page shows.

Nothing of the packages is needed here.
"""

import ast
import json
import re
from datetime import date
from pathlib import Path

import pytest

from kit.conformance import (
    FAILURES,
    FAMILIES,
    MARKS,
    PROPERTIES,
    failing,
    table,
)

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "conformance.json"
RECORD = json.loads(RESULT.read_text(encoding="utf-8"))
PINS = (ROOT / "tests/conformance/requirements.txt").read_text("utf-8")
PROOFS = ROOT / "benchmarks" / "public" / "reproductions"
LINES = 5  # of a reproduction, without its imports
CHAPTERS = sorted((ROOT / "book").glob("18_*.ipynb"))


def test_the_record_is_dated_and_complete():
    assert date.fromisoformat(RECORD["date"])
    assert RECORD["properties"] == list(PROPERTIES)
    ways = [(row["package"], row["way"]) for row in RECORD["rows"]]
    assert len(ways) == len(set(ways)) >= 40


@pytest.mark.parametrize(
    "row", RECORD["rows"], ids=lambda row: f"{row['package']}: {row['way']}"
)
def test_a_row_answers_every_question_in_words(row):
    assert list(row["findings"]) == list(PROPERTIES)
    for name, cell in row["findings"].items():
        assert cell["verdict"] in MARKS, name
        assert cell["words"], name
        is_number = isinstance(cell["seen"], float)
        assert is_number or cell["seen"] is None, name
        if cell["verdict"] == "fails":
            assert is_number and cell["seen"] > 0, name


def test_versions_are_the_pinned_ones():
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", PINS, re.M))
    book = ROOT.joinpath("pyproject.toml").read_text("utf-8")
    pins["the-executable-transformer"] = re.search(
        r'^version = "(.*)"', book, re.M
    )[1]
    for row in RECORD["rows"]:
        assert pins[row["package"]] == row["version"]
    assert RECORD["torch"] == pins["torch"]
    assert f"torch=={pins['torch']}" in (ROOT / "requirements.txt").read_text()


def test_each_failure_has_a_proof_and_each_proof_a_failure():
    named = {ROOT / cell["reproduction"] for cell in failing(RECORD)}
    assert named == set(PROOFS.glob("*.py"))


def test_only_failures_have_a_proof():
    for row in RECORD["rows"]:
        for cell in row["findings"].values():
            has_proof = "reproduction" in cell
            assert has_proof == (cell["verdict"] in FAILURES)


@pytest.mark.parametrize("path", sorted(PROOFS.glob("*.py")), ids=str)
def test_a_proof_is_five_lines_long(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    imports = (ast.Import, ast.ImportFrom)
    code = [x for x in tree.body[1:] if not isinstance(x, imports)]
    lines = text.splitlines()[code[0].lineno - 1 :]
    assert len([line for line in lines if line.strip()]) <= LINES


@pytest.mark.skipif(not CHAPTERS, reason="chapter 18 is not written yet")
def test_the_page_shows_the_stored_table():
    notebook = json.loads(CHAPTERS[0].read_text(encoding="utf-8"))
    shown = "".join(
        "".join(output.get("text", ""))
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
    )
    prose = "".join("".join(cell["source"]) for cell in notebook["cells"])
    for family in FAMILIES:
        assert table(RECORD, family) in shown, f"{family}: run `make sync`"
    assert RECORD["date"] in shown + prose
    for cell in failing(RECORD):
        assert cell["reproduction"] in shown + prose, cell["who"]
