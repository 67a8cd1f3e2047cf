"""Wrong answers to the exercises of chapter 8, by their misconception."""


def told(hint: str, answer: str) -> str:
    """An answer and, in its first line, the hint that it must get."""
    return f"# hint: {hint}\n{answer.lstrip()}"


def parameters(
    attention="4 * d_model * (d_model + 1)",
    network="2 * d_model * d_ff + d_ff + d_model",
    norms="2 * 2 * d_model",
    last="final_norm * 2 * d_model",
    default=False,
) -> str:
    """The right answer to exercise 8.1, with one part changed."""
    return f"""
def encoder_parameters(layers, d_model, d_ff, final_norm={default}):
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
    dim=-1,
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
    look_1 = torch.softmax({first}, dim={dim})
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
        "builds the encoder and counts": """
# hint: write it without numel and parameters
def encoder_parameters(layers, d_model, d_ff, final_norm=False):
    blocks = [EncoderBlock(d_model, 1, d_ff) for _ in range(layers)]
    encoder = Encoder(blocks, final_norm=final_norm)
    return sum(p.numel() for p in encoder.parameters())
""",
        "no biases at all": """
# hint: every matrix of a block has a bias
def encoder_parameters(layers, d_model, d_ff, final_norm=False):
    block = 4 * d_model**2 + 2 * d_model * d_ff + 4 * d_model
    return layers * block + final_norm * 2 * d_model
""",
        "attention without W_O": told(
            "attention has four matrices",
            parameters(attention="3 * d_model**2"),
        ),
        "no biases in attention": told(
            "matrices of attention have a bias each",
            parameters(attention="4 * d_model**2"),
        ),
        "no biases in the network": told(
            "both matrices of the feed-forward network have a bias",
            parameters(network="2 * d_model * d_ff"),
        ),
        "one norm in a block": told(
            "a norm follows each of them", parameters(norms="2 * d_model")
        ),
        "norms have a gain only": told(
            "a norm has two rows of numbers",
            parameters(norms="2 * d_model", last="final_norm * d_model"),
        ),
        "d_ff is always four times d_model": told(
            "d_ff may be any number",
            parameters(network="8 * d_model**2 + 5 * d_model"),
        ),
        "the last norm always stands there": told(
            "only if final_norm says so", parameters(last="2 * d_model")
        ),
        "the last norm has a gain only": told(
            "the last norm, too, has a gain and a shift",
            parameters(last="final_norm * d_model"),
        ),
        "a last norm in each layer": told(
            "stands once, at the end of the stack",
            parameters(norms="2 * (2 + final_norm) * d_model", last="0"),
        ),
        "two attentions in a block": told(
            "list the matrices along the thick path",
            parameters(attention="8 * d_model * (d_model + 1)"),
        ),
        "a last norm, unless it is forbidden": told(
            "without a word about it", parameters(default=True)
        ),
        "numbers are divided and become fractions": told(
            "is a whole number, not a float",
            parameters(attention="(d_model + 1) * d_model / 0.25"),
        ),
    },
    "answers": {
        "no mask": told(
            "must be told which positions are real",
            ragged(block="block(x)"),
        ),
        "the mask says True at PAD": told(
            "yours is True at PAD", ragged(mask="~padding_mask(lengths)")
        ),
        "one more position is real": told(
            "one PAD behind each row is still seen",
            ragged(mask="padding_mask((lengths + 1).clamp(max=ids.shape[1]))"),
        ),
        "every zero is PAD": told(
            "0 is a number of ours, too",
            ragged(mask="(ids != 0)[:, None, None]"),
        ),
        "only the first block is masked": told(
            "every block needs the mask",
            ragged(
                block="block(x, mask if block is model.encoder.blocks[0]"
                " else None)"
            ),
        ),
        "no positions": told(
            "no block knows where a number stands",
            ragged(x="model.embedding(ids)"),
        ),
        "positions after the stack": told(
            "the positions are added behind the stack",
            ragged(x="model.embedding(ids)").replace(
                "model.output(x)", "model.output(model.positions(x))"
            ),
        ),
        "a causal mask on top": told(
            "an encoder reads in both directions",
            ragged(
                mask="padding_mask(lengths) & causal_mask(ids.shape[1],"
                " ids.device)"
            ),
        ),
        "the mask of the first row stands for all": told(
            "At which places does it stand in your batch",
            ragged(mask="padding_mask(lengths)[:1]"),
        ),
        "PAD in front, and its mask, too": told(
            "PAD stands in front of a short row",
            ragged(
                ids="torch.stack([F.pad(row, (max(map(len, rows)) - len(row),"
                " 0)) for row in rows])",
                mask="padding_mask(lengths).flip(-1)",
                result="[line[-n:] for line, n in zip(logits, lengths,"
                " strict=True)]",
            ),
        ),
        "PAD in front": told(
            "PAD stands in front of a short row",
            ragged(
                ids="torch.stack([F.pad(row, (max(map(len, rows)) - len(row),"
                " 0)) for row in rows])"
            ),
        ),
        "PAD comes back with the row": told(
            "the answer to a row of 2 has the shape (6, 20)",
            ragged(result="list(logits)"),
        ),
        "the whole batch comes back as one tensor": told(
            "a list with one tensor of logits for each row",
            ragged(result="logits"),
        ),
        "the encoder as a whole": told(
            "the encoder was called as a whole",
            """
