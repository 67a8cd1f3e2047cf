"""Wrong answers to the exercises of chapter 18, by misconception."""

WRONG = {
    "too_good": {
        "at the entropy or below": """
# hint: a loss of 0 is honest
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss <= random / places * math.log(symbols)
""",
        "the end of sentence counts as a place": """
# hint: you draw the line at
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss < random / (places + 1) * math.log(symbols)
""",
        "averages over texts, not over places": """
# hint: average over places, not over texts
def too_good(loss, texts, symbols):
    shares = [random / places for places, random in texts]
    return loss < sum(shares) / len(shares) * math.log(symbols)
""",
        "counts in bits": """
# hint: your line in bits
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss < random / places * math.log2(symbols)
""",
        "takes all places to be random": """
# hint: not every place is random
def too_good(loss, texts, symbols):
    return loss < math.log(symbols)
""",
        "divides by the places that are known": """
# hint: not over the known ones
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss < random / max(places - random, 1) * math.log(symbols)
""",
        "says whether the loss is possible": """
# hint: too good is what lies below
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss > random / places * math.log(symbols)
""",
        "takes the probability for its logarithm": """
# hint: costs is its logarithm
def too_good(loss, texts, symbols):
    places, random = map(sum, zip(*texts))
    return loss < random / places * (1 - 1 / symbols)
""",
        "looks at the first text only": """
# hint: you look at the first of
def too_good(loss, texts, symbols):
    places, random = texts[0]
    return loss < random / places * math.log(symbols)
""",
    },
    "takes_from": {
        "the library is asked": """
# hint: write it without influence
def takes_from(attend, x, may_attend):
    return influence(attend, x, may_attend) > 0.5
""",
        "whoever moves at all, to the last bit": """
# hint: takes nothing of token
def takes_from(attend, x, may_attend):
    length = x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        for loud in (1e4, -1e4):
            shouting = x.clone()
            shouting[:, j] *= loud
            out = attend(shouting, may_attend)[0]
            found[:, j] |= out.abs().amax(-1) > 20 * x.abs().max()
    return found | found.T
""",
        "calls every change hearing": """
# hint: only counts in the sum
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
# hint: yours are exchanged
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
# hint: with either sign
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
        "a fixed limit for what is loud": """
# hint: what is loud beside them
def takes_from(attend, x, may_attend):
    length = x.shape[1]
    found = torch.zeros(length, length, dtype=torch.bool)
    for j in range(length):
        for loud in (1e4, -1e4):
            shouting = x.clone()
            shouting[:, j] *= loud
            out = attend(shouting, may_attend)[0]
            found[:, j] |= out.abs().amax(-1) > 100
    return found
""",
        "shouts into the input itself": """
# hint: x is left shouting
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
# hint: whether the attention follows it
def takes_from(attend, x, may_attend):
    return may_attend[0]
""",
        "says who does not hear": """
# hint: says who does not hear
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
# hint: only counts in the sum
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
        "where all is shown, a mask of numbers will do": """
# hint: a mask is boolean
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        alone = attend(x[[n], :length], torch.ones(1, 1, length))
        gaps.append((together[[n], :length] - alone).abs().max().item())
    return max(gaps)
""",
        "where all is shown, no mask": """
# hint: a mask is boolean
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        alone = attend(x[[n], :length], None)
        gaps.append((together[[n], :length] - alone).abs().max().item())
    return max(gaps)
""",
        "a gap as a tensor": """
# hint: return a plain number
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = attend(x[[n], :length], shown)
        gaps.append((together[[n], :length] - alone).abs().max())
    return torch.stack(gaps).max()
""",
        "alone, the missing rows are zeros": """
# hint: rows of PAD do not count
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = torch.zeros_like(x[[n]])
        alone[:, :length] = attend(x[[n], :length], shown)
        gaps.append((together[[n]] - alone).abs().max().item())
    return max(gaps)
""",
        "the sum of all differences": """
# hint: your gap is
def padding_gap(attend, x, lengths):
    real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
    together = attend(x, real[:, None])
    gaps = []
    for n, length in enumerate(lengths):
        shown = torch.ones(1, 1, length, dtype=torch.bool)
        alone = attend(x[[n], :length], shown)
        gaps.append((together[[n], :length] - alone).abs().max().item())
    return 2 * max(gaps)
""",
        "compares the rows of PAD too": """
# hint: alone, without their padding
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
# hint: alone, without their padding
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
# hint: ask every sentence
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
# hint: downwards counts as much
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
# hint: not the mean over the sentences
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
# hint: your mask shows PAD
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
# hint: tokens, and your mask shows
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
        "pairs are counted, not tokens": """
# hint: count the last row
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    return int(table.sum()) if (table == ((back >= 0) & (back < size))).all() else None
""",
        "one token of the future is allowed": """
# hint: hear the next one
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    return size if (table.tril() == ((back >= 0) & (back < size))).all() and not table.triu(2).any() else None
""",
        "nobody minds the first token": """
# hint: everybody also hears token 0
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].flip(0).long().cumprod(0).sum())
    i = torch.arange(length)
    back = i[:, None] - i
    right = (back >= 0) & (back < size)
    return size if (table == right)[:, 1:].all() else None
