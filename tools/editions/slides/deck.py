"""What the slides of a chapter say: its own cells, chosen by their metadata.

A cell with the slide type `slide` or `subslide` begins a slide; `fragment`
adds to the slide before it at the next key, `-` at once. On a slide stand
the words in `book.slide`, or else the text of a Markdown cell; the code of a
cell, or a part of it, and what it has printed or drawn. Prose without a type
is read out: it becomes the notes of the slide before it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from textwrap import dedent

from book._ext.book_site.source.outputs import Refused, cleaned
from tools.source import cells as kinds
from tools.source import colab

BEGINS = ("slide", "subslide")
ADDS = ("fragment", "-")
HEADING = re.compile(r"\A#+ +(?P<title>.+?) *(?:\n+|\Z)")
NUMBER = re.compile(r"\A(?P<number>\d+)\. (?P<name>.+)")
QUESTION = re.compile(r"^\*\*(?P<question>.+?)\*\*$", re.M | re.S)
EMPTY_LINES = re.compile(r"\n{3,}")  # one is enough on a slide


class SlideError(Exception):
    """Which cell cannot be shown, and why."""


@dataclass
class Part:
    """One thing on a slide; it may wait for a key, as a step."""

    kind: str  # words, code, output, figure or drawing
    content: str  # Markdown, code, text, base64 of a PNG, or HTML
    is_step: bool = False
    alt: str = ""
    keeps_colours: bool = False


@dataclass
class Slide:
    """A title, what stands under it, and what is said about it."""

    title: str
    parts: list[Part] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def slide_type(cell) -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "")


def is_tagged(cell) -> bool:
    """Does the cell stand on a slide?"""
    return slide_type(cell) in BEGINS + ADDS


def has_slides(cells: list) -> bool:
    return any(map(is_tagged, cells))


def told(cells: list) -> Iterator:
    """The cells of a chapter without its exercises and quizzes."""
    is_inside = False
    for cell in cells:
        if cell.cell_type == "markdown":
            if heading := kinds.EXERCISES.search(cell.source):
                is_inside, cell = True, type(cell)(cell)
                cell.source = cell.source[: heading.start()].strip()
                yield cell
                continue
            is_inside &= not cell.source.startswith("## ")
        is_left = is_inside or kinds.is_exercise(cell)
        if not is_left and not {"quiz", "colab"} & {
            *cell.metadata.get("tags", [])
        }:
            yield cell


def slides(cells: list) -> list[Slide]:
    """The deck of a chapter, a title slide first.

    Raises:
        SlideError: a cell is to be shown that cannot be.
    """
    first, *rest = told(cells)
    deck = [title_slide(first, rest)]
    for cell in rest:
        kind = slide_type(cell)
        if kind in BEGINS:
            deck.append(Slide(title(cell, deck[-1].title)))
        if kind in BEGINS + ADDS:
            deck[-1].parts += parts(cell, kind == "fragment")
        if kind != "skip":
            deck[-1].notes += notes(cell)
    return deck


def title_slide(first, rest: list) -> Slide:
    """The question of the chapter and its first figure."""
    source = colab.BADGE_LINE.sub("", first.source)
    asked = QUESTION.search(source)
    words = shown_words(first) or (asked["question"] if asked else "")
    slide = Slide(HEADING.match(source)["title"])
    slide.parts.append(Part("words", words))
    for cell in rest:
        if figure := [p for p in outputs(cell) if p.kind == "figure"]:
            slide.parts += figure
            break
    return slide


def shown_words(cell) -> str:
    """The Markdown of a cell for its slide, with the title."""
    return cell.metadata.get("book", {}).get("slide", "").strip()


def words(cell) -> str:
    is_prose = cell.cell_type == "markdown"
    return shown_words(cell) or (cell.source if is_prose else "")


def title(cell, before: str) -> str:
    """The title of the slide that a cell begins, or else the one before."""
    match = HEADING.match(words(cell))
    return match["title"] if match else before


def parts(cell, is_step: bool) -> list[Part]:
    """What a cell puts on a slide: words, code, output, in this order."""
    text = HEADING.sub("", words(cell)).strip()
    parts = [Part("words", text)] if text else []
    if cell.cell_type == "code":
        drawn = list(outputs(cell))
        show = cell.metadata.get("book", {}).get("show", "")
        is_picture = any(p.kind in ("figure", "drawing") for p in drawn)
        if not (is_picture or kinds.is_drawing(cell) or show == "output"):
            parts.append(Part("code", code(cell)))
        if show != "code":
            parts += drawn
    for part in parts:
        part.is_step = is_step
    return parts


def code(cell) -> str:
    """The code of a cell, or of it the lines that `book.part` names.

    It names two texts: the first line shown holds the one, the last line
    shown is the next that holds the other.
    """
    source = kinds.TITLE.sub("", cell.source).rstrip()
    ends = cell.metadata.get("book", {}).get("part")
    if not ends:
        return EMPTY_LINES.sub("\n\n", source)
    lines = source.splitlines()
    first, last = ends
    starts = [n for n, text in enumerate(lines) if first in text]
    stops = [n for n, text in enumerate(lines) if last in text]
    stops = [n for n in stops if n >= min(starts, default=0)]
    if not starts or not stops:
        raise SlideError(f"cell {cell.id}: no part {ends}")
    return dedent("\n".join(lines[starts[0] : stops[0] + 1]))


def outputs(cell) -> Iterator[Part]:
    """What a cell has printed and drawn."""
    alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
    keeps = "keep-colours" in cell.metadata.get("tags", [])
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = output.get("text") or data.get("text/plain", "")
        if "image/png" in data:
            image = "".join(data["image/png"].split())
            yield Part("figure", image, alt=alt, keeps_colours=keeps)
        elif "text/html" in data:
            yield Part("drawing", allowed(cell, data["text/html"]))
        elif text.strip():
            yield Part("output", text.rstrip())


def allowed(cell, html: str) -> str:
    """A drawing, if a page may show it."""
    try:
        return cleaned(kinds.without_scripts(html))
    except Refused as reason:
        raise SlideError(f"cell {cell.id}: {reason}") from None


def notes(cell) -> list[str]:
    """What a cell gives to the notes: prose, or the caption of a figure."""
    if cell.cell_type == "code":
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        caption = figure.get("caption", "")
        return [f"*Figure.* {caption}"] if caption and is_tagged(cell) else []
    is_shown = is_tagged(cell) and not shown_words(cell)
    return [cell.source] if cell.source.strip() and not is_shown else []
