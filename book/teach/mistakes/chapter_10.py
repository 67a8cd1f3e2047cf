"""Wrong answers to the exercises of chapter 10, by misconception."""

WRONG = {
    "parameters_of": {
        "builds the model and counts": """
# hint: write it without numel and parameters
def parameters_of(config):
    return sum(p.numel() for p in Transformer(config).parameters())
""",
        "tables do not depend on tying": """
# hint: there are not two tables
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = target + source
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "an output matrix of its own, also when it is tied": """
# hint: count it once
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = 2 * target + source
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "no biases in the attention": """
# hint: have a bias each
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * d
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "attention grows with the heads": """
# hint: heads cut the same matrices
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = config.heads * 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "the feed-forward network is always four times as wide": """
# hint: d_ff may be any number
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d + 1)
    network = 8 * d * d + 5 * d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "one attention in the decoder": """
# hint: a decoder block has two attentions
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "two norms in the decoder": """
# hint: a norm for each
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 4 * d) + config.has_final_norms * 4 * d
""",
        "the decoder is as deep as the encoder": """
# hint: of different depth
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + n * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "forgets the final norms": """
# hint: stands at the end of each stack
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + 0
""",
        "final norms only if they are asked for": """
# hint: final_norms=None leaves the choice
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + bool(config.final_norms) * 4 * d
""",
        "builds the embedding of positions as a table": """
# hint: the positions are sinusoids
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source) + config.max_length
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "no biases in the network": """
# hint: and not
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d + 1)
    network = 2 * d * d_ff
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
        "a share of the heads is a fraction": """
# hint: is a whole number, not a float
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {'all': target, 'target': target + source}.get(config.tied, 2 * target + source)
    attention = 4 * d * (d / config.heads * config.heads + 1)
    network = 2 * d * d_ff + d_ff + d
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + n * (attention + network + 4 * d) + m * (2 * attention + network + 6 * d) + config.has_final_norms * 4 * d
""",
    },
    "whole_pass": {
        "the decoder sees its future": """
# hint: the decoder sees what comes later
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "the decoder sees its PAD": """
# hint: looks at the PAD of its own target
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "the encoder reads PAD": """
# hint: the encoder reads the PAD
def whole_pass(parts, source, target):
    no_pad = None
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, padding_mask_from_ids(source, 0))
    return x @ parts.target_table.table.weight.T
""",
        "the cross-attention reads PAD": """
# hint: the cross-attention reads the PAD
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, None)
    return x @ parts.target_table.table.weight.T
""",
        "masks are turned round": """
