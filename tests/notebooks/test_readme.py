"""What README.md says of the book is so."""

import re

import yaml

from tools.taught import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_its_targets_are_in_the_makefile():
    for target in {*re.findall(r"(?:`|^)make (\w[\w-]*)", TEXT, re.M)}:
        assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.M), target


def test_the_tests_take_as_long_as_make_says():
    quick, full = re.search(
        r"`make test` takes (\d+) minutes.*`make test-all` takes (\d+)", TEXT
    ).groups()
    for target, minutes in {"test": quick, "test-all": full}.items():
        line = rf"^{target}:.*## {minutes} minutes \|"
        assert re.search(line, MAKEFILE, re.M), target


def test_its_pythons_are_those_of_the_workflows_and_the_project():
    oldest = re.search(r"Python (3\.\d+) to 3\.\d+", TEXT)[1]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={oldest}"' in project
    workflow = ROOT / ".github" / "workflows" / "nightly.yml"
    job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["linux"]
    everything, *_ = job["strategy"]["matrix"]["include"]
    assert everything["run"] == "make test-all"
    assert everything["python"] == oldest
