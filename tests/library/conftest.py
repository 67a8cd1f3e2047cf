"""Settings of the library's tests.

With `BOOK_TYPECHECK=1` the shapes written in the signatures of book/lib are
enforced by jaxtyping and beartype. Two kinds of test have no place in such a
session: those of bad input, because there the signature answers first, and
those that compile, because beartype does not. `make test-all` runs these
in a second session, and all others in the first. With `--quick` nothing is
enforced and nothing compiled.
"""

import os
import sys
from collections import defaultdict
from itertools import combinations

import pytest

if os.environ.get("BOOK_TYPECHECK") == "1":
    from jaxtyping import install_import_hook

    install_import_hook(["lib", "kit"], "beartype.beartype")
    sys.dont_write_bytecode = True  # what runpy runs would be kept with it


def pytest_configure(config):
    for marker in (
        "bad_input: passes an argument that must be refused",
        "compiled: runs torch.compile or torch.export",
        "covered(n): any n values of its product meet in one quick case",
    ):
        config.addinivalue_line("markers", marker)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Say which tests are slow: what compiles, and most of each product."""
    products = defaultdict(dict)
    for item in items:
        if item.get_closest_marker("compiled"):
            item.add_marker("slow")
        if covered := item.get_closest_marker("covered"):
            values = ((n, id(v)) for n, v in item.callspec.params.items())
            together = {*combinations(values, *covered.args)}
            products[item.path, item.originalname][item] = together
    for cases in products.values():
        missing = set().union(*cases.values())
        while missing:
            best = max(cases, key=lambda case: len(cases[case] & missing))
            missing -= cases.pop(best)
        for case in cases:
            case.add_marker("slow")


@pytest.fixture(autouse=True)
def repeatable():
    """Every test starts from the settings that the chapters run with."""
    from lib.runtime import setup

    setup()
