"""The explorer of chapter 6: places as clock hands, and what a score knows.

Not taught. Every pair of the query holds the same two entries, and so does
every pair of the key: those of figure 6.7. What differs is how they turn.
"""

import math

import torch

from kit.explorers import Explorer, table
from lib.positions import rotary, sinusoidal_positions

QUERY, KEY = (1.0, 0.3), (0.4, 0.9)


def turned(pair, width, place):
    """A vector of equal pairs, turned by its place: (pairs, 2), float64."""
    vector = torch.tensor(pair, dtype=torch.float64).repeat(width // 2)
    return rotary(vector[None], offset=place).view(-1, 2)


def at_distance_one(width):
    """Two sentences: what is the same from place 100 on, and what is not."""
    places = sinusoidal_positions(102, width, dtype=torch.float64)
    contents = (torch.tensor(v).repeat(width // 2) for v in (QUERY, KEY))
    queries, keys = (content.double() + places for content in contents)
    turned_far = turned(QUERY, width, 100) * turned(KEY, width, 101)
    near, far = (queries[m] @ keys[m + 1] for m in (20, 100))
    return (
        f"At places 100 and 101 the sum is {turned_far.sum():.2f} as well. "
        f"If places are added instead, it is {near:.2f} at places 20 and 21 "
        f"and {far:.2f} at places 100 and 101."
    )


def positions_explorer():
    """Clocks of two places, and their dot product by the distance."""
    width, m, n = 8, 20, 21
    q, k = turned(QUERY, width, m), turned(KEY, width, n)
    rows = {}
    for i, product in enumerate((q * k).sum(dim=1).tolist()):
        turn = 2 * math.pi * 10_000 ** (2 * i / width)
        tips = (f"{x:.2f}, {y:.2f}" for x, y in (q[i].tolist(), k[i].tolist()))
        cells = [f"{turn:,.0f}", *tips, f"{product:.2f}"]
        rows[f"pair {i}"] = [cell.replace("-", "−") for cell in cells]
    rows["sum"] = ["", "", "", f"{(q * k).sum():.2f}"]
    pairs = table(
        f"Rotary positions at width {width}: a query at place {m}, a key at "
        f"place {n}",
        ["pair", "places in a turn", "query", "key", "product"],
        rows,
    )
    fallback = f"{pairs}\n<p>{at_distance_one(width)}</p>"
    return Explorer("positions-explorer", fallback, query=QUERY, key=KEY)
