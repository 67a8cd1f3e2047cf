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
from kit.explorers.softmax import (
    KEYS as SCORED,
)
from tests.browser.explorers.shown import answer_of, close, number
from tests.built import first_quick

MENU = ["ice cream", "cake", "salad", "soup"]
TEMPERATURES = [0.1, 0.125, 0.25, 0.5, 0.9, 1, 1.5, 2.5, 5, 8, 10]
# What a reader sees: the numbers of the rows, the lengths of the bars.
READ = """(e) => {
  const all = (names) => [...e.shadowRoot.querySelectorAll(names)];
  const wide = (box) => box.getBoundingClientRect().width;
  const texts = (found) => [...found].map((part) => part.innerText);
  return {
    rows: all("tbody tr").map((row) => texts(row.cells).slice(1, 4)),
    facts: texts(all(".facts b")),
    bars: all(".track").map((t) => wide(t.firstChild) / (wide(t) - 1)),
  };
}"""
RANDOM = {"source": "random", "temperature": 2, "width": 16, "seed": 7}
FULLEST = [
    {"source": "random", "scaled": True, "temperature": 0.125, "width": 512}
]
KEYS = [
    ("Tab Tab", "menu"),
    ("ArrowRight Tab", "temperature T"),
    ("ArrowLeft ArrowLeft Tab Space Tab", "width d"),
    ("End Tab ArrowRight ArrowRight", {"source": "random", "seed": 3}),
    ("", {"temperature": 0.8, "scaled": True, "width": 512}),
]
SAYS = [
    (RANDOM, "output", ["2", "16", "7 of 100"]),
    (RANDOM, "tbody th", [f"key {n}" for n in range(SCORED)]),
    (RANDOM | {"scaled": True}, "thead th:nth-child(3)", "÷ √16 ÷ T"),
    ({}, "tbody th", MENU),
    ({}, "label:has(output):visible .name", "temperature T"),
]


def sample():
    return softmax_explorer(MENU, [3.0, 2.0, -1.0, -4.0], 2)


def agrees(shown, scores, entries, temperature=1, scaled=False, **state):
    """What it says, writes and draws in a state is what torch computes."""
    value = shown.set(temperature=temperature, scaled=scaled, **state)
    scores = torch.as_tensor(scores, dtype=torch.float64)
    logits = scores / temperature / (math.sqrt(entries) if scaled else 1)
    shares = torch.softmax(logits, dim=0)
    left, slope = choices(shares), (shares * (1 - shares)).max()
    close(value["shares"], shares)
    close(value["scores"], scores)
    close(value["choices"], left)
    close(value["slope"], slope)
    seen = shown.element.evaluate(READ)
    written = [[number(x) for x in row] for row in seen["rows"]]
    close(written, torch.stack([scores, logits, shares], dim=1), 6e-3)
    close([number(x) for x in seen["facts"]], [left, slope], 6e-3)
    close(seen["bars"], shares, 5e-3)


@pytest.mark.parametrize("seed", first_quick(range(6)))
def test_shares_of_given_scores_are_those_of_torch(show, seed):
    draw = random.Random(seed)
    count, width = draw.randint(1, 7), draw.choice([1, 2, 3, 8, 100])
    size = draw.choice([0, 1, 5, 100, 1e4])
    scores = [round(draw.gauss(0, size), 2) for _ in range(count)]
    names = [f"<{i}>" for i in range(count)]
    shown = show(softmax_explorer(names, scores, width))
    for _ in range(6):
        temperature = draw.choice(TEMPERATURES)
        agrees(shown, scores, width, temperature, draw.random() < 0.5)


def test_scores_whose_exponentials_are_infinite(show):
    scores = [900.0, 899.0, 1.0, 0.0]
    agrees(show(softmax_explorer(MENU, scores, 2)), scores, 2, 5)


def test_shares_of_random_vectors_are_those_of_torch(show, few):
    shown, draw = show(sample()), random.Random(0)
    for width in few(4 * WIDTHS, draw.sample(WIDTHS, 3)):
        seed = draw.randint(1, DRAWS)
        agrees(
            shown,
            random_scores([seed])[WIDTHS.index(width), 0],
            width,
            draw.choice(TEMPERATURES),
            draw.random() < 0.5,
            source="random",
            seed=seed,
            width=width,
        )


@pytest.mark.parametrize("temperature", first_quick([0.5, 1, 4]))
def test_the_curves_are_the_means_of_a_hundred_draws(show, temperature):
    shown = show(sample())
    shown.set(source="random", temperature=temperature, width=64)
    plain, divided = mean_choices(temperature)
    at = WIDTHS.index(64)
    said = shown.all(".legend b")
    close([number(x) for x in said[:2]], [divided[at], plain[at]], 6e-3)
    assert "width 64, mean of 100" in shown.text("figcaption")
    levels = shown.all("figure text", "(e) => Number(e.getAttribute('y'))")
    scale = (SCORED - 1) / (levels[0] - levels[4])  # of 1, 2 … 8
    for kind, means in (("undivided", plain), ("divided", divided)):
        (line,) = shown.all(
            f"figure > svg .{kind}", "(e) => e.getAttribute('d')"
        )
        heights = re.findall(r"[\d.]+,([\d.]+)", line)
        drawn = [1 + (levels[0] - 4 - float(y)) * scale for y in heights]
        close(drawn, means, 1e-4)


def test_it_shows_the_answer_of_its_question(show):
    answer, shown = answer_of("02"), show(sample())
    for width in WIDTHS:
        shown.set(source="random", width=width)
        divided, plain, _ = shown.all(".legend b")
        if number(plain) < 2:
            break
        before = plain
    assert f"From {width} on, where {plain} are left" in answer
    assert f"at {width // 2} there were {before}" in answer
    assert f"you divide, {divided} are left" in answer


def test_the_fallback_has_the_numbers_of_the_start(show):
    shown = show(sample(), script=False)
    menu, means = shown.all("table")
    for word, share in zip(MENU, [0.72, 0.27, 0.01, 0.00], strict=True):
        assert re.search(rf"{word}\s+−?\d\s+{share:.2f}", menu)
    for row in zip(WIDTHS, *mean_choices(), strict=True):
        assert re.search(r"{}\s+{:.2f}\s+{:.2f}".format(*row), means)
