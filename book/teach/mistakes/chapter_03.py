"""Wrong answers to the exercises of chapter 3, each by its misconception."""

from . import read

WRONG = read(
    rules_from="""
the partner asks
> the rows of the matrix are for the facts of the word that asks
-     return torch.einsum("ia,ib->ab", facts, facts[partner])
+     return torch.einsum("ia,ib->ba", facts, facts[partner])
the mean of the arrows > the arrows are added up
-     return torch.einsum("ia,ib->ab", facts, facts[partner])
+     return torch.einsum("ia,ib->ab", facts, facts[partner]) / len(partner)
each word is its own partner > no partner occurs in yours
-     return torch.einsum("ia,ib->ab", facts, facts[partner])
+     return torch.einsum("ia,ib->ab", facts, facts)
an arrow takes the place of the one before > only the last arrow is left
+ def rules_from(facts, partner):
+     for i, j in enumerate(partner):
+         rules = facts[i].outer(facts[j])
+     return rules
a table of words, and not of facts > it is to have one for each fact
-     return torch.einsum("ia,ib->ab", facts, facts[partner])
+     return torch.einsum("ia,ja->ij", facts, facts[partner])
the same letter for both facts > sum over the arrows alone
-     return torch.einsum("ia,ib->ab", facts, facts[partner])
+     return torch.einsum("ia,ia->a", facts, facts[partner]).diag()
the facts of an arrow are added
> a fact of the word that asks times a fact of its partner
+ def rules_from(facts, partner):
+     return (facts[:, :, None] + facts[partner][:, None]).sum(dim=0)
""",
    bilinear_scores="""
two einsums > three factors
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("ie,je->ij", torch.einsum("id,de->ie", q, W), k)
the matrix is transposed > W is transposed in yours
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("id,ed,je->ij", q, W, k)
the matrix is forgotten > W makes no difference
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("id,jd->ij", q, k[:, : q.shape[1]])
the keys ask > queries are the rows of the table
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("id,de,je->ji", q, W, k)
the matrix comes twice > these are not the scores
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("id,de,ef,jf->ij", q, W, W, k)
scaled already > nothing is to be scaled here
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("id,de,je->ij", q, W, k) / math.sqrt(q.shape[1])
one letter for both axes of the matrix > takes its diagonal
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("id,dd,jd->ij", q, W, k)
the key has the letter of the query's width > a letter of W occurs nowhere else
-     return torch.einsum("id,de,je->ij", q, W, k)
+     return torch.einsum("id,de,jd->ij", q, W, k)
""",
    attend_heads_last="""
scales by the width of a value > you take that of a value
-     shares = softmax(scores / math.sqrt(q.shape[-1]), dim=2)
+     shares = softmax(scores / math.sqrt(v.shape[-1]), dim=2)
softmax over the heads > the keys compete along another
-     shares = softmax(scores / math.sqrt(q.shape[-1]), dim=2)
+     shares = softmax(scores / math.sqrt(q.shape[-1]), dim=-1)
softmax over the queries > your queries compete for each key
-     shares = softmax(scores / math.sqrt(q.shape[-1]), dim=2)
+     shares = softmax(scores / math.sqrt(q.shape[-1]), dim=1)
no scale > the scores are not scaled
-     shares = softmax(scores / math.sqrt(q.shape[-1]), dim=2)
+     shares = softmax(scores, dim=2)
the formula as if heads were in front
> the heads of one position attend to each other
+ def attend_heads_last(q, k, v):
+     return plain_attention(q, k, v)
multiplied by the root > the weighted means are not PyTorch's
-     shares = softmax(scores / math.sqrt(q.shape[-1]), dim=2)
+     shares = softmax(scores * math.sqrt(q.shape[-1]), dim=2)
one table of weights for all heads > all your heads share one table
-     scores = torch.einsum("nihd,njhd->nijh", q, k)
+     scores = torch.einsum("nihd,njhd->nij", q, k)
-     return torch.einsum("nijh,njhe->nihe", shares, v)
+     return torch.einsum("nij,njhe->nihe", shares, v)
reshape instead of transpose > they do not exchange axes
+ def attend_heads_last(q, k, v):
+     n, i, h, d = q.shape
+     heads = [x.reshape(n, h, x.shape[1], -1) for x in (q, k, v)]
+     return plain_attention(*heads).reshape(n, i, h, -1)
""",
    squared_distances="""
a loop over the sentences > einsum needs no loop
+ def squared_distances(a, b):
+     tables = []
+     for x, y in zip(a, b, strict=True):
+         square_x = torch.einsum("id,id->i", x, x)[:, None]
+         square_y = torch.einsum("jd,jd->j", y, y)
+         both = torch.einsum("id,jd->ij", x, y)
+         tables.append(square_x - 2 * both + square_y)
+     return torch.stack(tables)
cdist > to be written without cdist
+ def squared_distances(a, b):
+     return torch.cdist(a, b) ** 2
everything at once, by broadcasting > one for each n, i, j and d
+ def squared_distances(a, b):
+     return (a[:, :, None] - b[:, None]).square().sum(dim=-1)
the root is taken > you take the root
-     return length_a - 2 * torch.einsum("nid,njd->nij", a, b) + length_b
+     return (length_a - 2 * torch.einsum("nid,njd->nij", a, b) + length_b).clamp(0).sqrt()
the mixed term once > the mixed term comes twice
-     return length_a - 2 * torch.einsum("nid,njd->nij", a, b) + length_b
+     return length_a - torch.einsum("nid,njd->nij", a, b) + length_b
the dot product is a distance > a dot product is large for what is alike
-     return length_a - 2 * torch.einsum("nid,njd->nij", a, b) + length_b
+     return torch.einsum("nid,njd->nij", a, b)
the sentences are mixed > the sentences are mixed
-     return length_a - 2 * torch.einsum("nid,njd->nij", a, b) + length_b
+     return length_a - 2 * torch.einsum("nid,mjd->nij", a, b) + length_b
matrix products instead of letters > write it with torch.einsum
+ def squared_distances(a, b):
+     a2, b2 = a.square().sum(-1)[:, :, None], b.square().sum(-1)[:, None]
+     return a2 - 2 * a @ b.mT + b2
""",
    multiplications="""
the first product only > and you count one of them
-     first = ("id,jd->ij", "ij,je->ie")
-     second = ("jd,je->de", "id,de->ie")
+     first = ("id,jd->ij",)
+     second = ("jd,je->de",)
additions are counted, too > and you count the additions
-         sum(write_loops(equation, **sizes)[1] for equation in order)
+         2 * sum(write_loops(equation, **sizes)[1] for equation in order)
the orders are swapped > the two orders are exchanged
-         for order in (first, second)
+         for order in (second, first)
the columns of V have no letter of their own > the columns of V have the letter
-     first = ("id,jd->ij", "ij,je->ie")
-     second = ("jd,je->de", "id,de->ie")
+     first = ("id,jd->ij", "ij,jd->id")
+     second = ("jd,jd->d", "id,d->id")
brackets do not matter > both orders cost the same in yours
-         for order in (first, second)
+         for order in (first, first)
the sizes of the results > these are the sizes of the results
+ def multiplications(length, width):
+     return length**2 + length * width, width**2 + length * width
one equation with three factors > runs all loops at once
-     first = ("id,jd->ij", "ij,je->ie")
-     second = ("jd,je->de", "id,de->ie")
+     first = ("id,jd,je->ie",)
+     second = ("id,jd,je->ie",)
one number for both > a list is asked for
+ def multiplications(length, width):
+     return 2 * length**2 * width
""",
    soft_look_up="""
one length of query for all tables > the division by the root
-     sharpness = 20 * math.sqrt(len(table))  # undoes the scale
+     sharpness = 100  # undoes the scale
detaches the table > no gradient reaches the table
-     return plain_attention(sharpness * keys[ids], keys, table)
+     return plain_attention(sharpness * keys[ids], keys, table.detach())
plain indexing > mix them in
-     return plain_attention(sharpness * keys[ids], keys, table)
+     return table[ids]
so sharp that only one row learns > so short that no share is exactly 0
-     sharpness = 20 * math.sqrt(len(table))  # undoes the scale
+     sharpness = 1e5 * math.sqrt(len(table))  # undoes the scale
the rows are their own keys > each id is to find its own row
-     return plain_attention(sharpness * keys[ids], keys, table)
+     return plain_attention(sharpness * table[ids], table, table)
softmax without attention > Can plain_attention do the mixing
-     return plain_attention(sharpness * keys[ids], keys, table)
+     return softmax(20 * keys[ids] @ keys) @ table
""",
    smooth="""
the minus inside the square > has the wrong sign
-     keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
+     keys = torch.stack([t_known, (-t_known) ** 2 / 2], dim=1)
the root of 2 is forgotten > you have not made up for it
-     scaled = queries * math.sqrt(2) / width**2
+     scaled = queries * 1 / width**2
the product of the places only > one of the two terms that are left is missing
-     keys = torch.stack([t_known, -(t_known**2) / 2], dim=1)
+     keys = torch.stack([t_known, 0 * t_known], dim=1)
the width is not squared > the width is not squared
-     scaled = queries * math.sqrt(2) / width**2
+     scaled = queries * math.sqrt(2) / width
twice the width > these are not the weighted means
-     scaled = queries * math.sqrt(2) / width**2
+     scaled = queries * math.sqrt(2) / (2 * width) ** 2
far places count most > in yours the places far away count most
-     scaled = queries * math.sqrt(2) / width**2
+     scaled = queries * -math.sqrt(2) / width**2
the nearest point answers > only the nearest point answers
+ def smooth(t, t_known, y_known, width):
+     nearest = (t[:, None] - t_known).abs().argmin(dim=1)
+     return y_known[nearest]
the bumps without attention > Can plain_attention do the work
+ def smooth(t, t_known, y_known, width):
+     apart = t[:, None] - t_known
+     return softmax(-(apart**2) / (2 * width**2)) @ y_known
""",
)

# Mutants of the solutions that are right too, and why.
SHARP = "any lead between about 14 and 700 is sharp enough, and not too sharp"
SUM = "a sum has no order"
EQUIVALENT = {
    "multiplications": {
        "first = ('ij,je->ie', 'id,jd->ij')": SUM,
        "second = ('id,de->ie', 'jd,je->de')": SUM,
    },
    "soft_look_up": {
        "sharpness = 19 * math.sqrt(len(table)) # undoes the scale": SHARP,
        "sharpness = 20 * len(table) # undoes the scale": "with 400 rows and fewer no share becomes 0",
        "sharpness = 21 * math.sqrt(len(table)) # undoes the scale": SHARP,
    },
}
