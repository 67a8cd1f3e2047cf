"""A page is read, a check is run: what holds the two kinds of cells apart.

Each rule lists what is wrong with a chapter. It is run on every chapter, and
below on cells that are made to break it.
"""

import ast
import re
from collections.abc import Iterator
from statistics import median
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tools import cells, sync
from tools.taught import chapters, symbols

CHECK_LINES, TEACHING_LINES, CLASS_LINES = 30, 30, 60
TEACHING_CELLS, MEDIAN_LINES, WORDS = (15, 30), 6, (1_500, 3_000)
# What looks into a figure rather than draws one.
READS_FIGURE = re.compile(
    r"\.(get_(gid|array|[xy]data|text|height|width|xy|facecolor|color|"
    r"[xy]ticklabels|lines|position)\(|(images|lines|texts|patches)\b)"
)
ELEMENT = re.compile(
    r'<(?P<tag>[a-z-]+-explorer) class="explorer" '
    r"(?:(?!<script).)*</(?P=tag)>",
    re.DOTALL,
)
QUESTION = re.compile(
    r"<details>\n<summary><b>[^<]+</b>(?:(?!</summary>).)*\?</summary>"
)
FIGURE = re.compile(r"[Ff]igures?\s+(?:\d+\.\d+,?\s+(?:and\s+)?)*\d+\.\d+")


def asserts(source: str) -> int:
    """The number of assertions: statements, and calls that assert."""
    found = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).split(".")[-1]
            found += name.startswith("assert_")
        found += isinstance(node, ast.Assert)
    return found


def names(source: str, which: str) -> set[str]:
    """The names of a cell that `is_assigned`, or `is_referenced`."""
    cell = symbols(source)
    tables = [cell]
    if which == "is_referenced":
        tables += cell.get_children()
    return {
        s.get_name()
        for table in tables
        for s in table.get_symbols()
        if getattr(s, which)() and (table is cell or s.is_global())
    }


def check_cells(page: list) -> Iterator[str]:
    """A claim, a proof of it, and nothing to look at."""
    before = None
    for cell in page:
        if cells.is_check(cell):
            claim = cells.TITLE.match(cell.source)["claim"]
            here = f"Check: {claim}"
            if len(claim.split()) < 3:
                yield f"{here}: the claim is not a sentence"
            if not asserts(cell.source):
                yield f"{here}: nothing is asserted"
            if cell.outputs:
                yield f"{here}: a check has no output"
            if cell.source.count("\n") >= CHECK_LINES:
                yield f"{here}: more than {CHECK_LINES} lines"
            if before is not None and cells.is_check(before):
                yield f"{here}: two checks in a row, without a word between"
        elif "# @title" in cell.source and not cells.is_folded(cell):
            yield f"not a title of this book: {cell.source.splitlines()[0]}"
        before = cell


def checks_are_dispensable(page: list) -> Iterator[str]:
    """Nobody needs to open a check to understand the code that follows."""
    taught, checked = set(), {}
    for cell in page:
        if cell.cell_type != "code":
            continue
        if cells.is_check(cell):
            claim = cells.TITLE.match(cell.source)["claim"]
            for name in names(cell.source, "is_assigned"):
                if name in taught:
                    yield f"Check: {claim}: it changes {name} of the page"
                checked.setdefault(name, claim)
        else:
            own = names(cell.source, "is_assigned")
            used = names(cell.source, "is_referenced") - own
            for name in sorted((used & checked.keys()) - taught):
                yield f"{name} is used, but stands in Check: {checked[name]}"
            taught |= own


def teaching_cells(page: list) -> Iterator[str]:
    """Short, few, and about the idea: no proof, no figure taken apart."""
    before = cells.before_exercises(page)
    lines = cells.code(before)
    for cell in filter(cells.is_teaching, page):
        first = cell.source.splitlines()[0]
        is_definition = cells.is_definition(cell)  # under a marker
        most = CLASS_LINES if is_definition else TEACHING_LINES
        if cell.source.count("\n") + (not is_definition) > most:
            yield f"more than {most} lines: {first}"
        if asserts(cell.source) > 1:
            yield f"more than one assertion, which is a check: {first}"
        if READS_FIGURE.search(cell.source):
            yield f"it reads a figure, which is a check: {first}"
    few, many = TEACHING_CELLS
    if not few <= len(lines) <= many:
        yield f"{len(lines)} teaching cells, not {few} to {many}"
    if lines and median(lines) > MEDIAN_LINES:
        yield f"half of the teaching cells have over {MEDIAN_LINES} lines"


