"""Right answers in chapter 1 by other routes than the book's."""

RIGHT = {
    "unknown_share": {
        "returns a tensor without axes": """
def unknown_share(vocabulary, text):
    ids = torch.tensor(vocabulary.encode(text))
    return (ids == vocabulary.unk_id).float().mean()
""",
        "looks tokens up by itself": """
def unknown_share(vocabulary, text):
    from statistics import mean
    return mean(t not in vocabulary.ids for t in vocabulary.split(text))
""",
        "counts what is lost": """
from functools import cache
from fractions import Fraction

@cache
def unknown_share(vocabulary, text):
    pieces = vocabulary.split(text)
    lost = [p for p in pieces if vocabulary.decode(vocabulary.encode(p)) != p]
    return float(Fraction(len(lost), len(pieces)))
""",
    },
    "OwnEmbedding": {
        "multiplies one-hot vectors": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.register_buffer("root", torch.tensor(d_model).sqrt())
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, ids):
        hot = F.one_hot(ids, len(self.weight)).to(self.weight)
        return torch.einsum("...v,vd->...d", hot, self.weight * self.root)
""",
        "starts uniformly, and selects rows": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        edge = math.sqrt(3 / d_model)
        self.rows = nn.ParameterList([torch.empty(vocab_size, d_model)])
        self.rows[0].data.uniform_(-edge, edge)

    def forward(self, ids):
        found = self.rows[0].index_select(0, ids.flatten())
        return found.view(*ids.shape, -1) * found.shape[-1] ** 0.5
""",
        "keeps the table in a linear layer that is turned over": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.out = nn.Linear(d_model, vocab_size, bias=False)
        torch.nn.init.normal_(self.out.weight, 0, 1 / math.sqrt(d_model))
        self.pad = nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, ids):
        table = self.out.weight
        return F.embedding(ids, table) * math.sqrt(table.size(1)) + self.pad
""",
        "draws with a generator of its own": """
class OwnEmbedding(torch.nn.Module):
    def __init__(self, vocab_size: int, d_model: int):
        super().__init__()
        self.d = d_model
        lots = torch.Generator()
        lots.seed()
        x = torch.randn(vocab_size, d_model, generator=lots)
        self.E = torch.nn.Parameter(x.div(d_model**0.5))

    def forward(self, ids):
        return torch.stack([self.E[i] for i in ids.reshape(-1)]).reshape(
            *ids.shape, self.d
        ).mul(self.d**0.5)
""",
    },
    "table_gradient": {
        "adds row by row": """
def table_gradient(ids, upstream, rows):
    grad = [torch.zeros_like(upstream[0]) for _ in range(rows)]
    for id, row in zip(ids.tolist(), upstream):
        grad[id] = grad[id] + row
    return torch.stack(grad)
""",
        "scatters": """
def table_gradient(ids, upstream, rows):
    where = ids[:, None].expand(-1, upstream.size(1))
    zeros = upstream.new_zeros(rows, upstream.size(1))
    return zeros.scatter_add_(0, where, upstream)
""",
        "compares with all rows": """
def table_gradient(ids, upstream, rows):
    is_row = torch.arange(rows)[:, None] == ids
    return torch.stack([upstream[one].sum(0) for one in is_row])
""",
    },
    "pad_in_front": {
        "turns round what is padded behind": """
from torch.nn.utils.rnn import pad_sequence

def pad_in_front(sequences, pad_id):
    turned = [torch.tensor(row[::-1], dtype=torch.long) for row in sequences]
    rows = pad_sequence(turned, batch_first=True, padding_value=pad_id).flip(1)
    return [rows, [rows.shape[1] - len(row) for row in sequences]]
""",
        "fills a tensor": """
def pad_in_front(sequences, pad_id):
    width = len(max(sequences, key=len))
    rows = torch.full((len(sequences), width), pad_id)
    begins = ()
    for place, row in enumerate(sequences):
        begins += (width - len(row),)
        rows[place, begins[-1] :] = torch.tensor(row)
    return rows, begins
""",
        "puts one in front until a copy is long enough": """
def pad_in_front(sequences, pad_id):
    rows, begins = [list(row) for row in sequences], [0] * len(sequences)
    while len({len(row) for row in rows}) > 1:
        for n, row in enumerate(rows):
            if len(row) < max(map(len, rows)):
                row.insert(0, pad_id)
                begins[n] += 1
    return torch.LongTensor(rows), list(torch.tensor(begins))
""",
    },
    "pretrained_table": {
        "fills a table": """
def pretrained_table(vocabulary, downloaded):
    known = torch.tensor([*downloaded.values()]).float()
    table = known.mean(0).repeat(len(vocabulary), 1)
    for word in downloaded.keys() & vocabulary.ids.keys():
        table[vocabulary.ids[word]] = torch.tensor(downloaded[word])
    table[0].zero_()
    return table
""",
        "computes with Python's numbers": """
def pretrained_table(vocabulary, downloaded):
    mean = [sum(c) / len(downloaded) for c in zip(*downloaded.values())]
    copy = {**downloaded, vocabulary.tokens[0]: [0] * len(mean)}
    return torch.tensor([copy.get(t) or mean for t in vocabulary.tokens])
""",
        "computes with numpy": """
from collections import defaultdict

def pretrained_table(vocabulary, downloaded):
    import numpy as np
    vectors = np.array(list(downloaded.values()), dtype=np.float32)
    rows = defaultdict(lambda: vectors.mean(axis=0), downloaded)
    table = np.stack([rows[t] for t in vocabulary.tokens]).astype("float32")
    table[vocabulary.pad_id] = 0
    return nn.Embedding.from_pretrained(torch.from_numpy(table)).weight
""",
    },
    "merge_commonest": {
        "counts by a list": """
def merge_commonest(tokens):
    pairs = [tuple(tokens[i : i + 2]) for i in range(len(tokens) - 1)]
    best = sorted(pairs, key=pairs.count, reverse=True)[0]
    out = []
    rest = list(tokens)
    while rest:
        n = 2 if tuple(rest[:2]) == best else 1
        out.append("".join(rest[:n]))
        rest = rest[n:]
    return out
""",
        "takes from a stack": """
from collections import Counter, deque
from itertools import pairwise

def merge_commonest(tokens):
    (pair, _), *_ = Counter(pairwise(tokens)).most_common(1)
    queue, out = deque(tokens), []
    while queue:
        token = queue.popleft()
        if queue and (token, queue[0]) == pair:
            token += queue.popleft()
        out.append(token)
    return out
""",
        "calls itself": """
def merge_commonest(tokens, pair=None):
    if pair is None:
        counts = {}
        for two in zip(tokens, tokens[1:]):
            counts[two] = counts.get(two, 0) + 1
        pair = next(p for p in counts if counts[p] == max(counts.values()))
    match tokens:
        case [a, b, *rest] if (a, b) == pair:
            return [a + b] + merge_commonest(rest, pair)
        case [a, *rest]:
            return [a] + merge_commonest(rest, pair)
    return []
""",
    },
}
