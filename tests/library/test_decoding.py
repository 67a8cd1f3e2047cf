"""lib.decoding: the best token, a drawn one, and what may be written."""

import itertools
import math

import pytest
import torch
from torch import nn

from lib.beams import beam_search
from lib.cache import IncrementalDecoder
from lib.decoders import decoder_for
from lib.decoding import (
    filtered,
    greedy,
    next_logits,
    sample,
    write_tokens,
)
from tests.library.draw import DEVICE, normal, refused, same
from tests.library.untrained import KINDS, VOCAB, build, sources, step_logits

BAD = pytest.mark.bad_input
CACHED = pytest.mark.parametrize("cached", [True, False])


# --- greedy


@pytest.mark.covered(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("begun", [False, True])
@CACHED
def test_greedy_is_the_best_token_every_time(kind, seed, begun, cached):
    """Row by row, without cache, mask or batch: the definition."""
    model, source = build(seed=seed, **kind), sources(seed=seed)
    beginning = torch.tensor([[5, 6], [7, 8], [9, 9], [3, 4], [5, 5]])
    beginning = beginning.to(DEVICE, torch.int32) if begun else None
    written = greedy(model, source, 12, cached, beginning)
    longest = 0
    for i, (row, result) in enumerate(zip(source, written, strict=True)):
        ids = [1, *(beginning[i].tolist() if begun else [])]
        while len(ids) <= 12 and ids[-1] != model.config.eos_id:
            target = torch.tensor([ids]).to(DEVICE)
            with torch.no_grad():
                logits = step_logits(model, row[row != 0][None], target)
            ids.append(2 + logits[0, -1, 2:].argmax().item())
        longest = max(longest, len(ids) - 1)
        assert result.tolist() == ids[1:] + [0] * (len(result) - len(ids) + 1)
    assert written.shape == (5, longest) and written.dtype == torch.int64


@pytest.mark.parametrize(
    "write, options",
    [
        (write_tokens, {"choose": lambda logits: logits.argmax(-1)}),
        (greedy, {}),
        (sample, {"top_k": 1}),
        (beam_search, {"width": 1}),
    ],
)
def test_by_default_only_new_positions_are_computed(write, options):
    model, source, seen = build(seed=5), sources(1), []
    model.tables.target_embedding.register_forward_hook(
        lambda module, given, rows: seen.append(given[0].numel())
    )
    write(model, source, limit=3, **options)
    steps = len(seen)
    assert seen == [1] * steps and steps > 1
    seen.clear()
    write(model, source, limit=3, cached=False, **options)
    assert seen == list(range(1, steps + 1))
    assert isinstance(decoder_for(model, source), IncrementalDecoder)


def scripted(texts):
    """A `choose` that writes the texts, and 5 behind their ends."""
    steps = itertools.count()

    def choose(logits):
        step = next(steps)
        tokens = [[*text, *[5] * 40][step] for text in texts]
        return torch.tensor(tokens).to(DEVICE)

    return choose


@CACHED
@pytest.mark.parametrize(
    ("texts", "limit", "beginning", "expected"),
    [
        ([[5, 2], [6, 7, 2], [2]], 9, None, [[5, 2, 0], [6, 7, 2], [2, 0, 0]]),
        ([[5, 6, 7, 2], [2]], 3, None, [[5, 6, 7], [2, 0, 0]]),
        ([[6, 7], [2]], 4, [[5, 5], [9, 9]], [[5, 5, 6, 7], [9, 9, 2, 0]]),
        ([[5], [5]], None, None, [[5] * 40] * 2),
    ],
)
def test_rows_are_written_to_their_ends(
    texts, limit, beginning, expected, cached
):
    """PAD follows EOS; a row at the limit has none.

    A beginning counts for the limit, which is all positions if none is said.
    """
    if beginning:
        beginning = torch.tensor(beginning).to(DEVICE)
    choose, source = scripted(texts), sources(len(texts))
    written = write_tokens(build(), source, choose, limit, cached, beginning)
    assert written.tolist() == expected


def test_mode_and_gradients_are_as_before():
    model = build(dropout=0.5).train()
    model.encoder.eval()
    one = greedy(model, sources(), 9)
    same(one, greedy(model, sources(), 9))
    same(one, greedy(build(dropout=0.5), sources(), 9))
    one[0, 0] = 5  # an ordinary tensor
    for part in beam_search(model, sources(), 2, limit=3):
        assert not part.requires_grad
        part[0, 0] = 0
    assert model.training and not model.encoder.training
    assert torch.is_grad_enabled()


def test_no_sources_and_a_source_of_pad():
    empty = sources()[:0]
    model = build()
    assert greedy(model, empty, 9).shape[0] == 0
    assert beam_search(model, empty, limit=9).best.shape[0] == 0
    blank = 0 * sources(2)
    same(greedy(model, blank, 9)[0], greedy(model, blank[:, :3], 9)[1])


def test_half_precision_and_int32_sources():
    model, source = build(sharp=1.5), sources()
    for cached in (True, False):
        written = greedy(model, source.int(), 9, cached)
        same(written, greedy(model, source, 9, cached))
        same(sample(model, source.int(), 9, top_k=1), written)
        found = beam_search(model, source.int(), 2, limit=9, cached=cached)
        same(found.ids, beam_search(model, source, 2, limit=9).ids)
    model.bfloat16()
    assert greedy(model, source, 9).shape[0] == 5
    assert beam_search(model, source, limit=9).best.shape[0] == 5


# --- sampling


def test_filtered():
    p = torch.tensor([0.1, 0.4, 0.2, 0.3], dtype=torch.float64)
    logits = p.log() + 7
    torch.testing.assert_close(filtered(logits).softmax(-1), p)
    assert filtered(logits).max() == 0
    assert filtered(logits, temperature=1e-300).softmax(-1).tolist()[1] == 1

    def left(**options):
        return filtered(logits, **options).softmax(-1)

    torch.testing.assert_close(left(temperature=0.5), p**2 / (p**2).sum())
    torch.testing.assert_close(
        left(top_k=2), torch.tensor([0, 4, 0, 3]).double() / 7
    )
    torch.testing.assert_close(left(top_k=99), p)
    for top_p, kept in ((0.3, 1), (0.5, 2), (0.69, 2), (0.71, 3), (1.0, 4)):
        assert (left(top_p=top_p) > 0).sum() == kept
    both = left(top_k=3, top_p=0.8)
    torch.testing.assert_close(both, torch.tensor([0, 4, 2, 3]).double() / 9)


def test_filtered_at_its_edges():
    """Of equal tokens the first is kept, and no more than are needed."""
    first = filtered(torch.zeros(5_000).to(DEVICE), top_k=1)
    assert first.argmax() == 0 and first.isfinite().sum() == 1
    for number, top_p, kept in ((2, 1 / 2, 1), (3, 2 / 3, 2), (20, 0.3, 6)):
        left = filtered(torch.zeros(number).to(DEVICE), top_p=top_p)
        assert left.isfinite().sum() == kept


def test_filtered_works_on_batches_and_changes_nothing_in_place():
    logits = normal(3, 5, 11)
    before = logits.clone()
    whole = filtered(logits, 0.7, 4, 0.9)
    rows = [filtered(row, 0.7, 4, 0.9) for row in logits.view(-1, 11)]
    same(whole, torch.stack(rows).view_as(whole))
    same(logits, before)


def test_draws_are_made_in_double_precision():
    """Of the same logits, whatever their dtype."""
    model, source, drawn = build(), sources(1).expand(2_000, -1), []
    rough = normal(1, 1, VOCAB).bfloat16()
    for logits in (rough, rough.double()):
        model.decode = lambda ids, *_, logits=logits: logits.repeat(
            *ids.shape, 1
        )
        generator = torch.Generator().manual_seed(0)
        drawn.append(sample(model, source, 3, generator, cached=False))
    same(*drawn)


def test_samples_have_the_models_probabilities():
    model, many = build(sharp=1.2), sources(1).expand(6_000, -1)
    with torch.no_grad():
        logits = next_logits(decoder_for(model, many[:1]), 0 * many[:1, 0] + 1)
        p = filtered(logits, 1.5, top_k=5).softmax(-1)[0]
    generator = torch.Generator().manual_seed(0)
    first = sample(model, many, 1, generator, temperature=1.5, top_k=5)[:, 0]
    shares = first.bincount(minlength=VOCAB) / 6_000
    torch.testing.assert_close(shares.to(p), p, atol=0.02, rtol=0)
    assert (shares[p == 0] == 0).all()


@pytest.mark.parametrize("filters", [{"top_k": 1}, {"top_p": 1e-9}])
def test_sampling_the_best_only_is_greedy(filters):
    model, source = build(), sources()
    same(sample(model, source, 12, **filters), greedy(model, source, 12))
    given = {"beginning": torch.full((5, 2), 5).to(DEVICE)}
    drawn = sample(model, source, 12, **given, **filters)
    same(drawn, greedy(model, source, 12, **given))


# --- bad input


class OfCuda(torch.Generator):
    device = torch.device("cuda")


ALL, TWO, ONE = (greedy, sample, beam_search), (greedy, sample), (sample,)


def ids(*rows):
    return torch.tensor([*rows]).to(DEVICE)


@BAD
@pytest.mark.parametrize(
    ("calls", "argument", "value", "error", "expected", "got"),
    [
        (ALL, "model", nn.Linear(1, 1), TypeError, "Transf", "Lin"),
        (ALL, "source", [[5]], TypeError, "a tensor", "list"),
        (ALL, "source", ids([1.0]), TypeError, "integer tensor", "float32"),
        (ALL, "source", ids(1, 1), ValueError, "2 axes", "1"),
        (ALL, "source", ids([5])[:, :0], ValueError, "1 to 40", "(1, 0)"),
        (ALL, "source", ids([5] * 41), ValueError, "1 to 40", "(1, 41)"),
        (ALL, "source", ids([13]), ValueError, "ids from 0 to 12", "13"),
        (ALL, "limit", 0, ValueError, "1 to 40", "0"),
        (ALL, "limit", 41, ValueError, "1 to 40", "41"),
        (ALL, "cached", 1, TypeError, "True or False", "int"),
        (TWO, "beginning", [[5]], TypeError, "a tensor", "list"),
        (TWO, "beginning", ids([1.0]), TypeError, "integer tensor", "float32"),
        (TWO, "beginning", ids(5, 5), ValueError, "2 axes", "1 ("),
        (TWO, "beginning", ids([5]), ValueError, "2 rows, one for each", "1"),
        (TWO, "beginning", ids([5], [11]), ValueError, "from 0 to 10", "11"),
        (TWO, "beginning", ids([5], [0]), ValueError, "without pad_id", "0"),
        (TWO, "beginning", ids([1], [5]), ValueError, "without bos_id", "1"),
        (TWO, "beginning", ids([5], [2]), ValueError, "without eos_id", "2"),
        (TWO, "beginning", ids([], []).long(), ValueError, "1 to 3 tok", "0"),
        (TWO, "beginning", ids(*[[5] * 4] * 2), ValueError, "one of 4", "4"),
        (ONE, "temperature", 0, ValueError, "more than 0", "0"),
        (ONE, "temperature", -1, ValueError, "at least 0", "-1"),
        (ONE, "top_k", 0, ValueError, "at least 1", "0"),
        (ONE, "top_p", 0.0, ValueError, "0 < top_p <= 1", "0.0"),
        (ONE, "top_p", 1.5, ValueError, "0 < top_p <= 1", "1.5"),
        (ONE, "top_p", "a", TypeError, "a number", "str"),
        (ONE, "generator", 5, TypeError, "Generator", "int"),
        (ONE, "generator", OfCuda(), ValueError, "one of the CPU", "cuda"),
    ],
)
def test_refuses(calls, argument, value, error, expected, got):
    given = {"model": build(), "source": sources(2), "limit": 4}
    for call in calls:
        with refused(error, argument, expected, got):
            call(**given | {argument: value})


@BAD
@pytest.mark.parametrize(
    ("given", "got"),
    [
        (lambda x: x.argmax(-1)[:, None], "(5, 1)"),
        (lambda x: x.argmax(-1)[:4], "(4,)"),
        (lambda x: x[:, 0] > 0, "torch.bool"),
        (lambda x: [5] * 5, "list"),
    ],
)
def test_refuses_a_choice_that_is_none(given, got):
    with refused(ValueError, "choose", "for each of 5 rows", got):
        write_tokens(build(), sources(), given, 3)
    with refused(TypeError, "choose", "a function", "list"):
        write_tokens(build(), sources(), [5] * 5, 3)


@BAD
@CACHED
@pytest.mark.parametrize("wrong", [0, 1, -1, 11])
def test_refuses_a_choice_that_may_not_be_written(wrong, cached):
    """PAD, BOS and ids outside the vocabulary, also behind the end."""
    for texts in ([[5] * 9, [5, wrong]], [[5] * 9, [2, wrong]]):
        with refused(ValueError, "choose", "0 to 10 without PAD", f"{wrong}"):
            write_tokens(build(), sources(2), scripted(texts), 3, cached)


@BAD
@CACHED
def test_refuses_a_model_with_nan(cached):
    model = build()
    with torch.no_grad():
        model.tables.output.weight[5, 0] = math.nan
    for call in (greedy, beam_search):
        with refused(ValueError, "logits", "numbers", "NaN"):
            call(model, sources(), limit=3, cached=cached)
