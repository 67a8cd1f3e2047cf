"""Project III: A Transformer of your own. Not taught.

The whole model with given weights, in any array library or in none. The
book's `Transformer` is the judge.
"""

from typing import Protocol

import torch
from torch import Tensor

from kit.exercises import expect
from kit.projects import Judged, numbers, requires, tensor
from lib.transformer import Transformer, TransformerConfig

Ids = list[list[int]]


class Translator(Protocol):
    """The Transformer of chapter 10 with weights that are given."""

    def __init__(self, config: dict, weights: dict[str, list]) -> None:
        """The config has d_model, heads, d_ff, encoder_layers and
        decoder_layers; post-norm, ReLU, PAD 0, BOS 1, EOS 2, and the
        target's table is the output matrix too. The weights have the names
        of `Transformer(...).state_dict()`; a matrix W acts as x W^T."""

    def logits(self, source: Ids, target: Ids) -> list[list[list[float]]]:
        """Batch, target length, vocabulary."""

    def write(self, source: list[int], most: int) -> list[int]:
        """Greedy decoding of one source, without BOS and EOS; stops after
        `most` tokens."""


INTERFACE = Translator
SIZES = {"d_model": 8, "heads": 2, "d_ff": 12}
VOCABULARIES = (11, 13)


class Adapter(Judged):
    """Somebody's structure; the book's model with its weights judges."""

    def __init__(self, made: type, oracle: Transformer) -> None:
        self.judge = oracle
        config = {
            name: getattr(oracle.config, name)
            for name in (*SIZES, "encoder_layers", "decoder_layers")
        }
        state = oracle.state_dict()
        self.mine = made(config, {n: w.tolist() for n, w in state.items()})

    def __call__(self, source: Tensor, target: Tensor) -> Tensor:
        """Its logits."""
        answer = self.mine.logits(source.tolist(), target.tolist())
        logits = tensor(answer, "logits")
        expect.tensor(logits, (*target.shape, 13), what="the logits")
        return logits


def model(draw, layers: tuple[int, int] = (1, 1)) -> Transformer:
    """The judge, with drawn weights, and so many layers on each side."""
    config = TransformerConfig(
        *VOCABULARIES,
        **SIZES,
        encoder_layers=layers[0],
        decoder_layers=layers[1],
        dropout=0.0,
        max_length=40,
    )
    oracle = Transformer(config).double().eval().requires_grad_(False)
    for weight in oracle.parameters():
        drawn = numbers(draw, *weight.shape)
        weight.copy_(0.4 * drawn + (weight.ndim == 1) * 0.5)
    return oracle


def texts(draw, batch: int, source: int, target: int) -> tuple[Tensor, Tensor]:
    """Ids without PAD; each target begins with BOS."""
    ids = draw.ids(3, 10, batch, source).cpu()
    written = draw.ids(3, 12, batch, target).cpu()
    written[:, 0] = 1
    return ids, written


@requires(14)
def one_sentence(made, draw):
    """One sentence, one layer each: the logits are the book's."""
    Adapter(made, model(draw)).check(
        "the logits are not the book's: compare the embeddings first, then "
        "the encoder, then each part of the decoder.",
        *texts(draw, 1, 5, 4),
    )


@requires(6)
def deeper(made, draw):
    """Several layers and a batch of several sentences."""
    Adapter(made, model(draw, layers=(3, 2))).check(
        "with three layers in the encoder and two in the decoder the logits "
        "are not the book's.",
        *texts(draw, 3, 6, 5),
    )


@requires(12)
def padding(made, draw):
    """PAD in the source changes nothing."""
    mine = Adapter(made, model(draw))
    source, target = texts(draw, 2, 6, 4)
    source[1, 4:] = 0
    mine.check(
        "where the source ends in PAD the logits are not the book's.",
        source,
        target,
    )
    expect.close(
        mine(source, target)[1:],
        mine(source[1:, :4], target[1:]),
        "the same sentence gives something else with PAD behind it.",
    )


@requires(10)
def no_leak(made, draw):
    """A later target token changes no earlier logits."""
    mine = Adapter(made, model(draw))
    source, target = texts(draw, 1, 5, 6)
    before = mine(source, target)
    target[0, 4] = 3 + (target[0, 4] - 2) % 9
    after = mine(source, target)
    expect.that(
        torch.allclose(before[0, :4], after[0, :4], rtol=0, atol=1e-9),
        "token 4 was changed and logits before it moved: it looks ahead.",
    )
    expect.that(
        not torch.allclose(before[0, 4:], after[0, 4:]),
        "token 4 was changed and nothing moved: the target is not read.",
    )


@requires(6)
def order(made, draw):
    """It knows the order of the source."""
    mine = Adapter(made, model(draw))
    source, target = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 5]])
    flipped = source.flip(1)
    expect.that(
        not torch.allclose(mine(source, target), mine(flipped, target)),
        "the source backwards gives the same: positions are missing.",
    )
    mine.check(
        "the source backwards does not give the book's logits.",
        flipped,
        target,
    )


@requires(12)
def writes(made, draw):
    """It writes the likeliest tokens and stops after EOS."""
    cases = [a_case(draw, ends) for ends in (True, False)]
    for oracle, source, expected in cases:
        expect.close(
            Adapter(made, oracle).mine.write(source[0].tolist(), 7),
            expected,
            f"it must write {expected}: no BOS, no EOS, the likeliest "
            "token at each step, at most 7.",
        )


def a_case(draw, ends: bool) -> tuple[Transformer, Tensor, list[int]]:
    """A model, a source, and a text that ends early, or does not."""
    while True:
        oracle = model(draw)
        oracle.tables.target.table.weight[:2] = 0  # hardly ever PAD or BOS
        oracle.tables.target.table.weight[2] *= 2  # EOS, often or never
        source, _ = texts(draw, 1, 5, 2)
        written = greedy(oracle, source, 7)
        is_text = bool(written) and min(written) > 2
        if is_text and ends == (len(written) < 7):
            return oracle, source, written


def greedy(oracle: Transformer, source: Tensor, most: int) -> list[int]:
    """The likeliest token at each step, in the plainest way."""
    written = [1]
    while len(written) <= most:
        logits = oracle(source, torch.tensor([written]))
        token = int(logits[0, -1].argmax())
        if token == 2:
            break
        written.append(token)
    return written[1:]
