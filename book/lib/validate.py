"""Argument checks, one line at the place of use.

Not taught. A taught definition calls these first, so that it can read as its
formula. Every message names the argument, what was expected and what came.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

ANY_ID = torch.iinfo(torch.int64).max


def shape(tensor: Tensor) -> str:
    return f"shape {tuple(tensor.shape)}"


def tensors(**named: object) -> None:
    """Every argument is a tensor."""
    for name, value in named.items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name}: expected a tensor, got {type(value).__name__}"
            )


def floating(**named: object) -> None:
    """Every argument is a real floating-point tensor, all of one dtype."""
    tensors(**named)
    (first, one), *others = named.items()
    for name, tensor in named.items():
        if not tensor.is_floating_point():
            raise TypeError(
                f"{name}: expected a floating-point tensor, got "
                f"{tensor.dtype}; convert it, for example with .float()"
            )
    for name, tensor in others:
        if tensor.dtype != one.dtype:
            raise TypeError(
                f"{name}: expected {one.dtype}, the dtype of {first}, got "
                f"{tensor.dtype}"
            )


def rank_at_least(rank: int, **named: Tensor) -> None:
    """Every tensor has at least `rank` axes."""
    for name, tensor in named.items():
        if tensor.ndim < rank:
            raise ValueError(
                f"{name}: expected at least {rank} axes, got {tensor.ndim} "
                f"({shape(tensor)})"
            )


def axis(dim: int, **named: Tensor) -> None:
    """`dim` names an axis of the tensor, and that axis is not empty."""
    ((name, tensor),) = named.items()
    integer("dim", dim)
    if not -tensor.ndim <= dim < tensor.ndim:
        raise ValueError(
            f"dim: expected an axis of {name} ({shape(tensor)}), got {dim}"
        )
    if tensor.shape[dim] == 0:
        raise ValueError(
            f"{name}: expected at least one entry along axis {dim}, got "
            f"{shape(tensor)}"
        )


def integer(name: str, value: object, least: int | None = None) -> None:
    """A Python integer, not a bool, not below `least`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(
            f"{name}: expected an integer, got {type(value).__name__}"
        )
    if least is not None and value < least:
        raise ValueError(f"{name}: expected at least {least}, got {value}")


def positive(**named: object) -> None:
    """Every argument is a positive integer."""
    for name, value in named.items():
        integer(name, value, least=1)


def row_or_none(name: str, value: object, rows: int) -> None:
    """None, or the index of a row."""
    if value is None:
        return
    integer(name, value, least=0)
    if value >= rows:
        raise ValueError(f"{name}: expected at most {rows - 1}, got {value}")


