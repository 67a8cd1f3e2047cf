"""The beam explorer against the library's search, step by step."""

import functools
import html
import json
import math
import re

import pytest
import torch

from kit.dates import generate, splits
from kit.explorers import beams
from kit.trained import date_model
from lib.beams import beam_search
from tests.explorers.shown import first_quick
from tests.explorers.test_engine import F64, LIMIT, rounded
from tools.chapters import sync
from tools.source.taught import ROOT

CHAPTER = ROOT / "book" / "13_decoding.ipynb"
TREES = re.compile(r'<beam-explorer [^>]*data-trees="(?P<json>[^"]*)"')
OWN = "a date of yours"
# Of the box that is pressed: its sum, the lines to it, the texts on the way.
PATH = """(e) => [
  e.shadowRoot.querySelector(".note").innerText,
  e.shadowRoot.querySelectorAll("path.on").length,
  e.path(e.row, e.col).map((place) => {
    const [row, col] = place.split(" ");
    return e.textOf(e.steps[row][col].ids);
  }),
]"""


STATES = [
    {"width": 1},
    {"source": "month 12", "width": 2, "penalty": True, "row": 4, "col": 1},
    {"source": "month 5", "width": 6, "step": 3},
]


def stored():
    """The explorer's element as the chapter has it."""
    shown = [
        output["data"]["text/html"]
        for cell in sync.read(CHAPTER).cells
        for output in cell.get("outputs", [])
        if "<beam-explorer" in output.get("data", {}).get("text/html", "")
    ]
    (element,) = shown
    return element


def trees():
    return json.loads(html.unescape(TREES.search(stored())["json"]))


def sample():
    return beams.of_trees(trees(), "month 8", 3)


@functools.cache
def unsure():
    """The date model, made to doubt; what it writes; and two sources."""
    model, source, target, _ = date_model()
    model.tables.output.weight *= 0.45
    texts = ("dimanche 3 mars 2019", "3 ma 20")
    return model, target, [torch.tensor(source.encode(t)) for t in texts]


def kept(steps):
    return [[one for one in step if one[3]] for step in steps]


def texts_of(vocabulary, ids):
    """The texts of beams, with the sign for EOS."""
    names = beams.signs(vocabulary)
    return ["".join(names[i] for i in row if i) for row in ids.tolist()]


def assert_same_steps(steps, model, vocabulary, source, width, alpha):
    """Each step is what the library's search has after as many tokens."""
    for number, step in enumerate(kept(steps), start=1):
        found = beam_search(model, source[None], width, alpha, number)
        exist = found.scores[0].isfinite()
        texts, logs, scores, _ = zip(*step, strict=True)
        assert [*texts] == texts_of(vocabulary, found.ids[0, exist])
        for said, expected in (
            (logs, found.log_p[0, exist]),
            (scores, found.scores[0, exist]),
        ):
            torch.testing.assert_close(
                torch.tensor(said, dtype=F64), expected, atol=1e-9, rtol=0
            )


@functools.cache
def exact():
    """An explorer whose numbers are not rounded."""
    model, letters, sources = unsure()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beams, "DIGITS", 15)
        named = dict(zip("ab", sources, strict=True))
        return beams.beam_explorer(model, letters, named, "a")


@pytest.mark.slow
def test_each_step_is_the_librarys(show):
    shown = show(exact())
    model, letters, sources = unsure()
    for name, source in zip("ab", sources, strict=True):
        for width in range(1, beams.WIDEST + 1):
            for penalty in (False, True):
                value = shown.set(source=name, width=width, penalty=penalty)
                alpha = beams.ALPHA if penalty else 0.0
                steps = value["steps"]
                assert len(steps) == value["step"]
                assert_same_steps(steps, model, letters, source, width, alpha)
                last = beam_search(model, source[None], width, alpha, LIMIT)
                assert len(steps) == last.ids.shape[2]


def test_what_is_pruned_is_what_comes_next(show):
    """A search with more beams ranks the same candidates at step one."""
    shown = show(exact())
    model, letters, sources = unsure()
    value = shown.set(source="a", width=2, step=1)
    (step,) = value["steps"]
    assert [one[3] for one in step] == [True, True, False, False]
    found = beam_search(model, sources[0][None], 4, 0.0, 1)
    assert [one[0] for one in step] == texts_of(letters, found.ids[0])


@pytest.mark.parametrize(
    "name", first_quick(["month 2", "month 5", "month 8", "month 12"])
)
def test_the_chapters_trees_are_shown_as_python_searches_them(show, name):
    shown, known = show(sample()), trees()[name]
    for width in range(1, beams.WIDEST + 1):
        for penalty in (False, True):
            value = shown.set(source=name, width=width, penalty=penalty)
            expected = beams.search(
                known.get, width, beams.ALPHA if penalty else 0.0
            )
            found = [
                {text: log_p for text, log_p, *_ in step}
                for step in value["steps"]
            ]
            assert [[*step] for step in found] == [[*s] for s in expected]
            for step, other in zip(found, expected, strict=True):
                assert step == pytest.approx(other, abs=1e-9)


def test_greedy_is_one_beam(show):
    shown = show(sample())
    ends = {}
    for width in (1, 3):
        shown.set(source="month 8", width=width)
        said = shown.element.locator(".result").inner_text()
        ends[width] = re.findall(r"“(\w+)▪”, p (\d\.\d+)", said)
    assert ends[1] == [("agustus", "0.038")]
    assert ends[3] == [("august", "0.078"), ("agustus", "0.038")]


