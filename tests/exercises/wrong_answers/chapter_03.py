"""Wrong answers to the exercises of chapter 3, each by its misconception."""

WRONG = {
    "bilinear_scores": {
        "the matrix is transposed": """
def bilinear_scores(q, W, k):
    return torch.einsum("id,ed,je->ij", q, W, k)
""",
        "the matrix is forgotten": """
def bilinear_scores(q, W, k):
    return torch.einsum("id,jd->ij", q, k[:, : q.shape[1]])
""",
        "the keys ask": """
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->ji", q, W, k)
""",
        "nothing is summed": """
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->ijde", q, W, k)
""",
        "the keys are summed, too": """
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->i", q, W, k)
""",
        "scaled already": """
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->ij", q, W, k) / math.sqrt(q.shape[1])
""",
        "matrix products instead of letters": """
def bilinear_scores(q, W, k):
    return q @ W @ k.mT
""",
    },
    "attend_heads_last": {
        "softmax over the heads": """
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=-1), v)
""",
        "softmax over the queries": """
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=1), v)
""",
        "no scale": """
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k)
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=2), v)
""",
        "scaled by the number of heads": """
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-2])
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=2), v)
""",
        "the formula as if heads were in front": """
def attend_heads_last(q, k, v):
    return plain_attention(q, k, v)
""",
        "one table of weights for all heads": """
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nij", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nij,njhe->nihe", softmax(scores, dim=-1), v)
""",
        "the heads come out in front": """
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nhie", softmax(scores, dim=2), v)
""",
    },
    "squared_distances": {
        "cdist": """
def squared_distances(a, b):
    return torch.cdist(a, b) ** 2
""",
        "everything at once, by broadcasting": """
def squared_distances(a, b):
    return (a[:, :, None] - b[:, None]).square().sum(dim=-1)
""",
        "the root is taken": """
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    b2 = torch.einsum("njd,njd->nj", b, b)[:, None]
    return (a2 - 2 * torch.einsum("nid,njd->nij", a, b) + b2).sqrt()
""",
        "the mixed term once": """
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    b2 = torch.einsum("njd,njd->nj", b, b)[:, None]
    return a2 - torch.einsum("nid,njd->nij", a, b) + b2
""",
        "the dot product is a distance": """
def squared_distances(a, b):
    return torch.einsum("nid,njd->nij", a, b)
""",
        "the squares of the sums": """
def squared_distances(a, b):
    a2 = torch.einsum("nid->ni", a)[:, :, None]
    b2 = torch.einsum("njd->nj", b)[:, None]
    return (a2 - b2) ** 2
""",
        "the sentences are mixed": """
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    b2 = torch.einsum("njd,njd->nj", b, b)[:, None]
    return a2 - 2 * torch.einsum("nid,mjd->nij", a, b) + b2
""",
    },
    "multiplications": {
        "the first product only": """
def multiplications(length, width):
    return length * length * width, length * width * width
""",
        "additions are counted, too": """
def multiplications(length, width):
    return 4 * length**2 * width, 4 * length * width**2
""",
        "the orders are swapped": """
def multiplications(length, width):
    return 2 * length * width**2, 2 * length**2 * width
""",
        "the columns of V have no letter of their own": """
def multiplications(length, width):
    sizes = {"i": length, "j": length, "d": width}
    first = ("id,jd->ij", "ij,jd->id")
    second = ("jd,jd->d", "id,d->id")
    return tuple(
        sum(write_loops(equation, **sizes)[1] for equation in order)
        for order in (first, second)
    )
""",
        "brackets do not matter": """
def multiplications(length, width):
    return 2 * length**2 * width, 2 * length**2 * width
""",
        "the sizes of the results": """
def multiplications(length, width):
    return length**2 + length * width, width**2 + length * width
""",
        "one equation with three factors": """
def multiplications(length, width):
    sizes = {"i": length, "j": length, "d": width, "e": width}
    cost = write_loops("id,jd,je->ie", **sizes)[1]
    return cost, cost
""",
    },
    "soft_look_up": {
        "plain indexing": """
def soft_look_up(ids, table):
    return table[ids]
""",
        "one-hot times table": """
def soft_look_up(ids, table):
    return F.one_hot(ids, len(table)).to(table) @ table
""",
        "queries as short as the keys": """
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return plain_attention(keys[ids], keys, table)
""",
        "the scale is forgotten": """
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return plain_attention(20 * keys[ids], keys, table)
""",
        "so sharp that only one row learns": """
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return plain_attention(1e5 * keys[ids], keys, table)
""",
        "the rows are their own keys": """
def soft_look_up(ids, table):
    return plain_attention(100 * table[ids], table, table)
""",
        "the number is the key": """
def soft_look_up(ids, table):
    keys = torch.arange(len(table)).to(table)[:, None]
    return plain_attention(20 * keys[ids], keys, table)
""",
    },
    "smooth": {
        "the root of 2 is forgotten": """
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1) / width**2
    keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the product of the places only": """
def smooth(t, t_known, y_known, width):
    queries, keys = t[:, None] / width**2, t_known[:, None]
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the width is not squared": """
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
    queries = queries * math.sqrt(2) / width
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the half is forgotten": """
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, -(t_known**2)], dim=1)
    queries = queries * math.sqrt(2) / width**2
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "far places count most": """
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([-t_known, t_known**2 / 2], dim=1)
    queries = queries * math.sqrt(2) / width**2
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the nearest point answers": """
def smooth(t, t_known, y_known, width):
    nearest = (t[:, None] - t_known).abs().argmin(dim=1)
    return y_known[nearest]
""",
        "the answer stays a column": """
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
    queries = queries * math.sqrt(2) / width**2
    return plain_attention(queries, keys, y_known[:, None])
""",
        "the distance, not its square": """
def smooth(t, t_known, y_known, width):
    scores = -(t[:, None] - t_known).abs() / (2 * width**2)
    return softmax(scores) @ y_known
""",
    },
}
