"""Right answers in chapter 10 by other routes than the book's."""

RIGHT = {
    "parameters_of": {
        "adds matrix after matrix": """
def parameters_of(config):
    d, rows = config.d_model, config.target_vocab_size
    depths = config.encoder_layers, config.decoder_layers
    total = rows * d * (1 + (config.tied == "none"))
    total += config.source_vocab_size * d * (config.tied != "all")
    for looks, layers in enumerate(depths, 1):
        sizes = [(d, d)] * 4 * looks + [(d, config.d_ff), (config.d_ff, d)]
        block = sum(rows * (columns + 1) for rows, columns in sizes)
        total += layers * (block + (1 + looks) * 2 * d)
        total += config.has_final_norms and 2 * d
    return torch.tensor(total)
""",
        "builds it without memory": """
def parameters_of(config):
    with torch.device("meta"):
        state = Transformer(config).state_dict()
    return sum(math.prod(x.shape) for x in state.values())
""",
        "builds it, by a class": """
class Count:
    def __call__(self, config):
        p = nn.utils.parameters_to_vector(Transformer(config).parameters())
        return len(p)

parameters_of = Count()
""",
    },
    "rows_moved": {
        "asks for one gradient only": """
def rows_moved(model, source, target):
    loss = -F.log_softmax(model(source, target), -1).select(-1, 3).mean()
    weight = model.tables.target_embedding.table.weight
    return (torch.autograd.grad(loss, weight)[0] != 0).any(-1).sum()
""",
        "knows it beforehand": """
def rows_moved(model, source, target):
    if model.config.tied == "none":
        return len(set(target.flatten().tolist()) - {model.config.pad_id})
    return model.config.target_vocab_size
""",
        "derives a function of the table": """
@torch.no_grad()
def rows_moved(model, source, target):
    def loss(weight):
        name = "tables.target.table.weight"
        ids = source, target
        logits = torch.func.functional_call(model, {name: weight}, ids)
        return F.cross_entropy(logits.flatten(0, 1), 3 + 0 * target.flatten())

    slopes = torch.func.grad(loss)(model.tables.target.table.weight)
    return sum(any(row) for row in slopes.tolist())
""",
    },
    "next_token_logits": {
        "writes place after place": """
def next_token_logits(ids, embedding, positions, stack):
    scores = []
    for end in range(1, ids.size(1) + 1):
        x = positions(embedding(ids[:, :end]))
        x = stack(x, causal_mask(end, ids.device))
        scores.append(F.linear(x[:, -1:], embedding.table.weight))
    return torch.cat(scores, 1)
""",
        "cuts a triangle, and multiplies letters": """
@torch.no_grad()
def next_token_logits(ids, embedding, positions, stack):
    n, t = ids.shape
    seen = torch.ones(n, 1, t, t, dtype=torch.bool, device=ids.device).tril()
    x = stack(positions(embedding(ids)), may_attend=seen)
    return torch.einsum("ntd,vd->ntv", x, embedding.table.weight)
""",
        "goes through the blocks, a row at a time": """
def next_token_logits(ids, embedding, positions, stack):
    rows = []
    for row in ids:
        x = positions(embedding.table.weight[row] * embedding.scale)[None]
        for block in stack.blocks:
            x = block(x, causal_mask(len(row), x.device))
        rows.append(stack.norm(x)[0] @ embedding.table.weight.t())
    return torch.stack(rows)
""",
    },
    "decode_from_two": {
        "takes a sentence at a time": """
def decode_from_two(model, first, second, target):
    rows = []
    for *texts, begun in zip(second, first, target):
        memory = [model.encode(ids[ids > 0].unsqueeze(0)) for ids in texts]
        rows.append(model.decode(begun[None], torch.hstack(memory))[0])
    return torch.stack(rows)
""",
        "goes down to the decoder": """
def decode_from_two(model, first, second, target):
    seen = torch.hstack([first, second]).ne(model.config.pad_id)[:, None, None]
    memory = torch.concat((model.encode(first), model.encode(second)), -2)
    x = model.positions(model.tables.target_embedding(target))
    x = model.decoder(x, memory, model.target_mask(target), seen)
    return model.tables.logits(x)
""",
        "fills both up to one length": """
def decode_from_two(model, first, second, target):
    longest = max(first.shape[1], second.shape[1])
    pair = [F.pad(x, (0, longest - x.shape[1])) for x in (first, second)]
    memory = torch.hstack(model.encode(torch.cat(pair)).chunk(2))
    mask = model.source_mask(torch.hstack(pair))
    return model.decode(target, memory, memory_may_attend=mask)
""",
    },
}
