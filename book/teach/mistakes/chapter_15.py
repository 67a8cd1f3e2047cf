"""Wrong answers to the exercises of chapter 15, by misconception."""

from . import read

WRONG = read(
    longest_text="""
keys only > half of its bytes
-     token = cache_bytes(texts, layers, kv_heads, d_head)
-     return max(0, card - weights) // token
+     token = 0.5 * cache_bytes(texts, layers, kv_heads, d_head)
+     return max(0, card - weights) // int(token)
one layer > count those of one
-     token = cache_bytes(texts, layers, kv_heads, d_head)
+     token = cache_bytes(texts, 1, kv_heads, d_head)
the weights cost nothing > is less than all of it
-     return max(0, card - weights) // token
+     return max(0, card) // token
all texts together, not each > what all texts have together
-     token = cache_bytes(texts, layers, kv_heads, d_head)
+     token = cache_bytes(1, layers, kv_heads, d_head)
a token that begins to fit counts > round down
-     return max(0, card - weights) // token
+     return -(-max(0, card - weights) // token)
less than no tokens > 0, and not less
-     return max(0, card - weights) // token
+     return (card - weights) // token
each text has its own weights > the card once
-     return max(0, card - weights) // token
+     return max(0, card - texts * weights) // token
parts of a token > take one text and one layer first
-     token = cache_bytes(texts, layers, kv_heads, d_head)
+     token = cache_bytes(texts, layers, kv_heads, d_head + 1)
""",
    causal_in_blocks="""
the scale is forgotten > the scale is missing
-     q = q / math.sqrt(q.shape[-1])
+     q = q * 1
no mask inside the block of the diagonal > inside the block on the diagonal
-             scores = scores.masked_fill(here[:, None] < there, -math.inf)
+             scores = scores.masked_fill(here[:, None] < there - len(q), -math.inf)
what was summed is not faded > what was summed so far must shrink
-             fade, e = torch.exp(m - largest), torch.exp(scores - largest)
+             fade, e = torch.ones_like(m), torch.exp(scores - largest)
the largest score so far begins at 0 > begin below every score
-         m = q.new_full((len(q_i), 1), -math.inf)
+         m = q.new_full((len(q_i), 1), 0.0)
the largest score so far begins at -5,000 > begin below every score
-         m = q.new_full((len(q_i), 1), -math.inf)
+         m = q.new_full((len(q_i), 1), -5e3)
future blocks are computed and then hidden
> leave out those that lie wholly in the future
-         for k_j, v_j, there in parts[: i + 1]:
+         for k_j, v_j, there in parts:
the table in full, with a mask > a table of n by n
+ def causal_in_blocks(q, k, v, block):
+     scores = q @ k.T / math.sqrt(q.shape[-1])
+     future = torch.ones_like(scores).triu(1) > 0
+     scores = scores.masked_fill(future, -math.inf)
+     e = torch.exp(scores - scores.amax(-1, keepdim=True))
+     return e @ v / e.sum(-1, keepdim=True)
keys in one piece: tables of block by n > a table of n by block
+ def causal_in_blocks(q, k, v, block):
+     rows = []
+     for start in range(0, len(q), block):
+         scores = q[start : start + block] @ k.T / math.sqrt(q.shape[-1])
+         here = torch.arange(start, start + len(scores))[:, None]
+         scores = scores.masked_fill(torch.arange(len(k)) > here, -math.inf)
+         e = torch.exp(scores - scores.amax(-1, keepdim=True))
+         rows.append(e @ v / e.sum(-1, keepdim=True))
+     return torch.cat(rows)
""",
    linear_encoder="""
an empty sentence gets the mean of its padding
> In a sentence that is all padding it is 0
-     keys = phi(k) * may_attend.mT
+     empty = ~may_attend.any(-1, keepdim=True)
+     keys = phi(k) * (may_attend | empty).mT
padding is seen > nothing hides its keys
-     keys = phi(k) * may_attend.mT
+     keys = phi(k)
keys set to 0 before the feature map > phi(0) is 1
-     keys = phi(k) * may_attend.mT
+     keys = phi(k * may_attend.mT)
only the values are hidden, not the weights > still counts padding
-     keys = phi(k) * may_attend.mT
+     keys = phi(k)
+     v = v * may_attend.mT
the queries are hidden > you hide the rows of queries
-     keys = phi(k) * may_attend.mT
+     keys = phi(k)
-     return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
+     return may_attend.mT * sums[..., :-1] / count.masked_fill(count == 0, 1.0)
nothing divided by nothing > not 0 divided by 0
-     return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
+     return sums[..., :-1] / count
never divided > divide by their sum
-     return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
+     return sums[..., :-1]
the table in full > there is a table of n by n
+ def linear_encoder(q, k, v, may_attend):
+     weights = phi(q) @ phi(k).mT * may_attend
+     count = weights.sum(-1, keepdim=True)
+     return weights @ v / count.masked_fill(count == 0, 1.0)
""",
    to_grouped="""
the first head of each group > you keep the first head of each group
-                     had = had.mean(dim=1).flatten(0, 1)
+                     had = had[:, 0].flatten(0, 1)
the median of a group > are not the means of the heads
-                     had = had.mean(dim=1).flatten(0, 1)
+                     had = had.median(dim=1).values.flatten(0, 1)
every n-th head makes a group > yours lie apart
-                     had = had.unflatten(0, (kv_heads, group, d_head))
-                     had = had.mean(dim=1).flatten(0, 1)
+                     had = had.unflatten(0, (group, kv_heads, d_head))
+                     had = had.mean(dim=0).flatten(0, 1)
means of neighbouring rows, not of heads > which belong to one head
-                     had = had.unflatten(0, (kv_heads, group, d_head))
-                     had = had.mean(dim=1).flatten(0, 1)
+                     had = had.unflatten(0, (kv_heads, d_head, group))
+                     had = had.mean(dim=2).flatten(0, 1)
dropout is not handed on > the dropout is another one
-         full.d_model, full.heads, kv_heads, full.dropout, bias
+         full.d_model, full.heads, kv_heads, 0.1, bias
the biases of keys and values stay at 0 > the biases are missing
-     return made
+                 if has.ndim == 1 and len(has) < full.d_model:
+                     has.data.zero_()
+     return made
the output matrix is shared, not copied > a weight is the old model's own
-     made.out_proj.load_state_dict(full.out_proj.state_dict())
+     made.out_proj = full.out_proj
another class > return a GroupedQueryAttention
-     return made
+     return full
""",
    WindowCache="""
scales the query where it lies > changes what it is given
-         return attention(q, keys, values)
+         return attention(q.mul_(1.5), keys, values)
empty places are attended to > places that are still empty
-             (2, batch, heads, window, d_head), math.nan, device=device
+             (2, batch, heads, window, d_head), 0.0, device=device
-         keys, values = self.buffer[:, :, :, : self.seen]
+         keys, values = self.buffer
the new token does not see itself > write the new key and value first
+ class WindowCache:
+     def __init__(self, batch, heads, window, d_head):
+         self.window, self.seen = window, 0
+         self.buffer = torch.full((2, batch, heads, window, d_head), math.nan)
+
+     def __call__(self, q, k, v):
+         keys, values = self.buffer[:, :, :, : self.seen + 1].clone()
+         place = self.seen % self.window
+         self.buffer[:, :, :, place] = torch.stack([k[:, :, 0], v[:, :, 0]])
+         self.seen += 1
+         return attention(q, keys, values)
after a round the buffer counts as empty > a full buffer stays full
-         keys, values = self.buffer[:, :, :, : self.seen]
+         keys, values = self.buffer[:, :, :, : place + 1]
a full buffer keeps its first tokens > the first tokens are still seen
-         place = self.seen % self.window
+         place = min(self.seen, self.window - 1)
old keys move up, so all places are written > one is to be written
+ class WindowCache:
+     def __init__(self, batch, heads, window, d_head):
+         self.window, self.seen = window, 0
+         self.buffer = torch.zeros(2, batch, heads, window, d_head)
+
+     def __call__(self, q, k, v):
+         self.buffer[:, :, :, :-1] = self.buffer[:, :, :, 1:].clone()
+         self.buffer[:, :, :, -1] = torch.stack([k[:, :, 0], v[:, :, 0]])
+         self.seen = min(self.seen + 1, self.window)
+         return attention(q, *self.buffer[:, :, :, -self.seen :])
a longer buffer for every token > has put another in its place
+ class WindowCache:
+     def __init__(self, batch, heads, window, d_head):
+         self.window = window
+         self.buffer = torch.zeros(2, batch, heads, 0, d_head)
+
+     def __call__(self, q, k, v):
+         self.buffer = torch.cat([self.buffer, torch.stack([k, v])], dim=3)
+         self.buffer = self.buffer[:, :, :, -self.window :]
+         return attention(q, *self.buffer)
all caches have one buffer > one is to be written
+ class WindowCache:
+     rooms = {}
+
+     def __init__(self, batch, heads, window, d_head):
+         self.window, self.seen = window, 0
+         size = 2, batch, heads, window, d_head
+         self.buffer = self.rooms.setdefault(size, torch.zeros(size))
+
+     def __call__(self, q, k, v):
+         self.buffer[:, :, :, self.seen % self.window] = torch.stack([k, v])[:, :, :, 0]
+         self.seen += 1
+         return attention(q, *self.buffer[:, :, :, : self.seen])
""",
)

