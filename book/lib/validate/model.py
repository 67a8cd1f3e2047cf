"""The parts of a Transformer, and what it is told when it decodes."""

from collections.abc import Sized

import torch
from torch import Tensor, nn

from .. import validate
from .refuse import expect, kind, shape, wrong, wrong_kind
from .shapes import remembered

HEADS = "q: *lead q_len d_head, k: *lead k_len d_head, v: *lead k_len d_value"


def config(fields: object) -> None:
    """The fields of a `TransformerConfig` fit together."""
    sizes = ("source_vocab_size", "target_vocab_size", "d_ff", "max_length")
    layers = ("encoder_layers", "decoder_layers")
    validate.positive(
        **{name: getattr(fields, name) for name in sizes + layers}
    )
    validate.divisible(fields.d_model, fields.heads)
    validate.even("d_model", fields.d_model)
    validate.probability("dropout", fields.dropout)
    validate.booleans(norm_first=fields.norm_first)
    if fields.final_norms is not None:
        validate.booleans(final_norms=fields.final_norms)
    validate.choice(
        "activation", fields.activation, ("relu", "gelu", "gelu_tanh")
    )
    validate.choice("tied", fields.tied, ("none", "target", "all"))
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
        validate.integer(name, value, least=0)
        expected = f"an id below {rows}, the size of the vocabulary"
        expect(value < rows, name, expected, value)
        if name != "pad_id" and value == fields.pad_id:
            raise ValueError(
                f"{name}: expected another id than pad_id={fields.pad_id}, "
                "because PAD is masked"
            )
    expected = f"another id than bos_id={fields.bos_id}"
    expect(fields.eos_id != fields.bos_id, "eos_id", expected, "the same")


def no_nan(logits: Tensor) -> None:
    """No entry is NaN; weights may be damaged."""
    got = "NaN; a weight of the model may be NaN"
    expect(not logits.isnan().any(), "logits", "numbers", got)


def to_narrow(logits, temperature, top_k, top_p) -> None:
    """Logits, and three numbers that narrow them."""
    validate.shapes("logits: ... vocab", logits=logits)
    validate.real("temperature", temperature, least=0)
    got = "0; lib.decoding.greedy is the limit"
    expect(temperature != 0, "temperature", "more than 0", got)
    if top_k is not None:
        validate.positive(top_k=top_k)
    if top_p is not None:
        validate.number("top_p", top_p, "0 < top_p <= 1", lambda p: 0 < p <= 1)


def generator(value: object) -> None:
    """None, or a generator of the CPU."""
    if value is not None:
        validate.instance(torch.Generator, generator=value)
        expected = "one of the CPU, so that every device draws the same"
        on_cpu = value.device.type == "cpu"
        expect(on_cpu, "generator", expected, value.device)


def stack(items: object, wanted: type, final_norm: object) -> None:
    """At least one block in a list, all of one class and width."""
    validate.booleans(final_norm=final_norm)
    validate.some_items("blocks", items, wanted.__name__, Sized)
    for block in items:
        validate.instance(wanted, **{"an item of blocks": block})
    widths = {block.feed_forward.widen.in_features for block in items}
    expect(len(widths) == 1, "blocks", "one width", sorted(widths))


def around(d_model, dropout, norm_first, norm) -> None:
    """The arguments of a `Residual`."""
    validate.positive(d_model=d_model)
    validate.booleans(norm_first=norm_first)
    validate.probability("dropout", dropout)
    if norm is not None and not isinstance(norm, nn.Module):
        wrong_kind("norm", "a module", kind(norm))


def several_heads(d_model, heads, dropout, bias) -> None:
    """The arguments of a `MultiHeadAttention`."""
    validate.divisible(d_model, heads)
    validate.probability("dropout", dropout)
    validate.booleans(bias=bias)


@remembered
def to_attend(q, k, v, may_attend, score_bias=None) -> None:
    """Queries, keys and values of several heads, a mask and a bias."""
    validate.shapes(HEADS, q=q, k=k, v=v)
    validate.shapes("q: batch heads q_len d_head", q=q)
    scores = (*q.shape[:3], k.shape[2])
    validate.module_mask(may_attend, scores)
    if score_bias is not None:
        validate.floating(score_bias=score_bias)
        validate.four_axes(scores, score_bias=score_bias)


def ids_of(side: str, ids: object, config: object) -> None:
    """Token ids of the source or the target, not too long."""
    vocab_size = getattr(config, f"{side}_vocab_size")
    validate.id_batch(ids, side, config.max_length, vocab_size)


def new_ids(target: object, rows: int, config: object) -> None:
    """The next tokens of the rows of a memory, none of them PAD."""
    ids_of("target", target, config)
    if len(target) != rows:
        got = f"{len(target)}; a new batch needs a new decoder"
        wrong("target", f"{rows} rows, as the memory has", got)
    pads = int((target == config.pad_id).sum())
    expected = f"no PAD (id {config.pad_id}), which is not remembered"
    expect(not pads, "target", expected, pads)


def to_decode(model, wanted: type, limit: object, cached: object) -> None:
    """A model, the number of tokens to write, and a switch."""
    validate.instance(wanted, model=model)
    if limit is not None:
        validate.between("limit", limit, 1, model.config.max_length)
    validate.booleans(cached=cached)


def beginning(ids: object, rows: int, most: int, config: object) -> None:
    """The first tokens of each text, none of them PAD, BOS or EOS."""
    validate.id_batch(ids, "beginning", vocab_size=config.target_vocab_size)
    expected = f"{rows} rows, one for each source"
    expect(len(ids) == rows, "beginning", expected, len(ids))
    expected = f"1 to {most - 1} tokens, so that one of {most} is left"
    expect(0 < ids.shape[1] < most, "beginning", expected, ids.shape[1])
    for name in ("pad_id", "bos_id", "eos_id"):
        special = getattr(config, name)
        expected = f"ids of a text that goes on, without {name}={special}"
        expect(not (ids == special).any(), "beginning", expected, special)


def writable(tokens: object, rows: int, config: object) -> None:
    """What `choose` gave: for each row one id that may be written."""
    drawn = isinstance(tokens, Tensor)
    if (
        not drawn
        or tokens.dtype not in validate.INTEGERS
        or tokens.shape != (rows,)
    ):
        got = f"{tokens.dtype}, {shape(tokens)}" if drawn else kind(tokens)
        wrong("choose", f"one integer id for each of {rows} rows", got)
    never = (tokens == config.pad_id) | (tokens == config.bos_id)
    bad = never | (tokens < 0) | (tokens >= config.target_vocab_size)
    if bad.any():
        expected = (
            f"ids from 0 to {config.target_vocab_size - 1} without PAD "
            f"({config.pad_id}) and BOS ({config.bos_id})"
        )
        wrong("choose", expected, tokens[bad][0].item())


def search(width: object, length_penalty: object) -> None:
    """The two numbers of a beam search."""
    validate.positive(width=width)
    validate.real("length_penalty", length_penalty, least=0)
