"""Chapter 16: a decoder alone, put together as LLaMA is.

Token ids in, logits out. The parts stand in `lib.modern`; there is no dropout
and no padding mask, because a causal model never looks at what fills up the
end of a row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from . import validate
from .cache import CachedSelfAttention
from .layers import Residual
from .modern import (
    GatedFeedForward,
    RMSNorm,
    RotaryAttention,
    Stretch,
    pairs_from_halves,
    rotary_steps,
)


@dataclass(frozen=True)
class DecoderOnlyConfig:
    """All sizes and choices of a model; the sizes are LLaMA's smallest.

    Source: Touvron et al. 2023, table 2, first row.

    Args:
        d_model: the width between the blocks.
        heads: the number of query heads.
        kv_heads: the number of key heads and of value heads.
        d_ff: the hidden width of the feed-forward networks.
        base: of the rotary angles.
        window: how many keys a query sees; None: all before it.
        tied: table and output matrix are one.
        stretch: of the rotary angles; None: none.
    """

    vocab_size: int = 32_000
    d_model: int = 4_096
    heads: int = 32
    kv_heads: int = 32
    d_ff: int = 11_008
    layers: int = 32
    base: float = 10_000.0
    window: int | None = None
    eps: float = 1e-5
    tied: bool = False
    stretch: Stretch | None = None

    def __post_init__(self):
        validate.decoder_only(self, Stretch)


UNSAID = {  # what `transformers` takes where a file says nothing
    "llama": {"num_key_value_heads": None, "sliding_window": None},
    "mistral": {"num_key_value_heads": 8, "sliding_window": 4_096},
}


def read_config(fields: Mapping[str, object]) -> DecoderOnlyConfig:
    """A `config.json` of LLaMA's family, in our words.

    Every field is used, or has no effect on logits with the value that it
    has, or is refused: `lib.validate` has the lists. Where a file says
    nothing, we take what `transformers` takes. Older files have
    `rope_scaling` and beside it `rope_theta`, newer ones both in
    `rope_parameters`.

    Raises:
        ValueError: another family, a size is missing, or a field asks for what
            is not computed here; the message begins with its name.
    """
    validate.family(fields, UNSAID)
    fields = UNSAID[fields["model_type"]] | dict(fields)
    validate.llama_fields(fields)
    heads = fields["num_attention_heads"]
    angles = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    return DecoderOnlyConfig(
        vocab_size=fields["vocab_size"],
        d_model=fields["hidden_size"],
        heads=heads,
        kv_heads=fields["num_key_value_heads"] or heads,
        d_ff=fields["intermediate_size"],
        layers=fields["num_hidden_layers"],
        window=fields["sliding_window"],
        eps=fields.get("rms_norm_eps", 1e-6),
        tied=fields.get("tie_word_embeddings", False),
        base=float((fields | angles).get("rope_theta", 10_000.0)),
        stretch=Stretch.read(angles),
    )


class DecoderOnlyBlock(nn.Module):
    """Rotary attention and gated feed-forward, pre-norm with RMSNorm.

    Source: Touvron et al. 2023, section 2.2.
    """

    def __init__(self, config: DecoderOnlyConfig):
        super().__init__()
        validate.instance(DecoderOnlyConfig, config=config)
        c, d_model = config, config.d_model
        self.attention = RotaryAttention(
            d_model, c.heads, c.kv_heads, c.base, c.window, c.stretch
        )
        self.feed_forward = GatedFeedForward(d_model, c.d_ff)
        self.around_attention, self.around_feed_forward = (
            Residual(d_model, norm_first=True, norm=RMSNorm(d_model, c.eps))
            for _ in range(2)
        )

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        past: CachedSelfAttention | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Look back, then work alone."""
        x = self.around_attention(x, partial(self.attention, past=past))
        return self.around_feed_forward(x, self.feed_forward)


