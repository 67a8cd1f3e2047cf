"""Explorers on their pages; tests/explorers tries each by itself."""

from book._ext.book_site.pages.explorers import scripts_of
from tests.site.pages import PAGES
from tests.site.test_html import soup_of


def test_pages_load_the_scripts_of_their_explorers_and_no_other(site):
    for name in PAGES:
        page = soup_of(site / name)
        scripts = [tag["src"] for tag in page.find_all("script", src=True)]
        loaded = [src for src in scripts if "_static/explorers/" in src]
        needed = scripts_of(str(page.main))
        assert [src.rpartition("/")[2] for src in loaded] == [
            f"{script}.js" for script in needed
        ]
        for src in loaded:
            assert (site / name).parent.joinpath(src).is_file()
