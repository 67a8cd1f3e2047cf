"""A sandbox for the tests that need one."""

import os

import pytest

from tools.grading import sandbox


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What asks for the grades of all attacks is slow."""
    for item in items:
        if "rows" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def bubblewrap():
    """A system that lets us make sandboxes; in CI it must be one."""
    try:
        sandbox.as_root()
    except sandbox.SandboxError as error:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))
