"""What stands around a page: addresses, histories, downloads, the policy."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from book._ext.book_site.frame import beside, history, other_pages, page
from book._ext.book_site.frame.policy import CHARSET, digest, guarded
from book._ext.book_site.frame.repository import colab, published, repository
from book._ext.book_site.pages import downloads, glossary
from tests.built import CONFIG, NOTEBOOKS, ROOT, commit, run, soup_of
from tools.source import colab as fetching
from tools.source.address import Place

CHAPTER = "book/05_heads.html"
GITHUB = "https://github.com/someone/book"
NOBODY = "https://github.com/OWNER/REPO"
COLAB = "https://colab.research.google.com/github/"


def app(url, **config):
    """What Sphinx hands over, for a book with this address."""
    options = {"repository_url": url, "repository_branch": "v1"}
    default = {"student_path": "", "html_baseurl": ""}
    config = SimpleNamespace(html_theme_options=options, **default | config)
    return SimpleNamespace(srcdir="/book", config=config)


@pytest.mark.parametrize(
    "url, base, known, address",
    [
        (NOBODY, "", None, ""),
        ("", "", None, ""),
        (NOBODY, "https://d.e/f/", None, "https://d.e/f/"),
        (f"{GITHUB}.git", "", GITHUB, "https://someone.github.io/book/"),
        (f"{GITHUB}/", "https://c.d", GITHUB, "https://c.d/"),
        *(
            (url, "", url, address)
            for url, address in {
                "https://github.com/Me/me.github.io": "https://me.github.io/",
                "https://gitlab.com/me/book": "https://me.gitlab.io/book/",
                "https://git.example/me/book": "",
            }.items()
        ),
    ],
)
def test_the_repository_and_its_pages_are_known(url, base, known, address):
    found = app(url, html_baseurl=base)
    assert repository(found) == (known and Place(known, "v1"))
    assert published(found) == address


@pytest.mark.parametrize(
    "url, student, link",
    [
        (NOBODY, "", ""),
        (GITHUB, "", f"{COLAB}someone/book/blob/v1/book/one.ipynb"),
        (GITHUB, "x/y", f"{COLAB}someone/book/blob/v1/x/y/one.ipynb"),
    ],
)
def test_colab_opens_what_it_can(url, student, link):
    found = app(url, student_path=student)
    assert colab(found, Path("book/one.ipynb")) == link


def test_a_downloaded_notebook_knows_where_the_rest_is():
    path = ROOT / f"{NOTEBOOKS[4]}.ipynb"
    text = beside.addressed(path.read_text(), GITHUB, "v1")
    pairs = zip(
        nbformat.read(path, 4).cells,
        nbformat.reads(text, 4).cells,
        strict=True,
    )
    ((old, new),) = [(a, b) for a, b in pairs if a.source != b.source]
    address = Place(GITHUB, "v1")
    assert old.source.startswith(fetching.FIRST_LINE)
    assert new.source == fetching.first_cell(address, fetching.pins(ROOT))


def test_pages_name_what_can_be_downloaded_as_it_comes_and_goes(
    tmp_path, site
):
    downloads.show(tmp_path)  # where there are no pages
    assert not any(tmp_path.iterdir())
    folder = tmp_path / downloads.FOLDER
    folder.mkdir()
    (tmp_path / "book").mkdir()
    for name in (CHAPTER, f"{downloads.PAGE}.html"):
        shutil.copy(site / name, tmp_path / name)
    pdf, zipped = downloads.PDF, downloads.OFFLINE
    for there in ([], [zipped, pdf], [zipped]):
        for name in (zipped, pdf):
            (folder / name).unlink(missing_ok=True)
        for name in there:
            (folder / name).write_bytes(b"0" * 1_550_000)
        downloads.show(tmp_path)
        page, chapter = (
            soup_of.__wrapped__(tmp_path / name)
            for name in (f"{downloads.PAGE}.html", CHAPTER)
        )
        listed = page.find(id="downloads")
        assert {a["href"] for a in listed("a")} == {
            f"../downloads/{name}" for name in there
        }
        text = listed.get_text()
        assert text.count("(1.6 MB)") == len(there)
        assert (downloads.NONE in text) == (not there)
        links = [a["href"] for a in chapter.select(".page-links a")]
        link = f"../downloads/{pdf}#nameddest=05_heads"
        assert (link in links) == (pdf in there)


def test_a_page_keeps_its_history_under_a_new_name(tmp_path, monkeypatch):
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
    part = tmp_path / "part"  # services fetch the last commit alone
    run(tmp_path, "clone", "-q", "--depth=1", tmp_path.as_uri(), str(part))
    assert history.changes(part) == {}
    assert history.changes(tmp_path / "book") == {}
    monkeypatch.setenv("PATH", "nowhere")
    assert history.changes(tmp_path) == {}


def test_the_policy_lets_a_page_s_own_scripts_run_and_no_other():
    known = "'sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc='"
    assert digest("doSomething();") == known
    page = f"{CHARSET}\n<script>doSomething();</script><style>a {{}}</style>"
    shown = guarded(page)
    assert f"script-src 'self' {known};" in shown
    assert f"style-src-elem 'self' {digest('a {}')};" in shown


def test_the_first_paint_waits_for_the_explorers_at_the_top():
    near, far = (
        f'<{name}-explorer data-scripts="core {name}"></{name}-explorer>'
        for name in ("plane", "mask")
    )
    body = f"<h2>A</h2>{near}<h2>B</h2>{near}<h2>C</h2>{far}"
    wanted = [("core", True), ("plane", True), ("mask", False)]
    assert page.explorers(body) == wanted


def test_a_symbol_is_said_in_letters():
    assert glossary.spoken(r"d_\text{model}") == "d_model"
    assert glossary.spoken(r"Q K^{\mathsf T}") == "Q K^ T"
    assert glossary.spoken(r"\hat m and token $t$") == "m and token $t$"


@pytest.mark.parametrize(
    "moved", [{"old": "missing"}, {"new": "book/new"}, {"old#part": "new"}]
)
def test_an_old_address_that_leads_nowhere_is_refused(tmp_path, moved):
    there = {"new", "book/new"}
    app = SimpleNamespace(
        config=SimpleNamespace(moved_pages=moved),
        env=SimpleNamespace(found_docs=there),
    )
    with pytest.raises(ValueError, match="moved_pages: "):
        other_pages.write_moved(app)


def test_an_old_address_arrives(browser, site, address, pytestconfig):
    moved = {"book/old": "book/new", "book/old#part": "new"}
    assert other_pages.addresses(moved) == {
        "book/old": {"": "new.html", "part": "../new.html"}
    }
    tab = browser.new_page()
    old = CONFIG["sphinx"]["config"]["moved_pages"] | {
        "index": "book/index",
        "book/12_decoding#%E0%A4": "book/13_decoding",
    }
    last = -4 if pytestconfig.getoption("quick") else None
    for name, new in list(old.items())[last:]:
        name, _, section = name.partition("#")
        end = f"#{section}" if section else ""
        tab.goto(f"{address}{name}.html{end}")
        tab.wait_for_url(f"{address}{new}.html{end}")
        page = site / f"{name}.html"
        if name in NOTEBOOKS:  # it is there; only this section has moved
            assert not soup_of(page).find(id=section)
            continue
        soup = soup_of(page)
        assert bool(soup.find("meta", {"name": "robots"})) == ("/" in name)
        link = soup.a["href"]  # without a script
        assert (page.parent / link).is_file()
    tab.close()
