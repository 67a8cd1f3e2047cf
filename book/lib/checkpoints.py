"""Checkpoints of a `Trainer`: named tensors and what JSON can say of them.

Not taught. Safetensors files, which hold numbers and no code.
"""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from . import validate
from .runtime import random_states, replace_file, set_random_states

Parts = dict[str, dict[str, Tensor]]


def write(path: Path | str, parts: Parts, about: dict) -> None:
    """Write the tensors of each part, and `about` into the header.

    It is written aside and then renamed, so that no crash leaves half a
    checkpoint. Every tensor is copied: modules may share one, which the
    format does not allow.
    """
    tensors = {
        f"{part}.{name}": tensor.clone(memory_format=torch.contiguous_format)
        for part, named in parts.items()
        for name, tensor in named.items()
    }
    replace_file(Path(path), save(tensors, {"json": json.dumps(about)}))


def read(path: Path | str) -> tuple[Parts, dict]:
    """What `write` was given."""
    content = Path(path).read_bytes()
    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        about = json.loads(header["__metadata__"]["json"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(
            "checkpoint: expected a complete file from save_checkpoint, got "
            f"{len(content)} bytes that are none ({error}): {path}"
        ) from error
    parts: Parts = {}
    for key, tensor in tensors.items():
        part, name = key.split(".", 1)
        parts.setdefault(part, {})[name] = tensor
    return parts, about


def save_checkpoint(trainer, path: Path | str) -> None:
    """Everything that the next step depends on, in one file.

    A safetensors file: weights, averaged weights, the two moments of Adam
    for each weight, the state of the random numbers; and as JSON in its
    header the losses and the numbers of the recipe.

    Raises:
        OSError: it cannot be written; what was there before is intact.
    """
    state = trainer.optimiser.state_dict()["state"]
    parts = {
        "model": trainer.model.state_dict(),
        "average": trainer.average.state_dict(),
        "random": random_states(),
        **{f"adam.{i}": moments for i, moments in state.items()},
    }
    done = len(trainer.losses)
    about = {"losses": trainer.losses, "recipe": trainer.recipe.numbers(done)}
    write(path, parts, about)


def load_checkpoint(trainer, path: Path | str) -> None:
    """Put the trainer where `save_checkpoint` saw the other one.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or of another model or recipe; the
            trainer is unchanged.
    """
    parts, about = read(path)
    validate.same_training(trainer, parts, about)
    moments: dict[int, dict[str, Tensor]] = {}
    for key, tensor in parts.get("adam", {}).items():
        number, name = key.split(".")
        moments.setdefault(int(number), {})[name] = tensor
    optimiser = trainer.optimiser.state_dict() | {"state": moments}
    trainer.optimiser.load_state_dict(optimiser)
    trainer.model.load_state_dict(parts["model"])
    trainer.average.load_state_dict(parts["average"])
    set_random_states(parts["random"])
    trainer.losses = about["losses"]
