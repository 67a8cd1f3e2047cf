"""What one load of a page tells, on a phone, on a desktop or as a file."""

from pathlib import Path

import axe_playwright_python

from tests.browser.visit import SETTLE, Visit
from tests.built import CHAPTERS, KINDS

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text()
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RUN = """async ([inside, options]) => {
  const found = await axe.run(inside, options);
  return found.violations.map(({ id, nodes }) => [id, nodes[0].html]);
}"""
# What takes axe long: the many pieces of code, and to look for what lies
# behind a text, which `look` does as well.
PRUNE = """(kept) => {
  for (const code of document.querySelectorAll("pre"))
    if (!code.closest(kept)) code.textContent = code.textContent;
}"""
TABLES = {"td-has-header": {"enabled": True}}  # axe's own choice leaves it out
BARE = {"rules": TABLES | {"color-contrast": {"enabled": False}}}
EXPLORERS = """[...document.querySelectorAll(".explorer")].map((e) =>
  e.hasAttribute("data-ready"))"""
# Also what moves late is seen.
LATE = """new Promise((done) => {
  const [{ loadEventEnd }] = performance.getEntriesByType("navigation");
  setTimeout(done, loadEventEnd + 250 - performance.now());
})"""
# Everything that opens is opened, every button pressed, in explorers too.
PRESS = """() => {
  const all = [...document.querySelectorAll("*")];
  for (const box of all.filter((element) => element.shadowRoot))
    all.push(...box.shadowRoot.querySelectorAll("*"));
  for (const element of all) {
    if (element.localName === "details") element.open = true;
    if (element.localName === "button" && element.type === "button")
      element.click();
  }
}"""
MENU = "document.querySelector('#menu').showPopover()"
SIZES = {"phone": (360, 740), "desktop": (1400, 900), "file": (1400, 900)}
PHONES = [360, 320]
# With --quick they are looked at in one light and in one typeface.
ALIKE = {f"{name}.html" for name in CHAPTERS} - {*KINDS}


def violations(tab, inside="html", **options):
    """What axe finds against WCAG 2.2, levels A and AA."""
    tab.evaluate(PRUNE, inside)
    tab.evaluate(AXE)  # as an element the policy would refuse it
    usual = {"runOnly": LEVELS, "rules": TABLES}
    return tab.evaluate(RUN, [inside, usual | options])


class Recorder:
    """Its `ask(page, device)` loads a page and says what it told."""

    def __init__(self, browser, site, address, quick):
        self.roots = dict.fromkeys(SIZES, address)
        self.roots["file"] = f"{site.as_uri()}/"
        self.browser, self.quick = browser, quick
        self.visits = {}

    def ask(self, page, device):
        width, height = SIZES[device]
        size = {"width": width, "height": height}
        if device not in self.visits:  # one tab is quicker than many
            tab = self.browser.new_page(
                viewport=size, permissions=["clipboard-write"]
            )
            self.visits[device] = Visit(tab)
        visit = self.visits[device]
        visit.tab.set_viewport_size(size)
        visit.tab.emulate_media(color_scheme="light")
        visit.begin(self.roots[device] + page)
        told = {
            "root": self.roots[device],
            "page": page,
            "loaded": [*visit.requests],
            "explorers": visit.tab.evaluate(EXPLORERS),
        }
        if self.quick and device == "phone" and page in ALIKE:
            told |= self.glance(visit)
        else:
            told |= getattr(self, device)(visit)
        visit.tab.evaluate("localStorage.clear()")
        return told | {
            "requests": visit.requests,
            "failures": visit.failures,
            "messages": visit.messages,
        }

    def glance(self, visit):
        """The narrowest window, once."""
        visit.tab.evaluate(MENU)
        visit.unfold()
        usual = {PHONES[-1]: visit.measure(PHONES[-1])}
        looks = [visit.look(colours=True)]
        return {"looks": looks, "usual": usual, "wide": {}, "violations": []}

    def phone(self, visit):
        """A narrow window: folded, then open, and then in wide letters."""
        widths = PHONES[-1:] if self.quick else PHONES
        folded = [] if self.quick else in_every_light(visit)
        visit.tab.evaluate(MENU)
        visit.unfold()
        told = {
            "looks": folded + in_every_light(visit),
            "usual": {width: visit.measure(width) for width in widths},
        }
        told["violations"] = (
            [] if self.quick else violations(visit.tab, **BARE)
        )
        visit.widen()
        wide = {width: visit.measure(width) for width in widths}
        return told | {"wide": wide}

    def desktop(self, visit):
        """A wide window: folded, open, in wide letters, and played with."""
        told = {"looks": in_every_light(visit)}
        visit.tab.evaluate(LATE)
        visit.tab.evaluate(SETTLE)
        told["shift"] = visit.tab.evaluate("window.layoutShift")
        visit.unfold()
        told["usual"] = {1400: visit.measure(1400)}
        visit.widen()
        told["wide"] = {1610: visit.measure(1610)}  # 1400 at 115%
        if self.quick:
            visit.tab.evaluate(PRUNE, "title")
        options = BARE if self.quick else {}
        told["violations"] = violations(visit.tab, **options)
        press(visit)
        return told

    def file(self, visit):
        """Opened without any server, and played with."""
        told = {"looks": [visit.look()]}
        press(visit)
        return told


def in_every_light(visit):
    """What sharp eyes complain of in the dark and in the light."""
    seen = []
    for scheme in ("dark", "light"):
        visit.tab.emulate_media(color_scheme=scheme)
        seen.append(visit.look(colours=True))
    return seen


def assert_legible(visit, inside="html"):
    """Nothing is too faint in the dark or the light, and axe is content."""
    assert [seen["tooFaint"] for seen in in_every_light(visit)] == [[], []]
    assert violations(visit.tab, inside) == []


def press(visit):
    """Open what opens, press every button and scroll on."""
    visit.tab.evaluate(PRESS)
    visit.tab.mouse.wheel(0, 4000)
    visit.tab.evaluate(SETTLE)
