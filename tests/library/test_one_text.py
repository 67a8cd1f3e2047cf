"""kit.one_text: rows of text and answer."""

import pytest
import torch.nn.functional as F

from kit.dates import Example, characters, generate, splits
from kit.one_text import one_text, one_text_batches
from lib.training import label_smoothed_loss
from tests.library.draw import close, normal, refused

EXAMPLES = [
    Example("3 mars", "03-03", "fr"),
    Example("12 mars", "03-12", "fr"),
]
TOKENS = characters(["3 mars12-0"])


def test_a_row_is_text_bos_and_answer_and_only_the_answer_counts():
    batch = one_text(EXAMPLES, TOKENS)
    texts = [TOKENS.encode(e.text) for e in EXAMPLES]
    answers = [TOKENS.encode(e.iso) for e in EXAMPLES]
    first = [*texts[0], TOKENS.bos_id, *answers[0], TOKENS.pad_id]
    second = [*texts[1], TOKENS.bos_id, *answers[1]]
    assert batch.decoder_input.tolist() == [first, second]
    assert batch.source[0].tolist() == [*texts[0], TOKENS.pad_id]
    answer = [*answers[0], TOKENS.eos_id]
    assert batch.target[0].tolist() == [-100] * 6 + answer + [-100]
    logits = normal(*batch.target.shape, len(TOKENS)).cpu()
    ours = label_smoothed_loss(logits, batch.target, 0.1, pad_id=-100)
    theirs = F.cross_entropy(
        logits.flatten(0, 1), batch.target.flatten(), label_smoothing=0.1
    )
    close(ours, theirs)


def test_batches_hold_every_example_once_and_buckets_save_padding():
    examples = generate(splits()["test"][:200])
    tokens = characters([e.text + e.iso for e in examples])
    pads = []
    for bucket in (1, 5):
        parts = one_text_batches(examples, tokens, 24, bucket)
        assert [len(part.source) for part in parts].count(24) == 8
        found = sorted(
            tokens.decode([i for i in row if i != -100])
            for part in parts
            for row in part.target.tolist()
        )
        assert found == sorted(e.iso for e in examples)
        pads.append(sum((part.decoder_input == 0).sum() for part in parts))
    assert pads[1] < pads[0] / 2


@pytest.mark.bad_input
def test_bad_input_is_refused():
    with refused(ValueError, "examples", "at least one", "none"):
        one_text([], TOKENS)
    with refused(ValueError, "size", "at least 1", "0"):
        one_text_batches(EXAMPLES, TOKENS, size=0)
