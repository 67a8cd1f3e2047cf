"""Right answers in chapter 5 by other routes than the book's."""

RIGHT = {
    "attention_parameters": {
        "asks PyTorch's layers": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    def layer(rows, columns):
        made = torch.nn.Linear(rows, columns, bias)
        return sum(map(torch.numel, made.parameters()))

    outer = [layer(d_model, heads * d) for d in (d_head, d_head, d_value)]
    return sum(outer) + layer(heads * d_value, d_model)
""",
        "counts head by head": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    each = d_model + int(bias)
    own = 2 * each * d_head + each * d_value + d_value * d_model
    return heads * own + bool(bias) * d_model
""",
        "returns a tensor with one number": """
def attention_parameters(d_model, heads, d_head, d_value, bias):
    columns = torch.tensor([heads * d_head] * 2 + [heads * d_value, d_model])
    rows = torch.tensor([d_model] * 3 + [heads * d_value])
    return (columns * (rows + int(bias))).sum()
""",
    },
    "multi_head": {
        "goes head by head": """
def multi_head(x, y, matrices, heads, may_attend=None):
    W_q, W_k, W_v, W_o = [torch.stack(W.chunk(heads, dim=1 if n < 3 else 0)) for n, W in enumerate(matrices)]
    q, k, v = x[:, None] @ W_q, y[:, None] @ W_k, y[:, None] @ W_v
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.where(may_attend, -torch.inf)
    return (scores.softmax(-1) @ v @ W_o).sum(1)
""",
        "writes letters": """
def multi_head(x, y, matrices, heads, may_attend=None):
    q, k, v = (
        torch.einsum("nlm,mhd->nhld", t, W.unflatten(1, (heads, -1)))
        for t, W in zip((x, y, y), matrices)
    )
    found = F.scaled_dot_product_attention(q, k, v, may_attend)
    return torch.einsum("nhld,hdm->nlm", found, matrices[3].unflatten(0, (heads, -1)))
""",
        "adds minus infinity, heads in the batch": """
def multi_head(x, y, matrices, heads, may_attend=None):
    def folded(t):
        return t.view(*t.shape[:2], heads, -1).transpose(1, 2).flatten(0, 1)

    q, k, v = folded(x @ matrices[0]), folded(y @ matrices[1]), folded(y @ matrices[2])
    scores = torch.bmm(q, k.transpose(1, 2)) * q.shape[-1] ** -0.5
    if may_attend is not None:
        hidden = torch.zeros(may_attend.shape, dtype=x.dtype)
        hidden.masked_fill_(may_attend.logical_not(), float("-inf"))
        scores = scores + hidden.expand(len(x), heads, -1, -1).flatten(0, 1)
    found = torch.bmm(torch.softmax(scores, 2), v).unflatten(0, (-1, heads))
    return torch.cat(found.unbind(1), dim=-1) @ matrices[3]
""",
    },
    "head_contributions": {
        "lets one head through at a time": """
def head_contributions(module, x):
    context = merge_heads(module.attend(*module.project(x, x, x))[0])
    own = torch.arange(x.shape[-1]) // (x.shape[-1] // module.heads)
    W = module.out_proj.weight
    return torch.stack([(context * (own == h)) @ W.mT for h in range(module.heads)])
""",
        "writes letters": """
def head_contributions(module, x):
    found, _ = module.attend(*module.project(x, x, x))
    W = module.out_proj.weight.unflatten(1, (module.heads, -1))
    return torch.einsum("nhld,mhd->hnlm", found, W)
""",
        "takes the difference that a head makes": """
import copy

def head_contributions(module, x):
    parts = []
    for h in range(module.heads):
        only = copy.deepcopy(module)
        with torch.no_grad():
            for n, block in enumerate(only.out_proj.weight.chunk(module.heads, 1)):
                block *= n == h
            if only.out_proj.bias is not None:
                only.out_proj.bias.zero_()
        parts.append(only(x))
    return torch.stack(parts)
""",
    },
    "without_head": {
        "builds a module of the page's class": """
def without_head(module, head):
    is_biased = module.in_proj.bias is not None
    silent = MultiHeadAttention(module.d_model, module.heads, module.dropout, is_biased)
    silent.load_state_dict(module.state_dict())
    width = module.d_model // module.heads
    with torch.no_grad():
        silent.out_proj.weight[:, head * width : (head + 1) * width] = 0
    return silent.train(module.training)
""",
        "lets the head hand over nothing": """
import copy

def without_head(module, head):
    silent = copy.deepcopy(module)
    for p in silent.in_proj.parameters():
        p.data.chunk(3)[2].chunk(module.heads)[head].zero_()
    return silent
""",
        "multiplies the columns by 0": """
import copy

def without_head(module, head):
    silent = copy.deepcopy(module)
    keep = torch.ones(module.heads, dtype=silent.out_proj.weight.dtype)
    keep[head] = 0
    silent.out_proj.weight.data *= keep.repeat_interleave(module.d_model // module.heads)
    return silent
""",
    },
    "grouped_attention": {
        "has a helper that is called sdpa": """
def sdpa(q, k, v):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v

def grouped_attention(q, k, v):
    q = q.unflatten(1, (k.shape[1], -1))
    return sdpa(q, k[:, :, None], v[:, :, None]).flatten(1, 2)
""",
        "goes group by group": """
def grouped_attention(q, k, v):
    out = []
    for mine, key, value in zip(q.chunk(k.shape[1], 1), k.unbind(1), v.unbind(1)):
        scores = mine @ key.unsqueeze(1).mT / math.sqrt(k.shape[-1])
        out.append(scores.softmax(-1) @ value.unsqueeze(1))
    return torch.cat(out, 1)
""",
        "asks head by head": """
def grouped_attention(q, k, v):
    many = q.shape[1] // k.shape[1]
    found = q.new_empty(*q.shape[:3], v.shape[3])
    for h in range(q.shape[1]):
        found[:, h] = attention(q[:, h], k[:, h // many], v[:, h // many])
    return found
""",
    },
    "finds_wrong_heads": {
        "goes head by head": """
def finds_wrong_heads(attend):
    for width, heads, seen in ((8, 2, None), (12, 3, torch.rand(3, 12 // 4, 4, 6) > 0.4)):
        x, y = torch.randn(3, 4, width), torch.randn(3, 6, width)
        if seen is not None:
            seen[..., 0] = True
        layers = [(torch.randn(width, width) / 2, torch.randn(width)) for _ in range(4)]
        (W_q, b_q), (W_k, b_k), (W_v, b_v), (W_o, b_o) = layers
        total = b_o
        for h, w_o in enumerate(W_o.chunk(heads)):
            c = slice(h * len(w_o), h * len(w_o) + len(w_o))
            scores = (x @ W_q[:, c] + b_q[c]) @ (y @ W_k[:, c] + b_k[c]).mT / len(w_o) ** 0.5
            if seen is not None:
                scores = scores.masked_fill(~seen[:, h], -torch.inf)
            total = total + scores.softmax(-1) @ (y @ W_v[:, c] + b_v[c]) @ w_o
        assert (attend(x, y, layers, heads, seen) - total).abs().max() < 1e-3
""",
        "asks PyTorch's module": """
def finds_wrong_heads(attend):
    torch.manual_seed(1)
    x, y = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    layers = [(torch.randn(8, 8), torch.randn(8)) for _ in range(4)]
    theirs = torch.nn.MultiheadAttention(8, 4, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([W for W, _ in layers[:3]], 1).T)
        theirs.in_proj_bias.copy_(torch.cat([b for _, b in layers[:3]]))
        theirs.out_proj.weight.copy_(layers[3][0].T)
        theirs.out_proj.bias.copy_(layers[3][1])
    seen = torch.tensor([[1, 1, 0, 1, 1], [1, 1, 1, 0, 0]]) > 0
    tables = torch.tensor([[1, 0, 0, 0, 0], [1, 1, 0, 1, 0], [0, 1, 1, 1, 1]]) > 0
    for mask, hidden in ((seen[:, None, None], {"key_padding_mask": ~seen}), (tables[None, None], {"attn_mask": ~tables})):
        wanted, _ = theirs(x, y, y, need_weights=False, **hidden)
        assert torch.allclose(attend(x, y, layers, 4, mask), wanted, atol=1e-3)
""",
        "compares in float64": """
def finds_wrong_heads(attend):
    x, y = torch.randn(2, 4, 6), torch.randn(2, 5, 6)
    layers = [(torch.randn(6, 6), torch.randn(6)) for _ in range(4)]
    seen = torch.tensor([[[1, 1, 1, 1, 0], [0, 1, 0, 1, 1], [1, 0, 0, 0, 0], [1, 1, 0, 0, 1]], [[0, 1, 1, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 1, 0], [1, 0, 1, 0, 1]]]).bool()[:, None]
    q, k, v = ((t @ W + b).double().view(2, -1, 3, 2).transpose(1, 2) for t, (W, b) in zip((x, y, y), layers))
    found = F.scaled_dot_product_attention(q, k, v, seen).transpose(1, 2).reshape(2, 4, 6)
    right = found @ layers[3][0].double() + layers[3][1].double()
    error = (attend(x, y, layers, 3, seen).double() - right).norm() / right.norm()
    assert error < 1e-4, error
""",
    },
}
