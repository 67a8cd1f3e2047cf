"""Formulas: as HTML, and as a line such as one writes without TeX, √dₖ.

KaTeX 0.19.1 sets them while the pages are built, so readers need no script.
"""

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import dukpy
from docutils import nodes
from sphinx.util.logging import getLogger
from sphinx.util.math import get_node_equation_number

KATEX = Path(__file__).parents[1] / "katex" / "katex.min.js"
LOGGER = getLogger(__name__)
NEXT_PART = '</span><span class="katex-base">'  # of a formula
LINE_HOLDS = 18  # signs of a formula, on the narrowest phone too
MATHML = re.compile(r"<math.*?</math>", re.S)
NO_TEXT = {"{http://www.w3.org/1998/Math/MathML}annotation"}
RELATIONS = "=≈≤≥≠<>→⋅×∈∼≪≫∣≡"
INVISIBLE = str.maketrans("", "", "\u2062\u2063\u2064\u200b\ufe0f")
LOW = str.maketrans(
    "0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"
)
HIGH = str.maketrans(
    "0123456789+−=()abcdefghijklmnoprstuvwxyz⊤T",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀᵀ",
)


@cache
def katex():
    """An interpreter of JavaScript that has read KaTeX."""
    interpreter = dukpy.JSInterpreter()
    interpreter.evaljs(KATEX.read_text())
    return interpreter


@cache
def typeset(tex, display=False, output="htmlAndMathml"):
    """TeX as HTML, with MathML beside it for those who listen.

    Args:
        output: "mathml" gives that alone, for places without KaTeX's style.

    Raises:
        dukpy.JSRuntimeError: KaTeX does not understand it.
    """
    return katex().evaljs(
        "katex.renderToString(dukpy.tex, "
        "{displayMode: dukpy.display, output: dukpy.output})",
        tex=tex,
        display=display,
        output=output,
    )


def in_brackets(text: str) -> str:
    """A part of a formula that stays one when it stands in a line."""
    return text if re.fullmatch(r"√?[\w.]+|\([^()]*\)", text) else f"({text})"


def script(text: str, table: dict, mark: str) -> str:
    """An index or exponent in small letters, if there are such letters."""
    text = text.replace(" ", "")
    if all(ord(letter) in table for letter in text):
        return text.translate(table)
    return text if text in "′*" else mark + in_brackets(text)


def symbol(element: ElementTree.Element) -> str:
    """A letter, a number or a sign; signs of relation stand free."""
    text = (element.text or "").translate(INVISIBLE).strip()
    if element.get("separator"):
        return f"{text} "
    return f" {text} " if text and text in RELATIONS else text


def line_of(element: ElementTree.Element) -> str:
    """A formula of MathML as one line of text."""
    name = element.tag.rpartition("}")[2]
    parts = [line_of(child) for child in element if child.tag not in NO_TEXT]
    match name:
        case "mi" | "mn" | "mo":
            return symbol(element)
        case "mtext":
            return element.text or ""
        case "mfrac":
            return "/".join(map(in_brackets, parts))
        case "msqrt":
            return f"√{in_brackets(''.join(parts))}"
        case "msub" | "munder":
            return parts[0] + script(parts[1], LOW, "_")
        case "msup":
            return parts[0] + script(parts[1], HIGH, "^")
        case "mover":
            return parts[0]
        case "msubsup" | "munderover":
            low = script(parts[1], LOW, "_")
            return parts[0] + low + script(parts[2], HIGH, "^")
        case "mtable":
            return " ".join(parts)
        case "mtr":
            return ", ".join(parts)
    return "".join(parts)


def formula(tex: str) -> str:
    """A formula in a line, without TeX; nothing where it is wrong."""
    try:
        return in_a_line(typeset(tex))
    except dukpy.JSRuntimeError:  # the page itself warns of it
        return ""


def in_a_line(html: str) -> str:
    """The same of a formula that has been set."""
    math = MATHML.search(html)[0].replace("&nbsp;", " ")
    text = line_of(ElementTree.fromstring(math))
    text = re.sub("\u2061(?=[A-Za-zα-ω])", " ", text).replace("\u2061", "")
    return " ".join(text.split())


def typeset_node(node, tex, display=False):
    """A node's formula as HTML; a warning says where its TeX is wrong."""
    try:
        return typeset(tex, display)
    except dukpy.JSRuntimeError as error:
        reason = str(error).strip().splitlines()[0]
        LOGGER.warning("formula: %s in %s", reason, tex, location=node)
        return ""


def visit_inline_math(self, node):
    """A formula in a line of text; a long one may break between its parts."""
    html, kind = typeset_node(node, node.astext()), " short"
    if len(formula(node.astext())) > LINE_HOLDS:
        kind, broken = "", NEXT_PART.replace("<span", "<wbr><span")
        html = html.replace(NEXT_PART, broken)
    self.body.append(f'<span class="math notranslate{kind}">{html}</span>')
    raise nodes.SkipNode


def visit_display_math(self, node):
    """A displayed formula, with its number if it has one."""
    html = typeset_node(node, node.astext(), display=True)
    self.body.append(self.starttag(node, "div", CLASS="equation"))
    self.body.append(f'<div class="math notranslate">{html}</div>')
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})</span>')
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app):
    inline, display = (visit_inline_math, None), (visit_display_math, None)
    app.add_html_math_renderer("katex", inline, display)
