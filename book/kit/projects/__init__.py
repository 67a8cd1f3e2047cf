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

import torch

from kit.exercises import NotStarted, Wrong, stopped
from kit.exercises.draw import Draw

NUMERALS = {"1": "I", "2": "II", "3": "III", "4": "IV", "5": "V"}
SEED = 0  # the same inputs for everybody: points must not be luck


@dataclass(frozen=True)
class Requirement:
    """What a structure must do, and the points for it."""

    sentence: str
    points: int
    test: Callable


def requires(points: int) -> Callable[[Callable], Requirement]:
    """Make a requirement of a function; its docstring is the sentence."""
    return lambda test: Requirement(test.__doc__.strip(), points, test)


@dataclass(frozen=True)
class Result:
    """Whether a requirement is met, and what to do if it is not."""

    requirement: Requirement
    hint: str = ""

    @property
    def points(self) -> int:
        return 0 if self.hint else self.requirement.points


@dataclass(frozen=True)
class Project:
    """An interface and its requirements."""

    number: str
    title: str
    interface: type
    requirements: tuple[Requirement, ...]


def project(number: int | str) -> Project:
    """A project by its number, 1 to 5.

    Raises:
        ValueError: there is no such project.
    """
    if str(number) not in NUMERALS:
        raise ValueError(
            f"number: expected a project, 1 to {len(NUMERALS)}, got {number!r}"
        )
    module = import_module(f"kit.projects.project_{number}")
    found = [r for r in vars(module).values() if isinstance(r, Requirement)]
    title = module.__doc__.partition(".")[0].partition(": ")[2]
    return Project(str(number), title, module.INTERFACE, tuple(found))


def examine(number: int | str, made: type) -> list[Result]:
    """Try all requirements on a class, and print what it earns.

    Args:
        number: of the project, 1 to 5.
        made: the class that was written for its interface.

    Raises:
        ValueError: there is no such project.
    """
    asked = project(number)
    results = [tried(requirement, made) for requirement in asked.requirements]
    print(f"Project {NUMERALS[asked.number]}: {asked.title}")
    for result in results:
        most = result.requirement.points
        print(f"{result.points:4} of {most:2}  {result.requirement.sentence}")
        if result.hint:
            print(f"            {result.hint}")
    earned = sum(result.points for result in results)
    print(f"{earned:4} of {sum(r.points for r in asked.requirements)}")
    return results


def tried(requirement: Requirement, made: type) -> Result:
    """The result of one requirement, whatever the code does."""
    state = torch.get_rng_state()
    try:
        requirement.test(made, Draw(SEED))
    except NotStarted:
        return Result(requirement, "not started.")
    except Wrong as wrong:
        return Result(requirement, wrong.hint)
    except Exception as error:
        is_stub = isinstance(error, NotImplementedError) and not error.args
        return Result(
            requirement, "not started." if is_stub else stopped(error)
        )
    finally:
        torch.set_rng_state(state)
    return Result(requirement)


def load(path: Path, name: str) -> type:
    """A class from somebody's file.

    Raises:
        ValueError: the file has no such class.
    """
    spec = importlib.util.spec_from_file_location("mine", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["mine"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    if not isinstance(getattr(module, name, None), type):
        raise ValueError(f"{path}: expected a class {name}")
    return getattr(module, name)
