"""The explorer of scores and shares against torch."""

import math
import random
import re

import pytest
import torch

from kit.explorers.softmax import (
    DRAWS,
    KEYS,
    WIDTHS,
    choices,
    mean_choices,
    random_scores,
    softmax_explorer,
)
from tests.explorers.shown import answer_of, first_quick

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


FULLEST = [
    {"source": "random", "scaled": True, "temperature": 0.125, "width": 512}
]
STATES = [
    {"temperature": 0.125, "scaled": True},
    {"source": "random", "seed": 1, "width": 2},
    {"source": "random", "seed": 100, "width": 512, "temperature": 10},
]


def sample():
    return softmax_explorer(MENU, [3.0, 2.0, -1.0, -4.0], 2)


def number(text):
    return float(text.replace("−", "-").replace("∞", "inf"))


def expected(scores, entries, temperature=1, scaled=False):
    """What softmax gets, and what it gives."""
    scores = torch.as_tensor(scores, dtype=torch.float64)
    scores = scores / temperature / (math.sqrt(entries) if scaled else 1)
    return scores, torch.softmax(scores, dim=0)


def agrees(shown, scores, entries, **state):
    """What it says, writes and draws in a state is what torch computes."""
    value = shown.set(**state)
    options = {k: state[k] for k in state if k in ("temperature", "scaled")}
    logits, shares = expected(scores, entries, **options)
    left, slope = choices(shares), (shares * (1 - shares)).max()
    for name, true in (("shares", shares), ("scores", scores)):
        close(value[name], true)
    close(value["choices"], left)
    close(value["slope"], slope)
    seen = shown.element.evaluate(READ)
    written = [[number(x) for x in row] for row in seen["rows"]]
    true = torch.stack([torch.tensor(scores), logits, shares], dim=1)
    close(written, true, 6e-3)
    close([number(x) for x in seen["facts"]], [left, slope], 6e-3)
    close(seen["bars"], shares, 5e-3)


def close(found, true, most=1e-5):
    found = torch.as_tensor(found, dtype=torch.float64)
    true = torch.as_tensor(true, dtype=torch.float64)
    torch.testing.assert_close(found, true, atol=most, rtol=0)


@pytest.mark.parametrize("seed", first_quick(range(6)))
def test_shares_of_given_scores_are_those_of_torch(show, seed):
    draw = random.Random(seed)
    count, width = draw.randint(1, 7), draw.choice([1, 2, 3, 8, 100])
    size = draw.choice([0, 1, 5, 100, 1e4])
    scores = [round(draw.gauss(0, size), 2) for _ in range(count)]
    names = [f"<{i}>" for i in range(count)]
    shown = show(softmax_explorer(names, scores, width))
    assert shown.get("rowheader").all_inner_texts() == names
    for _ in range(6):
        temperature = draw.choice(TEMPERATURES)
        scaled = draw.random() < 0.5
        agrees(shown, scores, width, temperature=temperature, scaled=scaled)


def test_shares_of_random_vectors_are_those_of_torch(show, few):
    shown, draw = show(sample()), random.Random(0)
    for width in few(4 * WIDTHS, draw.sample(WIDTHS, 3)):
        seed = draw.randint(1, DRAWS)
        agrees(
            shown,
            random_scores([seed])[WIDTHS.index(width), 0].tolist(),
            width,
            source="random",
            seed=seed,
            width=width,
            temperature=draw.choice(TEMPERATURES),
            scaled=draw.random() < 0.5,
        )


@pytest.mark.parametrize("temperature", first_quick([0.5, 1, 4]))
def test_the_curves_are_the_means_of_a_hundred_draws(show, temperature):
    shown = show(sample())
    shown.set(source="random", temperature=temperature, width=64)
    plain, divided = mean_choices(temperature)
    at = WIDTHS.index(64)
    said = shown.element.locator(".legend b").all_inner_texts()
    close([number(x) for x in said[:2]], [divided[at], plain[at]], 6e-3)
    caption = shown.element.locator("figcaption").inner_text()
    assert "width 64, mean of 100" in caption
    levels = shown.element.locator("figure text").all()[:5]
    heights = [float(x.get_attribute("y")) for x in levels]  # of 1, 2 … 8
    scale = (KEYS - 1) / (heights[0] - heights[-1])
    for kind, means in (("undivided", plain), ("divided", divided)):
        line = shown.element.locator(f"figure > svg .{kind}")
        points = re.findall(r"[\d.]+,([\d.]+)", line.get_attribute("d"))
        drawn = [1 + (heights[0] - 4 - float(y)) * scale for y in points]
        close(drawn, means, 1e-4)


