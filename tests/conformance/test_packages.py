"""The packages themselves, where they are installed: `make conformance`."""

import json
import runpy
from pathlib import Path

import pytest

from benchmarks import conformance
from kit.conformance import failing

# What other people's code warns of is theirs.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads(conformance.RESULT.read_text(encoding="utf-8"))
EXACT = 0.02  # how far a number may be from the stored one, as a share of it


def test_what_is_stored_is_measured_again():
    measured = conformance.measure()
    assert measured["properties"] == STORED["properties"]
    for now, then in zip(measured["rows"], STORED["rows"], strict=True):
        for name, cell in then["findings"].items():
            found, seen = now["findings"][name], cell["seen"]
            if cell["verdict"] in ("fails", "holds") and seen:
                wanted = pytest.approx(seen, rel=EXACT, abs=0.02)
                assert found["seen"] == wanted, (then["way"], name)
            cell["seen"] = found["seen"] = None
        assert now == then


@pytest.mark.parametrize("cell", failing(STORED), ids=lambda cell: cell["who"])
def test_a_failure_is_reproduced_in_five_lines(cell, capsys):
    proof = str(ROOT / cell["reproduction"])
    if cell["verdict"] == "raises":
        with pytest.raises(Exception) as caught:  # noqa: B017
            runpy.run_path(proof)
        message = f"{type(caught.value).__name__}: {caught.value}"
        assert message.splitlines()[0] in cell["words"]
        return
    runpy.run_path(proof)
    assert float(capsys.readouterr().out) > 0.01
