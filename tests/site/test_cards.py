"""What links show: the texts, and the cards in a browser."""

import gzip
import json
import re
from urllib.parse import urldefrag

import pytest

from book._ext.book_site.pages import notation
from book._ext.book_site.pages import previews as cards
from tests.site.pages import DOCUMENTS, NOTEBOOKS, quickly
from tests.site.test_html import soup_of
from tests.site.visit import Visit, on_desktop

CHAPTER = "book/05_heads.html"
MOST = 12_000  # bytes of what a page's links show, compressed
KEEP = "a.internal"
MATH = '<span class="math"><span>a. b</span></span>'


def test_pictures_are_found_from_another_page(tmp_path):
    html = '<img alt="" src="../_images/a.png">'
    source = tmp_path / "book" / "one.html"
    for page, link in {
        "book/two.html": "../_images/a.png",
        "book/teach/two.html": "../../_images/a.png",
        "two.html": "_images/a.png",
    }.items():
        moved = cards.moved(html, source, tmp_path / page)
        assert moved == html.replace("../_images/a.png", link)


def cards_of(site, name):
    text = (site / cards.FOLDER / f"{name}.js").read_text()
    return json.loads(re.fullmatch(r"previews\((.*)\);\n", text, re.S)[1])


def test_cards_are_small_and_whole(site):
    for name in DOCUMENTS:
        page = site / f"{name}.html"
        path = site / cards.FOLDER / f"{name}.js"
        assert len(gzip.compress(path.read_bytes())) <= MOST, name
        for html in cards_of(site, name).values():
            assert ' id="' not in html and "<a " not in html, name
            for image in re.findall(r'src="([^"]+)"', html):
                assert (page.parent / image).is_file(), name


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_works_terms_symbols_figures_and_pages_have_cards(site, name):
    known = cards_of(site, name)
    links = soup_of(site / f"{name}.html").main.select(KEEP)
    wanted = {
        link["href"]
        for link in links
        if not link.find_parent("nav")
        and re.search(
            r"^#fig-|bibliography.html#|glossary.html#|notation.html|"
            r"^\d\d_\w+\.html",
            link["href"],
        )
    }
    assert wanted and wanted <= set(known)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_figure_that_the_text_names_is_a_link(site, name):
    main = soup_of(site / f"{name}.html").main
    links = main.select("a.figure-link")
    assert links
    for link in links:
        number = link.get_text().split()[-1]
        page, place = urldefrag(link["href"])
        target = soup_of(site / "book" / page).main if page else main
        caption = target.find(id=place).select_one(".caption-number")
        assert caption.get_text().strip() == f"Fig. {number}"
    for tag in main(["pre", "code", "a", "h1", "h2", "h3"]):
        assert not tag.select("a.figure-link")


@pytest.fixture
def visit(browser, address):
    with on_desktop(browser, address + CHAPTER) as visit:
        yield visit
        visit.assert_calm()
        assert visit.look()["shift"] < 0.001


@pytest.fixture
def tab(visit):
    return visit.tab


def link(tab, kind="[href*=glossary]"):
    found = tab.locator(f"main a.internal{kind}").first
    found.evaluate("(a) => a.scrollIntoView({ block: 'center' })")
    return found


def point_at(target):
    """Move the pointer there; Playwright's own way misses a formula."""
    box = target.evaluate("(a) => a.getClientRects()[0].toJSON()")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    target.page.mouse.move(x, y)


def card(tab):
    return tab.locator("#preview")


KINDS = {
    "[href*=glossary]": "One attention among several",
    "[href*=bibliography]": "Attention is all you need",
    "[href^='#fig']": "Fig. 5.",
    "[href*='notation.html#']": "W_q",
    "[href='03_scoring_with_einsum.html']": "3. Scoring with einsum",
}


@pytest.mark.parametrize(
    "kind", quickly(KINDS, next(iter(KINDS)).__eq__), ids=KINDS.get
)
def test_pointer_and_focus_show_where_a_link_leads(tab, kind):
    target = link(tab, kind)
    point_at(target)
    card(tab).wait_for()
    assert KINDS[kind] in card(tab).inner_text()
    tab.mouse.move(5, 500)
    card(tab).wait_for(state="hidden")
    target.focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    card(tab).wait_for()
    assert target.get_attribute("aria-describedby") == "preview"
    assert card(tab).get_attribute("role") == "tooltip"
    tab.keyboard.press("Tab")
    assert target.get_attribute("aria-describedby") is None
    tab.evaluate("document.activeElement.blur()")
    card(tab).wait_for(state="hidden")


@pytest.mark.slow
def test_nothing_is_loaded_before_it_is_wanted(visit):
    data = f"/_static/previews/{CHAPTER.removesuffix('.html')}.js"
    assert not any(url.endswith(data) for url in visit.requests)
    point_at(link(visit.tab))
    card(visit.tab).wait_for()
    assert [url.endswith(data) for url in visit.requests].count(True) == 1


