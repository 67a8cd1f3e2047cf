"""What arrives at the first of many blocks, from recorded runs: chapter 7.

Not taught. The runs are those of benchmarks/depth.py.
"""

import json
from pathlib import Path

from kit.explorers import Explorer, table

RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
DEPTH = 24  # blocks, at first


def depth_explorer(path: str) -> Explorer:
    """Gradients in an arrangement of residual and norm, against pre-norm.

    Args:
        path: the record of `make bench`.
    """
    record = json.loads(Path(path).read_text(encoding="utf-8"))
    runs = {
        name: {depth: kinds["gradient"] for depth, kinds in by_depth.items()}
        for name, by_depth in record["runs"].items()
    }
    fallback = table(
        f"A stack of {DEPTH} new blocks, a gradient of 1 put on its output",
        ["blocks with", "gradient at the input"],
        {
            name: [as_number(10 ** by_depth[str(DEPTH)]["mean"][0])]
            for name, by_depth in runs.items()
        },
    )
    seeds = record["seeds"]
    return Explorer("depth-explorer", fallback, runs=runs, seeds=seeds)


def as_number(size: float) -> str:
    """Two digits; a power of ten where the number is small."""
    if size >= 0.01:
        return f"{size:.2g}"
    digits, power = f"{size:.0e}".split("e")
    return f"{digits} · 10⁻{str(-int(power)).translate(RAISED)}"
