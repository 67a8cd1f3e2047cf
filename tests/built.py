"""The built site: its pages, what is in them, and a server for it."""

import fcntl
import functools
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import nbformat
import pikepdf
import pytest
import yaml
from bs4 import BeautifulSoup

from book._ext.book_site.pages import downloads
from tools.source import address
from tools.source.taught import chapters, toc_files

ROOT = Path(__file__).parents[1]
SITE = ROOT / "_build" / "html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text())
DOCUMENTS = [TOC["root"], *toc_files(TOC)]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text())
HAS_ADDRESS = address.read(ROOT) is not None
CHAPTERS = [f"book/{path.stem}" for path in chapters()]
NOTEBOOKS = [d for d in DOCUMENTS if (ROOT / f"{d}.ipynb").exists()]
PAGES = [f"{name}.html" for name in [*DOCUMENTS, "search"]]
ONLINE = ("book/lab", "book/teach/", downloads.PAGE)  # pages of the site alone
PRINTED = [name for name in DOCUMENTS if not name.startswith(ONLINE)]
# A page of each kind; chapters with an explorer, a table and a drawing.
KINDS = [
    *(f"{CHAPTERS[n]}.html" for n in (2, 4, 9)),
    "book/deeper/03_three_sources.html",
    PAGES[0],
    "book/glossary.html",
    "book/notation.html",
    "book/gallery.html",
    "book/library_1.html",
    "book/bibliography.html",
    "book/download.html",
    "book/teach/syllabus.html",
    "book/teach/chapter_04.html",
    "search.html",
]
# The MathML repeats what is shown; the colours of code are of no matter.
MATHML = re.compile(r"<math\b.*?</math>", re.S)
COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')


def slow(*values):
    """A case for `parametrize` that is left out with --quick."""
    return pytest.param(*values, marks=pytest.mark.slow)


def quickly(cases, is_quick):
    """Cases for `parametrize`: the others only in the full run."""
    return [
        case
        if is_quick(case)
        else slow(*(case if isinstance(case, tuple) else [case]))
        for case in cases
    ]


def first_quick(cases):
    """Cases for `parametrize`, of which only the first is quick."""
    first, *others = cases
    return [first, *quickly(others, lambda case: False)]


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


def small_book(folder, toc, pages, address):
    """Build a book of a few pages with everything of this one around it.

    Args:
        folder: where it is to lie.
        toc: the text of its `_toc.yml`.
        pages: the cells of each notebook, or the Markdown of a page.
        address: of its repository.
    """
    config = yaml.safe_load((ROOT / "_config.yml").read_text())
    config["repository"] = {"url": address, "branch": "v1.0"}
    del config["sphinx"]["config"]["moved_pages"]  # to pages that it lacks
    (folder / "_config.yml").write_text(yaml.safe_dump(config))
    (folder / "_toc.yml").write_text(toc)
    for name in ("_static", "kit/explorers"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name)
    (folder / "book" / "references.bib").symlink_to(
        ROOT / "book/references.bib"
    )
    for name, content in pages.items():
        path = folder / "book" / name
        if isinstance(content, str):
            path.with_suffix(".md").write_text(content)
            continue
        python = {"language_info": {"name": "python"}}
        made = nbformat.v4.new_notebook(cells=content, metadata=python)
        nbformat.write(made, path.with_suffix(".ipynb"))
    build(folder)


@contextmanager
def my_turn(folder):
    """Workers of pytest-xdist take turns; other users have other folders."""
    folder.mkdir(exist_ok=True)
    with open(folder / "tests.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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


def notebook(name):
    """The stored notebook of a chapter."""
    return nbformat.read(ROOT / f"{name}.ipynb", as_version=4)


@functools.cache
def soup_of(path):
    """A page to be searched, once parsed."""
    text = COLOURED.sub(r"\1", MATHML.sub("", path.read_text()))
    return BeautifulSoup(text, "lxml")


@functools.cache
def anchors_of(path):
    """The places of a page, or of the PDF, to which a link can lead."""
    if path.suffix == ".pdf":
        with pikepdf.open(path) as book:
            return {f"nameddest={name[1:]}" for name in book.Root.Dests}
    return {tag["id"] for tag in soup_of(path).find_all(id=True)}


def targets(soup):
    """Everything the page points at or loads."""
    for name in ("href", "src", "action"):
        for tag in soup.find_all(attrs={name: True}):
            yield tag[name]


def broken(page, target):
    """Is this link of this page an internal one that leads nowhere?"""
    if urlsplit(target).scheme in ("http", "https", "mailto"):
        return False
    address, anchor = urldefrag(target)
    path = (page.parent / unquote(address)).resolve() if address else page
    if not path.is_file():
        return True
    if anchor.startswith("lab?"):  # settings, which a browser test reads
        return "<lab-explorer " not in path.read_text(encoding="utf-8")
    return bool(anchor) and unquote(anchor) not in anchors_of(path)


def commit(folder, name, subject, day):
    """Change a file of a repository, and say so."""
    path = folder / "book" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{subject} " * 40)
    run(folder, "add", "-A")
    author = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    date = f"2026-01-{day:02}T12:00:00+0000"
    run(folder, *author, "commit", "-qm", subject, "--date", date)


def run(folder, *arguments):
    subprocess.run(["git", "-C", folder, *arguments], check=True)
