"""The built site and a server for it, for all tests here."""

import fcntl
import functools
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "_build" / "html"


def build(folder):
    """Build the book in `folder` as `make book` does; warnings are fatal.

    The extension is this repository's, wherever the folder is.
    """
    command = Path(sys.executable).with_name("jupyter-book")
    done = subprocess.run(
        [command, "build", folder, "-W", "-n", "--keep-going"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def my_turn(folder):
    """Workers of pytest-xdist take turns; other users have other folders."""
    folder.mkdir(exist_ok=True)
    with open(folder / "tests.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; built first where it is missing."""
    with my_turn(SITE.parent):
        if not (SITE / "index.html").exists():
            build(ROOT)
    return SITE


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing: pytest's own report is enough."""


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Say nothing of a browser that has left before the answer came."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def served(folder, kind=QuietHandler):
    """The address of a folder on a free port of this machine."""
    handler = functools.partial(kind, directory=folder)
    server = QuietServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def address(site):
    """The site's address."""
    with served(site) as there:
        yield there


@pytest.fixture(scope="session")
def visit(browser, site, address, pytestconfig):
    """`visit(page, device)` says what a page told when it was loaded."""
    from tests.site.record import Records  # needs a browser, as `browser` does

    return Records(browser, site, address, pytestconfig.getoption("quick"))
