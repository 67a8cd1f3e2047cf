"""Wrong answers to the exercises of chapter 17, by misconception."""

WRONG = {
    "sent_bytes": {
        "a worker alone sends to itself": """
# hint: a worker that is alone sends nothing
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 4 * layers * 2 * max(world - 1, 1) * tensor / world
""",
        "three sums a layer": """
# hint: what goes around the ring
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 3 * layers * 2 * (world - 1) * tensor / world
""",
        "a bill in words": """
# hint: return a number of bytes
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return f"{8 * layers * (world - 1) * tensor / world} bytes"
""",
        "forgets the way back": """
# hint: you have half of it
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 2 * layers * 2 * (world - 1) * tensor / world
""",
        "counts one sum a layer in each direction": """
# hint: you have half of it
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 2 * layers * 2 * (world - 1) * tensor // world
""",
        "counts tensors, not what the ring sends of them": """
# hint: that is how much is summed up
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    return 4 * layers * batch * length * d_model * bytes_each
""",
        "sends the whole tensor to every other worker": """
# hint: to every other worker
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 4 * layers * (world - 1) * tensor
""",
        "only adds up and does not hand on": """
# hint: you have half of it
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 4 * layers * (world - 1) * tensor / world
""",
        "adds up what all workers send": """
# hint: what all workers send together
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * bytes_each
    return 4 * layers * 2 * (world - 1) * tensor
""",
        "sends the weights": """
# hint: the weights stay where they are
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = 12 * d_model**2 * bytes_each
    return 4 * layers * 2 * (world - 1) * tensor / world
""",
        "a number has four bytes": """
# hint: bytes here, and you take 4
def sent_bytes(batch, length, d_model, layers, bytes_each, world):
    tensor = batch * length * d_model * 4
    return 4 * layers * 2 * (world - 1) * tensor / world
""",
    },
    "worker_part": {
        "asks the library": """
# hint: write it without LocalHeads
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    return LocalHeads(both, rank, world).partial(x, may_attend)
""",
        "leaves W_o to somebody else": """
# hint: How is W_o to be cut
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    q, k, v = (
        split_heads(x @ W.chunk(world, dim=1)[rank], heads // world)
        for W in matrices[:3]
    )
    return merge_heads(attention(q, k, v, may_attend)).repeat(1, 1, 9)
""",
        "cuts the rows of the projections": """
# hint: adds something else
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
# hint: How is W_o to be cut
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (split_heads(x @ W, heads) for W in projections)
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o.chunk(world, dim=1)[rank]
""",
        "splits its columns into all heads": """
# hint: adds something else
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
# hint: make one wide head
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (
        split_heads(x @ W.chunk(world, dim=1)[rank], 1) for W in projections
    )
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o.chunk(world, dim=0)[rank]
""",
        "forgets the mask": """
# hint: may_attend is not passed on
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
# hint: computes the first heads
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
# hint: compute all heads and divide
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (split_heads(x @ W, heads) for W in projections)
    context = merge_heads(attention(q, k, v, may_attend))
    return context @ W_o / world
""",
        "deals the heads out in turn": """
# hint: deal the heads out in turn
def worker_part(x, matrices, heads, rank, world, may_attend=None):
    *projections, W_o = matrices
    q, k, v = (split_heads(x @ W, heads)[:, rank::world] for W in projections)
    rows = W_o.view(heads, -1, W_o.shape[1])[rank::world].flatten(0, 1)
    return merge_heads(attention(q, k, v, may_attend)) @ rows
""",
    },
    "ring_all_reduce": {
        "one sum for all": """
# hint: workers have
def ring_all_reduce(tensors):
    p, n = len(tensors), len(tensors[0])
    return [sum(tensors)], [2 * (p - 1) * n // p] * p
""",
        "only the sums come back": """
# hint: return two lists
def ring_all_reduce(tensors):
    return [sum(tensors) for _ in tensors]
""",
        "what one worker sends, as a number": """
# hint: the second is a list as well
def ring_all_reduce(tensors):
    p, n = len(tensors), len(tensors[0])
    return [sum(tensors) for _ in tensors], 2 * (p - 1) * n // p
""",
        "what one worker sends stands for all": """
# hint: the second is a list as well
def ring_all_reduce(tensors):
    p, n = len(tensors), len(tensors[0])
    return [sum(tensors) for _ in tensors], [2 * (p - 1) * n // p]
""",
        "each step counts as one number": """
# hint: and there are
def ring_all_reduce(tensors):
    p = len(tensors)
    return [sum(tensors) for _ in tensors], [p - 1] * p
""",
        "sends the whole vector around": """
# hint: whole vectors go around
def ring_all_reduce(tensors):
    total = torch.stack(tensors).sum(dim=0)
    p = len(tensors)
    return [total.clone() for _ in tensors], [(p - 1) * len(total)] * p
""",
        "stops when everything is added up": """
# hint: still to be handed around
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
# hint: replaces its own and adds nothing
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
# hint: ends with a wrong piece
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
# hint: one step too many
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
# hint: all workers send equally much
def ring_all_reduce(tensors):
    total = torch.stack(tensors).sum(dim=0)
    p, n = len(tensors), len(total)
    sent = [(p - 1) * n] + [n] * (p - 1)
    return [total.clone() for _ in tensors], sent
""",
        "writes into the vectors that were given": """
# hint: changes its input in place
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
        "a sum and a formula, and no ring": """
# hint: nothing went around a ring
def ring_all_reduce(tensors):
    p, n = len(tensors), len(tensors[0])
    total = sum(tensors)
    return [total.clone() for _ in tensors], [2 * (p - 1) * n // p] * p
""",
        "adds up each piece on its own, always from worker 0": """
# hint: nothing went around a ring
def ring_all_reduce(tensors):
    p = len(tensors)
    cut = [tensor.chunk(p) for tensor in tensors]
    pieces = [sum(own[i] for own in cut) for i in range(p)]
    sent = [2 * (p - 1) * len(pieces[0])] * p
    return [torch.cat(pieces) for _ in tensors], sent
""",
        "sends to the worker before": """
# hint: your pieces go to the worker before
def ring_all_reduce(tensors):
    p = len(tensors)
    pieces = [list(tensor.chunk(p)) for tensor in tensors]
    sent = [0] * p
    for step in range(2 * (p - 1)):
        messages = [pieces[w][(w + step) % p] for w in range(p)]
        for w, message in enumerate(messages):
            other, i = (w - 1) % p, (w + step) % p
            if step < p - 1:
                message = message + pieces[other][i]
            pieces[other][i] = message
            sent[w] += len(message)
    return [torch.cat(own) for own in pieces], sent
""",
        "counts pieces, not numbers": """
# hint: you count pieces
def ring_all_reduce(tensors):
    total = torch.stack(tensors).sum(dim=0)
    p = len(tensors)
    return [total.clone() for _ in tensors], [2 * (p - 1)] * p
""",
    },
    "accumulate": {
        "all parts go through twice": """
# hint: one by one and once
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    for part in parts:
        model(part.source, part.decoder_input)
    model.zero_grad()
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * count / sum(counts)).backward()
""",
        "the gradients are returned": """
# hint: have no gradient
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    model.zero_grad()
    total = 0
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        total = total + loss * count / sum(counts)
    return torch.autograd.grad(total, list(model.parameters()))
""",
        "one backward at the end": """
# hint: go back after each part
def accumulate(model, parts):
    model.zero_grad()
    total, count = 0, 0
    for part in parts:
        tokens = (part.target != 0).sum().item()
        logits = model(part.source, part.decoder_input)
        total = total + tokens * label_smoothed_loss(logits, part.target)
        count += tokens
    (total / count).backward()
""",
        "all logits are made first": """
# hint: go back after each part
def accumulate(model, parts):
    model.zero_grad()
    logits = [model(part.source, part.decoder_input) for part in parts]
    counts = [(part.target != 0).sum().item() for part in parts]
    for made, part, count in zip(logits, parts, counts, strict=True):
        loss = label_smoothed_loss(made, part.target)
        (loss * count / sum(counts)).backward()
""",
        "a step is taken at the end": """
# hint: the weights stay as they are
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    model.zero_grad()
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * count / sum(counts)).backward()
    for weight in model.parameters():
        weight.data -= 0.1 * weight.grad
""",
        "no label smoothing": """
# hint: not the gradient of the
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    model.zero_grad()
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = F.cross_entropy(logits.mT, part.target, ignore_index=0)
        (loss * count / sum(counts)).backward()
""",
        "the mean of the means": """
# hint: the mean of the parts' means
def accumulate(model, parts):
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss / len(parts)).backward()
""",
        "the sum of the means": """
