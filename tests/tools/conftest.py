"""What the tests of the tools have in common."""

import os

import pytest

from tools.chapters.kernels import write_kernels


@pytest.fixture(scope="session", autouse=True)
def own_git():
    """Git has no settings of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith("GIT_")]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def kernels(tmp_path_factory):
    """The book's kernels, with this Python, before all that are installed."""
    folder = tmp_path_factory.mktemp("jupyter")
    write_kernels(folder / "kernels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        yield
