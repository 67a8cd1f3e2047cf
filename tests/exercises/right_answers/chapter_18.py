"""Right answers in chapter 18 by other routes than the book's."""

RIGHT = {
    "upcycled": {
        "builds new networks and loads the weights": """
def upcycled(network, experts, top_k):
    d_ff, d_model = network.gate.weight.shape
    many = []
    for _ in range(experts):
        many.append(GatedFeedForward(d_model, d_ff))
        many[-1].load_state_dict(network.state_dict())
    router = Router(d_model, experts, top_k, renormalize=True)
    return MixtureOfExperts(router=router, experts=tuple(many))
""",
        "scores by sigmoid, keys of another size": """
def upcycled(network, experts, top_k):
    router = Router(network.narrow.out_features, experts, top_k, "sigmoid")
    nn.init.normal_(router.keys.weight, std=0.02)
    many = nn.ModuleList(copy.deepcopy(network) for _ in range(experts))
    return MixtureOfExperts(router, many)
""",
        "copies the copies, without gradients": """
@torch.no_grad()
def upcycled(network, experts, top_k):
    many = copy.deepcopy(network), copy.deepcopy(network)
    while len(many) < experts:
        many += (copy.deepcopy(many[-1]),)
    router = Router(network.widen.weight.size(1), len(many), top_k)
    return MixtureOfExperts(router, list(many)).to(network.gate.weight)
""",
        "is a mixture of its own kind": """
class Upcycled(MixtureOfExperts):
    pass

def upcycled(network, experts, top_k):
    router = Router(network.gate.in_features, experts, top_k)
    return Upcycled(router, [*map(copy.deepcopy, [network] * experts)])
""",
    },
    "over_capacity": {
        "keeps a list of who is in": """
def over_capacity(chosen, experts, capacity):
    inside = [[] for _ in range(experts)]
    full = []
    for token, row in enumerate(chosen.tolist()):
        full.append([len(inside[e]) == capacity for e in row])
        for e in row:
            if len(inside[e]) < capacity:
                inside[e].append(token)
    return torch.tensor(full, device=chosen.device)
""",
        "goes through the experts": """
def over_capacity(chosen, experts, capacity):
    full = torch.zeros_like(chosen).bool()
    for e in range(experts):
        token, column = torch.where(chosen == e)
        full[token[capacity:], column[capacity:]] = True
    return full
""",
        "compares all rows with all": """
def over_capacity(chosen, experts, capacity):
    line = chosen.reshape(-1)
    before = (line[:, None] == line).tril(diagonal=-1).sum(dim=1)
    return before.ge(capacity).unflatten(0, chosen.shape)
""",
        "counts by rows only": """
def over_capacity(chosen, experts, capacity):
    some = torch.zeros(len(chosen), experts, dtype=torch.int64)
    some = some.to(chosen).scatter(1, chosen, 1)
    return torch.gather(some.cumsum(0), 1, chosen) > capacity
""",
    },
    "expert_choice": {
        "compares with the last one taken": """
def expert_choice(scores, capacity):
    return scores >= scores.sort(dim=0, descending=True).values[capacity - 1]
""",
        "takes one expert after the other": """
def expert_choice(scores, capacity):
    columns = []
    for column in scores.unbind(1):
        wanted = column.argsort()[-capacity:].tolist()
        columns.append(torch.tensor([t in wanted for t in range(len(scores))]))
    return torch.stack(columns, 1).to(scores.device)
""",
        "asks for places": """
def expert_choice(scores, capacity):
    places = scores.argsort(0, descending=True).argsort(0)
    return places < capacity
""",
    },
    "held_and_used": {
        "builds layers without numbers": """
def held_and_used(fields):
    d = fields["d_model"]
    with torch.device("meta"):
        one = GatedFeedForward(d, fields["d_expert"])
        wide = GatedFeedForward(d, fields["d_ff"])
        keys = nn.Linear(d, fields["experts"], bias=False)
        table = nn.Embedding(fields["vocab"], d)
    size = lambda m: sum(p.numel() for p in m.parameters())
    found = []
    for own in ("experts", "top_k"):
        total = 2 * size(table)
        for n in range(fields["layers"]):
            total += fields["attention"]
            if n < fields["dense_layers"]:
                total += size(wide)
            else:
                total += size(keys)
                total += (fields[own] + fields["shared"]) * size(one)
        found.append(total)
    return found
""",
        "takes off what is not used": """
def held_and_used(fields):
    f = fields
    n = f["layers"] - f["dense_layers"]
    row = f["layers"] * f["attention"] // f["d_model"] * f["d_model"]
    rest = f["layers"] * f["attention"] - row
    layer = 3 * f["d_expert"] * (f["experts"] + f["shared"]) + f["experts"]
    held = row + rest + f["d_model"] * (
        n * layer + 3 * f["dense_layers"] * f["d_ff"] + 2 * f["vocab"]
    )
    idle = f["experts"] - f["top_k"]
    return held, held - n * idle * 3 * f["d_expert"] * f["d_model"]
""",
        "adds up tensors": """
def held_and_used(fields):
    layers, dense, d, d_ff, width, experts, top_k, shared, attention, vocab = (
        torch.tensor(n) for n in fields.values()
    )
    every = layers * attention + 3 * dense * d * d_ff + 2 * vocab * d
    many = torch.stack([experts, top_k]) + shared
    total = every + (layers - dense) * d * (experts + 3 * width * many)
    return tuple(total)
""",
    },
}
