"""lib.decoding: the cache changes nothing, and beams find the best."""

import itertools
import math

import pytest
import torch
from torch import nn

from lib.decoding import (
    Writer,
    beam_search,
    greedy,
    narrow,
    penalty,
    sample,
    search_beams,
    write_tokens,
)
from tests.library.draw import DEVICE, normal, refused, same
from tests.library.untrained import KINDS, VOCAB, build, sources, step_logits

BAD = pytest.mark.bad_input


# --- greedy


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_greedy_is_the_best_token_every_time(kind, seed):
    """Row by row, without cache, mask or batch: the definition."""
    model, source = build(seed=seed, **kind), sources(seed=seed)
    written = greedy(model, source, 12)
    same(written, greedy(model, source, 12, cached=False))
    longest = 0
    for row, result in zip(source, written, strict=True):
        ids = [model.config.bos_id]
        while len(ids) <= 12 and ids[-1] != model.config.eos_id:
            target = torch.tensor([ids]).to(DEVICE)
            with torch.no_grad():
                logits = step_logits(model, row[row != 0][None], target)
            ids.append(2 + logits[0, -1, 2:].argmax().item())
        longest = max(longest, len(ids) - 1)
        assert result.tolist() == ids[1:] + [0] * (len(result) - len(ids) + 1)
    assert written.shape == (5, longest)


def test_rows_end_at_different_steps_in_these_tests():
    written = greedy(build(seed=9, sharp=1.5), sources(seed=9), 12)
    lengths = (written != 0).sum(1).tolist()
    assert len(set(lengths)) > 2 and min(lengths) == 1


def scripted(model, texts):
    """A `choose` that writes the texts, and what batches it was shown."""
    batches, open_ = [], list(range(len(texts)))

    def choose(logits):
        step = len(batches)
        batches.append(len(logits))
        tokens = [texts[row][step] for row in open_]
        open_[:] = [r for r in open_ if texts[r][step] != 2]
        return torch.tensor(tokens).to(DEVICE)

    return choose, batches


@pytest.mark.parametrize("cached", [True, False])
def test_finished_rows_stop_costing(cached):
    texts = [[5, 2], [6, 7, 8, 2], [2], [9, 9, 2], [2]]
    model = build()
    choose, batches = scripted(model, texts)
    result = write_tokens(model, sources(), choose, 20, cached)
    assert batches == [5, 3, 2, 1]
    assert result.tolist() == [row + [0] * (4 - len(row)) for row in texts]


def test_a_row_at_the_limit_has_no_eos():
    choose, _ = scripted(build(), [[5, 6, 7, 2], [2]])
    result = write_tokens(build(), sources(2), choose, 3)
    assert result.tolist() == [[5, 6, 7], [2, 0, 0]]


def test_the_default_limit_is_the_number_of_positions():
    def never(logits):
        return torch.full((len(logits),), 5).to(DEVICE)

    for cached in (True, False):
        result = write_tokens(build(), sources(2), never, cached=cached)
        assert result.shape == (2, 40)


def test_pad_and_bos_are_never_written():
    model = build()
    with torch.no_grad():
        model.tables.output.weight[:2] = 50 * model.tables.output.weight[5]
    for ids in (greedy(model, sources(), 9), sample(model, sources(), 9)):
        lengths = (ids != 0).sum(1)
        for row, n in zip(ids, lengths, strict=True):
            assert 0 not in row[:n] and 1 not in row and n > 0


def test_mode_and_gradients_are_as_before():
    model = build(dropout=0.5).train()
    model.encoder.eval()
    one = greedy(model, sources(), 9)
    same(one, greedy(model, sources(), 9))
    same(one, greedy(build(dropout=0.5), sources(), 9))
    one[0, 0] = 5  # an ordinary tensor
    search_beams(model, sources(), 2, limit=3).scores[0, 0] = 0
    assert model.training and not model.encoder.training
    assert torch.is_grad_enabled()


def test_no_sources_and_a_source_of_pad():
    empty = sources()[:0]
    model = build()
    assert greedy(model, empty, 9).shape[0] == 0
    assert beam_search(model, empty, limit=9).shape[0] == 0
    blank = 0 * sources(2)
    same(greedy(model, blank, 9)[0], greedy(model, blank[:, :3], 9)[1])


