"""lib.decoder: what is promised beyond equality with torch (test_interop)."""

import copy
import pickle

import pytest
import torch
from torch import nn

from lib.decoder import Decoder, DecoderBlock
from lib.encoder import EncoderBlock
from lib.heads import record_weights
from lib.layers import LayerNorm
from lib.masks import causal_mask, padding_mask
from tests.library.draw import DEVICE, close, normal, refused, same

D_MODEL, HEADS, D_FF, T_LEN, S_LEN = 6, 3, 11, 7, 5
ORDERS = pytest.mark.parametrize("norm_first", [False, True])
FINAL = pytest.mark.parametrize("final", [False, True])


def scattered(module, dtype=torch.float64):
    """Every parameter has numbers of its own."""
    for seed, parameter in enumerate(module.parameters()):
        parameter.data = normal(*parameter.shape, seed=seed, scale=0.5)
    return module.to(DEVICE, dtype)


def block(**options):
    return scattered(DecoderBlock(D_MODEL, HEADS, D_FF, **options))


def decoder(layers=3, final=False, **options):
    blocks = [
        DecoderBlock(D_MODEL, HEADS, D_FF, **options) for _ in range(layers)
    ]
    return scattered(Decoder(blocks, final))


def vectors(batch=2, length=T_LEN, **options):
    return normal(batch, length, D_MODEL, dtype=torch.float64, **options)


def memory(batch=2, length=S_LEN, **options):
    return vectors(batch, length, **{"seed": 3} | options)


def masks():
    """Causal for the target, padding for the memory."""
    lengths = torch.tensor([2, S_LEN], device=DEVICE)
    return causal_mask(T_LEN, DEVICE), padding_mask(lengths, S_LEN)


def inputs():
    return (vectors(), memory(), *masks())


def test_a_post_norm_block_by_hand():
    ours = block()
    x, seen, causal, padding = inputs()
    own, across = ours.self_attention, ours.cross_attention
    x = ours.around_self_attention.norm(x + own(x, x, x, causal))
    x = ours.around_cross_attention.norm(x + across(x, seen, seen, padding))
    wanted = ours.around_feed_forward.norm(x + ours.feed_forward(x))
    close(ours(*inputs()), wanted)


def test_a_pre_norm_block_by_hand():
    """The memory is not normalised."""
    ours = block(norm_first=True)
    x, seen, causal, padding = inputs()
    normed = ours.around_self_attention.norm(x)
    x = x + ours.self_attention(normed, normed, normed, causal)
    normed = ours.around_cross_attention.norm(x)
    x = x + ours.cross_attention(normed, seen, seen, padding)
    wanted = x + ours.feed_forward(ours.around_feed_forward.norm(x))
    close(ours(*inputs()), wanted)


def test_both_masks_are_optional_and_count():
    ours, (x, seen, causal, padding) = block(), inputs()
    every = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=DEVICE)
    results = [
        ours(x, seen),
        ours(x, seen, causal),
        ours(x, seen, None, padding),
        ours(x, seen, causal, padding),
    ]
    whole = [
        ours(x, seen, every, every),
        ours(x, seen, causal, every),
        ours(x, seen, every, padding),
        ours(x, seen, memory_may_attend=padding, may_attend=causal),
    ]
    for i, (result, wanted) in enumerate(zip(results, whole, strict=True)):
        close(result, wanted)
        for other in results[:i]:
            assert (result[0] - other[0]).abs().max() > 1e-3


def test_options_reach_every_part():
    ours = block(dropout=0.25, norm_first=True, activation="gelu")
    rates = [m.p for m in ours.modules() if isinstance(m, nn.Dropout)]
    assert rates == [0.25] * 4
    attentions = (ours.self_attention, ours.cross_attention)
    assert [(a.dropout, a.heads) for a in attentions] == [(0.25, HEADS)] * 2
    arounds = (
        ours.around_self_attention,
        ours.around_cross_attention,
        ours.around_feed_forward,
    )
    assert [around.norm_first for around in arounds] == [True] * 3
    assert ours.feed_forward.activation is torch.nn.functional.gelu
    plain = block()
    assert {m.p for m in plain.modules() if isinstance(m, nn.Dropout)} == {0}
    assert plain.self_attention.dropout == plain.cross_attention.dropout == 0


def test_without_bias_there_is_none_anywhere():
    bare = DecoderBlock(6, HEADS, 11, bias=False)
    names = {name.split(".")[-1] for name, _ in bare.named_parameters()}
    assert names == {"weight"}


@pytest.mark.bad_input
def test_refuses_a_bias_that_is_no_boolean():
    with refused(TypeError, "bias", "True or False", "int"):
        DecoderBlock(6, HEADS, 11, bias=1)


