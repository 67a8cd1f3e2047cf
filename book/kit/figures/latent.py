"""Chapter 19: one vector a token, two heads, and where a matrix is applied."""

from .canvas import bare, numbers, panels
from .colours import ACCENT, INK, ROLE
from .kinds import Axes, Names, Panels, Tensor
from .marks import arrow, beside, box, cell, words

SIZE, STEP = (0.92, 0.5), 1.1  # of a box, and from token to token
KEYS, ASKS, SCORES = (1.9, 2.5), 3.55, (4.5, 5.0)


def built_or_absorbed(
    tokens: Names, latents: Tensor, k: Tensor, asked: Tensor, scores: Tensor
) -> Panels:
    """Two heads and one latent a token: keys are built, or queries changed.

    The gids, for head h (from 0) and token j: "latent j" and "score h j" in
    both panels, "key h j" in the first, "asked h" in the second.
    """
    both, many = panels(1, 2, 4.3), len(tokens)
    titles = "keys are built", "queries are changed"
    for axes, title in zip(both, titles, strict=True):
        axes.set_title(title, loc="center")
        bare(axes, (-1.75, STEP * many - 0.5), (-1.35, 5.3))
        _kept(axes, tokens, numbers(latents))
        for h, row in enumerate(numbers(scores)):
            for j, score in enumerate(row):
                at, gid = (STEP * j, SCORES[h]), f"score {h} {j}"
                words(axes, at, _text(score), 10, gid=gid)
        names = {f"score {h + 1}": y for h, y in enumerate(SCORES)}
        beside(axes, -0.65, names, 9.5)
    _built(both[0], numbers(k))
    _absorbed(both[1], numbers(asked), many)
    return both


def _text(of) -> str:
    """A number, or several in brackets, with a proper minus."""
    if isinstance(of, list):
        return f"[{', '.join(map(_text, of))}]"
    return f"{of:g}".replace("-", "−")


def _kept(axes: Axes, tokens: Names, latents: list) -> None:
    """The latents in a band, the tokens below them."""
    cell(axes, (-0.55, -0.38), (STEP * len(tokens), 0.76))
    beside(axes, -0.65, {"kept": 0}, 9.5)
    for j, (token, latent) in enumerate(zip(tokens, latents, strict=True)):
        box(axes, (STEP * j, 0), SIZE, _text(latent), ACCENT, f"latent {j}")
        words(axes, (STEP * j, -0.55), token.replace(" ", "\n"), 9.5, va="top")


def _across(axes: Axes, many: int, text: str, y: float, role: str) -> None:
    """What all tokens meet: a box as wide as they are."""
    at, size = (STEP * (many - 1) / 2, y), (STEP * many - 0.18, 0.5)
    box(axes, at, size, text, ROLE[role], fontsize=9.5)


def _built(axes: Axes, k: list) -> None:
    """Every latent goes through the matrix of each head."""
    many = len(k[0])
    for j in range(many):
        for low, high in ((0.25, 0.7), (1.2, 1.65), (2.75, 3.3), (3.8, 4.25)):
            arrow(axes, (STEP * j, low), (STEP * j, high), INK)
    _across(axes, many, "$W_{UK}$ of each head", 0.95, "K")
    for h, (y, row) in enumerate(zip(KEYS, k, strict=True)):
        for j, key in enumerate(row):
            at, gid = (STEP * j, y), f"key {h} {j}"
            box(axes, at, SIZE, _text(key), ROLE["K"], gid)
    beside(axes, -0.65, {f"key {h + 1}": y for h, y in enumerate(KEYS)}, 9.5)
    _across(axes, many, "query of each head", ASKS, "Q")


def _absorbed(axes: Axes, asked: list, many: int) -> None:
    """The query of each head goes through its matrix, and no latent does."""
    for j in range(many):
        for low, high in ((0.25, 1.65), (2.75, 4.25)):
            arrow(axes, (STEP * j, low), (STEP * j, high), INK)
    for h, (y, query) in enumerate(zip(KEYS, asked, strict=True)):
        at, size = (STEP * (many - 1) / 2, y), (STEP * many - 0.18, 0.5)
        box(axes, at, size, _text(query), ROLE["Q"], f"asked {h}")
    names = {f"query {h + 1}": y for h, y in enumerate(KEYS)}
    beside(axes, -0.65, names, 9.5)
