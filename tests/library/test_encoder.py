"""lib.encoder: what is promised beyond equality with torch (test_interop)."""

import copy
import pickle

import pytest
import torch
from torch import nn

from lib.decoder import DecoderBlock
from lib.encoder import Encoder, EncoderBlock
from lib.heads import record_weights
from lib.layers import LayerNorm
from lib.masks import causal_mask, padding_mask
from tests.library.draw import DEVICE, close, normal, refused, same

D_MODEL, HEADS, D_FF, LENGTH = 6, 3, 11, 7
ORDERS = pytest.mark.parametrize("norm_first", [False, True])
FINAL = pytest.mark.parametrize("final", [False, True])


def scattered(module, dtype=torch.float64):
    """Every parameter has numbers of its own."""
    for seed, parameter in enumerate(module.parameters()):
        parameter.data = normal(*parameter.shape, seed=seed, scale=0.5)
    return module.to(DEVICE, dtype)


def block(**options):
    return scattered(EncoderBlock(D_MODEL, HEADS, D_FF, **options))


def encoder(layers=3, final=False, **options):
    blocks = [
        EncoderBlock(D_MODEL, HEADS, D_FF, **options) for _ in range(layers)
    ]
    return scattered(Encoder(blocks, final))


def vectors(batch=2, length=LENGTH, **options):
    return normal(batch, length, D_MODEL, dtype=torch.float64, **options)


def mask():
    return padding_mask(torch.tensor([3, LENGTH], device=DEVICE), LENGTH)


def test_a_post_norm_block_by_hand():
    ours, x, may = block(), vectors(), mask()
    attended = ours.attention(x, x, x, may)
    x = ours.around_attention.norm(x + attended)
    wanted = ours.around_feed_forward.norm(x + ours.feed_forward(x))
    close(ours(vectors(), may), wanted)


def test_a_pre_norm_block_by_hand():
    ours, x, may = block(norm_first=True), vectors(), mask()
    normed = ours.around_attention.norm(x)
    x = x + ours.attention(normed, normed, normed, may)
    wanted = x + ours.feed_forward(ours.around_feed_forward.norm(x))
    close(ours(vectors(), may), wanted)


def test_the_mask_is_optional_and_counts():
    ours, x = block(), vectors()
    everything = torch.ones(1, 1, 1, LENGTH, dtype=torch.bool, device=DEVICE)
    close(ours(x), ours(x, everything))
    assert (ours(x)[0] - ours(x, mask())[0]).abs().max() > 1e-3


def test_options_reach_every_part():
    ours = block(dropout=0.25, norm_first=True, activation="gelu")
    rates = [m.p for m in ours.modules() if isinstance(m, nn.Dropout)]
    assert rates == [0.25] * 3 and ours.attention.dropout == 0.25
    assert ours.attention.heads == HEADS
    arounds = (ours.around_attention, ours.around_feed_forward)
    assert [around.norm_first for around in arounds] == [True, True]
    assert ours.feed_forward.activation is torch.nn.functional.gelu
    plain = block()
    assert {m.p for m in plain.modules() if isinstance(m, nn.Dropout)} == {0}
    assert plain.attention.dropout == 0


def test_without_bias_there_is_none_anywhere():
    bare = EncoderBlock(6, HEADS, 11, bias=False)
    names = {name.split(".")[-1] for name, _ in bare.named_parameters()}
    assert names == {"weight"}


@pytest.mark.bad_input
def test_refuses_a_bias_that_is_no_boolean():
    with refused(TypeError, "bias", "True or False", "int"):
        EncoderBlock(6, HEADS, 11, bias=1)


