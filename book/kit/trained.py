"""The models for dates that the book trained: chapters 12 to 16 load them.

Not taught. Each has two files: weights, and a card that says where they come
from. They compute in float64, so that what they say is the same on every
machine and on a GPU, and are ready to be asked: no dropout, no gradients.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load
from torch import Tensor, nn

from lib.llama import DecoderOnly, DecoderOnlyConfig
from lib.text import Vocabulary
from lib.transformer import Transformer, TransformerConfig

FOLDER = Path(__file__).parents[1] / "data"


class Trained(NamedTuple):
    """A trained model, the characters it reads and writes, and its card."""

    model: nn.Module
    source: Vocabulary
    target: Vocabulary
    card: dict


def date_model(
    device: torch.device | str = "cpu", folder: Path = FOLDER
) -> Trained:
    """The encoder and decoder that chapter 11 trains and `make model` keeps.

    The random numbers stay where they were.

    Args:
        device: where it computes.
        folder: holds `dates.safetensors` and `dates.json`.
    """
    weights, card = read_kept("dates", folder)
    model = ready(Transformer, TransformerConfig(**card["config"]), weights)
    tokens = (vocabulary(card[side]) for side in ("source", "target"))
    return Trained(model.to(device), *tokens, card)


def one_text_model(
    device: torch.device | str = "cpu", folder: Path = FOLDER
) -> Trained:
    """The decoder alone that `benchmarks/decoder_only.py` trained.

    It reads and writes the same characters. Arguments and errors are those
    of `date_model`.
    """
    weights, card = read_kept("one_text", folder)
    model = ready(DecoderOnly, DecoderOnlyConfig(**card["config"]), weights)
    tokens = vocabulary(card["tokens"])
    return Trained(model.to(device), tokens, tokens, card)


def read_kept(name: str, folder: Path) -> tuple[dict[str, Tensor], dict]:
    """The weights of a kept model, and the card that says whose they are.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the weights are not those of the card.
    """
    card = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    weights = (folder / f"{name}.safetensors").read_bytes()
    if (digest := hashlib.sha256(weights).hexdigest()) != card["sha256"]:
        raise ValueError(
            f"{name}.safetensors: expected the weights of the card, SHA-256 "
            f"{card['sha256']}, got {digest}; fetch the file again"
        )
    return load(weights), card


def ready(kind: Callable, config: object, weights: dict) -> nn.Module:
    """The model with these weights: float64, no dropout, no gradients."""
    with torch.random.fork_rng(devices=[]):  # its start is not needed
        model = kind(config)
    model.load_state_dict(weights)
    return model.double().requires_grad_(False).eval()


def vocabulary(tokens: list[str]) -> Vocabulary:
    return Vocabulary(tokens, split=list, join="".join)
