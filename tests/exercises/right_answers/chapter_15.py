"""Right answers in chapter 15 by other routes than the book's."""

RIGHT = {
    "longest_text": {
        "searches": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    low, high = 0, 10**12
    while low < high:
        middle = (low + high + 1) // 2
        used = weights + 2 * 2 * texts * middle * layers * kv_heads * d_head
        low, high = (middle, high) if used <= card else (low, middle - 1)
    return low
""",
        "asks first whether anything fits": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    if weights >= card:
        return 0
    tokens, _ = divmod(card - weights, cache_bytes(1, layers, kv_heads, d_head))
    return tokens // texts
""",
        "returns a tensor with a whole number": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    left = torch.tensor(card - weights).clamp(min=0)
    each = torch.tensor([2, 2, texts, layers, kv_heads, d_head]).prod()
    return torch.div(left, each, rounding_mode="floor")
""",
    },
    "causal_in_blocks": {
        "goes along the keys, for all later queries": """
def causal_in_blocks(q, k, v, block):
    n, out = len(q), torch.empty(len(q), v.shape[1], dtype=v.dtype)
    for start in range(0, n, block):
        mine = q[start : start + block]
        rows = torch.arange(start, start + len(mine)).unsqueeze(1)
        top = torch.full((len(mine),), -torch.inf, dtype=q.dtype)
        total, mean = torch.zeros_like(top), torch.zeros(len(mine), v.shape[1], dtype=v.dtype)
        for begin in range(0, start + 1, block):
            s = mine @ k[begin : begin + block].T * q.shape[1] ** -0.5
            columns = torch.arange(begin, begin + s.shape[1])
            s = torch.where(columns > rows, -torch.inf, s)
            new = torch.logaddexp(top, s.logsumexp(1))
            mean = mean * (top - new).exp()[:, None] + (s - new[:, None]).exp() @ v[begin : begin + block]
            top = new
        out[start : start + block] = mean
    return out
""",
        "begins at the diagonal": """
def causal_in_blocks(q, k, v, block):
    rows = []
    for i in range(0, len(q), block):
        a = q[i : i + block] / q.shape[-1] ** 0.5
        s = a @ k[i : i + block].mT
        s = s + torch.full_like(s, -math.inf).triu(1)
        m = s.max(dim=1, keepdim=True).values
        e = (s - m).exp()
        count, total = e.sum(1, keepdim=True), e @ v[i : i + block]
        for j in range(i - block, -1, -block):
            s = a @ k[j : j + block].mT
            new = torch.maximum(m, s.max(dim=1, keepdim=True).values)
            e = (s - new).exp()
            count = count * (m - new).exp() + e.sum(1, keepdim=True)
            total = total * (m - new).exp() + e @ v[j : j + block]
            m = new
        rows += [total / count]
    return torch.vstack(rows)
""",
        "has a helper that is called softmax": """
def softmax(parts):
    m = torch.cat([s for s, _ in parts], 1).amax(1, keepdim=True)
    s = sum((s - m).exp().sum(1, keepdim=True) for s, _ in parts)
    return sum((x - m).exp() @ v for x, v in parts) / s

def merged(old, new):
    m = torch.maximum(old[0], new[0])
    a, b = torch.exp(old[0] - m), torch.exp(new[0] - m)
    return m, a * old[1] + b * new[1], a * old[2] + b * new[2]

def causal_in_blocks(q, k, v, block):
    found = []
    for i, mine in enumerate(q.split(block)):
        state = None
        for j, (key, value) in enumerate(zip(k.split(block), v.split(block))):
            if j > i:
                break
            s = mine @ key.T / math.sqrt(mine.shape[1])
            if j == i:
                s = s.masked_fill(torch.ones_like(s).triu(1).bool(), -math.inf)
            m = s.amax(1, keepdim=True)
            e = torch.exp(s - m)
            part = m, e.sum(1, keepdim=True), e @ value
            state = merged(state, part) if state else part
        found.append(state[2] / state[1])
    return torch.cat(found)
""",
    },
    "linear_encoder": {
        "writes letters": """
def linear_encoder(q, k, v, may_attend):
    keys = torch.where(may_attend.transpose(2, 3), phi(k), 0.0)
    state = torch.einsum("nhjd,nhje->nhde", keys, v)
    total = torch.einsum("nhid,nhd->nhi", phi(q), keys.sum(2))[..., None]
    mean = torch.einsum("nhid,nhde->nhie", phi(q), state) / total
    return torch.where(total == 0, torch.zeros_like(mean), mean)
""",
        "goes sentence by sentence": """
def linear_encoder(q, k, v, may_attend):
    out = torch.zeros(*q.shape[:3], v.shape[-1], dtype=v.dtype)
    for n, shown in enumerate(may_attend[:, 0, 0]):
        if shown.any():
            key, value = phi(k[n][:, shown]), v[n][:, shown]
            sums = phi(q[n]) @ key.sum(1).unsqueeze(-1)
            out[n] = phi(q[n]) @ (key.transpose(1, 2) @ value) / sums
    return out
""",
        "repairs what is divided by 0": """
def linear_encoder(q, k, v, may_attend):
    keys = phi(k).masked_fill(~may_attend.mT, 0)
    top = phi(q) @ (keys.mT @ v)
    return (top / (phi(q) * keys.sum(-2, keepdim=True)).sum(-1, keepdim=True)).nan_to_num(0.0)
""",
    },
    "to_grouped": {
        "writes into the matrix as it is stored": """
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias
    made = GroupedQueryAttention(full.d_model, full.heads, kv_heads, full.dropout, bias is not None)
    made = made.to(full.in_proj.weight.dtype)

    def shared(t):
        q, k, v = t.detach().chunk(3)
        heads = full.d_model // full.heads
        k, v = (x.reshape(kv_heads, -1, heads, *x.shape[1:]).mean(1).reshape(-1, *x.shape[1:]) for x in (k, v))
        return torch.cat([q, k, v])

    with torch.no_grad():
        made.in_proj.weight.copy_(shared(full.in_proj.weight))
        if bias is not None:
            made.in_proj.bias.copy_(shared(bias))
        for new, old in zip(made.out_proj.parameters(), full.out_proj.parameters()):
            new.copy_(old)
    return made
""",
        "makes a state": """
import copy

def to_grouped(full, kv_heads):
    state, d = copy.deepcopy(full.state_dict()), full.d_model
    for name in [n for n in state if n.startswith("in_proj")]:
        old = state[name]
        pairs = [old[:d]]
        for part in (old[d : 2 * d], old[2 * d :]):
            heads = torch.stack(part.chunk(full.heads))
            pairs += [g.mean(0) for g in heads.chunk(kv_heads)]
        state[name] = torch.cat(pairs)
    made = GroupedQueryAttention(d, full.heads, kv_heads, dropout=full.dropout, bias="in_proj.bias" in state)
    made.to(full.out_proj.weight.dtype).load_state_dict(state)
    return made
""",
        "adds up heads": """
def to_grouped(full, kv_heads):
    made = GroupedQueryAttention(full.d_model, full.heads, kv_heads, full.dropout, full.in_proj.bias is not None)
    made = made.to(full.in_proj.weight)
    width, many = full.d_model // full.heads, full.heads // kv_heads
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    for which, ((W, b), (W_new, b_new)) in enumerate(zip(full.matrices(), made.matrices())):
        for old, new in ((W, W_new), (b, b_new)):
            if old is None:
                continue
            if which == 0:
                new.data[:] = old.data
                continue
            new.data.zero_()
            for h in range(full.heads):
                at = h // many * width
                new.data[at : at + width] += old.data[h * width : (h + 1) * width] / many
    return made
""",
    },
    "WindowCache": {
        "copies into the place": """
class WindowCache:
    def __init__(self, batch, heads, window, d_head):
        self.buffer = torch.zeros(batch, heads, window, 2 * d_head).unsqueeze(0).expand(1, -1, -1, -1, -1).contiguous()
        self.told = []

    def __call__(self, q, k, v):
        if len(self.told) == self.buffer.shape[3]:
            place = self.told.pop(0)
        else:
            place = len(self.told)
        self.told.append(place)
        self.buffer[0, :, :, place].copy_(torch.cat([k, v], -1)[:, :, 0])
        keys, values = self.buffer[0, :, :, sorted(self.told)].chunk(2, -1)
        return F.scaled_dot_product_attention(q, keys, values)
""",
        "remembers where it is": """
import itertools

class WindowCache:
    def __init__(self, batch, heads, window, d_head):
        self.buffer = torch.empty(2, batch, heads, window, d_head)
        self.places, self.full = itertools.cycle(range(window)), 0

    def __call__(self, q, k, v):
        window = self.buffer.size(3)
        self.buffer.select(3, next(self.places)).copy_(torch.stack([k, v]).squeeze(3))
        self.full = min(self.full + 1, window)
        keys, values = self.buffer.narrow(3, 0, self.full).unbind(0)
        weights = torch.softmax(q @ keys.mT / q.shape[-1] ** 0.5, dim=-1)
        return weights @ values
""",
        "hides empty places by a mask": """
class WindowCache:
    def __init__(self, batch, heads, window, d_head):
        self.buffer, self.n = torch.zeros(2, batch, heads, window, d_head), 0

    def __call__(self, q, k, v):
        window = self.buffer.shape[3]
        for part, new in zip(self.buffer, (k, v)):
            part[:, :, self.n % window : self.n % window + 1] = new
        self.n += 1
        written = (torch.arange(window) < self.n)[None, None, None]
        return attention(q, *self.buffer, written)
""",
    },
}