def test_boxes_say_text_number_and_fate(show):
    shown = show(sample())
    value = shown.set(source="month 12", width=2, penalty=True)
    boxes = shown.element.locator(".line").all()
    assert len(boxes) == len(value["steps"])
    for line, step in zip(boxes, value["steps"], strict=True):
        said = line.get_by_role("button").all_text_contents()
        for words, (text, _, score, is_kept) in zip(said, step, strict=True):
            ended = "ended" if text.endswith("▪") else "kept"
            number = f"{score:.3f}".replace("-", "−")
            fate = ended if is_kept else "pruned"
            assert words == f"{text}{number} {fate}"


def test_a_box_explains_its_sum(show):
    shown, known = show(sample()), trees()["month 8"]
    shown.set(source="month 8", width=3, penalty=False)
    for text in ("agus", "augu", "august▪", "agusti"):
        shown.element.locator(".box").filter(
            has_text=re.compile(f"^{text}−")
        ).first.click()
        terms = [known[text[:n]][text[n]] for n in range(len(text))]
        said = shown.element.locator(".note").inner_text()
        numbers = re.findall(r"-?\d+\.\d+", said.replace("−", "-"))
        *found, total, p = map(float, numbers)
        assert found == pytest.approx(terms, abs=6e-3)
        assert total == pytest.approx(sum(terms), abs=6e-4)
        assert p == pytest.approx(math.exp(sum(terms)), abs=6e-4)
        assert [*re.findall(r"\((.)\)", said)] == [*text]


def test_lines_lead_to_the_text_a_box_continues(show):
    shown = show(sample())
    steps = shown.set(source="month 2", width=4)["steps"]
    edges = shown.element.locator("path").evaluate_all(
        "(all) => all.map((e) => e.getAttribute('d').match(/-?[\\d.]+/g)"
        ".map(Number))"
    )
    found = iter(edges)
    for row, step in enumerate(steps[1:], start=1):
        before = [one[0] for one in steps[row - 1]]
        for col, (text, *_) in enumerate(step):
            x, y, *_, end, bottom = next(found)
            assert (end - 31) / 68 == col
            assert y < bottom == row * 46
            parent = before[round((x - 31) / 68)]
            assert parent in (text, text[:-1])


def test_it_is_used_with_the_keyboard_alone(show):
    shown = show(sample())
    while shown.focused() != "beams3":
        shown.press("Tab")
    shown.press("ArrowLeft", "ArrowLeft")
    assert shown.value["width"] == 1
    shown.press("ArrowRight", "Tab", "Home")
    assert shown.value["step"] == 1 and len(shown.value["steps"]) == 1
    shown.press("End", "Tab", "Space")
    assert shown.value["penalty"]
    shown.press("Tab", "ArrowUp", "ArrowRight")
    value = shown.value
    assert (value["row"], value["col"]) == (len(value["steps"]) - 2, 1)
    assert shown.focused().startswith(value["steps"][value["row"]][1][0])


# --- On the live model


def test_dates_of_the_reader_are_searched_as_the_library_does(show, few):
    trained = date_model()
    model = rounded(trained.model)
    shown = show(sample())
    shown.get("combobox").select_option(OWN)
    assert "Ask it" in shown.element.locator(".note").inner_text()
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
        width, penalty = 1 + n % 6, n % 2 == 0
        value = shown.set(width=width, penalty=penalty)
        steps = value["steps"]
        assert len(steps) <= LIMIT
        alpha = beams.ALPHA if penalty else 0.0
        assert_same_steps(steps, model, trained.target, source, width, alpha)


def test_what_cannot_be_read_is_said(show):
    shown = show(sample())
    shown.get("combobox").select_option(OWN)
    shown.get("textbox").fill("x" * 70)
    shown.press("Enter")
    shown.page.wait_for_function(
        "document.querySelector('beam-explorer').live"
    )
    assert "At most 64" in shown.element.locator(".note").inner_text()


def test_its_children_are_the_search_of_the_start():
    known = trees()["month 8"]
    cells = re.findall(r"<td>([^<]*)</td>", stored())
    expected = [
        f"{text} {log_p:.2f}"
        for step in beams.search(known.get, 3, 0.0)
        for text, log_p in list(step.items())[:3]
    ]
    assert cells == expected


FAULTS = {
    "the penalty is always on": (
        "const alpha = this.penalty ? this.alpha : 0;",
        "const alpha = this.alpha;",
    ),
    "one beam too many": (
        "found.slice(0, width);",
        "found.slice(0, width + 1);",
    ),
    "the worst first": ("b.score - a.score", "a.score - b.score"),
    "PAD may follow": (
        "row[this.config.pad_id] = row[this.config.bos_id]",
        "row[this.config.bos_id]",
    ),
    "the cache is lost": (
        "[model.logP(step), step.cache]",
        "[model.logP(step)]",
    ),
    "another parent": (
        "state,\n          parent };",
        "state,\n          parent: 0 };",
    ),
}


def check(shown):
    model, letters, sources = unsure()
    steps = shown.set(source="a", width=3, penalty=False)["steps"]
    assert_same_steps(steps, model, letters, sources[0], 3, 0.0)
    boxes = [
        {"row": row, "col": col}
        for row in range(1, len(steps))
        for col in range(len(steps[row]))
    ]
    for place, (_, found) in zip(boxes, shown.each(boxes, PATH), strict=True):
        text = steps[place["row"]][place["col"]][0]
        note, lines, on = found
        assert "".join(re.findall(r"\((.)\)", note)) == text
        assert lines == place["row"]
        assert all(text.startswith(part) for part in on)
    trained = date_model()
    shown.page.evaluate(
        "(async () => { const e = document.querySelector('beam-explorer');"
        f"e.source = '{OWN}'; await e.ask('3 ma 20') }})()"
    )
    steps = shown.set(width=3)["steps"]
    source = torch.tensor(trained.source.encode("3 ma 20"))
    model = rounded(trained.model)
    assert_same_steps(steps, model, trained.target, source, 3, 0.0)
