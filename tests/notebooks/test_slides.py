"""What must hold for the slides of every chapter: they are few and short.

Each rule lists what is wrong with a chapter. It is held to every chapter
that has slides, and below to cells that are made to fail it.
"""

import ast
import re
from collections.abc import Iterator
from textwrap import dedent, indent

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tools import cells as kinds
from tools import sync
from tools.prose import ON_PAPER, unproved
from tools.slides import deck
from tools.taught import chapters

SLIDES = range(10, 19)  # in a deck, the title slide counted
WORDS = 35  # on a slide, its title counted, formulas and code not
LINES = 10  # of code on a slide, and of what it prints
FORMULA = re.compile(r"\$\$.*?\$\$|\\begin\{\w+\*?\}.*?\\end\{\w+\*?\}", re.S)
UNREAD = re.compile(r"\$[^$]+\$|`[^`]*`")
MARKS = re.compile(r"\]\(|</?\w|^#", re.M)  # links, HTML, a second heading
TYPES = {"", "slide", "subslide", "fragment", "-", "skip", "notes"}


def words(text: str) -> int:
    """How many words are read on a slide; a number is none."""
    return sum(
        bool(re.search(r"[^\W\d_]", word)) for word in read(text).split()
    )


def read(text: str) -> str:
    """A text without its formulas and its code."""
    return UNREAD.sub(" ", FORMULA.sub(" ", text))


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def length(cells: list) -> Iterator[str]:
    """A lecture has time for ten slides, and not for nineteen."""
    number = len(deck.slides(cells))
    if number not in SLIDES:
        yield f"{number} slides, not {SLIDES[0]} to {SLIDES[-1]}"


def short_slides(cells: list) -> Iterator[str]:
    """A slide is read at a glance, and is about one thing."""
    for slide in deck.slides(cells):
        texts = {kind: [] for kind in ("words", "code", "output")}
        texts |= {"figure": [], "drawing": []}
        for part in slide.parts:
            texts[part.kind].append(part.content)
        said = " ".join(texts["words"])
        if (number := words(f"{slide.title} {said}")) > WORDS:
            yield f"“{slide.title}”: {number} words, not {WORDS}"
        for kind in ("code", "output"):
            if (number := sum(map(lines, texts[kind]))) > LINES:
                yield f"“{slide.title}”: {number} lines of {kind}, not {LINES}"
        pictures = len(texts["figure"]) + len(texts["drawing"])
        shown = pictures + len(FORMULA.findall(said)) + bool(texts["code"])
        if shown > 1:
            yield f"“{slide.title}”: more than one formula, figure or code"
        if not any(text.strip() for kind in texts.values() for text in kind):
            yield f"“{slide.title}”: no content"


def whole_code(cells: list) -> Iterator[str]:
    """What is shown of a cell is code, not a line without its end."""
    for slide in deck.slides(cells):
        for part in slide.parts:
            if part.kind == "code":
                body = indent(dedent(part.content), "    ")
                try:
                    ast.parse(f"async def shown():\n{body}\n")
                except SyntaxError as error:
                    yield f"“{slide.title}”: cut code: {error.text.strip()}"


def titles(cells: list) -> Iterator[str]:
    """Every slide says what it shows; only a subslide may go on."""
    for cell in deck.told(cells):
        is_new = deck.slide_type(cell) == "slide"
        if is_new and not deck.HEADING.match(deck.words(cell)):
            yield f"cell {cell.id}: a slide without a title"


def plain_words(cells: list) -> Iterator[str]:
    """No links, HTML or second heading on a slide."""
    for slide in deck.slides(cells):
        for part in slide.parts:
            if part.kind == "words" and MARKS.search(read(part.content)):
                yield f"“{slide.title}”: a link, HTML or a second heading"


def places(cells: list) -> Iterator[str]:
    """Slides come from the page's own cells, the first one begins a slide."""
    shown = [cell.id for cell in deck.told(cells)]
    has_begun = False
    for cell in cells:
        kind = deck.slide_type(cell)
        has_begun |= kind in deck.BEGINS
        if kind not in TYPES:
            yield f"cell {cell.id}: no slide type is called {kind}"
        if deck.is_tagged(cell) and cell.id not in shown:
            yield f"cell {cell.id}: exercises and quizzes are not shown"
        if deck.is_tagged(cell) and kinds.is_check(cell):
            yield f"cell {cell.id}: a check is not shown"
        if kind in deck.ADDS and not has_begun:
            yield f"cell {cell.id}: adds to a slide that is not there"
        if deck.shown_words(cell) and cell is not cells[0]:
            if not deck.is_tagged(cell):
                yield f"cell {cell.id}: words for a slide, but no slide type"


