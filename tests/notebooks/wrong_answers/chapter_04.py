"""Wrong answers to the exercises of chapter 4, each by its misconception."""

WRONG = {
    "window_mask": {
        "the window reaches into the future": """
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return (distance.abs() < width)[None, None]
""",
        "width counts the positions before the query only": """
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance >= 0) & (distance <= width))[None, None]
""",
        "queries and keys are exchanged": """
def window_mask(length, width):
    position = torch.arange(length)
    distance = position - position[:, None]
    return ((distance >= 0) & (distance < width))[None, None]
""",
        "the window stands still at the beginning": """
def window_mask(length, width):
    return causal_mask(length) & (torch.arange(length) < width)
""",
        "True means hidden": """
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance < 0) | (distance >= width))[None, None]
""",
        "a query does not see itself": """
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance > 0) & (distance <= width))[None, None]
""",
        "two axes are enough": """
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return (distance >= 0) & (distance < width)
""",
    },
    "my_attention": {
        "forbidden scores are set to zero": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    weights = softmax(scores.masked_fill(~may_attend, 0.0))
    return weights.masked_fill(empty, 0.0) @ v
""",
        "a large negative number is as good as minus infinity": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return softmax(scores.masked_fill(~may_attend, -1e9)) @ v
""",
        "an empty row is nobody's concern": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return softmax(scores.masked_fill(~may_attend, -math.inf)) @ v
""",
        "NaN is replaced in the output": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = softmax(scores.masked_fill(~may_attend, -math.inf))
    return (weights @ v).nan_to_num(0.0)
""",
        "minus infinity is added and NaN replaced in the weights": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1]) + additive(may_attend)
    return softmax(scores).nan_to_num(0.0) @ v
""",
        "zeros after the softmax": """
def my_attention(q, k, v, may_attend):
    weights = softmax(q @ k.mT / math.sqrt(q.shape[-1]))
    return (weights * may_attend) @ v
""",
        "the scale is forgotten": """
def my_attention(q, k, v, may_attend):
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = (q @ k.mT).masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
        "True means hidden": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = may_attend.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(may_attend & ~empty, -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
        "the softmax runs over the queries": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores, dim=-2).masked_fill(empty, 0.0) @ v
