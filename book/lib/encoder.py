"""Chapter 8: the encoder, a stack of blocks that all look at the same input.

It reads vectors and gives vectors. Embedding and positions stand before it,
a task's own output matrix behind it.
"""

from collections.abc import Sequence

from jaxtyping import Bool, Float
from torch import Tensor, nn

from . import validate
from .heads import MultiHeadAttention
from .layers import FeedForward, LayerNorm, Residual


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each inside a residual.

    Source: Vaswani et al. 2017, section 3.1.

    Args:
        d_model: the width of inputs and outputs.
        heads: of the attention; d_model is a multiple of them.
        d_ff: the hidden width of the feed-forward network.
        dropout: on attention weights, hidden layer and both branches.
        norm_first: pre-norm instead of post-norm.
        activation: "relu", "gelu" or "gelu_tanh".
        bias: of all matrices and norms.
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
        self.attention = MultiHeadAttention(d_model, heads, dropout, bias)
        self.feed_forward = FeedForward(
            d_model, d_ff, dropout, activation, bias
        )
        self.around_attention = residual()
        self.around_feed_forward = residual()

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        may_attend: Bool[Tensor, "_ _ _ #length"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Every position looks at all it may attend to, then works alone.

        Args:
            may_attend: boolean, True = may attend, rank 4, broadcastable to
                (batch, heads, length, length); usually a padding mask.
        """

        def attend(x):
            return self.attention(x, may_attend=may_attend)

        x = self.around_attention(x, attend)
        return self.around_feed_forward(x, self.feed_forward)


class Encoder(nn.Module):
    """Blocks one after the other, and a last LayerNorm if asked for.

    Pre-norm blocks need it, because their sums are never normalised.

    Args:
        blocks: the `EncoderBlock`s, first to last, of one width. One that is
            given twice runs twice, with the same weights.
        final_norm: end in a LayerNorm; True fits pre-norm blocks.
    """

    def __init__(self, blocks: Sequence[EncoderBlock], final_norm=False):
        super().__init__()
        validate.stack(blocks, EncoderBlock, final_norm)
        width = blocks[0].d_model
        self.blocks = nn.ModuleList(blocks)
        self.norm = LayerNorm(width) if final_norm else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        may_attend: Bool[Tensor, "_ _ _ #length"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Every block in turn, all under the same mask."""
        for block in self.blocks:
            x = block(x, may_attend)
        return self.norm(x)
