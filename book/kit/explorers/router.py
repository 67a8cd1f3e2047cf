"""The explorer of chapter 18: tokens, experts, and the choice between them.

Not taught.
"""

import torch

from kit.explorers import Explorer, table

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


def route(scores, top_k, bias=None, renormalize=True):
    """The best experts of each token by score and bias, and their weights."""
    ranked = scores if bias is None else scores + bias
    order = ranked.sort(dim=-1, descending=True, stable=True).indices
    weights = scores.gather(-1, chosen := order[..., :top_k])
    total = weights.sum(dim=-1, keepdim=True)
    return chosen, weights / total if renormalize else weights


def balance_of(scores, chosen):
    """How many tokens each expert gets, and the balancing loss."""
    experts = scores.shape[-1]
    loads = chosen.flatten().bincount(minlength=experts)
    shares = (scores / scores.sum(dim=-1, keepdim=True)).mean(dim=0)
    return loads, experts * (loads / loads.sum() * shares).sum()


def router_explorer(kinds=KINDS):
    """Keys to turn and biases to set; choices, weights and loads follow.

    Args:
        kinds: two names, each with its tokens as points in a plane.
    """
    scores = scores_of(kinds, START["angles"][:EXPERTS])
    chosen, weights = route(scores, top_k=1, renormalize=False)
    loads, loss = balance_of(scores, chosen)
    names = [name for tokens in kinds.values() for name in tokens]
    rows = zip(names, chosen[:, 0].tolist(), weights[:, 0], strict=True)
    fallback = table(
        f"The best of {EXPERTS} experts; loads {loads.tolist()}, "
        f"balancing loss {loss:.2f}",
        ["token", "expert", "weight"],
        {name: [e + 1, f"{weight:.2f}"] for name, e, weight in rows},
    )
    return Explorer("router-explorer", fallback, kinds=kinds, start=START)