def probability(name: str, value: object) -> None:
    """A number from 0 up to, but not including, 1."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(
            f"{name}: expected a number, got {type(value).__name__}"
        )
    if not 0 <= value < 1:
        raise ValueError(f"{name}: expected 0 <= {name} < 1, got {value}")


def token_ids(ids: object, vocab_size: int, name: str = "ids") -> None:
    """An integer tensor with entries in 0 .. vocab_size - 1.

    The range is not looked at while torch compiles or exports, because that
    would need the values.
    """
    tensors(**{name: ids})
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(
            f"{name}: expected an integer tensor (int64 or int32), got "
            f"{ids.dtype}"
        )
    if torch.compiler.is_compiling() or ids.numel() == 0:
        return
    low, high = (bound.item() for bound in ids.aminmax())
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise ValueError(
            f"{name}: expected ids from 0 to {vocab_size - 1}, got {wrong}"
        )


def id_list(ids: Iterable, size: int, name: str = "ids") -> list[int]:
    """The ids as a list of Python integers in 0 .. size - 1."""
    if isinstance(ids, Tensor):
        token_ids(ids, size, name)
        if ids.ndim != 1:
            raise ValueError(f"{name}: expected one axis, got {shape(ids)}")
        return ids.tolist()
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise TypeError(
            f"{name}: expected a list or tensor of integers, got "
            f"{type(ids).__name__}"
        )
    ids = list(ids)
    for i in ids:
        integer(name, i)
        if not 0 <= i < size:
            raise ValueError(
                f"{name}: expected ids from 0 to {size - 1}, got {i}"
            )
    return ids


def string(**named: object) -> None:
    """Every argument is a string."""
    for name, value in named.items():
        if not isinstance(value, str):
            raise TypeError(
                f"{name}: expected a string, got {type(value).__name__}"
            )


def booleans(**named: object) -> None:
    """Every argument is True or False."""
    for name, value in named.items():
        if not isinstance(value, bool):
            raise TypeError(
                f"{name}: expected True or False, got {type(value).__name__}"
            )


def functions(**named: object) -> None:
    """Every argument can be called."""
    for name, value in named.items():
        if not callable(value):
            raise TypeError(
                f"{name}: expected a function, got {type(value).__name__}"
            )


def texts(items: object, name: str = "texts") -> list[str]:
    """A collection of strings, but not one string, as a list."""
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise TypeError(
            f"{name}: expected a list of strings, got {type(items).__name__}"
        )
    items = list(items)
    for item in items:
        string(**{f"an item of {name}": item})
    return items


def ordinary_tokens(tokens: object, specials: tuple[str, ...]) -> set[str]:
    """The different tokens; none is empty or spelled like a special one."""
    tokens = set(texts(tokens, "tokens"))
    for token in ("", *specials):
        if token in tokens:
            raise ValueError(
                "tokens: expected none to be empty or one of "
                f"{', '.join(specials)}, got {token!r}"
            )
    return tokens


def sequences(rows: object) -> list[list[int]]:
    """At least one sequence of ids (lists or 1-D tensors), as lists."""
    if isinstance(rows, (str, Tensor)) or not isinstance(rows, Iterable):
        raise TypeError(
            f"sequences: expected a list of id lists, got "
            f"{type(rows).__name__}"
        )
    rows = [id_list(row, ANY_ID, "an item of sequences") for row in rows]
    if not rows:
        raise ValueError("sequences: expected at least one, got none")
    return rows


def attention_operands(q: object, k: object) -> None:
    """Queries and keys fit together: dtype, leading axes and width."""
    floating(q=q, k=k)
    rank_at_least(2, q=q, k=k)
    if q.shape[:-2] != k.shape[:-2]:
        raise ValueError(
            f"k: expected the leading axes {tuple(q.shape[:-2])} of q, got "
            f"{tuple(k.shape[:-2])}; nothing is broadcast"
        )
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"k: expected the width {q.shape[-1]} of q, got {k.shape[-1]}"
        )
    if q.shape[-1] == 0:
        raise ValueError("q: expected a width of at least 1, got 0")
    if k.shape[-2] == 0:
        raise ValueError("k: expected at least one key, got none")


def values(k: Tensor, v: object) -> None:
    """There is one value for each key."""
    floating(k=k, v=v)
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            f"v: expected one value for each key, {tuple(k.shape[:-1])}, got "
            f"{tuple(v.shape[:-1])}"
        )


def mask(may_attend: object, scores: Tensor) -> None:
    """A boolean mask, True = may attend, that broadcasts to the scores."""
    if may_attend is None:
        return
    tensors(may_attend=may_attend)
    if may_attend.dtype != torch.bool:
        raise TypeError(
            "may_attend: expected a boolean tensor, True = may attend, got "
            f"{may_attend.dtype}; make it boolean, for example with == 1"
        )
    try:
        together = torch.broadcast_shapes(may_attend.shape, scores.shape)
    except RuntimeError:
        together = None
    if together != scores.shape:
        raise ValueError(
            "may_attend: expected a shape that broadcasts to the scores, "
            f"{tuple(scores.shape)}, got {tuple(may_attend.shape)}"
        )
