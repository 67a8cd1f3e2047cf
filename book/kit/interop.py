"""Our modules with the weights of PyTorch's.

Not taught. The chapters use it to compare: same weights in, same numbers out.
"""

from functools import singledispatch

import torch
import torch.nn.functional as F
from torch import nn

from lib.decoder import Decoder, DecoderBlock
from lib.encoder import Encoder, EncoderBlock
from lib.heads import MultiHeadAttention
from lib.layers import LayerNorm

ACTIVATIONS = {
    **dict.fromkeys((F.relu, torch.relu, nn.ReLU), "relu"),
    **dict.fromkeys((F.gelu, nn.GELU), "gelu"),
}


@singledispatch
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
    known = [
        kind.__name__ for kind in from_torch.registry if kind is not object
    ]
    raise TypeError(
        f"module: expected one of {', '.join(known)}, got "
        f"{type(module).__name__}"
    )


@from_torch.register
def _(module: nn.MultiheadAttention) -> MultiHeadAttention:
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
    ours = MultiHeadAttention(
        module.embed_dim, module.num_heads, module.dropout, has_bias
    )
    ours.to(module.out_proj.weight).train(module.training)
    pairs = {
        ours.in_proj.weight: module.in_proj_weight,
        ours.out_proj.weight: module.out_proj.weight,
    }
    if has_bias:
        pairs[ours.in_proj.bias] = module.in_proj_bias
        pairs[ours.out_proj.bias] = module.out_proj.bias
    _copy(pairs)
    return ours


@from_torch.register
def _(module: nn.LayerNorm) -> LayerNorm:
    if len(module.normalized_shape) != 1 or module.weight is None:
        raise ValueError(
            "module: expected a LayerNorm over one axis with a weight, got "
            f"{module}"
        )
    has_bias = module.bias is not None
    ours = LayerNorm(module.normalized_shape[0], module.eps, has_bias)
    ours.to(module.weight).train(module.training)
    _copy_parts({ours: module})
    return ours


@from_torch.register
def _(module: nn.TransformerEncoderLayer) -> EncoderBlock:
    ours = _block(EncoderBlock, module)
    ours.attention = from_torch(module.self_attn)
    _join(ours.around_attention, module.norm1, module.dropout1)
    _join(ours.around_feed_forward, module.norm2, module.dropout2)
    return ours


@from_torch.register
def _(module: nn.TransformerDecoderLayer) -> DecoderBlock:
    ours = _block(DecoderBlock, module)
    ours.self_attention = from_torch(module.self_attn)
    ours.cross_attention = from_torch(module.multihead_attn)
    _join(ours.around_self_attention, module.norm1, module.dropout1)
    _join(ours.around_cross_attention, module.norm2, module.dropout2)
    _join(ours.around_feed_forward, module.norm3, module.dropout3)
    return ours


@from_torch.register
def _(module: nn.TransformerEncoder) -> Encoder:
    return _stack(Encoder, module)


@from_torch.register
def _(module: nn.TransformerDecoder) -> Decoder:
    return _stack(Decoder, module)


def _block(kind: type, module: nn.Module) -> nn.Module:
    """A block of the same sizes; only the feed-forward network is copied."""
    ours = kind(
        d_model=module.self_attn.embed_dim,
        heads=module.self_attn.num_heads,
        d_ff=module.linear1.out_features,
        dropout=module.dropout.p,
        norm_first=module.norm_first,
        activation=_activation(module.activation),
        bias=module.linear1.bias is not None,
    )
    ours.to(module.linear1.weight).train(module.training)
    network = ours.feed_forward
    _copy_parts(
        {network.widen: module.linear1, network.narrow: module.linear2}
    )
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


def _join(ours: nn.Module, norm: nn.LayerNorm, dropout: nn.Dropout) -> None:
    """What stands around a sub-layer: its norm and its dropout."""
    ours.norm = from_torch(norm)
    ours.dropout.p = dropout.p


def _stack(kind: type, module: nn.Module) -> nn.Module:
    """All blocks, and the last norm if there is one."""
    blocks = [from_torch(layer) for layer in module.layers]
    ours = kind(blocks, final_norm=module.norm is not None)
    if module.norm is not None:
        ours.norm = from_torch(module.norm)
    return ours.train(module.training)


def _copy_parts(pairs: dict[nn.Module, nn.Module]) -> None:
    """Weight and bias, if there is one, of linear layers and norms."""
    weights = {ours.weight: theirs.weight for ours, theirs in pairs.items()}
    biases = {ours.bias: theirs.bias for ours, theirs in pairs.items()}
    biases.pop(None, None)
    _copy(weights | biases)


def _copy(pairs: dict[nn.Parameter, nn.Parameter]) -> None:
    with torch.no_grad():
        for ours, theirs in pairs.items():
            ours.copy_(theirs)
            ours.requires_grad_(theirs.requires_grad)
