"""The explorer of weights against torch."""

import math

import pytest
import torch

from kit.explorers.weights import weights_explorer
from tests.explorers.shown import first_quick

WORDS = ["Life", "is", "short", "eat", "dessert", "first"]
CLOSE = {"atol": 1e-6, "rtol": 0}


def linked(*pairs):
    """Weights as in chapter 5: each property finds the one it asks for."""
    facts = torch.eye(6)[[0, 3, 3, 2, 1, 4]]
    facts[1] /= 2
    facts[4, 0] = 0.5
    queries, keys = torch.zeros(2, 6, 3)
    for column, (asks, answers) in enumerate(pairs):
        queries[asks, column], keys[answers, column] = 20, 1
    scores = facts @ queries @ (facts @ keys).T
    return (scores / math.sqrt(3)).softmax(dim=1)


HEADS = {
    "what?": linked((3, 0), (2, 1), (4, 2)),
    "how, or when?": linked((0, 3), (2, 4), (1, 2)),
}
STATES = [
    {"head": head, "side": side, "place": place}
    for head in ("0", "1", "mean", "all")
    for side in ("query", "key")
    for place in range(6)
]


def sample():
    return weights_explorer(WORDS, HEADS, "eat")


@pytest.fixture
def shown(show):
    return show(sample())


def drawn(seed, heads, length):
    """Weights of random scores, and names for words and heads."""
    torch.manual_seed(seed)
    scores = 3 * torch.randn(heads, length, length)
    words = [f"w{n}" for n in range(length)]
    named = {f"head {n}": table for n, table in enumerate(scores.softmax(-1))}
    return words, named


def assert_as_torch(shown, weights):
    """Each choice of a head and a word shows the numbers of `weights`."""
    heads, length, _ = weights.shape
    tables = {str(n): weights[n : n + 1] for n in range(heads)}
    if heads > 1:
        tables |= {"mean": weights.mean(0, keepdim=True), "all": weights}
    states = [
        {"head": head, "side": side, "place": place}
        for head in tables
        for side in ("query", "key")
        for place in range(length)
    ]
    for state, (value, _) in zip(states, shown.each(states), strict=True):
        axis = 1 + (state["side"] == "key")
        wanted = tables[state["head"]].select(axis, state["place"])
        shares = torch.tensor(value["shares"], dtype=torch.float32)
        torch.testing.assert_close(shares, wanted, **CLOSE)
        sums = torch.tensor(value["sums"], dtype=torch.float32)
        torch.testing.assert_close(sums, wanted.sum(1), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "size", first_quick([(3, 2), (1, 1), (1, 3), (4, 7)]), ids=str
)
def test_random_weights_of_other_sizes_are_those_of_torch(size, show):
    heads, length = size
    words, named = drawn(heads, heads, length)
    shown = show(weights_explorer(words, named, words[-1]))
    assert shown.value["place"] == length - 1
    assert_as_torch(shown, torch.stack(list(named.values())))
    options = shown.get("radio").count()
    assert options == 2 * length + (heads + 2 if heads > 1 else 0)


def numbers_of(locator):
    return [float(text) for text in locator.all_inner_texts()]


def test_words_lines_and_tables_show_the_same_numbers(shown):
    weights = torch.stack(list(HEADS.values()))
    for head, side, place in (("0", "query", 3), ("1", "key", 4)):
        shown.set(head=head, side=side, place=place)
        table = weights[int(head)]
        share = table[place] if side == "query" else table[:, place]
        other = "key" if side == "query" else "query"
        beside = numbers_of(shown.element.locator(f"label.{other} .share"))
        assert beside == [round(x, 2) for x in share.tolist()]
        cells = numbers_of(shown.element.locator(".tables td"))
        torch.testing.assert_close(
            torch.tensor(cells), table.flatten(), atol=0.005, rtol=0
        )
        widths = shown.element.locator("path.on").evaluate_all(
            "(all) => all.map((l) => Number(l.getAttribute('stroke-width')))"
        )
        torch.testing.assert_close(
            torch.tensor(widths, dtype=torch.float32),
            12 * share,
            atol=1e-3,
            rtol=0,
        )
        inked = shown.element.locator(f"label.{other}").evaluate_all(
            "(all) => all.map((l) => Number(l.style.getPropertyValue('--w')))"
        )
        torch.testing.assert_close(
            torch.tensor(inked, dtype=torch.float32), share, **CLOSE
        )


