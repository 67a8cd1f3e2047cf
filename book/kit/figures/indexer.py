"""Chapter 19: what is lost with the keys that an indexer leaves out."""

from .canvas import numbers, plot
from .colours import FAINT, QUIET
from .kinds import Axes, Curves
from .marks import words


def missed_and_lost(missed: Curves, errors: Curves) -> Axes:
    """The error of each output over the weight that its query misses.

    The gid of the points of each kind is its name, and "bound" that of the
    line above which there can be none.
    """
    axes = plot(3.8)
    axes.plot([0, 1], [0, 1], color=FAINT, ls="--", lw=1.2, gid="bound")
    for mark, (name, row) in zip("os^D", missed.items(), strict=True):
        style = {"ls": "", "marker": mark, "ms": 4.5, "alpha": 0.8}
        x, y = numbers(row), numbers(errors[name])
        axes.plot(x, y, label=name, gid=name, **style)
    note = "no point can be above"
    words(axes, (0.79, 0.86), note, 9.5, color=QUIET, ha="right")
    axes.set(xlabel="weight that is missed", xlim=(-0.02, 1.02))
    axes.set(ylabel="error / widest distance", ylim=(-0.02, 1.02))
    axes.legend(loc="upper left", fontsize=9.5)
    return axes
