"""lib.cache: remembered keys and values change nothing but the time."""

import pytest
import torch
from torch import nn

from lib.cache import IncrementalDecoder
from lib.decoders import WholeDecoder
from lib.decoding import greedy, write_tokens
from lib.heads import record_weights
from lib.layers import LayerNorm
from tests.library.draw import DEVICE, refused, same
from tests.library.untrained import KINDS, VOCAB, build, sources, step_logits

DECODERS = pytest.mark.parametrize("kind", [IncrementalDecoder, WholeDecoder])


def begun(model, source, kind=IncrementalDecoder):
    """A decoder that has read the sources."""
    return kind(model, model.encode(source), model.source_mask(source))


def targets(length, batch=5, seed=1):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, VOCAB, (batch, length), generator=generator)
    return ids.to(DEVICE)


def near(actual, expected):
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


def unlike(**options):
    """Untrained, all norms are alike, and one could stand for another."""
    model = build(**options)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, LayerNorm):
                module.weight.uniform_(0.5, 2.0)
                module.bias.uniform_(-1.0, 1.0)
    return model


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("sizes", [(1,) * 9, (9,), (1, 3, 2, 3), (4, 5)])
@pytest.mark.parametrize("batch", [5, 1])
@torch.no_grad()
def test_logits_are_the_same(options, sizes, batch):
    model, source = unlike(**options), sources(batch)
    target, steps = targets(sum(sizes), batch), []
    decoder = begun(model, source)
    for part in target.split(sizes, dim=1):
        steps.append(decoder(part))
        assert steps[-1].shape[1] == part.shape[1]
    near(torch.cat(steps, 1), step_logits(model, source, target))
    assert decoder.length == target.shape[1]


def test_no_gradient_is_kept():
    """The buffer is written in place, which autograd could not follow."""
    assert not begun(build(), sources())(targets(2)).requires_grad


@DECODERS
@pytest.mark.parametrize("before", [0, 4])
@pytest.mark.parametrize("one_mask", [False, True])
@pytest.mark.parametrize("rows", [[1, 0], [3, 0], [2, 2, 1, 4, 0, 0]])
@torch.no_grad()
def test_rows_go_on_in_another_order(kind, before, one_mask, rows):
    """Those of the past, of the memory and of its mask."""
    batch = 1 + max(rows)
    model, source, target = build(), sources(batch), targets(7, batch)
    memory, mask = model.encode(source), model.source_mask(source)
    mask = mask[1:2] if one_mask else mask
    rows = torch.tensor(rows).to(DEVICE)
    decoder = kind(model, memory, mask)
    if before:
        decoder(target[:, :before])
    decoder.keep(rows)
    last = [decoder(t) for t in target[rows, before:].split(2, dim=1)]
    mask = mask if one_mask else mask[rows]
    whole = model.decode(target[rows], memory[rows], None, mask)
    near(torch.cat(last, 1), whole[:, before:])


def without_bias(decoder):
    for block in decoder.blocks:
        for attention in (block.self_attention, block.cross_attention):
            attention.in_proj = nn.Linear(16, 48, False).double().to(DEVICE)


def one_block_twice(decoder):
    decoder.blocks[1] = decoder.blocks[0]


@pytest.mark.parametrize("change", [without_bias, one_block_twice])
def test_greedy_is_the_same(change):
    model, source = build(), sources()
    change(model.decoder)
    same(greedy(model, source, 9), greedy(model, source, 9, cached=False))


@torch.no_grad()
def test_weights_are_recorded():
    model, source, target = build(), sources(), targets(4)
    with record_weights(model) as weights:
        step_logits(model, source, target)
        whole = {name: w[:, :, -1:] for name, w in weights.items()}
        decoder = begun(model, source)
        decoder(target[:, :3])
        decoder(target[:, 3:])
    for name in weights:
        if name.startswith("decoder"):
            torch.testing.assert_close(weights[name], whole[name])


def test_the_memory_is_projected_once():
    model, source = build(), sources()
    calls = []
    for block in model.decoder.blocks:
        project = block.cross_attention.project
        block.cross_attention.project = lambda *x, project=project: (
            calls.append(x) or project(*x)
        )
    write_tokens(model, source, lambda x: x[:, 0].long() * 0 + 5, 9)
    assert len(calls) == 2


def test_the_past_is_seldom_copied():
    """A buffer that is full is followed by one of twice the length."""
    decoder, room = begun(build(), sources()), []
    for part in targets(9).split(1, dim=1):
        decoder(part)
        room.append(decoder.layers[0][1].buffer.shape[3])
    assert room == [2, 2, 6, 6, 6, 6, 14, 14, 14]


@pytest.mark.bad_input
def test_refuses():
    model, source = build(), sources()
    memory, target = model.encode(source), targets(1)
    with refused(TypeError, "model", "a Transformer", "Linear"):
        IncrementalDecoder(nn.Linear(1, 1), memory)
    with refused(TypeError, "query", "a tensor", "list"):
        IncrementalDecoder(model, [1.0])
    with refused(ValueError, "query", "width 16", "(5, 7, 15)"):
        IncrementalDecoder(model, memory[..., :15])
    decoder = IncrementalDecoder(model, memory)
    with refused(ValueError, "target", "no PAD (id 0)", "5"):
        decoder(torch.cat([target, 0 * target], dim=1))
    with refused(TypeError, "target", "integer tensor", "float64"):
        decoder(target.double())
    with refused(ValueError, "target", "ids from 0 to 10", "11"):
        decoder(0 * target + 11)
    assert decoder.length == 0
    for _ in range(40):
        decoder(target)
    with refused(ValueError, "x", "at most 40 positions", "41"):
        decoder(target)
    assert decoder.length == 40


@pytest.mark.bad_input
def test_refuses_other_rows_than_the_memory_has():
    decoder, target = begun(build(), sources()), targets(1)
    for _ in range(2):
        with refused(ValueError, "target", "5 rows", "1; a new batch"):
            decoder(target[:1])
        decoder(target)
    decoder.keep(torch.tensor([3]).to(DEVICE))
    decoder(target[:1])
    assert decoder.length == 3
