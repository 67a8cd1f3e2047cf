"""Settings of the library's tests.

With `BOOK_TYPECHECK=1` the shapes written in the signatures of book/lib are
enforced by jaxtyping and beartype. Two kinds of test have no place in such a
session: those of bad input, because there the signature answers first, and
those that compile, because beartype does not. `make test-library` runs these
in a second session, and all others in the first.
"""

import os

import pytest

if os.environ.get("BOOK_TYPECHECK") == "1":
    from tests.library import typed

    typed.install()


def pytest_configure(config):
    for marker in (
        "bad_input: passes an argument that must be refused",
        "compiled: runs torch.compile or torch.export",
    ):
        config.addinivalue_line("markers", marker)


@pytest.fixture(autouse=True)
def repeatable():
    """Every test starts from the settings that the chapters run with."""
    from lib.runtime import setup

    setup()


@pytest.fixture
def drawn(request):
    """What a drawing function makes of its arguments in `DRAWN`."""
    from matplotlib import pyplot as plt

    from lib import figures

    axes = getattr(figures, request.param)(
        *request.module.DRAWN[request.param]
    )
    plt.gcf().canvas.draw()
    yield axes
    plt.close("all")
