"""Attention that costs less, and the parts of language models of today."""

import math

from torch import Tensor
from torch.nn import Module

from .. import validate
from .refuse import expect, shape, wrong

TEXT = (
    "q: *lead length d_head, k: *lead length d_head, v: *lead length d_value"
)


def shared_heads(heads: int, kv_heads: object) -> None:
    """Every head of keys serves the same number of query heads."""
    validate.positive(kv_heads=kv_heads)
    fine = heads % kv_heads == 0
    expect(fine, "kv_heads", f"a divisor of heads={heads}", kv_heads)


def one_text(q: object, k: object, v: object) -> None:
    """A query, a key and a value at each position, of which there are some."""
    validate.shapes(TEXT, q=q, k=k, v=v)
    expect(q.shape[-2], "q", "at least one position", shape(q))


def rotary_rows(weight: object, heads: object) -> None:
    """W_Q or W_K, whose rows are pairs of entries of every head."""
    validate.shapes("weight: width d_model", weight=weight)
    validate.positive(heads=heads)
    pairs = weight.shape[0] % (2 * heads) == 0
    expected = f"an even number of rows for each of {heads} heads"
    expect(pairs, "weight", expected, shape(weight))


def turning(d_head: int, base: object, window: object = None) -> None:
    """A head whose entries come in pairs, the base, and a window or None."""
    validate.even("d_head", d_head)
    validate.above("base", base, 1)
    if window is not None:
        validate.positive(window=window)


def turnable_by(x: object, start: object, steps: object) -> None:
    """Queries or keys, a place, and an angle for each pair of entries."""
    validate.shapes("x: ... length width", x=x)
    validate.shapes("steps: pairs", steps=steps)
    validate.integer("start", start, least=0)
    width, pairs = x.shape[-1], steps.shape[0]
    expected = f"one for each pair of {width} entries"
    expect(width == 2 * pairs, "steps", expected, shape(steps))


def stretch(angles: object) -> None:
    """The numbers of a `Stretch`."""
    validate.real("factor", angles.factor, least=1)
    validate.integer("trained", angles.trained, least=0)
    validate.above("low", angles.low, 0)
    validate.above("high", angles.high, angles.low)


def past(x: Tensor, kept: object) -> None:
    """The rows whose keys were kept, if there are any."""
    if kept is None or kept.buffer is None:
        return
    rows = kept.buffer.shape[1]
    expect(len(x) == rows, "x", f"{rows} rows, as the past has", shape(x))


def buckets(count: object, furthest: object) -> None:
    """An even number of buckets, and a distance beyond half of them."""
    validate.even("buckets", count)
    validate.integer("furthest", furthest, least=count // 2 + 1)


def to_sort_in(distance: object, count: object, furthest: object) -> None:
    """Distances, and the buckets they go into."""
    validate.whole_numbers("distance", distance)
    buckets(count, furthest)


def decoder_only(fields: object, wanted: type) -> None:
    """The fields of a `DecoderOnlyConfig` fit together."""
    names = ("vocab_size", "d_ff", "layers")
    validate.positive(**{name: getattr(fields, name) for name in names})
    validate.divisible(fields.d_model, fields.heads)
    shared_heads(fields.heads, fields.kv_heads)
    turning(fields.d_model // fields.heads, fields.base, fields.window)
    validate.real("eps", fields.eps, least=0)
    validate.booleans(tied=fields.tied)
    validate.instance_or_none(wanted, stretch=fields.stretch)


def next_ids(ids: object, cache: object, config: object) -> None:
    """Token ids, at least one a row, and a cache for each block or None."""
    validate.id_batch(ids, vocab_size=config.vocab_size)
    expect(ids.shape[1], "ids", "at least one position", shape(ids))
    if cache is not None and len(cache) != config.layers:
        expected = f"one past for each of {config.layers} blocks"
        wrong("cache", expected, len(cache))


def routing(scores: object, top_k: object, bias: object) -> None:
    """Scores of experts, no more choices than these, and a bias for each."""
    validate.shapes("scores: ... experts", scores=scores)
    validate.between("top_k", top_k, 1, scores.shape[-1])
    if bias is not None:
        words = "scores: ... experts, bias: experts"
        validate.shapes(words, scores=scores, bias=bias)


def router(d_model: object, experts: object, top_k: object) -> None:
    """Sizes of a router, which cannot choose more experts than there are."""
    validate.positive(d_model=d_model, experts=experts)
    validate.between("top_k", top_k, 1, experts)


def mixture(
    router: object, wanted: type, experts: object, shared: object
) -> None:
    """A router for as many experts as there are, all of them modules."""
    validate.instance(wanted, router=router)
    validate.some_items("experts", experts, "modules")
    for expert in experts:
        validate.instance(Module, experts=expert)
    validate.instance_or_none(Module, shared=shared)
    keys = router.keys.out_features
    fine = len(experts) == keys
    expect(fine, "experts", f"{keys}, as the router has", len(experts))


def experts_to_share(wanted: type, mixture, rank, world_size) -> None:
    """A mixture whose experts can be shared out."""
    validate.instance(wanted, mixture=mixture)
    validate.shared_out("experts", len(mixture.experts), rank, world_size)


def chosen(ids: object, experts: object) -> None:
    """Numbers of experts, for each token the same number of them."""
    validate.positive(experts=experts)
    validate.token_ids(ids, experts, "chosen")


def gated_sizes(fields: object) -> None:
    """The fields of a `GatedConfig`; no more is turned than there is."""
    validate.positive(d_model=fields.d_model, heads=fields.heads)
    shared_heads(fields.heads, fields.kv_heads)
    validate.even("d_head", fields.d_head)
    validate.even("d_rotary", fields.d_rotary)
    expected = f"at most d_head={fields.d_head}"
    fine = fields.d_rotary <= fields.d_head
    expect(fine, "d_rotary", expected, fields.d_rotary)
    validate.base(fields.base)
    validate.real("eps", fields.eps, least=0)
    validate.booleans(gated=fields.gated)


def yarn(angles: object) -> None:
    """The numbers of a `Yarn`, whose first pair turns by 1 a position."""
    validate.real("factor", angles.factor, least=1)
    validate.above("beta_slow", angles.beta_slow, 0)
    validate.above("beta_fast", angles.beta_fast, angles.beta_slow)
    least = math.ceil(2 * math.pi * angles.beta_slow)
    validate.integer("trained", angles.trained, least=least)
