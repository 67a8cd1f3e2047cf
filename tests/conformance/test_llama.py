"""What chapter 16 has of LLaMA, BLOOM's ALiBi and T5's bias is theirs.

Random weights from configurations; nothing is downloaded. That logits are
those of `transformers` stands in test_families.py.
"""

import pytest
import torch
from safetensors.torch import load_file
from transformers import T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from lib.modern import RelativeBias, alibi_slopes, distance_buckets
from tests.conformance.beside import close
from tests.conformance.tiny_llama import FOLDER, build
from tests.library.llama_files import SLOWER


@pytest.mark.parametrize("heads", [1, 4, 6, 8, 12, 112])
def test_slopes_are_blooms(heads):
    table = build_alibi_tensor(torch.ones(1, 5), heads, torch.float32)
    expected = alibi_slopes(heads)[:, None] * torch.arange(5)
    torch.testing.assert_close(table[:, 0], expected, rtol=1e-5, atol=0)


@pytest.mark.parametrize(("buckets", "furthest"), [(32, 128), (8, 20)])
def test_buckets_are_t5s(buckets, furthest):
    apart = torch.arange(-300, 300)
    expected = T5Attention._relative_position_bucket(
        -apart, bidirectional=False, num_buckets=buckets,
        max_distance=furthest,
    )  # fmt: skip
    assert torch.equal(distance_buckets(apart, buckets, furthest), expected)


def test_the_bias_is_t5s():
    config = T5Config(d_model=16, num_heads=4, d_kv=4, is_decoder=True)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    ours = RelativeBias(4)
    ours.table.weight = theirs.relative_attention_bias.weight
    torch.testing.assert_close(ours(40), theirs.compute_bias(40, 40))


def test_the_record_of_the_page_is_what_the_package_says():
    recorded = load_file(FOLDER / "llama.safetensors")
    theirs, slower = build(), build(rope_parameters=SLOWER)
    for name, weight in theirs.state_dict().items():
        assert torch.equal(recorded[name], weight)
    for model, name in ((theirs, "logits"), (slower, "stretched")):
        logits = model(recorded["ids"]).logits
        close(logits, recorded[name])
