"""Wrong answers to the exercises of chapter 8, by their misconception."""

from . import read

WRONG = read(
    must_choose="""
the places that are exchanged count
> at the two places themselves an answer may change
-             differs[[j, k]] = False
neighbours only > not only neighbours
-         for k in range(j):
+         for k in range(max(j - 1, 0), j):
pairs with the first place only > not only those with the first
-         for k in range(j):
+         for k in range(min(j, 1)):
another number is put in > do not put other numbers into the row
-             exchanged[[j, k]] = row[[k, j]]
+             exchanged[[j, k]] = 0
the opposite > True and False are exchanged
-     return found
+     return ~found
the last pair decides > at which places does the answer change
-             found |= differs
+             found = differs
""",
    answers="""
no mask > which positions are real
-         x = block(x, mask)
+         x = block(x)
the mask says True at PAD > yours is True at PAD
-     mask = padding_mask(lengths)
+     mask = ~padding_mask(lengths)
every zero is PAD > 0 is a number of ours, too
-     mask = padding_mask(lengths)
+     mask = (ids != 0)[:, None, None]
only the first block is masked > every block needs the mask
-         x = block(x, mask)
+         x = block(x, mask)
+         mask = None
no positions > At which places does it stand in your batch
-     x = model.positions(model.embedding(ids))
+     x = model.embedding(ids)
PAD in front, and its mask, too > PAD stands in front of a short row
-     ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
-     mask = padding_mask(lengths)
+     ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_side="left")
+     mask = padding_mask(lengths).flip(-1)
-         line[:length] for line, length in zip(logits, lengths, strict=True)
+         line[-length:] for line, length in zip(logits, lengths, strict=True)
the encoder as a whole > written without Encoder
-     for block in model.encoder.blocks:
-         x = block(x, mask)
+     if True:
+         x = model.encoder(x, mask)
one row after the other > run all of them together
+ def answers(model, rows):
+     found = []
+     for row in rows:
+         x = model.positions(model.embedding(row[None]))
+         for block in model.encoder.blocks:
+             x = block(x)
+         found.append(model.output(x)[0])
+     return found
""",
    two_looks="""
equal numbers count alike > What do two equal numbers differ in?
-     earlier = (row[:, None] == row) & (places[:, None] >= places)
+     earlier = (row[:, None] == row)
equal numbers change their order > equal numbers change their order
-     earlier = (row[:, None] == row) & (places[:, None] >= places)
+     earlier = (row[:, None] == row) & (places[:, None] <= places)
nothing is kept for itself > keeps no share for itself
-     earlier = (row[:, None] == row) & (places[:, None] >= places)
+     earlier = (row[:, None] == row) & (places[:, None] > places)
counts the larger ones > to tell each number its place
-     smaller = row[:, None] > row
+     smaller = row[:, None] < row
the softmax of the first look goes down the columns
> the rows of a look do not sum to 1
-     look_1 = torch.softmax(20.0 * (smaller | earlier), dim=-1)
+     look_1 = torch.softmax(20.0 * (smaller | earlier), dim=0)
scores of the first look too low to choose > your scores are low
-     look_1 = torch.softmax(20.0 * (smaller | earlier), dim=-1)
+     look_1 = torch.softmax(1.0 * (smaller | earlier), dim=-1)
a number gives less to those that stand far away
> different weights to those that it counts
-     look_1 = torch.softmax(20.0 * (smaller | earlier), dim=-1)
-     count = (1 / look_1.diagonal() - 1).round()
+     look_1 = torch.softmax(20.0 * (smaller | earlier) - 0.1 * (places[:, None] - places).abs(), dim=-1)
+     count = (smaller | earlier).sum(-1) - 1
counts with a sum > to be written without sum
-     count = (1 / look_1.diagonal() - 1).round()
+     count = (smaller | earlier).sum(-1) - 1
""",
    mean_of_real="""
the mean of all positions > PAD is in your mean
-     return total / is_real.sum(1).clamp(min=1)
+     return x.mean(1)
divides by the length > left out of the sum but not of the count
-     return total / is_real.sum(1).clamp(min=1)
+     return total / x.shape[1]
NaN for an empty sentence > an empty sentence gets NaN
-     return total / is_real.sum(1).clamp(min=1)
+     return total / is_real.sum(1)
repairs NaN afterwards > let none arise
-     return total / is_real.sum(1).clamp(min=1)
+     return (total / is_real.sum(1)).nan_to_num()
multiplies PAD by zero, so NaN stays > 0 times NaN is NaN
-     total = x.masked_fill(~is_real, 0).sum(1)
+     total = (x * is_real).sum(1)
one more for everybody > you add 1 to every count
-     return total / is_real.sum(1).clamp(min=1)
+     return total / (is_real.sum(1) + 1)
counts, and takes the first ones > PAD may stand in front
-     is_real = may_attend[:, 0, 0, :, None]
+     is_real = padding_mask(may_attend.sum(-1)[:, 0, 0], x.shape[1])[:, 0].mT  # may_attend[:, 0, 0, :, None]
the largest of each column > not the means over the real positions
-     total = x.masked_fill(~is_real, 0).sum(1)
+     total = x.masked_fill(~is_real, 0).amax(1)
""",
    shared_encoder="""
copies > these are copies, and nothing is shared
-     return Encoder([block] * times)
+     return Encoder([copy.deepcopy(block) for _ in range(times)])
one copy, which is shared > these are copies, and nothing is shared
-     return Encoder([block] * times)
+     return Encoder([copy.deepcopy(block)] * times)
runs once > as many runs as were asked for
-     return Encoder([block] * times)
+     return Encoder([block])
a last norm > nothing behind them
-     return Encoder([block] * times)
+     return Encoder([block] * times, final_norm=True)
no encoder > an Encoder is asked for, and yours is a Repeated
-     return Encoder([block] * times)
+     class Repeated(nn.Module):
+         def forward(self, x, may_attend=None):
+             for _ in range(times):
+                 x = block(x, may_attend)
+             return x
+
+     return Repeated()
an encoder of encoders > 'Encoder' object has no attribute 'd_model'
-     return Encoder([block] * times)
+     return Encoder([Encoder([block])] * times)
runs without gradients > the gradients of all runs
-     return Encoder([block] * times)
+     encoder = Encoder([block] * times)
+     encoder.forward = torch.no_grad()(encoder.forward)
+     return encoder
frozen, to share it > changes its input block
-     return Encoder([block] * times)
+     block.requires_grad_(False)
+     return Encoder([block] * times)
""",
    known_sets="""
whole rows, in their order > the order counts in your comparison
-     known = {frozenset(row) for row in trained_on.tolist()}
-     hits = [frozenset(row) in known for row in unseen.tolist()]
+     known = {tuple(row) for row in trained_on.tolist()}
+     hits = [tuple(row) in known for row in unseen.tolist()]
numbers are counted > how often a number occurs
-     known = {frozenset(row) for row in trained_on.tolist()}
-     hits = [frozenset(row) in known for row in unseen.tolist()]
+     known = {tuple(sorted(row)) for row in trained_on.tolist()}
+     hits = [tuple(sorted(row)) in known for row in unseen.tolist()]
the sum stands for the set > equal sums do not make equal sets
-     known = {frozenset(row) for row in trained_on.tolist()}
-     hits = [frozenset(row) in known for row in unseen.tolist()]
+     known = {sum(row) for row in trained_on.tolist()}
+     hits = [sum(row) in known for row in unseen.tolist()]
share of the training rows > you divide by the number of training rows
-     return sum(hits) / len(hits)
+     return sum(hits) / len(trained_on)
the unknown ones > the share of the sets that are not known
-     return sum(hits) / len(hits)
+     return 1 - sum(hits) / len(hits)
the hits themselves > a number is asked for, and yours is a list
-     return sum(hits) / len(hits)
+     return hits
the first three numbers > whose set of numbers is that of some training row
-     known = {frozenset(row) for row in trained_on.tolist()}
-     hits = [frozenset(row) in known for row in unseen.tolist()]
+     known = {frozenset(row[:3]) for row in trained_on.tolist()}
+     hits = [frozenset(row[:3]) in known for row in unseen.tolist()]
""",
)

