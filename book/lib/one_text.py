"""Dates for a decoder alone: what is read and what is written, one text.

Not taught. A row is the date as somebody wrote it, BOS, the date in ISO 8601,
and EOS; BOS says where the answer begins. What is asked for before that does
not count: its target is -100, which a loss of torch leaves out by itself.
"""

import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from safetensors.torch import load
from torch import Tensor, nn

from lib import validate
from lib.dates import Batch, Example, stretches
from lib.llama import DecoderOnly, DecoderOnlyConfig
from lib.text import Vocabulary, pad_batch

FOLDER = Path(__file__).parents[1] / "data"
IGNORED = -100


def one_text(examples: Sequence[Example], vocabulary: Vocabulary) -> Batch:
    """Rows of text, BOS and ISO date, and the targets of the answer alone.

    The source of the batch is the text by itself; `decoder_input` is the row
    without EOS, filled up with PAD.

    Raises:
        TypeError: an argument is not of the kind in the signature.
        ValueError: there is no example.
    """
    validate.collatable(examples, Vocabulary, vocabulary, vocabulary)
    texts = [vocabulary.encode(e.text) for e in examples]
    answers = [vocabulary.encode(e.iso, bos=True, eos=True) for e in examples]
    rows = [a + b[:-1] for a, b in zip(texts, answers, strict=True)]
    ids = pad_batch(rows)
    target = torch.full_like(ids, IGNORED)
    for row, text, answer in zip(target, texts, answers, strict=True):
        end = len(text) + len(answer) - 1
        row[len(text) : end] = torch.tensor(answer[1:])
    return Batch(pad_batch(texts), ids, target)


def one_text_batches(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    size: int = 64,
    bucket: int = 1,
    seed: int = 0,
) -> list[Batch]:
    """All examples in batches, shuffled and in buckets as `lib.dates` does.

    Raises:
        TypeError: an argument is not of the kind in the signature.
        ValueError: there is no example, or a number is below 1.
    """
    validate.positive(size=size, bucket=bucket)
    shuffle = random.Random(seed).shuffle
    shuffle(examples := list(examples))
    parts = []
    for pool in stretches(examples, size * bucket):
        pool = sorted(pool, key=lambda e: len(e.text)) if bucket > 1 else pool
        parts += stretches(pool, size)
    if bucket > 1:
        shuffle(parts)
    return [one_text(part, vocabulary) for part in parts]


class OneText(nn.Module):
    """A decoder alone, called as `lib.training` calls a model.

    Args:
        model: reads the decoder input, which has the source in it.
    """

    def __init__(self, model: DecoderOnly):
        super().__init__()
        self.model = model

    def forward(
        self,
        source: Int[Tensor, "batch s_len"],
        decoder_input: Int[Tensor, "batch t_len"],
    ) -> Float[Tensor, "batch t_len vocab"]:
        """The logits of each next token; `source` is not looked at."""
        return self.model(decoder_input)


class Trained(NamedTuple):
    """A trained model, the characters of its texts, and its card."""

    model: DecoderOnly
    vocabulary: Vocabulary
    card: dict


def one_text_model(
    device: torch.device | str = "cpu", folder: Path = FOLDER
) -> Trained:
    """The model for dates that `benchmarks/decoder_only.py` trained.

    It computes in float64, so that what it says is the same on every machine
    and on a GPU. The random numbers stay where they were.

    Args:
        device: where it computes.
        folder: holds `one_text.safetensors` and `one_text.json`.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the weights are not those of the card.
    """
    card = json.loads((folder / "one_text.json").read_text(encoding="utf-8"))
    weights = (folder / "one_text.safetensors").read_bytes()
    if (found := hashlib.sha256(weights).hexdigest()) != card["sha256"]:
        raise ValueError(
            "one_text.safetensors: expected the weights of the card, SHA-256 "
            f"{card['sha256']}, got {found}; fetch the file again"
        )
    with torch.random.fork_rng(devices=[]):  # its start is not needed
        model = DecoderOnly(DecoderOnlyConfig(**card["config"]))
    model.load_state_dict(load(weights))
    model = model.double().requires_grad_(False).eval().to(device)
    vocabulary = Vocabulary(card["tokens"], split=list, join="".join)
    return Trained(model, vocabulary, card)
