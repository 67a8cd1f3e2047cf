"""The beam explorer against the library's search, step by step."""

import json
import math
import re
from functools import cache, partial
from itertools import pairwise

import torch
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from kit.dates import generate, splits
from kit.explorers import beams
from lib.beams import beam_search
from tests.browser.explorers.shown import close, number
from tests.browser.explorers.test_dates import LIMIT, halves
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
ANSWERED = """(text) => {
  const { live, text: now } = document.querySelector("beam-explorer");
  return live && now === text;
}"""
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


@cache
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
            assert y < bottom == row * 40
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
    assert shown.probe("active").startswith(
        "augu"
    )  # arrow keys go on from there
    assert shown.text(".note").startswith("“augu”: log p = −")
    assert shown.text("[aria-pressed=true] b") == "augu"


def test_each_step_is_the_librarys(show, few):
    """After as many tokens, for dates that a reader types."""
    trained = halves()
    names = beams.signs(trained.target)
    shown = show(sample())
    shown.get("combobox").select_option(OWN)
    assert "Ask it" in shown.text(".note")
    drawn = generate(splits()["test"], few(6, 2), seed=9)
    for n, text in enumerate([e.text for e in drawn] + ["3 ma 20", "☂ 1"]):
        shown.get("textbox").fill(text)
        shown.press("Enter")
        shown.page.wait_for_function(ANSWERED, arg=text)
        width, penalty = 1 + n % beams.WIDEST, n % 2 == 0
        alpha = beams.ALPHA * penalty
        (steps,) = shown.each([{"width": width, "penalty": penalty}], BOXES)
        source = torch.tensor([trained.source.encode(text)])
        search = partial(
            beam_search, trained.model, source, length_penalty=alpha
        )
        assert len(steps) == search(width, limit=LIMIT).ids.shape[2]
        for count, step in enumerate(steps, start=1):
            found = search(width, limit=count)
            exist = found.scores[0].isfinite()
            wanted = [
                "".join(names[i] for i in row if i)
                for row in found.ids[0, exist].tolist()
            ]
            texts, numbers, fates = zip(*step, strict=True)
            kept = len(wanted)
            assert [*texts[:kept]] == wanted
            scores = found.scores if penalty else found.log_p
            sums = [number(x) for x in numbers[:kept]]
            close(sums, scores[0, exist], 6e-4)
            fate = {True: " ended", False: " kept"}
            said = [fate[text.endswith("▪")] for text in wanted]
            assert [*fates] == said + [" pruned"] * (len(step) - kept)
        # A search with more beams ranks the same candidates at step one.
        more = search(width + beams.PRUNED, limit=1).ids[0, :, 0].tolist()
        assert [text for text, *_ in steps[0]] == [names[i] for i in more]
    shown.get("textbox").fill("x" * 70)
    shown.press("Enter")
    expect(shown.element.locator(".note")).to_contain_text("At most 64")