def test_half_precision_and_float32():
    for dtype in (torch.bfloat16, torch.float32):
        model = build().to(dtype)
        assert greedy(model, sources(), 9).shape[0] == 5
        assert beam_search(model, sources(), limit=9).shape[0] == 5


# --- sampling


def test_narrow():
    p = torch.tensor([0.1, 0.4, 0.2, 0.3], dtype=torch.float64)
    logits = p.log() + 7
    torch.testing.assert_close(narrow(logits).softmax(-1), p)
    assert narrow(logits).max() == 0
    assert narrow(logits, temperature=1e-300).softmax(-1).tolist()[1] == 1

    def left(**options):
        return narrow(logits, **options).softmax(-1)

    torch.testing.assert_close(left(temperature=0.5), p**2 / (p**2).sum())
    torch.testing.assert_close(
        left(top_k=2), torch.tensor([0, 4, 0, 3]).double() / 7
    )
    torch.testing.assert_close(left(top_k=99), p)
    for top_p, kept in ((0.3, 1), (0.5, 2), (0.69, 2), (0.71, 3), (1.0, 4)):
        assert (left(top_p=top_p) > 0).sum() == kept
    both = left(top_k=3, top_p=0.8)
    torch.testing.assert_close(both, torch.tensor([0, 4, 2, 3]).double() / 9)


def test_narrow_works_on_batches_and_changes_nothing_in_place():
    logits = normal(3, 5, 11)
    before = logits.clone()
    whole = narrow(logits, 0.7, 4, 0.9)
    rows = [narrow(row, 0.7, 4, 0.9) for row in logits.view(-1, 11)]
    same(whole, torch.stack(rows).view_as(whole))
    same(logits, before)


def test_samples_are_repeatable_and_the_same_without_cache():
    model, source = build(sharp=1.5), sources()

    def draw(seed, cached=True):
        generator = torch.Generator().manual_seed(seed)
        return sample(model, source, 12, generator, cached, temperature=2.0)

    same(draw(0), draw(0))
    same(draw(0), draw(0, cached=False))
    assert any(draw(1).tolist() != draw(seed).tolist() for seed in (0, 2))


def test_samples_have_the_models_probabilities():
    model, many = build(sharp=1.2), sources(1).expand(20_000, -1)
    with torch.no_grad():
        writer = Writer(model, many[:1])
        p = narrow(writer.next_logits(), 1.5, top_k=5).softmax(-1)[0]
    generator = torch.Generator().manual_seed(0)
    first = sample(model, many, 1, generator, temperature=1.5, top_k=5)[:, 0]
    shares = first.bincount(minlength=VOCAB) / 20_000
    torch.testing.assert_close(shares.to(p), p, atol=0.015, rtol=0)
    assert (shares[p == 0] == 0).all()


def test_sampling_the_best_only_is_greedy():
    model, source = build(), sources()
    same(sample(model, source, 12, top_k=1), greedy(model, source, 12))
    same(sample(model, source, 12, top_p=1e-9), greedy(model, source, 12))


# --- beam search


def every_sequence(vocab, limit):
    """All that could be written: ended by EOS, or cut off at the limit."""
    ordinary = range(3, vocab)
    for length in range(limit):
        for start in itertools.product(ordinary, repeat=length):
            yield [*start, 2]
    yield from map(list, itertools.product(ordinary, repeat=limit))


