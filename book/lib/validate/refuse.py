"""What a message says: the argument, what was expected, and what came."""

from typing import NoReturn

from torch import Tensor


def wrong(name: str, expected: object, got: object) -> NoReturn:
    raise ValueError(f"{name}: expected {expected}, got {got}")


def wrong_kind(name: str, expected: object, got: object) -> NoReturn:
    raise TypeError(f"{name}: expected {expected}, got {got}")


def expect(fine: object, name: str, expected: object, got: object) -> None:
    """As `wrong`, unless all is fine.

    The texts are made either way, which is no place for the sizes of tensors:
    while torch compiles they cannot be written down.
    """
    if not fine:
        wrong(name, expected, got)


def kind(value: object) -> str:
    return type(value).__name__


def shape(tensor: Tensor) -> str:
    return f"shape {tuple(tensor.shape)}"
