"""Dtypes, and shapes in the words of the signatures."""

from collections.abc import Callable
from functools import wraps

import torch
from torch import Tensor

from .kinds import even, instance, integer, positive
from .refuse import expect, kind, shape, wrong, wrong_kind

NEVER_EMPTY = {"k_len": "at least one key", "d_head": "a width of at least 1"}
SOURCES = (
    "query: batch q_len d_model, key: batch k_len d_model, "
    "value: batch k_len d_model"
)
NOT_BROADCAST = "; nothing is broadcast"


def remembered(check: Callable) -> Callable:
    """Look once at arguments of the same shapes, dtypes, sizes and words.

    A healthy forward pass comes here often, with the same shapes again. What
    a compiler makes up as sizes is not kept.
    """
    fine = set()

    @wraps(check)
    def looked_at(*given, **named):
        if torch.compiler.is_compiling():
            check(*given, **named)
            return
        values = [signature(x) for x in (*given, *named.values())]
        known = (*named, *values)
        try:
            is_new = known not in fine
        except TypeError:  # the sizes of a tracer have no hash
            check(*given, **named)
            return
        if is_new:
            check(*given, **named)
            if len(fine) == 10_000:
                fine.clear()
            fine.add(known)

    looked_at.fine = fine
    return looked_at


def signature(x: object) -> object:
    """All that a remembered check may look at."""
    if isinstance(x, Tensor):
        return x.shape, x.dtype
    return x if type(x) in (int, str) else type(x)


def floating(**named: object) -> None:
    """Every argument is a real floating-point tensor, all of one dtype."""
    first = None
    for name, x in named.items():
        if not isinstance(x, Tensor):
            wrong_kind(name, "a tensor", kind(x))
        if not x.is_floating_point():
            got = f"{x.dtype}; convert it, for example with .float()"
            wrong_kind(name, "a floating-point tensor", got)
        if first is None:
            first, dtype = name, x.dtype
        elif x.dtype != dtype:
            wrong_kind(name, f"{dtype}, the dtype of {first}", x.dtype)


@remembered
def shapes(words: str, **named: object) -> None:
    """Floating-point tensors of one dtype, with the axes that `words` name.

    In "q: *lead q_len d_head, k: *lead k_len d_head" a word is an axis, and
    equal words are equal sizes. `*lead` stands for any number of axes, `...`
    for axes that are not compared. A number given by name is the size of its
    word, which must be the last. `k_len` and `d_head` are never 0.
    """
    tensors = [part.partition(":")[0].strip() for part in words.split(",")]
    floating(**{name: named[name] for name in tensors})
    axes(words, **named)


@remembered
def axes(words: str, **named: object) -> None:
    """As `shapes`, for tensors of whatever dtypes."""
    known = {}
    for part in words.split(","):
        name, _, rest = part.partition(":")
        name, (first, *own) = name.strip(), rest.split()
        lead = first.strip("*.") if first[0] in "*." else None
        own = own if lead is not None else [first, *own]
        x, width = named[name], named.get(own[-1])
        if width is not None and x.shape[-1:] != (width,):
            wrong(name, f"a last axis of width {width}", shape(x))
        compare(name, x, (lead, *own), known)


def compare(name: str, x: Tensor, words: tuple, known: dict) -> None:
    """Say what is wrong with the axes of one tensor, first things first.

    `known` remembers the size of each word and the tensor that had it first;
    the first word is that of all axes in front.
    """
    plain = ["length" if w.endswith("_len") else w for w in words[1:]]
    front = x.ndim - len(plain)
    least = "" if words[0] is None else "at least "
    rank = f"{least}{len(plain)} axes, ({', '.join(plain)})"
    if words[0] is None and front:
        wrong(name, rank, f"{x.ndim} ({shape(x)})")
    if "k_len" in words[:-1]:  # values stand beside keys
        wanted, _ = known.setdefault(words[:-1], (x.shape[:-1], name))
        if x.shape[:-1] != wanted:
            one = "one" if name == "value" else "one value"
            expected = f"{one} for each key, {tuple(wanted)}"
            wrong(name, expected, tuple(x.shape[:-1]))
    if front < 0:
        wrong(name, rank, f"{x.ndim} ({shape(x)})")
    sizes = tuple(x.shape[:front]), *x.shape[front:]
    for word, size in zip(words, sizes, strict=True):
        wanted, first = known.setdefault(word, (size, name))
        if size == 0 and word in NEVER_EMPTY:
            wrong(name, NEVER_EMPTY[word], f"none ({shape(x)})")
        if word and size != wanted:
            other_size(name, x, word, size, wanted, first)


