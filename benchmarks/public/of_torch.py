"""PyTorch's own attention, and this book's."""

import functools

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import flex_attention

from benchmarks.public import DROPOUT, HEADS, WIDTH, Called, said, subject
from lib.attention import attention
from lib.heads import MultiHeadAttention

IN_HEADS = "n h l d"
BOOK = "the-executable-transformer"
SDPA = "torch.nn.functional.scaled_dot_product_attention"
HEADED = "torch.nn.MultiheadAttention"


@subject(BOOK, "lib.attention.attention", "attention")
def ours():
    return attention, said(axes=IN_HEADS)


@subject(BOOK, "lib.heads.MultiHeadAttention", "MultiHeadAttention")
def our_heads():
    def ask(inner, q, k, v, mask):
        return inner(q, k, v, mask, need_weights=True)

    call = "q k v mask -> out weights"
    module = MultiHeadAttention(WIDTH, HEADS, DROPOUT)
    return Called(module, ask), said(call=call)


@subject("torch", SDPA, "SDPA")
def sdpa():
    return F.scaled_dot_product_attention, said(axes=IN_HEADS)


@subject("torch", SDPA, "SDPA, math kernel")
def sdpa_math():
    def call(q, k, v, mask):
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, k, v, mask)

    return call, said(axes=IN_HEADS)


@subject("torch", SDPA, "SDPA, float mask")
def sdpa_float():
    words = said(axes=IN_HEADS, mask="additive")
    return F.scaled_dot_product_attention, words


@subject("torch", SDPA, "SDPA, is_causal")
def sdpa_causal():
    call = functools.partial(F.scaled_dot_product_attention, is_causal=True)
    return call, said(call="q k v -> out", axes=IN_HEADS, mask="causal")


@subject(
    "torch",
    "torch.nn.attention.flex_attention",
    "flex_attention",
    leave={"fully masked row, gradient": "no backward pass on a CPU"},
)
def flex():
    def call(q, k, v, mask):
        if mask is None:
            return flex_attention(q, k, v)

        def hide(score, n, h, i, j):
            return torch.where(mask[n, h, i, j], score, -torch.inf)

        return flex_attention(q, k, v, score_mod=hide)

    return call, said(axes=IN_HEADS)


@subject("torch", HEADED, "MHA, with weights")
def heads_weights():
    def ask(inner, q, k, v, mask):
        return inner(q, k, v, attn_mask=mask, average_attn_weights=False)

    module = nn.MultiheadAttention(WIDTH, HEADS, DROPOUT, batch_first=True)
    call = "q k v mask -> out weights"
    words = said(call=call, mask="ignore", mask_axes="(n h) q k")
    return Called(module, ask), words


@subject("torch", HEADED, "MHA, no weights")
def heads_fast():
    def ask(inner, q, k, v, mask):
        return inner(q, k, v, attn_mask=mask, need_weights=False)

    module = nn.MultiheadAttention(WIDTH, HEADS, DROPOUT, batch_first=True)
    return Called(module, ask), said(mask="ignore", mask_axes="(n h) q k")


@subject("torch", HEADED, "MHA, key_padding_mask")
def heads_padding():
    def ask(inner, q, k, v, mask):
        return inner(q, k, v, key_padding_mask=mask, need_weights=False)

    module = nn.MultiheadAttention(WIDTH, HEADS, DROPOUT, batch_first=True)
    return Called(module, ask), said(mask="ignore", mask_axes="n k")
