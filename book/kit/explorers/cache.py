"""What a decoder computes in each step, and what it keeps: chapter 14.

Not taught. One self-attention without biases, of a width d: four matrices of
d times d, scores and weighted means.
"""

from kit.explorers import Explorer, table
from lib.efficient import cache_bytes

WIDTH = 64  # d_model, at first


def cache_explorer(tokens: list[str]) -> Explorer:
    """A text that is read token by token, without a cache and with one."""
    rows, without, with_cache = {}, 0, 0
    for t, token in enumerate(tokens, start=1):
        without += multiplications(t, t)
        with_cache += multiplications(1, t)
        kept = cache_bytes(t, layers=1, kv_heads=1, d_head=WIDTH, number=1)
        numbers = without, with_cache, kept
        rows[f"{t} {token}"] = [f"{count:,}" for count in numbers]
    fallback = table(
        f"Multiplications so far in one attention of width {WIDTH}, and "
        "numbers that are kept",
        ["step", "without a cache", "with a cache", "kept with a cache"],
        rows,
    )
    return Explorer("cache-explorer", fallback, tokens=tokens)


def multiplications(rows: int, keys: int) -> int:
    """Those of the last rows of a text, each of which meets all keys."""
    return 4 * rows * WIDTH**2 + 2 * rows * keys * WIDTH
