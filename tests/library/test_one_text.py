"""kit.one_text: rows of text and answer."""

import pytest
import torch.nn.functional as F

from kit.dates import Example, characters, generate, in_buckets, splits
from kit.one_text import OneText, one_text, one_text_batches
from lib.llama import DecoderOnly, DecoderOnlyConfig
from lib.training import label_smoothed_loss
from tests.library.draw import close, normal, refused, same

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
    model = DecoderOnly(DecoderOnlyConfig(len(TOKENS), 8, 2, 1, 12, 1))
    read = OneText(model)(batch.source, batch.decoder_input)
    same(read, model(batch.decoder_input))


def test_batches_are_the_rows_of_examples_in_buckets():
    examples = generate(splits()["test"][:200])
    tokens = characters([e.text + e.iso for e in examples])
    made = one_text_batches(examples, tokens, 24, 5, 1)
    for batch, part in zip(made, in_buckets(examples, 24, 5, 1), strict=True):
        for ids, wanted in zip(batch, one_text(part, tokens), strict=True):
            same(ids, wanted)


@pytest.mark.bad_input
def test_bad_input_is_refused():
    with refused(ValueError, "examples", "at least one", "none"):
        one_text([], TOKENS)
    with refused(ValueError, "size", "at least 1", "0"):
        one_text_batches(EXAMPLES, TOKENS, size=0)
