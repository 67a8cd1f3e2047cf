"""Wrong answers to the exercises of chapter 14, by misconception."""

WRONG = {
    "cached_numbers": {
        "keys only": """
def cached_numbers(config, batch, t_len, s_len):
    return config.decoder_layers * batch * (t_len + s_len) * config.d_model
""",
        "the formula of a decoder-only model: no source": """
def cached_numbers(config, batch, t_len, s_len):
    return 2 * config.decoder_layers * batch * t_len * config.d_model
""",
        "every head as wide as the model": """
def cached_numbers(config, batch, t_len, s_len):
    tokens = batch * (t_len + s_len) * config.heads
    return 2 * config.decoder_layers * tokens * config.d_model
""",
        "one head only": """
def cached_numbers(config, batch, t_len, s_len):
    d_head = config.d_model // config.heads
    return 2 * config.decoder_layers * batch * (t_len + s_len) * d_head
""",
        "counts the encoder's blocks for the source": """
def cached_numbers(config, batch, t_len, s_len):
    tokens = config.decoder_layers * t_len + config.encoder_layers * s_len
    return 2 * batch * tokens * config.d_model
""",
        "queries are kept too": """
def cached_numbers(config, batch, t_len, s_len):
    tokens = batch * (t_len + s_len)
    return 3 * config.decoder_layers * tokens * config.d_model
""",
        "one block": """
def cached_numbers(config, batch, t_len, s_len):
    return 2 * batch * (t_len + s_len) * config.d_model
""",
        "keeps the weights, too: one for each pair of tokens": """
def cached_numbers(config, batch, t_len, s_len):
    pairs = t_len * (t_len + s_len)
    tokens = batch * (t_len + s_len)
    return config.decoder_layers * (
        2 * tokens * config.d_model + batch * config.heads * pairs
    )
""",
    },
    "append_and_attend": {
        "a triangle that begins at the top left": """
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    may_attend = torch.ones(len(x), len(keys), device=x.device).bool().tril()
    return attention(x @ W_q, keys, values, may_attend), keys, values
""",
        "no mask: new rows see later ones": """
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    return attention(x @ W_q, keys, values), keys, values
""",
        "a row does not see itself": """
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
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    k, v = x @ W_k, x @ W_v
    may_attend = torch.ones(len(x), len(x), device=x.device).bool().tril()
    context = attention(x @ W_q, k, v, may_attend)
    return context, torch.cat([keys, k]), torch.cat([values, v])
""",
        "puts the new rows in front of the old": """
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
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x[-1:] @ W_k])
    values = torch.cat([values, x[-1:] @ W_v])
    return attention(x @ W_q, keys, values), keys, values
""",
        "leaves it to PyTorch's switch": """
def append_and_attend(x, matrices, keys, values):
    W_q, W_k, W_v = matrices
    keys = torch.cat([keys, x @ W_k])
    values = torch.cat([values, x @ W_v])
    context = F.scaled_dot_product_attention(
        (x @ W_q)[None], keys[None], values[None], is_causal=len(x) > 1
    )
    return context[0], keys, values
""",
    },
    "write_and_drop": {
        "never drops a row": """
def write_and_drop(model, source, limit):
    texts = greedy(model, source, limit).tolist()
    return [[token for token in text if token] for text in texts]
""",
        "one text after the other, with a decoder each": """
def write_and_drop(model, source, limit):
    return [greedy(model, row[None], limit)[0].tolist() for row in source]
""",
        "forgets who is who": """
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
        "one token too many": """
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
    },
    "rewind": {
        "resets the decoder's count only": """
def rewind(decoder, length):
    decoder.length = length
""",
        "resets the pasts only": """
def rewind(decoder, length):
    for _, past, _ in decoder.layers:
        past.length = length
""",
        "resets the first block only": """
def rewind(decoder, length):
    decoder.length = length
    decoder.layers[0][1].length = length
""",
        "throws the buffers away": """
def rewind(decoder, length):
    decoder.length = length
    for _, past, _ in decoder.layers:
        past.buffer, past.length = None, length
""",
        "copies what stays": """
def rewind(decoder, length):
    decoder.length = length
    for _, past, _ in decoder.layers:
        past.buffer = past.buffer[:, :, :, :length].clone()
        past.length = length
""",
        "goes back by `length` tokens": """
def rewind(decoder, length):
    decoder.length -= length
    for _, past, _ in decoder.layers:
        past.length -= length
""",
        "cuts the rows of the batch": """
def rewind(decoder, length):
    decoder.length = length
    decoder.keep(torch.arange(min(length, 2)))
""",
        "one too few": """
def rewind(decoder, length):
    decoder.length = max(length - 1, 0)
    for _, past, _ in decoder.layers:
        past.length = max(length - 1, 0)
""",
        "forgets the source as well": """
def rewind(decoder, length):
    decoder.length = length
    for _, past, across in decoder.layers:
        past.length = length
        across.k, across.v = across.k[:, :, :length], across.v[:, :, :length]
""",
    },
    "accepted": {
        "counts right tokens after a wrong one, too": """
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    return (logits.argmax(-1) == ids).sum().item()
""",
        "writes itself, token by token, and compares": """
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
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    logits = decoder_for(model, source)(ids)
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    agree = logits.argmax(-1) == ids
    return agree.long().cumprod(dim=1).sum().item()
""",
        "compares each row with the token that it has read": """
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([[config.bos_id, *guess]], device=source.device)
    logits = decoder_for(model, source)(ids)
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    agree = logits.argmax(-1)[:, 1:] == ids[:, 1:]
    return agree.long().cumprod(dim=1).sum().item()
""",
        "all or nothing": """
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    return len(guess) * int((logits.argmax(-1) == ids).all())
""",
        "the place of the first wrong token, also where there is none": """
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    logits[..., [config.pad_id, config.bos_id]] = -math.inf
    return (logits.argmax(-1) != ids).int().argmax().item()
""",
        "lets PAD and BOS win": """
def accepted(model, source, guess):
    config = model.config
    ids = torch.tensor([guess], device=source.device)
    bos = torch.full_like(ids[:, :1], config.bos_id)
    logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
    agree = logits.argmax(-1) == ids
    return agree.long().cumprod(dim=1).sum().item()
""",
        "reads the PAD of the source": """
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
    },
}
