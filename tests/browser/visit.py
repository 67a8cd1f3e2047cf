"""One visit of a browser to one page, and what is noticed on the way."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Error

HERE = Path(__file__).parent
CHAPTER = "book/05_heads.html"
PROBE = (HERE / "probe.js").read_text()
MEASURE = (HERE / "measure.js").read_text()
WIDE = (HERE / "wide.css").read_text()
COUNT_SHIFTS = """
window.layoutShift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput) window.layoutShift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
FONTS = "document.fonts.ready.then(() => true)"
UNFOLD = """
for (const box of document.querySelectorAll("details")) box.open = true;
"""
# As an element it would be refused: the pages have a policy.
ADD_STYLE = """(text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets.push(sheet);
}"""
# Boxes tell the keyboard that they scroll one frame after their size changes.
SETTLE = """
new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
"""


def until(tab, expression, arg=None):
    """Wait for something to become true on a page.

    Playwright's `wait_for_function` evaluates text, which a policy forbids.

    Args:
        tab: where to look.
        expression: JavaScript; a function if there is something to give it.
        arg: what it is given.
    """
    asked = expression if arg is None else f"({expression})(arg)"

    def is_true():
        with suppress(Error):  # while another page comes
            return tab.evaluate(f"(arg) => Boolean({asked})", arg)

    if not comes(tab, is_true):
        raise TimeoutError(f"this never became true: {expression}")


def comes(tab, condition):
    """Does a function of no arguments come to hold, also on a busy machine?"""
    for _ in range(600):
        if condition():
            return True
        tab.wait_for_timeout(50)
    return False


def in_view(locator):
    """Does the element stand in the window?"""
    window, box = locator.page.viewport_size, locator.bounding_box()
    return (
        box is not None
        and 0 <= box["x"] <= box["x"] + box["width"] <= window["width"]
        and 0 <= box["y"] <= box["y"] + box["height"] <= window["height"]
    )


@dataclass
class Visit:
    """One visit to one page: what it asked for, said and looked like."""

    tab: object
    requests: list = field(default_factory=list)
    begun: dict = field(default_factory=dict)  # on which page, by request
    pages: int = 0
    failures: list = field(default_factory=list)
    messages: list = field(default_factory=list)

    def __post_init__(self):
        self.tab.add_init_script(COUNT_SHIFTS)
        self.tab.on("request", self.note_request)
        self.tab.on("requestfailed", self.note_failure)
        self.tab.on("response", self.note_refusal)
        self.tab.on("console", lambda m: self.messages.append(m.text))
        self.tab.on("pageerror", lambda e: self.messages.append(str(e)))

    def note_request(self, request):
        self.requests.append(request.url)
        if request.is_navigation_request():
            self.pages += request.frame == self.tab.main_frame
        self.begun[request] = self.pages

    def note_failure(self, request):
        """A page that is left takes its unfinished requests with it."""
        left = self.begun[request] < self.pages
        if not (left and request.failure == "net::ERR_ABORTED"):
            self.failures.append(request.url)

    def note_refusal(self, response):
        if response.status >= 400:
            self.failures.append(response.url)

    def begin(self, url):
        """Load another page, and note anew from here on."""
        self.requests, self.failures, self.messages = [], [], []
        self.load(url)

    def load(self, url):
        self.tab.goto(url, wait_until="load")
        self.tab.evaluate(FONTS)

    def look(self, colours=False):
        """What a reader with sharp eyes would complain of."""
        return self.tab.evaluate(PROBE, colours)

    def unfold(self):
        self.tab.evaluate(UNFOLD)

    def measure(self, width):
        """What does not fit into a window of this width."""
        height = self.tab.viewport_size["height"]
        self.tab.set_viewport_size({"width": width, "height": height})
        self.tab.evaluate(SETTLE)
        return self.tab.evaluate(MEASURE)

    def widen(self):
        """From here on in wide typefaces and larger text."""
        self.tab.evaluate(ADD_STYLE, WIDE)
        self.tab.evaluate("document.body.offsetWidth")  # asks for the fonts
        self.tab.evaluate(FONTS)

    def assert_calm(self):
        """Nothing was missing, and nothing was said."""
        assert self.failures == []
        assert self.messages == []
