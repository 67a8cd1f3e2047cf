"""Dates for a decoder alone: what is read and what is written, one text.

Not taught. A row is the date as somebody wrote it, BOS, the date in ISO 8601,
and EOS; BOS says where the answer begins. What is asked for before that does
not count: its target is -100, which a loss of torch leaves out by itself.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from kit.dates import Example, in_buckets
from lib import validate
from lib.llama import DecoderOnly
from lib.text import Vocabulary, pad_batch
from lib.training import Batch

IGNORED = -100


def one_text(examples: Sequence[Example], vocabulary: Vocabulary) -> Batch:
    """Rows of text, BOS and ISO date, and the targets of the answer alone.

    The source of the batch is the text by itself; `decoder_input` is the row
    without EOS, filled up with PAD.
    """
    validate.collatable(examples, Vocabulary, vocabulary, vocabulary)
    texts = [vocabulary.encode(e.text) for e in examples]
    answers = [vocabulary.encode(e.iso, bos=True, eos=True) for e in examples]
    rows = [a + b[:-1] for a, b in zip(texts, answers, strict=True)]
    ids = pad_batch(rows)
    target = torch.full_like(ids, IGNORED)
    for row, text, answer in zip(target, texts, answers, strict=True):
        end = len(text) + len(answer) - 1
        row[len(text) : end] = torch.tensor(answer[1:])
    return Batch(pad_batch(texts), ids, target)


def one_text_batches(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    size: int = 64,
    bucket: int = 1,
    seed: int = 0,
) -> list[Batch]:
    """All examples in batches, shuffled and in buckets as `kit.dates` does."""
    validate.positive(size=size, bucket=bucket)
    parts = in_buckets(examples, size, bucket, seed)
    return [one_text(part, vocabulary) for part in parts]


class OneText(nn.Module):
    """A decoder alone, called as `lib.training` calls a model.

    It reads the decoder input, which has the source in it.
    """

    def __init__(self, model: DecoderOnly):
        super().__init__()
        self.model = model

    def forward(
        self,
        source: Int[Tensor, "batch s_len"],
        decoder_input: Int[Tensor, "batch t_len"],
    ) -> Float[Tensor, "batch t_len vocab"]:
        """The logits of each next token; `source` is not looked at."""
        return self.model(decoder_input)
