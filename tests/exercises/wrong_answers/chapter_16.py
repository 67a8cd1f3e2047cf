"""Wrong answers to the exercises of chapter 16, by misconception."""

COUNT = """
def weights_of(fields):
    d, d_ff = fields["hidden_size"], fields["intermediate_size"]
    d_head = d // fields["num_attention_heads"]
    shared = d_head * fields["num_key_value_heads"]
    block = 2 * d * d + 2 * d * shared + 3 * d * d_ff + 2 * d
    tables = 1 if fields["tie_word_embeddings"] else 2
    words = tables * fields["vocab_size"] * d
    return fields["num_hidden_layers"] * block + words + d
"""
BLOCK = """
def llama_block(x, w, heads, kv_heads, eps):
    def norm(x, name):
        size = x.square().mean(-1, keepdim=True)
        return x / torch.sqrt(size + eps) * w[f"{name}.weight"]

    def cut(x, name, many):
        x = x @ w[f"self_attn.{name}_proj.weight"].T
        return x.unflatten(-1, (many, -1)).transpose(1, 2)

    def turned(x):
        return rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))

    mask = causal_mask(x.shape[1], x.device)
    normed = norm(x, "input_layernorm")
    q, k, v = (
        cut(normed, name, many)
        for name, many in (("q", heads), ("k", kv_heads), ("v", kv_heads))
    )
    k, v = (t.repeat_interleave(heads // kv_heads, dim=1) for t in (k, v))
    context = attention(turned(q), turned(k), v, mask)
    context = context.transpose(1, 2).flatten(-2)
    x = x + context @ w["self_attn.o_proj.weight"].T
    normed = norm(x, "post_attention_layernorm")
    hidden = F.silu(normed @ w["mlp.gate_proj.weight"].T)
    hidden = hidden * (normed @ w["mlp.up_proj.weight"].T)
    return x + hidden @ w["mlp.down_proj.weight"].T
"""
FOLD = """
def without_mean(table, pairs):
    table, new = table - table.mean(-1, keepdim=True), copy.deepcopy(pairs)
    for residual, network in new:
        old = residual.norm
        residual.norm = RMSNorm(old.d_model, old.eps).to(old.weight)
        residual.norm.weight.data[:] = old.weight
        weight = network.narrow.weight.data
        weight -= weight.mean(0, keepdim=True)
    return table, new
"""


def but(answer, *changes):
    """The answer with some of its text replaced."""
    for old, new in changes:
        assert answer.count(old) == 1, old
        answer = answer.replace(old, new)
    return answer


