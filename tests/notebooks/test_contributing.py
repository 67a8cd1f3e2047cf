"""The tree in CONTRIBUTING.md is the tree."""

import re

from tools.taught import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TREE = re.search(r"^```\n(.*?)^```", TEXT, re.M | re.S)[1].splitlines()


def test_what_the_tree_names_exists():
    folder = ROOT
    for line in TREE:
        name = line.split()[0]
        if line.startswith(" "):
            name = name.replace("NN_name", "04_masks")
            assert (folder / name).exists(), line
        else:
            assert (ROOT / name).exists(), line
            folder = ROOT / name


def test_every_tool_and_every_folder_of_tests_is_in_the_tree():
    for folder, ending in (("tools", ".py"), ("tests", "/")):
        for path in (ROOT / folder).iterdir():
            name = path.name + "/" * path.is_dir()
            if name.endswith(ending) and not name.startswith("__"):
                assert name in "\n".join(TREE), f"{folder}/{name}"
