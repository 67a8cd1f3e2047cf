"""What search engines ask for: `sitemap.xml` and `robots.txt`.

The first has all pages, with the days of their last changes. Both must name
whole addresses, so they are written once that of the published site is known.
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


def finish(app) -> None:
    if not (address := published(app)):
        return
    entries = []
    for page in pages(app):
        path = page.source.relative_to(app.srcdir).as_posix()
        past = app.book_history.get(path)
        day = f"<lastmod>{past[0].date}</lastmod>" if past else ""
        place = escape(address + page.address)
        entries.append(f"<url><loc>{place}</loc>{day}</url>")
    text = SITEMAP.format(entries="\n".join(entries))
    Path(app.outdir, "sitemap.xml").write_text(text, encoding="utf-8")
    text = ROBOTS.format(address=address)
    Path(app.outdir, "robots.txt").write_text(text, encoding="utf-8")