# hint: the parts' means are added up
def accumulate(model, parts):
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        label_smoothed_loss(logits, part.target).backward()
""",
        "weighs rows, not tokens": """
# hint: you weigh by rows
def accumulate(model, parts):
    rows = sum(len(part.target) for part in parts)
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * len(part.target) / rows).backward()
""",
        "counts PAD as tokens": """
# hint: PAD is counted
def accumulate(model, parts):
    places = sum(part.target.numel() for part in parts)
    model.zero_grad()
    for part in parts:
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * part.target.numel() / places).backward()
""",
        "keeps the gradient that was there before": """
# hint: clear it first
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        (loss * count / sum(counts)).backward()
""",
        "clears the gradient before each part": """
# hint: only the last part is left
def accumulate(model, parts):
    counts = [(part.target != 0).sum().item() for part in parts]
    for part, count in zip(parts, counts, strict=True):
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        model.zero_grad()
        (loss * count / sum(counts)).backward()
""",
        "weighs each part by its share of the mean": """
# hint: must add up to 1
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
        "a number for the whole part": """
# hint: for 9 tokens the summary has
def summary(part, target, first):
    return part.logsumexp(dim=1).mean()


def loss_of(summaries):
    return sum(summaries)
""",
        "the summary is to be written by others": """
# hint: write summary as well
def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
""",
        "the sign of the loss": """
# hint: in one process
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target < first + columns)
    place = (target - first).clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (rights.sum(dim=0) - logs.logsumexp(dim=0)).mean()
""",
        "adds up exponentials without the largest score": """
# hint: their exponentials overflow
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
# hint: from its own largest logit
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
# hint: logarithms of the parts are added up
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
# hint: every worker names a logit
def summary(part, target, first):
    place = (target - first).clamp(0, part.shape[1] - 1)
    right = part.gather(1, place[:, None])[:, 0]
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
""",
        "takes token numbers for columns": """
# hint: a token's number is not its column
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
        "one column too many is its own": """
