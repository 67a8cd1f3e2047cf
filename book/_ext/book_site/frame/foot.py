"""What stands above and below the text of a page.

Above a chapter one line of links: Colab, the notebook, PDF and slides where
they have been made, the exercises. Below every page where it comes from, how
to report a mistake, and what has changed.
"""

import re
from html import unescape
from pathlib import Path

from sphinx.util.osutil import relative_uri

from ..pages import downloads
from . import notebooks
from .history import SHOWN, changes
from .repository import repository

REPORT = """\
**Page:** {page}
**Section:** {section}
**Passage:** {passage}

**What is wrong:**
"""


def path_of(app, pagename: str) -> Path:
    """The source of a page, seen from the root of the repository."""
    return Path(app.env.doc2path(pagename)).relative_to(app.srcdir)


def chapter_links(app, pagename: str) -> list[tuple[str, str]]:
    """Where else the reader finds this chapter.

    Colab opens the students' edition if the configuration says where it is.
    """
    path, known = path_of(app, pagename), repository(app)
    student = app.config.student_path
    opened = Path(student, path.name) if student else path
    colab = known.colab(opened.as_posix()) if known else ""
    return [("Run in Colab", colab)] if colab else []


def notebook_link(app, pagename: str) -> str:
    """The address of the notebook, seen from its page."""
    name = f"{notebooks.FOLDER}/{path_of(app, pagename).name}"
    return relative_uri(app.builder.get_target_uri(pagename), name)


def pdf_place(app, pagename: str) -> str:
    """What `downloads` replaces by a link as soon as there is a PDF."""
    target = f"{downloads.FOLDER}/{downloads.PDF}"
    link = relative_uri(app.builder.get_target_uri(pagename), target)
    return downloads.place(f"{link}#nameddest={Path(pagename).name}")


def report(page: str, section: str = "", passage: str = "") -> dict[str, str]:
    """Title and text of an issue that reports a mistake."""
    body = REPORT.format(page=page, section=section, passage=passage)
    return {"title": f"Mistake: {page}", "body": body}


def foot(app, pagename: str, title: str) -> dict:
    """What the template shows below a page."""
    path, known = path_of(app, pagename).as_posix(), repository(app)
    past = app.book_history.get(path, [])
    return {
        "changes": past[:SHOWN],
        "older": len(past) - SHOWN,
        "all_changes": known.changes(path) if known else "",
        "source": known.source(path) if known else "",
        "report": known.issue(**report(title)) if known else "",
    }


def frame(app, pagename: str, title: str) -> dict:
    """What the template needs to know for both places of a page."""
    shown = foot(app, pagename, unescape(re.sub("<[^>]+>", "", title)))
    if path_of(app, pagename).suffix != ".ipynb":
        return {"is_chapter": False, "foot": shown}
    return {
        "is_chapter": True,
        "chapter_links": chapter_links(app, pagename),
        "notebook": notebook_link(app, pagename),
        "pdf_place": pdf_place(app, pagename),
        "foot": shown,
    }


def read_history(app) -> None:
    """Ask git once for all pages."""
    app.book_history = changes(Path(app.srcdir))


def setup(app):
    app.connect("builder-inited", read_history)
