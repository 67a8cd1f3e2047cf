"""`make slides`: a deck of slides for every chapter, beside the website."""

import argparse
import re
import shutil
import sys
from pathlib import Path

import jinja2
import nbformat
import yaml

from book._ext.book_site.frame import policy
from book._ext.book_site.pages import downloads
from tools.editions.slides import deck, render
from tools.source.taught import ROOT, chapters

HERE = Path(__file__).parent
SITE = ROOT / "_build" / "html"
STATIC = ROOT / "book" / "_static"
MOVED = ROOT / "book" / "_ext" / "book_site" / "theme" / "moved.html"
SHARED = re.compile(
    r"^(?:@font-face|:root(?:\[data-theme=\"\w+\"\])?|\.highlight :is[^{]*)"
    r" \{.*?\}$",
    re.M | re.S,
)


def style() -> str:
    """The style sheet: what all pages of the book share, then the slides."""
    shared = SHARED.findall((STATIC / "custom.css").read_text("utf-8"))
    text = "\n".join(shared).replace('url("', 'url("../../_static/')
    return f"{text}\n\n{(HERE / 'slides.css').read_text('utf-8')}"


def put_files(site: Path) -> None:
    """What all decks load: scripts, style, and the fonts of the website."""
    folder = site / downloads.DECKS / "reveal"
    shutil.copytree(HERE / "vendor", folder, dirs_exist_ok=True)
    shutil.copy(HERE / "slides.js", folder)
    (folder / "slides.css").write_text(style(), "utf-8")
    static = site / "_static"
    for name in ("fonts", "katex"):
        shutil.copytree(STATIC / name, static / name, dirs_exist_ok=True)
    shutil.copy(STATIC / "favicon.svg", static)


def put_deck(path: Path, site: Path, book: str) -> int:
    """Write the deck of a chapter; the number of its slides, 0 if none."""
    cells = nbformat.read(path, as_version=4).cells
    if not deck.has_slides(cells):
        return 0
    try:
        slides = deck.slides(cells)
    except deck.SlideError as error:
        sys.exit(f"{path.name}: {error}")
    text, images = render.page(slides, path.stem, book)
    (site / downloads.DECKS / f"{path.stem}.html").write_text(text, "utf-8")
    (site / "_images").mkdir(exist_ok=True)
    for name, png in images.items():
        if not (site / "_images" / name).exists():
            (site / "_images" / name).write_bytes(png)
    return len(slides)


def put_moved(site: Path, moved: dict[str, str]) -> None:
    """Where a chapter was, its deck was; that address leads on as well."""
    page = jinja2.Template(MOVED.read_text("utf-8"))
    for old, new in moved.items():
        url, folder = f"{Path(new).name}.html", site / downloads.DECKS
        if "#" in old or not (folder / url).exists():
            continue
        shown = {"title": "These slides have moved", "url": url}
        text = page.render(shown, sections={}, is_old=True)
        place = folder / f"{Path(old).name}.html"
        place.write_text(policy.guarded(text), "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write the decks, and say which chapters have none."""
    parser = argparse.ArgumentParser(prog="python -m tools.editions.slides")
    parser.add_argument("chapter", nargs="*", help="04, or a notebook")
    parser.add_argument("--out", type=Path, default=SITE, help="a folder")
    options = parser.parse_args(arguments)
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    put_files(options.out)
    known, without = {path.stem[:2]: path for path in chapters()}, []
    for name in options.chapter or known:
        path = known.get(name, Path(name))
        if number := put_deck(path, options.out, config["title"]):
            place = options.out / downloads.DECKS / f"{path.stem}.html"
            print(f"{place}: {number} slides")
        else:
            without.append(path.stem)
    if without:
        print(f"No cell has a slide type, so no slides: {', '.join(without)}")
    put_moved(options.out, config["sphinx"]["config"]["moved_pages"])
    downloads.show(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
