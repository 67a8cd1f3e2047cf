"""What must hold for the slides of every chapter: they are few and short.

Each rule lists what is wrong with the cells of a chapter.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from textwrap import dedent, indent

from nbformat.v4 import new_markdown_cell

from tools.chapters.prose import ON_PAPER, unproved
from tools.editions.slides import deck
from tools.source import cells as kinds

SLIDES = range(10, 19)  # in a deck, the title slide counted
WORDS = 35  # on a slide, its title counted, formulas and code not
LINES = 10  # of code on a slide, and of what it prints
FORMULA = re.compile(r"\$\$.*?\$\$|\\begin\{\w+\*?\}.*?\\end\{\w+\*?\}", re.S)
UNREAD = re.compile(r"\$[^$]+\$|`[^`]*`")
MARKS = re.compile(r"\]\(|</?\w|^#", re.M)  # links, HTML, a second heading
TYPES = {"", "slide", "subslide", "fragment", "-", "skip", "notes"}


def words(text: str) -> int:
    """How many words are read on a slide; a number is none."""
    return len(re.findall(r"\S*[^\W\d_]\S*", read(text)))


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


def slides(cells: list) -> Iterator[str]:
    """Every slide, by its title."""
    for slide in deck.slides(cells):
        for problem in (*size_problems(slide), *part_problems(slide)):
            yield f"“{slide.title}”: {problem}"


def size_problems(slide) -> Iterator[str]:
    """It is read at a glance, and is about one thing."""
    texts = defaultdict(str)
    for part in slide.parts:
        texts[part.kind] += f"{part.content}\n"
    if (number := words(f"{slide.title} {texts['words']}")) > WORDS:
        yield f"{number} words, not {WORDS}"
    for kind in ("code", "output"):
        if (number := lines(texts[kind])) > LINES:
            yield f"{number} lines of {kind}, not {LINES}"
    pictures = [p for p in slide.parts if p.kind in ("figure", "drawing")]
    formulas = FORMULA.findall(texts["words"])
    if len(pictures) + len(formulas) + bool(texts["code"]) > 1:
        yield "more than one formula, figure or code"
    if not "".join(texts.values()).strip():
        yield "no content"


def part_problems(slide) -> Iterator[str]:
    """Code with its end; words without links, HTML or a second heading."""
    for part in slide.parts:
        if part.kind == "words" and MARKS.search(read(part.content)):
            yield "a link, HTML or a second heading"
        if part.kind == "code":
            body = indent(dedent(part.content), "    ")
            try:
                ast.parse(f"async def shown():\n{body}\n")
            except SyntaxError as error:
                yield f"cut code: {error.text.strip()}"


def titles(cells: list) -> Iterator[str]:
    """Every slide says what it shows; only a subslide may go on."""
    for cell in deck.told(cells):
        is_new = deck.slide_type(cell) == "slide"
        if is_new and not deck.HEADING.match(deck.words(cell)):
            yield f"cell {cell.id}: a slide without a title"


def places(cells: list) -> Iterator[str]:
    """Slides come from the page's own cells, the first one begins a slide."""
    shown = [cell.id for cell in deck.told(cells)]
    has_begun = False
    for cell in cells:
        kind, is_tagged = deck.slide_type(cell), deck.is_tagged(cell)
        has_begun |= kind in deck.BEGINS
        if kind not in TYPES:
            yield f"cell {cell.id}: no slide type is called {kind}"
        if is_tagged and cell.id not in shown:
            yield f"cell {cell.id}: exercises and quizzes are not shown"
        if is_tagged and kinds.is_check(cell):
            yield f"cell {cell.id}: a check is not shown"
        if kind in deck.ADDS and not has_begun:
            yield f"cell {cell.id}: adds to a slide that is not there"
        has_words = deck.shown_words(cell) and cell is not cells[0]
        if has_words and not is_tagged:
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
    prose = "".join(c.source for c in cells if c.cell_type == "markdown")
    on_paper = "".join(found[0] for found in ON_PAPER.finditer(prose))
    said = [
        new_markdown_cell(part.content + on_paper)
        for slide in deck.slides(cells)
        for part in slide.parts
        if part.kind == "words"
    ]
    yield from unproved([*code, *said])


RULES = length, slides, titles, places, spoken, numbers
