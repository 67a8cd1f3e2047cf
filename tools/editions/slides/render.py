"""The slides of a chapter as one page of HTML."""

import ast
import base64
import hashlib
import re
from functools import cache
from html import escape
from io import BytesIO
from pathlib import Path

import imagesize
import jinja2
from markdown_it import MarkdownIt
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from book._ext.book_site.frame import policy
from book._ext.book_site.pages.mathematics import typeset
from tools.editions.slides.deck import NUMBER, Part, Slide

HERE = Path(__file__).parent
SPEAKER_VIEW = re.compile(r'document\.write\(("(?:[^"\\]|\\.)*")\)')
LINK = re.compile(r"</?a\b[^>]*>")
COLUMN = 0.602  # of its size is a letter of code wide
LINE = 1.4  # of its size is a line of code high
CODE_SIZES = (36, 32, 30, 28, 26, 24, 22)  # pixels
CODE_WIDTH = 1110  # pixels of a slide, and what is left to code below
CODE_HEIGHT = 530  # a title, less WORDS_HEIGHT for each line of words
WORDS_HEIGHT = 50
WORDS_A_LINE = 9
BELOW = (1152, 565)  # pixels for a figure under a title
BESIDE = (704, 632)  # and for one with title and words at its left
TITLE_BELOW = (1152, 440)  # the same on the slide with the chapter's title
TITLE_BESIDE = (684, 410)


@cache
def markdown(output: str) -> MarkdownIt:
    """A reader of the Markdown of the chapters, formulas included."""

    def formula(tex: str, options: dict) -> str:
        return typeset(tex, options.get("display_mode", True), output)

    parser = MarkdownIt("commonmark", {"html": True, "typographer": True})
    parser.enable(["table", "smartquotes"]).use(
        dollarmath_plugin, renderer=formula
    )
    return parser.use(amsmath_plugin, renderer=lambda tex: formula(tex, {}))


def words(text: str, output: str = "htmlAndMathml") -> str:
    """Words as HTML; nobody follows a link while somebody speaks."""
    return LINK.sub("", markdown(output).render(text))


def notes(slide: Slide) -> str:
    """What is said; the speaker view has no style for formulas."""
    html = "".join(words(text, "mathml") for text in slide.notes)
    return html.replace("<details>", "<details open>")


def figure(part: Part, images: dict[str, bytes]) -> str:
    """A picture, under the name that the website gives to it as well."""
    png = base64.b64decode(part.content)
    name = f"{hashlib.sha256(png).hexdigest()}.png"
    images[name] = png
    width, height = imagesize.get(BytesIO(png))
    kind = ' class="keep-colours"' if part.keeps_colours else ""
    return (
        f'<figure{kind}><img src="../_images/{name}" alt="{escape(part.alt)}" '
        f'width="{width}" height="{height}"></figure>'
    )


def part(shown: Part, images: dict[str, bytes]) -> str:
    """One thing on a slide."""
    if shown.kind == "words":
        html = words(shown.content)
    elif shown.kind == "code":
        html = highlight(shown.content, PythonLexer(), HtmlFormatter())
    elif shown.kind == "output":
        html = f"<pre>{escape(shown.content)}</pre>"
    elif shown.kind == "figure":
        html = figure(shown, images)
    else:
        html = LINK.sub("", shown.content)
    step = " fragment" if shown.is_step else ""
    return f'<div class="{shown.kind}{step}">{html}</div>'


def words_height(slide: Slide) -> int:
    """About how many pixels the words under the title take."""
    texts = [p.content for p in slide.parts if p.kind == "words"]
    lines = sum(-(-len(text.split()) // WORDS_A_LINE) for text in texts)
    return WORDS_HEIGHT * lines


def code_size(slide: Slide) -> int:
    """The largest letters in which all code of a slide finds room."""
    texts = [p.content for p in slide.parts if p.kind in ("code", "output")]
    lines = [line for text in texts for line in text.splitlines()]
    columns = max(map(len, lines), default=0)
    height = CODE_HEIGHT - words_height(slide)
    height -= CODE_SIZES[0] * len(texts)  # the margins of the boxes
    for size in CODE_SIZES:
        is_wide = columns * COLUMN * size > CODE_WIDTH
        if not is_wide and len(lines) * LINE * size <= height:
            return size
    return CODE_SIZES[-1]


def is_beside(slide: Slide) -> bool:
    """Is the figure larger if title and words stand at its left?"""
    pictures = [p for p in slide.parts if p.kind == "figure"]
    others = {p.kind for p in slide.parts} - {"figure", "words"}
    if len(pictures) != 1 or others:
        return False
    png = BytesIO(base64.b64decode(pictures[0].content))
    width, height = imagesize.get(png)
    below, beside = BELOW, BESIDE
    if NUMBER.match(slide.title):
        below, beside = TITLE_BELOW, TITLE_BESIDE
    room = below[1] - words_height(slide)
    under_words = min(below[0] / width, room / height)
    return min(beside[0] / width, beside[1] / height) > 1.05 * under_words


def layout(slide: Slide) -> str:
    """The classes of a slide: how its parts lie."""
    classes = ["frame"]
    if all(p.kind == "words" for p in slide.parts):
        classes.append("only-words")
    if is_beside(slide):
        classes.append("beside")
    return " ".join(classes)


def speaker_scripts() -> list[str]:
    """The scripts of the speaker view, which notes.js writes into a window."""
    source = (HERE / "vendor" / "notes.js").read_text("utf-8")
    written = SPEAKER_VIEW.search(source)[1]
    page = ast.literal_eval(written.replace("\\/", "/"))  # as JavaScript does
    return policy.INLINE.findall(page)


def page(deck: list[Slide], name: str, book: str) -> tuple[str, dict]:
    """The page of a deck, and the images that it shows by their names."""
    inline = markdown("htmlAndMathml").renderInline
    images: dict[str, bytes] = {}
    shown = [
        {
            "title": inline(slide.title),
            "layout": layout(slide),
            "code_size": code_size(slide),
            "parts": [part(p, images) for p in slide.parts],
            "notes": notes(slide),
        }
        for slide in deck
    ]
    number, chapter = NUMBER.match(deck[0].title).group("number", "name")
    shown[0]["title"] = inline(chapter)
    allowed = policy.policy(
        speaker_scripts(),
        style_src_elem="'self' 'unsafe-inline'",  # reveal.js's, for print
        frame_src="'self'",  # the speaker view shows the deck
    )
    template = jinja2.Template((HERE / "page.html").read_text("utf-8"))
    text = template.render(
        book=book,
        chapter=chapter,
        name=name,
        number=number,
        slides=shown,
        policy=policy.meta(allowed),
    )
    return text + "\n", images
