"""The list of editions in the bar of a page, as publishing writes it."""

import pytest

from tests.site.pages import NOTEBOOKS
from tests.site.visit import Visit
from tools.editions.publish import editions

PAGE = f"{NOTEBOOKS[3]}.html"
HAS = {name: {PAGE} for name in ("latest", "v0.10", "v0.2-draft")}
FITS = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(
    params=[
        320,
        *(pytest.param(w, marks=pytest.mark.slow) for w in (360, 1440)),
    ]
)
def tab(request, browser, address):
    """A page with a list of editions, in a window of this width."""
    size = {"width": request.param, "height": 600}
    context = browser.new_context(viewport=size)
    visit = Visit(context.new_page())

    def put(route):
        text = route.fetch().text()
        shown = editions.choice(PAGE, PAGE, "v0.2-draft", HAS)
        new = editions.PLACE.sub(rf"\g<1>{shown}\g<2>", text)
        assert new != text
        route.fulfill(body=new, content_type="text/html")

    visit.tab.route(address + PAGE, put)
    visit.load(address + PAGE)
    yield visit.tab
    said = [m for m in visit.messages if "404" not in m]  # v0.10 is not there
    assert said == []
    context.close()


@pytest.mark.slow
def test_it_finds_room_and_leads_on_by_keyboard(tab, address):
    bar, summary = tab.locator(".top-bar"), tab.locator(".editions > summary")
    here = tab.locator(".editions [aria-current]")
    assert here.text_content() == "v0.2-draft"
    assert summary.inner_text().endswith("v0.2-draft")
    brand = tab.locator(".brand").bounding_box()
    box = summary.bounding_box()
    assert brand["height"] <= bar.bounding_box()["height"]
    assert brand["x"] + brand["width"] <= box["x"] and box["height"] >= 24
    summary.focus()
    tab.keyboard.press("Enter")
    links = tab.locator(".editions a")
    assert tab.evaluate(FITS) and links.first.is_visible()
    assert all(one.bounding_box()["height"] >= 24 for one in links.all())
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"{address}v0.10/{PAGE}")
