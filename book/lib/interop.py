"""Our modules with the weights of PyTorch's.

Not taught. The chapters use it to compare: same weights in, same numbers out.
"""

from functools import singledispatch

import torch
from torch import nn

from lib.heads import MultiHeadAttention


@singledispatch
def from_torch(module: nn.Module) -> nn.Module:
    """Our counterpart of a torch module, with a copy of its weights.

    Dtype, device and training mode are those of the original. Our modules
    always take the batch first, whatever `batch_first` says there.

    Raises:
        TypeError: there is no counterpart of this type of module.
        ValueError: the module uses an option that we do not have.
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


def _copy(pairs: dict[nn.Parameter, nn.Parameter]) -> None:
    with torch.no_grad():
        for ours, theirs in pairs.items():
            ours.copy_(theirs)
