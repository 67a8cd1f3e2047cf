"""The explorer of chapter 18: tokens, experts, and the choice between them.

Not taught.
"""

import torch

from kit.explorers import Explorer, table
from lib.experts import balancing_loss, loads, route

KINDS = {
    "sums": {
        "7 + 5": (2.1, 0.2),
        "3 + 9": (1.9, 0.9),
        "8 + 1": (1.3, 1.4),
        "6 + 6": (0.8, 2.0),
    },
    "words": {
        "ten": (-0.7, 1.5),
        "two": (-1.2, 1.9),
        "nine": (-1.6, 1.1),
        "twelve": (-2.0, 0.3),
    },
}
START = dict(angles=[45, 135, 225, 315, 90, 270], biases=[0] * 6)
EXPERTS = 4  # at first


def scores_of(kinds, angles, by="softmax"):
    """The score of each token at each expert, whose keys have these angles."""
    points = [p for tokens in kinds.values() for p in tokens.values()]
    radians = torch.tensor(angles, dtype=torch.float64).deg2rad()
    keys = torch.stack([radians.cos(), radians.sin()])
    logits = torch.tensor(points, dtype=torch.float64) @ keys
    return logits.softmax(dim=-1) if by == "softmax" else logits.sigmoid()


def router_explorer() -> Explorer:
    """Keys to turn and biases to set; choices, weights and loads follow."""
    scores = scores_of(KINDS, START["angles"][:EXPERTS])
    chosen, weights = route(scores, top_k=1, renormalize=False)
    work, loss = loads(chosen, EXPERTS), balancing_loss(scores, chosen)
    names = [name for tokens in KINDS.values() for name in tokens]
    rows = zip(names, chosen[:, 0].tolist(), weights[:, 0], strict=True)
    fallback = table(
        f"The best of {EXPERTS} experts; loads {work.tolist()}, "
        f"balancing loss {loss:.2f}",
        ["token", "expert", "weight"],
        {name: [e + 1, f"{weight:.2f}"] for name, e, weight in rows},
    )
    return Explorer("router-explorer", fallback, kinds=KINDS, start=START)