@pytest.mark.slow
def test_the_pointer_may_go_to_the_card_and_rest_there(tab):
    point_at(link(tab))
    card(tab).wait_for()
    box = card(tab).bounding_box()
    tab.mouse.move(box["x"] + 20, box["y"] + 20)
    tab.wait_for_timeout(600)
    assert card(tab).is_visible()
    tab.mouse.move(5, 500)
    card(tab).wait_for(state="hidden")


@pytest.mark.slow
def test_escape_puts_the_card_away_and_moves_nothing(tab):
    for show in (point_at, lambda a: a.press("Shift")):
        target = link(tab)
        show(target)
        card(tab).wait_for()
        place = tab.evaluate("scrollY")
        focus = tab.evaluate("document.activeElement.href")
        tab.keyboard.press("Escape")
        assert not card(tab).is_visible()
        assert tab.evaluate("scrollY") == place
        assert tab.evaluate("document.activeElement.href") == focus
        tab.wait_for_timeout(400)
        assert not card(tab).is_visible()


@pytest.mark.slow
@pytest.mark.parametrize(
    "width, block", [(1400, "end"), (320, "end"), (320, "start")]
)
def test_a_card_fits_the_window_and_hides_no_link(tab, width, block):
    tab.set_viewport_size({"width": width, "height": 700})
    for target in tab.locator("main a.term:visible").all()[:6]:
        target.evaluate("(a, block) => a.scrollIntoView({ block })", block)
        target.press("Shift")
        card(tab).wait_for()
        box, own = card(tab).bounding_box(), target.bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= width
        assert 0 <= box["y"] and box["y"] + box["height"] <= 700
        below = box["y"] >= own["y"] + own["height"] - 1
        assert below or box["y"] + box["height"] <= own["y"] + 1
        target.evaluate("(a) => a.blur()")
        card(tab).wait_for(state="hidden")


@pytest.mark.slow
def test_a_finger_follows_the_link(browser, address):
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    tab = context.new_page()
    tab.goto(address + CHAPTER)
    link(tab).tap()
    tab.wait_for_url("**/glossary.html#term-head")
    assert not tab.locator("#preview").is_visible()
    context.close()


@pytest.mark.slow
def test_a_term_says_its_meaning_without_a_script(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address + CHAPTER)
    assert "side by side" in link(tab).get_attribute("title")
    context.close()


@pytest.mark.slow
def test_with_a_card_a_link_has_no_second_one(tab):
    target = link(tab)
    point_at(target)
    card(tab).wait_for()
    assert target.get_attribute("title") is None


@pytest.mark.slow
def test_cards_work_as_a_file(browser, site):
    visit = Visit(browser.new_page())
    visit.load((site / CHAPTER).as_uri())
    point_at(link(visit.tab))
    card(visit.tab).wait_for()
    visit.assert_calm()
    visit.tab.close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_card_is_legible(visit, scheme):
    visit.tab.emulate_media(color_scheme=scheme)
    point_at(link(visit.tab, "[href^='#fig']"))
    card(visit.tab).wait_for()
    assert visit.look(colours=True)["tooFaint"] == []
    image = card(visit.tab).locator("img")
    inverted = image.evaluate("(i) => getComputedStyle(i).filter") != "none"
    assert inverted == (scheme == "dark")
    visit.tab.emulate_media(color_scheme="light")


@pytest.mark.slow
def test_a_page_without_formulas_can_show_one(visit, address):
    tab = visit.tab
    tab.goto(address + "book/glossary.html")
    tab.wait_for_load_state()
    sheet = "link[href*='katex/math.css']"
    tab.evaluate(f'document.querySelector("{sheet}")?.remove()')
    tab.locator("a.first-use").first.press("Shift")
    card(tab).wait_for()
    tab.evaluate(
        "previews({'#x': '<span class=katex>1</span>'});"
        "const a = document.querySelector('a.first-use');"
        "a.blur(); a.setAttribute('href', '#x')"
    )
    tab.locator("a.first-use").first.press("Shift")
    assert tab.locator(sheet).count() == 1


@pytest.mark.parametrize(
    "tex, said",
    [
        (r"d_\text{model}", "d_model"),
        (r"Q K^{\mathsf T}", "Q K^ T"),
        (r"\gamma", "gamma"),
        (r"\hat m and token $t$", "m and token $t$"),
    ],
)
def test_a_symbol_is_said_in_letters(tex, said):
    assert notation.spoken(tex) == said


@pytest.mark.slow
def test_a_symbol_has_a_name_for_those_who_listen(tab):
    target = link(tab, ".symbol")
    title = target.get_attribute("title")
    assert title.startswith("W_q: what makes queries")
    point_at(target)
    card(tab).wait_for()
    assert target.get_attribute("aria-label") == title