# Mutants of the solutions that are right too, and why.
PAIRED = "the lists are equally long, so nothing is cut off"
COMMUTES = "the factors or summands may stand in any order"
EQUIVALENT = {
    "longest_text": {
        "return max(1, card - weights) // token": "a token takes more than one byte, so one byte holds none",
        "token = cache_bytes(layers, texts, kv_heads, d_head)": COMMUTES,
        "token = cache_bytes(texts, kv_heads, layers, d_head)": COMMUTES,
        "token = cache_bytes(texts, layers, d_head, kv_heads)": COMMUTES,
    },
    "causal_in_blocks": {
        "for i, (q_i, here) in enumerate(zip(q.split(block), place, strict=False)):": PAIRED,
        "largest = torch.maximum(scores.amax(-1, keepdim=True), m)": COMMUTES,
        "m = q.new_full((1,), -math.inf)": "one minus infinity is broadcast to all rows of the block",
        "parts = list(zip(k.split(block), v.split(block), place, strict=False))": PAIRED,
        "s, c = (torch.zeros_like(v[:len(q_i)]), torch.zeros_like(m))": "zeros of either width are broadcast: each column has the sum",
        "s, c = torch.zeros_like(m), v[:len(q_i)]": "the first fade is 0, and what came before it counts nothing",
    },
    "linear_encoder": {
        "return sums[..., :-1] / count.masked_fill(count == 0, 2.0)": "where nothing is counted, 0 / 2 is 0 as well",
    },
    "to_grouped": {
        "for had, has in zip(old, new, strict=False):": PAIRED,
        "for old, new in zip(full.matrices(), made.matrices(), strict=False):": PAIRED,
    },
    "WindowCache": {
        "self.buffer[0, :, :, place] = k[:, :, -1]": "one token came, the first and the last",
        "self.buffer[1, :, :, place] = v[:, :, -1]": "one token came, the first and the last",
    },
}
