"""Wrong answers to the exercises of chapter 10, by misconception."""


def _parameters(rows, attention, network, blocks, last):
    """`parameters_of` with some of its parts replaced."""
    return f"""
def parameters_of(config):
    d, d_ff = config.d_model, config.d_ff
    source, target = config.source_vocab_size, config.target_vocab_size
    rows = {rows}
    attention = {attention}
    network = {network}
    n, m = config.encoder_layers, config.decoder_layers
    return rows * d + {blocks} + {last}
"""


ROWS = "{'all': target, 'target': target + source}.get(config.tied, "
ROWS += "2 * target + source)"
ATTENTION, NETWORK = "4 * d * (d + 1)", "2 * d * d_ff + d_ff + d"
ENCODER = "n * (attention + network + 4 * d)"
BLOCKS = ENCODER + " + m * (2 * attention + network + 6 * d)"
LAST = "config.has_final_norms * 4 * d"


def _pass(
    source_mask="padding_mask_from_ids(source, 0)",
    target_mask="causal_mask(target.shape[1], target.device)"
    " & padding_mask_from_ids(target, 0)",
    encoder_in="parts.positions(parts.source_table(source))",
    decoder_in="parts.positions(parts.target_table(target))",
    memory_mask="no_pad",
    states="x",
    matrix="parts.target_table.table.weight",
):
    """`whole_pass` with some of its parts replaced."""
    return f"""
def whole_pass(parts, source, target):
    no_pad = {source_mask}
    past = {target_mask}
    memory = {encoder_in}
    for block in parts.encoder_blocks:
        memory = block(memory, no_pad)
    x = {decoder_in}
    for block in parts.decoder_blocks:
        x = block(x, memory, past, {memory_mask})
    return {states} @ {matrix}.T
"""


def _moved(
    start="model.zero_grad()",
    loss="-logits.log_softmax(-1)[..., 3].mean()",
    table="model.tables.target_embedding.table.weight",
    result="int((gradient.abs().sum(-1) > 0).sum())",
):
    """`rows_moved` with some of its parts replaced."""
    return f"""
def rows_moved(model, source, target):
    {start}
    logits = model(source, target)
    ({loss}).backward()
    gradient = {table}.grad
    return {result}
"""


def _next(
    mask="causal_mask(ids.shape[1], ids.device)",
    entered="positions(embedding(ids))",
    result="x @ embedding.table.weight.T",
):
    """`next_token_logits` with some of its parts replaced."""
    return f"""
def next_token_logits(ids, embedding, positions, stack):
    x = stack({entered}, {mask})
    return {result}
"""


def _two(
    memory="torch.cat([one, two], dim=1)",
    mask="torch.cat([hide_one, hide_two], dim=-1)",
    result="model.decode(target, memory, memory_may_attend=mask)",
):
    """`decode_from_two` with some of its parts replaced."""
    return f"""
def decode_from_two(model, first, second, target):
    one, two = model.encode(first), model.encode(second)
    hide_one, hide_two = model.source_mask(first), model.source_mask(second)
    memory = {memory}
    mask = {mask}
    return {result}
"""


