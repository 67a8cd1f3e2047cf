"""Wrong answers to the exercises of chapter 16, by misconception."""

TURNS = "attention(turned(q), turned(k), v, mask)"
MEAN = "weight.mean(0, keepdim=True)"
WRONG = {
    "weights_of": {
        "a number with a fraction": (
            "a whole number is asked for",
            {
                "= d_head * fields": '= d / fields["num_attention_heads"] * fields'
            },
        ),
        "the dictionary is used up": (
            "changes its input",
            {
                'fields["num_hidden_layers"] * block': 'fields.pop("num_hidden_layers") * block'
            },
        ),
        "W_O is shared, too": (
            "count one block, part by part",
            {"2 * d * d + 2 * d * shared": "d * d + 3 * d * shared"},
        ),
        "every query head has keys of its own": (
            "rows for the key heads only",
            {"2 * d * shared": "2 * d * d"},
        ),
        "two matrices in the feed-forward network": (
            "gate, up and down",
            {"3 * d * d_ff": "2 * d * d_ff"},
        ),
        "the last norm is forgotten": (
            "one more norm, after the last block",
            {"words + d\n": "words\n"},
        ),
        "the tables are always tied": (
            "is one of its own, beside the table",
            {'1 if fields["tie_word_embeddings"] else 2': "1"},
        ),
        "the formula of 12 d²": (
            "count one block, part by part",
            {"2 * d * d + 2 * d * shared + 3 * d * d_ff": "12 * d * d"},
        ),
    },
    "key_bias": {
        "squares of the places": (
            "are not those of the slopes",
            {"torch.arange(length)": "torch.arange(length) ** 2"},
        ),
        "the penalty grows with the place of the key": (
            "the nearest ones, get the largest penalty",
            {"return (": "return (-"},
        ),
        "one slope for all heads": (
            "the slope of the first",
            {"alibi_slopes(heads)": "alibi_slopes(heads)[:1].repeat(heads)"},
        ),
        "the full table, for the past alone": (
            "there is a row for each query",
            """
def key_bias(heads, length):
    place = torch.arange(length)
    return alibi_slopes(heads)[:, None, None] * (place - place[:, None])[None, None]
""",
        ),
        "a column for the queries": (
            "along the axis of the queries",
            {"[None, :, None]": "[None, :, :, None]"},
        ),
        "slopes for powers of two only": (
            "takes the slopes from two lists",
            {
                "alibi_slopes(heads)": "(2.0 ** (-8 * torch.arange(1, heads + 1) / heads))"
            },
        ),
        "slopes without places": (
            "the same for all keys",
            {"torch.arange(length)": "torch.ones(length)"},
        ),
    },
    "both_ways": {
        "one bucket later than asked": (
            "which bucket has each",
            {"distance.abs()": "distance.abs() + 1"},
        ),
        "later keys in the first half": (
            "you exchange the halves",
            {"(distance < 0)": "(distance > 0)"},
        ),
        "the size of the distance alone": (
            "the sign is lost",
            {
                "distance.abs(), half,": "distance.abs(), buckets,",
                " + half * (distance < 0)": "",
            },
        ),
        "all buckets for each half": (
            "a whole of half as many",
            {"distance.abs(), half,": "distance.abs(), buckets,"},
        ),
        "later keys count as 0": (
            "all later keys lie in one bucket",
            {"distance.abs()": "distance"},
        ),
        "furthest is forgotten": (
            "furthest is not handed on",
            {", half, furthest)": ", half)"},
        ),
        "the second half backwards": (
            "runs backwards",
            {
                "near + half * (distance < 0)": "torch.where(distance < 0, buckets - 1 - near, near)"
            },
        ),
        "always 16": (
            "need not be 16",
            {"+ half * (distance": "+ 16 * (distance"},
        ),
    },
    "llama_block": {
        "neighbours are turned, not halves": (
            "you turn neighbours",
            {"rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))": "rotary(x)"},
        ),
        "only the queries are turned": (
            "the keys are not turned",
            {TURNS: "attention(turned(q), k, v, mask)"},
        ),
        "a head is six wide": (
            "your code stops",
            {
                "x.unflatten(-1, (2, -1)).mT.flatten(-2)": "torch.stack((x[..., :3], x[..., 3:]), dim=-1).flatten(-2)"
            },
        ),
        "key heads are dealt out in turns": (
            "deal the key heads out in turn",
            {
                "t.repeat_interleave(heads // kv_heads, dim=1)": "t.repeat(1, heads // kv_heads, 1, 1)"
            },
        ),
        "no residual around the feed-forward network": (
            "the path ends",
            {"return x + hidden": "return hidden"},
        ),
        "takes the matrices out of the dictionary": (
            "changes the dictionary w",
            {
                'w[f"self_attn.{name}_proj.weight"].T': 'w.pop(f"self_attn.{name}_proj.weight").T'
            },
        ),
        "epsilon outside the root": (
            "under the root",
            {"torch.sqrt(size + eps)": "(torch.sqrt(size) + eps)"},
        ),
        "the scores are not divided": (
            "not the block that torch's own functions make",
            {TURNS: "attention(2 * turned(q), turned(k), v, mask)"},
        ),
    },
    "without_mean": {
        "the new residual is post-norm": (
            "is to be the old one minus its own mean",
            {
                "        residual.norm.weight.data[:]": "        residual.norm_first = False\n        residual.norm.weight.data[:]"
            },
        ),
        "the networks are copied, and the norms not": (
            "changes its input pairs",
            {
                "copy.deepcopy(pairs)": "[(a, copy.deepcopy(b)) for a, b in pairs]"
            },
        ),
        "the old norms stay": (
            "and not an RMSNorm",
            {
                "RMSNorm(old.d_model, old.eps)": "LayerNorm(old.d_model, old.eps, bias=False)"
            },
        ),
        "the table keeps its mean": (
            "the table still has its means",
            {"table - table.mean(-1, keepdim=True)": "table"},
        ),
        "only the norms are replaced": (
            "still has a mean",
            {"weight -= " + MEAN: "pass"},
        ),
        "the wrong axis of the matrix": (
            "each column of the matrix must have the mean 0",
            {MEAN: "weight.mean(1, keepdim=True)"},
        ),
        "the gains start again at one": (
            "have lost their gains",
            {"residual.norm.weight.data[:] = old.weight": "pass"},
        ),
        "the usual epsilon": (
            "with other values the rows differ",
            {"RMSNorm(old.d_model, old.eps)": "RMSNorm(old.d_model)"},
        ),
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "both_ways": {
        "def both_ways(distance, buckets=33, furthest=128):": "half of 33, rounded down, is 16 as well",
    },
    "without_mean": {
        "weight -= weight.mean(0)": "the row of means is broadcast as well",
        "weight -= weight.mean(0, keepdim=False)": "the row of means is broadcast as well",
    },
}
