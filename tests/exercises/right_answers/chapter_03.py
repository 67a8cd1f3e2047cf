"""Right answers in chapter 3 by other routes than the book's."""

RIGHT = {
    "rules_from": {
        "adds arrow by arrow": """
def rules_from(facts, partner):
    rules = facts.new_zeros(facts.shape[1], facts.shape[1])
    for i in range(len(facts)):
        rules = rules + facts[i][:, None] * facts[partner[i]][None, :]
    return rules
""",
        "multiplies matrices, with one-hot rows for the arrows": """
def rules_from(facts, partner):
    arrows = F.one_hot(partner, len(facts)).to(facts.dtype)
    return facts.T @ arrows @ facts
""",
        "makes all products, and sums them in the end": """
def rules_from(facts, partner):
    return (facts.unsqueeze(2) * facts[partner].unsqueeze(1)).sum(dim=0)
""",
    },
    "bilinear_scores": {
        "asserts on the number of axes": """
def bilinear_scores(q, W, k):
    assert q.dim() == W.dim() == k.ndim == 2
    return torch.einsum("id,de,je->ij", q, W, k)
""",
        "remembers what it has computed, and copies it": """
from functools import cache

@cache
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->ij", q, W, k).clone()
""",
        "looks whether there is a key": """
def bilinear_scores(q, W, k):
    if k.numel() == 0:
        return q.new_zeros(len(q), 0)
    return torch.einsum("nd,de,me->nm", q, W, k)
""",
    },
    "attend_heads_last": {
        "transposes, and back": """
def attend_heads_last(q, k, v):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(q, k, v).transpose(1, 2)
""",
        "takes a sentence and a head at a time": """
def attend_heads_last(q, k, v):
    out = q.new_empty(*q.shape[:3], v.shape[-1])
    for n in range(len(q)):
        for h in range(q.shape[2]):
            scores = q[n, :, h] @ k[n, :, h].T / math.sqrt(q.shape[3])
            out[n, :, h] = scores.softmax(-1) @ v[n, :, h]
    return out
""",
        "scales query and key by the root of the root": """
def attend_heads_last(q, k, v):
    root = q.shape[-1] ** 0.25
    scores = torch.einsum("nihd,njhd->nhij", q / root, k / root)
    weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    return torch.einsum("nhij,njhe->nihe", weights, v)
""",
    },
    "squared_distances": {
        "scales one side of the mixed term": """
def squared_distances(a, b):
    lengths = torch.einsum("nid,nid->ni", a, a)[..., None]
    others = torch.einsum("njd,njd->nj", b, b)[:, None, :]
    return lengths + others + torch.einsum("nid,njd->nij", -2 * a, b)
""",
        "takes the mixed term off twice": """
def squared_distances(a, b):
    squares = [torch.einsum("nid->ni", x * x) for x in (a, b)]
    mixed = torch.einsum("nid,njd->nij", a, b)
    return squares[0].unsqueeze(-1) + squares[1].unsqueeze(-2) - mixed - mixed
""",
        "adds in place to what it has made itself": """
def squared_distances(a, b):
    table = torch.einsum("nid,njd->nij", a, b).mul_(-2)
    table += torch.einsum("nid,nid->ni", a, a)[:, :, None]
    table += torch.einsum("njd,njd->nj", b, b)[:, None]
    return table
""",
    },
    "multiplications": {
        "has formulas": """
def multiplications(length, width):
    return 2 * length**2 * width, 2 * length * width**2
""",
        "returns a list": """
def multiplications(length, width):
    return [2 * length * length * width, 2 * length * width * width]
""",
        "returns tensors without axes": """
def multiplications(length, width):
    numbers = torch.tensor([length, width])
    return tuple(2 * length * width * numbers)
""",
    },
    "soft_look_up": {
        "calls plain_attention in a helper": """
def mixed(queries, table):
    keys = torch.eye(len(table), dtype=table.dtype)
    return plain_attention(queries, keys, table)

def soft_look_up(ids, table):
    one_hot = F.one_hot(ids, len(table)).to(table.dtype)
    return mixed(20 * math.sqrt(len(table)) * one_hot, table)
""",
        "is decorated": """
def loud(f):
    def called(*given):
        return f(*given)

    return called

@loud
def soft_look_up(ids, table):
    keys = torch.eye(len(table), dtype=table.dtype)
    return plain_attention(20 * math.sqrt(len(table)) * keys[ids], keys, table)
""",
        "writes the sharp score at its place": """
def soft_look_up(ids, table):
    sharp = 25 * len(table) ** 0.5
    queries = table.new_zeros(len(ids), len(table))
    queries = queries.scatter(1, ids[:, None], sharp)
    return plain_attention(queries, table.new_ones(len(table)).diag(), table)
""",
    },
    "smooth": {
        "calls plain_attention in a helper": """
def kernel(rows, columns, values):
    return plain_attention(rows, columns, values[:, None])[:, 0]

def smooth(t, t_known, y_known, width):
    rows = torch.stack([t, torch.ones_like(t)], 1) * 2**0.5 / width**2
    columns = torch.stack([t_known, -(t_known**2) / 2], 1)
    return kernel(rows, columns, y_known)
""",
        "remembers what it has computed": """
from functools import cache

@cache
def smooth(t, t_known, y_known, width):
    rows = torch.stack([t, torch.ones_like(t)], 1) * 2**0.5 / width**2
    columns = torch.stack([t_known, -(t_known**2) / 2], 1)
    return plain_attention(rows, columns, y_known[:, None])[:, 0]
""",
        "is decorated": """
@torch.no_grad()
def smooth(t, t_known, y_known, width):
    rows = torch.stack([t, torch.ones_like(t)], 1) * 2**0.5 / width**2
    columns = torch.stack([t_known, -(t_known**2) / 2], 1)
    return plain_attention(rows, columns, y_known[:, None])[:, 0]
""",
    },
}
