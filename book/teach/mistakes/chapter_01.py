"""Wrong answers to the exercises of chapter 1, by their misconceptions."""

ENCODED = "vocabulary.encode(text)"
IDS = "[vocabulary.ids.get(t, vocabulary.unk_id) for t in {}]"
SHARE = "ids.count(vocabulary.unk_id) / len(ids)"
STEPS = "torch.randn(vocab_size, d_model) / self.scale"
LOOK_UP = "self.table[ids] * self.scale"
COUNTER = "Counter(zip(tokens, tokens[1:], strict=False))"
WRONG = {
    "unknown_share": {
        "counts distinct tokens": (
            "a set holds it once",
            {ENCODED: IDS.format("set(vocabulary.split(text))")},
        ),
        "cuts at the spaces, so that punctuation sticks to its word": (
            "a comma sticks to its word",
            {ENCODED: IDS.format("text.split()")},
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
            {ENCODED: IDS.format("split_words(text)")},
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
            "a plain tensor is none",
            {"nn.Parameter(start)": "start"},
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
        "starts at standard deviation 1, as nn.Embedding does": (
            "the numbers of the table are to lie around 0",
            {" / self.scale": ""},
        ),
        "one vector for all words": (
            "no two words start alike",
            {
                STEPS: "(torch.randn(d_model) / self.scale).repeat(vocab_size, 1)"
            },
        ),
    },
    "table_gradient": {
        "keeps one contribution of an id that occurs twice": (
            "keeps only one of its gradients",
            {
                "return one_hot.T @ upstream": "grad = 0.0 * (one_hot.T @ upstream)\n    grad[ids] += upstream\n    return grad"
            },
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
            "written without autograd",
            {
                "    return one_hot.T @ upstream": "    table = one_hot[:rows].new_zeros(rows, upstream.shape[1]).requires_grad_()\n    return torch.autograd.grad(table[ids], table, upstream)[0]"
            },
        ),
    },
    "pad_in_front": {
        "pads at the end": (
            "the padding is to stand in front",
            {"[pad_id] * begin + row": "row + [pad_id] * begin"},
        ),
        "PAD is always 0": ("the filler is pad_id", {"[pad_id]": "[0]"}),
        "begins are lengths": (
            "your columns are the lengths",
            {"), begins": "), [len(row) for row in sequences]"},
        ),
        "the column of the last padding": (
            "the column of the last PAD",
            {"), begins": "), [begin - 1 for begin in begins]"},
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
            {
                "[pad_id] * begin + row": "row",
                "    rows =": """    for begin, row in zip(begins, sequences):
        row[:0] = [pad_id] * begin
    rows =""",
            },
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
            {
                "merged, i = [], 0": "merged, i, tokens = [], 0, tokens[::-1]",
                "== [left, right]": "== [right, left]",
                "return merged": "return merged[::-1]",
            },
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
EQUIVALENT = {
    "pad_in_front": {
        "for begin, row in zip(begins, sequences, strict=False)": "there is one beginning a sequence, so the lengths agree",
    },
    "pretrained_table": {
        "rows = torch.tensor(rows)": "a mean among the rows makes all of them floats",
    },
}
