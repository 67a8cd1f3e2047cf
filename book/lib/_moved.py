"""The old names of modules, and in them: what notebooks before 2027 import.

Not taught. What no chapter teaches stood in `lib` and stands in `kit` now;
`from lib.exercises import check` is answered until the end of 2027.
"""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

TO_KIT = """conformance dates exercises explorers figures gallery interop
    launching meter one_text projects shapes trained workers""".split()
MOVED = {f"lib.{name}": f"kit.{name}" for name in TO_KIT} | {
    "lib.adapters": "lib.diagnose.convention",
    "lib.architecture": "kit.figures.architecture",
    "lib.findings": "lib.diagnose.report",
    "lib.lists": "lib.validate.lists",
}
RENAMED = {
    "kit.figures": {"masks": "kit.figures.masks.mask_panels"},
    "kit.meter": {"kept_bytes": "kit.meter.saved_bytes"},
    "lib.cache": {"PastAttention": "lib.cache.CachedSelfAttention"},
    "lib.diagnose.convention": {"Patient": "lib.diagnose.convention.Probe"},
    "lib.parallel": {
        "AddUp": "lib.parallel.ReduceFromRegion",
        "CopyToAll": "lib.parallel.CopyToRegion",
        "own_stretch": "lib.parallel.shard",
    },
}


def on_workers(task, world=2, *options, **given):
    """As in `kit.launching`, where the number of workers is world_size."""
    launching = import_module("kit.launching")
    return launching.on_workers(task, world, *options, **given)


def one_text_model(*options, **given):
    """As in `kit.trained`, but without the second vocabulary."""
    trained = import_module("kit.trained")
    model, tokens, _, card = trained.one_text_model(*options, **given)
    return model, tokens, card


AS_BEFORE = {"lib.launching": on_workers, "lib.one_text": one_text_model}


class Moved(MetaPathFinder, Loader):
    """Answers an old name with the module that it names now."""

    def find_spec(self, name, path=None, target=None):
        package, module, rest = (*name.split(".", 2), "", "")[:3]
        if new := MOVED.get(f"{package}.{module}"):
            return ModuleSpec(name, self, origin=f"{new}.{rest}".rstrip("."))
        if name not in RENAMED:
            return None
        spec = PathFinder.find_spec(name, path)
        spec.loader = Renamed(name, spec.origin)
        return spec

    def create_module(self, spec):
        module = import_module(spec.origin)
        self.own = module.__spec__
        if function := AS_BEFORE.get(spec.name):
            names = vars(module) | {function.__name__: function}
            module = ModuleType(spec.name)
            vars(module).update(names)
        return module

    def exec_module(self, module):
        module.__spec__ = self.own


class Renamed(SourceFileLoader):
    """Runs a module, then gives what it holds its old names too."""

    def exec_module(self, module):
        super().exec_module(module)
        for old, new in RENAMED[self.name].items():
            home, _, name = new.rpartition(".")
            setattr(module, old, getattr(import_module(home), name))


sys.meta_path.insert(0, Moved())  # before a folder that was left behind
