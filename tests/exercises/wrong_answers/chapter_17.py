"""Wrong answers to the exercises of chapter 17, by misconception."""

WRONG = {
    "sent_bytes": {
        "forgets the way back": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 2 * layers * 2 * (world - 1) * tensor / world
""",
        "counts one sum a layer in each direction": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 2 * layers * 2 * (world - 1) * tensor // world
""",
        "counts tensors, not what the ring sends of them": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    return 4 * layers * batch * length * d_model * bytes_each
""",
        "sends the whole tensor to every other worker": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 4 * layers * (world - 1) * tensor
""",
        "only adds up and does not hand on": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 4 * layers * (world - 1) * tensor / world
""",
        "adds up what all workers send": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 4 * layers * 2 * (world - 1) * tensor
""",
        "sends the weights": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = 12 * d_model**2 * bytes_each
    return 4 * layers * 2 * (world - 1) * tensor / world
""",
        "a number has four bytes": """
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * 4
    return 4 * layers * 2 * (world - 1) * tensor / world
""",
    },
    "worker_part": {
        "cuts the rows of the projections": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    own = x.chunk(world, dim=-1)[rank]
    q, k, v = (
        split_heads(own @ W.chunk(world, dim=0)[rank], heads)
        for W in projections
    )
    return merge_heads(attention(q, k, v, may_attend)) @ W_o
""",
        "cuts the columns of W_o": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (split_heads(x @ W, heads) for W in projections)
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o.chunk(world, dim=1)[rank]
""",
        "splits its columns into all heads": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (
        split_heads(x @ W.chunk(world, dim=1)[rank], heads)
        for W in projections
    )
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o.chunk(world, dim=0)[rank]
""",
        "one wide head on each worker": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (
        split_heads(x @ W.chunk(world, dim=1)[rank], 1) for W in projections
    )
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o.chunk(world, dim=0)[rank]
""",
        "forgets the mask": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (
        split_heads(x @ W.chunk(world, dim=1)[rank], heads // world)
        for W in projections
    )
    context = merge_heads(attention(q, k, v))
    return context @ W_o.chunk(world, dim=0)[rank]
""",
        "every worker has the first heads": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (
        split_heads(x @ W.chunk(world, dim=1)[0], heads // world)
        for W in projections
    )
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o.chunk(world, dim=0)[rank]
""",
        "computes all and takes an equal share": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (split_heads(x @ W, heads) for W in projections)
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o / world
""",
        "deals the heads out in turn": """
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (split_heads(x @ W, heads)[:, rank::world] for W in projections)
    rows = W_o.view(heads, -1, W_o.shape[1])[rank::world].flatten(0, 1)
    return merge_heads(attention(q, k, v, may_attend)) @ rows
""",
    },
    "ring_all_reduce": {
        "sends the whole vector around": """
def ring_all_reduce(tensors):
    total = torch.stack(tensors).sum(dim=0)
    p = len(tensors)
    return [total.clone() for _ in tensors], [(p - 1) * len(total)] * p
""",
        "stops when everything is added up": """
def ring_all_reduce(tensors):
    p = len(tensors)
    pieces = [list(tensor.clone().chunk(p)) for tensor in tensors]
    sent = [0] * p
    for step in range(p - 1):
        messages = [pieces[w][(w - step) % p] for w in range(p)]
        for w, message in enumerate(messages):
            other, i = (w + 1) % p, (w - step) % p
            pieces[other][i] = message + pieces[other][i]
            sent[w] += len(message)
    return [torch.cat(own) for own in pieces], sent
""",
        "adds while the sums are handed on": """
def ring_all_reduce(tensors):
    p = len(tensors)
    pieces = [list(tensor.clone().chunk(p)) for tensor in tensors]
    sent = [0] * p
    for step in range(2 * (p - 1)):
        messages = [pieces[w][(w - step) % p] for w in range(p)]
        for w, message in enumerate(messages):
            other, i = (w + 1) % p, (w - step) % p
            pieces[other][i] = message + pieces[other][i]
            sent[w] += len(message)
    return [torch.cat(own) for own in pieces], sent
""",
        "always sends the same piece": """
def ring_all_reduce(tensors):
    p = len(tensors)
    pieces = [list(tensor.clone().chunk(p)) for tensor in tensors]
    sent = [0] * p
    for step in range(2 * (p - 1)):
        messages = [pieces[w][w] for w in range(p)]
        for w, message in enumerate(messages):
            other = (w + 1) % p
            if step < p - 1:
                message = message + pieces[other][w]
            pieces[other][w] = message
            sent[w] += len(message)
    return [torch.cat(own) for own in pieces], sent
""",
        "takes one step too many": """
def ring_all_reduce(tensors):
    p = len(tensors)
    pieces = [list(tensor.clone().chunk(p)) for tensor in tensors]
    sent = [0] * p
    for step in range(2 * p - 1):
        messages = [pieces[w][(w - step) % p] for w in range(p)]
        for w, message in enumerate(messages):
            other, i = (w + 1) % p, (w - step) % p
            if step < p - 1:
                message = message + pieces[other][i]
            pieces[other][i] = message
            sent[w] += len(message)
    return [torch.cat(own) for own in pieces], sent
""",
        "lets one worker add up for all": """
def ring_all_reduce(tensors):
    total = torch.stack(tensors).sum(dim=0)
    p, n = len(tensors), len(total)
    sent = [(p - 1) * n] + [n] * (p - 1)
    return [total.clone() for _ in tensors], sent
""",
        "writes into the vectors that were given": """
def ring_all_reduce(tensors):
    p = len(tensors)
    pieces = [list(tensor.chunk(p)) for tensor in tensors]
    sent = [0] * p
    for step in range(2 * (p - 1)):
        messages = [pieces[w][(w - step) % p].clone() for w in range(p)]
        for w, message in enumerate(messages):
            other, i = (w + 1) % p, (w - step) % p
            if step < p - 1:
                pieces[other][i] += message
            else:
                pieces[other][i].copy_(message)
            sent[w] += len(message)
    return tensors, sent
""",
        "counts pieces, not numbers": """
def ring_all_reduce(tensors):
    total = torch.stack(tensors).sum(dim=0)
    p = len(tensors)
    return [total.clone() for _ in tensors], [2 * (p - 1)] * p
""",
    },
    "accumulate": {
        "the mean of the means": """
def accumulate(model, parts):
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss / len(parts)).backward()
""",
        "the sum of the means": """
def accumulate(model, parts):
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        label_smoothed_loss(logits, part.target).backward()
""",
        "weighs rows, not tokens": """
def accumulate(model, parts):
    rows = sum(len(part.target) for part in parts)
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * len(part.target) / rows).backward()
""",
        "counts PAD as tokens": """
def accumulate(model, parts):
    places = sum(part.target.numel() for part in parts)
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * part.target.numel() / places).backward()
""",
        "keeps the gradient that was there before": """
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * count / sum(counts)).backward()
""",
        "clears the gradient before each part": """
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        model.zero_grad()
        (loss * count / sum(counts)).backward()
""",
        "weighs each part by its share of the mean": """
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    mean = sum(counts) / len(counts)
    model.zero_grad()
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * count / mean).backward()
""",
    },
    "loss_of": {
        "adds up exponentials without the largest score": """
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target < first + columns)
    place = (target - first).clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    return torch.stack([part.exp().sum(dim=1), right], dim=1)


def loss_of(summaries):
    totals, rights = torch.stack(summaries).unbind(dim=2)
    return (totals.sum(dim=0).log() - rights.sum(dim=0)).mean()
""",
        "each worker subtracts its own largest score": """
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target < first + columns)
    place = (target - first).clamp(0, columns - 1)
    scores = part - part.amax(dim=1, keepdim=True)
    right = scores.gather(1, place[:, None])[:, 0] * own
    return torch.stack([scores.exp().sum(dim=1), right], dim=1)


def loss_of(summaries):
    totals, rights = torch.stack(summaries).unbind(dim=2)
    return (totals.sum(dim=0).log() - rights.sum(dim=0)).mean()
""",
        "adds up the logarithms": """
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target < first + columns)
    place = (target - first).clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.sum(dim=0) - rights.sum(dim=0)).mean()
""",
        "every worker takes some column for the target": """
def summary(part, target, first):
    place = (target - first).clamp(0, part.shape[1] - 1)
    right = part.gather(1, place[:, None])[:, 0]
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
""",
        "takes token numbers for columns": """
def summary(part, target, first):
    columns = part.shape[1]
    own = target < columns
    place = target.clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
""",
        "sends all logits": """
def summary(part, target, first):
    return torch.cat([part, target[:, None].to(part.dtype)], dim=1)


def loss_of(summaries):
    target = summaries[0][:, -1].long()
    logits = torch.cat([part[:, :-1] for part in summaries], dim=1)
    return F.cross_entropy(logits, target)
""",
        "the largest right score instead of the sum": """
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target < first + columns)
    place = (target - first).clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.logsumexp(dim=0) - rights.amax(dim=0)).mean()
""",
        "adds up instead of taking the mean": """
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target < first + columns)
    place = (target - first).clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.logsumexp(dim=0) - rights.sum(dim=0)).sum()
""",
    },
}
