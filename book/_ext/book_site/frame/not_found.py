"""The page that a host shows where there is none: `404.html`.

It is shown at any depth, so nothing in it is relative: its style is inside,
and its links begin at the root of the site.
"""

from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from .built import pages
from .policy import guarded
from .repository import published

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>No such page · {title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{
  max-width: 38rem;
  margin: 0 auto;
  padding: 3rem 1.25rem;
  background: light-dark(#fff, #15181d);
  color: light-dark(#1f2328, #dde1e7);
  font: 1.1rem/1.6 Charter, Cambria, Georgia, serif;
}}
a {{ color: light-dark(#00609a, #74bdec); }}
input, button {{ padding: 0.4rem 0.75rem; font: inherit; font-size: 1rem; }}
li {{ padding: 0.2rem 0; }}
</style>
</head>
<body>
<main>
<h1>There is no such page</h1>
<p>The link may be old, or misspelt. <a href="{root}">{title}</a> begins here;
its chapters are below.</p>
<form action="{root}search.html" method="get" role="search">
<input type="search" name="q" aria-label="Search the book">
<button type="submit">Search</button>
</form>
<ul>
{chapters}
</ul>
</main>
</body>
</html>
"""


def finish(app) -> None:
    root = urlsplit(published(app)).path or "/"
    chapters = [
        f'<li><a href="{root}{page.address}">{escape(page.title)}</a></li>'
        for page in pages(app)
        if page.is_chapter
    ]
    page = PAGE.format(
        title=escape(app.config.html_title or app.config.project),
        root=root,
        chapters="\n".join(chapters),
    )
    Path(app.outdir, "404.html").write_text(guarded(page), encoding="utf-8")
