"""What a record complains of, seen on a page with all of it."""

from pathlib import Path

import pytest

from tests.built import served
from tests.browser.record import Records

PAGE = Path(__file__).with_name("broken.html")
FITS = {"stranded": "s", "spilled": "More than its box", "covering": "Over it"}
CUT = {"cutFormulas": "wide", "unmarked": "wide", "cutTables": "\n  A cell"}


@pytest.fixture(scope="module")
def records(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    (folder / "page.html").write_text(PAGE.read_text())
    (folder / "favicon.ico").touch()
    with served(folder) as there:
        yield Records(browser, folder, there, quick=True)


@pytest.mark.parametrize("device", ["phone", "desktop", "file"])
def test_everywhere(records, device):
    told = records("page.html", device)
    (home, *_), elsewhere = told["loaded"], "http://127.0.0.1:9/elsewhere.png"
    home = home.removesuffix("page.html")
    assert elsewhere in told["requests"]
    lacks = {elsewhere, f"{home}missing.png", f"{home}given-up.txt"}
    assert lacks <= set(told["failures"])
    assert "from a script" in told["messages"]
    assert told["explorers"] == [["p", False]]
    assert told["exercises"] == [[True, 0]]
    for seen in told["looks"]:
        assert seen["mistakes"] == 1 and seen["rawTex"] == ["\\frac"]
        assert seen["typeset"] < seen["formulas"]
        assert seen["firstStop"] != "skip-link"
        ahead, up = seen["outOfOrder"]
        assert 'id="ahead"' in ahead and 'id="up"' in up


@pytest.mark.parametrize("device", ["phone", "desktop"])
def test_over_http(records, device):
    told = records("page.html", device)
    for seen in told["looks"]:
        assert any(faint.startswith("P") for faint in seen["tooFaint"])
        assert seen["width"] > 1400
    for view in (*told["usual"].values(), *told["wide"].values()):
        assert view["width"] > 1400
        for name, what in (FITS | CUT).items():
            assert what in map(str.rstrip, view[name]), name


def test_on_a_desktop(records):
    told = records("page.html", "desktop")
    assert told["shift"] > 0.001
    assert all(view["cutOutputs"] for view in told["usual"].values())
    assert "button-name" in [name for name, _ in told["violations"]]


@pytest.mark.parametrize("device", ["desktop", "file"])
def test_after_playing_with_it(records, device):
    assert "from a button" in records("page.html", device)["messages"]
