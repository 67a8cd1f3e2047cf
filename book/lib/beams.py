"""Chapter 13: beam search, which follows several texts at once."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from . import validate
from .decoding import decoder_for, next_logits
from .runtime import evaluation
from .transformer import Transformer, TransformerConfig


class Beams(NamedTuple):
    """The texts that a search has found, for each source the best first.

    A beam that does not exist (where there are fewer texts than beams) has
    the score -inf and holds PAD only.

    Args:
        ids: token ids without BOS, filled up with PAD after EOS.
        log_p: the sum of log p of all tokens of a text.
        scores: `log_p` divided by the `penalty`.
    """

    ids: Int[Tensor, "batch width length"]
    log_p: Float[Tensor, "batch width"]
    scores: Float[Tensor, "batch width"]

    @property
    def best(self) -> Int[Tensor, "batch length"]:
        """The best text of each source, like what `greedy` gives."""
        return self.ids[:, 0]


def penalty(length: Tensor | int, alpha: float):
    """((5 + length) / 6)^alpha: what a sum of log p is divided by.

    Source: Wu et al. 2016, equation 14. With 0 the shortest sequence has the
    advantage, because each further token costs.
    """
    return ((5 + length) / 6) ** alpha


def beginnings(batch: int, width: int, device: torch.device) -> Beams:
    """One beam for each source, without a token; the others do not exist."""
    log_p = torch.full((batch, width), -math.inf, device=device)
    log_p[:, 0] = 0.0
    ids = torch.zeros(batch, width, 0, dtype=torch.int64, device=device)
    return Beams(ids, log_p, log_p)


def has_ended(
    ids: Int[Tensor, "*batch length"], config: TransformerConfig
) -> Bool[Tensor, "*batch"]:
    """Whether EOS is written."""
    return (ids == config.eos_id).any(-1)


def one_token_more(
    beams: Beams,
    log_p: Float[Tensor, "batch width vocab"],
    alpha: float,
    config: TransformerConfig,
) -> tuple[Beams, Int[Tensor, "batch width"]]:
    """The best of all beams with one more token, and their parents.

    Returns:
        As many beams as before, best first, and for each the number of the
        beam it came from.
    """
    width, vocab = log_p.shape[1:]
    ended = has_ended(beams.ids, config)
    # An ended beam goes on as it is: PAD is certain and costs nothing.
    only_pad = log_p.new_full((vocab,), -math.inf)
    only_pad[config.pad_id] = 0.0
    log_p = torch.where(ended[..., None], only_pad, log_p)
    sums = beams.log_p[..., None] + log_p
    lengths = (beams.ids != config.pad_id).sum(-1) + ~ended
    ranked = sums / penalty(lengths.to(sums), alpha)[..., None]
    scores, best = ranked.flatten(1).topk(width)
    parent, token = best // vocab, best % vocab
    past = beams.ids.gather(1, parent[..., None].expand_as(beams.ids))
    ids = torch.cat([past, token[..., None]], dim=2)
    return Beams(ids, sums.flatten(1).gather(1, best), scores), parent


def beam_search(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    width: int = 4,
    length_penalty: float = 0.6,
    limit: int | None = None,
    cached: bool = True,
) -> Beams:
    """Keep the `width` best beginnings at each step, until all have ended.

    Args:
        model, source, cached: as in `lib.decoding.write_tokens`.
        width: the number of beams; more than there are texts is allowed.
        length_penalty: the exponent of `penalty`; 0 compares plain sums.
        limit: the most tokens of a beam, EOS included; by default as many as
            the model has positions.
    """
    validate.to_decode(model, Transformer, limit, cached)
    validate.search(width, length_penalty)
    c, batch = model.config, len(source)
    with evaluation(model):
        decoder = decoder_for(model, source, cached)
        row = torch.arange(batch, device=source.device)
        decoder.keep(row.repeat_interleave(width))
        beams = beginnings(batch, width, source.device)
        tokens = beams.ids.new_full((batch, width), c.bos_id)
        for _ in range(limit or c.max_length):
            log_p = next_logits(decoder, tokens.flatten()).log_softmax(-1)
            log_p = log_p.view(batch, width, c.target_vocab_size)
            beams, parent = one_token_more(beams, log_p, length_penalty, c)
            done = has_ended(beams.ids, c) | (beams.scores == -math.inf)
            if done.all():
                break
            decoder.keep((width * row[:, None] + parent).flatten())
            tokens = beams.ids[..., -1].masked_fill(done, c.eos_id)
    missing = (beams.scores == -math.inf)[..., None]
    ids = beams.ids.masked_fill(missing, c.pad_id)
    return Beams(ids, beams.log_p.clone(), beams.scores.clone())
