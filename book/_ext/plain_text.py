"""What a page says, as a reader sees it: no TeX, no code, nothing folded.

The search shows these texts. A formula in a line becomes what one would write
for it without TeX, such as √dₖ. Displayed formulas, code, its output and what
stands in a box that opens are left out: answers are hidden there.
"""

import re
from xml.etree import ElementTree

import dukpy
from docutils import nodes
from mathematics import typeset

LEFT_OUT = (nodes.Invisible, nodes.literal_block, nodes.math_block)
ASIDE = {"answer-links", "checks"}
BOX = ("You need", "Minutes")  # of what a chapter begins with
FOLD = re.compile(r"<(/?)details\b")
BEFORE_MARK = re.compile(r"\s+([.,:;?!)\]])")
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
AFTER = {  # a part of a page: what separates it from the next
    nodes.paragraph: " ",
    nodes.caption: " ",
    nodes.term: ": ",
    nodes.entry: " · ",
}


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
        found = MATHML.search(typeset(tex))
    except dukpy.JSRuntimeError:  # the page itself warns of it
        return ""
    text = line_of(ElementTree.fromstring(found[0].replace("&nbsp;", " ")))
    text = re.sub("\u2061(?=[A-Za-zα-ω])", " ", text).replace("\u2061", "")
    return " ".join(text.split())


def is_aside(node: nodes.Element) -> bool:
    """Does it speak of the page, and not of its subject?"""
    if ASIDE & set(node.get("classes", ())):
        return True
    return isinstance(
        node.parent, nodes.block_quote
    ) and node.astext().startswith(BOX)


class Reader:
    """Reads a page from top to bottom, and knows when it is in a fold."""

    def __init__(self):
        self.folds = 0

    def words(self, node: nodes.Node):
        """The pieces of a text, in their order."""
        if isinstance(node, nodes.raw):
            for closing in FOLD.findall(node.astext()):
                self.folds += -1 if closing else 1
        elif self.folds or isinstance(node, LEFT_OUT):
            return
        elif isinstance(node, nodes.Text):
            yield node.astext()
        elif isinstance(node, nodes.math):
            yield formula(node.astext())
        elif not is_aside(node):
            for child in node.children:
                yield from self.words(child)
            yield "" if self.folds else AFTER.get(type(node), "")

    def text(self, *parts: nodes.Node) -> str:
        """The text of some parts of a page, in one line."""
        pieces = (piece for part in parts for piece in self.words(part))
        return tidy("".join(pieces))


def tidy(text: str) -> str:
    """One line, with no space before a full stop and no mark at its end."""
    return BEFORE_MARK.sub(r"\1", " ".join(text.split())).rstrip(" ·:")
