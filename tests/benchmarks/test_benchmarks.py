"""The benchmark compares equals, and its results are what the pages read."""

import copy
import json
from dataclasses import replace

import pytest
import torch
from babel.dates import format_date

from benchmarks import (
    ablations,
    attention,
    cheaper,
    costs,
    date_model,
    dates,
    decoding,
    hops,
    layouts,
    matrix_product,
    model,
    reasons,
    timing,
    written_dates,
)
from benchmarks.variants import VARIANTS
from kit.dates import generate, splits
from lib.efficient import linear_attention
from lib.heads import MultiHeadAttention
from lib.masks import causal_mask, padding_mask
from lib.positions import PositionalEncoding
from lib.transformer import Transformer, TransformerConfig


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
def test_a_variant_equals_the_module(variant):
    torch.manual_seed(0)
    module, x = MultiHeadAttention(12, 3), torch.randn(2, 5, 12)
    padding = padding_mask(torch.tensor([5, 2]))
    for mask in (None, causal_mask(5), padding, padding & causal_mask(5)):
        expected = module(x, may_attend=mask)
        torch.testing.assert_close(variant(module, x, mask), expected)


@pytest.mark.parametrize("case", attention.MASKS)
def test_all_that_is_timed_computes_the_same(case, monkeypatch):
    monkeypatch.setitem(attention.SIZES, "tiny", (4, 7, 16, 2))
    torch.manual_seed(0)
    ours, *others = attention.calls("tiny", case).values()
    for other in others:
        torch.testing.assert_close(other(), ours(), atol=1e-5, rtol=0)


def test_candidates_take_turns_and_every_other_round_is_backwards():
    order = []
    runs = {name: lambda name=name: order.append(name) for name in "ab"}
    times = timing.side_by_side(runs, repeats=1, rounds=2)
    assert "".join(order) == "ab" + "ab" + "ba"  # the first to warm up
    assert [len(seconds) for seconds in times.values()] == [2, 2]


def test_a_ratio_is_the_median_over_rounds():
    times = {"slow": [3.0, 8.0, 40.0], "base": [2.0, 2.0, 2.0]}
    assert timing.ratio(times, "slow", "base") == 4.0
    assert timing.geometric_mean([0.5, 2.0]) == 1.0


def test_saved_bytes_count_each_storage_once_and_none_that_was_given():
    x = torch.ones(256, requires_grad=True)

    def run():
        y = x * 2
        return x * y * y  # saves x and, twice, y; and the product x * y

    given = {x.untyped_storage().data_ptr()}
    assert attention.saved_bytes(run, given) == 2 * 4 * 256
    assert attention.saved_bytes(run, set()) == 3 * 4 * 256


def test_padded_case_has_short_sentences():
    mask, _ = attention.masks("padded", 4, 14)
    assert mask.sum(-1).flatten().tolist() == [8, 10, 12, 14]


def test_the_two_models_compute_the_same_and_both_learn():
    torch.manual_seed(0)
    models = model.pair(model.config(8, 2, layers=1))
    source, target = model.sentences(3, 6), model.sentences(3, 4)
    assert (source == 0).any() and (source[:, 0] != 0).all()
    real = target != 0
    first, second = (m.eval()(source, target)[real] for m in models)
    torch.testing.assert_close(first, second)
    for module in models:
        model.training(module, source, target)()
        assert not torch.allclose(module(source, target)[real], first)


def test_the_check_of_the_two_models_can_fail():
    ours, theirs = model.pair(model.config(8, 2, layers=1))
    texts = model.sentences(3, 6), model.sentences(3, 4)
    model.check(ours, theirs, *texts)
    with torch.no_grad():
        theirs.theirs.encoder.layers[0].linear1.bias += 1
    with pytest.raises(AssertionError):
        model.check(ours, theirs, *texts)


@pytest.mark.parametrize("tied", ["target", "none"])
def test_a_pair_without_final_norms_has_equal_parameters(tied):
    sizes = TransformerConfig(9, 7, 8, 2, 16, 1, 2, dropout=0.0, tied=tied)
    counts = [
        sum(weight.numel() for weight in module.parameters())
        for module in model.pair(sizes)
    ]
    assert counts[0] == counts[1]


@pytest.mark.slow
def test_every_variant_trains_and_the_plain_one_is_that_of_make_model(
    monkeypatch,
):
    monkeypatch.setattr(ablations, "STEPS", 2)
    monkeypatch.setattr(ablations, "WARMUP", 1)
    task = ablations.Task(2, held=20)
    found = {name: ablations.run(name, 0, task) for name in ablations.VARIANTS}
    first = {name: run["first losses"][0] for name, run in found.items()}
    plain = first["plain recipe"]
    assert first["tied tables of std 1"] > 4 * plain
    changes_no_forward_pass = {"no warm-up", "no fall to zero", "no clipping"}
    for name in changes_no_forward_pass | {"schedule of 2017"}:
        assert first[name] == plain
    for name in set(first) - changes_no_forward_pass - {"schedule of 2017"}:
        assert name == "plain recipe" or first[name] != plain
    assert task.config == replace(
        date_model.config(*sizes_of(task)), max_length=5_000
    )
    made = ablations.SIZE, ablations.BUCKET, ablations.PEAK
    assert made == (date_model.SIZE, date_model.BUCKET, date_model.PEAK)


