"""What README.md says of the book is so."""

import re

import yaml

from tools import sync
from tools.taught import ROOT, chapters

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve "
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
).split()


def explorers(path) -> list:
    """The cells of a chapter that show something to turn."""
    cells = sync.read(path).cells
    return [c for c in cells if "explorer" in c.metadata.get("tags", [])]


def test_its_chapters_are_counted():
    number = NUMBERS[len(chapters())].capitalize()
    assert f"{number} chapters lead from tokens" in TEXT
    turning = NUMBERS[sum(bool(explorers(path)) for path in chapters())]
    assert f"In {turning} chapters there is something to turn" in TEXT


def test_its_targets_are_in_the_makefile():
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in {*re.findall(r"`make (\w[\w-]*)", TEXT)}:
        assert re.search(rf"^{re.escape(target)}:", made, re.M), target


def test_its_pythons_are_those_of_the_workflows_and_the_project():
    oldest = re.search(r"Python (3\.\d+) to 3\.\d+", TEXT)[1]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={oldest}"' in project
    workflow = ROOT / ".github" / "workflows" / "nightly.yml"
    job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["linux"]
    everything, *_ = job["strategy"]["matrix"]["include"]
    assert everything["run"] == "make test-all"
    assert everything["python"] == oldest
