"""What stands above and below the text of a page.

Above a chapter one line of links: Colab, the notebook, PDF and slides where
they have been made, the exercises. Below every page where it comes from, how
to report a mistake, and what has changed.
"""

from pathlib import Path

from markupsafe import Markup

from . import notebooks
from .history import SHOWN, changes
from .repository import repository

REPORT = """\
**Page:** {page}
**Section:** {section}
**Passage:** {passage}

**What is wrong:**
"""


def colab(app, path: Path) -> str:
    """Where Colab opens a chapter: "" if it cannot.

    It is the students' edition if the configuration says where that lies.
    """
    known, student = repository(app), app.config.student_path
    opened = Path(student, path.name) if student else path
    return known.colab(opened.as_posix()) if known else ""


def report(page: str) -> dict[str, str]:
    """Title and text of an issue; `report.js` says which passage is meant."""
    body = REPORT.format(page=page, section="", passage="")
    return {"title": f"Mistake: {page}", "body": body}


def frame(app, pagename: str, title: str) -> dict:
    """What the template needs to know for both places of a page."""
    path = Path(app.env.doc2path(pagename)).relative_to(app.srcdir)
    known, name = repository(app), path.as_posix()
    past = app.book_history.get(name, [])
    foot = {"changes": past[:SHOWN], "older": len(past) - SHOWN}
    if known:
        foot["all_changes"] = known.changes(name)
        foot["source"] = known.source(name)
        foot["report"] = known.issue(**report(Markup(title).striptags()))
    return {
        "is_chapter": path.suffix == ".ipynb",
        "colab": colab(app, path),
        "notebook": f"{notebooks.FOLDER}/{path.name}",
        "foot": foot,
    }


def read_history(app) -> None:
    """Ask git once for all pages."""
    app.book_history = changes(Path(app.srcdir))


def setup(app):
    app.connect("builder-inited", read_history)
