"""Wrong answers to the exercises of chapter 9, by misconception."""

WRONG = {
    "aligned": {
        "multiplies the heads": """
# hint: you multiply the heads
def aligned(weights, source_words):
    return [source_words[i] for i in weights.prod(0).argmax(-1).tolist()]
""",
        "takes the surest head": """
# hint: the surest head only
def aligned(weights, source_words):
    return [source_words[i] for i in weights.amax(0).argmax(-1).tolist()]
""",
        "reads the first head only": """
# hint: you read the first head only
def aligned(weights, source_words):
    return [source_words[i] for i in weights[0].argmax(-1).tolist()]
""",
        "lets the heads vote": """
# hint: you let each head vote
def aligned(weights, source_words):
    votes = weights.argmax(-1).mode(0).values
    return [source_words[i] for i in votes.tolist()]
""",
        "takes the median head": """
# hint: the average counts all three
def aligned(weights, source_words):
    middle = weights.median(0).values
    return [source_words[i] for i in middle.argmax(-1).tolist()]
""",
        "averages over the target": """
# hint: one word for each head
def aligned(weights, source_words):
    return [source_words[i] for i in weights.mean(1).argmax(-1).tolist()]
""",
        "asks which position looks at each word": """
# hint: which axis is asked
def aligned(weights, source_words):
    return [source_words[i] for i in weights.mean(0).argmax(0).tolist()]
""",
        "looks at the ids of the words": """
# hint: a list of words is asked for
def aligned(weights, source_words):
    return weights.mean(0).argmax(-1).tolist()
""",
        "takes the word that is looked at least": """
# hint: looked at least
def aligned(weights, source_words):
    return [source_words[i] for i in weights.mean(0).argmin(-1).tolist()]
""",
        "weighs the first head twice": """
# hint: not the word with the largest mean of the heads
def aligned(weights, source_words):
    mean = weights.mean(0) + weights[0]
    return [source_words[i] for i in mean.argmax(-1).tolist()]
""",
    },
    "my_block": {
        "looks across before it looks back": """
# hint: looks across before it looks back
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
# hint: the memory is normed
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
# hint: the path is cut at the cross-attention
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
# hint: both attentions read x
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
# hint: norm_first makes no difference
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    x = first(x + look_back(x))
    x = second(x + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "pre-norm puts the norm on the path": """
# hint: the path itself is never normed
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
# hint: the first norm serves everywhere
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
# hint: the feed-forward network is missing
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x))
        return x + look_across(second(x), memory)
    x = first(x + look_back(x))
    return second(x + look_across(x, memory))
""",
        "both attentions read the same x": """
# hint: the second must read what the first has brought
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x)) + look_across(second(x), memory)
        return x + feed_forward(third(x))
    x = second(first(x + look_back(x)) + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "a pre-norm block without its feed-forward network": """
# hint: the feed-forward network is missing
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x))
        return x + look_across(second(x), memory)
    x = first(x + look_back(x))
    x = second(x + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "a pre-norm block asks both at once": """
# hint: both attentions read x
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    if norm_first:
        x = x + look_back(first(x)) + look_across(second(x), memory)
        return x + feed_forward(third(x))
    x = first(x + look_back(x))
    x = second(x + look_across(x, memory))
    return third(x + feed_forward(x))
""",
        "the last norm is left out": """
# hint: name what is added at each branch
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    first, second, third = norms
    x = first(x + look_back(x))
    x = second(x + look_across(x, memory))
    return x + feed_forward(x)
""",
        "takes the library's residual": """
# hint: write it without Residual
def my_block(x, memory, parts, norms, norm_first):
    look_back, look_across, feed_forward = parts
    rings = [Residual(8, 0.0, norm_first, norm) for norm in norms]
    x = rings[0](x, look_back)
    x = rings[1](x, lambda x: look_across(x, memory))
    return rings[2](x, feed_forward)
""",
    },
    "log_probability": {
        "leaves EOS out": """
# hint: EOS is missing
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].sum().item()
""",
        "does not shift: each position says what it reads": """
# hint: each position is asked for what it reads
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text, characters.eos_id]], device=device)
    target = [characters.bos_id, *text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].sum().item()
""",
        "adds probabilities": """
# hint: the probabilities are added
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.softmax(-1)
    return log_p[range(len(target)), target].sum().log().item()
""",
        "takes the mean of the logarithms": """
# hint: the mean of the logarithms
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].mean().item()
""",
        "forgets the causal mask": """
# hint: your positions see what comes after them
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = None
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].sum().item()
""",
        "adds logits, which are no logarithms of probabilities": """
# hint: logits are no logarithms
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits
    return log_p[range(len(target)), target].sum().item()
""",
        "takes the most probable text, not the one that was asked for": """
# hint: the model's favourite
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p.amax(-1).sum().item()
""",
        "a logarithm to the base 2": """
# hint: a logarithm to the base 2
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].sum().item() / math.log(2)
""",
        "the probability itself": """
# hint: that is the probability itself
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].sum().exp().item()
""",
        "a tensor is a number": """
