"""Checkpoints that fit a model and a recipe."""

from torch import Tensor

from .refuse import expect, shape, wrong


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
