"""The packages themselves, where they are installed: `make conformance`."""

import contextlib
import io
import json
import runpy
from pathlib import Path

import pytest

pytest.importorskip(
    "x_transformers",
    reason="needs the public packages, which `make conformance` installs",
)

from benchmarks import conformance  # noqa: E402
from kit.conformance import failing  # noqa: E402

# What other people's code warns of is theirs.
pytestmark = pytest.mark.filterwarnings("ignore")
ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads(conformance.RESULT.read_text(encoding="utf-8"))
EXACT = 0.02  # how far a number may be from the stored one, as a share of it


@pytest.fixture(scope="module")
def measured():
    return conformance.measure()


def test_what_is_stored_is_measured_again(measured):
    pairs = zip(measured["rows"], STORED["rows"], strict=True)
    for now, then in pairs:
        who = then["package"], then["way"]
        assert (now["package"], now["way"]) == who
        for name, cell in then["findings"].items():
            found = now["findings"][name]
            assert found["verdict"] == cell["verdict"], (*who, name)
            assert found["words"] == cell["words"], (*who, name)
            if cell["verdict"] in ("fails", "holds") and cell["seen"]:
                wanted = pytest.approx(cell["seen"], rel=EXACT, abs=0.02)
                assert found["seen"] == wanted, (*who, name)


@pytest.mark.parametrize("cell", failing(STORED), ids=lambda cell: cell["who"])
def test_a_failure_is_reproduced_in_five_lines(cell):
    proof, printed = str(ROOT / cell["reproduction"]), io.StringIO()
    if cell["verdict"] == "raises":
        with pytest.raises(Exception) as caught:  # noqa: B017
            runpy.run_path(proof)
        message = f"{type(caught.value).__name__}: {caught.value}"
        assert message.splitlines()[0] in cell["words"]
        return
    with contextlib.redirect_stdout(printed):
        runpy.run_path(proof)
    assert float(printed.getvalue()) > 0.01