class DecoderOnly(nn.Module):
    """Token ids in, logits of each next token out.

    Sources: Radford et al. 2018 for a decoder alone, Touvron et al. 2023 for
    its parts.
    """

    def __init__(self, config: DecoderOnlyConfig):
        super().__init__()
        validate.instance(DecoderOnlyConfig, config=config)
        self.config, c = config, config
        self.table = nn.Embedding(c.vocab_size, c.d_model)
        self.blocks = nn.ModuleList(
            DecoderOnlyBlock(c) for _ in range(c.layers)
        )
        self.norm = RMSNorm(c.d_model, c.eps)
        self.output = nn.Linear(c.d_model, c.vocab_size, bias=False)
        if c.tied:
            nn.init.normal_(self.table.weight, std=c.d_model**-0.5)
            self.output.weight = self.table.weight

    def empty_cache(self) -> list[CachedSelfAttention]:
        """Room for the keys and values of each block; nothing in it."""
        return [CachedSelfAttention(block.attention) for block in self.blocks]

    def forward(
        self,
        ids: Int[Tensor, "batch length"],
        cache: list[CachedSelfAttention] | None = None,
    ) -> Float[Tensor, "batch length vocab"]:
        """Row t scores every token as the one after ids[t].

        Args:
            ids: token ids; with a cache, the new ones only.
            cache: from `empty_cache`, and passed again with each call; it
                grows, and needs `torch.no_grad`.

        Raises:
            ValueError: a cache of another model, or other rows than before.
        """
        validate.next_ids(ids, cache, self.config)
        x = self.table(ids)
        cache = [None] * len(self.blocks) if cache is None else cache
        for block, past in zip(self.blocks, cache, strict=True):
            x = block(x, past)
        return self.output(self.norm(x))


@torch.no_grad()
def write_on(
    model: DecoderOnly,
    ids: Int[Tensor, "batch length"],
    limit: int,
    eos_id: int | None = None,
) -> Int[Tensor, "batch written"]:
    """What the model writes after these texts, best token each time.

    Args:
        model: in evaluation or training mode, which are the same.
        ids: the beginnings, all of one length.
        eos_id: stop when every row has written it; None: never.
    """
    validate.positive(limit=limit)
    cache, written = model.empty_cache(), ids[:, :0]
    while written.shape[1] < limit:
        ids = model(ids, cache)[:, -1:].argmax(-1)
        written = torch.cat([written, ids], dim=1)
        if eos_id is not None and (written == eos_id).any(1).all():
            break
    return written


NAMES = {
    "attention.out_proj": "self_attn.o_proj",
    "feed_forward.gate": "mlp.gate_proj",
    "feed_forward.widen": "mlp.up_proj",
    "feed_forward.narrow": "mlp.down_proj",
    "around_attention.norm": "input_layernorm",
    "around_feed_forward.norm": "post_attention_layernorm",
}


def load_llama(model: DecoderOnly, weights: Mapping[str, Tensor]) -> None:
    """Take the weights of a LLaMA, by the names in Hugging Face's files.

    Its heads pair the halves of a query for the rotation, ours neighbours: so
    the rows of W_Q and W_K change places. The model keeps its dtype and its
    device: float16 and bfloat16 become float32 without loss.

    Raises:
        TypeError: a weight is no tensor of float16, bfloat16, float32 or
            float64.
        ValueError: a tensor is missing, has another shape, or has no place in
            the model; the message begins with its name.
    """
    c = model.config
    steps = rotary_steps(c.d_model // c.heads, c.base, c.stretch)
    validate.llama_weights(weights, c, steps)
    table = weights["model.embed_tokens.weight"]
    own = {"table.weight": table, "norm.weight": weights["model.norm.weight"]}
    own["output.weight"] = table if c.tied else weights["lm_head.weight"]
    for i in range(c.layers):
        block, layer = f"blocks.{i}", f"model.layers.{i}"
        q, k, v = (
            weights[f"{layer}.self_attn.{name}_proj.weight"] for name in "qkv"
        )
        q, k = pairs_from_halves(q, c.heads), pairs_from_halves(k, c.kv_heads)
        own[f"{block}.attention.in_proj.weight"] = torch.cat([q, k, v])
        for ours, theirs in NAMES.items():
            own[f"{block}.{ours}.weight"] = weights[f"{layer}.{theirs}.weight"]
    model.load_state_dict(own)
