"""What README.md and CONTRIBUTING.md say of the repository is so."""

import re

import yaml

from tools.source.taught import ROOT

README, CONTRIBUTING, MAKEFILE, PROJECT = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml")
)
PLACES = ("", "book", "book/_ext", "book/_ext/book_site")
PATH = re.compile(r"`((?:[\w.]+/)+[\w.]*)`")


def test_the_paths_that_are_named_exist():
    found = {*PATH.findall(CONTRIBUTING), *PATH.findall(README)}
    assert len(found) > 12
    for path in found - {"_build/html", "reports/"}:
        path = path.replace("NN_name", "04_masks").replace("NAME", "site")
        assert any((ROOT / place / path).exists() for place in PLACES), path


def test_every_room_of_tools_and_tests_is_named():
    for path in [*(ROOT / "tools").iterdir(), *(ROOT / "tests").iterdir()]:
        if path.is_dir() and not path.name.startswith("__"):
            assert re.search(rf"\b{path.name}\b", CONTRIBUTING), path


def test_the_targets_of_the_readme_are_those_of_make():
    for target in {*re.findall(r"(?:`|^)make (\w[\w-]*)", README, re.M)}:
        assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.M), target


def test_its_oldest_python_is_that_of_the_project_and_the_nightly_run():
    oldest = re.search(r"Python (3\.\d+) to 3\.\d+", README)[1]
    assert f'requires-python = ">={oldest}"' in PROJECT
    workflow = ROOT / ".github" / "workflows" / "nightly.yml"
    job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["linux"]
    everything, *_ = job["strategy"]["matrix"]["include"]
    assert everything["run"] == "make test-all"
    assert everything["python"] == oldest
