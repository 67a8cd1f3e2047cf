"""Wrong answers to the exercises of chapter 5, by misconception."""

WRONG = {
    "attention_parameters": {
        "a head is the width divided by the heads, whatever is asked": """
# hint: a number of parameters is whole
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = 3 * heads * (d_model / heads)
    total = d_model * columns + d_model * d_model
    return total + (columns + d_model if bias else 0)
""",
        "one matrix makes queries and keys": """
# hint: list the four factors
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (d_head + d_value)
    total = d_model * columns + heads * d_value * d_model
    return total + (columns + d_model if bias else 0)
""",
        "no bias behind the last matrix": """
# hint: the last matrix has a bias too
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    total = d_model * columns + heads * d_value * d_model
    return total + (columns if bias else 0)
""",
        "a bias is one number": """
# hint: right without biases, but
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    total = d_model * columns + heads * d_value * d_model
    return total + (4 if bias else 0)
""",
        "forgets the output projection": """
# hint: which one mixes the heads
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    return d_model * columns + (columns if bias else 0)
""",
        "counts the matrices of one head": """
# hint: you count the matrices of one head
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = 2 * d_head + d_value
    total = d_model * columns + d_value * d_model
    return total + (columns + d_model if bias else 0)
""",
        "gives every head the full width": """
# hint: a head does not have the full width
def attention_parameters(d_model, heads, d_head, d_value, bias):
    return heads * 4 * d_model**2 + (heads * 4 * d_model if bias else 0)
""",
        "takes values to be as wide as keys": """
# hint: which two matrices does that change
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * d_head
    total = 4 * d_model * columns
    return total + (3 * columns + d_model if bias else 0)
""",
        "one bias for each row of a matrix": """
# hint: and you count the rows
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    total = d_model * columns + heads * d_value * d_model
    return total + (3 * d_model + heads * d_value if bias else 0)
""",
        "an output projection for each head, each with its bias": """
# hint: so it has one bias
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = heads * (2 * d_head + d_value)
    total = d_model * columns + heads * d_value * d_model
    return total + (columns + heads * d_model if bias else 0)
""",
        "four square matrices, as usual": """
# hint: four square matrices
def attention_parameters(d_model, heads, d_head, d_value, bias):
    return 4 * d_model**2 + (4 * d_model if bias else 0)
""",
    },
    "multi_head": {
        "forgets the scale": """
# hint: not divided by the root of a head
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    scores = q @ k.mT
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -math.inf)
    return merge_heads(scores.softmax(-1) @ v) @ W_o
""",
        "leaves the heads side by side": """
# hint: nothing has mixed them
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend))
""",
        "one matrix makes queries and keys": """
# hint: Take one head alone
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_q, heads)
    v = split_heads(y @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "turns the mask around, as PyTorch's module wants it": """
# hint: right for equal lengths and no mask
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    hidden = None if may_attend is None else ~may_attend
    return merge_heads(attention(q, k, v, hidden)) @ W_o
""",
        "views straight to the shape of the heads": """
# hint: view alone reads the numbers in order
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q, k, v = (
        t.reshape(len(t), heads, t.shape[1], -1)
        for t in (x @ W_q, y @ W_k, y @ W_v)
    )
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "merges without bringing the heads back": """
# hint: bring their axis back after it first
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    context = attention(q, k, v, may_attend)
    return context.reshape(len(x), x.shape[1], -1) @ W_o
""",
        "takes the values from the one who asks": """
# hint: the values come from x, who asks
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(x @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "lets y ask": """
# hint: x and y are exchanged
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(y @ W_q, heads)
    k = split_heads(x @ W_k, heads)
    v = split_heads(x @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "one wide head, never cut": """
# hint: this is one wide head
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q, k, v = ((t @ W)[:, None] for t, W in ((x, W_q), (y, W_k), (y, W_v)))
    return attention(q, k, v, may_attend)[:, 0] @ W_o
""",
        "forgets the mask": """
# hint: may_attend is not handed on
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    return merge_heads(attention(q, k, v)) @ W_o
""",
        "scales by the full width": """
# hint: you divide by the root of all columns
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q / math.sqrt(heads), heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "deals the columns out in turn": """
# hint: you deal the columns out in turn
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
# hint: the heads are added up before W_o
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q = split_heads(x @ W_q, heads)
    k = split_heads(y @ W_k, heads)
    v = split_heads(y @ W_v, heads)
    context = attention(q, k, v, may_attend).sum(dim=1)
    return context.repeat(1, 1, heads) @ W_o
""",
        "the scale is that of the values": """
# hint: root of the values' width
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q, k, v = (
        split_heads(t @ W, heads) for t, W in ((x, W_q), (y, W_k), (y, W_v))
    )
    scores = q @ k.mT / math.sqrt(v.shape[-1])
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -math.inf)
    return merge_heads(scores.softmax(dim=-1) @ v) @ W_o
""",
    },
    "head_contributions": {
        "a list of the parts": """
# hint: torch.stack makes it of a list
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return [head @ block.T for head, block in pairs]
""",
        "the batch comes first": """
# hint: the heads come first
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block.T for head, block in pairs], dim=1)
""",
        "the values themselves, without attention": """
