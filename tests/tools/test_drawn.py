"""What a figure must keep is looked at where it is drawn."""

from matplotlib import pyplot as plt

from kit.figures import INK, QUERY
from tools.chapters.drawn import problems


def test_what_cannot_be_read_and_what_is_too_small_or_wide_is_said():
    figure, axes = plt.subplots(figsize=(5, 3))
    axes.imshow([[0.0, 0.6]], vmin=0, vmax=1, cmap="Blues")
    for column in (0, 1):
        axes.text(column, 0, ".5", color=INK, ha="center")
    axes.text(0, 0.3, "QUERY", color=QUERY)
    axes.text(0, 0.4, "small", fontsize=8, alpha=1)
    found = [*problems(figure)]
    plt.close(figure)
    assert found == [
        "a figure 5.0 inches wide",
        "'small' is smaller than 9 points",
        "'.5' cannot be read on what is behind it",
    ]
