"""Other people's attention, called in one way, and what is found out about it.

Not taught. `Patient` knows how an attention wants to be called (a
`Convention`) and offers `lib.diagnose` one way to do it: sentences of the
shape (batch, length, width), and a boolean mask with True = may attend.
"""

import argparse
import copy
import math
import runpy
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from einops import rearrange
from torch import Tensor, nn

from lib import validate
from lib.masks import additive, causal_mask


class NotOffered(Exception):
    """A property that this attention has no way to show, and why."""


@dataclass(frozen=True)
class Convention:
    """How an attention wants to be called; see `lib.diagnose.diagnose`."""

    call: str = "q k v mask -> out"
    axes: str = "n l d"
    mask: str = "keep"
    mask_axes: str = "n h q k"
    width: int = 16
    heads: int = 1
    module: nn.Module | None = None
    projections: bool | None = None
    positions: bool = False
    scale: float | None = None
    length: int = 7
    seed: int = 0

    def __post_init__(self) -> None:
        validate.convention(self)

    @property
    def takes(self) -> list[tuple[str, str]]:
        """(keyword or "", one of q, k, v, x, mask), in their order."""
        items = self.call.split("->")[0].split()
        parts = [item.rpartition("=") for item in items]
        return [(name, what) for name, _, what in parts]

    @property
    def gives(self) -> list[str]:
        return self.call.split("->")[1].split()

    @property
    def inputs(self) -> set[str]:
        return {what for _, what in self.takes}

    @property
    def d_head(self) -> int:
        return self.width // self.heads

    def layout(self, place: int) -> str:
        """The axes of what goes in (0) or comes out (-1)."""
        return self.axes.split("->")[place].strip()


OPTIONS = tuple(field.name for field in fields(Convention))


@dataclass(frozen=True)
class Finding:
    """What was seen of one property, as a number and in words."""

    verdict: str  # holds, fails, note, not offered
    seen: float | None
    words: str
    name: str = ""

    def __str__(self) -> str:
        seen = "" if self.seen is None else f"{self.seen:.4f}"
        head = f"{self.name:26} {self.verdict:11} {seen:>9}  "
        words = textwrap.wrap(self.words, 72)
        return "\n".join([head.rstrip(), *(f"      {line}" for line in words)])


@dataclass(frozen=True)
class Report:
    """The findings, one for each property, and which of them is the cause."""

    findings: tuple[Finding, ...]
    causes: tuple[str, ...]

    def __getitem__(self, name: str) -> Finding:
        return next(one for one in self.findings if one.name == name)

    @property
    def fails(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.findings if f.verdict == "fails")

    def __str__(self) -> str:
        lines = [str(finding) for finding in self.findings]
        cause = ", ".join(self.causes) or "no known bug was seen"
        return "\n".join([*lines, f"begin with: {cause}"])


def spelled(mask: Tensor, how: str) -> Tensor:
    """A mask (True = may attend) as a convention writes it."""
    lowest = torch.finfo(torch.float32).min
    return {
        "keep": lambda: mask,
        "ignore": lambda: ~mask,
        "ones": lambda: mask.long(),
        "float ones": lambda: mask.float(),
        "additive": lambda: additive(mask),
        "additive min": lambda: additive(mask).clamp(min=lowest),
    }[how]()


def shaped(mask: Tensor, axes: str) -> Tensor:
    """A mask of the axes n h q k, cut to those that a convention has."""
    names = axes.replace("(", "").replace(")", "").split()
    for place, name in enumerate("nhqk"):
        if name not in names:
            mask = mask.narrow(place, 0, 1)
    left = " ".join(name if name in names else "1" for name in "nhqk")
    return rearrange(mask, f"{left} -> {axes}")


