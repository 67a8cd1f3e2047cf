"""Reading the table of public packages, all of which chapter 18 prints."""

import json
from pathlib import Path

import pytest

from kit import conformance
from kit.conformance import FAMILIES, MARKS, PROPERTIES
from lib.diagnose.checks import PROPERTIES as ASKED

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
RECORD = json.loads((RESULTS / "conformance.json").read_text())


def test_properties_are_those_of_diagnose():
    assert len(PROPERTIES) == len(set(PROPERTIES)) == 12
    assert set(PROPERTIES) <= set(ASKED)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_table_fits_a_telephone_and_explains_itself(family):
    text = conformance.table(RECORD, family)
    assert max(map(len, text.splitlines())) <= 40
    for name in (*FAMILIES[family], *MARKS):
        assert name in text


def test_every_cell_is_pictured_and_counted_and_what_fails_has_a_proof():
    ways, properties, verdicts = conformance.pictured(RECORD)
    assert properties == [*PROPERTIES] and len(set(ways)) == len(verdicts)
    counts = conformance.counts(RECORD)
    assert sum(counts.values()) == len(ways) * 12
    failing = conformance.failing(RECORD)
    assert len(failing) == counts["fails"] + counts["raises"] > 0
    assert all(cell["reproduction"] for cell in failing)