def test_parameters_of_a_block():
    shapes = {n: tuple(p.shape) for n, p in block().named_parameters()}
    assert shapes == {
        "attention.in_proj.weight": (18, 6),
        "attention.in_proj.bias": (18,),
        "attention.out_proj.weight": (6, 6),
        "attention.out_proj.bias": (6,),
        "feed_forward.widen.weight": (11, 6),
        "feed_forward.widen.bias": (11,),
        "feed_forward.narrow.weight": (6, 11),
        "feed_forward.narrow.bias": (6,),
        "around_attention.norm.weight": (6,),
        "around_attention.norm.bias": (6,),
        "around_feed_forward.norm.weight": (6,),
        "around_feed_forward.norm.bias": (6,),
    }


@ORDERS
@FINAL
def test_an_encoder_is_its_blocks_in_turn(norm_first, final):
    ours, x = encoder(final=final, norm_first=norm_first), vectors()
    for part in ours.blocks:
        x = part(x, mask())
    close(ours(vectors(), mask()), ours.norm(x) if final else x)
    assert isinstance(ours.norm, LayerNorm if final else nn.Identity)


def test_no_final_norm_is_the_default():
    assert isinstance(Encoder([block()]).norm, nn.Identity)


def test_a_block_that_is_given_twice_has_its_weights_once():
    part = block()
    ours = Encoder([part] * 2)
    close(ours(vectors(), mask()), part(part(vectors(), mask()), mask()))
    assert len(list(ours.parameters())) == len(list(part.parameters()))


@ORDERS
@FINAL
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("t", [1, 4, 6])
def test_nothing_leaks_from_later_positions(norm_first, final, training, t):
    """With a causal mask; bit for bit, with the same dropout."""
    ours = encoder(final=final, norm_first=norm_first, dropout=0.25)
    ours.train(training)
    other = vectors()
    other[:, t:] = 100 * vectors(seed=1)[:, t:]

    def run(x):
        torch.manual_seed(5)
        return ours(x, causal_mask(LENGTH, DEVICE))

    before, after = run(vectors()), run(other)
    same(after[:, :t], before[:, :t])
    assert (after[:, t] != before[:, t]).any()


@ORDERS
@pytest.mark.parametrize("length", [1, 2, 5])
def test_padding_changes_no_real_position(norm_first, length):
    ours = encoder(final=True, norm_first=norm_first).eval()
    alone = vectors(1, length)
    for batch, longest in ((1, 7), (3, 5), (5, 11)):
        x = vectors(batch, longest, seed=1, scale=100)
        x[-1, :length] = alone[0]
        lengths = torch.full((batch,), longest, device=DEVICE)
        lengths[-1] = length
        out = ours(x, padding_mask(lengths, longest))[-1, :length]
        assert (out - ours(alone)[0]).abs().max() < 1e-12


@ORDERS
def test_the_order_of_the_positions_does_not_matter(norm_first):
    ours, order = encoder(norm_first=norm_first), torch.randperm(LENGTH)
    close(ours(vectors()[:, order]), ours(vectors())[:, order], steps=64)


@ORDERS
def test_gradient(norm_first):
    ours = encoder(1, final=True, norm_first=norm_first, activation="gelu")
    x = vectors(1, 3).requires_grad_()
    may = causal_mask(3, DEVICE)
    assert torch.autograd.gradcheck(lambda x: ours(x, may), x)


def test_record_weights_of_every_block():
    ours, x = encoder(), vectors()
    with record_weights(ours) as weights:
        close(ours(x, mask()), encoder()(x, mask()), steps=64)
    names = [f"blocks.{i}.attention" for i in range(3)]
    assert list(weights) == names
    _, first = ours.blocks[0].attention(
        x, may_attend=mask(), need_weights=True
    )
    same(weights["blocks.0.attention"], first)
    assert (weights["blocks.1.attention"][0, ..., 3:] == 0).all()


@ORDERS
def test_copies_give_the_same_numbers(norm_first):
    ours, x = encoder(final=True, norm_first=norm_first), vectors()
    fresh = Encoder(
        [
            EncoderBlock(D_MODEL, HEADS, D_FF, norm_first=norm_first)
            for _ in range(3)
        ],
        True,
    ).to(x)
    fresh.load_state_dict(ours.state_dict())
    twins = copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), fresh
    for twin in twins:
        same(twin(x, mask()), ours(x, mask()))