""",
        "an empty row may attend to everything": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    return softmax(scores.masked_fill(~(may_attend | empty), -math.inf)) @ v
""",
        "the library is asked": """
def my_attention(q, k, v, may_attend):
    return attention(q, k, v, may_attend)
""",
        "PyTorch is asked": """
def my_attention(q, k, v, may_attend):
    return F.scaled_dot_product_attention(q, k, v, may_attend)
""",
    },
    "packed_mask": {
        "only the first row of the batch is read": """
def packed_mask(sentence):
    first = sentence[0]
    same = (first[:, None] == first) & (first != 0)
    mask = same[None, None] & causal_mask(len(first), sentence.device)
    return mask.expand(len(sentence), -1, -1, -1)
""",
        "padding is a sentence of its own": """
def packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    return same[:, None] & causal_mask(sentence.shape[1], sentence.device)
""",
        "words of the same sentence may look ahead": """
def packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    return (same & (sentence != 0)[:, None, :])[:, None]
""",
        "earlier sentences may be read": """
def packed_mask(sentence):
    before = sentence[:, :, None] >= sentence[:, None, :]
    real = (sentence != 0)[:, None, :] & (sentence != 0)[:, :, None]
    causal = causal_mask(sentence.shape[1], sentence.device)
    return (before & real)[:, None] & causal
""",
        "one padding mask is all it needs": """
def packed_mask(sentence):
    real = padding_mask_from_ids(sentence, 0)
    return real & causal_mask(sentence.shape[1], sentence.device)
""",
        "only the neighbour is compared": """
def packed_mask(sentence):
    same = sentence == sentence.roll(1, dims=1)
    real = (sentence != 0)[:, None, None]
    causal = causal_mask(sentence.shape[1], sentence.device)
    return same[:, None, None] & real & causal
""",
        "the axis of the heads is missing": """
def packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    real = (sentence != 0)[:, None, :]
    causal = causal_mask(sentence.shape[1], sentence.device)[0, 0]
    return same & real & causal
""",
    },
    "decoder_mask": {
        "only the padding is hidden": """
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, None]
    return real.expand(-1, -1, zero_one.shape[1], -1)
""",
        "only the future is hidden": """
def decoder_mask(zero_one):
    batch, length = zero_one.shape
    return causal_mask(length, zero_one.device).expand(batch, 1, -1, -1)
""",
        "queries are hidden instead of keys": """
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, :, None]
    return real & causal_mask(zero_one.shape[1], zero_one.device)
""",
        "1 means hidden": """
def decoder_mask(zero_one):
    real = ~from_zero_one(zero_one)[:, None, None]
    return real & causal_mask(zero_one.shape[1], zero_one.device)
""",
        "only lengths count, so padding on the left is kept": """
def decoder_mask(zero_one):
    length = zero_one.shape[1]
    real = padding_mask(zero_one.sum(dim=1), length)
    return real & causal_mask(length, zero_one.device)
""",
        "either reason to look is enough": """
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, None]
    return real | causal_mask(zero_one.shape[1], zero_one.device)
""",
        "the numbers are multiplied and stay numbers": """
def decoder_mask(zero_one):
    triangle = torch.ones_like(zero_one[0, :, None] * zero_one[0]).tril()
    return zero_one[:, None, None] * triangle
""",
        "a row with nothing to see should see everything": """
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, None]
    mask = real & causal_mask(zero_one.shape[1], zero_one.device)
    empty = ~mask.any(dim=-1, keepdim=True)
    return mask | empty
""",
    },
    "prefix_mask": {
        "both conditions must hold": """
def prefix_mask(length, prefix):
    return causal_mask(length, prefix.device) & padding_mask(prefix, length)
""",
        "all sentences have the prompt of the first": """
def prefix_mask(length, prefix):
    first = prefix[:1].expand(len(prefix))
    return causal_mask(length, prefix.device) | padding_mask(first, length)
""",
        "all sentences have the longest prompt": """
def prefix_mask(length, prefix):
    longest = prefix.max().expand(len(prefix))
    return causal_mask(length, prefix.device) | padding_mask(longest, length)
""",
        "one token too many belongs to the prompt": """
def prefix_mask(length, prefix):
    position = torch.arange(length, device=prefix.device)
    inside = (position <= prefix[:, None])[:, None, None]
    return causal_mask(length, prefix.device) | inside
""",
        "prompt tokens may see what is written later": """
def prefix_mask(length, prefix):
    asks = padding_mask(prefix, length).mT
    return causal_mask(length, prefix.device) | asks
""",
        "what is written sees the prompt only": """
def prefix_mask(length, prefix):
    inside = padding_mask(prefix, length)
    return inside.expand(-1, -1, length, -1)
""",
        "the prompt is cut off from what follows": """
def prefix_mask(length, prefix):
    inside = padding_mask(prefix, length)
    both_in = inside & inside.mT
    both_out = ~inside & ~inside.mT
    return both_in | (both_out & causal_mask(length, prefix.device))
""",
    },
    "depends_on": {
        "rows and columns are exchanged": """
def depends_on(attend, x):
    rows = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 3 - 2 * other[j]
        rows.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(rows)
""",
        "nearly equal is equal": """
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 3 - 2 * other[j]
        same = torch.isclose(attend(other), attend(x), atol=1e-4)
        columns.append((~same).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "x itself is changed": """
def depends_on(attend, x):
    columns, before = [], attend(x)
    for j in range(len(x)):
        x[j] = 3 - 2 * x[j]
        columns.append((attend(x) != before).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "a row is set to zero, which it may be already": """
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 0
        columns.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "changes pile up from row to row": """
def depends_on(attend, x):
    columns, other = [], x.clone()
    for j in range(len(x)):
        other[j] = 3 - 2 * other[j]
        columns.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "every entry of a row must change": """
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j, 0] = 3 - 2 * other[j, 0]
        columns.append((attend(other) != attend(x)).all(dim=1))
    return torch.stack(columns, dim=1)
""",
        "it is always a triangle": """
def depends_on(attend, x):
    return causal_mask(len(x), x.device)[0, 0]
""",
    },
}
