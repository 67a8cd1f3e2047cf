"""Who replaced what: the parts that a check relies on, before and after.

An answer and its check share a process, so an answer can replace
`torch.equal`, or `check` itself. What has been replaced is noticed here, and
put back.
"""

import sys
import types

WATCHED = ("lib", "torch.testing")  # with all that they contain
ALSO = (
    "builtins",
    "inspect",
    "math",
    "random",
    "torch",
    "torch.nn.functional",
)
# What changes without anybody's doing: `_` in a shell, flags of torch.
RESTLESS = ("_", "_grad_layer", "default_generator")


def is_watched(name: str) -> bool:
    return name in ALSO or any(
        name == whole or name.startswith(f"{whole}.") for whole in WATCHED
    )


def functions(names: dict) -> list[types.FunctionType]:
    return [v for v in names.values() if isinstance(v, types.FunctionType)]


class Guard:
    """Remembers the watched modules, and the class of tensors."""

    def __init__(self) -> None:
        import torch

        self.modules = {
            name: module
            for name, module in list(sys.modules.items())
            if is_watched(name) and module is not None
        }
        owners = list(self.modules.items())
        for name, module in list(self.modules.items()):
            if name.startswith("lib.exercises"):
                owners += [
                    (f"{name}.{key}", value)
                    for key, value in vars(module).items()
                    if isinstance(value, type)
                    and value.__module__.startswith("lib.")
                ]
        owners.append(("torch.Tensor", torch.Tensor))
        self.owned = [(n, owner, dict(vars(owner))) for n, owner in owners]
        self.inner = [
            (f"{name}.{f.__name__}", f, f.__code__, f.__defaults__)
            for name, _, names in self.owned
            if name.startswith("lib.exercises")
            for f in functions(names)
        ]

    def mend(self) -> list[str]:
        """Put back what was replaced; returns the names of it."""
        found = [*self.mend_modules(), *self.mend_names(), *self.mend_code()]
        return sorted(set(found))

    def mend_modules(self):
        for name, module in self.modules.items():
            if sys.modules.get(name) is not module:
                sys.modules[name] = module
                yield name

    def mend_names(self):
        for owner_name, owner, before in self.owned:
            now = vars(owner)
            for name, value in before.items():
                if now.get(name, self) is value or name in RESTLESS:
                    continue
                try:
                    setattr(owner, name, value)
                except (AttributeError, TypeError):
                    continue  # what cannot be set was not set by anybody
                yield f"{owner_name}.{name}"

    def mend_code(self):
        for name, function, code, defaults in self.inner:
            if (function.__code__, function.__defaults__) != (code, defaults):
                function.__code__ = code
                function.__defaults__ = defaults
                yield name
