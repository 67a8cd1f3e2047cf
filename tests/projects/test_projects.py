"""The projects: requirements, samples, and what the page says of them."""

import math
import re

import pytest
import torch

from kit.exercises import Wrong
from kit.projects import (
    NUMERALS,
    __main__,
    examine,
    load,
    project,
    requirements,
    requires,
)
from tools.source.taught import ROOT

FOLDER = ROOT / "book" / "teach"
PAGE = (FOLDER / "projects.md").read_text(encoding="utf-8")
SAMPLE = re.compile(
    r"\[(?P<file>project_(?P<number>\d)_\w+\.py)\]\(samples/.*?: "
    r"(?P<machine>\d+) \+ (?P<person>\d+) = (?P<together>\d+)\."
)
SAMPLES = list(SAMPLE.finditer(PAGE))
MACHINE, PERSON = 60, 40
PARTS = re.compile(r"(?:Structure|Experiment|Own tests) (\d+)")


@pytest.mark.parametrize("number", NUMERALS)
def test_a_project_has_sixty_points(number):
    points = [r.points for r in requirements(number)]
    assert sum(points) == MACHINE
    assert len(points) >= 6


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s["file"])
@pytest.mark.filterwarnings("ignore")
def test_a_sample_earns_what_the_page_says(sample, capsys):
    number, machine = sample["number"], int(sample["machine"])
    interface = project(number).INTERFACE.__name__
    made = load(FOLDER / "samples" / sample["file"], interface)
    assert examine(int(number), made) == machine
    assert f"{machine:>4} of 60\n" in capsys.readouterr().out
    text = PAGE[sample.end() :].partition("\n\n")[0]
    given = [int(points) for points in PARTS.findall(text)]
    assert len(given) == 3
    assert sum(given) == int(sample["person"]) <= PERSON
    assert machine + int(sample["person"]) == int(sample["together"])


def test_each_project_has_two_samples():
    files = sorted(sample["file"] for sample in SAMPLES)
    assert files == sorted(p.name for p in (FOLDER / "samples").glob("*.py"))
    numbers = [sample["number"] for sample in SAMPLES]
    assert sorted(numbers) == sorted(2 * list(NUMERALS))


def test_numbers_in_the_reports_of_the_samples():
    tree = load(FOLDER / "samples" / "project_4_good.py", "Cache")(1)
    for _ in range(200):
        tree.append(0, [0.0] * 3, [0.0] * 3)
    tree.keep([0] * 8)
    for row in range(8):
        for _ in range(2):
            tree.append(row, [0.0] * 3, [0.0] * 3)
    copied = 8 * 202 * 6
    assert f"hold {tree.numbers():,} numbers instead of {copied:,}" in PAGE
    name = "SparseAttention"
    sparse = load(FOLDER / "samples" / "project_5_good.py", name)
    pairs, full = sparse(1000, 4, [0]).pairs(), 1000 * 1001 // 2
    assert f"has {pairs:,} pairs" in PAGE and f"has {full:,}." in PAGE


def hints(number, made):
    return [requirement.hint(made) for requirement in requirements(number)]


def test_a_mistake_is_told_from_another_and_from_a_crash():
    good = load(FOLDER / "samples" / "project_1_good.py", "SoftDictionary")

    class Forgetful(good):
        def store(self, key, value):
            super().store(key, value)

        def forget(self, number):
            pass

    class Overflowing(good):
        def read(self, query, sharpness=1.0):
            large = max(map(abs, query)) > 50
            return [math.nan] * 5 if large else super().read(query, sharpness)

    said = " ".join(hints(1, Forgetful))
    assert "after the pair of number None is forgotten" in said
    assert "overflows: take the largest" in " ".join(hints(1, Overflowing))


def test_a_cache_may_read_tuples():
    good = load(FOLDER / "samples" / "project_4_good.py", "Cache")

    class Tuples(good):
        def read(self, row):
            return tuple(map(tuple, super().read(row)))

    assert not any(hints(4, Tuples))


class Stub:
    """Nothing is written yet."""

    def __init__(self, *arguments):
        raise NotImplementedError


@pytest.mark.parametrize("number", NUMERALS)
def test_a_stub_is_not_started(number, capsys):
    assert examine(number, Stub) == 0
    said = capsys.readouterr().out.count("not started.")
    assert said >= len(requirements(number)) - 1


def met(made, draw):
    """It is met, with random numbers."""
    torch.rand(3)


def missed(made, draw):
    """It is missed."""
    raise Wrong("look here.")


def crashes(made, draw):
    """It crashes."""
    raise KeyError("k")


def test_each_requirement_is_tried_whatever_the_others_do():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    hints = [requires(2)(test).hint(None) for test in (met, missed, crashes)]
    assert hints[:2] == ["", "look here."]
    assert hints[2].startswith("your code stops with KeyError")
    assert torch.equal(torch.rand(1), expected)


def test_the_command(tmp_path, capsys):
    good = FOLDER / "samples" / "project_1_good.py"
    assert __main__.main(["1", str(good)]) == 0
    assert capsys.readouterr().out.startswith("Project I: A soft dictionary")
    empty = tmp_path / "empty.py"
    empty.write_text("")
    assert "expected a class SoftDictionary" in __main__.main(
        ["1", str(empty)]
    )
    assert "No such file" in __main__.main(["1", str(tmp_path / "none.py")])
    assert "expected a project" in __main__.main(["7", str(good)])
    assert __main__.main([]).startswith("use: ")
