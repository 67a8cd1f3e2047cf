"""Chapter 8's model without some of its parts, trained on small tasks.

Not taught. The lab trains the same in the page, with other random numbers:
explorers/trainer.js has these tasks, settings and names of parts.
"""

from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from lib import validate
from lib.embedding import TokenEmbedding
from lib.encoder import Encoder, EncoderBlock
from lib.masks import causal_mask
from lib.positions import PositionalEncoding

WIDTH = 32
PARTS = (
    "attention choice positions feed_forward residual norm scale causal"
).split()
ANY = -100  # an answer that does not count


class NumberModel(nn.Module):
    """Embedding, positions, encoder, a matrix; any part can be taken out.

    Args:
        vocab_size: ids that it reads and says.
        layers, heads, norm_first: of the encoder.
        causal: every place sees itself and what is before it.
    """

    def __init__(
        self, vocab_size, layers=1, heads=4, norm_first=False, causal=False
    ):
        super().__init__()
        self.embedding = TokenEmbedding(vocab_size, WIDTH)
        self.positions = PositionalEncoding(WIDTH, 64)
        blocks = [
            EncoderBlock(WIDTH, heads, 2 * WIDTH, norm_first=norm_first)
            for _ in range(layers)
        ]
        self.encoder = Encoder(blocks, final_norm=norm_first)
        self.output = nn.Linear(WIDTH, vocab_size)
        self.causal, self.missing = causal, frozenset()

    @contextmanager
    def without(self, *parts: str):
        """Some of `PARTS`, or heads as "0.1": block 0, head 1."""
        before, self.missing = self.missing, self.missing | {*parts}
        heads = {
            f"{b}.{h}"
            for b, block in enumerate(self.encoder.blocks)
            for h in range(block.attention.heads)
        }
        try:
            for part in parts:
                validate.choice("part", part, (*PARTS, *sorted(heads)))
            yield self
        finally:
            self.missing = before

    def has(self, part: str) -> bool:
        return part not in self.missing

    def forward(self, ids):
        may = None
        if self.causal and self.has("causal"):
            may = causal_mask(ids.shape[1], ids.device)
        x = self.embedding(ids)
        if self.has("positions"):
            x = self.positions(x)
        for b, block in enumerate(self.encoder.blocks):
            look = self.has("attention") and self.look(block, b, may)
            x = self.around(block.around_attention, x, look)
            think = self.has("feed_forward") and block.feed_forward
            x = self.around(block.around_feed_forward, x, think)
        if self.has("norm"):
            x = self.encoder.norm(x)
        return self.output(x)

    def around(self, residual, x, f):
        """As `Residual`; without f, x goes by."""
        norm = residual.norm if self.has("norm") else nn.Identity()
        first = residual.norm_first
        y = x
        if f:
            y = f(norm(x) if first else x)
            y = x + y if self.has("residual") else y
        return y if first else norm(y)

    def look(self, block, b, may):
        attention = block.attention
        silent = [
            h for h in range(attention.heads) if f"{b}.{h}" in self.missing
        ]

        def look(x):
            q, k, v = attention.project(x, x, x)
            if not self.has("scale"):
                q = q * q.shape[-1] ** 0.5
            if not self.has("choice"):
                q = q * 0
            context, _ = attention.attend(q, k, v, may)
            if silent:
                heads = torch.arange(attention.heads, device=x.device)
                is_silent = torch.isin(heads, heads[silent])
                context = context.masked_fill(is_silent[:, None, None], 0)
            return attention.output(context)

        return look


# Tasks: rows of ids, and what is right at each place. Rows that `unseen` holds
# back are never trained on.

OPEN, CLOSE = 13, 14


def differing(count, length, generator, numbers=20):
    """Rows of different numbers."""
    drawn = torch.rand(count, numbers, generator=generator)
    return drawn.argsort(-1)[:, :length]


def pairs(count, length, generator):
    """Letters with a digit each, then three of the letters."""
    known = length - 3
    keys = differing(count, known, generator, 6)
    digits = torch.randint(6, keys.shape, generator=generator)
    asked = keys.gather(1, differing(count, 3, generator, known))
    return torch.cat([12 + 6 * keys + digits, 6 + asked], 1)


def digits_of(rows):
    """The digit of each letter that is asked for."""
    known, asked = rows[:, :-3], rows[:, -3:]
    is_its = known[:, None] // 6 == asked[:, :, None] - 4
    digits = (is_its * (known % 6)[:, None]).sum(-1)
    return torch.cat([torch.full_like(known, ANY), digits], 1)


def brackets(count, length, generator):
    """Rows in which no bracket closes what is not open."""
    coins = torch.rand(count, length, generator=generator) < 0.5
    open_now, steps = torch.zeros(count, dtype=torch.long), []
    for coin in coins.T:
        steps.append(torch.where(coin & (open_now > 0), CLOSE, OPEN))
        open_now = count_open(torch.stack(steps, 1))[:, -1]
    return torch.stack(steps, 1)


