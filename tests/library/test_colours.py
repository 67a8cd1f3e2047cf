"""kit.figures: its colours, on a light page and on a dark one.

Each figure is compared with the stored one, and looked at (tools/chapters/
drawn.py), where its chapter runs.
"""

import inspect
from itertools import combinations, pairwise
from math import dist
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from kit import figures
from kit.figures import colours
from lib import _moved
from tools.chapters.drawn import (
    BRIGHTER,
    DARK_PAGE,
    LUMINANCE,
    ROLES,
    dark,
    linear,
)

both = pytest.mark.parametrize("seen", [to_rgb, dark])


def lightness(colour):
    """L* of CIELAB."""
    return 116 * np.cbrt(LUMINANCE @ linear(colour)) - 16


def test_the_site_turns_figures_as_is_computed_here():
    style = Path(__file__).parents[2] / "book" / "_static" / "custom.css"
    text = style.read_text(encoding="utf-8")
    turn = f"invert(1) hue-rotate(180deg) brightness({BRIGHTER})"
    assert text.count(f"filter: {turn}; mix-blend-mode: screen") == 2
    assert f"--page: light-dark(#ffffff, {to_hex(DARK_PAGE)})" in text


def test_the_roles_keep_their_colours():
    assert {*colours.ROLE.values(), colours.OUTPUT} == ROLES


@both
def test_shares_a_tenth_apart_differ_in_their_shade(seen):
    """A difference of 2.3 is just noticed; and one direction only."""
    shades = [seen(colours.TINT(tenth / 10)[:3]) for tenth in range(11)]
    steps = [lightness(b) - lightness(a) for a, b in pairwise(shades)]
    assert min(map(abs, steps)) > 2.25 and len({s > 0 for s in steps}) == 1


@both
def test_the_two_signs_are_two_colours(seen):
    ends = (seen(colours.SIGNED(x)[:3]) for x in (0.0, 0.5, 1.0))
    assert all(dist(a, b) > 0.7 for a, b in combinations(ends, 2))


def test_no_drawing_function_has_the_name_of_a_module():
    """It would hide the module, as an old name does until it goes."""
    modules = {
        path.stem for path in Path(figures.__file__).parent.glob("*.py")
    }
    functions = dict(inspect.getmembers(figures, inspect.isfunction))
    assert modules & functions.keys() == {*_moved.RENAMED["kit.figures"]}
