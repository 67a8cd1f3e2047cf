"""The explorer of places against the library and torch."""

import random
import re

import pytest
import torch

from kit.explorers.positions import KEY, QUERY, positions_explorer
from lib.positions import rotary, sinusoidal_positions
from tests.explorers.shown import answer_of, first_quick

BASES = [10, 100, 1_000, 10_000, 100_000, 500_000, 1_000_000]
WIDTHS = [2, 4, 8, 16, 32, 64, 128]
VIEWS = ["rotary", "alone", "added"]
LAST = ELSEWHERE = 100
# What a reader sees: under each clock, at its hands, beside the chart.
READ = """(e) => {
  const all = (names) => [...e.shadowRoot.querySelectorAll(names)];
  const tips = (kind) => all(`.clocks .${kind} .tip`).map((tip) =>
    [tip.getAttribute("cx"), tip.getAttribute("cy")].map(Number));
  return {
    pairs: all("li span:first-child").map((part) => part.innerText),
    products: all("li svg + span").map((part) => part.innerText),
    turns: all("small").map((part) => part.innerText),
    scores: all("dd").map((part) => part.innerText),
    m: tips("m"), n: tips("n"),
  };
}"""


STATES = [
    {"view": "alone", "width": 128, "base": 10, "m": 50, "n": 60},
    {"view": "added", "width": 2, "m": 100, "n": 0},
    {"width": 64, "base": 500_000, "m": 3, "n": 90},
]


FULLEST = [
    {"view": view, "width": 128, "base": 1_000_000, "m": 0, "n": 100}
    for view in ("alone", "added")
]


def sample():
    return positions_explorer()


def number(text):
    return float(text.replace("−", "-").replace(",", "").replace("↻", ""))


def close(found, true, most=1e-5):
    found = torch.as_tensor(found, dtype=torch.float64)
    torch.testing.assert_close(found, true.double(), atol=most, rtol=0)


