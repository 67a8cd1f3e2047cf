"""Wrong answers to the exercises of chapter 1, by their misconceptions."""

WRONG = {
    "unknown_share": {
        "counts distinct words": """
def unknown_share(vocabulary, text):
    ids = set(split_words(text))
    return sum(word not in vocabulary.ids for word in ids) / len(ids)
""",
        "cuts at the spaces, so that punctuation sticks to its word": """
def unknown_share(vocabulary, text):
    words = text.split()
    return sum(word not in vocabulary.ids for word in words) / len(words)
""",
        "does not count punctuation": """
def unknown_share(vocabulary, text):
    words = [word for word in split_words(text) if word.isalpha()]
    return sum(word not in vocabulary.ids for word in words) / len(words)
""",
        "the number, not the share": """
def unknown_share(vocabulary, text):
    return vocabulary.encode(text).count(vocabulary.unk_id)
""",
        "the share that is known": """
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text)
    return 1 - ids.count(vocabulary.unk_id) / len(ids)
""",
        "divides by the known tokens": """
def unknown_share(vocabulary, text):
    unknown = vocabulary.encode(text).count(vocabulary.unk_id)
    return unknown / max(len(vocabulary.encode(text)) - unknown, 1)
""",
        "counts BOS and EOS as tokens of the text": """
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text, bos=True, eos=True)
    return ids.count(vocabulary.unk_id) / len(ids)
""",
        "UNK is the last id": """
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text)
    return ids.count(len(vocabulary) - 1) / len(ids)
""",
    },
    "OwnEmbedding": {
        "forgets the root": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids]
""",
        "starts at standard deviation 1, as nn.Embedding does": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.table = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "starts uniformly between plus and minus the root": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = (2 * torch.rand(vocab_size, d_model) - 1) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "takes the variance for the standard deviation": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocab_size, d_model) / d_model)

    def forward(self, ids):
        return self.table[ids] * math.sqrt(self.table.shape[1])
""",
        "a plain tensor, which nothing trains": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.table = torch.randn(vocab_size, d_model) / self.scale
        self.table.requires_grad_()

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "looks up in a detached table": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table.data[ids] * self.scale
""",
        "the root of the vocabulary, not of the width": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids] * math.sqrt(len(self.table))
""",
        "the factor is trained too": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(math.sqrt(d_model)))
        start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "the table is turned over": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(d_model, vocab_size) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table.T[ids] * self.scale
