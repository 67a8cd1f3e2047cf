"""lib.text: splitting, joining, ids and back, ragged batches."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.text import SPECIALS, Vocabulary, join_words, pad_batch, split_words
from tests.library import no
from tests.library.draw import same
from tests.library.refusals import refuses

SENTENCE = "Life is short, eat dessert first"
VOCABULARY = Vocabulary.from_texts([SENTENCE])
words = st.sampled_from(["Life", "is", "short", "don't", "l’été", "7", "."])
characters = st.text(st.characters(codec="utf-8"), max_size=11)
ragged = st.lists(
    st.lists(st.integers(0, 97), max_size=11), min_size=1, max_size=7
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (SENTENCE, ["Life", "is", "short", ",", "eat", "dessert", "first"]),
        ("don't l’été", ["don't", "l’été"]),
        ("rock'n'roll", ["rock'n'roll"]),
        ("'quoted'", ["'", "quoted", "'"]),
        ("well-known", ["well", "-", "known"]),
        ("3.14\n\t你好!?", ["3", ".", "14", "你好", "!", "?"]),
        ("snake_case <pad>", ["snake_case", "<", "pad", ">"]),
    ],
)
def test_split_words(text, tokens):
    assert split_words(text) == tokens


def test_only_closing_marks_lose_their_space():
    for mark in ".,;:!?":
        assert join_words(["a", mark, "b"]) == f"a{mark} b"
    assert join_words(["a", "-", "b", "(", "."]) == "a - b (."


def test_tokens_are_sorted_and_counted_once_after_the_special_ones():
    vocabulary = Vocabulary(["b", "a", "B", "a"])
    assert SPECIALS == ("<pad>", "<bos>", "<eos>", "<unk>")
    assert vocabulary.tokens == [*SPECIALS, "B", "a", "b"]
    assert len(vocabulary) == 7
    assert vocabulary.ids == {t: i for i, t in enumerate(vocabulary.tokens)}
    v = Vocabulary
    assert [v.pad_id, v.bos_id, v.eos_id, v.unk_id] == [0, 1, 2, 3]


def test_encode():
    ids = [5, 9, 10, 4, 7, 6, 8]
    assert VOCABULARY.encode(SENTENCE) == ids
    assert VOCABULARY.encode(SENTENCE, bos=True) == [1, *ids]
    assert VOCABULARY.encode(SENTENCE, eos=True) == [*ids, 2]
    assert VOCABULARY.encode("Life is long, life") == [5, 9, 3, 4, 3]


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ([1, 5, 0, 9, 2, 0, 0], "Life is"),
        ([5, 9, 3, 4, 3], "Life is <unk>, <unk>"),
        ([], ""),
        (torch.tensor([5, 2, 0]), "Life"),
        ((5, 9), "Life is"),
        (iter([5, 9]), "Life is"),
    ],
)
def test_decode_leaves_out_what_is_no_text_but_shows_what_is_lost(ids, text):
    assert VOCABULARY.decode(ids) == text


@given(st.lists(words, max_size=11), st.booleans(), st.booleans())
def test_round_trip_of_words(tokens, bos, eos):
    vocabulary, text = Vocabulary(tokens), join_words(tokens)
    assert split_words(text) == tokens
    ids = vocabulary.encode(text, bos, eos)
    assert len(ids) == len(tokens) + bos + eos
    assert vocabulary.decode(ids) == text


@given(st.lists(characters, max_size=3))
def test_round_trip_of_characters(texts):
    vocabulary = Vocabulary.from_texts(texts, split=list, join="".join)
    assert len(vocabulary) == len(set("".join(texts))) + 4
    for text in texts:
        assert vocabulary.decode(vocabulary.encode(text, True, True)) == text


def test_a_special_token_cannot_be_written_in_a_text():
    vocabulary = Vocabulary.from_texts(["<pad> pad"])
    assert vocabulary.encode("<pad>") == [4, 6, 5]
    assert vocabulary.decode([4, 6, 5]) == "< pad >"


@given(ragged, st.integers(0, 5))
def test_pad_batch_fills_each_row_up_at_its_end(batch, pad_id):
    longest = max(map(len, batch))
    full = [[*row, *[pad_id] * (longest - len(row))] for row in batch]
    expected = torch.tensor(full, dtype=torch.int64)
    same(pad_batch(batch, pad_id), expected)
    tensors = [torch.tensor(row, dtype=torch.int64) for row in batch]
    same(pad_batch(tensors, pad_id), expected)
    if not pad_id:
        same(pad_batch(batch), expected)


NO_STRING = {"NoneType": None, "list": ["a"]}
NO_STRINGS = {"str": "Life", "int": 5, "NoneType": None}
NO_ITEM = {"int": ["Life", 7]}
BY_CHARACTER = Vocabulary(["a"], split=list, join="".join)  # minds no list
NO_IDS = {"str": "57", "int": 5, "NoneType": None}
NO_ID = {"float": [5.0], "bool": [True], "NoneType": [None]}
FLOATS = {"torch.float32": torch.tensor([5.0])}
BEYOND = {"-1": [5, -1], "11": (5, 11), "12": torch.tensor([5, 12])}
RANKS = {f"shape {s}": torch.ones(s).long() for s in ((), (1, 1))}
SPECIAL = {repr(token): ["a", token] for token in ("", *SPECIALS)}
ORDINARY = "none to be empty or one of <pad>, <bos>, <eos>, <unk>"
NO_FUNCTION = {"NoneType": None}
NO_ROWS = {"str": "12", "int": 3, "Tensor": torch.ones(2, 2).long()}
ROW = "an item of sequences"
from_texts, decode = Vocabulary.from_texts, VOCABULARY.decode
LIST = "a list or tensor of integers"


pad = partial(pad_batch, [[4]])


def pad_beside(sequences):
    return pad_batch([[4], sequences])


test_bad_input_is_refused = refuses(
    ("text", split_words, TypeError, "a string", NO_STRING),
    ("text", BY_CHARACTER.encode, TypeError, "a string", NO_STRING),
    ("tokens", join_words, TypeError, "a list of strings", NO_STRINGS),
    ("tokens", Vocabulary, TypeError, "a list of strings", NO_STRINGS),
    ("texts", from_texts, TypeError, "a list of strings", NO_STRINGS),
    ("an item of tokens", join_words, TypeError, "a string", NO_ITEM),
    ("tokens", Vocabulary, ValueError, ORDINARY, SPECIAL),
    *(
        (name, partial(build, ["a"]), TypeError, "a function", NO_FUNCTION)
        for build in (Vocabulary, from_texts)
        for name in ("split", "join")
    ),
    *no.switch(partial(VOCABULARY.encode, "Life"), "bos", "eos"),
    ("ids", decode, TypeError, LIST, NO_IDS),
    ("ids", decode, TypeError, "an integer", NO_ID),
    ("ids", decode, TypeError, "an integer tensor", FLOATS),
    ("ids", decode, ValueError, "ids from 0 to 10", BEYOND),
    ("ids", decode, ValueError, "one axis", RANKS),
    ("sequences", pad_batch, TypeError, "a list of id lists", NO_ROWS),
    ("sequences", pad_batch, ValueError, "at least one", {"none": []}),
    (ROW, pad_beside, ValueError, "ids from 0", {"-1": [-1]}),
    *no.integer(pad, "pad_id"),
    ("pad_id", pad, ValueError, "at least 0", {"-1": -1}),
)
