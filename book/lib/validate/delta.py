"""A memory of fixed size, and the layer around it."""

from torch import Tensor

from .. import validate
from .refuse import expect, kind, shape, wrong_kind

GATE = "q: *lead length d_head, {name}: *lead length"
MEMORY = (
    "k: *lead length d_head, v: *lead length d_value, "
    "state: *lead d_head d_value"
)


def delta_text(q, k, v, beta, decay, state) -> None:
    """A text, a rate for each of its tokens, and what may be left out."""
    validate.one_text(q, k, v)
    validate.shapes(GATE.format(name="beta"), q=q, beta=beta)
    if decay is not None:
        validate.shapes(GATE.format(name="decay"), q=q, decay=decay)
    if state is not None:
        validate.floating(state=state)
        validate.axes(MEMORY, k=k, v=v, state=state)


def value_heads(heads: object, key_heads: int) -> None:
    """Every head of keys serves the same number of value heads."""
    validate.positive(value_heads=heads)
    fine = heads % key_heads == 0
    expected = f"a multiple of key_heads={key_heads}"
    expect(fine, "value_heads", expected, heads)


def delta_past(x: object, past: object, wanted: type, d_model: int) -> None:
    """A text, and the same rows as before if there is a past."""
    validate.shapes("x: batch length d_model", x=x, d_model=d_model)
    expect(x.shape[1], "x", "at least one position", shape(x))
    if past is None:
        return
    if not isinstance(past, wanted):
        wrong_kind("past", f"a {wanted.__name__} or None", kind(past))
    if isinstance(past.state, Tensor):
        rows = len(past.state)
        expect(len(x) == rows, "x", f"{rows} rows, as the past has", shape(x))
