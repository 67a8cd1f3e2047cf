"""Following a map twice: one block, wide or wider, against two.

For a figure of chapter 8. Every model is trained from five seeds on four
fifths of the 720 maps of six places. Measured is the share of maps that it
follows from all six places without a mistake: of the others, and of those it
was trained on, which tells not fitting from not generalising.
"""

from itertools import permutations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib.embedding import TokenEmbedding
from lib.encoder import Encoder, EncoderBlock
from lib.positions import PositionalEncoding
from lib.runtime import setup

PLACES, STEPS, EVERY, SEEDS = 6, 4_000, 200, 5
MODELS = {  # d_ff of each block
    "one block, 195 units": [195],
    "one block, 780 units": [780],
    "two blocks of 64 units": [64, 64],
}


def model(widths: list[int]) -> nn.Sequential:
    """Places in; for each the scores of the place that two hops lead to."""
    return nn.Sequential(
        TokenEmbedding(PLACES, 32),
        PositionalEncoding(32, PLACES),
        Encoder([EncoderBlock(32, 4, d_ff) for d_ff in widths]),
        nn.Linear(32, PLACES),
    )


def two_hops(maps: Tensor) -> Tensor:
    """From each place to the place it names, and on, and on to read."""
    return maps.gather(1, maps.gather(1, maps))


def split() -> tuple[Tensor, Tensor]:
    """The maps to train on, and the others, as on the page."""
    maps = torch.tensor(list(permutations(range(PLACES))))
    left_out = (maps * torch.arange(1, PLACES + 1)).sum(1) % 5 == 0
    return maps[~left_out], maps[left_out]


def share(follower: nn.Module, maps: Tensor) -> float:
    """The share of maps that are followed without a mistake."""
    with torch.no_grad():
        right = follower(maps).argmax(-1) == two_hops(maps)
    return right.all(-1).double().mean().item()


def run(name: str, seed: int) -> tuple[list[float], list[float]]:
    """The shares of unseen and of known maps, every `EVERY` steps."""
    torch.manual_seed(seed)
    follower, (known, unseen) = model(MODELS[name]), split()
    optimiser = torch.optim.Adam(follower.parameters())
    shares = [], []
    for step in range(STEPS):
        rise, fall = min(1, (step + 1) / 50), 1 - step / STEPS
        optimiser.param_groups[0]["lr"] = 0.01 * rise * fall
        maps = known[torch.randint(len(known), (64,))]
        logits = follower(maps).flatten(0, 1)
        loss = F.cross_entropy(logits, two_hops(maps).flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if (step + 1) % EVERY == 0:
            for of, maps in zip(shares, (unseen, known), strict=True):
                of.append(round(share(follower, maps), 4))
    return shares


def record() -> dict:
    setup()
    by_kind = {"share": {}, "share of known": {}}
    for name in MODELS:
        both = zip(*(run(name, seed) for seed in range(SEEDS)), strict=True)
        for kind, shares in zip(by_kind, both, strict=True):
            by_kind[kind][name] = list(shares)
            last = " ".join(f"{of_seed[-1]:.0%}" for of_seed in shares)
            print(f"{name:24} {kind:15} {last}", flush=True)
    return {"step": list(range(EVERY, STEPS + 1, EVERY))} | by_kind