# hint: yours is True at the PAD of the source
def whole_pass(parts, source, target):
    no_pad = ~padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "no positions in the source": """
# hint: the source knows no positions
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.source_table(source)
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "no positions in the target": """
# hint: the target knows no positions
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.target_table(target)
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "the target is read with the source's table": """
# hint: with the table of the source
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.source_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "rows are read without their factor": """
# hint: read without their factor
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table.table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "the output is scaled by the root of the width": """
# hint: used without the factor
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x * parts.target_table.scale @ parts.target_table.table.weight.T
""",
        "probabilities instead of logits": """
# hint: these are probabilities
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return torch.softmax(x @ parts.target_table.table.weight.T, -1)
""",
        "decoder block i looks at the output of encoder block i": """
# hint: the encoder block beside it
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device)
    past = past & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    x = parts.positions(parts.target_table(target))
    for i, block in enumerate(parts.decoder_blocks):
        if i < len(parts.encoder_blocks):
            memory = parts.encoder_blocks[i](memory, no_pad)
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "the source is embedded, and nobody reads it": """
# hint: looks at the source as it was embedded
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device)
    past = past & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "as many blocks in the decoder as in the encoder": """
# hint: some blocks of the decoder are left out
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device)
    past = past & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for _, block in zip(parts.encoder_blocks, parts.decoder_blocks):
        x = block(x, memory, past, no_pad)
    return x @ parts.target_table.table.weight.T
""",
        "the embedding is added once more at the end": """
# hint: Follow figure 10.4 from bottom to top
def whole_pass(parts, source, target):
    no_pad = padding_mask_from_ids(source, 0)
    past = causal_mask(target.shape[1], target.device) & padding_mask_from_ids(target, 0)
    memory = parts.positions(parts.source_table(source))
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = parts.positions(parts.target_table(target))
    for block in parts.decoder_blocks:
        x = block(x, memory, past, no_pad)
    return (x + parts.target_table(target)) @ parts.target_table.table.weight.T
""",
    },
    "rows_moved": {
        "gradients of the call before are added": """
# hint: counted again
def rows_moved(model, source, target):
    pass
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.target_embedding.table.weight.grad
    return int((gradient.abs().sum(-1) > 0).sum())
""",
        "counts numbers, not rows": """
# hint: you count numbers
def rows_moved(model, source, target):
    model.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.target_embedding.table.weight.grad
    return int((gradient != 0).sum())
""",
        "counts the rows of the output matrix": """
# hint: you count every row
def rows_moved(model, source, target):
    model.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.output_matrix.grad
    return int((gradient.abs().sum(-1) > 0).sum())
""",
        "counts the rows of the source": """
# hint: rows of the source's table
def rows_moved(model, source, target):
    model.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.source_embedding.table.weight.grad
    return int((gradient.abs().sum(-1) > 0).sum())
""",
        "every row, whatever the tying": """
# hint: without tying a row moves only if it is read
def rows_moved(model, source, target):
    model.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.target_embedding.table.weight.grad
    return len(gradient)
""",
        "every token that was read, PAD included": """
# hint: that is what was read
def rows_moved(model, source, target):
    return len(target.unique())
""",
        "every token that was read, tied or not": """
# hint: that is what was read
def rows_moved(model, source, target):
    return len(set(target.flatten().tolist()) - {0})
""",
        "signs cancel in the sum": """
# hint: have signs
def rows_moved(model, source, target):
    model.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.target_embedding.table.weight.grad
    return int((gradient.sum(-1) > 0).sum())
""",
        "UNK's row alone": """
# hint: and not 1
def rows_moved(model, source, target):
    model.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.target_embedding.table.weight.grad
    return 1
""",
        "a tensor is no number": """
# hint: how many rows is a whole number
def rows_moved(model, source, target):
    model.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.target_embedding.table.weight.grad
    return (gradient.abs().sum(-1) > 0).sum()
""",
        "counts PAD as a row that is read": """
# hint: PAD is read as well
def rows_moved(model, source, target):
    tied = model.config.tied != "none"
    return model.config.target_vocab_size if tied else len(target.unique())
""",
        "takes a step as well": """
# hint: the weights of the model have changed
def rows_moved(model, source, target):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.0001)
    optimiser.zero_grad()
    logits = model(source, target)
    (-logits.log_softmax(-1)[..., 3].mean()).backward()
    gradient = model.tables.target_embedding.table.weight.grad
    optimiser.step()
    return int((gradient.abs().sum(-1) > 0).sum())
""",
    },
    "next_token_logits": {
        "no positions": """
# hint: the positions are missing
def next_token_logits(ids, embedding, positions, stack):
    x = stack(embedding(ids), causal_mask(ids.shape[1], ids.device))
    return x @ embedding.table.weight.T
""",
        "positions after the stack": """
# hint: where nobody can look by them
def next_token_logits(ids, embedding, positions, stack):
    x = stack(embedding(ids), causal_mask(ids.shape[1], ids.device))
    return positions(x) @ embedding.table.weight.T
""",
        "positions before and after the stack": """
# hint: added twice
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), causal_mask(ids.shape[1], ids.device))
    return positions(x) @ embedding.table.weight.T
""",
        "no mask": """
# hint: every place sees what comes later
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), None)
    return x @ embedding.table.weight.T
""",
        "only the future is seen": """
# hint: your mask is turned round
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), ~causal_mask(ids.shape[1], ids.device))
    return x @ embedding.table.weight.T
""",
        "the factor of the embedding in the output": """
# hint: used without the factor
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), causal_mask(ids.shape[1], ids.device))
    return x @ embedding.table.weight.T * embedding.scale
""",
        "probabilities instead of scores": """
# hint: these are probabilities
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), causal_mask(ids.shape[1], ids.device))
    return (x @ embedding.table.weight.T).softmax(-1)
""",
        "scores of the last place alone": """
# hint: not the last place alone
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), causal_mask(ids.shape[1], ids.device))
    return x[:, -1] @ embedding.table.weight.T
""",
        "id 0 is taken for PAD": """
# hint: id 0 is a token like any other
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), causal_mask(ids.shape[1], ids.device) & padding_mask_from_ids(ids, 0))
    return x @ embedding.table.weight.T
""",
        "the row without its factor": """
# hint: read without their factor
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding.table(ids)), causal_mask(ids.shape[1], ids.device))
    return x @ embedding.table.weight.T
""",
        "the embedding is added once more at the end": """
# hint: not the scores of a model that only writes
def next_token_logits(ids, embedding, positions, stack):
    x = stack(positions(embedding(ids)), causal_mask(ids.shape[1], ids.device))
    return (x + embedding(ids)) @ embedding.table.weight.T
""",
    },
    "decode_from_two": {
        "looks at the PAD of both": """
# hint: a mask must go along with it
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = torch.cat([one, two], dim=1)
    mask = None
    return model.decode(target, memory, memory_may_attend=mask)
""",
        "looks at the PAD of the second": """
# hint: the PAD of the second source is seen
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = torch.cat([one, two], dim=1)
    mask = torch.cat([hide_one, torch.ones_like(hide_two)], dim=-1)
    return model.decode(target, memory, memory_may_attend=mask)
""",
        "masks in the wrong order": """
# hint: in another order than the memories
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = torch.cat([one, two], dim=1)
    mask = torch.cat([hide_two, hide_one], dim=-1)
    return model.decode(target, memory, memory_may_attend=mask)
""",
        "the mean of two answers": """
# hint: the mean of two answers
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = torch.cat([one, two], dim=1)
    mask = torch.cat([hide_one, hide_two], dim=-1)
    return (
        model(first, target) + model(second, target)
    ) / 2
""",
        "memories one batch after the other": """
# hint: Sizes of tensors must match except in dimension 0
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = torch.cat([one, two])
    mask = torch.cat([hide_one, hide_two])
    return model.decode(target, memory, memory_may_attend=mask)
""",
        "one sentence of both": """
# hint: encoded as one sentence
def decode_from_two(model, first, second, target):
    return model(torch.cat([first, second], dim=1), target)
""",
        "the first alone": """
# hint: only the first source
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = one
    mask = hide_one
    return model.decode(target, memory, memory_may_attend=mask)
""",
        "the second alone": """
# hint: only the second source
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = two
    mask = hide_two
    return model.decode(target, memory, memory_may_attend=mask)
""",
        "the mask hides what it should show": """
# hint: hides what it should show
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = torch.cat([one, two], dim=1)
    mask = ~torch.cat([hide_one, hide_two], dim=-1)
    return model.decode(target, memory, memory_may_attend=mask)
""",
        "adds the two memories": """
# hint: does not look at both memories
def decode_from_two(model, first, second, target):
    longest = max(first.shape[1], second.shape[1])
    pair = [F.pad(ids, (0, longest - ids.shape[1])) for ids in (first, second)]
    memory = sum(model.encode(ids) for ids in pair)
    mask = model.source_mask(pair[0]) | model.source_mask(pair[1])
    return model.decode(target, memory, memory_may_attend=mask)
""",
    },
    "layers_needed": {
        "one layer sees both neighbours at once": """
# hint: the way goes to one side only
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach < distance:
        reach += 2 ** (layers + 1) if holes else 2
        layers += 1
    return layers
""",
        "the length divided by the width": """
# hint: the way goes to one side only
def layers_needed(distance, holes):
    return math.ceil(math.log2(distance + 1)) if holes else distance // 3 + 1
""",
        "holes do not add up": """
# hint: the layers add theirs up
def layers_needed(distance, holes):
    layers = 0
    while (2**layers if holes else layers) < distance:
        layers += 1
    return layers
""",
        "one layer too few": """
# hint: the last position sees 0 places back
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach < distance - 1:
        reach += 2**layers if holes else 1
        layers += 1
    return layers
""",
        "the reach must pass the distance": """
# hint: one layer less is enough
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach <= distance:
        reach += 2**layers if holes else 1
        layers += 1
    return layers
""",
        "a reach of three times as much each time": """
# hint: the last position sees
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach < distance:
        reach = 3**layers if holes else reach + 1
        layers += 1
    return layers
""",
        "holes make no difference": """
# hint: the holes make no difference
def layers_needed(distance, holes):
    return distance
""",
        "gives up after a hundred layers": """
# hint: right for short distances
def layers_needed(distance, holes):
    reach = 0
    for layers in range(100):
        if reach >= distance:
            return layers
        reach += 2**layers if holes else 1
    return 100
""",
        "half a layer is a layer": """
# hint: layers are counted in whole numbers
def layers_needed(distance, holes):
    return math.log2(distance + 1) if holes else distance
""",
    },
}

