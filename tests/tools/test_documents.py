"""What README.md and CONTRIBUTING.md say of the repository is so."""

import re

import yaml

from tools.source.taught import ROOT

README, CONTRIBUTING, MAKEFILE, PROJECT = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml")
)
TREE = re.search(r"^```\n(.*?)^```", CONTRIBUTING, re.M | re.S)[1]


def test_what_the_tree_names_exists():
    folder = ROOT
    for line in TREE.splitlines():
        name = line.split()[0].replace("NN_name", "04_masks")
        is_inside = line.startswith(" ")
        assert (folder / name if is_inside else ROOT / name).exists(), line
        folder = folder if is_inside else ROOT / name


def test_every_tool_and_every_folder_of_tests_is_in_the_tree():
    for folder, ending in (("tools", ".py"), ("tests", "/")):
        for path in (ROOT / folder).iterdir():
            name = path.name + "/" * path.is_dir()
            if name.endswith(ending) and not name.startswith("__"):
                assert name in TREE, f"{folder}/{name}"


def test_the_targets_and_minutes_of_the_readme_are_those_of_make():
    for target in {*re.findall(r"(?:`|^)make (\w[\w-]*)", README, re.M)}:
        assert re.search(rf"^{re.escape(target)}:", MAKEFILE, re.M), target
    quick, full = re.search(
        r"`make test` takes (\d+) minutes.*`make test-all` takes (\d+)", README
    ).groups()
    for target, minutes in {"test": quick, "test-all": full}.items():
        line = rf"^{target}:.*## {minutes} minutes \|"
        assert re.search(line, MAKEFILE, re.M), target


def test_its_oldest_python_is_that_of_the_project_and_the_nightly_run():
    oldest = re.search(r"Python (3\.\d+) to 3\.\d+", README)[1]
    assert f'requires-python = ">={oldest}"' in PROJECT
    workflow = ROOT / ".github" / "workflows" / "nightly.yml"
    job = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]["linux"]
    everything, *_ = job["strategy"]["matrix"]["include"]
    assert everything["run"] == "make test-all"
    assert everything["python"] == oldest
