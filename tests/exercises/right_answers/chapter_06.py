"""Right answers in chapter 6 by other routes than the book's."""

RIGHT = {
    "wavelength": {
        "takes a step at a time, in float32": """
def wavelength(i, d_model):
    turn = torch.tensor(2 * torch.pi)
    for _ in range(i):
        turn = turn * 10_000 ** (2 / d_model)
    return turn
""",
        "has logarithms": """
def wavelength(i, d_model):
    return math.tau * math.exp(i / (d_model // 2) * math.log(1e4))
""",
        "divides by a speed in float32": """
def wavelength(i, d_model):
    speed = torch.tensor(10_000.0) ** (-torch.arange(0, d_model, 2) / d_model)
    return 2 * math.pi / speed[i].item()
""",
    },
    "shift_matrix": {
        "takes powers of a shift by 1": """
def shift_matrix(k, d_model):
    speed = 1e4 ** (-torch.arange(0, d_model, 2).double() / d_model)
    ahead = torch.stack([speed.sin(), 0 * speed], 1).flatten()[:-1].diag(1)
    one = speed.cos().repeat_interleave(2).diag() + ahead - ahead.T
    return torch.linalg.matrix_power(one, k)
""",
        "fills diagonals": """
def shift_matrix(k, d_model):
    even = torch.arange(0, d_model, 2)
    angle = k * torch.exp(even.double() / d_model * -math.log(10_000))
    R = torch.diag(angle.cos().repeat_interleave(2))
    R[even, even + 1], R[even + 1, even] = angle.sin(), -angle.sin()
    return R
""",
        "has complex numbers, and a list of rows": """
def shift_matrix(k, d_model):
    R = [[0.0] * d_model for _ in range(d_model)]
    for i in range(d_model // 2):
        z = complex(math.e) ** (1j * k * 1e4 ** (-2 * i / d_model))
        R[2 * i][2 * i : 2 * i + 2] = z.real, z.imag
        R[2 * i + 1][2 * i : 2 * i + 2] = -z.imag, z.real
    return torch.tensor(R, dtype=torch.float64)
""",
    },
    "clock_vector": {
        "starts at three, goes the other way, and is large": """
def clock_vector(hours):
    turn = torch.exp(-2j * math.pi * (hours - 6) / 24)
    return 100 * torch.view_as_real(turn) + 5
""",
        "takes an hour at a time": """
def clock_vector(hours):
    rows = []
    for hour in hours.tolist():
        angle = math.radians(15 * hour)
        rows.append([math.cos(angle), math.sin(angle)])
    return torch.tensor(rows, dtype=torch.float64)
""",
        "asks for the sine twice": """
def clock_vector(hours):
    moved = hours.unsqueeze(-1) + hours.new_tensor([0, 6])
    return torch.sin(moved * torch.pi / 12)
""",
    },
    "grid_positions": {
        "broadcasts, in float64": """
def grid_positions(rows, columns, d_model):
    size, half = (rows, columns, -1), d_model // 2
    line = sinusoidal_positions(rows + columns, half, dtype=torch.float64)
    r, c = line[:rows, None].expand(size), line[:columns].expand(size)
    return torch.cat((r, c), -1).reshape(-1, d_model)
""",
        "computes angles itself, in float32": """
def grid_positions(rows, columns, d_model):
    places = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
    pair = torch.arange(0, d_model // 2, 2)
    angles = places.unsqueeze(-1) / 10_000 ** (2 * pair / d_model)
    tips = torch.stack([angles.sin(), angles.cos()], -1)
    return tips.flatten(1)
""",
        "takes the Kronecker product with ones": """
def grid_positions(rows, columns, d_model):
    r, c = (sinusoidal_positions(n, d_model // 2) for n in (rows, columns))
    wide = torch.kron(r, torch.ones(columns, 1))
    return torch.hstack([wide, torch.kron(torch.ones(rows, 1), c)])
""",
    },
    "alibi_bias": {
        "loops, in Python's numbers": """
def alibi_bias(length, heads):
    n = range(length)
    apart = [[-abs(i - j) for j in n] for i in n]
    slopes = [2 ** (-8 * (h + 1) / heads) for h in range(heads)]
    return torch.stack([s * torch.tensor(apart) for s in slopes])[None]
""",
        "multiplies slopes, and has einsum": """
def alibi_bias(length, heads):
    slope = torch.full((heads,), 2 ** (-8 / heads)).double().cumprod(0)
    place = torch.arange(length).double()
    apart = torch.maximum(place[None] - place[:, None], place[:, None] - place)
    return -torch.einsum("h,ij->hij", slope, apart).unsqueeze(0)
""",
        "adds two triangles": """
def alibi_bias(length, heads):
    ones = torch.ones(length, length)
    apart = ones.triu(1).cumsum(1).triu(1)
    slope = torch.exp2(torch.linspace(-8 / heads, -8, heads))
    return ((apart + apart.T) * -slope.view(heads, 1, 1))[None]
""",
    },
    "to_halves": {
        "has rearrange of einops": """
from einops import rearrange

def to_halves(weight, heads):
    rows = rearrange(weight, "(h p two) d -> (h two p) d", h=heads, two=2)
    return rows.clone()
""",
        "slices each head": """
def to_halves(weight, heads):
    parts = [part[s::2] for part in weight.chunk(heads) for s in (0, 1)]
    return torch.cat(parts)
""",
        "writes a row at a time": """
def to_halves(weight, heads):
    new, width = torch.zeros_like(weight), len(weight) // heads
    for n, row in enumerate(weight):
        head, place = divmod(n, width)
        new[head * width + place // 2 + place % 2 * width // 2] = row
    return new
""",
    },
}
