"""lib.beams: the best beginnings at each step, and of them the best texts."""

import math

import pytest
import torch

from lib.beams import beam_search
from tests.library.draw import DEVICE, same
from tests.library.untrained import build, sources, step_logits


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
        ranked = {
            text: total / ((5 + len(text)) / 6) ** alpha
            for text, total in found.items()
        }
        best = sorted(ranked, key=ranked.get, reverse=True)[:width]
        beams = {text: found[text] for text in best}
    return [(text, found[text], ranked[text]) for text in best]


@pytest.mark.covered(1)
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("width", "vocab", "limit"),
    [(1, 11, 9), (3, 11, 6), (50, 6, 2), (128, 6, 4)],
)
def test_beams_are_the_definition(width, vocab, limit, seed, alpha, cached):
    """Also where there are fewer texts than beams; the last keeps them all."""
    model = build(vocab=vocab, seed=seed, sharp=1.5)
    source = sources(3, seed=seed)
    found = beam_search(model, source, width, alpha, limit, cached)
    same(found.best, found.ids[:, 0])
    assert found.ids[..., -1].any()  # it stops when all have ended
    for row, ids, *sums in zip(source, *found, strict=True):
        wanted = by_hand(model, row[row != 0], width, alpha, limit)
        texts, *numbers = zip(*wanted, strict=True)
        missing = width - len(texts)
        for beam, text in zip(ids, [*texts, *[()] * missing], strict=True):
            assert beam.tolist() == [*text, *[0] * (len(beam) - len(text))]
        for ours, exact in zip(sums, numbers, strict=True):
            exact = [*exact, *[-math.inf] * missing]
            assert ours.tolist() == pytest.approx(exact)
