"""What `lib.diagnose` has found out, in a number and in words.

Not taught. The words for each property stand here, so that a check on the
page is one question and one number.
"""

import textwrap
from dataclasses import dataclass

import torch
from torch import Tensor

LEAKS = ("leak, training", "leak, evaluation")
# What is said if a property holds, and if it fails.
WORDS = {
    "call": ("it runs, and the shapes are right", "it cannot be called so"),
    "mask polarity": (
        "what is hidden is not heard, what is shown is heard",
        "some hidden tokens are heard, or some shown ones are not",
    ),
    "mask before softmax": (
        "hiding tokens is the same as leaving them out",
        "hiding tokens is not the same as leaving them out: they still count "
        "in the sum under the softmax",
    ),
    "softmax axis": (
        "the weights of each query sum to one",
        "the weights of a query do not sum to one: the softmax runs over "
        "another axis than the keys",
    ),
    "fully masked row": (
        "a query without a key gets nothing of the hidden values",
        "a query without a key gets a mean of the hidden values",
    ),
    "fully masked row, gradient": (
        "it leaves the gradients of the others alone",
        "it changes the gradients of the others",
    ),
    **dict.fromkeys(
        LEAKS,
        (
            "another future changes nothing before it",
            "another future changes the outputs before it",
        ),
    ),
    "padding invariance": (
        "a sentence gives the same alone and padded in a batch",
        "a sentence gives something else when it stands padded in a batch",
    ),
    "half precision": (
        "float16 and bfloat16 give the same, but for their rounding",
        "float16 or bfloat16 gives something else",
    ),
    "view or transpose": (
        "each head's output is a mixture of that head's values",
        "the output is no mixture of the values, head by head: heads and "
        "tokens are mixed up (view for transpose), or values are not mixed",
    ),
    "weights agree with output": (
        "the output is what the returned weights fetch",
        "the output is not what the returned weights fetch",
    ),
    "dropout off in evaluation": (
        "two evaluations of one input are equal",
        "two evaluations of one input differ: dropout is still on",
    ),
    "permutation equivariance": (
        "tokens in another order give the same outputs in that order",
        "the order of the tokens matters: there are positions inside (then "
        "say positions=True), or heads and tokens are mixed up",
    ),
    "cross lengths": (
        "queries and keys may differ in number",
        "it does not attend to keys and values other than its queries",
    ),
}
# Asked first, because much follows from it.
FIRST = (
    *("call", "dropout off in evaluation", "view or transpose"),
    *("softmax axis", "mask polarity", "mask before softmax", *LEAKS),
)


class NotOffered(Exception):
    """A property that this attention has no way to show, and why."""


@dataclass(frozen=True)
class Finding:
    """What was seen of one property, as a number and in words."""

    name: str
    verdict: str  # holds, fails, note, not offered
    seen: float | None
    words: str

    def __str__(self) -> str:
        seen = "" if self.seen is None else f"{self.seen:.4f}"
        head = f"{self.name:26}  {self.verdict:11} {seen:>9}"
        if self.verdict == "holds":
            return head
        words = textwrap.wrap(self.words, 73)
        return "\n".join([head.rstrip(), *(f"    {line}" for line in words)])


@dataclass(frozen=True)
class Report:
    """One finding for each property."""

    findings: tuple[Finding, ...]

    def __getitem__(self, name: str) -> Finding:
        return next(one for one in self.findings if one.name == name)

    @property
    def fails(self) -> tuple[str, ...]:
        """The properties that do not hold."""
        return tuple(f.name for f in self.findings if f.verdict == "fails")

    @property
    def causes(self) -> tuple[str, ...]:
        """What to mend first: the other failures may follow from it."""
        failing = self.fails
        leaks = [name for name in LEAKS if name in failing]
        both = self[LEAKS[0]].verdict != "not offered"
        if len(leaks) == 1 and both:  # a mask in one of the modes only
            return tuple(leaks)
        first = [name for name in FIRST if name in failing]
        return tuple(first[:1]) or failing

    def __str__(self) -> str:
        lines = [str(one) for one in self.findings]
        cause = ", ".join(self.causes) or "nothing; no known bug was seen"
        return "\n".join([*lines, f"to mend first: {cause}"])


def judge(
    name: str, seen: float | int | Tensor, limit: float | int, words: str = ""
) -> Finding:
    """A property holds if the number seen is at most its limit."""
    seen = float(torch.as_tensor(seen).detach())
    if seen != seen:
        return not_offered(name, "the outputs are not numbers")
    holds = seen <= limit
    message = words or WORDS[name][0 if holds else 1]
    return Finding(name, "holds" if holds else "fails", seen, message)


def fails(name: str, words: str, seen: float | None = None) -> Finding:
    return Finding(name, "fails", seen, words)


def note(name: str, words: str, seen: float | None = None) -> Finding:
    return Finding(name, "note", seen, words)


def not_offered(name: str, why: str) -> Finding:
    return Finding(name, "not offered", None, why)


def message(error: Exception) -> str:
    """The name of an error, and the first line of what it says."""
    first = (str(error).strip() or "no message").splitlines()[0]
    return f"raises {type(error).__name__}: {first[:90]}"


def raised(name: str, error: Exception) -> Finding:
    """An exception inside is a finding, too."""
    if isinstance(error, NotOffered):
        return not_offered(name, str(error))
    return fails(name, message(error))


def hearing(found: Tensor, asked: Tensor) -> tuple[float, str]:
    """The share of pairs that are wrong, and what kind of mask does that."""
    off = ~torch.eye(*asked.shape, dtype=torch.bool)
    wrong = ((found != asked) & off).sum().item() / off.sum().item()
    if not wrong:
        alone = asked.diagonal() & (asked.sum(1) == 1)  # its own only key
        shifted = (alone & ~found.diagonal()).any()
        words = "a token does not hear itself: the mask is off by one"
        return (1.0, words) if shifted else (0.0, "")
    kinds = {
        "the mask is inverted: just what it hides is heard": ~asked,
        "the mask hides nothing": torch.ones_like(asked),
        "nothing is heard at all": torch.zeros_like(asked),
    }
    if len(asked) == asked.shape[1]:
        kinds["it is transposed: queries are hidden, not keys"] = asked.mT
    for words, table in kinds.items():
        if ((found == table) | ~off).all():
            return wrong, words
    return wrong, ""


def factor(seen: float, d_head: int, width: int) -> str:
    """What scales the scores; if that has a name, this and its own size.

    What is measured differs a little from processor to processor.
    """
    names = {
        "no scale at all": 1.0,
        "1/sqrt(d_head)": d_head**-0.5,
        "1/sqrt(d_model)": width**-0.5,
        "1/d_head": 1 / d_head,
        "multiplied by sqrt(d_head)": d_head**0.5,
    }
    known = [n for n, size in names.items() if abs(seen / size - 1) < 0.01]
    words = "the scores are multiplied by "
    if not known:
        return f"{words}{seen:.4f}"
    name = known[-1] if d_head == width else known[0]
    return f"{words}{names[name]:.4f} ({name})"
