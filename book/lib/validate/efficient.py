"""Attention that costs less."""

from .numbers import positive
from .refuse import expect, shape
from .shapes import shapes

TEXT = (
    "q: *lead length d_head, k: *lead length d_head, v: *lead length d_value"
)


def shared_heads(heads: int, kv_heads: object) -> None:
    """Every head of keys serves the same number of query heads."""
    positive(kv_heads=kv_heads)
    fine = heads % kv_heads == 0
    expect(fine, "kv_heads", f"a divisor of heads={heads}", kv_heads)


def one_text(q: object, k: object, v: object) -> None:
    """A query, a key and a value at each position, of which there are some."""
    shapes(TEXT, q=q, k=k, v=v)
    expect(q.shape[-2], "q", "at least one position", shape(q))
