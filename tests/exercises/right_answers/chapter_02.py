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
        "makes a list of scores": """
def scaled_shares(query, keys):
    scores = torch.tensor([k @ query for k in keys]).to(query)
    e = torch.exp((scores - scores.max()) / len(query) ** 0.5)
    return e / e.sum()
""",
        "takes the logarithm of the sum off": """
def scaled_shares(query, keys):
    s = keys @ query / math.sqrt(keys.shape[-1])
    return torch.exp(s - torch.logsumexp(s, 0))
""",
        "scales the query first": """
def scaled_shares(query, keys):
    scores = (keys * (query / math.sqrt(len(query)))).sum(1)
    e = (scores - scores.amax()).exp()
    return e / e.sum()
""",
        "has a helper that is called softmax": """
def softmax(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum()


def scaled_shares(query, keys):
    return softmax(keys @ query / math.sqrt(keys.shape[-1]))
""",
    },
    "win_probability": {
        "uses a module": """
points, odds = 400, 10

def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs]) * math.log(odds) / points
    return torch.nn.Softmax(dim=0)(ratings)[0].item()
""",
        "imports a softmax under another name": """
from torch.nn.functional import softmax as shares

points, odds = 400, 10

def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs]) * math.log(odds) / points
    return shares(ratings, dim=0)[0].item()
""",
        "knows the axis beforehand": """
from functools import partial

points, odds = 400, 10
shares = partial(torch.softmax, dim=0)

def win_probability(mine, theirs):
    return shares(torch.tensor([mine, theirs]) * math.log(odds) / points)[
        0
    ].item()
""",
        "calls a method": """
points, odds = 400, 10

def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs]) * math.log(odds) / points
    return float(ratings.softmax(0)[0])
""",
        "lets a helper do it": """
points, odds = 400, 10

def chances(ratings):
    return torch.softmax(ratings * math.log(odds) / points, 0)

def win_probability(mine, theirs):
    return chances(torch.tensor([mine, theirs]))[0].item()
""",
        "is decorated": """
points, odds = 400, 10

@torch.no_grad()
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs])
    return softmax(ratings * math.log(odds) / points)[0].item()
""",
        "remembers what it has computed": """
from functools import lru_cache

points, odds = 400, 10

@lru_cache
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs])
    return softmax(ratings * math.log(odds) / points)[0].item()
""",
        "is an object that can be called": """
points, odds = 400, 10

class League:
    def __call__(self, mine, theirs):
        ratings = torch.tensor([mine, theirs])
        return softmax(ratings * math.log(odds) / points)[0].item()

win_probability = League()
""",
    },
}
