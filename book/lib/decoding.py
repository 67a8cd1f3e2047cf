"""Chapter 13: from logits to a text: greedy and sampling.

Works with `lib.transformer.Transformer`. PAD and BOS are never written. Beam
search stands in `lib.beams`.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from . import validate
from .decoders import StepDecoder, decoder_for
from .runtime import evaluation
from .transformer import Transformer


def next_logits(
    decoder: StepDecoder, tokens: Int[Tensor, " batch"]
) -> Float[Tensor, "batch vocab"]:
    """Scores of what follows these tokens; -inf for PAD and BOS."""
    logits = decoder(tokens[:, None])[:, -1]
    validate.no_nan(logits=logits)
    config = decoder.model.config
    logits[:, [config.pad_id, config.bos_id]] = -math.inf
    return logits


def write_tokens(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    choose: Callable[[Tensor], Tensor],
    limit: int | None = None,
    cached: bool = True,
    beginning: Int[Tensor, "batch given"] | None = None,
) -> Int[Tensor, "batch length"]:
    """Token after token, until every row has written EOS.

    Args:
        model: a trained Transformer.
        source: token ids, filled up with PAD.
        choose: from logits (batch, vocab) to one token for each row. It is
            asked for rows that have ended too; there its answer is not
            written.
        limit: the most tokens of a row, EOS included; by default as many as
            the model has positions. A row that ends there has no EOS.
        cached: remember keys and values.
        beginning: token ids without BOS that every text begins with.

    Returns:
        The tokens without BOS, filled up with PAD after EOS; first those of
        the beginning, which count for the limit.

    Raises:
        ValueError: logits that are NaN, a `choose` that gives something else
            than one id for each row, or an id that may not be written; a
            beginning with PAD, BOS or EOS, or that leaves no token to write.
    """
    validate.to_decode(model, Transformer, limit, cached)
    validate.functions(choose=choose)
    config, written = model.config, []
    most = limit or config.max_length
    with evaluation(model):
        decoder = decoder_for(model, source, cached)
        tokens = source.new_full((len(source),), config.bos_id)
        ended = tokens == config.eos_id
        if beginning is not None:
            validate.beginning(beginning, len(source), most, config)
            known = torch.cat([tokens[:, None], beginning], dim=1)
            decoder(known[:, :-1])
            _, *written = known.unbind(1)
            tokens = written[-1]
        while len(written) < most:
            tokens = choose(next_logits(decoder, tokens))
            validate.writable(tokens, len(source), config)
            written.append(tokens.masked_fill(ended, config.pad_id))
            ended = ended | (tokens == config.eos_id)
            if ended.all():
                break
    return torch.stack(written, dim=1)


def greedy(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    limit: int | None = None,
    cached: bool = True,
    beginning: Int[Tensor, "batch given"] | None = None,
) -> Int[Tensor, "batch length"]:
    """The most probable token, every time; arguments as in `write_tokens`."""
    return write_tokens(
        model, source, lambda x: x.argmax(-1), limit, cached, beginning
    )


def filtered(
    logits: Float[Tensor, "*batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """Logits to sample from: flatter or steeper, and the tail cut off.

    Args:
        temperature: divides the logits; below 1 the best gain.
        top_k: keep the k best. More than the vocabulary keeps all.
        top_p: keep the fewest best whose probabilities sum up to at least
            this (Holtzman et al. 2020); the best one always.

    Raises:
        ValueError: a temperature of 0, which would be `greedy`.
    """
    validate.to_narrow(logits, temperature, top_k, top_p)
    logits = (logits - logits.amax(-1, keepdim=True)) / temperature
    best, order = logits.sort(dim=-1, descending=True, stable=True)
    if top_k is not None:
        best[..., top_k:] = -math.inf
    if top_p is not None:
        p = best.cpu().double().softmax(-1)  # CUDA sums in no fixed order
        beyond = p.cumsum(-1) - p >= top_p
        best = best.masked_fill(beyond.to(best.device), -math.inf)
    return torch.empty_like(logits).scatter_(-1, order, best)


def sample(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    limit: int | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
    beginning: Int[Tensor, "batch given"] | None = None,
    **filters,
) -> Int[Tensor, "batch length"]:
    """Each token drawn with the model's probabilities.

    Args:
        model, source, limit, cached, beginning: as in `write_tokens`.
        generator: of random numbers; one of the CPU, so that a GPU draws the
            same.
        filters: temperature, top_k and top_p, as in `filtered`.
    """
    validate.generator(generator)

    def draw(logits):
        p = filtered(logits.cpu().double(), **filters).softmax(-1)
        noise = torch.empty_like(p).exponential_(generator=generator)
        return (p / noise).argmax(-1).to(logits.device)

    return write_tokens(model, source, draw, limit, cached, beginning)
