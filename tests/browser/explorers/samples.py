"""The explorers of all chapters, as the tests beside this file show them.

A `test_<name>.py` that has a function `sample` takes part in the tests of
all explorers. It may also have

- `FULLEST`: values at which there is most to read;
- `KEYS`: keys that a reader presses one after the other, or a value to begin
  anew with, and where the keyboard then is, or a part of the value;
- `SAYS`: a value, a part by its selector, and its words.
"""

from importlib import import_module
from pathlib import Path

ABOUT_ALL = ("test_every", "test_firefox")
STEMS = sorted({path.stem for path in Path(__file__).parent.glob("test_*.py")})
MODULES = {
    stem.removeprefix("test_"): import_module(f"{__package__}.{stem}")
    for stem in STEMS
    if stem not in ABOUT_ALL
}
SAMPLES = {
    name: module.sample
    for name, module in MODULES.items()
    if hasattr(module, "sample")
}


def listed(what):
    """A list of each module, by the name of its explorer."""
    return {name: getattr(MODULES[name], what, []) for name in SAMPLES}