def log_p(model, row, tokens):
    target = torch.tensor([[1, *tokens[:-1]]]).to(DEVICE)
    with torch.no_grad():
        logits = step_logits(model, row[None], target)[0]
    logits[:, :2] = -math.inf
    picked = logits.log_softmax(-1)[range(len(tokens)), tokens]
    return picked.sum().item()


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_best_of_all(alpha, seed):
    """64 beams keep every beginning of 3 + 4 tokens, 4 long."""
    model = build(vocab=6, seed=seed, sharp=1.5, max_length=8)
    source = sources(2, seed=seed)
    beams = search_beams(model, source, 128, alpha, 4)
    for row, ids, scores in zip(source, *beams, strict=True):
        found = {
            tuple(t): log_p(model, row[row != 0], t)
            / ((5 + len(t)) / 6) ** alpha
            for t in every_sequence(6, 4)
        }
        best = max(found, key=found.get)
        assert ids[0][ids[0] != 0].tolist() == list(best)
        assert scores[0].item() == pytest.approx(found[best])
        real = scores > -math.inf
        texts = [tuple(t[t != 0].tolist()) for t in ids[real]]
        assert sorted(texts) == sorted(found)  # nothing is lost
        for text, score in zip(texts, scores[real].tolist(), strict=True):
            assert score == pytest.approx(found[text])


def test_greedy_can_be_wrong():
    """Some row has a better sequence than the greedy one."""
    model, source = build(vocab=6, sharp=1.5), sources()
    one, wide = (search_beams(model, source, w, 0.0, 4) for w in (1, 128))
    assert (wide.scores[:, 0] >= one.scores[:, 0] - 1e-12).all()
    assert (wide.scores[:, 0] > one.scores[:, 0] + 0.01).any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_one_beam_is_greedy(kind, seed):
    model, source = build(seed=seed, **kind), sources(seed=seed)
    for alpha in (0.0, 0.6):
        same(
            beam_search(model, source, 1, alpha, 12),
            greedy(model, source, 12),
        )


@pytest.mark.parametrize("width", [2, 5])
def test_beams_are_the_same_without_cache_and_without_batch(width):
    model, source = build(sharp=1.5), sources()
    beams = search_beams(model, source, width, limit=9)
    plain = search_beams(model, source, width, limit=9, cached=False)
    same(beams.ids, plain.ids)
    torch.testing.assert_close(beams.scores, plain.scores)
    for row, ids, scores in zip(source, *beams, strict=True):
        alone = search_beams(model, row[row != 0][None], width, limit=9)
        n = alone.ids.shape[2]
        same(ids[:, :n], alone.ids[0])
        torch.testing.assert_close(scores, alone.scores[0])


def test_beams_are_in_order_and_all_different():
    beams = search_beams(build(sharp=1.5), sources(), 5, limit=9)
    assert (beams.scores.diff(dim=1) <= 0).all()
    for ids, scores in zip(*beams, strict=True):
        real = ids[scores > -math.inf].tolist()
        assert len({tuple(row) for row in real}) == len(real)


def test_more_beams_than_tokens():
    """From the first step on there are fewer sequences than beams."""
    model, source = build(vocab=6, max_length=8), sources()
    beams = search_beams(model, source, 50, 0.0, 2)
    assert beams.ids.shape[:2] == (5, 50)
    assert (beams.scores[:, 13:] == -math.inf).all()
    assert (beams.ids[beams.scores == -math.inf] == 0).all()
    assert beam_search(model, source, 50, 0.0, 2).shape[1] <= 2


def test_the_penalty_favours_longer_sequences():
    assert penalty(1, 0.6) == 1.0 and penalty(7, 1.0) == 2.0
    model, source = build(vocab=6, sharp=1.2), sources()
    short, long = (
        (beam_search(model, source, 64, alpha, 6) != 0).sum().item()
        for alpha in (0.0, 3.0)
    )
    assert long > short


@pytest.fixture
def rows(monkeypatch):
    """How many rows the model computes at each step."""
    found, next_logits = [], Writer.next_logits

    def counted(self):
        found.append(len(self.ids))
        return next_logits(self)

    monkeypatch.setattr(Writer, "next_logits", counted)
    return found


def test_ended_beams_cost_nothing(rows):
    model, source = build(seed=9, sharp=1.5), sources(seed=9)
    search_beams(model, source, 4, limit=12)
    assert rows[0] == 5 and rows[1] <= 20  # one beam at first, then four
    assert rows[1] > rows[4] > rows[-1]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_the_best_alone_is_the_same_with_less_work(rows, alpha):
    less = total = 0
    for seed in range(6):
        model, source = build(seed=seed, sharp=1.5), sources(seed=seed)
        every = search_beams(model, source, 4, alpha, 12)
        total += sum(rows)
        rows.clear()
        best = search_beams(model, source, 4, alpha, 12, best_only=True)
        less += sum(rows)
        rows.clear()
        torch.testing.assert_close(best.scores[:, 0], every.scores[:, 0])
        n = best.ids.shape[2]
        same(best.ids[:, 0], every.ids[:, 0, :n])
        assert not every.ids[:, 0, n:].any()
    assert 0 < less <= total and (less < total or alpha == 2.0)