def count_open(rows):
    """How many brackets are open, at each place."""
    return (1 - 2 * (rows == CLOSE).long()).cumsum(-1)


def weighed(rows):
    return ((rows - OPEN) * torch.arange(1, rows.shape[1] + 1)).sum(1)


@dataclass(frozen=True)
class Task:
    """What is drawn, what is right, and what must not be trained on.

    Args:
        vocab_size: ids that are read and said.
        draw: (count, length, generator) to rows.
        answer: rows to what is right at each place.
        whole: the answer is a row of its own, which can be written in turn.
        total: rows of which this is a multiple of 5 are held back.
    """

    vocab_size: int
    draw: Callable
    answer: Callable
    whole: bool = False
    total: Callable = partial(torch.sum, dim=1)

    def rows(self, count, length, unseen, generator):
        """That many rows, held back or not."""
        kept = torch.empty(0, length, dtype=torch.long)
        while len(kept) < count:
            drawn = self.draw(2 * count, length, generator)
            held_back = self.total(drawn) % 5 == 0
            kept = torch.cat([kept, drawn[held_back == unseen]])
        return kept[:count]


def of_numbers(answer):
    """A task on rows of different numbers below 20."""
    return Task(20, differing, answer, whole=True)


TASKS = {
    "sort": of_numbers(lambda rows: rows.sort(-1).values),
    "reverse": of_numbers(lambda rows: rows.flip(-1)),
    "copy": of_numbers(lambda rows: rows),
    "lookup": Task(48, pairs, digits_of),
    "brackets": Task(15, brackets, count_open, total=weighed),
}


@dataclass
class Trained:
    """A model that has been trained, and on what."""

    model: NumberModel
    task: Task
    length: int
    device: torch.device
    losses: list[float]

    def right(self, count: int = 500) -> float:
        """The share of unseen rows that are right at every place."""
        drawn = torch.Generator().manual_seed(2026)
        rows = self.task.rows(count, self.length, True, drawn)
        wanted = self.task.answer(rows)
        said = self.say(rows.to(self.device)).cpu()
        return (
            ((said == wanted) | (wanted == ANY)).all(1).float().mean().item()
        )

    @torch.no_grad()
    def say(self, rows):
        """The likeliest id at each place; in turn, it reads what it wrote.

        Where it has written nothing yet it reads 0, which the mask hides.
        """
        if not (self.model.causal and self.task.whole):
            return self.model(rows).argmax(-1)
        said = torch.zeros_like(rows)
        for _ in range(self.length):  # each time, one more place is settled
            logits = self.model(torch.cat([rows, said[:, :-1]], 1))
            said = logits[:, -self.length :].argmax(-1)
        return said


def train(
    task: str = "sort",
    *,
    length: int = 8,
    in_turn: bool = False,
    layers: int = 1,
    heads: int = 4,
    norm_first: bool = False,
    rate: float = 0.03,
    warm_up: int = 50,
    batch: int = 64,
    steps: int = 600,
    seed: int = 1,
    never: Iterable[str] = (),
    device: torch.device | str = "cpu",
) -> Trained:
    """Train a model that never has some parts.

    Args:
        task: one of `TASKS`.
        length: places of a row.
        in_turn: one place after the other, under a causal mask.
        rate, warm_up: Adam's step size at its highest, and the steps on the
            way there; then it falls to 0.
        never: parts that it lacks from the start.
    """
    validate.choice("task", task, tuple(TASKS))
    torch.manual_seed(seed)
    drawn = torch.Generator().manual_seed(seed)
    what = TASKS[task]
    torch.set_default_dtype(torch.float64)  # the same counts everywhere
    model = NumberModel(what.vocab_size, layers, heads, norm_first, in_turn)
    torch.set_default_dtype(torch.float32)
    optimiser = torch.optim.Adam(model.to(device).parameters(), fused=True)
    losses = []
    with model.without(*never):
        for step in range(steps):
            optimiser.param_groups[0]["lr"] = (
                rate * min(1, (step + 1) / warm_up) * (1 - step / steps)
            )
            rows = what.rows(batch, length, False, drawn)
            said, right = rows, what.answer(rows)
            if in_turn and what.whole:
                said = torch.cat([rows, right[:, :-1]], 1)
                wait = torch.full((batch, length - 1), ANY)
                right = torch.cat([wait, right], 1)
            logits = model(said.to(device)).flatten(0, 1)
            loss = F.cross_entropy(logits, right.flatten().to(device))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    model.missing = frozenset(never)
    return Trained(model, what, length, torch.device(device), losses)
