"""Chapter 18: who is asked, and how much work everybody gets."""

from .canvas import drawing, numbers, panels, titled
from .colours import ACCENT, FAINT, INK, PLATE, QUIET, SECOND, TOKEN
from .kinds import Axes, Panels
from .marks import arrow, box, line, sign, words


def one_choice(
    token: str, scores: list[float], chosen: list[int], weights: list[float]
) -> Axes:
    """A token, its score with every expert, and the few that answer it.

    The gids: "score e", "asks e" and "weight e", where e is an expert.
    """
    axes, half = drawing(3.6, (-1.6, 8.2), (-0.6, 5.2)), 1.1
    middle = half * (len(scores) - 1)
    box(axes, (middle, 0), (2.2, 0.7), token, TOKEN, "token")
    box(axes, (middle, 4.7), (2.2, 0.7), "answer", PLATE, "answer")
    sign(axes, (middle, 3.8), "+")
    arrow(axes, (middle, 4.0), (middle, 4.35), INK)
    for e, score in enumerate(scores):
        x, asked = 2 * half * e, e in chosen
        colour = ACCENT if asked else PLATE
        box(axes, (x, 2.4), (1.6, 0.8), f"expert {e}", colour, f"expert {e}")
        words(axes, (x, 1.72), f"{score:.1f}", 9.5, gid=f"score {e}")
        ends = (middle + 0.28 * (x - middle), 0.35), (x, 1.5)
        if not asked:
            line(axes, *ends, lw=1)
            continue
        arrow(axes, *ends, ACCENT, f"asks {e}", lw=2.5, head=13)
        side = 0.2 if x > middle else -0.2
        arrow(axes, (x, 2.8), (middle + side, 3.8), ACCENT, lw=2.5, head=13)
        weight = f"× {weights[chosen.index(e)]:.2f}"
        at = (middle + 0.6 * (x - middle), 3.65)
        words(axes, at, weight, 9.5, gid=f"weight {e}")
    notes = {"scores": 1.72, "weights": 3.65}
    for text, y in notes.items():
        words(axes, (-1.5, y), text, 9.5, color=QUIET, ha="left")
    return axes


def work_shared(shares: dict[str, list[list[float]]]) -> Panels:
    """The shares of all experts, most work first: a line for every seed.

    A dashed line is the share if all got the same. An expert with less than
    one token in a hundred is a cross.
    """
    experts = len(next(iter(shares.values()))[0])
    row = panels(1, len(shares), 2.9, sharey=True)
    for axes, rows in titled(row, shares, fontsize=10.5):
        axes.axhline(1 / experts, color=FAINT, ls="--", lw=1.2)
        for seed in rows:
            seed = sorted(numbers(seed), reverse=True)
            works = [share >= 0.01 for share in seed]
            axes.plot(
                range(1, experts + 1), seed, color=SECOND, lw=1, zorder=2
            )
            for place, (share, fine) in enumerate(
                zip(seed, works, strict=True)
            ):
                mark, colour = ("o", SECOND) if fine else ("x", INK)
                axes.plot(
                    [place + 1], [share], mark, color=colour, ms=5, zorder=3
                )
        axes.set_xticks([1, experts])
        axes.set_xlabel("expert, by its work")
    row[0].set_ylabel("share of tokens")
    row[0].set_ylim(-0.03, None)
    return row
