"""The stored table of public packages: of the pinned ones, and proved.

Nothing of the packages is needed here. Chapter 20 shows the table, and its
stored outputs hold it to the record.
"""

import json
import re
from pathlib import Path

from kit.conformance import failing

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "conformance.json"
RECORD = json.loads(RESULT.read_text(encoding="utf-8"))
PINS = (ROOT / "tests/conformance/requirements.txt").read_text("utf-8")
PROOFS = ROOT / "benchmarks" / "public" / "reproductions"
LINES = 5  # of a reproduction, without its imports


def test_versions_are_the_pinned_ones():
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)", PINS, re.M))
    book = ROOT.joinpath("pyproject.toml").read_text("utf-8")
    (own,) = re.findall(r'^version = "(.*)"', book, re.M)
    pins["the-executable-transformer"] = own
    for row in RECORD["rows"]:
        assert pins[row["package"]] == row["version"]
    assert RECORD["torch"] == pins["torch"]
    assert f"torch=={pins['torch']}" in (ROOT / "requirements.txt").read_text()


def test_each_failure_has_a_proof_of_five_lines_that_the_page_links():
    named = {cell["reproduction"] for cell in failing(RECORD)}
    assert {ROOT / name for name in named} == set(PROOFS.glob("*.py"))
    page = next(ROOT.glob("book/20_*.ipynb")).read_text("utf-8")
    for name in named:
        assert f"(../{name})" in page
        text = ROOT.joinpath(name).read_text("utf-8")
        says, imports, code = text.split("\n\n")
        assert says.startswith('"""') and "import" in imports
        assert len(code.splitlines()) <= LINES, name
