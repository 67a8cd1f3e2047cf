"""What a visit complains of: what a page lacks, not what was left behind."""

import threading

import pytest

from tests.site import conftest
from tests.site.visit import Visit, comes

PAGE = "<!doctype html><title>One page</title>"
SLOW = PAGE + '<img src="slow.png" loading="lazy" alt="">'
STOPS = (
    PAGE
    + """<script>
  const stop = new AbortController();
  fetch("slow.png", { signal: stop.signal }).catch(() => {});
  setTimeout(() => stop.abort(), 50);
</script>"""
)
LACKS = PAGE + '<img src="missing.png" alt="">'


@pytest.fixture
def address(tmp_path):
    """Pages, and a picture that takes until the test is over."""
    over = threading.Event()

    class Patient(conftest.QuietHandler):
        def do_GET(self):
            if self.path == "/slow.png":
                over.wait(30)
            super().do_GET()

    pages = {"calm": PAGE, "slow": SLOW, "stops": STOPS, "lacks": LACKS}
    for name, page in pages.items():
        (tmp_path / f"{name}.html").write_text(page)
    (tmp_path / "favicon.ico").touch()
    with conftest.served(tmp_path, Patient) as there:
        yield there
        over.set()


@pytest.fixture
def visit(browser):
    visit = Visit(browser.new_page())
    yield visit
    visit.tab.close()


def test_a_page_that_is_left_takes_its_requests_with_it(visit, address):
    slow, given_up = address + "slow.png", []
    visit.tab.on("requestfailed", lambda r: given_up.append(r.url))
    visit.load(address + "slow.html")  # which does not wait for the picture
    assert comes(visit.tab, lambda: slow in visit.requests)
    visit.load(address + "calm.html")
    assert comes(visit.tab, lambda: slow in given_up)
    visit.assert_calm()


def test_what_a_page_itself_gives_up_is_a_failure(visit, address):
    visit.load(address + "stops.html")
    assert comes(visit.tab, lambda: visit.failures)
    assert visit.failures == [address + "slow.png"]


def test_what_a_left_page_lacks_is_a_failure(visit, address):
    visit.load(address + "lacks.html")
    visit.load(address + "calm.html")
    assert visit.failures == [address + "missing.png"]
