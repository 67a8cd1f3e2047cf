"""An explorer on a page of its own, and what can be asked of it there."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import axe_playwright_python
import pytest

from tests.site.conftest import ROOT
from tools.chapters import sync

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
PROBES = Path(__file__).with_name("probes.js").read_text()
FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
STYLE = FONT_FACE.sub("", (ROOT / "book/_static/custom.css").read_text())
PAGE = """\
<!DOCTYPE html>
<html lang="en"{theme}><head><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{style}</style></head>
<body{home}><main id="main" class="article"><h1>A page</h1>
{html}</main></body></html>
"""
# What JupyterLab 4.6 says of its colours, and what an output stands on.
JUPYTER = """
body {{ background: {0}; color: {1};
  --jp-layout-color0: {0}; --jp-content-font-color1: {1};
  --jp-content-font-family: sans-serif;
  --jp-code-font-family: monospace; }}"""
JUPYTER_LIGHT = "white", "rgba(0, 0, 0, 0.87)"
JUPYTER_DARK = "#111", "white"


def first_quick(cases):
    """All cases for `parametrize`, of which only the first is quick."""
    head, *rest = cases
    return [head, *(pytest.param(x, marks=pytest.mark.slow) for x in rest)]


def page_of(html: str, dark: bool = False) -> str:
    """A page in the book's style with this in it."""
    theme = f' data-theme="{"dark" if dark else "light"}"'
    return PAGE.format(theme=theme, style=STYLE, home="", html=html)


def jupyter_page_of(html: str, dark: bool = False) -> str:
    """A page that calls its colours as JupyterLab does."""
    style = JUPYTER.format(*(JUPYTER_DARK if dark else JUPYTER_LIGHT))
    home = f' data-jp-theme-light="{"false" if dark else "true"}"'
    return PAGE.format(theme="", style=style, home=home, html=html)


def mutated(html: str, old: str, new: str) -> str:
    """The same with a fault in a script."""
    assert html.count(old) == 1, f"{html.count(old)} times: {old}"
    return html.replace(old, new)


def answer_of(chapter: str) -> str:
    """What a chapter answers to the question about its explorer."""
    (path,) = (ROOT / "book").glob(f"{chapter}_*.ipynb")
    page = sync.read(path).cells
    places = [
        place
        for place, cell in enumerate(page)
        if "explorer" in cell.metadata.get("tags", [])
    ]
    return " ".join(page[places[0] + 1].source.split())


@dataclass
class Shown:
    """An explorer in a browser."""

    page: object
    address: str
    messages: list = field(default_factory=list)
    requests: list = field(default_factory=list)

    def __post_init__(self):
        self.listeners = {
            "console": lambda m: self.messages.append(m.text),
            "pageerror": lambda e: self.messages.append(str(e)),
            "request": lambda r: self.requests.append(r.url),
        }
        for event, listener in self.listeners.items():
            self.page.on(event, listener)

    def leave(self):
        """Hear all that was said until now, and let the tab go."""
        if self.listeners:
            self.page.evaluate("0")
        while self.listeners:
            self.page.remove_listener(*self.listeners.popitem())

    @property
    def element(self):
        return self.page.locator(".explorer")

    @property
    def value(self):
        """What the explorer says that it shows."""
        return self.element.evaluate("(e) => e.value")

    def set(self, **value):
        """Change what it shows; returns the new value."""
        return self.element.evaluate(
            "(e, v) => { e.value = v; return e.value }", value
        )

    def each(self, states, read="(e) => null"):
        """In one call, its value in each state and what is read there."""
        return self.element.evaluate(
            "(e, all) => all.map((state) => { e.value = state; "
            f"return [e.value, ({read})(e)] }})",
            states,
        )

    def get(self, role, name=None, **options):
        """A part of it by its role and name, as a screen reader finds it."""
        return self.element.get_by_role(role, name=name, **options)

    def probe(self, name):
        """What a function of `probes.js` finds."""
        return self.page.evaluate(f"{PROBES}.{name}()")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def focused(self) -> str:
        """The name of what the keyboard is at."""
        return self.probe("active")

    def stops(self) -> list[str]:
        """What Tab leads to, from the top of the page to its end."""
        self.page.evaluate("document.activeElement.blur()")
        found = []
        while len(found) < 100:
            self.press("Tab")
            name = self.focused()
            if not name or name in found[:1]:  # a busy browser begins anew
                break
            found.append(name)
        return found

    def violations(self) -> list[str]:
        """What axe finds against WCAG 2.2, levels A and AA."""
        self.page.evaluate(AXE)
        return self.probe("axe")

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        return wide - self.page.viewport_size["width"]

    def outside(self) -> list[str]:
        """What stands out of the frame of the explorer."""
        return self.probe("outside")

    def small_targets(self) -> list[str]:
        """What is to be pressed and has less than 24 pixels."""
        return self.probe("smallTargets")

    def small_text(self) -> list[str]:
        """What has letters of less than 12 pixels."""
        return self.probe("smallText")
