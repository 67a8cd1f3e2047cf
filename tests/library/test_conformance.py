"""Reading the table of public packages, all of which chapter 18 prints."""

import json
from pathlib import Path

import pytest

from kit import conformance
from kit.conformance import FAMILIES, MARKS

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"
RECORD = json.loads((RESULTS / "conformance.json").read_text())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_table_fits_a_telephone_and_explains_itself(family):
    text = conformance.table(RECORD, family)
    assert max(map(len, text.splitlines())) <= 40
    for name in (*FAMILIES[family], *MARKS):
        assert name in text
