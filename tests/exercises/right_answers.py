"""Right answers by other routes than the book's, each by what is unusual."""

RIGHT = {
    "unknown_share": {
        "returns a tensor without axes": """
def unknown_share(vocabulary, text):
    ids = torch.tensor(vocabulary.encode(text))
    return (ids == vocabulary.unk_id).double().mean()
""",
    },
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
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
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
    "my_attention": {
        "has helpers with the names of the library": """
def sdpa(q, k):
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5

def attention_weights(scores, may_attend):
    empty = ~may_attend.any(-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -torch.inf)
    return torch.softmax(scores, -1).masked_fill(empty, 0.0)

def my_attention(q, k, v, may_attend):
    return attention_weights(sdpa(q, k), may_attend) @ v
""",
    },
    "without_head": {
        "builds a module of the page's class": """
def without_head(module, head):
    silent = MultiHeadAttention(module.d_model, module.heads)
    silent.load_state_dict(module.state_dict())
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return silent
""",
    },
    "grouped_attention": {
        "has a helper that is called sdpa": """
def sdpa(q, k, v):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v

def grouped_attention(q, k, v):
    q = q.unflatten(1, (k.shape[1], -1))
    return sdpa(q, k[:, :, None], v[:, :, None]).flatten(1, 2)
""",
    },
    "shared_encoder": {
        "is decorated, and builds the page's class": """
@torch.no_grad()
def shared_encoder(block, times):
    return Encoder([block for _ in range(times)])
""",
    },
    "rms_norm": {
        "has a class that is called RMSNorm": """
class RMSNorm(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        return x * (x.pow(2).mean(-1, keepdim=True) + self.eps).rsqrt()

def rms_norm(x, eps=1e-6):
    return RMSNorm(eps)(x)
""",
    },
    "whole_layer": {
        "has a class that is called Residual": """
class Residual:
    def __init__(self, part, norm, norm_first):
        self.part, self.norm, self.norm_first = part, norm, norm_first

    def __call__(self, x):
        if self.norm_first:
            return x + self.part(self.norm(x))
        return self.norm(x + self.part(x))

def whole_layer(x, attention, feed_forward, norms, norm_first):
    for part, norm in zip((attention, feed_forward), norms):
        x = Residual(part, norm, norm_first)(x)
    return x
""",
    },
    "step_aside": {
        "returns a list of two": """
def step_aside(beams, next_letters, width):
    found = [
        (log + math.log(p), text + letter)
        for text, log in beams.items()
        for letter, p in next_letters(text).items()
        if p
    ]
    groups = [{}, {}]
    for log, text in sorted(found, key=lambda pair: -pair[0]):
        if len(groups[0]) < width:
            groups[text[-1] == "."][text] = log
    return groups
""",
    },
    "llama_block": {
        "has a class that is called RMSNorm": """
class RMSNorm:
    def __init__(self, weight, eps):
        self.weight, self.eps = weight, eps

    def __call__(self, x):
        size = x.square().mean(-1, keepdim=True)
        return x / torch.sqrt(size + self.eps) * self.weight

def llama_block(x, w, heads, kv_heads, eps):
    def cut(x, name, many):
        x = x @ w[f"self_attn.{name}_proj.weight"].T
        return x.unflatten(-1, (many, -1)).transpose(1, 2)

    def turned(x):
        return rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))

    normed = RMSNorm(w["input_layernorm.weight"], eps)(x)
    q, k, v = cut(normed, "q", heads), *(
        cut(normed, n, kv_heads).repeat_interleave(heads // kv_heads, 1)
        for n in "kv"
    )
    mask = causal_mask(x.shape[1], x.device)
    found = attention(turned(q), turned(k), v, mask)
    x = x + found.transpose(1, 2).flatten(-2) @ w["self_attn.o_proj.weight"].T
    normed = RMSNorm(w["post_attention_layernorm.weight"], eps)(x)
    gate = F.silu(normed @ w["mlp.gate_proj.weight"].T)
    hidden = gate * (normed @ w["mlp.up_proj.weight"].T)
    return x + hidden @ w["mlp.down_proj.weight"].T
""",
    },
    "ring_all_reduce": {
        "returns a list of two": """
def ring_all_reduce(tensors):
    p = len(tensors)
    held = [[c.clone() for c in t.chunk(p)] for t in tensors]
    sent = [0] * p
    for adds in (True, False):
        for step in range(p - 1):
            start = step if adds else step - 1
            moving = [(w, (w - start) % p) for w in range(p)]
            moving = [(w, i, held[w][i].clone()) for w, i in moving]
            for w, i, piece in moving:
                other = held[(w + 1) % p]
                other[i] = other[i] + piece if adds else piece
                sent[w] += piece.numel()
    return [[torch.cat(mine) for mine in held], sent]
""",
    },
    "loss_of": {
        "is decorated": """
@torch.no_grad()
def summary(part, target, first):
    top = part.amax(1)
    total = (part - top[:, None]).exp().sum(1)
    inside = (target >= first) & (target < first + part.shape[1])
    column = (target - first).clamp(0, part.shape[1] - 1)
    right = part[torch.arange(len(part)), column] * inside
    return torch.stack([top, total, right], 1)

@torch.no_grad()
def loss_of(summaries):
    tops, totals, rights = torch.stack(summaries).unbind(2)
    top = tops.amax(0)
    total = (totals * (tops - top).exp()).sum(0)
    return (top + total.log() - rights.sum(0)).mean()
""",
    },
}
