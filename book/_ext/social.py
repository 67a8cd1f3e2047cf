"""The picture that a link to a chapter shows elsewhere: `og:image`.

It must have a whole address, so it is drawn once the address of the published
site is known. The typeface is the book's own.
"""

import math
import re
from functools import cache
from pathlib import Path
from textwrap import wrap

from built import pages
from PIL import Image, ImageDraw, ImageFont
from repository import published

FOLDER = "_static/social"
WIDTH, HEIGHT, MARGIN = 1200, 630, 80
PAPER, INK, QUIET, ACCENT = "#ffffff", "#1f2328", "#59616b", "#0072b2"
FONTS = Path(__file__).parents[1] / "_static" / "fonts"
COLOURS = 64
LINE = 26  # characters of a title
NUMBER = re.compile(r"(\d+)\. (.*)", re.S)


@cache
def typeface(weight: int, size: int):
    name = f"source-serif-4-{weight}-normal.woff2"
    return ImageFont.truetype(FONTS / name, size)


def shade(weight: float) -> tuple[int, ...]:
    """The accent on paper, as strong as a weight between 0 and 1."""
    accent = (int(ACCENT[i : i + 2], 16) for i in (1, 3, 5))
    return tuple(round(255 + weight * (c - 255)) for c in accent)


def draw_weights(draw: ImageDraw.ImageDraw, top: int, rows: int = 4) -> None:
    """A strip of weights along the lower edge, as on the title page."""
    side, gap = 32, 4
    columns = (WIDTH - 2 * MARGIN + gap) // (side + gap)
    for row in range(rows):
        for column in range(columns):
            distance = column - (row + 0.5) * columns / rows
            weight = 0.07 + 0.93 * math.exp(-((distance / 3) ** 2))
            x, y = MARGIN + column * (side + gap), top + row * (side + gap)
            box = (x, y, x + side, y + side)
            draw.rounded_rectangle(box, 5, fill=shade(weight))


def lines(words: str) -> list[str]:
    """A title as it stands on the card."""
    return wrap(words, LINE, break_on_hyphens=False)


def picture(title: str, book: str) -> Image.Image:
    """The card of a page; that of the book itself has no line above."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    found = NUMBER.fullmatch(title)
    if title != book:
        above = f"{book} · Chapter {found[1]}" if found else book
        draw.text((MARGIN, 66), above, QUIET, typeface(400, 34))
    words = found[2] if found else title
    y = 128
    for line in lines(words)[:3]:
        draw.text((MARGIN, y), line, INK, typeface(600, 76))
        y += 90
    draw_weights(draw, HEIGHT - MARGIN - 140)
    return image.quantize(COLOURS, dither=Image.Dither.NONE)


def card(app, pagename: str) -> str:
    """Where the card of a page is; pages that are no chapters share one."""
    is_chapter = str(app.env.doc2path(pagename)).endswith(".ipynb")
    name = pagename if is_chapter else app.config.root_doc
    return f"{FOLDER}/{name}.png"


def head(app, pagename: str) -> dict[str, str]:
    """What the head of a page says of its own address; maybe nothing."""
    address = published(app)
    if not address:
        return {}
    return {
        "own_address": address + app.builder.get_target_uri(pagename),
        "social_card": address + card(app, pagename),
    }


def write_cards(app, error) -> None:
    """Draw the cards."""
    if error or app.builder.format != "html" or not published(app):
        return
    for page in pages(app):
        path = Path(app.outdir, FOLDER, f"{page.document}.png")
        if path != Path(app.outdir, card(app, page.document)):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        book = app.config.html_title or app.config.project
        picture(page.title, book).save(path, optimize=True)


def setup_social(app):
    """Register it."""
    app.connect("build-finished", write_cards)
