"""What the cards of links are made of."""

import cards
import notation
import pytest


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
