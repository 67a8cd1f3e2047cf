"""What `lib.decoding` asks for logits: a decoder that remembers, or not.

Not taught. Chapter 13 writes with it, chapter 14 teaches the one that
remembers.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .cache import IncrementalDecoder
from .transformer import Transformer


class WholeDecoder:
    """An `IncrementalDecoder` that computes everything anew at each call.

    Arguments and results are the same.
    """

    def __init__(
        self,
        model: Transformer,
        memory: Float[Tensor, "batch s_len d_model"],
        memory_may_attend: Bool[Tensor, "_ _ _ #s_len"] | None = None,
    ):
        self.model, self.memory = model, memory
        self.may_attend = memory_may_attend
        self.ids = torch.empty(
            len(memory), 0, dtype=torch.int64, device=memory.device
        )

    def __call__(
        self, target: Int[Tensor, "batch t_len"]
    ) -> Float[Tensor, "batch t_len vocab"]:
        """The logits of the next positions."""
        self.ids = torch.cat([self.ids, target], dim=1)
        logits = self.model.decode(
            self.ids, self.memory, None, self.may_attend
        )
        return logits[:, -target.shape[1] :]

    def keep(self, rows: Int[Tensor, " kept"]) -> None:
        """Go on with these rows of the batch only, in this order."""
        self.ids, self.memory = self.ids[rows], self.memory[rows]
        if self.may_attend is not None and len(self.may_attend) > 1:
            self.may_attend = self.may_attend[rows]


StepDecoder = IncrementalDecoder | WholeDecoder


def decoder_for(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    cached: bool = True,
) -> StepDecoder:
    """A decoder that has read the source and written nothing.

    Args:
        model, source: as in `lib.decoding.write_tokens`.
        cached: remember keys and values; else all is computed anew for
            every token. The logits are the same.
    """
    memory, may_attend = model.encode(source), model.source_mask(source)
    kind = IncrementalDecoder if cached else WholeDecoder
    return kind(model, memory, None if may_attend.all() else may_attend)
