"""What stands around a page: addresses, histories, downloads, the policy."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup

from book._ext.book_site.frame import foot as page_frame
from book._ext.book_site.frame import history, notebooks
from book._ext.book_site.frame.policy import (
    CHARSET,
    digest,
    guarded,
    inline_scripts,
    policy,
)
from book._ext.book_site.frame.repository import (
    Repository,
    published,
    repository,
)
from book._ext.book_site.pages import downloads, notation, previews
from tests.built import NOTEBOOKS, ROOT, commit, run, soup_of
from tools.source import colab

CHAPTER = "book/05_heads.html"
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
def built(tmp_path, site):
    """A site of one page, that of downloads, as `make book` leaves it."""
    page = tmp_path / f"{downloads.PAGE}.html"
    page.parent.mkdir()
    page.write_text((site / f"{downloads.PAGE}.html").read_text())
    downloads.show(tmp_path)
    return tmp_path


def links(site):
    text = (site / f"{downloads.PAGE}.html").read_text()
    listed = BeautifulSoup(text, "html.parser").find(id="downloads")
    assert text.count('<div id="downloads">') == 1
    return [link["href"] for link in listed.find_all("a")]


def test_files_are_linked_as_they_come_and_go(built):
    assert links(built) == []
    assert downloads.NONE in (built / f"{downloads.PAGE}.html").read_text()
    folder = built / downloads.FOLDER
    folder.mkdir()
    for name in (downloads.OFFLINE, downloads.PDF):
        (folder / name).write_bytes(b"0" * 1_550_000)
    downloads.show(built)
    assert links(built) == [f"../downloads/{name}" for name in downloads.WORDS]
    text = (built / f"{downloads.PAGE}.html").read_text()
    assert "(1.6 MB)" in text and downloads.NONE not in text
    (folder / downloads.PDF).unlink()
    downloads.show(built)
    assert links(built) == [f"../downloads/{downloads.OFFLINE}"]


def test_a_site_without_the_page_stays_as_it_is(tmp_path):
    downloads.show(tmp_path)
    assert not any(tmp_path.iterdir())


def test_the_theme_has_no_script_that_varies(tmp_path):
    assert inline_scripts(ROOT / "book/_ext/book_site/theme")
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


def test_pictures_are_found_from_another_page(tmp_path):
    html = '<img alt="" src="../_images/a.png">'
    source = tmp_path / "book" / "one.html"
    for page, link in {
        "book/two.html": "../_images/a.png",
        "book/teach/two.html": "../../_images/a.png",
        "two.html": "_images/a.png",
    }.items():
        moved = previews.moved(html, source, tmp_path / page)
        assert moved == html.replace("../_images/a.png", link)


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