# Mutants of the solutions that are right too, and why.
ORDER = "the same sum in another order"
DEVICE = "the answer lies on the same device on a CPU"
SAME_ROWS = "any loss on the logits moves the same rows"
EQUIVALENT = {
    "parameters_of": {
        "attention = 4 * d * ((1 + d))": ORDER,
        "decoder = config.decoder_layers"
        " * ((6 * d + (2 * attention + network)))": ORDER,
        "decoder = config.decoder_layers"
        " * ((network + 2 * attention) + 6 * d)": ORDER,
        "encoder = config.encoder_layers"
        " * ((4 * d + (attention + network)))": ORDER,
        "encoder = config.encoder_layers"
        " * ((network + attention) + 4 * d)": ORDER,
        "network = (d + (2 * d * d_ff + d_ff))": ORDER,
        "network = (d_ff + 2 * d * d_ff) + d": ORDER,
        "return (config.has_final_norms * 4 * d"
        " + (rows * d + encoder + decoder))": ORDER,
        "return (decoder + (rows * d + encoder))"
        " + config.has_final_norms * 4 * d": ORDER,
        "return (encoder + rows * d) + decoder"
        " + config.has_final_norms * 4 * d": ORDER,
    },
    "whole_pass": {"past = causal_mask(target.shape[1])": DEVICE},
    "rows_moved": {
        "(-logits.log_softmax(-1)[(...,)].mean()).backward()": SAME_ROWS,
        "(-logits.log_softmax(-1)[..., 2].mean()).backward()": SAME_ROWS,
        "(-logits.log_softmax(-1)[..., 3].sum()).backward()": SAME_ROWS,
        "(-logits.log_softmax(-1)[..., 4].mean()).backward()": SAME_ROWS,
        "(logits.log_softmax(-1)[..., 3].mean()).backward()": SAME_ROWS,
        "return int((gradient.abs().mean(-1) > 0).sum())": (
            "a mean of sizes is zero where their sum is"
        ),
        "return int((gradient.abs().sum(1) > 0).sum())": (
            "the last of two axes is axis 1"
        ),
    },
    "next_token_logits": {"mask = causal_mask(ids.shape[1])": DEVICE},
    "decode_from_two": {
        "sources = (second, first)": "the rows of a memory have no order",
    },
}
