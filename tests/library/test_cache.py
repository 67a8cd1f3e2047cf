"""lib.cache: remembered keys and values change nothing but the time."""

import pytest
import torch
from torch import nn

from lib.cache import IncrementalDecoder
from lib.decoding import greedy, write_tokens
from lib.heads import record_weights
from lib.layers import LayerNorm
from tests.library.draw import DEVICE, refused, same
from tests.library.untrained import KINDS, VOCAB, build, sources, step_logits

BAD = pytest.mark.bad_input


def begun(model, source):
    """A decoder that has read the sources."""
    mask = model.source_mask(source)
    return IncrementalDecoder(model, model.encode(source), mask)


def targets(length, batch=5, seed=1):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, VOCAB, (batch, length), generator=generator)
    return ids.to(DEVICE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(1,) * 9, (9,), (1, 3, 2, 3), (4, 5)])
def test_logits_are_the_same(kind, sizes):
    model, source = build(**kind), sources()
    target, steps = targets(sum(sizes)), []
    with torch.no_grad():
        whole = step_logits(model, source, target)
        decoder = begun(model, source)
        for part in target.split(sizes, dim=1):
            steps.append(decoder(part))
            assert steps[-1].shape[1] == part.shape[1]
    torch.testing.assert_close(
        torch.cat(steps, 1), whole, atol=1e-10, rtol=1e-10
    )
    assert decoder.length == target.shape[1]


@pytest.mark.parametrize("norm_first", [False, True])
def test_one_source_and_norms_that_differ(norm_first):
    """Untrained, all norms are alike, and one could stand for another."""
    model, source = build(norm_first=norm_first), sources(batch=1)
    target = targets(7, batch=1)
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, LayerNorm):
                module.weight.uniform_(0.5, 2.0)
                module.bias.uniform_(-1.0, 1.0)
        whole = step_logits(model, source, target)
        decoder = begun(model, source)
        parts = [decoder(part) for part in target.split((1, 2, 4), dim=1)]
    torch.testing.assert_close(
        torch.cat(parts, 1), whole, atol=1e-10, rtol=1e-10
    )


def test_no_gradient_is_kept():
    """The buffer is written in place, which autograd could not follow."""
    model, source = build(), sources()
    assert not begun(model, source)(targets(2)).requires_grad


@pytest.mark.parametrize("rows", [[3, 0], [2, 2, 1, 4, 0, 0], [4, 3, 2, 1, 0]])
def test_rows_go_on_in_another_order(rows):
    """Those of the past, of the memory and of its mask."""
    model, source, target = build(), sources(), targets(7)
    rows = torch.tensor(rows).to(DEVICE)
    with torch.no_grad():
        decoder = begun(model, source)
        decoder(target[:, :4])
        decoder.keep(rows)
        last = decoder(target[rows, 4:])
        whole = step_logits(model, source[rows], target[rows])
    torch.testing.assert_close(last, whole[:, 4:], atol=1e-10, rtol=1e-10)


def test_rows_can_be_kept_before_the_first_call():
    model, source, target = build(), sources(), targets(3, 2)
    rows = torch.tensor([3, 1]).to(DEVICE)
    with torch.no_grad():
        decoder = begun(model, source)
        decoder.keep(rows)
        whole = step_logits(model, source[rows], target)
        torch.testing.assert_close(decoder(target), whole)


def test_one_mask_for_all_rows():
    model, source, target = build(), 3 + 0 * sources(), targets(4)
    memory = model.encode(source)
    mask = torch.tensor([[[[True, True, False, True, True, True, False]]]])
    mask, rows = mask.to(DEVICE), torch.tensor([1, 0]).to(DEVICE)
    with torch.no_grad():
        decoder = IncrementalDecoder(model, memory, mask)
        decoder.keep(rows)
        whole = model.decode(target[:2], memory[rows], None, mask)
        torch.testing.assert_close(decoder(target[:2]), whole)


def test_a_block_that_runs_twice_has_two_pasts():
    model, source = build(), sources()
    model.decoder.blocks[1] = model.decoder.blocks[0]
    same(greedy(model, source, 9), greedy(model, source, 9, cached=False))


def test_weights_are_the_same():
    model, source = build(), sources()
    target = torch.tensor([[1, 5, 7, 4]] * 5).to(DEVICE)
    with torch.no_grad(), record_weights(model) as weights:
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
    model, source = build(), sources()
    decoder, room = begun(model, source), []
    with torch.no_grad():
        for part in targets(9).split(1, dim=1):
            decoder(part)
            room.append(decoder.layers[0][1].buffer.shape[3])
    assert room == [2, 2, 6, 6, 6, 6, 14, 14, 14]


def test_without_bias():
    model, source = build(), sources()
    for block in model.decoder.blocks:
        for attention in (block.self_attention, block.cross_attention):
            attention.in_proj = nn.Linear(16, 48, False).double().to(DEVICE)
    same(greedy(model, source, 9), greedy(model, source, 9, cached=False))


@BAD
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


@BAD
def test_refuses_other_rows_than_the_memory_has():
    model, source, target = build(), sources(), targets(1)
    decoder = begun(model, source)
    with refused(ValueError, "target", "5 rows", "1; a new batch"):
        decoder(target[:1])
    decoder(target)
    with refused(ValueError, "target", "5 rows", "1; a new batch"):
        decoder(target[:1])
    decoder.keep(torch.tensor([3]).to(DEVICE))
    decoder(target[:1])
    assert decoder.length == 2
