"""The model for dates that the book trained: chapters 12, 13 and 14 load it.

Not taught. Chapter 11 trains it, `make model` writes its two files: weights,
and a card that says where they come from.
"""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load

from lib.text import Vocabulary
from lib.transformer import Transformer, TransformerConfig

FOLDER = Path(__file__).parents[1] / "data"


class Trained(NamedTuple):
    """A trained model, the characters it reads and writes, and its card."""

    model: Transformer
    source: Vocabulary
    target: Vocabulary
    card: dict


def date_model(
    device: torch.device | str = "cpu", folder: Path = FOLDER
) -> Trained:
    """The model for dates, ready to be asked: no dropout, no gradients.

    It computes in float64, so that what it says is the same on every machine
    and on a GPU. The random numbers stay where they were.

    Args:
        device: where it computes.
        folder: holds `dates.safetensors` and `dates.json`.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the weights are not those of the card.
    """
    card = json.loads((folder / "dates.json").read_text(encoding="utf-8"))
    weights = (folder / "dates.safetensors").read_bytes()
    if (found := hashlib.sha256(weights).hexdigest()) != card["sha256"]:
        raise ValueError(
            "dates.safetensors: expected the weights of the card, SHA-256 "
            f"{card['sha256']}, got {found}; fetch the file again"
        )
    with torch.random.fork_rng(devices=[]):  # its start is not needed
        model = Transformer(TransformerConfig(**card["config"]))
    model.load_state_dict(load(weights))
    model = model.double().requires_grad_(False).eval().to(device)
    source, target = (
        Vocabulary(card[side], split=list, join="".join)
        for side in ("source", "target")
    )
    return Trained(model, source, target, card)