def test_lines_run_from_the_word_that_asks_to_the_one_that_is_asked(shown):
    shown.set(head="0", side="query", place=3)
    strong = shown.element.locator("path.on").nth(WORDS.index("dessert"))
    assert strong.get_attribute("d") == "M0 3.5 C45 3.5 55 4.5 100 4.5"
    assert strong.get_attribute("stroke-width").startswith(("11.9", "12"))


def test_all_heads_stand_side_by_side_with_lines_of_their_own(shown):
    shown.set(head="all")
    captions = shown.element.locator(".tables caption").all_inner_texts()
    assert [text.strip() for text in captions] == list(HEADS)
    dashes = shown.element.locator("path.on").evaluate_all(
        "(all) => all.map((line) => line.getAttribute('stroke-dasharray'))"
    )
    assert set(dashes) == {None, "8 4"}
    both = shown.element.locator("label.key").nth(4).locator(".share span")
    assert both.all_inner_texts() == ["1.00", "0.00"]


SAID = {
    ("0", "query", 3): "“eat” gives 1.00 to “dessert”; its row sums to 1.00.",
    (
        "0",
        "query",
        0,
    ): "“Life” gives 0.17 to every word; its row sums to 1.00.",
    ("mean", "query", 3): "“eat” gives 0.50 to “dessert”, 0.50 to “first”; "
    "its row sums to 1.00.",
    ("1", "key", 1): "“is” gets 0.17 from “is”, 0.17 from “short”, 0.17 from "
    "“first”; its column sums to 0.50.",
}


def test_a_sentence_says_what_is_seen(shown):
    note = shown.element.locator(".note")
    for (head, side, place), text in SAID.items():
        shown.set(head=head, side=side, place=place)
        assert note.inner_text() == text
    shown.set(head="all", side="query", place=3)
    assert note.inner_text().count("Head “") == 2


def test_the_keyboard_alone_goes_through_heads_and_words(shown):
    shown.press("Tab", "Tab", "ArrowRight")
    assert shown.value["head"] == "1"
    shown.press("ArrowRight", "Tab")
    assert shown.focused() == "eat asks"
    shown.press("ArrowDown")
    value = shown.value
    assert (value["head"], value["side"], value["place"]) == (
        "mean",
        "query",
        4,
    )
    shown.press("ArrowDown", "ArrowDown")
    value = shown.value
    assert (value["side"], value["place"]) == ("key", 0)
    assert shown.focused() == "Life is asked"


def test_a_finger_picks_a_word_or_a_row(show):
    shown = show(sample(), width=360, height=740, touch=True)
    shown.element.locator("label.key").nth(0).tap()
    assert shown.value["side"] == "key" and shown.value["place"] == 0
    shown.element.locator(".tables td").nth(2 * 6 + 1).tap()
    assert shown.value["side"] == "query" and shown.value["place"] == 2


def test_a_mouse_previews_and_changes_nothing(shown):
    before = shown.value
    shown.element.locator("label.query").nth(0).hover()
    assert "“Life” gives" in shown.element.locator(".note").inner_text()
    assert shown.value == before
    shown.page.mouse.move(1, 1)
    assert "“eat” gives" in shown.element.locator(".note").inner_text()


def test_without_a_script_the_same_weights_stand_in_tables(show):
    shown = show(sample(), script=False)
    cells = numbers_of(shown.element.locator("td:not(:empty)"))
    expected = torch.stack(list(HEADS.values())).flatten()
    found = torch.tensor(cells)
    torch.testing.assert_close(found, expected, atol=0.005, rtol=0)


FAULTS = {
    "a column is read as a row": (
        '"query" ? table[place]',
        '"key" ? table[place]',
    ),
    "the mean forgets to divide": (" / weights.length", ""),
    "the mean is of one head": (
        "total(weights.map((one) => one[i][j]))",
        "weights[0][i][j]",
    ),
}


def check(shown):
    assert_as_torch(shown, torch.stack(list(HEADS.values())))
