"""The colours of the figures.

The first four stand for a role, and for nothing else; the names of the others
say what they are for.
"""

import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap

QUERY, KEY, VALUE, OUTPUT = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ROLE = {"Q": QUERY, "K": KEY, "V": VALUE}
INK, FAINT, PLATE = "#222222", "#888888", "#F2F2F2"
TOKEN, MAY = "#DCEAF4", "#2F7FBC"
ACCENT, SECOND, BROWN = "#E69F00", "#56B4E9", "#8C510A"
BEHIND = "#F1CA73"  # an accent with words on it, legible when inverted
GREY, HAIR = "#BBBBBB", "#CCCCCC"  # bars, lines
QUIET = "#4D4D4D"  # notes
LEGIBLE = {  # their words on white
    ACCENT: "#8F6200",
    SECOND: "#1F6E9C",
    FAINT: "#6B6B6B",
}
# For shares from 0 to 1 in cells with words: INK is legible on every shade,
# also when the site turns the lightness.
TINT = LinearSegmentedColormap.from_list("tint", ["#F7FBFF", "#84BCFA"])
# For numbers from -1 to 1: the darker ends of the map are left out, because
# turned they would be two pale colours.
SIGNED = LinearSegmentedColormap.from_list(
    "signed", plt.get_cmap("PuOr")([0.2 + 0.006 * i for i in range(101)])
)
