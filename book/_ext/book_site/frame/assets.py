"""Style sheets with their usual fonts inside; pictures, sized and light."""

import base64
import re
from pathlib import Path

import imagesize
from PIL import Image

# Text is painted once, in its own typeface, however slow the line. A script
# in layout.html knows the fonts inside by their `font-display: swap`. Of KaTeX
# they lie here without hints (pyftsubset --no-hinting), as the text's own do.
BUNDLES = {
    "book.css": ["custom.css", "page.css"],
    "katex/math.css": ["katex/katex.min.css"],
}
FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
USUAL_FONT = re.compile(
    r"url\(\"?(fonts/(?:source-serif-4-|KaTeX_(?:Main-Regular|Math-Italic|"
    r"SansSerif-Regular|Size\d))[^\")]*)\"?\)"
)
COLOURS = 128  # of a figure
PIXELS_PER_POINT = 2  # figures are drawn at twice the screen's resolution


def with_usual_fonts(path):
    """The text of a style sheet, with its usual fonts inside."""

    def data(match):
        font = base64.b64encode((path.parent / match[1]).read_bytes())
        return f'url("data:font/woff2;base64,{font.decode()}")'

    def inside(match):
        face, count = USUAL_FONT.subn(data, match[0])
        return face.replace("display:block", "display:swap", count)

    return FONT_FACE.sub(inside, path.read_text())


def image_sizes(app, body):
    """Say how large each image is, so that no text moves when it loads."""
    sources = {name: path for path, name in app.builder.images.items()}

    def with_size(match):
        path = Path(app.srcdir, sources.get(match[1], ""))
        width, height = imagesize.get(path) if path.is_file() else (-1, -1)
        if width <= 0:
            return match[0]
        width, height = (n // PIXELS_PER_POINT for n in (width, height))
        return f'{match[0]} width="{width}" height="{height}" loading="lazy"'

    return re.sub(r'<img\b(?=[^>]*src="[^"]*/([^"/]+)")', with_size, body)


def finish(app):
    """Write the style sheets, and give every figure a palette.

    That takes a third of the bytes: a drawing has few colours, and none of
    them moves by more than 6 percent.
    """
    folder = Path(app.confdir, app.config.html_static_path[0])
    for target, sources in BUNDLES.items():
        text = "\n".join(with_usual_fonts(folder / name) for name in sources)
        Path(app.outdir, "_static", target).write_text(text)
    for path in Path(app.outdir, app.builder.imagedir).glob("*.png"):
        with Image.open(path) as image:
            palette = image.convert("RGB").quantize(
                COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        palette.save(path, optimize=True)
