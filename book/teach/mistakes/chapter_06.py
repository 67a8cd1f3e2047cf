"""Wrong answers to the exercises of chapter 6, by their misconceptions."""

WRONG = {
    "wavelength": {
        "turns in a place instead of places in a turn": """
# hint: a turn is over when
def wavelength(i, d_model):
    return 1 / (2 * math.pi * 10_000 ** (2 * i / d_model))
""",
        "the inverse of the speed, without the whole turn of 2π": """
# hint: this is the way of one radian
def wavelength(i, d_model):
    return 10_000 ** (2 * i / d_model)
""",
        "the speed times a turn: high pairs would be fast": """
# hint: divide by the speed
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (-2 * i / d_model)
""",
        "i counts entries, not pairs": """
# hint: a hand has two entries
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (i / d_model)
""",
        "half a turn: the wave crosses zero, but does not repeat": """
# hint: after half a turn the hand points the other way
def wavelength(i, d_model):
    return math.pi * 10_000 ** (2 * i / d_model)
""",
        "the width does not matter": """
# hint: yours does not change with d_model
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (2 * i / 64)
""",
        "waves double from pair to pair, as the digits of a counter do": """
# hint: the digits of a counter double their rhythm
def wavelength(i, d_model):
    return 2 * math.pi * 2**i
""",
        "tensor2tensor's speeds": """
# hint: these are tensor2tensor's speeds
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (i / (d_model // 2 - 1))
""",
        "a turn has 360 degrees": """
# hint: a turn is 2π, not 360
def wavelength(i, d_model):
    return 360 * 10_000 ** (2 * i / d_model)
""",
    },
    "shift_matrix": {
        "sine and cosine are exchanged": """
# hint: Compare its first block with the derivation
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = k / 1e4 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[s, c], [-c, s]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "it turns back instead of on": """
# hint: your matrix turns back
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = k / 1e4 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, -s], [s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "every pair turns by k": """
# hint: each has a speed of its own
def shift_matrix(k, d_model):
    c, s = math.cos(k), math.sin(k)
    block = torch.tensor([[c, s], [-s, c]], dtype=torch.float64)
    return torch.block_diag(*[block] * (d_model // 2))
""",
        "the exponent is doubled, because i already counts entries": """
# hint: the speeds fall too fast
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = k / 1e4 ** (2 * i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "least squares again, which knows no negative shift": """
# hint: write it without find_shift
def shift_matrix(k, d_model):
    return find_shift(k, d_model)
""",
        "halves are paired, not neighbours": """
# hint: yours are an entry of each half
def shift_matrix(k, d_model):
    angle = k / 1e4 ** (torch.arange(0, d_model, 2).double() / d_model)
    c, s = torch.diag(angle.cos()), torch.diag(angle.sin())
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])
""",
        "the angle does not grow with the shift": """
