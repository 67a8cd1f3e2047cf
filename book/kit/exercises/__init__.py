"""Checks of the exercises: a short verdict and a fitting hint. Not taught.

    check("4.1", window_mask)

prints whether the answer is right, not started, or wrong and why. A chapter's
exercises are described in the module of its number; each description is a
function that raises `Wrong` at the first thing that does not fit. It knows
no solution: it compares with plain loops, with torch, or with what must hold.
"""

import os
import random
from collections.abc import Callable
from importlib import import_module

import torch

from kit.exercises.calls import stopped
from kit.exercises.contract import Exercise, exercise  # noqa: F401
from kit.exercises.draw import Draw
from kit.exercises.verdict import NotStarted, Wrong


def described(chapter: int) -> dict[int, Exercise]:
    """The exercises of a chapter by their number."""
    module = import_module(f"kit.exercises.chapter_{chapter:02}")
    found = [e for e in vars(module).values() if isinstance(e, Exercise)]
    return {e.number: e for e in sorted(found, key=lambda e: e.number)}


def find(number: str) -> Exercise:
    """The exercise with a number such as "4.1".

    Raises:
        ValueError: there is no such exercise.
    """
    try:
        chapter, place = map(int, number.split("."))
        return described(chapter)[place]
    except (AttributeError, KeyError, ModuleNotFoundError, ValueError):
        raise ValueError(
            "number: expected that of an exercise, such as '4.1', "
            f"got {number!r}"
        ) from None


def check(
    number: str,
    answer: Callable,
    *,
    variant: int = 0,
    seed: int | None = None,
) -> None:
    """Say in a line whether an answer is right, and if not, where to look.

    Inputs are drawn fresh at each call; `seed` repeats those of a verdict.
    Nothing is raised while reading. With `BOOK_STRICT=1` in the environment
    everything but a right answer raises.

    Args:
        number: of the exercise, such as "4.1".
        answer: the function or class that was asked for.
        variant: whose numbers the exercise has; 0 stands for the book's.
        seed: of the inputs.

    Raises:
        ValueError: there is no such exercise.
        Wrong: with `BOOK_STRICT=1`, the answer is not right.
    """
    asked = find(number)
    if seed is None:  # and the reader's own random numbers stay as they are
        seed = random.SystemRandom().randrange(10_000)
    try:
        remark = judge(asked, answer, Draw(seed, **asked.numbers(variant)))
    except Wrong as wrong:
        verdict = f"{number} {asked.name}: {wrong.hint}"
        if os.environ.get("BOOK_STRICT") == "1":
            raise type(wrong)(verdict, wrong.share) from None
        print(verdict)
    else:
        print(f"{number} {asked.name}: right. {remark}".rstrip())


def judge(asked: Exercise, answer: Callable, draw: Draw) -> str:
    """Raise what is wrong with an answer, whatever it does.

    Torch's random numbers go on afterwards as if nobody had asked.

    Returns:
        What is remarked on a right answer, often "".

    Raises:
        Wrong: the answer is not right.
    """
    state = torch.get_rng_state()
    try:
        return asked.examine(answer, draw) or ""
    except NotStarted:
        raise
    except Wrong as wrong:
        text = wrong.hint if wrong.share else f"not yet. {wrong.hint}"
        again = f" (seed={draw.seed})" if draw.drawn else ""
        raise Wrong(text + again, wrong.share) from None
    except NotImplementedError as error:
        # An operation that torch lacks raises the same error, with words.
        if error.args:
            raise Wrong(stopped(error)) from None
        raise NotStarted("not started.") from None
    except Exception as error:
        raise Wrong(stopped(error)) from None
    finally:
        torch.set_rng_state(state)
