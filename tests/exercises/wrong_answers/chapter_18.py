"""Wrong answers to the exercises of chapter 18, by misconception."""

WRONG = {
    "too_good": {
        "averages over texts, not over places": """
def too_good(loss, texts, symbols):
    shares = [random / places for places, random in texts]
    return loss < sum(shares) / len(shares) * math.log(symbols)
""",
        "counts in bits": """
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss < random / places * math.log2(symbols)
""",
        "takes all places to be random": """
def too_good(loss, texts, symbols):
    return loss < math.log(symbols)
""",
        "divides by the places that are known": """
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss < random / max(places - random, 1) * math.log(symbols)
""",
        "says whether the loss is possible": """
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss > random / places * math.log(symbols)
""",
        "takes the probability for its logarithm": """
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss < random / places * (1 - 1 / symbols)
""",
        "looks at the first text only": """
def too_good(loss, texts, symbols):
    places, random = texts[0]
    return loss < random / places * math.log(symbols)
""",
    },
    "takes_from": {
        "calls every change hearing": """
def takes_from(attend, x, may_attend):
    before, length = attend(x, may_attend), x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        other = x.clone()
        other[:, j] += 1
        change = (attend(other, may_attend) - before).abs().amax(-1)[0]
        found[:, j] = change > 1e-6
    return found
""",
        "has the table the other way round": """
def takes_from(attend, x, may_attend):
    length = x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        for loud in (1e4, -1e4):
            y = x.clone()
            y[:, j] *= loud
            out = attend(y, may_attend)[0]
            found[j] |= out.abs().amax(-1) > 20 * x.abs().max()
    return found
""",
        "shouts with one sign only": """
def takes_from(attend, x, may_attend):
    length = x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        y = x.clone()
        y[:, j] *= 1e4
        out = attend(y, may_attend)[0]
        found[:, j] = out.abs().amax(-1) > 20 * x.abs().max()
    return found
""",
        "shouts into the input itself": """
def takes_from(attend, x, may_attend):
    length = x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    limit = 20 * x.abs().max()
    for j in range(length):
        for loud in (1e4, -1e4):
            y = x
            y[:, j] = y[:, j] * loud
            out = attend(y, may_attend)[0]
            found[:, j] |= out.abs().amax(-1) > limit
    return found
""",
        "gives back the mask that was asked for": """
def takes_from(attend, x, may_attend):
    return may_attend[0]
""",
        "says who does not hear": """
def takes_from(attend, x, may_attend):
    length = x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        for loud in (1e4, -1e4):
            y = x.clone()
            y[:, j] *= loud
            out = attend(y, may_attend)[0]
            found[:, j] |= out.abs().amax(-1) > 20 * x.abs().max()
    return ~found
""",
        "silences a token instead of making it loud": """
def takes_from(attend, x, may_attend):
    before, length = attend(x, may_attend), x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        y = x.clone()
        y[:, j] = 0
        change = (attend(y, may_attend) - before).abs().amax(-1)[0]
        found[:, j] = change > 1e-4
    return found
""",
    },
    "padding_gap": {
        "compares the rows of PAD too": """
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n in range(len(lengths)):
        alone = attend(x[[n]], real[[n], None])
        gaps.append((together[[n]] - alone).abs().max().item())
    return max(gaps)
""",
        "lets the padding stand when a sentence is alone": """
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        alone = attend(x[[n]], torch.ones_like(real[[n], None]))
        change = together[[n], :length] - alone[:, :length]
        gaps.append(change.abs().max().item())
    return max(gaps)
""",
        "looks at the last sentence only": """
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = attend(x[[n], :length], shown)
        gap = (together[[n], :length] - alone).abs().max().item()
    return gap
""",
        "takes the largest difference with its sign": """
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = attend(x[[n], :length], shown)
        gaps.append((together[[n], :length] - alone).max().item())
    return max(gaps)
""",
        "takes the mean over the sentences": """
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = attend(x[[n], :length], shown)
        gaps.append((together[[n], :length] - alone).abs().max().item())
    return sum(gaps) / len(gaps)
""",
        "has a mask with True for PAD": """
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) >= torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = attend(x[[n], :length], shown)
        gaps.append((together[[n], :length] - alone).abs().max().item())
    return max(gaps)
""",
        "lets one PAD through": """
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) <= torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = attend(x[[n], :length], shown)
        gaps.append((together[[n], :length] - alone).abs().max().item())
    return max(gaps)
""",
    },
    "window": {
        "counts what the last token hears, window or not": """
def window(attend, length, width):
    table = who_hears(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    return int(table[-1].sum())
""",
        "looks for a window only in the last row": """
def window(attend, length, width):
    table = who_hears(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    return size if table[-1, -size:].all() else None
""",
        "forgets the token itself": """
def window(attend, length, width):
    table = who_hears(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    right = (table == ((back >= 0) & (back < size))).all()
    return size - 1 if right else None
""",
        "takes a full causal attention for no window": """
def window(attend, length, width):
    table = who_hears(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    right = (table == ((back >= 0) & (back < size))).all()
    return size if right and size < length else None
""",
        "reads the column of the first token": """
def window(attend, length, width):
    table = who_hears(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[:, 0].sum())
    return size if not table.triu(1).any() else None
""",
        "does not ask about the future": """
def window(attend, length, width):
    table = who_hears(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    shown = (back >= 0) & (back < size)
    return size if (table.tril() == shown).all() else None
""",
    },
    "key_head": {
        "takes heads to be shared in stretches": """
def key_head(attend, query_heads, key_heads, d_head):
    return [h * key_heads // query_heads for h in range(query_heads)]
""",
        "takes heads to be shared in turn": """
def key_head(attend, query_heads, key_heads, d_head):
    return [h % key_heads for h in range(query_heads)]
""",
        "asks about the values only": """
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, query_heads, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before, found = attend(q, k, v), [None] * query_heads
    for group in range(key_heads):
        other = v.clone()
        other[:, group] += drawn(5, d_head, seed=3)
        moved = (attend(q, k, other) != before).flatten(2).any(-1)[0]
        for head in range(query_heads):
            if moved[head]:
                found[head] = group
    return found
""",
        "adds one number to all keys, which a softmax does not see": """
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, query_heads, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before, answers = attend(q, k, v), []
    for kind in ("k", "v"):
        found = [None] * query_heads
        for group in range(key_heads):
            other = torch.zeros(1, key_heads, 1, 1)
            other[:, group] = 1.0
            pair = (k + other, v) if kind == "k" else (k, v + other)
            change = (attend(q, *pair) - before).abs().flatten(2).amax(-1)[0]
            for head in range(query_heads):
                if change[head] > 1e-4:
                    found[head] = group
        answers.append(found)
    if answers[0] != answers[1]:
        raise ValueError("keys and values of different heads")
    return answers[0]
""",
        "says which query heads a key head serves": """
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, query_heads, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before, found = attend(q, k, v), []
    for group in range(key_heads):
        other = v.clone()
        other[:, group] += drawn(5, d_head, seed=3)
        moved = (attend(q, k, other) != before).flatten(2).any(-1)[0]
        found.append(moved.nonzero().flatten().tolist())
    return found
""",
        "returns what it found in spite of a mixture": """
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, query_heads, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before, found = attend(q, k, v), [None] * query_heads
    for group in range(key_heads):
        keys, values = k.clone(), v.clone()
        keys[:, group] += drawn(5, d_head, seed=3)
        values[:, group] += drawn(5, d_head, seed=3)
        moved = (attend(q, keys, values) != before).flatten(2).any(-1)[0]
        for head in range(query_heads):
            if moved[head]:
                found[head] = group
    return found
""",
    },
}
