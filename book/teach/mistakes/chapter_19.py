"""Wrong answers to the exercises of chapter 19, by misconception."""

from . import read

WRONG = read(
    tokens_to_pay="""
equal is enough > both keep equally much
-     return state // cache_bytes(1, 1, kv_heads, d_head) + 1
+     return -(-state // cache_bytes(1, 1, kv_heads, d_head))
rounded down > one token more
-     return state // cache_bytes(1, 1, kv_heads, d_head) + 1
+     return state // cache_bytes(1, 1, kv_heads, d_head)
keys only > a key and a value, and you count one
-     return state // cache_bytes(1, 1, kv_heads, d_head) + 1
+     return state // (2 * kv_heads * d_head) + 1
one head's state > a matrix of its own
-     state = 4 * heads * d_key * d_value
+     state = 4 * d_key * d_value
a state of half precision > and one of the cache 2
-     state = 4 * heads * d_key * d_value
+     state = 2 * heads * d_key * d_value
a cache of single precision > and one of the cache 2
-     return state // cache_bytes(1, 1, kv_heads, d_head) + 1
+     return state // cache_bytes(1, 1, kv_heads, d_head, 4) + 1
a key for each head of the state > not for the heads of the state
-     return state // cache_bytes(1, 1, kv_heads, d_head) + 1
+     return state // cache_bytes(1, 1, heads, d_head) + 1
parts of a token > a whole number is asked for
-     return state // cache_bytes(1, 1, kv_heads, d_head) + 1
+     return state / cache_bytes(1, 1, kv_heads, d_head) + 1
""",
    forget_key="""
as if every key had length 1 > A key twice as long finds
-     return memory - torch.outer(key, found) / key.square().sum()
+     return memory - torch.outer(key, found)
divides by the length once > you divide by the length of the key once
-     return memory - torch.outer(key, found) / key.square().sum()
+     return memory - torch.outer(key, found) / key.norm()
adds what was found > is added once more
-     return memory - torch.outer(key, found) / key.square().sum()
+     return memory + torch.outer(key, found) / key.square().sum()
clears the whole memory > everything is forgotten
-     return memory - torch.outer(key, found) / key.square().sum()
+     return torch.zeros_like(memory)
takes what was found from all rows > from every row
-     return memory - torch.outer(key, found) / key.square().sum()
+     return memory - found
half a rate > write the whole error
-     return memory - torch.outer(key, found) / key.square().sum()
+     return memory - torch.outer(key, found) / key.square().sum() / 2
in place > changes its input memory
-     return memory - torch.outer(key, found) / key.square().sum()
+     return memory.sub_(torch.outer(key, found) / key.square().sum())
a decay where the key is large > every key at right angles to it
-     return memory - torch.outer(key, found) / key.square().sum()
+     return memory - memory * (key / key.norm()).abs()[:, None]
""",
    goes_on="""
does not look into the old memory > no line looks into the old memory
-     errors = beta[:, None] * (v - k @ memory)
+     errors = beta[:, None] * v
begins anew > the old memory is gone at the end
-     return memory + k.mT @ written
+     return k.mT @ written
no rate where lines meet > the rate stands on one side only
-     meets = beta[:, None] * (k @ k.mT)
+     meets = (k @ k.mT)
no rate where it writes > the rate is missing where the error is written
-     errors = beta[:, None] * (v - k @ memory)
+     errors = (v - k @ memory)
all errors from the old memory > no line knows what the others
-     return memory + k.mT @ written
+     return memory + k.mT @ errors
the diagonal is part of the system > a line takes off what it writes itself
-         meets, errors, upper=False, unitriangular=True
+         meets + torch.eye(len(k)).to(k), errors, upper=False
not triangular > the system must be triangular
-     written = torch.linalg.solve_triangular(
-         meets, errors, upper=False, unitriangular=True
+     written = torch.linalg.solve(
+         meets - torch.diag(meets.diagonal() - 1), errors
a loop over the lines > there is a loop
+ def goes_on(memory, k, v, beta):
+     for key, value, rate in zip(k, v, beta, strict=True):
+         memory = overwrites(memory, key, value, rate)
+     return memory
""",
    who_reads="""
softmax > these are attention's weights
+ def who_reads(q, k, beta, decay):
+     scores = q @ k.mT / k.shape[-1] ** 0.5
+     later = torch.ones(len(k), len(k)).triu(1) > 0
+     return scores.masked_fill(later, -torch.inf).softmax(-1)
a memory that adds > no line takes off what its key finds
+ def who_reads(q, k, beta, decay):
+     rows, table = torch.zeros(len(k), k.shape[1]).to(k), []
+     for i in range(len(k)):
+         rows = rows * decay[i]
+         rows[i] = beta[i] * k[i]
+         table.append(rows @ q[i])
+     return torch.stack(table)
a column for each output > the table lies on its side
-     return delta_rule(q, k, values, beta, decay)[0]
+     return delta_rule(q, k, values, beta, decay)[0].mT
without the decay > nothing fades
-     return delta_rule(q, k, values, beta, decay)[0]
+     return delta_rule(q, k, values, beta)[0]
one memory for all > times v, this is not what the rule finds
-     return delta_rule(q, k, values, beta, decay)[0]
+     return q @ delta_rule(q, k, values, beta, decay)[1]
rate 1 > as if its rate were 1
-     return delta_rule(q, k, values, beta, decay)[0]
+     return delta_rule(q, k, values, torch.ones_like(beta), decay)[0]
asks with the keys > the queries are to ask
-     return delta_rule(q, k, values, beta, decay)[0]
+     return delta_rule(k, k, values, beta, decay)[0]
divided, so that rows sum to 1 > times v, this is not what the rule finds
-     return delta_rule(q, k, values, beta, decay)[0]
+     return delta_rule(q, k, values, beta, decay)[0].softmax(-1).softmax(-1)
""",
)

# Mutants of the solutions that are right too, and why.
PRODUCT = "only the product of the sizes counts"
EQUIVALENT = {
    "tokens_to_pay": {
        "return state // cache_bytes(1, 1, d_head, kv_heads) + 1": PRODUCT,
        "return state // cache_bytes(1, kv_heads, 1, d_head) + 1": PRODUCT,
    },
}
