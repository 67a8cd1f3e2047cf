"""Wrong answers to the exercises of chapter 6, by their misconceptions."""

from . import read

WRONG = read(
    wavelength="""
turns in a place > a turn is over when
-     return 2 * math.pi * 10_000 ** (2 * i / d_model)
+     return 10_000 ** (-2 * i / d_model) / math.tau
the inverse of the speed > this is the way of one radian
-     return 2 * math.pi * 10_000 ** (2 * i / d_model)
+     return 10_000 ** (2 * i / d_model)
the speed times a turn > divide by the speed
-     return 2 * math.pi * 10_000 ** (2 * i / d_model)
+     return 2 * math.pi * 10_000 ** (-2 * i / d_model)
i counts entries > a hand has two entries
-     return 2 * math.pi * 10_000 ** (2 * i / d_model)
+     return 2 * math.pi * 10_000 ** (i / d_model)
half a turn > after half a turn the hand points the other way
-     return 2 * math.pi * 10_000 ** (2 * i / d_model)
+     return math.pi * 10_000 ** (2 * i / d_model)
waves double, as the digits of a counter do
> the digits of a counter double their rhythm
-     return 2 * math.pi * 10_000 ** (2 * i / d_model)
+     return 2 * math.pi * 2**i
a turn has 360 degrees > a turn is 2π
-     return 2 * math.pi * 10_000 ** (2 * i / d_model)
+     return 360 * 10_000 ** (2 * i / d_model)
""",
    shift_matrix="""
sine and cosine are exchanged > Compare its first block with the derivation
-         blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
+         blocks.append(torch.tensor([[s, c], [-c, s]], dtype=torch.float64))
it turns back > your matrix turns back
-         blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
+         blocks.append(torch.tensor([[c, -s], [s, c]], dtype=torch.float64))
every pair turns by k > each hand has a speed of its own
-         angle = k / 10_000 ** (i / d_model)
+         angle = k
the exponent is doubled > the speeds fall too fast
-         angle = k / 10_000 ** (i / d_model)
+         angle = k / 10_000 ** (2 * i / d_model)
angles in float32 > Compare its first block
-         angle = k / 10_000 ** (i / d_model)
+         angle = k / torch.tensor(1e4) ** (i / d_model)
halves are paired > yours are an entry of each half
-     return torch.block_diag(*blocks)
+     order = torch.arange(d_model).view(-1, 2).T.flatten()
+     return torch.block_diag(*blocks)[order][:, order]
a mirror and no rotation > your blocks are symmetric
-         blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
+         blocks.append(torch.tensor([[c, s], [s, c]], dtype=torch.float64))
least squares again > No place is needed
-     return torch.block_diag(*blocks)
+     return find_shift(k, d_model)
""",
    clock_vector="""
an ellipse > goes round in a circle
-     return torch.stack([angle.sin(), angle.cos()], dim=1)
+     return torch.stack([angle.sin(), 2 * angle.cos()], dim=1)
a share of the day is no circle > the day ends where it began
-     return torch.stack([angle.sin(), angle.cos()], dim=1)
+     return torch.stack([hours / 24, 1 - hours / 24], dim=1)
a clock of twelve hours > noon has the vector of midnight
-     angle = 2 * math.pi * hours / 24
+     angle = 2 * math.pi * hours / 12
degrees handed to the sine > the sine takes radians
-     angle = 2 * math.pi * hours / 24
+     angle = 360 * hours / 24
only the sine > one wave takes every value twice
-     return torch.stack([angle.sin(), angle.cos()], dim=1)
+     return torch.stack([angle.sin(), angle.sin()], dim=1)
the first pair of the chapter > this hand turns once in 2π hours
-     angle = 2 * math.pi * hours / 24
+     angle = hours
the hour is cut to a whole number > times between the full hours count, too
-     angle = 2 * math.pi * hours / 24
+     angle = 2 * math.pi * hours.floor() / 24
full and half hours only > once a day
-     angle = 2 * math.pi * hours / 24
+     angle = 2 * math.pi * (2 * hours).round() / 2 / 24
""",
    grid_positions="""
counted from 1 > counted from 0, and what does your table
-     row = sinusoidal_positions(rows, half)[patch // columns]
-     column = sinusoidal_positions(columns, half)[patch % columns]
+     row = sinusoidal_positions(rows + 1, half)[1 + patch // columns]
+     column = sinusoidal_positions(columns + 1, half)[1 + patch % columns]
row and column are exchanged > the first half is for the row
-     return torch.cat([row, column], dim=1)
+     return torch.cat([column, row], dim=1)
read column by column > you go down the columns
-     row = sinusoidal_positions(rows, half)[patch // columns]
-     column = sinusoidal_positions(columns, half)[patch % columns]
+     row = sinusoidal_positions(rows, half)[patch % rows]
+     column = sinusoidal_positions(columns, half)[patch // rows]
divided by the number of rows > are columns, not rows
-     row = sinusoidal_positions(rows, half)[patch // columns]
+     row = sinusoidal_positions(rows * columns, half)[patch // rows]
one line of patches > this is a line of patches
-     return torch.cat([row, column], dim=1)
+     return sinusoidal_positions(rows * columns, d_model)
cut from an encoding of the whole width > each half is an encoding of its own
-     half = d_model // 2
+     half = d_model
-     return torch.cat([row, column], dim=1)
+     return torch.cat([row.chunk(2, 1)[0], column.chunk(2, 1)[1]], dim=1)
row and column are added > added, row and column cannot be told apart
-     half = d_model // 2
+     half = d_model
-     return torch.cat([row, column], dim=1)
+     return row + column
one table, as long as a row of patches > there may be more rows than columns
-     row = sinusoidal_positions(rows, half)[patch // columns]
+     row = sinusoidal_positions(columns, half)[patch // columns]
""",
    alibi_bias="""
the batch has no axis > (8, 5, 5), not (1, 8, 5, 5)
-     return -slope[None, :, None, None] * distance
+     return -slope[:, None, None] * distance
the exponent is upside down > of two neighbours
-     slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
+     slope = 2.0 ** (-heads * torch.arange(1, heads + 1) / 8)
without abs > without abs one side is rewarded
-     distance = (position[:, None] - position).abs()
+     distance = (position[:, None] - position)
distance is rewarded > your bias grows with the distance
-     return -slope[None, :, None, None] * distance
+     return slope[None, :, None, None] * distance
the slopes of eight heads > these are the slopes of eight heads
-     slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
+     slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / 8)
heads are counted from 0 > head 0 has the slope 1
-     slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
+     slope = 2.0 ** (-8 * torch.arange(heads) / heads)
the future is masked too > as a bias -inf
-     return -slope[None, :, None, None] * distance
+     bias = -slope[None, :, None, None] * distance
+     return bias + torch.full_like(bias, -math.inf).triu(1)
only the past is penalised > keys in the future lose nothing
-     distance = (position[:, None] - position).abs()
+     distance = (position[:, None] - position).relu()
""",
    to_halves="""
odd rows first > Follow the arrows of figure 6.8
-     parts = weight.reshape(heads, rows // heads // 2, 2, columns)
+     parts = weight.reshape(heads, rows // heads // 2, 2, columns).flip(2)
columns instead of rows > you have moved columns
-     parts = weight.reshape(heads, rows // heads // 2, 2, columns)
-     return parts.transpose(1, 2).reshape(rows, columns).clone()
+     parts = weight.T.reshape(heads, rows // heads // 2, 2, columns)
+     return parts.transpose(1, 2).reshape(rows, columns).T.clone()
the way back > this is the way back
-     parts = weight.reshape(heads, rows // heads // 2, 2, columns)
+     parts = weight.reshape(heads, 2, rows // heads // 2, columns)
a reshape alone moves numbers > nothing has moved
-     return parts.transpose(1, 2).reshape(rows, columns).clone()
+     return parts.reshape(rows, columns).clone()
even rows of all heads first > Rows must stay in their head
-     return parts.transpose(1, 2).reshape(rows, columns).clone()
+     return parts.permute(2, 0, 1, 3).reshape(rows, columns).clone()
the halves of each head are exchanged > you exchange the halves of each head
-     parts = weight.reshape(heads, rows // heads // 2, 2, columns)
-     return parts.transpose(1, 2).reshape(rows, columns).clone()
+     parts = weight.reshape(heads, 2, rows // heads // 2, columns)
+     return parts.flip(1).reshape(rows, columns).clone()
the given weight is overwritten > your code changes its input weight
-     return parts.transpose(1, 2).reshape(rows, columns).clone()
+     return weight.copy_(parts.transpose(1, 2).reshape(rows, columns)).clone()
a view, where nothing has to move
> you return the given tensor, or a view of it
-     return parts.transpose(1, 2).reshape(rows, columns).clone()
+     return parts.transpose(1, 2).reshape(rows, columns)
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "clock_vector": {
        "return torch.stack([angle.cos(), angle.sin()], dim=1)": "a clock that starts at three and goes the other way",
    },
    "alibi_bias": {
        "distance = ((position - position[:, None])).abs()": "a distance is the same in both directions",
    },
    "to_halves": {
        "return parts.transpose(1, 2).reshape(columns, rows).clone()": "the weight is square",
    },
}
