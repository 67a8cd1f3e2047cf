"""Wrong answers to the exercises of chapter 2, each by its misconception."""

WRONG = {
    "scaled_shares": {
        "does not divide by the root of the width": """
def scaled_shares(query, keys):
    exp = torch.exp(keys @ query - (keys @ query).max())
    return exp / exp.sum()
""",
        "divides by the width itself": """
def scaled_shares(query, keys):
    scores = keys @ query / keys.shape[-1]
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "divides by the root of the number of keys": """
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(len(keys))
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "divides the shares instead of the scores": """
def scaled_shares(query, keys):
    scores = keys @ query
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum() / math.sqrt(keys.shape[-1])
""",
        "types the formula in, which overflows": """
def scaled_shares(query, keys):
    exp = torch.exp(keys @ query / math.sqrt(keys.shape[-1]))
    return exp / exp.sum()
""",
        "divides the scores by their sum": """
def scaled_shares(query, keys):
    scores = keys @ query / math.sqrt(keys.shape[-1])
    return scores / scores.sum()
""",
        "takes the cosine for the score": """
def scaled_shares(query, keys):
    scores = keys @ query / (keys.norm(dim=1) * query.norm())
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "divides by the length of the query": """
def scaled_shares(query, keys):
    scores = keys @ query / query.norm()
    exp = torch.exp(scores - scores.max())
    return exp / exp.sum()
""",
        "calls a ready-made softmax": """
def scaled_shares(query, keys):
    return torch.softmax(keys @ query / math.sqrt(keys.shape[-1]), -1)
""",
    },
    "log_weights": {
        "the logarithm of a share that was rounded to 0": """
def log_weights(x):
    return softmax(x).log()
""",
        "subtracts one largest score from all rows": """
def log_weights(x):
    shifted = x - x.max()
    return shifted - shifted.exp().sum(-1, keepdim=True).log()
""",
        "subtracts nothing, so that the sum overflows": """
def log_weights(x):
    return x - x.exp().sum(-1, keepdim=True).log()
""",
        "subtracts the mean": """
def log_weights(x):
    shifted = x - x.mean(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()
""",
        "hides the zero behind a small number": """
def log_weights(x):
    return (softmax(x) + 1e-9).log()
""",
        "stops at the shifted scores": """
def log_weights(x):
    return x - x.amax(-1, keepdim=True)
""",
        "lets the rows compete": """
def log_weights(x):
    shifted = x - x.amax(0, keepdim=True)
    return shifted - shifted.exp().sum(0, keepdim=True).log()
""",
        "forgets to take the largest score off the result too": """
def log_weights(x):
    shifted = x - x.amax(-1, keepdim=True)
    return x - shifted.exp().sum(-1, keepdim=True).log()
""",
    },
    "softmax_backward": {
        "keeps only the diagonal of the Jacobian": """
def softmax_backward(p, g):
    return p * (1 - p) * g
""",
        "forgets that the others lose": """
def softmax_backward(p, g):
    return p * g
""",
        "sums over all rows": """
def softmax_backward(p, g):
    return p * (g - (p * g).sum())
""",
        "takes the plain mean of the gradient off": """
def softmax_backward(p, g):
    return p * (g - g.mean(-1, keepdim=True))
""",
        "adds instead of subtracting": """
def softmax_backward(p, g):
    return p * (g + (p * g).sum(-1, keepdim=True))
""",
        "does not multiply the sum by the share": """
def softmax_backward(p, g):
    return p * g - (p * g).sum(-1, keepdim=True)
""",
        "believes in p - y behind every softmax": """
def softmax_backward(p, g):
    return p - g
""",
        "builds the Jacobian": """
def softmax_backward(p, g):
    return torch.stack([jacobian(a) @ b for a, b in zip(p, g)])
""",
    },
    "win_probability": {
        "takes 400 points for the temperature": """
def win_probability(mine, theirs):
    return softmax(torch.tensor([mine / 400, theirs / 400]))[0].item()
""",
        "multiplies where it should divide": """
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * math.log(10) * 400)[0].item()
""",
        "divides by the logarithm twice": """
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings / (400 * math.log(10)))[0].item()
""",
        "counts the factor 10 in powers of 2": """
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * math.log2(10) / 400)[0].item()
""",
        "takes odds of 10 for a probability": """
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    share = softmax(ratings * math.log(10) / 400)[0].item()
    return share / (1 - share)
""",
        "gives the share of the other player": """
def win_probability(mine, theirs):
    ratings = torch.tensor([mine, theirs], dtype=torch.float64)
    return softmax(ratings * math.log(10) / 400)[1].item()
""",
        "gives each player a share of the points": """
def win_probability(mine, theirs):
    return mine / (mine + theirs)
""",
        "writes the rule of chess without softmax": """
def win_probability(mine, theirs):
    return 1 / (1 + 10 ** ((theirs - mine) / 400))
""",
    },
    "streamed_mean": {
        "does not correct what was summed before": """
def streamed_mean(blocks):
    largest, total, weighted = -inf, 0.0, 0.0
    for s, v in blocks:
        largest = max(largest, s.max().item())
        exp = torch.exp((s - largest).nan_to_num(-inf, neginf=-inf))
        total, weighted = total + exp.sum(), weighted + exp @ v
    return weighted / total
""",
        "corrects the sum of exponentials, not that of the values": """
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
def streamed_mean(blocks):
    means = [softmax(s) @ v for s, v in blocks if s.max() > -inf]
    return torch.stack(means).mean(dim=0)
""",
        "subtracts nothing": """
def streamed_mean(blocks):
    total, weighted = 0.0, 0.0
    for s, v in blocks:
        total, weighted = total + s.exp().sum(), weighted + s.exp() @ v
    return weighted / total
""",
        "keeps all blocks for the end": """
def streamed_mean(blocks):
    scores, values = zip(*blocks)
    return softmax(torch.cat(scores)) @ torch.cat(values)
""",
        "skips every block that holds a score of -inf": """
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
    },
    "without": {
        "subtracts the direction itself": """
def without(keys, direction):
    return keys - direction
""",
        "subtracts the score times the direction": """
def without(keys, direction):
    return keys - torch.outer(keys @ direction, direction)
""",
        "divides by the length once, not by its square": """
def without(keys, direction):
    multiples = keys @ direction / direction.norm()
    return keys - torch.outer(multiples, direction)
""",
        "sets the direction's largest column to 0": """
def without(keys, direction):
    rest = keys.clone()
    rest[:, direction.abs().argmax()] = 0
    return rest
""",
        "returns the shadows": """
def without(keys, direction):
    multiples = keys @ direction / (direction @ direction)
    return torch.outer(multiples, direction)
""",
        "casts the shadow of the direction on each key": """
def without(keys, direction):
    multiples = keys @ direction / keys.square().sum(dim=1)
    return keys - multiples[:, None] * keys
""",
        "takes the length of the shadow off the length of the key": """
def without(keys, direction):
    shadow = keys @ direction / direction.norm()
    length = keys.norm(dim=1)
    return keys * ((length - shadow.abs()) / length)[:, None]
""",
        "sets every key to 0, so that no score is left": """
def without(keys, direction):
    return torch.zeros_like(keys)
""",
    },
}
