"""The explorer of chapter 6: places as clock hands, and what a score knows.

Not taught. Every pair of the query holds the same two entries, and so does
every pair of the key: those of figure 6.7. What differs is how they turn.
"""

import torch

from kit.explorers import Explorer, table
from lib.positions import rotary, sinusoidal_positions

QUERY, KEY, WIDTH = (1.0, 0.3), (0.4, 0.9), 8


def vectors(way: str, count: int) -> list[torch.Tensor]:
    """The query and the key at each place: (count, WIDTH), float64."""
    pairs = (torch.tensor(v, dtype=torch.float64) for v in (QUERY, KEY))
    contents = [pair.repeat(count, WIDTH // 2) for pair in pairs]
    if way == "turned":
        return [rotary(content) for content in contents]
    places = sinusoidal_positions(count, WIDTH, dtype=torch.float64)
    return [content + places for content in contents]


def positions_explorer():
    """Clocks of two places, and dot products at the same distance."""
    rows = {}
    for way in ("turned", "added"):
        queries, keys = vectors(way, 22)
        scores = (f"{queries[m] @ keys[m + 1]:.2f}" for m in (20, 0))
        rows[f"places {way}"] = list(scores)
    fallback = table(
        f"The dot product of a query and a key of width {WIDTH}",
        ["query and key at", "20 and 21", "0 and 1"],
        rows,
    )
    return Explorer("positions-explorer", fallback, query=QUERY, key=KEY)
