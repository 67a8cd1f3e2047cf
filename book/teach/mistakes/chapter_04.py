"""Wrong answers to the exercises of chapter 4, each by its misconception."""

from . import read

WRONG = read(
    window_mask="""
the window reaches into the future > reaches into the future
-     return ((distance >= 0) & (distance < width))[None, None]
+     return (distance.abs() < width)[None, None]
width counts the positions before the query only > yours sees one more
-     return ((distance >= 0) & (distance < width))[None, None]
+     return ((distance >= 0) & (distance <= width))[None, None]
queries and keys are exchanged > rows are queries and columns are keys
-     distance = position[:, None] - position
+     distance = position - position[:, None]
the window stands still at the beginning > your window does not move
-     return ((distance >= 0) & (distance < width))[None, None]
+     return ((distance >= 0) & (position < width))[None, None]
True means hidden > your mask says True where a position is hidden
-     return ((distance >= 0) & (distance < width))[None, None]
+     return ~((distance >= 0) & (distance < width))[None, None]
a query does not see itself > the diagonal must be True
-     return ((distance >= 0) & (distance < width))[None, None]
+     return ((distance > 0) & (distance <= width))[None, None]
two axes are enough > has the shape
-     return ((distance >= 0) & (distance < width))[None, None]
+     return ((distance >= 0) & (distance < width))
a width for all times > not for other numbers
+ def window_mask(length, width):
+     position = torch.arange(length)
+     distance = position[:, None] - position
+     return ((distance >= 0) & (distance < 3))[None, None]
""",
    my_attention="""
a large negative number is as good as minus infinity
> no number is minus infinity
-     scores = scores.masked_fill(~(may_attend | empty), -math.inf)
-     return softmax(scores).masked_fill(empty, 0.0) @ v
+     scores = scores.masked_fill(~may_attend, -1e9)
+     return softmax(scores) @ v
an empty row is nobody's concern > gives NaN, because softmax
-     scores = scores.masked_fill(~(may_attend | empty), -math.inf)
-     return softmax(scores).masked_fill(empty, 0.0) @ v
+     scores = scores.masked_fill(~may_attend, -math.inf)
+     return softmax(scores) @ v
NaN is replaced in the output > its gradient is NaN
+ def my_attention(q, k, v, may_attend):
+     scores = q @ k.mT / math.sqrt(q.shape[-1])
+     weights = softmax(scores.masked_fill(~may_attend, -math.inf))
+     return (weights @ v).nan_to_num(0.0)
a softmax that overflows is replaced by another one > its gradient is NaN
-     return softmax(scores).masked_fill(empty, 0.0) @ v
+     risky = scores.exp() / scores.exp().sum(-1, True)
+     is_fine = risky.sum(-1, True) > 0.9
+     weights = torch.where(is_fine, risky, softmax(scores))
+     return weights.masked_fill(empty, 0.0) @ v
the softmax without its largest score > for numbers 300 times as large
-     return softmax(scores).masked_fill(empty, 0.0) @ v
+     return (scores.exp() / scores.exp().sum(-1, True)).masked_fill(empty, 0.0) @ v
a billion below is far enough, and the fill is finite
> a hidden key spoils the row
-     scores = scores.masked_fill(~(may_attend | empty), -math.inf)
+     scores = scores.masked_fill(~(may_attend | empty), -1e9)
an empty row may attend to everything > must get 0
-     return softmax(scores).masked_fill(empty, 0.0) @ v
+     return softmax(scores) @ v
attends without a gradient > is it cut off
-     scores = q @ k.mT / math.sqrt(q.shape[-1])
+     scores = q.data @ k.data.mT / math.sqrt(q.shape[-1])
-     return softmax(scores).masked_fill(empty, 0.0) @ v
+     return softmax(scores).masked_fill(empty, 0.0) @ v.data
""",
    packed_mask="""
only the first row of the batch is read > in every row
-     return (same & real)[:, None] & causal
+     return ((same & real)[:, None] & causal)[:1].expand(len(sentence), -1, -1, -1)
padding is a sentence of its own > padding may not be looked at
-     return (same & real)[:, None] & causal
+     return (same)[:, None] & causal
words of the same sentence may look ahead > nobody may look ahead
-     return (same & real)[:, None] & causal
+     return (same & real)[:, None]
earlier sentences may be read > your sentences read those before them
-     same = sentence[:, :, None] == sentence[:, None, :]
+     same = sentence[:, :, None] >= sentence[:, None, :]
one padding mask is all it needs > all else is seen
-     return (same & real)[:, None] & causal
+     return (real)[:, None] & causal
only the neighbour is compared
> compare the number of each query with that of each key
+ def packed_mask(sentence):
+     same = sentence == sentence.roll(1, dims=1)
+     real = (sentence != 0)[:, None, None]
+     causal = causal_mask(sentence.shape[1], sentence.device)
+     return same[:, None, None] & real & causal
a PAD that asks sees all sentences > a PAD belongs to no sentence
-     return (same & real)[:, None] & causal
+     return ((same | (sentence == 0)[:, :, None]) & real)[:, None] & causal
the axis of the heads is missing > has the shape
-     return (same & real)[:, None] & causal
+     return same & real & causal[0]
""",
    decoder_mask="""
queries are hidden instead of keys > your rows of padding are hidden
-     real = from_zero_one(zero_one)[:, None, None]
+     real = from_zero_one(zero_one)[:, None, :, None]
1 means hidden > a tokenizer's 1 means a real token
-     real = from_zero_one(zero_one)[:, None, None]
+     real = ~from_zero_one(zero_one)[:, None, None]
only lengths count, so padding on the left is kept
> a row whose padding stands in front is wrong
-     real = from_zero_one(zero_one)[:, None, None]
+     real = padding_mask(zero_one.sum(dim=1), zero_one.shape[1])
either reason to look is enough > with | one of them is enough
-     return real & causal_mask(zero_one.shape[1], zero_one.device)
+     return real | causal_mask(zero_one.shape[1], zero_one.device)
the numbers are multiplied and stay numbers > holds int64, not bool
-     real = from_zero_one(zero_one)[:, None, None]
+     real = zero_one[:, None, None]
a row with nothing to see should see everything > there is nothing to see
-     return real & causal_mask(zero_one.shape[1], zero_one.device)
+     mask = real & causal_mask(zero_one.shape[1], zero_one.device)
+     return mask | ~mask.any(dim=-1, keepdim=True)
all sentences get the mask of the first
> compare your mask with the text, row by row
-     real = from_zero_one(zero_one)[:, None, None]
+     real = from_zero_one(zero_one)[:1].expand_as(zero_one)[:, None, None]
the rows of padding are hidden too > Hide keys only
-     return real & causal_mask(zero_one.shape[1], zero_one.device)
+     return real & real.mT & causal_mask(zero_one.shape[1], zero_one.device)
""",
    prefix_mask="""
both conditions must hold > a prompt token must see the whole prompt
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return causal_mask(length, prefix.device) & padding_mask(prefix, length)
all sentences have the prompt of the first > a prompt of its own length
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return causal_mask(length, prefix.device) | padding_mask(prefix[:1].expand_as(prefix), length)
all sentences have the longest prompt > a prompt of its own length
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return causal_mask(length, prefix.device) | padding_mask(prefix.max().expand_as(prefix), length)
one token too many belongs to the prompt > the prompt ends one token earlier
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return causal_mask(length, prefix.device) | padding_mask((prefix + 1).clamp(max=length), length)
prompt tokens may see what is written later
> a prompt token sees the prompt and no more
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return causal_mask(length, prefix.device) | padding_mask(prefix, length).mT
what is written sees everything > nobody may see what comes later
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return causal_mask(length, prefix.device) | padding_mask(prefix, length) | ~padding_mask(prefix, length).mT
what is written sees the prompt only > what was written before
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return  padding_mask(prefix, length).expand(-1, -1, length, -1)
the prompt is not read at all > prefix is not read
-     return causal_mask(length, prefix.device) | padding_mask(prefix, length)
+     return causal_mask(length, prefix.device) .expand(len(prefix), -1, -1, -1)
""",
    depends_on="""
rows and columns are exchanged > yours are exchanged
-     return torch.stack(columns, dim=1)
+     return torch.stack(columns)
nearly equal is equal > compare bit for bit
-         columns.append((attend(other) != attend(x)).any(dim=1))
+         columns.append((~torch.isclose(attend(other), attend(x))).any(dim=1))
x itself is changed > changes its input x in place
-     columns = []
+     columns, before = [], attend(x)
-         other = x.clone()
+         other = x
-         columns.append((attend(other) != attend(x)).any(dim=1))
+         columns.append((attend(other) != before).any(dim=1))
a row is set to zero, which it may be already > a row of 0 stays what it is
-         other[j] += 1 + other[j].abs()  # larger, whatever it was
+         other[j] = 0  # larger, whatever it was
a row is set to a number that it will not be > you set rows to fixed numbers
-         other[j] += 1 + other[j].abs()  # larger, whatever it was
+         other[j] = 1000  # larger, whatever it was
changes pile up from row to row > starting each time from x itself
-     columns = []
+     columns, other = [], x.clone()
-         other = x.clone()
the changes of a row are added up > the changes cancel in a sum
-         columns.append((attend(other) != attend(x)).any(dim=1))
+         columns.append((attend(other) - attend(x)).sum(dim=1) != 0)
asks the gradient instead of the output
> a gradient says nothing of what goes through detach
+ def depends_on(attend, x):
+     slopes = torch.autograd.functional.jacobian(attend, x)
+     return (slopes != 0).any(dim=3).any(dim=1)
""",
)

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
