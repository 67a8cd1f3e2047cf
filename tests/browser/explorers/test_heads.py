"""The explorer of heads against the library and torch."""

import random
from itertools import product

import pytest
import torch

from kit.explorers.heads import START, heads_explorer
from lib.heads import merge_heads, split_heads

SIZES = ("length", "heads", "d_head")
FULLEST = [{"length": 4, "heads": 4, "d_head": 2}]
KEYS = [
    ("Tab Tab", "split into heads"),
    ("Tab Tab Tab Tab", "number"),
    ("ArrowRight ArrowDown ArrowDown", {"number": 19}),
    ("ArrowDown ArrowUp ArrowLeft End", {"number": 23}),
    ("Shift+Tab Shift+Tab Shift+Tab Home", {"length": 1, "number": 7}),
    ("Shift+Tab ArrowRight", {"task": "merge"}),
]
SHAPES = [
    "x of shape (1, 3, 8)",
    "split_heads(x, 4) has shape (1, 4, 3, 2)",
    "x.view(1, 4, 3, 2) has this shape, too: 20 of 24 numbers stand at a "
    "wrong place, in rows with a red name",
]
SAYS = [
    ({}, ".way > p", SHAPES),
    ({"number": 10}, "td.on", ["10"] * 3),
]
# The numbers of the three tensors, sheet by sheet, as they stand.
NUMBERS = """(way) => [...way.querySelectorAll("table")].map((t) =>
  [...t.querySelectorAll("tbody tr")].map((row) =>
    [...row.querySelectorAll("td")].map((td) => Number(td.textContent))))"""
OWNERS = "(td) => Number(td.className.match(/h(\\d)/)[1])"


def sample():
    return heads_explorer()


def tensors(task, length, heads, d_head):
    """What goes in, the library's result, and the view of that shape."""
    x = torch.arange(length * heads * d_head).float()
    x = x.reshape(1, length, heads * d_head)
    parts = split_heads(x, heads).contiguous()
    if task == "split":
        return x, parts, x.view(parts.shape)
    return parts, merge_heads(parts), parts.view(x.shape)


@pytest.mark.parametrize("task", ["split", "merge"])
def test_numbers_names_and_colours_are_those_of_the_library(task, shown, few):
    every = list(product(range(1, 5), range(1, 5), range(1, 3)))
    for sizes in [(3, 4, 2), *random.Random(task).sample(every, few(32, 8))]:
        shown.set(task=task, **dict(zip(SIZES, sizes, strict=True)))
        expected = tensors(task, *sizes)
        for sheets, tensor in zip(
            shown.all(".way", NUMBERS), expected, strict=True
        ):
            assert sheets == tensor.flatten(0, tensor.dim() - 3).tolist()
        _, right, wrong = expected
        *_, said = shown.all(".way > p")
        misplaced = int((right != wrong).sum())
        assert (f" {misplaced} of " in said) == (misplaced > 0)
        # The view is right only for one head or for one word.
        length, heads, d_head = sizes
        assert ("is the same" in said) == (length == 1 or heads == 1)
        last = ".way:last-child tbody"
        red = shown.all(f"{last} th", "(th) => th.matches('.warn')")
        rows = (right == wrong).flatten(0, -2)
        assert red == (~rows.all(dim=1)).tolist()
        of_row = wrong.flatten(0, -2) // (heads * d_head) % length
        is_mixed = (of_row != of_row[:, :1]).any(dim=1).tolist()
        assert [t == "mixed" for t in shown.all(f"{last} th")] == is_mixed
        owned = wrong.flatten() % (heads * d_head) // d_head
        assert shown.all(f"{last} td", OWNERS) == owned.tolist()


@pytest.mark.parametrize("task", ["split", "merge"])
def test_the_sentence_is_true_of_every_number(shown, few, task):
    _, right, wrong = tensors(task, 3, 4, 2)
    split = task == "split"
    place = "head {}, row {}, entry {}" if split else "row {}, column {}"
    shown.set(task=task)
    for number in range(0, 24, few(1, 5)):
        shown.set(number=number)
        text, column = shown.text(".note"), number % 8
        said = f"column {column}, so entry {column % 2} of head {column // 2}."
        assert said in text
        (there,) = (wrong[0] == number).nonzero().tolist()
        is_right = (right[0] == number).nonzero().tolist() == [there]
        assert ("there, too" in text) == is_right
        assert is_right or place.format(*there) in text


def test_a_pointer_previews_a_number_and_follows_it(shown):
    shown.element.locator("[data-number='3']").first.hover()
    assert shown.text(".note") == (
        "3 belongs to “Life”: column 3, so entry 1 of head 1. The view puts "
        "it at head 0, row 1, entry 1, where “is” should stand."
    )
    assert shown.value["number"] == START["number"]
    shown.element.locator(".way").nth(2).locator("td").nth(9).click()
    assert shown.value["number"] == 9
    shown.press("ArrowRight")
    assert shown.value["number"] == 10
