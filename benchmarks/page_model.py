"""How long a slow phone waits for the date model in the page.

Chromium slows its processor down six times, and the network to 1.6 Mbit/s
with 150 ms of latency. A page as the site has it is opened, the model asked
for, and each part timed: `PYTHONPATH=book python -m benchmarks.page_model`.
"""

import gzip
import json
import statistics
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.timing import circumstances
from kit.dates import generate, splits
from kit.explorers import FOLDER
from kit.explorers.dates import MODEL, date_explorer
from tools.pdf import printing

RESULT = Path(__file__).parent / "results" / "page_model.json"
ROUNDS, DATES = 5, 20
SLOWER = 6  # the processor
NETWORK = {  # bytes a second, ms
    "offline": False,
    "downloadThroughput": 1.6e6 / 8,
    "uploadThroughput": 0.75e6 / 8,
    "latency": 150,
}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Dates</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">{scripts}</head><body>{element}</body></html>
"""
ANSWER = """async () => {
  const explorer = document.querySelector("date-explorer");
  const drawn = () => new Promise((done) =>
    requestAnimationFrame(() => setTimeout(done)));
  const start = performance.now();
  await explorer.ask();
  await drawn();
  return performance.now() - start;
}"""
TOKENS = """(texts) => {
  const explorer = document.querySelector("date-explorer");
  const { live } = explorer, first = [], further = [], drawing = [];
  for (const text of texts) {
    let before = performance.now();
    const timed = (times) => {
      times.push(performance.now() - before);
      before = performance.now();
    };
    const memory = live.model.encode(live.read(text).ids);
    for (const step of live.model.write(memory, 16)) {
      timed(step.cache.ids.length === 1 ? first : further);
    }
    explorer.value = { text };
    const { length } = explorer.result.tokens;
    for (let shown = 2; shown <= length; shown++) {
      explorer.shown = shown;
      explorer.step = shown - 1;
      before = performance.now();
      explorer.draw();
      document.body.offsetHeight; // the layout too
      timed(drawing);
    }
  }
  return { first, further, drawing };
}"""


class Zipped(SimpleHTTPRequestHandler):
    """Scripts go out compressed, as the hosts of static sites send them."""

    def do_GET(self):
        body = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        if self.path.endswith(".js"):
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


def lay_out(folder: Path) -> None:
    """The page and its scripts, each in a file."""
    explorer = date_explorer()
    for name in [*explorer.scripts, MODEL]:
        text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    scripts = "\n".join(
        f'<script src="{name}.js" defer></script>' for name in explorer.scripts
    )
    page = PAGE.format(scripts=scripts, element=explorer.element())
    (folder / "index.html").write_text(page, encoding="utf-8")


def visit(browser, address: str, texts: list[str]) -> dict:
    """One reader: ms until the explorer stands, until it answers, a token."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740},
        is_mobile=True,
        has_touch=True,
        reduced_motion="reduce",
    )
    page = context.new_page()
    phone = context.new_cdp_session(page)
    phone.send("Network.enable")
    phone.send("Network.emulateNetworkConditions", NETWORK)
    phone.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(address)
    page.wait_for_selector(".explorer[data-ready]")
    ready = page.evaluate("performance.now()")
    answer = page.evaluate(ANSWER)
    times = page.evaluate(TOKENS, texts)
    context.close()
    return {"ready": ready, "answer": answer} | times


def measure() -> dict:
    """Medians, and the worst of what is repeated, in ms."""
    texts = [e.text for e in generate(splits()["test"], DATES, seed=4)]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        lay_out(Path(folder))
        handler = partial(Zipped, directory=folder)
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = play.chromium.launch(
            executable_path=printing.program(), args=printing.FLAGS
        )
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        visits = [visit(browser, address, texts) for _ in range(ROUNDS)]
        version = browser.version
        browser.close()
        server.shutdown()
        sent = len(gzip.compress(Path(folder, f"{MODEL}.js").read_bytes()))
    return {"chromium": version, "model, bytes sent": sent} | summary(visits)


def summary(visits: list[dict]) -> dict:
    """From the times of all visits to a few numbers."""
    found = {}
    for name, key in (
        ("explorer ready, ms", "ready"),
        ("model fetched and first date written, ms", "answer"),
        ("text read and first token, ms", "first"),
        ("each further token, ms", "further"),
        ("drawing it, ms", "drawing"),
    ):
        times = [
            time
            for one in visits
            for time in (
                one[key] if isinstance(one[key], list) else [one[key]]
            )
        ]
        worst = statistics.quantiles(times, n=20)[-1]
        found[name] = {
            "median": round(statistics.median(times), 1),
            "95%": round(min(worst, max(times)), 1),
        }
    return found


def main() -> None:
    about = circumstances()
    record = {key: about[key] for key in ("machine", "date")}
    record |= {"slower": SLOWER, "network": NETWORK} | measure()
    RESULT.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
