"""A quiz and an exercise as a chapter has them, for tests of what reads them.

The exercise is that of chapter 4 whose task has other numbers in a variant.
"""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

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
    title = "# @title Check: The answers of the quiz are right"
    return new_code_cell(f"{title}\nassert 1 + 1 == 2 * 1", id="quiz-check")


TASK = """\
### Exercise 4.1 · A window

**10 minutes · easy · transfer.** Try it with a width of
<span data-given="width">3</span> and a length of
<span data-given="length">7</span>.

<details>
<summary>Hint</summary>

Make a table of distances.

</details>"""
ANSWER = '''\
width, length = 3, 7  # given


def window_mask(length, width):
    """True at the last `width` positions."""
    ### BEGIN SOLUTION
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance >= 0) & (distance < width))[None, None]
    ### END SOLUTION'''
CHECK = 'from kit.exercises import check\n\ncheck("4.1", window_mask)'
RIGHT = "4.1 window_mask: right.\n"


def grader(name: str, **roles):
    usual = {"grade": False, "locked": False, "solution": False}
    return {"nbgrader": {"grade_id": name} | usual | roles}


def exercise() -> list:
    """Its three cells: task, answer and check."""
    right = new_output("stream", name="stdout", text=RIGHT)
    return [
        new_markdown_cell(TASK, id="task"),
        new_code_cell(
            ANSWER,
            id="answer",
            execution_count=2,
            metadata=grader("window_mask", solution=True),
        ),
        new_code_cell(
            CHECK,
            id="check",
            execution_count=3,
            outputs=[right],
            metadata=grader("window_mask-check", grade=True, locked=True),
        ),
    ]
