"""Wrong answers to the exercises of chapter 15, by misconception."""

WRONG = {
    "predicted_mib": {
        "twice the text, twice the table": """
# hint: each of the new rows is longer, too
def predicted_mib():
    return 8 * 3
""",
        "one table is enough": """
# hint: one of the two tables
def predicted_mib():
    return 4 * 3**2
""",
        "the cube of the length": """
# hint: two directions that grow, not three
def predicted_mib():
    return 8 * 3**3
""",
        "the factor is the answer": """
# hint: how many times as large
def predicted_mib():
    return 3**2
""",
        "the size depends on the width alone": """
# hint: does not set their size
def predicted_mib():
    return 8
""",
        "1,024 rows are 1,024 MiB": """
# hint: count the places where a row meets a column
def predicted_mib():
    return 3072
""",
        "an answer in words": """
# hint: return a plain number
def predicted_mib():
    return "72 MiB"
""",
    },
    "longest_text": {
        "parts of a token": """
# hint: a number of tokens is an int
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(texts, layers, kv_heads, d_head)
    return max(0, (card - weights) / token)
""",
        "the heads of queries are cached, too": """
# hint: are left beside the weights
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(texts, layers, kv_heads, d_head) * 3 // 2
    return max(0, card - weights) // token
""",
        "keys only": """
# hint: half of its bytes
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = texts * layers * kv_heads * d_head * 2
    return max(0, card - weights) // token
""",
        "one layer": """
# hint: count those of one
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return max(0, card - weights) // cache_bytes(texts, 1, kv_heads, d_head)
""",
        "the weights cost nothing": """
# hint: is less than all of it
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return card // cache_bytes(texts, layers, kv_heads, d_head)
""",
        "all texts together, not each": """
# hint: what all texts have together
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return max(0, card - weights) // cache_bytes(1, layers, kv_heads, d_head)
""",
        "four bytes a number": """
# hint: twice its bytes
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(texts, layers, kv_heads, d_head, number=4)
    return max(0, card - weights) // token
""",
        "a token that begins to fit counts": """
# hint: round down
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(texts, layers, kv_heads, d_head)
    return math.ceil(max(0, card - weights) / token)
""",
        "less than no tokens": """
# hint: so no token fits
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    return (card - weights) // cache_bytes(texts, layers, kv_heads, d_head)
""",
        "each text has its own weights": """
# hint: the card once
def longest_text(card, weights, layers, kv_heads, d_head, texts):
    token = cache_bytes(1, layers, kv_heads, d_head)
    return max(0, card // texts - weights) // token
""",
    },
    "causal_in_blocks": {
        "SDPA is asked": """
# hint: write it without scaled_dot_product_attention
def causal_in_blocks(q, k, v, block):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
        "nothing is hidden": """
# hint: nothing is hidden
def causal_in_blocks(q, k, v, block):
    e = torch.exp(q @ k.T / math.sqrt(q.shape[-1]))
    return e @ v / e.sum(-1, keepdim=True)
""",
        "the length is a multiple of the block": """
# hint: the last block is shorter than the others
def causal_in_blocks(q, k, v, block):
    parts = q.unflatten(0, (-1, block))
    return parts.flatten(0, 1)
""",
        "a text fills at least one block": """
# hint: but not for 5 in blocks of 8
def causal_in_blocks(q, k, v, block):
    q = q / math.sqrt(q.shape[-1])
    place = torch.arange(len(q), device=q.device).split(block)
    parts = list(zip(k.split(block), v.split(block), place, strict=True))
    assert len(parts[0][0]) == block
    rows = []
    for i, (q_i, here) in enumerate(zip(q.split(block), place, strict=True)):
        m = q.new_full((len(q_i), 1), -math.inf)
        s, c = torch.zeros_like(m), torch.zeros_like(v[: len(q_i)])
        for k_j, v_j, there in parts[: i + 1]:
            scores = q_i @ k_j.T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            largest = torch.maximum(m, scores.amax(-1, keepdim=True))
            fade, e = torch.exp(m - largest), torch.exp(scores - largest)
            s, c = s * fade + e.sum(-1, keepdim=True), c * fade + e @ v_j
            m = largest
        rows.append(c / s)
    return torch.cat(rows)
""",
        "rows come out in the order of the blocks' last tokens": """
# hint: Which is the first, and in which block
def causal_in_blocks(q, k, v, block):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    hidden = torch.ones_like(scores).tril() == 0
    e = torch.exp(scores.masked_fill(hidden, -math.inf))
    return (e @ v / e.sum(-1, keepdim=True)).flip(0)
""",
        "the table in full, with a mask": """
# hint: a table of n by n
def causal_in_blocks(q, k, v, block):
    scores = q @ k.T / math.sqrt(q.shape[-1])
    may_attend = torch.ones_like(scores).tril() > 0
    e = torch.exp(scores.masked_fill(~may_attend, -math.inf))
    return e @ v / e.sum(-1, keepdim=True)
""",
        "future blocks are computed and then hidden": """
# hint: leave out those that lie wholly in the future
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
# hint: inside the block on the diagonal
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
# hint: what was summed so far must shrink
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
# hint: begin below every score
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
# hint: own maximum is taken off
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
        "one maximum for all rows of a block": """
# hint: own maximum is taken off
def causal_in_blocks(q, k, v, block):
    q, n = q / math.sqrt(q.shape[-1]), len(q)
    place = torch.arange(n, device=q.device)
    rows = []
    for i in range(0, n, block):
        here = place[i : i + block]
        m, s, c = q.new_tensor(-math.inf), 0.0, 0.0
        for j in range(0, i + 1, block):
            there = place[j : j + block]
            scores = q[here] @ k[there].T
            scores = scores.masked_fill(here[:, None] < there, -math.inf)
            largest = torch.maximum(m, scores.max())
            fade, e = torch.exp(m - largest), torch.exp(scores - largest)
            s, c = s * fade + e.sum(-1, keepdim=True), c * fade + e @ v[there]
            m = largest
        rows.append(c / s)
    return torch.cat(rows)
""",
        "blocks are taken for pairs": """
# hint: your code stops with ValueError
def causal_in_blocks(q, k, v, block):
    rows = []
    for queries, keys in q.split(block):
        rows.append(queries @ keys.T @ v)
    return torch.cat(rows)
""",
        "the scale is forgotten": """
# hint: the scale is missing
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
# hint: counts all blocks alike
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
# hint: the block on the diagonal is needed
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
# hint: a table of n by block
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
# hint: a table of n by block
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
        "softmax all the same": """
# hint: not the mean of the values by the weights
def linear_encoder(q, k, v, may_attend):
    scores = (q @ k.mT).masked_fill(~may_attend, -math.inf)
    return scores.softmax(-1) @ v
""",
        "an empty sentence gets the mean of its padding": """
# hint: a sentence that is all padding must give 0
def linear_encoder(q, k, v, may_attend):
    shown = may_attend | ~may_attend.any(-1, keepdim=True)
    keys = phi(k) * shown.mT
    state = keys.mT @ F.pad(v, (0, 1), value=1.0)
    sums = phi(q) @ state
    return sums[..., :-1] / sums[..., -1:]
""",
        "padding is seen": """
# hint: nothing hides its keys
def linear_encoder(q, k, v, may_attend):
    state = phi(k).mT @ F.pad(v, (0, 1), value=1.0)
    sums = phi(q) @ state
    return sums[..., :-1] / sums[..., -1:]
""",
        "keys set to 0 before the feature map": """
# hint: phi(0) is 1
def linear_encoder(q, k, v, may_attend):
    keys = phi(k * may_attend.mT)
    state = keys.mT @ F.pad(v, (0, 1), value=1.0)
    sums = phi(q) @ state
    count = sums[..., -1:]
    return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
""",
        "only the values are hidden, not the weights": """
# hint: still counts padding
def linear_encoder(q, k, v, may_attend):
    state = phi(k).mT @ F.pad(v * may_attend.mT, (0, 1), value=1.0)
    sums = phi(q) @ state
    return sums[..., :-1] / sums[..., -1:]
""",
        "the queries are hidden": """
# hint: you hide the rows of queries
def linear_encoder(q, k, v, may_attend):
    state = phi(k).mT @ F.pad(v, (0, 1), value=1.0)
    sums = (phi(q) * may_attend.mT) @ state
    count = sums[..., -1:]
    return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
""",
        "queries and keys are hidden": """
# hint: rows of queries as well
def linear_encoder(q, k, v, may_attend):
    state = (phi(k) * may_attend.mT).mT @ F.pad(v, (0, 1), value=1.0)
    sums = (phi(q) * may_attend.mT) @ state
    count = sums[..., -1:]
    return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
""",
        "the table in full": """
# hint: there is a table of n by n
def linear_encoder(q, k, v, may_attend):
    weights = (phi(q) @ phi(k).mT) * may_attend
    total = weights.sum(-1, keepdim=True)
    return weights @ v / total.masked_fill(total == 0, 1.0)
""",
        "nothing divided by nothing": """
# hint: 0 is divided by 0
def linear_encoder(q, k, v, may_attend):
    keys = phi(k) * may_attend.mT
    state = keys.mT @ F.pad(v, (0, 1), value=1.0)
    sums = phi(q) @ state
    return sums[..., :-1] / sums[..., -1:]
""",
        "still causal": """
# hint: this is still causal
def linear_encoder(q, k, v, may_attend):
    keys = (phi(k) * may_attend.mT)[..., :, None]
    state = (keys * F.pad(v, (0, 1), value=1.0)[..., None, :]).cumsum(-3)
    sums = (phi(q)[..., None, :] @ state)[..., 0, :]
    count = sums[..., -1:]
    return sums[..., :-1] / count.masked_fill(count == 0, 1.0)
""",
        "never divided": """
# hint: divide by their sum
def linear_encoder(q, k, v, may_attend):
    return phi(q) @ ((phi(k) * may_attend.mT).mT @ v)
""",
    },
    "to_grouped": {
        name: f"""
# hint: {hint}
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
        for name, (hint, body) in {
            "the first head of each group": (
                "you keep the first head of each group",
                "had = had.unflatten(0, (kv_heads, group, d_head))[:, 0]"
                ".flatten(0, 1)",
            ),
            "the first heads of all": (
                "you keep the first heads",
                "had = had[: len(has)]",
            ),
            "the sum of a group": (
                "the sum of a group",
                "had = had.unflatten(0, (kv_heads, group, d_head)).sum(1)"
                ".flatten(0, 1)",
            ),
            "every n-th head makes a group": (
                "you join every",
                "had = had.unflatten(0, (group, kv_heads, d_head)).mean(0)"
                ".flatten(0, 1)",
            ),
            "means of neighbouring rows, not of heads": (
                "which belong to one head",
                "had = had.unflatten(0, (len(has), group)).mean(1)",
            ),
            "one mean for all groups": (
                "that of all heads",
                "had = had.unflatten(0, (-1, d_head)).mean(0)"
                ".repeat(kv_heads, *[1] * (had.ndim - 1))",
            ),
        }.items()
    }
    | {
        "keys and values are exchanged": """
# hint: are not the means of the heads of each group
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    ).to(full.in_proj.weight)
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head = full.d_model // full.heads
    for old, new in zip(
        [full.matrices()[i] for i in (0, 2, 1)], made.matrices()
    ):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
        "as many key heads as before": """
# hint: it has 6
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, full.heads, full.dropout, bias
    ).to(full.in_proj.weight)
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head = full.d_model // full.heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
        "the queries stay random": """
# hint: the queries stay as they are
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    ).to(full.in_proj.weight)
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head = full.d_model // full.heads
    for old, new in list(zip(full.matrices(), made.matrices()))[1:]:
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
        "dropout is not handed on": """
# hint: the dropout was
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, 0.0, bias
    ).to(full.in_proj.weight)
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head = full.d_model // full.heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
        "always float32": """
# hint: the dtype of the old one
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    )
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head = full.d_model // full.heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
        "the keys keep a matrix of 24 rows": """
