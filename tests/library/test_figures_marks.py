"""lib.figures.marks: words that can be read, on the page's two grounds."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgb

from lib.figures import marks

# What the site's style does to figures on a dark page: invert(1), then
# hue-rotate(180deg) as CSS defines it, then brightness(1.25).
TURN = (
    (-0.574, 1.430, 0.144),
    (0.426, 0.430, 0.144),
    (0.426, 1.430, -0.856),
)


def dark(colour):
    inverse = [1 - part for part in to_rgb(colour)]
    turned = [
        sum(a * b for a, b in zip(row, inverse, strict=True)) for row in TURN
    ]
    return [min(1, max(0, part) * 1.25) for part in turned]


def luminance(colour):
    """Relative luminance by WCAG 2.2."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    ]
    return sum(
        w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("seen", [to_rgb, dark])
def test_words_are_legible_behind_and_on_white(seen):
    assert contrast(seen(marks.INK), seen(marks.BEHIND)) > 4.5
    for words in marks.LEGIBLE.values():
        assert contrast(seen(words), seen("white")) > 4.5


@pytest.mark.parametrize("share", [n / 20 for n in range(21)])
def test_ink_is_the_better_one_on_every_blue(share):
    blue = plt.get_cmap("Blues")(share)[:3]
    ink = marks.ink_on(share)
    assert contrast(ink, blue) > 3.5
    assert contrast(ink, blue) > 0.75 * contrast(
        {"white": marks.INK}.get(ink, "white"), blue
    )


def test_a_space_is_seen_and_an_accent_is_darker_in_words():
    axes = plt.subplots()[1]
    shown = marks.words(axes, (0, 0), " ", color=marks.ACCENT)
    assert shown.get_text() == "␣"
    assert shown.get_color() == marks.LEGIBLE[marks.ACCENT]
    assert marks.words(axes, (0, 0), 3).get_text() == "3"
    plt.close()
