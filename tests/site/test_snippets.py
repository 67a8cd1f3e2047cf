"""What a link leads to, in a few words cut from the page there."""

from pathlib import Path

import pytest
import snippets

PAGE = Path(__file__).with_name("snippets.html").read_text()
MATH = '<span class="math"><span>a. b</span></span>'


@pytest.mark.parametrize(
    "place, shown",
    [
        (
            "",
            "<p><strong>1. Top</strong></p>"
            "<p><em>One, and two of a kind. Three.</em></p>",
        ),
        (
            "top",
            "<p><strong>1. Top</strong></p>"
            "<p><em>One, and two of a kind. Three.</em></p>",
        ),
        (
            "part",
            "<p><strong>Part</strong></p>"
            f"<p>See {MATH} there, <em>and\nhere. No</em> more.</p>",
        ),
        ("bare", "<p><strong>Bare</strong></p><p></p>"),
        (
            "fig",
            '<figure class="keep-colours"><img alt="A &gt; b" '
            'src="../_images/a.png"></figure><p>Fig. 1 Words</p>',
        ),
        (
            "fig-2",
            '<figure><img alt="B" src="../_images/b.png"></figure>'
            "<p>Fig. 2</p>",
        ),
        ("term-a", "<p><strong>a (b)</strong></p><p>What a is.</p>"),
        ("row", "<p>H</p><p>heads</p>"),
        ("a2017", "<p>A, B. <em>Title</em>.</p>"),
        ("other", ""),
        ("nowhere", ""),
    ],
)
def test_what_a_place_says(place, shown):
    assert snippets.snippet(PAGE, place) == shown


def test_a_labelled_formula_is_shown_whole():
    shown = snippets.snippet(PAGE, "equation-e")
    assert (
        shown == f'<div class="equation"><div class="math">{MATH}</div></div>'
    )


@pytest.mark.parametrize(
    "text",
    [
        "Short. It goes on until it is long enough. Not this.",
        "A number ends no sentence, and 1.5 is one. No.",
        f"{MATH} is a formula, and its dots do not count. No.",
        "“Is it quoted, and does it end here?” Then no more.",
    ],
)
def test_a_sentence_ends_where_a_reader_would_stop(text):
    found = snippets.sentence(text)
    assert text.startswith(found) and len(found) < len(text)
    rest = text[len(found) :].strip()
    assert rest in ("Not this.", "No.", "Then no more.")


def test_a_sentence_closes_what_it_opened():
    text = "<em>A sentence of <b>more than</b> thirty letters. And more.</em>"
    assert snippets.sentence(text) == (
        "<em>A sentence of <b>more than</b> thirty letters.</em>"
    )
