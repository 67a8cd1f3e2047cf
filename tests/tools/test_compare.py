"""What the comparison lets pass, and what it does not."""

import base64
import io

import pytest
from matplotlib import style
from matplotlib.figure import Figure

from tools.chapters.compare import (
    figure_difference,
    outputs_difference,
    text_difference,
)

SAME = [
    ("[0.3374, -0.1778]", "[0.3373, -0.1779]"),
    ("-0.0001", "0.0000"),
    ("[ 0.0000, -0.1234]", "[-0.0000, -0.1234]"),
    (" 9.99 |", "10.00 |"),
    ("x=9.99", "x=10.00"),
    ("1.23e-05", "1.24e-05"),
    ("0.30000000000000004", "0.30000000000000005"),
    ("The mean is 0.25.", "The mean is 0.26."),
    ("25.37%", "25.38%"),
    ("0.50+0.25j", "0.51+0.25j"),
]
DIFFERENT = [
    ("0.3374", "0.3376"),
    ("-0.0001", "0.0001"),
    ("0.30000000000000004", "0.30000000000000006"),
    ("0.25", "0.250"),
    ("1.23e-05", "1.23e-06"),
    ("0.5", "0.6"),
    ("tensor([1.])", "tensor([1.0000])"),
    ("a  0.25", "a 0.25"),
    ("x  9.99", "x 9.98"),
    ("a\nb", "a b"),
    ("a", "a\n"),
    ("2.13.00", "2.13.01"),
    ("x0.25", "x0.26"),
    ("fig-0.25.png", "fig-0.26.png"),
    ("0.25s", "0.26s"),
]


@pytest.mark.parametrize(("stored", "new"), SAME + DIFFERENT)
def test_texts(stored, new):
    is_same = (stored, new) in SAME
    assert (text_difference(stored, new) is None) == is_same
    assert (text_difference(new, stored) is None) == is_same


def test_the_message_shows_the_first_line_that_differs():
    stored = "shape (2, 2)\n[0.1234, -0.1778]\n[0.5000,  0.5000]"
    new = "shape (2, 2)\n[0.1235, -0.1775]\n[0.5000,  0.9000]"
    assert text_difference(stored, new) == (
        "line 2: -0.1778 became -0.1775: 3 units of the last printed digit, "
        "1 is allowed\n"
        "  stored: [0.1234, -0.1778]\n"
        "  new:    [0.1235, -0.1775]"
    )
    message = text_difference("x" * 5000 + "cat", "x" * 5000 + "dog")
    assert "cat" in message and "dog" in message and len(message) < 400


def picture(size=(6, 4), label="0.34", scale=1.0) -> str:
    """A plot as in the book, as base64-encoded PNG."""
    with style.context("default"):  # whatever other tests have set
        figure = Figure(figsize=size, dpi=200)
        axes = figure.subplots()
        axes.bar(["cat", "sat"], [0.3 * scale, 0.7 * scale])
        axes.plot([0, 0.5, 1], [0.1 * scale, 0.9 * scale, 0.2 * scale])
        axes.text(0.5, 0.5, label, fontsize=7)
        axes.set_ylim(0, 1)
        file = io.BytesIO()
        figure.savefig(file, format="png")
    return base64.b64encode(file.getvalue()).decode()


def test_antialiasing_may_differ_but_no_digit_and_no_size():
    was, now = picture(), picture(scale=1 + 1e-6)
    assert was != now, "this pair of figures tests nothing"
    assert figure_difference(was, now) is None
    assert figure_difference(now, was) is None
    assert "RMS" in figure_difference(was, picture(label="0.35"))
    why = figure_difference(was, picture(size=(6, 4.005)))
    assert "1200 x 800 pixels stored, 1200 x 801" in why


def result(**data) -> dict:
    data = {kind.replace("_", "/"): value for kind, value in data.items()}
    return {"output_type": "execute_result", "data": data}


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


DRAWN = result(text_plain="<Figure>", image_png="not looked at")


@pytest.mark.parametrize(
    ("stored", "new", "message"),
    [
        ([stream("a")], [], "stored: stdout\nnew:    no output"),
        ([], [stream("old!", "stderr")], "new:    stderr\nold!"),
        (
            [stream("a"), DRAWN],
            [DRAWN, stream("a")],
            "stored: stdout, then image/png + text/plain",
        ),
        (
            [result(application_json={"a": [1]})],
            [result(application_json={"a": [2]})],
            "application/json, line 3",
        ),
    ],
)
def test_other_outputs_are_named(stored, new, message):
    assert message in outputs_difference(stored, new)


def test_figures_can_be_left_out():
    other = result(text_plain="<Figure>", image_png="nor is this")
    assert outputs_difference([DRAWN], [other], figures=False) is None
