"""The gallery of chapter 18: bugs that run, and what shows them.

Not taught. Each bug is a difference in `gallery.md`, beside this file: the
lines that were written (-), those that mend them (+) and those that both
have. Here stands, for each, how the number is found that tells the two apart.
What a page shows of a bug is what is run here: the lines are executed as they
stand.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib.attention import attention, attention_weights
from lib.diagnose.checks import PROPERTIES, diagnose, influence
from lib.masks import causal_mask
from lib.positions import sinusoidal_positions as sinusoids

TEXT = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Bug:
    """What was written, what was meant, and the number that shows it."""

    name: str
    family: str
    lines: str  # the difference
    facts: dict[str, str]  # what stands below it
    look: Callable[[Callable], float]

    @property
    def symptom(self) -> str:
        """What the number is."""
        return self.facts["Shows"]

    @property
    def limit(self) -> float:
        """A right number stays at or below it."""
        return float(self.facts.get("Limit", 1e-5))

    @property
    def wrong(self) -> str:
        return without("+", self.lines)

    @property
    def right(self) -> str:
        return without("-", self.lines)

    def number(self, lines: str) -> float:
        """What is seen of the function f that the lines define."""
        return float(torch.as_tensor(self.look(function(lines))).detach())


def without(mark: str, lines: str) -> str:
    """One side of a difference."""
    kept = [line[2:] for line in lines.splitlines() if line[:1] != mark]
    return "\n".join(kept)


def function(lines: str) -> Callable:
    """The function f that some lines define."""
    names = dict(NAMES)
    exec(lines, names)  # the lines above, nobody else's
    return names["f"]


class Seen:
    """The number of one property, as `diagnose` finds it."""

    def __init__(self, name: str, **convention: object):
        self.property, self.convention = name, convention

    def __call__(self, f: Callable) -> float:
        finding = diagnose(f, **self.convention)[self.property]
        if finding.seen is not None:
            return finding.seen
        return math.inf if finding.verdict == "fails" else 0.0


class Divisor(Seen):
    """What scores are divided by, where `diagnose` finds a factor."""

    def __call__(self, f: Callable) -> float:
        return 1 / super().__call__(f)


def drawn(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator)


def rotary(x: Tensor, place: Tensor, dtype: torch.dtype) -> Tensor:
    """Pairs of columns turned; the angles are computed in one dtype."""
    speed = 10_000 ** -(torch.arange(0, x.shape[-1], 2) / x.shape[-1]).double()
    angle = (place.to(dtype)[:, None] * speed.to(dtype)).double()
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


NAMES = {
    **{"F": F, "torch": torch, "nn": nn, "math": math, "inf": math.inf},
    **{"attention": attention, "weights_of": attention_weights},
    **{"sinusoids": sinusoids, "rotary": rotary, "drawn": drawn},
    "SimpleNamespace": SimpleNamespace,
}
HEADS = {"axes": "n h l d", "heads": 2}
ON_X = {"call": "x -> out", "mask": "none", "heads": 4, "width": 32}
ON_QKV = {"call": "q k v -> out", "mask": "none"}
ON_X_AND_MASK = {"call": "x mask -> out", "mask_axes": "n q k"}
CAUSAL = {"mask": "causal", "projections": False}


def accepted(f: Callable, *inputs: object) -> bool:
    """Does it run?"""
    try:
        f(*inputs)
    except Exception:
        return False
    return True


def moved_by_shift(f: Callable) -> Tensor:
    """Rotary attention depends on distances alone: what a shift changes."""
    q, k = drawn(8, 32).double(), drawn(8, 32, seed=1).double()
    place = torch.arange(8)
    return (f(q, k, place + 2000) - f(q, k, place)).abs().max()


def changed_by_padding(f: Callable) -> Tensor:
    """How far a loss moves if two more PADs are read."""
    logits, target = drawn(2, 5, 9), torch.tensor([[3, 4, 2], [5, 2, 0]])
    return (f(logits, F.pad(target, (0, 2))) - f(logits[:, :3], target)).abs()


def position_over_word(f: Callable) -> Tensor:
    """The norm of a position, where that of a word is 1."""
    words = f(drawn(9, 64) / 8, torch.arange(7))
    return sinusoids(7, 64).norm(dim=1).mean() / words.norm(dim=1).mean()


def smoothed(f: Callable) -> Tensor:
    """How far a smoothed loss is from torch's."""
    logits, target = drawn(3, 5), torch.tensor([0, 3, 1])
    right = F.cross_entropy(logits, target, label_smoothing=0.1)
    return (f(logits, target) - right).abs()


