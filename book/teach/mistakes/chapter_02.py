"""Wrong answers to the exercises of chapter 2, each by its misconception."""

from . import read

WRONG = read(
    scaled_shares="""
does not divide by the root of the width > the scores are not scaled
-     scores = keys @ query / math.sqrt(keys.shape[-1])
+     scores = keys @ query
divides by the width itself > you divide by the width, and not by its root
-     scores = keys @ query / math.sqrt(keys.shape[-1])
+     scores = keys @ query / keys.shape[-1]
divides the shares instead of the scores > scale the scores, not the shares
-     scores = keys @ query / math.sqrt(keys.shape[-1])
+     scores = keys @ query
-     return exponentials / exponentials.sum()
+     return exponentials / exponentials.sum() / math.sqrt(keys.shape[-1])
divides the scores by their sum > some shares are negative
-     exponentials = torch.exp(scores - scores.max())
+     exponentials = scores
types the formula in, which overflows > so that no exponential is too large
-     exponentials = torch.exp(scores - scores.max())
+     exponentials = torch.exp(scores)
subtracts the largest score only if it is positive
> scores far below 0 give NaN
-     exponentials = torch.exp(scores - scores.max())
+     exponentials = torch.exp(scores - scores.max().clamp(min=0))
subtracts the first score > these are not the shares
-     exponentials = torch.exp(scores - scores.max())
+     exponentials = torch.exp(scores - scores[0])
calls a ready-made softmax > written without softmax
-     return exponentials / exponentials.sum()
+     return scores.softmax(-1)
""",
    finds_wrong_softmax="""
looks only at the sums > finds 10 of 15 wrong ones
-         torch.testing.assert_close(f(scores), torch.softmax(before, -1))
-         assert torch.equal(scores, before)
+         torch.testing.assert_close(f(scores).sum(-1), torch.softmax(before, -1).sum(-1))
+         pass
tries a table only > lets pass lets the entries of axis 1 compete
-     x = torch.randn(2, 3, 5, dtype=torch.float64)
+     x = torch.randn(3, 5, dtype=torch.float64)
-     x[1, 2, 3:] = -math.inf
-     for scores in (x, x[0, 0].float()):
+     x[2, 3:] = -math.inf
+     for scores in (x, x[0].float()):
forgets large scores > finds 13 of 15 wrong ones
-     x[0] += 1000
+     pass
forgets minus infinity > takes a score of -inf for 0
-     x[1, 2, 3:] = -math.inf
+     pass
does not see that the scores are changed > changes the scores that it is given
-         assert torch.equal(scores, before)
+         pass
asks for exact equality > it refuses a right one
-         torch.testing.assert_close(f(scores), torch.softmax(before, -1))
+         assert torch.equal(f(scores), torch.softmax(before, -1))
returns a verdict instead of raising
> it accepts a function that returns the scores
-         torch.testing.assert_close(f(scores), torch.softmax(before, -1))
+         return torch.allclose(f(scores), torch.softmax(before, -1))
""",
    softmax_backward="""
keeps only the diagonal of the Jacobian > beside its diagonal J has entries too
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return p * g * (1 - p)
forgets that the others lose > what a share wins, the others lose
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return p * g
sums over all rows > each row has a sum of its own
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return p * (g - (p * g).sum())
takes the plain mean of the gradient off > the mean to take off is weighted
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return p * (g - g.mean(-1, keepdim=True))
believes in p - y behind every softmax > is for a softmax under cross-entropy
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return p - g
sums along axis 1, which is the last of a table > right for a table
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return p * (g - (p * g).sum(1, keepdim=True))
multiplies by the derivative of a sigmoid
> this is not what autograd sends back
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return p * (1 - p) * (g - (p * g).sum(-1, keepdim=True))
builds the Jacobian > the matrix must not be built
-     return p * (g - (p * g).sum(-1, keepdim=True))
+     return ((p.diag_embed() - p[..., None] * p[..., None, :]) @ g[..., None])[..., 0]
""",
    win_probability="""
takes 400 points for the temperature > a lead of one temperature
-     temperature = points / math.log(odds)
+     temperature = points
counts the factor in powers of 2 > you in powers of 2
-     temperature = points / math.log(odds)
+     temperature = points / math.log2(odds)
takes the factor for a lead > which power of e is it
-     temperature = points / math.log(odds)
+     temperature = points / odds
takes odds for a probability > these are the odds
-     return softmax(ratings / temperature)[0].item()
+     share = softmax(ratings / temperature)[0].item()
+     return share / (1 - share)
gives the share of the other player > the share of the other player
-     return softmax(ratings / temperature)[0].item()
+     return softmax(ratings / temperature)[1].item()
gives each player a share of the points > only the lead counts
-     return softmax(ratings / temperature)[0].item()
+     return (ratings / ratings.sum())[0].item()
takes the amount of the lead > how many times as likely
-     ratings = torch.tensor([mine, theirs])
+     ratings = torch.tensor([abs(mine - theirs), 0])
writes the rule of chess without softmax > can softmax do the work
-     return softmax(ratings / temperature)[0].item()
+     return 1 / (1 + odds ** ((theirs - mine) / points))
""",
    streamed_mean="""
does not correct what was summed before > and you leave it so
-         total = correction * total + exp.sum()
-         weighted = correction * weighted + exp @ block_values
+         total = total + exp.sum()
+         weighted = weighted + exp @ block_values
takes the mean of the blocks' means > a block with higher scores counts more
-         total = correction * total + exp.sum()
-         weighted = correction * weighted + exp @ block_values
+         total = total + 1
+         weighted = weighted + exp / exp.sum() @ block_values
forgets to divide at the end > for a few blocks of ordinary scores
-     return weighted / total
+     return weighted
keeps all blocks for the end > each block overwrites the one before
-     for block_scores, block_values in blocks:
+     for block_scores, block_values in [*blocks]:
subtracts nothing > subtract the largest score so far
-         new = max(largest, block_scores.max().item())
+         new = 0.0
starts with a large negative number > with which one do you begin
-     largest, total, weighted = -math.inf, 0.0, 0.0
+     largest, total, weighted = -1e9, 0.0, 0.0
-         if new == -math.inf:
+         if False:
gives NaN if the first block holds only -inf
> changes nothing, also the first one
-         if new == -math.inf:
+         if False:
copies all blocks before it begins > what you keep grows
-     for block_scores, block_values in blocks:
+     for block_scores, block_values in [(s.clone(), v.clone()) for s, v in blocks]:
""",
    without="""
sets every key to 0, so that no score is left > nothing is left of the keys
-     return keys - torch.outer(multiples, direction)
+     return 0 * keys
subtracts the direction itself > you take the same off all
-     return keys - torch.outer(multiples, direction)
+     return keys - direction
subtracts the score times the direction
> but the shadow on its line stays the same
-     multiples = keys @ direction / (direction @ direction)
+     multiples = keys @ direction
divides by the length once, not by its square > and you divide by it once
-     multiples = keys @ direction / (direction @ direction)
+     multiples = keys @ direction / direction.norm()
returns the shadows > you return the shadows
-     return keys - torch.outer(multiples, direction)
+     return torch.outer(multiples, direction)
casts the shadow of the direction on each key
> you shorten each key along its own line
-     multiples = keys @ direction / (direction @ direction)
-     return keys - torch.outer(multiples, direction)
+     multiples = keys @ direction / keys.square().sum(dim=1)
+     return keys - multiples[:, None] * keys
makes what is left as long as the key was > yours is longer
-     return keys - torch.outer(multiples, direction)
+     rest = keys - torch.outer(multiples, direction)
+     return F.normalize(rest, dim=1) * keys.norm(dim=1, keepdim=True)
sets the direction's largest column to 0 > a key still has a score
-     return keys - torch.outer(multiples, direction)
+     return keys.index_fill(1, direction.abs().argmax(), 0)
""",
)

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
