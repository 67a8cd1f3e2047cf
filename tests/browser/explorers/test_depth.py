"""The explorer of deep stacks: it shows what the benchmark has recorded."""

import json
import math
import re

import torch

from benchmarks import depth
from benchmarks.records import RESULTS
from kit.explorers.depth import depth_explorer
from tests.browser.explorers.shown import close

GOOD = "pre-norm"
NAMES = [name for name in depth.ARRANGEMENTS if name != GOOD]
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
FULLEST = [{"arrangement": name, "depth": 48} for name in NAMES]
KEYS = [
    ("Tab Tab ArrowRight", {"arrangement": "no norm"}),
    ("Tab ArrowRight", {"depth": 48}),
]
SAYS = [
    ({"arrangement": "post-norm"}, ".legend span", ["post-norm", GOOD]),
    ({}, ".answer", "Of a gradient of 1 on the output of 24 blocks, "
     "what arrives at the input is 6.1\u00a0·\u00a010⁻²⁸ with no residual, "
     "and 0.957 with pre-norm."),
]  # fmt: skip


def sample():
    return depth_explorer(RESULTS / "depth.json")


def read(text: str) -> float:
    """The decimal logarithm of a number as the explorer writes it."""
    digits, _, power = text.partition(" · 10")
    return math.log10(float(digits)) + int(power.translate(RAISED) or 0)


def drawn(shown, name) -> torch.Tensor:
    """The logarithms that a line shows, read off the axis beside it."""
    marks = shown.all(
        ".chart text[data-level]",
        "(e) => [+e.dataset.level, e.getAttribute('y') - 4]",
    )
    (low, bottom), *_, (high, top) = sorted(marks)
    assert bottom > top  # more is higher
    line = shown.element.locator(f'g[data-name="{name}"] .line')
    points = line.get_attribute("points").split()
    heights = torch.tensor([float(p.split(",")[1]) for p in points]).double()
    return low + (heights - bottom) / (top - bottom) * (high - low)


def test_lines_and_answer_show_what_is_recorded(shown, few):
    record = json.loads((RESULTS / "depth.json").read_text())["runs"]
    for name in NAMES[:: few(1, 2)]:
        for blocks in depth.DEPTHS[:: few(1, 2)]:
            shown.set(arrangement=name, depth=blocks)
            answer = shown.text(".answer").replace("\u00a0", " ")
            said = re.search("is (.*) with .*, and (.*) with", answer).groups()
            for each, one in zip((name, GOOD), said, strict=True):
                mean = record[each][str(blocks)]["gradient"]["mean"]
                close(read(one), mean[0], 0.03)
                span = max(mean) - min(mean) + 2
                close(drawn(shown, each), mean, span / 100)
