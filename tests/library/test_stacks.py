"""lib.encoder and lib.decoder: what both promise beyond torch's numbers.

That blocks and stacks give torch's numbers and gradients: test_interop.
"""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lib.decoder import Decoder, DecoderBlock
from lib.encoder import Encoder, EncoderBlock
from lib.heads import MultiHeadAttention
from lib.layers import LayerNorm, Residual
from lib.masks import causal_mask, padding_mask
from tests.library.draw import DEVICE, close, normal, same
from tests.library.refusals import (
    by_dtype,
    by_shape,
    no_dropout,
    no_floating_tensor,
    no_size,
    no_switch,
    refuses,
)

STACKS = {EncoderBlock: Encoder, DecoderBlock: Decoder}
KINDS = pytest.mark.parametrize("kind", STACKS)
ORDERS = pytest.mark.parametrize("norm_first", [False, True])
MODES = pytest.mark.parametrize("training", [False, True])
HEADS, D_FF, T_LEN, S_LEN = 3, 11, 7, 5


def scattered(module):
    """Every parameter has numbers of its own."""
    for seed, parameter in enumerate(module.parameters()):
        parameter.data = normal(*parameter.shape, seed=seed, scale=0.5)
    return module.to(DEVICE, torch.float64)


def block(kind, **options):
    return scattered(kind(6, HEADS, D_FF, **options))


def stack(kind, final=False, **options):
    blocks = [kind(6, HEADS, D_FF, **options) for _ in range(3)]
    return scattered(STACKS[kind](blocks, final))


def inputs(kind):
    """Vectors and a causal mask; for a decoder also a memory with padding."""
    x = normal(2, T_LEN, 6, dtype=torch.float64)
    causal = causal_mask(T_LEN, DEVICE)
    if kind is EncoderBlock:
        return x, causal
    memory = normal(2, S_LEN, 6, seed=3, dtype=torch.float64)
    lengths = torch.tensor([2, S_LEN], device=DEVICE)
    return x, memory, causal, padding_mask(lengths, S_LEN)


def sublayers(block, *rest):
    """What stands in each residual of a block, by name."""
    if isinstance(block, EncoderBlock):
        (may,) = rest
        yield "attention", lambda x: block.attention(x, x, x, may)
    else:
        memory, may, memory_may = rest
        look_back, look_across = block.self_attention, block.cross_attention
        yield "self_attention", lambda x: look_back(x, x, x, may)
        yield (
            "cross_attention",
            lambda x: look_across(x, memory, memory, memory_may),
        )
    yield "feed_forward", block.feed_forward


@KINDS
@ORDERS
def test_a_block_is_its_sublayers_in_turn(kind, norm_first):
    """The memory is never normalised."""
    ours = block(kind, norm_first=norm_first)
    x, *rest = inputs(kind)
    for name, sublayer in sublayers(ours, *rest):
        norm = getattr(ours, f"around_{name}").norm
        x = x + sublayer(norm(x)) if norm_first else norm(x + sublayer(x))
    close(ours(*inputs(kind)), x)


@KINDS
@ORDERS
@pytest.mark.parametrize("final", [False, True])
def test_a_stack_is_its_blocks_in_turn(kind, norm_first, final):
    """All blocks of a decoder look at the same memory."""
    ours = stack(kind, final, norm_first=norm_first)
    x, *rest = inputs(kind)
    for part in ours.blocks:
        x = part(x, *rest)
    close(ours(*inputs(kind)), ours.norm(x) if final else x)
    assert isinstance(ours.norm, LayerNorm if final else nn.Identity)


@KINDS
def test_a_stack_has_by_default_no_final_norm_and_may_repeat_a_block(kind):
    part, (x, *rest) = block(kind), inputs(kind)
    ours = STACKS[kind]([part] * 2)
    assert isinstance(ours.norm, nn.Identity)
    close(ours(x, *rest), part(part(x, *rest), *rest))
    assert len([*ours.parameters()]) == len([*part.parameters()])


@KINDS
def test_masks_are_optional_and_each_counts(kind):
    ours, (x, *rest) = stack(kind), inputs(kind)
    memory, masks = (rest[:-2], rest[-2:]) if len(rest) > 2 else ([], rest)
    every = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=DEVICE)
    names = ("may_attend", "memory_may_attend")
    named = dict(zip(names, masks, strict=False))
    whole, none = ours(x, *memory, **named), ours(x, *memory)
    close(none, ours(x, *memory, **dict.fromkeys(named, every)))
    for name in named:
        without = ours(x, *memory, **named | {name: None})
        close(without, ours(x, *memory, **named | {name: every}))
        assert (without - whole).abs().max() > 1e-3


