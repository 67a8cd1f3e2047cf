"""What stands above and below the text of a page, and the keys."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest

from book._ext.book_site.frame import foot as page_frame
from book._ext.book_site.frame import history, notebooks
from book._ext.book_site.frame.repository import (
    Repository,
    published,
    repository,
)
from book._ext.book_site.pages import downloads
from tests.site.conftest import ROOT
from tests.site.pages import NOTEBOOKS, PAGES
from tests.site.test_html import soup_of
from tests.site.visit import on_desktop, until
from tools.source import colab

CHAPTER = "book/05_heads.html"
AFTER, BEFORE = "book/06_positions.html", "book/04_masks.html"
GITHUB = Repository("https://github.com/someone/book", "main")


def app(url="https://github.com/someone/book", page="one.ipynb", **config):
    """What Sphinx hands over, for a book with this page."""
    options = {"repository_url": url, "repository_branch": "v1"}
    default = {"student_path": "", "html_baseurl": ""}
    return SimpleNamespace(
        srcdir="/book",
        env=SimpleNamespace(doc2path=lambda name: f"/book/book/{page}"),
        config=SimpleNamespace(html_theme_options=options, **default | config),
    )


@pytest.mark.parametrize(
    "url, known",
    [
        ("https://github.com/OWNER/REPO", None),
        ("", None),
        ("https://github.com/a/b.git", "https://github.com/a/b"),
        ("https://github.com/a/b/", "https://github.com/a/b"),
    ],
)
def test_the_repository_is_known_once_somebody_says_it(url, known):
    found = repository(app(url))
    assert found == (known and Repository(known, "v1"))


@pytest.mark.parametrize(
    "url, base, address",
    [
        ("https://github.com/OWNER/REPO", "", ""),
        ("https://github.com/Me/book", "", "https://me.github.io/book/"),
        ("https://github.com/Me/me.github.io", "", "https://me.github.io/"),
        ("https://gitlab.com/me/book", "", "https://me.gitlab.io/book/"),
        ("https://git.example/me/book", "", ""),
        ("https://github.com/a/b", "https://c.example", "https://c.example/"),
        ("https://github.com/OWNER/REPO", "https://d.e/f/", "https://d.e/f/"),
    ],
)
def test_where_the_pages_are_published(url, base, address):
    assert published(app(url, html_baseurl=base)) == address


@pytest.mark.parametrize(
    "url, student, link",
    [
        ("https://github.com/OWNER/REPO", "", None),
        ("https://gitlab.com/a/b", "", None),
        ("https://github.com/a/b", "", "a/b/blob/v1/book/one.ipynb"),
        ("https://github.com/a/b", "x/y", "a/b/blob/v1/x/y/one.ipynb"),
    ],
)
def test_colab_opens_what_it_can(url, student, link):
    links = page_frame.chapter_links(app(url, student_path=student), "one")
    start = "https://colab.research.google.com/github/"
    assert links == ([("Run in Colab", start + link)] if link else [])


def test_a_report_names_the_page():
    issue = GITHUB.issue(**page_frame.report("5. Heads & more"))
    asked = parse_qs(urlsplit(issue).query)
    assert asked["title"] == ["Mistake: 5. Heads & more"]
    assert "**Page:** 5. Heads & more\n**Section:** \n" in asked["body"][0]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_chapter_leads_to_its_notebook_and_its_exercises(site, name):
    page = soup_of(site / f"{name}.html")
    links = {a.get_text(): a for a in page.select(".page-links a")}
    assert links["Notebook"].has_attr("download")
    notebook = (site / name).parent / links["Notebook"]["href"]
    assert nbformat.read(notebook, as_version=4).cells
    assert links["Exercises"]["href"] == "#exercises"
    assert page.find(id="exercises")


def test_a_downloaded_notebook_knows_where_the_rest_is():
    path = ROOT / f"{NOTEBOOKS[4]}.ipynb"
    text = notebooks.addressed(path.read_text(), GITHUB.url, "v1")
    before, after = nbformat.read(path, 4), nbformat.reads(text, 4)
    cells = [c for c in after.cells if c.source.startswith(colab.FIRST_LINE)]
    address = colab.Address(GITHUB.url, "v1")
    expected = colab.first_cell(address, colab.pins(ROOT))
    assert [cell.source for cell in cells] == [expected]
    assert GITHUB.url in expected and "v1" in expected
    assert [c.source for c in after.cells if c not in cells] == [
        c.source
        for c in before.cells
        if not c.source.startswith(colab.FIRST_LINE)
    ]


def test_a_notebook_without_that_cell_stays_as_it_is():
    text = nbformat.writes(nbformat.v4.new_notebook())
    assert notebooks.addressed(text, GITHUB.url, "main") == text


def test_the_chapters_lead_to_the_pdf_if_it_is_there(tmp_path, site):
    (tmp_path / "book").mkdir()
    page = Path(shutil.copy(site / CHAPTER, tmp_path / "book"))
    pdf = tmp_path / downloads.FOLDER / downloads.PDF
    pdf.parent.mkdir()
    for is_there in (True, False):
        pdf.write_bytes(b"") if is_there else pdf.unlink()
        downloads.link_chapters(tmp_path)
        links = soup_of.__wrapped__(page).select(".page-links a")
        found = [a["href"] for a in links if a.get_text() == "PDF"]
        link = f"../downloads/{downloads.PDF}#nameddest=05_heads"
        assert found == [link] * is_there


def commit(folder, name, subject, day):
    """Change a file of a repository, and say so."""
    path = folder / "book" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{subject} " * 40)
    run(folder, "add", "-A")
    author = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    date = f"2026-01-{day:02}T12:00:00+0000"
    run(folder, *author, "commit", "-qm", subject, "--date", date)


def run(folder, *arguments):
    subprocess.run(["git", "-C", folder, *arguments], check=True)


def test_a_page_keeps_its_history_under_a_new_name(tmp_path):
    run(tmp_path, "init", "-q")
    commit(tmp_path, "old.md", "Begun; “so”", 1)
    commit(tmp_path, "other.md", "Another page", 2)
    (tmp_path / "book/old.md").rename(tmp_path / "book/new.md")
    commit(tmp_path, "third.md", "Named anew", 3)
    commit(tmp_path, "new.md", "Written anew", 4)
    found = history.changes(tmp_path)
    assert found["book/new.md"] == [
        history.Change("2026-01-04", "Written anew"),
        history.Change("2026-01-03", "Named anew"),
        history.Change("2026-01-01", "Begun; “so”"),
    ]
    assert [c.date for c in found["book/other.md"]] == ["2026-01-02"]
    source = tmp_path.as_uri()
    part = tmp_path / "part"
    run(tmp_path, "clone", "-q", "--depth=1", source, str(part))
    assert history.changes(part) == {}


def test_without_git_there_is_no_history(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert history.changes(tmp_path) == {}
    monkeypatch.setenv("PATH", "")
    assert history.changes(ROOT) == {}


def test_the_foot_says_what_changed(site):
    past = history.changes(ROOT).get("book/05_heads.ipynb")
    fold = soup_of(site / CHAPTER).select_one(".history")
    if not past:
        assert fold is None
        return
    assert fold.summary.get_text().startswith("Last changed 20")
    assert not fold.has_attr("open")
    assert len(fold.find_all("li")) <= history.SHOWN + 1


@pytest.fixture
def visit(browser, address):
    with on_desktop(browser, address + CHAPTER) as visit:
        yield visit
        assert visit.messages == []


@pytest.fixture
def tab(visit):
    return visit.tab


@pytest.mark.slow
def test_arrows_lead_to_the_neighbours(tab, address):
    tab.keyboard.press("ArrowRight")
    tab.wait_for_url(address + AFTER)
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_url(address + CHAPTER)
    tab.keyboard.press("ArrowLeft")
    tab.wait_for_url(address + BEFORE)


HELD = ["Alt+Shift", "Shift", "Control", "Meta"]
OWNERS = [
    "<input class='here'>",
    "<textarea class='here'></textarea>",
    "<select class='here'><option>1</select>",
    "<p class='here' contenteditable>x</p>",
    "<p class='here' role='slider' tabindex='0'>x</p>",
    "<any-explorer class='here' tabindex='0'>x</any-explorer>",
    "<pre class='here' tabindex='0'>" + "m" * 300 + "</pre>",
]
PUT = "(h) => document.querySelector('h1').insertAdjacentHTML('afterend', h)"


def stays(tab, key="ArrowRight"):
    """Does the page stay when this key is pressed?"""
    before = tab.url
    tab.keyboard.press(key)
    tab.wait_for_timeout(150)
    return tab.url == before


@pytest.mark.slow
def test_with_another_key_held_the_arrow_is_not_ours(tab):
    for key in HELD:
        assert stays(tab, f"{key}+ArrowRight"), key


@pytest.mark.slow
def test_the_arrow_belongs_to_what_has_the_focus(tab):
    for owner in OWNERS:
        tab.evaluate(PUT, owner)
        tab.locator(".here").focus()
        assert stays(tab), owner
        tab.locator(".here").evaluate("(here) => here.remove()")


@pytest.mark.slow
def test_the_arrow_belongs_to_an_open_dialog_and_to_a_wide_page(tab):
    tab.evaluate(
        "const box = document.createElement('dialog');"
        "document.body.append(box); box.showModal();"
    )
    assert stays(tab)
    tab.keyboard.press("Escape")
    tab.evaluate(
        "document.querySelector('dialog').remove();"
        "document.querySelector('h1').style.width = '3000px';"
    )
    assert stays(tab)


@pytest.mark.parametrize(
    "width", [1400, pytest.param(360, marks=pytest.mark.slow)]
)
def test_a_slash_leads_to_the_search(tab, width):
    tab.set_viewport_size({"width": width, "height": 700})
    tab.keyboard.press("Control+/")
    focus = "document.activeElement.name"
    assert tab.evaluate(focus) is None
    tab.keyboard.press("/")
    until(tab, f"{focus} === 'q'")  # the menu of a narrow window opens first
    field = tab.locator(".book-search input")
    assert field.is_visible()
    tab.keyboard.type("a/b")
    assert field.input_value() == "a/b"
    assert stays(tab)


@pytest.mark.slow
def test_the_keys_can_be_switched_off(tab, address):
    button = tab.locator(".keys-button")
    button.click()
    assert button.inner_text() == "Turn them on"
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("/")
    assert tab.evaluate("document.activeElement.name") is None
    assert stays(tab)
    tab.reload()
    assert stays(tab)
    button.click()
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_url(address + AFTER)


def test_the_bar_opens_the_sections_of_a_narrow_window(tab):
    first = tab.locator(".page-toc ul ul a").first
    for width in (360, 768, 800, 991, 993, 1150, 1279, 1440):
        tab.set_viewport_size({"width": width, "height": 740})
        until(tab, f"innerWidth === {width}")
        button = tab.locator(".sections-button")
        assert button.is_visible() == (width < 992), width
        if button.is_visible():
            button.click()
        assert first.is_visible(), width
        tab.keyboard.press("Escape")


@pytest.mark.slow
def test_without_scripts_nothing_speaks_of_keys(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address + CHAPTER)
    assert not tab.locator(".keys").is_visible()
    assert tab.locator(".page-links a").first.is_visible()
    context.close()


@pytest.mark.slow
def test_no_page_sets_a_cookie(browser, address):
    context = browser.new_context()
    tab = context.new_page()
    for page in (PAGES[0], CHAPTER, "search.html"):
        tab.goto(address + page)
    assert context.cookies() == []
    context.close()


@pytest.mark.slow
def test_the_contents_show_where_one_is(browser, address):
    page = browser.new_page()
    for height in (600, 900):
        page.set_viewport_size({"width": 1440, "height": height})
        page.goto(f"{address}book/18_bugs.html")
        assert page.locator(".book-nav a.current").evaluate(
            "(link) => link.getBoundingClientRect().bottom < innerHeight"
        )
        assert page.evaluate("scrollY") == 0
    page.close()
