"""What a target and a draft say, and what was drafted. Not taught."""

import torch

from .. import validate
from .refuse import expect, shape, wrong


def distributions(**named: object) -> None:
    """Every row holds probabilities: none is below 0, and their sum is 1.

    The sum may be off by the rounding of the dtype, and by that of float32 in
    any case, because the numbers may come from there.
    """
    for name, p in named.items():
        validate.shapes(f"{name}: ... vocab", **{name: p})
        if below := p[~(p >= 0)].tolist():
            wrong(name, "probabilities of at least 0", f"{below[0]:.4f}")
        sums = p.double().sum(-1).flatten()
        allowed = max(1e-5, 16 * torch.finfo(p.dtype).eps)
        if other := sums[~((sums - 1).abs() <= allowed)].tolist():
            wrong(name, "rows that sum to 1", f"a sum of {other[0]:.4f}")


def two_models(p: object, q: object) -> None:
    """Rows of the target and of the draft, which stand beside each other."""
    validate.shapes("p: *lead vocab, q: *lead vocab", p=p, q=q)
    distributions(p=p, q=q)


def share(name: str, value: object) -> None:
    """A number from 0 to 1."""
    validate.number(name, value, f"0 <= {name} <= 1", lambda x: 0 <= x <= 1)


def to_accept(p: object, q: object, drafted: object) -> None:
    """Tokens that q may have drawn, and one row of p more than of q."""
    distributions(q=q)
    distributions(p=p)
    validate.axes("q: gamma vocab, p: looked_at vocab", q=q, p=p)
    expected = f"{len(q) + 1} rows, one more than q has"
    expect(len(p) == len(q) + 1, "p", expected, len(p))
    validate.token_ids(drafted, q.shape[1], "drafted")
    validate.axes("q: gamma vocab, drafted: gamma", q=q, drafted=drafted)
    for row, token in zip(q, drafted.tolist(), strict=True):
        if row[token] == 0:
            wrong("drafted", "tokens that q can draw", f"{token}, where q = 0")


def to_draft(target: object, draft: object, ids: object, gamma: int) -> None:
    """Two models, a text that has begun, and how far to draft."""
    validate.functions(target=target, draft=draft)
    validate.whole_numbers("ids", ids)
    validate.axes("ids: length", ids=ids)
    expect(len(ids), "ids", "at least one token", shape(ids))
    validate.positive(gamma=gamma)


def said(name: str, rows: object, number: int = 1) -> None:
    """What a model says: the last rows are there, and are distributions."""
    validate.floating(**{name: rows})
    validate.axes(f"{name}: length vocab", **{name: rows})
    expected = f"at least {number} rows, for the last tokens"
    expect(len(rows) >= number, name, expected, len(rows))
    distributions(**{name: rows[-number:]})