def first_screen(page: list) -> Iterator[str]:
    """A question, a picture, and then what it takes."""
    kinds = []
    for cell in page:
        if cell.cell_type == "code":
            is_figure = cells.is_drawing(cell) and cell.outputs
            title = cells.TITLE.match(cell.source)
            if "colab" in cell.metadata.get("tags", []):
                continue
            kinds.append("figure" if is_figure else title and title[0].strip())
        elif cell.source.startswith("# "):
            kinds.append("question" if "?**" in cell.source else "title")
        else:
            is_box = cell.source.startswith("> **You will**")
            kinds.append("box" if is_box else "words")
    expected = ["question", "# @title Imports", "figure", "box"]
    if [kind for kind in kinds if kind != "words"][:4] != expected:
        yield f"it begins with {kinds[:4]}, not with {expected}"


def length(page: list) -> Iterator[str]:
    few, many = WORDS
    words = cells.prose(cells.before_exercises(page))
    if not few <= words <= many:
        yield f"{words} words before the exercises, not {few} to {many}"


def figures_are_referred_to(page: list) -> Iterator[str]:
    """Every figure by its number, which is its place among the figures."""
    chapter = re.match(r"# (\d+)\.", page[0].source)[1]
    text = " ".join(c.source for c in page if c.cell_type == "markdown")
    named = set(re.findall(r"\d+\.\d+", " ".join(all_of(FIGURE, text))))
    drawn = [c for c in page if c.metadata.get("mystnb", {}).get("figure")]
    for number in range(1, len(drawn) + 1):
        if f"{chapter}.{number}" not in named:
            yield f"the text does not refer to figure {chapter}.{number}"
    for reference in named:
        other, number = map(int, reference.split("."))
        if other == int(chapter) and number > len(drawn):
            yield f"there is no figure {reference}"


def all_of(pattern: re.Pattern, text: str) -> Iterator[str]:
    return (found[0] for found in pattern.finditer(text))


def explorers(page: list) -> Iterator[str]:
    """One expression; then a question, its answer, and a check of that."""
    for place, cell in enumerate(page):
        if "explorer" not in cell.metadata.get("tags", []):
            continue
        here = f"explorer: {cell.source}"
        if not cells.is_drawing(cell):
            yield f"{here}: it lacks the tag `hide-input`"
        if not isinstance(ast.parse(cell.source).body[0], ast.Expr):
            yield f"{here}: it is not one expression"
        shown = [o.get("data", {}).get("text/html", "") for o in cell.outputs]
        if len(shown) != 1 or not ELEMENT.fullmatch(shown[0]):
            yield f"{here}: its output is not one element without a script"
        question, check = page[place + 1 : place + 3]
        if not QUESTION.search(question.source):
            yield f"{here}: no question with a folded answer follows"
        if not cells.is_check(check):
            yield f"{here}: no check of the answer follows"


RULES = (
    check_cells,
    checks_are_dispensable,
    teaching_cells,
    first_screen,
    length,
    figures_are_referred_to,
    explorers,
)


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", RULES)
def test_a_chapter_keeps(rule, path):
    problems = list(rule(sync.read(path).cells))
    assert not problems, "\n".join([f"{path.name}:", *problems])


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_a_chapter_says_how_long_it_takes(path):
    page = sync.read(path).cells
    text = "\n".join(cell.source for cell in page)
    assert str(cells.effort(page)) in text, "run `make sync`"


# The rules themselves.


def code(source, *outputs, **metadata):
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def check(*lines):
    return code("\n".join(["# @title Check: two and two are four", *lines]))


def words(text="Words."):
    return new_markdown_cell(text)


def figure():
    image = new_output("display_data", {"image/png": "AAAA"})
    named = {"figure": {"name": "fig-x", "caption": "X."}}
    return code("f()", image, tags=["hide-input"], mystnb=named)


def explorer(html="<p>1</p>", source="f()", tags=("hide-input",)):
    html = f'<a-explorer class="explorer" data-scripts="a">{html}</a-explorer>'
    output = new_output("execute_result", {"text/html": html})
    return code(source, output, tags=[*tags, "explorer"])


ASKED = words(
    "<details>\n<summary><b>Find out.</b> Is <i>a</i> 2?</summary>\n\nYes."
)


