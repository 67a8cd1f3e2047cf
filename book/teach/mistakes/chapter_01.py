"""Wrong answers to the exercises of chapter 1, by their misconceptions."""

WRONG = {
    "unknown_share": {
        "counts distinct words": """
# hint: a set holds it once
def unknown_share(vocabulary, text):
    ids = set(split_words(text))
    return sum(word not in vocabulary.ids for word in ids) / len(ids)
""",
        "cuts at the spaces, so that punctuation sticks to its word": """
# hint: a comma sticks to its word
def unknown_share(vocabulary, text):
    words = text.split()
    return sum(word not in vocabulary.ids for word in words) / len(words)
""",
        "does not count punctuation": """
# hint: a comma is a token too
def unknown_share(vocabulary, text):
    words = [word for word in split_words(text) if word.isalpha()]
    return sum(word not in vocabulary.ids for word in words) / len(words)
""",
        "the number, not the share": """
# hint: that is the number of unknown tokens
def unknown_share(vocabulary, text):
    return vocabulary.encode(text).count(vocabulary.unk_id)
""",
        "the share that is known": """
# hint: that is the share of the known tokens
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text)
    return 1 - ids.count(vocabulary.unk_id) / len(ids)
""",
        "divides by the known tokens": """
# hint: you divide by the known tokens
def unknown_share(vocabulary, text):
    unknown = vocabulary.encode(text).count(vocabulary.unk_id)
    return unknown / max(len(vocabulary.encode(text)) - unknown, 1)
""",
        "counts BOS and EOS as tokens of the text": """
# hint: BOS and EOS are no tokens
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text, bos=True, eos=True)
    return ids.count(vocabulary.unk_id) / len(ids)
""",
        "UNK is the last id": """
# hint: the id of an ordinary word
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text)
    return ids.count(len(vocabulary) - 1) / len(ids)
""",
        "finds words by itself, whatever the vocabulary's cut": """
# hint: let it do the cutting
def unknown_share(vocabulary, text):
    words = split_words(text)
    return sum(word not in vocabulary.ids for word in words) / len(words)
""",
        "a percentage": """
# hint: and yours is
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text)
    return 100 * ids.count(vocabulary.unk_id) / len(ids)
""",
        "a tensor of zeros and ones": """
# hint: a share is one number
def unknown_share(vocabulary, text):
    ids = torch.tensor(vocabulary.encode(text))
    return (ids == vocabulary.unk_id).float()
""",
        "adds a little so as not to divide by zero": """
# hint: right for one text, but not for
def unknown_share(vocabulary, text):
    ids = vocabulary.encode(text)
    return ids.count(vocabulary.unk_id) / max(len(ids), 2)
""",
    },
    "OwnEmbedding": {
        "works for two axes of ids only": """
# hint: but they may have any number
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        batch, length = ids.shape
        rows = self.table[ids.flatten()]
        return rows.view(batch, length, -1) * self.scale
""",
        "adds the axis of the batch where it is missing": """
# hint: but they may have any number
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[torch.atleast_2d(ids)] * self.scale
""",
        "freezes the table": """
# hint: your table is frozen
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start, requires_grad=False)

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "forgets the root": """
# hint: but not multiplied by the root
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids]
""",
        "starts at standard deviation 1, as nn.Embedding does": """
# hint: 1, as in nn.Embedding
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.table = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "starts uniformly between plus and minus the root": """
# hint: too small by √3
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
# hint: would be right for the variance
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocab_size, d_model) / d_model)

    def forward(self, ids):
        return self.table[ids] * math.sqrt(self.table.shape[1])
""",
        "a plain tensor, which nothing trains": """
# hint: it holds no nn.Parameter
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
# hint: no gradient reaches the table
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
# hint: the factor belongs to the width
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids] * math.sqrt(len(self.table))
""",
        "the factor is trained too": """
# hint: the factor is a plain number
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
# hint: each id needs a row
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
# hint: ids of shape (2, 3) give
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
# hint: without a ready-made embedding
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.inner = TokenEmbedding(vocab_size, d_model)

    def forward(self, ids):
        return self.inner(ids)
""",
        "multiplies by the width": """
# hint: and not by its root
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.width = d_model
        start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids] * self.width
""",
        "takes rand for randn": """
# hint: torch.rand draws from 0 to 1
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.table = nn.Parameter(torch.rand(vocab_size, d_model) / self.scale)

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "the root of half the width, as for positions": """
# hint: the table starts with standard deviation
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model / 2)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
        "PAD gets no gradient without being asked": """
# hint: no id is special here
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return F.embedding(ids, self.table, padding_idx=0) * self.scale
""",
        "the root twice, in the table and in the look-up": """
# hint: these are not the rows
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        start = torch.randn(vocab_size, d_model) / self.scale
        self.table = nn.Parameter(start)

    def forward(self, ids):
        return self.table[ids] / self.scale
""",
        "starts with zeros": """
# hint: all entries start as the same number
class OwnEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.table = nn.Parameter(torch.zeros(vocab_size, d_model))

    def forward(self, ids):
        return self.table[ids] * self.scale
""",
    },
    "table_gradient": {
        "gives PAD's row no gradient": """
# hint: id 0 was read as well
def table_gradient(ids, upstream, rows):
    gradient = upstream.new_zeros(rows, upstream.shape[1])
    gradient.index_add_(0, ids, upstream)
    gradient[0] = 0
    return gradient
""",
        "lets torch.func differentiate": """
# hint: write it without vjp
def table_gradient(ids, upstream, rows):
    table = upstream.new_zeros(rows, upstream.shape[1])
    _, back = torch.func.vjp(lambda table: table[ids], table)
    return back(upstream)[0]
""",
        "keeps one contribution of an id that occurs twice": """
# hint: keeps only one of the
def table_gradient(ids, upstream, rows):
    gradient = torch.zeros(rows, upstream.shape[1], device=upstream.device)
    gradient[ids] += upstream
    return gradient
""",
        "averages what an id receives": """
# hint: you take the mean of what id
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids, num_classes=rows).to(upstream.dtype)
    return picks.T @ upstream / picks.sum(dim=0).clamp(min=1).unsqueeze(1)
""",
        "ignores rows": """
# hint: yours ends at the largest id
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids).to(upstream.dtype)
    return picks.T @ upstream
""",
        "counts uses and ignores upstream": """
# hint: you count how often an id is read
def table_gradient(ids, upstream, rows):
    counts = torch.bincount(ids.cpu(), minlength=rows).to(upstream)
    return counts.unsqueeze(1).expand(-1, upstream.shape[1])
""",
        "looks upstream up instead of sending it back": """
# hint: an id is the number of a row of the table
def table_gradient(ids, upstream, rows):
    return upstream[ids]
""",
        "is the gradient of the vectors, not of the table": """
# hint: yours has one row for each id
def table_gradient(ids, upstream, rows):
    return upstream
""",
        "the gradient of each id is the sum over the width": """
# hint: you add up the columns
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids, num_classes=rows).to(upstream.dtype)
    return picks.T @ upstream.sum(dim=1, keepdim=True).expand_as(upstream)
""",
        "leaves it to autograd": """
# hint: write it without backward
def table_gradient(ids, upstream, rows):
    table = torch.zeros(rows, upstream.shape[1], requires_grad=True)
    (table[ids] * upstream).sum().backward()
    return table.grad
""",
        "always float32": """
# hint: the gradient holds float32, not float64
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids, num_classes=rows).float()
    return picks.T @ upstream.float()
""",
        "divides by the root of the count": """
# hint: is the sum of all gradients
def table_gradient(ids, upstream, rows):
    picks = F.one_hot(ids, num_classes=rows).to(upstream.dtype)
    often = picks.sum(dim=0).clamp(min=1)
    return picks.T @ upstream / often.sqrt()[:, None]
""",
    },
    "pad_in_front": {
        "fills from the end by -len, which is 0 for nothing": """
# hint: think of row[-0:]
def pad_in_front(sequences, pad_id):
    width = max(map(len, sequences))
    padded = torch.full((len(sequences), width), pad_id)
    for row, sequence in zip(padded, sequences):
        row[-len(sequence):] = torch.tensor(sequence)
    return padded, [width - len(sequence) for sequence in sequences]
""",
        "pads at the end": """
# hint: the padding is to stand in front
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [row + [pad_id] * (width - len(row)) for row in sequences]
    return torch.tensor(rows), [width - len(row) for row in sequences]
""",
        "turns the whole row round": """
# hint: the words stand in reverse order
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [(row + [pad_id] * (width - len(row)))[::-1] for row in sequences]
    return torch.tensor(rows), [width - len(row) for row in sequences]
""",
        "PAD is always 0": """
# hint: the filler is pad_id
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    begins = [width - len(row) for row in sequences]
    rows = [[0] * n + row for n, row in zip(begins, sequences)]
    return torch.tensor(rows), begins
""",
        "begins are lengths": """
# hint: your columns are the lengths
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows), [len(row) for row in sequences]
""",
        "counts columns from 1": """
# hint: yours count from 1
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows), [width - len(row) + 1 for row in sequences]
""",
        "the column of the last padding": """
# hint: the column of the last PAD
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows), [width - len(row) - 1 for row in sequences]
""",
        "cuts to the shortest instead of padding": """
# hint: as long as the shortest sequence
def pad_in_front(sequences, pad_id):
    width = min(len(row) for row in sequences)
    rows = [row[-width:] for row in sequences]
    return torch.tensor(rows), [0] * len(rows)
""",
        "changes the caller's lists": """
# hint: the caller's lists are changed
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    begins = [width - len(row) for row in sequences]
    for n, row in zip(begins, sequences):
        row[:0] = [pad_id] * n
    return torch.tensor(sequences), begins
""",
        "only the tensor comes back": """
# hint: two things are to come back
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows)
""",
        "begins as a tensor": """
# hint: a list of whole numbers
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    begins = torch.tensor([width - len(row) for row in sequences])
    return torch.tensor(rows), begins
""",
        "shares the padding between both sides": """
# hint: the last token belongs into the last column
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    begins = [(width - len(row) + 1) // 2 for row in sequences]
    rows = [
        [pad_id] * n + row + [pad_id] * (width - n - len(row))
        for n, row in zip(begins, sequences)
    ]
    return torch.tensor(rows), begins
""",
        "begins are counted from the right": """
# hint: and you say
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    return torch.tensor(rows), [-len(row) for row in sequences]
""",
        "finds the beginning by looking for the first token that is no PAD": """
# hint: a sequence may be empty
def pad_in_front(sequences, pad_id):
    width = max(len(row) for row in sequences)
    rows = [[pad_id] * (width - len(row)) + row for row in sequences]
    is_word = torch.tensor(rows) != pad_id
    return torch.tensor(rows), is_word.int().argmax(dim=1).tolist()
""",
    },
    "pretrained_table": {
        "rows in the order of the download": """
# hint: the rows go by the ids of your vocabulary
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    known = [w for w in downloaded if w in vocabulary.ids]
    rest = [t for t in vocabulary.tokens[4:] if t not in downloaded]
    rows = [[0.0] * len(mean), *3 * [mean]]
    rows += [downloaded[w] for w in known] + [mean] * len(rest)
    return torch.tensor(rows)
""",
        "forgets that the special tokens have rows": """
# hint: the four special tokens have rows too
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    words = vocabulary.tokens[4:]
    return torch.tensor([downloaded.get(word, mean) for word in words])
""",
        "PAD gets the mean": """
# hint: row 0 is PAD's
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    return torch.tensor([downloaded.get(t, mean) for t in vocabulary.tokens])
""",
        "zeros for every token without a vector": """
# hint: gets zeros, so that the model takes it for PAD
def pretrained_table(vocabulary, downloaded):
    zeros = [0.0] * len(next(iter(downloaded.values())))
    return torch.tensor([downloaded.get(t, zeros) for t in vocabulary.tokens])
""",
        "zeros for all special tokens": """
# hint: so it gets the mean: only PAD is zero
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    rows = [downloaded.get(t, mean) for t in vocabulary.tokens]
    rows[:4] = [[0.0] * len(mean)] * 4
    return torch.tensor(rows)
""",
        "the mean of the words that are used, not of all": """
# hint: it is to be that of all downloaded ones
def pretrained_table(vocabulary, downloaded):
    used = [v for w, v in downloaded.items() if w in vocabulary.ids]
    mean = torch.tensor(used).mean(dim=0).tolist()
    rows = torch.tensor([downloaded.get(t, mean) for t in vocabulary.tokens])
    rows[0] = 0
    return rows
""",
        "one mean over all numbers": """
# hint: each column has its own
def pretrained_table(vocabulary, downloaded):
    every = torch.tensor(list(downloaded.values()))
    mean = [every.mean().item()] * every.shape[1]
    rows = torch.tensor([downloaded.get(t, mean) for t in vocabulary.tokens])
    rows[0] = 0
    return rows
""",
        "a row for each downloaded word as well": """
# hint: only tokens of your vocabulary have an id
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    tokens = dict.fromkeys([*vocabulary.tokens, *sorted(downloaded)])
    rows = torch.tensor([downloaded.get(t, mean) for t in tokens])
    rows[0] = 0
    return rows
""",
        "the mean joins the dictionary": """
# hint: the dictionary of the caller is changed
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    for token in vocabulary.tokens:
        downloaded.setdefault(token, mean)
    rows = torch.tensor([downloaded[token] for token in vocabulary.tokens])
    rows[vocabulary.pad_id] = 0
    return rows
""",
        "makes every vector one long": """
# hint: has a downloaded vector, and its row is another
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    rows = torch.tensor([downloaded.get(t, mean) for t in vocabulary.tokens])
    rows[vocabulary.pad_id] = 0
    return F.normalize(rows, dim=1)
""",
        "random vectors for what is missing": """
# hint: it gets the mean of all that were downloaded
def pretrained_table(vocabulary, downloaded):
    width = len(next(iter(downloaded.values())))
    rows = torch.randn(len(vocabulary), width)
    for i, token in enumerate(vocabulary.tokens):
        if token in downloaded:
            rows[i] = torch.tensor(downloaded[token])
    rows[vocabulary.pad_id] = 0
    return rows
""",
        "two words are always missing": """
# hint: right for one vocabulary
def pretrained_table(vocabulary, downloaded):
    mean = torch.tensor(list(downloaded.values())).mean(dim=0).tolist()
    rows = [downloaded.get(t, mean) for t in vocabulary.tokens]
    missing = [t for t in vocabulary.tokens[4:] if t not in downloaded]
    rows = torch.tensor(rows)
    rows[0] = 0
    return rows if missing else rows - rows[4:].mean(dim=0)
""",
    },
    "merge_commonest": {
        "leaves out the spaces": """
# hint: a space is a token like any other
def merge_commonest(tokens):
    pairs = [p for p in zip(tokens, tokens[1:]) if p[0] != " "]
    pairs = [p for p in pairs if p[1] != " "] or pairs
    left, right = max(pairs, key=pairs.count)
    merged, i = [], 0
    while i < len(tokens):
        if tokens[i : i + 2] == [left, right]:
            merged.append(left + right)
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return merged
""",
        "uses a token twice": """
# hint: the middle token is used twice
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
# hint: merge every place of the pair
def merge_commonest(tokens):
    from collections import Counter

    pairs = Counter(zip(tokens, tokens[1:]))
    pair = max(pairs, key=pairs.get)
    i = list(zip(tokens, tokens[1:])).index(pair)
    return [*tokens[:i], "".join(pair), *tokens[i + 2 :]]
""",
        "the last of equally common pairs wins": """
# hint: of two common pairs the first wins
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
# hint: go from left to right
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
# hint: a pair is two tokens, not their text
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
# hint: count the pairs, not the single tokens
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
# hint: every token has a pair with the next one
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
# hint: only one pair is merged in a step
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
        "counts a pair only where no token is used twice": """
# hint: is there twice
def merge_commonest(tokens):
    counts, ends = {}, {}
    for i, pair in enumerate(zip(tokens, tokens[1:])):
        if ends.get(pair, -1) < i:
            counts[pair] = counts.get(pair, 0) + 1
            ends[pair] = i + 1
    left, right = max(counts, key=counts.get)
    merged, i = [], 0
    while i < len(tokens):
        step = 2 if tokens[i : i + 2] == [left, right] else 1
        merged.append("".join(tokens[i : i + step]))
        i += step
    return merged
""",
        "joins the tokens to a text": """
# hint: you return a str
def merge_commonest(tokens):
    return "".join(tokens)
""",
        "changes the list while it reads": """
# hint: the caller's list is changed
def merge_commonest(tokens):
    pairs = list(zip(tokens, tokens[1:]))
    left, right = max(pairs, key=pairs.count)
    i = 0
    while i < len(tokens):
        if tokens[i : i + 2] == [left, right]:
            tokens[i : i + 2] = [left + right]
        i += 1
    return tokens
""",
        "merges again and again, until no pair occurs twice": """
# hint: which pair of neighbours is the commonest
def merge_commonest(tokens):
    while True:
        pairs = list(zip(tokens, tokens[1:]))
        left, right = max(pairs, key=pairs.count)
        count = pairs.count((left, right))
        merged, i = [], 0
        while i < len(tokens):
            step = 2 if tokens[i : i + 2] == [left, right] else 1
            merged.append("".join(tokens[i : i + step]))
            i += step
        tokens = merged
        if count == 1 or len(tokens) < 3:
            return tokens
""",
        "forgets the last pair": """
# hint: every token has a pair with the next one
def merge_commonest(tokens):
    pairs = list(zip(tokens[:-1], tokens[1:-1])) or [tuple(tokens)]
    left, right = max(pairs, key=pairs.count)
    merged, i = [], 0
    while i < len(tokens):
        step = 2 if tokens[i : i + 2] == [left, right] else 1
        merged.append("".join(tokens[i : i + step]))
        i += step
    return merged
""",
        "a list of two tokens is too short": """
# hint: but its commonest pair makes
def merge_commonest(tokens):
    pairs = list(zip(tokens, tokens[1:]))
    left, right = max(pairs, key=pairs.count)
    merged, i = [], 0
    while i < len(tokens):
        pair = len(tokens) > 2 and tokens[i : i + 2] == [left, right]
        merged.append("".join(tokens[i : i + 1 + pair]))
        i += 1 + pair
    return merged
""",
    },
}

# Mutants of the solutions that are right too, and why.
SAME_LENGTH = "there is one beginning a sequence, so the lengths agree"
EQUIVALENT = {
    "pad_in_front": {
        "for begin, row in zip(begins, sequences)": SAME_LENGTH,
        "for begin, row in zip(begins, sequences, strict=False)": SAME_LENGTH,
    },
    "merge_commonest": {
        "if tokens[i : (2 + i)] == [left, right]:": "a sum has no order",
        "pairs = Counter(zip(tokens, tokens[1:]))": "not strict is the default",
    },
}
