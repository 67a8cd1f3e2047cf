"""Wrong answers to the exercises of chapter 8, by their misconception."""


def parameters(
    attention="4 * d_model * (d_model + 1)",
    network="2 * d_model * d_ff + d_ff + d_model",
    norms="2 * 2 * d_model",
    last="final_norm * 2 * d_model",
) -> str:
    """The right answer to exercise 8.1, with one part changed."""
    return f"""
def encoder_parameters(layers, d_model, d_ff, final_norm=False):
    attention = {attention}
    network = {network}
    norms = {norms}
    return layers * (attention + network + norms) + {last}
"""


def ragged(
    mask="padding_mask(lengths)",
    x="model.positions(model.embedding(ids))",
    block="block(x, mask)",
    result="[line[:n] for line, n in zip(logits, lengths, strict=True)]",
    ids="nn.utils.rnn.pad_sequence(rows, batch_first=True)",
) -> str:
    """The right answer to exercise 8.2, with one part changed."""
    return f"""
def answers(model, rows):
    lengths = torch.tensor([len(row) for row in rows], device=rows[0].device)
    ids = {ids}
    mask = {mask}
    x = {x}
    for block in model.encoder.blocks:
        x = {block}
    logits = model.output(x)
    return {result}
"""


def looks(
    smaller="row[:, None] > row",
    same="(row[:, None] == row) & (places[:, None] >= places)",
    first="20.0 * (smaller | same)",
    count="(1 / look_1.diagonal() - 1).round()",
    second="20.0 * (places[:, None] == count)",
    result="look_1, look_2",
) -> str:
    """The right answer to exercise 8.3, with one part changed."""
    return f"""
def two_looks(row):
    places = torch.arange(len(row))
    smaller = {smaller}
    same = {same}
    look_1 = torch.softmax({first}, dim=-1)
    count = {count}
    look_2 = torch.softmax({second}, dim=-1)
    return {result}
"""


def mean(body: str) -> str:
    """An answer to exercise 8.4."""
    return f"""
def mean_of_real(x, may_attend):
    is_real = may_attend[:, 0, 0, :, None]
    {body}
"""


def shared(body: str) -> str:
    """An answer to exercise 8.5."""
    return f"""
def shared_encoder(block, times):
    {body}
"""


def known(one="frozenset(row)", many="frozenset(row)", share=None) -> str:
    """An answer to exercise 8.6."""
    return f"""
def known_sets(trained_on, unseen):
    known = {{{one} for row in trained_on.tolist()}}
    hits = [{many} in known for row in unseen.tolist()]
    return {share or "sum(hits) / len(hits)"}
"""


