"""Where the book's repository is, and where its pages are.

As long as `address` finds no repository, no page leads to a service or knows
its own address.
"""

import os
import re
from pathlib import Path

from tools.source import address

GITHUB = "https://github.com/"
COLAB = "https://colab.research.google.com/github/"
HOST = re.compile(r"https://(github|gitlab)\.com/([^/]+)/(.+)")


def repository(app) -> address.Place | None:
    """The repository of the book; None as long as nobody has said it."""
    if not hasattr(app, "book_repository"):
        options = app.config.html_theme_options
        url = options.get("repository_url", "")
        branch = options.get("repository_branch", "main")
        app.book_repository = address.find(url, branch, Path(app.srcdir))
    return app.book_repository


def colab(app, path: Path) -> str:
    """Where Colab opens a chapter: "" if it cannot, as GitHub has it not.

    It is the students' edition if the configuration says where that lies.
    """
    known, student = repository(app), app.config.student_path
    if not known or not known.url.startswith(GITHUB):
        return ""
    branch = known.branch if known.notebooks is None else known.notebooks
    opened = Path(student, path.name) if student else path
    place = f"{known.url.removeprefix(GITHUB)}/blob/{branch}"
    return f"{COLAB}{place}/{opened.as_posix()}" if branch else ""


def host_pages(url: str) -> str:
    """Where the host of a repository publishes its pages, or ""."""
    if not (match := HOST.fullmatch(url)):
        return ""
    host, owner, name = match.groups()
    domain = f"{owner.lower()}.{host}.io"
    folder = "" if name.lower() == domain else f"{name}/"
    return f"https://{domain}/{folder}"


def published(app) -> str:
    """The address of the published site, with a slash; "" if unknown.

    `html: baseurl` of the configuration comes first, then what the service
    that publishes the pages says. An edition stands below the latest one.
    """
    known = repository(app)
    address = app.config.html_baseurl or os.environ.get("PAGES_URL", "")
    url, edition = (known.url, known.edition) if known else ("", "")
    site = f"{address.rstrip('/')}/" if address else host_pages(url)
    return f"{site}{edition}/" if site and edition else site


def notice_repository(app, config):
    """Write all pages again when the book has another address."""
    known = repository(app)
    config.book_repository = [*vars(known).values()] if known else []
    config.html_theme_options = {}  # those of the theme that is replaced


def setup(app):
    app.add_config_value("book_repository", [], "env")
    app.connect("config-inited", notice_repository)
