"""The old names of modules: what a notebook of before 2027 imports.

Not taught. It goes with 2027: what no chapter teaches stood in `lib` and
stands in `kit` now: `from lib.exercises import check` is still answered.
"""

import sys
from importlib import import_module, util
from importlib.abc import Loader, MetaPathFinder

RENAMED = {
    "lib.lists": "lib.validate.lists",
    "lib.adapters": "lib.diagnose.convention",
    "lib.findings": "lib.diagnose.report",
}


class Moved(MetaPathFinder, Loader):
    """Answers an old name with the module that it names now."""

    def find_spec(self, name, path=None, target=None):
        new = RENAMED.get(name, f"kit{name.removeprefix('lib')}")
        if not name.startswith("lib.") or not util.find_spec(new):
            return None
        return util.spec_from_loader(name, self, origin=new)

    def create_module(self, spec):
        module = import_module(spec.origin)
        self.own = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self.own


sys.meta_path.insert(0, Moved())  # before a folder that was left behind
