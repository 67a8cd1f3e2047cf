"""Chapter 4: who may attend to whom.

One convention in the whole book: a mask is boolean, True = may attend, and
broadcasts to (batch, heads, q_len, k_len). Masks combine with `&`. The other
functions translate from and to the conventions of other code.

Two things that other code passes around need no translator. The weights that
`nn.MultiheadAttention` gives are as a rule the mean over the heads: that is
`weights.mean(1)` of ours. And a bias that is added to the scores (ALiBi, T5)
is more than a mask: `lib.attention` takes it beside the mask, as `score_bias`.
"""

import math

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from . import validate


def padding_mask(
    lengths: Int[Tensor, " batch"], max_length: int | None = None
) -> Bool[Tensor, "batch 1 1 k_len"]:
    """True at the first `lengths[n]` keys of sentence n.

    Args:
        lengths: the number of real tokens of each sentence.
        max_length: the number of keys; by default the largest length.
    """
    validate.lengths(lengths, max_length)
    if max_length is None:
        max_length = int(lengths.max())
    position = torch.arange(max_length, device=lengths.device)
    return (position < lengths[:, None])[:, None, None]


def padding_mask_from_ids(
    ids: Int[Tensor, "batch k_len"], pad_id: int
) -> Bool[Tensor, "batch 1 1 k_len"]:
    """True at every key that is not PAD."""
    validate.id_batch(ids)
    validate.integer("pad_id", pad_id, least=0)
    return (ids != pad_id)[:, None, None]


def causal_mask(
    length: int,
    device: torch.device | str | None = None,
    *,
    window: int | None = None,
) -> Bool[Tensor, "1 1 length length"]:
    """True where the key is not later than the query.

    Args:
        window: how many keys a query sees, itself included; by default all
            that are not later.
    """
    validate.positive(length=length)
    position = torch.arange(length, device=device)
    may_attend = position[None, :] <= position[:, None]
    if window is not None:
        validate.positive(window=window)
        may_attend &= position[None, :] > position[:, None] - window
    return may_attend[None, None]


def additive(
    may_attend: Bool[Tensor, "..."], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "..."]:
    """0 where attention is allowed, -inf where not: to be added to scores."""
    validate.boolean(may_attend=may_attend)
    validate.floating_dtype(dtype)
    zeros = torch.zeros(may_attend.shape, dtype=dtype)
    return zeros.to(may_attend.device).masked_fill(~may_attend, -math.inf)


def from_additive(mask: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
    """True where an additive mask is 0; the inverse of `additive`.

    Raises:
        TypeError: the mask is not floating point.
        ValueError: an entry is neither 0 nor -inf. A bias such as ALiBi's
            is more than a mask: pass it as `score_bias`. Large negative
            numbers that stand for -inf must be replaced first:
            `mask.masked_fill(mask < -1e4, -math.inf)`.
    """
    validate.floating(mask=mask)
    validate.only(mask, (0, -math.inf))
    return mask == 0


def from_zero_one(mask: Shaped[Tensor, "..."]) -> Bool[Tensor, "..."]:
    """True where a mask of numbers is 1, as tokenizers return them.

    Raises:
        TypeError: the mask is boolean already; there 1 = may attend would be
            a guess.
        ValueError: an entry is neither 0 nor 1.
    """
    validate.numeric(mask=mask)
    validate.only(mask, (0, 1))
    return mask == 1


def for_torch_mha(
    may_attend: Bool[Tensor, "_ _ _ k_len"], batch: int, heads: int, q_len: int
) -> Bool[Tensor, "{batch*heads} {q_len} k_len"]:
    """The `attn_mask` of `nn.MultiheadAttention`: True = may NOT attend."""
    validate.boolean(may_attend=may_attend)
    validate.positive(batch=batch, heads=heads, q_len=q_len)
    shape = (batch, heads, q_len, may_attend.shape[-1])
    validate.module_mask(may_attend, shape)
    return ~may_attend.expand(shape).flatten(0, 1)


def from_key_padding_mask(
    mask: Bool[Tensor, "batch k_len"],
) -> Bool[Tensor, "batch 1 1 k_len"]:
    """Our mask from a `key_padding_mask` of torch: True = ignore."""
    validate.boolean(mask=mask)
    validate.axes("mask: batch length", mask=mask)
    return ~mask[:, None, None]


def from_attn_mask(
    mask: Bool[Tensor, "*batch_heads q_len k_len"], heads: int
) -> Bool[Tensor, "_ _ q_len k_len"]:
    """Our mask from an `attn_mask` of torch: True = may NOT attend.

    Args:
        mask: of shape (q_len, k_len), or (batch * heads, q_len, k_len).
    """
    validate.attn_mask(mask, heads)
    if mask.ndim == 2:
        return ~mask[None, None]
    return ~mask.unflatten(0, (-1, heads))
