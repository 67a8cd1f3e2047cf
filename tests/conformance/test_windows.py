"""Chapter 19's sinks, windows and shared keys are those of `transformers`.

Random weights from configurations; nothing is downloaded. In float64 they get
their angles and masks from here, because their models make these in float32.
"""

import pytest
import torch

from lib.attention import attention
from lib.cache import CachedSelfAttention
from lib.modern import pairs_from_halves
from lib.windows import SinkAttention, kept_bytes, layer_windows, lenders
from tests.conformance.tiny_llama import randomise

pytest.importorskip(
    "transformers", reason="needs the public packages: make conformance"
)
from transformers import (  # noqa: E402
    DynamicCache,
    Gemma3nTextConfig,
    Gemma3TextConfig,
    Gemma4TextConfig,
    GptOssConfig,
)
from transformers.models.gemma4.modeling_gemma4 import (  # noqa: E402
    Gemma4TextAttention,
)
from transformers.models.gpt_oss.modeling_gpt_oss import (  # noqa: E402
    GptOssAttention,
)

LENGTH, ROWS, WINDOW, BASE = 11, 2, 4, 1_000.0
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
    config = made_by(**sizes | more)
    config._attn_implementation = "eager"
    return config


def angles(start, stop, dtype, twice=False):
    """Cosines and sines, as their models hand them to a layer."""
    steps = BASE ** (-torch.arange(0, D_HEAD, 2, dtype=dtype) / D_HEAD)
    angle = torch.arange(start, stop)[:, None] * steps
    angle = angle.repeat(1, 2) if twice else angle
    return angle.cos()[None], angle.sin()[None]


def seen(asking, among, window, dtype):
    """Their mask, of 0 and -inf, for places of queries and of keys."""
    back = asking[:, None] - among
    may = (back >= 0) & (back < (window or LENGTH))
    zeros = torch.zeros(may.shape, dtype=dtype)
    return zeros.masked_fill(~may, -torch.inf)[None, None]


def gpt_oss_layer(n, dtype):
    """Layer n of theirs, with sinks that count, and ours."""
    config = tiny(GptOssConfig, num_hidden_layers=2)
    layer = randomise(GptOssAttention(config, layer_idx=n), seed=n).to(dtype)
    layer.sinks.copy_(torch.linspace(-2, 2, HEADS))
    window = layer_windows(2, every=2, window=WINDOW)[n]
    made = SinkAttention(D_MODEL, HEADS, KV_HEADS, BASE, window).to(dtype)
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


@pytest.mark.parametrize(
    ("dtype", "near"), [(torch.float32, 1e-5), (torch.float64, 1e-12)]
)
@pytest.mark.parametrize("n", [0, 1])
def test_full_pass_and_cached_are_gpt_oss(n, dtype, near):
    """Theirs keeps no key that a window has left; the outputs are equal."""
    layer, made, config, window = gpt_oss_layer(n, dtype)
    torch.manual_seed(1)
    x, place = torch.randn(ROWS, LENGTH, D_MODEL).to(dtype), torch.arange
    mask = seen(place(LENGTH), place(LENGTH), window, dtype)
    expected, _ = layer(x, angles(0, LENGTH, dtype), mask)
    close = {"rtol": 0, "atol": near}
    assert expected.abs().mean() > 0.1
    torch.testing.assert_close(made(x), expected, **close)
    cache, past = DynamicCache(config=config), CachedSelfAttention(made)
    start = 0
    for part in x.split([5, 1, 3, 2], dim=1):
        end = start + part.shape[1]
        left = start if window is None else min(start, window - 1)
        mask = seen(place(start, end), place(start - left, end), window, dtype)
        turned = angles(start, end, dtype)
        found, _ = layer(part, turned, mask, past_key_values=cache)
        torch.testing.assert_close(found, expected[:, start:end], **close)
        torch.testing.assert_close(made(part, past), found, **close)
        start = end


def test_a_sink_changes_their_output():
    """So that the test above would notice a layer without."""
    layer, made, _, _ = gpt_oss_layer(0, torch.float64)
    x = torch.randn(ROWS, LENGTH, D_MODEL).double()
    before = made(x)
    made.sink -= 50
    assert (made(x) - before).abs().max() > 0.1


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
    theirs = [wide if t == SLIDING else None for t in config.layer_types]
    expected = layer_windows(layers, every, wide)
    if made_by is Gemma4TextConfig:
        expected[-1] = None  # theirs always ends with a full layer
    assert theirs == expected


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
    found = lenders(
        [WINDOW if t == SLIDING else None for t in config.layer_types], shared
    )
    modes = config.kv_sharing_modes
    stores = {
        config.layer_types[n]: n for n, m in enumerate(modes) if m == "store"
    }
    for n, mode in enumerate(modes):
        wanted = stores[config.layer_types[n]] if mode == "reuse" else n
        assert found[n] == wanted


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
    layers = [randomise(Gemma4TextAttention(config, n), n) for n in (0, 1, 2)]
    lender = lenders([WINDOW if t == SLIDING else None for t in types], 2)[2]
    torch.manual_seed(2)
    x, lent = torch.randn(3, ROWS, LENGTH, D_MODEL), {}
    turned, place = angles(0, LENGTH, torch.float32, True), torch.arange
    mask = seen(place(LENGTH), place(LENGTH), window, torch.float32)
    for layer, row in zip(layers[:2], x, strict=False):
        layer(row, turned, mask, lent)
    borrower = layers[2]
    assert not hasattr(borrower, "k_proj") and not hasattr(borrower, "v_proj")
    expected, _ = borrower(x[2], turned, mask, lent)
    assert lender == types.index(kind)
    own = {}
    layers[lender](x[lender], turned, mask, own)
    (k, v), (cos, sin) = own[kind], turned
    q = borrower.q_norm(borrower.q_proj(x[2]).unflatten(-1, (HEADS, D_HEAD)))
    first, second = q.chunk(2, -1)
    half = torch.cat([-second, first], -1)
    q = (q * cos[:, :, None] + half * sin[:, :, None]).transpose(1, 2)
    k, v = (part.expand(-1, HEADS, -1, -1) for part in (k, v))
    context = attention(q * D_HEAD**0.5, k, v, mask == 0)
    found = borrower.o_proj(context.transpose(1, 2).flatten(2))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


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
    windows = layer_windows(layers, every, config.sliding_window - 1)
    assert held == kept_bytes(tokens, windows, heads, width)
