"""Right answers in chapter 17 by other routes than the book's."""

RIGHT = {
    "sent_bytes": {
        "goes through the steps": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    numbers = 0
    for layer in range(layers):
        for all_reduce in ("attention", "network") * 2:
            for step in range(world - 1):
                numbers += 2 * batch * length * d_model // world
    return numbers * bytes_each
""",
        "twice as much as a reduce-scatter": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    one_way = batch * length * d_model * bytes_each * (1 - 1 / world)
    per_sum = one_way + one_way
    return per_sum * (2 + 2) * layers
""",
        "returns a tensor with one number": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    sizes = torch.tensor([8, layers, batch, length, d_model, bytes_each])
    return sizes.double().prod() * (world - 1) / world
""",
    },
    "worker_part": {
        "all heads, of which others say 0": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    q, k, v = (split_heads(x @ W, heads) for W in (W_q, W_k, W_v))
    context = attention(q, k, v, may_attend)
    own = torch.arange(heads) // (heads // world) == rank
    return merge_heads(context * own[:, None, None]) @ W_o
""",
        "one head after the other": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    cut = [W.tensor_split(heads, dim=1) for W in matrices[:3]]
    rows = matrices[3].tensor_split(heads)
    total = torch.zeros_like(x)
    for h in range(rank * heads // world, (rank + 1) * heads // world):
        q, k, v = (x @ part[h] for part in cut)
        scores = q @ k.mT / k.shape[-1] ** 0.5
        if may_attend is not None:
            scores = scores.masked_fill(~may_attend.squeeze(1), -torch.inf)
        total = total + scores.softmax(-1) @ v @ rows[h]
    return total
""",
        "slices, einsum and SDPA": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    W_q, W_k, W_v, W_o = matrices
    mine = slice(rank * (heads // world), (rank + 1) * (heads // world))
    q, k, v = (
        torch.einsum("bim,mhd->bhid", x, W.reshape(len(W), heads, -1)[:, mine])
        for W in (W_q, W_k, W_v)
    )
    said = F.scaled_dot_product_attention(q, k, v, may_attend)
    rows = W_o.reshape(heads, -1, W_o.shape[1])[mine]
    return torch.einsum("bhie,hem->bim", said, rows)
""",
    },
    "ring_all_reduce": {
        "returns a list of two": """
def ring_all_reduce(tensors):
    p = len(tensors)
    held = [[c.clone() for c in t.chunk(p)] for t in tensors]
    sent = [0] * p
    for adds in (True, False):
        for step in range(p - 1):
            start = step if adds else step - 1
            moving = [(w, (w - start) % p) for w in range(p)]
            moving = [(w, i, held[w][i].clone()) for w, i in moving]
            for w, i, piece in moving:
                other = held[(w + 1) % p]
                other[i] = other[i] + piece if adds else piece
                sent[w] += piece.numel()
    return [[torch.cat(mine) for mine in held], sent]
""",
        "in a table, by index": """
def ring_all_reduce(tensors):
    p, n = len(tensors), tensors[0].numel()
    table = torch.stack(tensors).reshape(p, p, n // p)
    worker = torch.arange(p)
    numbers = torch.zeros(p, dtype=torch.long)
    for step in range(2 * p - 2):
        piece = (worker - step) % p
        moving = table[worker, piece]
        there = (worker + 1) % p
        if step < p - 1:
            table[there, piece] += moving
        else:
            table[there, piece] = moving
        numbers += n // p
    return table.flatten(1).unbind(), numbers.tolist()
""",
        "follows each piece on its way": """
def ring_all_reduce(tensors):
    p = len(tensors)
    size = len(tensors[0]) // p
    pieces, sent = [], [0 for _ in tensors]
    for i in range(p):
        total = tensors[i].split(size)[i]
        for hop in range(1, p):
            sent[(i + hop - 1) % p] += size
            total = tensors[(i + hop) % p].split(size)[i] + total
        for hop in range(p - 1):
            sent[(i + p - 1 + hop) % p] += len(total)
        pieces.append(total)
    return [torch.cat(pieces) for _ in range(p)], sent
""",
    },
    "accumulate": {
        "sums, divided at the end": """
def accumulate(model, parts):
    for weight in model.parameters():
        weight.grad = None
    total = 0
    for source, decoder_input, target in parts:
        tokens = int(target.count_nonzero())
        loss = label_smoothed_loss(model(source, decoder_input), target)
        loss.mul(tokens).backward()
        total += tokens
    for weight in model.parameters():
        weight.grad /= total
""",
        "asks for gradients and puts them in place": """
def accumulate(model, parts):
    weights = list(model.parameters())
    total = sum((part.target > 0).sum() for part in parts)
    found = [torch.zeros_like(w) for w in weights]
    for part in parts:
        logits = model(part.source, part.decoder_input)
        share = (part.target > 0).sum() / total
        grads = torch.autograd.grad(label_smoothed_loss(logits, part.target) * share, weights)
        found = [f + g for f, g in zip(found, grads)]
    for weight, grad in zip(weights, found):
        weight.grad = grad
""",
        "the sum of torch's losses over the tokens": """
def accumulate(model, parts):
    n = sum(part.target.ne(0).sum().item() for part in parts)
    model.zero_grad(set_to_none=False)
    for part in parts:
        logits = model(part.source, part.decoder_input).flatten(0, 1)
        loss = F.cross_entropy(
            logits, part.target.flatten(), ignore_index=0,
            label_smoothing=0.1, reduction="sum",
        )
        (loss / n).backward()
""",
    },
    "loss_of": {
        "is decorated": """
@torch.no_grad()
def summary(part, target, first):
    top = part.amax(1)
    total = (part - top[:, None]).exp().sum(1)
    inside = (target >= first) & (target < first + part.shape[1])
    column = (target - first).clamp(0, part.shape[1] - 1)
    right = part[torch.arange(len(part)), column] * inside
    return torch.stack([top, total, right], 1)

@torch.no_grad()
def loss_of(summaries):
    tops, totals, rights = torch.stack(summaries).unbind(2)
    top = tops.amax(0)
    total = (totals * (tops - top).exp()).sum(0)
    return (top + total.log() - rights.sum(0)).mean()
""",
        "goes from worker to worker": """
def summary(part, target, first):
    token = torch.arange(first, first + part.shape[1])
    hit = target[:, None] == token
    right = torch.where(hit, part, -torch.inf).amax(1)
    return torch.column_stack([torch.logsumexp(part, 1), right])

def loss_of(summaries):
    logs, right = summaries[0].T
    for mine in summaries[1:]:
        logs = torch.logaddexp(logs, mine[:, 0])
        right = torch.maximum(right, mine[:, 1])
    return torch.mean(logs - right)
""",
        "says one number of most tokens, and returns a float": """
def summary(part, target, first):
    known = torch.zeros(len(target), 2, dtype=part.dtype)
    known[:, 0] = part.logsumexp(1)
    for row, token in enumerate(target.tolist()):
        if first <= token < first + part.shape[1]:
            known[row, 1] = part[row, token - first]
    return known

def loss_of(summaries):
    losses = []
    for rows in zip(*summaries):
        total = torch.stack([row[0] for row in rows]).logsumexp(0)
        losses.append(total - sum(row[1] for row in rows))
    return sum(losses).item() / len(losses)
""",
    },
}
