"""Write the book into `_build/html/downloads`: `python -m tools.pdf`."""

import sys
import time
from pathlib import Path

from book._ext import downloads
from tools.pdf import finish, printing, source

FOLDER = source.ROOT / "_build" / "pdf"
TARGET = source.SITE / downloads.FOLDER / downloads.PDF


def make(target: Path, site: Path = source.SITE, folder: Path = FOLDER) -> None:
    """Print the site in `site`; `folder` is for what lies in between."""
    contents = source.book()
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "book.html"
    page.write_text(source.compose(contents, site), "utf-8")
    with printing.opened(page, source.as_argument(contents)) as book:
        pdf = printing.printed(book)
    finish.write(pdf, contents, target)


def main() -> int:
    """The exit status."""
    if not printing.program():
        print(
            "The PDF is printed by Chromium: `apt-get install chromium` "
            "brings it,\nor CHROMIUM=/path/to/chrome names one.",
            file=sys.stderr,
        )
        return 1
    start = time.monotonic()
    make(TARGET)
    downloads.show(source.SITE)
    size = TARGET.stat().st_size / 1e6
    print(f"{TARGET}: {size:.1f} MB, {time.monotonic() - start:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
