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


def but(hint, answer, *changes):
    """The answer with some of its text replaced, and the hint it must get."""
    for old, new in changes:
        assert answer.count(old) == 1, old
        answer = answer.replace(old, new)
    return f"# hint: {hint}{answer}"


WRONG = {
    "weights_of": {
        "a number with a fraction": but(
            "a number of weights is an int",
            COUNT,
            (
                "= d_head * fields",
                '= d / fields["num_attention_heads"] * fields',
            ),
        ),
        "the dictionary is used up": but(
            "the dictionary is changed",
            COUNT,
            (
                'fields["num_hidden_layers"] * block',
                'fields.pop("num_hidden_layers") * block',
            ),
        ),
        "W_O is shared, too": but(
            "Count one block, part by part",
            COUNT,
            ("2 * d * d + 2 * d * shared", "d * d + 3 * d * shared"),
        ),
        "every query head has keys of its own": but(
            "rows for the key heads only",
            COUNT,
            ("2 * d * shared", "2 * d * d"),
        ),
        "two matrices in the feed-forward network": but(
            "gate, up and down", COUNT, ("3 * d * d_ff", "2 * d * d_ff")
        ),
        "the last norm is forgotten": but(
            "one more norm, after the last block",
            COUNT,
            ("words + d\n", "words\n"),
        ),
        "norms have biases": but(
            "a gain and no bias", COUNT, ("+ 2 * d\n", "+ 4 * d\n")
        ),
        "one norm a block": but(
            "a block has two norms", COUNT, ("+ 2 * d\n", "+ d\n")
        ),
        "the tables are always tied": but(
            "is one of its own, beside the table",
            COUNT,
            ('1 if fields["tie_word_embeddings"] else 2', "1"),
        ),
        "the tables are never tied": but(
            "it counts once",
            COUNT,
            ('1 if fields["tie_word_embeddings"] else 2', "2"),
        ),
        "values are not shared": but(
            "keys and values are shared alike",
            COUNT,
            ("2 * d * d + 2 * d * shared", "3 * d * d + d * shared"),
        ),
        "the formula of 12 d²": but(
            "the block of 2017",
            COUNT,
            ("2 * d * d + 2 * d * shared + 3 * d * d_ff", "12 * d * d"),
        ),
    },
    "key_bias": {
        "squares of the places": """
# hint: are not those of the slopes
def key_bias(heads, length):
    slopes = alibi_slopes(heads)[:, None]
    return (slopes * torch.arange(length) ** 2)[None, :, None]
""",
        "the penalty grows with the place of the key": """
# hint: the nearest ones, get the largest penalty
def key_bias(heads, length):
    slopes = alibi_slopes(heads)[:, None]
    return -(slopes * torch.arange(length))[None, :, None]
""",
        "one slope for all heads": """
# hint: the slope of the first
def key_bias(heads, length):
    slopes = alibi_slopes(heads)[:1].repeat(heads)[:, None]
    return (slopes * torch.arange(length))[None, :, None]
""",
        "the full table": """
# hint: there is a row for each query
def key_bias(heads, length):
    return alibi(heads, length)
""",
        "the last query's row, for the wrong heads": """
# hint: head 0 has the steepest
def key_bias(heads, length):
    return alibi(heads, length)[:, :, -1:].flip(1)
""",
        "a column for the queries": """
# hint: along the axis of the queries
def key_bias(heads, length):
    slopes = alibi_slopes(heads)[:, None]
    return (slopes * torch.arange(length))[None, :, :, None]
""",
        "the first query's row": """
# hint: the nearest ones, get the largest penalty
def key_bias(heads, length):
    return alibi(heads, length)[:, :, :1]
""",
        "slopes for powers of two only": """
# hint: takes its slopes from two lists
def key_bias(heads, length):
    slopes = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    return (slopes[:, None] * torch.arange(length))[None, :, None]
""",
        "slopes without places": """
# hint: the same for all keys
def key_bias(heads, length):
    return alibi_slopes(heads)[None, :, None, None].expand(1, heads, 1, length)
""",
    },
    "both_ways": {
        "one bucket later than asked": """
# hint: is in bucket
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    near = distance_buckets(distance.abs() + 1, half, furthest)
    return near + half * (distance < 0)
""",
        "later keys in the first half": """
# hint: you exchange the halves
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    near = distance_buckets(distance.abs(), half, furthest)
    return near + half * (distance > 0)
""",
        "no distance counts as later": """
# hint: which is not later
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    near = distance_buckets(distance.abs(), half, furthest)
    return near + half * (distance <= 0)
""",
        "the size of the distance alone": """
# hint: the sign is lost
def both_ways(distance, buckets=32, furthest=128):
    return distance_buckets(distance.abs(), buckets, furthest)
""",
        "all buckets for each half": """
# hint: a whole of half as many
def both_ways(distance, buckets=32, furthest=128):
    near = distance_buckets(distance.abs(), buckets, furthest)
    return near + buckets // 2 * (distance < 0)
""",
        "later keys count as 0": """
# hint: all later keys lie in one bucket
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    return distance_buckets(distance, half, furthest) + half * (distance < 0)
""",
        "furthest is forgotten": """
# hint: furthest is not handed on
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    return distance_buckets(distance.abs(), half) + half * (distance < 0)
""",
        "the second half backwards": """
# hint: runs backwards
def both_ways(distance, buckets=32, furthest=128):
    near = distance_buckets(distance.abs(), buckets // 2, furthest)
    return torch.where(distance < 0, buckets - 1 - near, near)
""",
        "half of the range, too": """
# hint: reaches as far as before
def both_ways(distance, buckets=32, furthest=128):
    half = buckets // 2
    near = distance_buckets(distance.abs(), half, furthest // 2)
    return near + half * (distance < 0)
""",
        "always 16": """
# hint: not at 16
def both_ways(distance, buckets=32, furthest=128):
    near = distance_buckets(distance.abs(), buckets // 2, furthest)
    return near + 16 * (distance < 0)
""",
    },
    "llama_block": {
        "neighbours are turned, not halves": but(
            "you turn neighbours",
            BLOCK,
            ("rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))", "rotary(x)"),
        ),
        "only the queries are turned": but(
            "the keys are not turned",
            BLOCK,
            ("turned(q), turned(k)", "turned(q), k"),
        ),
        "only the keys are turned": but(
            "the queries are not turned",
            BLOCK,
            ("turned(q), turned(k)", "q, turned(k)"),
        ),
        "nothing is turned": but(
            "neither queries nor keys",
            BLOCK,
            ("turned(q), turned(k)", "q, k"),
        ),
        "the attention takes the place of x": but(
            "the attention replaces x",
            BLOCK,
            ("x = x + context", "x = context"),
        ),
        "the first norm is forgotten": but(
            "before it has been normed",
            BLOCK,
            ('normed = norm(x, "input_layernorm")', "normed = x"),
        ),
        "norms without a gain": but(
            "a norm has a gain", BLOCK, (' * w[f"{name}.weight"]', "")
        ),
        "the usual epsilon": but(
            "take the eps that is given", BLOCK, ("size + eps", "size + 1e-5")
        ),
        "the library reorders the rows": but(
            "write it without pairs_from_halves",
            BLOCK,
            (
                'x = x @ w[f"self_attn.{name}_proj.weight"].T',
                'W = w[f"self_attn.{name}_proj.weight"]\n'
                '        x = x @ (W if name == "v" else '
                "pairs_from_halves(W, many)).T",
            ),
            ("turned(q), turned(k)", "rotary(q), rotary(k)"),
        ),
        "values are turned, too": but(
            "the values are turned as well",
            BLOCK,
            ("turned(k), v,", "turned(k), turned(v),"),
        ),
        "no mask": but(
            "the block is causal",
            BLOCK,
            ("turned(k), v, mask)", "turned(k), v)"),
        ),
        "key heads are dealt out in turns": but(
            "deal the key heads out in turn",
            BLOCK,
            (
                "t.repeat_interleave(heads // kv_heads, dim=1)",
                "t.repeat(1, heads // kv_heads, 1, 1)",
            ),
        ),
        "up and gate swapped": but(
            "you have exchanged them",
            BLOCK,
            ("mlp.gate_proj", "mlp.other"),
            ("mlp.up_proj", "mlp.gate_proj"),
            ("mlp.other", "mlp.up_proj"),
        ),
        "the second norm reads the input of the block": but(
            "before the attention was added",
            BLOCK,
            ("    x = x + context", "    y = x + context"),
            ("return x + hidden", "return y + hidden"),
        ),
        "no residual around the feed-forward network": but(
            "the path ends", BLOCK, ("return x + hidden", "return hidden")
        ),
        "the second norm after the attention's sum, on the path": but(
            "the second norm replaces x on the path",
            BLOCK,
            (
                'normed = norm(x, "post_attention_layernorm")',
                'x = normed = norm(x, "post_attention_layernorm")',
            ),
        ),
        "the mean is taken off": but(
            "takes no mean off",
            BLOCK,
            (
                "        size = x.square()",
                "        x = x - x.mean(-1, keepdim=True)\n"
                "        size = x.square()",
            ),
        ),
        "epsilon outside the root": but(
            "under the root",
            BLOCK,
            ("torch.sqrt(size + eps)", "(torch.sqrt(size) + eps)"),
        ),
        "ReLU for the gate": but(
            "silu, not ReLU", BLOCK, ("F.silu(", "F.relu(")
        ),
        "the scores are not divided": but(
            "not the block that torch's own functions make",
            BLOCK,
            ("attention(turned(q), ", "attention(2 * turned(q), "),
        ),
        "the library's block": """
# hint: write it without RMSNorm
def llama_block(x, w, heads, kv_heads, eps):
    norm = RMSNorm(x.shape[-1], eps)
    return norm(x)
""",
    },
    "without_mean": {
        "the new residual is post-norm": but(
            "each part looks right",
            FOLD,
            (
                "        residual.norm.weight.data[:] = old.weight\n",
                "        residual.norm.weight.data[:] = old.weight\n        residual.norm_first = False\n",
            ),
        ),
        "the networks are copied, and the norms not": but(
            "the old pairs have new norms",
            FOLD,
            (
                "copy.deepcopy(pairs)",
                "[(a, copy.deepcopy(b)) for a, b in pairs]",
            ),
        ),
        "the mean is taken off the whole matrix": but(
            "is not the old rows minus their means",
            FOLD,
            ("weight.mean(0, keepdim=True)", "weight.mean()"),
        ),
        "the standard deviation of the rows goes, too": but(
            "the old row minus its own mean",
            FOLD,
            (
                "table - table.mean(-1, keepdim=True)",
                "F.layer_norm(table, table.shape[-1:])",
            ),
        ),
        "the old norms stay": but(
            "not an RMSNorm",
            FOLD,
            (
                "RMSNorm(old.d_model, old.eps)",
                "LayerNorm(old.d_model, old.eps, bias=False)",
            ),
        ),
        "the table keeps its mean": but(
            "the table still has its means",
            FOLD,
            ("table - table.mean(-1, keepdim=True)", "table"),
        ),
        "only the norms are replaced": but(
            "still has a mean",
            FOLD,
            ("        weight = network.narrow.weight.data\n", ""),
            ("        weight -= weight.mean(0, keepdim=True)\n", ""),
        ),
        "the wrong axis of the matrix": but(
            "each column of the matrix must have the mean 0",
            FOLD,
            ("weight.mean(0, keepdim=True)", "weight.mean(1, keepdim=True)"),
        ),
        "the gains start again at one": but(
            "has lost its gain",
            FOLD,
            ("        residual.norm.weight.data[:] = old.weight\n", ""),
        ),
        "the usual epsilon": but(
            "with other values the rows differ",
            FOLD,
            ("RMSNorm(old.d_model, old.eps)", "RMSNorm(old.d_model)"),
        ),
        "the matrix that reads, not the one that writes": but(
            "that reads is changed", FOLD, ("network.narrow", "network.widen")
        ),
        "the old model is changed": but(
            "the old model is changed", FOLD, ("copy.deepcopy(pairs)", "pairs")
        ),
        "the mean of the whole table": but(
            "one mean for the whole table",
            FOLD,
            ("table.mean(-1, keepdim=True)", "table.mean()"),
        ),
        "the mean over the words": but(
            "the mean over the words",
            FOLD,
            ("table.mean(-1, keepdim=True)", "table.mean(0)"),
        ),
    },
}

