"""Chapter 5: several attentions side by side.

`MultiHeadAttention` serves as self-attention and as cross-attention. Its
parts can be called one by one; chapter 14 does so.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from . import validate
from .attention import attention_weights


def split_heads(
    x: Float[Tensor, "batch length d_model"], heads: int
) -> Float[Tensor, "batch {heads} length d_head"]:
    """Cut the last axis into heads: head h holds its h-th stretch."""
    validate.splittable(x, heads)
    batch, length, d_model = x.shape
    parts = x.view(batch, length, heads, d_model // heads)
    return parts.transpose(1, 2)


def merge_heads(
    x: Float[Tensor, "batch heads length d_head"],
) -> Float[Tensor, "batch length d_model"]:
    """Put the heads side by side again; the inverse of `split_heads`."""
    validate.mergeable(x)
    return x.transpose(1, 2).flatten(2)


def attend_in_heads(
    q: Float[Tensor, "batch heads q_len d_head"],
    k: Float[Tensor, "batch heads k_len d_head"],
    v: Float[Tensor, "batch heads k_len d_value"],
    may_attend: Bool[Tensor, "_ _ _ _"] | None,
    dropout: float,
    need_weights: bool = False,
    *,
    score_bias: Float[Tensor, "_ _ _ _"] | None = None,
):
    """What every head hands over; with it the weights, or None.

    Args:
        q, k, v, may_attend, dropout, score_bias: as in `attention`; mask and
            bias of rank 4.
        need_weights: without them there is a faster way, if there is no bias.
    """
    validate.to_attend(q, k, v, may_attend, score_bias)
    slow = dropout and q.is_cpu  # SDPA is slow then
    if need_weights or slow or score_bias is not None:
        weights = attention_weights(q, k, may_attend, score_bias=score_bias)
        return F.dropout(weights, dropout) @ v, weights
    context = F.scaled_dot_product_attention(q, k, v, may_attend, dropout)
    return context, None


class MultiHeadAttention(nn.Module):
    """Concat(head_1 ... head_H) W_O, where head_i attends with its own W_i.

    Source: Vaswani et al. 2017, section 3.2.2. The matrices W_Q, W_K and W_V
    of all heads are the three parts of one matrix, `in_proj`, as in torch.

    Args:
        heads: the number H of heads, each d_model / H wide.
        dropout: on the attention weights, in training only.
        bias: add a bias after each of the four matrices.
    """

    def __init__(self, d_model, heads, dropout=0.0, bias=True):
        super().__init__()
        validate.several_heads(d_model, heads, dropout, bias)
        self.d_model, self.heads, self.dropout = d_model, heads, dropout
        self.in_proj = nn.Linear(d_model, 3 * d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def matrices(self) -> list[tuple[Tensor, Tensor | None]]:
        """W_Q, W_K and W_V, each with its bias."""
        weights, bias = self.in_proj.weight.chunk(3), self.in_proj.bias
        biases = [None] * 3 if bias is None else bias.chunk(3)
        return list(zip(weights, biases, strict=True))

    def project(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"],
        value: Float[Tensor, "batch k_len d_model"],
    ) -> list[Float[Tensor, "batch heads _ d_head"]]:
        """Q, K and V, each cut into heads."""
        validate.sources(query, key, value, self.d_model)
        if key is query and value is query:
            parts = self.in_proj(query).chunk(3, dim=-1)
        else:
            pairs = zip((query, key, value), self.matrices(), strict=True)
            parts = [F.linear(x, *matrix) for x, matrix in pairs]
        return [split_heads(part, self.heads) for part in parts]

    def attend(self, q, k, v, may_attend=None, **options):
        """As `attend_in_heads`; weights are dropped in training only."""
        dropout = self.dropout if self.training else 0.0
        return attend_in_heads(q, k, v, may_attend, dropout, **options)

    def output(self, context) -> Float[Tensor, "batch q_len d_model"]:
        """The heads side by side, times W_O."""
        return self.out_proj(merge_heads(context))

    def forward(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"] | None = None,
        value: Float[Tensor, "batch k_len d_model"] | None = None,
        may_attend: Bool[Tensor, "_ _ _ _"] | None = None,
        *,
        need_weights: bool = False,
        score_bias: Float[Tensor, "_ _ _ _"] | None = None,
    ):
        """Self-attention of `query`, or its attention to `key` and `value`.

        Args:
            query: the positions that ask.
            key: the positions that answer; by default those that ask.
            value: what they hand over; by default the keys. Not without keys.
            may_attend: boolean, True = may attend, rank 4, broadcastable to
                (batch, heads, q_len, k_len). A query that may attend to
                nothing gets the context 0, so that its output is the bias of
                the output matrix.
            need_weights: return the weights of every head too.
            score_bias: finite numbers that are added to the scaled scores,
                rank 4, broadcastable as the mask.

        Returns:
            The output, batch q_len d_model; with `need_weights` the pair of
            the output and the weights, batch heads q_len k_len.

        Raises:
            TypeError: the mask is not boolean, or the dtypes differ.
            ValueError: a value without a key, no key at all, a mask or a bias
                that is not of rank 4 or does not broadcast, or a bias that is
                not finite.
        """
        validate.key_for(value, key)
        key = query if key is None else key
        value = key if value is None else value
        qkv = self.project(query, key, value)
        context, weights = self.attend(
            *qkv, may_attend, need_weights=need_weights, score_bias=score_bias
        )
        output = self.output(context)
        return (output, weights) if need_weights else output


@contextmanager
def record_weights(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """The weights of every attention inside a model, by module name.

    They are those of the forward pass itself, before dropout. Inside the
    `with` block each forward pass overwrites the weights of the last one; of
    an attention that runs several times in a pass, the last run is kept.

        with record_weights(model) as weights:
            model(x)
        weights["encoder.blocks.0.attention"]  # batch heads q_len k_len
    """
    recorded, before = {}, {}

    def recording(name, attend):
        def attend_and_record(*inputs, need_weights=False, **options):
            context, weights = attend(*inputs, need_weights=True, **options)
            recorded[name] = weights.detach()
            return context, weights if need_weights else None

        return attend_and_record

    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            before[module] = vars(module).pop("attend", None)
            module.attend = recording(name, before[module] or module.attend)
    try:
        yield recorded
    finally:
        for module, attend in before.items():
            del module.attend
            if attend:
                module.attend = attend
