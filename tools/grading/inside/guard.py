"""Who replaced what: the parts that a check relies on, before and after.

An answer and its check share a process, so an answer can replace
`torch.equal`, or `check` itself. What has been replaced is noticed here, and
put back.
"""

import sys
import types
from collections.abc import Iterator

import torch

WATCHED = ("lib", "kit", "torch.testing")  # with all that they contain
ALSO = (
    "builtins",
    "inspect",
    "math",
    "random",
    "torch",
    "torch.nn.functional",
)
HARNESS = "kit.exercises"
RESTLESS = {"builtins": ("_",)}  # what a shell changes at each cell


def is_within(name: str, whole: str) -> bool:
    return name == whole or name.startswith(f"{whole}.")


def is_watched(name: str) -> bool:
    return name in ALSO or any(is_within(name, whole) for whole in WATCHED)


class Guard:
    """Remembers the watched modules, and what the harness is made of."""

    def __init__(self) -> None:
        self.modules = {
            name: module
            for name, module in list(sys.modules.items())
            if is_watched(name) and module is not None
        }
        owners = {**self.modules, "torch.Tensor": torch.Tensor}
        for name, module in self.modules.items():
            if is_within(name, HARNESS):
                owners |= parts(name, module)
        self.owned = [(n, o, dict(vars(o))) for n, o in owners.items()]
        self.inner = [
            (f"{name}.{f.__name__}", f, f.__code__, f.__defaults__)
            for name, owner in owners.items()
            if is_within(name, HARNESS)
            for f in vars(owner).values()
            if isinstance(f, types.FunctionType)
        ]

    def mend(self) -> list[str]:
        """Put back what was replaced; returns the names of it."""
        mended = [*self.mend_modules(), *self.mend_names(), *self.mend_code()]
        return sorted(set(mended))

    def mend_modules(self) -> Iterator[str]:
        for name, module in self.modules.items():
            if sys.modules.get(name) is not module:
                sys.modules[name] = module
                yield name

    def mend_names(self) -> Iterator[str]:
        for owner_name, owner, before in self.owned:
            now = dict(vars(owner))
            for name, value in before.items():
                is_restless = name in RESTLESS.get(owner_name, ())
                if now.get(name, self) is not value and not is_restless:
                    if put_back(owner, name, value):
                        yield f"{owner_name}.{name}"
            if not is_strict(owner_name):
                continue
            for name in now.keys() - before.keys():  # it hides another
                delattr(owner, name)
                yield f"{owner_name}.{name}"

    def mend_code(self) -> Iterator[str]:
        for name, function, code, defaults in self.inner:
            if (function.__code__, function.__defaults__) != (code, defaults):
                function.__code__ = code
                function.__defaults__ = defaults
                yield name


def is_strict(owner: str) -> bool:
    """Is a new name in it a sign? Other modules load parts when needed."""
    ours = any(is_within(owner, name) for name in ("lib", "kit"))
    return ours or owner == "torch.Tensor"


def parts(name: str, module: types.ModuleType) -> dict[str, object]:
    """The classes of a module of the harness, and its exercises."""
    return {
        f"{name}.{key}": value
        for key, value in vars(module).items()
        if type(value).__module__.startswith("kit.")
        or (isinstance(value, type) and value.__module__ == name)
    }


def put_back(owner: object, name: str, value: object) -> bool:
    """Was it somebody who changed it? What cannot be set is not set."""
    try:
        setattr(owner, name, value)
    except AttributeError:  # an exercise is frozen
        object.__setattr__(owner, name, value)
    except TypeError:
        return False
    return True
