"""Which keys are picked. Not taught."""

import torch

from .. import validate
from .refuse import expect, shape, wrong

PARTS = (
    "q: *lead heads q_len d_head, k: *lead k_len d_head, "
    "weights: *lead heads q_len"
)
TEXT = "x: batch length d_model, latent: batch length d_query"


def index_parts(q: object, k: object, weights: object) -> None:
    """Queries of several heads with a weight each, and keys of all heads."""
    validate.shapes(PARTS, q=q, k=k, weights=weights)


def to_pick(scores: object, top_k: object, may_attend: object) -> None:
    """Finite scores, how many to pick, and a mask that fits or None."""
    validate.shapes("scores: ... q_len k_len", scores=scores)
    validate.positive(top_k=top_k)
    validate.mask(may_attend, scores)
    if not torch.compiler.is_compiling() and not scores.isfinite().all():
        got = scores[~scores.isfinite()][0].item()
        wrong("scores", "finite numbers", got)


def index_sizes(wanted: type, config, heads, d_head, top_k) -> None:
    """Sizes of an indexer; its keys have room for the rotary part."""
    validate.instance(wanted, config=config)
    validate.positive(heads=heads, d_head=d_head, top_k=top_k)
    least = config.d_rotary
    expected = f"at least the {least} numbers that turn"
    expect(d_head >= least, "d_head", expected, d_head)


def to_index(x: object, latent: object, past: object, indexer) -> None:
    """New positions with their latents; a past of the same rows or None."""
    widths = {"d_model": indexer.config.d_model, "d_query": indexer.d_query}
    validate.shapes(TEXT, x=x, latent=latent, **widths)
    expect(x.shape[1], "x", "at least one position", shape(x))
    if past is None or past.buffer is None:
        return
    rows, _, width = past.buffer.shape
    expect(len(x) == rows, "x", f"{rows} rows, as the past has", shape(x))
    wanted = indexer.W_K.out_features
    expect(width == wanted, "past", f"keys of width {wanted}", width)