def answers(model, rows):
    lengths = torch.tensor([len(row) for row in rows], device=rows[0].device)
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    x = model.positions(model.embedding(ids))
    logits = model.output(model.encoder(x, padding_mask(lengths)))
    return [line[:n] for line, n in zip(logits, lengths, strict=True)]
""",
        ),
        "one row after the other": told(
            "pad the rows, and run all of them together",
            """
def answers(model, rows):
    found = []
    for row in rows:
        x = model.positions(model.embedding(row[None]))
        for block in model.encoder.blocks:
            x = block(x)
        found.append(model.output(x)[0])
    return found
""",
        ),
        "rows cut to the shortest": told(
            "the answer to a row of 2 has the shape (1, 20)",
            """
def answers(model, rows):
    shortest = min(len(row) for row in rows)
    x = torch.stack([row[:shortest] for row in rows])
    x = model.positions(model.embedding(x))
    for block in model.encoder.blocks:
        x = block(x)
    return list(model.output(x))
""",
        ),
    },
    "two_looks": {
        "equal numbers count alike": told(
            "What do two equal numbers differ in?",
            looks(same="row[:, None] == row"),
        ),
        "equal numbers change their order": told(
            "equal numbers change their order",
            looks(same="(row[:, None] == row) & (places[:, None] <= places)"),
        ),
        "nothing is kept for itself": told(
            "keeps no share for itself",
            looks(same="(row[:, None] == row) & (places[:, None] > places)"),
        ),
        "counts the larger ones": told(
            "the larger numbers are counted",
            looks(smaller="row[:, None] < row"),
        ),
        "counts the number before it as well": told(
            "the shares that the numbers keep stand for the counts",
            looks(
                smaller="(row[:, None] > row) | (places[:, None] - places"
                " == 1)"
            ),
        ),
        "counts itself as smaller": told(
            "place 0 finds nobody",
            looks(count="(1 / look_1.diagonal()).round()"),
        ),
        "the softmax of the first look goes down the columns": told(
            "the rows of look_1 do not sum to 1", looks(dim=0)
        ),
        "the second look is turned round": told(
            "the places are the rows",
            looks(second="20.0 * (places[:, None] == count).T"),
        ),
        "scores of the first look too low to choose": told(
            "your scores are low", looks(first="1.0 * (smaller | same)")
        ),
        "scores of the second look too low to choose": told(
            "make the second look as sure as the page's",
            looks(second="2.0 * (places[:, None] == count)"),
        ),
        "the largest number comes first": told(
            "the places fetch the numbers at",
            looks(second="20.0 * (places.flip(0)[:, None] == count)"),
        ),
        "the looks are swapped": told(
            "the first look counts, and the second fetches",
            looks(result="look_2, look_1"),
        ),
        "only the second look comes back": told(
            "two tables are to come back", looks(result="look_2")
        ),
        "counts with a sum": told(
            "write it without sum",
            looks(count="(smaller | same).sum(-1) - 1"),
        ),
        "sorts and looks the answer up": told(
            "write it without argsort",
            """
