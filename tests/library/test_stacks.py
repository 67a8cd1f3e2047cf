"""lib.encoder and lib.decoder: what both promise beyond torch's numbers.

That blocks and stacks give torch's numbers and gradients under every mask:
test_interop. That nothing leaks from later positions: chapters 9 and 10.
"""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lib.decoder import Decoder, DecoderBlock
from lib.encoder import Encoder, EncoderBlock
from lib.heads import MultiHeadAttention
from lib.layers import Residual
from tests.library import no
from tests.library.draw import DEVICE, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses

STACKS = {EncoderBlock: Encoder, DecoderBlock: Decoder}
KINDS = pytest.mark.parametrize("kind", STACKS)


@KINDS
def test_a_stack_has_by_default_no_final_norm_and_may_repeat_a_block(kind):
    block = kind(6, 3, 11).to(DEVICE)
    x, memory = normal(2, 7, 6), [normal(2, 5, 6)] * (kind is DecoderBlock)
    twice = STACKS[kind]([block] * 2)
    same(twice(x, *memory), block(block(x, *memory), *memory))
    assert len([*twice.parameters()]) == len([*block.parameters()])


@KINDS
def test_options_reach_every_part(kind):
    plain, ours = kind(6, 3, 11), kind(6, 3, 11, 0.25, True, "gelu", False)
    for made, rate, norm_first in ((plain, 0.0, False), (ours, 0.25, True)):
        for part in made.modules():
            if isinstance(part, MultiHeadAttention):
                assert (part.dropout, part.heads) == (rate, 3)
            if isinstance(part, Residual):
                assert part.norm_first == norm_first
            if isinstance(part, nn.Dropout):
                assert part.p == rate
    assert plain.feed_forward.activation is F.relu
    assert ours.feed_forward.activation is F.gelu
    names = [*plain.state_dict()]
    assert [*ours.state_dict()] == [n for n in names if n.endswith("weight")]
    assert len(names) == 2 * len(ours.state_dict())


def building(kind):
    """What a block and a stack of this kind are not built with."""
    pile, other = STACKS[kind], ({*STACKS} - {kind}).pop()
    build = partial(kind, d_model=6, heads=3, d_ff=11)
    part, wide, name = build(), build(d_model=9), kind.__name__
    no_list = {"NoneType": None, name: part, "generator": (b for b in [part])}
    strangers = (other(6, 3, 11), nn.Identity(), None)
    no_block = {type(x).__name__: [part, x] for x in strangers}
    return [
        *no.switch(partial(pile, [part]), "final_norm"),
        ("blocks", pile, ValueError, "at least one", {"none": []}),
        ("blocks", pile, TypeError, f"a list of {name}", no_list),
        ("an item of blocks", pile, TypeError, name, no_block),
        ("blocks", pile, ValueError, "one width", {"[6, 9]": [wide, part]}),
    ]


X, MEMORY = torch.ones(2, 7, 6), torch.ones(2, 5, 6)
NARROW, NONE = by_shape(X[..., :5]), by_shape(MEMORY[:, :0])
decode = Decoder([DecoderBlock(6, 3, 11)])
look_at, remember = partial(decode, memory=MEMORY), partial(decode, X)


test_bad_input_is_refused = refuses(
    *building(EncoderBlock),
    *building(DecoderBlock),
    *no.floating_tensor(look_at, "x"),
    *no.floating_tensor(remember, "memory"),
    ("x", look_at, ValueError, "of width 6", NARROW),
    ("x", look_at, ValueError, "3 axes", by_shape(X[0])),
    ("memory", remember, TypeError, "dtype of x", by_dtype(MEMORY.double())),
    ("memory", remember, ValueError, "one key", NONE),
    ("memory", remember, ValueError, "the batch of x", by_shape(MEMORY[:1])),
    ("memory", remember, ValueError, "of width 6", NARROW),
)
