"""Chapter 19: how far news travels through windows, and through all."""

from .canvas import bare, panels, titled
from .kinds import Named, Names, Panels
from .plots import informed


def heard(
    knows: Named, windows: list[list[int | None]], tokens: Names
) -> Panels:
    """For several stacks of layers: which rows know of one token.

    The gids are those of `informed`, the lowest line is the input.
    """
    stacks = panels(len(knows), 1, 2.35 * len(knows))
    for (axes, rows), widths in zip(
        titled(stacks, knows, loc="left"), windows, strict=True
    ):
        heights, length = rows.shape
        bare(axes, (-2.0, length + 0.1), (-0.15, 1.5 * heights - 0.4))
        names = [f"window {w}" if w else "full" for w in widths]
        informed(axes, rows, tokens, ["input", *names])
    return stacks
