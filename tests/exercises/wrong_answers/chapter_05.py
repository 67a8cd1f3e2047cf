"""Wrong answers to the exercises of chapter 5, by misconception."""

WRONG = {
    "attention_parameters": {
        "forgets the output projection": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    return d_model * columns + (columns if bias else 0)
""",
        "counts the matrices of one head": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = 2 * d_head + d_value
    total = d_model * columns + d_value * d_model
    return total + (columns + d_model if bias else 0)
""",
        "gives every head the full width": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    return heads * 4 * d_model**2 + (heads * 4 * d_model if bias else 0)
""",
        "takes values to be as wide as keys": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * d_head
    total = 4 * d_model * columns
    return total + (3 * columns + d_model if bias else 0)
""",
        "one bias for each row of a matrix": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    total = d_model * columns + heads * d_value * d_model
    return total + (3 * d_model + heads * d_value if bias else 0)
""",
        "an output projection for each head, each with its bias": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    total = d_model * columns + heads * d_value * d_model
    return total + (columns + heads * d_model if bias else 0)
""",
    },
    "multi_head": {
        "views straight to the shape of the heads": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q, k, v = (
        t.reshape(len(t), heads, t.shape[1], -1)
        for t in (x @ W_q, y @ W_k, y @ W_v)
    )
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "merges without bringing the heads back": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    context = attention(q, k, v, may_attend)
    return context.reshape(len(x), x.shape[1], -1) @ W_o
""",
        "takes the values from the one who asks": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(x @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "lets y ask": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(y @ W_q, heads)
    k = split_heads(x @ W_k, heads)
    v = split_heads(x @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "one wide head, never cut": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q, k, v = ((t @ W)[:, None] for t, W in ((x, W_q), (y, W_k), (y, W_v)))
    return attention(q, k, v, may_attend)[:, 0] @ W_o
""",
        "forgets the mask": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    return merge_heads(attention(q, k, v)) @ W_o
""",
        "scales by the full width": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q / math.sqrt(heads), heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "deals the columns out in turn": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    pattern = "n l (d h) -> n h l d"
    q = rearrange(x @ W_q, pattern, h=heads)
    k = rearrange(y @ W_k, pattern, h=heads)
    v = rearrange(y @ W_v, pattern, h=heads)
    context = attention(q, k, v, may_attend)
    return rearrange(context, "n h l d -> n l (d h)") @ W_o
""",
        "adds the heads up": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    context = attention(q, k, v, may_attend).sum(dim=1)
    return context.repeat(1, 1, heads) @ W_o
""",
    },
    "head_contributions": {
        "shares the output out equally": """
def head_contributions(module, x):
    output = module(x) - module.out_proj.bias
    return torch.stack([output / module.heads] * module.heads)
""",
        "returns what the heads hand over, before the output projection": """
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    silent = torch.zeros_like(context)
    parts = []
    for head in range(module.heads):
        part = silent.clone()
        part[:, head] = context[:, head]
        parts.append(merge_heads(part))
    return torch.stack(parts)
""",
        "takes rows of out_proj.weight": """
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=0)
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block for head, block in pairs])
""",
        "adds the bias to every head": """
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    parts = []
    for head in range(module.heads):
        part = torch.zeros_like(context)
        part[:, head] = context[:, head]
        parts.append(module.output(part))
    return torch.stack(parts)
""",
        "shares the bias among the heads": """
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    share = module.out_proj.bias / module.heads
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block.T + share for head, block in pairs])
""",
        "cuts the output instead of the sum": """
def head_contributions(module, x):
    output = module(x) - module.out_proj.bias
    width = module.d_model // module.heads
    parts = torch.zeros(module.heads, *x.shape, device=x.device)
    for head in range(module.heads):
        part = slice(head * width, (head + 1) * width)
        parts[head, ..., part] = output[..., part]
    return parts
""",
        "gives the heads in the wrong order": """
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block.T for head, block in pairs]).flip(0)
""",
    },
    "without_head": {
        "silences the head in the module itself": """
def without_head(module, head):
    width = module.d_model // module.heads
    with torch.no_grad():
        module.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return module
""",
        "sets rows of out_proj.weight to zero": """
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[head * width : (head + 1) * width] = 0
    return silent
""",
        "sets the queries to zero: the head still hands over the mean": """
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.in_proj.weight[head * width : (head + 1) * width] = 0
        silent.in_proj.bias[head * width : (head + 1) * width] = 0
    return silent
""",
        "sets the value matrix to zero and forgets its bias": """
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    start = 2 * module.d_model + head * width
    with torch.no_grad():
        silent.in_proj.weight[start : start + width] = 0
    return silent
""",
        "a shallow copy, which shares the weights": """
def without_head(module, head):
    from copy import copy

    silent = copy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return silent
""",
        "takes the bias of the output away too": """
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
        silent.out_proj.bias.zero_()
    return silent
""",
        "counts the heads from one": """
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, (head - 1) * width : head * width] = 0
    return silent
""",
    },
    "grouped_attention": {
        "repeats the key heads in turn, 0 1 0 1": """
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k, v = (t.repeat(1, times, 1, 1) for t in (k, v))
    return attention(q, k, v)
""",
        "lets every query head see the first key head": """
def grouped_attention(q, k, v):
    k, v = (t[:, :1].expand(-1, q.shape[1], -1, -1) for t in (k, v))
    return attention(q, k, v)
""",
        "takes the mean of the query heads of a group": """
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    q = q.unflatten(1, (k.shape[1], times)).mean(dim=2)
    return attention(q, k, v).repeat_interleave(times, dim=1)
""",
        "always two query heads to a key head": """
def grouped_attention(q, k, v):
    k, v = (t.repeat_interleave(2, dim=1)[:, : q.shape[1]] for t in (k, v))
    return attention(q, k, v)
""",
        "shares the keys and forgets the values": """
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k = k.repeat_interleave(times, dim=1)
    return attention(q, k, v.repeat(1, times, 1, 1))
""",
        "takes the mean of the key heads": """
def grouped_attention(q, k, v):
    k, v = (t.mean(dim=1, keepdim=True) for t in (k, v))
    k, v = (t.expand(-1, q.shape[1], -1, -1) for t in (k, v))
    return attention(q, k, v)
""",
        "copies along the length instead of the heads": """
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(times, dim=2) for t in (k, v))
    return attention(q, k, v)
""",
        "leaves it to PyTorch": """
def grouped_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
""",
    },
}
