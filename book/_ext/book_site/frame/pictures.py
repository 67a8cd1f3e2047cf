"""The pictures of the pages: how large they are, and how heavy."""

import re
from pathlib import Path

import imagesize
from PIL import Image

COLOURS = 128  # of a figure
PIXELS_PER_POINT = 2  # figures are drawn at twice the screen's resolution


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
    """Give every figure a palette, which takes a third of the bytes.

    A drawing has few colours; none of them moves by more than 6 percent.
    """
    for path in Path(app.outdir, app.builder.imagedir).glob("*.png"):
        with Image.open(path) as image:
            palette = image.convert("RGB").quantize(
                COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
            )
        palette.save(path, optimize=True)
