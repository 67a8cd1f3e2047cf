"""Write the book into `_build/html/downloads`: `python -m tools.editions.pdf`.

`python -m tools.editions.pdf FILE` writes it elsewhere and leaves the site
as it is.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from book._ext.book_site.pages import downloads
from tools.editions.pdf import finish, printing, source

TARGET = source.SITE / downloads.FOLDER / downloads.PDF
NO_CHROMIUM = """\
Chromium prints the PDF: `apt-get install chromium-headless-shell` brings it,
or CHROMIUM=/path/to/chrome in front of the command names one."""
NO_FONT = """\
No font of this machine has {}: these are boxes in the PDF.
`apt-get install fonts-droid-fallback` brings one."""


def make(target: Path, site: Path = source.SITE) -> None:
    """Print the pages of the site into one file."""
    contents = source.book()
    with TemporaryDirectory() as folder:
        page = Path(folder, "book.html")
        page.write_text(source.compose(contents, site), "utf-8")
        with printing.opened(page, contents) as book:
            if letters := book.evaluate(printing.MISSING):
                print(NO_FONT.format(letters), file=sys.stderr)
            pdf = printing.printed(book)
            titles = book.evaluate(printing.TITLES)
    finish.write(pdf, titles, contents, target)


def main(arguments: list[str]) -> int:
    """The exit status."""
    if not printing.program():
        print(NO_CHROMIUM, file=sys.stderr)
        return 1
    start = time.monotonic()
    target = Path(arguments[0]) if arguments else TARGET
    make(target)
    downloads.show(source.SITE)
    size, seconds = target.stat().st_size / 1e6, time.monotonic() - start
    print(f"{target}: {size:.1f} MB, {seconds:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
