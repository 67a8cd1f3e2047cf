"""Chapter 19, on a deeper page: files of three families of 2025.

Qwen3, Qwen3 with experts, and dots1. Against LLaMA's family three things are
new: the norms of queries and keys, heads of any width, and layers of experts.
Not here: windows, and angles that are stretched for longer texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from . import validate
from .experts import MixtureOfExperts, Router
from .gated_attention import GatedAttention, GatedConfig
from .layers import Residual
from .llama import DecoderOnly, DecoderOnlyBlock, DecoderOnlyConfig
from .modern import GatedFeedForward, RMSNorm, pairs_from_halves


@dataclass(frozen=True)
class ExpertsConfig:
    """The experts of a layer, and the layers that have them.

    Args:
        layers: their numbers; all others have one feed-forward network.
        number: how many experts there are, beside the shared one.
        top_k, score, renormalize, scale: as in `Router`.
        d_ff: the hidden width of an expert.
        shared: how often as wide as an expert the shared one is; 0: none.
    """

    layers: tuple[int, ...]
    number: int
    top_k: int
    d_ff: int
    shared: int = 0
    score: str = "softmax"
    renormalize: bool = True
    scale: float = 1.0

    def __post_init__(self):
        validate.experts_config(self)


@dataclass(frozen=True)
class FamilyConfig(DecoderOnlyConfig):
    """`DecoderOnlyConfig` with two choices more; no window, no stretch.

    Args:
        d_head: the width of a head, whatever d_model is.
        experts: None: no layer has any.
    """

    d_head: int = 128
    experts: ExpertsConfig | None = None

    def __post_init__(self):
        validate.family_config(self, ExpertsConfig)


DEFAULTS = {  # what `transformers` takes where a file says nothing
    "qwen3": {"head_dim": 128},
    "qwen3_moe": {
        "decoder_sparse_step": 1,
        "mlp_only_layers": None,
        "norm_topk_prob": False,
    },
    "dots1": {
        "first_k_dense_replace": 0,
        "norm_topk_prob": False,
        "routed_scaling_factor": 1.0,
        "sliding_window": 4_096,
        "max_window_layers": 62,
    },
}
NUMBER = {"qwen3_moe": "num_experts", "dots1": "n_routed_experts"}


def read_family(fields: Mapping[str, object]) -> FamilyConfig:
    """A `config.json` of one of the three families, in our words.

    As with `read_config`, a field that is neither used nor without effect is
    refused by its name.

    Raises:
        ValueError: another family, a size is missing, or a field asks for what
            is not computed here; the message begins with its name.
    """
    validate.family(fields, DEFAULTS)
    fields = with_defaults(fields)
    validate.family_fields(fields)
    angles = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    return FamilyConfig(
        vocab_size=fields["vocab_size"],
        d_model=fields["hidden_size"],
        heads=fields["num_attention_heads"],
        kv_heads=fields["num_key_value_heads"],
        d_ff=fields["intermediate_size"],
        layers=fields["num_hidden_layers"],
        eps=fields.get("rms_norm_eps", 1e-6),
        tied=fields.get("tie_word_embeddings", False),
        base=float((fields | angles).get("rope_theta", 10_000.0)),
        d_head=fields["head_dim"],
        experts=read_experts(fields),
    )


def with_defaults(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields, and what goes without saying in their family."""
    family = fields["model_type"]
    fields = DEFAULTS[family] | dict(fields)
    sizes = fields.get("hidden_size"), fields.get("num_attention_heads")
    if "head_dim" not in fields and all(isinstance(n, int) for n in sizes):
        fields["head_dim"] = sizes[0] // max(sizes[1], 1)
    if family in NUMBER and "num_local_experts" in fields:  # a newer word
        fields.setdefault(NUMBER[family], fields["num_local_experts"])
    return fields


def read_experts(fields: Mapping[str, object]) -> ExpertsConfig | None:
    """What a file says of its experts, each family in its own words."""
    family, layers = fields["model_type"], range(fields["num_hidden_layers"])
    if family == "qwen3":
        return None
    if family == "qwen3_moe":
        step, dense = fields["decoder_sparse_step"], fields["mlp_only_layers"]
        has = [i for i in layers if (i + 1) % step == 0]
        has = [i for i in has if i not in (dense or [])]
        more = {}
    else:
        has = layers[fields["first_k_dense_replace"] :]
        more = {"shared": fields["n_shared_experts"], "score": "sigmoid"}
        more["scale"] = fields["routed_scaling_factor"]
    return ExpertsConfig(
        layers=tuple(has),
        number=fields[NUMBER[family]],
        top_k=fields["num_experts_per_tok"],
        d_ff=fields["moe_intermediate_size"],
        renormalize=fields["norm_topk_prob"],
        **more,
    )