@KINDS
def test_options_reach_every_part(kind):
    ours = kind(6, HEADS, D_FF, 0.25, True, "gelu", False)
    plain = kind(6, HEADS, D_FF)
    for made, rate, norm_first in ((ours, 0.25, True), (plain, 0.0, False)):
        for part in made.modules():
            if isinstance(part, MultiHeadAttention):
                assert (part.dropout, part.heads) == (rate, HEADS)
            if isinstance(part, Residual):
                assert part.norm_first == norm_first
            if isinstance(part, nn.Dropout):
                assert part.p == rate
    assert ours.feed_forward.activation is F.gelu
    assert plain.feed_forward.activation is F.relu
    names = [name for name, _ in plain.named_parameters()]
    assert [*ours.state_dict()] == [n for n in names if n.endswith("weight")]
    assert len(names) == 2 * len(ours.state_dict())


@KINDS
@ORDERS
@MODES
def test_nothing_leaks_from_later_positions(kind, norm_first, training):
    """Bit for bit, with the same dropout."""
    ours = stack(kind, norm_first=norm_first, dropout=0.25).train(training)
    x, *rest = inputs(kind)
    other = x.clone()
    other[:, 4:] = 100 * normal(2, 3, 6, seed=1)

    def run(x):
        torch.manual_seed(5)
        return ours(x, *rest)

    before, after = run(x), run(other)
    same(after[:, :4], before[:, :4])
    assert (after[:, 4] != before[:, 4]).any()


@KINDS
def test_empty_batches(kind):
    tensors = inputs(kind)[: 1 if kind is EncoderBlock else 2]
    out = stack(kind)(*(x[:0] for x in tensors))
    assert out.shape == (0, T_LEN, 6)


def building(kind):
    """What a block and a stack of this kind are not built with."""
    pile, other = STACKS[kind], ({*STACKS} - {kind}).pop()
    build = partial(kind, d_model=6, heads=HEADS, d_ff=D_FF)
    part, wide, name = build(), build(d_model=9), kind.__name__
    no_list = {"NoneType": None, name: part, "generator": (b for b in [part])}
    strangers = (other(6, HEADS, D_FF), nn.Identity(), None)
    no_block = {type(x).__name__: [part, x] for x in strangers}
    return [
        *no_size(build, "d_model", "heads", "d_ff"),
        *no_dropout(build),
        *no_switch(build, "norm_first", "bias"),
        *no_switch(partial(pile, [part]), "final_norm"),
        ("d_model", build, ValueError, "a multiple of heads=3", {"7": 7}),
        ("activation", build, ValueError, "one of relu", {"tanh": "tanh"}),
        ("blocks", pile, ValueError, "at least one", {"none": []}),
        ("blocks", pile, TypeError, f"a list of {name}", no_list),
        ("an item of blocks", pile, TypeError, name, no_block),
        ("blocks", pile, ValueError, "one width", {"[6, 9]": [wide, part]}),
    ]


X, MEMORY = torch.ones(2, T_LEN, 6), torch.ones(2, S_LEN, 6)
OTHER, NARROW = by_dtype(MEMORY.double()), by_shape(X[..., :5])
NUMBERS, TWO_AXES = by_dtype(torch.ones(1, 1, 1, 1)), by_shape(X[..., 0] > 0)
MISFIT = by_shape(torch.ones(2, 1, 1, 4) > 0)
encode = Encoder([EncoderBlock(6, HEADS, D_FF)])
decode = Decoder([DecoderBlock(6, HEADS, D_FF)])
remember, look_at = partial(decode, X), partial(decode, memory=MEMORY)
MASKED = {
    "(2, 3, 7, 7)": [partial(encode, X), partial(decode, X, MEMORY)],
    "(2, 3, 7, 5)": [lambda may_attend: decode(X, MEMORY, None, may_attend)],
}
test_bad_input_is_refused = refuses(
    *building(EncoderBlock),
    *building(DecoderBlock),
    *no_floating_tensor(encode, "x"),
    ("x", encode, ValueError, "of width 6", NARROW),
    (
        "query",
        lambda query: encode(query),
        ValueError,
        "3 axes",
        by_shape(X[0]),
    ),
    (
        "key",
        lambda key: encode(key),
        ValueError,
        "one key",
        by_shape(X[:, :0]),
    ),
    *no_floating_tensor(look_at, "x"),
    ("x", look_at, ValueError, "of width 6", NARROW),
    ("x", look_at, ValueError, "3 axes", by_shape(X[0])),
    *no_floating_tensor(remember, "memory"),
    ("memory", remember, TypeError, "the dtype of x", OTHER),
    ("memory", remember, ValueError, "one key", by_shape(MEMORY[:, :0])),
    ("memory", remember, ValueError, "the batch of x", by_shape(MEMORY[:1])),
    ("memory", remember, ValueError, "of width 6", NARROW),
    *(
        ("may_attend", call, error, expected, masks)
        for scores, calls in MASKED.items()
        for call in calls
        for error, expected, masks in (
            (TypeError, "True = may attend", NUMBERS),
            (ValueError, "four axes", TWO_AXES),
            (ValueError, scores, MISFIT),
        )
    ),
)
