"""Chapter 16's model beside `transformers`: LLaMA, BLOOM's ALiBi, T5's bias.

Random weights from configurations; nothing is downloaded.
"""

import pytest
import torch
from safetensors.torch import load_file

from lib.llama import DecoderOnly, load_llama, read_config, write_on
from lib.modern import (
    GatedFeedForward,
    RelativeBias,
    RMSNorm,
    alibi_slopes,
    distance_buckets,
)
from tests.conformance.tiny_llama import FOLDER, build, randomise, texts
from tests.library.llama_files import SLOWER

transformers = pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)

NEAR = {"rtol": 0, "atol": 1e-5}
SHAPES = (
    {},
    {"num_key_value_heads": 1},
    {"num_key_value_heads": 4, "num_hidden_layers": 3},
    {"tie_word_embeddings": True},
    {"rms_norm_eps": 1e-6, "rope_parameters": {
        "rope_theta": 500_000.0, "rope_type": "default",
    }},
)  # fmt: skip


def pair(seed=0, **changes):
    """Theirs and ours, with the same weights."""
    theirs = build(seed, **changes)
    fields = theirs.config.to_dict()
    ours = DecoderOnly(read_config(fields)).requires_grad_(False)
    load_llama(ours, theirs.state_dict())
    return theirs, ours


@pytest.mark.parametrize("changes", SHAPES)
def test_logits_are_theirs(changes):
    theirs, ours = pair(**changes)
    for length in (1, 2, 12):
        ids = texts(length=length)
        torch.testing.assert_close(ours(ids), theirs(ids).logits, **NEAR)


@pytest.mark.parametrize("changes", SHAPES)
def test_logits_with_a_cache_are_theirs_with_theirs(changes):
    theirs, ours = pair(**changes)
    cache, past = ours.empty_cache(), None
    for part in texts().split((4, 1, 1, 3, 1, 2), dim=1):
        out = theirs(part, past_key_values=past, use_cache=True)
        past = out.past_key_values
        torch.testing.assert_close(ours(part, cache), out.logits, **NEAR)


def test_every_block_is_theirs():
    theirs, ours = pair()
    ids = texts()
    states = theirs(ids, output_hidden_states=True).hidden_states
    x = ours.table(ids)
    torch.testing.assert_close(x, states[0], **NEAR)
    x = ours.blocks[0](x)
    torch.testing.assert_close(x, states[1], **NEAR)
    last = ours.norm(ours.blocks[1](x))
    torch.testing.assert_close(last, states[2], **NEAR)


def test_what_is_written_is_theirs():
    theirs, ours = pair(seed=3)
    ids = texts(length=5)
    whole = theirs.generate(
        ids, max_new_tokens=7, do_sample=False, pad_token_id=0,
        eos_token_id=None,
    )  # fmt: skip
    assert torch.equal(write_on(ours, ids, limit=7), whole[:, 5:])


def test_a_window_is_mistrals():
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=50, hidden_size=32, intermediate_size=44,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        sliding_window=4, attn_implementation="eager",
    )  # fmt: skip
    theirs = randomise(MistralForCausalLM(config))
    fields = config.to_dict()
    ours = DecoderOnly(read_config(fields)).requires_grad_(False)
    load_llama(ours, theirs.state_dict())
    assert ours.config.window == 4
    ids = texts()
    torch.testing.assert_close(ours(ids), theirs(ids).logits, **NEAR)


def test_parts_are_theirs():
    from transformers.models.llama.modeling_llama import LlamaMLP, LlamaRMSNorm

    theirs = build()
    x = torch.randn(2, 5, 32)
    norm = LlamaRMSNorm(32, eps=1e-3)
    torch.testing.assert_close(RMSNorm(32, eps=1e-3)(x), norm(x))
    mlp, gated = LlamaMLP(theirs.config), GatedFeedForward(32, 44)
    gated.load_state_dict({
        "gate.weight": mlp.gate_proj.weight,
        "widen.weight": mlp.up_proj.weight,
        "narrow.weight": mlp.down_proj.weight,
    })  # fmt: skip
    torch.testing.assert_close(gated(x), mlp(x))


@pytest.mark.parametrize("heads", [1, 4, 6, 8, 12, 112])
def test_slopes_are_blooms(heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    table = build_alibi_tensor(torch.ones(1, 5), heads, torch.float32)
    slopes = alibi_slopes(heads)
    expected = slopes[:, None] * torch.arange(5)
    torch.testing.assert_close(table[:, 0], expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 20)])
def test_buckets_are_t5s(buckets, furthest):
    from transformers.models.t5.modeling_t5 import T5Attention

    apart = torch.arange(-300, 300)
    expected = T5Attention._relative_position_bucket(
        -apart, bidirectional=False, num_buckets=buckets,
        max_distance=furthest,
    )  # fmt: skip
    assert torch.equal(distance_buckets(apart, buckets, furthest), expected)


def test_the_bias_is_t5s():
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=16, num_heads=4, d_kv=4, is_decoder=True)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = RelativeBias(4)
    ours.table.weight = theirs.relative_attention_bias.weight
    expected = theirs.compute_bias(40, 40)
    torch.testing.assert_close(ours(40), expected)


def test_the_record_of_the_page_is_what_the_package_says():
    recorded = load_file(FOLDER / "llama.safetensors")
    theirs = build()
    for name, weight in theirs.state_dict().items():
        assert torch.equal(recorded[name], weight)
    slower = build(rope_parameters=SLOWER)
    for model, name in ((theirs, "logits"), (slower, "stretched")):
        logits = model(recorded["ids"]).logits
        torch.testing.assert_close(logits, recorded[name], **NEAR)
