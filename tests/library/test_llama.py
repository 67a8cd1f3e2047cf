"""lib.llama: the recorded LLaMA of a public package, and its cache."""

import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from lib.llama import (
    DecoderOnly,
    DecoderOnlyBlock,
    DecoderOnlyConfig,
    load_llama,
    read_config,
    write_on,
)
from lib.trained import FOLDER
from tests.library.draw import DEVICE, close, refused, same

BAD = pytest.mark.bad_input
SMALL = DecoderOnlyConfig(11, 16, 4, 2, 12, 2)
NEAR = {"rtol": 0, "atol": 1e-5}


def recorded():
    """The fields, the weights, and our model of them."""
    fields = json.loads((FOLDER / "llama.json").read_text(encoding="utf-8"))
    weights = load_file(FOLDER / "llama.safetensors", device=str(DEVICE))
    model = DecoderOnly(read_config(fields)).to(DEVICE)
    load_llama(model.requires_grad_(False), weights)
    return fields, weights, model


def small(seed=0, **changes):
    torch.manual_seed(seed)
    model = DecoderOnly(replace(SMALL, **changes))
    return model.to(DEVICE).double().requires_grad_(False)


def some_ids(length=9, batch=2):
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(11, (batch, length), generator=generator)
    return ids.to(DEVICE)


def test_it_is_llama():
    _, theirs, model = recorded()
    torch.testing.assert_close(model(theirs["ids"]), theirs["logits"], **NEAR)


@pytest.mark.parametrize("sizes", [(1,) * 12, (5, 1, 4, 2), (11, 1)])
def test_it_is_llama_with_a_cache(sizes):
    _, theirs, model = recorded()
    cache, parts = model.empty_cache(), []
    for part in theirs["ids"].split(sizes, dim=1):
        parts.append(model(part, cache))
    torch.testing.assert_close(torch.cat(parts, 1), theirs["logits"], **NEAR)


@pytest.mark.parametrize(
    "changes", [{}, {"window": 3}, {"tied": True}, {"kv_heads": 1}]
)
def test_cached_in_parts(changes):
    model, ids = small(**changes), some_ids()
    cache = model.empty_cache()
    parts = [model(part, cache) for part in ids.split((4, 1, 3, 1), dim=1)]
    close(torch.cat(parts, 1), model(ids), steps=256)


def test_what_fills_up_the_end_is_never_looked_at():
    model, ids = small(), some_ids()
    same(
        model(ids)[:, :5], model(torch.cat([ids[:, :5], ids[:, :4]], 1))[:, :5]
    )


def test_tied_matrices_are_one():
    tied, two = small(tied=True), small()
    assert tied.output.weight is tied.table.weight
    assert sum(p.numel() for p in two.parameters()) == 11 * 16 + sum(
        p.numel() for p in tied.parameters()
    )
    assert 0.2 < tied.table.weight.std() < 0.3 < 0.8 < two.table.weight.std()


def test_every_weight_learns():
    model = small().requires_grad_(True)
    model(some_ids()).square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad.abs().max() > 0, name


def test_the_sizes_of_real_models():
    known = {
        6_738_415_616: {},
        68_976_648_192: {
            "d_model": 8_192, "heads": 64, "kv_heads": 8, "d_ff": 28_672,
            "layers": 80,
        },
        7_241_732_096: {"kv_heads": 8, "d_ff": 14_336, "window": 4_096},
        1_100_048_384: {
            "d_model": 2_048, "kv_heads": 4, "d_ff": 5_632, "layers": 22,
        },
    }  # fmt: skip
    for weights, changes in known.items():
        with torch.device("meta"):
            model = DecoderOnly(replace(DecoderOnlyConfig(), **changes))
        assert sum(p.numel() for p in model.parameters()) == weights


def test_an_old_and_a_new_file_say_the_same():
    fields, _, model = recorded()
    old = {k: v for k, v in fields.items() if k != "rope_parameters"}
    old["rope_theta"] = fields["rope_parameters"]["rope_theta"]
    assert read_config(old) == read_config(fields) == model.config
    assert model.config == DecoderOnlyConfig(
        50, 32, 4, 2, 44, 2, 1_000.0, None, 1e-3, False
    )
    mistral = read_config(old | {"sliding_window": 7, "head_dim": None})
    assert mistral.window == 7


def test_a_tied_model_needs_no_output_matrix():
    fields, weights, _ = recorded()
    weights = {k: v for k, v in weights.items() if k != "lm_head.weight"}
    model = DecoderOnly(read_config(fields | {"tie_word_embeddings": True}))
    load_llama(model, weights)
    same(
        model.output.weight.detach().to(DEVICE),
        weights["model.embed_tokens.weight"],
    )


def test_writing_takes_the_best_token():
    model, ids = small(), some_ids(4)
    written, text = write_on(model, ids, limit=6), ids
    for t in range(6):
        best = model(text)[:, -1:].argmax(-1)
        same(written[:, t : t + 1], best)
        text = torch.cat([text, best], dim=1)


def test_writing_stops_when_all_have_ended():
    model, ids = small(), some_ids(4)
    whole = write_on(model, ids, limit=8)
    for end in whole[0].unique().tolist():
        found = write_on(model, ids, limit=8, eos_id=end)
        same(found, whole[:, : found.shape[1]])
        both = (whole == end).any(1).all()
        last = [row.index(end) for row in whole.tolist() if end in row]
        assert found.shape[1] == (max(last) + 1 if both else 8)


@BAD
def test_sizes_are_refused():
    for field, value, words in (
        ("vocab_size", 0, ("at least 1", "0")),
        ("layers", 0, ("at least 1", "0")),
        ("eps", -1.0, ("at least 0", "-1")),
    ):
        with refused(ValueError, field, *words):
            replace(SMALL, **{field: value})
    with refused(TypeError, "tied", "True or False", "int"):
        replace(SMALL, tied=1)
    for make in (DecoderOnly, DecoderOnlyBlock):
        with refused(TypeError, "config", "DecoderOnlyConfig", "dict"):
            make({})


@BAD
def test_ids_and_caches_are_refused():
    model = small()
    with refused(ValueError, "ids", "0 to 10", "11"):
        model(torch.tensor([[11]]).to(DEVICE))
    with refused(ValueError, "ids", "at least one position", "(1, 0)"):
        model(some_ids()[:1, :0])
    with refused(ValueError, "cache", "one past for each of 2", "1"):
        model(some_ids(), model.empty_cache()[:1])
    with refused(ValueError, "limit", "at least 1", "0"):
        write_on(model, some_ids(), 0)


@BAD
@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("hidden_act", "gelu", ("silu", "'gelu'")),
        ("attention_bias", True, ("False", "True")),
        ("rope_scaling", {"factor": 8}, ("None", "factor")),
        ("rope_parameters", {"rope_type": "yarn"}, ("default", "'yarn'")),
        ("head_dim", 16, ("8, d_model / heads", "16")),
    ],
)
def test_what_the_book_has_not_is_refused(field, value, words):
    fields, _, _ = recorded()
    name = "rope_type" if field == "rope_parameters" else field
    with refused(ValueError, name, *words):
        read_config(fields | {field: value})