class Patient:
    """An attention that is called as `patient(x, may_attend)`.

    A module is copied; one that is only named (`module=`) is put back as it
    was. Random numbers are drawn from generators of its own.
    """

    def __init__(self, attention: Callable, convention: Convention):
        module = convention.module
        if module is None and isinstance(attention, nn.Module):
            attention = module = copy.deepcopy(attention)
        if module is None:  # functools.partial, or a method of a module
            inside = getattr(attention, "func", attention)
            inside = getattr(inside, "__self__", inside)
            module = inside if isinstance(inside, nn.Module) else None
        self.attention, self.module = attention, module
        self.convention = convention
        self.last_weights: Tensor | None = None
        self.needs_mask = False

    # what it is

    @property
    def has_projections(self) -> bool:
        said = self.convention.projections
        if said is not None:
            return said
        module = self.module
        return module is not None and any(True for _ in module.parameters())

    @property
    def is_self(self) -> bool:
        return "x" in self.convention.inputs

    @property
    def takes_mask(self) -> bool:
        return "mask" in self.convention.inputs

    @property
    def is_causal(self) -> bool:
        """Its causal mask is built in."""
        return self.convention.mask == "causal"

    def needs(self, axis: str) -> None:
        """Stop unless its masks may differ along an axis (n or q)."""
        said = {"n": "from sentence to sentence", "q": "from query to query"}
        if not self.takes_mask or axis not in self.convention.mask_axes:
            raise NotOffered(f"it takes no mask that differs {said[axis]}")

    def needs_positions_outside(self) -> None:
        if self.convention.positions:
            raise NotOffered("it has positions inside")

    # what it is given

    def draw(self, batch: int, length: int = 0, number: int = 0) -> Tensor:
        """Normal numbers: batch length width; the same for the same call."""
        length = length or self.convention.length
        generator = torch.Generator()
        generator.manual_seed(1000 * self.convention.seed + number)
        shape = (batch, length, self.convention.width)
        return torch.randn(shape, generator=generator)

    def causal(self, length: int) -> Tensor | None:
        """What hides the future: a mask, or None if that is built in."""
        if self.is_causal:
            return None
        self.needs("q")
        return causal_mask(length)

    # how it is called

    def __call__(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Self-attention: batch length width."""
        return self.cross(x, x, x, may_attend)

    def cross(
        self, q: Tensor, k: Tensor, v: Tensor, may_attend: Tensor | None = None
    ) -> Tensor:
        """Attention of q to k and v; every argument has a batch axis."""
        n, q_len, k_len = len(q), q.shape[1], k.shape[1]
        if may_attend is None and self.needs_mask:
            may_attend = torch.ones(1, 1, 1, 1, dtype=torch.bool)
        if may_attend is not None:
            shape = (n, self.convention.heads, q_len, k_len)
            may_attend = may_attend.expand(shape)
        parts = [range(n)]
        if "n" not in self.convention.layout(0):
            parts = [[i] for i in range(n)]
        outs, weights = [], []
        for rows in parts:
            part = None if may_attend is None else may_attend[rows]
            given = {"q": q[rows], "k": k[rows], "v": v[rows], "x": q[rows]}
            out, weight = self._ask(given, part)
            outs.append(out)
            weights.append(weight)
        if weights[0] is not None:
            self.last_weights = torch.cat(weights).float()
        return torch.cat(outs)

    def _ask(self, given: dict[str, Tensor], may_attend: Tensor | None):
        said = self.convention
        layout, drop = said.layout(0), "n" not in said.layout(0)
        ready = {
            what: rearrange(x, f"n l (h d) -> {_full(layout)}", h=said.heads)
            if "h" in layout
            else rearrange(x, f"n l d -> {_full(layout)}")
            for what, x in given.items()
        }
        if drop:
            ready = {what: x[0] for what, x in ready.items()}
        ready["mask"] = None
        if may_attend is not None and self.takes_mask:
            mask = spelled(shaped(may_attend, said.mask_axes), said.mask)
            if mask.is_floating_point():
                mask = mask.to(given["q"].dtype)
            ready["mask"] = mask
        positional = [ready[what] for name, what in said.takes if not name]
        named = {name: ready[what] for name, what in said.takes if name}
        # The same zeros of a dropout in every call.
        with torch.random.fork_rng(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(said.seed + self.noise)
            result = self.attention(*positional, **named)
        results = result if isinstance(result, (tuple, list)) else [result]
        found = dict(zip(said.gives, results, strict=False))
        return self._out(found["out"], drop), self._weights(found, drop)

    noise = 0

    def _out(self, out: Tensor, drop: bool) -> Tensor:
        layout = self.convention.layout(-1)
        if drop:
            out = out[None]
        if "h" not in layout:
            return rearrange(out, f"{_full(layout)} -> n l d")
        heads = self.convention.heads
        return rearrange(out, f"{_full(layout)} -> n l (h d)", h=heads)

    def _weights(self, found: dict, drop: bool) -> Tensor | None:
        weights = found.get("weights")
        if weights is None:
            return None
        return weights.detach()[None] if drop else weights.detach()

    def heads_of(self, x: Tensor) -> Tensor:
        """batch length width, seen as batch heads length d_head."""
        heads = self.convention.heads
        return rearrange(x, "n l (h d) -> n h l d", h=heads)

    # in which state

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Whatever is done to the module, it is undone."""
        if self.module is None:
            yield
            return
        numbers = [(p, p.data.clone()) for p in self.module.parameters()]
        states = [
            (m, m.training, dict(m._buffers)) for m in self.module.modules()
        ]
        try:
            yield
        finally:
            for parameter, data in numbers:
                parameter.data = data
            for module, training, buffers in states:
                module.training = training
                module._buffers.update(buffers)

    @contextmanager
    def mode(self, training: bool) -> Iterator[None]:
        if self.module is None:
            if training:
                raise NotOffered("a function has no training mode")
            yield
            return
        with self.kept():
            self.module.train(training)
            yield

    @contextmanager
    def of_dtype(self, dtype: torch.dtype) -> Iterator[None]:
        with self.kept():
            if self.module is not None:
                self.module.to(dtype)
            yield

    @contextmanager
    def bare(self) -> Iterator[None]:
        """Without projections: each square matrix is the identity.

        One token alone must then come back as itself; if it does not, the
        values are changed on their way, in a manner that is not known.
        """
        if not self.has_projections:
            yield
            return
        if self.module is None:
            raise NotOffered("its projections are out of reach")
        with self.kept():
            for name, parameter in _own_parameters(self.module):
                parameter.data = _identity(name, parameter.data)
            token = self.draw(3, 1)
            if not torch.allclose(self(token), token, atol=1e-5):
                raise NotOffered("its projections cannot be set aside")
            yield


def _full(layout: str) -> str:
    """A layout with its batch axis."""
    return layout if "n" in layout else f"n {layout}"


def _own_parameters(
    module: nn.Module,
) -> Iterator[tuple[str, nn.Parameter]]:
    """All but those of tables and of norms."""
    for part in module.modules():
        kind = type(part).__name__.lower()
        if "embedding" not in kind and "norm" not in kind:
            yield from part.named_parameters(recurse=False)


def _identity(name: str, data: Tensor) -> Tensor:
    """What does nothing, of the shape of a parameter."""
    if data.ndim == 1:
        is_bias = "bias" in name or name.startswith("b")
        return torch.zeros_like(data) if is_bias else data
    if data.ndim == 3:
        heads, rows, columns = data.shape
        if rows == heads * columns:  # one matrix (width, d_head) a head
            return torch.eye(rows).view(rows, heads, columns).transpose(0, 1)
        if columns == heads * rows:
            return torch.eye(columns).view(heads, rows, columns)
    if data.ndim == 2:
        rows, columns = data.shape
        if rows % columns == 0:
            return torch.eye(columns).repeat(rows // columns, 1)
        if columns % rows == 0:
            return torch.eye(rows).repeat(1, columns // rows)
    raise NotOffered("its projections are not square")


def renamed(finding: Finding, name: str) -> Finding:
    return replace(finding, name=name)


def intended_scale(convention: Convention) -> float:
    said = convention.scale
    return 1 / math.sqrt(convention.d_head) if said is None else said


def command_line(arguments: list[str], diagnose: Callable) -> int:
    """What `python -m lib.diagnose` does; 1 if something fails, 2 if it cannot."""
    if "--public" in arguments:
        return public([a for a in arguments if a != "--public"])
    parser = argparse.ArgumentParser("python -m lib.diagnose")
    parser.add_argument(
        "attention", help="FILE.py:NAME, or FILE.py:'Class(16, heads=2)'"
    )
    for option in ("call", "axes", "mask", "mask-axes"):
        parser.add_argument(f"--{option}")
    for option in ("width", "heads", "length", "seed"):
        parser.add_argument(f"--{option}", type=int)
    parser.add_argument("--positions", action="store_true", default=None)
    parser.add_argument("--scale", type=float)
    said = {
        k: v
        for k, v in vars(parser.parse_args(arguments)).items()
        if v is not None
    }
    file, _, expression = said.pop("attention").partition(":")
    names = runpy.run_path(file)
    attention = eval(expression, names)  # the reader's own file
    report = diagnose(attention, **said)
    print(report)
    return 1 if report.fails else 0


def public(arguments: list[str]) -> int:
    """The same checks over public packages, in the book's repository."""
    script = Path(__file__).resolve().parents[2] / "benchmarks/conformance.py"
    if not script.exists():
        print(f"--public: {script} is not there; it is in the repository")
        return 2
    sys.argv = [str(script), *arguments]
    runpy.run_path(str(script), run_name="__main__")
    return 0
