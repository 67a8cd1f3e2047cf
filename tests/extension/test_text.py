"""What becomes of sentences: quotes, formulas, and words for other pages."""

from pathlib import Path

import pytest
from docutils import nodes

from book._ext.book_site.pages import nonbreaking, previews
from book._ext.book_site.pages.mathematics import formula
from book._ext.book_site.search.index import keep_first_uses
from book._ext.book_site.search.sections import Reader, Section
from book._ext.book_site.source.notebook import curly, in_summaries

PAGE = Path(__file__).with_name("snippets.html").read_text()
MATH = '<span class="math"><span>a. b</span></span>'
TOP = (
    "<p><strong>1. Top</strong></p>"
    "<p><em>One, and two of a kind, as it is said."
)


@pytest.mark.parametrize(
    ("plain", "printed"),
    [
        ('Now "ice cream" asks.', "Now “ice cream” asks."),
        ('("a" and "b")', "(“a” and “b”)"),
        ("PAD's own, the workers' too", "PAD’s own, the workers’ too"),
        ('<b class="x">Predict.</b> "a"', '<b class="x">Predict.</b> “a”'),
        ("<code>a['b']</code>'s", "<code>a['b']</code>’s"),
        ('`x["y"]` is "z"', '`x["y"]` is “z”'),
    ],
)
def test_quotes_are_those_of_print(plain, printed):
    assert curly(plain) == printed
    # Elsewhere Sphinx does it.
    page = f"{plain}<summary>{plain}</summary>{plain}"
    shown = f"{plain}<summary>{printed}</summary>{plain}"
    assert in_summaries(page) == shown


KINDS = {"$": nodes.math, "`": nodes.literal, "#": nodes.reference}


def paragraph(*parts):
    """A paragraph; $ begins a formula, ` code, # a link, #$ a linked one."""
    page = nodes.paragraph()
    for part in parts:
        kind = KINDS.get(part[0], nodes.Text)
        text = part if kind is nodes.Text else part[1:]
        if text[0] == "$":
            page += nodes.reference("", "", nodes.math("", text[1:]))
        else:
            page += kind(text) if kind is nodes.Text else kind("", text)
    return page


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (("Let ", "$x", ", and"), ["x,"]),
        (("(", "$x", ")"), ["(x)"]),
        (("$x", " and ", "$y", "."), ["y."]),
        (("one, ", "$x", " two"), []),
        (("Let ", "#$x", ", and"), ["x,"]),
    ],
)
def test_a_formula_keeps_what_touches_it(parts, whole):
    page = paragraph(*parts)
    text = page.astext()
    nonbreaking.keep_together(None, page, "page")
    assert [span.astext() for span in page.findall(nodes.inline)] == whole
    assert page.astext() == text


@pytest.mark.parametrize(
    ("part", "is_whole"),
    [
        ("`x @ W", True),
        ("`torch.softmax(x, dim=-1)", False),
        ("#Figure 4.1", True),
        ("#a mask", False),
    ],
)
def test_short_code_and_numbers_are_not_torn(part, is_whole):
    page = paragraph("See ", part)
    nonbreaking.keep_short_whole(None, page, "page")
    assert page[1]["classes"] == (["short"] if is_whole else [])


@pytest.mark.parametrize(
    "tex, text",
    [
        (r"\frac{1}{\sqrt{d_k}}", "1/√dₖ"),
        (r"10000^{-2i/d_\text{model}}", "10000^(−2i/d_model)"),
        (r"e^{x-m}", "eˣ⁻ᵐ"),
        (r"\begin{bmatrix}x & p\end{bmatrix}", "[x, p]"),
        (r"-\log p(y_t \mid x)", "−log p(yₜ ∣ x)"),
        (r"\sum_{i=1}^n q_i k_i", "∑ᵢ₌₁ⁿqᵢkᵢ"),
        (r"\hat y'", "y′"),
        (r"[-1,\frac12]", "[−1, 1/2]"),
        (r"x_{i,j}", "x_(i,j)"),
        (r"1{,}024", "1,024"),
        (r"\wrong{", ""),
    ],
)
def test_a_formula_is_a_line(tex, text):
    assert formula(tex) == text


def test_what_is_folded_or_code_is_no_text():
    def fold(text):
        return nodes.raw(text, text, format="html")

    reader = Reader()
    body = [
        paragraph("Before ", "$d_k", " ."),
        nodes.literal_block("", "code = 1"),
        nodes.math_block("", "x^2"),
        fold("<details><summary>Answer</summary>"),
        paragraph("Secret."),
        fold("<details>"),
        fold("</details></details>"),
        paragraph("`after", "\nall."),
        nodes.comment("", "no"),
    ]
    assert reader.text(*body) == "Before dₖ. after all."


def test_cells_and_terms_are_kept_apart():
    row = nodes.row("", *(nodes.entry("", paragraph(t)) for t in "ab"))
    term = nodes.term("", "", nodes.Text("mask"))
    says = nodes.definition("", paragraph("who sees whom."))
    item = nodes.definition_list_item("", term, says)
    assert Reader().text(row) == "a · b"
    assert Reader().text(item) == "mask: who sees whom."


def test_a_term_belongs_to_the_section_that_has_it_first():
    first = Section("a", "A", "", terms=["KV cache", "key/value cache"])
    later = Section("b", "B", "", terms=["kv cache", "prefill"])
    keep_first_uses([[first], [later]])
    assert first.terms == ["KV cache", "key/value cache"]
    assert (later.terms, later.bold) == (["prefill"], ["kv cache"])


@pytest.mark.parametrize(
    "place, shown",
    [
        ("", f"{TOP} Three.</em></p>"),
        ("top", f"{TOP}</em></p>"),
        (
            "part",
            "<p><strong>Part</strong></p>"
            f"<p>See {MATH} there, <em>and\nhere. No</em> more.</p>",
        ),
        (
            "fig",
            '<figure class="keep-colours"><img alt="A &gt; b" '
            'src="../_images/a.png"/></figure><p>Fig. 1 Words</p>',
        ),
        ("term-a", "<p><strong>a (b)</strong></p><p>What a is.</p>"),
        ("row", "<p>H</p><p>heads</p>"),
        ("a2017", "<p>A, B. <em>Title</em>.</p>"),
        (
            "equation-e",
            f'<div class="equation"><div class="math">{MATH}</div></div>',
        ),
        ("other", ""),
    ],
)
def test_a_preview_says_what_stands_at_a_place(place, shown):
    assert previews.snippet(PAGE, place) == shown


@pytest.mark.parametrize(
    "begin, rest",
    [
        ("A number ends no sentence, and 1.5 is one.", " No."),
        (f"In the middle of a sentence {MATH} ends none.", " No."),
        ("“Is it quoted, and does it end here?”", " Then no more."),
        ("<em>A <b>sentence of more</b> than thirty letters.", " Not this."),
    ],
)
def test_a_sentence_ends_where_a_reader_would_stop(begin, rest):
    closed = "</em>" if begin.startswith("<em>") else ""
    text = previews.part(f"<p>{begin}{rest}{closed}</p>", 0, "</p>").p
    assert previews.words(previews.first_sentence(text)) == begin + closed
