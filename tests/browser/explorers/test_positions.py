"""The explorer of places against the library and torch."""

import random
import re

import pytest
import torch

from kit.explorers.positions import KEY, QUERY, positions_explorer
from lib.positions import rotary, sinusoidal_positions
from tests.browser.explorers.shown import close, number
from tests.built import first_quick

BASES = [10, 100, 1_000, 10_000, 100_000, 500_000, 1_000_000]
WIDTHS = [2, 4, 8, 16, 32, 64, 128]
VIEWS = ["rotary", "alone", "added"]
LAST = ELSEWHERE = 100
TIP = "(e) => [+e.getAttribute('cx'), +e.getAttribute('cy')]"
HEIGHT = "(e) => +e.getAttribute('cy')"
FULLEST = [
    {"view": view, "width": 128, "base": 1_000_000, "m": 0, "n": 100}
    for view in ("alone", "added")
]
SET = {"view": "alone", "width": 64, "base": 500_000, "m": 7, "n": 99}
KEYS = [
    ("Tab Tab", "rotary"),
    ("ArrowLeft Tab ArrowRight ArrowRight", {"view": "added", "width": 32}),
    ("Tab Home ArrowRight Tab Home Tab End", {"base": 100, "m": 0, "n": 100}),
    ("Tab Tab Tab", "+1"),
    ("Enter Shift+Tab Space", {"m": 0, "n": 100}),
    ({"n": 50}, {"m": 0}),
    ("Tab Tab Enter", {"m": 10, "n": 60}),
]
SAYS = [
    (SET, "output", ["64", "500,000", "7", "99"]),
    (SET, ".legend span", ["place 7", "place 99"]),
    ({}, ".legend span", ["query at place 20", "key at place 21"]),
    ({"m": 2, "n": 4}, "dt", ["places 2 and 4", "places 100 and 102"]),
    # The numbers of chapter 6.
    ({"width": 2, "m": 2, "n": 3}, "dd", ["−0.2943", "−0.2943"]),
    ({"width": 2, "m": 0, "n": 2}, "dd", ["−0.9881", "−0.9881"]),
]


def sample():
    return positions_explorer()


def vectors(view, width, base):
    """The query and the key at each place, by the library: (places, width)."""
    count = ELSEWHERE + LAST + 1
    contents = [torch.tensor(v).double() for v in (QUERY, KEY)]
    contents = [content.repeat(width // 2) for content in contents]
    if view == "rotary":
        return [rotary(v.repeat(count, 1), base=float(base)) for v in contents]
    table = sinusoidal_positions(count, width, float(base), torch.float64)
    return [table + content * (view == "added") for content in contents]


def agrees(shown, view, width, base, m, n):
    """What is written and drawn in a state is what the library says."""
    shown.set(view=view, width=width, base=base, m=m, n=n)
    queries, keys = vectors(view, width, base)
    places = torch.tensor([m, ELSEWHERE])
    scores = (queries[places] * keys[places + n - m]).sum(dim=1)
    close(shown.numbers("dd"), scores, 6e-5)
    names = shown.all("li span:first-child")
    pairs = [int(name.removeprefix("pair ")) for name in names]
    assert pairs[0] == 0 and len(pairs) == min(8, width // 2)
    assert pairs[-1] == max(pairs) == width // 2 - 1
    q, k = (v.view(-1, 2)[pairs] for v in (queries[m], keys[n]))
    turned_up = torch.tensor([1, -1]) * (20 if view == "added" else 36)
    close(shown.all(".clocks .m .tip", TIP), q * turned_up)
    close(shown.all(".clocks .n .tip", TIP), k * turned_up)
    close(shown.numbers("li svg + span"), (q * k).sum(dim=1), 6e-3)
    turns = 2 * torch.pi * base ** (2 * torch.tensor(pairs) / width)
    close(shown.numbers("small"), turns, 0.6)


@pytest.mark.parametrize("view", VIEWS)
def test_vectors_and_scores_are_those_of_the_library(shown, view, few):
    draw = random.Random(view)
    for width in few(5 * WIDTHS, draw.sample(WIDTHS, 3)):
        m, n = draw.randint(0, LAST), draw.randint(0, LAST)
        agrees(shown, view, width, draw.choice(BASES), m, n)
    agrees(shown, view, width=8, base=10_000, m=20, n=33)


@pytest.mark.parametrize("view", first_quick(VIEWS))
def test_moving_both_keeps_what_depends_on_the_distance(shown, view):
    shown.set(view=view, m=3, n=17)
    before, seen = shown.numbers("dd"), set()
    for name in ("+1", "+10", "+10", "+1", "−1", "−10"):
        shown.get("button", name, exact=True).click()
        score, elsewhere = shown.numbers("dd")
        assert elsewhere == before[1]
        seen.add(score)
    assert (shown.value["m"], shown.value["n"]) == (14, 28)
    assert (seen == {before[0]}) == (view != "added")


def test_both_places_stop_where_one_of_them_must(shown):
    for m, n, name, wanted in (
        (5, 0, "−10", (5, 0)),
        (12, 4, "−10", (8, 0)),
        (98, 20, "+10", (100, 22)),
        (20, 98, "+10", (22, 100)),
    ):
        shown.set(m=m, n=n)
        shown.get("button", name, exact=True).click()
        assert (shown.value["m"], shown.value["n"]) == wanted


@pytest.mark.parametrize("view", first_quick(VIEWS))
@pytest.mark.parametrize("n, reach", first_quick([(41, 40), (95, 100)]))
def test_the_line_and_the_dots_are_drawn_where_the_scores_are(
    shown, view, n, reach
):
    m, width = 30, 16
    shown.set(view=view, m=m, n=n, width=width)
    queries, keys = vectors(view, width, 10_000)
    labels = shown.all(
        "figure > svg text[text-anchor=end]",
        "(e) => [e.textContent, +e.getAttribute('y') - 4]",
    )
    (low, y_low), *_, (high, y_high) = [(number(n), y) for n, y in labels]
    assert low <= 0 <= high and y_low > y_high  # more is higher

    def scores(heights):
        heights = torch.tensor([float(y) for y in heights])
        return low + (heights - y_low) / (y_high - y_low) * (high - low)

    (line,) = shown.all("figure > svg .line", "(e) => e.getAttribute('d')")
    heights = re.findall(r"[-\d.e]+,([-\d.e]+)", line)[::4]
    # Before place 0 there is nothing.
    close(scores(heights), keys[: m + reach + 1] @ queries[m], 1e-2)
    first = ELSEWHERE - reach
    true = keys[first : ELSEWHERE + reach + 1 : 2] @ queries[ELSEWHERE]
    close(scores(shown.all("figure > svg .far", HEIGHT)), true, 1e-2)
    dot = shown.all("figure > svg .dot", HEIGHT)
    close(scores(dot), (queries[m] @ keys[n])[None], 1e-2)