# hint: yours is a Tensor
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.bos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].sum()
""",
        "BOS is not read": """
# hint: Write the three rows of ids
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    given = torch.tensor([[characters.eos_id, *text]], device=device)
    target = [*text, characters.eos_id]
    mask = causal_mask(given.shape[1], device)
    with torch.no_grad():
        logits = book(asked, given, mask, None)[0]
    log_p = logits.log_softmax(-1)
    return log_p[range(len(target)), target].sum().item()
""",
        "one run for each character": """
# hint: one pass gives all factors
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    said, total = [characters.bos_id], 0.0
    for token in [*text, characters.eos_id]:
        given = torch.tensor([said], device=device)
        mask = causal_mask(len(said), device)
        with torch.no_grad():
            log_p = book(asked, given, mask, None)[0, -1].log_softmax(-1)
        total += log_p[token].item()
        said.append(token)
    return total
""",
    },
    "wait_mask": {
        "one word too many": """
# hint: one word too many
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    return (torch.arange(s_len, device=device) <= now + k)[None, None]
""",
        "the first character waits for nothing": """
# hint: one word too few
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    return (torch.arange(s_len, device=device) < now + k - 1)[None, None]
""",
        "a plain causal mask": """
# hint: a plain causal mask
def wait_mask(k, t_len, s_len):
    ones = torch.ones(t_len, s_len, dtype=torch.bool, device=device)
    return ones.tril()[None, None]
""",
        "hears k words and no more": """
# hint: stops listening after k words
def wait_mask(k, t_len, s_len):
    heard = torch.arange(s_len, device=device) < k
    return heard.expand(t_len, s_len)[None, None]
""",
        "hears k more words after each character": """
# hint: one word more, not k more
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    heard = torch.arange(s_len, device=device) < (now + 1) * k
    return heard[None, None]
""",
        "True = hidden": """
# hint: hides the words that were heard
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    return (torch.arange(s_len, device=device) >= now + k)[None, None]
""",
        "a window: forgets the words before": """
# hint: looks through a window
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    place = torch.arange(s_len, device=device)
    return ((place < now + k) & (place >= now))[None, None]
""",
        "queries and keys exchanged": """
# hint: queries are the rows
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)
    place = torch.arange(s_len, device=device)[:, None]
    return (place < now + k)[None, None]
""",
        "listens to every second word": """
# hint: how many words has that character heard
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    heard = torch.arange(s_len, device=device) < 2 * now + k
    return heard[None, None]
""",
        "two axes are enough": """
# hint: the mask has the shape (4, 8), not (1, 1, 4, 8)
def wait_mask(k, t_len, s_len):
    now = torch.arange(t_len, device=device)[:, None]
    return torch.arange(s_len, device=device) < now + k
""",
    },
    "finds_wrong_decoder": {
        "looks only at the shape": """
# hint: finds 0 of 17 wrong ones
width = 6


def finds_wrong_decoder(decoder):
    x, memory = torch.randn(2, 2, 8, width).to(device)
    assert decoder(x, memory, causal_mask(8, device)).shape == x.shape
""",
        "prints instead of raising": """
# hint: finds 0 of 17 wrong ones
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            print(torch.equal(moved, should))
""",
        "returns False instead of raising": """
# hint: finds 0 of 17 wrong ones
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            if not torch.equal(moved, should):
                return False
""",
        "asks for exact equality": """
# hint: refuses a right one, that rounds a little differently
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) != before).any(-1)
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "forgets that dropout draws anew": """
# hint: refuses a right one, that drops numbers in training
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        pass
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "adds 1, which a norm takes away": """
# hint: lets pass forgets the causal mask, and norms first
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] += 1
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert not (moved & ~should).any()
""",
        "adds 1, and misses what is heard": """
# hint: refuses a right one, that norms first
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] += 1
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "tests in evaluation mode only": """
# hint: lets pass looks ahead in training only
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (False,):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "tests in training mode only": """
# hint: lets pass looks ahead in evaluation only
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True,):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "tries four positions only": """
# hint: lets pass hides the future from four positions
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 4
    place = torch.arange(n, device=device)
    words = torch.tensor([4, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "looks for leaks only": """
# hint: lets pass hides the past as well
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert not (moved & ~should).any()
""",
        "changes the first sentence only": """
