"""Wrong answers to the exercises of chapter 4, each by its misconception."""

WRONG = {
    "window_mask": {
        "the window reaches into the future": """
# hint: reaches into the future
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return (distance.abs() < width)[None, None]
""",
        "width counts the positions before the query only": """
# hint: yours sees one more
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance >= 0) & (distance <= width))[None, None]
""",
        "queries and keys are exchanged": """
# hint: rows are queries and columns are keys
def window_mask(length, width):
    position = torch.arange(length)
    distance = position - position[:, None]
    return ((distance >= 0) & (distance < width))[None, None]
""",
        "the window stands still at the beginning": """
# hint: your window does not move
def window_mask(length, width):
    return causal_mask(length) & (torch.arange(length) < width)
""",
        "True means hidden": """
# hint: your mask says True where a position is hidden
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance < 0) | (distance >= width))[None, None]
""",
        "a query does not see itself": """
# hint: the diagonal must be True
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance > 0) & (distance <= width))[None, None]
""",
        "two axes are enough": """
# hint: four axes
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return (distance >= 0) & (distance < width)
""",
        "a width and a length for all times": """
# hint: right for the numbers of the task
def window_mask(length, width):
    position = torch.arange(7)
    distance = position[:, None] - position
    return ((distance >= 0) & (distance < 3))[None, None]
""",
        "the query's own place is left out": """
# hint: the diagonal must be True
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance > 0) & (distance < width))[None, None]
""",
    },
    "my_attention": {
        "forbidden scores are set to zero": """
# hint: a score of 0 does not forbid
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    weights = softmax(scores.masked_fill(~may_attend, 0.0))
    return weights.masked_fill(empty, 0.0) @ v
""",
        "a large negative number is as good as minus infinity": """
# hint: yours gets a mean of values
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return softmax(scores.masked_fill(~may_attend, -1e9)) @ v
""",
        "an empty row is nobody's concern": """
# hint: gives NaN, because softmax
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    return softmax(scores.masked_fill(~may_attend, -math.inf)) @ v
""",
        "NaN is replaced in the output": """
# hint: its gradient is NaN
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = softmax(scores.masked_fill(~may_attend, -math.inf))
    return (weights @ v).nan_to_num(0.0)
""",
        "minus infinity is added and NaN replaced in the weights": """
# hint: its gradient is NaN
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1]) + additive(may_attend)
    return softmax(scores).nan_to_num(0.0) @ v
""",
        "zeros after the softmax": """
# hint: zeros after the softmax
def my_attention(q, k, v, may_attend):
    weights = softmax(q @ k.mT / math.sqrt(q.shape[-1]))
    return (weights * may_attend) @ v
""",
        "the scale is forgotten": """
# hint: the scale is missing
def my_attention(q, k, v, may_attend):
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = (q @ k.mT).masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
        "the scores are divided by the width itself": """
# hint: you divide the scores by the width itself
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / q.shape[-1]
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
        "masked_fill is called, and its result thrown away": """
# hint: the mask changes nothing
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    scores.masked_fill(~may_attend, -math.inf)
    return softmax(scores) @ v
""",
        "divides by the root of the number of keys": """
# hint: are not PyTorch's
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(k.shape[-2])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
        "the caller's queries are scaled in place": """
# hint: changes its input in place
def my_attention(q, k, v, may_attend):
    q /= math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = (q @ k.mT).masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
        "True means hidden": """
# hint: you hide what may be seen
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = may_attend.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(may_attend & ~empty, -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
        "the softmax runs over the queries": """
# hint: the softmax goes over the keys
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores, dim=-2).masked_fill(empty, 0.0) @ v
""",
        "an empty row may attend to everything": """
# hint: yours gets a mean of values
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    return softmax(scores.masked_fill(~(may_attend | empty), -math.inf)) @ v
""",
        "the library is asked": """
# hint: write it without attention
def my_attention(q, k, v, may_attend):
    return attention(q, k, v, may_attend)
""",
        "PyTorch is asked": """
# hint: write it without scaled_dot_product_attention
def my_attention(q, k, v, may_attend):
    return F.scaled_dot_product_attention(q, k, v, may_attend)
""",
        "only tensors with four axes are expected": """
# hint: with two your code stops
def my_attention(q, k, v, may_attend):
    scores = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(q.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -math.inf)
    weights = softmax(scores).masked_fill(empty, 0.0)
    return torch.einsum("bhij,bhjd->bhid", weights, v)
""",
        "zeros after the softmax, and the rows are divided by their sums": """
# hint: a hidden key with a large score
def my_attention(q, k, v, may_attend):
    weights = softmax(q @ k.mT / math.sqrt(q.shape[-1])) * may_attend
    sums = weights.sum(dim=-1, keepdim=True)
    return weights / sums.clamp(min=1e-9) @ v
""",
        "the scale is that of the values": """
# hint: root of the values' width
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(v.shape[-1])
    empty = ~may_attend.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -math.inf)
    return softmax(scores).masked_fill(empty, 0.0) @ v
""",
    },
    "packed_mask": {
        "only the first row of the batch is read": """
