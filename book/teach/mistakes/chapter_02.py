"""Wrong answers to the exercises of chapter 2, each by its misconception."""

WRONG = {
    "scaled_shares": {
        "hides a ready-made softmax in a helper": """
# hint: write it without softmax
def my_softmax(scores):
    return torch.softmax(scores, 0)

def scaled_shares(query, keys):
    return my_softmax(keys @ query / math.sqrt(keys.shape[-1]))
""",
        "takes logarithms of a ready-made softmax": """
# hint: write it without log_softmax
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(keys.shape[-1])
    return torch.exp(torch.log_softmax(scores, 0))
""",
        "subtracts the first score": """
# hint: which constant may you subtract
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(keys.shape[-1])
    exponentials = torch.exp(scores - scores[0])
    return exponentials / exponentials.sum()
""",
        "does not divide by the root of the width": """
# hint: the scores are not scaled
def scaled_shares(query, keys):
    exp = torch.exp(keys @ query - (keys @ query).max())
    return exp / exp.sum()
""",
        "divides by the width itself": """
# hint: you divide by the width, 9, and not by its root
def scaled_shares(query, keys):
    scores = keys @ query / keys.shape[-1]
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "divides by the root of the number of keys": """
# hint: the root is that of the width
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(len(keys))
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "divides the shares instead of the scores": """
# hint: scale the scores, not the shares
def scaled_shares(query, keys):
    scores = keys @ query
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum() / math.sqrt(keys.shape[-1])
""",
        "types the formula in, which overflows": """
# hint: so that no exponential is too large
def scaled_shares(query, keys):
    exp = torch.exp(keys @ query / math.sqrt(keys.shape[-1]))
    return exp / exp.sum()
""",
        "divides the scores by their sum": """
# hint: some shares are negative
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(keys.shape[-1])
    return scores / scores.sum()
""",
        "takes the cosine for the score": """
# hint: a cosine takes the lengths out
def scaled_shares(query, keys):
    scores = keys @ query / (keys.norm(dim=1) * query.norm())
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "divides by the length of the query": """
# hint: you divide by the length of this query
def scaled_shares(query, keys):
    scores = keys @ query / query.norm()
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "calls a ready-made softmax": """
# hint: write it without softmax
def scaled_shares(query, keys):
    return torch.softmax(keys @ query / math.sqrt(keys.shape[-1]), -1)
""",
        "forgets to divide by the sum": """
# hint: so that the shares add up to 1
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(keys.shape[-1])
    return torch.exp(scores - 0 * scores.max())
""",
        "caps large scores, so that nothing overflows": """
# hint: but not if the query is 100 times as long
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(keys.shape[-1])
    scores = scores.clamp(max=40)
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "subtracts the largest score only if it is positive": """
# hint: three equal scores far below 0
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(keys.shape[-1])
    exp = torch.exp(scores - scores.max().clamp(min=0))
    return exp / exp.sum()
""",
        "multiplies by the root": """
# hint: these are not the shares
def scaled_shares(query, keys):
    scores = keys @ query * math.sqrt(keys.shape[-1])
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
    },
    "finds_wrong_softmax": {
        "counts how often it was asked": """
# hint: it refuses a right one
asked = []

def finds_wrong_softmax(f):
    asked.append(f)
    assert len(asked) <= 6
""",
        "looks only at the shape": """
# hint: gives equal shares to all
def finds_wrong_softmax(f):
    for shape in ((5,), (2, 3), (2, 3, 4)):
        x = torch.randn(shape)
        assert f(x).shape == x.shape and f(x).dtype == x.dtype
        assert (f(x) >= 0).all()
""",
        "looks only at the sums": """
# hint: gives equal shares to all
def finds_wrong_softmax(f):
    for shape in ((5,), (2, 3), (2, 3, 4)):
        sums = f(torch.randn(shape)).sum(dim=-1)
        torch.testing.assert_close(sums, torch.ones(shape[:-1]))
""",
        "asks for exact equality": """
# hint: it refuses a right one
def finds_wrong_softmax(f):
    x = torch.randn(20, 3, 5)
    assert torch.equal(f(x), torch.softmax(x, dim=-1))
""",
        "tries one row of ordinary scores": """
# hint: lets pass
def finds_wrong_softmax(f):
    x = torch.randn(5, dtype=torch.float64)
    torch.testing.assert_close(f(x), torch.softmax(x, dim=-1))
""",
        "tries a table only": """
# hint: which is right for a table
def finds_wrong_softmax(f):
    for x in (torch.randn(3, 5), 1000 * torch.randn(3, 5)):
        x[0, 1:3] = -math.inf
        torch.testing.assert_close(f(x), torch.softmax(x, dim=-1))
""",
        "forgets large scores": """
# hint: types the formula in
def finds_wrong_softmax(f):
    for x in (torch.randn(5), torch.randn(2, 3, 4)):
        torch.testing.assert_close(f(x), torch.softmax(x, dim=-1))
""",
        "forgets minus infinity": """
# hint: takes a score of -inf for 0
def finds_wrong_softmax(f):
    for x in (torch.randn(5), 1000 * torch.randn(2, 3, 4)):
        torch.testing.assert_close(f(x), torch.softmax(x, dim=-1))
""",
        "does not see that the scores are changed": """
# hint: changes the scores that it is given
def finds_wrong_softmax(f):
    x = torch.randn(2, 3, 4, dtype=torch.float64)
    x[0, 0] += 1000
    x[1, 2, 3:] = -math.inf
    for scores in (x, x[0, 1].float()):
        expected = torch.softmax(scores, dim=-1)
        torch.testing.assert_close(f(scores.clone()), expected)
""",
        "tests nothing": """
# hint: it accepts a function that returns the scores
def finds_wrong_softmax(f):
    f(torch.randn(2, 3))
""",
        "prints instead of raising": """
# hint: it accepts a function that returns the scores
def finds_wrong_softmax(f):
    x = torch.randn(2, 3)
    if not torch.allclose(f(x), torch.softmax(x, dim=-1)):
        print("this is wrong")
""",
        "returns a verdict instead of raising": """
# hint: it accepts a function that returns the scores
def finds_wrong_softmax(f):
    x = torch.randn(2, 3)
    return torch.allclose(f(x), torch.softmax(x, dim=-1))
""",
        "asks for whole numbers too, which were never promised": """
# hint: it refuses a right one
def finds_wrong_softmax(f):
    x = torch.tensor([[1, 2, 3]])
    torch.testing.assert_close(f(x).double(), torch.softmax(x.double(), -1))
""",
        "raises at the right ones": """
# hint: it refuses a right one
def finds_wrong_softmax(f):
    x = torch.randn(2, 3)
    assert not torch.allclose(f(x), torch.softmax(x, dim=-1))
""",
    },
    "softmax_backward": {
        "lets autograd do it": """
# hint: write it without autograd
def softmax_backward(p, g):
    scores = p.log().requires_grad_()
    return torch.autograd.grad(scores.softmax(-1), scores, g)[0]
""",
        "lets autograd do it, and nobody hear of it": """
# hint: leave sys.setprofile alone
def softmax_backward(p, g):
    import sys

    sys.setprofile(None)
    scores = p.log().requires_grad_()
    return torch.autograd.grad(scores.softmax(-1), scores, g)[0]
""",
        "flattens axes that are not there": """
# hint: but not for the shape (10,)
def softmax_backward(p, g):
    rows, arrives = p.flatten(0, -2), g.flatten(0, -2)
    mean = (rows * arrives).sum(1, keepdim=True)
    return (rows * (arrives - mean)).view_as(p)
""",
        "keeps only the diagonal of the Jacobian": """
# hint: beside its diagonal J has entries too
def softmax_backward(p, g):
    return p * (1 - p) * g
""",
        "forgets that the others lose": """
# hint: what a share wins, the others lose
def softmax_backward(p, g):
    return p * g
""",
        "sums over all rows": """
# hint: each row has a sum of its own
def softmax_backward(p, g):
    return p * (g - (p * g).sum())
""",
        "takes the plain mean of the gradient off": """
# hint: the mean to take off is weighted
def softmax_backward(p, g):
    return p * (g - g.mean(-1, keepdim=True))
""",
        "adds instead of subtracting": """
# hint: has the wrong sign
def softmax_backward(p, g):
    return p * (g + (p * g).sum(-1, keepdim=True))
""",
        "does not multiply the sum by the share": """
# hint: the sum is multiplied by the share as well
def softmax_backward(p, g):
    return p * g - (p * g).sum(-1, keepdim=True)
""",
        "believes in p - y behind every softmax": """
# hint: is for a softmax under cross-entropy
def softmax_backward(p, g):
    return p - g
""",
        "builds the Jacobian": """
# hint: the matrix must not be built
def softmax_backward(p, g):
    return torch.stack([jacobian(a) @ b for a, b in zip(p, g)])
""",
        "sums along axis 1, which is the last of a table": """
# hint: right for a table
def softmax_backward(p, g):
    return p * (g - (p * g).sum(1, keepdim=True))
""",
        "multiplies by the derivative of a sigmoid": """
# hint: this is not what autograd sends back
def softmax_backward(p, g):
    return p * (1 - p) * (g - (p * g).sum(-1, keepdim=True))
""",
    },
    "win_probability": {
        "takes 400 points for the temperature": """
# hint: a lead of one temperature
def win_probability(mine, theirs):
    return softmax(torch.tensor([mine / 400, theirs / 400]))[0].item()
""",
        "multiplies where it should divide": """
# hint: the stronger one always wins
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * math.log(10) * 400)[0].item()
""",
        "divides by the logarithm twice": """
# hint: the logarithm stands on the wrong side
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings / (400 * math.log(10)))[0].item()
""",
        "counts the factor 10 in powers of 2": """
# hint: you in powers of 2
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * math.log2(10) / 400)[0].item()
""",
        "takes odds of 10 for a probability": """
# hint: these are the odds
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    share = softmax(ratings * math.log(10) / 400)[0].item()
    return share / (1 - share)
""",
        "gives the share of the other player": """
# hint: the share of the other player
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * math.log(10) / 400)[1].item()
""",
        "gives each player a share of the points": """
# hint: only the lead counts
def win_probability(mine, theirs):
    return mine / (mine + theirs)
""",
        "writes the rule of chess without softmax": """
# hint: softmax was to do the work
def win_probability(mine, theirs):
    return 1 / (1 + 10 ** ((theirs - mine) / 400))
""",
        "takes the factor for a lead": """
# hint: which power of e is it
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * 10 / 400)[0].item()
""",
        "returns a tensor": """
# hint: a probability is one number
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * math.log(10) / 400)[0]
""",
        "takes the amount of the lead": """
# hint: right for a lead of 400 points, but
def win_probability(mine, theirs):
    lead = torch.tensor([abs(mine - theirs), 0.0], dtype=torch.float64)
    return softmax(lead * math.log(10) / 400)[0].item()
""",
        "lets a draw compete as well": """
# hint: and yours gives it the probability
def win_probability(mine, theirs):
    ratings = [mine, (mine + theirs) / 2, theirs]
    ratings = torch.tensor(ratings, dtype=torch.float64)
    return softmax(ratings * math.log(10) / 400)[0].item()
""",
    },
    "streamed_mean": {
        "keeps a copy of each block": """
# hint: what you keep grows
def streamed_mean(blocks):
    blocks = [(s.clone(), v.clone()) for s, v in blocks]
    largest = max(s.max().item() for s, _ in blocks)
    total = sum(torch.exp(s - largest).sum() for s, _ in blocks)
    return sum(torch.exp(s - largest) @ v for s, v in blocks) / total
""",
        "subtracts the first finite largest score for ever": """
# hint: subtract the largest score so far
def streamed_mean(blocks):
    shift, total, weighted = None, 0.0, 0.0
    for scores, values in blocks:
        if shift is None and scores.max() > -math.inf:
            shift = scores.max().item()
        if shift is not None:
            exp = torch.exp(scores - shift)
            total = total + exp.sum()
            weighted = weighted + exp @ values
    return weighted / total
""",
        "does not correct what was summed before": """
# hint: and you leave it so
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        largest = max(largest, s.max().item())
        exp = torch.exp((s - largest).nan_to_num(-inf, neginf=-inf))
        total, weighted = total + exp.sum(), weighted + exp @ v
    return weighted / total
""",
        "corrects the sum of exponentials, not that of the values": """
# hint: and forget that of the values
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        new = max(largest, s.max().item())
        if new == -inf:
            continue
        exp = torch.exp(s - new)
        total = math.exp(largest - new) * total + exp.sum()
        weighted, largest = weighted + exp @ v, new
    return weighted / total
""",
        "corrects in the wrong direction": """
# hint: you correct in the wrong direction
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        new = max(largest, s.max().item())
        if new == -inf:
            continue
        change = 1 if largest == -inf else math.exp(new - largest)
        exp = torch.exp(s - new)
        total = change * total + exp.sum()
        weighted, largest = change * weighted + exp @ v, new
    return weighted / total
""",
        "gives NaN if the first block holds only -inf": """
# hint: what is -inf minus -inf
def streamed_mean(blocks):
    largest, total, weighted = -math.inf, 0.0, 0.0
    for s, v in blocks:
        new = max(largest, s.max().item())
        correction = math.exp(largest - new)
        exp = torch.exp(s - new)
        total = correction * total + exp.sum()
        weighted = correction * weighted + exp @ v
        largest = new
    return weighted / total
""",
        "starts with a largest score of 0": """
# hint: with which largest score do you begin
def streamed_mean(blocks):
    largest, total, weighted = 0.0, 0.0, 0.0
    for s, v in blocks:
        new = max(largest, s.max().item())
        correction, exp = math.exp(largest - new), torch.exp(s - new)
        total = correction * total + exp.sum()
        weighted, largest = correction * weighted + exp @ v, new
    return weighted / total
""",
        "takes the mean of the blocks' means": """
# hint: a block with higher scores counts more
def streamed_mean(blocks):
    means = [softmax(s) @ v for s, v in blocks if s.max() > -inf]
    return torch.stack(means).mean(dim=0)
""",
        "subtracts nothing": """
# hint: their exponentials overflow
def streamed_mean(blocks):
    total, weighted = 0.0, 0.0
    for s, v in blocks:
        total, weighted = total + s.exp().sum(), weighted + s.exp() @ v
    return weighted / total
""",
        "keeps all blocks for the end": """
# hint: each block overwrites the one before
def streamed_mean(blocks):
    scores, values = zip(*blocks)
    return softmax(torch.cat(scores)) @ torch.cat(values)
""",
        "skips every block that holds a score of -inf": """
# hint: you leave all of them out
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        if s.isinf().any():
            continue
        new = max(largest, s.max().item())
        correction, exp = math.exp(largest - new), torch.exp(s - new)
        total = correction * total + exp.sum()
        weighted, largest = correction * weighted + exp @ v, new
    return weighted / total
""",
        "corrects the sum of the values, not that of exponentials": """
# hint: and forget that of the exponentials
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        new = max(largest, s.max().item())
        if new == -inf:
            continue
        exp = torch.exp(s - new)
        weighted = math.exp(largest - new) * weighted + exp @ v
        total, largest = total + exp.sum(), new
    return weighted / total
""",
        "starts again with each block": """
# hint: only the last block counts
def streamed_mean(blocks):
    for s, v in blocks:
        exp = torch.exp(s - s.max())
        total, weighted = exp.sum(), exp @ v
    return weighted / total
""",
        "forgets to divide at the end": """
# hint: for three blocks of ordinary scores
def streamed_mean(blocks):
    largest, weighted = -inf, 0.0
    for s, v in blocks:
        new = max(largest, s.max().item())
        if new == -inf:
            continue
        weighted = math.exp(largest - new) * weighted + torch.exp(s - new) @ v
        largest = new
    return weighted
""",
        "caps the scores": """
# hint: but only differences count
def streamed_mean(blocks):
    total, weighted = 0.0, 0.0
    for s, v in blocks:
        exp = torch.exp(s.clamp(-30, 30))
        total, weighted = total + exp.sum(), weighted + exp @ v
    return weighted / total
""",
        "takes -inf for 0": """
# hint: and counts nothing; your mean is another
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        s = s.masked_fill(s == -inf, 0.0)
        new = max(largest, s.max().item())
        correction, exp = math.exp(largest - new), torch.exp(s - new)
        total = correction * total + exp.sum()
        weighted, largest = correction * weighted + exp @ v, new
    return weighted / total
""",
        "reads four scores of a block": """
# hint: but not for blocks of
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        s, v = s[:4], v[:4]
        new = max(largest, s.max().item())
        if new == -inf:
            continue
        correction, exp = math.exp(largest - new), torch.exp(s - new)
        total = correction * total + exp.sum()
        weighted, largest = correction * weighted + exp @ v, new
    return weighted / total
""",
        "copies all blocks and joins them": """
# hint: what if all of them do not fit
def streamed_mean(blocks):
    kept = [(s.clone(), v.clone()) for s, v in blocks]
    scores, values = zip(*kept)
    return softmax(torch.cat(scores)) @ torch.cat(values)
""",
    },
    "without": {
        "subtracts the direction itself": """
# hint: you take the same off all
def without(keys, direction):
    return keys - direction
""",
        "subtracts the score times the direction": """
# hint: but the shadow on its line stays the same
def without(keys, direction):
    return keys - torch.outer(keys @ direction, direction)
""",
        "divides by the length once, not by its square": """
# hint: and you divide by it once
def without(keys, direction):
    multiples = keys @ direction / direction.norm()
    return keys - torch.outer(multiples, direction)
""",
        "sets the direction's largest column to 0": """
# hint: a key still has a score
def without(keys, direction):
    rest = keys.clone()
    rest[:, direction.abs().argmax()] = 0
    return rest
""",
        "returns the shadows": """
# hint: you return the shadows
def without(keys, direction):
    multiples = keys @ direction / (direction @ direction)
    return torch.outer(multiples, direction)
""",
        "casts the shadow of the direction on each key": """
# hint: you shorten each key along its own line
def without(keys, direction):
    multiples = keys @ direction / keys.square().sum(dim=1)
    return keys - multiples[:, None] * keys
""",
        "takes the length of the shadow off the length of the key": """
# hint: lengths cannot be subtracted
def without(keys, direction):
    shadow = keys @ direction / direction.norm()
    length = keys.norm(dim=1)
    return keys * ((length - shadow.abs()) / length)[:, None]
""",
        "sets every key to 0, so that no score is left": """
# hint: nothing is left of the keys
def without(keys, direction):
    return torch.zeros_like(keys)
""",
        "makes what is left as long as the key was": """
# hint: you also changed what does not lie along
def without(keys, direction):
    multiples = keys @ direction / (direction @ direction)
    rest = keys - torch.outer(multiples, direction)
    return rest * keys.norm(dim=1, keepdim=True) / rest.norm(
        dim=1, keepdim=True
    )
""",
        "changes the keys in place": """
# hint: changes its input in place
def without(keys, direction):
    multiples = keys @ direction / (direction @ direction)
    keys -= torch.outer(multiples, direction)
    return keys
""",
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
        "for scores in (x, x[-1, 0].float()):": ANOTHER_ROW,
        "for scores in (x, x[0, -1].float()):": ANOTHER_ROW,
        "for scores in (x, x[0, 1].float()):": ANOTHER_ROW,
        "for scores in (x, x[1, 0].float()):": ANOTHER_ROW,
        "for scores in (x[0, 0].float(), x):": ANY_ORDER,
        "assert torch.equal(before, scores)": ANY_ORDER,
        "torch.testing.assert_close(torch.softmax(before, -1), f(scores))": (
            ANY_ORDER
        ),
        "x[0] += 1001": "1,001 is as far from 0 as 1,000",
        "x[0] += 999": "999 is as far from 0 as 1,000",
        "x[1, 1, 3:] = -math.inf": ANOTHER_ROW,
        "x[1, 2, 2:] = -math.inf": "one score more or less is hidden",
        "x[1, 2, 4:] = -math.inf": "one score more or less is hidden",
        "x = torch.randn(2, 3, 4, dtype=torch.float64)": ANOTHER_SIZE,
        "x = torch.randn(2, 3, 6, dtype=torch.float64)": ANOTHER_SIZE,
        "x = torch.randn(2, 4, 5, dtype=torch.float64)": ANOTHER_SIZE,
        "x = torch.randn(3, 3, 5, dtype=torch.float64)": ANOTHER_SIZE,
    },
    "streamed_mean": {
        "largest, total, weighted = -math.inf, -1.0, 0.0": FORGOTTEN,
        "largest, total, weighted = -math.inf, 0.0, -1.0": FORGOTTEN,
        "largest, total, weighted = -math.inf, 0.0, 1.0": FORGOTTEN,
        "largest, total, weighted = -math.inf, 1.0, 0.0": FORGOTTEN,
        "new = max(largest, block_scores.max())": (
            "a tensor of one number is as good as the number"
        ),
    },
}
