"""Wrong answers to the exercises of chapter 15, by misconception."""

WRONG = {
    "longest_text": {
        "keys only": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = texts * layers * kv_heads * d_head * 2
    return max(0, card - weights) // token
""",
        "one layer": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return max(0, card - weights) // cache_bytes(texts, 1, kv_heads, d_head)
""",
        "the weights cost nothing": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return card // cache_bytes(texts, layers, kv_heads, d_head)
""",
        "all texts together, not each": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return max(0, card - weights) // cache_bytes(1, layers, kv_heads, d_head)
""",
        "four bytes a number": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(texts, layers, kv_heads, d_head, number=4)
    return max(0, card - weights) // token
""",
        "a token that begins to fit counts": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(texts, layers, kv_heads, d_head)
    return math.ceil(max(0, card - weights) / token)
""",
        "less than no tokens": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return (card - weights) // cache_bytes(texts, layers, kv_heads, d_head)
""",
        "each text has its own weights": """
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(1, layers, kv_heads, d_head)
    return max(0, card // texts - weights) // token
""",
    },
    "causal_in_blocks": {
        "the table in full, with a mask": """
def causal_in_blocks(q, k, v, block):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    may_attend = torch.ones_like(scores).tril() > 0
    e = torch.exp(scores.masked_fill(~may_attend, -math.inf))
    return e @ v / e.sum(-1, keepdim=True)
""",
        "future blocks are computed and then hidden": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here = place[i : i + block]
        m = q.new_full((len(here), 1), -math.inf)
        s, c = torch.zeros_like(m), torch.zeros_like(v[: len(here)])
        for j in range(0, n, block):
            there = place[j : j + block]
            scores = q[here] @ k[there].T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            largest = torch.maximum(m, scores.amax(-1, keepdim=True))
            fade, e = torch.exp(m - largest), torch.exp(scores - largest)
            s = s * fade + e.sum(-1, keepdim=True)
            c, m = c * fade + e @ v[there], largest
        rows.append(c / s)
    return torch.cat(rows)
""",
        "no mask inside the block of the diagonal": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    rows = []
    for i in range(0, n, block):
        mine = q[i : i + block]
        m = q.new_full((len(mine), 1), -math.inf)
        s, c = torch.zeros_like(m), torch.zeros_like(v[: len(mine)])
        for j in range(0, i + 1, block):
            scores = mine @ k[j : j + block].T
            largest = torch.maximum(m, scores.amax(-1, keepdim=True))
            fade, e = torch.exp(m - largest), torch.exp(scores - largest)
            s = s * fade + e.sum(-1, keepdim=True)
            c, m = c * fade + e @ v[j : j + block], largest
        rows.append(c / s)
    return torch.cat(rows)
""",
        "what was summed is not faded": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here = place[i : i + block]
        m = q.new_full((len(here), 1), -math.inf)
        s, c = torch.zeros_like(m), torch.zeros_like(v[: len(here)])
        for j in range(0, i + 1, block):
            there = place[j : j + block]
            scores = q[here] @ k[there].T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            m = torch.maximum(m, scores.amax(-1, keepdim=True))
            e = torch.exp(scores - m)
            s, c = s + e.sum(-1, keepdim=True), c + e @ v[there]
        rows.append(c / s)
    return torch.cat(rows)
""",
        "the largest score so far begins at 0": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here = place[i : i + block]
        m = q.new_zeros(len(here), 1)
        s, c = torch.zeros_like(m), torch.zeros_like(v[: len(here)])
        for j in range(0, i + 1, block):
            there = place[j : j + block]
            scores = q[here] @ k[there].T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            largest = torch.maximum(m, scores.amax(-1, keepdim=True))
            fade, e = torch.exp(m - largest), torch.exp(scores - largest)
            s = s * fade + e.sum(-1, keepdim=True)
            c, m = c * fade + e @ v[there], largest
        rows.append(c / s)
    return torch.cat(rows)
""",
        "no maximum at all": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here = place[i : i + block]
        s, c = 0.0, 0.0
        for j in range(0, i + 1, block):
            there = place[j : j + block]
            scores = q[here] @ k[there].T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            e = torch.exp(scores)
            s, c = s + e.sum(-1, keepdim=True), c + e @ v[there]
        rows.append(c / s)
    return torch.cat(rows)
""",
        "the scale is forgotten": """
def causal_in_blocks(q, k, v, block):
    n = len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here = place[i : i + block]
        m = q.new_full((len(here), 1), -math.inf)
        s, c = torch.zeros_like(m), torch.zeros_like(v[: len(here)])
        for j in range(0, i + 1, block):
            there = place[j : j + block]
            scores = q[here] @ k[there].T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            largest = torch.maximum(m, scores.amax(-1, keepdim=True))
            fade, e = torch.exp(m - largest), torch.exp(scores - largest)
            s = s * fade + e.sum(-1, keepdim=True)
            c, m = c * fade + e @ v[there], largest
        rows.append(c / s)
    return torch.cat(rows)
""",
        "the mean of the blocks' own results": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here, parts = place[i : i + block], []
        for j in range(0, i + 1, block):
            there = place[j : j + block]
            scores = q[here] @ k[there].T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            e = torch.exp(scores - scores.amax(-1, keepdim=True))
            parts.append(e @ v[there] / e.sum(-1, keepdim=True))
        rows.append(sum(parts) / len(parts))
    return torch.cat(rows)
""",
        "the block of the diagonal is left out as future": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    rows = []
    for i in range(0, n, block):
        mine = q[i : i + block]
        m = q.new_full((len(mine), 1), -math.inf)
        s, c = torch.zeros_like(m), torch.zeros_like(v[: len(mine)])
        for j in range(0, i, block):
            scores = mine @ k[j : j + block].T
            largest = torch.maximum(m, scores.amax(-1, keepdim=True))
            fade, e = torch.exp(m - largest), torch.exp(scores - largest)
            s = s * fade + e.sum(-1, keepdim=True)
            c, m = c * fade + e @ v[j : j + block], largest
        rows.append(c / s)
    return torch.cat(rows)
""",
        "keys in one piece: tables of block by n": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here, there = place[i : i + block], place[: i + block]
        e = q[here] @ k[there].T
        e.masked_fill_(here[:, None] < there, -math.inf)
        e.sub_(e.amax(-1, keepdim=True)).exp_()
        rows.append(e @ v[there] / e.sum(-1, keepdim=True))
    return torch.cat(rows)
""",
        "queries in one piece: tables of n by block": """
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    m = q.new_full((n, 1), -math.inf)
    s, c = torch.zeros_like(m), torch.zeros_like(v)
    for there in place.split(block):
        scores = q @ k[there].T
        scores = scores.masked_fill(place[:, None] < there, -math.inf)
        largest = torch.maximum(m, scores.amax(-1, keepdim=True))
        fade, e = torch.exp(m - largest), torch.exp(scores - largest)
        s = s * fade + e.sum(-1, keepdim=True)
        c, m = c * fade + e @ v[there], largest
    return c / s
""",
    },
    "linear_encoder": {
        "padding is seen": """
def linear_encoder(q, k, v, may_attend):
    state = phi(k).mT @ F.pad(v, (0, 1), value=1.0)
    sums = phi(q) @ state
    return sums[..., :-1] / sums[..., -1:]
""",
        "keys set to 0 before the feature map": """
def linear_encoder(q, k, v, may_attend):
    keys = phi(k * may_attend.mT)
    state = keys.mT @ F.pad(v, (0, 1), value=1.0)
    sums = phi(q) @ state
    count = sums[..., -1:]
    return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
""",
        "only the values are hidden, not the weights": """
def linear_encoder(q, k, v, may_attend):
    state = phi(k).mT @ F.pad(v * may_attend.mT, (0, 1), value=1.0)
    sums = phi(q) @ state
    return sums[..., :-1] / sums[..., -1:]
""",
        "the queries are hidden": """
def linear_encoder(q, k, v, may_attend):
    state = phi(k).mT @ F.pad(v, (0, 1), value=1.0)
    sums = (phi(q) * may_attend.mT) @ state
    count = sums[..., -1:]
    return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
""",
        "the table in full": """
def linear_encoder(q, k, v, may_attend):
    weights = (phi(q) @ phi(k).mT) * may_attend
    total = weights.sum(-1, keepdim=True)
    return weights @ v / total.masked_fill(total == 0, 1.0)
""",
        "nothing divided by nothing": """
def linear_encoder(q, k, v, may_attend):
    keys = phi(k) * may_attend.mT
    state = keys.mT @ F.pad(v, (0, 1), value=1.0)
    sums = phi(q) @ state
    return sums[..., :-1] / sums[..., -1:]
""",
        "still causal": """
def linear_encoder(q, k, v, may_attend):
    keys = (phi(k) * may_attend.mT)[..., :, None]
    state = (keys * F.pad(v, (0, 1), value=1.0)[..., None, :]).cumsum(-3)
    sums = (phi(q)[..., None, :] @ state)[..., 0, :]
    count = sums[..., -1:]
    return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
""",
        "never divided": """
def linear_encoder(q, k, v, may_attend):
    return phi(q) @ ((phi(k) * may_attend.mT).mT @ v)
""",
    },
    "to_grouped": {
        name: f"""
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    ).to(full.in_proj.weight)
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head, group = full.d_model // full.heads, full.heads // kv_heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                if len(has) < len(had):
                    {body}
                has.data.copy_(had)
    return made
"""
        for name, body in {
            "the first head of each group": (
                "had = had.unflatten(0, (kv_heads, group, d_head))[:, 0]"
                ".flatten(0, 1)"
            ),
            "the first heads of all": "had = had[: len(has)]",
            "the sum of a group": (
                "had = had.unflatten(0, (kv_heads, group, d_head)).sum(1)"
                ".flatten(0, 1)"
            ),
            "every n-th head makes a group": (
                "had = had.unflatten(0, (group, kv_heads, d_head)).mean(0)"
                ".flatten(0, 1)"
            ),
            "means of neighbouring rows, not of heads": (
                "had = had.unflatten(0, (len(has), group)).mean(1)"
            ),
            "one mean for all groups": (
                "had = had.unflatten(0, (-1, d_head)).mean(0)"
                ".repeat(kv_heads, *[1] * (had.ndim - 1))"
            ),
        }.items()
    }
    | {
        "the biases stay random": """
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    ).to(full.in_proj.weight)
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head = full.d_model // full.heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        had = old[0].unflatten(0, (len(new[0]) // d_head, -1, d_head))
        new[0].data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
        "the output matrix is forgotten": """
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    ).to(full.in_proj.weight)
    d_head = full.d_model // full.heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
    },
    "WindowCache": {
        name: f"""
class WindowCache:
    def __init__(self, batch, heads, window, d_head):
        self.window, self.seen = window, 0
        self.buffer = torch.full(
            (2, batch, heads, window, d_head), math.nan, device=device
        )

    def __call__(self, q, k, v):
{body}
"""
        for name, body in {
            "old keys move up, so all places are written": """
        new = torch.stack([k, v])
        if self.seen < self.window:
            self.buffer[:, :, :, self.seen : self.seen + 1] = new
        else:
            moved = self.buffer[:, :, :, 1:].clone()
            self.buffer[:, :, :, :-1] = moved
            self.buffer[:, :, :, -1:] = new
        self.seen += 1
        full = min(self.seen, self.window)
        return attention(q, *self.buffer[:, :, :, :full])
""",
            "a longer buffer for every token": """
        new = torch.stack([k, v])
        if self.seen == 0:
            self.buffer = new
        else:
            self.buffer = torch.cat([self.buffer, new], dim=3)
        self.seen += 1
        return attention(q, *self.buffer[:, :, :, -self.window :])
""",
            "empty places are attended to": """
        place = self.seen % self.window
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        return attention(q, *self.buffer.nan_to_num())
""",
            "the new token does not see itself": """
        full = min(self.seen, self.window)
        context = attention(q, *self.buffer[:, :, :, : max(full, 1)])
        place = self.seen % self.window
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        return context
""",
            "a full buffer keeps its first tokens": """
        place = min(self.seen, self.window - 1)
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        full = min(self.seen, self.window)
        return attention(q, *self.buffer[:, :, :, :full])
""",
            "after a round the buffer counts as empty": """
        place = self.seen % self.window
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        return attention(q, *self.buffer[:, :, :, : place + 1])
""",
            "the value is a key": """
        place = self.seen % self.window
        self.buffer[:, :, :, place] = k[:, :, 0]
        self.seen += 1
        full = min(self.seen, self.window)
        return attention(q, *self.buffer[:, :, :, :full])
""",
        }.items()
    },
}