# hint: in the row
def packed_mask(sentence):
    first = sentence[0]
    same = (first[:, None] == first) & (first != 0)
    mask = same[None, None] & causal_mask(len(first), sentence.device)
    return mask.expand(len(sentence), -1, -1, -1)
""",
        "padding is a sentence of its own": """
# hint: padding may not be looked at
def packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    return same[:, None] & causal_mask(sentence.shape[1], sentence.device)
""",
        "words of the same sentence may look ahead": """
# hint: nobody may look ahead
def packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    return (same & (sentence != 0)[:, None, :])[:, None]
""",
        "earlier sentences may be read": """
# hint: belong to different sentences
def packed_mask(sentence):
    before = sentence[:, :, None] >= sentence[:, None, :]
    real = (sentence != 0)[:, None, :] & (sentence != 0)[:, :, None]
    causal = causal_mask(sentence.shape[1], sentence.device)
    return (before & real)[:, None] & causal
""",
        "one padding mask is all it needs": """
# hint: belong to different sentences
def packed_mask(sentence):
    real = padding_mask_from_ids(sentence, 0)
    return real & causal_mask(sentence.shape[1], sentence.device)
""",
        "only the neighbour is compared": """
# hint: an earlier position of the same sentence must be seen
def packed_mask(sentence):
    same = sentence == sentence.roll(1, dims=1)
    real = (sentence != 0)[:, None, None]
    causal = causal_mask(sentence.shape[1], sentence.device)
    return same[:, None, None] & real & causal
""",
        "the axis of the heads is missing": """
# hint: an axis for the heads
def packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    real = (sentence != 0)[:, None, :]
    causal = causal_mask(sentence.shape[1], sentence.device)[0, 0]
    return same & real & causal
""",
        "a PAD that asks sees all sentences": """
# hint: a PAD belongs to no sentence
def packed_mask(sentence):
    same = sentence[:, :, None] == sentence[:, None, :]
    pad = (sentence == 0)[:, :, None]
    seen = (same | pad) & (sentence != 0)[:, None, :]
    return seen[:, None] & causal_mask(sentence.shape[1], sentence.device)
""",
    },
    "decoder_mask": {
        "only the padding is hidden": """
# hint: a query sees a later position
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, None]
    return real.expand(-1, -1, zero_one.shape[1], -1)
""",
        "only the future is hidden": """
# hint: a key that is padding is seen
def decoder_mask(zero_one):
    batch, length = zero_one.shape
    return causal_mask(length, zero_one.device).expand(batch, 1, -1, -1)
""",
        "queries are hidden instead of keys": """
# hint: your rows of padding are hidden
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, :, None]
    return real & causal_mask(zero_one.shape[1], zero_one.device)
""",
        "1 means hidden": """
# hint: a tokenizer's 1 means a real token
def decoder_mask(zero_one):
    real = ~from_zero_one(zero_one)[:, None, None]
    return real & causal_mask(zero_one.shape[1], zero_one.device)
""",
        "only lengths count, so padding on the left is kept": """
# hint: a row whose padding stands in front is wrong
def decoder_mask(zero_one):
    length = zero_one.shape[1]
    real = padding_mask(zero_one.sum(dim=1), length)
    return real & causal_mask(length, zero_one.device)
""",
        "either reason to look is enough": """
# hint: with | one of them is enough
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, None]
    return real | causal_mask(zero_one.shape[1], zero_one.device)
""",
        "the numbers are multiplied and stay numbers": """
# hint: is to be boolean
def decoder_mask(zero_one):
    triangle = torch.ones_like(zero_one[0, :, None] * zero_one[0]).tril()
    return zero_one[:, None, None] * triangle
""",
        "a row with nothing to see should see everything": """
# hint: there is nothing to see
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)[:, None, None]
    mask = real & causal_mask(zero_one.shape[1], zero_one.device)
    empty = ~mask.any(dim=-1, keepdim=True)
    return mask | empty
""",
        "all sentences get the mask of the first": """
# hint: compare your mask with the text
def decoder_mask(zero_one):
    length = zero_one.shape[1]
    real = from_zero_one(zero_one)[:1, None, None]
    mask = real & causal_mask(length, zero_one.device)
    return mask.expand(len(zero_one), -1, -1, -1)
""",
        "every token looks strictly back": """
# hint: a token is to see itself too
def decoder_mask(zero_one):
    length = zero_one.shape[1]
    real = from_zero_one(zero_one)[:, None, None]
    before = torch.ones(length, length).tril(-1) == 1
    return real & before.to(real.device)
""",
        "the rows of padding are hidden too": """
# hint: Hide keys only
def decoder_mask(zero_one):
    real = from_zero_one(zero_one)
    both = real[:, None, :, None] & real[:, None, None]
    return both & causal_mask(zero_one.shape[1], zero_one.device)
""",
    },
    "prefix_mask": {
        "both conditions must hold": """
# hint: a prompt token must see the whole prompt
def prefix_mask(length, prefix):
    return causal_mask(length, prefix.device) & padding_mask(prefix, length)
""",
        "all sentences have the prompt of the first": """
