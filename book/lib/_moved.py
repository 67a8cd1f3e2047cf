"""The old names of modules: what a notebook of before 2027 imports.

Not taught. It goes with 2027: what no chapter teaches stood in `lib` and
stands in `kit` now, and `from lib.exercises import check` is still answered.
"""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

TO_KIT = """conformance dates exercises explorers figures gallery interop
    launching meter one_text projects shapes trained workers""".split()
MOVED = {f"lib.{name}": f"kit.{name}" for name in TO_KIT} | {
    "lib.adapters": "lib.diagnose.convention",
    "lib.architecture": "kit.figures.architecture",
    "lib.findings": "lib.diagnose.report",
    "lib.lists": "lib.validate.lists",
}


class Moved(MetaPathFinder, Loader):
    """Answers an old name with the module that it names now."""

    def find_spec(self, name, path=None, target=None):
        package, module, rest = (*name.split(".", 2), "", "")[:3]
        if new := MOVED.get(f"{package}.{module}"):
            return ModuleSpec(name, self, origin=f"{new}.{rest}".rstrip("."))
        return None

    def create_module(self, spec):
        module = import_module(spec.origin)
        self.own = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.own


sys.meta_path.insert(0, Moved())  # before a folder that was left behind
