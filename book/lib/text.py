"""Chapter 1: from text to token ids and back, and ragged batches.

A token is a word, a punctuation mark or, where a chapter says so, a
character. Sub-word tokens (byte-pair encoding) are not taught here.
"""

import re

import torch
from jaxtyping import Int64
from torch import Tensor

from . import validate
from .validate import lists

SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")


def split_words(text: str) -> list[str]:
    """Words and punctuation marks, in order; white space is dropped.

    An apostrophe inside a word belongs to it, a hyphen does not.
    """
    validate.string(text=text)
    return re.findall(r"\w+(?:['’]\w+)*|[^\w\s]", text)


def join_words(tokens: list[str]) -> str:
    """Put a space between tokens, but none before a closing mark.

    The inverse of `split_words` for plainly spaced sentences. What
    `split_words` dropped (a second space, the tight fit of a hyphen or of an
    opening bracket) cannot be restored.
    """
    tokens = lists.strings(tokens, "tokens")
    return re.sub(r" ([.,;:!?])", r"\1", " ".join(tokens))


class Vocabulary:
    """A two-way table, token to id and id to token; ids 0 to 3 are special.

    Args:
        tokens: the ordinary tokens, in any order, repeats allowed. They are
            sorted, so that the same tokens always get the same ids.
        split: cuts a text into tokens; `list` makes every character a token.
        join: puts tokens together again, `"".join` for characters.

    Raises:
        ValueError: a token is empty, or spelled like a special one.
    """

    pad_id, bos_id, eos_id, unk_id = range(4)

    def __init__(self, tokens, split=split_words, join=join_words):
        validate.functions(split=split, join=join)
        tokens = lists.strings(tokens, "tokens")
        validate.ordinary_tokens(tokens, SPECIALS)
        self.tokens = [*SPECIALS, *sorted(set(tokens))]
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.split, self.join = split, join

    @classmethod
    def from_texts(cls, texts, split=split_words, join=join_words):
        """The vocabulary of every token that occurs in the texts."""
        validate.functions(split=split, join=join)
        texts = lists.strings(texts)
        return cls([t for text in texts for t in split(text)], split, join)

    def __len__(self) -> int:
        """The number V of ids, the special ones included."""
        return len(self.tokens)

    def encode(self, text, bos=False, eos=False) -> list[int]:
        """The ids of a text; an unknown token becomes UNK."""
        validate.string(text=text)
        validate.booleans(bos=bos, eos=eos)
        ids = [self.ids.get(token, self.unk_id) for token in self.split(text)]
        return [self.bos_id] * bos + ids + [self.eos_id] * eos

    def decode(self, ids) -> str:
        """The text of a list or 1-D tensor of ids, without PAD, BOS, EOS.

        UNK is kept and reads `<unk>`: a reader must see that a token is lost.
        """
        ids = lists.ids(ids, len(self))
        silent = (self.pad_id, self.bos_id, self.eos_id)
        return self.join([self.tokens[i] for i in ids if i not in silent])


def pad_batch(
    sequences: list, pad_id: int = Vocabulary.pad_id
) -> Int64[Tensor, "batch length"]:
    """One row a sequence, filled up at the end with `pad_id`."""
    validate.integer("pad_id", pad_id, least=0)
    rows = lists.sequences(sequences)
    longest = max(len(ids) for ids in rows)
    padded = [ids + [pad_id] * (longest - len(ids)) for ids in rows]
    return torch.tensor(padded, dtype=torch.int64)