# hint: each sentence has a prompt of its own length
def prefix_mask(length, prefix):
    first = prefix[:1].expand(len(prefix))
    return causal_mask(length, prefix.device) | padding_mask(first, length)
""",
        "all sentences have the longest prompt": """
# hint: each sentence has a prompt of its own length
def prefix_mask(length, prefix):
    longest = prefix.max().expand(len(prefix))
    return causal_mask(length, prefix.device) | padding_mask(longest, length)
""",
        "one token too many belongs to the prompt": """
# hint: the prompt ends one token earlier
def prefix_mask(length, prefix):
    position = torch.arange(length, device=prefix.device)
    inside = (position <= prefix[:, None])[:, None, None]
    return causal_mask(length, prefix.device) | inside
""",
        "prompt tokens may see what is written later": """
# hint: a prompt token sees the prompt and no more
def prefix_mask(length, prefix):
    asks = padding_mask(prefix, length).mT
    return causal_mask(length, prefix.device) | asks
""",
        "what is written sees everything": """
# hint: nobody may see what comes later
def prefix_mask(length, prefix):
    position = torch.arange(length, device=prefix.device)
    writes = (position >= prefix[:, None])[:, None, :, None]
    return causal_mask(length, prefix.device) | padding_mask(
        prefix, length
    ) | (writes & (position != prefix[:, None])[:, None, None])
""",
        "what is written sees the prompt only": """
# hint: what was written before
def prefix_mask(length, prefix):
    inside = padding_mask(prefix, length)
    return inside.expand(-1, -1, length, -1)
""",
        "the prompt is cut off from what follows": """
# hint: what is written must see the whole prompt
def prefix_mask(length, prefix):
    inside = padding_mask(prefix, length)
    both_in = inside & inside.mT
    both_out = ~inside & ~inside.mT
    return both_in | (both_out & causal_mask(length, prefix.device))
""",
        "the prompt is not read at all": """
# hint: get the same mask
def prefix_mask(length, prefix):
    causal = causal_mask(length, prefix.device)
    return causal.expand(len(prefix), -1, -1, -1)
""",
    },
    "depends_on": {
        "rows and columns are exchanged": """
# hint: yours are exchanged
def depends_on(attend, x):
    rows = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 3 - 2 * other[j]
        rows.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(rows)
""",
        "nearly equal is equal": """
# hint: compare bit for bit
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
# hint: x itself is changed
def depends_on(attend, x):
    columns, before = [], attend(x)
    for j in range(len(x)):
        x[j] = 3 - 2 * x[j]
        columns.append((attend(x) != before).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "a row is set to zero, which it may be already": """
# hint: a row of 0 stays what it is
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 0
        columns.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "a row is set to one, which it may be already": """
# hint: a row of 1 stays what it is
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 1
        columns.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "changes pile up from row to row": """
# hint: starting each time from x itself
def depends_on(attend, x):
    columns, other = [], x.clone()
    for j in range(len(x)):
        other[j] = 3 - 2 * other[j]
        columns.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(columns, dim=1)
""",
        "every entry of a row must change": """
# hint: if any of its entries changes
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j, 0] = 3 - 2 * other[j, 0]
        columns.append((attend(other) != attend(x)).all(dim=1))
    return torch.stack(columns, dim=1)
""",
        "it is always a triangle": """
# hint: you return a triangle
def depends_on(attend, x):
    return causal_mask(len(x), x.device)[0, 0]
""",
        "the changes of a row are added up": """
# hint: even if the changes cancel
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 3 + 2 * other[j].abs()
        columns.append((attend(other) - attend(x)).sum(dim=1) != 0)
    return torch.stack(columns, dim=1)
""",
        "asks the gradient instead of the output": """
# hint: a gradient says nothing of what goes through detach
def depends_on(attend, x):
    slopes = torch.autograd.functional.jacobian(attend, x)
    return (slopes != 0).any(dim=3).any(dim=1)
""",
        "a row is set to a number that it will not be": """
# hint: you set rows to fixed numbers
def depends_on(attend, x):
    columns = []
    for j in range(len(x)):
        other = x.clone()
        other[j] = 1000
        columns.append((attend(other) != attend(x)).any(dim=1))
    return torch.stack(columns, dim=1)
""",
    },
}

# Mutants of the solutions that are right too, and why.
DEVICE = "the answer lies on the same device on a CPU"
LARGER = "the row becomes another one by this step as well, in the check"
EQUIVALENT = {
    "my_attention": {
        "scores = scores.masked_fill(~(may_attend), -math.inf)": (
            "the NaN ends at a fill, forward at the second, backward at the first"
        ),
    },
    "packed_mask": {"causal = causal_mask(sentence.shape[1])": DEVICE},
    "decoder_mask": {
        "return real & causal_mask(zero_one.shape[1])": DEVICE,
    },
    "prefix_mask": {
        "return causal_mask(length) | padding_mask(prefix, length)": DEVICE,
    },
    "depends_on": {
        "other[j] += (other[j].abs() + 1) # larger, whatever it was": LARGER,
        "other[j] += 1 # larger, whatever it was": LARGER,
        "other[j] += 2 + other[j].abs() # larger, whatever it was": LARGER,
    },
}
