"""Wrong answers to the exercises of chapter 16, by misconception."""

from . import read

WRONG = read(
    weights_of="""
a number with a fraction > a whole number is asked for
-     shared = d_head * fields["num_key_value_heads"]
+     shared = d / fields["num_attention_heads"] * fields["num_key_value_heads"]
the dictionary is used up > changes its input
-     return fields["num_hidden_layers"] * block + words + d
+     return fields.pop("num_hidden_layers") * block + words + d
W_O is shared, too > count one block, part by part
-     block = 2 * d * d + 2 * d * shared + 3 * d * d_ff + 2 * d
+     block = d * d + 3 * d * shared + 3 * d * d_ff + 2 * d
every query head has keys of its own > rows for the key heads only
-     block = 2 * d * d + 2 * d * shared + 3 * d * d_ff + 2 * d
+     block = 2 * d * d + 2 * d * d + 3 * d * d_ff + 2 * d
two matrices in the feed-forward network > gate, up and down
-     block = 2 * d * d + 2 * d * shared + 3 * d * d_ff + 2 * d
+     block = 2 * d * d + 2 * d * shared + 2 * d * d_ff + 2 * d
the last norm is forgotten > one more norm, after the last block
-     return fields["num_hidden_layers"] * block + words + d
+     return fields["num_hidden_layers"] * block + words
the tables are always tied > is one of its own, beside the table
-     tables = 1 if fields["tie_word_embeddings"] else 2
+     tables = 1
the formula of 12 d² > count one block, part by part
-     block = 2 * d * d + 2 * d * shared + 3 * d * d_ff + 2 * d
+     block = 12 * d * d + 2 * d
""",
    key_bias="""
squares of the places > are not those of the slopes
-     return (alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, None]
+     return (alibi_slopes(heads)[:, None] * torch.arange(length) ** 2)[None, :, None]
the penalty grows with the place of the key
> the nearest ones, get the largest penalty
-     return (alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, None]
+     return (-alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, None]
one slope for all heads > the slope of the first
-     return (alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, None]
+     return (alibi_slopes(heads)[:1].repeat(heads)[:, None] * torch.arange(length))[None, :, None]
the full table, for the past alone > there is a row for each query
+ def key_bias(heads, length):
+     place = torch.arange(length)
+     return alibi_slopes(heads)[:, None, None] * (place - place[:, None])[None, None]
a column for the queries > along the axis of the queries
-     return (alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, None]
+     return (alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, :, None]
slopes for powers of two only > takes the slopes from two lists
-     return (alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, None]
+     return ((2.0 ** (-8 * torch.arange(1, heads + 1) / heads))[:, None] * torch.arange(length))[None, :, None]
slopes without places > the same for all keys
-     return (alibi_slopes(heads)[:, None] * torch.arange(length))[None, :, None]
+     return (alibi_slopes(heads)[:, None] * torch.ones(length))[None, :, None]
""",
    both_ways="""
one bucket later than asked > which bucket has each
-     near = distance_buckets(distance.abs(), half, furthest)
+     near = distance_buckets(distance.abs() + 1, half, furthest)
later keys in the first half > you exchange the halves
-     return near + half * (distance < 0)
+     return near + half * (distance > 0)
the size of the distance alone > the sign is lost
-     near = distance_buckets(distance.abs(), half, furthest)
-     return near + half * (distance < 0)
+     near = distance_buckets(distance.abs(), buckets, furthest)
+     return near
all buckets for each half > a whole of half as many
-     near = distance_buckets(distance.abs(), half, furthest)
+     near = distance_buckets(distance.abs(), buckets, furthest)
later keys count as 0 > all later keys lie in one bucket
-     near = distance_buckets(distance.abs(), half, furthest)
+     near = distance_buckets(distance, half, furthest)
furthest is forgotten > furthest is not handed on
-     near = distance_buckets(distance.abs(), half, furthest)
+     near = distance_buckets(distance.abs(), half)
the second half backwards > runs backwards
-     return near + half * (distance < 0)
+     return torch.where(distance < 0, buckets - 1 - near, near)
always 16 > need not be 16
-     return near + half * (distance < 0)
+     return near + 16 * (distance < 0)
""",
    llama_block="""
neighbours are turned, not halves > you turn neighbours
-         return rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))
+         return rotary(x)
only the queries are turned > the keys are not turned
-     context = attention(turned(q), turned(k), v, mask)
+     context = attention(turned(q), k, v, mask)
a head is six wide > your code stops
-         return rotary(x.unflatten(-1, (2, -1)).mT.flatten(-2))
+         return rotary(torch.stack((x[..., :3], x[..., 3:]), dim=-1).flatten(-2))
key heads are dealt out in turns > deal the key heads out in turn
-     k, v = (t.repeat_interleave(heads // kv_heads, dim=1) for t in (k, v))
+     k, v = (t.repeat(1, heads // kv_heads, 1, 1) for t in (k, v))
no residual around the feed-forward network > the path ends
-     return x + hidden @ w["mlp.down_proj.weight"].T
+     return hidden @ w["mlp.down_proj.weight"].T
takes the matrices out of the dictionary > changes the dictionary w
-         x = x @ w[f"self_attn.{name}_proj.weight"].T
+         x = x @ w.pop(f"self_attn.{name}_proj.weight").T
epsilon outside the root > under the root
-         return x / torch.sqrt(size + eps) * w[f"{name}.weight"]
+         return x / (torch.sqrt(size) + eps) * w[f"{name}.weight"]
the scores are not divided > not the block that torch's own functions make
-     context = attention(turned(q), turned(k), v, mask)
+     context = attention(2 * turned(q), turned(k), v, mask)
""",
    without_mean="""
the new residual is post-norm > is to be the old one minus its own mean
-         residual.norm.weight.data[:] = old.weight
+         residual.norm_first = False
+         residual.norm.weight.data[:] = old.weight
the networks are copied, and the norms not > changes its input pairs
-     table, new = table - table.mean(-1, keepdim=True), copy.deepcopy(pairs)
+     table, new = table - table.mean(-1, keepdim=True), [(a, copy.deepcopy(b)) for a, b in pairs]
the old norms stay > and not an RMSNorm
-         residual.norm = RMSNorm(old.d_model, old.eps).to(old.weight)
+         residual.norm = LayerNorm(old.d_model, old.eps, bias=False).to(old.weight)
the table keeps its mean > the table still has its means
-     table, new = table - table.mean(-1, keepdim=True), copy.deepcopy(pairs)
+     table, new = table, copy.deepcopy(pairs)
only the norms are replaced > still has a mean
-         weight -= weight.mean(0, keepdim=True)
+         pass
the wrong axis of the matrix > each column of the matrix must have the mean 0
-         weight -= weight.mean(0, keepdim=True)
+         weight -= weight.mean(1, keepdim=True)
the gains start again at one > have lost their gains
-         residual.norm.weight.data[:] = old.weight
+         pass
the usual epsilon > with other values the rows differ
-         residual.norm = RMSNorm(old.d_model, old.eps).to(old.weight)
+         residual.norm = RMSNorm(old.d_model).to(old.weight)
""",
)

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