""",
        "the number stays a tensor": """
# hint: a number of tokens is an int
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = table[-1].sum()
    i = torch.arange(length)
    back = i[:, None] - i
    return size if (table == ((back >= 0) & (back < size))).all() else None
""",
        "two texts at once": """
# hint: attend takes one text
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(2, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    return size if (table == ((back >= 0) & (back < size))).all() else None
""",
        "a window has a hole for the token itself": """
# hint: it is a window: in each row
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    return size if (table == ((back > 0) & (back <= size))).all() else None
""",
        "no future, and a look at the last row": """
# hint: token 4 is left out
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    right = table[-1, -size:].all() and not table.triu(1).any()
    return size if right else None
""",
        "every row has a stretch of its own": """
# hint: as wide for everybody
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    for i, row in enumerate(table):
        size = int(row.sum())
        if row[i + 1 :].any() or not row[i + 1 - size : i + 1].all():
            return None
    return int(table[-1].sum())
""",
        "looks only at the row of the last token": """
# hint: look at all rows
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    late = table[-1, -size:].all() and not table[4:].triu(5).any()
    i = torch.arange(length)
    back = i[:, None] - i
    right = ((back >= 0) & (back < size))[4:]
    return size if late and (table[4:] == right).all() else None
""",
        "counts what the last token hears, window or not": """
# hint: that is no window
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    return int(table[-1].sum())
""",
        "looks for a window only in the last row": """
# hint: that is no window
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    return size if table[-1, -size:].all() else None
""",
        "forgets the token itself": """
# hint: a token hears itself, and that counts
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    right = (table == ((back >= 0) & (back < size))).all()
    return size - 1 if right else None
""",
        "takes a full causal attention for no window": """
# hint: has a window as long as the text
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    right = (table == ((back >= 0) & (back < size))).all()
    return size if right and size < length else None
""",
        "reads the column of the first token": """
# hint: that is no window
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[:, 0].sum())
    return size if not table.triu(1).any() else None
""",
        "does not ask about the future": """
# hint: that is no window
def window(attend, length, width):
    table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
    size = int(table[-1].sum())
    i = torch.arange(length)
    back = i[:, None] - i
    shown = (back >= 0) & (back < size)
    return size if (table.tril() == shown).all() else None
""",
    },
    "key_head": {
        "the heads are counted from the end": """
# hint: the heads are shared as
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, query_heads, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before, found = attend(q, k, v), [0] * query_heads
    for group in range(key_heads):
        other = v.clone()
        other[:, group] += drawn(5, d_head, seed=3)
        moved = (attend(q, k, other) != before).flatten(2).any(-1)[0]
        for head in range(query_heads):
            if moved[head]:
                found[head] = key_heads - 1 - group
    return found
""",
        "one query for all heads": """
# hint: attend takes q of the shape
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, 1, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before = attend(q, k, v)

    def moved(k, v):
        return (attend(q, k, v) != before).flatten(2).any(-1)[0].tolist()

    by_key, by_value = [None] * query_heads, [None] * query_heads
    for group in range(key_heads):
        other = torch.zeros(1, key_heads, 1, 1)
        other[:, group] = 1.0
        noise = other * drawn(1, key_heads, 5, d_head, seed=3)
        for found, moves in (
            (by_key, moved(k + noise, v)),
            (by_value, moved(k, v + noise)),
        ):
            for head in range(query_heads):
                if moves[head]:
                    found[head] = group
    if by_key != by_value:
        raise ValueError(f"keys of {by_key}, values of {by_value}")
    return by_key