def test_empty_batches():
    assert encoder()(vectors()[:0]).shape == (0, LENGTH, D_MODEL)


@pytest.mark.bad_input
def test_a_block_refuses_options_that_are_none():
    for value, got in ((None, "NoneType"), (2.0, "float"), (True, "bool")):
        with refused(TypeError, "d_model", "an integer", got):
            EncoderBlock(value, HEADS, D_FF)
        with refused(TypeError, "heads", "an integer", got):
            EncoderBlock(D_MODEL, value, D_FF)
        with refused(TypeError, "d_ff", "an integer", got):
            EncoderBlock(D_MODEL, HEADS, value)
    with refused(ValueError, "d_model", "a multiple of heads=4", "6"):
        EncoderBlock(6, 4, D_FF)
    with refused(ValueError, "dropout", "0 <= dropout < 1", "1.0"):
        EncoderBlock(D_MODEL, HEADS, D_FF, 1.0)
    with refused(ValueError, "activation", "relu, gelu", "tanh"):
        EncoderBlock(D_MODEL, HEADS, D_FF, activation="tanh")
    with refused(TypeError, "norm_first", "True or False", "str"):
        EncoderBlock(D_MODEL, HEADS, D_FF, 0.1, "gelu")  # torch's order


@pytest.mark.bad_input
def test_an_encoder_refuses_blocks_that_are_none():
    with refused(ValueError, "blocks", "at least one", "none"):
        Encoder([])
    each = (block() for _ in range(2))
    for blocks in (None, block(), each):
        got = type(blocks).__name__
        with refused(TypeError, "blocks", "a list of EncoderBlock", got):
            Encoder(blocks)
    for wrong in (DecoderBlock(6, 3, 11), nn.Identity(), None):
        got = type(wrong).__name__
        with refused(TypeError, "an item of blocks", "EncoderBlock", got):
            Encoder([block(), wrong])
    with refused(ValueError, "blocks", "one width", "[6, 9]"):
        Encoder([EncoderBlock(9, 3, 11), block()])
    with refused(TypeError, "final_norm", "True or False", "LayerNorm"):
        Encoder([block()], nn.LayerNorm(6))  # torch's third


@pytest.mark.bad_input
@ORDERS
def test_refuses_inputs_that_are_none(norm_first):
    ours, x = encoder(norm_first=norm_first).cpu(), vectors().cpu()
    for part in (ours, ours.blocks[0]):
        with refused(TypeError, "x", "a tensor", "list"):
            part([[1.0] * 6])
        with refused(TypeError, "x", "a floating-point tensor", "int64"):
            part(x.long())
        for shape in ((2, 7, 5), (7, 1)):
            with refused(ValueError, "x", "of width 6", f"{shape}"):
                part(torch.ones(shape, dtype=x.dtype))
        with refused(ValueError, "query", "3 axes", "(7, 6)"):
            part(x[0])
        with refused(ValueError, "key", "at least one key", "none"):
            part(x[:, :0])
        with refused(TypeError, "may_attend", "True = may attend", "float"):
            part(x, torch.ones(1, 1, 7, 7))
        with refused(ValueError, "may_attend", "four axes", "(2, 7)"):
            part(x, torch.ones(2, 7).bool())
        with refused(ValueError, "may_attend", "(2, 3, 7, 7)", "1, 1, 5)"):
            part(x, torch.ones(2, 1, 1, 5).bool())


@pytest.mark.compiled
def test_compiled_it_gives_the_same_numbers():
    torch.compiler.reset()
    ours = encoder(2, final=True)
    compiled = torch.compile(ours, backend="aot_eager", fullgraph=True)
    close(compiled(vectors(), mask()), ours(vectors(), mask()), steps=64)
