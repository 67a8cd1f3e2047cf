"""Right answers in chapter 8 by other routes than the book's."""

RIGHT = {
    "must_choose": {
        "asks for all exchanged rows at once": """
from itertools import combinations

def must_choose(task, row):
    pairs = list(combinations(range(len(row)), 2))
    rows = row.repeat(len(pairs), 1)
    others = torch.ones_like(rows, dtype=torch.bool)
    for n, (j, k) in enumerate(pairs):
        rows[n, j], rows[n, k] = row[k], row[j]
        others[n, j] = others[n, k] = False
    return ((task(rows) != task(row[None])) & others).any(dim=0)
""",
        "three loops over Python numbers": """
def must_choose(task, row):
    numbers, right = row.tolist(), task(row[None])[0].tolist()
    found = [False] * len(numbers)
    for i in range(len(numbers)):
        for j in range(len(numbers)):
            for k in range(len(numbers)):
                if len({i, j, k}) == 3:
                    other = list(numbers)
                    other[j], other[k] = other[k], other[j]
                    other = torch.tensor([other], device=row.device)
                    found[i] |= task(other)[0, i].item() != right[i]
    return torch.tensor(found, device=row.device)
""",
        "exchanges by an index": """
def must_choose(task, row):
    places = torch.arange(len(row), device=row.device)
    found = torch.zeros_like(places, dtype=torch.bool)
    for j in range(len(row)):
        for k in range(j + 1, len(row)):
            order = places.clone()
            order[j], order[k] = k, j
            moved = task(row[order][None])[0] != task(row[None])[0]
            found = found | (moved & (order == places))
    return found
""",
    },
    "answers": {
        "packs all rows into one, under a mask": """
def answers(model, rows):
    sizes = [*map(len, rows)]
    n = torch.arange(len(rows)).repeat_interleave(torch.tensor(sizes))
    j = torch.cat([torch.arange(len(row)) for row in rows])
    ids = nn.utils.rnn.pad_sequence(rows, True)
    x = model.positions(model.embedding(ids))[n, j][None]
    for block in model.encoder.blocks:
        x = block(x, (n[:, None] == n)[None, None])
    return model.output(x)[0].split(sizes)
""",
        "pads more than it must, with other numbers than 0": """
@torch.no_grad()
def answers(model, rows):
    n = 1 + max(map(len, rows))
    ids = torch.stack([row.new_zeros(n).add(row[-1]) for row in rows])
    for line, row in zip(ids, rows):
        line[: len(row)] = row
    may = padding_mask(torch.tensor([len(r) for r in rows]), n)
    x = model.eval().positions(model.embedding(ids))
    for _, block in model.encoder.blocks.named_children():
        x = block(x, may_attend=may.expand(-1, -1, n, -1))
    return tuple(y[: len(r)] for y, r in zip(model.output(x), rows))
""",
        "writes the rows into zeros, and cuts by the mask": """
def answers(model, rows):
    mask = padding_mask(torch.tensor([row.numel() for row in rows]))
    ids = torch.zeros(len(rows), mask.shape[-1], dtype=rows[0].dtype)
    ids[mask[:, 0, 0]] = torch.cat(rows)
    x = model.positions(model.embedding(ids))
    for n in range(len(model.encoder.blocks)):
        x = model.encoder.blocks[n](x, mask)
    return [y[m] for y, m in zip(model.output(x), mask[:, 0, 0])]
""",
    },
    "two_looks": {
        "hides with -inf, in float64, and returns a list": """
def two_looks(row):
    i = torch.arange(len(row)).double()
    key = row + i / (len(row) + 1)
    hidden = key > key[:, None]
    look_1 = torch.zeros(hidden.shape).double().masked_fill(hidden, -torch.inf)
    count = 1 / look_1.softmax(1).diag() - 1
    return [look_1.softmax(1), (-99 * (i[:, None] - count) ** 2).softmax(-1)]
""",
        "counts the larger ones, and fetches from the end": """
def two_looks(row):
    n = len(row)
    later = (row[:, None] == row) & torch.ones(n, n).triu().bool()
    look_1 = F.softmax(30.0 * (later + (row[:, None] < row)), dim=1)
    place = n - (1 / torch.diagonal(look_1)).round()
    return look_1, F.softmax(25.0 * (place == torch.arange(n)[:, None]), 1)
""",
        "gives itself a higher score": """
def two_looks(row):
    i = torch.arange(len(row))
    counts = [[(row[a], a) <= (row[b], b) for a in i] for b in i]
    look_1 = (16 * torch.tensor(counts) + 2 * torch.eye(len(row))).softmax(1)
    count = (torch.e**2 / look_1.diagonal() - torch.e**2).round()
    return look_1, torch.softmax(20.0 * (i.view(-1, 1) == count), 1)
""",
    },
    "mean_of_real": {
        "takes a sentence at a time": """
def mean_of_real(x, may_attend):
    out = torch.zeros_like(x[:, 0])
    for n, keep in enumerate(may_attend.flatten(1)):
        out[n] = x[n][keep].mean(dim=0) if keep.any() else 0
    return out
""",
        "weighs, once PAD is replaced": """
def mean_of_real(x, may_attend):
    m = may_attend.flatten(1).to(x.dtype)
    weights = m / m.sum(1, keepdim=True).clamp_min(1)
    kept = torch.where(may_attend[:, 0].mT, x, 0.0)
    return torch.einsum("nj,njd->nd", weights, kept)
""",
        "sums up with index_add": """
def mean_of_real(x, may_attend):
    n, j = may_attend[:, 0, 0].nonzero(as_tuple=True)
    total = torch.zeros_like(x[:, 0]).index_add(0, n, x[n, j])
    return total / n.bincount(minlength=len(x)).clamp(min=1).unsqueeze(1)
""",
    },
    "shared_encoder": {
        "is decorated, and builds the page's class": """
@torch.no_grad()
def shared_encoder(block, times):
    return Encoder([block for _ in range(times)])
""",
        "fills a stack of one": """
def shared_encoder(block, times):
    encoder = Encoder(blocks=(block,))
    encoder.blocks.extend([block] * (times - 1))
    return encoder
""",
        "is an encoder of another kind": """
class Shared(Encoder):
    def forward(self, x, may_attend=None):
        for _ in range(self.times):
            x = super().forward(x, may_attend)
        return x

def shared_encoder(block, times):
    encoder = Shared([block])
    encoder.times = times
    return encoder
""",
    },
    "known_sets": {
        "is 0-d, and in float32": """
def known_sets(trained_on, unseen):
    known = set(map(frozenset, trained_on.tolist()))
    hits = [set(row) in known for row in unseen.tolist()]
    return torch.tensor(hits).float().mean()
""",
        "compares tables of what occurs": """
def known_sets(trained_on, unseen):
    size = int(max(trained_on.max(), unseen.max())) + 1
    a, b = (F.one_hot(t, size).amax(1) for t in (trained_on, unseen))
    return (b[:, None] == a).all(2).any(1).sum().item() / len(b)
""",
        "has bits": """
def known_sets(trained_on, unseen):
    bits = lambda row: sum(1 << number for number in {*row.tolist()})
    known = [bits(row) for row in trained_on]
    return sum(1 for row in unseen if known.count(bits(row))) / len(unseen)
""",
    },
}
