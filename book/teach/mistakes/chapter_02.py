"""Wrong answers to the exercises of chapter 2, each by its misconception."""

SCALE = " / math.sqrt(keys.shape[-1])"
SHIFT = " - scores.max()"
WRONG = {
    "scaled_shares": {
        "does not divide by the root of the width": (
            "the scores are not scaled",
            {SCALE: ""},
        ),
        "divides by the width itself": (
            "you divide by the width, and not by its root",
            {SCALE: " / keys.shape[-1]"},
        ),
        "divides the shares instead of the scores": (
            "scale the scores, not the shares",
            {SCALE: "", ".sum()": f".sum(){SCALE}"},
        ),
        "divides the scores by their sum": (
            "some shares are negative",
            {f"torch.exp(scores{SHIFT})": "scores"},
        ),
        "types the formula in, which overflows": (
            "so that no exponential is too large",
            {SHIFT: ""},
        ),
        "subtracts the largest score only if it is positive": (
            "scores far below 0 give NaN",
            {SHIFT: f"{SHIFT}.clamp(min=0)"},
        ),
        "subtracts the first score": (
            "these are not the shares",
            {SHIFT: " - scores[0]"},
        ),
        "calls a ready-made softmax": (
            "written without softmax",
            {"exponentials / exponentials.sum()": "scores.softmax(-1)"},
        ),
    },
    "finds_wrong_softmax": {
        "looks only at the sums": (
            "finds 10 of 15 wrong ones",
            {
                "(f(scores), torch.softmax(before, -1))": "(f(scores).sum(-1), torch.softmax(before, -1).sum(-1))",
                "assert torch.equal(scores, before)": "pass",
            },
        ),
        "tries a table only": (
            "lets pass lets the entries of axis 1 compete",
            {"2, 3, 5": "3, 5", "[1, 2, 3:]": "[2, 3:]", "x[0, 0]": "x[0]"},
        ),
        "forgets large scores": (
            "finds 13 of 15 wrong ones",
            {"x[0] += 1000": "pass"},
        ),
        "forgets minus infinity": (
            "takes a score of -inf for 0",
            {"x[1, 2, 3:] = -math.inf": "pass"},
        ),
        "does not see that the scores are changed": (
            "changes the scores that it is given",
            {"assert torch.equal(scores, before)": "pass"},
        ),
        "asks for exact equality": (
            "it refuses a right one",
            {"torch.testing.assert_close(f": "assert torch.equal(f"},
        ),
        "returns a verdict instead of raising": (
            "it accepts a function that returns the scores",
            {"torch.testing.assert_close(": "return torch.allclose("},
        ),
    },
    "softmax_backward": {
        "keeps only the diagonal of the Jacobian": (
            "beside its diagonal J has entries too",
            {"(g - (p * g).sum(-1, keepdim=True))": "g * (1 - p)"},
        ),
        "forgets that the others lose": (
            "what a share wins, the others lose",
            {"(g - (p * g).sum(-1, keepdim=True))": "g"},
        ),
        "sums over all rows": (
            "each row has a sum of its own",
            {"-1, keepdim=True": ""},
        ),
        "takes the plain mean of the gradient off": (
            "the mean to take off is weighted",
            {"(p * g).sum": "g.mean"},
        ),
        "believes in p - y behind every softmax": (
            "is for a softmax under cross-entropy",
            {"p * (g - (p * g).sum(-1, keepdim=True))": "p - g"},
        ),
        "sums along axis 1, which is the last of a table": (
            "right for a table",
            {"sum(-1": "sum(1"},
        ),
        "multiplies by the derivative of a sigmoid": (
            "this is not what autograd sends back",
            {"p * (g - ": "p * (1 - p) * (g - "},
        ),
        "builds the Jacobian": (
            "the matrix must not be built",
            {
                "p * (g - (p * g).sum(-1, keepdim=True))": "((p.diag_embed() - p[..., None] * p[..., None, :]) @ g[..., None])[..., 0]"
            },
        ),
    },
    "win_probability": {
        "takes 400 points for the temperature": (
            "a lead of one temperature",
            {" / math.log(odds)": ""},
        ),
        "counts the factor in powers of 2": (
            "you in powers of 2",
            {"math.log(": "math.log2("},
        ),
        "takes the factor for a lead": (
            "which power of e is it",
            {"math.log(odds)": "odds"},
        ),
        "takes odds for a probability": (
            "these are the odds",
            {
                "return softmax": "share = softmax",
                ".item()": ".item()\n    return share / (1 - share)",
            },
        ),
        "gives the share of the other player": (
            "the share of the other player",
            {"[0].item": "[1].item"},
        ),
        "gives each player a share of the points": (
            "only the lead counts",
            {"softmax(ratings / temperature)": "(ratings / ratings.sum())"},
        ),
        "takes the amount of the lead": (
            "how many times as likely",
            {"[mine, theirs]": "[abs(mine - theirs), 0]"},
        ),
        "writes the rule of chess without softmax": (
            "can softmax do the work",
            {
                "softmax(ratings / temperature)[0].item()": "1 / (1 + odds ** ((theirs - mine) / points))"
            },
        ),
    },
    "streamed_mean": {
        "does not correct what was summed before": (
            "and you leave it so",
            {
                "correction * total": "total",
                "correction * weighted": "weighted",
            },
        ),
        "takes the mean of the blocks' means": (
            "a block with higher scores counts more",
            {
                "correction * total + exp.sum()": "total + 1",
                "correction * weighted + exp": "weighted + exp / exp.sum()",
            },
        ),
        "forgets to divide at the end": (
            "for a few blocks of ordinary scores",
            {"weighted / total": "weighted"},
        ),
        "keeps all blocks for the end": (
            "each block overwrites the one before",
            {"in blocks:": "in [*blocks]:"},
        ),
        "subtracts nothing": (
            "subtract the largest score so far",
            {"max(largest, block_scores.max().item())": "0.0"},
        ),
        "starts with a large negative number": (
            "with which one do you begin",
            {"= -math.inf, 0.0": "= -1e9, 0.0", "new == -math.inf": "False"},
        ),
        "gives NaN if the first block holds only -inf": (
            "changes nothing, also the first one",
            {"if new == -math.inf": "if False"},
        ),
        "copies all blocks before it begins": (
            "what you keep grows",
            {"in blocks:": "in [(s.clone(), v.clone()) for s, v in blocks]:"},
        ),
    },
    "without": {
        "sets every key to 0, so that no score is left": (
            "nothing is left of the keys",
            {"keys - torch.outer(multiples, direction)": "0 * keys"},
        ),
        "subtracts the direction itself": (
            "you take the same off all",
            {"torch.outer(multiples, direction)": "direction"},
        ),
        "subtracts the score times the direction": (
            "but the shadow on its line stays the same",
            {" / (direction @ direction)": ""},
        ),
        "divides by the length once, not by its square": (
            "and you divide by it once",
            {"(direction @ direction)": "direction.norm()"},
        ),
        "returns the shadows": (
            "you return the shadows",
            {"keys - torch": "torch"},
        ),
        "casts the shadow of the direction on each key": (
            "you shorten each key along its own line",
            {
                "(direction @ direction)": "keys.square().sum(dim=1)",
                "torch.outer(multiples, direction)": "multiples[:, None] * keys",
            },
        ),
        "makes what is left as long as the key was": (
            "yours is longer",
            {
                "return ": "rest = ",
                "outer(multiples, direction)": """outer(multiples, direction)
    return F.normalize(rest, dim=1) * keys.norm(dim=1, keepdim=True)""",
            },
        ),
        "sets the direction's largest column to 0": (
            "a key still has a score",
            {
                "keys - torch.outer(multiples, direction)": (
                    "keys.index_fill(1, direction.abs().argmax(), 0)"
                )
            },
        ),
    },
}

