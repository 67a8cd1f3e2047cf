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


STATES = list(states(12, seed=1))
FULLEST = [
    {"arrangement": name, "compare": "no residual", "depth": 48, "block": 48}
    for name in NAMES
]


def check(shown):
    for name in NAMES:
        for blocks in (6, 12):
            value = shown.set(arrangement=name, depth=blocks)
            for kind, runs in measured(name, blocks).items():
                mean = runs.mean(0)
                torch.testing.assert_close(
                    torch.tensor(value[kind]).double(), mean, **CLOSE
                )
                span = float(mean.max() - mean.min()) + 2
                torch.testing.assert_close(
                    drawn(shown, kind, name), mean, atol=span / 100, rtol=0
                )
            for block in (0, blocks // 2, blocks):
                shown.set(block=block)
                read_off(shown, name, blocks, block)


def read_off(shown, name, blocks, block):
    """Mean and standard error in the table are those of five runs."""
    for kind, runs in measured(name, blocks).items():
        cell = shown.element.locator(f"td[data-kind={kind}]").first
        number, factor = cell.inner_text().split(" ×/÷ ")
        here = runs[:, block]
        assert abs(read(number) - here.mean()) < 0.03
        error = 10 ** (here.std() / math.sqrt(5))
        assert abs(float(factor) - error) < 0.011 * error


def test_lines_table_and_cursor_show_the_state(show, few):
    shown, record = show(sample()), depth_record()
    for state in states(few(40, 6)):
        value = shown.set(**state)
        pair = [state["arrangement"]]
        if state["compare"] not in ("nothing", *pair):
            pair.append(state["compare"])
        rows = shown.element.locator(".reading tbody th")
        assert rows.all_inner_texts() == pair
        heading = shown.element.locator(".reading thead th").first
        block = state["block"]
        wanted = f"After block {block}" if block else "At the input"
        assert heading.inner_text() == wanted
        for name in pair:
            stored = record[name][str(state["depth"])]
            for kind in KINDS:
                mean = torch.tensor(stored[kind]["mean"]).double()
                found = drawn(shown, kind, name)
                span = float(mean.max() - mean.min()) + 5
                torch.testing.assert_close(found, mean, atol=span / 40, rtol=0)
        chosen = record[state["arrangement"]][str(state["depth"])]
        assert value["size"] == chosen["size"]["mean"]
        assert value["gradient"] == chosen["gradient"]["mean"]


def depth_record():
    return sample().attributes["record"]["runs"]


def test_the_keyboard_alone(show):
    shown = show(sample())
    stops = shown.stops()
    assert len(stops) == 5
    shown.page.evaluate("document.activeElement.blur()")
    shown.press("Tab", "Tab", "ArrowRight", "ArrowRight", "ArrowRight")
    assert shown.value["arrangement"] == "pre-norm"
    shown.press("Tab", "ArrowDown", "ArrowDown")
    assert shown.value["compare"] == "no norm"
    shown.press("Tab", "ArrowRight")
    assert shown.value["depth"] == 48
    shown.press("Tab", "End")
    assert shown.value["block"] == 48
    shown.press("ArrowLeft", "ArrowLeft")
    assert (
        shown.get("slider", "Read at block").get_attribute("aria-valuetext")
        == "46 of 48"
    )
    stored = depth_record()["pre-norm"]["48"]["gradient"]["mean"][46]
    cell = shown.element.locator("td[data-kind=gradient]").first
    assert abs(read(cell.inner_text().split(" ×/÷ ")[0]) - stored) < 0.01


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


def test_a_shallower_stack_has_no_block_48(show):
    shown = show(sample())
    shown.set(depth=48, block=48)
    assert shown.set(depth=6)["block"] == 6


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


FAULTS = {
    "the axis is upside down": (
        "TOP + ((high - log) / (high - low))",
        "TOP + ((log - low) / (high - low))",
    ),
    "both charts show the size": (
        "const { mean, error } = this.found(name)[kind];\n      const along",
        "const { mean, error } = this.found(name).size;\n      const along",
    ),
    "the block before is read": (
        "number(mean[this.block])",
        "number(mean[Math.max(0, this.block - 1)])",
    ),
    "another depth is shown": (
        "this.record.runs[name][this.depth]",
        "this.record.runs[name][24]",
    ),
    "the error is not a factor": (
        "(10 ** error[this.block]).toFixed(2)",
        "error[this.block].toFixed(2)",
    ),
}