def sizes_of(task):
    return task.config.source_vocab_size, task.config.target_vocab_size


def test_the_rates_of_the_variants_share_peak_and_warmup():
    names = "rate", "no_warmup", "no_fall", "schedule_of_2017"
    rates = {
        name: [
            getattr(ablations, name)(step)
            for step in range(1, ablations.STEPS + 1)
        ]
        for name in names
    }
    peak, top = ablations.PEAK, ablations.WARMUP - 1
    for name, values in rates.items():
        assert max(values) == pytest.approx(peak, rel=1e-4), name
        if name != "no_warmup":
            assert values[top] == pytest.approx(peak)
            assert values[0] == pytest.approx(peak / ablations.WARMUP)
    assert rates["rate"][-1] == rates["no_warmup"][-1] == 0
    assert rates["no_fall"][-1] == peak
    root = (ablations.WARMUP / ablations.STEPS) ** 0.5
    assert rates["schedule_of_2017"][-1] == pytest.approx(peak * root)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_the_loops_over_torch_write_the_same():
    found = decoding.against_torch(2, 3)
    assert set(found) == {"whole model", "encoded once"}
    assert all(value > 0 for value in found.values())


def test_the_n_th_token_is_timed_with_and_without_a_cache(monkeypatch):
    monkeypatch.setattr(decoding, "WINDOW", 4)
    found = decoding.nth_token(length=8, rounds=1)
    assert found["token"] == [2, 6]
    assert list(found["time"]) == ["without cache", "with cache"]
    assert all(len(times) == 2 for times in found["time"].values())
    mean = sum(found["time"]["with cache"]) / 2
    assert abs(mean - 1) < 0.01


def test_a_first_call_is_measured_in_calls_with_one_token(monkeypatch):
    monkeypatch.setattr(decoding, "AT_ONCE", [1, 4])
    found = decoding.prefill(rounds=1)
    assert found["tokens"] == [1, 4]
    assert found["calls with one token"][0] == 1.0


def test_models_that_take_turns_see_every_batch_once():
    class Fake:
        def __init__(self):
            self.model, self.seen = torch.nn.Identity().eval(), []

        def step(self, batch):
            assert self.model.training
            self.seen.append(batch)

    fakes = {"ours": Fake(), "theirs": Fake()}
    times = dates.turns(fakes, list(range(50)))
    assert [len(took) for took in times.values()] == [3, 3]
    assert all(fake.seen == list(range(50)) for fake in fakes.values())


def test_babel_writes_the_same_dates():
    days = splits()["train"][:1000]
    plain = [format_date(*call) for call in written_dates.formats(days)]
    texts = [example.text.lower() for example in generate(days)]
    assert texts == [" ".join(text.lower().split()) for text in plain]
    found = written_dates.ratios(50)
    assert found["examples"] == 50 and found["generate by babel"] > 0


def test_a_map_is_followed_twice_and_no_test_map_is_trained_on():
    treasure = torch.tensor([[2, 0, 3, 5, 4, 1]])
    assert hops.two_hops(treasure).tolist() == [[5, 3, 1, 0, 4, 2]]
    known, unseen = (set(map(tuple, part.tolist())) for part in hops.split())
    assert len(known | unseen) == 720 and not known & unseen
    assert 0.15 < len(unseen) / 720 < 0.25


@pytest.mark.slow
def test_models_of_hops_have_the_sizes_of_their_names():
    for name, widths in hops.MODELS.items():
        blocks = hops.model(widths)[2].blocks
        found = [block.feed_forward.widen.out_features for block in blocks]
        assert found == widths and str(widths[0]) in name
    for shares in hops.run("two blocks of 64 units", 0, steps=hops.EVERY):
        assert len(shares) == 1 and 0 <= shares[0] <= 1


def test_costs_are_the_bytes_that_the_allocator_gave():
    found = costs.ratios([128, 256], rounds=1)
    assert list(found["time"]) == list(found["bytes"]) == list(costs.CALLS)
    assert found["time"]["in blocks (SDPA)"][0] == 1
    for n, size in zip(
        found["n"], found["bytes"]["the table in full"], strict=True
    ):
        assert 2 * n * n * 4 <= size <= 2 * n * n * 4 + n * 64 * 4
    assert found["bytes"]["in blocks (SDPA)"][1] < 2 * 256**2 * 4


@pytest.mark.slow
def test_what_does_not_fit_is_noted(monkeypatch):
    def too_much(*given):
        raise torch.OutOfMemoryError

    monkeypatch.setitem(costs.CALLS, "linear attention", too_much)
    found = costs.ratios([16], rounds=1)
    assert found["time"]["linear attention"] == [None]
    assert found["bytes"]["linear attention"] == [None]