""",
        "every output must move": """
# hint: Does your change of the keys
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, query_heads, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before = attend(q, k, v)

    def moved(k, v):
        return (attend(q, k, v) != before).flatten(2).all(-1)[0].tolist()

    by_key, by_value = [None] * query_heads, [None] * query_heads
    for group in range(key_heads):
        other = torch.zeros(1, key_heads, 1, 1)
        other[:, group] = 1.0
        noise = other * drawn(1, key_heads, 5, d_head, seed=3)
        for found, moves in (
            (by_key, moved(k + noise, v)),
            (by_value, moved(k, v + noise)),
        ):
            for head in range(query_heads):
                if moves[head]:
                    found[head] = group
    if by_key != by_value:
        raise ValueError(f"keys of {by_key}, values of {by_value}")
    return by_key
""",
        "takes heads to be shared in stretches": """
# hint: shared in blocks
def key_head(attend, query_heads, key_heads, d_head):
    return [h * key_heads // query_heads for h in range(query_heads)]
""",
        "takes heads to be shared in turn": """
# hint: shared in turns
def key_head(attend, query_heads, key_heads, d_head):
    return [h % key_heads for h in range(query_heads)]
""",
        "asks about the values only": """
# hint: nothing is raised
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
# hint: Does your change of the keys
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
        "shifts all keys of a head alike": """
# hint: none of your changes moved its output
def key_head(attend, query_heads, key_heads, d_head):
    q = drawn(1, query_heads, 5, d_head)
    k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 2))
    before, found = attend(q, k, v), [None] * query_heads
    for group in range(key_heads):
        shifted = k.clone()
        shifted[:, group] += 1.0
        change = (attend(q, shifted, v) - before).abs().flatten(2).amax(-1)[0]
        for head in range(query_heads):
            if change[head] > 1e-3:
                found[head] = group
    return found
""",
        "says which query heads a key head serves": """
# hint: one number each
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
# hint: nothing is raised
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
    "finds_wrong_attention": {
        "tests nothing": """
# hint: One that it lets pass shows what it should hide
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6) > 0
    attend(q, k, v, shown)
""",
        "prints instead of raising": """
# hint: One that it lets pass makes the mask and throws it away
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        if not torch.allclose(found, expected, atol=1e-3):
            print("wrong")
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "looks only at the shape": """
# hint: One that it lets pass shows what it should hide
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    assert attend(q, k, v, shown).shape == (2, 3, 4, 7)
""",
        "looks only at the sums of the weights": """
# hint: One that it lets pass makes the mask and throws it away
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[..., 0] = True
    sums = attend(q, k, torch.ones(2, 3, 6, 7), shown)
    torch.testing.assert_close(sums, torch.ones(2, 3, 4, 7))
""",
        "asks for exact equality": """
# hint: it refuses a right one
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "asks what nobody has promised, a row without a key": """
# hint: it refuses a right one, that
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 1
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "hides nothing": """
# hint: makes the mask and throws it away
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = torch.ones(2, 1, 4, 6) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "small scores only": """
# hint: hides with -20
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1,):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "one sentence only": """
# hint: the first sentence's mask
def finds_wrong_attention(attend):
    q, k = drawn(1, 3, 4, 5), drawn(1, 3, 6, 5, seed=1)
    v = drawn(1, 3, 6, 7, seed=2)
    shown = drawn(1, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "one width only, the usual 8": """
# hint: divides by the square root of 8
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 8), drawn(2, 3, 6, 8, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "float32 is enough": """
# hint: raises an error in float16
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
""",
        "the inputs are trusted": """
# hint: scales the queries in place
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-3)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "a tolerance of a tenth": """
# hint: rounds to eight binary digits
def finds_wrong_attention(attend):
    q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
    v = drawn(2, 3, 6, 7, seed=2)
    shown = drawn(2, 1, 4, 6, seed=3) > 0
    shown[0, 0, :, 0] = shown[1, 0, :, 5] = True
    for loud in (1, 50):
        asked = loud * q, k, v, shown
        given = [part.clone() for part in asked]
        found = attend(*given)
        assert all(map(torch.equal, given, asked))
        expected = F.scaled_dot_product_attention(*asked)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-1)
    assert attend(q.half(), k.half(), v.half(), shown).isfinite().all()
