"""What the descriptions of exercises say often. Not taught.

Each function raises `Wrong` with a hint unless what it is named for holds.
"""

import inspect
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from kit.exercises.verdict import NotStarted, Wrong


def that(condition: object, hint: str) -> None:
    """A condition holds; of a tensor, everywhere."""
    if isinstance(condition, Tensor):
        condition = condition.all().item()
    if not condition:
        raise Wrong(hint)


def tensor(
    got: object,
    shape: tuple[int, ...] | None = None,
    dtype: torch.dtype | None = None,
    what: str = "your answer",
) -> None:
    """A tensor came back, of a shape and a type."""
    if not isinstance(got, Tensor):
        raise Wrong(f"{what} is {a(got)}, not a tensor.")
    if shape is not None and tuple(got.shape) != tuple(shape):
        raise Wrong(
            f"{what} has the shape {tuple(got.shape)}, not {tuple(shape)}."
        )
    if dtype is not None and got.dtype != dtype:
        names = [str(t).removeprefix("torch.") for t in (got.dtype, dtype)]
        raise Wrong(f"{what} holds {names[0]}, not {names[1]}.")


def same(got: object, expected: object, tolerance: float = 1e-5) -> bool:
    """Are two values the same, numbers up to rounding?

    Tensors of another shape or kind of number are not the same; a list or a
    number may stand for a tensor in `expected`.
    """
    if isinstance(got, Tensor):
        if not isinstance(expected, Tensor):
            expected = torch.tensor(expected, dtype=got.dtype)
        if got.shape != expected.shape:
            return False
        kinds = {t.dtype.is_floating_point for t in (got, expected)}
        if len(kinds) > 1 or (got.dtype == torch.bool) != (
            expected.dtype == torch.bool
        ):
            return False
        pair = (t.detach().cpu().double() for t in (got, expected))
        return torch.allclose(
            *pair, rtol=tolerance, atol=tolerance, equal_nan=True
        )
    if isinstance(got, float) and isinstance(expected, int | float):
        return math.isclose(
            got, expected, rel_tol=tolerance, abs_tol=tolerance
        )
    if isinstance(got, list | tuple) and isinstance(expected, list | tuple):
        return (
            type(got) is type(expected)
            and len(got) == len(expected)
            and all(
                same(*pair, tolerance)
                for pair in zip(got, expected, strict=True)
            )
        )
    return type(got) is type(expected) and bool(got == expected)


def close(
    got: object,
    expected: object,
    hint: str,
    mistakes: Iterable[tuple[object, str]] = (),
    tolerance: float = 1e-5,
) -> None:
    """An answer has the expected value.

    `mistakes` are the values that known mistakes give, each with its hint:
    the one that fits is said instead of the general hint.
    """
    if isinstance(expected, Tensor):
        tensor(got)
    if same(got, expected, tolerance):
        return
    for value, fitting in mistakes:
        if same(got, value, tolerance):
            raise Wrong(fitting)
    if isinstance(expected, Tensor):
        tensor(got, tuple(expected.shape))
    raise Wrong(hint)


@contextmanager
def stops(
    hint: str, errors: tuple[type[Exception], ...] = (Exception,)
) -> Iterator[None]:
    """Should the answer stop here with such an error, this is the hint."""
    try:
        yield
    except Wrong:
        raise
    except NotImplementedError as error:
        if not error.args:
            raise NotStarted("not started.") from None
        raise
    except errors:
        raise Wrong(hint) from None


def refusal(
    hint: str, call: Callable[[], Any], *errors: type[Exception]
) -> None:
    """A call must raise one of the errors."""
    try:
        call()
    except errors:
        return
    raise Wrong(hint)


def beside(answer: Callable, name: str) -> Any:
    """What a name means where the answer was written; None if nothing."""
    answer = inspect.unwrap(getattr(answer, "func", answer))  # of a partial
    if not hasattr(answer, "__globals__"):
        answer = type(answer).__call__
    return getattr(answer, "__globals__", {}).get(name)


def a(value: object) -> str:
    """What kind of thing something is: "a list", "an int"."""
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def plural(number: int, what: str) -> str:
    """A number of things: "1 row", "3 rows"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def kills_mutants(
    examine: Callable[[Callable], Any],
    right: Mapping[str, Callable],
    wrong: Mapping[str, Callable],
    lots: random.Random,
) -> None:
    """The reader's own check finds all wrong implementations, and no other.

    `examine` is given one implementation and raises if it finds it wrong.
    Both mappings go by what an implementation does: "divides by d_head".
    """
    missed, tried = [], [*right.items(), *wrong.items()]
    lots.shuffle(tried)  # or somebody counts, and looks at none
    tried += right.items()  # the verdict on a right one is the same again
    for does, implementation in tried:
        try:
            examine(implementation)
        except NotImplementedError as error:
            if not error.args:
                raise
            if does in right:
                raise Wrong(f"it refuses a right one, that {does}.") from None
        except Exception as error:
            if does not in right:
                continue
            # PyTorch counts what differs below: by processors, in the last bit
            words = str(error).strip().partition("\n")[0][:80]
            what = f"{type(error).__name__}: {words}".strip(": ")
            raise Wrong(
                f"it refuses a right one, that {does} ({what})."
            ) from None
        else:
            missed += [does] * (does in wrong)
    if missed:
        found = len(wrong) - len(missed)
        raise Wrong(
            f"finds {found} of {len(wrong)} wrong ones. One that it lets "
            f"pass {min(missed, key=[*wrong].index)}.",
            share=found / len(wrong),
        )