# Mutants of the solutions that are right too, and why.
ANOTHER_ROW = "another row of the same tensor shows the same mistakes"
ANY_ORDER = "what is compared may come in any order"
ANOTHER_SIZE = "three different sizes, or equal ones elsewhere, show as much"
FORGOTTEN = (
    "the first finite score multiplies what stood there by exp(-inf), 0"
)
EQUIVALENT = {
    "finds_wrong_softmax": {
        "assert torch.equal(before, scores)": ANY_ORDER,
        "for scores in (x, x[-1, 0].float()):": ANOTHER_ROW,
        "for scores in (x, x[0, -1].float()):": ANOTHER_ROW,
        "for scores in (x, x[0, 1].float()):": ANOTHER_ROW,
        "for scores in (x, x[1, 0].float()):": ANOTHER_ROW,
        "for scores in (x[0, 0].float(), x):": ANY_ORDER,
        "torch.testing.assert_close(torch.softmax(before, -1), f(scores))": ANY_ORDER,
        "x = torch.randn(2, 3, 4, dtype=torch.float64)": ANOTHER_SIZE,
        "x = torch.randn(2, 3, 6, dtype=torch.float64)": ANOTHER_SIZE,
        "x = torch.randn(2, 4, 5, dtype=torch.float64)": ANOTHER_SIZE,
        "x = torch.randn(3, 3, 5, dtype=torch.float64)": ANOTHER_SIZE,
        "x[0] += 1001": "1,001 is as far from 0 as 1,000",
        "x[0] += 999": "999 is as far from 0 as 1,000",
        "x[1, 1, 3:] = -math.inf": ANOTHER_ROW,
        "x[1, 2, 2:] = -math.inf": "one score more or less is hidden",
        "x[1, 2, 4:] = -math.inf": "one score more or less is hidden",
    },
    "win_probability": {
        "return softmax(ratings / temperature)[0]": "a tensor without axes is as good as a number",
    },
    "streamed_mean": {
        "largest, total, weighted = -math.inf, -1.0, 0.0": FORGOTTEN,
        "largest, total, weighted = -math.inf, 0.0, -1.0": FORGOTTEN,
        "largest, total, weighted = -math.inf, 0.0, 1.0": FORGOTTEN,
        "largest, total, weighted = -math.inf, 1.0, 0.0": FORGOTTEN,
        "new = max(largest, block_scores.max())": "a tensor of one number is as good as the number",
    },
}
