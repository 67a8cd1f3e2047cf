"""The files of LLaMA's family: every field and every tensor is accounted for.

A field is used, or has no effect with the value that it has, or never has an
effect on logits. A tensor is used, or says once more what is known. Whatever
else a file says is refused by its name.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from .. import validate
from . import llama_known as known
from .refuse import expect, shape, wrong, wrong_kind


def family(fields: object, families: Mapping) -> None:
    """A dictionary that says whose code builds the model."""
    validate.instance(Mapping, fields=fields)
    name, allowed = fields.get("model_type"), " or ".join(map(repr, families))
    fine = isinstance(name, str) and name in families
    expect(fine, "model_type", allowed, repr(name))


def llama_fields(fields: Mapping) -> None:
    """A configuration that asks for nothing but the parts of the book."""
    others = known.USED | known.AGREE | known.SILENT
    known_fields(fields, known.NEUTRAL, others)
    classes = known.ARCHITECTURES[fields["model_type"]]
    common_fields(fields, known.SIZES, classes, known.ANGLES)
    _heads(fields)
    _window(fields)


def known_fields(fields: Mapping, neutral: Mapping, others: set) -> None:
    """Each field is known; those without effect have a value without it."""
    for name, value in fields.items():
        if name in neutral:
            one_of(name, value, neutral[name])
        elif name not in others:
            wrong(name, "no such field: it is not known here", repr(value))


def common_fields(
    fields: Mapping, sizes: tuple, classes: tuple, kinds: Mapping
) -> None:
    """What the files of all families say; `kinds` are those of angles."""
    for name in sizes:
        expect(name in fields, name, "an integer", "nothing")
    validate.positive(**{name: fields[name] for name in sizes})
    eps = fields.get("rms_norm_eps", 1e-6)
    validate.instance(float, rms_norm_eps=eps)
    validate.real("rms_norm_eps", eps, least=0)
    validate.booleans(
        tie_word_embeddings=fields.get("tie_word_embeddings", False)
    )
    _angles(fields, kinds)
    if (named := fields.get("architectures")) is not None:
        fine = isinstance(named, list)
        fine = fine and all(name in classes for name in named)
        expect(fine, "architectures", [classes[0]], named)


def one_of(name: str, value: object, allowed: tuple) -> None:
    """One of these values; True is not 1, and False not 0."""
    fine = any(
        value == one and isinstance(value, bool) == isinstance(one, bool)
        for one in allowed
    )
    expect(fine, name, repr(allowed[0]), repr(value))


def _heads(fields: Mapping) -> None:
    """Heads that divide the width, evenly, and key heads that divide them."""
    width, heads = fields["hidden_size"], fields["num_attention_heads"]
    kv_heads = fields["num_key_value_heads"]
    validate.multiple("hidden_size", width, heads, f"{heads} heads")
    fine, expected = width // heads % 2 == 0, "heads of an even width"
    expect(fine, "num_attention_heads", expected, f"{width // heads}")
    if kv_heads is not None:
        validate.positive(num_key_value_heads=kv_heads)
        fine, expected = heads % kv_heads == 0, f"a divisor of {heads}"
        expect(fine, "num_key_value_heads", expected, kv_heads)
    one_of("head_dim", fields.get("head_dim"), (width // heads, None))


def _window(fields: Mapping) -> None:
    """A window in every layer or in none; LLaMA has none."""
    window, layers = fields["sliding_window"], fields["num_hidden_layers"]
    if window is not None:
        validate.positive(sliding_window=window)
    is_sliding = fields.get("use_sliding_window", window is not None)
    one_of("use_sliding_window", is_sliding, (window is not None,))
    kinds = fields.get("layer_types")
    if fields["model_type"] == "llama":
        one_of("sliding_window", window, (None,))
        fine = kinds is None or kinds == ["full_attention"] * layers
        expect(fine, "layer_types", f"{layers} times 'full_attention'", kinds)
    elif "layer_types" in fields:  # `transformers` then builds a Ministral
        wrong("layer_types", "no such field in a Mistral", kinds)


def _angles(fields: Mapping, kinds: Mapping) -> None:
    """One description of the angles, of a kind that the book computes."""
    sections = {
        name: fields[name]
        for name in ("rope_parameters", "rope_scaling")
        if fields.get(name) is not None
    }
    validate.instance(Mapping, **sections)
    for name, angles in sections.items():
        _one_kind(name, angles, kinds)
    given = [angles for angles in sections.values() if angles]
    if len(given) == 2:
        same, expected = given[0] == given[1], "the same as rope_parameters"
        expect(same, "rope_scaling", expected, given[1])
    bases = [part for part in (fields, *given) if "rope_theta" in part]
    for part in bases:
        validate.above("rope_theta", part["rope_theta"], 1)
        same = part["rope_theta"] == bases[0]["rope_theta"]
        expected = f"{bases[0]['rope_theta']} here as well"
        expect(same, "rope_theta", expected, part["rope_theta"])


def _one_kind(field: str, angles: Mapping, kinds: Mapping) -> None:
    """All that this kind of angles needs, and nothing else."""
    kind = angles.get("rope_type", angles.get("type", "default"))
    fine = isinstance(kind, str) and kind in kinds
    allowed = " or ".join(map(repr, kinds))
    expect(fine, f"rope_type of {field}", allowed, repr(kind))
    one_of(f"type of {field}", angles.get("type", kind), (kind,))
    needs, may = kinds[kind], {"rope_type", "type", "rope_theta"}
    for name, value in angles.items():
        if name == "partial_rotary_factor":
            one_of(f"{name} of {field}", value, (1.0,))
        elif name not in may.union(needs):
            expected = f"no such number for {kind!r}"
            wrong(f"{name} of {field}", expected, value)
    for name in needs:
        expected = f"a number for {kind!r}"
        expect(name in angles, f"{name} of {field}", expected, "nothing")
    if "factor" in angles:
        validate.real("factor", angles["factor"], least=1)
    if "low_freq_factor" in angles:
        low, high = angles["low_freq_factor"], angles["high_freq_factor"]
        validate.above("low_freq_factor", low, 0)
        validate.above("high_freq_factor", high, low)
        trained = angles["original_max_position_embeddings"]
        validate.positive(original_max_position_embeddings=trained)


def llama_weights(weights: object, config: object, steps: Tensor) -> None:
    """The tensors of a LLaMA; old files hold its rotary angles as well."""
    file_tensors(weights, _tensors(config), steps)


def file_tensors(
    weights: object, wanted: Mapping, steps: Tensor | None = None
) -> None:
    """Every tensor of the model is there, and no other says anything.

    `wanted` has their shapes by their names; `steps` are the model's rotary
    angles between neighbours, or None where no file holds any.
    """
    validate.instance(Mapping, weights=weights)
    for name, sizes in wanted.items():
        expect(name in weights, name, f"a tensor of shape {sizes}", "nothing")
    for name, tensor in weights.items():
        validate.instance(Tensor, **{name: tensor})
        if tensor.dtype not in known.FLOATS:
            wrong_kind(name, "a floating-point tensor", tensor.dtype)
        if name in wanted:
            fits = tuple(tensor.shape) == wanted[name]
            expect(fits, name, f"shape {wanted[name]}", shape(tensor))
        elif name == "lm_head.weight":
            _is_table(tensor, weights["model.embed_tokens.weight"])
        elif steps is not None and known.KEPT_ANGLES.fullmatch(name):
            _kept_angles(name, tensor, steps)
        else:
            wrong(name, "no such tensor in this model", shape(tensor))


def _tensors(config: object) -> dict[str, tuple[int, ...]]:
    """The shape of each tensor that a file must have."""
    kv_width = config.d_model // config.heads * config.kv_heads
    sizes, named = vars(config) | {"kv_width": kv_width}, dict(known.AROUND)
    if config.tied:
        del named["lm_head"]
    for layer in range(config.layers):
        named |= {
            f"model.layers.{layer}.{n}": a for n, a in known.BLOCK.items()
        }
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
