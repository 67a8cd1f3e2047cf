"""Attention of packages that have one or two of them."""

from functools import partial

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
    Subject,
    named,
    said,
)

of_labml = partial(Subject, "labml-nn")
of_diffusers = partial(Subject, "diffusers")
monai = partial(Subject, "monai")
of_curated = partial(Subject, "curated-transformers")
esm = partial(Subject, "fair-esm")
FLASH = {"use_flash_attention": True}
WEIGHTS = "q k v mask -> out weights"


def labml(kind: type, **words):
    def ask(inner, q, k, v, mask):
        if mask is not None:
            mask = mask.permute(1, 2, 0)  # q k n
        out = inner(query=q, key=k, value=v, mask=mask)
        weights = inner.attn  # the last ones, q k n h
        return out, weights.permute(2, 3, 0, 1)

    module = Called(kind(HEADS, WIDTH, dropout_prob=DROPOUT), ask)
    return module, said(WEIGHTS, axes="l n d", mask_axes="n q k", **words)


def with_processor(name: str):
    sizes = {"heads": HEADS, "dim_head": HEAD, "dropout": DROPOUT}
    processor = getattr(diffusers, name)()
    module = diffusers.Attention(WIDTH, **sizes, processor=processor)
    words = said("x mask -> out", mask="additive", mask_axes="(n h) q k")
    return named(module, "attention_mask"), words


def monai_masked(mask: str, dropout: float, **options):
    words = said("x mask -> out", mask=mask, mask_axes="n k")
    return SABlock(WIDTH, HEADS, dropout, **options), words


def monai_causal(dropout: float, **options):
    sizes = {"causal": True, "sequence_length": 16}
    module = SABlock(WIDTH, HEADS, dropout, **sizes, **options)
    return module, said("x -> out", mask="causal")


def self_attention(fast: bool, causal: bool = False, axes: str | None = None):
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

    if causal:
        return Called(module, ask), said("x -> out", mask="causal")
    return Called(module, ask), said("x mask -> out", mask_axes=axes)


def esm_mask():
    module = EsmAttention(WIDTH, HEADS, dropout=DROPOUT)
    words = said(axes="l n d", mask="additive", mask_axes="q k")
    return named(module, "attn_mask"), words


def esm_weights():
    def ask(inner, q, k, v, mask):
        out, weights = inner(q, k, v, mask, need_head_weights=True)
        return out, weights.transpose(0, 1)  # h n q k

    words = said(WEIGHTS, axes="l n d", mask="ignore", mask_axes="n k")
    return Called(EsmAttention(WIDTH, HEADS, dropout=DROPOUT), ask), words


SUBJECTS = [
    of_labml("MHA", lambda: labml(LabmlAttention)),
    of_labml(
        "RotaryPE MHA",
        lambda: labml(RotaryPEMultiHeadAttention, positions=True),
        shown={"half precision": "labml_rotary_half"},
    ),
    of_labml(
        "Relative MHA",
        lambda: labml(RelativeMultiHeadAttention, positions=True),
    ),
    of_diffusers("AttnProcessor", lambda: with_processor("AttnProcessor")),
    of_diffusers(
        "AttnProcessor2_0", lambda: with_processor("AttnProcessor2_0")
    ),
    monai("attn_mask", lambda: monai_masked("ones", DROPOUT)),
    monai("causal", lambda: monai_causal(DROPOUT)),
    monai("causal, flash", lambda: monai_causal(0.0, **FLASH)),
    monai(
        "flash, dropout 0.3",
        lambda: monai_causal(DROPOUT, **FLASH),
        only="dropout off in evaluation",
        shown={"dropout off in evaluation": "monai_dropout"},
    ),
    monai(
        "flash, attn_mask",
        lambda: monai_masked("keep", 0.0, **FLASH),
        only="padding invariance",
        shown={"padding invariance": "monai_mask"},
    ),
    of_curated("mask", lambda: self_attention(fast=False), by_design=LOWEST),
    of_curated(
        "mask, torch SDP", lambda: self_attention(fast=True, axes="n k")
    ),
    of_curated("causal", lambda: self_attention(fast=False, causal=True)),
    of_curated(
        "causal, torch SDP",
        lambda: self_attention(fast=True, causal=True),
        shown={"leak, training": "curated_training"},
    ),
    esm("attn_mask", esm_mask),
    esm("need_head_weights", esm_weights),
]
