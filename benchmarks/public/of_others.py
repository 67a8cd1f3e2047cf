"""Attention of packages that have one or two of them."""

import torch
from curated_transformers.layers import attention as curated
from diffusers.models import attention_processor as diffusers
from esm.multihead_attention import MultiheadAttention as EsmAttention
from labml_nn.transformers.mha import MultiHeadAttention as LabmlAttention
from labml_nn.transformers.rope import RotaryPEMultiHeadAttention
from labml_nn.transformers.xl.relative_mha import RelativeMultiHeadAttention
from monai.networks.blocks.selfattention import SABlock

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

CURATED = "curated-transformers", "SelfAttention"


def labml(module, **words):
    def ask(inner, q, k, v, mask):
        if mask is not None:
            mask = mask.permute(1, 2, 0)  # q k n
        out = inner(query=q, key=k, value=v, mask=mask)
        weights = inner.attn  # the last ones, q k n h
        return out, weights.permute(2, 3, 0, 1)

    call = "q k v mask -> out weights"
    words = said(call=call, axes="l n d", mask_axes="n q k", **words)
    return Called(module, ask), words


@subject("labml-nn", "MultiHeadAttention", "MHA")
def labml_plain():
    return labml(LabmlAttention(HEADS, WIDTH, DROPOUT))


@subject(
    "labml-nn",
    "RotaryPEMultiHeadAttention",
    "RotaryPE MHA",
    shown={"half precision": "labml_rotary_half"},
)
def labml_rotary():
    module = RotaryPEMultiHeadAttention(HEADS, WIDTH, dropout_prob=DROPOUT)
    return labml(module, positions=True)


@subject("labml-nn", "RelativeMultiHeadAttention", "Relative MHA")
def labml_relative():
    module = RelativeMultiHeadAttention(HEADS, WIDTH, DROPOUT)
    return labml(module, positions=True)


def of_diffusers(processor):
    module = diffusers.Attention(
        WIDTH,
        heads=HEADS,
        dim_head=HEAD,
        dropout=DROPOUT,
        processor=processor,
    )

    def ask(inner, x, mask):
        return inner(x, attention_mask=mask)

    words = said(call="x mask -> out", mask="additive", mask_axes="(n h) q k")
    return Called(module, ask), words


@subject("diffusers", "Attention", "AttnProcessor")
def diffusers_plain():
    return of_diffusers(diffusers.AttnProcessor())


@subject("diffusers", "Attention", "AttnProcessor2_0")
def diffusers_sdpa():
    return of_diffusers(diffusers.AttnProcessor2_0())


@subject("monai", "SABlock", "attn_mask")
def monai_plain():
    module = SABlock(WIDTH, HEADS, DROPOUT)
    words = said(call="x mask -> out", mask="ones", mask_axes="n k")
    return module, words


@subject("monai", "SABlock", "causal")
def monai_causal():
    module = SABlock(WIDTH, HEADS, DROPOUT, causal=True, sequence_length=16)
    return module, said(call="x -> out", mask="causal")


def monai_fast(dropout: float):
    module = SABlock(
        WIDTH,
        HEADS,
        dropout,
        causal=True,
        sequence_length=16,
        use_flash_attention=True,
    )
    return module, said(call="x -> out", mask="causal")


@subject("monai", "SABlock", "causal, flash")
def monai_flash():
    return monai_fast(0.0)


@subject(
    "monai",
    "SABlock",
    "flash, dropout 0.3",
    only=("dropout off in evaluation",),
    shown={"dropout off in evaluation": "monai_dropout"},
)
def monai_flash_dropout():
    return monai_fast(DROPOUT)


@subject(
    "monai",
    "SABlock",
    "flash, attn_mask",
    only=("padding invariance",),
    shown={"padding invariance": "monai_mask"},
)
def monai_flash_mask():
    module = SABlock(WIDTH, HEADS, use_flash_attention=True)
    return module, said(call="x mask -> out", mask_axes="n k")


def of_curated(fast: bool, causal: bool = False):
    module = curated.SelfAttention(
        attention_heads=curated.AttentionHeads.uniform(
            HEADS, curated.QkvSplitGroupedByKVHeads()
        ),
        attention_scorer=curated.ScaledDotProductAttention(
            dropout_prob=DROPOUT, linear_biases=None
        ),
        hidden_width=WIDTH,
        qkv_mode=curated.QkvMode.SEPARATE,
        use_bias=True,
    )

    def ask(inner, x, mask=None):
        if mask is None:
            mask = torch.ones(x.shape[:2], dtype=torch.bool)
        mask = curated.AttentionMask(mask)
        with curated.enable_torch_sdp(fast):
            return inner(x, mask, use_causal_mask=causal)

    return Called(module, ask)


@subject(*CURATED, "mask", by_design=LOWEST)
def curated_plain():
    return of_curated(False), said(call="x mask -> out")


@subject(*CURATED, "mask, torch SDP")
def curated_sdpa():
    words = said(call="x mask -> out", mask_axes="n k")
    return of_curated(True), words


@subject(*CURATED, "causal")
def curated_causal():
    return of_curated(False, True), said(call="x -> out", mask="causal")


@subject(
    *CURATED,
    "causal, torch SDP",
    shown={"leak, training": "curated_training"},
)
def curated_sdpa_causal():
    return of_curated(True, True), said(call="x -> out", mask="causal")


@subject("fair-esm", "MultiheadAttention", "attn_mask")
def esm_mask():
    def ask(inner, q, k, v, mask):
        return inner(q, k, v, attn_mask=mask)

    words = said(axes="l n d", mask="additive", mask_axes="q k")
    return Called(EsmAttention(WIDTH, HEADS, dropout=DROPOUT), ask), words


@subject("fair-esm", "MultiheadAttention", "need_head_weights")
def esm_own():
    def ask(inner, q, k, v, mask):
        out, weights = inner(q, k, v, mask, need_head_weights=True)
        return out, weights.transpose(0, 1)  # h n q k

    call = "q k v mask -> out weights"
    words = said(call=call, axes="l n d", mask="ignore", mask_axes="n k")
    return Called(EsmAttention(WIDTH, HEADS, dropout=DROPOUT), ask), words
