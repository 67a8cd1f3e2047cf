"""Losses, recipes and checkpoints."""

import json
import math
from pathlib import Path

from torch import Tensor

from lib.validate.kinds import functions, instance, some_items
from lib.validate.numbers import integer, positive, probability, real
from lib.validate.refuse import expect, shape, wrong
from lib.validate.shapes import shapes
from lib.validate.text import token_ids


def to_compare(logits: object, target: object) -> None:
    """Logits (..., vocab) and one target id for each row of them."""
    shapes("logits: ... vocab", logits=logits)
    token_ids(target, logits.shape[-1], "target")
    if logits.shape[:-1] != target.shape:
        expected = f"{shape(logits[..., 0])}, one id for each row of logits"
        wrong("target", expected, shape(target))


def recipe(fields: object) -> None:
    """The fields of a `Recipe` are in their ranges."""
    functions(rate=fields.rate)
    probability("smoothing", fields.smoothing)
    probability("averaging", fields.averaging)
    if fields.clip != math.inf:
        real("clip", fields.clip, least=0)
    expect(fields.clip != 0, "clip", "more than 0", 0)
    integer("pad_id", fields.pad_id, least=0)


def finite(where: str, **named: Tensor) -> None:
    """Every argument is a finite number."""
    for name, tensor in named.items():
        if not math.isfinite(tensor.item()):
            raise FloatingPointError(
                f"{name}: expected a finite number, got {tensor.item()} at "
                f"{where}; the weights are those before this step"
            )


def rate(value: object, step: int) -> None:
    """The learning rate of a step: a finite number, not negative."""
    real(f"rate({step})", value, least=0)


def to_train(trainer, wanted: type, batches, steps, every) -> None:
    """A trainer, at least one batch and positive numbers."""
    instance(wanted, trainer=trainer)
    some_items("batches", batches, "batches")
    positive(steps=steps, every=every)


def checkpoint(path: object) -> tuple[dict[str, Tensor], dict]:
    """The tensors of a checkpoint, and what its header says about them."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    content = Path(path).read_bytes()
    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])
        return tensors, json.loads(header["__metadata__"]["json"])
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(
            "checkpoint: expected a complete file from save_checkpoint, got "
            f"{len(content)} bytes that are none ({error}): {path}"
        ) from error


def not_behind(path: object, steps: int) -> None:
    """A checkpoint has at least as many steps as were done without it."""
    saved = len(checkpoint(path)[1]["losses"])
    expected = f"at least the {steps} steps of the trainer"
    got = f"{saved}; load_checkpoint goes back, another file name does not"
    expect(saved >= steps, "checkpoint", expected, got)


def same_training(trainer, parts: dict[str, dict], about: dict) -> None:
    """A checkpoint is of this model and this recipe."""
    for part in ("model", "average"):
        same_weights(getattr(trainer, part).state_dict(), parts.get(part, {}))
    moments(trainer, parts.get("adam", {}), len(about["losses"]))
    wanted = trainer.recipe.numbers(len(about["losses"]))
    for name, value in wanted.items():
        expected, got = f"{name}={value}, as in the recipe", about["recipe"]
        fine = got.get(name) == value
        expect(fine, "checkpoint", expected, got.get(name))


def moments(trainer, saved: dict[str, Tensor], steps: int) -> None:
    """The two means of Adam have the shapes of the weights they belong to."""
    weights = dict(enumerate(trainer.model.parameters()))
    expected = f"the moments of Adam after {steps} steps"
    expect(saved or not steps, "checkpoint", expected, "none")
    for key, tensor in saved.items():
        number, name = key.split(".")
        wanted = weights.get(int(number))
        if name != "step" and (wanted is None or wanted.shape != tensor.shape):
            expected = f"moments of {len(weights)} weights, as in the model"
            wrong("checkpoint", expected, f"{shape(tensor)} for adam.{key}")


def same_weights(wanted: dict[str, Tensor], got: dict[str, Tensor]) -> None:
    """The weights of a checkpoint are those of the model."""
    for name in sorted(wanted.keys() | got.keys()):
        one, other = (
            f"{weights[name].dtype}, {shape(weights[name])}"
            if name in weights
            else "nothing"
            for weights in (wanted, got)
        )
        expected = f"{one} for {name}, as in the model"
        expect(one == other, "checkpoint", expected, other)
