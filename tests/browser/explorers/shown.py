"""An explorer on a page of its own, and what can be asked of it there."""

import re
from pathlib import Path

import torch

from tests.browser.record import violations
from tests.built import ROOT

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


def page_of(html: str, dark: bool = False) -> str:
    """A page in the book's style with this in it, read by a translator."""
    html = html.replace('class="explorer"', 'class="explorer" data-lt-id=""')
    theme = f' data-theme="{"dark" if dark else "light"}"'
    return PAGE.format(theme=theme, style=STYLE, home="", html=html)


def jupyter_page_of(html: str, dark: bool = False) -> str:
    """A page that calls its colours as JupyterLab does."""
    style = JUPYTER.format(*(JUPYTER_DARK if dark else JUPYTER_LIGHT))
    home = f' data-jp-theme-light="{"false" if dark else "true"}"'
    return PAGE.format(theme="", style=style, home=home, html=html)


def number(text: str) -> float:
    """A number as a page writes it."""
    plain = text.replace("−", "-").replace(",", "").replace("↻", "")
    return float(plain.replace("∞", "inf"))


def close(found, true, most=1e-5):
    """Assert that numbers of the page are those of a tensor."""
    found, true = (
        torch.as_tensor(x, dtype=torch.float64) for x in (found, true)
    )
    torch.testing.assert_close(found, true, atol=most, rtol=0)


class Shown:
    """An explorer in a browser."""

    def __init__(self, page):
        self.page = page

    @property
    def element(self):
        return self.page.locator(".explorer")

    @property
    def value(self):
        """What the explorer says that it shows."""
        return self.element.evaluate("(e) => e.value")

    def set(self, **value):
        """Change what it shows."""
        self.element.evaluate("(e, value) => { e.value = value; }", value)

    def each(self, states, read):
        """In one call, what is read in each state."""
        return self.element.evaluate(
            "(e, states) => states.map((state) => { e.value = state; "
            f"return ({read})(e) }})",
            states,
        )

    def get(self, role, name=None, **options):
        """A part of it by its role and name, as a screen reader finds it."""
        return self.element.get_by_role(role, name=name, **options)

    def all(self, selector, read="(e) => e.innerText"):
        """What a function reads of each part with this selector."""
        found = self.element.locator(f".frame {selector}")
        return found.evaluate_all(f"(all) => all.map({read})")

    def numbers(self, selector):
        """Those that the parts with this selector say."""
        return [number(text) for text in self.all(selector)]

    def text(self, selector):
        """The words of the one part with this selector."""
        return self.element.locator(f".frame {selector}").inner_text()

    def probe(self, name, *values):
        """What a function of `probes.js` finds."""
        return self.page.evaluate(f"{PROBES}.{name}(...{list(values)})")

    def begin(self):
        """From here on Tab begins at the top of the page."""
        self.page.mouse.click(1, 1)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def follow(self, steps):
        """Press keys and look where they led; see KEYS in `test_every.py`."""
        for keys, wanted in steps:
            if isinstance(keys, dict):
                self.set(**keys)
            else:
                self.press(*keys.split())
                assert self.probe("reachable"), keys
            if isinstance(wanted, str):
                here = self.probe("active")
                assert here.startswith(wanted), (keys, here)
            else:
                value = self.value
                found = {name: value[name] for name in wanted}
                assert found == wanted, (keys, found)

    def stops(self) -> list[str]:
        """What Tab leads to, from the top of the page to its end."""
        self.begin()
        found = []
        while len(found) < 100:
            self.press("Tab")
            name = self.probe("active")
            if not name or name in found[:1]:  # a busy browser begins anew
                break
            found.append(name)
        return found

    def violations(self) -> list:
        """What axe finds against WCAG 2.2, levels A and AA."""
        return violations(self.page)

    def assert_fits(self):
        """Nothing is cut, and all is large enough to be read and pressed."""
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= self.page.viewport_size["width"]
        for problem in ("outside", "smallTargets", "smallText"):
            assert self.probe(problem) == [], problem
