"""Right answers in chapter 9 by other routes than the book's."""

RIGHT = {
    "log_probability": {
        "takes the cross-entropy": """
def log_probability(book, source, text):
    given = torch.tensor([[characters.bos_id] + text])
    logits = book(torch.tensor([source]), given, causal_mask(len(text) + 1), None)
    target = torch.tensor(text + [characters.eos_id])
    return -F.cross_entropy(logits[0], target, reduction="sum").item()
""",
        "adds numbers of Python": """
def log_probability(book, source, text):
    n = len(text) + 1
    seen = torch.ones(1, 1, n, n).tril() == 1
    rows = book(torch.tensor(source)[None], torch.tensor([characters.bos_id, *text])[None], seen, None)[0]
    total = 0.0
    for row, token in zip(rows.tolist(), [*text, characters.eos_id]):
        most = max(row)
        total += row[token] - most - math.log(sum(math.exp(x - most) for x in row))
    return total
""",
        "returns a tensor without axes": """
@torch.no_grad()
def log_probability(book, source, text):
    ids = torch.tensor([[characters.bos_id, *text, characters.eos_id]])
    logits = book(torch.tensor([source]), ids[:, :-1], causal_mask(ids.shape[1] - 1), None)
    chosen = logits.gather(-1, ids[:, 1:, None])[..., 0]
    return (chosen - logits.logsumexp(-1)).sum()
""",
    },
    "wait_mask": {
        "cuts a triangle": """
def wait_mask(k, t_len, s_len):
    return torch.ones(1, 1, t_len, s_len).tril(k - 1).bool()
""",
        "makes row after row": """
def wait_mask(k, t_len, s_len):
    rows = [[word < k + t for word in range(s_len)] for t in range(t_len)]
    return torch.tensor([[rows]])
""",
        "takes the end of a causal mask": """
def wait_mask(k, t_len, s_len):
    size = k + max(t_len, s_len)
    return causal_mask(size)[:, :, k - 1 : k - 1 + t_len, :s_len].expand(1, 1, -1, -1)
""",
    },
    "finds_wrong_decoder": {
        "asks with its own loops": """
width = 6  # given

@torch.no_grad()
def finds_wrong_decoder(decoder):
    x, memory = torch.randn(2, 8, width), torch.randn(2, 8, width)
    real = torch.tensor([[1] * 8, [1] * 5 + [0] * 3]).bool()[:, None, None]
    past = torch.ones(1, 1, 8, 8).tril().bool()

    def outputs(x, memory):
        torch.manual_seed(3)
        return decoder(x, memory, past, real)

    for training in (False, True):
        decoder.train(training)
        still = outputs(x, memory)
        for n in (0, 1):
            for t in range(8):
                y, m = x.clone(), memory.clone()
                y[n, t], m[n, t] = torch.randn(width), torch.randn(width)
                by_x = (outputs(y, memory) - still).abs().amax(-1)
                by_memory = (outputs(x, m) - still).abs().amax(-1)
                assert by_x[1 - n].max() < 1e-4 and by_memory[1 - n].max() < 1e-4
                assert (by_x[n, :t] < 1e-4).all() and (by_x[n, t:] > 1e-4).all()
                if real[n, 0, 0, t]:
                    assert (by_memory[n] > 1e-4).all()
                else:
                    assert (by_memory[n] < 1e-4).all()
""",
        "tries all changes in one batch each": """
from lib.masks import padding_mask

width = 6  # given

@torch.no_grad()
def finds_wrong_decoder(decoder):
    words = [8, 2]
    mask = padding_mask(torch.tensor(words))
    inputs = [torch.randn(2, 8, width) for _ in range(2)]
    for mode in ("train", "eval"):
        getattr(decoder, mode)()
        torch.manual_seed(7)
        before = decoder(*inputs, causal_mask(8), mask)
        for which in range(2):
            for place in range(16):
                n, t = divmod(place, 8)
                changed = [part.clone() for part in inputs]
                changed[which][n][t] = -2 * torch.randn(width)
                torch.manual_seed(7)
                far = (decoder(*changed, causal_mask(8), mask) - before).abs().sum(-1)
                heard = far > 2e-4
                wanted = torch.zeros(2, 8) > 0
                wanted[n] = torch.arange(8) >= t if which == 0 else torch.tensor(t < words[n])
                if (heard != wanted).any():
                    raise AssertionError((mode, which, n, t))
""",
        "counts what is heard": """
from lib.masks import padding_mask

width = 6  # given

@torch.no_grad()
def finds_wrong_decoder(decoder):
    lengths = torch.tensor([4, 8])
    x, m = torch.randn(2, 8, width), torch.randn(2, 8, width)
    for _ in range(2):
        decoder.train(not decoder.training)
        tables = []
        for part in (0, 1):
            rows = []
            for n in range(2):
                for t in range(8):
                    both = [x.clone(), m.clone()]
                    both[part][n, t] = torch.randn(width)
                    out = []
                    for pair in ((x, m), both):
                        torch.manual_seed(0)
                        out.append(decoder(*pair, causal_mask(8), padding_mask(lengths)))
                    rows.append((out[1] - out[0]).norm(dim=-1).flatten() > 1e-4)
            tables.append(torch.stack(rows))
        past = torch.ones(8, 8).triu().bool()
        assert tables[0].equal(torch.block_diag(past, past))
        short = (torch.arange(8) < 4)[:, None].expand(8, 8)
        assert tables[1].equal(torch.block_diag(short, torch.ones(8, 8)).bool())
""",
    },
    "look_across": {
        "leaves attention to PyTorch": """
def look_across(attention, query, k, v, may_attend=None):
    W, b = attention.matrices()[0]
    q = F.linear(query, W, b).unflatten(-1, (attention.heads, -1)).transpose(1, 2)
    found = F.scaled_dot_product_attention(q, k, v, may_attend)
    return attention.out_proj(found.transpose(1, 2).flatten(2))
""",
        "goes head by head": """
def look_across(attention, query, k, v, may_attend=None):
    W, b = attention.matrices()[0]
    found = []
    for h, rows in enumerate(W.chunk(attention.heads)):
        q = query @ rows.T
        if b is not None:
            q = q + b.chunk(attention.heads)[h]
        scores = q @ k[:, h].mT / q.shape[-1] ** 0.5
        if may_attend is not None:
            mask = may_attend.expand(-1, attention.heads, -1, -1)[:, h]
            scores = scores.masked_fill(~mask, -torch.inf)
        found.append(scores.softmax(-1).nan_to_num(0) @ v[:, h])
    return attention.out_proj(torch.cat(found, -1))
""",
        "writes letters": """
def look_across(attention, query, k, v, may_attend=None):
    W, b = attention.matrices()[0]
    heads = attention.heads
    q = torch.einsum("nim,hdm->nhid", query, W.unflatten(0, (heads, -1)))
    if b is not None:
        q = q + b.view(heads, 1, -1)
    weights = attention_weights(q, k, may_attend)
    out = attention.out_proj
    rows = out.weight.unflatten(1, (heads, -1))
    result = torch.einsum("nhij,nhjd,mhd->nim", weights, v, rows)
    return result if out.bias is None else result + out.bias
""",
    },
}
