"""Right answers in chapter 4 by other routes than the book's."""

RIGHT = {
    "window_mask": {
        "adds a triangle and takes another off": """
def window_mask(length, width):
    ones = torch.ones(1, 1, length, length)
    return (ones.tril() - ones.tril(-width)).bool()
""",
        "fills diagonals, one after the other": """
def window_mask(length, width):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for back in range(min(width, length)):
        mask.diagonal(-back).fill_(True)
    return mask.view(1, 1, length, length)
""",
        "asks the library, and has a name for it": """
import lib.masks

causal = lib.masks.causal_mask
window_mask = lambda length, width: causal(length, window=width)
""",
    },
    "my_attention": {
        "has helpers with the names of the library": """
def sdpa(q, k):
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5

def attention_weights(scores, may_attend):
    empty = ~may_attend.any(-1, keepdim=True)
    scores = scores.masked_fill(~(may_attend | empty), -torch.inf)
    return torch.softmax(scores, -1).masked_fill(empty, 0.0)

def my_attention(q, k, v, may_attend):
    return attention_weights(sdpa(q, k), may_attend) @ v
""",
        "gives the hidden the smallest number, and multiplies by the mask": """
def my_attention(q, k, v, may_attend):
    scores = torch.einsum("...id,...jd->...ij", q * q.shape[-1] ** -0.5, k)
    least = torch.finfo(scores.dtype).min
    weights = nn.Softmax(dim=-1)(torch.where(may_attend, scores, least))
    return torch.matmul(weights * may_attend, v)
""",
        "subtracts the logarithm of the sum": """
def my_attention(q, k, v, may_attend):
    root = q.shape[-1] ** 0.25
    hidden = may_attend.logical_not()
    scores = (q / root) @ (k / root).transpose(-1, -2)
    scores = scores + torch.zeros_like(scores).masked_fill(hidden, -torch.inf)
    nobody = hidden.all(-1, True)
    total = scores.masked_fill(nobody, 0).logsumexp(-1, keepdim=True)
    return (scores - total).exp() @ v
""",
        "adds a key of weight 0 for those who have none": """
def my_attention(q, k, v, may_attend):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~may_attend, -math.inf)
    idle = torch.zeros_like(scores[..., :1])
    idle = idle.masked_fill(may_attend.any(-1, keepdim=True), -math.inf)
    return softmax(torch.cat([scores, idle], -1))[..., :-1] @ v
""",
    },
    "packed_mask": {
        "cuts the row where the number changes": """
def packed_mask(sentence):
    return torch.stack([one_row(row) for row in sentence])[:, None]

def one_row(row):
    blocks = []
    for number, length in zip(*row.unique_consecutive(return_counts=True)):
        blocks.append(torch.full((length, length), bool(number)))
    return torch.block_diag(*blocks).tril().bool()
""",
        "multiplies one-hot vectors": """
def packed_mask(sentence):
    hot = F.one_hot(sentence)[..., 1:]
    return (hot @ hot.mT).tril().bool().unsqueeze(1)
""",
        "takes the difference of the numbers": """
def packed_mask(sentence):
    apart = sentence.unsqueeze(2).sub(sentence.unsqueeze(1)).abs()
    apart = apart + (sentence.unsqueeze(1) == 0) * 1000
    return ((apart == 0) & (torch.ones_like(apart).tril() > 0)).unsqueeze(1)
""",
    },
    "decoder_mask": {
        "multiplies": """
def decoder_mask(zero_one):
    columns = zero_one[:, None, None, :].expand(-1, -1, zero_one.size(1), -1)
    return columns.tril() != 0
""",
        "asks for PAD as an id": """
import lib.masks as m

def decoder_mask(zero_one):
    batch, length = zero_one.shape
    return m.padding_mask_from_ids(zero_one, 0) & m.causal_mask(length)
""",
        "goes from query to query": """
def decoder_mask(zero_one):
    rows = []
    for i in range(zero_one.shape[-1]):
        row = zero_one.clone().bool()
        row[:, i + 1 :] = False
        rows += [row]
    return torch.stack(rows, 1).reshape(len(zero_one), 1, len(rows), -1)
""",
    },
    "prefix_mask": {
        "takes the maximum of two places": """
def prefix_mask(length, prefix):
    position = torch.arange(length)
    last = torch.maximum(position, prefix[:, None] - 1)
    return (position <= last[..., None])[:, None]
""",
        "fills a triangle, and stacks": """
def prefix_mask(length, prefix):
    masks = []
    for p in prefix.tolist():
        mask = torch.ones(length, length, dtype=torch.bool).tril_()
        mask[:, :p] = True
        masks.append(mask[None])
    return torch.stack(masks)
""",
        "hides what comes later, outside of the prompt": """
def prefix_mask(length, prefix):
    later = torch.ones(length, length).triu(1).bool()
    outside = torch.arange(length).ge(prefix.view(-1, 1, 1, 1))
    return later.logical_and(outside).logical_not()
""",
    },
    "depends_on": {
        "draws other rows, and fills a table": """
def depends_on(attend, x):
    table = torch.zeros(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        with_other = torch.cat([x[:j], torch.randn_like(x[:1]), x[j + 1 :]])
        for i, (a, b) in enumerate(zip(attend(x), attend(with_other))):
            table[i, j] = not torch.equal(a, b)
    return table
""",
        "calls the function for a batch of all changes": """
def depends_on(attend, x):
    moved = x + torch.eye(len(x), dtype=x.dtype).unsqueeze(-1)
    return (torch.func.vmap(attend)(moved) != attend(x)).any(-1).T
""",
        "changes x and puts it back": """
def depends_on(attend, x):
    before, found = attend(x.clone()).clone(), []
    for row in x:
        kept = row.clone()
        row.copy_(kept.abs() + 2)
        found.append((attend(x) - before).abs().amax(-1) > 0)
        row.copy_(kept)
    return torch.stack(found, -1)
""",
    },
}
