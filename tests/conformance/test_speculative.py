"""Speculative decoding: with the same coins, the tokens of `transformers`."""

import pytest
import torch
from transformers.generation.utils import _speculative_sampling

from lib.speculative import accept


@pytest.mark.parametrize("gamma", [1, 2, 5])
def test_the_same_tokens_are_accepted_and_drawn(gamma):
    generator, lengths = torch.Generator(), set()
    for seed in range(400):
        generator.manual_seed(seed)
        size, kind = (gamma + 1, 7), torch.float64
        target = torch.randn(size, generator=generator, dtype=kind)
        draft = torch.randn(size, generator=generator, dtype=kind)[:-1]
        p, q = target.softmax(-1), draft.softmax(-1)
        drafted = torch.multinomial(q, 1, generator=generator)[:, 0]
        torch.manual_seed(seed)  # theirs come from torch's own generator
        theirs, accepted = _speculative_sampling(
            drafted[None], draft[None], gamma, target[None]
        )
        ours = accept(p, q, drafted, torch.Generator().manual_seed(seed))
        assert ours.tolist() == theirs[0].tolist()
        assert len(ours) == accepted + 1
        lengths.add(len(ours))
    assert lengths == set(range(1, gamma + 2))
