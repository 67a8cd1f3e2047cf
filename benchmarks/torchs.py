"""PyTorch's Transformer with the weights of ours, to be compared with it."""

import copy

import torch.nn.functional as F
from torch import Tensor, nn

from kit.interop import from_torch
from lib.masks import causal_mask
from lib.transformer import Transformer, TransformerConfig


class Torchs(nn.Module):
    """`nn.Transformer` between the tables of one of our models."""

    def __init__(self, theirs: nn.Transformer, ours: Transformer):
        super().__init__()
        self.theirs, self.ours = theirs, copy.deepcopy(ours)
        self.ours.encoder = self.ours.decoder = None

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        model, pad = self.ours, source == 0
        future = ~causal_mask(target.shape[1], target.device)[0, 0]
        states = self.theirs(
            model.positions(model.tables.source_embedding(source)),
            model.positions(model.tables.target_embedding(target)),
            tgt_mask=future,
            src_key_padding_mask=pad,
            tgt_key_padding_mask=target == 0,
            memory_key_padding_mask=pad,
        )
        return F.linear(states, model.tables.output_matrix)


def pair(config: TransformerConfig) -> tuple[Transformer, Torchs]:
    """Our model and PyTorch's, with equal weights."""
    c, ours = config, Transformer(config)
    theirs = nn.Transformer(
        c.d_model, c.heads, c.encoder_layers, c.decoder_layers, c.d_ff,
        c.dropout, batch_first=True,
    )  # fmt: skip
    if not c.has_final_norms:
        theirs.encoder.norm = theirs.decoder.norm = None
    ours.encoder = from_torch(theirs.encoder)
    ours.decoder = from_torch(theirs.decoder)
    return ours, Torchs(theirs, ours)
