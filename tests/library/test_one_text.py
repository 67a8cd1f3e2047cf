"""kit.one_text: rows of text and answer, and the trained model."""

import pytest
import torch
import torch.nn.functional as F

from kit.dates import Example, characters, generate, splits
from kit.one_text import OneText, one_text, one_text_batches
from kit.trained import one_text_model
from lib.training import exact_match, label_smoothed_loss
from tests.library.draw import DEVICE, close, refused, same

BAD = pytest.mark.bad_input
EXAMPLES = [
    Example("3 mars", "03-03", "fr"),
    Example("12 mars", "03-12", "fr"),
]
TOKENS = characters(["3 mars12-0"])


def test_a_row_is_text_bos_and_answer():
    batch = one_text(EXAMPLES, TOKENS)
    texts = [TOKENS.encode(e.text) for e in EXAMPLES]
    answers = [TOKENS.encode(e.iso) for e in EXAMPLES]
    first = [*texts[0], TOKENS.bos_id, *answers[0], TOKENS.pad_id]
    assert batch.decoder_input[0].tolist() == first
    second = [*texts[1], TOKENS.bos_id, *answers[1]]
    assert batch.decoder_input[1].tolist() == second
    assert batch.source[0].tolist() == [*texts[0], TOKENS.pad_id]


def test_only_the_answer_counts():
    batch = one_text(EXAMPLES, TOKENS)
    answer = TOKENS.encode("03-03", eos=True)
    assert batch.target[0].tolist() == [-100] * 6 + answer + [-100]
    logits = torch.randn(*batch.target.shape, len(TOKENS))
    ours = label_smoothed_loss(logits, batch.target, 0.1, pad_id=-100)
    theirs = F.cross_entropy(
        logits.flatten(0, 1), batch.target.flatten(), label_smoothing=0.1
    )
    close(ours, theirs)


def test_batches_hold_every_example_once():
    examples = generate(splits()["test"][:50])
    tokens = characters([e.text + e.iso for e in examples])
    for bucket in (1, 2):
        parts = one_text_batches(examples, tokens, 8, bucket)
        assert [len(part.source) for part in parts].count(8) == 6
        found = sorted(
            tokens.decode([i for i in row if i != -100])
            for part in parts
            for row in part.target.tolist()
        )
        assert found == sorted(e.iso for e in examples)


def test_buckets_save_padding():
    examples = generate(splits()["test"][:200])
    tokens = characters([e.text + e.iso for e in examples])
    pads = [
        sum(
            int((part.decoder_input == 0).sum())
            for part in one_text_batches(examples, tokens, 20, bucket)
        )
        for bucket in (1, 5)
    ]
    assert pads[1] < pads[0] / 2


def test_the_trained_model_reads_dates():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    model, tokens, _, card = one_text_model(DEVICE)
    same(torch.get_rng_state(), before)
    assert not model.training and card["test"] >= 0.99
    assert sum(p.numel() for p in model.parameters()) == 56_016
    batches = one_text_batches(generate(splits()["validation"][:500]), tokens)
    share = exact_match(OneText(model), batches, pad_id=-100)
    assert share >= 0.985
    weight = next(model.parameters())
    assert weight.dtype == torch.float64 and not weight.requires_grad


@BAD
def test_bad_input_is_refused():
    with refused(ValueError, "examples", "at least one", "none"):
        one_text([], TOKENS)
    with refused(ValueError, "size", "at least 1", "0"):
        one_text_batches(EXAMPLES, TOKENS, size=0)
