"""Right answers in chapter 20 by other routes than the book's."""

RIGHT = {
    "too_good": {
        "adds up what each text costs": """
def too_good(loss, texts, symbols):
    cost = sum(r * math.log(symbols) for _, r in texts)
    return cost - loss * sum(p for p, _ in texts) > 0
""",
        "returns a tensor of one truth value": """
def too_good(loss, texts, symbols):
    places, random = torch.tensor(texts, dtype=torch.float64).sum(0)
    return loss < random / places * math.log(symbols)
""",
        "asks for the entropy of a distribution": """
def too_good(loss, texts, symbols):
    even = torch.full((symbols,), 1 / symbols, dtype=torch.float64)
    entropy = torch.distributions.Categorical(even).entropy().item()
    lengths, random = zip(*texts)
    return bool(loss * sum(lengths) < entropy * sum(random))
""",
    },
    "takes_from": {
        "lets all tokens shout in one batch": """
def takes_from(attend, x, may_attend):
    n = x.shape[1]
    loud = torch.ones(2 * n, n, 1, dtype=x.dtype)
    for j in range(n):
        loud[j, j], loud[n + j, j] = 1e5, -1e5
    masks = may_attend.expand(2 * n, -1, -1)
    out = attend(x * loud, masks).abs().amax(-1)
    return (out.view(2, n, n).amax(0) > 100 * x.abs().max()).T
""",
        "puts a shout in the place of the token": """
def takes_from(attend, x, may_attend):
    rows = []
    for j in range(x.shape[1]):
        heard = torch.zeros(x.shape[1], dtype=torch.bool)
        for sign in (1, -1):
            y = torch.cat([x[:, :j], sign * 3e4 * x[:, j : j + 1], x[:, j + 1 :]], 1)
            heard = heard | (attend(y, may_attend)[0].norm(dim=-1) > 60 * x.abs().max())
        rows.append(heard)
    return torch.stack(rows, dim=-1)
""",
        "keeps the larger of both shouts": """
def takes_from(attend, x, may_attend):
    def farthest(j):
        factor = torch.ones_like(x)
        factor[:, j] = 2e4
        both = [attend(x * f, may_attend)[0] for f in (factor, factor * (1 - 2 * (factor > 1)))]
        return torch.stack(both).abs().flatten(2).amax((0, 2))

    limit = 50 * float(x.abs().max())
    return torch.stack([farthest(j) for j in range(x.shape[1])], 1) > limit
""",
    },
    "padding_gap": {
        "asks each alone first, without a loop for the rest": """
def padding_gap(attend, x, lengths):
    alone = torch.zeros_like(x)
    for n, length in enumerate(lengths):
        mask = torch.ones(length, length, dtype=torch.bool)
        alone[n, :length] = attend(x[n : n + 1, :length], mask)[0]
    real = torch.arange(x.shape[1])[None] < torch.tensor(lengths)[:, None]
    gap = attend(x, real[:, None, :].expand(-1, x.shape[1], -1)) - alone
    return gap[real].abs().max()
""",
        "has the library's mask": """
def padding_gap(attend, x, lengths):
    from lib.masks import padding_mask

    mask = padding_mask(torch.tensor(lengths), x.shape[1])[:, 0]
    together, worst = attend(x, mask), 0.0
    for row, got, length in zip(x.split(1), together, lengths):
        alone = attend(row[:, :length], mask.new_ones(1, 1, length))
        worst = max(worst, float((got[:length] - alone[0]).norm(float("inf"))))
    return worst
""",
        "takes largest and smallest difference": """
def padding_gap(attend, x, lengths):
    places = torch.arange(x.shape[1]).repeat(len(x), 1)
    together = attend(x, (places < torch.as_tensor(lengths).unsqueeze(1)).unsqueeze(1))
    ends = []
    for n in range(len(lengths)):
        alone = attend(x.narrow(0, n, 1).narrow(1, 0, lengths[n]), torch.tensor([[[True]]]))
        change = together[n].narrow(0, 0, lengths[n]) - alone.squeeze(0)
        ends += [change.max().item(), -change.min().item()]
    return max(ends)
""",
    },
    "window": {
        "changes a token at a time": """
def window(attend, length, width):
    x = drawn(1, length, width)
    before, hears = attend(x), torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        for new in (50.0, -50.0):
            y = x.clone()
            y[0, j] *= new
            hears[:, j] |= (attend(y) - before)[0].abs().sum(-1) > 1e-3
    size = hears[-1].sum()
    wanted = torch.ones(length, length).tril().triu(1 - int(size)) > 0
    return size if hears.equal(wanted) else None
""",
        "asks the gradient": """
def window(attend, length, width):
    x = drawn(1, length, width).requires_grad_()
    rows = [torch.autograd.grad(row.sum(), x, retain_graph=True)[0] for row in attend(x)[0]]
    hears = torch.stack([(row[0] != 0).any(-1) for row in rows])
    sizes = [min(int(hears[-1].sum()), i + 1) for i in range(length)]
    for i, (row, size) in enumerate(zip(hears.tolist(), sizes)):
        if row != [i - size < j <= i for j in range(length)]:
            return None
    return sizes[-1]
""",
        "tries every size": """
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    for size in range(1, length + 1):
        if table.equal(torch.ones(length, length).tril().triu(1 - size).bool()):
            return size
""",
    },
    "key_head": {
        "returns a tuple": """
def key_head(attend, query_heads, key_heads, d_head):
    lots = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(1, h, 4, d_head, generator=lots) for h in (query_heads, key_heads, key_heads))
    new = torch.randn(1, key_heads, 4, d_head, generator=lots)
    still, keys, values = attend(q, k, v), {}, {}
    for g in range(key_heads):
        for found, given in ((keys, 0), (values, 1)):
            kv = [k.clone(), v.clone()]
            kv[given][:, g] = new[:, g]
            apart = (attend(q, *kv) - still).abs().amax((0, 2, 3))
            found.update({h: g for h in range(query_heads) if apart[h] > 0})
    if keys != values:
        raise ValueError("of different heads")
    return tuple(keys[h] for h in range(query_heads))
""",
        "writes the head's number into its values": """
def key_head(attend, query_heads, key_heads, d_head):
    q, k = drawn(1, query_heads, 3, d_head), drawn(1, key_heads, 3, d_head, seed=7)
    names = torch.arange(key_heads.__index__()).view(1, -1, 1, 1)
    v = names.expand(1, key_heads, 3, d_head) * 1.0
    values = attend(q, k, v)[0, :, 0, 0].round().long().tolist()
    other = drawn(1, key_heads, 3, d_head, seed=8)
    for head, group in enumerate(values):
        v = drawn(1, key_heads, 3, d_head, seed=9)
        new = torch.where(names == group, other, k)
        if torch.equal(attend(q, new, v)[0, head], attend(q, k, v)[0, head]):
            raise ValueError(f"head {head}")
        new = torch.where(names == group, k, other)
        if not torch.equal(attend(q, new, v)[0, head], attend(q, k, v)[0, head]):
            raise ValueError(f"head {head}")
    return values
""",
        "asks with a helper": """
def moved_by(attend, q, pair, which, g):
    before = attend(q, *pair)
    new = list(pair)
    new[which] = new[which].index_fill(1, torch.tensor([g]), 0.0)
    return [not torch.equal(a, b) for a, b in zip(before[0], attend(q, *new)[0])]

def key_head(attend, query_heads, key_heads, d_head):
    q = 2 * drawn(1, query_heads, 6, d_head)
    pair = drawn(1, key_heads, 6, d_head, seed=1), drawn(1, key_heads, 6, d_head, seed=2)
    tables = [torch.tensor([moved_by(attend, q, pair, which, g) for g in range(key_heads)]) for which in (0, 1)]
    if not torch.equal(*tables):
        raise ValueError("keys and values of two heads")
    return tables[0].int().argmax(0).tolist()
""",
    },
    "finds_wrong_attention": {
        "compares with a formula, case by case": """
def finds_wrong_attention(attend):
    for d, many in ((5, 1.0), (3, 90.0)):
        q, k, v = drawn(2, 3, 4, d) * many, drawn(2, 3, 7, d, seed=1), drawn(2, 3, 7, 6, seed=2)
        seen = drawn(2, 1, 4, 7, seed=5) > 0.5
        seen[..., 0] = True
        kept = [t.clone() for t in (q, k, v, seen)]
        scores = (q.double() @ k.double().mT / d**0.5).masked_fill(~seen, -math.inf)
        wanted = scores.softmax(-1) @ v.double()
        got = attend(q, k, v, seen)
        if not torch.allclose(got.double(), wanted, atol=2e-3) or any(not torch.equal(a, b) for a, b in zip(kept, (q, k, v, seen))):
            raise AssertionError("not the weighted means")
        if not attend(*(t.half() for t in (q, k, v)), seen).isfinite().all():
            raise AssertionError("float16")
""",
        "asks about small scores and large ones": """
def finds_wrong_attention(attend):
    shown = drawn(3, 1, 5, 6, seed=4) > -0.6
    shown[:, :, :, 2] = True
    for loud in (0.1, 1, 80):
        for dtype, room in ((torch.float32, 1e-3), (torch.float16, None)):
            q, k, v = (loud**i * drawn(3, 2, n, w, seed=n + w) for n, w, i in ((5, 4, 1), (6, 4, 0), (6, 7, 0)))
            given = [t.to(dtype) for t in (q, k, v)]
            copies = [t.clone() for t in given]
            out = attend(*given, shown)
            assert all(a.equal(b) for a, b in zip(given, copies))
            assert out.isfinite().all() and out.shape == (3, 2, 5, 7)
            if room:
                assert (out - F.scaled_dot_product_attention(q, k, v, shown)).abs().max() < room
""",
        "keeps a record, and judges at the end": """
import itertools

def finds_wrong_attention(attend):
    faults = []
    for seed in range(4):
        q, k = 40 * drawn(2, 2, 5, 3, seed=seed), drawn(2, 2, 6, 3, seed=seed + 10)
        v, shown = drawn(2, 2, 6, 4, seed=seed + 20), drawn(2, 1, 5, 6, seed=seed + 30) > 0
        shown[:, :, :, seed] = True
        mine = [t.clone() for t in (q, k, v, shown)]
        rows = torch.zeros(2, 2, 5, 4)
        for n, h, i in itertools.product(range(2), range(2), range(5)):
            seen = shown[n, 0, i]
            rows[n, h, i] = (k[n, h, seen] @ q[n, h, i] / 3**0.5).softmax(0) @ v[n, h, seen]
        faults.append((attend(*mine) - rows).abs().max() > 1e-3)
        faults += [not torch.equal(a, b) for a, b in zip(mine, (q, k, v, shown))]
        faults.append(attend(*(t.half() for t in (q, k, v)), shown).isnan().any())
    assert not any(faults)
""",
    },
}
