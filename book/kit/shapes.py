"""Every shape of one forward pass of the whole model.

Not taught. Chapter 10 and the page of shapes print what is recorded here;
nothing is computed from the configuration.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from unittest.mock import patch

from torch import Tensor, nn

from lib import validate
from lib.heads import MultiHeadAttention
from lib.layers import FeedForward, Residual
from lib.runtime import evaluation

STAGES = {
    "encoder.attention": "self-attention",
    "encoder.feed_forward": "feed-forward",
    "decoder.self_attention": "causal attention",
    "decoder.cross_attention": "cross-attention",
    "decoder.feed_forward": "feed-forward",
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
    """
    validate.instance(nn.Module, model=model)
    with evaluation(model), _Watch() as watch:
        watch.all(model)
        model(source, target)
    return watch.steps


def words(model: nn.Module, source: Tensor, target: Tensor) -> dict:
    """The name of each size, as in {1: "1", 2: "batch", 30: "d_model"}."""
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


class _Watch(ExitStack):
    """Hooks that write down shapes, and are taken away at the end."""

    def __init__(self):
        super().__init__()
        self.steps: list[Step] = []
        self.sides = iter(("source", "target"))

    def all(self, model: nn.Module) -> None:
        """Every module of interest."""
        tables = model.tables
        for table in {tables.source_embedding, tables.target_embedding}:
            self.embedding(table)
        self.output(model.positions, None, "with positions")
        for name, module in model.named_modules():
            name = name.replace(".blocks.0", "").replace("around_", "")
            stage = STAGES.get(name)
            if isinstance(module, MultiHeadAttention) and stage:
                self.attention(module, stage)
            elif isinstance(module, FeedForward) and stage:
                self.output(module.widen, stage, "hidden")
                self.output(module, stage, "output")
            elif isinstance(module, Residual) and stage:
                joined = "added" if module.norm_first else "added, normed"
                self.output(module, stage, joined)
        self.output(model.encoder, "encoder", "memory")
        self.output(model.decoder, "decoder", "states")
        self.output(model, "output", "logits")

    def add(self, where: str | None, name: str, tensor: Tensor) -> None:
        """One step; without a stage, in that of the step before."""
        where = where or self.steps[-1].where
        self.steps.append(Step(where, name, tuple(tensor.shape)))

    def after(self, module: nn.Module, hook: Callable) -> None:
        self.enter_context(module.register_forward_hook(hook))

    def output(self, module: nn.Module, where: str | None, name: str) -> None:
        self.after(module, lambda _, args, out: self.add(where, name, out))

    def embedding(self, module: nn.Module) -> None:
        def hook(module, args, output):
            side = next(self.sides)
            self.add(side, "ids", args[0])
            self.add(side, "embedding", output)

        self.after(module, hook)

    def attention(self, module: MultiHeadAttention, where: str) -> None:
        attend = module.attend

        def weigh(q, k, v, may_attend, **options):
            self.add(where, "mask", may_attend)
            for letter, part in zip("QKV", (q, k, v), strict=True):
                self.add(where, f"{letter}, split", part)
            options["need_weights"] = True
            context, weights = attend(q, k, v, may_attend, **options)
            self.add(where, "weights", weights)
            return context, weights

        def merged(_, args, out):
            self.add(where, "heads merged", args[0])

        self.enter_context(patch.object(module, "attend", weigh))
        self.after(module.out_proj, merged)
        self.output(module, where, "output")