# hint: one head's result times its own block
def head_contributions(module, x):
    _, _, values = module.project(x, x, x)
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    pairs = zip(values.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block.T for head, block in pairs])
""",
        "shares the output out equally": """
# hint: all parts are equal
def head_contributions(module, x):
    output = module(x) - module.out_proj.bias
    return torch.stack([output / module.heads] * module.heads)
""",
        "returns what the heads hand over, before the output projection": """
# hint: what the heads hand over to W_O
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
# hint: stores its matrix transposed
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=0)
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block for head, block in pairs])
""",
        "adds the bias to every head": """
# hint: every head brings the bias along
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
# hint: a share of the bias hides in each part
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    share = module.out_proj.bias / module.heads
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block.T + share for head, block in pairs])
""",
        "cuts the output instead of the sum": """
# hint: you cut the output into strips
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
# hint: in the reverse order
def head_contributions(module, x):
    context, _ = module.attend(*module.project(x, x, x))
    blocks = module.out_proj.weight.chunk(module.heads, dim=1)
    pairs = zip(context.unbind(dim=1), blocks, strict=True)
    return torch.stack([head @ block.T for head, block in pairs]).flip(0)
""",
    },
    "without_head": {
        "returns a module of one head": """
# hint: a copy is to come back, with parameters of the same names and sizes
def without_head(module, head):
    return MultiHeadAttention(module.d_model // 3, 1)
""",
        "forgets to return the copy": """
# hint: a copy is to come back
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
""",
        "changes the original and copies it afterwards": """
# hint: copy first, then change the copy
def without_head(module, head):
    from copy import deepcopy

    width = module.d_model // module.heads
    with torch.no_grad():
        module.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return deepcopy(module)
""",
        "every third column, as if columns were dealt out": """
# hint: is not what is missing
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    with torch.no_grad():
        silent.out_proj.weight[:, head :: module.heads] = 0
    return silent
""",
        "changes a slice that is a copy": """
# hint: nothing is missing
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    blocks = list(silent.out_proj.weight.detach().clone().chunk(3, dim=1))
    blocks[head].zero_()
    return silent
""",
        "silences the head in the module itself": """
# hint: you return the module itself
def without_head(module, head):
    width = module.d_model // module.heads
    with torch.no_grad():
        module.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return module
""",
        "sets rows of out_proj.weight to zero": """
# hint: you have emptied rows of out_proj.weight
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[head * width : (head + 1) * width] = 0
    return silent
""",
        "sets the queries to zero: the head still hands over the mean": """
# hint: queries or keys of zero do not silence a head
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
# hint: the head still hands over its bias
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
# hint: copy.copy copies the module but not the weights
def without_head(module, head):
    from copy import copy

    silent = copy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return silent
""",
        "takes the bias of the output away too": """
# hint: it belongs to no head
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
# hint: heads are counted from 0
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, (head - 1) * width : head * width] = 0
    return silent
""",
        "the keys are zero": """
# hint: queries or keys of zero
def without_head(module, head):
    from copy import deepcopy

    silent = deepcopy(module)
    width = module.d_model // module.heads
    first = module.d_model + head * width
    with torch.no_grad():
        silent.in_proj.weight[first : first + width] = 0
        silent.in_proj.bias[first : first + width] = 0
    return silent
""",
        "a module around the module, without its masks": """
# hint: a copy is to come back
def without_head(module, head):
    from copy import deepcopy

    width = module.d_model // module.heads

    class Silent(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = deepcopy(module)

        def forward(self, x, y=None):
            with torch.no_grad():
                at = slice(head * width, (head + 1) * width)
                self.inner.out_proj.weight[:, at] = 0
            return self.inner(x, y)

    return Silent()
""",
    },
    "grouped_attention": {
        "the groups in reverse order": """
# hint: which key head does query head 1 use
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(times, dim=1).flip(1) for t in (k, v))
    return attention(q, k, v)
""",
        "repeats the key heads in turn, 0 1 0 1": """
# hint: the key heads go round
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k, v = (t.repeat(1, times, 1, 1) for t in (k, v))
    return attention(q, k, v)
""",
        "lets every query head see the first key head": """
# hint: all query heads use key head 0
def grouped_attention(q, k, v):
    k, v = (t[:, :1].expand(-1, q.shape[1], -1, -1) for t in (k, v))
    return attention(q, k, v)
""",
        "takes the mean of the query heads of a group": """