# --- bad input

WRITERS = (greedy, sample, beam_search, search_beams)


@BAD
@pytest.mark.parametrize("call", WRITERS)
@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"model": nn.Linear(1, 1)}, TypeError, ("model", "Transf", "Lin")),
        ({"source": [[5]]}, TypeError, ("source", "a tensor", "list")),
        (
            {"source": torch.ones(2, 3)},
            TypeError,
            ("source", "integer tensor", "float32"),
        ),
        (
            {"source": torch.ones(3).long()},
            ValueError,
            ("source", "2 axes", "1"),
        ),
        (
            {"source": torch.ones(2, 0).long()},
            ValueError,
            ("source", "1 to 40 positions", "shape (2, 0)"),
        ),
        (
            {"source": torch.ones(2, 41).long()},
            ValueError,
            ("source", "1 to 40 positions", "shape (2, 41)"),
        ),
        (
            {"source": torch.full((2, 3), 13).to(DEVICE)},
            ValueError,
            ("source", "ids from 0 to 12", "13"),
        ),
        ({"limit": 0}, ValueError, ("limit", "1 to 40", "0")),
        ({"limit": 41}, ValueError, ("limit", "1 to 40", "41")),
        ({"limit": 2.0}, TypeError, ("limit", "an integer", "float")),
    ],
)
def test_refuses(call, change, error, parts):
    with refused(error, *parts):
        call(**({"model": build(), "source": sources()} | change))


@BAD
@pytest.mark.parametrize(
    ("change", "error", "parts"),
    [
        ({"temperature": 0}, ValueError, ("temperature", "than 0", "0")),
        ({"temperature": -1}, ValueError, ("temperature", "least 0", "-1")),
        ({"temperature": "a"}, TypeError, ("temperature", "number", "str")),
        ({"top_k": 0}, ValueError, ("top_k", "at least 1", "0")),
        ({"top_k": 2.0}, TypeError, ("top_k", "an integer", "float")),
        ({"top_p": 0.0}, ValueError, ("top_p", "0 < top_p <= 1", "0.0")),
        ({"top_p": 1.5}, ValueError, ("top_p", "0 < top_p <= 1", "1.5")),
        ({"top_p": "a"}, TypeError, ("top_p", "a number", "str")),
        ({"generator": 5}, TypeError, ("generator", "Generator", "int")),
    ],
)
def test_sample_refuses(change, error, parts):
    with refused(error, *parts):
        sample(build(), sources(), 3, **change)


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


@BAD
@pytest.mark.parametrize("cached", [True, False])
def test_refuses_a_model_with_nan(cached):
    model = build()
    with torch.no_grad():
        model.tables.output.weight[5, 0] = math.nan
    for call in (greedy, search_beams):
        with refused(ValueError, "logits", "numbers", "NaN"):
            call(model, sources(), limit=3, cached=cached)


@BAD
def test_sample_refuses_what_narrow_does_not_know():
    with pytest.raises(TypeError, match="top"):
        sample(build(), sources(), 3, top=5)


@BAD
def test_sample_refuses_a_generator_of_another_device():
    class Other(torch.Generator):
        device = torch.device("cuda")

    with refused(ValueError, "generator", "one of the CPU", "cuda"):
        sample(build(), sources(), 3, Other())


@BAD
@pytest.mark.parametrize("call", [beam_search, search_beams])
def test_beam_search_refuses(call):
    with refused(ValueError, "width", "at least 1", "0"):
        call(build(), sources(), 0)
    with refused(ValueError, "length_penalty", "at least 0", "-1"):
        call(build(), sources(), 2, -1)
    with refused(TypeError, "width", "an integer", "float"):
        call(build(), sources(), 2.0)