# Mutants of the solutions that are right too, and why.
COMMUTES = "the factors or summands may stand in any order"
EQUIVALENT = {
    "weights_of": {
        "block = (2 * d * shared + 2 * d * d) + 3 * d * d_ff + 2 * d": COMMUTES,
        "block = (2 * d + (2 * d * d + 2 * d * shared + 3 * d * d_ff))": COMMUTES,
        "block = (3 * d * d_ff + (2 * d * d + 2 * d * shared)) + 2 * d": COMMUTES,
        "return (d + (fields['num_hidden_layers'] * block + words))": COMMUTES,
        "return (words + fields['num_hidden_layers'] * block) + d": COMMUTES,
    },
    "both_ways": {
        "def both_ways(distance, buckets=33, furthest=128):": (
            "half of 33, rounded down, is 16 as well"
        ),
        "return (half * (distance < 0) + near)": COMMUTES,
    },
    "llama_block": {
        "context = context.transpose(1, 2).flatten(2)": (
            "of four axes, the last but one is axis 2"
        ),
        "context = context.transpose(2, 1).flatten(-2)": (
            "two axes are exchanged, in either order"
        ),
        "mask = causal_mask(x.shape[1])": (
            "the answer lies on the same device on a CPU"
        ),
        "return (hidden @ w['mlp.down_proj.weight'].T + x)": COMMUTES,
        'return x / torch.sqrt((eps + size)) * w[f"{name}.weight"]': COMMUTES,
        "return x.unflatten(-1, (many, -1)).transpose(2, 1)": (
            "two axes are exchanged, in either order"
        ),
        "x = (context @ w['self_attn.o_proj.weight'].T + x)": COMMUTES,
    },
    "without_mean": {
        "table, new = table - table.mean(1, keepdim=True), copy.deepcopy(pairs)": (
            "of two axes, the last is axis 1"
        ),
        "weight -= weight.mean(0)": "the row of means is broadcast as well",
        "weight -= weight.mean(0, keepdim=False)": (
            "the row of means is broadcast as well"
        ),
    },
}
