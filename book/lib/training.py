"""Chapter 11: from random weights to a model that writes dates.

What a batch is, loss, learning rate, one step, the loop. Checkpoints stand in
`lib.checkpoints`; writing token by token comes in chapter 13, several devices
in chapter 17.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from . import checkpoints, validate
from .checkpoints import load_checkpoint, save_checkpoint
from .runtime import evaluation, finish_first, progress


class Batch(NamedTuple):
    """Token ids, filled up with PAD: what is read, given and expected.

    The decoder input begins with BOS and the target ends with EOS, so that
    the token to predict at position t stands in the target at t.
    """

    source: Int[Tensor, "batch s_len"]
    decoder_input: Int[Tensor, "batch t_len"]
    target: Int[Tensor, "batch t_len"]

    def to(self, device: torch.device | str) -> "Batch":
        """The same on another device."""
        return Batch(*(ids.to(device) for ids in self))


def label_smoothed_loss(
    logits: Float[Tensor, "*batch vocab"],
    target: Int[Tensor, "*batch"],
    smoothing: float = 0.1,
    pad_id: int = 0,
) -> Float[Tensor, ""]:
    """-(1 - ε) log p(target) - ε · mean over the vocabulary of log p.

    Source: Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4.
    The mean over all targets that are not PAD; without any it is NaN, as in
    torch.

    Args:
        smoothing: ε, the share of the probability that is wanted evenly on
            all tokens; 0 is plain cross-entropy.
        pad_id: the target that does not count. It need not be an id of the
            vocabulary: torch and Hugging Face ignore -100.
    """
    validate.to_compare(logits, target, pad_id)
    validate.probability("smoothing", smoothing)
    real = target != pad_id
    log_p = torch.log_softmax(logits, dim=-1)
    index = target.masked_fill(~real, 0).unsqueeze(-1)
    right = log_p.gather(-1, index).squeeze(-1)
    loss = -(1 - smoothing) * right
    if smoothing:  # without it, a log p of -inf must not count
        loss = loss - smoothing * log_p.mean(-1)
    return loss.masked_fill(~real, 0.0).sum() / real.sum()


def warmup_rate(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5).

    Source: Vaswani et al. 2017, equation 3. It grows evenly until step
    `warmup` and falls with the root of the step afterwards.

    Args:
        step: from 1.
        warmup: the step with the highest rate.
    """
    validate.positive(step=step, d_model=d_model, warmup=warmup)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def cosine_rate(step: int, peak: float, warmup: int, steps: int) -> float:
    """Evenly up to `peak`, then down along half a cosine, to 0.

    Source: Loshchilov and Hutter 2017, equation 5, without restarts; the
    warm-up before it is that of Vaswani et al. 2017.

    Args:
        step: from 1.
        peak: the highest rate, at step `warmup`.
        warmup: the number of steps that the rate grows; with 0 it falls from
            the first step on.
        steps: the last step, with the rate 0.
    """
    validate.falling_rate(step, peak, warmup, steps)
    if step <= warmup:
        return peak * step / warmup
    done = (step - warmup) / (steps - warmup)
    return peak * (1 + math.cos(math.pi * done)) / 2


@dataclass(frozen=True)
class Recipe:
    """What a step does besides the gradient.

    Args:
        rate: the learning rate of each step, counted from 1.
        smoothing: ε of the loss.
        clip: the largest norm of all gradients together; `math.inf` clips
            nothing.
        averaging: how much of the averaged weights stays at each step; 0
            averages nothing.
        pad_id: the target that does not count.
    """

    rate: Callable[[int], float]
    smoothing: float = 0.1
    clip: float = 1.0
    averaging: float = 0.98
    pad_id: int = 0

    def __post_init__(self):
        validate.recipe(self)

    def numbers(self, step: int) -> dict[str, float]:
        """All that JSON can hold, with the rate of one step for the rest."""
        return asdict(self) | {"rate": self.rate(max(step, 1))}


