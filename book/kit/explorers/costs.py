"""What a decoder costs, for sizes that a reader chooses: chapter 15.

Not taught. A stack of blocks without biases and norms, with a feed-forward
network four times as wide inside; the tables before and after it do not
count.
"""

from kit.explorers import Explorer, table
from lib.efficient import cache_bytes, layer_operations


def cost_explorer(
    length=32_768, width=4_096, heads=64, groups=64, layers=48
) -> Explorer:
    """Operations and bytes, of two bytes a number at first.

    Args:
        length: the tokens of the text.
        width: d_model.
        heads: the heads of queries.
        groups: the heads of keys, and of values.
        layers: the blocks.
    """
    kv_width = width * groups // heads
    work = layer_operations(length, width, 4 * width, kv_width)
    matrices = 2 * width * (width + kv_width) + 8 * width * width
    kept = cache_bytes(length, layers, groups, width // heads)
    rows = {
        f"operations, {name}": [f"{layers * count:,}"]
        for name, count in work.items()
    }
    rows["bytes of the weights"] = [f"{2 * layers * matrices:,}"]
    rows["bytes of the cache"] = [f"{kept:,}"]
    rows["bytes of the scores of one layer"] = [f"{2 * heads * length**2:,}"]
    fallback = table(
        f"A text of {length:,} tokens in {layers} layers of width {width:,}, "
        f"{heads} heads, {groups} of them with keys; two bytes a number",
        ["cost", "amount"],
        rows,
    )
    model = dict(length=length, width=width, heads=heads)
    model |= dict(groups=groups, layers=layers)
    return Explorer("cost-explorer", fallback, model=model)
