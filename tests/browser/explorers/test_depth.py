"""The explorer of deep stacks beside torch."""

import functools
import math
import random
import re

import pytest
import torch

from benchmarks import depth
from benchmarks.records import RESULTS
from kit.explorers.depth import depth_explorer

NAMES, KINDS = list(depth.ARRANGEMENTS), ("size", "gradient")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# The record keeps three decimals of the logarithm.
CLOSE = {"atol": 0.0011, "rtol": 0}


def sample():
    return depth_explorer(RESULTS / "depth.json")


@functools.cache
def measured(name, blocks):
    """The mean of five seeds, computed now."""
    runs = [depth.measure(name, blocks, seed) for seed in range(5)]
    return {kind: torch.stack([r[kind] for r in runs]) for kind in KINDS}


def read(text: str) -> float:
    """The decimal logarithm of a number as the explorer writes it."""
    digits, _, power = text.partition(" · 10")
    return math.log10(float(digits)) + int(power.translate(RAISED) or 0)


def drawn(shown, kind, name) -> torch.Tensor:
    """The logarithms that a line shows, read off the axis beside it."""
    chart = shown.element.locator(f"svg[data-kind={kind}]")
    marks = chart.locator("text.y").evaluate_all(
        "(all) => all.map((e) => [+e.dataset.log, +e.getAttribute('y')])"
    )
    (low, bottom), *_, (high, top) = sorted(marks)
    assert bottom > top  # more is higher
    line = chart.locator(f'g[data-name="{name}"] .mean')
    points = line.get_attribute("points").split()
    heights = torch.tensor([float(p.split(",")[1]) for p in points]).double()
    return low + (heights - bottom) / (top - bottom) * (high - low)


def states(count, seed=0):
    draw = random.Random(seed)
    for _ in range(count):
        blocks = draw.choice(depth.DEPTHS)
        yield {
            "arrangement": draw.choice(NAMES),
            "compare": draw.choice(["nothing", *NAMES]),
            "depth": blocks,
            "block": draw.randint(0, blocks),
        }


FULLEST = [
    {"arrangement": name, "compare": "no residual", "depth": 48, "block": 48}
    for name in NAMES
]
KEYS = [
    ("Tab Tab ArrowRight ArrowRight ArrowRight", {"arrangement": "pre-norm"}),
    ("Tab ArrowDown ArrowDown", {"compare": "no norm"}),
    ("Tab ArrowRight", {"depth": 48}),
    ("Tab End", {"block": 48}),
    ("ArrowLeft ArrowLeft", {"block": 46}),
    # A shallower stack has no block 46.
    ({"depth": 6}, {"block": 6}),
]
SAYS = [
    ({"block": 0}, ".reading thead th:first-child", "At the input"),
    ({"block": 3}, ".reading thead th:first-child", "After block 3"),
    ({"block": 3}, ".scrub output", "3 of 24"),
]


def read_off(shown, name, blocks, block):
    """Mean and standard error in the table are those of five runs."""
    for kind, runs in measured(name, blocks).items():
        cell, *_ = shown.all(f"td[data-kind={kind}]")
        number, factor = cell.split(" ×/÷ ")
        here = runs[:, block]
        assert abs(read(number) - here.mean()) < 0.03
        error = 10 ** (here.std() / math.sqrt(5))
        assert abs(float(factor) - error) < 0.011 * error


def test_numbers_and_lines_are_those_of_torch(show):
    shown = show(sample())
    for name in NAMES:
        for blocks in (6, 12):
            value = shown.set(arrangement=name, depth=blocks)
            for kind, runs in measured(name, blocks).items():
                found = torch.tensor(value[kind]).double()
                torch.testing.assert_close(found, runs.mean(0), **CLOSE)
            for block in (0, blocks // 2, blocks):
                shown.set(block=block)
                read_off(shown, name, blocks, block)


def test_lines_and_table_show_what_is_chosen(show, few):
    shown, record = show(sample()), depth_record()
    for state in states(few(40, 6)):
        value = shown.set(**state)
        pair = [state["arrangement"]]
        if state["compare"] not in ("nothing", *pair):
            pair.append(state["compare"])
        assert shown.all(".reading tbody th") == pair
        for name in pair:
            stored = record[name][str(state["depth"])]
            for kind in KINDS:
                mean = torch.tensor(stored[kind]["mean"]).double()
                found = drawn(shown, kind, name)
                span = float(mean.max() - mean.min()) + 2
                torch.testing.assert_close(
                    found, mean, atol=span / 100, rtol=0
                )
        chosen = record[state["arrangement"]][str(state["depth"])]
        for kind in KINDS:
            assert value[kind] == chosen[kind]["mean"]


def depth_record():
    return sample().attributes["record"]["runs"]


def test_a_finger_on_the_chart_moves_the_cursor(show):
    shown = show(sample())
    box = shown.element.locator("svg").first.bounding_box()
    middle = box["x"] + 46 + (box["width"] - 60) / 2
    shown.page.mouse.click(middle, box["y"] + 60)
    assert shown.value["block"] == 12
    shown.page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 60)
    assert shown.value["block"] == 12  # nothing is pressed
    shown.page.mouse.down()
    assert shown.value["block"] == 24
    shown.page.mouse.up()


def test_the_fallback_says_how_24_blocks_end():
    cells = re.findall(r"<td>(.*?)</td>", sample().fallback)
    record = depth_record()
    ends = [
        10 ** record[name]["24"][kind]["mean"][place]
        for name in NAMES
        for kind, place in (("size", -1), ("gradient", 0))
    ]
    assert len(cells) == 8
    for cell, end in zip(cells, ends, strict=True):
        digits = 0.5 if end < 0.01 else 0.05
        assert 10 ** read(cell) == pytest.approx(end, rel=digits)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_24_blocks_are_those_of_torch(name):
    stored = depth_record()[name]["24"]
    for kind, runs in measured(name, 24).items():
        mean = torch.tensor(stored[kind]["mean"]).double()
        torch.testing.assert_close(mean, runs.mean(0), **CLOSE)
