"""Other people's attention, called in one way.

Not taught. `Probe` knows how an attention wants to be called (a
`Convention`) and offers `lib.diagnose` one way to do it: sentences of the
shape (batch, length, width), and a boolean mask with True = may attend.
"""

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import torch
from einops import rearrange
from torch import Tensor, nn

from .. import validate
from ..masks import additive, causal_mask
from .report import NotOffered


@dataclass(frozen=True)
class Convention:
    """How an attention wants to be called; see `diagnose.checks.diagnose`."""

    call: str = "q k v mask -> out"
    axes: str = "n l d"
    mask: str = "keep"
    mask_axes: str | None = None
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

    @property
    def intended_scale(self) -> float:
        return self.d_head**-0.5 if self.scale is None else self.scale

    def layout(self, place: int) -> str:
        """The axes of what goes in (0) or comes out (-1)."""
        return self.axes.split("->")[place].strip()


def spelled(mask: Tensor, how: str, dtype: torch.dtype) -> Tensor:
    """A mask (True = may attend) as a convention writes it."""
    numbers = additive(mask, dtype)
    return {
        "keep": mask,
        "ignore": ~mask,
        "ones": mask.long(),
        "float ones": mask.to(dtype),
        "additive": numbers,
        "additive min": numbers.clamp(min=torch.finfo(dtype).min),
    }[how]


def shaped(mask: Tensor, axes: str) -> Tensor:
    """A mask of the axes n h q k, cut to those that a convention has."""
    names = axes.replace("(", "").replace(")", "").split()
    for place, name in enumerate("nhqk"):
        if name not in names:
            mask = mask.narrow(place, 0, 1)
    left = " ".join(name if name in names else "1" for name in "nhqk")
    return rearrange(mask, f"{left} -> {axes}")


