"""The explorers of all chapters, as the tests beside this file show them.

A `test_<name>.py` that has a function `sample` takes part in the tests of
all explorers; its list `STATES`, if there is one, has values to try, its
list `FULLEST` those in which there is most to read.
"""

from importlib import import_module
from pathlib import Path

ABOUT_ALL = ("test_every", "test_faults", "test_firefox")
MODULES = {
    path.stem.removeprefix("test_"): import_module(
        f"tests.explorers.{path.stem}"
    )
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    if path.stem not in ABOUT_ALL
}
SAMPLES = {
    name: module.sample
    for name, module in MODULES.items()
    if hasattr(module, "sample")
}
FULLEST = {name: getattr(MODULES[name], "FULLEST", []) for name in SAMPLES}
STATES = {name: getattr(MODULES[name], "STATES", []) for name in SAMPLES}
