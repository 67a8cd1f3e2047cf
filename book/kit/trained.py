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
from torch import Tensor, nn

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
    weights, card = read_kept("dates", folder)
    with torch.random.fork_rng(devices=[]):  # its start is not needed
        model = Transformer(TransformerConfig(**card["config"]))
    model = to_be_asked(model, weights, device)
    source, target = (
        Vocabulary(card[side], split=list, join="".join)
        for side in ("source", "target")
    )
    return Trained(model, source, target, card)


def read_kept(name: str, folder: Path) -> tuple[dict[str, Tensor], dict]:
    """The weights of a kept model, and the card that says whose they are.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the weights are not those of the card.
    """
    card = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    weights = (folder / f"{name}.safetensors").read_bytes()
    if (found := hashlib.sha256(weights).hexdigest()) != card["sha256"]:
        raise ValueError(
            f"{name}.safetensors: expected the weights of the card, SHA-256 "
            f"{card['sha256']}, got {found}; fetch the file again"
        )
    return load(weights), card


def to_be_asked(
    model: nn.Module, weights: dict[str, Tensor], device: torch.device | str
) -> nn.Module:
    """The model with these weights: float64, no dropout, no gradients."""
    model.load_state_dict(weights)
    return model.double().requires_grad_(False).eval().to(device)