# Mutants of the solutions that are right too, and why.
HIGH = "any high score is as good as 20"
ONE = "the mask has one entry on this axis"
PERMUTED = "each row and each column has one high score, so both ways agree"
EQUIVALENT = {
    "must_choose": {
        "answer = task(row[None])[-1]": "of one row, the last is the first",
        "differs = task(exchanged[None])[-1] != answer": "of one row, the last is the first",
        "differs[[k, j]] = False": "two places in another order",
    },
    "answers": {
        "lengths = torch.tensor([len(row) for row in rows], device=rows[-1].device)": "all rows lie on one device",
        "line[:length] for line, length in zip(logits, lengths, strict=False)": "there are as many lines as lengths",
    },
    "two_looks": {
        "look_1 = torch.softmax(19.0 * (smaller | earlier), dim=-1)": HIGH,
        "look_1 = torch.softmax(21.0 * (smaller | earlier), dim=-1)": HIGH,
        "look_2 = torch.softmax(19.0 * (places[:, None] == count), dim=-1)": HIGH,
        "look_2 = torch.softmax(20.0 * (places[:, None] == count), dim=-0)": PERMUTED,
        "look_2 = torch.softmax(20.0 * (places[:, None] == count), dim=-2)": PERMUTED,
        "look_2 = torch.softmax(21.0 * (places[:, None] == count), dim=-1)": HIGH,
    },
    "mean_of_real": {
        "is_real = may_attend[:, -1, 0, :, None]": ONE,
        "is_real = may_attend[:, 0, -1, :, None]": ONE,
    },
}
