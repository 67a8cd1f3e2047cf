"""Chromium arranges the book, prints it, and prints it with its numbers."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tools.editions.pdf.finish import places

HERE = Path(__file__).parent
# The first has no windows: it asks less than half of the others' time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    # As where there are windows: where lines break, how early pictures load.
    # What Playwright says of the mouse would be lost, so it is said again.
    "--font-render-hinting=slight",
    "--blink-settings=lazyLoadingImageMarginPxUnknown=1250,"
    "primaryHoverType=2,availableHoverTypes=2,"
    "primaryPointerType=4,availablePointerTypes=4",
]
TEXT_AREA = {"width": 605, "height": 922}  # 160 mm by 244 mm, at 96 dpi
READY = """
Promise.all([
  document.fonts.ready,
  ...[...document.images].map((image) => image.decode()),
]).then(() => true)
"""
NUMBER = """(pages) => {
  for (const place of document.querySelectorAll(".page-of"))
    place.textContent = pages[place.dataset.id] ?? "?";
}"""
# The words of every heading, from the first to the last.
TITLES = """() => {
  const words = (title) => {
    const copy = title.cloneNode(true);
    copy.querySelectorAll(".katex-mathml").forEach((math) => math.remove());
    return copy.textContent.trim().replace(/\\s+/g, " ");
  };
  return [...document.querySelectorAll("[aria-level]")].map(words);
}"""
# The letters that look like one that no font can have.
MISSING = """() => {
  const paper = document.createElement("canvas").getContext("2d");
  paper.font = `20px ${getComputedStyle(document.body).fontFamily}`;
  paper.textBaseline = "top";
  const look = (character) => {
    paper.clearRect(0, 0, 40, 40);
    paper.fillText(character, 0, 0);
    return paper.getImageData(0, 0, 40, 40).data.join();
  };
  const none = look("\\u{10fffe}");
  const body = document.body.textContent;
  const letters = new Set(body.match(/\\p{Letter}/gu));
  return [...letters].filter((letter) => look(letter) === none).join("");
}"""
PASSES = 3  # the first is enough, if all is well


def program() -> str | None:
    """The path of a Chromium; the environment may name one."""
    named = os.environ.get("CHROMIUM", "")
    return next(filter(None, map(shutil.which, (named, *NAMES))), None)


@contextmanager
def opened(path: Path, contents: dict) -> Iterator[Page]:
    """The file that `source` wrote, arranged and fitted to the paper."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program(), args=FLAGS
        )
        page = browser.new_page(viewport=TEXT_AREA, color_scheme="light")
        page.set_default_timeout(0)  # a busy machine may take its time
        page.emulate_media(media="print")
        page.goto(path.as_uri())
        page.evaluate((HERE / "arrange.js").read_text(), contents)
        page.evaluate(READY)
        page.evaluate((HERE / "fit.js").read_text(), TEXT_AREA["height"])
        yield page
        browser.close()


def printed(page: Page) -> bytes:
    """The book with the numbers of its pages.

    They are known when it has been printed, and stand in it; so it is
    printed again until they stay.

    Raises:
        RuntimeError: they do not.
    """
    page.evaluate("document.body.classList.add('draft')")
    guess = places(page.pdf(prefer_css_page_size=True))
    page.evaluate("document.body.classList.remove('draft')")
    for _ in range(PASSES):
        page.evaluate(NUMBER, guess)
        pdf = page.pdf(outline=True, tagged=True, prefer_css_page_size=True)
        pages = places(pdf)
        if pages == guess:
            return pdf
        guess = pages
    raise RuntimeError("the numbers of the pages do not settle")
