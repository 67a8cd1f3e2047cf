"""The explorer of weights against torch."""

import pytest
import torch

from kit.explorers.weights import weights_explorer
from tests.browser.explorers.shown import close
from tests.built import first_quick

WORDS = ["Life", "is", "short", "eat", "dessert", "first"]


def asking(**asked):
    """One word asks one other; who is not named asks all alike."""
    weights = torch.full((6, 6), 1 / 6)
    for word, others in asked.items():
        weights[WORDS.index(word)] = 0
        places = [WORDS.index(other) for other in others.split()]
        weights[WORDS.index(word), places] = 1 / len(places)
    return weights


HEADS = {
    "what?": asking(eat="dessert", short="Life", dessert="short"),
    "how, or when?": asking(Life="short", eat="first", dessert="short first"),
}
KEYS = [
    ("Tab Tab ArrowRight", {"head": "1"}),
    ("ArrowRight Tab", "eat asks"),
    ("ArrowDown", {"head": "mean", "side": "query", "place": 4}),
    ("ArrowDown ArrowDown", {"side": "key", "place": 0}),
    ("", "Life is asked"),
]
EAT = {"side": "query", "place": 3}
FLAT = "“Life” gives 0.17 to every word; its row sums to 1.00."
MEAN = "“eat” gives 0.50 to “dessert”, 0.50 to “first”; its row sums to 1.00."
GETS = (
    "“is” gets 0.17 from “is”, 0.17 from “short”, 0.17 from “first”; its "
    "column sums to 0.50."
)
ALL = (
    "Head “what?”: “eat” gives 1.00 to “dessert”; its row sums to 1.00. Head "
    "“how, or when?”: “eat” gives 1.00 to “first”; its row sums to 1.00."
)
SAYS = [
    (EAT | {"place": 0}, ".note", FLAT),
    (EAT | {"head": "mean"}, ".note", MEAN),
    ({"head": "1", "side": "key", "place": 1}, ".note", GETS),
    (EAT | {"head": "all"}, ".note", ALL),
    ({"head": "all"}, ".tables caption", list(HEADS)),
]
SHARES = (
    "(e) => [...e.querySelectorAll('.share span')].map((s) => +s.innerText)"
)
INK = "(e) => Number(e.style.getPropertyValue('--w'))"
WIDTH = "(e) => Number(e.getAttribute('stroke-width'))"


def sample():
    return weights_explorer(WORDS, HEADS, "eat")


def assert_as_torch(shown, weights):
    """Words, lines and tables show the numbers of each choice."""
    heads, length, _ = weights.shape
    tables = {str(n): weights[n : n + 1] for n in range(heads)}
    if heads > 1:
        tables |= {"mean": weights.mean(0, keepdim=True), "all": weights}
    for head, table in tables.items():
        for side, other in (("query", "key"), ("key", "query")):
            for place in range(length):
                shown.set(head=head, side=side, place=place)
                share = table.select(1 + (side == "key"), place)
                close(shown.all(f"label.{other}", SHARES), share.T, 5.01e-3)
                close(shown.all(f"label.{other}", INK), share.amax(0))
                close(
                    shown.all(".lines .on", WIDTH), 12 * share.flatten(), 1e-3
                )
        close(shown.numbers(".tables td"), table.flatten(), 5.01e-3)


@pytest.mark.parametrize(
    "heads, length", first_quick([(3, 2), (1, 1), (1, 3), (4, 7)])
)
def test_random_weights_of_other_sizes_are_those_of_torch(heads, length, show):
    torch.manual_seed(heads)
    weights = (3 * torch.randn(heads, length, length)).softmax(-1)
    named = {f"head {n}": table for n, table in enumerate(weights)}
    words = [f"w{n}" for n in range(length)]
    shown = show(weights_explorer(words, named, words[-1]))
    assert shown.value["place"] == length - 1
    assert_as_torch(shown, weights)


def test_lines_run_from_the_word_that_asks_to_the_one_that_is_asked(shown):
    lines = shown.all("path.on", "(e) => e.getAttribute('d')")
    assert lines[WORDS.index("dessert")] == "M0 3.5 C45 3.5 55 4.5 100 4.5"
    shown.set(head="all")
    dashes = shown.all("path.on", "(e) => e.getAttribute('stroke-dasharray')")
    assert set(dashes) == {None, "8 4"}


def test_a_finger_picks_a_word_or_a_row(show):
    shown = show(sample(), width=360, height=740, touch=True)
    shown.element.locator("label.key").nth(0).tap()
    assert (shown.value["side"], shown.value["place"]) == ("key", 0)
    shown.element.locator(".tables td").nth(2 * 6 + 1).tap()
    assert (shown.value["side"], shown.value["place"]) == ("query", 2)


def test_a_mouse_previews_and_changes_nothing(shown):
    before = shown.value
    shown.element.locator("label.query").nth(0).hover()
    assert "“Life” gives" in shown.text(".note")
    assert shown.value == before
    shown.page.mouse.move(1, 1)
    assert "“eat” gives" in shown.text(".note")
