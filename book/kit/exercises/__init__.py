"""Checks of the exercises: a short verdict and a fitting hint. Not taught.

    check("4.1", window_mask)

prints whether the answer is right, not started, or wrong and why. A chapter's
exercises are described in the module of its number; each description is a
function that raises `Wrong` at the first thing that does not fit. It knows
no solution: it compares with plain loops, with torch, or with what must hold.
"""

import os
import random
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import torch

from kit.exercises.calls import is_theirs
from kit.exercises.draw import Draw
from kit.exercises.verdict import NotStarted, Wrong


@dataclass(frozen=True)
class Exercise:
    """What is asked, without a solution.

    `given` holds for each name the values that a student may get; the first
    are the book's.
    """

    number: int
    name: str
    examine: Callable
    given: dict[str, tuple]

    def numbers(self, variant: int) -> dict:
        """What a variant of the exercise is given; 0 is the book's."""
        if variant == 0:
            return {name: values[0] for name, values in self.given.items()}
        lot = random.Random(f"{self.name} {variant}")
        return {name: lot.choice(v) for name, v in self.given.items()}


def exercise(number: int, **given: tuple) -> Callable[[Callable], Exercise]:
    """Register a description: `@exercise(2)` is the second of its chapter.

    Further arguments name numbers or words that stand in the task, each with
    the tuple of its possible values.
    """
    return lambda examine: Exercise(number, examine.__name__, examine, given)


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
        judge(asked, answer, Draw(seed, **asked.numbers(variant)))
    except Wrong as wrong:
        verdict = f"{number} {asked.name}: {wrong.hint}"
        if os.environ.get("BOOK_STRICT") == "1":
            raise type(wrong)(verdict, wrong.share) from None
        print(verdict)
    else:
        print(f"{number} {asked.name}: right.")


def judge(asked: Exercise, answer: Callable, draw: Draw) -> None:
    """Raise what is wrong with an answer, whatever it does.

    Torch's random numbers go on afterwards as if nobody had asked.

    Raises:
        Wrong: the answer is not right.
    """
    state = torch.get_rng_state()
    try:
        asked.examine(answer, draw)
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


def stopped(error: Exception) -> str:
    """In a line: how and where somebody's code stopped."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if is_theirs(f.filename)] or frames
    what = " ".join(str(error).split())
    if len(what) > 160:
        what = f"{what[:159]}…"
    where = f"line {theirs[-1].lineno} of {theirs[-1].name}"
    return f"your code stops with {type(error).__name__}: {what} ({where})"
