"""The quiz of a chapter: one Markdown cell, read here in one place.

In Jupyter and on GitHub a choice is a box that opens. On the site a class
says where the quiz and each of its questions begin and end, and `quiz.js`
makes the rest of it. The cell has the tag `quiz` and comes first under
`## Exercises`:

    ### Quiz

    **5 minutes · easy.** Open the answer that you would give.

    **1.** Which word may the first word see?

    <details><summary>Only itself.</summary>

    **Yes.** Row 0 of a causal mask is True in column 0 and nowhere else.

    </details>

and so on: a `**No.**` for each wrong choice, which speaks of this mistake. A
choice is HTML, without backticks. The cell below it computes what can be
computed: `# @title Check: The answers of the quiz are right`.
"""

import re
from html import escape, unescape

from ..pages.mathematics import formula

START = re.compile(r"^(?=\*\*\d+\.\*\* )", re.M)
CHOICE = re.compile(
    r"^<details><summary>(?P<text>.*?)</summary>\n"
    r"(?P<explanation>.*?)^</details>\n?",
    re.M | re.S,
)
FORMULA = re.compile(r"\$(.+?)\$")
TAG = re.compile(r"</?[a-z]+>")


def is_quiz(cell):
    return "quiz" in cell.metadata.get("tags", [])


def boxed(source):
    """The text of a quiz with a box around it, and one for each question.

    A choice stands in lines of its own, so that its formulas are set.
    """
    head, *parts = START.split(source)
    inside = "".join(box("question", part) for part in parts)
    return head + box("quiz", CHOICE.sub(apart, inside))


def apart(choice):
    """One choice; `quiz.js` reads out its formulas, which a button mutes."""
    text, explanation = choice["text"], choice["explanation"]
    spoken = ""
    if FORMULA.search(text):
        words = unescape(TAG.sub("", text))
        line = FORMULA.sub(lambda found: formula(found[1]), words)
        spoken = f' data-spoken="{escape(line)}"'
    return (
        f"<details><summary{spoken}>\n\n{text}\n\n</summary>\n"
        f"{explanation}</details>\n"
    )


def box(name, text):
    """Markdown in a box that has this class."""
    return f'<div class="{name}">\n\n{text.strip()}\n\n</div>\n\n'
