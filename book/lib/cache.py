"""Chapter 12: keys and values that are computed once.

`Cache` is an argument of `lib.transformer.Transformer.decode`. A cache holds
what one batch of targets has had so far; the next batch needs a new one.
"""

import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from lib import validate
from lib.heads import MultiHeadAttention, split_heads
from lib.masks import causal_mask


class PastCache:
    """Keys and values of all positions so far, for one self-attention.

    They stand in a buffer with room for as many again, so that a new position
    costs its own copy and, as a rule, no copy of the others.
    """

    def __init__(self):
        self.length, self.buffer = 0, None

    def project(self, attention: MultiHeadAttention):
        """In place of `attention.project`: k and v hold the past too."""

        def project(query, key, value):
            q, k, v = attention.project(query, key, value)
            return q, *self.append(k, v)

        return project

    def append(
        self,
        k: Float[Tensor, "batch heads length d_head"],
        v: Float[Tensor, "batch heads length d_head"],
    ) -> Float[Tensor, "2 batch heads k_len d_head"]:
        """Put new keys and values behind the old; gives all of them."""
        end = self.length + k.shape[2]
        if self.buffer is None or end > self.buffer.shape[3]:
            larger = k.new_empty(2, *k.shape[:2], 2 * end, k.shape[3])
            if self.buffer is not None:
                larger[:, :, :, : self.length] = self.keys_and_values
            self.buffer = larger
        self.buffer[0, :, :, self.length : end] = k
        self.buffer[1, :, :, self.length : end] = v
        self.length = end
        return self.keys_and_values

    @property
    def keys_and_values(self) -> Float[Tensor, "2 batch heads k_len d_head"]:
        """The filled part of the buffer."""
        return self.buffer[:, :, :, : self.length]

    def keep(self, rows: Tensor) -> None:
        """Only these rows of the batch, in this order."""
        if self.buffer is not None:
            self.buffer = self.buffer[:, rows]


class MemoryCache:
    """Keys and values of the memory, for one cross-attention.

    The memory does not change while the target is written, so they are
    computed once.
    """

    def __init__(self):
        self.keys_and_values = None

    def project(self, attention: MultiHeadAttention):
        """In place of `attention.project`: later calls compute q only."""

        def project(query, key, value):
            if self.keys_and_values is None:
                q, *self.keys_and_values = attention.project(query, key, value)
                d, layer = attention.d_model, attention.in_proj
                bias = None if layer.bias is None else layer.bias[:d]
                self.for_query = layer.weight[:d], bias
            else:
                q = F.linear(query, *self.for_query)
                q = split_heads(q, attention.heads)
            return q, *self.keys_and_values

        return project

    def keep(self, rows: Tensor) -> None:
        """Only these rows of the batch, in this order."""
        if self.keys_and_values is not None:
            self.keys_and_values = [p[rows] for p in self.keys_and_values]


class Cache:
    """What a decoder of `layers` blocks remembers between two calls.

    Passed to `Transformer.decode`, which then wants the new positions only.
    It belongs to the memory of the first call; that of a later call is not
    looked at.

    Raises:
        TypeError: `layers` is not an integer.
        ValueError: it is below 1.
    """

    def __init__(self, layers: int):
        validate.positive(layers=layers)
        self.pairs = [(PastCache(), MemoryCache()) for _ in range(layers)]

    def __iter__(self):
        """The two caches of each block, first to last."""
        return iter(self.pairs)

    @property
    def length(self) -> int:
        """The number of positions that are remembered."""
        return self.pairs[0][0].length

    def mask(
        self, target: Int[Tensor, "batch t_len"], pad_id: int
    ) -> Bool[Tensor, "1 1 t_len k_len"] | None:
        """New positions see all old ones; of the new, none that is later.

        One new position sees everything, which needs no mask.
        """
        validate.new_positions(target, pad_id, self.pairs[0][0].buffer)
        new = target.shape[1]
        if new == 1:
            return None
        everything = causal_mask(self.length + new, target.device)
        return everything[:, :, self.length :]

    def keep(self, rows: Tensor) -> None:
        """Only these rows of the batch, in this order."""
        for past, memory in self.pairs:
            past.keep(rows)
            memory.keep(rows)