# hint: return a GroupedQueryAttention
def to_grouped(full, kv_heads):
    for weight, bias in full.matrices()[1:]:
        rows = weight.data.unflatten(0, (kv_heads, -1, 4))
        rows = rows.mean(dim=1, keepdim=True).expand_as(rows).flatten(0, 2)
    return full
""",
        "means are written into the old model": """
# hint: the model that was given is changed
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    ).to(full.in_proj.weight)
    made.out_proj.load_state_dict(full.out_proj.state_dict())
    d_head = full.d_model // full.heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
                had.data.copy_(had.mean(dim=1, keepdim=True).expand_as(had))
    return made
""",
        "the biases of keys and values stay random": """
# hint: but not the biases of the
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
        if bias and len(new[1]) == len(old[1]):
            new[1].data.copy_(old[1])
    return made
""",
        "the output matrix is shared, not copied": """
# hint: a weight is the old model's own
def to_grouped(full, kv_heads):
    bias = full.in_proj.bias is not None
    made = GroupedQueryAttention(
        full.d_model, full.heads, kv_heads, full.dropout, bias
    ).to(full.in_proj.weight)
    made.out_proj = full.out_proj
    d_head = full.d_model // full.heads
    for old, new in zip(full.matrices(), made.matrices(), strict=True):
        for had, has in zip(old, new, strict=True):
            if has is not None:
                had = had.unflatten(0, (len(has) // d_head, -1, d_head))
                has.data.copy_(had.mean(dim=1).flatten(0, 1))
    return made
""",
        "the output matrix is forgotten": """
# hint: out_proj, must be taken over
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
# hint: {hint}
class WindowCache:
    def __init__(self, batch, heads, window, d_head):
        self.window, self.seen = window, 0
        self.buffer = torch.full(
            (2, batch, heads, window, d_head), math.nan, device=device
        )

    def __call__(self, q, k, v):
{body}
"""
        for name, (hint, body) in {
            "the scale counts twice": (
                "does not give the context over tokens",
                """
        place = self.seen % self.window
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        full = min(self.seen, self.window)
        return attention(q * 2, *self.buffer[:, :, :, :full])
""",
            ),
            "everything that was ever said is kept": (
                "sees more than",
                """
        new = torch.stack([k, v])
        if self.seen == 0:
            self.kept = new
        else:
            self.kept = torch.cat([self.kept, new], dim=3)
        self.seen += 1
        return attention(q, *self.kept)
""",
            ),
            "a fresh buffer for each round": (
                "has put another in its place",
                """
        place = self.seen % self.window
        self.buffer = self.buffer.clone()
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        full = min(self.seen, self.window)
        return attention(q, *self.buffer[:, :, :, :full])
""",
            ),
            "old keys move up, so all places are written": (
                "only the oldest token's need be",
                """
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
            ),
            "a longer buffer for every token": (
                "has put another in its place",
                """
        new = torch.stack([k, v])
        if self.seen == 0:
            self.buffer = new
        else:
            self.buffer = torch.cat([self.buffer, new], dim=3)
        self.seen += 1
        return attention(q, *self.buffer[:, :, :, -self.window :])
""",
            ),
            "empty places are attended to": (
                "places that are still empty",
                """
        place = self.seen % self.window
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        return attention(q, *self.buffer.nan_to_num())
""",
            ),
            "the new token does not see itself": (
                "write the new key and value first",
                """
        full = min(self.seen, self.window)
        context = attention(q, *self.buffer[:, :, :, : max(full, 1)])
        place = self.seen % self.window
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        return context
""",
            ),
            "a full buffer keeps its first tokens": (
                "still sees the first tokens",
                """
        place = min(self.seen, self.window - 1)
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        full = min(self.seen, self.window)
        return attention(q, *self.buffer[:, :, :, :full])
""",
            ),
            "after a round the buffer counts as empty": (
                "a full buffer stays full",
                """
        place = self.seen % self.window
        self.buffer[0, :, :, place] = k[:, :, 0]
        self.buffer[1, :, :, place] = v[:, :, 0]
        self.seen += 1
        return attention(q, *self.buffer[:, :, :, : place + 1])
""",
            ),
            "the value is a key": (
                "the keys are averaged",
                """
        place = self.seen % self.window
        self.buffer[:, :, :, place] = k[:, :, 0]
        self.seen += 1
        full = min(self.seen, self.window)
        return attention(q, *self.buffer[:, :, :, :full])
""",
            ),
        }.items()
    },
}