def from_mean(f: Callable) -> Tensor:
    """How far the loss of two parts is from that of the whole."""
    parts = [drawn(2), drawn(9, seed=1)]
    return (f(parts) - torch.cat(parts).mean()).abs()


def from_torch_norm(f: Callable) -> Tensor:
    x = drawn(4, 8)
    return (f(x) - F.layer_norm(x, (8,))).abs().max()


def lost_by_zeros(f: Callable) -> Tensor:
    """The share of x that is lost if the sub-layer gives zeros."""
    x = 10 * drawn(4, 8)
    return 1 - f(x, torch.zeros_like, nn.LayerNorm(8)).norm() / x.norm()


def from_whole_text(f: Callable) -> Tensor:
    """How far a token that is placed alone is from its row of the text."""
    whole = drawn(6, 8) + sinusoids(6, 8)
    return (f(drawn(6, 8)[5:], 5) - whole[5:]).abs().max()


def from_last_row(f: Callable) -> Tensor:
    """How far the answer to the last query is from the last row of all."""
    q, k, v = (drawn(6, 8, seed=seed) for seed in range(3))
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return (f(q[5:], k, v) - whole[5:]).abs().max()


def changed_by_the_future(f: Callable) -> Tensor:
    """How far rows 0 to 4 of the second map move with the last of 6 tokens."""
    x, mask = drawn(6, 8), causal_mask(6)[0, 0]
    other = torch.cat([x[:5], drawn(1, 8, seed=1)])
    return (f(x, mask)[1] - f(other, mask)[1])[:5].abs().max()


STEPS = {
    (): {"a": -0.6, "b": -0.9},
    ("a",): {".": -0.7, "c": -1.4},
    ("b",): {".": -1.2, "d": -0.8},
    ("a", "c"): {".": -2.0},
    ("b", "d"): {".": -0.2},
}
HEARING = Seen("mask polarity", **HEADS)
SUM_ONE = Seen("softmax axis", **HEADS)
MIXTURE = Seen("view or transpose", **ON_X)
LOOKS = {
    "the mask is inverted": HEARING,
    "the mask is made and thrown away": HEARING,
    "it hides the queries, not the keys": HEARING,
    "hidden scores become 0, not -inf": HEARING,
    "the mask comes after the softmax": Seen("mask before softmax", **HEADS),
    "a finite number hides": Seen("leak, evaluation", **HEADS),
    "the last PAD counts as a word": (
        lambda f: f(torch.tensor([3, 1]), 5).sum() - (3 + 1)
    ),
    "the triangle is off by one": lambda f: f(5).triu(1).sum(),
    "masks tiled in the wrong order": Seen(
        "padding invariance", projections=True, **ON_X_AND_MASK
    ),
    "an empty row becomes a mean": Seen("fully masked row", **HEADS),
    "the softmax runs over the queries": SUM_ONE,
    "the softmax runs over the heads": SUM_ONE,
    "the scale is forgotten": Seen("scale", **HEADS),
    "the scale of the whole width": Divisor("scale", width=64, **HEADS),
    "the softmax overflows": Seen("call", **HEADS),
    "view for transpose": MIXTURE,
    "the heads are merged without a transpose": MIXTURE,
    "a forgotten transpose": MIXTURE,
    "K.T on a tensor with a batch": Seen("call", **ON_QKV),
    "a fused projection of queries only": Seen(
        "cross lengths", projections=True, **ON_QKV
    ),
    "a mask of any shape is accepted": (
        lambda f: sum(accepted(f, side) for side in (2, 5, 7))
    ),
    "-1e9 in float16": Seen("half precision", **HEADS),
    "rotary angles in half precision": moved_by_shift,
    "dropout stays on in evaluation": Seen(
        "dropout off in evaluation", call="x -> out", **CAUSAL
    ),
    "the mask is used in training only": Seen(
        "leak, evaluation", call="x -> out", **CAUSAL
    ),
    "PAD counts in the loss": changed_by_padding,
    "the target is not shifted": (
        lambda f: torch.eq(*f(torch.arange(6)[None])).sum()
    ),
    "embeddings without sqrt(d_model)": position_over_word,
    "label smoothing over V - 1": smoothed,
    "a mean of means over uneven batches": from_mean,
    "LayerNorm with the unbiased deviation": from_torch_norm,
    "f(x) + LayerNorm(x)": lost_by_zeros,
    "a number where a configuration is expected": (
        lambda f: not accepted(f, SimpleNamespace(d_model=8))
    ),
    "every new token stands at place 0": from_whole_text,
    "is_causal with one query and many keys": from_last_row,
    "maps of another forward pass": Seen(
        "weights agree with output",
        call="q k v mask -> out weights",
        mask_axes="n q k",
    ),
    "maps of a stack that has lost its mask": changed_by_the_future,
    "a beam search that stops too early": lambda f: -1.9 / 3 - f(STEPS),
    "left padding moves the places": (
        lambda f: f(torch.tensor([[0, 0, 0, 1, 1, 1]]))[0, 3]
    ),
    "a block that takes no mask": Seen("mask polarity", **ON_X_AND_MASK),
    "an attribute that is never set": Seen(
        "leak, evaluation", call="q k v -> out", **CAUSAL
    ),
    "a misspelt method for 3-D masks": (
        lambda f: sum(not accepted(f, torch.ones([2] * n)) for n in (2, 3, 4))
    ),
    "a keyword that the constructor lacks": lambda f: not accepted(f),
}


