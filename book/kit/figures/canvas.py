"""What figures are drawn on: axes as wide as the page, and plain numbers."""

from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import torch

from .kinds import Axes, Panels

plt.style.use(Path(__file__).with_name("book.mplstyle"))


def numbers(data) -> list:
    """Plain Python numbers of a tensor on any device, or of a list."""
    return torch.as_tensor(data).detach().cpu().double().tolist()


def each(table) -> Iterator[tuple]:
    """Row, column and value of every cell."""
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            yield i, j, value


def panels(rows, columns, height, **style) -> Panels:
    """A figure as wide as the page, and its axes, row by row."""
    figure = plt.figure(figsize=(5.4, height))
    return list(figure.subplots(rows, columns, squeeze=False, **style).flat)


def titled(row, named: dict, **style) -> Iterator[tuple]:
    """Each of the axes in turn, with its title, and what it is to show."""
    for axes, (title, shown) in zip(row, named.items(), strict=True):
        axes.set_title(title, **style)
        yield axes, shown


def plot(height=3.3) -> Axes:
    """A figure with one pair of axes."""
    return panels(1, 1, height)[0]


def drawing(height, xlim, ylim) -> Axes:
    """A figure without axes."""
    axes = plot(height)
    bare(axes, xlim, ylim)
    return axes


def bare(axes, xlim, ylim) -> None:
    """No frame and no ticks."""
    axes.set(xlim=xlim, ylim=ylim)
    axes.axis("off")


def frameless(axes, *ticks) -> None:
    """Ticks at the given places, x first, without lines or a frame."""
    for which, (places, labels) in zip("xy", ticks, strict=False):
        getattr(axes, f"set_{which}ticks")(places, labels)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