def chapter(**changed):
    """A page that keeps every rule; the parts that are named are replaced."""
    parts = {
        "title": [words("# 9. Sums\n\n**What is two and two?**")],
        "imports": [code("# @title Imports\nimport math")],
        "figure": [figure()],
        "box": [words("> **You will** see figure 9.1.")],
        "text": [words("word " * 1_600)],
        "code": [code("a = 2\na + a\n") for _ in range(16)],
        "check": [check("assert a + a == 4")],
        "explorer": [explorer(), ASKED, check("assert a == 2")],
        "end": [words("## Exercises")],
    } | changed
    return [cell for part in parts.values() for cell in part]


PRINTED = new_output("stream", name="stdout", text="4")
BROKEN = {
    "the claim is not a sentence": {
        "check": [code("# @title Check: sums\nassert True")]
    },
    "nothing is asserted": {"check": [check("a == 4")]},
    "a check has no output": {
        "check": [code(check("assert a").source, PRINTED)]
    },
    "more than 30 lines": {"check": [check(*["assert a"] * 30)]},
    "two checks in a row": {"check": [check("assert a"), check("assert a")]},
    "not a title of this book": {"check": [code("# @title Proof\n1")]},
    "it changes a of the page": {"check": [check("a = 4", "assert a")]},
    "b is used, but stands in": {
        "check": [check("b = 4", "assert b"), words(), code("b + 1")]
    },
    "more than 30 lines: a = 2": {"check": [code("a = 2\n" * 31)]},
    "more than 60 lines: # lib/x.py": {
        "check": [code("# lib/x.py\n" + "a = 2\n" * 60)]
    },
    "more than one assertion": {"check": [code("assert a\nassert a")]},
    "it reads a figure": {"check": [code("ax.texts[0].get_text()")]},
    "14 teaching cells": {"code": [code("1")] * 14},
    "31 teaching cells": {"code": [code("1")] * 31},
    "over 6 lines": {"code": [code("a = 1\n" * 7)] * 16},
    "it begins with": {"figure": [], "box": [words("> **You will** 9.1")]},
    "words before the exercises": {"text": [words("Short.")]},
    "does not refer to figure 9.2": {"more": [figure()]},
    "it lacks the tag `hide-input`": {
        "explorer": [explorer(tags=()), ASKED, check("assert a")]
    },
    "it is not one expression": {
        "explorer": [explorer(source="b = f()"), ASKED, check("assert a")]
    },
    "not one element without a script": {
        "explorer": [explorer("<script>1</script>"), ASKED, check("assert a")]
    },
    "no question with a folded answer": {
        "explorer": [explorer(), words(), check("assert a")]
    },
    "no check of the answer": {"explorer": [explorer(), ASKED, words()]},
    "no figure 9.3": {"more": [words("See figures 9.1, 9.2 and 9.3.")]},
}


def problems_of(page):
    return [problem for rule in RULES for problem in rule(page)]


def test_a_good_page_passes():
    assert problems_of(chapter()) == []


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_page_fails(problem):
    found = problems_of(chapter(**BROKEN[problem]))
    assert any(problem in line for line in found), found


def test_a_check_may_use_what_a_check_before_it_made():
    page = [check("b = 4", "assert b"), words(), check("assert b")]
    assert list(checks_are_dispensable(page)) == []


def test_titles_are_folded_in_jupyter_and_in_colab():
    page = SimpleNamespace(
        cells=[check("assert 1"), code("1", cellView="form"), words()]
    )
    page.metadata = {}
    sync.normalise(page)
    folded, open_, _ = page.cells
    assert folded.metadata == sync.FOLDED
    assert open_.metadata == {}


def test_minutes_come_from_words_lines_and_exercises():
    page = [
        words("> **Minutes** 1, and about 1 for the exercises."),
        words("word " * 1_800),  # 10 minutes
        code("a = 1\n\n" * 60),  # 5 minutes: empty lines are not read
        check(*["assert a"] * 20),
        words("## Exercises\n" + "word " * 900),
        words("### Exercise 1.1 · A\n\n**10 minutes · easy.** A."),
        words("### Exercise 1.2 · B\n\n**25 minutes · hard · transfer.** B."),
        code("b = 1\n" * 120),
    ]
    cells.put_effort(page)
    expected = "> **Minutes** 15, and about 35 for the exercises."
    assert page[0].source == expected
