"""Chapter 6: where in the sequence a vector stands.

Sinusoidal and learned positions are added to the embeddings; rotary positions
turn queries and keys.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from . import validate


def sinusoidal_positions(
    length: int,
    d_model: int,
    base: float = 10_000.0,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "{length} {d_model}"]:
    """PE(p, 2i) = sin(p / base^(2i / d_model)), PE(p, 2i + 1) = cos(same).

    Source: Vaswani et al. 2017, section 3.5. Computed in float64 and rounded
    once, because the sine of a large rounded angle is wrong.

    Args:
        length: the number of positions, from 0.
        d_model: the width; even, because entries come in pairs.
        base: above 1; the wavelengths run from 2π towards base · 2π.
    """
    validate.positive(length=length)
    validate.even("d_model", d_model)
    validate.base(base)
    validate.floating_dtype(dtype)
    position = torch.arange(length, dtype=torch.float64)
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = torch.outer(position, base ** (-pair / d_model))
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1).to(dtype)


class PositionalEncoding(nn.Module):
    """Add the sinusoids of the positions, then drop out.

    Args:
        max_length: positions 0 .. max_length - 1 exist; asking for more is
            an error. The table is a buffer: it moves with the module, is not
            trained and not saved.
        dropout: on the sum, in training only.
    """

    def __init__(self, d_model, max_length=5_000, dropout=0.0):
        super().__init__()
        validate.probability("dropout", dropout)
        table = sinusoidal_positions(max_length, d_model)
        self.register_buffer("table", table, persistent=False)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "... length d_model"], offset: int = 0
    ) -> Float[Tensor, "... length d_model"]:
        """x + positions offset, offset + 1, ..."""
        validate.positions(x, offset, self.table)
        rows = self.table[offset : offset + x.shape[-2]]
        return self.dropout(x + rows.to(x.dtype))


class LearnedPositions(nn.Module):
    """Add a learned vector for each position, then drop out.

    Args:
        max_length: the number of learned positions.
        dropout: on the sum, in training only.
    """

    def __init__(self, d_model, max_length, dropout=0.0):
        super().__init__()
        validate.positive(d_model=d_model, max_length=max_length)
        validate.probability("dropout", dropout)
        self.table = nn.Parameter(torch.randn(max_length, d_model))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "... length d_model"], offset: int = 0
    ) -> Float[Tensor, "... length d_model"]:
        """x + the vectors of positions offset, offset + 1, ..."""
        validate.positions(x, offset, self.table)
        rows = self.table[offset : offset + x.shape[-2]]
        return self.dropout(x + rows.to(x.dtype))


def rotary(
    x: Float[Tensor, "... length d_head"],
    offset: int = 0,
    base: float = 10_000.0,
) -> Float[Tensor, "... length d_head"]:
    """Turn each pair of entries of q or k by the angle of its position.

    Source: Su et al. 2021, equation 34. Afterwards q · k depends on the two
    contents and on the distance of their positions only.

    Args:
        x: queries or keys; an even width.
        offset: the position of the first row.
        base: as in `sinusoidal_positions`.
    """
    validate.turnable(x, offset)
    length, d_head = x.shape[-2:]
    last = offset + length
    table = sinusoidal_positions(last, d_head, base, torch.float64)[offset:]
    sin, cos = table.to(x).unflatten(1, (-1, 2)).unbind(-1)
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    turned = (even * cos - odd * sin, even * sin + odd * cos)
    return torch.stack(turned, -1).flatten(-2)
