"""The explorer of deep stacks: it shows what the benchmark has recorded."""

import math
import random

import torch

from benchmarks import depth
from benchmarks.records import RESULTS
from kit.explorers.depth import depth_explorer
from tests.browser.explorers.shown import close

NAMES, KINDS = list(depth.ARRANGEMENTS), ("size", "gradient")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
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


def sample():
    return depth_explorer(RESULTS / "depth.json")


def read(text: str) -> float:
    """The decimal logarithm of a number as the explorer writes it."""
    digits, _, power = text.partition(" · 10")
    return math.log10(float(digits)) + int(power.translate(RAISED) or 0)


def drawn(shown, kind, name) -> torch.Tensor:
    """The logarithms that a line shows, read off the axis beside it."""
    chart = shown.element.locator(f"svg[data-kind={kind}]")
    marks = chart.locator("text[data-level]").evaluate_all(
        "(all) => all.map((e) => [+e.dataset.level, e.getAttribute('y') - 4])"
    )
    (low, bottom), *_, (high, top) = sorted(marks)
    assert bottom > top  # more is higher
    line = chart.locator(f'g[data-name="{name}"] .line')
    points = line.get_attribute("points").split()
    heights = torch.tensor([float(p.split(",")[1]) for p in points]).double()
    return low + (heights - bottom) / (top - bottom) * (high - low)


def test_lines_and_table_show_what_is_chosen(shown, few):
    draw, record = random.Random(0), sample().attributes["record"]["runs"]
    for _ in range(few(40, 6)):
        blocks, names = draw.choice(depth.DEPTHS), draw.choices(NAMES, k=2)
        compare = draw.choice(["nothing", names[1]])
        block = draw.randint(0, blocks)
        shown.set(
            arrangement=names[0], compare=compare, depth=blocks, block=block
        )
        pair = list(dict.fromkeys(names[: 1 + (compare != "nothing")]))
        assert shown.all(".reading tbody th") == pair
        for kind in KINDS:
            cells = shown.all(f"td[data-kind={kind}]")
            for name, cell in zip(pair, cells, strict=True):
                mean, error = record[name][str(blocks)][kind].values()
                number, factor = cell.split(" ×/÷ ")
                close(read(number), mean[block], 0.03)
                close(float(factor), 10 ** error[block], 5.01e-3)
                span = max(mean) - min(mean) + 2
                close(drawn(shown, kind, name), mean, span / 100)


def test_a_finger_on_the_chart_moves_the_cursor(shown):
    box = shown.element.locator("svg").first.bounding_box()
    middle = box["x"] + 46 + (box["width"] - 60) / 2
    shown.page.mouse.click(middle, box["y"] + 60)
    assert shown.value["block"] == 12
    shown.page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 60)
    assert shown.value["block"] == 12  # nothing is pressed
    shown.page.mouse.down()
    assert shown.value["block"] == 24
    shown.page.mouse.up()
