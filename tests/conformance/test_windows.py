"""Chapter 19's sinks, windows and shared keys are those of `transformers`.

Random weights from configurations; nothing is downloaded. In float64 they get
their angles and masks from here, because their models make these in float32.
"""

from functools import partial

import pytest
import torch
from transformers import (
    DynamicCache,
    Gemma3nTextConfig,
    Gemma3TextConfig,
    Gemma4TextConfig,
    GptOssConfig,
)
from transformers.models.gemma4 import modeling_gemma4 as gemma4
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssAttention

from lib.attention import attention
from lib.cache import CachedSelfAttention
from lib.modern import pairs_from_halves
from lib.windows import SinkAttention, kept_bytes, layer_windows, lenders
from tests.conformance import beside
from tests.conformance.tiny_llama import randomise

LENGTH, WINDOW = 11, 4
D_MODEL, HEADS, KV_HEADS, D_HEAD = 30, 5, 1, 6
SLIDING, FULL = "sliding_attention", "full_attention"


def tiny(made_by, **more):
    """A small configuration of theirs."""
    sizes = {
        "hidden_size": D_MODEL,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": D_HEAD,
        "sliding_window": WINDOW,
        "attention_bias": False,
    }
    return made_by(**sizes | more, attn_implementation="eager")


def windows(types, wide):
    """Of each layer of theirs."""
    return [wide if kind == SLIDING else None for kind in types]


def gpt_oss_layer(n, dtype):
    """Layer n of theirs, with sinks that count, and ours."""
    config = tiny(GptOssConfig, num_hidden_layers=2)
    layer = randomise(GptOssAttention(config, layer_idx=n), seed=n).to(dtype)
    layer.sinks.copy_(torch.linspace(-2, 2, HEADS))
    window = layer_windows(2, every=2, window=WINDOW)[n]
    sizes = D_MODEL, HEADS, KV_HEADS, beside.BASE, window
    made = SinkAttention(*sizes).to(dtype)
    projections = (
        pairs_from_halves(layer.q_proj.weight, HEADS),
        pairs_from_halves(layer.k_proj.weight, KV_HEADS),
        layer.v_proj.weight,
    )
    made.load_state_dict(
        {
            "in_proj.weight": torch.cat(projections),
            "out_proj.weight": layer.o_proj.weight,
            "sink": layer.sinks,
        }
    )
    return layer, made.requires_grad_(False), config, window


@beside.PRECISIONS
@pytest.mark.parametrize("n", [0, 1])
def test_full_pass_and_cached_are_gpt_oss(n, dtype, near):
    """Theirs keeps no key that a window has left; the outputs are equal."""
    layer, made, config, window = gpt_oss_layer(n, dtype)
    angles = partial(beside.angles, width=D_HEAD, dtype=dtype, repeats=1)
    read = partial(beside.read, layer, angles, window=window)
    past, kept = DynamicCache(config=config), CachedSelfAttention(made)
    x = beside.text(LENGTH, D_MODEL, dtype)
    beside.compare(made, kept, read, past, x, (5, 1, 3, 2), near)


KINDS = (
    (GptOssConfig, 2),
    (Gemma3TextConfig, 6),
    (Gemma4TextConfig, 6),
    (Gemma3nTextConfig, 5),
)


@pytest.mark.parametrize(("made_by", "every"), KINDS)
def test_layers_take_turns_as_theirs_do(made_by, every):
    config = made_by()
    layers, wide = config.num_hidden_layers, config.sliding_window
    expected = layer_windows(layers, every, wide)
    if made_by is Gemma4TextConfig:
        expected[-1] = None  # theirs always ends with a full layer
    assert windows(config.layer_types, wide) == expected


def test_the_sizes_on_the_page_are_theirs():
    gpt_oss, gemma = GptOssConfig(), Gemma3nTextConfig()
    for config, *sizes in (
        (gpt_oss, 36, 8, 64, 128, 131_072),
        (gemma, 35, 2, 256, 512, 32_768),
    ):
        assert sizes == [
            config.num_hidden_layers,
            config.num_key_value_heads,
            config.head_dim,
            config.sliding_window,
            config.max_position_embeddings,
        ]
    assert gemma.num_kv_shared_layers == 15


@pytest.mark.parametrize("made_by", [Gemma3nTextConfig, Gemma4TextConfig])
@pytest.mark.parametrize("shared", [0, 5, 15])
def test_keys_are_lent_as_theirs_are(made_by, shared):
    config = made_by(num_kv_shared_layers=shared)
    types, modes = config.layer_types, config.kv_sharing_modes
    stores = {types[n]: n for n, mode in enumerate(modes) if mode == "store"}
    assert lenders(windows(types, WINDOW), shared) == [
        stores[types[n]] if mode == "reuse" else n
        for n, mode in enumerate(modes)
    ]


@pytest.mark.parametrize(("kind", "window"), [(SLIDING, WINDOW), (FULL, None)])
def test_a_borrower_asks_the_keys_of_its_lender(kind, window):
    """Ours is `attention`; theirs divides by no root, so q takes it."""
    types = [SLIDING, FULL, kind, FULL]
    config = tiny(
        Gemma4TextConfig,
        num_hidden_layers=4,
        layer_types=types,
        num_kv_shared_layers=2,
        global_head_dim=D_HEAD,
    )
    *lending, borrower = (
        randomise(gemma4.Gemma4TextAttention(config, n), n) for n in (0, 1, 2)
    )
    lender = lenders(windows(types, WINDOW), 2)[2]
    torch.manual_seed(2)
    x, lent, own = torch.randn(3, 2, LENGTH, D_MODEL), {}, {}
    turned = beside.angles(torch.arange(LENGTH), D_HEAD, torch.float32)
    mask = beside.their_mask(x[0], window=window)
    for layer, row in zip(lending, x, strict=False):
        layer(row, turned, mask, lent)
    assert not hasattr(borrower, "k_proj") and not hasattr(borrower, "v_proj")
    expected, _ = borrower(x[2], turned, mask, lent)
    assert lender == types.index(kind)
    lending[lender](x[lender], turned, mask, own)
    q = borrower.q_norm(borrower.q_proj(x[2]).unflatten(-1, (HEADS, D_HEAD)))
    q = gemma4.apply_rotary_pos_emb(q, *turned, unsqueeze_dim=2)
    k, v = (part.expand(-1, HEADS, -1, -1) for part in own[kind])
    context = attention(q.transpose(1, 2) * D_HEAD**0.5, k, v, mask == 0)
    found = borrower.o_proj(context.transpose(1, 2).flatten(2))
    beside.close(found, expected)


@pytest.mark.parametrize(("made_by", "every"), [KINDS[0], KINDS[3]])
def test_their_caches_keep_so_many_bytes(made_by, every):
    """A window of theirs keeps one key less: the newest is not kept yet."""
    config, tokens = made_by(), 700
    heads, width = config.num_key_value_heads, config.head_dim
    cache = DynamicCache(config=config)
    shared = getattr(config, "num_kv_shared_layers", 0)
    layers = config.num_hidden_layers - shared
    new = torch.zeros(1, heads, tokens, width, dtype=torch.bfloat16)
    for n in range(layers):
        cache.update(new, new, n)
    held = sum(
        layer.keys.nbytes + layer.values.nbytes
        for layer in cache.layers
        if layer.keys is not None  # a borrower's are
    )
    kept = layer_windows(layers, every, config.sliding_window - 1)
    assert held == kept_bytes(tokens, kept, heads, width)
