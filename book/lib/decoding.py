"""Chapter 12: from logits to a text: greedy, sampling, beam search.

Works with `lib.transformer.Transformer`. PAD and BOS are never written.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lib import validate
from lib.cache import Cache
from lib.runtime import evaluation
from lib.transformer import Transformer


class Writer:
    """Rows of a batch that are being written, and what the model needs.

    Args:
        model: a trained Transformer.
        source: token ids, filled up with PAD.
        cached: remember keys and values; else all is computed anew for
            every token. The logits are the same.
    """

    def __init__(
        self,
        model: Transformer,
        source: Int[Tensor, "batch s_len"],
        cached: bool = True,
    ):
        validate.to_write(model, Transformer, source, cached)
        self.model, self.memory = model, model.encode(source)
        config, mask = model.config, model.source_mask(source)
        self.mask = None if mask.all() else mask  # hides nothing: faster
        self.ids = source.new_full((len(source), 1), config.bos_id)
        never, layers = [config.pad_id, config.bos_id], config.decoder_layers
        self.forbidden = self.memory.new_zeros(config.target_vocab_size)
        self.forbidden[never] = -math.inf
        self.cache = Cache(layers) if cached else None

    def next_logits(self) -> Float[Tensor, "batch vocab"]:
        """A score for every next token; -inf for PAD and BOS."""
        new = self.ids if self.cache is None else self.ids[:, -1:]
        logits = self.model.decode(
            new, self.memory, None, self.mask, self.cache
        )
        validate.no_nan(logits=logits)
        return logits[:, -1] + self.forbidden

    def extend(self, tokens: Int[Tensor, " batch"]) -> None:
        """Write one token behind each row."""
        self.ids = torch.cat([self.ids, tokens[:, None]], dim=1)

    def keep(self, rows: Tensor) -> None:
        """Only these rows, in this order; the others cost nothing more."""
        self.ids, self.memory = self.ids[rows], self.memory[rows]
        self.mask = None if self.mask is None else self.mask[rows]
        if self.cache is not None:
            self.cache.keep(rows)


def write_tokens(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    choose: Callable[[Tensor], Tensor],
    limit: int | None = None,
    cached: bool = True,
) -> Int[Tensor, "batch length"]:
    """Token after token, until every row has written EOS.

    Args:
        model: a trained Transformer.
        source: token ids, filled up with PAD.
        choose: from logits (batch, vocab) to one token for each row.
        limit: the most tokens of a row, EOS included; by default as many as
            the model has positions. A row that ends there has no EOS.
        cached: remember keys and values.

    Returns:
        The tokens without BOS, filled up with PAD behind EOS.

    Raises:
        TypeError: `source` is not an integer tensor.
        ValueError: an id outside the vocabulary, an empty or too long
            source, a limit beyond the positions of the model, logits that
            are NaN, or a `choose` that gives something else than one id for
            each row.
    """
    limit = validate.limit(limit, model, Transformer)
    validate.functions(choose=choose)
    with evaluation(model):
        writer, eos_id = Writer(model, source, cached), model.config.eos_id
        rows = torch.arange(len(source), device=source.device)
        result = source.new_full((len(source), limit), model.config.pad_id)
        for length in range(1, limit + 1):
            tokens = choose(writer.next_logits())
            validate.chosen(tokens, rows.numel())
            writer.extend(tokens)
            ended = tokens == eos_id
            if length < limit and rows.numel() and not ended.any():
                continue
            result[rows, :length] = writer.ids[:, 1:]
            rows = rows[~ended]
            if len(rows) == 0:
                break
            writer.keep((~ended).nonzero().squeeze(1))
    return result[:, :length].clone()


def greedy(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    limit: int | None = None,
    cached: bool = True,
) -> Int[Tensor, "batch length"]:
    """The most probable token, every time; arguments as in `write_tokens`."""
    return write_tokens(model, source, lambda x: x.argmax(-1), limit, cached)


def narrow(
    logits: Float[Tensor, "*batch vocab"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """Logits to sample from: made flatter or steeper, and cut off at -inf.

    Args:
        logits: scores of every token.
        temperature: divides the logits; below 1 the best gain.
        top_k: keep the k best. More than the vocabulary keeps all.
        top_p: keep the fewest best whose probabilities sum up to at least
            this (Holtzman et al. 2020); the best one always.

    Raises:
        TypeError: something is not a number.
        ValueError: a temperature of 0 or less (0 would be `greedy`), a top_k
            below 1, or a top_p not above 0 and up to 1.
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
    **narrowing,
) -> Int[Tensor, "batch length"]:
    """Each token drawn with the model's probabilities.

    Args:
        model, source, limit, cached: as in `write_tokens`.
        generator: of random numbers; one of the CPU, so that a GPU draws the
            same.
        narrowing: temperature, top_k and top_p, as in `narrow`.

    Raises:
        TypeError, ValueError: as `write_tokens` and `narrow`.
    """
    validate.generator(generator)

    def draw(logits):
        p = narrow(logits.cpu().double(), **narrowing).softmax(-1)
        noise = torch.empty_like(p).exponential_(generator=generator)
        return (p / noise).argmax(-1).to(logits.device)

    return write_tokens(model, source, draw, limit, cached)


class Beams(NamedTuple):
    """What a search ends with, for each source the best beam first.

    A beam that does not exist (where there are fewer sequences than beams)
    has the score -inf and holds PAD only.
    """

    ids: Int[Tensor, "batch width length"]
    scores: Float[Tensor, "batch width"]


