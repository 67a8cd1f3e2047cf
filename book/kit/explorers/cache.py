"""What a decoder computes in each step, and what it keeps: chapter 14.

Not taught. One self-attention without biases, of a width d: four matrices of
d times d, scores and weighted means.
"""

from kit.explorers import Explorer, table
from lib.efficient import cache_bytes, layer_operations

WIDTH = 64  # d_model, at first


def cache_explorer(tokens: list[str], length=6, step=4) -> Explorer:
    """A text that is read token by token, without a cache and with one.

    Args:
        tokens: the text; a reader may choose how much of it is read.
        length: how much of it there is at first.
        step: the one that is shown first.
    """
    rows = {f"{t} {tokens[t - 1]}": [] for t in range(1, length + 1)}
    so_far = [0, 0]
    for t, cells in enumerate(rows.values(), start=1):
        for way, count in enumerate(multiplications(t, WIDTH)):
            so_far[way] += count
        kept = cache_bytes(t, layers=1, kv_heads=1, d_head=WIDTH, number=1)
        cells += [f"{count:,}" for count in (*so_far, kept)]
    fallback = table(
        f"Multiplications so far in one attention of width {WIDTH}, and "
        "numbers that are kept",
        ["step", "without a cache", "with a cache", "kept with a cache"],
        rows,
    )
    return Explorer(
        "cache-explorer", fallback, tokens=tokens, length=length, step=step
    )


def multiplications(t: int, width: int) -> list[int]:
    """Those of step t: all rows so far, or one row that meets t keys."""
    whole = layer_operations(t, width, d_ff=1)
    one = layer_operations(1, width, d_ff=1)
    parts = "projections", "scores", "weighted means"
    again, new = (
        sum(costs[part] for part in parts) // 2 for costs in (whole, one)
    )
    return [again, new + 2 * (t - 1) * width]
