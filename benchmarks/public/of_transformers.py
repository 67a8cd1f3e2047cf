"""The attention layers of Hugging Face's transformers, from configurations.

The models hand their layers a mask that they have made: 0 or the lowest
number of the dtype for "eager", True = may attend for "sdpa". The same is
handed over here.
"""

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
    said,
    subject,
)

CALL = "x mask -> out weights"
PLAIN = {"hidden_size": WIDTH, "num_attention_heads": HEADS}


def as_models_do(mask: Tensor | None, x: Tensor, how: str) -> Tensor:
    """The mask that a model of transformers hands to its layers."""
    if mask is None:
        mask = torch.ones(len(x), 1, x.shape[1], x.shape[1], dtype=torch.bool)
    if how == "sdpa":
        return mask
    lowest = torch.full((), torch.finfo(x.dtype).min, dtype=x.dtype)
    return torch.where(mask, torch.zeros((), dtype=x.dtype), lowest)


def bert(how: str):
    config = BertConfig(
        **PLAIN,
        attention_probs_dropout_prob=DROPOUT,
        attn_implementation=how,
    )

    def ask(inner, x, mask):
        return inner(x, as_models_do(mask, x, how))

    return Called(BertSelfAttention(config), ask), said(call=CALL)


@subject("transformers", "BertSelfAttention", "BERT, eager", by_design=LOWEST)
def bert_eager():
    return bert("eager")


@subject("transformers", "BertSelfAttention", "BERT, sdpa")
def bert_sdpa():
    return bert("sdpa")


def t5(how: str):
    config = T5Config(
        d_model=WIDTH,
        d_kv=HEAD,
        num_heads=HEADS,
        dropout_rate=DROPOUT,
        attn_implementation=how,
    )

    def ask(inner, x, mask):
        return inner(x, as_models_do(mask, x, how))

    call = "x mask -> out _ weights"
    # T5 has no scale: its initial weights are smaller instead.
    return Called(T5Attention(config), ask), said(call=call, scale=1.0)


@subject("transformers", "T5Attention", "T5, eager", by_design=LOWEST)
def t5_eager():
    return t5("eager")


@subject("transformers", "T5Attention", "T5, sdpa", by_design=LOWEST)
def t5_sdpa():
    return t5("sdpa")


def llama(how: str, kv_heads: int = HEADS):
    config = LlamaConfig(
        **PLAIN,
        num_key_value_heads=kv_heads,
        attention_dropout=DROPOUT,
        attn_implementation=how,
    )

    def ask(inner, x, mask):
        # Every token at position 0: rotated by no angle.
        turned = torch.ones(len(x), x.shape[1], HEAD, dtype=x.dtype)
        angles = (turned, torch.zeros_like(turned))
        return inner(x, angles, as_models_do(mask, x, how))

    return Called(LlamaAttention(config, 0), ask), said(call=CALL)


@subject("transformers", "LlamaAttention", "LLaMA, eager", by_design=LOWEST)
def llama_eager():
    return llama("eager")


@subject("transformers", "LlamaAttention", "LLaMA, sdpa")
def llama_sdpa():
    return llama("sdpa")


def gpt2(how: str):
    config = GPT2Config(
        n_embd=WIDTH,
        n_head=HEADS,
        attn_pdrop=DROPOUT,
        resid_pdrop=DROPOUT,
        attn_implementation=how,
    )

    def ask(inner, x, mask):
        return inner(x, attention_mask=as_models_do(mask, x, how))

    return Called(GPT2Attention(config, layer_idx=0), ask), said(call=CALL)


@subject("transformers", "GPT2Attention", "GPT-2, eager", by_design=LOWEST)
def gpt2_eager():
    return gpt2("eager")


@subject("transformers", "GPT2Attention", "GPT-2, sdpa")
def gpt2_sdpa():
    return gpt2("sdpa")
