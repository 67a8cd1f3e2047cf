"""Where links into the book's repository lead, and where its pages are.

As long as `address` finds no repository, no page leads to a service or knows
its own address.
"""

import os
import re
from pathlib import Path
from urllib.parse import urlencode

from tools.source import address

GITHUB = "https://github.com/"
HOST = re.compile(r"https://(github|gitlab)\.com/([^/]+)/(.+)")
PAGES = {"github": "github.io", "gitlab": "gitlab.io"}


class Repository(address.Place):
    """The repository, and what can be found there."""

    def source(self, path: str) -> str:
        """Where a file can be read."""
        return f"{self.url}/blob/{self.branch}/{path}"

    def changes(self, path: str) -> str:
        """Where the history of a file can be read."""
        return f"{self.url}/commits/{self.branch}/{path}"

    def colab(self, path: str) -> str:
        """Where Colab opens a notebook; only GitHub's can be opened."""
        branch = self.branch if self.notebooks is None else self.notebooks
        if not self.url.startswith(GITHUB) or not branch:
            return ""
        place = f"{self.url.removeprefix(GITHUB)}/blob/{branch}/{path}"
        return f"https://colab.research.google.com/github/{place}"

    def issue(self, title: str, body: str) -> str:
        """The form for a new issue, filled in."""
        filled = urlencode({"title": title, "body": body})
        return f"{self.url}/issues/new?{filled}"

    @property
    def pages(self) -> str:
        """Where the host publishes the pages if nobody says otherwise."""
        found = HOST.fullmatch(self.url)
        if not found:
            return ""
        host, owner, name = found.groups()
        domain = f"{owner.lower()}.{PAGES[host]}"
        folder = "" if name.lower() == domain else f"{name}/"
        return f"https://{domain}/{folder}"


def repository(app) -> Repository | None:
    """The repository of the book; None as long as nobody has said it."""
    if not hasattr(app, "book_repository"):
        options = app.config.html_theme_options
        url = options.get("repository_url", "")
        branch = options.get("repository_branch", "main")
        found = address.find(url, branch, Path(app.srcdir))
        app.book_repository = found and Repository(**vars(found))
    return app.book_repository


def published(app) -> str:
    """The address of the published site, with a slash; "" if unknown.

    `html: baseurl` of the configuration comes first, then what the service
    that publishes the pages says. An edition stands below the latest one.
    """
    known = repository(app)
    said = app.config.html_baseurl or os.environ.get("PAGES_URL", "")
    site = f"{said.rstrip('/')}/" if said else known.pages if known else ""
    edition = known.edition if known else ""
    return f"{site}{edition}/" if site and edition else site


def notice_repository(app, config):
    """Write all pages again when the book has another address."""
    known = repository(app)
    config.book_repository = [*vars(known).values()] if known else []
    config.html_theme_options = {}  # those of the theme that is replaced


def setup(app):
    app.add_config_value("book_repository", [], "env")
    app.connect("config-inited", notice_repository)
