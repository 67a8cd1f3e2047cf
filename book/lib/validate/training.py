"""Losses, recipes and checkpoints, and what workers share out."""

import math

from torch import Tensor

from .. import validate
from .refuse import expect, shape, wrong


def to_compare(logits: object, target: object, pad_id: object) -> None:
    """Logits (..., vocab) and one target id, or PAD, for each row of them."""
    validate.shapes("logits: ... vocab", logits=logits)
    validate.integer("pad_id", pad_id)
    validate.whole_numbers("target", target)
    counted = target.masked_fill(target == pad_id, 0)
    validate.token_ids(counted, logits.shape[-1], "target")
    if logits.shape[:-1] != target.shape:
        expected = f"{shape(logits[..., 0])}, one id for each row of logits"
        wrong("target", expected, shape(target))


def recipe(fields: object) -> None:
    """The fields of a `Recipe` are in their ranges."""
    validate.functions(rate=fields.rate)
    validate.probability("smoothing", fields.smoothing)
    validate.probability("averaging", fields.averaging)
    if fields.clip != math.inf:
        validate.real("clip", fields.clip, least=0)
    expect(fields.clip != 0, "clip", "more than 0", 0)
    validate.integer("pad_id", fields.pad_id)


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
    validate.real(f"rate({step})", value, least=0)


def falling_rate(step, peak, warmup, steps) -> None:
    """A step of those that there are, and a warm-up that ends before them."""
    validate.positive(steps=steps)
    validate.between("step", step, 1, steps)
    validate.between("warmup", warmup, 0, steps - 1)
    validate.real("peak", peak, least=0)


def to_train(trainer, wanted: type, batches, steps, every) -> None:
    """A trainer, at least one batch and positive numbers."""
    validate.instance(wanted, trainer=trainer)
    validate.some_items("batches", batches, "batches")
    validate.positive(steps=steps, every=every)


def enough_steps(saved: int, done: int) -> None:
    """A checkpoint has at least as many steps as were done without it."""
    expected = f"at least the {done} steps of the trainer"
    got = f"{saved}; load_checkpoint goes back, another file name does not"
    expect(saved >= done, "checkpoint", expected, got)


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


def shared_out(
    name: str, total: object, rank: object, world_size: object
) -> None:
    """Every worker gets equally many, and there is a worker `rank`."""
    validate.positive(**{name: total, "world_size": world_size})
    validate.between("rank", rank, 0, world_size - 1)
    validate.multiple(name, total, world_size, f"the {world_size} workers")


def heads_to_share(wanted: type, attention, rank, world_size) -> None:
    """An attention without dropout whose heads can be shared out."""
    validate.instance(wanted, attention=attention)
    shared_out("heads", attention.heads, rank, world_size)
    no_dropout("attention", attention.dropout)


def units_to_share(wanted: type, network, rank, world_size) -> None:
    """A network without dropout whose hidden units can be shared out."""
    validate.instance(wanted, network=network)
    shared_out("d_ff", network.widen.out_features, rank, world_size)
    no_dropout("network", network.dropout.p)


def no_dropout(name: str, dropout: float) -> None:
    """Workers would have to agree on what they drop."""
    expect(dropout == 0, name, "no dropout", f"dropout={dropout}")


def targets(target: object, pad_id: object) -> None:
    """A tensor of token ids, and the one that does not count."""
    validate.whole_numbers("target", target)
    validate.integer("pad_id", pad_id)