class Probe:
    """An attention that is called as `probe(x, may_attend)`.

    A module that is given is copied; one that is only named (`module=`) is
    put back as it was. Random numbers are those of a generator of its own.
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
        self.weights: Tensor | None = None  # those returned last
        self.needs_mask, self.noise = False, 0
        self.mask_axes = convention.mask_axes or self._usual_mask_axes()

    def _usual_mask_axes(self) -> str:
        """The rank of the inputs; with heads inside, one more."""
        convention, layout = self.convention, self.convention.layout(0)
        inside = convention.heads > 1 or self.module is not None
        axes = "h q k" if inside or "h" in layout else "q k"
        return f"n {axes}" if "n" in layout else axes

    # What it offers.

    @property
    def takes_mask(self) -> bool:
        return "mask" in self.convention.inputs

    @property
    def is_causal(self) -> bool:
        """Its causal mask is built in."""
        return self.convention.mask == "causal"

    def masks_by(self, axis: str) -> bool:
        """May its masks differ along an axis (n or q)?"""
        return self.takes_mask and axis in self.mask_axes

    def needs_mask_by(self, axis: str) -> None:
        if not self.masks_by(axis):
            each = {"n": "sentence", "q": "query"}[axis]
            raise NotOffered(f"it takes no mask for each {each}")

    def needs_no_positions(self) -> None:
        if self.convention.positions:
            raise NotOffered("it has positions inside")

    def needs_two_sources(self) -> None:
        if "x" in self.convention.inputs or self.is_causal:
            raise NotOffered("it attends to its own queries only")

    @property
    def has_projections(self) -> bool:
        projections = self.convention.projections
        return bool(self.parameters()) if projections is None else projections

    def needs_projections_in_reach(self) -> None:
        if self.has_projections and self.module is None:
            raise NotOffered("its projections are out of reach")

    def parameters(self) -> list[nn.Parameter]:
        parts = [] if self.module is None else self.module.parameters()
        return [part for part in parts if part.requires_grad]

    def gradients(self, loss: Tensor, x: Tensor) -> list[Tensor]:
        """Of the loss: by the input and by all parameters that it reaches."""
        wanted = [x, *self.parameters()]
        with self.changed(lambda module: module.zero_grad()):
            # Not autograd.grad, which modules with checkpoints refuse.
            loss.backward()
            return [p.grad for p in wanted if p.grad is not None]

    # What it is given.

    def draw(
        self, batch: int, length: int | None = None, number: int = 0
    ) -> Tensor:
        """Normal numbers, batch length width: the same for the same call."""
        generator = torch.Generator()
        generator.manual_seed(1000 * self.convention.seed + number)
        length = length or self.convention.length
        shape = (batch, length, self.convention.width)
        return torch.randn(shape, generator=generator)

    def inputs(self, batch: int, length: int) -> list[Tensor]:
        """q, k and v; one and the same if it takes one x."""
        if "x" in self.convention.inputs:
            return [self.draw(batch, length)] * 3
        return [self.draw(batch, length, number) for number in (5, 6, 7)]

    def causal(self, length: int) -> Tensor | None:
        """What hides the future: a mask, or None if that is built in."""
        if self.is_causal:
            return None
        self.needs_mask_by("q")
        return causal_mask(length)

    def some_hidden(self, length: int) -> Tensor | None:
        """The last two keys hidden, if it takes a mask."""
        return self.hide_after(length - 2, length) if self.takes_mask else None

    def hide_after(self, kept: int, length: int) -> Tensor | None:
        """The first keys shown; what is built in must hide the others."""
        if self.is_causal:
            return None
        if not self.takes_mask:
            raise NotOffered("it takes no mask")
        return (torch.arange(length) < kept)[None, None, None]

    def any_mask(self, length: int) -> tuple[Tensor | None, Tensor]:
        """A mask without symmetry, and who may hear whom by it.

        If it hides keys only, a hidden token need not say anything itself.
        """
        i = torch.arange(length)
        if self.is_causal:
            return None, i <= i[:, None]
        if self.masks_by("q"):
            asked = (i - i[:, None]) % length <= 2
        elif self.takes_mask:
            asked = (i < length - 2).expand(length, length)
            return asked[None, None], asked[:-2]  # hidden queries aside
        else:
            raise NotOffered("it takes no mask")
        return asked[None, None], asked

    def padding(self, lengths: tuple[int, ...]) -> Tensor | None:
        """The first so many keys of each sentence shown."""
        if self.is_causal:
            return None
        self.needs_mask_by("n")
        shown = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        return shown[:, None, None]

    def blind(self, length: int) -> Tensor:
        """A mask for two sentences; the first query of the first sees none."""
        if self.is_causal:
            raise NotOffered("its causal mask leaves every query a key")
        mask = torch.ones(2, 1, length, length, dtype=torch.bool)
        if self.masks_by("q"):
            mask[0, :, 0] = False
        else:
            self.needs_mask_by("n")
            mask[0] = False
        return mask

    # How it is called.

    def __call__(self, x: Tensor, may_attend: Tensor | None = None) -> Tensor:
        """Self-attention: batch length width."""
        return self.cross(x, x, x, may_attend)

    def cross(
        self, q: Tensor, k: Tensor, v: Tensor, may_attend: Tensor | None = None
    ) -> Tensor:
        """Attention of q to k and v, each batch length width."""
        if may_attend is None and self.needs_mask:
            may_attend = torch.ones(1, 1, 1, 1, dtype=torch.bool)
        if may_attend is not None:
            shape = (len(q), self.convention.heads, q.shape[1], k.shape[1])
            may_attend = may_attend.expand(shape)
        together = "n" in self.convention.layout(0)
        parts = [range(len(q))] if together else [[n] for n in range(len(q))]
        outs, weights = [], []
        for n in parts:
            mask = None if may_attend is None else may_attend[n]
            out, weight = self._ask(q[n], k[n], v[n], mask)
            outs.append(out if together else out[None])
            if weight is not None:
                weights.append(weight if together else weight[None])
        if weights:
            self.weights = torch.cat(weights).detach()
        ours, theirs, sizes = self._axes(-1)
        return rearrange(torch.cat(outs), f"{theirs} -> {ours}", **sizes)

    def _ask(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """One call, as the convention wants it: output and weights."""
        convention, ready = self.convention, {"mask": None}
        takes = convention.takes
        ours, theirs, sizes = self._axes(0)
        for what, x in zip("qkvx", (q, k, v, q), strict=True):
            x = rearrange(x, f"{ours} -> {theirs}", **sizes)
            ready[what] = x if "n" in convention.layout(0) else x[0]
        if mask is not None and self.takes_mask:
            mask = shaped(mask, self.mask_axes)
            ready["mask"] = spelled(mask, convention.mask, q.dtype)
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(convention.seed + self.noise)
            result = self.attention(
                *[ready[what] for name, what in takes if not name],
                **{name: ready[what] for name, what in takes if name},
            )
        several = isinstance(result, (tuple, list))
        results = result if several else [result]
        named = dict(zip(convention.gives, results, strict=False))
        return named["out"], named.get("weights")

    def _axes(self, place: int) -> tuple[str, str, dict[str, int]]:
        """Of what goes in (0) or comes out (-1): our axes, and its own."""
        layout = self.convention.layout(place)
        layout = layout if "n" in layout else f"n {layout}"
        if "h" not in layout:
            return "n l d", layout, {}
        return "n l (h d)", layout, {"h": self.convention.heads}

    def heads(self, x: Tensor) -> Tensor:
        """batch length width, seen as batch heads length d_head."""
        heads = self.convention.heads
        return rearrange(x, "n l (h d) -> n h l d", h=heads)

    # What it says about its weights.

    def returned_weights(self) -> Tensor:
        """Those of one call, if it returns any."""
        self.weights = None
        self(self.draw(2))
        if self.weights is None:
            raise NotOffered("it returns no weights, nor can they be read off")
        return self.weights.float()

    def fetched(self) -> tuple[Tensor, Tensor]:
        """What the returned weights fetch of the input, and the output.

        If the weights are right, the output is a linear function of what they
        fetch, whatever the projections are. There are three times as many
        rows as unknowns.
        """
        convention = self.convention
        if "weights" not in convention.gives:
            raise NotOffered("it returns no weights")
        rows = 3 * (convention.width * convention.heads + 1)
        x = self.draw(rows // (convention.length - 2) + 1)
        out = self(x, self.some_hidden(convention.length))
        weights = self.weights
        if weights is None:
            raise NotOffered("it returns no weights")
        if not (out.isfinite().all() and weights.isfinite().all()):
            raise NotOffered("the outputs are not numbers")
        if weights.ndim == 3:
            weights = weights[:, None]
        if weights.shape[1] != convention.heads:
            raise NotOffered("its weights are means over the heads")
        parts = torch.einsum("nhqk,nkd->nqhd", weights, x).flatten(2)
        ones = torch.ones(*parts.shape[:2], 1)
        table = torch.cat([parts, ones], dim=2)[:, :-2].flatten(0, 1)
        out = out.detach()[:, :-2].flatten(0, 1)
        return table.double(), out.double()

    # In which state it is.

    @contextmanager
    def changed(self, change: Callable[[nn.Module], object]) -> Iterator[None]:
        """A module after a change; whatever is done to it, it is undone."""
        modules = [] if self.module is None else list(self.module.modules())
        states = [(m, m.training, dict(m._buffers)) for m in modules]
        parts = [] if self.module is None else self.module.parameters()
        numbers = [(p, p.data.clone(), copy.deepcopy(p.grad)) for p in parts]
        try:
            if self.module is not None:
                change(self.module)
            yield
        finally:
            for parameter, data, grad in numbers:
                parameter.data, parameter.grad = data, grad
            for module, training, buffers in states:
                module.training = training
                module._buffers.update(buffers)

    def mode(self, training: bool) -> AbstractContextManager:
        if self.module is None and training:
            raise NotOffered("a function has no training mode")
        return self.changed(lambda module: module.train(training))

    def of_dtype(self, dtype: torch.dtype) -> AbstractContextManager:
        return self.changed(lambda module: module.to(dtype))

    @contextmanager
    def other_noise(self) -> Iterator[None]:
        """Whatever is drawn at random is drawn anew."""
        self.noise = 1
        try:
            yield
        finally:
            self.noise = 0

    @contextmanager
    def bare(self) -> Iterator[None]:
        """Without projections: each square matrix is the identity.

        One token alone must then come back as itself; if it does not, the
        values are changed on their way in a manner that is not known.
        """
        self.needs_projections_in_reach()
        if not self.has_projections:
            yield
            return
        with self.changed(_set_aside):
            token = self.draw(3, 1)
            if not torch.allclose(self(token), token, atol=1e-5):
                raise NotOffered("its projections cannot be set aside")
            yield


def _set_aside(module: nn.Module) -> None:
    """All parameters do nothing, but for those of tables and of norms."""
    for part in module.modules():
        kind = type(part).__name__.lower()
        if "embedding" not in kind and "norm" not in kind:
            for name, parameter in part.named_parameters(recurse=False):
                parameter.data = _identity(name, parameter.data)


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


def prepare(
    attention: Callable, call: str = Convention.call, **convention: object
) -> Probe:
    """A probe, and everything about its convention checked."""
    validate.functions(attention=attention)
    validate.options(convention, Convention)
    return Probe(attention, Convention(call=call, **convention))
