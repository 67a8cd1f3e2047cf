"""Wrong answers to the exercises of chapter 19, by misconception."""

FOUND = "torch.outer(key, found) / key.square().sum()"
WRONG = {
    "tokens_to_pay": {
        "equal is enough": (
            "both keep equally much",
            {
                "state // cache_bytes(1, 1, kv_heads, d_head) + 1": "-(-state // cache_bytes(1, 1, kv_heads, d_head))"
            },
        ),
        "rounded down": ("one token more", {" + 1": ""}),
        "keys only": (
            "a key and a value, and you count one",
            {"cache_bytes(1, 1, kv_heads, d_head)": "(2 * kv_heads * d_head)"},
        ),
        "one head's state": ("a matrix of its own", {"4 * heads": "4"}),
        "a state of half precision": (
            "and one of the cache 2",
            {"4 * heads": "2 * heads"},
        ),
        "a cache of single precision": (
            "and one of the cache 2",
            {"kv_heads, d_head)": "kv_heads, d_head, 4)"},
        ),
        "a key for each head of the state": (
            "not for the heads of the state",
            {"cache_bytes(1, 1, kv_heads": "cache_bytes(1, 1, heads"},
        ),
        "parts of a token": (
            "a whole number is asked for",
            {"//": "/"},
        ),
    },
    "forget_key": {
        "as if every key had length 1": (
            "A key twice as long finds",
            {" / key.square().sum()": ""},
        ),
        "divides by the length once": (
            "you divide by the length of the key once",
            {"key.square().sum()": "key.norm()"},
        ),
        "adds what was found": (
            "is added once more",
            {"memory - ": "memory + "},
        ),
        "clears the whole memory": (
            "everything is forgotten",
            {f"memory - {FOUND}": "torch.zeros_like(memory)"},
        ),
        "takes what was found from all rows": (
            "from every row",
            {FOUND: "found"},
        ),
        "half a rate": ("write the whole error", {".sum()": ".sum() / 2"}),
        "in place": (
            "changes its input memory",
            {"return memory - ": "return memory.sub_(", ".sum()": ".sum())"},
        ),
        "a decay where the key is large": (
            "every key at right angles to it",
            {
                FOUND: "memory * (key / key.norm()).abs()[:, None]",
            },
        ),
    },
    "goes_on": {
        "does not look into the old memory": (
            "no line looks into the old memory",
            {"(v - k @ memory)": "v"},
        ),
        "begins anew": (
            "the old memory is gone at the end",
            {"return memory + ": "return "},
        ),
        "no rate where lines meet": (
            "the rate stands on one side only",
            {"meets = beta[:, None] * ": "meets = "},
        ),
        "no rate where it writes": (
            "the rate is missing where the error is written",
            {"errors = beta[:, None] * ": "errors = "},
        ),
        "all errors from the old memory": (
            "no line knows what the others",
            {"k.mT @ written": "k.mT @ errors"},
        ),
        "the diagonal is part of the system": (
            "a line takes off what it writes itself",
            {
                "meets, errors, upper=False, unitriangular=True": "meets + torch.eye(len(k)).to(k), errors, upper=False"
            },
        ),
        "not triangular": (
            "the system must be triangular",
            {
                "linalg.solve_triangular": "linalg.solve",
                "meets, errors, upper=False, unitriangular=True": "meets - torch.diag(meets.diagonal() - 1), errors",
            },
        ),
        "a loop over the lines": (
            "there is a loop",
            """
def goes_on(memory, k, v, beta):
    for key, value, rate in zip(k, v, beta, strict=True):
        memory = overwrites(memory, key, value, rate)
    return memory
""",
        ),
    },
    "who_reads": {
        "softmax": (
            "these are attention's weights",
            """
def who_reads(q, k, beta, decay):
    scores = q @ k.mT / k.shape[-1] ** 0.5
    later = torch.ones(len(k), len(k)).triu(1) > 0
    return scores.masked_fill(later, -torch.inf).softmax(-1)
""",
        ),
        "a memory that adds": (
            "no line takes off what its key finds",
            """
def who_reads(q, k, beta, decay):
    rows, table = torch.zeros(len(k), k.shape[1]).to(k), []
    for i in range(len(k)):
        rows = rows * decay[i]
        rows[i] = beta[i] * k[i]
        table.append(rows @ q[i])
    return torch.stack(table)
""",
        ),
        "a column for each output": (
            "the table lies on its side",
            {"decay)[0]": "decay)[0].mT"},
        ),
        "without the decay": (
            "nothing fades",
            {"beta, decay)[0]": "beta)[0]"},
        ),
        "one memory for all": (
            "times v, this is not what the rule finds",
            {
                "return delta_rule(q, k, values, beta, decay)[0]": "return q @ delta_rule(q, k, values, beta, decay)[1]"
            },
        ),
        "rate 1": (
            "as if its rate were 1",
            {"values, beta, decay": "values, torch.ones_like(beta), decay"},
        ),
        "asks with the keys": (
            "the queries are to ask",
            {"delta_rule(q, k,": "delta_rule(k, k,"},
        ),
        "divided, so that rows sum to 1": (
            "times v, this is not what the rule finds",
            {
                "[0]\n": "[0].softmax(-1)\n",
                "decay)[0]": "decay)[0].softmax(-1)",
            },
        ),
    },
}

# Mutants of the solutions that are right too, and why.
PRODUCT = "only the product of the sizes counts"
EQUIVALENT = {
    "tokens_to_pay": {
        "return state // cache_bytes(1, 1, d_head, kv_heads) + 1": PRODUCT,
        "return state // cache_bytes(1, kv_heads, 1, d_head) + 1": PRODUCT,
    },
}