class FamilyBlock(DecoderOnlyBlock):
    """A `DecoderOnlyBlock` with these heads; its layer may have experts.

    Args:
        layer: its number, from 0.
    """

    def __init__(self, config: FamilyConfig, layer: int):
        nn.Module.__init__(self)  # the parts are others
        validate.instance(FamilyConfig, config=config)
        validate.integer("layer", layer, least=0)
        c, d_model, e = config, config.d_model, config.experts
        sizes = c.heads, c.kv_heads, c.d_head, c.d_head, c.base, c.eps
        self.attention = GatedAttention(
            GatedConfig(d_model, *sizes, gated=False)
        )
        self.feed_forward = GatedFeedForward(d_model, c.d_ff)
        if e is not None and layer in e.layers:
            router = Router(
                d_model, e.number, e.top_k, e.score, e.renormalize, e.scale
            )
            experts = [
                GatedFeedForward(d_model, e.d_ff) for _ in range(e.number)
            ]
            wide = e.shared * e.d_ff
            shared = GatedFeedForward(d_model, wide) if wide else None
            self.feed_forward = MixtureOfExperts(router, experts, shared)
        self.around_attention, self.around_feed_forward = (
            Residual(d_model, norm_first=True, norm=RMSNorm(d_model, c.eps))
            for _ in range(2)
        )


class FamilyModel(DecoderOnly):
    """`DecoderOnly` of other blocks; it runs, and keeps a cache, as that."""

    def __init__(self, config: FamilyConfig):
        nn.Module.__init__(self)  # the parts are others
        validate.instance(FamilyConfig, config=config)
        self.config, c = config, config
        self.table = nn.Embedding(c.vocab_size, c.d_model)
        self.blocks = nn.ModuleList(FamilyBlock(c, i) for i in range(c.layers))
        self.norm = RMSNorm(c.d_model, c.eps)
        self.output = nn.Linear(c.d_model, c.vocab_size, bias=False)
        if c.tied:
            nn.init.normal_(self.table.weight, std=c.d_model**-0.5)
            self.output.weight = self.table.weight


RENAMED = {  # one after the other
    ".blocks.": ".model.layers.",
    ".around_attention.norm.": ".input_layernorm.",
    ".around_feed_forward.norm.": ".post_attention_layernorm.",
    ".table.": ".model.embed_tokens.",
    ".norm.": ".model.norm.",
    ".output.": ".lm_head.",
    ".attention.": ".self_attn.",
    ".out_proj.": ".o_proj.",
    ".feed_forward.": ".mlp.",
    ".shared.": ".shared_experts.",
    ".gate.": ".gate_proj.",
    ".widen.": ".up_proj.",
    ".narrow.": ".down_proj.",
    ".router.keys.": ".gate.",
    ".router.bias": ".gate.e_score_correction_bias",
}


def file_names(model: FamilyModel) -> dict[str, list[str]]:
    """Of each of our tensors that a file has, the names there.

    W_Q, W_K and W_V are one for us. The bias of a router with a softmax is in
    no file, and stays 0.
    """
    c, found = model.config, {}
    for name in model.state_dict():
        if name == "output.weight" and c.tied:
            continue
        if name.endswith("router.bias") and c.experts.score == "softmax":
            continue
        parts = [name.replace("in_proj", f"{part}_proj") for part in "qkv"]
        for n, theirs in enumerate(parts):
            for ours, renamed in RENAMED.items():
                theirs = f".{theirs}".replace(ours, renamed).removeprefix(".")
            parts[n] = theirs
        found[name] = parts if "in_proj" in name else parts[:1]
    return found


def load_family(model: FamilyModel, weights: Mapping[str, Tensor]) -> None:
    """Take the weights of a file, by their names there.

    As in `load_llama`, the rows of W_Q and W_K change places, here with the
    gains of their norms.

    Raises:
        TypeError: a weight is no tensor of float16, bfloat16, float32 or
            float64.
        ValueError: a tensor is missing, has another shape, or has no place in
            the model; the message begins with its name.
    """
    validate.instance(FamilyModel, model=model)
    c, own, names = model.config, model.state_dict(), file_names(model)
    widths, wanted = model.blocks[0].attention.widths, {}
    for name, theirs in names.items():
        parts = own[name].split(widths) if len(theirs) == 3 else [own[name]]
        shapes = (tuple(part.shape) for part in parts)
        wanted |= dict(zip(theirs, shapes, strict=True))
    validate.file_tensors(weights, wanted)
    for name, theirs in names.items():
        own[name], *rest = (weights[part] for part in theirs)
        if rest:
            k, v = rest
            q = pairs_from_halves(own[name], c.heads)
            own[name] = torch.cat([q, pairs_from_halves(k, c.kv_heads), v])
        elif name.endswith(("q_norm.weight", "k_norm.weight")):
            own[name] = pairs_from_halves(own[name][:, None], 1)[:, 0]
    model.load_state_dict(own)
