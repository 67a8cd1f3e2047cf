"""The content-security policy: what a browser loads and runs on a page.

A page runs the site's own scripts, and of inline scripts those of the theme,
which it knows by their hashes. Whatever else finds its way into a page, from
an output or a formula, stays text. The policy is a `meta` element, so it
holds on every server and in files; there `'self'` stands for other files.
"""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from markupsafe import Markup

LAYOUT = Path(__file__).parents[1] / "theme" / "layout.html"
INLINE = re.compile(r"<script>(.*?)</script>", re.S)
STYLES = re.compile(r"<style>(.*?)</style>", re.S)
CHARSET = '<meta charset="utf-8">'
# KaTeX positions its boxes by style attributes; no page has <style>.
DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",  # of browsers without the next two
    "style-src-elem": "'self'",
    "style-src-attr": "'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "object-src": "'none'",
}


def digest(text: str) -> str:
    """How a policy names what stands in a page, and may not change after."""
    hashed = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(hashed).decode()}'"


def policy(scripts: list[str] = (), **others: str) -> str:
    """A policy that lets these inline scripts run.

    Args:
        scripts: what stands between their tags.
        **others: directives that differ, with `_` for `-`.
    """
    rules = DIRECTIVES | {k.replace("_", "-"): v for k, v in others.items()}
    hashes = sorted({digest(script) for script in scripts})
    rules["script-src"] = " ".join([rules["script-src"], *hashes])
    return "; ".join(f"{name} {sources}" for name, sources in rules.items())


def meta(text: str) -> Markup:
    """The element that says so; it has to precede all that it governs."""
    name = 'http-equiv="Content-Security-Policy"'
    return Markup(f'<meta {name} content="{text}">')  # no " is in it


@cache
def of_theme() -> Markup:
    """The policy of the book's pages; no inline script of theirs varies.

    Raises:
        ValueError: one does, so that it has no digest.
    """
    scripts = INLINE.findall(LAYOUT.read_text("utf-8"))
    if any("{{" in script or "{%" in script for script in scripts):
        raise ValueError(f"{LAYOUT.name}: an inline script varies")
    return meta(policy(scripts))


def guarded(page: str) -> str:
    """A page of its own with a policy for the scripts and styles inside it.

    Only for text that this extension writes itself.
    """
    styles = " ".join(["'self'", *map(digest, STYLES.findall(page))])
    shown = meta(policy(INLINE.findall(page), style_src_elem=styles))
    return page.replace(CHARSET, f"{CHARSET}\n{shown}", 1)
