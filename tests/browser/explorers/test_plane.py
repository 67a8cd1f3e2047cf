"""The explorer of arrows against torch, and its tasks by key and by hand."""

import random

import pytest
import torch

from kit.explorers.plane import plane_explorer
from tests.browser.explorers.shown import close, number
from tests.built import quickly

MENU = ["ice cream", "cake", "salad", "soup"]
WINDS = ["north", "east", "south", "west"]
CELSIUS = torch.tensor([2.0, 9.0, 21.0, 14.0]).double()
FULLEST = [{"query": [-3.5, x], "keys": [[x, -2.5]] * 4} for x in (-3.5, 3.5)]
KEYS = [
    ("Tab Tab", "dessert"),
    ("ArrowUp ArrowLeft ArrowLeft", {"query": [1, -0.5]}),
    ("Tab Tab", "cake"),
    ("ArrowDown" + 8 * " ArrowRight", "cake"),
    ("", {"keys": [[1, -1], [3.5, -0.5], [-1, -1], [-1, 2]]}),
]
SAYS = [
    ({}, "caption", "dessert [2, −1], length 2.24"),
    ({"query": [0, 0]}, "td:nth-child(2)", ["–"] * 4),
    ({"query": [-1.5, 0]}, "td:nth-child(3)", "−1.50 −1.50 1.50 1.50".split()),
]
CELLS = "(row) => [...row.querySelectorAll('.number')].map((e) => e.innerText)"
# For each task what does not solve it, and at last what does.
TRIES = {
    "dessert": [
        [{"dessert": (1, 0)}, {"cake": (2, 0)}, {"dessert": (2, 1)}],
        [{"dessert": (2, -3)}, {"cake": (-1, 0)}, {"dessert": (2, -3.5)}],
        [{"cake": (1, -1)}, {"dessert": (2, 0)}, {"cake": (2, 1)}],
    ],
    "wind": [
        [{"wind": (0, -2.5)}, {"north": (0, -3)}, {"wind": (0, -3)}],
        [{"wind": (-2, -2)}, {"wind": (-3, -2.5)}, {"wind": (-3, -3)}],
        [{"wind": (0, 0)}, {"wind": (0, 3), "south": (1, 1)}],
    ],
}


def sample(asker="dessert"):
    if asker == "wind":
        keys = torch.tensor([[0.0, 1], [1, 0], [0, -1], [-1, 0]])
        keys, wind = dict(zip(WINDS, keys, strict=True)), [2.0, 1]
        return plane_explorer(asker, torch.tensor(wind), keys, CELSIUS, "°C")
    keys = torch.tensor([[1.0, -1], [1, 0], [-1, -1], [-1, 2]])
    keys, ends = dict(zip(MENU, keys, strict=True)), "savoury sweet cold hot"
    query = torch.tensor([2.0, -1])
    return plane_explorer(asker, query, keys, ends=ends.split())


def walk(shown, tip, way):
    """Move an arrow by its keys."""
    tip.focus()
    for steps, keys in zip(way, ("Left Right", "Down Up"), strict=True):
        key = f"Arrow{keys.split()[steps > 0]}"
        shown.press(*[key] * round(2 * abs(steps)))


def stops(shown, tip, way):
    """Where it is held, a little beside its tip; a detour; where it ends."""
    unit = (shown.element.locator(".plane").bounding_box()["width"] - 48) / 7
    box = tip.locator(".hold").bounding_box()
    x, y = box["x"] + 18, box["y"] + 10
    end = x + way[0] * unit + 4, y - way[1] * unit - 4
    return [(x, y), (x - 150, y - 150), end]


def drag(shown, tip, way):
    start, *rest = stops(shown, tip, way)
    shown.page.mouse.move(*start)
    shown.page.mouse.down()
    for stop in rest:
        shown.page.mouse.move(*stop)
    shown.page.mouse.up()


def swipe(shown, tip, way):
    """Move an arrow by a finger, which does not scroll the page."""
    tip.scroll_into_view_if_needed()
    cdp = shown.page.context.new_cdp_session(shown.page)
    kind, places = "touchStart", stops(shown, tip, way)
    for points in [[{"x": x, "y": y}] for x, y in places] + [[]]:
        event = {"type": kind if points else "touchEnd", "touchPoints": points}
        cdp.send("Input.dispatchTouchEvent", event)
        kind = "touchMove"


@pytest.mark.parametrize("asker", TRIES)
def test_what_it_shows_is_what_torch_computes(show, asker, few):
    shown, draw = show(sample(asker)), random.Random(0)
    for _ in range(few(40, 5)):
        ends = [[draw.randint(-7, 7) / 2 for _ in "xy"] for _ in range(5)]
        shown.set(query=ends[0], keys=ends[1:])
        query, *keys = torch.tensor(ends).double()
        scores = torch.stack(keys) @ query
        shares, length = scores.softmax(dim=0), query.norm()
        found = shown.all("tbody tr", CELLS)
        rows = [[number(x) for x in row] for row in found]
        close(rows, torch.stack([scores / length, scores, shares]).T, 6e-3)
        if asker == "wind":
            mean = shown.text(".sum b")[2:].removesuffix(" °C")
            close(number(mean), shares @ CELSIUS, 0.051)


@pytest.mark.parametrize(
    ("asker", "go"),
    quickly(
        [(asker, go) for asker in TRIES for go in (walk, drag, swipe)],
        ("wind", drag).__eq__,
    ),
)
def test_a_task_is_ticked_when_it_is_solved(show, asker, go):
    """Not at the start, nor by a near miss; then it stays so."""
    for at, tries in enumerate(TRIES[asker]):
        shown = show(sample(asker), touch=go is swipe)
        first = shown.value
        names = MENU if asker == "dessert" else WINDS
        starts = dict(zip(names, first["keys"], strict=True))
        starts[asker] = first["query"]
        for places in tries:
            assert shown.all("li b")[at] == "open", (at, places)
            shown.get("button", "Start again").click()
            for name, to in places.items():
                tip = shown.get("slider", name, exact=True)
                way = [a - b for a, b in zip(to, starts[name], strict=True)]
                go(shown, tip, way)
        said = shown.text("[role=status]")
        assert said == f"Task {at + 1} is solved."
        shown.get("button", "Start again").click()
        assert shown.all("li b")[at] == "✓ solved"