def test_parameters_of_a_block():
    shapes = {n: tuple(p.shape) for n, p in block().named_parameters()}
    attention = {
        "in_proj.weight": (18, 6),
        "in_proj.bias": (18,),
        "out_proj.weight": (6, 6),
        "out_proj.bias": (6,),
    }
    expected = {
        f"{part}_attention.{name}": shape
        for part in ("self", "cross")
        for name, shape in attention.items()
    }
    expected |= {
        "feed_forward.widen.weight": (11, 6),
        "feed_forward.widen.bias": (11,),
        "feed_forward.narrow.weight": (6, 11),
        "feed_forward.narrow.bias": (6,),
    }
    for part in ("self_attention", "cross_attention", "feed_forward"):
        expected |= {
            f"around_{part}.norm.weight": (6,),
            f"around_{part}.norm.bias": (6,),
        }
    assert shapes == expected


@ORDERS
@FINAL
def test_a_decoder_is_its_blocks_in_turn(norm_first, final):
    """All look at the same memory."""
    ours = decoder(final=final, norm_first=norm_first)
    x, seen, *both = inputs()
    for part in ours.blocks:
        x = part(x, seen, *both)
    close(ours(*inputs()), ours.norm(x) if final else x)
    assert isinstance(ours.norm, LayerNorm if final else nn.Identity)


def test_no_final_norm_is_the_default():
    assert isinstance(Decoder([block()]).norm, nn.Identity)


def test_a_block_that_is_given_twice_has_its_weights_once():
    part = block()
    ours = Decoder([part] * 2)
    x, *rest = inputs()
    close(ours(x, *rest), part(part(x, *rest), *rest))
    assert len(list(ours.parameters())) == len(list(part.parameters()))


@ORDERS
@FINAL
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("t", [1, 4, 6])
def test_nothing_leaks_from_later_positions(norm_first, final, training, t):
    """Bit for bit, with the same dropout."""
    ours = decoder(final=final, norm_first=norm_first, dropout=0.25)
    ours.train(training)
    other = vectors()
    other[:, t:] = 100 * vectors(seed=1)[:, t:]

    def run(x):
        torch.manual_seed(5)
        return ours(x, memory(), *masks())

    before, after = run(vectors()), run(other)
    same(after[:, :t], before[:, :t])
    assert (after[:, t] != before[:, t]).any()


@ORDERS
@pytest.mark.parametrize("training", [False, True])
def test_masked_memory_changes_nothing(norm_first, training):
    ours = decoder(norm_first=norm_first, dropout=0.25).train(training)
    other = memory()
    other[0, 2:] = 1e6

    def run(seen):
        torch.manual_seed(5)
        return ours(vectors(), seen, *masks())

    same(run(other), run(memory()))
    other[1, 4] = 1e6
    assert (run(other)[1] != run(memory())[1]).any()


@ORDERS
@pytest.mark.parametrize("length", [1, 2, 5])
def test_padding_changes_no_real_position(norm_first, length):
    ours = decoder(final=True, norm_first=norm_first)
    seen = memory(1, 3)
    alone = vectors(1, length)
    wanted = ours(alone, seen, causal_mask(length, DEVICE))[0]
    for batch, t_len, s_len in ((1, 7, 3), (3, 5, 7), (5, 11, 5)):
        x = vectors(batch, t_len, seed=1, scale=100)
        padded = memory(batch, s_len, seed=2, scale=100)
        x[-1, :length], padded[-1, :3] = alone[0], seen[0]
        lengths = torch.full((2, batch), 2, device=DEVICE)
        lengths[:, -1] = torch.tensor([length, 3])
        may = padding_mask(lengths[0], t_len) & causal_mask(t_len, DEVICE)
        out = ours(x, padded, may, padding_mask(lengths[1], s_len))
        assert (out[-1, :length] - wanted).abs().max() < 1e-12


@ORDERS
def test_gradient(norm_first):
    ours = decoder(1, final=True, norm_first=norm_first, activation="gelu")
    x, seen = vectors(1, 3).requires_grad_(), memory(1, 2).requires_grad_()
    may = causal_mask(3, DEVICE)
    assert torch.autograd.gradcheck(
        lambda x, seen: ours(x, seen, may), (x, seen)
    )


def test_record_weights_of_every_block():
    ours = decoder()
    x, seen, causal, padding = inputs()
    with record_weights(ours) as weights:
        close(ours(*inputs()), decoder()(*inputs()), steps=64)
    assert list(weights) == [
        f"blocks.{i}.{part}_attention"
        for i in range(3)
        for part in ("self", "cross")
    ]
    own, across = (
        [weights[f"blocks.{i}.{part}_attention"] for i in range(3)]
        for part in ("self", "cross")
    )
    _, first = ours.blocks[0].self_attention(
        x, may_attend=causal, need_weights=True
    )
    same(own[0], first)
    for looked_back, looked_across in zip(own, across, strict=True):
        assert looked_across.shape == (2, HEADS, T_LEN, S_LEN)
        same(looked_back, looked_back.tril())
        assert (looked_across[0, ..., 2:] == 0).all()


