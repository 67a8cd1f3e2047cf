"""A memory of one size that is written again and again: chapter 19.

Not taught. Keys are unit vectors, as many as there are names; the first two
of them may be alike. A value is one number, and so the memory is a column.
"""

import torch

from kit.explorers import Explorer, table

RULES = {"add": "add", "overwrite": "overwrite", "forget": "forget (α = 0.9)"}


def delta_explorer(readings, step=4) -> Explorer:
    """A log that is written into a memory: add, overwrite, or forget first.

    Args:
        readings: names, two to four different ones, each with a value from
            -10 to 10 in halves, as pairs.
        step: how many are written, at first.
    """
    names, values = zip(*readings, strict=True)
    keys, last = unit_keys(names), dict(readings[:step])
    written = torch.stack([keys[name] for name in names[:step]])
    answers = [memories(written, values, rule)[-1] for rule in RULES]
    rows = {
        name: [f"{last[name]:g}°" if name in last else "nothing"]
        + [f"{keys[name] @ memory:.2f}°" for memory in answers]
        for name in keys
    }
    log = ", ".join(f"{name} {value:g}°" for name, value in readings[:step])
    size = len(keys)
    fallback = table(
        f"What the memory answers after {log}. It keeps {size} numbers; a "
        f"cache of these readings keeps {step * (size + 1)}",
        ["asked for", "written last", *RULES.values()],
        rows,
    )
    start = {"values": values, "step": step}
    return Explorer("delta-explorer", fallback, names=names, start=start)


def unit_keys(names, alike=0.0):
    """{name: its key}: the second has this cosine with the first."""
    names = list(dict.fromkeys(names))
    keys = torch.eye(len(names), dtype=torch.float64)
    keys[1, :2] = torch.tensor([alike, (1 - alike**2) ** 0.5])
    return dict(zip(names, keys, strict=True))


def memories(keys, values, rule, beta=1.0, alpha=0.9):
    """The memory at first, and after each reading: (readings + 1, d_head)."""
    rows = [torch.zeros_like(keys[0])]
    for k, v in zip(keys, values, strict=False):
        kept = rows[-1] * (alpha if rule == "forget" else 1)
        added = v if rule == "add" else beta * (v - k @ kept)
        rows.append(kept + k * added)
    return torch.stack(rows)