# hint: lets pass hides the PAD of the first sentence in all
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([3, 8], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in (torch.tensor([[1], [0]]) * torch.ones(2, 2, 8)).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "changes vectors of x only": """
# hint: lets pass never looks at the memory
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.stack([torch.ones(2, 8), torch.zeros(2, 8)]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "a memory without PAD": """
# hint: lets pass reads the PAD of the memory
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 8], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
        "the other sentence is not looked at": """
# hint: lets pass mixes the sentences of a batch
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in torch.ones_like(pair[..., 0]).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved[sentence], should[sentence])
""",
        "changes the last position only": """
# hint: lets pass hides the past as well
width = 6


@torch.no_grad()
def finds_wrong_decoder(decoder):
    n = 8
    place = torch.arange(n, device=device)
    words = torch.tensor([8, 3], device=device)[:, None]
    masks = causal_mask(n, device), (place < words)[:, None, None]
    pair = torch.randn(2, len(words), n, width).to(device)

    def run(pair):
        torch.manual_seed(0)
        return decoder(*pair, *masks)

    for mode in (True, False):
        decoder.train(mode)
        before = run(pair)
        for which, sentence, row in F.pad(torch.ones(2, 2, 1), (7, 0)).nonzero().tolist():
            other = pair.clone()
            other[which, sentence, row] = torch.randn(width)
            moved = (run(other) - before).abs().amax(-1) > 1e-4
            should = torch.zeros_like(moved)
            should[sentence] = row < words[sentence] if which else place >= row
            assert torch.equal(moved, should)
""",
    },
    "look_across": {
        "projects the queries three times": """
# hint: write it without project
def look_across(attention, query, k, v, may_attend=None):
    q, _, _ = attention.project(query, query, query)
    context = F.scaled_dot_product_attention(q, k, v, may_attend)
    return attention.out_proj(merge_heads(context))
""",
        "the last matrix without its bias": """
# hint: is not that of the whole attention
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    context = F.scaled_dot_product_attention(q, k, v, may_attend)
    return F.linear(merge_heads(context), attention.out_proj.weight)
""",
        "does not cut the queries into heads": """
# hint: not cut into heads
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = F.linear(query, W_q, bias)[:, None]
    context = attention_weights(q, merge_heads(k)[:, None], may_attend)
    context = (context @ merge_heads(v)[:, None])[:, 0]
    return attention.out_proj(context)
""",
        "forgets the bias of the queries": """
# hint: the bias of the queries is missing
def look_across(attention, query, k, v, may_attend=None):
    W_q, _ = attention.matrices()[0]
    q = split_heads(query @ W_q.T, attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
        "takes the matrix of the keys": """
# hint: the matrix of the keys
def look_across(attention, query, k, v, may_attend=None):
    W_k, bias = attention.matrices()[1]
    q = split_heads(F.linear(query, W_k, bias), attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
        "forgets the output projection": """
# hint: nothing has mixed them yet
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    return merge_heads(attention_weights(q, k, may_attend) @ v)
""",
        "forgets the mask": """
# hint: the mask is not used
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    return attention.out_proj(merge_heads(attention_weights(q, k) @ v))
""",
        "merges without bringing the heads back": """
# hint: merged in a wrong order
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(context.reshape(query.shape))
""",
        "multiplies with the matrix as it is stored": """
# hint: its transpose
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(query @ W_q + bias, attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
        "asks with the vectors themselves": """
# hint: the queries are not projected
def look_across(attention, query, k, v, may_attend=None):
    q = split_heads(query, attention.heads)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
        "the scale is forgotten": """
# hint: divided by the root of a head's width
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    scores = q @ k.mT
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -math.inf)
    return attention.out_proj(merge_heads(scores.softmax(-1) @ v))
""",
        "as many queries as positions before": """
# hint: not right when only the last position asks
def look_across(attention, query, k, v, may_attend=None):
    W_q, bias = attention.matrices()[0]
    q = split_heads(F.linear(query, W_q, bias), attention.heads)
    past = causal_mask(k.shape[2], device)[..., : q.shape[2], :]
    if q.shape[2] > 1:
        past = may_attend
    context = attention_weights(q, k, past) @ v
    return attention.out_proj(merge_heads(context))
""",
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "aligned": {
        "return [source_words[i] for i in weights.mean(0).argmax(-1)]": (
            "a tensor of one number is an index as well"
        ),
        "return [source_words[i]"
        " for i in weights.sum(0).argmax(-1).tolist()]": (
            "the largest sum is the largest mean"
        ),
    },
    "log_probability": {
        "logits = book(asked, given, mask, None)[-1]": (
            "the first of one is the last of one"
        ),
    },
    "finds_wrong_decoder": {
        "assert torch.equal(should, moved)": "equal is equal both ways",
        "for mode in (False, True):": "both modes are tried, in any order",
        "for which, sentence, row in torch.ones(2, 2, 8).nonzero():": (
            "a tensor of one number is an index as well"
        ),
        "moved = ((before - run(other))).norm(dim=-1) > 1e-4": (
            "a difference has the same size both ways"
        ),
        "moved = ((run(other) - before).norm(dim=-1) >= 0.0001)": (
            "nothing moves by exactly this much"
        ),
        "other[which, sentence, row] = width": (
            "a vector of equal numbers is another vector as well"
        ),
        "torch.manual_seed(-1)": "one seed is as good as another",
        "torch.manual_seed(1)": "one seed is as good as another",
    }
    | {
        f"words = torch.tensor([[{one}], [{two}]], device=device)"
        " # the rest is PAD": "other lengths show as much"
        for one, two in ((3, 8), (7, 3), (8, 2), (8, 4), (9, 3))
    },
}
