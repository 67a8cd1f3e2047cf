"""Right answers in chapter 17 by other routes than the book's."""

RIGHT = {
    "ring_all_reduce": {
        "returns a list of two": """
def ring_all_reduce(tensors):
    p = len(tensors)
    held = [[c.clone() for c in t.chunk(p)] for t in tensors]
    sent = [0] * p
    for adds in (True, False):
        for step in range(p - 1):
            start = step if adds else step - 1
            moving = [(w, (w - start) % p) for w in range(p)]
            moving = [(w, i, held[w][i].clone()) for w, i in moving]
            for w, i, piece in moving:
                other = held[(w + 1) % p]
                other[i] = other[i] + piece if adds else piece
                sent[w] += piece.numel()
    return [[torch.cat(mine) for mine in held], sent]
""",
    },
    "loss_of": {
        "is decorated": """
@torch.no_grad()
def summary(part, target, first):
    top = part.amax(1)
    total = (part - top[:, None]).exp().sum(1)
    inside = (target >= first) & (target < first + part.shape[1])
    column = (target - first).clamp(0, part.shape[1] - 1)
    right = part[torch.arange(len(part)), column] * inside
    return torch.stack([top, total, right], 1)

@torch.no_grad()
def loss_of(summaries):
    tops, totals, rights = torch.stack(summaries).unbind(2)
    top = tops.amax(0)
    total = (totals * (tops - top).exp()).sum(0)
    return (top + total.log() - rights.sum(0)).mean()
""",
    },
}
