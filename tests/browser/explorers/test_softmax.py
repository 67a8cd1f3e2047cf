"""The explorer of scores and shares against torch."""

import math
import random
import re

import pytest
import torch

from kit.explorers.softmax import (
    DRAWS,
    WIDTHS,
    choices,
    mean_choices,
    random_scores,
    softmax_explorer,
)
from tests.browser.explorers.shown import close, number
from tests.built import first_quick

MENU, SCORES = ["ice cream", "cake", "salad", "soup"], [3.0, 2.0, -1.0, -4.0]
TEMPERATURES = [0.1, 0.125, 0.25, 0.5, 0.9, 1, 1.5, 2.5, 5, 8, 10]
CELLS = "(row) => [...row.cells].slice(1, 4).map((cell) => cell.innerText)"
LENGTH = """(bar) => bar.getBoundingClientRect().width
  / (bar.parentNode.getBoundingClientRect().width - 1)"""
RANDOM = {"source": "random", "temperature": 2, "width": 16, "seed": 7}
FULLEST = [
    {"source": "random", "scaled": True, "temperature": 0.125, "width": 512}
]
KEYS = [
    ("Tab Tab", "menu"),
    ("Tab", "temperature T"),
    ("ArrowLeft ArrowLeft Tab Space Tab", "width d"),
    ("End Tab ArrowRight ArrowRight", {"source": "random", "seed": 3}),
    ("", {"temperature": 0.8, "scaled": True, "width": 512}),
]
SAYS = [
    (RANDOM, "output", ["2", "16", "7 of 100"]),
    (RANDOM, "tbody th", [f"key {n}" for n in range(8)]),
    (RANDOM | {"scaled": True}, "thead th:nth-child(3)", "÷ √16 ÷ T"),
    ({}, "tbody th", MENU),
]


def sample(names=MENU, scores=SCORES, width=2):
    return softmax_explorer(names, scores, width)


def agrees(shown, scores, entries, **state):
    """What is written and drawn in a state is what torch computes."""
    shown.set(**state)
    scores = torch.as_tensor(scores, dtype=torch.float64)
    root = math.sqrt(entries) if state["scaled"] else 1
    logits = scores / state["temperature"] / root
    shares = logits.softmax(dim=0)
    rows = [[number(x) for x in row] for row in shown.all("tbody tr", CELLS)]
    close(rows, torch.stack([scores, logits, shares], dim=1), 6e-3)
    close(shown.all(".track .bar", LENGTH), shares, 5e-3)
    left, slope = choices(shares), (shares * (1 - shares)).max()
    close(shown.numbers(".facts b"), [left, slope], 6e-3)
    meters = [left / len(shares), slope / 0.25]
    close(shown.all(".meter .bar", "(e) => +e.style.getPropertyValue("
                    "'--share')"), meters)  # fmt: skip


@pytest.mark.parametrize("seed", first_quick(range(6)))
def test_shares_of_given_scores_are_those_of_torch(show, seed):
    draw = random.Random(seed)
    count, width = draw.randint(1, 7), draw.choice([1, 2, 3, 8, 100])
    size = draw.choice([0, 1, 5, 100, 1e4])
    scores = [round(draw.gauss(0, size), 2) for _ in range(count)]
    shown = show(sample([f"<{i}>" for i in range(count)], scores, width))
    for temperature in draw.choices(TEMPERATURES, k=6):
        scaled = draw.random() < 0.5
        agrees(shown, scores, width, temperature=temperature, scaled=scaled)


def test_shares_of_random_vectors_are_those_of_torch(shown, few):
    draw = random.Random(0)
    for width in few(4 * WIDTHS, draw.sample(WIDTHS, 3)):
        state = {
            "seed": draw.randint(1, DRAWS),
            "temperature": draw.choice(TEMPERATURES),
            "scaled": draw.random() < 0.5,
        }
        scores = random_scores([state["seed"]])[WIDTHS.index(width), 0]
        agrees(shown, scores, width, source="random", width=width, **state)


@pytest.mark.parametrize("temperature", first_quick([0.5, 1, 4]))
def test_the_curves_are_the_means_of_a_hundred_draws(shown, temperature):
    shown.set(source="random", temperature=temperature, width=64)
    plain, divided = mean_choices(temperature)
    at = WIDTHS.index(64)
    close(shown.numbers(".legend b")[:2], [divided[at], plain[at]], 6e-3)
    assert "width 64, mean of 100" in shown.text("figcaption")
    levels = shown.all("figure text", "(e) => Number(e.getAttribute('y'))")
    assert min(levels) > 0  # within the picture
    scale = 7 / (levels[0] - levels[4])  # of 1, 2 … 8
    for kind, means in (("undivided", plain), ("divided", divided)):
        (line,) = shown.all(
            f"figure > svg .{kind}", "(e) => e.getAttribute('d')"
        )
        heights = re.findall(r"[\d.]+,([\d.]+)", line)
        drawn = [1 + (levels[0] - 4 - float(y)) * scale for y in heights]
        close(drawn, means, 1e-4)
