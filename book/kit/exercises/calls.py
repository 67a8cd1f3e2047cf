"""Which functions an answer calls, by what they are. Not taught.

A function is known by what was called, not by how it is spelt: a helper that
somebody has written and called `softmax` is another one than torch's.
"""

import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

# What is not somebody's own code: the book's library, and what is installed.
BOOK = Path(__file__).parents[2]
OURS = tuple(str(BOOK / name) for name in ("lib", "kit"))
INSTALLED = ("site-packages", "dist-packages", "contextlib.py")
# What only hands a call on, from who makes it to what is meant.
HANDING_ON = (
    "contextlib.py",
    *(
        str(Path("torch", *name.split("/")))
        for name in (
            "_jit_internal.py",
            "_ops.py",
            "_tensor.py",
            "functional.py",
            "nn/modules/container.py",
            "nn/modules/module.py",
            "overrides.py",
        )
    ),
)


def is_theirs(file: str) -> bool:
    """Is a file, or a notebook's cell, the reader's own?"""
    return not file.startswith(OURS) and not any(
        name in file for name in INSTALLED
    )


class Calls(TorchFunctionMode):
    """Notes the calls of functions that have one of some names.

    `made` are all of them. `borrowed` are those that the reader's own code
    makes and that lead to the library, to torch or to Python, and not to a
    function of the reader's. Torch says itself what of it is called, if only
    by `map` or `partial`; of all else, Python's profiler does.
    """

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = set(names)
        self.made, self.borrowed = set(), set()

    def __enter__(self) -> "Calls":
        self.before = sys.getprofile()
        sys.setprofile(self.hear)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        sys.setprofile(self.before)

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs=None
    ) -> Any:
        self.note({short(function.__name__)}, sys._getframe(1))
        return function(*args, **(kwargs or {}))

    def hear(self, frame: FrameType, event: str, arg: Any) -> None:
        """What `sys.setprofile` is given."""
        if event == "c_call":
            self.note({short(arg.__name__)}, frame)
        elif event == "call":
            code, caller = frame.f_code, frame.f_back
            names = {*code.co_qualname.split(".")}
            if caller and not hands_on(caller.f_code):
                module = frame.f_globals.get("__name__", "")
                names.add(module.removeprefix("torch."))
            self.note(names, caller, code)

    def note(
        self, names: set, caller: FrameType, code: CodeType | None = None
    ) -> None:
        """A function that has these names, and perhaps code, is called."""
        found = self.names & names
        self.made |= found
        is_own = found and code and not is_taught(code)
        if found and not is_own and (makers := own(caller)):
            self.borrowed |= found | makers & self.names


class Watch(TorchFunctionMode):
    """Count the calls of torch, and the numbers of the largest result."""

    def __init__(self):
        super().__init__()
        self.calls = self.largest = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        out = function(*args, **(kwargs or {}))
        size = out.numel() if isinstance(out, Tensor) else 1
        self.calls += 1
        self.largest = max(self.largest, size)
        return out


def short(name: str) -> str:
    """What C calls `linalg_lstsq`, `special_softmax` or `softmax.int`."""
    name = name.lstrip("_").partition(".")[0]
    return name.removeprefix("linalg_").removeprefix("special_")


def own(frame: FrameType | None) -> set[str]:
    """The reader's functions that have led to a call; none if others have."""
    while frame and hands_on(frame.f_code):
        frame = frame.f_back
    names = set()
    while frame and is_theirs(frame.f_code.co_filename):
        if is_taught(frame.f_code):
            return set()
        names.add(frame.f_code.co_name)
        frame = frame.f_back
    return names


def hands_on(code: CodeType) -> bool:
    is_mode = code.co_name == "__torch_function__"
    return is_mode or code.co_filename.endswith(HANDING_ON)


def is_taught(code: CodeType) -> bool:
    """Is it a function of the library, or a page's copy of one?

    A page has the library's text, with a shorter docstring.
    """
    return not is_theirs(code.co_filename) or signs(code) in taught()


@cache
def taught() -> frozenset:
    """The signs of all functions that the library defines."""
    found = [
        compile(path.read_bytes(), path.name, "exec", dont_inherit=True)
        for path in (BOOK / "lib").rglob("*.py")
    ]
    for code in found:
        found += [c for c in code.co_consts if isinstance(c, CodeType)]
    return frozenset(signs(c) for c in found if not c.co_name.startswith("<"))


@cache
def signs(code: CodeType) -> tuple:
    """What two texts of a function share: all names and values, in order."""
    values = [
        signs(value) if isinstance(value, CodeType) else repr(value)
        for value in code.co_consts[1:]  # the first is the docstring
    ]
    return code.co_name, code.co_varnames, code.co_names, *values


def stopped(error: Exception) -> str:
    """In a line: how and where somebody's code stopped."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [f for f in frames if is_theirs(f.filename)] or frames
    what = " ".join(str(error).split())
    if len(what) > 160:
        what = f"{what[:159]}…"
    where = f"line {theirs[-1].lineno} of {theirs[-1].name}"
    return f"your code stops with {type(error).__name__}: {what} ({where})"