@ORDERS
def test_copies_give_the_same_numbers(norm_first):
    ours = decoder(final=True, norm_first=norm_first)
    fresh = Decoder(
        [
            DecoderBlock(D_MODEL, HEADS, D_FF, norm_first=norm_first)
            for _ in range(3)
        ],
        True,
    ).to(vectors())
    fresh.load_state_dict(ours.state_dict())
    twins = copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), fresh
    for twin in twins:
        same(twin(*inputs()), ours(*inputs()))


def test_empty_batches():
    out = decoder()(vectors()[:0], memory()[:0])
    assert out.shape == (0, T_LEN, D_MODEL)


@pytest.mark.bad_input
def test_a_block_refuses_options_that_are_none():
    for value, got in ((None, "NoneType"), (2.0, "float"), (True, "bool")):
        with refused(TypeError, "d_model", "an integer", got):
            DecoderBlock(value, HEADS, D_FF)
        with refused(TypeError, "heads", "an integer", got):
            DecoderBlock(D_MODEL, value, D_FF)
        with refused(TypeError, "d_ff", "an integer", got):
            DecoderBlock(D_MODEL, HEADS, value)
    with refused(ValueError, "d_model", "a multiple of heads=4", "6"):
        DecoderBlock(6, 4, D_FF)
    with refused(ValueError, "dropout", "0 <= dropout < 1", "1.0"):
        DecoderBlock(D_MODEL, HEADS, D_FF, 1.0)
    with refused(ValueError, "activation", "relu, gelu", "tanh"):
        DecoderBlock(D_MODEL, HEADS, D_FF, activation="tanh")
    with refused(TypeError, "norm_first", "True or False", "str"):
        DecoderBlock(D_MODEL, HEADS, D_FF, 0.1, "gelu")  # torch's order


@pytest.mark.bad_input
def test_a_decoder_refuses_blocks_that_are_none():
    with refused(ValueError, "blocks", "at least one", "none"):
        Decoder([])
    each = (block() for _ in range(2))
    for blocks in (None, block(), each):
        got = type(blocks).__name__
        with refused(TypeError, "blocks", "a list of DecoderBlock", got):
            Decoder(blocks)
    for wrong in (EncoderBlock(6, 3, 11), nn.Identity(), None):
        got = type(wrong).__name__
        with refused(TypeError, "an item of blocks", "DecoderBlock", got):
            Decoder([block(), wrong])
    with refused(ValueError, "blocks", "one width", "[6, 9]"):
        Decoder([DecoderBlock(9, 3, 11), block()])
    with refused(TypeError, "final_norm", "True or False", "LayerNorm"):
        Decoder([block()], nn.LayerNorm(6))  # torch's third


@pytest.mark.bad_input
@ORDERS
def test_refuses_inputs_that_are_none(norm_first):
    ours = decoder(norm_first=norm_first).cpu()
    x, seen = vectors().cpu(), memory().cpu()
    for part in (ours, ours.blocks[0]):
        with refused(TypeError, "x", "a tensor", "list"):
            part([[1.0] * 6], seen)
        with refused(TypeError, "x", "a floating-point tensor", "int64"):
            part(x.long(), seen)
        with refused(ValueError, "x", "of width 6", "(2, 7, 5)"):
            part(x[..., :5], seen)
        with refused(ValueError, "x", "3 axes", "(7, 6)"):
            part(x[0], seen)
        with refused(ValueError, "memory", "at least one", "(2, 0, 6)"):
            part(x, seen[:, :0])
        with refused(TypeError, "memory", "torch.float64", "torch.float32"):
            part(x, seen.float())
        with refused(ValueError, "memory", "the batch of x, 2", "(1, 5, 6)"):
            part(x, seen[:1])
        with refused(ValueError, "memory", "of width 6", "(2, 5, 3)"):
            part(x, seen[..., :3])
        with refused(TypeError, "may_attend", "True = may attend", "float"):
            part(x, seen, torch.ones(1, 1, 7, 7))
        with refused(ValueError, "may_attend", "(2, 3, 7, 7)", "(7, 1, 7, 7"):
            part(x, seen, torch.ones(7, 1, 7, 7).bool())
        with refused(ValueError, "may_attend", "four axes", "(2, 5)"):
            part(x, seen, None, torch.ones(2, 5).bool())
        with refused(ValueError, "may_attend", "(2, 3, 7, 5)", "1, 1, 7)"):
            part(x, seen, None, torch.ones(2, 1, 1, 7).bool())


@pytest.mark.compiled
def test_compiled_it_gives_the_same_numbers():
    torch.compiler.reset()
    ours = decoder(2, final=True)
    compiled = torch.compile(ours, backend="aot_eager", fullgraph=True)
    close(compiled(*inputs()), ours(*inputs()), steps=64)
