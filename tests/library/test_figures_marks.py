"""kit.figures.marks: words that can be read, on the page's two grounds."""

from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgb

from kit.figures import marks
from tests.library.draw import (
    BRIGHTER,
    DARK_PAGE,
    apart,
    contrast,
    dark,
    luminance,
)


def test_the_site_turns_figures_as_is_computed_here():
    style = Path(__file__).parents[2] / "book" / "_static" / "custom.css"
    text = style.read_text(encoding="utf-8")
    turn = f"invert(1) hue-rotate(180deg) brightness({BRIGHTER})"
    assert text.count(f"filter: {turn}; mix-blend-mode: screen") == 2
    assert f"--page: light-dark(#ffffff, {DARK_PAGE})" in text


@pytest.mark.parametrize("seen", [to_rgb, dark])
def test_words_are_legible_behind_and_on_white(seen):
    assert contrast(seen(marks.INK), seen(marks.BEHIND)) > 4.5
    for words in marks.LEGIBLE.values():
        assert contrast(seen(words), seen("white")) > 4.5


@pytest.mark.parametrize("seen", [to_rgb, dark])
def test_words_are_legible_on_every_shade(seen):
    for share in range(101):
        shade = marks.TINT(share / 100)[:3]
        assert contrast(seen(marks.INK), seen(shade)) > 4.5


@pytest.mark.parametrize("seen", [to_rgb, dark])
def test_shares_a_tenth_apart_differ_in_their_shade(seen):
    """A difference of 2.3 is just noticed; and one direction only."""
    shades = [seen(marks.TINT(tenth / 10)[:3]) for tenth in range(11)]
    for one, next_ in pairwise(shades):
        assert apart(one, next_) > 3.5
    lights = [luminance(shade) for shade in shades]
    assert lights in (sorted(lights), sorted(lights, reverse=True))


@pytest.mark.parametrize("seen", [to_rgb, dark])
def test_the_two_signs_are_two_colours(seen):
    low, middle, high = (seen(marks.SIGNED(x)[:3]) for x in (0.0, 0.5, 1.0))
    assert apart(low, high) > 80
    assert apart(low, middle) > 50 and apart(middle, high) > 50


def test_a_space_is_seen_and_an_accent_is_darker_in_words():
    axes = plt.subplots()[1]
    shown = marks.words(axes, (0, 0), " ", color=marks.ACCENT)
    assert shown.get_text() == "␣"
    assert shown.get_color() == marks.LEGIBLE[marks.ACCENT]
    assert marks.words(axes, (0, 0), 3).get_text() == "3"
    plt.close()
