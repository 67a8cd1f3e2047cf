"""Wrong answers to the exercises of chapter 9, by misconception."""

PICKED = "log_p[range(len(target)), target]"
WRONG = {
    "log_probability": {
        "leaves EOS out": ("EOS is missing", {PICKED: PICKED + "[:-1]"}),
        "does not shift: each position says what it reads": (
            "each position is asked for what it reads",
            {
                "*text]]": "*text, characters.eos_id]]",
                "target = [*text": "target = [characters.bos_id, *text",
            },
        ),
        "takes the logarithm afterwards": (
            "so small that it is 0 as a number",
            {"logits.log_softmax(-1)": "logits.softmax(-1).log()"},
        ),
        "forgets the causal mask": (
            "your positions see what comes after them",
            {"given, mask, None": "given, None, None"},
        ),
        "adds logits, which are no logarithms of probabilities": (
            "logits are no logarithms",
            {".log_softmax(-1)": ""},
        ),
        "BOS is not read": (
            "Write the three rows of ids".lower(),
            {"[[characters.bos_id, *text]]": "[[*text, characters.eos_id]]"},
        ),
        "puts EOS behind the text that it is given": (
            "your code changes its input text",
            {
                "target = [*text, characters.eos_id]": "target = text\n    text.append(characters.eos_id)"
            },
        ),
        "one run for each character": (
            "one pass gives all factors",
            """
def log_probability(book, source, text):
    asked = torch.tensor([source], device=device)
    said, total = [characters.bos_id], 0.0
    for token in [*text, characters.eos_id]:
        given = torch.tensor([said], device=device)
        logits = book(asked, given, None, None)[0, -1]
        total += logits.log_softmax(-1)[token].item()
        said.append(token)
    return total
""",
        ),
    },
    "wait_mask": {
        "one word too many": (
            "one word too many",
            {
                "heard = torch.arange(s_len, device=device) <": "heard = torch.arange(s_len, device=device) <="
            },
        ),
        "the first character waits for nothing": (
            "one word too few",
            {"now + k": "now + k - 1"},
        ),
        "hears k words and no more": (
            "stops listening after k words",
            {"now + k": "0 * now + k"},
        ),
        "True = hidden": (
            "hides the words that were heard",
            {"heard[None, None]": "~heard[None, None]"},
        ),
        "queries and keys exchanged": (
            "queries are the rows",
            {"heard[None, None]": "heard.T[None, None]"},
        ),
        "listens to every second word": (
            "how many words has each character heard",
            {"now + k": "2 * now + k"},
        ),
        "the k of the task": (
            "right at first, but not",
            {"now + k": "now + 3"},
        ),
        "the sizes of the task": (
            "right at first, but not",
            {"torch.arange(s_len": "torch.arange(8"},
        ),
    },
    "finds_wrong_decoder": {
        "returns False instead of raising": (
            "finds 0 of 24 wrong ones",
            {
                "assert torch.equal(moved, should)": "if not torch.equal(moved, should): return False"
            },
        ),
        "asks for exact equality": (
            "refuses a right one, that rounds a little differently",
            {"> 1e-4": "> 0"},
        ),
        "forgets that dropout draws anew": (
            "refuses a right one, that drops numbers in training",
            {"        torch.manual_seed(0)\n": ""},
        ),
        "adds 1, which a norm takes away": (
            "lets pass forgets the causal mask, and norms first",
            {
                "other[which, sentence, row] = torch.randn(width)": "other[which, sentence, row] += 1",
                "torch.equal(moved, should)": "not (moved & ~should).any()",
            },
        ),
        "tests in evaluation mode only": (
            "lets pass looks ahead in training only",
            {"(True, False)": "(False,)"},
        ),
        "looks for leaks only": (
            "lets pass hides the past as well",
            {"torch.equal(moved, should)": "not (moved & ~should).any()"},
        ),
        "changes the first sentence only": (
            "lets pass reads the PAD of the memory",
            {"torch.ones(2, 2, 8)": "torch.ones(2, 1, 8)"},
        ),
        "changes vectors of x only": (
            "lets pass never looks at the memory",
            {"torch.ones(2, 2, 8)": "torch.ones(1, 2, 8)"},
        ),
    },
    "look_across": {
        "forgets the bias of the queries": (
            "the bias of the queries is missing",
            {"W_q, bias)": "W_q)"},
        ),
        "forgets the output projection": (
            "nothing has mixed them yet",
            {
                "attention.out_proj(merge_heads(context))": "merge_heads(context)"
            },
        ),
        "forgets the mask": (
            "the mask is not used",
            {"(q, k, may_attend)": "(q, k)"},
        ),
        "takes the mask of the first query for all": (
            "a row for each query",
            {
                "(q, k, may_attend)": "(q, k, may_attend if may_attend is None else may_attend[:, :, :1])"
            },
        ),
        "merges without bringing the heads back": (
            "merged in a wrong order",
            {"merge_heads(context)": "context.reshape(query.shape)"},
        ),
        "the last matrix without its bias": (
            "is not that of the whole attention",
            {
                "attention.out_proj(merge_heads(context))": "merge_heads(context) @ attention.out_proj.weight.T"
            },
        ),
        "asks with the vectors themselves": (
            "the queries are not projected",
            {"F.linear(query, W_q, bias)": "query"},
        ),
        "projects the queries three times": (
            "written without project",
            """
def look_across(attention, query, k, v, may_attend=None):
    q, _, _ = attention.project(query, query, query)
    context = attention_weights(q, k, may_attend) @ v
    return attention.out_proj(merge_heads(context))
""",
        ),
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "log_probability": {
        "logits = book(asked, given, mask, None)[-1]": "the first of one is the last of one",
        "return log_p[range(len(target)), target].sum()": "a tensor without axes is a number",
    },
    "finds_wrong_decoder": {
        "assert torch.equal(should, moved)": "equal is equal both ways",
        "for mode in (False, True):": "both modes are tried, in any order",
        "for which, sentence, row in torch.ones(2, 2, 8).nonzero():": "a tensor of one number is an index as well",
        "moved = ((before - run(other))).norm(dim=-1) > 1e-4": "a difference has the same size both ways",
        "moved = ((run(other) - before).norm(dim=-1) >= 0.0001)": "nothing moves by exactly this much",
        "other[which, sentence, row] = width": "a vector of equal numbers is another vector as well",
        "torch.manual_seed(-1)": "one seed is as good as another",
        "torch.manual_seed(1)": "one seed is as good as another",
        "words = torch.tensor([[3], [8]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[7], [3]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[8], [2]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[8], [4]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[9], [3]], device=device) # the rest is PAD": "other lengths show as much",
    },
}