# hint: does not bring place 40 to place
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = 3 / 1e4 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "a symmetric block, which is a mirror and no rotation": """
# hint: your blocks are symmetric, so they mirror
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = k / 1e4 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "the angles are read off the table of places": """
# hint: No place is needed
def shift_matrix(k, d_model):
    place = sinusoidal_positions(k + 1, d_model, dtype=torch.float64)[k]
    blocks = []
    for s, c in place.view(-1, 2).tolist():
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
    },
    "clock_vector": {
        "an ellipse: one entry is stretched": """
# hint: must go round in a circle
def clock_vector(hours):
    angle = 2 * math.pi * hours / 24
    return torch.stack([angle.sin(), 2 * angle.cos()], dim=1)
""",
        "a hand that turns five times a day": """
# hint: passes its start more than once a day
def clock_vector(hours):
    angle = 2 * math.pi * 5 * hours / 24
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
        "a share of the day is no circle": """
# hint: the day ends where it began
def clock_vector(hours):
    return torch.stack([hours / 24, 1 - hours / 24], dim=1)
""",
        "a clock of twelve hours: noon is midnight": """
# hint: all times 12.0 hours apart have the same vector
def clock_vector(hours):
    angle = 2 * math.pi * hours / 12
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
        "half a turn a day: 0 and 24 are opposite": """
# hint: the day ends where it began
def clock_vector(hours):
    angle = math.pi * hours / 24
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
        "degrees handed to the sine": """
# hint: the sine takes radians
def clock_vector(hours):
    angle = 360 * hours / 24
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
        "only the sine, twice: morning and afternoon are one": """
# hint: One wave takes every value twice
def clock_vector(hours):
    angle = 2 * math.pi * hours / 24
    return torch.stack([angle.sin(), angle.sin()], dim=1)
""",
        "the first pair of the chapter, with a turn in 6.28 hours": """
# hint: this hand turns once in 2π hours
def clock_vector(hours):
    return torch.stack([hours.sin(), hours.cos()], dim=1)
""",
        "two hands of different speeds": """
# hint: the other entry must belong to the same angle
def clock_vector(hours):
    angle = 2 * math.pi * hours / 24
    return torch.stack([angle.sin(), (2 * angle).cos()], dim=1)
""",
        "the hour is cut to a whole number": """
# hint: times between the full hours count too
def clock_vector(hours):
    angle = 2 * math.pi * hours.floor() / 24
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
    },
    "grid_positions": {
        "rows and columns are counted from 1": """
# hint: counted from 0, and what does your table
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns) + 1, d_model // 2)
    row, column = line[patch // columns + 1], line[patch % columns + 1]
    return torch.cat([row, column], dim=1)
""",
        "row and column are exchanged": """
# hint: the first half is for the row
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model // 2)
    return torch.cat([line[patch % columns], line[patch // columns]], dim=1)
""",
        "read column by column": """
# hint: you go down the columns
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model // 2)
    return torch.cat([line[patch % rows], line[patch // rows]], dim=1)
""",
        "divided by the number of rows": """
# hint: you divide by the number of rows
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(rows * columns, d_model // 2)
    return torch.cat([line[patch // rows], line[patch % columns]], dim=1)
""",
        "one line of patches, as in a text": """
# hint: this is a line of patches
def grid_positions(rows, columns, d_model):
    return sinusoidal_positions(rows * columns, d_model)
""",
        "the halves are cut from an encoding of the whole width": """
# hint: each half is an encoding of its own
def grid_positions(rows, columns, d_model):
    patch, half = torch.arange(rows * columns), d_model // 2
    line = sinusoidal_positions(max(rows, columns), d_model)
    row, column = line[patch // columns], line[patch % columns]
    return torch.cat([row[:, :half], column[:, half:]], dim=1)
""",
        "row and column are added": """
# hint: added, row and column cannot be told apart
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model)
    return line[patch // columns] + line[patch % columns]
""",
        "the halves alternate entry by entry": """
# hint: row and column take turns
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model // 2)
    row, column = line[patch // columns], line[patch % columns]
    return torch.stack([row, column], dim=2).flatten(1)
""",
        "one table, as long as a row of patches": """
# hint: There may be more rows than columns
def grid_positions(rows, columns, d_model):
    table = sinusoidal_positions(columns, d_model // 2)
    patch = torch.arange(rows * columns)
    return torch.cat([table[patch // columns], table[patch % columns]], dim=1)
""",
    },
    "alibi_bias": {
        "the batch has no axis": """
# hint: scores have four axes
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[:, None, None] * (p[:, None] - p).abs()
""",
        "the exponent is upside down": """
# hint: of two neighbours
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-heads * torch.arange(1, heads + 1) / 8)
    return -slope[None, :, None, None] * (p[:, None] - p).abs()
""",
        "without abs: past keys are rewarded": """
# hint: without abs one side is rewarded
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[None, :, None, None] * (p - p[:, None])
""",
        "without abs, the other way round: future keys are rewarded": """
# hint: without abs one side is rewarded
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[None, :, None, None] * (p[:, None] - p)
""",
        "distance is rewarded": """
# hint: your bias grows with the distance
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return slope[None, :, None, None] * (p[:, None] - p).abs()
""",
        "the slopes of eight heads, whatever their number": """
# hint: these are the slopes of eight heads
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = torch.tensor([2.0 ** -(h + 1) for h in range(heads)])
    return -slope[None, :, None, None] * (p[:, None] - p).abs()
""",
        "heads are counted from 0: the first slope is 1": """
# hint: head 0 has the slope 1
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(heads) / heads)
    return -slope[None, :, None, None] * (p[:, None] - p).abs()
""",
        "the square of the distance": """
# hint: yours with its square
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[None, :, None, None] * (p[:, None] - p) ** 2
""",
        "the slopes in reversed order": """
# hint: head 0 has the steepest
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope.flip(0)[None, :, None, None] * (p[:, None] - p).abs()
""",
        "the future is masked too": """
# hint: That is the mask's task
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    bias = -slope[None, :, None, None] * (p[:, None] - p).abs()
    return bias.masked_fill(p > p[:, None], -math.inf)
""",
        "only the past is penalised": """
# hint: keys in the future lose nothing
def alibi_bias(length, heads):
    position = torch.arange(length)
    distance = (position[:, None] - position).clamp(min=0)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[None, :, None, None] * distance
""",
    },
    "to_halves": {
        "odd rows first": """
# hint: Follow the arrows of figure 6.8
def to_halves(weight, heads):
    rows, columns = weight.shape
    parts = weight.reshape(heads, rows // heads // 2, 2, columns).flip(2)
    return parts.transpose(1, 2).reshape(rows, columns)
""",
        "the whole matrix is reordered as if it were one head": """
# hint: Rows must stay in their head
def to_halves(weight, heads):
    return torch.cat([weight[0::2], weight[1::2]])
""",
        "columns instead of rows": """
# hint: you have moved columns
def to_halves(weight, heads):
    d = weight.shape[1]
    parts = weight.reshape(-1, heads, d // heads // 2, 2)
    return parts.transpose(2, 3).reshape(weight.shape)
""",
        "the way back: from halves to neighbours": """
# hint: this is the way back
def to_halves(weight, heads):
    rows, columns = weight.shape
    parts = weight.reshape(heads, 2, rows // heads // 2, columns)
    return parts.transpose(1, 2).reshape(rows, columns)
""",
        "nothing need change, since a dot product has no order": """
# hint: nothing has moved
def to_halves(weight, heads):
    return weight.clone()
""",
        "a reshape alone moves numbers": """
# hint: nothing has moved
def to_halves(weight, heads):
    rows, columns = weight.shape
    return weight.reshape(heads, 2, -1, columns).reshape(rows, columns)
""",
        "the heads are mixed: all even rows of all heads first": """
# hint: Rows must stay in their head
def to_halves(weight, heads):
    rows, columns = weight.shape
    parts = weight.reshape(heads, rows // heads // 2, 2, columns)
    return parts.permute(2, 0, 1, 3).reshape(rows, columns)
""",
        "the halves of each head are exchanged": """
# hint: you exchange the halves of each head
def to_halves(weight, heads):
    parts = weight.reshape(heads, 2, -1, weight.shape[1])
    return parts.flip(1).reshape(weight.shape)
""",
        "the given weight is overwritten": """
# hint: that you were lent is overwritten
def to_halves(weight, heads):
    parts = weight.reshape(heads, -1, 2, weight.shape[1])
    weight.copy_(parts.transpose(1, 2).reshape(weight.shape))
    return weight
""",
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "clock_vector": {
        "return torch.stack([angle.cos(), angle.sin()], dim=1)": (
            "a clock that starts at three and goes the other way"
        ),
    },
    "alibi_bias": {
        "distance = ((position - position[:, None])).abs()": (
            "a distance is the same in both directions"
        ),
        "slope = 2.0 ** (-8 * torch.arange(1, (1 + heads)) / heads)": (
            "a sum in another order is the same sum"
        ),
    },
    "to_halves": {
        "return parts.transpose(1, 2).reshape(columns, rows)": (
            "the weight is square"
        ),
        "return parts.transpose(2, 1).reshape(rows, columns)": (
            "two axes are exchanged, whichever is named first"
        ),
    },
}
