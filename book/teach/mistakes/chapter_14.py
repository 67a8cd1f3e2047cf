"""Wrong answers to the exercises of chapter 14, each by its misconception."""

WRONG = {
    "append_and_attend": {
        "a triangle that begins at the top left": """
# hint: begins at the top left
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    may_attend = torch.ones(len(x), len(keys), device=x.device).bool().tril()
    return attention(x @ W_q, keys, values, may_attend), keys, values
""",
        "no mask: new rows see later ones": """
# hint: a new row sees a later one
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    return attention(x @ W_q, keys, values), keys, values
""",
        "a row does not see itself": """
# hint: a row does not see itself
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old, new = len(keys), len(x)
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    may_attend = torch.ones(new, old + new, device=x.device).bool()
    may_attend = may_attend.tril(diagonal=old - 1)
    return attention(x @ W_q, keys, values, may_attend), keys, values
""",
        "attends to the new rows only": """
# hint: look at each other only
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    k, v = x @ W_k, x @ W_v
    may_attend = torch.ones(len(x), len(x), device=x.device).bool().tril()
    context = attention(x @ W_q, k, v, may_attend)
    return context, torch.cat([keys, k]), torch.cat([values, v])
""",
        "puts the new rows in front of the old": """
# hint: stand before the old ones
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old, new = len(keys), len(x)
    keys = torch.cat([x @ W_k, keys])
    values = torch.cat([x @ W_v, values])
    may_attend = torch.ones(new, old + new, device=x.device).bool()
    may_attend[:, :new] = may_attend[:, :new].tril()
    return attention(x @ W_q, keys, values, may_attend), keys, values
""",
        "remembers the new rows only": """
# hint: of the new rows come back
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old, new = len(keys), len(x)
    k, v = x @ W_k, x @ W_v
    may_attend = torch.ones(new, old + new, device=x.device).bool()
    may_attend = may_attend.tril(diagonal=old)
    every = torch.cat([keys, k]), torch.cat([values, v])
    return attention(x @ W_q, *every, may_attend), k, v
""",
        "forgets the scale": """
# hint: the scale is missing
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old, new = len(keys), len(x)
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    scores = x @ W_q @ keys.T
    may_attend = torch.ones_like(scores).bool().tril(diagonal=old)
    scores = scores.masked_fill(~may_attend, -math.inf)
    return torch.softmax(scores, dim=-1) @ values, keys, values
""",
        "keeps the queries in place of the keys": """
# hint: queries are kept
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old, new = len(keys), len(x)
    keys = torch.cat([keys, x @ W_q])
    values = torch.cat([values, x @ W_v])
    may_attend = torch.ones(new, old + new, device=x.device).bool()
    may_attend = may_attend.tril(diagonal=old)
    return attention(x @ W_k, keys, values, may_attend), keys, values
""",
        "one new row only": """
# hint: only one of them is appended
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x[-1:] @ W_k])
    values = torch.cat([values, x[-1:] @ W_v])
    return attention(x @ W_q, keys, values), keys, values
""",
        "leaves it to PyTorch's switch": """
# hint: write it without scaled_dot_product_attention
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    context = F.scaled_dot_product_attention(
        (x @ W_q)[None], keys[None], values[None], is_causal=len(x) > 1
    )
    return context[0], keys, values
""",
        "returns the context only": """
# hint: three tensors are asked for
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old, new = len(keys), len(x)
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    may_attend = torch.ones(new, old + new, device=x.device).bool()
    return attention(x @ W_q, keys, values, may_attend.tril(diagonal=old))
""",
        "values are made by the matrix of the keys": """
# hint: are not those of all rows
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old, new = len(keys), len(x)
    keys = torch.cat([keys, 2 * x @ W_k])
    values = torch.cat([values, x @ W_v])
    may_attend = torch.ones(new, old + new, device=x.device).bool()
    may_attend = may_attend.tril(diagonal=old)
    return attention(x @ W_q, keys, values, may_attend), keys, values
""",
        "divides by the width of the values": """
# hint: keys and values are right, the context is not
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old = len(keys)
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    scores = x @ W_q @ keys.T / math.sqrt(values.shape[1])
    may_attend = torch.ones_like(scores).bool().tril(diagonal=old)
    scores = scores.masked_fill(~may_attend, -math.inf)
    return torch.softmax(scores, dim=-1) @ values, keys, values
""",
        "divides by the width of the rows": """
# hint: yours is that of the rows
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old = len(keys)
    keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
    scores = x @ W_q @ keys.mT / math.sqrt(x.shape[-1])
    may_attend = torch.ones_like(scores).bool().tril(diagonal=old)
    scores = scores.masked_fill(~may_attend, -math.inf)
    return scores.softmax(-1) @ values, keys, values
""",
        "hides with a score of 0": """
# hint: exp(0) is 1
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old = len(keys)
    keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
    scores = x @ W_q @ keys.mT / math.sqrt(keys.shape[-1])
    return scores.tril(diagonal=old).softmax(-1) @ values, keys, values
""",
        "hides after the softmax": """
# hint: hidden after the softmax
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    old = len(keys)
    keys, values = torch.cat([keys, x @ W_k]), torch.cat([values, x @ W_v])
    scores = x @ W_q @ keys.mT / math.sqrt(keys.shape[-1])
    return scores.softmax(-1).tril(diagonal=old) @ values, keys, values
""",
        "three rows are old, always": """
# hint: but not if seven rows come in parts
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    new = len(x)
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    may_attend = torch.ones(new, len(keys), device=x.device).bool()
    may_attend = may_attend.tril(diagonal=3)
    return attention(x @ W_q, keys, values, may_attend), keys, values
""",
    },
    "write_and_drop": {
        "never drops a row": """
# hint: rows that have ended go on
def write_and_drop(model, source, limit):
    texts = greedy(model, source, limit).tolist()
    return [[token for token in text if token] for text in texts]
""",
        "one text after the other, with a decoder each": """
# hint: written together
def write_and_drop(model, source, limit):
    return [greedy(model, row[None], limit)[0].tolist() for row in source]
""",
        "forgets who is who": """
# hint: no longer belong together
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    tokens = torch.full((len(source),), model.config.bos_id).to(source)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in enumerate(tokens.tolist()):
            texts[row].append(token)
        going = (tokens != model.config.eos_id).nonzero().flatten()
        if len(going) == 0:
            break
        decoder.keep(going)
        tokens = tokens[going]
    return texts
""",
        "tells the decoder the original numbers": """
# hint: stops with IndexError
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    who = torch.arange(len(source), device=source.device)
    tokens = torch.full_like(who, model.config.bos_id)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in zip(who.tolist(), tokens.tolist()):
            texts[row].append(token)
        going = tokens != model.config.eos_id
        if not going.any():
            break
        who, tokens = who[going], tokens[going]
        decoder.keep(who)
    return texts
""",
        "drops the rows but goes on with the first tokens": """
# hint: no longer belong together
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    who = torch.arange(len(source), device=source.device)
    tokens = torch.full_like(who, model.config.bos_id)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in zip(who.tolist(), tokens.tolist()):
            texts[row].append(token)
        going = (tokens != model.config.eos_id).nonzero().flatten()
        if len(going) == 0:
            break
        decoder.keep(going)
        who, tokens = who[going], tokens[: len(going)]
    return texts
""",
        "leaves EOS out": """
# hint: the EOS at the end
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    who = torch.arange(len(source), device=source.device)
    tokens = torch.full_like(who, model.config.bos_id)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        going = (tokens != model.config.eos_id).nonzero().flatten()
        if len(going) == 0:
            break
        decoder.keep(going)
        who, tokens = who[going], tokens[going]
        for row, token in zip(who.tolist(), tokens.tolist()):
            texts[row].append(token)
    return texts
""",
        "stops all rows with the first that ends": """
# hint: all texts stop with the first
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    tokens = torch.full((len(source),), model.config.bos_id).to(source)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in enumerate(tokens.tolist()):
            texts[row].append(token)
        if (tokens == model.config.eos_id).any():
            break
    return texts
""",
        "the shortest text first": """
# hint: not in the order of their sources
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    who = torch.arange(len(source), device=source.device)
    tokens = torch.full_like(who, model.config.bos_id)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in zip(who.tolist(), tokens.tolist(), strict=True):
            texts[row].append(token)
        going = (tokens != model.config.eos_id).nonzero().flatten()
        if len(going) == 0:
            break
        decoder.keep(going)
        who, tokens = who[going], tokens[going]
    return sorted(texts, key=len)
""",
        "drops nobody before all have ended, and cuts nothing": """
# hint: goes on after its EOS
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    tokens = source.new_full((len(source),), model.config.bos_id)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for text, token in zip(texts, tokens.tolist(), strict=True):
            text.append(token)
        if all(model.config.eos_id in text for text in texts):
            break
    return texts
""",
        "one token too many": """
# hint: and the limit is
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    who = torch.arange(len(source), device=source.device)
    tokens = torch.full_like(who, model.config.bos_id)
    for _ in range(limit + 1):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in zip(who.tolist(), tokens.tolist()):
            texts[row].append(token)
        going = (tokens != model.config.eos_id).nonzero().flatten()
        if len(going) == 0:
            break
        decoder.keep(going)
        who, tokens = who[going], tokens[going]
    return texts
""",
        "returns the padded table": """
# hint: a list of 9 lists
def write_and_drop(model, source, limit):
    return greedy(model, source, limit)
""",
        "leaves the PAD in": """
# hint: filled up with PAD
def write_and_drop(model, source, limit):
    return greedy(model, source, limit).tolist()
""",
        "lists of tensors": """
# hint: are to be plain numbers
def write_and_drop(model, source, limit):
    texts = greedy(model, source, limit)
    return [list(text[text != 0]) for text in texts]
""",
        "goes on when nobody is left": """
# hint: all texts are to be written together
def write_and_drop(model, source, limit):
    decoder, texts = decoder_for(model, source), [[] for _ in source]
    who = torch.arange(len(source), device=source.device)
    tokens = torch.full_like(who, model.config.bos_id)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in zip(who.tolist(), tokens.tolist()):
            texts[row].append(token)
        going = (tokens != model.config.eos_id).nonzero().flatten()
        decoder.keep(going)
        who, tokens = who[going], tokens[going]
    return texts
""",
        "reads the sources without their mask": """
# hint: before any row was dropped
def write_and_drop(model, source, limit):
    decoder = IncrementalDecoder(model, model.encode(source.flip(0)))
    texts = [[] for _ in source]
    who = torch.arange(len(source), device=source.device)
    tokens = torch.full_like(who, model.config.bos_id)
    for _ in range(limit):
        tokens = next_logits(decoder, tokens).argmax(-1)
        for row, token in zip(who.tolist(), tokens.tolist()):
            texts[row].append(token)
        going = (tokens != model.config.eos_id).nonzero().flatten()
        if len(going) == 0:
            break
        decoder.keep(going)
        who, tokens = who[going], tokens[going]
    return texts
""",
    },
    "rewind": {
        "resets the decoder's count only": """
# hint: still remember
def rewind(decoder, length):
    decoder.length = length
""",
        "resets the pasts only": """
# hint: the decoder counts, too
def rewind(decoder, length):
    for _, past, _ in decoder.layers:
        past.length = length
""",
        "resets the first block only": """
# hint: a past of its own
def rewind(decoder, length):
    decoder.length = length
    decoder.layers[0][1].length = length
""",
        "throws the buffers away": """
# hint: the buffers are thrown away
def rewind(decoder, length):
    decoder.length = length
    for _, past, _ in decoder.layers:
        past.buffer, past.length = None, length
""",
        "copies what stays": """
# hint: copied to another place
def rewind(decoder, length):
    decoder.length = length
    for _, past, _ in decoder.layers:
        past.buffer = past.buffer[:, :, :, :length].clone()
        past.length = length
""",
        "goes back by `length` tokens": """
# hint: of 8 tokens the decoder has
def rewind(decoder, length):
    decoder.length -= length
    for _, past, _ in decoder.layers:
        past.length -= length
""",
        "cuts the rows of the batch": """
# hint: copied to another place
def rewind(decoder, length):
    decoder.length = length
    decoder.keep(torch.arange(min(length, 2)))
""",
        "one too few": """
# hint: of 8 tokens the decoder has
def rewind(decoder, length):
    decoder.length = max(length - 1, 0)
    for _, past, _ in decoder.layers:
        past.length = max(length - 1, 0)
""",
        "forgets the source as well": """
# hint: the keys of the source change
def rewind(decoder, length):
    decoder.length = length
    for _, past, across in decoder.layers:
        past.length = length
        across.k, across.v = across.k[:, :, :length], across.v[:, :, :length]
""",
        "clears the buffer behind the length and cuts nothing": """
# hint: does not go on as one
def rewind(decoder, length):
    decoder.length = length
    for _, past, _ in decoder.layers:
        past.length = length
        past.buffer[:, :, :, : length + 1] = 0
""",
    },
    "accepted": {
        "counts right tokens after a wrong one, too": """
# hint: after the first wrong one
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    return (logits.argmax(-1) == ids).sum().item()
""",
        "writes itself, token by token, and compares": """
# hint: one call scores all
def accepted(model, source, guess):
    own = greedy(model, source, len(guess))[0].tolist()
    right = 0
    for mine, guessed in zip(own, guess):
        if mine != guessed:
            break
        right += 1
    return right
""",
        "hands over the guess without BOS": """
# hint: that it has read already
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    logits = decoder_for(model, source)(ids)
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    agree = logits.argmax(-1) == ids
    return agree.long().cumprod(dim=1).sum().item()
""",
        "compares each row with the token that it has read": """
# hint: that it has read already
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([[config.bos_id, *guess]], device=source.device)
    logits = decoder_for(model, source)(ids)
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    agree = logits.argmax(-1)[:, 1:] == ids[:, 1:]
    return agree.long().cumprod(dim=1).sum().item()
""",
        "all or nothing": """
# hint: counts for nothing if one
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    return len(guess) * int((logits.argmax(-1) == ids).all())
""",
        "the place of the first wrong token, also where there is none": """
# hint: gets 0: all of its tokens
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    return (logits.argmax(-1) != ids).int().argmax().item()
""",
        "lets PAD and BOS win": """
# hint: PAD or BOS wins
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    agree = logits.argmax(-1) == ids
    return agree.long().cumprod(dim=1).sum().item()
""",
        "reads the PAD of the source": """
# hint: the PAD of the source is read
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    target = torch.cat([bos, ids[:, :-1]], dim=1)
    logits = IncrementalDecoder(model, model.encode(source))(target)
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    agree = logits.argmax(-1) == ids
    return agree.long().cumprod(dim=1).sum().item()
""",
        "one token more, that the model adds itself": """
# hint: and you accept
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    agree = logits.argmax(-1) == ids
    return agree.long().cumprod(dim=1).sum().item() + 1
""",
        "returns a tensor": """
# hint: a plain number is asked for
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    agree = logits.argmax(-1) == ids
    return agree.long().cumprod(dim=1).sum()
""",
    },
}