# hint: the next one is its neighbour's
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target <= first + columns)
    place = (target - first).clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    return torch.stack([part.logsumexp(dim=1), right], dim=1)


def loss_of(summaries):
    logs, rights = torch.stack(summaries).unbind(dim=2)
    return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
""",
        "one largest logit for all tokens": """
# hint: row by row
def summary(part, target, first):
    columns = part.shape[1]
    own = (target >= first) & (target < first + columns)
    place = (target - first).clamp(0, columns - 1)
    right = part.gather(1, place[:, None])[:, 0] * own
    largest = part.amax(dim=1)
    total = torch.exp(part - largest[:, None]).sum(dim=1)
    return torch.stack([largest, total, right], dim=1)


def loss_of(summaries):
    largest, totals, rights = torch.stack(summaries).unbind(dim=2)
    top = largest.max()
    logs = (totals * torch.exp(largest - top)).sum(dim=0).log() + top
    return (logs - rights.sum(dim=0)).mean()
""",
        "sends all logits": """
# hint: numbers are sent for each token
def summary(part, target, first):
    return torch.cat([part, target[:, None].to(part.dtype)], dim=1)


def loss_of(summaries):
    target = summaries[0][:, -1].long()
    logits = torch.cat([part[:, :-1] for part in summaries], dim=1)
    return F.cross_entropy(logits, target)
""",
        "the largest right score instead of the sum": """
# hint: the largest of these is wrong
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
# hint: asked is the mean
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

# Mutants of the solutions that are right too, and why.
COMMUTES = "the factors or summands may stand in any order"
PAIRED = "the lists are equally long, so nothing is cut off"
EQUIVALENT = {
    "worker_part": {
        "return context @ W_o.chunk(world)[rank]": (
            "axis 0 is the one that is cut if none is named"
        ),
    },
    "ring_all_reduce": {
        "message = (pieces[other][i] + message)": COMMUTES,
        "other, i = ((1 + w)) % p, (w - step) % p": COMMUTES,
    },
    "accumulate": {
        "counts = [(part.target != 0).sum() for part in parts]": (
            "a tensor of one number multiplies and divides as the number does"
        ),
        "for part, count in zip(parts, counts):": PAIRED,
        "for part, count in zip(parts, counts, strict=False):": PAIRED,
    },
    "loss_of": {
        "own = (target >= first) & (target < (columns + first))": COMMUTES,
        "right = part.gather(1, place[:, None])[:, (-1)]": (
            "one column was gathered, the first and the last"
        ),
    },
}