def test_it_shows_the_answer_of_its_question(show):
    answer = answer_of("02")
    shown = show(sample())
    for width in WIDTHS:
        shown.set(source="random", width=width)
        said = shown.element.locator(".legend b").all_inner_texts()
        divided, plain, _ = said
        if number(plain) < 2:
            break
        before = plain
    assert f"From {width} on, where {plain} are left" in answer
    assert f"at {width // 2} there were {before}" in answer
    assert f"you divide, {divided} are left" in answer


@pytest.mark.slow
def test_random_scores_have_the_variance_of_their_width():
    scores = random_scores(range(1, 1_001))
    variance = scores.var(dim=(1, 2)) / torch.tensor(WIDTHS)
    close(variance, torch.ones(len(WIDTHS)), 0.08)
    means = scores.mean(dim=(1, 2)) / torch.tensor(WIDTHS).sqrt()
    close(means, torch.zeros(len(WIDTHS)), 0.08)
    _, distinct = random_scores(range(1, DRAWS + 1)).unique(return_counts=True)
    assert (distinct == 1).all()


def test_it_is_driven_by_keyboard_alone(show):
    shown = show(sample())
    shown.press("Tab", "Tab")
    assert shown.focused() == "menu"
    shown.press("ArrowRight", "Tab")
    assert shown.focused().startswith("temperature T")
    shown.press("ArrowLeft", "ArrowLeft", "Tab", "Space", "Tab", "End", "Tab")
    shown.press("ArrowRight", "ArrowRight")
    names = ("source", "temperature", "scaled", "width", "seed")
    said = {name: shown.value[name] for name in names}
    wanted = ("random", 0.8, True, 512, 3)
    assert said == dict(zip(names, wanted, strict=True))
    assert shown.get("slider", "width d").get_attribute("aria-valuetext") == (
        "512"
    )


def test_controls_follow_what_is_set(show):
    shown = show(sample())
    shown.set(source="random", temperature=2, width=16, seed=7, scaled=True)
    assert shown.get("radio", "random vectors").is_checked()
    assert shown.get("checkbox").is_checked()
    said = shown.element.locator("output").all_inner_texts()
    assert said == ["2", "16", "7 of 100"]
    assert shown.get("columnheader", "÷ √16 ÷ T").is_visible()
    shown.get("button", "Start again").click()
    assert not shown.get("slider", "width d").is_visible()
    assert shown.value["temperature"] == 1


def test_the_fallback_has_the_numbers_of_the_start(show):
    shown = show(sample(), script=False)
    menu, means = (t.inner_text() for t in shown.get("table").all())
    for word, share in zip(MENU, [0.72, 0.27, 0.01, 0.00], strict=True):
        assert re.search(rf"{word}\s+−?\d\s+{share:.2f}", menu)
    plain, divided = mean_choices()
    for row in zip(WIDTHS, plain, divided, strict=True):
        assert re.search(r"{}\s+{:.2f}\s+{:.2f}".format(*row), means)


FAULTS = {
    "the temperature multiplies": (
        "scores.map((score) => score / divisor));\n      return { source",
        "scores.map((score) => score * divisor));\n      return { source",
    ),
    "divided by the width, not by its root": (
        "temperature * (scaled ? Math.sqrt(d) : 1)",
        "temperature * (scaled ? d : 1)",
    ),
    "the table shows undivided scores": (
        "number(scores[key] / divisor)",
        "number(scores[key])",
    ),
    "bars are as long as the scores": (
        '"--share": share })))));',
        '"--share": share * share })))));',
    ),
    "the slope forgets a factor": ("p * (1 - p)", "1 - p"),
    "bits instead of choices": ("p * Math.log(p)", "p * Math.log2(p)"),
    "nothing is subtracted": (
        "Math.exp(score - top)",
        "Math.exp(score)",
    ),
    "the control keeps its old place": (
        "input.value = this[name];\n        said",
        "said",
    ),
}


def exact():
    """With scores whose exponentials are infinite."""
    return softmax_explorer(MENU, [900.0, 899.0, 1.0, 0.0], 2)


def check(shown):
    for state in ({}, {"scaled": True}, {"temperature": 5}):
        state = {"temperature": 1, "scaled": False} | state
        agrees(shown, [900.0, 899.0, 1.0, 0.0], 2, **state)
    shown.get("slider", "temperature T").press("ArrowRight")
    assert shown.value["temperature"] > 5