# hint: each query head asks for itself
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    q = q.unflatten(1, (k.shape[1], times)).mean(dim=2)
    return attention(q, k, v).repeat_interleave(times, dim=1)
""",
        "always two query heads to a key head": """
# hint: stops at shapes that do not fit
def grouped_attention(q, k, v):
    k, v = (t.repeat_interleave(2, dim=1)[:, : q.shape[1]] for t in (k, v))
    return attention(q, k, v)
""",
        "shares the keys and forgets the values": """
# hint: keys and values are shared in different ways
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k = k.repeat_interleave(times, dim=1)
    return attention(q, k, v.repeat(1, times, 1, 1))
""",
        "takes the mean of the key heads": """
# hint: you take the mean of the key heads
def grouped_attention(q, k, v):
    k, v = (t.mean(dim=1, keepdim=True) for t in (k, v))
    k, v = (t.expand(-1, q.shape[1], -1, -1) for t in (k, v))
    return attention(q, k, v)
""",
        "copies along the length instead of the heads": """
# hint: The axis of the heads is the second
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(times, dim=2) for t in (k, v))
    return attention(q, k, v)
""",
        "leaves it to PyTorch": """
# hint: write it without scaled_dot_product_attention
def grouped_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
""",
        "the scale is forgotten": """
# hint: not divided by the root
def grouped_attention(q, k, v):
    times = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(times, dim=1) for t in (k, v))
    return (q @ k.mT).softmax(dim=-1) @ v
""",
    },
    "finds_wrong_heads": {
        "tests nothing": """
# hint: finds 0 of 21 wrong ones
def finds_wrong_heads(attend):
    pass
""",
        "looks only at the shape": """
# hint: One that it lets pass forgets the scale
def finds_wrong_heads(attend):
    layers = [(torch.randn(12, 12), torch.randn(12)) for _ in range(4)]
    out = attend(torch.randn(2, 5, 12), torch.randn(2, 7, 12), layers, 3)
    assert out.shape == (2, 5, 12)
""",
        "looks only at the mean when all words are alike": """
# hint: One that it lets pass forgets the scale
def finds_wrong_heads(attend):
    layers = [(torch.randn(12, 12), torch.randn(12)) for _ in range(4)]
    x = torch.randn(1, 1, 12).expand(2, 5, 12)
    out = attend(x, x, layers, 3)
    (W_v, b_v), (W_o, b_o) = layers[2:]
    expected = (x @ W_v + b_v) @ W_o + b_o
    torch.testing.assert_close(out, expected, atol=1e-4, rtol=1e-4)
""",
        "asks for exact equality": """
# hint: it refuses a right one
def finds_wrong_heads(attend):
    x = torch.randn(2, 5, 12)
    layers = [(torch.randn(12, 12), torch.randn(12)) for _ in range(4)]
    q, k, v = (split_heads(x @ W + b, 3) for W, b in layers[:3])
    merged = merge_heads(attention(q, k, v))
    expected = merged @ layers[3][0] + layers[3][1]
    assert torch.equal(attend(x, x, layers, 3), expected)
""",
        "self-attention without a mask": """
# hint: One that it lets pass forgets the mask
def finds_wrong_heads(attend):
    x = torch.randn(2, 5, 12)
    layers = [(torch.randn(12, 12) / 4, torch.randn(12)) for _ in range(4)]
    q, k, v = (split_heads(x @ W + b, 3) for W, b in layers[:3])
    expected = merge_heads(attention(q, k, v)) @ layers[3][0] + layers[3][1]
    found = attend(x, x, layers, 3)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
""",
        "self-attention only, with a mask": """
# hint: One that it lets pass takes the keys and values from x too
def finds_wrong_heads(attend):
    x, mask = torch.randn(2, 5, 12), causal_mask(5)
    layers = [(torch.randn(12, 12) / 4, torch.randn(12)) for _ in range(4)]
    q, k, v = (split_heads(x @ W + b, 3) for W, b in layers[:3])
    merged = merge_heads(attention(q, k, v, mask))
    expected = merged @ layers[3][0] + layers[3][1]
    found = attend(x, x, layers, 3, mask)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
""",
        "PyTorch's module as it is, with biases of 0": """
# hint: One that it lets pass forgets the bias of the last matrix
def finds_wrong_heads(attend):
    x, y = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    theirs = nn.MultiheadAttention(12, 3, batch_first=True)
    parts = zip(theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3))
    layers = [(W.T, b) for W, b in parts]
    layers.append((theirs.out_proj.weight.T, theirs.out_proj.bias))
    for other, mask in ((y, padding_mask(torch.tensor([7, 4]))),
                        (x, causal_mask(5))):
        hidden = for_torch_mha(mask, 2, 3, 5)
        expected, _ = theirs(x, other, other, attn_mask=hidden)
        found = attend(x, other, layers, 3, mask)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
