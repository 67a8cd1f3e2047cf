"""The explorers of a page: their scripts, and nothing where there are none.

An explorer is an element that names its scripts in `data-scripts`; they lie
beside its Python in book/kit/explorers. In a notebook it carries them along,
for a reader without network; a stored or built page does not need the copy.
"""

import re
import shutil
from pathlib import Path

NEEDS = re.compile(r'<[a-z]+-[a-z-]+ [^<>]*data-scripts="([a-z -]+)"')
CARRIED = re.compile(r"\s*<script data-explorer>.*?</script>", re.DOTALL)


def without_scripts(html: str) -> str:
    """The same without the scripts that explorers carry along."""
    return CARRIED.sub("", html)


def scripts_of(html: str) -> list[str]:
    """The scripts that the explorers of a page need, each once, in order."""
    needed = " ".join(NEEDS.findall(html)).split()
    return list(dict.fromkeys(needed))


def scripts_of_the_book(app) -> list[Path]:
    """Those of all explorers."""
    return [*Path(app.srcdir, "book", "kit", "explorers").glob("*.js")]


def prepare_page(app, pagename, templatename, context, doctree):
    """Tell the template which scripts a page needs."""
    context["explorers"] = scripts_of(context.get("body", ""))


def copy_scripts(app, error):
    """Lay the scripts beside the site's own."""
    if error or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", "explorers")
    target.mkdir(parents=True, exist_ok=True)
    for path in scripts_of_the_book(app):
        shutil.copyfile(path, target / path.name)


def setup_explorers(app):
    """Part of the extension `book_site`."""
    app.connect("html-page-context", prepare_page)
    app.connect("build-finished", copy_scripts)
