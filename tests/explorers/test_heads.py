"""The explorer of heads against the library and torch."""

import random

import pytest
import torch

from kit.explorers.heads import START, heads_explorer
from lib.heads import merge_heads, split_heads

SIZES = ("batch", "length", "heads", "d_head")
FULLEST = [{"batch": 2, "length": 6, "heads": 4, "d_head": 3}]
STATES = [
    {"task": task, **dict(zip(SIZES, sizes, strict=True)), "number": 5}
    for task in ("split", "merge")
    for sizes in ([1, 3, 4, 2], [2, 6, 4, 3], [1, 1, 4, 2], [2, 5, 3, 1])
]


def sample():
    return heads_explorer()


@pytest.fixture
def shown(show):
    return show(sample())


def tensors(task, batch, length, heads, d_head):
    """What goes in, the library's result, and the view of that shape."""
    x = torch.arange(batch * length * heads * d_head).float()
    x = x.reshape(batch, length, heads * d_head)
    parts = split_heads(x, heads).contiguous()
    if task == "split":
        return x, parts, x.view(parts.shape)
    return parts, merge_heads(parts), parts.view(x.shape)


def assert_as_torch(shown, task, sizes):
    value = shown.set(task=task, **dict(zip(SIZES, sizes, strict=True)))
    expected = tensors(task, *sizes)
    names = ("source", "right", "wrong")
    for name, tensor in zip(names, expected, strict=True):
        assert value[name] == tensor.flatten().tolist()
    _, right, wrong = expected
    assert value["misplaced"] == (right != wrong).sum()
    return expected


def all_sizes():
    """Every size that the sliders allow."""
    ranges = (range(1, 3), range(1, 7), range(1, 5), range(1, 4))
    return torch.cartesian_prod(*map(torch.tensor, map(list, ranges))).tolist()


@pytest.mark.parametrize("task", ["split", "merge"])
def test_sizes_drawn_are_those_of_the_library_and_of_view(task, shown, few):
    for sizes in random.Random(task).sample(all_sizes(), few(40, 8)):
        assert_as_torch(shown, task, sizes)


def shown_numbers(shown):
    """The numbers of the three tensors, sheet by sheet, as they stand."""
    return shown.element.evaluate(
        """(e) => [...e.shadowRoot.querySelectorAll(".way")].map((way) =>
          [...way.querySelectorAll("table")].map((t) =>
            [...t.querySelectorAll("tbody tr")].map((row) =>
              [...row.querySelectorAll("td")].map((td) =>
                Number(td.textContent)))))"""
    )


@pytest.mark.parametrize("task", ["split", "merge"])
def test_what_stands_in_the_tables(task, shown):
    for sizes in ([1, 3, 4, 2], [2, 5, 3, 2], [2, 1, 4, 1], [1, 6, 1, 3]):
        expected = assert_as_torch(shown, task, sizes)
        for sheets, tensor in zip(shown_numbers(shown), expected, strict=True):
            _, _, *rest = tensor.shape
            sheet = tensor.flatten(0, tensor.dim() - 3)
            assert sheets == sheet.tolist()


def test_shapes_and_how_many_are_wrong_are_written_above(shown):
    texts = shown.element.locator(".way > p").all_inner_texts()
    assert texts[0] == "x of shape (1, 3, 8)"
    assert texts[1] == "split_heads(x, 4) has shape (1, 4, 3, 2)"
    assert texts[2].startswith("x.view(1, 4, 3, 2) has this shape, too: 20 of")
    shown.set(task="merge", heads=1)
    texts = shown.element.locator(".way > p").all_inner_texts()
    assert texts[1] == "merge_heads(parts) has shape (1, 3, 2)"
    assert "every number stands at its place" in texts[2]


@pytest.mark.parametrize("task", ["split", "merge"])
def test_a_row_says_whose_it_is_and_is_red_where_it_is_wrong(task, shown):
    for sizes in ([1, 3, 4, 2], [2, 4, 2, 3], [1, 1, 4, 2]):
        _, right, wrong = assert_as_torch(shown, task, sizes)
        said = shown.element.locator(".way:last-child tbody th")
        red = said.evaluate_all(
            "(all) => all.map((th) => th.matches('.warn'))"
        )
        rows = (right == wrong).flatten(0, -2)
        assert red == (~rows.all(dim=1)).tolist()
        _, length, heads, d_head = sizes
        of_row = wrong.flatten(0, -2) // (heads * d_head) % length
        is_one = (of_row == of_row[:, :1]).all(dim=1).tolist()
        mixed = [text == "mixed" for text in said.all_inner_texts()]
        assert mixed == [not one for one in is_one]


def owners(shown, way: int) -> list[int]:
    """The head whose colour each number of a way has."""
    numbers = shown.element.locator(".way").nth(way).locator("td")
    return numbers.evaluate_all(
        "(all) => all.map((td) => Number(td.className.match(/h(\\d)/)[1]))"
    )