# Mutants of the solutions that are right too, and why.
DEVICE = "the answer lies on the same device on a CPU"
PAIRED = "the lists are equally long, so nothing is cut off"
COMMUTES = "the factors or summands may stand in any order"
TWO_AXES = "of two axes, the last is axis 1"
STARTS = "the first fade is 0, and what came before it counts nothing"
ONE_TOKEN = "there is one token, the first and the last"
EQUIVALENT = {
    "longest_text": {
        "return max(1, card - weights) // token": (
            "a token takes more than one byte, so one byte holds none"
        ),
        "return max(card - weights, 0) // token": COMMUTES,
        "token = cache_bytes(layers, texts, kv_heads, d_head)": COMMUTES,
        "token = cache_bytes(texts, kv_heads, layers, d_head)": COMMUTES,
        "token = cache_bytes(texts, layers, d_head, kv_heads)": COMMUTES,
    },
    "causal_in_blocks": {
        "for i, (q_i, here) in enumerate(zip(q.split(block), place)):": PAIRED,
        "for i, (q_i, here) in enumerate(zip(q.split(block), place, strict=False)):": PAIRED,
        "for k_j, v_j, there in parts[: (1 + i)]:": COMMUTES,
        "largest = torch.maximum(m, scores.amax(1, keepdim=True))": TWO_AXES,
        "largest = torch.maximum(scores.amax(-1, keepdim=True), m)": COMMUTES,
        "m = q.new_full((1,), -math.inf)": (
            "one minus infinity is broadcast to all rows of the block"
        ),
        "parts = list(zip(k.split(block), v.split(block), place))": PAIRED,
        "parts = list(zip(k.split(block), v.split(block), place, strict=False))": PAIRED,
        "place = torch.arange(len(q)).split(block)": DEVICE,
        "q = q / math.sqrt(q.shape[1])": TWO_AXES,
        "s, c = (e.sum(-1, keepdim=True) + s * fade), c * fade + e @ v_j": COMMUTES,
        "s, c = (torch.zeros_like(v[:len(q_i)]), torch.zeros_like(m))": (
            "zeros of either width are broadcast: each column has the sum"
        ),
        "s, c = s * fade + e.sum(-1, keepdim=True), (e @ v_j + c * fade)": COMMUTES,
        "s, c = s * fade + e.sum(1, keepdim=True), c * fade + e @ v_j": TWO_AXES,
        "s, c = torch.zeros_like(m), v[:len(q_i)]": STARTS,
    },
    "linear_encoder": {
        "return sums[..., :-1] / count.masked_fill(count == 0, 2.0)": (
            "where nothing is counted, 0 / 2 is 0 as well"
        ),
    },
    "to_grouped": {
        "for had, has in zip(old, new):": PAIRED,
        "for had, has in zip(old, new, strict=False):": PAIRED,
        "for old, new in zip(full.matrices(), made.matrices()):": PAIRED,
        "for old, new in zip(full.matrices(), made.matrices(), strict=False):": PAIRED,
    },
    "WindowCache": {
        "self.buffer = torch.full((2, batch, heads, window, d_head), math.nan)": DEVICE,
        "self.buffer[0, :, :, place] = k[:, :, (-1)]": ONE_TOKEN,
        "self.buffer[1, :, :, place] = v[:, :, (-1)]": ONE_TOKEN,
    },
}
