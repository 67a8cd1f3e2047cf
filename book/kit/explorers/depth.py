"""Sizes and gradients through a deep stack, from recorded runs: chapter 7.

Not taught. The runs are those of benchmarks/depth.py.
"""

import json
from pathlib import Path

from kit.explorers import Explorer, table

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
DEPTH = 24  # blocks, at first


def depth_explorer(path: str) -> Explorer:
    """An arrangement of residual and norm, and a number of blocks, to choose.

    Args:
        path: the record of `make bench`.
    """
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    rows = {}
    for name, by_depth in record["runs"].items():
        mean = {k: m["mean"] for k, m in by_depth[str(DEPTH)].items()}
        top, bottom = mean["size"][-1], mean["gradient"][0]
        rows[name] = [as_number(10**top), as_number(10**bottom)]
    fallback = table(
        f"A stack of {DEPTH} new blocks, a gradient of 1 put on its output",
        ["blocks with", "size of the output", "gradient at the input"],
        rows,
    )
    first = {"arrangement": "no residual", "depth": DEPTH}
    return Explorer("depth-explorer", fallback, record=record, **first)


def as_number(size: float) -> str:
    """Two digits; a power of ten where the number is small."""
    if size >= 0.01:
        return f"{size:.2g}"
    digits, power = f"{size:.0e}".split("e")
    return f"{digits} · 10⁻{str(-int(power)).translate(RAISED)}"
