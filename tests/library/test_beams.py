"""lib.beams: a wide search finds the best text of all."""

import itertools
import math

import pytest
import torch

from lib.beams import beam_search, penalty
from lib.decoding import greedy
from tests.library.draw import DEVICE, refused, same
from tests.library.untrained import KINDS, build, sources, step_logits

BAD = pytest.mark.bad_input


def every_sequence(vocab, limit):
    """All that could be written: ended by EOS, or cut off at the limit."""
    ordinary = range(3, vocab)
    for length in range(limit):
        for start in itertools.product(ordinary, repeat=length):
            yield [*start, 2]
    yield from map(list, itertools.product(ordinary, repeat=limit))


def log_ps(model, row, texts):
    """Each of some texts of one length, with its log-probability."""
    texts = list(map(tuple, texts))
    ids = torch.tensor([[1, *text] for text in texts]).to(DEVICE)
    rows = row.expand(len(texts), -1)
    with torch.no_grad():
        logits = step_logits(model, rows, ids[:, :-1])
    logits[..., :2] = -math.inf
    picked = logits.log_softmax(-1).gather(-1, ids[:, 1:, None])
    return zip(texts, picked.sum((1, 2)).tolist(), strict=True)


@pytest.mark.covered(1)
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_wide_beam_finds_the_best_of_all(alpha, seed):
    """64 beams keep every beginning of 3 + 4 tokens, 4 long."""
    model = build(vocab=6, seed=seed, sharp=1.5, max_length=8)
    source = sources(2, seed=seed)
    beams = beam_search(model, source, 128, alpha, 4)
    for row, ids, sums, scores in zip(source, *beams, strict=True):
        exact = {
            text: total
            for _, texts in itertools.groupby(every_sequence(6, 4), len)
            for text, total in log_ps(model, row[row != 0], texts)
        }
        found = {
            text: total / ((5 + len(text)) / 6) ** alpha
            for text, total in exact.items()
        }
        best = max(found, key=found.get)
        assert ids[0][ids[0] != 0].tolist() == list(best)
        assert scores[0].item() == pytest.approx(found[best])
        real = scores > -math.inf
        texts = [tuple(t[t != 0].tolist()) for t in ids[real]]
        assert sorted(texts) == sorted(found)  # nothing is lost
        for text, log, score in zip(
            texts, sums[real].tolist(), scores[real].tolist(), strict=True
        ):
            assert score == pytest.approx(found[text])
            assert log == pytest.approx(exact[text])


def by_hand(model, row, width, alpha, limit):
    """One source, one dictionary of texts: the definition."""
    beams = {(): 0.0}
    for _ in range(limit):
        found = {}
        for text, total in beams.items():
            if text[-1:] == (2,):
                found[text] = total
                continue
            target = torch.tensor([[1, *text]]).to(DEVICE)
            with torch.no_grad():
                logits = step_logits(model, row[None], target)[0, -1]
            logits[:2] = -math.inf
            for token, more in enumerate(logits.log_softmax(-1).tolist()):
                if token > 1:
                    found[*text, token] = total + more
        ranked = {t: p / penalty(len(t), alpha) for t, p in found.items()}
        best = sorted(ranked, key=ranked.get, reverse=True)[:width]
        beams = {text: found[text] for text in best}
    return [(list(t), p, p / penalty(len(t), alpha)) for t, p in beams.items()]


@pytest.mark.covered(1)
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_beam_is_the_definition(alpha, seed):
    """All beams, with scores, of sources of different lengths."""
    model, source = build(seed=seed, sharp=1.5), sources(3, seed=seed)
    found = beam_search(model, source, 3, alpha, 6)
    for row, ids, log_p, scores in zip(source, *found, strict=True):
        wanted = by_hand(model, row[row != 0], 3, alpha, 6)
        for beam, expected in enumerate(wanted):
            text = ids[beam][ids[beam] != 0].tolist()
            assert text == expected[0]
            assert log_p[beam].item() == pytest.approx(expected[1])
            assert scores[beam].item() == pytest.approx(expected[2])


def test_greedy_can_be_wrong():
    """Some row has a better sequence than the greedy one."""
    model, source = build(vocab=6, sharp=1.5), sources()
    one, wide = (beam_search(model, source, w, 0.0, 4) for w in (1, 128))
    assert (wide.scores[:, 0] >= one.scores[:, 0] - 1e-12).all()
    assert (wide.scores[:, 0] > one.scores[:, 0] + 0.01).any()


@pytest.mark.covered(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_one_beam_is_greedy(kind, seed):
    model, source = build(seed=seed, **kind), sources(seed=seed)
    for alpha in (0.0, 0.6):
        same(
            beam_search(model, source, 1, alpha, 12).best,
            greedy(model, source, 12),
        )


@pytest.mark.parametrize("width", [2, 5])
def test_beams_are_the_same_without_cache_and_without_batch(width):
    model, source = build(sharp=1.5), sources()
    beams = beam_search(model, source, width, limit=9)
    plain = beam_search(model, source, width, limit=9, cached=False)
    same(beams.ids, plain.ids)
    same(beams.best, beams.ids[:, 0])
    torch.testing.assert_close(beams.scores, plain.scores)
    torch.testing.assert_close(beams.log_p, plain.log_p)
    for row, ids, _, scores in zip(source, *beams, strict=True):
        alone = beam_search(model, row[row != 0][None], width, limit=9)
        n = alone.ids.shape[2]
        same(ids[:, :n], alone.ids[0])
        torch.testing.assert_close(scores, alone.scores[0])


def test_beams_are_in_order_and_all_different():
    beams = beam_search(build(sharp=1.5), sources(), 5, limit=9)
    assert (beams.scores.diff(dim=1) <= 0).all()
    for ids, _, scores in zip(*beams, strict=True):
        real = ids[scores > -math.inf].tolist()
        assert len({tuple(row) for row in real}) == len(real)


def test_more_beams_than_tokens():
    """From the first step on there are fewer sequences than beams."""
    model, source = build(vocab=6, max_length=8), sources()
    beams = beam_search(model, source, 50, 0.0, 2)
    assert beams.ids.shape[:2] == (5, 50)
    assert (beams.scores[:, 13:] == -math.inf).all()
    assert (beams.ids[beams.scores == -math.inf] == 0).all()
    assert (beams.log_p[:, 13:] == -math.inf).all()
    assert (beams.best[:, 0] != 0).all()


def test_the_penalty_favours_longer_sequences():
    assert penalty(1, 0.6) == 1.0 and penalty(7, 1.0) == 2.0
    model, source = build(vocab=6, sharp=1.2), sources()
    short, long = (
        (beam_search(model, source, 64, alpha, 6).best != 0).sum().item()
        for alpha in (0.0, 3.0)
    )
    assert long > short


@BAD
def test_refuses():
    with refused(ValueError, "width", "at least 1", "0"):
        beam_search(build(), sources(), 0)
    with refused(ValueError, "length_penalty", "at least 0", "-1"):
        beam_search(build(), sources(), 2, -1)
    with refused(TypeError, "width", "an integer", "float"):
        beam_search(build(), sources(), 2.0)
