"""kit.figures: its colours, on a light page and on a dark one.

Each figure is compared with the stored one, and looked at (tools/chapters/
drawn.py), where its chapter runs.
"""

import inspect
from itertools import pairwise
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
TO_XYZ = np.array(  # linear sRGB to XYZ, each row divided by white's
    [[0.43395, 0.37622, 0.18983], LUMINANCE, [0.01773, 0.10947, 0.87280]]
)


def lab(colour):
    """A colour in CIELAB."""
    xyz = TO_XYZ @ linear(colour)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(one, other):
    return dist(lab(one), lab(other))


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
    assert all(apart(one, next_) > 3.5 for one, next_ in pairwise(shades))
    lights = [lab(shade)[0] for shade in shades]
    assert lights in (sorted(lights), sorted(lights, reverse=True))


@both
def test_the_two_signs_are_two_colours(seen):
    low, middle, high = (seen(colours.SIGNED(x)[:3]) for x in (0.0, 0.5, 1.0))
    assert apart(low, high) > 80
    assert apart(low, middle) > 50 and apart(middle, high) > 50


def test_no_drawing_function_has_the_name_of_a_module():
    """It would hide the module, as an old name does until it goes."""
    modules = {
        path.stem for path in Path(figures.__file__).parent.glob("*.py")
    }
    functions = dict(inspect.getmembers(figures, inspect.isfunction))
    assert modules & functions.keys() == {*_moved.RENAMED["kit.figures"]}