def two_looks(row):
    order = row.argsort(stable=True)
    look_2 = torch.eye(len(row))[order]
    return torch.eye(len(row)), look_2
""",
        ),
        "fetches by the number itself": told(
            "a number is known by its count",
            looks(second="20.0 * (places[:, None] == row)"),
        ),
    },
    "mean_of_real": {
        "the mean of all positions": told(
            "PAD is in your mean", mean("return x.mean(1)")
        ),
        "divides by the length": told(
            "left out of the sum but not of the count",
            mean("return (x * is_real).mean(1)"),
        ),
        "NaN for an empty sentence": told(
            "an empty sentence gets NaN",
            mean("return (x * is_real).sum(1) / is_real.sum(1)"),
        ),
        "multiplies PAD by zero, so NaN stays": told(
            "0 times NaN is NaN",
            mean("return (x * is_real).sum(1) / is_real.sum(1).clamp(min=1)"),
        ),
        "one more for everybody": told(
            "you add 1 to every count",
            mean(
                "return x.masked_fill(~is_real, 0).sum(1)"
                " / (is_real.sum(1) + 1)"
            ),
        ),
        "the sum": told(
            "that is the sum",
            mean("return x.masked_fill(~is_real, 0).sum(1)"),
        ),
        "the first vector": told(
            "the vector of the first position alone",
            mean("return x[:, 0] * is_real[:, 0]"),
        ),
        "the largest of each column": told(
            "not the means over the real positions",
            mean("return (x * is_real).amax(1)"),
        ),
        "the mean of PAD": told(
            "that is the mean of PAD",
            mean(
                "return x.masked_fill(is_real, 0).sum(1)"
                " / (~is_real).sum(1).clamp(min=1)"
            ),
        ),
        "one count for the whole batch": told(
            "divided by the count of the first",
            mean(
                "return x.masked_fill(~is_real, 0).sum(1)"
                " / is_real[0].sum().clamp(min=1)"
            ),
        ),
    },
    "shared_encoder": {
        "copies": told(
            "these are copies, and nothing is shared",
            shared(
                "return Encoder([copy.deepcopy(block) for _ in range(times)])"
            ),
        ),
        "new blocks": told(
            "these are copies, and nothing is shared",
            shared(
                "return Encoder([EncoderBlock(8, 2, 16)"
                " for _ in range(times)])"
            ),
        ),
        "one copy among them": told(
            "not the block that was given",
            shared(
                "return Encoder([block] * (times - 1)"
                " + [copy.deepcopy(block)])"
            ),
        ),
        "runs once": told(
            "and yours makes 1", shared("return Encoder([block])")
        ),
        "a list of blocks is no encoder": told(
            "yours is a ModuleList",
            shared("return nn.ModuleList([block] * times)"),
        ),
        "an encoder of encoders": told(
            "expected a EncoderBlock, got Encoder",
            shared("return Encoder([Encoder([block])] * times)"),
        ),
        "three runs, whatever is asked": told(
            "were asked for, and yours makes 3",
            shared("return Encoder([block] * 3)"),
        ),
        "one run too many": told(
            "runs were asked for",
            shared("return Encoder([block] * (times + 1))"),
        ),
        "the output after a last norm": told(
            "ends in a norm that nobody asked for",
            shared("return Encoder([block] * times, final_norm=True)"),
        ),
        "begins with fresh weights": told(
            "not that of repeated runs",
            shared(
                "block.attention = MultiHeadAttention(8, 2).to(device);"
                " return Encoder([block] * times)"
            ),
        ),
        "frozen, to share it": told(
            "the block can no longer be trained",
            shared(
                "block.requires_grad_(False); return Encoder([block] * times)"
            ),
        ),
    },
    "known_sets": {
        "compares sums of squares": """
# hint: is 0.5
def known_sets(trained_on, unseen):
    known = (trained_on**2).sum(-1).tolist()
    found = [total in known for total in (unseen**2).sum(-1).tolist()]
    return sum(found) / len(found)
