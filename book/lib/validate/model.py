"""The parts of a Transformer, and what it is told when it decodes."""

from collections.abc import Iterable, Sized

import torch
from torch import Tensor

from lib.validate.kinds import booleans, choice, instance, not_empty
from lib.validate.numbers import (
    between,
    divisible,
    even,
    integer,
    number,
    positive,
    probability,
    real,
)
from lib.validate.refuse import expect, kind, shape, wrong, wrong_kind
from lib.validate.shapes import shapes
from lib.validate.text import id_batch


def blocks(items: object, wanted: type, final_norm) -> tuple[list, int]:
    """At least one block, all of one class and width; and that width."""
    booleans(final_norm=final_norm)
    if not isinstance(items, Iterable):
        wrong_kind("blocks", f"a list of {wanted.__name__}", kind(items))
    items = list(items)
    not_empty("blocks", items)
    for block in items:
        instance(wanted, **{"an item of blocks": block})
    widths = {block.feed_forward.widen.in_features for block in items}
    expect(len(widths) == 1, "blocks", "one width", sorted(widths))
    return items, widths.pop()


def caches(cache: object, blocks: Sized) -> Iterable:
    """A pair of caches for each block; a pair of None without a cache."""
    if cache is None:
        return [(None, None)] * len(blocks)
    if not isinstance(cache, Iterable) or not hasattr(cache, "length"):
        wrong_kind("cache", "a lib.cache.Cache", kind(cache))
    pairs = list(cache)
    expected = f"one of {len(blocks)} layers, as the decoder has"
    expect(len(pairs) == len(blocks), "cache", expected, len(pairs))
    return pairs


def config(fields: object) -> None:
    """The fields of a `TransformerConfig` fit together."""
    sizes = ("source_vocab_size", "target_vocab_size", "d_ff", "max_length")
    layers = ("encoder_layers", "decoder_layers")
    positive(**{name: getattr(fields, name) for name in sizes + layers})
    divisible(fields.d_model, fields.heads)
    even("d_model", fields.d_model)
    probability("dropout", fields.dropout)
    booleans(norm_first=fields.norm_first)
    if fields.final_norms is not None:
        booleans(final_norms=fields.final_norms)
    choice("activation", fields.activation, ("relu", "gelu"))
    choice("tied", fields.tied, ("none", "target", "all"))
    special_ids(fields)
    source, target = fields.source_vocab_size, fields.target_vocab_size
    if fields.tied == "all":
        expected = 'vocabularies of one size for "all"'
        expect(source == target, "tied", expected, f"{source} and {target}")


def special_ids(fields: object) -> None:
    """PAD is in both vocabularies, BOS and EOS in the target's."""
    vocab = min(fields.source_vocab_size, fields.target_vocab_size)
    for name in ("pad_id", "bos_id", "eos_id"):
        rows = vocab if name == "pad_id" else fields.target_vocab_size
        value = getattr(fields, name)
        integer(name, value, least=0)
        if value >= rows:
            wrong(
                name, f"an id below {rows}, the size of the vocabulary", value
            )
        if name != "pad_id" and value == fields.pad_id:
            raise ValueError(
                f"{name}: expected another id than pad_id={fields.pad_id}, "
                "because PAD is masked"
            )
    expected = f"another id than bos_id={fields.bos_id}"
    expect(fields.eos_id != fields.bos_id, "eos_id", expected, "the same")


def new_positions(target: Tensor, pad_id: int, past: Tensor | None) -> None:
    """The next tokens of the rows that a cache knows, none of them PAD.

    A cache does not remember which positions are PAD. Its buffer `past` has
    the rows on its second axis.
    """
    if (target == pad_id).any():
        expected = f"no PAD (id {pad_id}) together with a cache"
        wrong("target", expected, int((target == pad_id).sum()))
    if past is not None and target.shape[0] != past.shape[1]:
        got = f"{target.shape[0]}; a new batch needs a new cache"
        wrong("target", f"{past.shape[1]} rows, as the cache holds", got)


def to_write(model: object, wanted: type, source, cached: object) -> None:
    """A model and a batch of sources."""
    instance(wanted, model=model)
    id_batch(source, "source", model.config.max_length)
    booleans(cached=cached)


def limit(limit: object, model: object, wanted: type) -> int:
    """The number of tokens to write; each but the last needs a position."""
    instance(wanted, model=model)
    most = model.config.max_length
    if limit is None:
        return most
    between("limit", limit, 1, most)
    return limit


def chosen(tokens: object, rows: int) -> None:
    """What `choose` gave: one token id for each row."""
    got = kind(tokens)
    if isinstance(tokens, Tensor):
        got = f"{tokens.dtype}, {shape(tokens)}"
        whole = tokens.dtype in (torch.int32, torch.int64)
        if whole and tokens.shape == (rows,):
            return
    wrong("choose", f"one integer id for each of {rows} rows", got)


def no_nan(**named: Tensor) -> None:
    """No entry is NaN; weights may be damaged."""
    for name, tensor in named.items():
        got = "NaN; a weight of the model may be NaN"
        expect(not tensor.isnan().any(), name, "numbers", got)


def to_narrow(logits, temperature, top_k, top_p) -> None:
    """Logits, and three numbers that narrow them."""
    shapes("logits: ... vocab", logits=logits)
    real("temperature", temperature, least=0)
    got = "0; lib.decoding.greedy is the limit"
    expect(temperature != 0, "temperature", "more than 0", got)
    if top_k is not None:
        positive(top_k=top_k)
    if top_p is not None:
        number("top_p", top_p, "0 < top_p <= 1", lambda p: 0 < p <= 1)


def generator(value: object) -> None:
    """None, or a generator of the CPU."""
    if value is not None:
        instance(torch.Generator, generator=value)
        expected = "one of the CPU, so that every device draws the same"
        on_cpu = value.device.type == "cpu"
        expect(on_cpu, "generator", expected, value.device)
