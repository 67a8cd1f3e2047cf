"""Projects: a structure of your own, called through an adapter. Not taught.

    python -m kit.projects 1 mine.py

A project names an interface in plain Python: lists of numbers go in and come
out, so that anything may be inside, PyTorch, NumPy or none of them. Its
requirements are run one by one, each with its points and, where it is not
met, a hint. What a machine cannot judge stands in the rubric of the project.
"""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from kit.exercises import NotStarted, Wrong, expect, stopped
from kit.exercises.draw import Draw

NUMERALS = {"1": "I", "2": "II", "3": "III", "4": "IV", "5": "V"}
SEED = 0  # the same inputs for everybody: points must not be luck


@dataclass(frozen=True)
class Requirement:
    """What a structure must do, and the points for it."""

    sentence: str
    points: int
    test: Callable

    def hint(self, made: type) -> str:
        """What a class lacks; empty if it meets this, whatever its code."""
        state = torch.get_rng_state()
        try:
            self.test(made, Draw(SEED))
        except Wrong as wrong:
            return wrong.hint
        except Exception as error:
            is_stub = isinstance(error, NotImplementedError) and not error.args
            if is_stub or isinstance(error, NotStarted):
                return "not started."
            return stopped(error)
        finally:
            torch.set_rng_state(state)
        return ""


def requires(points: int) -> Callable[[Callable], Requirement]:
    """Make a requirement of a function; its docstring is the sentence."""
    return lambda test: Requirement(test.__doc__.strip(), points, test)


class Judged:
    """Tensors outside, somebody's structure of plain lists inside.

    Called, it gives what `mine` answers; beside it stands a `judge`.
    """

    def check(self, hint: str, *inputs: object, mistakes=()) -> None:
        """It answers what the judge does; `mistakes` as in `expect`."""
        expect.close(self(*inputs), self.judge(*inputs), hint, mistakes)


def numbers(draw: Draw, *shape: int) -> Tensor:
    """Drawn numbers in double precision, which lists of Python have."""
    return draw.normal(*shape, dtype=torch.float64).cpu()


def tensor(answer: object, call: str) -> Tensor:
    """What a structure answered when it was called."""
    expect.that(
        isinstance(answer, list),
        f"{call} gives a {type(answer).__name__}, not a list of numbers.",
    )
    return torch.tensor(answer, dtype=torch.float64)


def project(number: int | str) -> ModuleType:
    """A project by its number, 1 to 5."""
    if str(number) not in NUMERALS:
        raise ValueError(
            f"number: expected a project, 1 to {len(NUMERALS)}, got {number!r}"
        )
    return import_module(f"kit.projects.project_{number}")


def requirements(number: int | str) -> list[Requirement]:
    """What a project asks for, in its order."""
    parts = vars(project(number)).values()
    return [part for part in parts if isinstance(part, Requirement)]


def examine(number: int | str, made: type) -> int:
    """Try all requirements on a class, and print what it earns.

    Args:
        number: of the project, 1 to 5.
        made: the class that was written for its interface.

    Returns:
        Its points.
    """
    title = project(number).__doc__.partition(".")[0].partition(": ")[2]
    print(f"Project {NUMERALS[str(number)]}: {title}")
    earned, asked = 0, requirements(number)
    for one in asked:
        hint = one.hint(made)
        points = 0 if hint else one.points
        print(f"{points:4} of {one.points:2}  {one.sentence}")
        if hint:
            print(f"            {hint}")
        earned += points
    print(f"{earned:4} of {sum(one.points for one in asked)}")
    return earned


def load(path: Path, name: str) -> type:
    """A class from somebody's file."""
    spec = importlib.util.spec_from_file_location("mine", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mine"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    if not isinstance(getattr(module, name, None), type):
        raise ValueError(f"{path}: expected a class {name}")
    return getattr(module, name)
