"""The explorer of the delta memory against torch."""

import random

import pytest
import torch

from kit.explorers.delta import delta_explorer, memories, unit_keys
from tests.browser.explorers.shown import close, number
from tests.built import first_quick

NAMES = ["north", "east", "south", "north", "east", "south", "north", "east"]
VALUES = [2, 4, 1, 5, 3, 6, 8, 7]
FULLEST = [
    {"rule": "forget", "beta": 0.35, "alpha": 0.95, "alike": 0.55}
    | {"step": 8, "values": [-9.5] * 8}
]
KEYS = [
    ("Tab Tab ArrowRight", {"rule": "overwrite"}),
    ("ArrowRight Tab", "readings"),
    ("End Tab ArrowLeft", {"values": [*VALUES[:7], 6.5], "step": 8}),
    ("Tab End Tab ArrowLeft", {"alike": 1, "beta": 0.95}),
    ("Tab ArrowRight", {"alpha": 0.95, "rule": "forget"}),
]
RIGHT = ["✓ right"] * 3
SAYS = [
    ({}, "td.verdict", ["✗ 2 too high", *RIGHT[1:]]),
    ({"rule": "overwrite"}, "td.verdict", RIGHT),
    ({"rule": "overwrite", "beta": 0.5}, ".said", "Reading 4, north 5°. The "
     "memory answered 1°. The error was 4°, so β = 0.5 added the key of "
     "north, times 2. Right answers: 0 of 3."),
    ({"rule": "forget", "alike": 0.5}, "caption code", "S ← 0.9 S + 2.29 k"),
]  # fmt: skip
MEMORY, ANSWERS = ".memory tbody tr", ".answers tbody tr"
CELLS = "(row) => [...row.cells].slice(1).map((cell) => cell.innerText)"


def sample(names=NAMES, values=VALUES):
    return delta_explorer(list(zip(names, values, strict=True)))


def by_products(keys, values, keep, erase, write):
    """The same memories: S becomes keep (I − erase k kᵀ) S + write k v."""
    unit = torch.eye(keys.shape[1], dtype=torch.float64)
    rows = [0 * unit[0]]
    for k, v in zip(keys, values, strict=True):
        left = keep * (unit - erase * torch.outer(k, k)) @ rows[-1]
        rows.append(left + write * k * v)
    return torch.stack(rows)


@pytest.mark.parametrize("count", first_quick([3, 2, 4]))
def test_what_it_keeps_and_answers_is_what_torch_computes(show, few, count):
    draw = random.Random(count)
    asked = ["north", "east", "south", "west"][:count]
    names = asked + draw.choices(asked, k=6)
    shown = show(sample(names, len(names) * [1]))
    for _ in range(few(60, 15)):
        b, a, alike = (draw.randint(0, 20) / 20 for _ in range(3))
        rules = {"add": (1, 0, 1), "overwrite": (1, b, b), "forget": (a, b, b)}
        rule, step = draw.choice([*rules]), draw.randint(1, len(names))
        values = [draw.randint(-20, 20) / 2 for _ in names]
        shown.set(rule=rule, beta=b, alpha=a, alike=alike)
        shown.set(step=step, values=values)
        units = unit_keys(names, alike)
        keys = torch.stack([units[name] for name in names[:step]])
        rows = by_products(keys, values[:step], *rules[rule])
        close(memories(keys, values[:step], rule, b, a), rows, 1e-12)
        cells = [[number(x) for x in row] for row in shown.all(MEMORY, CELLS)]
        close(cells, torch.stack([rows[-2], keys[-1], rows[-1]], dim=1), 6e-3)
        last = dict(zip(names[:step], values, strict=False))
        for name, said in zip(asked, shown.all(ANSWERS, CELLS), strict=True):
            answer, written, verdict = (text.strip("°") for text in said)
            exact = float(units[name] @ rows[-1])
            close(number(answer), exact, 6e-3)
            if name not in last:
                assert (written, verdict) == ("nothing", "")
                continue
            assert number(written) == last[name]
            over = exact - last[name]
            assert ("right" in verdict) == (abs(over) < 0.005)
            assert ("high" in verdict) == (over >= 0.005)
        assert shown.numbers(".facts b") == [count, step * (count + 1)]


@pytest.mark.parametrize(
    "rule, used", [("add", 0), ("overwrite", 1), ("forget", 2)]
)
def test_keys_come_to_what_the_rule_uses(shown, rule, used):
    shown.set(rule=rule)
    assert shown.stops()[5:] == ["overwrite β1.00", "keep α0.90"][:used]
