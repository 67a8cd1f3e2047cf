"""Chapter 10: encoder and decoder put together, from one configuration.

Token ids in, logits out. Loss and training come in chapter 11, writing token
by token in chapter 13.
"""

import pprint
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from . import validate
from .decoder import Decoder, DecoderBlock
from .embedding import TokenEmbedding
from .encoder import Encoder, EncoderBlock
from .heads import MultiHeadAttention
from .masks import causal_mask, padding_mask_from_ids
from .positions import PositionalEncoding


@dataclass(frozen=True)
class TransformerConfig:
    """All sizes and choices of a model; the sizes are the base model's.

    Source: Vaswani et al. 2017, table 3, first row. There all three tables
    are tied, which needs one vocabulary: tied="all".

    Args:
        d_model: the width between the blocks.
        heads: the number of heads of every attention.
        d_ff: the hidden width of the feed-forward networks.
        dropout: one rate for all places.
        norm_first: pre-norm instead of post-norm.
        final_norms: end both stacks in a LayerNorm. None means: if
            norm_first, as pre-norm needs them and post-norm has none.
        activation: "relu", "gelu" or "gelu_tanh".
        tied: "target": target table and output matrix are one; "all": the
            source table too; "none": three matrices.
        max_length: positions that exist; longer sequences are an error.
        pad_id: the id that fills up a batch, the same in both vocabularies.
        bos_id: begins a target.
        eos_id: ends one.

    Raises:
        ValueError: d_model is odd or not a multiple of heads, an id is outside
            its vocabulary, two ids are equal, or tied="all" has vocabularies
            of different size.
    """

    source_vocab_size: int
    target_vocab_size: int
    d_model: int = 512
    heads: int = 8
    d_ff: int = 2048
    encoder_layers: int = 6
    decoder_layers: int = 6
    dropout: float = 0.1
    norm_first: bool = False
    final_norms: bool | None = None
    activation: str = "relu"
    tied: str = "target"
    max_length: int = 5000
    pad_id: int = 0
    bos_id: int = 1
    eos_id: int = 2

    def __post_init__(self):
        validate.config(self)

    def __str__(self) -> str:
        """One field a line, where one line is too short."""
        return pprint.pformat(self)

    @property
    def has_final_norms(self) -> bool:
        """`final_norms`, or what fits `norm_first`."""
        chosen = self.final_norms
        return self.norm_first if chosen is None else chosen

    @property
    def block(self) -> dict:
        """What every block is built with, by name."""
        sizes = ("d_model", "heads", "d_ff")
        choices = ("dropout", "norm_first", "activation")
        return {name: getattr(self, name) for name in sizes + choices}


@torch.no_grad()
def initialise(model: nn.Module) -> None:
    """Xavier: matrices uniform in ±sqrt(6 / (in + out)), biases zero.

    Source: Glorot and Bengio 2010, equation 16. W_Q, W_K and W_V count as
    three matrices, not as one. Embedding tables keep their own start.
    """
    parts: dict[nn.Parameter, list[Tensor]] = {}  # the matrices of a weight
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            matrices = [weight for weight, _ in module.matrices()]
            parts[module.in_proj.weight] = matrices
        if isinstance(module, nn.Linear):
            parts.setdefault(module.weight, [module.weight])
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for matrices in parts.values():
        for matrix in matrices:
            nn.init.xavier_uniform_(matrix)


class Tables(nn.Module):
    """The embeddings of both sides and the output matrix.

    Source: Press and Wolf 2017 for tying. A tied matrix exists once, also in
    the state dict.

    Args:
        config: sizes, and in `tied` which of the three are one.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        validate.instance(TransformerConfig, config=config)
        c, self.tied = config, config.tied
        self.target = TokenEmbedding(c.target_vocab_size, c.d_model, c.pad_id)
        if c.tied != "all":
            self.source = TokenEmbedding(
                c.source_vocab_size, c.d_model, c.pad_id
            )
        if c.tied == "none":
            self.output = nn.Linear(c.d_model, c.target_vocab_size, bias=False)

    @property
    def source_embedding(self) -> TokenEmbedding:
        """The target's, if all tables are tied."""
        return self.target if self.tied == "all" else self.source

    @property
    def target_embedding(self) -> TokenEmbedding:
        """Its table is the output matrix too, unless nothing is tied."""
        return self.target

    @property
    def output_matrix(self) -> Float[Tensor, "vocab d_model"]:
        """One row for each target token; there is no bias."""
        layer = self.output if self.tied == "none" else self.target.table
        return layer.weight

    def logits(
        self, x: Float[Tensor, "batch t_len d_model"]
    ) -> Float[Tensor, "batch t_len vocab"]:
        """A score for every target token, at each position."""
        return F.linear(x, self.output_matrix)


