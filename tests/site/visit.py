"""One visit of a browser to one page, and what is noticed on the way."""

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
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
document.querySelectorAll("details").forEach((box) => (box.open = true))
"""
# Boxes tell the keyboard that they scroll one frame after their size changes.
SETTLE = """
new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
"""


@dataclass
class Visit:
    """One visit to one page: what it asked for, said and looked like."""

    tab: object
    requests: list = field(default_factory=list)
    failures: list = field(default_factory=list)
    messages: list = field(default_factory=list)

    def __post_init__(self):
        self.tab.add_init_script(COUNT_SHIFTS)
        self.tab.on("request", lambda r: self.requests.append(r.url))
        self.tab.on("requestfailed", lambda r: self.failures.append(r.url))
        self.tab.on("response", self.note_refusal)
        self.tab.on("console", lambda m: self.messages.append(m.text))
        self.tab.on("pageerror", lambda e: self.messages.append(str(e)))

    def note_refusal(self, response):
        if response.status >= 400:
            self.failures.append(response.url)

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
        self.tab.add_style_tag(content=WIDE)
        self.tab.evaluate("document.body.offsetWidth")  # asks for the fonts
        self.tab.evaluate(FONTS)

    def assert_calm(self):
        assert self.failures == []
        assert self.messages == []