WRONG = {
    "encoder_parameters": {
        "attention without W_O": parameters(attention="3 * d_model**2"),
        "no biases in attention": parameters(attention="4 * d_model**2"),
        "no biases in the network": parameters(network="2 * d_model * d_ff"),
        "one norm in a block": parameters(norms="2 * d_model"),
        "norms have a gain only": parameters(norms="2 * d_model", last="0"),
        "d_ff is always four times d_model": parameters(
            network="8 * d_model**2 + 5 * d_model"
        ),
        "the last norm always stands there": parameters(last="2 * d_model"),
        "the last norm has a gain only": parameters(
            last="final_norm * d_model"
        ),
        "a last norm in each layer": parameters(
            norms="2 * (2 + final_norm) * d_model", last="0"
        ),
    },
    "answers": {
        "no mask": ragged(block="block(x)"),
        "the mask says True at PAD": ragged(mask="~padding_mask(lengths)"),
        "one more position is real": ragged(mask="padding_mask(lengths + 1)"),
        "every zero is PAD": ragged(mask="(ids != 0)[:, None, None]"),
        "only the first block is masked": ragged(
            block="block(x, mask if block is model.encoder.blocks[0]"
            " else None)"
        ),
        "no positions": ragged(x="model.embedding(ids)"),
        "positions after the stack": ragged(x="model.embedding(ids)").replace(
            "model.output(x)", "model.output(model.positions(x))"
        ),
        "a causal mask on top": ragged(
            mask="padding_mask(lengths) & causal_mask(ids.shape[1],"
            " ids.device)"
        ),
        "PAD in front": ragged(
            ids="torch.stack([F.pad(row, (max(map(len, rows)) - len(row), 0))"
            " for row in rows])"
        ),
        "PAD comes back with the row": ragged(result="list(logits)"),
        "the encoder as a whole": """
def answers(model, rows):
    lengths = torch.tensor([len(row) for row in rows], device=rows[0].device)
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    x = model.positions(model.embedding(ids))
    logits = model.output(model.encoder(x, padding_mask(lengths)))
    return [line[:n] for line, n in zip(logits, lengths, strict=True)]
""",
        "one row after the other": """
def answers(model, rows):
    found = []
    for row in rows:
        x = model.positions(model.embedding(row[None]))
        for block in model.encoder.blocks:
            x = block(x)
        found.append(model.output(x)[0])
    return found
""",
        "rows cut to the shortest": """
def answers(model, rows):
    shortest = min(len(row) for row in rows)
    x = torch.stack([row[:shortest] for row in rows])
    x = model.positions(model.embedding(x))
    for block in model.encoder.blocks:
        x = block(x)
    return list(model.output(x))
""",
    },
    "two_looks": {
        "equal numbers count alike": looks(same="row[:, None] == row"),
        "equal numbers change their order": looks(
            same="(row[:, None] == row) & (places[:, None] <= places)"
        ),
        "nothing is kept for itself": looks(
            same="(row[:, None] == row) & (places[:, None] > places)"
        ),
        "counts the larger ones": looks(smaller="row[:, None] < row"),
        "counts itself as smaller": looks(
            count="(1 / look_1.diagonal()).round()"
        ),
        "softmax over the wrong axis": looks(
            second="20.0 * (places[:, None] == count).T"
        ),
        "scores too low to choose": looks(
            first="1.0 * (smaller | same)", second="(places == count).float()"
        ),
        "the looks are swapped": looks(result="look_2, look_1"),
        "counts with a sum": looks(count="(smaller | same).sum(-1) - 1"),
        "sorts and looks the answer up": """
def two_looks(row):
    order = row.argsort(stable=True)
    look_2 = torch.eye(len(row))[order]
    return torch.eye(len(row)), look_2
""",
        "fetches by the number itself": looks(
            second="20.0 * (places[:, None] == row)"
        ),
    },
    "mean_of_real": {
        "the mean of all positions": mean("return x.mean(1)"),
        "divides by the length": mean("return (x * is_real).mean(1)"),
        "NaN for an empty sentence": mean(
            "return (x * is_real).sum(1) / is_real.sum(1)"
        ),
        "multiplies PAD by zero, so NaN stays": mean(
            "return (x * is_real).sum(1) / is_real.sum(1).clamp(min=1)"
        ),
        "one more for everybody": mean(
            "return x.masked_fill(~is_real, 0).sum(1) / (is_real.sum(1) + 1)"
        ),
        "the sum": mean("return x.masked_fill(~is_real, 0).sum(1)"),
        "the first vector": mean("return x[:, 0] * is_real[:, 0]"),
        "the mean of PAD": mean(
            "return x.masked_fill(is_real, 0).sum(1)"
            " / (~is_real).sum(1).clamp(min=1)"
        ),
        "one count for the whole batch": mean(
            "return x.masked_fill(~is_real, 0).sum(1)"
            " / is_real[0].sum().clamp(min=1)"
        ),
    },
    "shared_encoder": {
        "copies": shared(
            "return Encoder([copy.deepcopy(block) for _ in range(times)])"
        ),
        "new blocks": shared(
            "return Encoder([EncoderBlock(8, 2, 16) for _ in range(times)])"
        ),
        "runs once": shared("return Encoder([block])"),
        "an encoder of encoders": shared(
            "return Encoder([Encoder([block])] * times)"
        ),
        "one run too many": shared("return Encoder([block] * (times + 1))"),
        "the output after a last norm": shared(
            "return Encoder([block] * times, final_norm=True)"
        ),
        "frozen, to share it": shared(
            "block.requires_grad_(False); return Encoder([block] * times)"
        ),
    },
    "known_sets": {
        "whole rows, in their order": known("tuple(row)", "tuple(row)"),
        "the sum stands for the set": known("sum(row)", "sum(row)"),
        "the largest and the smallest": known(
            "(min(row), max(row))", "(min(row), max(row))"
        ),
        "any number in common": """
def known_sets(trained_on, unseen):
    known = set(trained_on.flatten().tolist())
    hits = [bool(known & set(row)) for row in unseen.tolist()]
    return sum(hits) / len(hits)
""",
        "all numbers known": """
def known_sets(trained_on, unseen):
    known = set(trained_on.flatten().tolist())
    hits = [known >= set(row) for row in unseen.tolist()]
    return sum(hits) / len(hits)
""",
        "share of the training rows": known(
            share="sum(hits) / len(trained_on)"
        ),
        "the unknown ones": known(share="1 - sum(hits) / len(hits)"),
        "different sets instead of rows": """
def known_sets(trained_on, unseen):
    known = {frozenset(row) for row in trained_on.tolist()}
    asked = {frozenset(row) for row in unseen.tolist()}
    return len(known & asked) / len(asked)
""",
    },
}
