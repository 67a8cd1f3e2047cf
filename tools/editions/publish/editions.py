"""The published site: the latest edition, and beside it one for each tag.

    index.html  book/  ...      the latest edition
    v0.2/index.html  ...        the edition of the tag v0.2
    editions.json               whose they are, and their names

Each page has a list of the editions that leads to the same page in each.
"""

import json
import posixpath
import re
import shutil
from html import escape
from pathlib import Path

from tools.editions.publish.branch import PublishError

FILE = "editions.json"
NAME = re.compile(r"v\d[\w.+-]*")  # of an edition, which is its tag
PLACE = re.compile(r"(<!-- editions -->).*?(<!-- /editions -->)", re.S)
LATEST = "latest"
NOWHERE = "404.html"  # is shown at any address, so it has no way to others
GONE = """\
Nothing was published: {number} of the pages that readers have now would be \
gone.
{names}
If a page has moved, say where to in `moved_pages` of _config.yml. If it is \
to go, publish with GONE=1, or tick the box of the workflow."""


def record(site: Path) -> dict:
    """Whose the published site is, and its editions, the newest first.

    An edition whose folder somebody has deleted is none.
    """
    if not (site / FILE).exists():
        return {"repository": "", "editions": []}
    known = json.loads((site / FILE).read_text("utf-8"))
    there = [name for name in known["editions"] if (site / name).is_dir()]
    return known | {"editions": there}


def version(name: str) -> list:
    """By which editions are sorted: v0.10 comes after v0.9."""
    parts = re.split(r"(\d+)", name)
    return [int(p) if p.isdigit() else p for p in parts]


def pages(site: Path, others: set[str] = frozenset()) -> set[str]:
    """What readers may have links to, without the folders of `others`."""
    paths = (path.relative_to(site) for path in site.rglob("*"))
    return {
        path.as_posix()
        for path in paths
        if path.suffix in (".html", ".pdf", ".zip")
        and path.parts[0] not in others
    }


def add(built: Path, site: Path, edition: str, may_go: bool = False) -> None:
    """Lay a built site in the place of its edition.

    The first edition of a tag is also the latest one, until there is another.

    Args:
        built: the site as it was built.
        site: all that is published.
        edition: its tag; "" is the latest one.
        may_go: whether pages may disappear.

    Raises:
        PublishError: a page would, or the tag cannot name an edition.
    """
    others = {*record(site)["editions"], edition} - {""}
    if not edition:
        put(built, site, others, may_go)
        return
    if not NAME.fullmatch(edition) or (built / edition).exists():
        raise PublishError(f"the tag {edition} cannot name an edition")
    put(built, site / edition, set(), may_go)
    if not pages(site, others):
        put(built, site, others)


def put(built: Path, place: Path, kept: set, may_go: bool = False) -> None:
    """Replace the content of a folder, but for the editions in it."""
    if lost := sorted(pages(place, kept) - pages(built)):
        if not may_go:
            names = "\n".join(f"  {name}" for name in lost)
            raise PublishError(GONE.format(number=len(lost), names=names))
    clear(place, {*kept, FILE})
    shutil.copytree(built, place, dirs_exist_ok=True)
    (place / ".buildinfo").unlink(missing_ok=True)


def clear(folder: Path, kept: set[str]) -> None:
    """Empty a folder but for these."""
    for path in folder.iterdir() if folder.exists() else ():
        if path.name in kept:
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def finish(site: Path, repository: str, edition: str) -> None:
    """Say whose site it is, and give every page the list of editions."""
    names = {*record(site)["editions"], *filter(None, [edition])}
    names = sorted(names, key=version, reverse=True)
    text = json.dumps({"repository": repository, "editions": names}, indent=1)
    (site / FILE).write_text(f"{text}\n", "utf-8")
    (site / ".nojekyll").touch()
    folders = {LATEST: "", **{name: f"{name}/" for name in names}}
    has = {
        name: pages(site / folder, set() if folder else {*names})
        for name, folder in folders.items()
    }
    for name, folder in folders.items():
        for page in has[name]:
            if not page.endswith(".html") or page == NOWHERE:
                continue
            here = folder + page
            shown = choice(here, page, name, has) if names else ""
            text = (site / here).read_text("utf-8")
            new = PLACE.sub(rf"\g<1>{shown}\g<2>", text)
            (site / here).write_text(new, "utf-8")


def choice(here: str, page: str, name: str, has: dict) -> str:
    """The editions as a list that opens; the page itself where it is."""
    start, items = posixpath.dirname(here) or ".", []
    for other, known in has.items():
        folder = "" if other == LATEST else f"{other}/"
        there = folder + (page if page in known else "index.html")
        target = escape(posixpath.relpath(there, start))
        current = ' aria-current="true"' if other == name else ""
        items.append(
            f'<li><a href="{target}"{current}>{escape(other)}</a></li>'
        )
    return (
        '<details class="editions"><summary><span class="visually-hidden">'
        f"Edition: </span>{escape(name)}</summary>"
        f"<ul>{''.join(items)}</ul></details>"
    )