def other_size(name, x, word, size, wanted, first: str) -> None:
    """Say that x is not like the tensor `first`."""
    if word.startswith("d_"):
        wrong(name, f"the width {wanted} of {first}", size)
    if isinstance(size, tuple):
        expected = f"the leading axes {wanted} of {first}"
        wrong(name, expected, f"{size}{NOT_BROADCAST}")
    owner = first if len(first) == 1 else f"the {first}"
    got = f"{size} ({shape(x)}){NOT_BROADCAST}"
    wrong(name, f"the {word} of {owner}, {wanted}", got)


def same_shape(name: str, tensor: object, x: Tensor) -> None:
    """A tensor of the shape of x."""
    instance(Tensor, **{name: tensor})
    if tensor.shape != x.shape:
        got = f"{shape(tensor)}{NOT_BROADCAST}"
        wrong(name, f"{shape(x)}, as x has", got)


def axis(dim: int, **named: Tensor) -> None:
    """`dim` names an axis of the tensor, and that axis is not empty."""
    ((name, tensor),) = named.items()
    integer("dim", dim)
    exists = -tensor.ndim <= dim < tensor.ndim
    expect(exists, "dim", f"an axis of {name} ({shape(tensor)})", dim)
    if tensor.shape[dim] == 0:
        expected = f"at least one entry along axis {dim}"
        wrong(name, expected, shape(tensor))


@remembered
def norm(x: object, weight: object, bias: object) -> None:
    """A gain and a bias for each entry of the last axis of x."""
    floating(x=x)
    floating(weight=weight, bias=bias)
    for name, row in (("weight", weight), ("bias", bias)):
        axes(f"{name}: d_model", **{name: row})
        axes("x: ... d_model", x=x, d_model=len(row))


def positions(x: object, offset: object, table: Tensor) -> None:
    """`table` has a row for each of the positions offset, offset + 1, ..."""
    shapes("x: ... length d_model", x=x, d_model=table.shape[1])
    integer("offset", offset, least=0)
    last, rows = offset + x.shape[-2], table.shape[0]
    if last > rows:
        got = f"{last} (offset {offset}, length {x.shape[-2]})"
        wrong("x", f"at most {rows} positions (max_length)", got)


def turnable(x: object, offset: object) -> None:
    """Queries or keys whose entries come in pairs."""
    shapes("x: ... length width", x=x)
    integer("offset", offset, least=0)
    even("the width of x", x.shape[-1])


def mergeable(x: object) -> None:
    """(batch, heads, length, d_head)."""
    shapes("x: batch heads length width", x=x)


@remembered
def splittable(x: object, heads: object) -> None:
    """(batch, length, d_model) with d_model a multiple of heads."""
    shapes("x: batch length d_model", x=x)
    positive(heads=heads)
    if x.shape[-1] % heads:
        wrong("x", f"a width that is a multiple of heads={heads}", shape(x))


def sources(query: object, key: object, value: object, d_model: int) -> None:
    """What attention reads: (batch, length, d_model), three times."""
    shapes(SOURCES, query=query, key=key, value=value, d_model=d_model)


def key_for(value: object, key: object) -> None:
    """Values come with their keys."""
    if value is not None and key is None:
        raise ValueError(
            "value: expected a key too, got a value alone; pass key=value to "
            "attend to the values themselves, key=query to ask the query"
        )


def memory(x: object, memory: object, d_model: int) -> None:
    """x and memory: (batch, length, d_model), of one batch and dtype."""
    words = "x: batch t_len d_model, memory: batch k_len d_model"
    shapes(words, x=x, memory=memory, d_model=d_model)


def same_batch(source: object, target: object) -> None:
    """One target for each source; what else may be wrong is seen later."""
    instance(Tensor, source=source, target=target)
    if source.ndim == target.ndim == 2:
        axes("source: batch s, target: batch t", source=source, target=target)
