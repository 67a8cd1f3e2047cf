"""Packages of one author: x-transformers, local-attention and two more."""

import math
from functools import partial

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
    Subject,
    named,
    said,
)

SIZES = {"dim": WIDTH, "heads": HEADS, "dim_head": HEAD}
LOCAL = {"window_size": 8, "autopad": True, "dropout": DROPOUT}
LOCAL |= {"use_rotary_pos_emb": False}
BUCKETS = {"q_bucket_size": 3, "k_bucket_size": 4}
x_attention = partial(Subject, "x-transformers")
local_attention = partial(Subject, "local-attention")
efficient = partial(Subject, "memory-efficient-attention-pytorch")


def x_masked(mask_name: str, axes: str | None = None, **options):
    def ask(inner, x, mask):
        out, seen = inner(x, **{mask_name: mask}, return_intermediates=True)
        return out, seen.post_softmax_attn

    module = Called(XAttention(**SIZES, dropout=DROPOUT, **options), ask)
    return module, said("x mask -> out weights", mask_axes=axes)


def x_causal(**options):
    module = XAttention(**SIZES, dropout=DROPOUT, causal=True, **options)
    return module, said("x -> out", mask="causal")


def local_masked(always: bool):
    def ask(inner, q, k, v, mask):
        if always and mask is None:
            mask = torch.ones(len(k), k.shape[-2], dtype=torch.bool)
        if not always and mask is not None and mask.all():
            mask = None
        return inner(q, k, v, mask=mask)

    words = said(axes="n h l d", mask_axes="n k", projections=False)
    module = LocalAttention(**LOCAL)
    return Called(module, ask), words


def local_causal():
    module = LocalAttention(**LOCAL, causal=True)
    words = {"axes": "n h l d", "mask": "causal", "projections": False}
    return module, said("q k v -> out", **words)


def chunked(axes: str | None = None, **options):
    module = ChunkedAttention(**SIZES, dropout=DROPOUT, **options)
    return named(module), said("x mask -> out", mask_axes=axes)


def flash():
    return named(FlashAttention(**SIZES, **BUCKETS)), said("x mask -> out")


def performer():
    features = int(HEAD * math.log(HEAD)) * 4
    module = PerformerAttention(**SIZES, dropout=DROPOUT, nb_features=features)
    return named(module), said("x mask -> out", mask_axes="n k")


SUBJECTS = [
    x_attention("attn_mask", lambda: x_masked("attn_mask")),
    x_attention("mask", lambda: x_masked("mask", "n k")),
    x_attention("flash, attn_mask", lambda: x_masked("attn_mask", flash=True)),
    x_attention("causal", x_causal),
    x_attention("flash, causal", lambda: x_causal(flash=True)),
    local_attention(
        "mask always given",
        lambda: local_masked(always=True),
        by_design=LOWEST,
    ),
    local_attention(
        "mask where needed",
        lambda: local_masked(always=False),
        only="padding invariance",
        shown={"padding invariance": "local_attention_padding"},
    ),
    local_attention("causal", local_causal),
    efficient("Attention", chunked, by_design=LOWEST),
    efficient(
        "memory_efficient",
        lambda: chunked("n k", memory_efficient=True, **BUCKETS),
        by_design=LOWEST,
    ),
    efficient(
        "FlashAttention",
        flash,
        shown={"half precision": "memory_efficient_half"},
    ),
    Subject(
        "performer-pytorch",
        "mask",
        performer,
        leave=dict.fromkeys(
            ("mask before softmax", "scale"), "it has no softmax"
        ),
        shown={"padding invariance": "performer_padding"},
    ),
]
