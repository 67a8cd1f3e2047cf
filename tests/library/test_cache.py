"""lib.cache: remembered keys and values change nothing but the time."""

from functools import partial

import pytest
import torch
from torch import nn

from lib.cache import IncrementalDecoder
from lib.decoding import write_tokens
from lib.heads import record_weights
from lib.layers import LayerNorm
from tests.library.draw import DEVICE, drawn_ids, refused
from tests.library.refusals import by_dtype, by_shape, refuses
from tests.library.untrained import KINDS, VOCAB, build, sources, step_logits


def begun(model, source):
    """A decoder that has read the sources."""
    mask = model.source_mask(source)
    return IncrementalDecoder(model, model.encode(source), mask)


def targets(length, batch=5, seed=1):
    return drawn_ids(3, VOCAB, batch, length, seed=seed)


def near(actual, expected):
    torch.testing.assert_close(actual, expected, atol=1e-10, rtol=1e-10)


def unlike(model):
    """Untrained, all norms are alike, and one could stand for another."""
    for module in model.modules():
        if isinstance(module, LayerNorm):
            nn.init.uniform_(module.weight, 0.5, 2.0)
            nn.init.uniform_(module.bias, -1.0, 1.0)


def without_bias(model):
    for block in model.decoder.blocks:
        for attention in (block.self_attention, block.cross_attention):
            attention.in_proj = nn.Linear(16, 48, False).double().to(DEVICE)


def one_block_twice(model):
    model.decoder.blocks[1] = model.decoder.blocks[0]


@pytest.mark.parametrize(
    ("options", "change"),
    [*((kind, unlike) for kind in KINDS), ({}, without_bias),
     ({}, one_block_twice)],
)  # fmt: skip
@pytest.mark.parametrize("sizes", [(1,) * 9, (9,), (1, 3, 2, 3), (4, 5)])
@pytest.mark.parametrize("batch", [5, 1])
def test_logits_and_recorded_weights_are_the_same(
    options, change, sizes, batch
):
    """No gradient is kept: the buffers are written in place."""
    model, source = build(**options), sources(batch)
    change(model)
    target, steps = targets(9, batch), []
    with record_weights(model) as weights:
        whole = step_logits(model, source, target).detach()
        last = {name: w[:, :, -1] for name, w in weights.items()}
        weights.clear()
        decoder = begun(model, source)
        for part in target.split(sizes, dim=1):
            steps.append(decoder(part))
            assert steps[-1].shape[1] == part.shape[1]
    near(torch.cat(steps, 1), whole)
    for name in last:
        near(weights[name][:, :, -1], last[name])
    assert decoder.length == 9 and not steps[-1].requires_grad


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


@pytest.mark.bad_input
def test_what_does_not_fit_the_past_is_refused_and_not_remembered():
    """Rows may be chosen before anything is written."""
    decoder, target = begun(build(), sources()), targets(1)
    decoder.keep(torch.arange(5).to(DEVICE))
    for _ in range(2):
        with refused(ValueError, "target", "5 rows", "1; a new batch"):
            decoder(target[:1])
        decoder(target)
    decoder.keep(torch.tensor([3]).to(DEVICE))
    for _ in range(38):
        decoder(target[:1])
    with refused(ValueError, "x", "at most 40 positions", "41"):
        decoder(target[:1])
    assert decoder.length == 40


model, target = build(), targets(1)
memory = model.encode(sources())
make = partial(IncrementalDecoder, memory=memory)
read, new = (lambda query: IncrementalDecoder(model, query)), make(model)
PAD = torch.cat([target, 0 * target], dim=1)
test_bad_input_is_refused = refuses(
    ("model", make, TypeError, "a Transformer", {"Linear": nn.Linear(1, 1)}),
    ("query", read, TypeError, "a tensor", {"list": [1.0]}),
    ("query", read, ValueError, "width 16", by_shape(memory[..., :15])),
    ("target", new, ValueError, "no PAD (id 0)", {"5": PAD}),
    ("target", new, TypeError, "integer tensor", by_dtype(target.double())),
    ("target", new, ValueError, "ids from 0 to 10", {"11": 0 * target + 11}),
)
