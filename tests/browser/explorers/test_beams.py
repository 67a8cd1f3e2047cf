"""The beam explorer against the library's search, step by step."""

import functools
import json
import math
import re
from itertools import pairwise

import torch
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from kit.dates import generate, splits
from kit.explorers import beams
from kit.trained import date_model
from lib.beams import beam_search
from tests.browser.explorers.shown import close, number
from tests.browser.explorers.test_engine import LIMIT, rounded
from tests.built import notebook

OWN = "a date of yours"
# Of each step the boxes: what they say, the number, and what became of it.
BOXES = """({ shadowRoot: root }) => [...root.querySelectorAll(".line")].map(
  (line) => [...line.querySelectorAll(".box")].map((box) =>
    [...box.childNodes].map((part) => part.textContent)))"""
# Of the box that is pressed: its sum, the lines to it, the texts on the way.
PATH = """(e) => [
  e.shadowRoot.querySelector(".note").innerText,
  e.shadowRoot.querySelectorAll("path.on").length,
  e.path(e.row, e.col).map((place) => {
    const [row, col] = place.split(" ");
    return e.textOf(e.steps[row][col].ids);
  }),
]"""
KEYS = [
    ("Tab Tab Tab", "beams3"),
    ("ArrowLeft ArrowLeft", {"width": 1}),
    ("ArrowRight Tab Home", {"step": 1, "width": 2}),
    ("End Tab Space", {"penalty": True, "step": 8}),
    ("Tab ArrowUp ArrowRight", {"row": 6, "col": 1}),
    ("", "agustus"),
]
GREEDY = {"source": "month 8", "width": 1}
SAYS = [
    (GREEDY, ".result", "Greedy: “agustus▪”, p 0.038."),
    (
        GREEDY | {"width": 3},
        ".result",
        "3 beams: “august▪”, p 0.078. Greedy: “agustus▪”, p 0.038.",
    ),
]


@functools.cache
def trees():
    """What the explorer of the chapter knows."""
    (html,) = (
        cell.outputs[0].data["text/html"]
        for cell in notebook("book/13_decoding").cells
        if cell.source.startswith("beam_explorer(")
    )
    element = BeautifulSoup(html, "html.parser").find("beam-explorer")
    return json.loads(element["data-trees"])


def sample():
    return beams.of_trees(trees(), "month 8", 3)


def texts_of(vocabulary, ids):
    """The texts of beams, with the sign for EOS."""
    names = beams.signs(vocabulary)
    return ["".join(names[i] for i in row if i) for row in ids.tolist()]


def assert_same_steps(shown, model, vocabulary, source, width, penalty):
    """The library's search has after as many tokens what each step shows."""
    (steps,) = shown.each([{"width": width, "penalty": penalty}], BOXES)
    alpha, ids = beams.ALPHA * penalty, source[None]
    longest = beam_search(model, ids, width, alpha, LIMIT).ids.shape[2]
    assert len(steps) == longest
    for count, step in enumerate(steps, start=1):
        found = beam_search(model, ids, width, alpha, count)
        exist = found.scores[0].isfinite()
        wanted = texts_of(vocabulary, found.ids[0, exist])
        kept, pruned = step[: len(wanted)], step[len(wanted) :]
        texts, numbers, fates = zip(*kept, strict=True)
        assert [*texts] == wanted
        scores = found.scores if penalty else found.log_p
        # Four digits of each letter are stored, three of the sum are shown.
        close([number(x) for x in numbers], scores[0, exist], 1.2e-3)
        fate = {True: " ended", False: " kept"}
        assert [*fates] == [fate[text.endswith("▪")] for text in wanted]
        assert {fate for *_, fate in pruned} <= {" pruned"}
    # A search with more beams ranks the same candidates at step one.
    more = beam_search(model, ids, width + beams.PRUNED, alpha, 1)
    wanted = texts_of(vocabulary, more.ids[0])
    assert [text for text, *_ in steps[0]] == wanted


def test_lines_and_sums_lead_to_the_text_of_a_box(shown):
    known = trees()["month 2"]
    shown.set(source="month 2", width=4)
    (steps,) = shown.each([{}], BOXES)
    steps = [[text for text, *_ in step] for step in steps]
    ends = "(e) => e.getAttribute('d').match(/-?[\\d.]+/g).map(Number)"
    lines = iter(shown.all("path", ends))
    for row, (before, step) in enumerate(pairwise(steps), start=1):
        for col, text in enumerate(step):
            x, y, *_, end, bottom = next(lines)
            assert (end - 31) / 68 == col
            assert y < bottom == row * 46
            assert before[round((x - 31) / 68)] in (text, text[:-1])
    boxes = [
        {"row": row, "col": col}
        for row, step in enumerate(steps)
        for col in range(len(step))
    ]
    for box, found in zip(boxes, shown.each(boxes, PATH), strict=True):
        text = steps[box["row"]][box["col"]]
        said, count, on = found
        assert count == box["row"]
        assert all(text.startswith(part) for part in on)
        assert [*re.findall(r"\((.)\)", said)] == [*text]
        terms = [known[text[:n]][text[n]] for n in range(len(text))]
        *found, total, p = map(number, re.findall(r"−?\d+\.\d+", said))
        close(found, terms, 6e-3)
        close([total, p], [sum(terms), math.exp(sum(terms))], 6e-4)


def test_a_box_is_pressed(shown):
    shown.element.locator(".box").filter(has_text="augu").first.click()
    assert shown.text(".note").startswith("“augu”: log p = −")
    assert shown.text("[aria-pressed=true] b") == "augu"


def test_dates_of_the_reader_are_searched_as_the_library_does(show, few):
    trained = date_model()
    model = rounded(trained.model)
    shown = show(sample())
    shown.get("combobox").select_option(OWN)
    assert "Ask it" in shown.text(".note")
    drawn = generate(splits()["test"], few(6, 2), seed=9)
    for n, text in enumerate([e.text for e in drawn] + ["3 ma 20", "☂ 1"]):
        shown.get("textbox").fill(text)
        shown.press("Enter")
        shown.page.wait_for_function(
            "(text) => { const { live, text: now } = document.querySelector("
            "'beam-explorer'); return live && now === text }",
            arg=text,
        )
        source = torch.tensor(trained.source.encode(text))
        assert_same_steps(
            shown, model, trained.target, source, 1 + n % 6, n % 2 == 0
        )
    shown.get("textbox").fill("x" * 70)
    shown.press("Enter")
    expect(shown.element.locator(".note")).to_contain_text("At most 64")
