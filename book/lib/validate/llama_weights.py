"""The weights of LLaMA's family: every tensor is accounted for.

It is used, or says once more what is known, or is refused by its name.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from .. import validate
from .llama_known import AROUND, BLOCK, FLOATS, KEPT_ANGLES
from .refuse import expect, shape, wrong, wrong_kind


def llama_weights(weights: object, config: object, steps: Tensor) -> None:
    """Every tensor of the model is there, and no other says anything.

    `steps` are the model's rotary angles between neighbours.
    """
    validate.instance(Mapping, weights=weights)
    wanted = _tensors(config)
    for name, sizes in wanted.items():
        expect(name in weights, name, f"a tensor of shape {sizes}", "nothing")
    for name, tensor in weights.items():
        validate.instance(Tensor, **{name: tensor})
        if tensor.dtype not in FLOATS:
            wrong_kind(name, "a floating-point tensor", tensor.dtype)
        if name in wanted:
            fits = tuple(tensor.shape) == wanted[name]
            expect(fits, name, f"shape {wanted[name]}", shape(tensor))
        elif name == "lm_head.weight":
            _is_table(tensor, weights["model.embed_tokens.weight"])
        elif KEPT_ANGLES.fullmatch(name):
            _kept_angles(name, tensor, steps)
        else:
            wrong(name, "no such tensor in this model", shape(tensor))


def _tensors(config: object) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor that a file must have."""
    kv_width = config.d_model // config.heads * config.kv_heads
    sizes, named = vars(config) | {"kv_width": kv_width}, dict(AROUND)
    if config.tied:
        del named["lm_head"]
    for layer in range(config.layers):
        named |= {f"model.layers.{layer}.{n}": a for n, a in BLOCK.items()}
    return {
        f"{name}.weight": tuple(sizes[axis] for axis in axes)
        for name, axes in named.items()
    }


def _is_table(output: Tensor, table: Tensor) -> None:
    """The output matrix of a tied model, if a file has it, is the table."""
    same = output.shape == table.shape and torch.equal(output.to(table), table)
    expected = "the numbers of model.embed_tokens.weight, as the model is tied"
    expect(same, "lm_head.weight", expected, "others")


def _kept_angles(name: str, kept: Tensor, steps: Tensor) -> None:
    """What an old file says of the angles is what we compute.

    They were computed in float32, from exponents rounded to it.
    """
    rounded = torch.finfo(kept.dtype)
    near = {"rtol": rounded.eps + 2e-6, "atol": rounded.tiny}
    same = kept.shape == steps.shape
    same = same and torch.allclose(kept.double().cpu(), steps, **near)
    expect(same, name, "the angles of the configuration", "others")
