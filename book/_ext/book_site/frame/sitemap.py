"""What search engines ask for: `sitemap.xml` and `robots.txt`.

Both must name whole addresses, so they are written once the address of the
published site is known.
"""

from html import escape
from pathlib import Path

from .built import pages
from .foot import path_of
from .repository import published

SITEMAP = """\
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{entries}
</urlset>
"""
ROBOTS = """\
User-agent: *
Allow: /

Sitemap: {address}sitemap.xml
"""


def entry(url: str, date: str) -> str:
    """A page of the sitemap, and when it was changed if that is known."""
    changed = f"<lastmod>{date}</lastmod>" if date else ""
    return f"<url><loc>{escape(url)}</loc>{changed}</url>"


def sitemap(app, address: str) -> str:
    """All pages of the book, with the days of their last changes."""
    entries = []
    for page in pages(app):
        past = app.book_history.get(path_of(app, page.document).as_posix())
        date = past[0].date if past else ""
        entries.append(entry(address + page.address, date))
    return SITEMAP.format(entries="\n".join(entries))


def write_sitemap(app) -> None:
    """Write both files into the root of the site."""
    address = published(app)
    if not address:
        return
    site = Path(app.outdir)
    (site / "sitemap.xml").write_text(sitemap(app, address), "utf-8")
    robots = ROBOTS.format(address=address)
    (site / "robots.txt").write_text(robots, encoding="utf-8")