""",
        "only for ids in one row": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids.flatten()] * self.scale
""",
        "wraps nn.Embedding": """
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.inner = TokenEmbedding(vocab_size, d_model)

    def forward(self, ids):
        return self.inner(ids)
""",
    },
    "table_gradient": {
        "keeps one contribution of an id that occurs twice": """
def table_gradient(ids, upstream, rows):
    gradient = torch.zeros(rows, upstream.shape[1], device=upstream.device)
    gradient[ids] += upstream
    return gradient
""",
        "averages what an id receives": """
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids, num_classes=rows).to(upstream.dtype)
    return picks.T @ upstream / picks.sum(dim=0).clamp(min=1).unsqueeze(1)
""",
        "ignores rows": """
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids).to(upstream.dtype)
    return picks.T @ upstream
""",
        "counts uses and ignores upstream": """
def table_gradient(ids, upstream, rows):
    counts = torch.bincount(ids.cpu(), minlength=rows).to(upstream)
    return counts.unsqueeze(1).expand(-1, upstream.shape[1])
""",
        "looks upstream up instead of sending it back": """
def table_gradient(ids, upstream, rows):
    return upstream[ids]
""",
        "is the gradient of the vectors, not of the table": """
def table_gradient(ids, upstream, rows):
    return upstream
""",
        "the gradient of each id is the sum over the width": """
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids, num_classes=rows).to(upstream.dtype)
    return picks.T @ upstream.sum(dim=1, keepdim=True).expand_as(upstream)
""",
    },
    "pad_in_front": {
        "pads at the end": """
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [row + [pad_id] * (width - len(row)) for row in sequences]
    return torch.tensor(rows), [width - len(row) for row in sequences]
""",
        "turns the whole row round": """
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [(row + [pad_id] * (width - len(row)))[::-1] for row in sequences]
    return torch.tensor(rows), [width - len(row) for row in sequences]
""",
        "PAD is always 0": """
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    begins = [width - len(row) for row in sequences]
    rows = [[0] * n + row for n, row in zip(begins, sequences)]
    return torch.tensor(rows), begins
""",
        "begins are lengths": """
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows), [len(row) for row in sequences]
""",
        "counts columns from 1": """
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows), [width - len(row) + 1 for row in sequences]
""",
        "the column of the last padding": """
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows), [width - len(row) - 1 for row in sequences]
""",
        "cuts to the shortest instead of padding": """
def pad_in_front(sequences, pad_id):
    width = min(len(row) for row in sequences)
    rows = [row[-width:] for row in sequences]
    return torch.tensor(rows), [0] * len(rows)
""",
        "changes the caller's lists": """
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    begins = [width - len(row) for row in sequences]
    for n, row in zip(begins, sequences):
        row[:0] = [pad_id] * n
    return torch.tensor(sequences), begins
""",
    },
    "pretrained_table": {
        "rows in the order of the download": """
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    known = [w for w in downloaded if w in vocabulary.ids]
    rest = [t for t in vocabulary.tokens[4:] if t not in downloaded]
    rows = [[0.0] * len(mean), *3 * [mean]]
    rows += [downloaded[w] for w in known] + [mean] * len(rest)
    return torch.tensor(rows)
""",
        "forgets that the special tokens have rows": """
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    words = vocabulary.tokens[4:]
    return torch.tensor([downloaded.get(word, mean) for word in words])
""",
        "PAD gets the mean": """
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    return torch.tensor([downloaded.get(t, mean) for t in vocabulary.tokens])
""",
        "zeros for every token without a vector": """
def pretrained_table(vocabulary, downloaded):
    zeros = [0.0] * len(next(iter(downloaded.values())))
    return torch.tensor([downloaded.get(t, zeros) for t in vocabulary.tokens])
""",
        "zeros for all special tokens": """
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    rows = [downloaded.get(t, mean) for t in vocabulary.tokens]
    rows[:4] = [[0.0] * len(mean)] * 4
    return torch.tensor(rows)
""",
        "the mean of the words that are used, not of all": """
def pretrained_table(vocabulary, downloaded):
    used = [v for w, v in downloaded.items() if w in vocabulary.ids]
    mean = torch.tensor(used).mean(dim=0).tolist()
    rows = torch.tensor([downloaded.get(t, mean) for t in vocabulary.tokens])
    rows[0] = 0
    return rows
""",
        "one mean over all numbers": """
def pretrained_table(vocabulary, downloaded):
    every = torch.tensor(list(downloaded.values()))
    mean = [every.mean().item()] * every.shape[1]
    rows = torch.tensor([downloaded.get(t, mean) for t in vocabulary.tokens])
    rows[0] = 0
    return rows
""",
        "a row for each downloaded word as well": """
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    tokens = dict.fromkeys([*vocabulary.tokens, *sorted(downloaded)])
    rows = torch.tensor([downloaded.get(t, mean) for t in tokens])
    rows[0] = 0
    return rows
""",
    },
    "merge_commonest": {
        "uses a token twice": """
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens, tokens[1:]))
    left, right = max(pairs, key=pairs.get)
    merged = []
    for i, token in enumerate(tokens):
        if tokens[i : i + 2] == [left, right]:
            merged.append(left + right)
        elif i == 0 or tokens[i - 1 : i + 1] != [left, right]:
            merged.append(token)
    return merged
""",
        "merges the first occurrence only": """
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens, tokens[1:]))
    pair = max(pairs, key=pairs.get)
    i = list(zip(tokens, tokens[1:])).index(pair)
    return [*tokens[:i], "".join(pair), *tokens[i + 2 :]]
""",
        "the last of equally common pairs wins": """
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens[::-1][1:], tokens[::-1]))
    left, right = max(pairs, key=pairs.get)
    merged, i = [], 0
    while i < len(tokens):
        step = 2 if tokens[i : i + 2] == [left, right] else 1
        merged.append("".join(tokens[i : i + step]))
        i += step
    return merged
""",
        "merges from the right": """
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens, tokens[1:]))
    left, right = max(pairs, key=pairs.get)
    merged, i = [], len(tokens)
    while i > 0:
        step = 2 if tokens[max(i - 2, 0) : i] == [left, right] else 1
        merged.append("".join(tokens[i - step : i]))
        i -= step
    return merged[::-1]
""",
        "does not see that a pair of tokens is more than its text": """
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens, tokens[1:]))
    whole = "".join(max(pairs, key=pairs.get))
    merged, i = [], 0
    while i < len(tokens):
        for n in range(len(tokens) - i, 0, -1):
            if "".join(tokens[i : i + n]) == whole or n == 1:
                merged.append("".join(tokens[i : i + n]))
                i += n
                break
    return merged
""",
        "merges the two commonest tokens": """
def merge_commonest(tokens):
    from collections import Counter

    (left, _), (right, _) = (Counter(tokens).most_common(2) * 2)[:2]
    merged, i = [], 0
    while i < len(tokens):
        step = 2 if tokens[i : i + 2] == [left, right] else 1
        merged.append("".join(tokens[i : i + step]))
        i += step
    return merged
""",
        "cuts the text into pairs before it counts": """
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens[::2], tokens[1::2]))
    left, right = max(pairs, key=pairs.get)
    merged, i = [], 0
    while i < len(tokens):
        step = 2 if tokens[i : i + 2] == [left, right] else 1
        merged.append("".join(tokens[i : i + step]))
        i += step
    return merged
""",
        "merges every pair that occurs more than once": """
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens, tokens[1:]))
    merged, i = [], 0
    while i < len(tokens):
        step = 2 if pairs.get(tuple(tokens[i : i + 2]), 0) > 1 else 1
        merged.append("".join(tokens[i : i + step]))
        i += step
    return merged
""",
    },
}
