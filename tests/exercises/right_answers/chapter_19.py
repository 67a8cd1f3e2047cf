"""Right answers in chapter 19 by other routes than the book's."""

RIGHT = {
    "tokens_to_pay": {
        "counts tokens one by one": """
def tokens_to_pay(kv_heads, d_head, heads, d_key, d_value):
    n = 0
    while 2 * 2 * n * kv_heads * d_head <= heads * d_key * d_value * 4:
        n += 1
    return n
""",
        "by what torch says of tensors": """
import math

def tokens_to_pay(kv_heads, d_head, heads, d_key, d_value):
    state = torch.empty(heads, d_key, d_value, dtype=torch.float32).nbytes
    one = torch.empty(2, kv_heads, d_head, dtype=torch.bfloat16).nbytes
    return math.floor(state / one) + 1
""",
        "divides with a remainder": """
def tokens_to_pay(kv_heads, d_head, heads, d_key, d_value):
    whole, left = divmod(heads * d_key * d_value, kv_heads * d_head)
    return whole + (1 if left >= 0 else 0)
""",
    },
    "forget_key": {
        "makes the key one long, then writes zero": """
def forget_key(memory, key):
    k = F.normalize(key, dim=0, eps=0)
    return overwrites(memory, k, torch.zeros_like(memory[0]))
""",
        "a rate of one over the square": """
def forget_key(memory, key):
    zero = memory.new_zeros(memory.shape[1])
    return overwrites(memory, key, zero, 1 / torch.dot(key, key))
""",
        "multiplies with what lies across": """
def forget_key(memory, key):
    across = torch.eye(len(key)).to(memory)
    across = across - key[:, None] * key / (key**2).sum()
    return across @ memory
""",
        "in loops": """
def forget_key(memory, key):
    out, size = memory.clone(), sum(x * x for x in key)
    for j in range(memory.shape[1]):
        found = sum(key[i] * memory[i, j] for i in range(len(key)))
        for i in range(len(key)):
            out[i, j] = memory[i, j] - key[i] * found / size
    return out
""",
    },
    "goes_on": {
        "solves in full": """
def goes_on(memory, k, v, beta):
    n = len(k)
    system = torch.eye(n).to(k) + torch.tril(beta.view(n, 1) * k @ k.T, -1)
    return memory + k.T @ torch.linalg.solve(system, beta.view(n, 1) * (v - k @ memory))
""",
        "divides the equations by the rates": """
def goes_on(memory, k, v, beta):
    system = (k @ k.T).tril(-1) + torch.diag(1 / beta)
    u = torch.linalg.solve_triangular(system, v - k @ memory, upper=False)
    return torch.addmm(memory, k.T, u)
""",
        "by an inverse": """
def goes_on(memory, k, v, beta):
    b = torch.diag(beta)
    meets = torch.einsum("id,jd->ij", b @ k, k) * torch.ones(len(k), len(k)).to(k).tril(-1)
    inverse = torch.linalg.inv(torch.eye(len(k)).to(k) + meets)
    return memory + torch.einsum("jd,ji,ie->de", k, inverse, b @ (v - k @ memory))
""",
    },
    "who_reads": {
        "token by token, with one-hot values": """
def who_reads(q, k, beta, decay):
    memory, rows = torch.zeros(k.shape[1], len(k)).to(k), []
    for i, value in enumerate(torch.eye(len(k)).to(k)):
        memory = overwrites(decay[i] * memory, k[i], value, beta[i])
        rows.append(q[i] @ memory)
    return torch.stack(rows)
""",
        "one column for each value": """
def who_reads(q, k, beta, decay):
    columns = []
    for j in range(k.size(0)):
        v = torch.zeros_like(k[:, :1])
        v[j] = 1
        columns.append(delta_rule(q, k, v, beta, decay)[0])
    return torch.cat(columns, dim=1)
""",
        "by what later lines leave": """
def who_reads(q, k, beta, decay):
    n, d = k.shape
    table = torch.zeros(n, n).to(k)
    for j in range(n):
        x = beta[j] * k[j]
        table[j, j] = q[j] @ x
        for i in range(j + 1, n):
            x = decay[i] * (x - beta[i] * k[i] * (k[i] @ x))
            table[i, j] = q[i] @ x
    return table
""",
    },
}
