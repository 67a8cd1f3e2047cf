"""Right answers in chapter 16 by other routes than the book's."""

RIGHT = {
    "weights_of": {
        "builds it after all": """
def weights_of(fields):
    d, per_head = fields["hidden_size"], fields["hidden_size"] // fields["num_attention_heads"]
    wide, narrow = d, per_head * fields["num_key_value_heads"]
    with torch.device("meta"):
        shapes = [(d, wide), (d, narrow), (d, narrow), (wide, d)]
        shapes += [(d, fields["intermediate_size"])] * 3 + [(d,)] * 2
        block = sum(torch.empty(shape).numel() for shape in shapes)
        table = torch.empty(fields["vocab_size"], d).numel()
    total = block * fields["num_hidden_layers"] + table + d
    return total if fields["tie_word_embeddings"] else total + table
""",
        "divides at the end": """
def weights_of(fields):
    f = dict(fields)
    d, heads = f.pop("hidden_size"), f["num_attention_heads"]
    attention = 2 * d * d + 2 * d * d * f["num_key_value_heads"] // heads
    block = attention + 3 * f["intermediate_size"] * d + d + d
    words = f["vocab_size"] * d * (2 - f["tie_word_embeddings"])
    return sum(block for _ in range(f["num_hidden_layers"])) + d + words
""",
        "returns a tensor with a whole number": """
def weights_of(fields):
    d, h, g, d_ff, n, words = (
        fields[name]
        for name in (
            "hidden_size", "num_attention_heads", "num_key_value_heads",
            "intermediate_size", "num_hidden_layers", "vocab_size",
        )
    )
    per_row = 2 * d + 2 * (d // h) * g + 3 * d_ff + 2
    copies = int(not fields["tie_word_embeddings"]) + 1
    return torch.tensor([n * per_row, copies * words, 1]).sum() * d
""",
    },
    "key_bias": {
        "the last query's row": """
def key_bias(heads, length):
    return alibi(heads, length)[:, :, -1:]
""",
        "an outer product, with another zero": """
def key_bias(heads, length):
    places = torch.linspace(1 - length, 0, length)
    return torch.outer(alibi_slopes(heads), places).view(1, heads, 1, length)
""",
        "one step after the other": """
def key_bias(heads, length):
    steps = alibi_slopes(heads).reshape(1, -1, 1, 1).repeat(1, 1, 1, length)
    return steps.cumsum(-1)
""",
    },
    "both_ways": {
        "looks at each half by itself": """
def both_ways(distance, buckets=32, furthest=128):
    few = buckets // 2
    earlier = distance_buckets(distance.clamp(min=0), few, furthest)
    later = distance_buckets((-distance).clamp(min=0), few, furthest)
    return torch.where(distance.lt(0), few + later, earlier)
""",
        "writes into a copy": """
def both_ways(distance, buckets=32, furthest=128):
    found = distance_buckets(distance.clone().abs_(), buckets // 2, furthest)
    found[distance < 0] += buckets // 2
    return found
""",
        "goes through all numbers": """
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    one = lambda d: distance_buckets(torch.tensor([abs(d)]), half, furthest)
    found = [one(d).item() + (half if d < 0 else 0) for d in distance.reshape(-1).tolist()]
    return torch.tensor(found).reshape(distance.shape)
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
        "turns halves as complex numbers, and lets SDPA share the heads": """
def llama_block(x, w, heads, kv_heads, eps):
    get = lambda name: w[name + ".weight"]
    b, n, d = x.shape
    size = d // heads
    half = size // 2

    def turn(t):
        steps = 10_000 ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.outer(torch.arange(n, dtype=torch.float64), steps)
        c, s = angle.cos().to(t), angle.sin().to(t)
        return torch.cat([t[..., :half] * c - t[..., half:] * s, t[..., half:] * c + t[..., :half] * s], -1)

    h = F.rms_norm(x, (d,), get("input_layernorm"), eps)
    q = turn(F.linear(h, get("self_attn.q_proj")).view(b, n, heads, size).transpose(1, 2))
    k = turn(F.linear(h, get("self_attn.k_proj")).view(b, n, kv_heads, size).transpose(1, 2))
    v = F.linear(h, get("self_attn.v_proj")).view(b, n, kv_heads, size).transpose(1, 2)
    o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    y = x + F.linear(o.transpose(1, 2).reshape(b, n, d), get("self_attn.o_proj"))
    h = F.rms_norm(y, (d,), get("post_attention_layernorm"), eps)
    return y + F.linear(F.silu(F.linear(h, get("mlp.gate_proj"))) * F.linear(h, get("mlp.up_proj")), get("mlp.down_proj"))
""",
        "a loop over the query heads": """
def llama_block(x, w, heads, kv_heads, eps):
    def normed(x, name):
        mean = (x * x).mean(dim=-1, keepdim=True)
        return x * torch.rsqrt(mean + eps) * w[name + ".weight"]

    def part(rows, name, many, h):
        return rows @ w["self_attn." + name + "_proj.weight"].chunk(many)[h].T

    def order(t):
        first, second = t.chunk(2, dim=-1)
        return torch.stack([first, second], dim=-1).flatten(-2)

    a = normed(x, "input_layernorm")
    found, hidden = [], torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    for h in range(heads):
        g = h * kv_heads // heads
        q = rotary(order(part(a, "q", heads, h)))
        k = rotary(order(part(a, "k", kv_heads, g)))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        shares = scores.masked_fill(hidden, -math.inf).softmax(-1)
        found.append(shares @ part(a, "v", kv_heads, g))
    x = x + torch.cat(found, -1) @ w["self_attn.o_proj.weight"].T
    b = normed(x, "post_attention_layernorm")
    gate, up, down = (w[f"mlp.{n}_proj.weight"] for n in ("gate", "up", "down"))
    z = b @ gate.T
    return x + (z * z.sigmoid() * (b @ up.T)) @ down.T
""",
    },
    "without_mean": {
        "projects with a matrix": """
def without_mean(table, pairs):
    d = table.shape[1]
    off = torch.eye(d, dtype=table.dtype) - torch.ones(d, d, dtype=table.dtype) / d
    new = []
    for around, network in pairs:
        around, network = copy.deepcopy(around), copy.deepcopy(network)
        norm = RMSNorm(d, around.norm.eps).to(table)
        norm.load_state_dict({"weight": around.norm.weight.detach()})
        around.norm = norm
        with torch.no_grad():
            network.narrow.weight.copy_(off @ network.narrow.weight)
        new.append((around, network))
    return table @ off, new
""",
        "PyTorch's RMSNorm, in new modules": """
def without_mean(table, pairs):
    new = []
    for around, network in pairs:
        old = around.norm
        norm = nn.RMSNorm(old.d_model, old.eps, dtype=table.dtype)
        norm.weight = nn.Parameter(old.weight.clone())
        fresh = copy.deepcopy(around)
        fresh.norm = norm
        both = copy.deepcopy(network)
        rows = both.narrow.weight.data.T
        both.narrow.weight.data = (rows - rows.mean(1)[:, None]).T.contiguous()
        new += [(fresh, both)]
    return table - table.sum(1, keepdim=True) / table.size(1), new
""",
        "a layer that takes the mean off stands behind the network": """
class Off(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x):
        out = self.network(x)
        return out - out.mean(-1, keepdim=True)

def without_mean(table, pairs):
    new = []
    for around, network in pairs:
        around = copy.deepcopy(around)
        norm = RMSNorm(table.shape[-1], around.norm.eps).to(table.dtype)
        norm.weight = around.norm.weight
        around.norm = norm
        new.append((around, Off(copy.deepcopy(network))))
    return table - table.mean(1, keepdim=True), new
""",
    },
}
