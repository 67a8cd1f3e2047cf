"""Quotes, and what may not be torn at the end of a line."""

import glue
import pytest
import quotes
from docutils import nodes


@pytest.mark.parametrize(
    ("plain", "curly"),
    [
        ('Now "ice cream" asks.', "Now “ice cream” asks."),
        ('("a" and "b")', "(“a” and “b”)"),
        ("PAD's own, the workers' too", "PAD’s own, the workers’ too"),
        ('<b class="x">Predict.</b> "a"', '<b class="x">Predict.</b> “a”'),
        ("<code>a['b']</code>'s", "<code>a['b']</code>’s"),
        ('`x["y"]` is "z"', '`x["y"]` is “z”'),
        ('said <em>"so"</em>', "said <em>“so”</em>"),
    ],
)
def test_quotes_are_those_of_print(plain, curly):
    assert quotes.curly(plain) == curly


def test_only_summaries_are_touched():
    text = '"a"\n<summary>"b"</summary>\n"c"'
    assert quotes.in_summaries(text) == '"a"\n<summary>“b”</summary>\n"c"'


def paragraph(*parts):
    """A paragraph; text that begins with $ is a formula, with ` code."""
    kinds = {"$": nodes.math, "`": nodes.literal}
    page = nodes.paragraph()
    for part in parts:
        kind = kinds.get(part[0])
        page += kind("", part[1:]) if kind else nodes.Text(part)
    return page


def glued(page):
    glue.glue(None, page, "page")
    return [span.astext() for span in page.findall(nodes.inline)]


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (("Let ", "$x", ", and"), ["x,"]),
        (("so ", "$x", ")."), ["x)."]),
        (("(", "$x", ")"), ["(x)"]),
        (("“", "$x", "” is"), ["“x”"]),
        (("a ", "$x", "-vector"), ["x-"]),
        (("$x", " and ", "$y", "."), ["y."]),
        (("$x", "$y", "."), ["y."]),
        (("one, ", "$x", " two"), []),
    ],
)
def test_a_formula_keeps_what_touches_it(parts, whole):
    page = paragraph(*parts)
    text = page.astext()
    assert glued(page) == whole
    assert page.astext() == text


def test_a_linked_formula_keeps_its_comma():
    page = paragraph("Let ", "$x", ", and")
    link = nodes.reference()
    formula = page[1]
    formula.replace_self(link)
    link += formula
    assert glued(page) == ["x,"]
    assert page[1][0] is link


def test_short_code_is_whole_and_long_code_may_break():
    page = paragraph("`x @ W", " and ", "`torch.softmax(x, dim=-1)")
    glue.keep_short_whole(None, page, "page")
    code = page.findall(nodes.literal)
    assert [part["classes"] for part in code] == [["short"], []]


@pytest.mark.parametrize(
    ("text", "classes"),
    [("chapter 11", ["short"]), ("Figure 4.1", ["short"]), ("a mask", [])],
)
def test_a_number_stays_with_its_chapter(text, classes):
    page = paragraph("See ", "$x", " in ")
    page += nodes.reference("", text)
    glue.keep_short_whole(None, page, "page")
    assert page[-1]["classes"] == classes
