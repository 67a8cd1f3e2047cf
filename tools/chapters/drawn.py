"""What every figure of the book keeps to, looked at where it is drawn.

It is as wide as the page, no letter is smaller than 9 points, and each word
can be read on what is behind it, on a light page and on a dark one. The nbval
plugin hands this file to the kernel, which says of each figure on stderr what
it does not keep; no cell stores that, so that its test fails.
"""

import sys

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text

WIDTH, LETTERS, CONTRAST = 5.4, 9, 4.5  # inches, points, WCAG 2.2
QUICK = 100  # pixels per inch
MUCH = 0.15  # of what is behind a word
ROLES = {"#0072B2", "#D55E00", "#009E73", "#CC79A7"}  # they keep their colour
# What `figure img` gets in book/_static/custom.css on a dark page: invert(1),
# then hue-rotate(180deg) as CSS defines it, then brightness(1.25), and all of
# it over the page by `screen`.
TURN = np.array(
    [[-0.574, 1.430, 0.144], [0.426, 0.430, 0.144], [0.426, 1.430, -0.856]]
)
BRIGHTER, DARK_PAGE = 1.25, np.array(to_rgb("#15181d"))
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def dark(colour):
    """What a colour of a figure is on a dark page."""
    turned = np.clip(TURN @ (1 - np.array(to_rgb(colour))), 0, 1)
    bright = np.clip(BRIGHTER * turned, 0, 1)
    return 1 - (1 - bright) * (1 - DARK_PAGE)


def linear(colour):
    """Red, green and blue as amounts of light."""
    rgb = np.array(to_rgb(colour))
    return np.where(
        rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4
    )


def contrast(one, other):
    """Of two colours, by WCAG 2.2."""
    low, high = sorted(LUMINANCE @ linear(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def is_word(text):
    return text.get_visible() and bool(text.get_text().strip())


def faint(figure):
    """The words that cannot be read on what is behind them."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    hidden = set()
    for axes in figure.axes:
        if not (axes.get_visible() and axes.axison):
            hidden |= {*axes.xaxis.findobj(Text), *axes.yaxis.findobj(Text)}
    texts = [t for t in figure.findobj(Text) if t not in hidden]
    shown = [text for text in texts if is_word(text)]
    places = [word.get_window_extent() for word in shown]
    alphas = [word.get_alpha() for word in shown]
    for word in shown:
        word.set_alpha(0)  # its plate stays
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[::-1, :, :3]
    for word, box, alpha in zip(shown, places, alphas, strict=True):
        word.set_alpha(alpha)
        if word.get_color() in ROLES:
            continue
        rows, columns = (
            slice(max(int(low), 0), int(high) + 1)
            for low, high in (box.intervaly, box.intervalx)
        )
        behind = pixels[rows, columns].reshape(-1, 3)
        kinds, counts = np.unique(behind, axis=0, return_counts=True)
        grounds = kinds[counts > MUCH * len(behind)] / 255
        if any(
            contrast(seen(word.get_color()), seen(ground)) < CONTRAST
            for ground in grounds
            for seen in (to_rgb, dark)
        ):
            yield word.get_text()


def problems(figure):
    """What a figure does not keep."""
    if abs(figure.get_size_inches()[0] - WIDTH) > 0.001:
        yield f"a figure {figure.get_size_inches()[0]} inches wide"
    texts = [text for axes in figure.axes for text in axes.texts]
    for text in texts:
        if text.get_text() not in ("", "■") and text.get_fontsize() < LETTERS:
            yield f"{text.get_text()!r} is smaller than {LETTERS} points"
    for text in [*faint(figure)]:
        yield f"{text!r} cannot be read on what is behind it"


def look():
    """Show the figures of a cell, and say what is wrong with them."""
    if backend := sys.modules.get("matplotlib_inline.backend_inline"):
        managers = backend.Gcf.get_all_fig_managers()
        drawn = [manager.canvas.figure for manager in managers]
        sys.modules["matplotlib.pyplot"].draw_all()  # as pyplot does first
        backend.flush_figures()
        for figure in drawn:
            canvas, dpi = figure.canvas, figure.dpi
            figure.set_dpi(QUICK)
            for problem in problems(figure):
                print(problem, file=sys.stderr)
            figure.set_dpi(dpi)
            figure.set_canvas(canvas)
