"""Who may import whom: each room stands only on those before it.

The library; what notebooks use beside it; the format of the book, which
needs neither PyTorch nor Sphinx; the site; all other tools and measurements;
tests.
"""

import re

import pytest

from tools.source.taught import ROOT

ROOMS = (
    ("lib", "book/lib"),
    ("kit", "book/kit"),
    ("tools.source", "tools/source"),
    ("book", "book/_ext"),
    ("tools", "tools"),
    ("benchmarks", "benchmarks"),
    ("tests", "tests"),
)
ALONE = {"tools/source": {"lib", "kit"}, "book/_ext": {"lib", "kit"}}


IMPORT = re.compile(r"^ *(?:from ([a-z][\w.]*) )?import ([\w.]+)", re.M)


def room_of(path) -> int:
    """The innermost folder that a file is in."""
    name = path.relative_to(ROOT).as_posix()
    return min(n for n, (_, f) in enumerate(ROOMS) if name.startswith(f"{f}/"))


def imported(path) -> set[str]:
    """The rooms that a file imports; what is relative stays in its own."""
    found = set()
    for parts in IMPORT.findall(path.read_text(encoding="utf-8")):
        name = ".".join(filter(None, parts))
        rooms = [r for r, _ in ROOMS if f"{name}.".startswith(f"{r}.")]
        found |= {*rooms[:1]}
    return found


FOLDERS = [folder for _, folder in ROOMS]


@pytest.mark.parametrize("number", range(len(ROOMS)), ids=FOLDERS)
def test_a_room_stands_on_those_before_it(number):
    _, folder = ROOMS[number]
    allowed = {name for name, _ in ROOMS[: number + 1]}
    allowed -= ALONE.get(folder, set())
    paths = [p for p in (ROOT / folder).rglob("*.py") if room_of(p) == number]
    assert paths
    for path in paths:
        assert imported(path) <= allowed, path
