"""The explorer of rules against torch, and its tasks, by hand."""

import random

import pytest
import torch

from kit.explorers.rules import rules_explorer
from tests.browser.explorers.shown import close

WORDS = ["Life", "is", "short", "eat", "dessert", "first"]
PROPERTIES = ["thing", "food", "action", "trait", "time"]
FACTS = torch.tensor([
    [1.0, 0, 0, 0, 0], [0, 0, 0, 0.5, 0], [0, 0, 0, 1, 0],
    [0, 0, 1, 0, 0], [0.5, 1, 0, 0, 0], [0, 0, 0, 0, 1],
])  # fmt: skip
RULES = torch.zeros(5, 5)
for asks, sought in ((0, 3), (1, 2), (2, 1), (3, 0), (4, 2)):
    RULES[asks, sought] = 6
FULLEST = [{"rules": [[-20] * 5] * 5}, {"rules": [[20] * 5] * 5}]
FIRST = RULES.tolist()
LOUDER = [*FIRST[:3], [9, *FIRST[3][1:]], FIRST[4]]
KEYS = [
    ("Tab Tab", "how much a thing looks for: thing"),
    ("ArrowUp ArrowUp", {"rules": [[2, *FIRST[0][1:]], *FIRST[1:]]}),
]
SAYS = [
    ({}, "[role=status]",
     "Tasks, each to be done with one number. Now 0 numbers are changed."),
    ({"rules": LOUDER}, ".weights tr:nth-child(2) td",
     ["0.53", "0.07", "0.07", "0.07", "0.19", "0.07"]),
]  # fmt: skip
# For each task an entry, what does not solve it, and what does.
TRIES = [("trait", "thing", 8, 9), ("trait", "food", -3, -4)]
TRIES += [("time", "thing", 6, 9)]


def sample():
    return rules_explorer(WORDS, PROPERTIES, FACTS, RULES)


def test_the_weights_are_those_of_torch(shown, few):
    draw = random.Random(0)
    for _ in range(few(30, 5)):
        rules = [[draw.randint(-20, 20) for _ in range(5)] for _ in range(5)]
        shown.set(rules=rules)
        scores = FACTS @ torch.tensor(rules, dtype=torch.float) @ FACTS.T
        weights = (scores.double() / 5**0.5).softmax(dim=1)
        found = shown.numbers(".weights td:not(thead td)")
        close(found, weights.flatten(), 6e-3)


@pytest.mark.parametrize("at", range(len(TRIES)))
def test_a_task_is_ticked_when_one_number_solves_it(show, at):
    """Not at the start, by a near miss, or by two numbers; then for good."""
    asks, sought, near, enough = TRIES[at]
    shown = show(sample())

    def put(property, other, value):
        name = f"how much a {property} looks for: {other}"
        shown.get("spinbutton", name, exact=True).fill(str(value))

    put(asks, sought, near)
    put("food", "food", 1)
    put(asks, sought, enough)
    assert shown.all("li b")[at] == "open"
    put("food", "food", 0)
    assert shown.all("li b")[at] == "✓ solved"
    assert shown.text("[role=status]") == f"Task {at + 1} is solved."
    shown.get("button", "Start again").click()
    assert shown.all("li b")[at] == "✓ solved"


def test_what_is_no_number_changes_nothing(shown):
    first = shown.value
    field = shown.get("spinbutton", "how much a time looks for: food")
    for text in ("", "21", "1e99"):
        field.fill(text)
        assert shown.value == first
    field.blur()
    assert field.input_value() == "0"