def vectors(view, width, base):
    """The query and the key at each place, by the library: (places, width)."""
    count = ELSEWHERE + LAST + 1
    if view == "rotary":
        made = [
            torch.tensor(v).repeat(count, width // 2) for v in (QUERY, KEY)
        ]
        return [rotary(v.double(), base=float(base)) for v in made]
    table = sinusoidal_positions(count, width, float(base), torch.float64)
    if view == "alone":
        return [table, table]
    both = (torch.tensor(v).double().repeat(width // 2) for v in (QUERY, KEY))
    return [v + table for v in both]


def agrees(shown, **state):
    """What it says, writes and draws in a state is what the library says."""
    value = shown.set(**state)
    view, m, n = value["view"], value["m"], value["n"]
    width, base = value["width"], value["base"]
    queries, keys = vectors(view, width, base)
    q, k = (v.view(-1, 2) for v in (queries[m], keys[n]))
    close(value["q"], q)
    close(value["k"], k)
    close(value["score"], queries[m] @ keys[n])
    elsewhere = queries[ELSEWHERE] @ keys[ELSEWHERE + n - m]
    close(value["elsewhere"], elsewhere)
    distances, scores = torch.tensor(value["curve"]).T
    close(scores, keys[distances.int() + m] @ queries[m], 1e-4)  # float32
    seen = shown.element.evaluate(READ)
    shows(seen, q, k, 20 if view == "added" else 36, width, base)
    close(
        [number(text) for text in seen["scores"]],
        torch.stack([queries[m] @ keys[n], elsewhere]),
        6e-5,
    )


def shows(seen, q, k, unit, width, base):
    """The clocks have the hands and the numbers of some pairs."""
    pairs = [int(name.removeprefix("pair ")) for name in seen["pairs"]]
    assert pairs[0] == 0 and len(pairs) == min(8, width // 2)
    assert pairs[-1] == max(pairs) == width // 2 - 1
    turned_up = torch.tensor([1.0, -1.0]) * unit
    close(seen["m"], q[pairs] * turned_up, 1e-4)
    close(seen["n"], k[pairs] * turned_up, 1e-4)
    products = (q * k).sum(dim=1)[pairs]
    close([number(text) for text in seen["products"]], products, 6e-3)
    turns = 2 * torch.pi * base ** (2 * torch.tensor(pairs) / width)
    close([number(text) for text in seen["turns"]], turns, 0.6)


@pytest.mark.parametrize("view", VIEWS)
def test_vectors_and_scores_are_those_of_the_library(show, view, few):
    shown = show(sample())
    draw = random.Random(view)
    for width in few(WIDTHS, draw.sample(WIDTHS, 2)):
        for _ in range(few(5, 2)):
            base = draw.choice(BASES)
            m, n = draw.randint(0, LAST), draw.randint(0, LAST)
            agrees(shown, view=view, width=width, base=base, m=m, n=n)


def test_at_width_2_rotary_has_the_numbers_of_the_page(show):
    shown = show(sample())
    for m, n, score in ((0, 1, -0.2943), (2, 3, -0.2943), (0, 2, -0.9881)):
        shown.set(width=2, m=m, n=n)
        assert shown.value["score"] == pytest.approx(score, abs=5e-5)
    assert "places 100 and 102" in shown.element.locator("dl").inner_text()


def test_it_shows_the_answer_of_its_question(show):
    shown = show(sample())

    def best(view, m):
        curve = shown.set(view=view, m=m, n=m, width=8)["curve"]
        return m + max(curve, key=lambda point: point[1])[0]

    near, far = (best("rotary", m) for m in (20, 60))
    answer = answer_of("06")
    assert f"At {near}; from 60 at {far}, both seven before" in answer
    assert 20 - near == 60 - far == 7
    added = [best("added", m) for m in (20, 60)]
    assert "the best are {} and {}:".format(*added) in answer


@pytest.mark.parametrize("view", first_quick(VIEWS))
def test_moving_both_keeps_what_depends_on_the_distance(show, view):
    shown = show(sample())
    before = shown.set(view=view, m=3, n=17)
    seen = []
    for name in ("+1", "+10", "+10", "+1", "−1", "−10"):
        shown.get("button", name, exact=True).click()
        value = shown.value
        assert value["n"] - value["m"] == 14
        seen.append(value["score"])
    assert value["m"] == 14
    for score in seen:
        same = score == pytest.approx(before["score"], abs=1e-9)
        assert same == (view != "added")


def test_both_places_stop_where_one_of_them_must(show):
    shown = show(sample())
    for m, n, name, wanted in (
        (5, 0, "−10", (5, 0)),
        (12, 4, "−10", (8, 0)),
        (98, 20, "+10", (100, 22)),
        (20, 98, "+10", (22, 100)),
        (100, 99, "+1", (100, 99)),
    ):
        shown.set(m=m, n=n)
        shown.get("button", name, exact=True).click()
        assert (shown.value["m"], shown.value["n"]) == wanted


@pytest.mark.parametrize("view", first_quick(VIEWS))
@pytest.mark.parametrize("far", first_quick([False, True]))
def test_the_line_and_the_dots_are_drawn_where_the_scores_are(show, view, far):
    shown = show(sample())
    m, n, width = 30, 95 if far else 41, 16
    value = shown.set(view=view, m=m, n=n, width=width)
    queries, keys = vectors(view, width, 10_000)
    picture = shown.element.locator("figure > svg")
    labels = [
        (number(t.inner_html()), float(t.get_attribute("y")) - 4)
        for t in picture.locator("text[text-anchor=end]").all()
    ]
    (low, y_low), (high, y_high) = labels[0], labels[-1]

    def scores(heights):
        heights = torch.tensor([float(y) for y in heights])
        return low + (heights - y_low) / (y_high - y_low) * (high - low)

    line = picture.locator(".line").get_attribute("d")
    heights = re.findall(r"[-\d.e]+,([-\d.e]+)", line)[::4]
    close(scores(heights), torch.tensor(value["curve"])[:, 1], 1e-2)
    reach = 100 if far else 40
    assert value["curve"][0][0] == -30  # before place 0 there is nothing
    assert value["curve"][-1][0] == reach
    dots = picture.locator(".far").all()
    first = ELSEWHERE - reach
    true = keys[first : ELSEWHERE + reach + 1 : 2] @ queries[ELSEWHERE]
    close(scores(d.get_attribute("cy") for d in dots), true, 1e-2)
    (height,) = [d.get_attribute("cy") for d in picture.locator(".dot").all()]
    close(scores([height]), (queries[m] @ keys[n])[None], 1e-2)
    assert low <= 0 <= high


def test_it_is_driven_by_keyboard_alone(show):
    shown = show(sample())
    shown.press("Tab", "Tab")
    assert shown.focused() == "rotary"
    shown.press("ArrowLeft", "Tab", "ArrowRight", "ArrowRight")
    shown.press("Tab", "Home", "ArrowRight", "Tab", "Home", "Tab", "End")
    shown.press("Tab", "Tab", "Tab")
    assert shown.focused() == "+1"
    shown.press("Enter", "Shift+Tab", "Space")
    names = ("view", "width", "base", "m", "n")
    said = {name: shown.value[name] for name in names}
    wanted = ("added", 32, 100, 0, 100)
    assert said == dict(zip(names, wanted, strict=True))
    shown.set(n=50)
    shown.get("button", "+10").press("Enter")
    assert (shown.value["m"], shown.value["n"]) == (10, 60)


def test_controls_follow_what_is_set(show):
    shown = show(sample())
    shown.set(view="alone", width=64, base=500_000, m=7, n=99)
    assert shown.get("radio", "alone").is_checked()
    said = shown.element.locator("output").all_inner_texts()
    assert said == ["64", "500,000", "7", "99"]
    assert "8 of 32 pairs" in shown.element.locator(".hint").inner_text()
    assert shown.element.locator(".legend").inner_text().split() == (
        "place 7 place 99".split()
    )


def test_the_fallback_has_the_numbers_of_the_start(show):
    value = show(sample()).value
    shown = show(sample(), script=False)
    text = shown.get("table").inner_text().replace("−", "-")
    for i, product in enumerate(value["products"]):
        tips = [*value["q"][i], *value["k"][i]]
        written = "{:.2f}, {:.2f}\\s+{:.2f}, {:.2f}\\s+".format(*tips)
        assert re.search(f"pair {i}.*{written}{product:.2f}", text)
    assert f"{value['score']:.2f}" in text.splitlines()[-1]
    places = f"query at place {value['m']}, a key at place {value['n']}"
    assert places in text
    queries, keys = vectors("added", 8, 10_000)
    near, far = (queries[m] @ keys[m + 1] for m in (20, 100))
    said = shown.element.locator("p").inner_text()
    assert f"the sum is {value['elsewhere']:.2f} as well" in said
    assert f"{near:.2f} at places 20 and 21 and {far:.2f} at" in said


FAULTS = {
    "turned the other way": ("[x * c - y * sn", "[x * c + y * sn"),
    "the cosine first": (
        "[Math.sin(angle), Math.cos(angle)]",
        "[Math.cos(angle), Math.sin(angle)]",
    ),
    "speeds of tensor2tensor": (
        "(-2 * i / width)",
        "(-2 * i / Math.max(1, width - 2))",
    ),
    "the word forgets its place": (
        "y + Math.cos(angle)]",
        "y]",
    ),
    "the key stands still": (
        "k = this.at(this.key, n)",
        "k = this.at(this.key, m)",
    ),
    "elsewhere at the mirrored distance": (
        "this.score(ELSEWHERE, ELSEWHERE + n - m)",
        "this.score(ELSEWHERE, ELSEWHERE + m - n)",
    ),
    "the hands hang down": ("-pair[1] * unit", "pair[1] * unit"),
    "one half of a turn": ("2 * Math.PI /", "Math.PI /"),
}


def check(shown):
    for view in VIEWS:
        agrees(shown, view=view, width=8, m=20, n=33)
