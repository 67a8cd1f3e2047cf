"""Our modules with the weights of PyTorch's.

Not taught. The chapters use it to compare: same weights in, same numbers out.
"""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from lib.decoder import Decoder, DecoderBlock
from lib.encoder import Encoder, EncoderBlock
from lib.heads import MultiHeadAttention
from lib.layers import LayerNorm, Residual

ACTIVATIONS = {
    **dict.fromkeys((F.relu, torch.relu, nn.ReLU), "relu"),
    **dict.fromkeys((F.gelu, nn.GELU), "gelu"),
}
ATTENTIONS = "self_attn", "multihead_attn"


def from_torch(module: nn.Module) -> nn.Module:
    """Our counterpart of a torch module, with a copy of its weights.

    Dtype, device, training mode and `requires_grad` are those of the
    original. Our modules always take the batch first, whatever `batch_first`
    says there.

    Raises:
        TypeError: there is no counterpart of this type of module.
        ValueError: the module uses an option that we do not have, or is a
            stack without a layer.
    """
    for kind, counterpart in COUNTERPARTS.items():
        if isinstance(module, kind):
            return counterpart(module)
    known = ", ".join(kind.__name__ for kind in COUNTERPARTS)
    raise TypeError(
        f"module: expected one of {known}, got {type(module).__name__}"
    )


def _attention(module: nn.MultiheadAttention) -> MultiHeadAttention:
    if not module._qkv_same_embed_dim:
        raise ValueError(
            "module: expected kdim and vdim equal to embed_dim, got "
            f"{module.kdim}, {module.vdim} and {module.embed_dim}"
        )
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError(
            "module: expected add_bias_kv=False and add_zero_attn=False, got "
            f"{module.bias_k is not None} and {module.add_zero_attn}"
        )
    has_bias = module.in_proj_bias is not None
    sizes = module.embed_dim, module.num_heads
    ours = MultiHeadAttention(*sizes, module.dropout, has_bias)
    return _filled(ours, module, {"in_proj.": "in_proj_"})


def _norm(module: nn.LayerNorm) -> LayerNorm:
    if len(module.normalized_shape) != 1 or module.weight is None:
        raise ValueError(
            "module: expected a LayerNorm over one axis with a weight, got "
            f"{module}"
        )
    has_bias = module.bias is not None
    ours = LayerNorm(module.normalized_shape[0], module.eps, has_bias)
    return _filled(ours, module, {})


def _block(kind: type, module: nn.Module) -> nn.Module:
    """The n-th residual of a block has torch's n-th norm and dropout."""
    ours = kind(
        d_model=module.self_attn.embed_dim,
        heads=module.self_attn.num_heads,
        d_ff=module.linear1.out_features,
        dropout=module.dropout.p,
        norm_first=module.norm_first,
        activation=_activation(module.activation),
        bias=module.linear1.bias is not None,
    )
    ours.train(module.training)
    layers = {"widen": "linear1", "narrow": "linear2"}
    _filled(ours.feed_forward, module, layers)
    parts = dict(ours.named_children())
    own = [n for n, p in parts.items() if isinstance(p, MultiHeadAttention)]
    for name, attention in zip(own, ATTENTIONS, strict=False):
        setattr(ours, name, from_torch(getattr(module, attention)))
    residuals = [p for p in parts.values() if isinstance(p, Residual)]
    for number, around in enumerate(residuals, start=1):
        around.norm = from_torch(getattr(module, f"norm{number}"))
        around.dropout.p = getattr(module, f"dropout{number}").p
    return ours


def _activation(function: object) -> str:
    """Our name of an activation, given as a function or as a module."""
    is_module = isinstance(function, nn.Module)
    known = type(function) if is_module else function
    if known not in ACTIVATIONS:
        raise ValueError(
            f"module: expected relu or gelu as activation, got {function}"
        )
    how = getattr(function, "approximate", "none")
    return ACTIVATIONS[known] + ("_tanh" if how == "tanh" else "")


def _stack(kind: type, module: nn.Module) -> nn.Module:
    """All blocks, and the last norm if there is one."""
    blocks = [from_torch(layer) for layer in module.layers]
    ours = kind(blocks, final_norm=module.norm is not None)
    if module.norm is not None:
        ours.norm = from_torch(module.norm)
    return ours.train(module.training)


def _filled(
    ours: nn.Module, module: nn.Module, names: dict[str, str]
) -> nn.Module:
    """Ours, with copies of the parameters that torch gives other names."""
    for name, parameter in ours.named_parameters():
        for own, theirs in names.items():
            name = name.replace(own, theirs)
        source = module.get_parameter(name)
        parameter.requires_grad_(source.requires_grad)
        parameter.data = source.detach().clone()
    return ours.train(module.training)


COUNTERPARTS = {
    nn.MultiheadAttention: _attention,
    nn.LayerNorm: _norm,
    nn.TransformerEncoderLayer: partial(_block, EncoderBlock),
    nn.TransformerDecoderLayer: partial(_block, DecoderBlock),
    nn.TransformerEncoder: partial(_stack, Encoder),
    nn.TransformerDecoder: partial(_stack, Decoder),
}
