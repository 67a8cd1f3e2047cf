"""The attention layers of Hugging Face's transformers, and that of Keras.

The models of transformers hand their layers a mask that they have made: 0 or
the lowest number of the dtype for "eager", True = may attend for "sdpa". The
same is handed over here.
"""

from functools import partial

import keras
import torch
from torch import Tensor
from transformers import BertConfig, GPT2Config, LlamaConfig, T5Config
from transformers.models.bert.modeling_bert import BertSelfAttention
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention
from transformers.models.llama.modeling_llama import LlamaAttention
from transformers.models.t5.modeling_t5 import T5Attention

from benchmarks.public import (
    DROPOUT,
    HEAD,
    HEADS,
    LOWEST,
    WIDTH,
    Called,
    Subject,
    said,
)

PLAIN = {"hidden_size": WIDTH, "num_attention_heads": HEADS}


def as_models_do(mask: Tensor | None, x: Tensor, how: str) -> Tensor:
    """The mask that a model of transformers hands to its layers."""
    if mask is None:
        mask = torch.ones(len(x), 1, x.shape[1], x.shape[1], dtype=torch.bool)
    if how == "sdpa":
        return mask
    lowest = torch.full((), torch.finfo(x.dtype).min, dtype=x.dtype)
    return torch.where(mask, torch.zeros((), dtype=x.dtype), lowest)


def bert(**how):
    config = BertConfig(**PLAIN, attention_probs_dropout_prob=DROPOUT, **how)
    return BertSelfAttention(config)


def t5(**how):
    sizes = {"d_model": WIDTH, "d_kv": HEAD, "num_heads": HEADS}
    return T5Attention(T5Config(**sizes, dropout_rate=DROPOUT, **how))


def llama(**how):
    config = LlamaConfig(
        **PLAIN, num_key_value_heads=HEADS, attention_dropout=DROPOUT, **how
    )
    return LlamaAttention(config, 0)


def gpt2(**how):
    drop = {"attn_pdrop": DROPOUT, "resid_pdrop": DROPOUT}
    config = GPT2Config(n_embd=WIDTH, n_head=HEADS, **drop, **how)
    return GPT2Attention(config, layer_idx=0)


def called(make, how: str):
    def ask(inner, x, mask):
        given = [x, as_models_do(mask, x, how)]
        if make is gpt2:
            given.insert(1, None)  # of its cache
        if make is llama:  # every token at position 0: rotated by no angle
            turned = torch.ones(len(x), x.shape[1], HEAD, dtype=x.dtype)
            given.insert(1, (turned, torch.zeros_like(turned)))
        return inner(*given)

    module = Called(make(attn_implementation=how), ask)
    if make is t5:  # it has no scale: its initial weights are smaller instead
        return module, said("x mask -> out _ weights", scale=1.0)
    return module, said("x mask -> out weights")


def keras_weights():
    """Each projection is the identity: its kernels have 3 axes."""
    module = keras.layers.MultiHeadAttention(HEADS, HEAD, dropout=DROPOUT)
    module.build((None, None, WIDTH), (None, None, WIDTH))
    for name in ("query", "key", "value", "output"):
        kernel = getattr(module, f"{name}_dense").kernel
        kernel.assign(torch.eye(WIDTH).view(*kernel.shape))

    def ask(inner, q, k, v, mask):
        options = {"return_attention_scores": True, "training": inner.training}
        return inner(q, v, k, attention_mask=mask, **options)

    words = {"mask_axes": "n q k", "projections": False}
    return Called(module, ask), said("q k v mask -> out weights", **words)


SUBJECTS = [
    Subject(
        "transformers",
        f"{name}, {how}",
        partial(called, make, how),
        by_design=LOWEST if how == "eager" or make is t5 else {},
    )
    for name, make in {
        "BERT": bert,
        "T5": t5,
        "LLaMA": llama,
        "GPT-2": gpt2,
    }.items()
    for how in ("eager", "sdpa")
]
SUBJECTS.append(
    Subject(
        "keras",
        "MultiHeadAttention",
        keras_weights,
        leave={
            "half precision": "a dtype policy, given when the layer is made, "
            "decides this"
        },
    )
)