""",
        "one head only": """
# hint: One that it lets pass cuts the heads by view alone
def finds_wrong_heads(attend):
    layers = [(torch.randn(12, 12) / 4, torch.randn(12)) for _ in range(4)]
    (W_q, b_q), (W_k, b_k), (W_v, b_v), (W_o, b_o) = layers
    x, other = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    mask = padding_mask(torch.tensor([7, 4]))
    for y, m in (x, causal_mask(5)), (other, mask):
        q, k, v = x @ W_q + b_q, y @ W_k + b_k, y @ W_v + b_v
        expected = attention(q, k, v, m[:, 0]) @ W_o + b_o
        found = attend(x, y, layers, 1, m)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
""",
        "the same padding in all sentences": """
# hint: One that it lets pass takes the mask of the first sentence for all
def finds_wrong_heads(attend):
    layers = [(torch.randn(12, 12) / 4, torch.randn(12)) for _ in range(4)]
    (W_q, b_q), (W_k, b_k), (W_v, b_v), (W_o, b_o) = layers
    x, other = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    mask = padding_mask(torch.tensor([5, 5]), 7)
    for y, m in (x, causal_mask(5)), (other, mask):
        q = split_heads(x @ W_q + b_q, 3)
        k = split_heads(y @ W_k + b_k, 3)
        v = split_heads(y @ W_v + b_v, 3)
        expected = merge_heads(attention(q, k, v, m)) @ W_o + b_o
        found = attend(x, y, layers, 3, m)
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
""",
        "asks what a query gets that may look at nothing": """
# hint: it refuses a right one
def finds_wrong_heads(attend):
    x = torch.randn(2, 5, 12)
    layers = [(torch.randn(12, 12), torch.randn(12)) for _ in range(4)]
    nothing = torch.zeros(1, 1, 5, 5, dtype=torch.bool)
    out = attend(x, x, layers, 3, nothing)
    torch.testing.assert_close(out, layers[3][1].expand(2, 5, 12))
""",
        "prints what it finds": """
# hint: it prints what it finds and goes on
def finds_wrong_heads(attend):
    x = torch.randn(2, 5, 12)
    layers = [(torch.randn(12, 12), torch.randn(12)) for _ in range(4)]
    past = attend(x, x, layers, 3, causal_mask(5))
    if not torch.allclose(past, attend(x[:, :1], x[:, :1], layers, 3)):
        print("wrong")
""",
        "returns True or False": """
# hint: it returns False and leaves it to others
def finds_wrong_heads(attend):
    x = torch.randn(2, 5, 12)
    layers = [(torch.randn(12, 12), torch.randn(12)) for _ in range(4)]
    past = attend(x, x, layers, 3, causal_mask(5))[:, :1]
    return torch.allclose(past, attend(x[:, :1], x[:, :1], layers, 3))
""",
    },
}

# Mutants of the solutions that are right too, and why.
STRICT = "the heads and the blocks are equally many, so strict never speaks"
CONSTANT = "it adds the same number to all scores of a row, softmax drops it"
OTHER_SIZE = "matrices of another size show the faults as well"
OTHER_PADDING = "any padding shows the faults that differs between sentences"
EQUIVALENT = {
    "head_contributions": {
        "pairs = zip(context.unbind(dim=1), blocks, strict=False)": STRICT,
    },
    "finds_wrong_heads": {
        "k = split_heads((y @ W_k - b_k), 3)": CONSTANT,
        "k = split_heads((y @ W_k), 3)": CONSTANT,
        "for y, mask in ((other, padding), (x, causal_mask(5))):": (
            "both cases are tried, in another order"
        ),
        "layers = [((torch.randn(12, 12) * 4), torch.randn(12)) "
        "for _ in range(4)]": OTHER_SIZE,
        "layers = [(torch.randn(12, 12) / 3, torch.randn(12)) "
        "for _ in range(4)]": OTHER_SIZE,
        "layers = [(torch.randn(12, 12) / 5, torch.randn(12)) "
        "for _ in range(4)]": OTHER_SIZE,
        "layers = [(torch.randn(12, 12), torch.randn(12)) "
        "for _ in range(4)]": OTHER_SIZE,
        "padding = padding_mask(torch.tensor([4, 7]))": OTHER_PADDING,
        "padding = padding_mask(torch.tensor([7, 3]))": OTHER_PADDING,
        "padding = padding_mask(torch.tensor([7, 5]))": OTHER_PADDING,
        "torch.testing.assert_close(expected, found, "
        "atol=0.0001, rtol=0.0001)": "either may be compared with the other",
        "torch.testing.assert_close(found, expected, atol=1e-4, rtol=1.0001)": (
            "each fault puts some number off by more than twice itself"
        ),
    },
}
