"""Chapter 9: the decoder, which looks at its own past and at a memory.

Nothing here hides the future: the causal mask is an argument, built in
chapter 10 from the token ids.
"""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from . import validate
from .heads import MultiHeadAttention
from .layers import FeedForward, LayerNorm, Residual


class DecoderBlock(nn.Module):
    """Self-attention, cross-attention, feed-forward, each in a residual.

    Source: Vaswani et al. 2017, section 3.1.

    Args:
        d_model, heads, d_ff, activation, bias: as in `EncoderBlock`.
        dropout: on attention weights, hidden layer and all three branches.
        norm_first: pre-norm instead of post-norm. The memory is never
            normalised here.
    """

    def __init__(
        self,
        d_model,
        heads,
        d_ff,
        dropout=0.0,
        norm_first=False,
        activation="relu",
        bias=True,
    ):
        super().__init__()

        def residual():
            norm = LayerNorm(d_model, bias=bias)
            return Residual(d_model, dropout, norm_first, norm)

        self.d_model = d_model
        self.self_attention = MultiHeadAttention(d_model, heads, dropout, bias)
        self.cross_attention = MultiHeadAttention(
            d_model, heads, dropout, bias
        )
        self.feed_forward = FeedForward(
            d_model, d_ff, dropout, activation, bias
        )
        self.around_self_attention = residual()
        self.around_cross_attention = residual()
        self.around_feed_forward = residual()

    def forward(
        self,
        x: Float[Tensor, "batch t_len d_model"],
        memory: Float[Tensor, "batch s_len d_model"],
        may_attend: Bool[Tensor, "_ _ _ _"] | None = None,
        memory_may_attend: Bool[Tensor, "_ _ _ #s_len"] | None = None,
    ) -> Float[Tensor, "batch t_len d_model"]:
        """Look back, look at the memory, then work alone.

        Args:
            may_attend: for the self-attention: boolean, True = may attend,
                rank 4, broadcastable to (batch, heads, t_len, t_len);
                usually causal. None hides nothing, not even the future.
            memory_may_attend: for the cross-attention, broadcastable to
                (batch, heads, t_len, s_len); usually the padding mask of
                the source.
        """
        validate.memory(x, memory, self.d_model)

        def look_back(x):
            return self.self_attention(x, may_attend=may_attend)

        def look_across(x):
            return self.cross_attention(
                x, memory, may_attend=memory_may_attend
            )

        x = self.around_self_attention(x, look_back)
        x = self.around_cross_attention(x, look_across)
        return self.around_feed_forward(x, self.feed_forward)


class Decoder(nn.Module):
    """Blocks one after the other, and a last LayerNorm if asked for.

    Pre-norm blocks need it, because their sums are never normalised.

    Args:
        blocks: the `DecoderBlock`s, first to last, of one width. One that is
            given twice runs twice, with the same weights.
        final_norm: end in a LayerNorm; True fits pre-norm blocks.
    """

    def __init__(self, blocks: Sequence[DecoderBlock], final_norm=False):
        super().__init__()
        validate.stack(blocks, DecoderBlock, final_norm)
        width = blocks[0].d_model
        self.blocks = nn.ModuleList(blocks)
        self.norm = LayerNorm(width) if final_norm else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch t_len d_model"],
        memory: Float[Tensor, "batch s_len d_model"],
        may_attend: Bool[Tensor, "_ _ _ _"] | None = None,
        memory_may_attend: Bool[Tensor, "_ _ _ #s_len"] | None = None,
    ) -> Float[Tensor, "batch t_len d_model"]:
        """Every block in turn; all look at the same memory."""
        for block in self.blocks:
            x = block(x, memory, may_attend, memory_may_attend)
        return self.norm(x)
