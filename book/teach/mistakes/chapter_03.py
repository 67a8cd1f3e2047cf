"""Wrong answers to the exercises of chapter 3, each by its misconception."""

WRONG = {
    "bilinear_scores": {
        "an einsum for show, and two products": """
# hint: with all three factors in it
def bilinear_scores(q, W, k):
    torch.einsum("id,de,je->ij", q, W, k)
    return q @ W @ k.T
""",
        "two products, one of them an einsum": """
# hint: with all three factors in it
def bilinear_scores(q, W, k):
    return torch.einsum("ie,je->ij", q @ W, k)
""",
        "two einsums": """
# hint: with all three factors in it
def bilinear_scores(q, W, k):
    asked = torch.einsum("id,de->ie", q, W)
    return torch.einsum("ie,je->ij", asked, k)
""",
        "the matrix is transposed": """
# hint: W is transposed in yours
def bilinear_scores(q, W, k):
    return torch.einsum("id,ed,je->ij", q, W, k)
""",
        "the matrix is forgotten": """
# hint: W makes no difference
def bilinear_scores(q, W, k):
    return torch.einsum("id,jd->ij", q, k[:, : q.shape[1]])
""",
        "the keys ask": """
# hint: queries are the rows of the table
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->ji", q, W, k)
""",
        "nothing is summed": """
# hint: which letters stand on the right
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->ijde", q, W, k)
""",
        "the keys are summed, too": """
# hint: which letters stand on the right
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->i", q, W, k)
""",
        "scaled already": """
# hint: nothing is to be scaled here
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,je->ij", q, W, k) / math.sqrt(q.shape[1])
""",
        "matrix products instead of letters": """
# hint: write them as one torch.einsum
def bilinear_scores(q, W, k):
    return q @ W @ k.mT
""",
        "one letter for both axes of the matrix": """
# hint: takes its diagonal
def bilinear_scores(q, W, k):
    return torch.einsum("id,dd,jd->ij", q, W, k)
""",
        "the key has the letter of the query's width": """
# hint: a letter of W occurs nowhere else
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,jd->ij", q, W, k)
""",
        "the matrix comes twice": """
# hint: these are not the scores
def bilinear_scores(q, W, k):
    return torch.einsum("id,de,ef,jf->ij", q, W, W, k)
""",
    },
    "attend_heads_last": {
        "scales after the softmax": """
# hint: scale the scores, not the shares
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k)
    shares = softmax(scores, dim=2) / math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nihe", shares, v)
""",
        "scales by the width of a value": """
# hint: you take that of a value
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k)
    shares = softmax(scores / math.sqrt(v.shape[-1]), dim=2)
    return torch.einsum("nijh,njhe->nihe", shares, v)
""",
        "softmax over the heads": """
# hint: the keys compete along another
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=-1), v)
""",
        "softmax over the queries": """
# hint: your queries compete for each key
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=1), v)
""",
        "no scale": """
# hint: the scores are not scaled
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k)
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=2), v)
""",
        "scaled by the number of heads": """
# hint: you take that of the number of heads
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-2])
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=2), v)
""",
        "the formula as if heads were in front": """
# hint: the heads of one position attend to each other
def attend_heads_last(q, k, v):
    return plain_attention(q, k, v)
""",
        "one table of weights for all heads": """
# hint: all your heads share one table
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nij", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nij,njhe->nihe", softmax(scores, dim=-1), v)
""",
        "the heads come out in front": """
# hint: your heads come out in front
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nhie", softmax(scores, dim=2), v)
""",
        "reshape instead of transpose": """
# hint: they do not exchange axes
def attend_heads_last(q, k, v):
    n, i, h, d = q.shape
    heads = [x.reshape(n, h, x.shape[1], -1) for x in (q, k, v)]
    return plain_attention(*heads).reshape(n, i, h, -1)
""",
        "multiplied by the root": """
# hint: the weighted means are not PyTorch's
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) * math.sqrt(q.shape[-1])
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=2), v)
""",
        "a width for all times": """
# hint: right for 4 queries and 4 keys
def attend_heads_last(q, k, v):
    scores = torch.einsum("nihd,njhd->nijh", q, k) / math.sqrt(5)
    return torch.einsum("nijh,njhe->nihe", softmax(scores, dim=2), v)
""",
    },
    "squared_distances": {
        "a loop over the sentences": """
# hint: einsum needs no loop
def squared_distances(a, b):
    tables = []
    for x, y in zip(a, b, strict=True):
        square_x = torch.einsum("id,id->i", x, x)[:, None]
        square_y = torch.einsum("jd,jd->j", y, y)
        both = torch.einsum("id,jd->ij", x, y)
        tables.append(square_x - 2 * both + square_y)
    return torch.stack(tables)
""",
        "cdist": """
# hint: torch.cdist is what you are writing
def squared_distances(a, b):
    return torch.cdist(a, b) ** 2
""",
        "everything at once, by broadcasting": """
# hint: one for each n, i, j and d
def squared_distances(a, b):
    return (a[:, :, None] - b[:, None]).square().sum(dim=-1)
""",
        "the root is taken": """
# hint: you take the root
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    b2 = torch.einsum("njd,njd->nj", b, b)[:, None]
    return (a2 - 2 * torch.einsum("nid,njd->nij", a, b) + b2).sqrt()
""",
        "the mixed term once": """
# hint: the mixed term comes twice
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    b2 = torch.einsum("njd,njd->nj", b, b)[:, None]
    return a2 - torch.einsum("nid,njd->nij", a, b) + b2
""",
        "the dot product is a distance": """
# hint: a dot product is large for what is alike
def squared_distances(a, b):
    return torch.einsum("nid,njd->nij", a, b)
""",
        "the squares of the sums": """
# hint: you add up the entries before
def squared_distances(a, b):
    a2 = torch.einsum("nid->ni", a)[:, :, None]
    b2 = torch.einsum("njd->nj", b)[:, None]
    return (a2 - b2) ** 2
""",
        "the sentences are mixed": """
# hint: the sentences are mixed
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    b2 = torch.einsum("njd,njd->nj", b, b)[:, None]
    return a2 - 2 * torch.einsum("nid,mjd->nij", a, b) + b2
""",
        "the mixed term is added": """
# hint: has a minus
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    b2 = torch.einsum("njd,njd->nj", b, b)[:, None]
    return a2 + 2 * torch.einsum("nid,njd->nij", a, b) + b2
""",
        "the squares of b are forgotten": """
# hint: these are not the squared distances
def squared_distances(a, b):
    a2 = torch.einsum("nid,nid->ni", a, a)[:, :, None]
    return a2 - 2 * torch.einsum("nid,njd->nij", a, b)
""",
        "loops over all pairs": """
# hint: einsum needs no loop
def squared_distances(a, b):
    table = torch.zeros(len(a), a.shape[1], b.shape[1], dtype=a.dtype)
    for i in range(a.shape[1]):
        for j in range(b.shape[1]):
            apart = a[:, i] - b[:, j]
            table[:, i, j] = torch.einsum("nd,nd->n", apart, apart)
    return table
""",
        "matrix products instead of letters": """
# hint: write it with torch.einsum
def squared_distances(a, b):
    a2, b2 = a.square().sum(-1)[:, :, None], b.square().sum(-1)[:, None]
    return a2 - 2 * a @ b.mT + b2
""",
    },
    "multiplications": {
        "the first product only": """
# hint: and you count one of them
def multiplications(length, width):
    return length * length * width, length * width * width
""",
        "additions are counted, too": """
# hint: and you count the additions
def multiplications(length, width):
    return 4 * length**2 * width, 4 * length * width**2
""",
        "the orders are swapped": """
# hint: the two orders are exchanged
def multiplications(length, width):
    return 2 * length * width**2, 2 * length**2 * width
""",
        "the columns of V have no letter of their own": """
# hint: the columns of V have the letter
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
# hint: both orders cost the same in yours
def multiplications(length, width):
    return 2 * length**2 * width, 2 * length**2 * width
""",
        "the sizes of the results": """
# hint: these are the sizes of the results
def multiplications(length, width):
    return length**2 + length * width, width**2 + length * width
""",
        "one equation with three factors": """
# hint: runs all loops at once
def multiplications(length, width):
    sizes = {"i": length, "j": length, "d": width, "e": width}
    cost = write_loops("id,jd,je->ie", **sizes)[1]
    return cost, cost
""",
        "one number for both": """
# hint: two numbers are to come back
def multiplications(length, width):
    return 2 * length**2 * width
""",
        "the softmax is counted": """
# hint: and you say
def multiplications(length, width):
    return 2 * length**2 * width + length**2, 2 * length * width**2
""",
    },
    "soft_look_up": {
        "one length of query for all tables": """
# hint: of 400 rows
def soft_look_up(ids, table):
    keys = torch.eye(len(table), dtype=table.dtype, device=table.device)
    return plain_attention(100 * keys[ids], keys, table)
""",
        "detaches the table": """
# hint: no gradient reaches the table
def soft_look_up(ids, table):
    keys = torch.eye(len(table), dtype=table.dtype, device=table.device)
    queries = 20 * math.sqrt(len(table)) * keys[ids]
    return plain_attention(queries, keys, table.detach())
""",
        "plain indexing": """
# hint: have no share at all
def soft_look_up(ids, table):
    return table[ids]
""",
        "one-hot times table": """
# hint: have no share at all
def soft_look_up(ids, table):
    return F.one_hot(ids, len(table)).to(table) @ table
""",
        "queries as short as the keys": """
# hint: the query is too short
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return plain_attention(keys[ids], keys, table)
""",
        "the scale is forgotten": """
# hint: the query is too short
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return plain_attention(20 * keys[ids], keys, table)
""",
        "so sharp that only one row learns": """
# hint: their gradients as well
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return plain_attention(1e5 * keys[ids], keys, table)
""",
        "the rows are their own keys": """
# hint: the keys may not depend on what the rows hold
def soft_look_up(ids, table):
    queries = 20 * math.sqrt(len(table)) * table[ids]
    return plain_attention(queries, table, table)
""",
        "the number is the key": """
# hint: finds row
def soft_look_up(ids, table):
    keys = torch.arange(len(table)).to(table)[:, None]
    return plain_attention(20 * keys[ids], keys, table)
""",
        "softmax without attention": """
# hint: now let plain_attention do the mixing
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return softmax(20 * keys[ids] @ keys) @ table
""",
        "a width for all times": """
# hint: of 50 rows
def soft_look_up(ids, table):
    keys = torch.eye(len(table)).to(table)
    return plain_attention(20 * math.sqrt(6) * keys[ids], keys, table)
""",
        "random keys": """
# hint: finds row
def soft_look_up(ids, table):
    keys = torch.randn(len(table), 1).to(table)
    return plain_attention(100 * keys[ids], keys, table)
""",
    },
    "smooth": {
        "the minus inside the square": """
# hint: has the wrong sign
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, (-t_known) ** 2 / 2], dim=1)
    queries = queries * math.sqrt(2) / width**2
    return plain_attention(queries, keys, y_known.unsqueeze(1)).squeeze(1)
""",
        "the root of 2 is forgotten": """
# hint: you have not made up for it
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1) / width**2
    keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the product of the places only": """
# hint: one of the two terms that are left is missing
def smooth(t, t_known, y_known, width):
    queries, keys = t[:, None] / width**2, t_known[:, None]
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the width is not squared": """
# hint: the width is not squared
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
    queries = queries * math.sqrt(2) / width
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the half is forgotten": """
# hint: one half is forgotten
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, -(t_known**2)], dim=1)
    queries = queries * math.sqrt(2) / width**2
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "far places count most": """
# hint: in yours the places far away count most
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([-t_known, t_known**2 / 2], dim=1)
    queries = queries * math.sqrt(2) / width**2
    return plain_attention(queries, keys, y_known[:, None])[:, 0]
""",
        "the nearest point answers": """
# hint: only the nearest point answers
def smooth(t, t_known, y_known, width):
    nearest = (t[:, None] - t_known).abs().argmin(dim=1)
    return y_known[nearest]
""",
        "the answer stays a column": """
# hint: one number for each new place
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
    queries = queries * math.sqrt(2) / width**2
    return plain_attention(queries, keys, y_known[:, None])
""",
        "the distance, not its square": """
# hint: you take the distance
def smooth(t, t_known, y_known, width):
    scores = -(t[:, None] - t_known).abs() / (2 * width**2)
    return softmax(scores) @ y_known
""",
        "the bumps without attention": """
# hint: now let plain_attention do the work
def smooth(t, t_known, y_known, width):
    apart = t[:, None] - t_known
    return softmax(-(apart**2) / (2 * width**2)) @ y_known
""",
        "twice the width": """
# hint: these are not the weighted means
def smooth(t, t_known, y_known, width):
    queries = torch.stack([t, torch.ones_like(t)], dim=1)
    keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
    scaled = queries * math.sqrt(2) / (2 * width) ** 2
    return plain_attention(scaled, keys, y_known[:, None])[:, 0]
""",
    },
}

# Mutants of the solutions that are right too, and why.
SHARP = "any lead between about 14 and 700 is sharp enough, and not too sharp"
SUM = "a sum has no order"
EQUIVALENT = {
    "squared_distances": {
        "return (length_b + (length_a - 2 * torch.einsum('nid,njd->nij', "
        "a, b)))": SUM,
    },
    "multiplications": {
        "first = ('ij,je->ie', 'id,jd->ij')": SUM,
        "second = ('id,de->ie', 'jd,je->de')": SUM,
    },
    "soft_look_up": {
        "keys = torch.eye(len(table), dtype=table.dtype)": (
            "the answer lies on the same device on a CPU"
        ),
        "sharpness = 19 * math.sqrt(len(table)) # undoes the scale": SHARP,
        "sharpness = 20 * len(table) # undoes the scale": SHARP,
        "sharpness = 21 * math.sqrt(len(table)) # undoes the scale": SHARP,
    },
}