def changed(name):
    """A plain model, and a variant with the same seed; in between a text."""
    torch.manual_seed(0)
    sizes = TransformerConfig(9, 9, 16, 4, 16, 1, 1, dropout=0.0, tied="none")
    plain = Transformer(sizes)
    variant = copy.deepcopy(plain)
    cheaper.VARIANTS[name](variant)
    return plain, variant, torch.randint(3, 9, (2, 7))


def test_shared_heads_begin_as_the_first_of_the_plain_ones():
    plain, variant, ids = changed("2 key heads")
    for name in ("encoder.blocks.0.attention",
                 "decoder.blocks.0.cross_attention"):  # fmt: skip
        full, shared = (m.get_submodule(name) for m in (plain, variant))
        assert (full.heads, shared.heads, shared.kv_heads) == (4, 4, 2)
        x = torch.randn(2, 3, 16)
        for many, few in zip(
            full.project(x, x, x), shared.project(x, x, x), strict=True
        ):
            torch.testing.assert_close(few, many[:, : few.shape[1]])
    assert variant(ids, ids).shape == plain(ids, ids).shape


def test_a_narrow_model_sees_its_neighbours_only():
    _, variant, ids = changed("window of 5")
    before, other = variant.encode(ids), ids.clone()
    other[:, 0] = 3 + (ids[:, 0] - 2) % 6
    moved = (variant.encode(other) != before).any(-1).any(0)
    assert moved.tolist() == [True] * 3 + [False] * 4
    cross = variant.decoder.blocks[0].cross_attention
    assert type(cross) is MultiHeadAttention


def test_linear_self_attention_is_that_of_the_library():
    _, variant, _ = changed("linear everywhere")
    module = variant.decoder.blocks[0].self_attention
    assert type(variant.decoder.blocks[0].cross_attention) is cheaper.Linear
    x = torch.randn(2, 7, 16)
    q, k, v = module.project(x, x, x)
    found, weights = module.attend(q, k, v, causal_mask(7))
    torch.testing.assert_close(found, linear_attention(q, k, v))
    assert weights is None


def test_a_variant_is_trained_as_the_ablations_are(monkeypatch):
    monkeypatch.setattr(ablations, "STEPS", 2)
    monkeypatch.setattr(ablations, "WARMUP", 1)
    task = ablations.Task(2, held=20)
    names = set(ablations.VARIANTS)
    plain = cheaper.run("4 key heads", 0, task)
    assert (
        plain["first losses"]
        == ablations.run("plain recipe", 0, task)["first losses"]
    )
    assert (
        cheaper.run("1 key head", 0, task)["first losses"]
        != plain["first losses"]
    )
    assert set(ablations.VARIANTS) == names


def test_the_cures_undo_what_large_tables_do():
    torch.manual_seed(0)
    attention = MultiHeadAttention(8, 2)
    torch.nn.init.zeros_(attention.in_proj.bias)  # as the model begins
    cooled = copy.deepcopy(attention)
    cooled.__class__ = reasons.Cooler
    x = torch.randn(1, 5, 8)
    _, weights = attention(x, x, x, need_weights=True)
    _, same = cooled(8 * x, 8 * x, 8 * x, need_weights=True)
    torch.testing.assert_close(same, weights)
    positions = PositionalEncoding(8)
    louder = reasons.Louder(positions)
    torch.testing.assert_close(
        louder(x, 3) - x, 8 * (positions(x, 3) - x), atol=1e-5, rtol=0
    )


@pytest.mark.slow
def test_reasons_are_tried_on_the_same_dates(monkeypatch):
    for module in (ablations, reasons):
        monkeypatch.setattr(module, "STEPS", 2)
    monkeypatch.setattr(ablations, "WARMUP", 1)
    task, unseen = ablations.Task(2, held=20), reasons.validation(20, 2)
    found = reasons.padding(0, task, unseen)
    assert set(found) == set(reasons.PAIR)
    assert set(found["no padding mask"]["unsorted"]) == set(unseen)
    assert set(reasons.tables(0, task)) == set(reasons.TABLES)
    shares = {
        kind: reasons.share_of_pad(some) for kind, some in unseen.items()
    }
    assert shares["unsorted"] >= shares["buckets"] > shares["no PAD"] == 0
    texts = {
        kind: sorted(
            tuple(row[row != 0].tolist()) for b in some for row in b.source
        )
        for kind, some in unseen.items()
    }
    assert texts["unsorted"] == texts["buckets"] == texts["no PAD"]


@pytest.mark.parametrize(
    "module",
    [
        *(ablations, attention, dates, decoding, layouts, matrix_product),
        *(cheaper, costs),
        *(hops, model, reasons, written_dates),
    ],
)
def test_results_say_where_and_when(module):
    record = json.loads(module.RESULT.read_text(encoding="utf-8"))
    assert {"machine", "date", "torch", "threads"} <= record.keys()
    assert record["threads"] == 1