def described() -> Iterator[Bug]:
    """The bugs of `gallery.md`, in its order."""
    for part in TEXT.split("\n## ")[1:]:
        family, *entries = part.split("\n### ")
        for entry in entries:
            name, _, text = entry.partition("\n\n```diff\n")
            lines, _, below = text.partition("```\n")
            facts = dict(
                line[2:].split(": ", 1) for line in below.split("\n") if line
            )
            yield Bug(name, family.strip(), lines, facts, LOOKS[name])


GALLERY = list(described())


def bug(name: str) -> Bug:
    """A bug of the gallery by its name."""
    return next(one for one in GALLERY if one.name == name)


def spread() -> tuple[list[str], list[str], list[set], list[set]]:
    """What `diagnose` says about the attentions of the gallery.

    Their names, the properties that fail for any of them, those that fail
    for each, and those to be mended first.
    """
    inside = [one for one in GALLERY if isinstance(one.look, Seen)]
    reports = [
        diagnose(function(one.wrong), **one.look.convention) for one in inside
    ]
    fails = [set(report.fails) for report in reports]
    names = [name for name in PROPERTIES if any(name in f for f in fails)]
    causes = [set(report.causes) for report in reports]
    return [one.name for one in inside], names, fails, causes


def listeners(length: int = 6) -> dict[str, Tensor]:
    """Who hears whom, in attentions that were all asked to be causal."""
    x, mask = drawn(1, length, 12), causal_mask(length)[0]
    right = bug("the mask is inverted").right
    one_off = "torch.ones_like(scores).tril(1) == 0"
    view = f"""def f(q, k, v, may_attend):
    q, k, v = (x.view(1, 3, {length}, 4) for x in (q, k, v))
    out = attention(q, k, v, may_attend)
    return out.transpose(1, 2).reshape(1, {length}, 12)
"""
    attentions = {
        "as it should be": right,
        "inverted": bug("the mask is inverted").wrong,
        "thrown away": bug("the mask is made and thrown away").wrong,
        "hides queries": bug("it hides the queries, not the keys").wrong,
        "off by one": right.replace("~may_attend", one_off),
        "after softmax": bug("the mask comes after the softmax").wrong,
        "softmax on queries": bug("the softmax runs over the queries").wrong,
        "view, not transpose": view,
    }

    def heard(lines: str) -> Tensor:
        f = function(lines)
        return influence(lambda x, m: f(x, x, x, m).nan_to_num(), x, mask)

    return {name: heard(lines) for name, lines in attentions.items()}
