"""How long a slow phone waits for the date model in the page.

Chromium slows its processor down six times, and the network to 1.6 Mbit/s
with 150 ms of latency. A page as the site has it is opened, the model asked
for, and both waits timed: `PYTHONPATH=book python -m benchmarks page_model`.
"""

import gzip
import statistics
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from kit.explorers import FOLDER
from kit.explorers.dates import MODEL, date_explorer
from tools.editions.pdf import printing

ROUNDS = 5
SLOWER = 6  # the processor
NETWORK = {  # bytes a second, ms
    "offline": False,
    "downloadThroughput": 1.6e6 / 8,
    "uploadThroughput": 0.75e6 / 8,
    "latency": 150,
}
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Dates</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">{scripts}</head><body>{element}</body></html>
"""
ANSWER = """async () => {
  const explorer = document.querySelector("date-explorer");
  const start = performance.now();
  await explorer.ask();
  await new Promise((done) =>
    requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - start;
}"""


class Zipped(SimpleHTTPRequestHandler):
    """All goes out compressed, as the hosts of static sites send it."""

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        body = gzip.compress(path.read_bytes())
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


def lay_out(folder: Path) -> None:
    """The page and its scripts, each in a file."""
    explorer = date_explorer()
    for name in [*explorer.scripts, *explorer.later]:
        text = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    scripts = "\n".join(
        f'<script src="{name}.js" defer></script>' for name in explorer.scripts
    )
    page = PAGE.format(scripts=scripts, element=explorer.element())
    (folder / "index.html").write_text(page, encoding="utf-8")


def visit(browser: Browser, address: str) -> dict[str, float]:
    """The times of one reader, in ms."""
    context = browser.new_context(reduced_motion="reduce", **PHONE)
    page = context.new_page()
    phone = context.new_cdp_session(page)
    phone.send("Network.enable")
    phone.send("Network.emulateNetworkConditions", NETWORK)
    phone.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(address)
    page.wait_for_selector(".explorer[data-ready]")
    times = {
        "explorer ready, ms": page.evaluate("performance.now()"),
        "model fetched and first date written, ms": page.evaluate(ANSWER),
    }
    context.close()
    return times


def record() -> dict:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        lay_out(Path(folder))
        handler = partial(Zipped, directory=folder)
        browser = play.chromium.launch(
            executable_path=printing.program(), args=printing.FLAGS
        )
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever).start()
            address = f"http://127.0.0.1:{server.server_port}/index.html"
            visits = [visit(browser, address) for _ in range(ROUNDS)]
            server.shutdown()
        version = browser.version
        browser.close()
        sent = len(gzip.compress(Path(folder, f"{MODEL}.js").read_bytes()))
    about = {"slower": SLOWER, "network": NETWORK, "chromium": version}
    about["model, bytes sent"] = sent
    for name in visits[0]:
        times = [times[name] for times in visits]
        median, worst = statistics.median(times), max(times)
        about[name] = {"median": round(median, 1), "most": round(worst, 1)}
    return about
