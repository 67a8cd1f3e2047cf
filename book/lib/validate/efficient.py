"""Attention that costs less."""

from lib.validate.numbers import positive
from lib.validate.refuse import expect


def shared_heads(heads: int, kv_heads: object) -> None:
    """Every head of keys serves the same number of query heads."""
    positive(kv_heads=kv_heads)
    fine = heads % kv_heads == 0
    expect(fine, "kv_heads", f"a divisor of heads={heads}", kv_heads)
