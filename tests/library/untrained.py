"""An untrained model whose choices differ, and sources for it to read."""

import torch

from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import DEVICE, drawn_ids

VOCAB = 11


def build(vocab=VOCAB, seed=0, sharp=3.0, **options):
    """An untrained model; sharper, so that its choices differ by row."""
    sizes = {"d_model": 16, "heads": 2, "d_ff": 24, "max_length": 40}
    layers = {"encoder_layers": 1, "decoder_layers": 2}
    torch.manual_seed(seed)
    options = sizes | layers | {"tied": "none"} | options
    model = Transformer(TransformerConfig(13, vocab, **options))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(sharp if weight.ndim > 1 else 1.0)
    return model.double().to(DEVICE).eval()


def sources(batch=5, length=7, seed=0):
    ids = drawn_ids(3, 13, batch, length, seed=seed)
    for row in range(batch):
        ids[row, length - row % 4 :] = 0
    return ids


def step_logits(model, source, target):
    """Logits of each next token, all of the target in one call."""
    memory, mask = model.encode(source), model.source_mask(source)
    return model.decode(target, memory, memory_may_attend=mask)


KINDS = [
    {},
    {"norm_first": True},
    {"tied": "target", "sharp": 1.0},
    {"decoder_layers": 1, "heads": 1},
    {"sharp": 1.5},
]
