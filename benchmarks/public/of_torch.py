"""PyTorch's own attention, and this book's."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import flex_attention

from benchmarks.public import DROPOUT, HEADS, WIDTH, Subject, named, said
from lib.attention import attention
from lib.heads import MultiHeadAttention

IN_HEADS = said(axes="n h l d")
book = partial(Subject, "the-executable-transformer")
torchs = partial(Subject, "torch")
sdpa = F.scaled_dot_product_attention


CAUSAL = said("q k v -> out", axes="n h l d", mask="causal")


def math_kernel(q, k, v, mask):
    with sdpa_kernel(SDPBackend.MATH):
        return sdpa(q, k, v, mask)


def flex(q, k, v, mask):
    if mask is None:
        return flex_attention(q, k, v)

    def hide(score, n, h, i, j):
        return torch.where(mask[n, h, i, j], score, -torch.inf)

    return flex_attention(q, k, v, score_mod=hide)


def our_heads():
    module = MultiHeadAttention(WIDTH, HEADS, DROPOUT)
    words = said("q k v mask -> out weights")
    return named(module, "may_attend", need_weights=True), words


def heads(mask: str, axes: str, **options):
    module = nn.MultiheadAttention(WIDTH, HEADS, DROPOUT, batch_first=True)
    returned = " weights" if options.get("need_weights", True) else ""
    words = said(f"q k v mask -> out{returned}", mask="ignore", mask_axes=axes)
    return named(module, mask, **options), words


SUBJECTS = [
    book("attention", lambda: (attention, IN_HEADS)),
    book("MultiHeadAttention", our_heads),
    torchs("SDPA", lambda: (sdpa, IN_HEADS)),
    torchs("SDPA, math kernel", lambda: (math_kernel, IN_HEADS)),
    torchs(
        "SDPA, float mask", lambda: (sdpa, IN_HEADS | {"mask": "additive"})
    ),
    torchs("SDPA, is_causal", lambda: (partial(sdpa, is_causal=True), CAUSAL)),
    torchs(
        "flex_attention",
        lambda: (flex, IN_HEADS),
        leave={"fully masked row, gradient": "no backward pass on a CPU"},
    ),
    torchs(
        "MHA, with weights",
        lambda: heads("attn_mask", "(n h) q k", average_attn_weights=False),
    ),
    torchs(
        "MHA, no weights",
        lambda: heads("attn_mask", "(n h) q k", need_weights=False),
    ),
    torchs(
        "MHA, key_padding_mask",
        lambda: heads("key_padding_mask", "n k", need_weights=False),
    ),
]
