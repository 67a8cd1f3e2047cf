"""One visit of a browser to one page, and what is noticed on the way."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Error, expect

expect.set_options(timeout=30_000)  # a machine may be busy
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
# What is laid out after the first paint is there: site.js.
WHOLE = ":root:not(.arriving)"
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
    for _ in range(600):
        with suppress(Error):  # while another page comes
            if tab.evaluate(f"async (arg) => Boolean(await {asked})", arg):
                return
        tab.wait_for_timeout(50)
    raise TimeoutError(f"this never became true: {expression}")


def expect_in_view(locator):
    """All of the element comes to stand in the window."""
    expect(locator).to_be_in_viewport(ratio=1)


@dataclass
class Visit:
    """One visit to one page: what it asked for, said and looked like."""

    tab: object
    requests: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    messages: list = field(default_factory=list)

    def __post_init__(self):
        self.tab.add_init_script(COUNT_SHIFTS)
        self.tab.goto = self.whole(self.tab.goto)
        self.tab.on("request", lambda r: self.requests.append(r.url))
        self.tab.on("requestfailed", self.note_failure)
        self.tab.on("response", self.note_refusal)
        self.tab.on("console", lambda m: self.messages.append(m.text))
        self.tab.on("pageerror", lambda e: self.messages.append(str(e)))

    def whole(self, goto):
        """Go to a page, and wait until all of it is laid out."""

        def go(url, **options):
            goto(url, **options)
            self.tab.locator(WHOLE).wait_for(state="attached")

        return go

    def note_failure(self, request):
        """A page that is left takes its unfinished requests with it."""
        if request.failure != "net::ERR_ABORTED":
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
