"""The files of three families of 2025: what their lines may say.

As for LLaMA's family, a field is used, or has no effect with the value that
it has, or never has an effect on logits; any other is refused by its name.
"""

from collections.abc import Mapping

from .. import validate
from . import llama_known as llama
from .llama import common_fields, known_fields
from .refuse import expect, wrong

SIZES = (*llama.SIZES, "num_key_value_heads")
OF_EXPERTS = ("moe_intermediate_size", "num_experts_per_tok")
EXPERTS = {  # and a file without these says nothing of its experts
    "qwen3_moe": ("num_experts", *OF_EXPERTS),
    "dots1": ("n_routed_experts", "n_shared_experts", *OF_EXPERTS),
}
# Used.
ALL = (llama.USED - {"sliding_window"}) | {*SIZES, "head_dim"}
CHOICES = {"norm_topk_prob", "num_local_experts"}
USED = {
    "qwen3": ALL,
    "qwen3_moe": ALL.union(
        EXPERTS["qwen3_moe"], CHOICES, ("decoder_sparse_step",),
        ("mlp_only_layers",),
    ),
    "dots1": ALL.union(
        EXPERTS["dots1"], CHOICES, ("first_k_dense_replace",),
        ("routed_scaling_factor",),
    ),
}  # fmt: skip
# Of no effect with one of these values, or where they agree with what is used.
NEUTRAL = llama.NEUTRAL | {
    "use_sliding_window": (False,),
    "n_group": (1,),
    "topk_group": (1,),
}
WINDOW = {"sliding_window", "max_window_layers"}
AGREE = {
    "qwen3": {"architectures", "layer_types"},
    "qwen3_moe": {"architectures", "layer_types"},
    "dots1": {"architectures", "layer_types"} | WINDOW,
}
# Of no effect on logits; a Qwen3 has its window if `use_sliding_window`.
LOSS = {"output_router_logits", "router_aux_loss_coef"}
SILENT = {
    "qwen3": llama.SILENT | LOSS | WINDOW,
    "qwen3_moe": llama.SILENT | LOSS | WINDOW,
    "dots1": llama.SILENT | LOSS,
}
ARCHITECTURES = {
    "qwen3": ("Qwen3ForCausalLM",),
    "qwen3_moe": ("Qwen3MoeForCausalLM",),
    "dots1": ("Dots1ForCausalLM",),
}


def family_fields(fields: Mapping) -> None:
    """A configuration that asks for nothing but the parts of the book."""
    family = fields["model_type"]
    known = USED[family] | AGREE[family] | SILENT[family]
    known_fields(fields, NEUTRAL, known)
    sizes = SIZES + EXPERTS.get(family, ())
    common_fields(fields, sizes, ARCHITECTURES[family], {"default": ()})
    heads, kv_heads = fields["num_attention_heads"], fields[SIZES[-1]]
    fine, expected = heads % kv_heads == 0, f"a divisor of {heads}"
    expect(fine, "num_key_value_heads", expected, kv_heads)
    validate.even("head_dim", fields["head_dim"])
    layers, kinds = fields["num_hidden_layers"], fields.get("layer_types")
    fine = kinds is None or kinds == ["full_attention"] * layers
    expect(fine, "layer_types", f"{layers} times 'full_attention'", kinds)
    if family in EXPERTS:
        _experts(fields, EXPERTS[family][0])
    if family == "qwen3_moe":
        _dense_layers(fields)
    if family == "dots1":
        _dots(fields)


def _experts(fields: Mapping, word: str) -> None:
    """No more choices than experts; newer files count these by a new word."""
    number = fields[word]
    if "num_local_experts" in fields:
        new = fields["num_local_experts"]
        validate.positive(num_local_experts=new)
        expected = f"{number}, as {word} has"
        expect(new == number, "num_local_experts", expected, new)
    asked = fields["num_experts_per_tok"]
    validate.between("num_experts_per_tok", asked, 1, number)
    validate.booleans(norm_topk_prob=fields["norm_topk_prob"])


def _dense_layers(fields: Mapping) -> None:
    """Every how many layers one has experts, and which ones have none."""
    validate.positive(decoder_sparse_step=fields["decoder_sparse_step"])
    layers = fields["mlp_only_layers"]
    if layers is not None:
        validate.instance(list, mlp_only_layers=layers)
        for layer in layers:
            validate.integer("mlp_only_layers", layer, least=0)


def _dots(fields: Mapping) -> None:
    """How many layers are dense, a factor, and no layer with a window."""
    first = fields["first_k_dense_replace"]
    validate.integer("first_k_dense_replace", first, least=0)
    factor = fields["routed_scaling_factor"]
    validate.instance(float, routed_scaling_factor=factor)
    validate.above("routed_scaling_factor", factor, 0)
    window, layers = fields["sliding_window"], fields["num_hidden_layers"]
    before = fields["max_window_layers"]
    validate.integer("max_window_layers", before, least=0)
    if window is not None:
        validate.positive(sliding_window=window)
        if before < layers:
            wrong("sliding_window", f"None in all {layers} layers", window)


def family_config(config: object, experts: type) -> None:
    """The fields of a `FamilyConfig` fit together."""
    names = ("vocab_size", "d_model", "d_ff", "layers")
    validate.positive(**{name: getattr(config, name) for name in names})
    validate.shared_heads(config.heads, config.kv_heads)
    validate.turning(config.d_head, config.base)
    validate.real("eps", config.eps, least=0)
    validate.booleans(tied=config.tied)
    for name in ("window", "stretch"):
        value = getattr(config, name)
        expect(value is None, name, "None", value)
    validate.instance_or_none(experts, experts=config.experts)


def experts_config(config: object) -> None:
    """The fields of an `ExpertsConfig` that no layer checks."""
    validate.integer("shared", config.shared, least=0)
    validate.instance(tuple, layers=config.layers)
    for layer in config.layers:
        validate.integer("layers", layer, least=0)