""",
        "whole rows, in their order": told(
            "the order counts in your comparison",
            known("tuple(row)", "tuple(row)"),
        ),
        "the sum stands for the set": told(
            "equal sums do not make equal sets", known("sum(row)", "sum(row)")
        ),
        "the largest and the smallest": told(
            "equal ends do not make equal sets",
            known("(min(row), max(row))", "(min(row), max(row))"),
        ),
        "the first three numbers": told(
            "not for rows of four",
            known("frozenset(row[:3])", "frozenset(row[:3])"),
        ),
        "any number in common": told(
            "one number in common is not the same set",
            """
def known_sets(trained_on, unseen):
    known = set(trained_on.flatten().tolist())
    hits = [bool(known & set(row)) for row in unseen.tolist()]
    return sum(hits) / len(hits)
""",
        ),
        "all numbers known": told(
            "each number is known by itself",
            """
def known_sets(trained_on, unseen):
    known = set(trained_on.flatten().tolist())
    hits = [known >= set(row) for row in unseen.tolist()]
    return sum(hits) / len(hits)
""",
        ),
        "share of the training rows": told(
            "you divide by the number of training rows",
            known(share="sum(hits) / len(trained_on)"),
        ),
        "the unknown ones": told(
            "the share of the sets that are not known",
            known(share="1 - sum(hits) / len(hits)"),
        ),
        "the hits themselves": told(
            "the share is a number, and yours is a list", known(share="hits")
        ),
        "different sets instead of rows": told(
            "every row counts, also if another row has the same set",
            """
def known_sets(trained_on, unseen):
    known = {frozenset(row) for row in trained_on.tolist()}
    asked = {frozenset(row) for row in unseen.tolist()}
    return len(known & asked) / len(asked)
""",
        ),
    },
}

# Mutants of the solutions that are right too, and why.
ORDER = "the same sum in another order"
DEVICE = "all rows lie on one device"
AS_MANY = "there are as many lines as lengths"
HIGH = "any high score is as good as 20"
ONE = "the mask has one entry on this axis"
PERMUTED = "each row and each column has one high score, so both ways agree"
EQUIVALENT = {
    "encoder_parameters": {
        "attention = 4 * d_model * ((1 + d_model))": ORDER,
        "network = (d_ff + 2 * d_model * d_ff) + d_model": ORDER,
        "network = (d_model + (2 * d_model * d_ff + d_ff))": ORDER,
        "norms = (2 + 2) * d_model": "two and two, or two times two",
        "return (final_norm * 2 * d_model"
        " + layers * (attention + network + norms))": ORDER,
        "return layers * ((network + attention) + norms)"
        " + final_norm * 2 * d_model": ORDER,
        "return layers * ((norms + (attention + network)))"
        " + final_norm * 2 * d_model": ORDER,
    },
    "answers": {
        "lengths = torch.tensor([len(row) for row in rows])": (
            "the answer lies on the same device on a CPU"
        ),
        "lengths = torch.tensor([len(row) for row in rows],"
        " device=rows[(-1)].device)": DEVICE,
        "lengths = torch.tensor([len(row) for row in rows],"
        " device=rows[1].device)": DEVICE,
        "line[:length] for line, length in zip(logits, lengths)": AS_MANY,
        "line[:length] for line, length in zip(logits, lengths,"
        " strict=False)": AS_MANY,
    },
    "two_looks": {
        "look_1 = torch.softmax(19.0 * (smaller | earlier), dim=-1)": HIGH,
        "look_1 = torch.softmax(20.0 * (smaller | earlier), dim=1)": (
            "the last of two axes is axis 1"
        ),
        "look_1 = torch.softmax(21.0 * (smaller | earlier), dim=-1)": HIGH,
    }
    | {
        f"look_2 = torch.softmax({score} * (places[:, None] == count),"
        f" dim={dim})": why
        for score, dim, why in (
            (19.0, -1, HIGH),
            (21.0, -1, HIGH),
            (20.0, "-0", PERMUTED),
            (20.0, -2, PERMUTED),
            (20.0, 1, PERMUTED),
        )
    },
    "mean_of_real": {
        "is_real = may_attend[:, (-1), 0, :, None]": ONE,
        "is_real = may_attend[:, 0, (-1), :, None]": ONE,
    },
}
