"""Wrong answers to the exercises of chapter 6, by their misconceptions."""

WRONG = {
    "wavelength": {
        "the inverse of the speed, without the whole turn of 2π": """
def wavelength(i, d_model):
    return 10_000 ** (2 * i / d_model)
""",
        "the speed times a turn: high pairs would be fast": """
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (-2 * i / d_model)
""",
        "i counts entries, not pairs": """
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (i / d_model)
""",
        "half a turn: the wave crosses zero, but does not repeat": """
def wavelength(i, d_model):
    return math.pi * 10_000 ** (2 * i / d_model)
""",
        "the width does not matter": """
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (2 * i / 64)
""",
        "waves double from pair to pair, as the digits of a counter do": """
def wavelength(i, d_model):
    return 2 * math.pi * 2**i
""",
        "tensor2tensor's speeds": """
def wavelength(i, d_model):
    return 2 * math.pi * 10_000 ** (i / (d_model // 2 - 1))
""",
        "a turn has 360 degrees": """
def wavelength(i, d_model):
    return 360 * 10_000 ** (2 * i / d_model)
""",
    },
    "shift_matrix": {
        "it turns back instead of on": """
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = k / 1e4 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, -s], [s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "every pair turns by k": """
def shift_matrix(k, d_model):
    c, s = math.cos(k), math.sin(k)
    block = torch.tensor([[c, s], [-s, c]], dtype=torch.float64)
    return torch.block_diag(*[block] * (d_model // 2))
""",
        "the exponent is doubled, because i already counts entries": """
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = k / 1e4 ** (2 * i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "least squares again, which knows no negative shift": """
def shift_matrix(k, d_model):
    return find_shift(k, d_model)
""",
        "halves are paired, not neighbours": """
def shift_matrix(k, d_model):
    angle = k / 1e4 ** (torch.arange(0, d_model, 2).double() / d_model)
    c, s = torch.diag(angle.cos()), torch.diag(angle.sin())
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)])
""",
        "the angle does not grow with the shift": """
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = 3 / 1e4 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
        "a symmetric block, which is a mirror and no rotation": """
def shift_matrix(k, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        angle = k / 1e4 ** (i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)
""",
    },
    "clock_vector": {
        "a share of the day is no circle": """
def clock_vector(hours):
    return torch.stack([hours / 24, 1 - hours / 24], dim=1)
""",
        "a clock of twelve hours: noon is midnight": """
def clock_vector(hours):
    angle = 2 * math.pi * hours / 12
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
        "half a turn a day: 0 and 24 are opposite": """
def clock_vector(hours):
    angle = math.pi * hours / 24
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
        "degrees handed to the sine": """
def clock_vector(hours):
    angle = 360 * hours / 24
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
        "only the sine, twice: morning and afternoon are one": """
def clock_vector(hours):
    angle = 2 * math.pi * hours / 24
    return torch.stack([angle.sin(), angle.sin()], dim=1)
""",
        "the first pair of the chapter, with a turn in 6.28 hours": """
def clock_vector(hours):
    return torch.stack([hours.sin(), hours.cos()], dim=1)
""",
        "two hands of different speeds": """
def clock_vector(hours):
    angle = 2 * math.pi * hours / 24
    return torch.stack([angle.sin(), (2 * angle).cos()], dim=1)
""",
        "the hour is cut to a whole number": """
def clock_vector(hours):
    angle = 2 * math.pi * hours.floor() / 24
    return torch.stack([angle.sin(), angle.cos()], dim=1)
""",
    },
    "grid_positions": {
        "row and column are exchanged": """
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model // 2)
    return torch.cat([line[patch % columns], line[patch // columns]], dim=1)
""",
        "read column by column": """
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model // 2)
    return torch.cat([line[patch % rows], line[patch // rows]], dim=1)
""",
        "divided by the number of rows": """
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(rows * columns, d_model // 2)
    return torch.cat([line[patch // rows], line[patch % columns]], dim=1)
""",
        "one line of patches, as in a text": """
def grid_positions(rows, columns, d_model):
    return sinusoidal_positions(rows * columns, d_model)
""",
        "the halves are cut from an encoding of the whole width": """
def grid_positions(rows, columns, d_model):
    patch, half = torch.arange(rows * columns), d_model // 2
    line = sinusoidal_positions(max(rows, columns), d_model)
    row, column = line[patch // columns], line[patch % columns]
    return torch.cat([row[:, :half], column[:, half:]], dim=1)
""",
        "row and column are added": """
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model)
    return line[patch // columns] + line[patch % columns]
""",
        "the halves alternate entry by entry": """
def grid_positions(rows, columns, d_model):
    patch = torch.arange(rows * columns)
    line = sinusoidal_positions(max(rows, columns), d_model // 2)
    row, column = line[patch // columns], line[patch % columns]
    return torch.stack([row, column], dim=2).flatten(1)
""",
    },
    "alibi_bias": {
        "without abs: past keys are rewarded": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[None, :, None, None] * (p - p[:, None])
""",
        "without abs, the other way round: future keys are rewarded": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[None, :, None, None] * (p[:, None] - p)
""",
        "distance is rewarded": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return slope[None, :, None, None] * (p[:, None] - p).abs()
""",
        "the slopes of eight heads, whatever their number": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = torch.tensor([2.0 ** -(h + 1) for h in range(heads)])
    return -slope[None, :, None, None] * (p[:, None] - p).abs()
""",
        "heads are counted from 0: the first slope is 1": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(heads) / heads)
    return -slope[None, :, None, None] * (p[:, None] - p).abs()
""",
        "the square of the distance": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope[None, :, None, None] * (p[:, None] - p) ** 2
""",
        "the slopes in reversed order": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return -slope.flip(0)[None, :, None, None] * (p[:, None] - p).abs()
""",
        "the future is masked too": """
def alibi_bias(length, heads):
    p = torch.arange(length)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    bias = -slope[None, :, None, None] * (p[:, None] - p).abs()
    return bias.masked_fill(p > p[:, None], -math.inf)
""",
    },
    "to_halves": {
        "the whole matrix is reordered as if it were one head": """
def to_halves(weight, heads):
    return torch.cat([weight[0::2], weight[1::2]])
""",
        "columns instead of rows": """
def to_halves(weight, heads):
    d = weight.shape[1]
    parts = weight.reshape(-1, heads, d // heads // 2, 2)
    return parts.transpose(2, 3).reshape(weight.shape)
""",
        "the way back: from halves to neighbours": """
def to_halves(weight, heads):
    rows, columns = weight.shape
    parts = weight.reshape(heads, 2, rows // heads // 2, columns)
    return parts.transpose(1, 2).reshape(rows, columns)
""",
        "nothing need change, since a dot product has no order": """
def to_halves(weight, heads):
    return weight.clone()
""",
        "a reshape alone moves numbers": """
def to_halves(weight, heads):
    rows, columns = weight.shape
    return weight.reshape(heads, 2, -1, columns).reshape(rows, columns)
""",
        "the heads are mixed: all even rows of all heads first": """
def to_halves(weight, heads):
    rows, columns = weight.shape
    parts = weight.reshape(heads, rows // heads // 2, 2, columns)
    return parts.permute(2, 0, 1, 3).reshape(rows, columns)
""",
        "the halves of each head are exchanged": """
def to_halves(weight, heads):
    parts = weight.reshape(heads, 2, -1, weight.shape[1])
    return parts.flip(1).reshape(weight.shape)
""",
        "the given weight is overwritten": """
def to_halves(weight, heads):
    parts = weight.reshape(heads, -1, 2, weight.shape[1])
    weight.copy_(parts.transpose(1, 2).reshape(weight.shape))
    return weight
""",
    },
}
