"""lib.text: splitting, joining, ids and back, ragged batches."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lib.text import SPECIALS, Vocabulary, join_words, pad_batch, split_words
from tests.library.draw import refused

SENTENCE = "Life is short, eat dessert first"
words = st.sampled_from(["Life", "is", "short", "don't", "l’été", "7", "."])
characters = st.text(st.characters(codec="utf-8"), max_size=11)
ragged = st.lists(
    st.lists(st.integers(0, 97), max_size=11), min_size=1, max_size=7
)


@pytest.fixture
def vocabulary():
    return Vocabulary.from_texts([SENTENCE])


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


@pytest.mark.parametrize("mark", list(".,;:!?"))
def test_no_space_before_a_closing_mark(mark):
    assert join_words(["a", mark, "b"]) == f"a{mark} b"


def test_other_marks_keep_their_space():
    assert join_words(["a", "-", "b", "(", "."]) == "a - b (."
    assert join_words([]) == ""


@given(st.lists(words, max_size=11))
def test_joining_undoes_splitting(tokens):
    text = join_words(tokens)
    assert split_words(text) == tokens
    assert join_words(split_words(text)) == text


def test_special_ids_come_first(vocabulary):
    assert SPECIALS == ("<pad>", "<bos>", "<eos>", "<unk>")
    assert tuple(vocabulary.tokens[:4]) == SPECIALS
    special = [Vocabulary.pad_id, Vocabulary.bos_id]
    special += [Vocabulary.eos_id, Vocabulary.unk_id]
    assert special == [0, 1, 2, 3]


def test_tokens_are_sorted_and_counted_once():
    vocabulary = Vocabulary(["b", "a", "B", "a"])
    assert vocabulary.tokens == [*SPECIALS, "B", "a", "b"]
    assert len(vocabulary) == 7
    assert vocabulary.ids == {t: i for i, t in enumerate(vocabulary.tokens)}


def test_encode(vocabulary):
    ids = [5, 9, 10, 4, 7, 6, 8]
    assert vocabulary.encode(SENTENCE) == ids
    assert vocabulary.encode(SENTENCE, bos=True) == [1, *ids]
    assert vocabulary.encode(SENTENCE, eos=True) == [*ids, 2]
    assert vocabulary.encode(SENTENCE, bos=True, eos=True) == [1, *ids, 2]
    assert vocabulary.encode("") == []


def test_an_unknown_word_becomes_unk_and_stays_visible(vocabulary):
    ids = vocabulary.encode("Life is long, life")
    assert ids == [5, 9, 3, 4, 3]
    assert vocabulary.decode(ids) == "Life is <unk>, <unk>"


def test_decode_leaves_pad_bos_and_eos_out(vocabulary):
    assert vocabulary.decode([1, 5, 0, 9, 2, 0, 0]) == "Life is"
    assert vocabulary.decode([]) == ""
    assert vocabulary.decode(torch.tensor([5, 2, 0])) == "Life"
    assert vocabulary.decode((5, 9)) == "Life is"
    assert vocabulary.decode(i for i in (5, 9)) == "Life is"


@given(st.lists(words, max_size=11), st.booleans(), st.booleans())
def test_round_trip_of_words(tokens, bos, eos):
    vocabulary = Vocabulary(tokens)
    text = join_words(tokens)
    ids = vocabulary.encode(text, bos, eos)
    assert len(ids) == len(tokens) + bos + eos
    assert vocabulary.decode(ids) == text
    assert vocabulary.decode(torch.tensor(ids, dtype=torch.int64)) == text


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
def test_pad_batch(rows, pad_id):
    batch = pad_batch(rows, pad_id)
    longest = max(map(len, rows))
    assert batch.dtype == torch.int64 and batch.shape == (len(rows), longest)
    for padded, row in zip(batch.tolist(), rows, strict=True):
        assert padded[: len(row)] == row
        assert set(padded[len(row) :]) <= {pad_id}


def test_pad_batch_pads_with_pad_of_the_vocabulary():
    assert pad_batch([[5], [5, 9]]).tolist() == [[5, 0], [5, 9]]
    assert pad_batch([[], []]).shape == (2, 0)
    rows = [torch.tensor([7, 8]), (9,)]
    assert pad_batch(rows, 1).tolist() == [[7, 8], [9, 1]]


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("text", "got"), [(None, "NoneType"), (["a"], "list")]
)
def test_refuses_a_text_that_is_no_string(vocabulary, text, got):
    with refused(TypeError, "text", "a string", got):
        split_words(text)
    with refused(TypeError, "text", "a string", got):
        vocabulary.encode(text)


@pytest.mark.bad_input
def test_refuses_a_list_of_characters():
    """Splitting by `list` would not mind it."""
    vocabulary = Vocabulary(["a"], split=list, join="".join)
    with refused(TypeError, "text", "a string", "list"):
        vocabulary.encode(["a"])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("build", "name"),
    [
        (Vocabulary, "tokens"),
        (Vocabulary.from_texts, "texts"),
        (join_words, "tokens"),
    ],
)
def test_refuses_what_is_no_list_of_strings(build, name):
    with refused(TypeError, name, "a list of strings", "str"):
        build("Life is short")
    with refused(TypeError, name, "a list of strings", "NoneType"):
        build(None)
    with refused(TypeError, f"an item of {name}", "a string", "int"):
        build(["Life", 7])


@pytest.mark.bad_input
@pytest.mark.parametrize("token", ["", *SPECIALS])
def test_refuses_tokens_that_are_empty_or_special(token):
    expected = "none to be empty or one of <pad>, <bos>, <eos>, <unk>"
    with refused(ValueError, "tokens", expected, repr(token)):
        Vocabulary(["a", token])


@pytest.mark.bad_input
@pytest.mark.parametrize("argument", ["split", "join"])
def test_refuses_what_cannot_split_or_join(argument):
    for build in (Vocabulary, Vocabulary.from_texts):
        with refused(TypeError, argument, "a function", "NoneType"):
            build(["a"], **{argument: None})


@pytest.mark.bad_input
@pytest.mark.parametrize("argument", ["bos", "eos"])
@pytest.mark.parametrize(("value", "got"), [(2, "int"), ("no", "str")])
def test_encode_refuses_a_choice_that_is_no_bool(
    vocabulary, argument, value, got
):
    with refused(TypeError, argument, "True or False", got):
        vocabulary.encode("Life", **{argument: value})


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("ids", "got"), [("57", "str"), (5, "int"), (None, "NoneType")]
)
def test_decode_refuses_what_is_no_list(vocabulary, ids, got):
    with refused(TypeError, "ids", "a list or tensor of integers", got):
        vocabulary.decode(ids)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("ids", "got"), [([5.0], "float"), ([True], "bool"), ([None], "NoneType")]
)
def test_decode_refuses_ids_that_are_no_integers(vocabulary, ids, got):
    with refused(TypeError, "ids", "an integer", got):
        vocabulary.decode(ids)
    with refused(TypeError, "ids", "an integer tensor", "torch.float32"):
        vocabulary.decode(torch.tensor([5.0]))


@pytest.mark.bad_input
@pytest.mark.parametrize("wrong", [-1, 11])
def test_decode_refuses_an_id_outside_the_vocabulary(vocabulary, wrong):
    for ids in ([5, wrong], torch.tensor([5, wrong])):
        with refused(ValueError, "ids", "ids from 0 to 10", f"{wrong}"):
            vocabulary.decode(ids)


@pytest.mark.bad_input
@pytest.mark.parametrize("shape", [(), (1, 1)])
def test_decode_refuses_a_batch(vocabulary, shape):
    ids = torch.ones(shape, dtype=torch.int64)
    with refused(ValueError, "ids", "one axis", f"shape {shape}"):
        vocabulary.decode(ids)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("rows", "got"),
    [("12", "str"), (3, "int"), (torch.ones(2, 2).long(), "Tensor")],
)
def test_pad_batch_refuses_what_is_no_list_of_lists(rows, got):
    with refused(TypeError, "sequences", "a list of id lists", got):
        pad_batch(rows)


@pytest.mark.bad_input
def test_pad_batch_refuses_an_empty_batch():
    with refused(ValueError, "sequences", "at least one", "none"):
        pad_batch([])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("row", "error", "expected", "got"),
    [
        (4, TypeError, "a list or tensor of integers", "int"),
        (["a"], TypeError, "an integer", "str"),
        ([0.5], TypeError, "an integer", "float"),
        ([-1], ValueError, "ids from 0", "-1"),
        (torch.tensor([[4]]), ValueError, "one axis", "shape (1, 1)"),
        (torch.tensor([4.0]), TypeError, "integer tensor", "torch.float32"),
    ],
)
def test_pad_batch_refuses_a_row_that_holds_no_ids(row, error, expected, got):
    with refused(error, "an item of sequences", expected, got):
        pad_batch([[4], row])


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("pad_id", "error", "expected", "got"),
    [
        (None, TypeError, "an integer", "NoneType"),
        (0.0, TypeError, "an integer", "float"),
        (-1, ValueError, "at least 0", "-1"),
    ],
)
def test_pad_batch_refuses_a_wrong_pad_id(pad_id, error, expected, got):
    with refused(error, "pad_id", expected, got):
        pad_batch([[4]], pad_id)
