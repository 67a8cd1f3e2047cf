"""Latent attention."""

from .. import validate
from .refuse import expect, shape

PARTS = (
    "q: batch heads q_len d_q, kept: batch k_len d_kept, "
    "W_UK: heads d_head d_latent, W_UV: heads d_value d_latent"
)


def latent_sizes(fields: object) -> None:
    """The fields of a `LatentConfig`."""
    names = ("d_model", "heads", "d_latent", "d_head", "d_value")
    validate.positive(**{name: getattr(fields, name) for name in names})
    if fields.d_query is not None:
        validate.positive(d_query=fields.d_query)
    validate.even("d_rotary", fields.d_rotary)
    validate.base(fields.base)
    validate.real("eps", fields.eps, least=0)


def latent_text(x: object, past: object, config: object) -> None:
    """Some new positions, and a past of the same rows and widths or None."""
    validate.shapes("x: batch length d_model", x=x, d_model=config.d_model)
    expect(x.shape[1], "x", "at least one position", shape(x))
    if past is None or past.buffer is None:
        return
    rows, _, width = past.buffer.shape
    expect(len(x) == rows, "x", f"{rows} rows, as the past has", shape(x))
    wanted = config.d_latent + config.d_rotary
    expected = f"{wanted} numbers kept of a token"
    expect(width == wanted, "past", expected, width)


def latent_parts(q: object, kept: object, W_UK: object, W_UV: object) -> None:
    """Two matrices a head, and rotary parts of one width."""
    validate.shapes(PARTS, q=q, kept=kept, W_UK=W_UK, W_UV=W_UV)
    width = kept.shape[-1] - W_UK.shape[2]
    expect(
        width >= 0, "kept", f"at least {W_UK.shape[2]} numbers", shape(kept)
    )
    wanted = W_UK.shape[1] + width
    expect(q.shape[-1] == wanted, "q", f"a width of {wanted}", shape(q))
