"""Losses, recipes and checkpoints."""

import math

from torch import Tensor

from .kinds import (
    functions,
    instance,
    some_items,
    whole_numbers,
)
from .numbers import (
    between,
    integer,
    positive,
    probability,
    real,
)
from .refuse import expect, shape, wrong
from .shapes import shapes
from .text import token_ids


def to_compare(logits: object, target: object, pad_id: object) -> None:
    """Logits (..., vocab) and one target id, or PAD, for each row of them."""
    shapes("logits: ... vocab", logits=logits)
    integer("pad_id", pad_id)
    whole_numbers("target", target)
    counted = target.masked_fill(target == pad_id, 0)
    token_ids(counted, logits.shape[-1], "target")
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
    integer("pad_id", fields.pad_id)


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


def falling_rate(step, peak, warmup, steps) -> None:
    """A step of those that there are, and a warm-up that ends before them."""
    positive(steps=steps)
    between("step", step, 1, steps)
    between("warmup", warmup, 0, steps - 1)
    real("peak", peak, least=0)


def to_train(trainer, wanted: type, batches, steps, every) -> None:
    """A trainer, at least one batch and positive numbers."""
    instance(wanted, trainer=trainer)
    some_items("batches", batches, "batches")
    positive(steps=steps, every=every)


def enough_steps(saved: int, done: int) -> None:
    """A checkpoint has at least as many steps as were done without it."""
    expected = f"at least the {done} steps of the trainer"
    got = f"{saved}; load_checkpoint goes back, another file name does not"
    expect(saved >= done, "checkpoint", expected, got)
