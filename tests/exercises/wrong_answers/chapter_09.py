"""Wrong answers to the exercises of chapter 9, by misconception."""

WRONG = {
    "aligned": {
        "multiplies the heads": """
def aligned(weights, source_words):
    return [source_words[i] for i in weights.prod(0).argmax(-1).tolist()]
""",
        "takes the surest head": """
def aligned(weights, source_words):
    return [source_words[i] for i in weights.amax(0).argmax(-1).tolist()]
""",
        "reads the first head only": """
def aligned(weights, source_words):
    return [source_words[i] for i in weights[0].argmax(-1).tolist()]
""",
        "lets the heads vote": """
def aligned(weights, source_words):
    votes = weights.argmax(-1).mode(0).values
    return [source_words[i] for i in votes.tolist()]
""",
        "takes the median head": """
def aligned(weights, source_words):
    middle = weights.median(0).values
    return [source_words[i] for i in middle.argmax(-1).tolist()]
""",
        "averages over the target": """
def aligned(weights, source_words):
    return [source_words[i] for i in weights.mean(1).argmax(-1).tolist()]
""",
        "asks which position looks at each word": """
def aligned(weights, source_words):
    return [source_words[i] for i in weights.mean(0).argmax(0).tolist()]
""",
    },
    "my_block": {
        "looks across before it looks back": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_across(first(x), memory)
        x = x + look_back(second(x))
        return x + feed_forward(third(x))
    x = first(x + look_across(x, memory))
    x = second(x + look_back(x))
    return third(x + feed_forward(x))
""",
        "norms the memory too": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x))
        x = x + look_across(second(x), second(memory))
        return x + feed_forward(third(x))
    x = first(x + look_back(x))
    x = second(x + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "no residual around the cross-attention": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x))
        x = look_across(second(x), memory)
        return x + feed_forward(third(x))
    x = first(x + look_back(x))
    x = second(look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "asks the memory before it has looked back": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        back = look_back(first(x))
        across = look_across(second(x), memory)
        x = x + back + across
        return x + feed_forward(third(x))
    x = second(first(x + look_back(x)) + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "always post-norm": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    x = first(x + look_back(x))
    x = second(x + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "pre-norm puts the norm on the path": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = first(x)
        x = x + look_back(x)
        x = second(x)
        x = x + look_across(x, memory)
        x = third(x)
        return x + feed_forward(x)
    x = first(x + look_back(x))
    x = second(x + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "the first norm serves everywhere": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x))
        x = x + look_across(first(x), memory)
        return x + feed_forward(first(x))
    x = first(x + look_back(x))
    x = first(x + look_across(x, memory))
    return first(x + feed_forward(x))
""",
        "forgets the feed-forward network": """
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x))
        return x + look_across(second(x), memory)
    x = first(x + look_back(x))
    return second(x + look_across(x, memory))
""",
    },
    "log_probability": {
        "leaves EOS out": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    given = torch.tensor([characters.encode(text, bos=True)], device=device)
    target = characters.encode(text)
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        log_p = book(source, given, mask, None)[0].log_softmax(-1)
    return log_p[range(len(target)), target].sum().item()
""",
        "does not shift: each position says what it reads": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    given = characters.encode(text, bos=True, eos=True)
    mask = causal_mask(len(given), device)
    with torch.no_grad():
        ids = torch.tensor([given], device=device)
        log_p = book(source, ids, mask, None)[0].log_softmax(-1)
    return log_p[range(len(given)), given].sum().item()
""",
        "adds probabilities": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    given = torch.tensor([characters.encode(text, bos=True)], device=device)
    target = characters.encode(text, eos=True)
    mask = causal_mask(len(target), device)
    with torch.no_grad():
        p = book(source, given, mask, None)[0].softmax(-1)
    return p[range(len(target)), target].sum().log().item()
""",
        "takes the mean of the logarithms": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    given = torch.tensor([characters.encode(text, bos=True)], device=device)
    target = characters.encode(text, eos=True)
    mask = causal_mask(len(target), device)
    with torch.no_grad():
        log_p = book(source, given, mask, None)[0].log_softmax(-1)
    return log_p[range(len(target)), target].mean().item()
""",
        "forgets the causal mask": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    given = torch.tensor([characters.encode(text, bos=True)], device=device)
    target = characters.encode(text, eos=True)
    with torch.no_grad():
        log_p = book(source, given, None, None)[0].log_softmax(-1)
    return log_p[range(len(target)), target].sum().item()
""",
        "adds logits, which are no logarithms of probabilities": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    given = torch.tensor([characters.encode(text, bos=True)], device=device)
    target = characters.encode(text, eos=True)
    mask = causal_mask(len(target), device)
    with torch.no_grad():
        logits = book(source, given, mask, None)[0]
    return logits[range(len(target)), target].sum().item()
""",
        "takes the most probable text, not the one that was asked for": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    given = torch.tensor([characters.encode(text, bos=True)], device=device)
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        log_p = book(source, given, mask, None)[0].log_softmax(-1)
    return log_p.amax(-1).sum().item()
""",
        "one run for each character": """
def log_probability(book, source_text, text):
    source = torch.tensor([words.encode(source_text)], device=device)
    said, total = [characters.bos_id], 0.0
    for token in characters.encode(text, eos=True):
        given = torch.tensor([said], device=device)
        mask = causal_mask(len(said), device)
        with torch.no_grad():
            log_p = book(source, given, mask, None)[0, -1].log_softmax(-1)
        total += log_p[token].item()
        said.append(token)
    return total
""",
    },
    "wait_mask": {
        "one word too many": """
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    return (torch.arange(s_len, device=device) <= now + k)[None, None]
""",
        "the first character waits for nothing": """
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    return (torch.arange(s_len, device=device) < now + k - 1)[None, None]
""",
        "a plain causal mask": """
def wait_mask(k, t_len, s_len):
    ones = torch.ones(t_len, s_len, dtype=torch.bool, device=device)
    return ones.tril()[None, None]
""",
        "hears k words and no more": """
def wait_mask(k, t_len, s_len):
    heard = torch.arange(s_len, device=device) < k
    return heard.expand(t_len, s_len)[None, None]
""",
        "hears k more words after each character": """
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    heard = torch.arange(s_len, device=device) < (now + 1) * k
    return heard[None, None]
""",
        "True = hidden": """
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    return (torch.arange(s_len, device=device) >= now + k)[None, None]
""",
        "a window: forgets the words before": """
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    place = torch.arange(s_len, device=device)
    return ((place < now + k) & (place >= now))[None, None]
""",
        "queries and keys exchanged": """
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)
    place = torch.arange(s_len, device=device)[:, None]
    return (place < now + k)[None, None]
""",
    },
    "deaf": {
        "leaves the whole sub-layer out": """
def deaf(block, x, may_attend):
    looked = block.self_attention(x, may_attend=may_attend)
    x = block.around_self_attention.norm(x + looked)
    return block.around_feed_forward.norm(x + block.feed_forward(x))
""",
        "forgets the bias after the context of zero": """
def deaf(block, x, may_attend):
    looked = block.self_attention(x, may_attend=may_attend)
    x = block.around_self_attention.norm(x + looked)
    x = block.around_cross_attention.norm(x)
    return block.around_feed_forward.norm(x + block.feed_forward(x))
""",
        "adds the bias, but no norm": """
def deaf(block, x, may_attend):
    looked = block.self_attention(x, may_attend=may_attend)
    x = block.around_self_attention.norm(x + looked)
    x = x + block.cross_attention.out_proj.bias
    return block.around_feed_forward.norm(x + block.feed_forward(x))
""",
        "projects the bias of the values": """
def deaf(block, x, may_attend):
    looked = block.self_attention(x, may_attend=may_attend)
    x = block.around_self_attention.norm(x + looked)
    value = block.cross_attention.in_proj.bias.chunk(3)[2]
    x = x + block.cross_attention.out_proj(value)
    x = block.around_cross_attention.norm(x)
    return block.around_feed_forward.norm(x + block.feed_forward(x))
""",
        "forgets the causal mask": """
def deaf(block, x, may_attend):
    looked = block.self_attention(x)
    x = block.around_self_attention.norm(x + looked)
    bias = block.cross_attention.out_proj.bias
    x = block.around_cross_attention.norm(x + bias)
    return block.around_feed_forward.norm(x + block.feed_forward(x))
""",
        "hides the whole memory and calls the cross-attention": """
def deaf(block, x, may_attend):
    memory = torch.zeros_like(x[:, :1])
    nobody = torch.zeros(1, 1, 1, 1, dtype=torch.bool, device=device)
    return block(x, memory, may_attend, nobody)
""",
        "calls the cross-attention with a memory of zeros": """
def deaf(block, x, may_attend):
    looked = block.self_attention(x, may_attend=may_attend)
    x = block.around_self_attention.norm(x + looked)
    memory = torch.zeros_like(x[:, :1])
    x = x + block.cross_attention(x, memory)
    x = block.around_cross_attention.norm(x)
    return block.around_feed_forward.norm(x + block.feed_forward(x))
""",
    },
    "look_across": {
        "does not cut the queries into heads": """
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = F.linear(query, W_q, bias)[:, None]
    context = attention_weights(q, merge_heads(k)[:, None], may_attend)
    context = (context @ merge_heads(v)[:, None])[:, 0]
    return attention.out_proj(context)
""",
        "forgets the bias of the queries": """
def look_across(attention, query, k, v, may_attend=None):
    W_q, _ = attention.matrices()[0]
    q = split_heads(query @ W_q.T, attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
        "takes the matrix of the keys": """
def look_across(attention, query, k, v, may_attend=None):
    W_k, bias = attention.matrices()[1]
    q = split_heads(F.linear(query, W_k, bias), attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
        "forgets the output projection": """
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    return merge_heads(attention_weights(q, k, may_attend) @ v)
""",
        "forgets the mask": """
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    return attention.out_proj(merge_heads(attention_weights(q, k) @ v))
""",
        "merges without bringing the heads back": """
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(context.reshape(query.shape))
""",
        "multiplies with the matrix as it is stored": """
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(query @ W_q + bias, attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
    },
}
