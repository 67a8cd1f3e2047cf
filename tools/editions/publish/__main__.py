"""Publish the built book: `make publish`.

Two branches of the remote `origin` are written: one with the notebooks that
Colab opens, and `site` with all editions of the website, which the workflow
`pages` lays out. What has not changed is not written again.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.editions.publish import editions, notebooks
from tools.editions.publish.branch import Branch, PublishError
from tools.source.address import Place, read
from tools.source.taught import ROOT, chapters

SITE = "site"
TRIES = 3  # another run may push between our looking and our pushing
UNKNOWN = """\
Nothing was published: nobody says where this book is. Publish from a clone \
of a repository at GitHub, or write its address into _config.yml."""
OLD = """\
Nothing was published: the built pages do not lead to {branch} of {url}. \
They were built before the address was known: run `make clean site`."""


def main(arguments: list[str] | None = None, root: Path = ROOT) -> str | int:
    """Publish; returns what `sys.exit` is to be given."""
    parser = argparse.ArgumentParser(prog="publish", description=__doc__)
    parser.add_argument("--gone", action="store_true", help="pages may go")
    options = parser.parse_args(arguments)
    publishing = {"PUBLISHING": "1", **os.environ}
    try:
        if not (place := read(root, publishing)):
            raise PublishError(UNKNOWN)
        publish_site(place, root, options.gone)
        if place.notebooks:
            publish_notebooks(place, root)
    except PublishError as error:
        return str(error)
    return 0


def publish_site(place: Place, root: Path, may_go: bool) -> None:
    """Let the built site take the place of its edition."""
    built = root / "_build" / "html"
    check(built, place, root)

    def fill(site: Path) -> None:
        if editions.record(site)["repository"] != place.url:
            editions.clear(site, set())  # a fork begins with its own editions
        editions.add(built, site, place.edition, may_go)
        editions.finish(site, place.url, place.edition)

    update(Branch(root, SITE, has_history=False), fill, place)


def publish_notebooks(place: Place, root: Path) -> None:
    """Let Colab open the chapters as they are now."""
    branch = Branch(root, place.notebooks)
    tracked = branch.git("ls-files", "-z").rstrip("\0").split("\0")

    def fill(folder: Path) -> None:
        editions.clear(folder, set())
        notebooks.write(folder, place, tracked, root)

    update(branch, fill, place)


def check(built: Path, place: Place, root: Path) -> None:
    """Refuse pages that were built for another place."""
    page = built / chapters(root)[0].relative_to(root).with_suffix(".html")
    text = page.read_text("utf-8") if page.exists() else ""
    branches = {place.branch, place.notebooks or place.branch}
    links = [place.url, *(f"/blob/{name}/" for name in branches)]
    if any(link not in text for link in links):
        raise PublishError(OLD.format(**vars(place)))


def update(branch: Branch, fill: Callable[[Path], None], place: Place) -> None:
    """Change the files of a branch and push them, if that is any change."""
    commit = branch.git("rev-parse", "--short", "HEAD")
    message = f"{branch.name}: {place.branch} {commit}"
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work, "content")
            folder.mkdir()
            before = branch.fetch(folder)
            fill(folder)
            try:
                is_new = branch.push(folder, before, message)
                print(message if is_new else f"{branch.name}: nothing new")
                return
            except PublishError:
                if branch.head() == before:
                    raise
    raise PublishError(f"others push to {branch.name} all the time: try again")


if __name__ == "__main__":
    sys.exit(main())
