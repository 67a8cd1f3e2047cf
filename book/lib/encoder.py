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
        heads: the number of attention heads.
        d_ff: the hidden width of the feed-forward network.
        dropout: on attention weights, hidden layer and both branches.
        norm_first: pre-norm instead of post-norm.
        activation: "relu", "gelu" or "gelu_tanh".
        bias: of all matrices and norms.

    Raises:
        TypeError: a size is not an integer, or norm_first or bias not a
            boolean.
        ValueError: d_model is not a multiple of heads, dropout not a
            probability below 1, or the activation unknown.
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
            x: one vector a position.
            may_attend: boolean, True = may attend, rank 4, broadcastable to
                (batch, heads, length, length); usually a padding mask.

        Raises:
            TypeError: `x` is not floating point, or the mask not boolean.
            ValueError: shapes that do not fit together.
        """

        def attend(x):
            return self.attention(x, may_attend=may_attend)

        x = self.around_attention(x, attend)
        return self.around_feed_forward(x, self.feed_forward)


class Encoder(nn.Module):
    """Blocks one after the other, and a last LayerNorm if asked for.

    Pre-norm blocks need it, because their sums are never normalised.

    Args:
        blocks: the `EncoderBlock`s, first to last. One that is given twice
            runs twice, with the same weights.
        final_norm: end in a LayerNorm; True fits pre-norm blocks.

    Raises:
        TypeError: something else than encoder blocks.
        ValueError: there is no block, or their widths differ.
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
        """Every block in turn, all under the same mask.

        Raises:
            TypeError: `x` is not floating point, or the mask not boolean.
            ValueError: shapes that do not fit together.
        """
        for block in self.blocks:
            x = block(x, may_attend)
        return self.norm(x)
