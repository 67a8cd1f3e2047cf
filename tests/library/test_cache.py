"""lib.cache: remembered keys and values change nothing but the time."""

import pytest
import torch
from torch import nn

from lib.cache import Cache
from lib.decoding import greedy, write_tokens
from lib.heads import record_weights
from tests.library.draw import DEVICE, refused, same
from tests.library.untrained import KINDS, VOCAB, build, sources, step_logits

BAD = pytest.mark.bad_input


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(1,) * 9, (9,), (1, 3, 2, 3), (4, 5)])
def test_logits_are_the_same(kind, sizes):
    model, source = build(**kind), sources()
    generator = torch.Generator().manual_seed(1)
    target = torch.randint(3, VOCAB, (5, sum(sizes)), generator=generator)
    target = target.to(DEVICE)
    cache, steps = Cache(model.config.decoder_layers), []
    with torch.no_grad():
        whole = step_logits(model, source, target)
        memory, mask = model.encode(source), model.source_mask(source)
        for part in target.split(sizes, dim=1):
            steps.append(model.decode(part, memory, None, mask, cache=cache))
            assert steps[-1].shape[1] == part.shape[1]
    torch.testing.assert_close(
        torch.cat(steps, 1), whole, atol=1e-10, rtol=1e-10
    )
    assert cache.length == target.shape[1]


def test_a_block_that_runs_twice_has_two_caches():
    model, source = build(), sources()
    model.decoder.blocks[1] = model.decoder.blocks[0]
    same(greedy(model, source, 9), greedy(model, source, 9, cached=False))


def test_weights_are_the_same():
    model, source = build(), sources()
    target = torch.tensor([[1, 5, 7, 4]] * 5).to(DEVICE)
    memory, mask = model.encode(source), model.source_mask(source)
    cache = Cache(2)
    with torch.no_grad(), record_weights(model) as weights:
        model.decode(target, memory, None, mask)
        whole = {name: w[:, :, -1:] for name, w in weights.items()}
        model.decode(target[:, :3], memory, None, mask, cache)
        model.decode(target[:, 3:], memory, None, mask, cache)
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


def test_without_bias():
    model, source = build(), sources()
    for block in model.decoder.blocks:
        for attention in (block.self_attention, block.cross_attention):
            attention.in_proj = nn.Linear(16, 48, False).double().to(DEVICE)
    same(greedy(model, source, 9), greedy(model, source, 9, cached=False))


@BAD
def test_refuses():
    model, source = build(), sources()
    memory, target = model.encode(source), torch.tensor([[1, 0]] * 5)
    with refused(ValueError, "target", "no PAD (id 0)", "5"):
        model.decode(target.to(DEVICE), memory, cache=Cache(2))
    with refused(ValueError, "layers", "at least 1", "0"):
        Cache(0)
    first = target[:, :1].to(DEVICE)
    with refused(ValueError, "cache", "one of 2 layers", "3"):
        model.decode(first, memory, cache=Cache(3))
    with refused(TypeError, "cache", "a lib.cache.Cache", "str"):
        model.decoder(memory, memory, cache="yes")
    cache = Cache(2)
    for _ in range(40):
        model.decode(target[:, :1].to(DEVICE), memory, cache=cache)
    with refused(ValueError, "x", "at most 40 positions", "41"):
        model.decode(target[:, :1].to(DEVICE), memory, cache=cache)


@BAD
def test_refuses_other_rows_than_it_holds():
    model, source = build(), sources()
    memory, target = model.encode(source), source.new_ones(5, 1)
    cache = Cache(2)
    model.decode(target, memory, cache=cache)
    with refused(ValueError, "target", "5 rows", "1; a new batch"):
        model.decode(target[:1], memory[:1], cache=cache)
    cache.keep(torch.tensor([3]).to(DEVICE))
    model.decode(target[:1], memory[:1], cache=cache)
    assert cache.length == 2


def test_an_empty_cache_keeps_nothing():
    model, source = build(), sources()
    cache = Cache(2)
    cache.keep(torch.tensor([0, 3]).to(DEVICE))
    memory, target = model.encode(source[:2]), source.new_ones(2, 1)
    model.decode(target, memory, cache=cache)
    assert cache.length == 1
