"""One HTML file with every page of the built site, in the order of the book.

The pages lie in it as templates, so the browser loads nothing of them before
`arrange.js` has given each name and address its new form.
"""

import re
import tomllib
from html import escape
from pathlib import Path

import yaml

from book._ext.book_site.pages import downloads
from tools.source import address
from tools.source.taught import ROOT, toc_files

SITE = ROOT / "_build" / "html"
MAIN = re.compile(r"<main\b[^>]*>(.*?)</main>", re.S)
ONLINE = {"The lab", "Teaching"}  # for whoever has the site
SHELL = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="{site}/_static/book.css">
<link rel="stylesheet" href="{site}/_static/katex/math.css">
<link rel="stylesheet" href="{style}">
</head>
<body class="paper"><main class="article"></main>
{pages}
</body>
</html>
"""


def book(root: Path = ROOT) -> dict:
    """What the title page says, and the parts with their pages."""
    config = yaml.safe_load((root / "_config.yml").read_text("utf-8"))
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    place = address.read(root)
    return {
        "title": config["title"],
        "author": config["author"],
        "edition": project["project"]["version"],
        "source": f"{place.url}/blob/{place.branch}/book/" if place else "",
        "root": toc["root"],
        "parts": [
            {
                "caption": part["caption"],
                "pages": [n for n in toc_files(part) if n != downloads.PAGE],
            }
            for part in toc["parts"]
            if part["caption"] not in ONLINE
        ],
    }


def documents(contents: dict) -> list[str]:
    """Every page of the book, the first one first."""
    parts = (part["pages"] for part in contents["parts"])
    return [contents["root"], *(page for pages in parts for page in pages)]


def template(name: str, site: Path) -> str:
    """What a page of the site has to say, kept from being shown yet."""
    path = site / f"{name}.html"
    text = MAIN.search(path.read_text("utf-8"))[1]
    attributes = f'data-page="{escape(name)}" data-url="{path.as_uri()}"'
    return f"<template {attributes}>{text}</template>"


def compose(contents: dict, site: Path = SITE) -> str:
    """The text of the file that the browser opens."""
    return SHELL.format(
        title=escape(contents["title"]),
        site=site.as_uri(),
        style=Path(__file__).with_name("paper.css").as_uri(),
        pages="\n".join(template(n, site) for n in documents(contents)),
    )