# Mutants of the solutions that are right too, and why.
SUM = "a sum in another order"
DEVICE = "the answer lies on the same device on a CPU"
PAIRS = "both lists have the same length"
EQUIVALENT = {
    "cached_numbers": {"tokens = batch * ((s_len + t_len))": SUM},
    "append_and_attend": {
        "may_attend = torch.ones(new, (new + old), device=x.device).bool()": SUM,
        "may_attend = torch.ones(new, old + new).bool()": DEVICE,
    },
    "write_and_drop": {
        "for row, token in zip(who, tokens.tolist(), strict=True):": (
            "a tensor with one number is an index, too"
        ),
        "for row, token in zip(who.tolist(), tokens.tolist()):": PAIRS,
        "for row, token in zip(who.tolist(), tokens.tolist(), strict=False):": (
            PAIRS
        ),
        "tokens = next_logits(decoder, tokens).argmax(1)": (
            "of two axes the second is the last"
        ),
        "who = torch.arange(len(source))": DEVICE,
    },
    "accepted": {
        "ids = torch.tensor([guess])": DEVICE,
        "logits[..., [config.bos_id, config.pad_id]] = -math.inf": (
            "the same two columns in another order"
        ),
        "return agree.cumprod(dim=1).sum().item()": (
            "torch multiplies booleans as 0 and 1"
        ),
    },
}
