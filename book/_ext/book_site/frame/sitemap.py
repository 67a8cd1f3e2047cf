"""What search engines ask for: `sitemap.xml` and `robots.txt`.

Both must name whole addresses, so they are written once the address of the
published site is known.
"""

from html import escape
from pathlib import Path

from .built import pages
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


def sitemap(app, address: str) -> str:
    """All pages of the book, with the days of their last changes."""
    entries = []
    for page in pages(app):
        path = page.source.relative_to(app.srcdir).as_posix()
        past = app.book_history.get(path)
        day = f"<lastmod>{past[0].date}</lastmod>" if past else ""
        place = escape(address + page.address)
        entries.append(f"<url><loc>{place}</loc>{day}</url>")
    return SITEMAP.format(entries="\n".join(entries))


def finish(app) -> None:
    """Write both files into the root of the site."""
    if address := published(app):
        site, robots = Path(app.outdir), ROBOTS.format(address=address)
        (site / "sitemap.xml").write_text(sitemap(app, address), "utf-8")
        (site / "robots.txt").write_text(robots, encoding="utf-8")
