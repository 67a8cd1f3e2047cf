"""Right answers in chapter 2 by other routes than the book's."""

RIGHT = {
    "scaled_shares": {
        "makes one score at a time": """
def scaled_shares(query, keys):
    scores = torch.stack([torch.dot(query, k) for k in keys])
    scores = scores / math.sqrt(len(query))
    e = torch.exp(scores - scores.max())
    return e / e.sum()
""",
        "takes the logarithm of the sum off": """
def scaled_shares(query, keys):
    s = keys @ query / math.sqrt(keys.shape[-1])
    return torch.exp(s - torch.logsumexp(s, 0))
""",
        "has a helper that is called softmax, and scales the query": """
def softmax(scores):
    e = torch.exp(scores - scores.amax())
    return e / e.sum()


def scaled_shares(query, keys):
    return softmax((keys * (query / math.sqrt(len(query)))).sum(1))
""",
    },
    "finds_wrong_softmax": {
        "compares with a formula of its own": """
def finds_wrong_softmax(f):
    for dtype in (torch.float32, torch.float64):
        for shape in ((7,), (4, 5), (2, 3, 4), (2, 3, 4, 5)):
            x = torch.randn(shape, dtype=dtype) * 20
            x[..., 1] = -math.inf
            x[:2] -= 5000 * (len(shape) > 1)
            keep, got = x.clone(), f(x)
            if (x != keep).any() or got.shape != x.shape or got.dtype != dtype:
                raise ValueError("this is no softmax")
            e = (keep - keep.amax(-1, keepdim=True)).exp()
            if not torch.allclose(got, e / e.sum(-1, keepdim=True)):
                raise ValueError("this is no softmax")
""",
        "has scores that are not contiguous": """
def finds_wrong_softmax(f):
    x = torch.randn(4, 3, 6, dtype=torch.float64).mT
    y = torch.cat([x[:2] + 3000, x[2:] - 3000])
    y[:, :, 0] = -math.inf
    for z in (x, y, y[0], y[0, 0].float(), y[3, 1, 1:2]):
        copy = z.clone()
        torch.testing.assert_close(f(z), copy.softmax(-1))
        assert z.equal(copy)
""",
        "tests what makes a softmax one, with Python's own numbers": """
def finds_wrong_softmax(f):
    for dtype in (torch.float64, torch.float32):
        rows = [[2.0, -1.0, 0.5, 2.5], [-3e3, -3001.0, -math.inf, -3002.0]]
        for scores in ([rows, rows[::-1], rows], rows, *rows):
            x = torch.tensor(scores, dtype=dtype)
            shares = f(x)
            assert shares.shape == x.shape and shares.dtype == x.dtype
            assert x.tolist() == scores, "they are changed"
            table = x.view(-1, 4).tolist()
            for row, mine in zip(table, shares.reshape(-1, 4).tolist()):
                assert math.isclose(sum(mine), 1, rel_tol=1e-5)
                for a, p in zip(row, mine):
                    odds = math.exp(a - max(row))
                    assert math.isclose(p, odds * max(mine), rel_tol=1e-5)
""",
    },
    "softmax_backward": {
        "calls itself for each axis": """
def softmax_backward(p, g):
    if p.dim() == 1:
        return p * (g - torch.dot(p, g))
    return torch.stack([softmax_backward(a, b) for a, b in zip(p, g)])
""",
        "uses einsum": """
@torch.no_grad()
def softmax_backward(p, g):
    won = torch.einsum("...i,...i->...i", p, g)
    return won - torch.einsum("...i,...j->...i", p, won)
""",
        "multiplies a row by a column": """
def softmax_backward(p, g):
    mean = p.unsqueeze(-2) @ g.unsqueeze(-1)
    return torch.addcmul(p * g, p, mean.squeeze(-1), value=-1)
""",
    },
    "win_probability": {
        "is an object that calls a module": """
points, odds = 400, 10

class League:
    def __call__(self, mine, theirs):
        ratings = torch.tensor([mine, theirs]) * math.log(odds) / points
        return torch.nn.Softmax(dim=0)(ratings)[0].item()

win_probability = League()
""",
        "lets a helper call an imported softmax, for the lead alone": """
from functools import partial
from torch.nn.functional import softmax as shares

points, odds = 400, 10
first = partial(shares, dim=0)

@torch.no_grad()
def win_probability(mine, theirs):
    lead = torch.tensor([0.0, theirs - mine])
    return first(lead * math.log(odds) / points)[0]
""",
        "remembers what it has computed": """
from functools import lru_cache

points, odds = 400, 10

@lru_cache
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs]) / points
    return float((ratings * math.log(odds)).softmax(0)[0])
""",
    },
    "streamed_mean": {
        "keeps a logarithm and a mean": """
def streamed_mean(blocks):
    log_sum, mean = torch.tensor(-math.inf), 0.0
    for s, v in blocks:
        if s.max() == -math.inf:
            continue
        new = torch.logaddexp(log_sum.to(s), s.logsumexp(0))
        mean = mean * (log_sum - new).exp() + (s - new).exp() @ v
        log_sum = new
    return mean
""",
        "takes one score after another": """
def streamed_mean(blocks):
    largest, total, mean = None, 0.0, None
    for scores, values in blocks:
        for s, v in zip(scores.tolist(), values):
            if s == -math.inf:
                continue
            if largest is None:
                largest, total, mean = s, 1.0, v.clone()
                continue
            new = max(largest, s)
            total *= math.exp(largest - new)
            share = math.exp(s - new) / (total + math.exp(s - new))
            total += math.exp(s - new)
            mean, largest = mean + share * (v - mean), new
    return mean
""",
        "starts with the smallest number, and spoils the block": """
def streamed_mean(blocks):
    high, total, sums = torch.tensor(torch.finfo(torch.float32).min), 0, 0
    for s, v in blocks:
        new = torch.maximum(high, s.max())
        fade, s = torch.exp(high - new), s.sub_(new).exp_()
        total, high = total * fade + s.sum(), new
        sums = sums * fade + (s[:, None] * v).sum(0)
    return sums / total
""",
        "joins what it keeps with each block": """
def streamed_mean(blocks):
    kept = None
    for s, v in blocks:
        if kept is not None:
            s, v = torch.cat([kept[0], s]), torch.cat([kept[1], v])
        if s.max() > -torch.inf:
            kept = s.logsumexp(0)[None], (s.softmax(0) @ v)[None]
    return kept[1][0]
""",
    },
    "without": {
        "asks for least squares": """
def without(keys, direction):
    line = direction[:, None]
    return keys - (line @ torch.linalg.lstsq(line, keys.T).solution).T
""",
        "goes key by key, twice": """
def without(keys, direction):
    line = direction / direction.norm()
    for _ in range(2):
        keys = torch.stack([k - (k @ line) * line for k in keys])
    return keys
""",
        "keeps all other directions": """
def without(keys, direction):
    others = torch.linalg.svd(direction[None])[2][1:]
    return keys @ others.T @ others
""",
    },
}
