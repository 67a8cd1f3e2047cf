"""Every shape of one forward pass of the whole model.

Not taught. Chapter 10 and the page of shapes print what is recorded here;
nothing is computed from the configuration.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from lib import validate
from lib.heads import MultiHeadAttention
from lib.layers import FeedForward, Residual

STAGES = {
    "encoder.attention": "self-attention",
    "encoder.around_attention": "self-attention",
    "encoder.feed_forward": "feed-forward",
    "encoder.around_feed_forward": "feed-forward",
    "decoder.self_attention": "causal attention",
    "decoder.around_self_attention": "causal attention",
    "decoder.cross_attention": "cross-attention",
    "decoder.around_cross_attention": "cross-attention",
    "decoder.feed_forward": "feed-forward",
    "decoder.around_feed_forward": "feed-forward",
}


@dataclass(frozen=True)
class Step:
    """One tensor of the pass: in which stage, what it is, and its shape."""

    where: str
    tensor: str
    shape: tuple[int, ...]


def trace(model: nn.Module, source: Tensor, target: Tensor) -> list[Step]:
    """The shapes of one pass in evaluation mode, in order of execution.

    Of each stack the first block is looked into. The model is a `Transformer`
    of the library, or one that a page defines with its text.

    Raises:
        TypeError: not a module, or ids that are not integers.
        ValueError: ids that the model refuses.
    """
    validate.instance(nn.Module, model=model)
    steps: list[Step] = []
    with _evaluating(model), _watching(model, steps):
        model(source, target)
    return steps


def words(model: nn.Module, source: Tensor, target: Tensor) -> dict:
    """The name of each size, as in {1: "1", 2: "batch", 30: "d_model"}.

    Raises:
        ValueError: two axes have the same size, so that it names neither.
    """
    config = model.config
    axes = {
        "1": 1,
        "batch": source.shape[0],
        "s_len": source.shape[1],
        "t_len": target.shape[1],
        "heads": config.heads,
        "d_head": config.d_model // config.heads,
        "d_model": config.d_model,
        "d_ff": config.d_ff,
        "vocab": config.target_vocab_size,
    }
    named: dict[int, str] = {}
    for name, size in axes.items():
        if size in named:
            raise ValueError(
                f"sizes: expected different ones, got {size} for both "
                f"{named[size]} and {name}"
            )
        named[size] = name
    return named


def in_words(shape: tuple[int, ...], names: dict[int, str]) -> str:
    """The axes of a shape by name, in order."""
    return " ".join(names[size] for size in shape)


def table(steps: list[Step], names: dict[int, str]) -> str:
    """One line a step; the stage is written where it begins."""
    lines = [f"{'stage':17}{'tensor':16}{'axes':28}sizes"]
    before = None
    for step in steps:
        stage = step.where if step.where != before else ""
        axes = in_words(step.shape, names)
        sizes = " × ".join(map(str, step.shape))
        lines.append(f"{stage:17}{step.tensor:16}{axes:28}{sizes}")
        before = step.where
    return "\n".join(lines)


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards the modes of before."""
    modes = {module: module.training for module in model.modules()}
    try:
        with torch.no_grad():
            yield model.eval()
    finally:
        for module, mode in modes.items():
            module.training = mode


@contextmanager
def _watching(model: nn.Module, steps: list[Step]) -> Iterator[None]:
    """Hooks on every module of interest, taken away at the end."""
    watch = _Watch(steps)
    try:
        tables = model.tables
        for table in {tables.source_embedding, tables.target_embedding}:
            watch.embedding(table)
        watch.output(model.positions, None, "with positions")
        for name, module in model.named_modules():
            stage = STAGES.get(name.replace(".blocks.0", ""))
            if isinstance(module, MultiHeadAttention) and stage:
                watch.attention(module, stage)
            elif isinstance(module, FeedForward) and stage:
                watch.output(module.widen, stage, "hidden")
                watch.output(module, stage, "output")
            elif isinstance(module, Residual) and stage:
                joined = "added" if module.norm_first else "added, normed"
                watch.output(module, stage, joined)
        watch.output(model.encoder, "encoder", "memory")
        watch.output(model.decoder, "decoder", "states")
        watch.output(model, "output", "logits")
        yield
    finally:
        watch.end()


class _Watch:
    """Hooks that write down shapes, and a way to take them away."""

    def __init__(self, steps: list[Step]):
        self.steps = steps
        self.sides = iter(("source", "target"))
        self.undo: list[Callable] = []

    def add(self, where: str | None, name: str, tensor: Tensor) -> None:
        """One step; without a stage, in that of the step before."""
        where = where or self.steps[-1].where
        self.steps.append(Step(where, name, tuple(tensor.shape)))

    def output(self, module: nn.Module, where: str | None, name: str) -> None:
        def hook(module, args, output):
            self.add(where, name, output)

        self.undo.append(module.register_forward_hook(hook).remove)

    def embedding(self, module: nn.Module) -> None:
        def hook(module, args, output):
            side = next(self.sides)
            self.add(side, "ids", args[0])
            self.add(side, "embedding", output)

        self.undo.append(module.register_forward_hook(hook).remove)

    def attention(self, module: MultiHeadAttention, where: str) -> None:
        project, attend = module.project, module.attend

        def split(*sources):
            parts = project(*sources)
            for letter, part in zip("QKV", parts, strict=True):
                self.add(where, f"{letter}, split", part)
            return parts

        def weigh(*inputs, need_weights, **options):
            context, weights = attend(*inputs, need_weights=True, **options)
            self.add(where, "weights", weights)
            return context, weights if need_weights else None

        def before(module, args, kwargs):
            self.add(where, "mask", kwargs["may_attend"])

        def merged(module, args):
            self.add(where, "heads merged", args[0])

        self.replace(module, "project", split)
        self.replace(module, "attend", weigh)
        self.undo += [
            module.register_forward_pre_hook(before, with_kwargs=True).remove,
            module.out_proj.register_forward_pre_hook(merged).remove,
        ]
        self.output(module, where, "output")

    def replace(self, module: nn.Module, name: str, method: Callable) -> None:
        """A method of this one module; another recording comes back."""
        before = vars(module).pop(name, None)
        setattr(module, name, method)
        self.undo.append(lambda: delattr(module, name))
        if before is not None:
            self.undo.append(lambda: setattr(module, name, before))

    def end(self) -> None:
        for undo in self.undo:
            undo()