def stacks(c: TransformerConfig) -> tuple[Encoder, Decoder]:
    """The encoder and the decoder, every block with the same options."""
    blocks = [EncoderBlock(**c.block) for _ in range(c.encoder_layers)]
    encoder = Encoder(blocks, c.has_final_norms)
    blocks = [DecoderBlock(**c.block) for _ in range(c.decoder_layers)]
    return encoder, Decoder(blocks, c.has_final_norms)


SourceIds = Int[Tensor, "batch s_len"]
TargetIds = Int[Tensor, "batch t_len"]
Memory = Float[Tensor, "batch s_len d_model"]
Logits = Float[Tensor, "batch t_len vocab"]
SourceMask = Bool[Tensor, "_ _ _ #s_len"] | None  # True = may attend
TargetMask = Bool[Tensor, "_ _ _ #t_len"] | None


class Transformer(nn.Module):
    """Source ids and target ids in, logits of each next target token out.

    Source: Vaswani et al. 2017, section 3.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config, c = config, config
        self.tables = Tables(c)
        self.positions = PositionalEncoding(c.d_model, c.max_length, c.dropout)
        self.encoder, self.decoder = stacks(c)
        initialise(self)

    def source_mask(self, source: SourceIds):
        """Everything but PAD, of shape (batch, 1, 1, s_len)."""
        return padding_mask_from_ids(source, self.config.pad_id)

    def target_mask(self, target: TargetIds):
        """Neither PAD nor the future, of shape (batch, 1, t_len, t_len)."""
        padding = padding_mask_from_ids(target, self.config.pad_id)
        return padding & causal_mask(target.shape[1], target.device)

    def encode(
        self, source: SourceIds, may_attend: SourceMask = None
    ) -> Memory:
        """The memory: one vector for each source position.

        Args:
            source: token ids, filled up with PAD at the end: positions count
                from the left, so that PAD in front changes the result.
            may_attend: instead of `source_mask(source)`; rank 4.
        """
        validate.ids_of("source", source, self.config)
        if may_attend is None:
            may_attend = self.source_mask(source)
        x = self.positions(self.tables.source_embedding(source))
        return self.encoder(x, may_attend)

    def decode(
        self,
        target: TargetIds,
        memory: Memory,
        may_attend: TargetMask = None,
        memory_may_attend: SourceMask = None,
    ) -> Logits:
        """Logits: row t scores every token as the one after target[t].

        Args:
            target: token ids that begin with BOS, filled up with PAD.
            memory: from `encode`.
            may_attend: instead of `target_mask(target)`; rank 4.
            memory_may_attend: which memory may be looked at; rank 4. Pass
                `source_mask(source)` where the source holds PAD, because the
                memory does not say; None hides nothing.
        """
        validate.ids_of("target", target, self.config)
        if may_attend is None:
            may_attend = self.target_mask(target)
        x = self.positions(self.tables.target_embedding(target))
        x = self.decoder(x, memory, may_attend, memory_may_attend)
        return self.tables.logits(x)

    def forward(
        self,
        source: SourceIds,
        target: TargetIds,
        source_may_attend: SourceMask = None,
        target_may_attend: TargetMask = None,
        memory_may_attend: SourceMask = None,
    ) -> Logits:
        """Encode the source, then decode the target with all of it in view.

        Args:
            source, target: as in `encode` and `decode`.
            source_may_attend: instead of `source_mask(source)`.
            target_may_attend: instead of `target_mask(target)`.
            memory_may_attend: instead of `source_mask(source)`.
        """
        validate.same_batch(source, target)
        memory = self.encode(source, source_may_attend)
        if memory_may_attend is None:
            memory_may_attend = self.source_mask(source)
        masks = target_may_attend, memory_may_attend
        return self.decode(target, memory, *masks)