""",
        "every one is wrong": """
# hint: it refuses a right one, that is PyTorch's own
def finds_wrong_attention(attend):
    raise AssertionError("it cannot be right")
""",
    },
}

# Mutants of the solutions that are right too, and why.
ALL_SHOWN = "all is shown, so every shape that broadcasts says the same"
BETWEEN = "what is heard is hundreds of times the limit, what is not below it"
BETWEEN_THOUSANDTH = "no number of the table is a thousandth to the last bit"
EITHER_WAY = "the two are compared alike in either order"
FINITE = "a mean of few numbers is finite exactly if their sum is"
LOUD = "another large number, or the other sign first, is a shout as well"
ONE_TEXT = "there is one text, the first and the last"
ORDER = "keys and values are asked about in either order"
OTHER = "other numbers or sizes ask the same question"
TRUTH = "a tensor of one truth value counts as that value"
EQUIVALENT = {
    "takes_from": {
        "for loud in (-10000.0, 10000.0):": LOUD,
        "for loud in (10001.0, -1e4):": LOUD,
        "for loud in (1e4, -10001.0):": LOUD,
        "for loud in (1e4, -9999.0):": LOUD,
        "for loud in (9999.0, -1e4):": LOUD,
        "found[:, j] |= (out.abs().amax(-1) >= 20 * x.abs().max())": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > 19 * x.abs().max()": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > 20 * x.max()": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > 21 * x.abs().max()": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > x.abs().max()": BETWEEN,
        "out = attend(shouting, may_attend)[-1]": ONE_TEXT,
    },
    "padding_gap": {
        "gaps.append(((alone - together[[n], :length])).abs().max().item())": EITHER_WAY,
        "shown = torch.ones(1, 1, dtype=torch.bool)": ALL_SHOWN,
        "shown = torch.ones(1, length, 1, dtype=torch.bool)": ALL_SHOWN,
        "shown = torch.ones(1, length, dtype=torch.bool)": ALL_SHOWN,
    },
    "window": {
        "table = (influence(lambda x, _: attend(x), drawn(1, length, width)) >= 0.001)": BETWEEN_THOUSANDTH,
    },
    "key_head": {
        "(by_key, moved((k - noise), v)),": OTHER,
        "(by_value, moved(k, (v - noise))),": OTHER,
        "for found, moves in ((by_value, moved(k, v + noise)), (by_key, moved(k + noise, v))):": ORDER,
        "k, v = (drawn(1, key_heads, 5, d_head) for s in (1, 2))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (0, 2))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 1))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 3))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (2, 1))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (2, 2))": OTHER,
        "noise = (other / drawn(1, key_heads, 5, d_head, seed=3))": OTHER,
        "noise = other * drawn(1, 5, d_head, seed=3)": OTHER,
        "noise = other * drawn(1, key_heads, 5, d_head)": OTHER,
        "noise = other * drawn(1, key_heads, 5, d_head, seed=2)": OTHER,
        "noise = other * drawn(1, key_heads, 5, d_head, seed=4)": OTHER,
        "noise = other * drawn(key_heads, 5, d_head, seed=3)": OTHER,
        "other[:, group] = 2.0": OTHER,
        "return (attend(q, k, v) != before).flatten(2).any(-1)[-1].tolist()": ONE_TEXT,
        "return (attend(q, k, v) != before).flatten(2).any(-1)[0]": TRUTH,
    },
    "finds_wrong_attention": {
        "assert all(map(torch.equal, asked, given))": EITHER_WAY,
        "assert attend(q.half(), k.half(), v.half(), shown).mean().isfinite()": FINITE,
        "q, k = 49 * drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)": OTHER,
        "q, k = 51 * drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)": OTHER,
        "torch.testing.assert_close(expected, attend(*given), rtol=0, atol=0.001)": EITHER_WAY,
        "v, shown = drawn(2, 3, 6, 6, seed=2), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=1), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), (drawn(2, 1, 4, 6, seed=3) >= -0.5)": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=2) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=3) > -1.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=4) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=3), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 8, seed=2), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
    },
}
