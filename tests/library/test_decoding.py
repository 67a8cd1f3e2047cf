"""lib.decoding: the best token, a drawn one, and what may be written."""

import itertools
import math
from functools import partial

import pytest
import torch
from torch import nn

from lib.beams import beam_search
from lib.cache import IncrementalDecoder
from lib.decoders import decoder_for
from lib.decoding import filtered, greedy, sample, write_tokens
from tests.library.draw import DEVICE, normal, refused, same
from tests.library.refusals import by_shape, refuses
from tests.library.untrained import KINDS, VOCAB, build, sources, step_logits

CACHED = pytest.mark.parametrize("cached", [True, False])


@pytest.mark.covered(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("begun", [False, True])
@CACHED
def test_greedy_is_the_best_token_every_time(kind, seed, begun, cached):
    """Row by row, without cache, mask or batch: the definition.

    Sources may be of int32, like the beginning.
    """
    model, source = build(seed=seed, **kind), sources(seed=seed)
    beginning = torch.tensor([[5, 6], [7, 8], [9, 9], [3, 4], [5, 5]])
    beginning = beginning.to(DEVICE, torch.int32) if begun else None
    written = greedy(model, source.int(), 12, cached, beginning)
    longest = 0
    for i, (row, result) in enumerate(zip(source, written, strict=True)):
        ids = [1, *(beginning[i].tolist() if begun else [])]
        while len(ids) <= 12 and ids[-1] != model.config.eos_id:
            target = torch.tensor([ids]).to(DEVICE)
            with torch.no_grad():
                logits = step_logits(model, row[row != 0][None], target)
            ids.append(2 + logits[0, -1, 2:].argmax().item())
        longest = max(longest, len(ids) - 1)
        assert result.tolist() == ids[1:] + [0] * (len(result) - len(ids) + 1)
    assert written.shape == (5, longest) and written.dtype == torch.int64


@pytest.mark.parametrize(
    "write, options",
    [
        (write_tokens, {"choose": lambda logits: logits.argmax(-1)}),
        (greedy, {}),
        (sample, {"top_k": 1}),
        (beam_search, {"width": 1}),
    ],
)
def test_by_default_only_new_positions_are_computed(write, options):
    model, source, seen = build(seed=5), sources(1), []
    model.tables.target_embedding.register_forward_hook(
        lambda module, given, rows: seen.append(given[0].numel())
    )
    write(model, source, limit=3, **options)
    assert len(seen) > 1 and {*seen} == {1}
    assert isinstance(decoder_for(model, source), IncrementalDecoder)


def scripted(texts):
    """A `choose` that writes the texts, and 5 behind their ends."""
    steps = itertools.count()

    def choose(logits):
        step = next(steps)
        tokens = [[*text, *[5] * 40][step] for text in texts]
        return torch.tensor(tokens).to(DEVICE)

    return choose


@CACHED
@pytest.mark.parametrize(
    ("texts", "limit", "beginning", "expected"),
    [
        ([[5, 2], [6, 7, 2], [2]], 9, None, [[5, 2, 0], [6, 7, 2], [2, 0, 0]]),
        ([[5, 6, 7, 2], [2]], 3, None, [[5, 6, 7], [2, 0, 0]]),
        ([[6, 7], [2]], 4, [[5, 5], [9, 9]], [[5, 5, 6, 7], [9, 9, 2, 0]]),
        ([[5], [5]], None, None, [[5] * 40] * 2),
    ],
)
def test_rows_are_written_to_their_ends(
    texts, limit, beginning, expected, cached
):
    """PAD follows EOS; a row at the limit has none.

    A beginning counts for the limit, which is all positions if none is said.
    """
    if beginning:
        beginning = torch.tensor(beginning).to(DEVICE)
    choose, source = scripted(texts), sources(len(texts))
    written = write_tokens(build(), source, choose, limit, cached, beginning)
    assert written.tolist() == expected


def test_mode_and_gradients_are_as_before():
    """What leaves is an ordinary tensor, which may be changed."""
    model = build(dropout=0.5).train()
    model.encoder.eval()
    written = greedy(model, sources(), 9)
    same(written, greedy(build(), sources(), 9))
    for part in (written, *beam_search(model, sources(), 2, limit=3)):
        assert not part.requires_grad
        part[0, 0] = 0
    assert model.training and not model.encoder.training
    assert torch.is_grad_enabled()


def test_no_sources_a_source_of_pad_and_half_precision():
    model, blank = build(), 0 * sources(2)
    same(greedy(model, blank, 9)[0], greedy(model, blank[:, :3], 9)[1])
    for source in (sources()[:0], sources().int()):
        for kind in (torch.float64, torch.bfloat16):
            model.to(kind)
            assert len(greedy(model, source, 9)) == len(source)
            assert len(beam_search(model, source, limit=9).best) == len(source)


def test_filtered_at_its_edges():
    """Of equal tokens the first is kept, and no more than are needed.

    All rows are filtered alike, and nothing is changed in place.
    """
    first = filtered(torch.zeros(5_000).to(DEVICE), top_k=1)
    assert first.argmax() == 0 and first.isfinite().sum() == 1
    for number, top_p, kept in ((2, 1 / 2, 1), (3, 2 / 3, 2), (20, 0.3, 6)):
        left = filtered(torch.zeros(number).to(DEVICE), top_p=top_p)
        assert left.isfinite().sum() == kept
    logits = normal(3, 5, 11)
    rows = [filtered(row, 0.7, 4, 0.9) for row in logits[1]]
    same(filtered(logits, 0.7, 4, 0.9)[1], torch.stack(rows))
    torch.testing.assert_close(filtered(logits, 0.5), filtered(2 * logits))
    same(logits, normal(3, 5, 11))


def test_sample_continues_a_beginning_too():
    model, source = build(), sources(3)
    beginning = torch.full((3, 2), 5).to(DEVICE)
    drawn = sample(model, source, 9, beginning=beginning, top_k=1)
    same(drawn, greedy(model, source, 9, beginning=beginning))
    same(drawn[:, :2], beginning)


def test_draws_are_made_in_double_precision():
    """Of the same logits, whatever their dtype."""
    model, source, drawn = build(), sources(1).expand(2_000, -1), []
    rough = normal(1, 1, VOCAB).bfloat16()
    for logits in (rough, rough.double()):
        model.decode = lambda ids, *_, logits=logits: logits.repeat(
            *ids.shape, 1
        )
        generator = torch.Generator().manual_seed(0)
        drawn.append(sample(model, source, 3, generator, cached=False))
    same(*drawn)


class OfCuda(torch.Generator):
    device = torch.device("cuda")


def ids(*rows):
    return torch.tensor([*rows]).to(DEVICE)


def writing(call):
    """What no way to write takes."""
    call = partial(call, model=build(), source=sources(2), limit=4)
    return [
        ("model", call, TypeError, "Transf", {"Lin": nn.Linear(1, 1)}),
        ("limit", call, ValueError, "1 to 40", {"0": 0, "41": 41}),
        ("cached", call, TypeError, "True or False", {"int": 1}),
    ]


def beginning(*rows):
    """What no text begins with."""
    call = partial(greedy, model=build(), source=sources(2), limit=4)
    return [("beginning", call, ValueError, *row) for row in rows]


draw = partial(sample, build(), sources(2))
search = partial(beam_search, build(), sources(2))
choose = partial(write_tokens, build(), sources(), limit=3)
NO_LENGTHS = {"0": ids([], []).long(), "4": ids([5] * 4, [5] * 4)}
NO_CHOICE = {
    "(5, 1)": lambda x: x.argmax(-1)[:, None],
    "(4,)": lambda x: x.argmax(-1)[:4],
    "torch.bool": lambda x: x[:, 0] > 0,
    "list": lambda x: [5] * 5,
}
test_bad_input_is_refused = refuses(
    *writing(greedy),
    *writing(beam_search),
    ("width", search, ValueError, "at least 1", {"0": 0}),
    ("length_penalty", search, ValueError, "at least 0", {"-1": -1}),
    *beginning(
        ("2 axes", by_shape(ids(5, 5))),
        ("2 rows, one for each", {"1": ids([5])}),
        ("from 0 to 10", {"11": ids([5], [11])}),
        ("without pad_id", {"0": ids([5], [0])}),
        ("without bos_id", {"1": ids([1], [5])}),
        ("without eos_id", {"2": ids([5], [2])}),
        ("1 to 3 tokens, so that one of 4", NO_LENGTHS),
    ),
    ("temperature", draw, ValueError, "more than 0", {"0": 0}),
    ("temperature", draw, ValueError, "at least 0", {"-1": -1}),
    ("top_k", draw, ValueError, "at least 1", {"0": 0}),
    ("top_p", draw, ValueError, "0 < top_p <= 1", {"0.0": 0.0, "1.5": 1.5}),
    ("top_p", draw, TypeError, "a number", {"str": "a"}),
    ("generator", draw, TypeError, "Generator", {"int": 5}),
    ("generator", draw, ValueError, "one of the CPU", {"cuda": OfCuda()}),
    ("choose", choose, ValueError, "for each of 5 rows", NO_CHOICE),
    ("choose", choose, TypeError, "a function", {"list": [5] * 5}),
)


@pytest.mark.bad_input
@CACHED
@pytest.mark.parametrize("wrong", [0, 1, -1, 11])
def test_refuses_a_choice_that_may_not_be_written(wrong, cached):
    """PAD, BOS and ids outside the vocabulary, also behind the end."""
    for texts in ([[5] * 9, [5, wrong]], [[5] * 9, [2, wrong]]):
        with refused(ValueError, "choose", "0 to 10 without PAD", f"{wrong}"):
            write_tokens(build(), sources(2), scripted(texts), 3, cached)


@pytest.mark.bad_input
@CACHED
def test_refuses_a_model_with_nan(cached):
    model = build()
    with torch.no_grad():
        model.tables.output.weight[5, 0] = math.nan
    for call in (greedy, beam_search):
        with refused(ValueError, "logits", "numbers", "NaN"):
            call(model, sources(), limit=3, cached=cached)
