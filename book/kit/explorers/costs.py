"""Does a text fit on a card? Bytes of a decoder: chapter 15.

Not taught. A stack of blocks without biases and norms, with a feed-forward
network four times as wide inside; the tables before and after it do not
count.
"""

from kit.explorers import Explorer, table
from lib.efficient import cache_bytes

MODEL = {"width": 4_096, "heads": 64, "layers": 48}


def cost_explorer() -> Explorer:
    """Weights, cache and scores of 32,768 tokens, at first."""
    width, heads, layers = MODEL.values()
    length = 32_768
    rows = {
        "weights": 2 * layers * 12 * width**2,
        "cache": cache_bytes(length, layers, heads, width // heads),
        "scores of one layer": 2 * heads * length**2,
    }
    fallback = table(
        f"A text of {length:,} tokens in {layers} layers of width {width:,}, "
        f"{heads} heads, two bytes a number: more than a card of 80 GB has",
        ["part", "GB"],
        {name: [f"{size / 1e9:.1f}"] for name, size in rows.items()},
    )
    start = dict(length=length, groups=heads)
    return Explorer("cost-explorer", fallback, model=MODEL, start=start)