def spoken(cells: list) -> Iterator[str]:
    """Who shows the slides finds in the notes what to say."""
    slides = deck.slides(cells)
    silent = [slide.title for slide in slides if not slide.notes]
    if 2 * len(silent) > len(slides):
        yield f"{len(silent)} of {len(slides)} slides have no notes"


def numbers(cells: list) -> Iterator[str]:
    """A number on a slide is one that the chapter prints or computes."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    on_paper = "".join(
        found[0]
        for cell in cells
        if cell.cell_type == "markdown"
        for found in ON_PAPER.finditer(cell.source)
    )
    said = [
        new_markdown_cell(part.content + on_paper)
        for slide in deck.slides(cells)
        for part in slide.parts
        if part.kind == "words"
    ]
    yield from unproved([*code, *said])


RULES = (
    length,
    short_slides,
    whole_code,
    titles,
    plain_words,
    places,
    spoken,
    numbers,
)
CHAPTERS = {path.stem: sync.read(path).cells for path in chapters()}


@pytest.mark.parametrize("name", CHAPTERS)
@pytest.mark.parametrize("rule", RULES)
def test_the_slides_of_a_chapter_pass(rule, name):
    problems = list(rule(CHAPTERS[name]))
    assert not problems, "\n".join([f"{name}:", *problems])


# The rules themselves, on cells of which only one thing is wrong.


def prose(text="Said, not shown.", kind="", **book):
    metadata = {"slideshow": {"slide_type": kind}, "book": book}
    return new_markdown_cell(text, metadata=metadata)


def code(text="x = 1", *outputs, kind="", **metadata):
    metadata = {"slideshow": {"slide_type": kind}} | metadata
    return new_code_cell(text, outputs=list(outputs), metadata=metadata)


def prints(text):
    return new_output("stream", name="stdout", text=text)


def drawn():
    return new_output("display_data", {"image/png": "AAAA"})


def lecture(*cells, slides=9):
    """A good deck of ten slides, and these cells behind them."""
    first = new_markdown_cell("# 1. Name\n\n**A question?**")
    own = [
        prose(kind="slide", slide=f"## Title {n}\n\n- It is short.")
        for n in range(slides)
    ]
    return [first, prose(), *own, *cells]


EXERCISES = [new_markdown_cell("Summary.\n\n## Exercises")]
HIDDEN = [
    prose("### Exercise 1.1 · Add", "slide", slide="## No\n\nno"),
    code("def f(): ...", kind="-", nbgrader={"solution": True}),
    prose("### Quiz", "slide", slide="## No\n\nno"),
]
LONG = " ".join(["word"] * 34)
BAD = [
    (length, lecture(slides=8), "9 slides, not 10 to 18"),
    (length, lecture(slides=18), "19 slides, not 10 to 18"),
    (
        short_slides,
        lecture(prose(kind="slide", slide=f"## Two words\n\n{LONG}")),
        "36 words, not 35",
    ),
    (short_slides, lecture(code("1\n" * 11, kind="-")), "11 lines of code"),
    (
        short_slides,
        lecture(code("1", prints("1\n" * 11), kind="-")),
        "11 lines of output",
    ),
    *(
        (short_slides, lecture(*parts), "more than one formula, figure")
        for parts in [
            [prose("$$a$$", "-"), prose("$$b$$", "-")],
            [prose("$$a$$", "-"), code("1", drawn(), kind="-")],
            [code("1", drawn(), kind="-"), code("1", kind="-")],
        ]
    ),
    (short_slides, lecture(prose("## Title", "slide")), "no content"),
    (whole_code, lecture(code("x = 1\ndef f(", kind="-")), "cut code: def f("),
    (whole_code, lecture(code("for x in y:", kind="-")), "cut code"),
    (titles, lecture(prose("No title.", "slide")), "a slide without a title"),
    (titles, lecture(code(kind="slide")), "a slide without a title"),
    (plain_words, lecture(prose("[a](b.md)", "-")), "a link, HTML"),
    (plain_words, lecture(prose("<b>a</b>", "-")), "a link, HTML"),
    (plain_words, lecture(prose("a\n\n## b", "-")), "a second heading"),
    *((places, lecture(*EXERCISES, cell), "are not shown") for cell in HIDDEN),
    (places, lecture(HIDDEN[1]), "are not shown"),
    (places, lecture(code("# @title Check: a\n1", kind="-")), "a check is"),
    (places, lecture(prose(kind="slides")), "no slide type is called slides"),
    (places, lecture(prose(slide="## A\n\nb")), "but no slide type"),
    (places, [*lecture()[:1], prose(kind="-")], "adds to a slide that is not"),
    (spoken, lecture(*[code(kind="subslide")] * 12), "12 of 22 slides have"),
    (numbers, lecture(prose("It is 0.25.", "-")), "0.25 in: It is 0.25."),
]


@pytest.mark.parametrize("rule", RULES)
def test_good_slides_pass(rule):
    more = [
        prose("Prose", "slide", slide=f"## One\n\n$$x = 0.5$$ {LONG[:160]}"),
        prose("But 0.75 is only said."),
        code("return 0.5\n" * 10, prints("1\n" * 10), kind="subslide"),
        code("1", drawn(), kind="slide", book={"slide": "## Drawn\n\nWords"}),
        prose("It is 0.5, or 3.5, as $s_{<t}$ and `<a>`.", "fragment"),
        prose("Half of 7 is 3.5. <!-- on paper: 7 / 2 -->"),
        *EXERCISES,
        prose("### Exercise 1.1 · Add"),
        prose("## Next\n\nA question?", "slide"),
    ]
    assert list(rule(lecture(*more))) == []


@pytest.mark.parametrize("rule, cells, problem", BAD)
def test_bad_slides_fail(rule, cells, problem):
    problems = list(rule(cells))
    assert any(problem in line for line in problems), problems


# What becomes of the cells.


def last_slide(*cells):
    return deck.slides(lecture(*cells))[-1]


def shown(slide):
    return [(part.kind, part.content) for part in slide.parts]


def test_prose_becomes_the_notes_of_the_slide_before():
    slide = last_slide(
        prose("Own prose.", "slide", slide="## T\n\nShort."),
        prose("More."),
        prose("Nobody says this.", "skip"),
        code("left_out = 1"),
    )
    assert shown(slide) == [("words", "Short.")]
    assert slide.title == "T" and slide.notes == ["Own prose.", "More."]


def test_a_figure_comes_without_its_code_and_its_caption_is_said():
    figure = {"figure": {"caption": "Bars."}, "image": {"alt": "Two bars."}}
    slide = last_slide(
        code(
            "draw()",
            drawn(),
            kind="slide",
            mystnb=figure,
            tags=["keep-colours"],
            book={"slide": "## Two bars"},
        )
    )
    (part,) = slide.parts
    assert (part.kind, part.alt) == ("figure", "Two bars.")
    assert part.keeps_colours and slide.notes == ["*Figure.* Bars."]


@pytest.mark.parametrize(
    "book, kinds",
    [
        ({}, ["code", "output"]),
        ({"show": "code"}, ["code"]),
        ({"show": "output"}, ["output"]),
    ],
)
def test_code_is_shown_with_what_it_prints(book, kinds):
    slide = last_slide(code("print(1)", prints("1\n"), kind="-", book=book))
    assert [part.kind for part in slide.parts[1:]] == kinds


def test_a_part_of_a_cell_is_named_by_its_ends():
    text = "def f():\n    a = 1\n\n    b = 2\n    return a\n"
    cell = code(text, kind="-", book={"part": ["a = ", "b = "]})
    assert shown(last_slide(cell))[-1] == ("code", "a = 1\n\nb = 2")
    cell.metadata.book.part = ["b = ", "a = "]
    with pytest.raises(deck.SlideError, match=cell.id):
        last_slide(cell)


def test_what_waits_for_a_key_and_what_goes_on():
    slide = last_slide(
        prose("Later.", "fragment"), prose("At once.", "-"), code(kind="-")
    )
    assert [part.is_step for part in slide.parts] == [0, 1, 0, 0]
    goes_on = last_slide(code(kind="subslide"))
    assert goes_on.title == "Title 8" and shown(goes_on)[0][0] == "code"


def test_the_title_slide_asks_the_question_over_the_first_figure():
    cells = lecture(code("1", drawn(), drawn()), code("1", drawn()))
    first = deck.slides(cells)[0]
    assert first.title == "1. Name"
    assert shown(first)[:2] == [("words", "A question?"), ("figure", "AAAA")]
    cells[0].metadata["book"] = {"slide": "Shorter?"}
    assert shown(deck.slides(cells)[0])[0] == ("words", "Shorter?")


def test_exercises_are_neither_shown_nor_said():
    cells = lecture(*EXERCISES, *HIDDEN, prose("## Next\n\nOn."))
    slides = deck.slides(cells)
    assert len(slides) == 10
    assert slides[-1].notes[-2:] == ["Summary.", "## Next\n\nOn."]
    assert "Exercise" not in str(slides)
