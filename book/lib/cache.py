"""Chapter 14: keys and values that are computed once.

`IncrementalDecoder` gives the logits of `Transformer.decode`, but wants the
new positions only. It calls the parts of the decoder's blocks, with two
sub-layers of its own in place of their attentions.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from . import validate
from .heads import MultiHeadAttention, split_heads
from .masks import causal_mask
from .transformer import Transformer


class CachedSelfAttention:
    """Self-attention of new positions to themselves and to all before.

    Keys and values stand in a buffer. When it is full, one of twice the
    length takes its place, so that a position is copied twice at most on
    average, however long the text becomes.
    """

    def __init__(self, attention: MultiHeadAttention):
        self.attention, self.length, self.buffer = attention, 0, None

    def __call__(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Each new position sees the old ones, itself, and none later."""
        q, k, v = self.attention.project(x, x, x)
        k, v = self.append(k, v)
        may_attend = None  # a single new position sees everything
        if x.shape[1] > 1:
            may_attend = causal_mask(self.length, x.device)
            may_attend = may_attend[:, :, -x.shape[1] :]
        context, _ = self.attention.attend(q, k, v, may_attend)
        return self.attention.output(context)

    def append(
        self,
        k: Float[Tensor, "batch heads length d_head"],
        v: Float[Tensor, "batch heads length d_head"],
    ) -> Float[Tensor, "2 batch heads k_len d_head"]:
        """Write new keys and values after the old; returns all of them."""
        start, end = self.length, self.length + k.shape[2]
        if self.buffer is None or end > self.buffer.shape[3]:
            larger = k.new_empty(2, *k.shape[:2], 2 * end, k.shape[3])
            if self.buffer is not None:
                larger[:, :, :, :start] = self.buffer[:, :, :, :start]
            self.buffer = larger
        self.buffer[0, :, :, start:end] = k
        self.buffer[1, :, :, start:end] = v
        self.length = end
        return self.buffer[:, :, :, :end]

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Only these rows of the batch, in this order."""
        if self.buffer is not None:
            self.buffer = self.buffer[:, rows]


class MemoryAttention:
    """Cross-attention to a memory whose keys and values are known.

    The memory does not change while the target is written.

    Args:
        memory: from `Transformer.encode`.
        may_attend: which memory may be looked at, as in `decode`.
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        memory: Float[Tensor, "batch s_len d_model"],
        may_attend: Bool[Tensor, "_ _ _ #s_len"] | None = None,
    ):
        _, self.k, self.v = attention.project(memory, memory, memory)
        self.attention, self.may_attend = attention, may_attend
        self.to_query, *_ = attention.matrices()

    def __call__(
        self, x: Float[Tensor, "batch length d_model"]
    ) -> Float[Tensor, "batch length d_model"]:
        """As `attention(x, memory)`; only the queries are computed."""
        q = F.linear(x, *self.to_query)
        q = split_heads(q, self.attention.heads)
        context, _ = self.attention.attend(q, self.k, self.v, self.may_attend)
        return self.attention.output(context)

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Only these rows of the batch, in this order."""
        self.k, self.v = self.k[rows], self.v[rows]
        if self.may_attend is not None and len(self.may_attend) > 1:
            self.may_attend = self.may_attend[rows]


class IncrementalDecoder:
    """`Transformer.decode` for a target that grows: only what is new.

    No gradient is kept, because the buffers are written in place.

    Args:
        model: its weights are used as they are at each call.
        memory: from `model.encode`.
        memory_may_attend: as in `decode`.
    """

    def __init__(
        self,
        model: Transformer,
        memory: Float[Tensor, "batch s_len d_model"],
        memory_may_attend: Bool[Tensor, "_ _ _ #s_len"] | None = None,
    ):
        validate.instance(Transformer, model=model)
        self.model, self.length = model, 0
        self.layers = [
            (
                block,
                CachedSelfAttention(block.self_attention),
                MemoryAttention(
                    block.cross_attention, memory, memory_may_attend
                ),
            )
            for block in model.decoder.blocks
        ]

    @torch.no_grad()
    def __call__(
        self, target: Int[Tensor, "batch t_len"]
    ) -> Float[Tensor, "batch t_len vocab"]:
        """The logits of the next positions, which are remembered.

        Args:
            target: token ids, without PAD; at the first call BOS comes first.

        Raises:
            ValueError: PAD, more positions than the model has, or other rows
                than before.
        """
        model, rows = self.model, len(self.layers[0][2].k)
        validate.new_ids(target, rows, model.config)
        x = model.tables.target_embedding(target)
        x = model.positions(x, self.length)
        self.length += target.shape[1]
        for block, past, memory in self.layers:
            x = block.around_self_attention(x, past)
            x = block.around_cross_attention(x, memory)
            x = block.around_feed_forward(x, block.feed_forward)
        return model.tables.logits(model.decoder.norm(x))

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Go on with these rows of the batch only, in this order.

        A row that stands there twice goes on twice.
        """
        for _, past, memory in self.layers:
            past.keep(rows)
            memory.keep(rows)