class Trainer:
    """A model on its way: weights, their average, optimiser, steps done.

    Args:
        model: called with source and decoder input; gives logits.
        recipe: what a step does.
    """

    def __init__(self, model: nn.Module, recipe: Recipe):
        validate.instance(nn.Module, model=model)
        validate.instance(Recipe, recipe=recipe)
        self.model, self.recipe = model, recipe
        self.average = copy.deepcopy(model).eval().requires_grad_(False)
        self.optimiser = torch.optim.Adam(
            model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True
        )
        self.losses: list[float] = []

    def step(self, batch: Batch, name: str = "the batch") -> float:
        """Forward, loss, backward, clip, update, average; gives the loss.

        Raises:
            FloatingPointError: the loss or the gradient is not finite. The
                message has the step and the name; no weight is changed.
            ValueError: the rate is negative or not finite; likewise.
        """
        recipe, number = self.recipe, len(self.losses) + 1
        device = next(self.model.parameters()).device
        batch = batch.to(device)
        with torch.autocast(device.type, torch.bfloat16, device.type != "cpu"):
            logits = self.model(batch.source, batch.decoder_input)
            loss = label_smoothed_loss(
                logits, batch.target, recipe.smoothing, recipe.pad_id
            )
        self.optimiser.zero_grad()
        loss.backward()
        norm = clip_grad_norm_(self.model.parameters(), recipe.clip)
        validate.finite(f"step {number}, {name}", loss=loss, gradient=norm)
        rate = recipe.rate(number)
        validate.rate(rate, number)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.update_average()
        self.losses.append(loss.item())
        return self.losses[-1]

    @torch.no_grad()
    def update_average(self) -> None:
        """average ← averaging · average + (1 - averaging) · weights."""
        pairs = zip(
            self.average.parameters(), self.model.parameters(), strict=True
        )
        for average, weight in pairs:
            average.lerp_(weight, 1 - self.recipe.averaging)


def train(
    trainer: Trainer,
    batches: Sequence[Batch],
    steps: int,
    checkpoint: Path | str | None = None,
    every: int = 100,
) -> list[float]:
    """Step until `steps` are done, those before this call included.

    Step k takes batch (k - 1) mod len(batches): a run that was stopped goes
    on where it was. With a checkpoint file, an old one is continued, a new
    one written now and then and at the end. Ctrl-C finishes the step, saves
    and raises KeyboardInterrupt; calling `train` again goes on.

    Args:
        trainer: is changed in place.
        batches: the same at every call, in the same order.
        steps: the number of steps in total.
        checkpoint: a file to continue from, if it is there, and to save to.
        every: steps between two checkpoints.

    Returns:
        The loss of every step.

    Raises:
        FloatingPointError: a loss is not finite; names step and batch.
        OSError: the checkpoint cannot be written; the old one is intact.
        ValueError: the checkpoint is damaged, of another training, or has
            fewer steps than the trainer.
    """
    validate.to_train(trainer, Trainer, batches, steps, every)
    if checkpoint is not None and Path(checkpoint).exists():
        _, about = checkpoints.read(checkpoint)
        validate.enough_steps(len(about["losses"]), len(trainer.losses))
        load_checkpoint(trainer, checkpoint)
    trainer.model.train()
    done = len(trainer.losses)
    with finish_first() as asked, progress(done, steps) as bar:
        for number in range(done, steps):
            i = number % len(batches)
            bar(trainer.step(batches[i], f"batch {i} of {len(batches)}"))
            due = asked or number + 1 == steps or (number + 1) % every == 0
            if checkpoint is not None and due:
                save_checkpoint(trainer, checkpoint)
            if asked:
                raise KeyboardInterrupt(f"after step {number + 1}")
    return trainer.losses


def exact_match(model: nn.Module, batches: Sequence[Batch], pad_id=0) -> float:
    """The share of examples of which every token, EOS too, is right.

    One forward pass tells what greedy writing would give: as long as all
    tokens so far are right, the decoder input is what was written. This
    needs a model that cannot see later tokens.
    """
    validate.some_items("batches", batches, "batches")
    device = next(model.parameters()).device
    right, total = 0, 0
    with evaluation(model):
        for batch in batches:
            source, decoder_input, target = batch.to(device)
            best = model(source, decoder_input).argmax(-1)
            fits = (best == target) | (target == pad_id)
            right += fits.all(-1).sum().item()
            total += len(target)
    return right / total
