"""The texts that the search shows: formulas without TeX, nothing folded."""

import plain_text
import pytest
import search_index
from docutils import nodes
from page_sections import Section


@pytest.mark.parametrize(
    "tex, text",
    [
        (r"\sqrt{d_k}", "√dₖ"),
        (r"\frac{1}{\sqrt{d_k}}", "1/√dₖ"),
        (r"d_\text{model}", "d_model"),
        (r"QK^\mathsf{T}", "QKᵀ"),
        (r"10000^{-2i/d_\text{model}}", "10000^(−2i/d_model)"),
        (r"e^{x-m}", "eˣ⁻ᵐ"),
        (r"y = x + f(x)", "y = x+f(x)"),
        (r"-\infty", "−∞"),
        (r"\begin{bmatrix}x & p\end{bmatrix}", "[x, p]"),
        (r"-\log p(y_t \mid x)", "−log p(yₜ ∣ x)"),
        (r"\sum_{i=1}^n q_i k_i", "∑ᵢ₌₁ⁿqᵢkᵢ"),
        (r"\operatorname{softmax}(x)", "softmax(x)"),
        (r"\hat y'", "y′"),
        (r"[-1,\frac12]", "[−1, 1/2]"),
        (r"x_{i,j}", "x_(i,j)"),
        (r"1{,}024", "1,024"),
        (r"\wrong{", ""),
    ],
)
def test_a_formula_is_a_line(tex, text):
    assert plain_text.formula(tex) == text


def paragraph(*parts):
    return nodes.paragraph("", "", *parts)


def fold(text):
    return nodes.raw(text, text, format="html")


def test_what_is_folded_or_code_is_left_out():
    body = nodes.section(
        "",
        paragraph(
            nodes.Text("Before "), nodes.math("", "d_k"), nodes.Text(" .")
        ),
        nodes.literal_block("", "code = 1"),
        nodes.math_block("", "x^2"),
        fold("<details><summary>Answer</summary>"),
        paragraph(nodes.Text("Secret.")),
        fold("<details>"),
        paragraph(nodes.Text("Secret.")),
        fold("</details></details>"),
        paragraph(nodes.literal("", "after"), nodes.Text("\nall.")),
        nodes.comment("", "no"),
    )
    reader = plain_text.Reader()
    assert reader.text(*body.children) == "Before dₖ. after all."
    assert reader.folds == 0


def test_cells_and_terms_are_kept_apart():
    row = nodes.row(
        "", *[nodes.entry("", paragraph(nodes.Text(t))) for t in "ab"]
    )
    item = nodes.definition_list_item(
        "",
        nodes.term("", "", nodes.Text("mask")),
        nodes.definition("", paragraph(nodes.Text("who sees whom."))),
    )
    reader = plain_text.Reader()
    assert reader.text(row) == "a · b"
    assert reader.text(item) == "mask: who sees whom."


def test_texts_come_back_from_their_codes():
    texts = ["√dₖ: a \\ “warm-up”", "LayerNorm, layer_norm 他们 1,024"] * 2
    texts += [" ".join(f"word{n}" for n in range(2_500))]
    words = search_index.vocabulary(texts)
    numbers = {word: number for number, word in enumerate(words)}
    assert words[search_index.BACKSLASH] == ""
    assert len(numbers) == len(words)
    for text in texts:
        code = search_index.coded(text, numbers)
        assert '"' not in code and "\\" not in code
        back = (words[ord(letter) - search_index.FIRST] for letter in code)
        assert "".join(back) == text


def test_a_term_belongs_to_the_section_that_has_it_first():
    first = Section("a", "A", "", terms=["KV cache", "key/value cache"])
    later = Section("b", "B", "", terms=["kv cache", "prefill"])
    search_index.keep_first_uses([[first], [later]])
    assert first.terms == ["KV cache", "key/value cache"]
    assert (later.terms, later.bold) == (["prefill"], ["kv cache"])


@pytest.mark.parametrize(
    "anchor, title, kept",
    [
        ("", "Masks", 0),
        ("a-mask", "A mask?", ""),
        ("id1", "63,082,496", "id1"),
    ],
)
def test_usual_anchors_are_not_stored(anchor, title, kept):
    assert search_index.place(Section(anchor, title, "")) == kept
