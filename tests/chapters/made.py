"""A chapter that keeps every rule; a test replaces one of its parts."""

from copy import deepcopy
from functools import cache

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tools.source.taught import ROOT


def words(text="Words.", kind="", **book):
    """Prose, that may have a slide type, and its words for the slide."""
    metadata = {"slideshow": {"slide_type": kind}, "book": book}
    return new_markdown_cell(text, metadata=metadata)


def code(source="1", *outputs, kind="", **metadata):
    metadata = {"slideshow": {"slide_type": kind}} | metadata
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def prints(text: str):
    return new_output("stream", name="stdout", text=text)


def drawn():
    return new_output("display_data", {"image/png": "AAAA"})


def figure(alt="Three bars, the first highest.", **figure):
    named = {"name": "fig-bars", "caption": "Bars."} | figure
    shown = {"image": {"alt": alt}, "figure": named}
    return code("f()", drawn(), tags=["hide-input"], mystnb=shown)


def check(*lines, claim="two and two are four"):
    return code("\n".join([f"# @title Check: {claim}", *lines]))


def explorer(source="f()", tags=("hide-input",)):
    output = new_output("execute_result", {"text/html": "<p>1</p>"})
    return code(source, output, tags=[*tags, "explorer"])


ASKED = words(
    "<details>\n<summary><b>Find out.</b> Is <i>a</i> 2?</summary>\n\nYes."
)


def told(slides: int) -> list:
    """Prose for so many slides, each with a title and a line."""
    return [
        words("word " * 180, "slide", slide=f"## Title {n}\n\n- It is short.")
        for n in range(slides)
    ]


@cache
def masks() -> list:
    path = ROOT / "book" / "04_masks.ipynb"
    return nbformat.read(path, as_version=4).cells


def exercise(task=("", ""), answer=("", ""), name="window_mask", **check):
    """The first of chapter 4, with one text replaced in its task or answer.

    It has other numbers in a variant; here its answer says them too.
    """
    page = deepcopy(masks())
    heads = [cell.source.startswith("### Exercise 4.1") for cell in page]
    cells = page[heads.index(True) :][:3]
    cells[0].source = cells[0].source.replace("easy", "easy · transfer", 1)
    cells[0].source = cells[0].source.replace(*task)
    cells[1].source = f"width, length = 3, 7  # given\n\n\n{cells[1].source}"
    cells[1].source = cells[1].source.replace(*answer)
    cells[1].metadata["nbgrader"]["grade_id"] = name
    cells[2].metadata["nbgrader"] |= check
    return cells


QUESTION = """\
**{n}.** What is {n} + {n}, in words of `Python`?

<details><summary>The sum <code>{n} + {n}</code>, or $2 \\cdot {n}$.</summary>

**{a}** Adding {n} once more to {n} is what doubling it says.

</details>
<details><summary>The power {n} ** {n}.</summary>

**{b}** A power multiplies {n} by itself, and here nothing is multiplied.

</details>
<details><summary>The text "{n}{n}".</summary>

**{c}** Texts are joined, but {n} is a number and has no quotes.

</details>
"""
VERDICTS = ["Yes.", "No.", "No."]


def question(n: int) -> str:
    """Question `n`; the right answers move on from one to the next."""
    a, b, c = VERDICTS[-n % 3 :] + VERDICTS[: -n % 3]
    return QUESTION.format(n=n, a=a, b=b, c=c)


def quiz(number: int = 5):
    """The cell of a quiz of so many questions."""
    head = (
        f"### Quiz\n\n**{number} minutes · easy.** Open the answer that you "
        "would give.\n\n"
    )
    parts = "\n".join(map(question, range(1, number + 1)))
    text = (head + parts).rstrip()
    return new_markdown_cell(text, id="quiz", metadata={"tags": ["quiz"]})


def proof():
    """The cell that follows a quiz."""
    return check("assert a == 2", claim="The answers of the quiz are right")


def chapter(**changed) -> list:
    """The cells of a page; the parts that are named are replaced."""
    parts = {
        "title": [words("# 9. Sums\n\n**What is two and two?**")],
        "imports": [code("# @title Imports\nimport math")],
        "figure": [figure()],
        "box": [words("> **You will** see figure 9.1.")],
        "text": told(slides=9),
        "code": [code("a = 2\na + a\n") for _ in range(16)],
        "check": [check("assert a + a == 4")],
        "explorer": [explorer(), ASKED, check("assert a == 2")],
        "more": [],
        "end": [words("Summary.\n\n## Exercises")],
        "quiz": [quiz(), proof()],
        "exercises": 4 * exercise(),
        "after": [words("## Next\n\nA question?")],
    } | changed
    cells = [type(cell)(cell) for part in parts.values() for cell in part]
    run = [cell for cell in cells if cell.cell_type == "code"]
    for count, cell in enumerate(run, start=1):
        cell.execution_count = count
    return cells
