"""Packages of one author: x-transformers, local-attention and two more."""

import math

import torch
from local_attention import LocalAttention
from memory_efficient_attention_pytorch import Attention as ChunkedAttention
from memory_efficient_attention_pytorch import FlashAttention
from performer_pytorch import SelfAttention as PerformerAttention
from x_transformers.x_transformers import Attention as XAttention

from benchmarks.public import (
    DROPOUT,
    HEAD,
    HEADS,
    LOWEST,
    WIDTH,
    Called,
    said,
    subject,
)

SIZES = {"dim": WIDTH, "heads": HEADS, "dim_head": HEAD}
X = "x-transformers", "Attention"


def x_transformers(mask_name: str, **options):
    def ask(inner, x, mask):
        out, seen = inner(x, **{mask_name: mask}, return_intermediates=True)
        return out, seen.post_softmax_attn

    return Called(XAttention(**SIZES, dropout=DROPOUT, **options), ask)


@subject(*X, "attn_mask")
def x_plain():
    call = "x mask -> out weights"
    return x_transformers("attn_mask"), said(call=call)


@subject(*X, "mask")
def x_padding():
    call = "x mask -> out weights"
    return x_transformers("mask"), said(call=call, mask_axes="n k")


@subject(*X, "flash, attn_mask")
def x_flash():
    module = x_transformers("attn_mask", flash=True)
    return module, said(call="x mask -> out weights")


@subject(*X, "causal")
def x_causal():
    module = XAttention(**SIZES, dropout=DROPOUT, causal=True)
    return module, said(call="x -> out", mask="causal")


@subject(*X, "flash, causal")
def x_flash_causal():
    module = XAttention(**SIZES, dropout=DROPOUT, causal=True, flash=True)
    return module, said(call="x -> out", mask="causal")


def local_attention(**options):
    return LocalAttention(
        window_size=8,
        autopad=True,
        dropout=DROPOUT,
        use_rotary_pos_emb=False,
        **options,
    )


LOCAL = said(axes="n h l d", mask_axes="n k", projections=False)


@subject(
    "local-attention", "LocalAttention", "mask always given", by_design=LOWEST
)
def local_mask():
    def ask(inner, q, k, v, mask):
        if mask is None:
            mask = torch.ones(len(k), k.shape[-2], dtype=torch.bool)
        return inner(q, k, v, mask=mask)

    return Called(local_attention(), ask), LOCAL


@subject(
    "local-attention",
    "LocalAttention",
    "mask where needed",
    only=("padding invariance",),
    shown={"padding invariance": "local_attention_padding"},
)
def local_bare():
    def ask(inner, q, k, v, mask):
        return inner(
            q, k, v, mask=None if mask is None or mask.all() else mask
        )

    return Called(local_attention(), ask), LOCAL


@subject("local-attention", "LocalAttention", "causal")
def local_causal():
    words = said(call="q k v -> out", axes="n h l d", mask="causal")
    return local_attention(causal=True), words | {"projections": False}


def chunked(kind, **options):
    def ask(inner, x, mask):
        return inner(x, mask=mask)

    return Called(kind(**SIZES, **options), ask)


EFFICIENT = "memory-efficient-attention-pytorch"


@subject(EFFICIENT, "Attention", "Attention", by_design=LOWEST)
def chunked_plain():
    module = chunked(ChunkedAttention, dropout=DROPOUT)
    return module, said(call="x mask -> out")


@subject(EFFICIENT, "Attention", "memory_efficient", by_design=LOWEST)
def chunked_efficient():
    module = chunked(
        ChunkedAttention,
        dropout=DROPOUT,
        memory_efficient=True,
        q_bucket_size=3,
        k_bucket_size=4,
    )
    return module, said(call="x mask -> out", mask_axes="n k")


@subject(
    EFFICIENT,
    "FlashAttention",
    "FlashAttention",
    shown={"half precision": "memory_efficient_half"},
)
def chunked_flash():
    buckets = {"q_bucket_size": 3, "k_bucket_size": 4}
    module = chunked(FlashAttention, **buckets)
    return module, said(call="x mask -> out")


@subject(
    "performer-pytorch",
    "SelfAttention",
    "mask",
    shown={"padding invariance": "performer_padding"},
    leave=dict.fromkeys(("mask before softmax", "scale"), "it has no softmax"),
)
def performer():
    features = int(HEAD * math.log(HEAD)) * 4
    module = PerformerAttention(
        WIDTH,
        heads=HEADS,
        dim_head=HEAD,
        dropout=DROPOUT,
        nb_features=features,
    )

    def ask(inner, x, mask):
        return inner(x, mask=mask)

    words = said(call="x mask -> out", mask_axes="n k")
    return Called(module, ask), words
