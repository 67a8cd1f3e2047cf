"""Wrong answers to the exercises of chapter 1, by their misconceptions."""

SHARE = "ids.count(vocabulary.unk_id) / len(ids)"
STEPS = "torch.randn(vocab_size, d_model) / self.scale"
LOOK_UP = "self.table[ids] * self.scale"
COUNTER = "Counter(zip(tokens, tokens[1:], strict=False))"
WRONG = {
    "unknown_share": {
        "counts distinct tokens": (
            "a set holds it once",
            """
def unknown_share(vocabulary, text):
    tokens = set(vocabulary.split(text))
    return sum(token not in vocabulary.ids for token in tokens) / len(tokens)
""",
        ),
        "cuts at the spaces, so that punctuation sticks to its word": (
            "a comma sticks to its word",
            """
def unknown_share(vocabulary, text):
    words = text.split()
    return sum(word not in vocabulary.ids for word in words) / len(words)
""",
        ),
        "the number, not the share": (
            "that is the number of unknown tokens",
            {" / len(ids)": ""},
        ),
        "the share that is known": (
            "that is the share of the known tokens",
            {SHARE: f"1 - {SHARE}"},
        ),
        "counts BOS and EOS as tokens of the text": (
            "BOS and EOS are no tokens",
            {"encode(text": "encode(text, bos=True, eos=True"},
        ),
        "finds words by itself, whatever the vocabulary's cut": (
            "let it do the cutting",
            """
def unknown_share(vocabulary, text):
    words = split_words(text)
    return sum(word not in vocabulary.ids for word in words) / len(words)
""",
        ),
        "UNK is the last id": (
            "count the ids of the text that are UNK",
            {"vocabulary.unk_id": "len(vocabulary) - 1"},
        ),
        "a text has two tokens at least": (
            "count the ids of the text that are UNK",
            {"len(ids)": "max(len(ids), 2)"},
        ),
    },
    "OwnEmbedding": {
        "a plain tensor, which nothing trains": (
            "it holds no nn.Parameter",
            {"nn.Parameter(start)": "start"},
        ),
        "freezes the table": (
            "your table is frozen",
            {"(start)": "(start, requires_grad=False)"},
        ),
        "the factor is trained too": (
            "the factor is a plain number",
            {
                "self.table =": "self.f = nn.Parameter(start[0])\n        self.table ="
            },
        ),
        "looks up in a detached table": (
            "no gradient reaches the table",
            {LOOK_UP: "self.table.data[ids] * self.scale"},
        ),
        "forgets the root": (
            "but not multiplied by the root",
            {LOOK_UP: "self.table[ids]"},
        ),
        "the root of the vocabulary, not of the width": (
            "the factor belongs to the width",
            {LOOK_UP: "self.table[ids] * len(self.table) ** 0.5"},
        ),
        "multiplies by the width": (
            "and not by its root",
            {LOOK_UP: "self.table[ids] * self.scale**2"},
        ),
        "PAD gets no gradient without being asked": (
            "no id is special here",
            {
                LOOK_UP: "F.embedding(ids, self.table, padding_idx=0) * self.scale"
            },
        ),
        "the root twice, in the table and in the look-up": (
            "these are not the rows",
            {LOOK_UP: "self.table[ids] / self.scale"},
        ),
        "adds the axis of the batch where it is missing": (
            "has the shape",
            {"[ids]": "[torch.atleast_2d(ids)]"},
        ),
        "starts at standard deviation 1, as nn.Embedding does": (
            "as that of nn.Embedding does",
            {" / self.scale": ""},
        ),
        "takes the variance for the standard deviation": (
            "would be right for the variance",
            {" / self.scale": " / d_model"},
        ),
        "starts uniformly between plus and minus the root": (
            "uniform numbers between",
            {STEPS: "(2 * torch.rand(vocab_size, d_model) - 1) / self.scale"},
        ),
        "takes rand for randn": ("draws from 0 to 1", {"randn": "rand"}),
        "one vector for all words": (
            "no two words start alike",
            {
                STEPS: "(torch.randn(d_model) / self.scale).repeat(vocab_size, 1)"
            },
        ),
        "the root of half the width, as for positions": (
            "another standard deviation",
            {" / self.scale": " / math.sqrt(d_model / 2)"},
        ),
        "wraps nn.Embedding": (
            "written without Embedding",
            {
                "self.table = nn.Parameter(start)": (
                    "self.table = nn.Embedding(vocab_size, d_model, _weight=start)"
                ),
                "self.table[ids]": "self.table(ids)",
            },
        ),
    },
    "table_gradient": {
        "keeps one contribution of an id that occurs twice": (
            "keeps only one of its gradients",
            """
def table_gradient(ids, upstream, rows):
    grad = torch.zeros(rows, upstream.shape[1], dtype=upstream.dtype)
    grad[ids] += upstream
    return grad
""",
        ),
        "averages what an id receives": (
            "you take the mean of what an id receives",
            {
                "one_hot.T @ upstream": "one_hot.T @ upstream / one_hot.sum(0).clamp(1)[:, None]"
            },
        ),
        "ignores rows": (
            "yours ends at the largest id",
            {", num_classes=rows": ""},
        ),
        "counts uses and ignores upstream": (
            "you count how often an id is read",
            {"@ upstream": "@ torch.ones_like(upstream)"},
        ),
        "is the gradient of the vectors, not of the table": (
            "yours has one row for each id",
            {"one_hot.T @ upstream": "upstream"},
        ),
        "gives PAD's row no gradient": (
            "id 0 was read as well",
            {"one_hot.T @": "(one_hot * (ids > 0)[:, None]).T @"},
        ),
        "divides by the root of the count": (
            "is the sum of all gradients",
            {
                "one_hot.T @ upstream": "one_hot.T @ upstream / one_hot.sum(0).clamp(1)[:, None].sqrt()"
            },
        ),
        "leaves it to autograd": (
            "written without backward",
            """
def table_gradient(ids, upstream, rows):
    table = torch.zeros(rows, upstream.shape[1], dtype=upstream.dtype)
    F.embedding(ids, table.requires_grad_()).backward(upstream)
    return table.grad
""",
        ),
    },
    "pad_in_front": {
        "pads at the end": (
            "the padding is to stand in front",
            {"[pad_id] * begin + row": "row + [pad_id] * begin"},
        ),
        "turns the whole row round": (
            "the words stand in reverse order",
            {"begin + row": "begin + row[::-1]"},
        ),
        "PAD is always 0": ("the filler is pad_id", {"[pad_id]": "[0]"}),
        "begins are lengths": (
            "your columns are the lengths",
            {"), begins": "), [len(row) for row in sequences]"},
        ),
        "counts columns from 1": (
            "yours count from 1",
            {"), begins": "), [begin + 1 for begin in begins]"},
        ),
        "the column of the last padding": (
            "the column of the last PAD",
            {"), begins": "), [begin - 1 for begin in begins]"},
        ),
        "cuts to the shortest instead of padding": (
            "has the shape",
            {"max(": "min(", "begin + row": "begin + row[:width]"},
        ),
        "shares the padding between both sides": (
            "the last token belongs into the last column",
            {
                "[pad_id] * begin + row": (
                    "[pad_id] * (begin // 2) + row + [pad_id] * (begin - begin // 2)"
                )
            },
        ),
        "changes the caller's lists": (
            "the caller's lists are changed",
            """
def pad_in_front(sequences, pad_id):
    width = max(map(len, sequences))
    begins = [width - len(row) for row in sequences]
    for row, begin in zip(sequences, begins):
        row[:0] = [pad_id] * begin
    return torch.tensor(sequences), begins
""",
        ),
        "begins as a tensor": (
            "a list of whole numbers",
            {"), begins": "), torch.tensor(begins)"},
        ),
        "finds the beginning by the first token": (
            "of the first token of an empty list",
            {
                "), begins": "), [r.index(row[0]) for r, row in zip(rows, sequences)]"
            },
        ),
    },
    "pretrained_table": {
        "rows in the order of the download": (
            "a token has its own vector if there is one",
            {
                "in vocabulary.tokens": """in sorted(
        vocabulary.tokens,
        key=[*vocabulary.tokens[:4], *downloaded, *sorted(vocabulary.tokens)].index,
    )"""
            },
        ),
        "forgets that the special tokens have rows": (
            "the four special tokens have rows too",
            {
                "vocabulary.tokens": "vocabulary.tokens[4:]",
                "rows[vocabulary.pad_id] = 0": "",
            },
        ),
        "PAD gets the mean": (
            "row 0 is PAD's",
            {"rows[vocabulary.pad_id] = 0": ""},
        ),
        "zeros for every token without a vector": (
            "so that the model takes it for PAD",
            {".mean(dim=0)": ".mean(dim=0).mul(0)"},
        ),
        "zeros for all special tokens": (
            "only PAD is zero",
            {"[vocabulary.pad_id] = 0": "[:4] = 0"},
        ),
        "the mean of the words that are used, not of all": (
            "it is to be that of all downloaded ones",
            {
                "list(downloaded.values())": "[downloaded[t] for t in vocabulary.tokens if t in downloaded]"
            },
        ),
        "one mean over all numbers": (
            "and else the mean of all",
            {".mean(dim=0)": ".mean().expand(len([*downloaded.values()][0]))"},
        ),
        "the mean joins the dictionary": (
            "the dictionary of the caller is changed",
            {".tolist()": ".tolist()\n    downloaded['mean'] = mean"},
        ),
    },
    "merge_commonest": {
        "merges the first occurrence only": (
            "merge every place of the pair",
            {"i += 2": "return merged + tokens[i + 2 :]"},
        ),
        "the last of equally common pairs wins": (
            "of two common pairs the first wins",
            {COUNTER: "Counter([*zip(tokens, tokens[1:])][::-1])"},
        ),
        "merges from the right": (
            "go from left to right",
            """
def merge_commonest(tokens):
    pairs = list(zip(tokens, tokens[1:]))
    left, right = max(pairs, key=pairs.count)
    merged, i = [], len(tokens)
    while i > 0:
        n = 2 if tokens[max(i - 2, 0) : i] == [left, right] else 1
        merged.insert(0, "".join(tokens[i - n : i]))
        i -= n
    return merged
""",
        ),
        "cuts the text into pairs before it counts": (
            "every token has a pair with the next one",
            {COUNTER: "Counter([*zip(tokens, tokens[1:])][::2])"},
        ),
        "leaves out the spaces": (
            "a space is a token like any other",
            {
                COUNTER: """Counter(
        [p for p in zip(tokens, tokens[1:]) if " " not in p] or zip(tokens, tokens[1:])
    )"""
            },
        ),
        "does not see that a pair of tokens is more than its text": (
            "a pair is two tokens, not their text",
            {
                "tokens[i : i + 2] == [left, right]": '"".join(tokens[i : i + 2]) == left + right and i + 1 < len(tokens)'
            },
        ),
        "counts a pair by its text": (
            "which pair of neighbours is the commonest",
            {
                COUNTER: """Counter(zip(tokens, tokens[1:]))
    texts = Counter("".join(pair) for pair in zip(tokens, tokens[1:]))""",
                "pairs.get": 'lambda pair: texts["".join(pair)]',
            },
        ),
        "joins the tokens to a text": (
            "you return a str",
            {"return merged": 'return "".join(merged)'},
        ),
        "changes the list while it reads": (
            "the caller's list is changed",
            {
                "merged.append(left + right)\n            i += 2": (
                    "tokens[i : i + 2] = [left + right]\n            i += 1"
                ),
                "merged.append(tokens[i])\n            i += 1": "i += 1",
                "return merged": "return tokens",
            },
        ),
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
