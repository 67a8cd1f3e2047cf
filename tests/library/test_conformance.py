"""Reading the table of public packages."""

import json
from pathlib import Path

import pytest

from kit import conformance
from kit.conformance import FAMILIES, MARKS, PROPERTIES
from lib.diagnose.checks import PROPERTIES as ASKED

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def row(package, way, **verdicts):
    """A row in which all holds, except for what is said."""
    said = {name.replace("_", " "): v for name, v in verdicts.items()}
    cell = {"seen": 0.5, "words": "as seen", "reproduction": "a.py"}
    return {
        "package": package,
        "version": "1.2",
        "way": way,
        "findings": {
            name: cell | {"verdict": said.get(name, "holds")}
            for name in PROPERTIES
        },
    }


RECORD = {
    "rows": [
        row("one", "a way", scale="fails", half_precision="raises"),
        row("one", "another", scale="note"),
        row("two", "a way", fully_masked_row="not offered"),
    ]
}


def test_properties_are_those_of_diagnose_in_three_families():
    assert len(PROPERTIES) == len(set(PROPERTIES)) == 12
    assert set(PROPERTIES) <= set(ASKED)


def test_a_row_names_the_package_its_version_and_the_way():
    first, *_ = conformance.rows(RECORD, "what is computed")
    verdicts = ["fails", "raises", "holds", "holds", "holds"]
    assert first == ("one 1.2", "a way", verdicts)


def test_a_package_is_named_once_above_its_ways():
    text = conformance.table(RECORD, "what is computed")
    above, below = text.split("\n\n")[0], text.split("\n\n")[1]
    assert above.splitlines()[0] == "1 scale"
    assert below.splitlines() == [
        " " * 24 + "1 2 3 4 5",
        "one 1.2",
        "  a way                 ✗ E ✓ ✓ ✓",
        "  another               n ✓ ✓ ✓ ✓",
        "two 1.2",
        "  a way                 ✓ ✓ ✓ ✓ ✓",
    ]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_table_fits_a_telephone_and_explains_itself(family):
    record = json.loads((RESULTS / "conformance.json").read_text())
    for measured in (RECORD, record):
        text = conformance.table(measured, family)
        lines = text.splitlines()
        assert max(map(len, lines)) <= 40
        for name in (*FAMILIES[family], *MARKS):
            assert name in text


def test_what_fails_is_listed_with_its_proof():
    fails, raises = conformance.failing(RECORD)
    assert fails["who"] == "one 1.2, a way" and fails["property"] == "scale"
    assert (fails["seen"], fails["reproduction"]) == (0.5, "a.py")
    assert raises["property"] == "half precision"


def test_cells_are_counted():
    counts = conformance.counts(RECORD)
    found = {"fails": 1, "raises": 1, "note": 1, "not offered": 1}
    assert counts == {"holds": 3 * 12 - 4} | found


def test_an_unknown_family_is_refused():
    with pytest.raises(KeyError, match="prices"):
        conformance.rows(RECORD, "prices")


def test_the_whole_table_for_a_picture():
    names, properties, table = conformance.pictured(RECORD)
    assert names == ["one: a way", "one: another", "two: a way"]
    assert properties == list(PROPERTIES)
    assert table[0][properties.index("scale")] == "fails"
    assert table[2][properties.index("fully masked row")] == "not offered"