WRONG = {
    "parameters_of": {
        "tables do not depend on tying": _parameters(
            "target + source", ATTENTION, NETWORK, BLOCKS, LAST
        ),
        "an output matrix of its own, also when it is tied": _parameters(
            "2 * target + source", ATTENTION, NETWORK, BLOCKS, LAST
        ),
        "no biases in the attention": _parameters(
            ROWS, "4 * d * d", NETWORK, BLOCKS, LAST
        ),
        "attention grows with the heads": _parameters(
            ROWS, "config.heads * 4 * d * (d + 1)", NETWORK, BLOCKS, LAST
        ),
        "the feed-forward network is always four times as wide": _parameters(
            ROWS, ATTENTION, "8 * d * d + 5 * d", BLOCKS, LAST
        ),
        "one attention in the decoder": _parameters(
            ROWS,
            ATTENTION,
            NETWORK,
            ENCODER + " + m * (attention + network + 6 * d)",
            LAST,
        ),
        "two norms in the decoder": _parameters(
            ROWS,
            ATTENTION,
            NETWORK,
            ENCODER + " + m * (2 * attention + network + 4 * d)",
            LAST,
        ),
        "the decoder is as deep as the encoder": _parameters(
            ROWS, ATTENTION, NETWORK, BLOCKS.replace("m *", "n *"), LAST
        ),
        "forgets the final norms": _parameters(
            ROWS, ATTENTION, NETWORK, BLOCKS, "0"
        ),
        "final norms only if they are asked for": _parameters(
            ROWS,
            ATTENTION,
            NETWORK,
            BLOCKS,
            "bool(config.final_norms) * 4 * d",
        ),
        "builds the embedding of positions as a table": _parameters(
            ROWS + " + config.max_length", ATTENTION, NETWORK, BLOCKS, LAST
        ),
    },
    "whole_pass": {
        "the decoder sees its future": _pass(
            target_mask="padding_mask_from_ids(target, 0)"
        ),
        "the decoder sees its PAD": _pass(
            target_mask="causal_mask(target.shape[1], target.device)"
        ),
        "the encoder reads PAD": _pass(
            source_mask="None",
            memory_mask="padding_mask_from_ids(source, 0)",
        ),
        "the cross-attention reads PAD": _pass(memory_mask="None"),
        "masks are turned round": _pass(
            source_mask="~padding_mask_from_ids(source, 0)"
        ),
        "no positions in the source": _pass(
            encoder_in="parts.source_table(source)"
        ),
        "no positions in the target": _pass(
            decoder_in="parts.target_table(target)"
        ),
        "the target is read with the source's table": _pass(
            decoder_in="parts.positions(parts.source_table(target))"
        ),
        "rows are read without their factor": _pass(
            decoder_in="parts.positions(parts.target_table.table(target))"
        ),
        "the output is scaled by the root of the width": _pass(
            states="x * 30**0.5"
        ),
        "probabilities instead of logits": _pass(
            states="x", matrix="parts.target_table.table.weight"
        )
        .replace("return x @", "return torch.softmax(x @")
        .replace(".T\n", ".T, -1)\n"),
        "decoder block i looks at the output of encoder block i": """
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
        "as many blocks in the decoder as in the encoder": """
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
    },
    "rows_moved": {
        "gradients of the call before are added": _moved(start="pass"),
        "counts numbers, not rows": _moved(
            result="int((gradient != 0).sum())"
        ),
        "counts the rows of the output matrix": _moved(
            table="model.tables.output_matrix"
        ),
        "counts the rows of the source": _moved(
            table="model.tables.source_embedding.table.weight"
        ),
        "every row, whatever the tying": _moved(result="len(gradient)"),
        "every token that was read, PAD included": """
def rows_moved(model, source, target):
    return len(target.unique())
""",
        "every token that was read, tied or not": """
def rows_moved(model, source, target):
    return len(set(target.flatten().tolist()) - {0})
""",
        "signs cancel in the sum": _moved(
            result="int((gradient.sum(-1) > 0).sum())"
        ),
        "UNK's row alone": _moved(result="1"),
    },
    "next_token_logits": {
        "no positions": _next(entered="embedding(ids)"),
        "positions after the stack": _next(
            entered="embedding(ids)",
            result="positions(x) @ embedding.table.weight.T",
        ),
        "positions before and after the stack": _next(
            result="positions(x) @ embedding.table.weight.T"
        ),
        "no mask": _next(mask="None"),
        "only the future is seen": _next(
            mask="~causal_mask(ids.shape[1], ids.device)"
        ),
        "the factor of the embedding in the output": _next(
            result="x @ embedding.table.weight.T * embedding.scale"
        ),
        "probabilities instead of scores": _next(
            result="(x @ embedding.table.weight.T).softmax(-1)"
        ),
        "scores of the last place alone": _next(
            result="x[:, -1] @ embedding.table.weight.T"
        ),
        "id 0 is taken for PAD": _next(
            mask="causal_mask(ids.shape[1], ids.device)"
            " & padding_mask_from_ids(ids, 0)"
        ),
        "the row without its factor": _next(
            entered="positions(embedding.table(ids))"
        ),
    },
    "decode_from_two": {
        "looks at the PAD of both": _two(mask="None"),
        "looks at the PAD of the second": _two(
            mask="torch.cat([hide_one, torch.ones_like(hide_two)], dim=-1)"
        ),
        "masks in the wrong order": _two(
            mask="torch.cat([hide_two, hide_one], dim=-1)"
        ),
        "the mean of two answers": _two(
            result="""(
        model(first, target) + model(second, target)
    ) / 2"""
        ),
        "memories one batch after the other": _two(
            memory="torch.cat([one, two])",
            mask="torch.cat([hide_one, hide_two])",
        ),
        "one sentence of both": """
def decode_from_two(model, first, second, target):
    return model(torch.cat([first, second], dim=1), target)
""",
        "the first alone": _two(memory="one", mask="hide_one"),
        "the second alone": _two(memory="two", mask="hide_two"),
        "the mask hides what it should show": _two(
            mask="~torch.cat([hide_one, hide_two], dim=-1)"
        ),
    },
    "layers_needed": {
        "one layer sees both neighbours at once": """
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach < distance:
        reach += 2 ** (layers + 1) if holes else 2
        layers += 1
    return layers
""",
        "the length divided by the width": """
def layers_needed(distance, holes):
    return math.ceil(math.log2(distance + 1)) if holes else distance // 3 + 1
""",
        "holes do not add up": """
def layers_needed(distance, holes):
    layers = 0
    while (2**layers if holes else layers) < distance:
        layers += 1
    return layers
""",
        "one layer too few": """
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach < distance - 1:
        reach += 2**layers if holes else 1
        layers += 1
    return layers
""",
        "the reach must pass the distance": """
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach <= distance:
        reach += 2**layers if holes else 1
        layers += 1
    return layers
""",
        "a reach of three times as much each time": """
def layers_needed(distance, holes):
    layers, reach = 0, 0
    while reach < distance:
        reach = 3**layers if holes else reach + 1
        layers += 1
    return layers
""",
        "holes make no difference": """
def layers_needed(distance, holes):
    return distance
""",
    },
}
