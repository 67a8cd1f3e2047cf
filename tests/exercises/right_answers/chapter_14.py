"""Right answers in chapter 14 by other routes than the book's."""

RIGHT = {
    "append_and_attend": {
        "row by row, without a mask": """
def append_and_attend(x, matrices, keys, values):
    contexts = []
    for row in x.split(1):
        q, k, v = (row @ W for W in matrices)
        keys, values = torch.vstack((keys, k)), torch.vstack((values, v))
        shares = torch.softmax(q @ keys.T * keys.shape[1] ** -0.5, dim=1)
        contexts.append(shares @ values)
    return [torch.vstack(contexts), keys, values]
""",
        "hides by where columns stand": """
def append_and_attend(x, matrices, keys, values):
    q, k, v = [x.matmul(W) for W in matrices]
    keys = torch.concatenate((keys, k), 0)
    values = torch.concatenate((values, v), 0)
    place = torch.arange(len(keys))
    late = place[None, :] > place[-len(x):, None]
    scores = torch.einsum("id,jd->ij", q, keys).div(math.sqrt(k.size(1)))
    scores[late] = -torch.inf
    weights = (scores - scores.logsumexp(1, keepdim=True)).exp()
    return weights @ values, keys, values
""",
        "sums two triangles": """
def append_and_attend(x, matrices, keys, values):
    to_query, to_key, to_value = matrices
    new = F.linear(x, to_key.T)
    a = x @ to_query / new.shape[-1] ** 0.5
    old_scores = a @ keys.T
    hidden = torch.full((len(x), len(x)), float("-inf"), dtype=x.dtype)
    new_scores = a @ new.T + hidden.triu(1)
    shares = torch.cat([old_scores, new_scores], 1).softmax(1)
    said = x @ to_value
    context = shares[:, : len(keys)] @ values + shares[:, len(keys) :] @ said
    return context, torch.cat([keys, new]), torch.cat([values, said])
""",
    },
    "write_and_drop": {
        "keeps the texts that go on in a dictionary": """
def write_and_drop(model, source, limit):
    c, decoder = model.config, decoder_for(model, source)
    texts = {n: [c.bos_id] for n in range(len(source))}
    alive = list(texts)
    while alive and len(texts[alive[0]]) <= limit:
        last = torch.tensor([texts[n][-1] for n in alive])
        best = next_logits(decoder, last).argmax(dim=1)
        for n, token in zip(alive, best):
            texts[n] += [int(token)]
        stay = [i for i, n in enumerate(alive) if texts[n][-1] != c.eos_id]
        decoder.keep(torch.tensor(stay, dtype=torch.long))
        alive = [alive[i] for i in stay]
    return [text[1:] for text in texts.values()]
""",
        "calls itself with what is left": """
def write_and_drop(model, source, limit):
    decoder = decoder_for(model, source)

    def rest(tokens, left):
        if len(tokens) == 0 or left == 0:
            return [[] for _ in tokens]
        tokens = next_logits(decoder, tokens).argmax(-1)
        goes_on = tokens != model.config.eos_id
        if left > 1 and goes_on.any():
            decoder.keep(torch.where(goes_on)[0])
        more = iter(rest(tokens[goes_on], left - 1))
        return [
            [token, *(next(more) if goes else [])]
            for token, goes in zip(tokens.tolist(), goes_on.tolist())
        ]

    begin = torch.full((len(source),), model.config.bos_id)
    return rest(begin, limit)
""",
        "writes into a table and cuts it afterwards": """
def write_and_drop(model, source, limit):
    decoder, n = decoder_for(model, source), len(source)
    table = torch.full((n, limit), -1)
    rows, last = torch.arange(n), torch.full((n,), model.config.bos_id)
    for step in range(limit):
        last = next_logits(decoder, last).max(-1).indices
        table[rows, step] = last
        mask = last.ne(model.config.eos_id)
        if not mask.all():
            if not mask.any():
                break
            decoder.keep(mask.nonzero()[:, 0])
            rows, last = rows[mask], last[mask]
    return [[t for t in row if t >= 0] for row in table.tolist()]
""",
    },
    "rewind": {
        "sets what it finds": """
def rewind(decoder, length):
    for thing in [decoder] + [past for _, past, _ in decoder.layers]:
        setattr(thing, "length", length)
""",
        "counts down": """
def rewind(decoder, length):
    gone = decoder.length - length
    decoder.length -= gone
    for layer in decoder.layers:
        layer[1].length -= gone
""",
        "cuts a view of the buffer": """
def rewind(decoder, length):
    decoder.length = length
    for block, past, memory in decoder.layers:
        past.buffer = past.buffer[:, :, :, :length]
        past.length = length
""",
    },
    "accepted": {
        "goes along the rows": """
def accepted(model, source, guess):
    ids = [model.config.bos_id] + guess
    logits = decoder_for(model, source)(torch.tensor([ids[:-1]]))[0]
    for n, (row, token) in enumerate(zip(logits, guess)):
        row = [x if i not in (model.config.pad_id, model.config.bos_id)
               else -math.inf for i, x in enumerate(row.tolist())]
        if row.index(max(row)) != token:
            return n
    return len(guess)
""",
        "asks the whole model": """
def accepted(model, source, guess):
    ids = torch.tensor([[model.config.bos_id, *guess]])
    best = model(source, ids)[0, :-1]
    never = torch.tensor([model.config.pad_id, model.config.bos_id])
    best = best.index_fill(1, never, -torch.inf).argmax(1)
    wrong = (best != ids[0, 1:]).nonzero()
    return int(wrong[0]) if len(wrong) else len(guess)
""",
        "takes while they agree": """
def accepted(model, source, guess):
    from itertools import takewhile

    first = torch.full((1, 1), model.config.bos_id)
    read = torch.cat([first, torch.tensor(guess)[None]], dim=1)
    logits = decoder_for(model, source)(read)[0, :-1].T
    c, usual = model.config, torch.arange(len(logits))
    usual = usual[(usual != c.pad_id) & (usual != c.bos_id)]
    own = usual[logits[usual].argmax(0)].tolist()
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(own, guess))))
""",
    },
}