def test_colours_are_those_of_the_head_that_owns_a_number(shown):
    assert owners(shown, 1) == [h for h in range(4) for _ in range(6)]
    expected = tensors("split", 1, 3, 4, 2)[2].flatten() % 8 // 2
    assert owners(shown, 2) == expected.tolist()


TOLD = {
    10: "10 belongs to “is”: column 2, so entry 0 of head 1. The view puts it "
    "at head 1, row 2, entry 0, where “short” should stand.",
    0: "0 belongs to “Life”: column 0, so entry 0 of head 0. The view puts it "
    "there, too.",
    3: "3 belongs to “Life”: column 3, so entry 1 of head 1. The view puts it "
    "at head 0, row 1, entry 1, where “is” should stand.",
}


def test_a_sentence_follows_a_number(shown):
    for number, text in TOLD.items():
        shown.set(number=number)
        assert shown.element.locator(".note").inner_text() == text
        assert (
            shown.element.locator("td.on").all_inner_texts()
            == [str(number)] * 3
        )


def test_the_sentence_is_true_of_every_number(shown, few):
    _, right, wrong = tensors("split", 1, 3, 4, 2)
    for number in range(0, 24, few(1, 5)):
        shown.set(number=number)
        text = shown.element.locator(".note").inner_text()
        (place,) = (right[0] == number).nonzero().tolist()
        assert f"entry {place[2]} of head {place[0]}." in text
        (there,) = (wrong[0] == number).nonzero().tolist()
        assert ("there, too" in text) == (place == there)
        said = "head {}, row {}, entry {}".format(*there)
        assert place == there or said in text
    _, right, wrong = tensors("merge", 1, 3, 4, 2)
    shown.set(task="merge")
    for number in range(0, 24, few(1, 5)):
        shown.set(number=number)
        text = shown.element.locator(".note").inner_text()
        (there,) = (wrong[0] == number).nonzero().tolist()
        said = "row {}, column {}".format(*there)
        assert ("there, too" in text) or said in text


def test_the_keyboard_alone_follows_a_number_and_changes_the_sizes(shown):
    shown.get("slider", "number").focus()
    shown.press("ArrowRight", "ArrowDown", "ArrowDown")
    assert shown.value["number"] == 19
    shown.press("ArrowUp", "ArrowLeft", "End")
    assert shown.value["number"] == 23
    shown.get("slider", "length").focus()
    shown.press("Home")
    assert (shown.value["length"], shown.value["number"]) == (1, 7)
    assert shown.value["misplaced"] == 0
    assert shown.get("slider", "number").get_attribute("aria-valuetext") == "7"
    shown.get("radio", "split into heads").focus()
    shown.press("ArrowRight")
    assert shown.value["task"] == "merge"


def test_a_cell_is_pressed_and_then_followed_with_arrows(shown):
    shown.element.locator(".way").nth(2).locator("td").nth(9).click()
    assert shown.value["number"] == 9
    shown.press("ArrowRight")
    assert shown.value["number"] == 10


def test_a_mouse_previews_and_changes_nothing(shown):
    shown.element.locator("[data-number='3']").first.hover()
    assert shown.element.locator(".note").inner_text() == TOLD[3]
    assert shown.value["number"] == START["number"]


def test_the_question_of_the_chapter_has_this_answer(shown, few):
    """The view is right only for one head or for one word."""
    for task in ("split", "merge"):
        states = [
            {"task": task, **dict(zip(SIZES, sizes, strict=True))}
            for sizes in random.Random(0).sample(all_sizes(), few(30, 5))
        ]
        for value, _ in shown.each(states):
            is_right = value["length"] == 1 or value["heads"] == 1
            assert (value["misplaced"] == 0) == is_right


FAULTS = {
    "heads and words are exchanged": (
        "((b * length + l) * heads + k) * d_head",
        "((b * heads + k) * length + l) * d_head",
    ),
    "the view is the split": ("const wrong = source;", "const wrong = right;"),
    "the sentences are mixed": ("(b * length + l)", "(b + batch * l)"),
}


def check(shown):
    for task in ("split", "merge"):
        assert_as_torch(shown, task, [2, 3, 4, 2])


def test_without_a_script_the_split_and_the_view_stand_in_tables(show):
    shown = show(sample(), script=False)
    _, *expected = tensors("split", *(START[name] for name in SIZES))
    for n, tensor in enumerate(expected):
        cells = shown.element.locator("table").nth(n).locator("td")
        rows = tensor[0].transpose(0, 1).flatten(0, 1).int().tolist()
        found = [text.split(", ") for text in cells.all_inner_texts()]
        assert found == [[str(x) for x in row] for row in rows]