def penalty(length: Tensor | int, alpha: float):
    """((5 + length) / 6)^alpha: what a sum of log p is divided by.

    Source: Wu et al. 2016, equation 14. With 0 the shortest sequence has the
    advantage, because each further token costs.
    """
    return ((5 + length) / 6) ** alpha


class Frontier:
    """The beams of all sources: alive, ended, or missing (score -inf).

    The rows of the writer are the beams that are alive, source by source.

    Args:
        writer: at its beginning.
        width: the number of beams of each source.
        alpha: of the length penalty.
        limit: the most tokens of a beam; beams that cannot become the best
            within it are given up. None gives none up.
    """

    def __init__(self, writer, width: int, alpha: float, limit: int | None):
        self.writer, self.alpha, self.limit = writer, alpha, limit
        batch = len(writer.ids)
        self.scores = writer.memory.new_full((batch, width), -math.inf)
        self.scores[:, 0] = 0.0
        self.alive = self.scores == 0
        self.ended = torch.zeros_like(self.alive)
        self.lengths = torch.zeros_like(self.scores)
        self.ids = writer.ids.new_empty(batch, width, 0)

    def rank(self) -> Float[Tensor, "batch width"]:
        """The sums of log p, divided by the penalties of their lengths."""
        return self.scores / penalty(self.lengths, self.alpha)

    def candidates(self) -> Float[Tensor, "batch width vocab"]:
        """Sums of log p: of each alive beam and token, of each ended beam."""
        config = self.writer.model.config
        log_p = self.writer.next_logits().log_softmax(-1)
        sums = log_p.new_full((*self.scores.shape, log_p.shape[1]), -math.inf)
        sums[self.alive] = self.scores[self.alive][:, None] + log_p
        # An ended beam goes on as it is, with PAD behind it.
        sums[..., config.pad_id] = self.scores.where(self.ended, -math.inf)
        return sums

    def advance(self) -> None:
        """One token more: the best `width` of all candidates of a source."""
        sums = self.candidates()
        lengths = self.lengths + self.alive
        ranked = sums / penalty(lengths, self.alpha)[..., None]
        best = ranked.flatten(1).topk(self.scores.shape[1]).indices
        parent, token = best // sums.shape[2], best % sums.shape[2]
        self.scores = sums.flatten(1).gather(1, best)
        self.lengths = lengths.gather(1, parent)
        past = self.ids.gather(1, parent[..., None].expand_as(self.ids))
        self.ids = torch.cat([past, token[..., None]], dim=2)
        row = (self.alive.flatten().cumsum(0) - 1).view_as(parent)
        ended = token == self.writer.model.config.eos_id
        self.ended = self.ended.gather(1, parent) | ended
        self.alive = ~self.ended & (self.scores > -math.inf)
        if self.limit is not None:
            self.drop_hopeless()
        self.writer.keep(row.gather(1, parent)[self.alive])
        self.writer.extend(token[self.alive])

    def drop_hopeless(self) -> None:
        """Beams that cannot overtake the best ended one any more.

        A sum of log p only falls, and no penalty is larger than that of the
        limit.
        """
        best = self.rank().where(self.ended, -math.inf).amax(1, keepdim=True)
        hope = self.scores / penalty(self.limit, self.alpha)
        hopeless = self.alive & (hope <= best)
        self.scores = self.scores.masked_fill(hopeless, -math.inf)
        self.alive = self.alive & ~hopeless

    def beams(self) -> Beams:
        """The best first; what is missing holds PAD."""
        scores, order = self.rank().sort(dim=1, descending=True, stable=True)
        ids = self.ids.gather(1, order[..., None].expand_as(self.ids))
        missing = (scores == -math.inf)[..., None]
        return Beams(
            ids.masked_fill(missing, self.writer.model.config.pad_id), scores
        )


def search_beams(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    width: int = 4,
    length_penalty: float = 0.6,
    limit: int | None = None,
    cached: bool = True,
    *,
    best_only: bool = False,
) -> Beams:
    """Keep the `width` best beginnings at each step, until all have ended.

    Args:
        model: a trained Transformer.
        source: token ids, filled up with PAD.
        width: the number of beams; more than there are sequences is allowed.
        length_penalty: the exponent of `penalty`; 0 compares plain sums.
        limit: the most tokens of a beam, EOS included; by default as many as
            the model has positions.
        cached: remember keys and values.
        best_only: give up what can no longer become the best beam. The best
            one is the same, and found with less work; others may be missing.

    Raises:
        TypeError: `source` is not an integer tensor, or another argument not
            a number.
        ValueError: as `write_tokens`; a width below 1, a negative penalty.
    """
    limit = validate.limit(limit, model, Transformer)
    validate.positive(width=width)
    validate.real("length_penalty", length_penalty, least=0)
    validate.booleans(best_only=best_only)
    with evaluation(model):
        writer = Writer(model, source, cached)
        within = limit if best_only else None
        frontier = Frontier(writer, width, length_penalty, within)
        for _ in range(limit):
            frontier.advance()
            if not frontier.alive.any():
                break
        beams = frontier.beams()
    return Beams(*(part.clone() for part in beams))


def beam_search(
    model: Transformer,
    source: Int[Tensor, "batch s_len"],
    width: int = 4,
    length_penalty: float = 0.6,
    limit: int | None = None,
    cached: bool = True,
) -> Int[Tensor, "batch length"]:
    """The best beam of each source, (batch, length), like `greedy`.

    Arguments as in `search_beams`.
    """
    beams = search_beams(
        model, source, width, length_penalty, limit, cached, best_only=True
    )
    best = beams.ids[:, 0]
    length = (best != model.config.pad_id).sum(1)
    return best[:, : max(length.tolist(), default=0)]
