"""Wrong answers to the exercises of chapter 4, each by its misconception."""

WRONG = {
    "window_mask": {
        "the window reaches into the future": (
            "reaches into the future",
            {"(distance >= 0) & (distance < width)": "distance.abs() < width"},
        ),
        "width counts the positions before the query only": (
            "yours sees one more",
            {"distance < width": "distance <= width"},
        ),
        "queries and keys are exchanged": (
            "rows are queries and columns are keys",
            {"position[:, None] - position": "position - position[:, None]"},
        ),
        "the window stands still at the beginning": (
            "your window does not move",
            {"distance < width": "position < width"},
        ),
        "True means hidden": (
            "your mask says True where a position is hidden",
            {"return (": "return ~("},
        ),
        "a query does not see itself": (
            "the diagonal must be True",
            {"distance >= 0": "distance > 0", "< width": "<= width"},
        ),
        "two axes are enough": ("has the shape", {"[None, None]": ""}),
        "a width for all times": (
            "not for other numbers",
            """
def window_mask(length, width):
    position = torch.arange(length)
    distance = position[:, None] - position
    return ((distance >= 0) & (distance < 3))[None, None]
""",
        ),
    },
    "my_attention": {
        "a large negative number is as good as minus infinity": (
            "no number is minus infinity",
            {
                "~(may_attend | empty), -math.inf": "~may_attend, -1e9",
                ".masked_fill(empty, 0.0)": "",
            },
        ),
        "an empty row is nobody's concern": (
            "gives NaN, because softmax",
            {
                "(may_attend | empty)": "may_attend",
                ".masked_fill(empty, 0.0)": "",
            },
        ),
        "NaN is replaced in the output": (
            "its gradient is NaN",
            """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    weights = softmax(scores.masked_fill(~may_attend, -math.inf))
    return (weights @ v).nan_to_num(0.0)
""",
        ),
        "a softmax that overflows is replaced by another one": (
            "its gradient is NaN",
            {
                "return softmax(scores)": (
                    "risky = scores.exp() / scores.exp().sum(-1, True)\n"
                    "    is_fine = risky.sum(-1, True) > 0.9\n"
                    "    weights = torch.where(is_fine, risky, softmax(scores))\n"
                    "    return weights"
                )
            },
        ),
        "the softmax without its largest score": (
            "for numbers 300 times as large",
            {"softmax(scores)": "(scores.exp() / scores.exp().sum(-1, True))"},
        ),
        "a billion below is far enough, and the fill is finite": (
            "a hidden key spoils the row",
            {"-math.inf": "-1e9"},
        ),
        "an empty row may attend to everything": (
            "must get 0",
            {".masked_fill(empty, 0.0)": ""},
        ),
        "attends without a gradient": (
            "is it cut off",
            {"q @ k.mT": "q.data @ k.data.mT", "@ v": "@ v.data"},
        ),
    },
    "packed_mask": {
        "only the first row of the batch is read": (
            "in every row",
            {
                "return (same & real)[:, None] & causal": (
                    "return ((same & real)[:, None] & causal)[:1].expand("
                    "len(sentence), -1, -1, -1)"
                )
            },
        ),
        "padding is a sentence of its own": (
            "padding may not be looked at",
            {"same & real": "same"},
        ),
        "words of the same sentence may look ahead": (
            "nobody may look ahead",
            {" & causal": ""},
        ),
        "earlier sentences may be read": (
            "your sentences read those before them",
            {
                "sentence[:, :, None] == sentence[:, None, :]": (
                    "sentence[:, :, None] >= sentence[:, None, :]"
                )
            },
        ),
        "one padding mask is all it needs": (
            "all else is seen",
            {"same & real": "real"},
        ),
        "only the neighbour is compared": (
            "compare the number of each query with that of each key",
            """
def packed_mask(sentence):
    same = sentence == sentence.roll(1, dims=1)
    real = (sentence != 0)[:, None, None]
    causal = causal_mask(sentence.shape[1], sentence.device)
    return same[:, None, None] & real & causal
""",
        ),
        "a PAD that asks sees all sentences": (
            "a PAD belongs to no sentence",
            {
                "(same & real)": (
                    "((same | (sentence == 0)[:, :, None]) & real)"
                )
            },
        ),
        "the axis of the heads is missing": (
            "has the shape",
            {"(same & real)[:, None] & causal": "same & real & causal[0]"},
        ),
    },
    "decoder_mask": {
        "queries are hidden instead of keys": (
            "your rows of padding are hidden",
            {"[:, None, None]": "[:, None, :, None]"},
        ),
        "1 means hidden": (
            "a tokenizer's 1 means a real token",
            {"= from_zero_one": "= ~from_zero_one"},
        ),
        "only lengths count, so padding on the left is kept": (
            "a row whose padding stands in front is wrong",
            {
                "from_zero_one(zero_one)[:, None, None]": (
                    "padding_mask(zero_one.sum(dim=1), zero_one.shape[1])"
                )
            },
        ),
        "either reason to look is enough": (
            "with | one of them is enough",
            {"real &": "real |"},
        ),
        "the numbers are multiplied and stay numbers": (
            "holds int64, not bool",
            {"real = from_zero_one(zero_one)": "real = zero_one"},
        ),
        "a row with nothing to see should see everything": (
            "there is nothing to see",
            {
                "return": "mask =",
                "zero_one.device)": (
                    "zero_one.device)\n"
                    "    return mask | ~mask.any(dim=-1, keepdim=True)"
                ),
            },
        ),
        "all sentences get the mask of the first": (
            "compare your mask with the text, row by row",
            {"zero_one)[:, None": "zero_one)[:1].expand_as(zero_one)[:, None"},
        ),
        "the rows of padding are hidden too": (
            "Hide keys only",
            {"return real &": "return real & real.mT &"},
        ),
    },
    "prefix_mask": {
        "both conditions must hold": (
            "a prompt token must see the whole prompt",
            {" | ": " & "},
        ),
        "all sentences have the prompt of the first": (
            "a prompt of its own length",
            {"(prefix, length)": "(prefix[:1].expand_as(prefix), length)"},
        ),
        "all sentences have the longest prompt": (
            "a prompt of its own length",
            {"(prefix, length)": "(prefix.max().expand_as(prefix), length)"},
        ),
        "one token too many belongs to the prompt": (
            "the prompt ends one token earlier",
            {"(prefix, length)": "((prefix + 1).clamp(max=length), length)"},
        ),
        "prompt tokens may see what is written later": (
            "a prompt token sees the prompt and no more",
            {"(prefix, length)": "(prefix, length).mT"},
        ),
        "what is written sees everything": (
            "nobody may see what comes later",
            {
                "(prefix, length)": (
                    "(prefix, length) | ~padding_mask(prefix, length).mT"
                )
            },
        ),
        "what is written sees the prompt only": (
            "what was written before",
            {
                "causal_mask(length, prefix.device) |": "",
                "(prefix, length)": (
                    "(prefix, length).expand(-1, -1, length, -1)"
                ),
            },
        ),
        "the prompt is not read at all": (
            "prefix is not read",
            {
                "| padding_mask(prefix, length)": (
                    ".expand(len(prefix), -1, -1, -1)"
                )
            },
        ),
    },
    "depends_on": {
        "rows and columns are exchanged": (
            "yours are exchanged",
            {"columns, dim=1": "columns"},
        ),
        "nearly equal is equal": (
            "compare bit for bit",
            {
                "(attend(other) != attend(x))": (
                    "(~torch.isclose(attend(other), attend(x)))"
                )
            },
        ),
        "x itself is changed": (
            "changes its input x in place",
            {
                "x.clone()": "x",
                "attend(x)": "before",
                "columns = []": "columns, before = [], attend(x)",
            },
        ),
        "a row is set to zero, which it may be already": (
            "a row of 0 stays what it is",
            {"+= 1 + other[j].abs()": "= 0"},
        ),
        "a row is set to a number that it will not be": (
            "you set rows to fixed numbers",
            {"+= 1 + other[j].abs()": "= 1000"},
        ),
        "changes pile up from row to row": (
            "starting each time from x itself",
            {
                "columns = []": "columns, other = [], x.clone()",
                "        other = x.clone()\n": "",
            },
        ),
        "the changes of a row are added up": (
            "the changes cancel in a sum",
            {
                "(attend(other) != attend(x)).any(dim=1)": (
                    "(attend(other) - attend(x)).sum(dim=1) != 0"
                )
            },
        ),
        "asks the gradient instead of the output": (
            "a gradient says nothing of what goes through detach",
            """
def depends_on(attend, x):
    slopes = torch.autograd.functional.jacobian(attend, x)
    return (slopes != 0).any(dim=3).any(dim=1)
""",
        ),
    },
}

# Mutants of the solutions that are right too, and why.
LARGER = "the row becomes another one by this step as well, in the check"
EQUIVALENT = {
    "my_attention": {
        "scores = scores.masked_fill(~(may_attend), -math.inf)": "the NaN ends at a fill, forward at the second, backward at the first",
    },
    "packed_mask": {
        "real = (sentence != 0)[:, :, None]": "of two places in one sentence both are real, or none",
    },
    "depends_on": {
        "other[j] += 1 # larger, whatever it was": LARGER,
        "other[j] += 2 + other[j].abs() # larger, whatever it was": LARGER,
    },
}
