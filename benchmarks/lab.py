"""How many rows models without some parts get right: the answers of the lab.

Each kind is trained from five seeds; measured is the share of 500 unseen rows
that are right at every place.
"""

from kit import lab
from lib.runtime import setup

SEEDS = range(1, 6)
SORT = {"task": "sort", "steps": 400}
LOOK_UP = {"task": "lookup", "length": 7, "steps": 200}
FAST = SORT | {"rate": 0.1}
KINDS = {
    "never choice": SORT | {"never": ["choice"]},
    "never feed_forward": SORT | {"never": ["feed_forward"]},
    "never residual": SORT | {"never": ["residual"]},
    "never norm": SORT | {"never": ["norm"]},
    "look up, all parts": LOOK_UP,
    "look up, never positions": LOOK_UP | {"never": ["positions"]},
    "look up, never choice": LOOK_UP | {"never": ["choice"]},
    "the same, 1000 steps": LOOK_UP | {"never": ["choice"], "steps": 1000},
    "one head": SORT | {"heads": 1},
    "never head 0": SORT | {"never": ["0.0"]},
    "warm-up 50": FAST | {"warm_up": 50},
    "warm-up 200": FAST | {"warm_up": 200},
    "warm-up 50, norm before": FAST | {"norm_first": True},
}


def record() -> dict:
    setup()
    runs = []
    for name, settings in KINDS.items():
        right = [lab.train(seed=n, **settings).right() for n in SEEDS]
        print(f"{name:26}", *(f"{share:5.1%}" for share in right), flush=True)
        right = [round(share, 4) for share in right]
        runs.append({"name": name, "settings": settings, "right": right})
    return {"runs": runs}
