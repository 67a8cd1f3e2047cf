"""The explorer of the cache counts as the library, which does as torch."""

import random
import re

import pytest

from kit.explorers.cache import cache_explorer
from lib.efficient import layer_operations
from lib.masks import causal_mask
from tests.browser.explorers.shown import number

TEXT = ["B", *"2019-03-03"]
FULLEST = [{"width": 1024, "step": 11}]
# At its end, too, arrows step from where the keyboard is.
KEYS = [
    ({"step": 1}, {"step": 1}),
    ("Tab Tab Tab", "Next"),
    ("Enter ArrowRight ArrowRight ArrowLeft", {"step": 3}),
    ("Tab", "Step"),
    ("End", {"step": 11}),
    ("ArrowLeft Shift+Tab Enter Enter", {"step": 11}),
    ("ArrowLeft", {"step": 10}),
    ("Shift+Tab Enter", {"step": 9}),
    # The list has its own use for arrows.
    ("Tab Tab Tab ArrowDown", {"width": 256, "step": 9}),
]
SAYS = [
    ({}, "output", "4 of 11"),
    ({}, ".legend li", [
        "●computed, for the first time",
        "=computed again, the same number",
        "×computed, then hidden by the mask",
        "✓kept from an earlier step",
    ]),
    ({"step": 1}, "[aria-disabled=true]", ["◀ Back"]),
    ({"step": 2}, "[aria-disabled=true]", []),
    ({"step": 11}, "[aria-disabled=true]", ["Next ▶"]),
]  # fmt: skip
# The states of the cells of each role in each of the two panels.
CELLS = """(panel) => ["query", "key", "value", "score", "out"].map((role) =>
  [...panel.querySelectorAll(`.${role}[data-state]`)].map(
    (cell) => cell.dataset.state))"""
COUNTS = "(row) => [...row.cells].slice(1).map((cell) => cell.innerText)"


def sample():
    return cache_explorer(TEXT)


def multiplications(tokens, width):
    """Those of a step without a cache, and with one: of its row alone."""
    work = layer_operations(tokens, width, d_ff=1)
    work.pop("feed-forward")
    whole = sum(work.values()) // 2  # the other half are additions
    return [whole, whole // tokens]


def expected_cells(way, step):
    """As the two ways of attention work, row by row."""
    rows = (step - 1) * ["none" if way else "again"] + ["new"]
    kept = (step - 1) * ["kept" if way else "again"] + ["new"]
    length = len(TEXT)
    seen = causal_mask(length)[0, 0].tolist()
    scores = [
        "none"
        if max(i, j) >= step
        else "hidden"
        if not seen[i][j] and not way
        else rows[i]
        for i in range(length)
        for j in range(length)
    ]
    later = (length - step) * ["none"]
    rows, kept = rows + later, kept + later
    return [rows, kept, kept, scores, rows]


def worth(text: str) -> int:
    """The value of a formula with its numbers put in."""
    plain = text.replace(",", "").replace("·", "*").replace("²", "**2")
    return eval(re.fullmatch(r"[\d*+ ]+", plain)[0])


def test_counters_and_cells_are_what_the_library_does(shown, few):
    draw = random.Random(0)
    for _ in range(few(40, 8)):
        width = draw.choice([16, 64, 256, 1024])
        step = draw.randint(1, 11)
        shown.set(width=width, step=step)
        steps = [multiplications(t, width) for t in range(1, step + 1)]
        so_far, now = [sum(way) for way in zip(*steps, strict=True)], steps[-1]
        kept = 2 * step * width  # a key and a value of each token
        cells = [row for row in shown.all(".counts tbody tr", COUNTS)]
        counts = [[number(c.split("\n")[0]) for c in row] for row in cells]
        rows = [sum(range(step + 1)), step]
        assert counts == [rows, now, so_far, [0, kept]]
        formulas = [cell.split("\n")[1] for cell in (*cells[1], cells[3][1])]
        assert [worth(text) for text in formulas] == [*now, kept]
        assert shown.text(".ahead") == (
            f"Step {step}: the decoder reads “{TEXT[step - 1]}”. So far it "
            f"has multiplied {so_far[0] / so_far[1]:.2f} times as often "
            "without a cache."
        )
        wanted = [expected_cells(way, step) for way in (0, 1)]
        assert shown.all(".panel", CELLS) == wanted


@pytest.mark.slow
def test_it_plays_only_if_asked_and_stops_at_the_end(show):
    shown = show(sample())
    clock, play = shown.page.clock, shown.get("button", "Play")
    clock.install()
    clock.run_for(20_000)
    assert shown.value["step"] == 4
    shown.set(step=1)
    for name, seconds, step in (
        ("Play", 2.5, 3),
        ("Pause", 5, 3),
        ("Play", 60, 11),
        ("Play", 0, 1),  # once more
    ):
        shown.get("button", name).press("Enter")
        clock.run_for(int(1000 * seconds))
        assert shown.value["step"] == step
    shown.get("button", "Start again").press("Enter")
    clock.run_for(5_000)
    assert shown.value["step"] == 4
    assert play.is_visible()


def test_who_wants_no_motion_gets_none(show):
    assert not show(sample(), still=True).get("button", "Play").is_visible()