WRONG = {
    "weights_of": {
        "every query head has keys of its own": but(
            COUNT, ("2 * d * shared", "2 * d * d")
        ),
        "two matrices in the feed-forward network": but(
            COUNT, ("3 * d * d_ff", "2 * d * d_ff")
        ),
        "the last norm is forgotten": but(COUNT, ("words + d\n", "words\n")),
        "norms have biases": but(COUNT, ("+ 2 * d\n", "+ 4 * d\n")),
        "one norm a block": but(COUNT, ("+ 2 * d\n", "+ d\n")),
        "the tables are always tied": but(
            COUNT, ('1 if fields["tie_word_embeddings"] else 2', "1")
        ),
        "the tables are never tied": but(
            COUNT, ('1 if fields["tie_word_embeddings"] else 2', "2")
        ),
        "values are not shared": but(
            COUNT, ("2 * d * d + 2 * d * shared", "3 * d * d + d * shared")
        ),
        "the formula of 12 d²": but(
            COUNT,
            ("2 * d * d + 2 * d * shared + 3 * d * d_ff", "12 * d * d"),
        ),
    },
    "key_bias": {
        "the penalty grows with the place of the key": """
def key_bias(heads, length):
    slopes = alibi_slopes(heads)[:, None]
    return -(slopes * torch.arange(length))[None, :, None]
""",
        "one slope for all heads": """
def key_bias(heads, length):
    slopes = alibi_slopes(heads)[:1].repeat(heads)[:, None]
    return (slopes * torch.arange(length))[None, :, None]
""",
        "the full table": """
def key_bias(heads, length):
    return alibi(heads, length)
""",
        "the last query's row, for the wrong heads": """
def key_bias(heads, length):
    return alibi(heads, length)[:, :, -1:].flip(1)
""",
        "a column for the queries": """
def key_bias(heads, length):
    slopes = alibi_slopes(heads)[:, None]
    return (slopes * torch.arange(length))[None, :, :, None]
""",
        "the first query's row": """
def key_bias(heads, length):
    return alibi(heads, length)[:, :, :1]
""",
        "slopes without places": """
def key_bias(heads, length):
    return alibi_slopes(heads)[None, :, None, None].expand(1, heads, 1, length)
""",
    },
    "both_ways": {
        "later keys in the first half": """
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    near = distance_buckets(distance.abs(), half, furthest)
    return near + half * (distance > 0)
""",
        "no distance counts as later": """
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    near = distance_buckets(distance.abs(), half, furthest)
    return near + half * (distance <= 0)
""",
        "the size of the distance alone": """
def both_ways(distance, buckets=32, furthest=128):
    return distance_buckets(distance.abs(), buckets, furthest)
""",
        "all buckets for each half": """
def both_ways(distance, buckets=32, furthest=128):
    near = distance_buckets(distance.abs(), buckets, furthest)
    return near + buckets // 2 * (distance < 0)
""",
        "later keys count as 0": """
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    return distance_buckets(distance, half, furthest) + half * (distance < 0)
""",
        "the second half backwards": """
def both_ways(distance, buckets=32, furthest=128):
    near = distance_buckets(distance.abs(), buckets // 2, furthest)
    return torch.where(distance < 0, buckets - 1 - near, near)
""",
        "half of the range, too": """
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    near = distance_buckets(distance.abs(), half, furthest // 2)
    return near + half * (distance < 0)
""",
        "always 16": """
def both_ways(distance, buckets=32, furthest=128):
    near = distance_buckets(distance.abs(), buckets // 2, furthest)
    return near + 16 * (distance < 0)
""",
    },
    "llama_block": {
        "neighbours are turned, not halves": but(
            BLOCK,
            ("rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))", "rotary(x)"),
        ),
        "only the queries are turned": but(
            BLOCK, ("turned(q), turned(k)", "turned(q), k")
        ),
        "values are turned, too": but(
            BLOCK, ("turned(k), v,", "turned(k), turned(v),")
        ),
        "no mask": but(BLOCK, ("turned(k), v, mask)", "turned(k), v)")),
        "key heads are dealt out in turns": but(
            BLOCK,
            (
                "t.repeat_interleave(heads // kv_heads, dim=1)",
                "t.repeat(1, heads // kv_heads, 1, 1)",
            ),
        ),
        "up and gate swapped": but(
            BLOCK,
            ("mlp.gate_proj", "mlp.other"),
            ("mlp.up_proj", "mlp.gate_proj"),
            ("mlp.other", "mlp.up_proj"),
        ),
        "the second norm reads the input of the block": but(
            BLOCK,
            ("    x = x + context", "    y = x + context"),
            ("return x + hidden", "return y + hidden"),
        ),
        "no residual around the feed-forward network": but(
            BLOCK, ("return x + hidden", "return hidden")
        ),
        "the second norm after the attention's sum, on the path": but(
            BLOCK,
            (
                'normed = norm(x, "post_attention_layernorm")',
                'x = normed = norm(x, "post_attention_layernorm")',
            ),
        ),
        "the mean is taken off": but(
            BLOCK,
            (
                "        size = x.square()",
                "        x = x - x.mean(-1, keepdim=True)\n"
                "        size = x.square()",
            ),
        ),
        "epsilon outside the root": but(
            BLOCK, ("torch.sqrt(size + eps)", "(torch.sqrt(size) + eps)")
        ),
        "ReLU for the gate": but(BLOCK, ("F.silu(", "F.relu(")),
        "the library's block": """
def llama_block(x, w, heads, kv_heads, eps):
    norm = RMSNorm(x.shape[-1], eps)
    return norm(x)
""",
    },
    "without_mean": {
        "the table keeps its mean": but(
            FOLD, ("table - table.mean(-1, keepdim=True)", "table")
        ),
        "only the norms are replaced": but(
            FOLD,
            ("        weight = network.narrow.weight.data\n", ""),
            ("        weight -= weight.mean(0, keepdim=True)\n", ""),
        ),
        "the wrong axis of the matrix": but(
            FOLD,
            ("weight.mean(0, keepdim=True)", "weight.mean(1, keepdim=True)"),
        ),
        "the gains start again at one": but(
            FOLD, ("        residual.norm.weight.data[:] = old.weight\n", "")
        ),
        "the usual epsilon": but(
            FOLD, ("RMSNorm(old.d_model, old.eps)", "RMSNorm(old.d_model)")
        ),
        "the matrix that reads, not the one that writes": but(
            FOLD, ("network.narrow", "network.widen")
        ),
        "the old model is changed": but(
            FOLD, ("copy.deepcopy(pairs)", "pairs")
        ),
        "the mean of the whole table": but(
            FOLD, ("table.mean(-1, keepdim=True)", "table.mean()")
        ),
        "the mean over the words": but(
            FOLD, ("table.mean(-1, keepdim=True)", "table.mean(0)")
        ),
    },
}
