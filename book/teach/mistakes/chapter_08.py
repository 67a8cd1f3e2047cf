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


WRONG = {
    "must_choose": {
        "the places that are exchanged count": (
            "at the two places themselves an answer may change",
            {"            differs[[j, k]] = False\n": ""},
        ),
        "neighbours only": (
            "not only neighbours",
            {"range(j)": "range(max(j - 1, 0), j)"},
        ),
        "pairs with the first place only": (
            "not only those with the first",
            {"range(j)": "range(min(j, 1))"},
        ),
        "another number is put in": (
            "do not put other numbers into the row",
            {"row[[k, j]]": "0"},
        ),
        "the opposite": (
            "True and False are exchanged",
            {"return found": "return ~found"},
        ),
        "the last pair decides": (
            "at which places does the answer change",
            {"found |= differs": "found = differs"},
        ),
    },
    "answers": {
        "no mask": (
            "which positions are real",
            {"block(x, mask)": "block(x)"},
        ),
        "the mask says True at PAD": (
            "yours is True at PAD",
            {"mask = padding": "mask = ~padding"},
        ),
        "every zero is PAD": (
            "0 is a number of ours, too",
            {"padding_mask(lengths)": "(ids != 0)[:, None, None]"},
        ),
        "only the first block is masked": (
            "every block needs the mask",
            {"block(x, mask)": "block(x, mask)\n        mask = None"},
        ),
        "no positions": (
            "At which places does it stand in your batch",
            {"model.positions(model.embedding(ids))": "model.embedding(ids)"},
        ),
        "PAD in front, and its mask, too": (
            "PAD stands in front of a short row",
            {
                "first=True": 'first=True, padding_side="left"',
                "mask(lengths)": "mask(lengths).flip(-1)",
                "line[:length]": "line[-length:]",
            },
        ),
        "the encoder as a whole": (
            "written without Encoder",
            {
                "for block in model.encoder.blocks": "if True",
                "block(x": "model.encoder(x",
            },
        ),
        "one row after the other": (
            "run all of them together",
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
    },
    "two_looks": {
        "equal numbers count alike": (
            "What do two equal numbers differ in?",
            {" & (places[:, None] >= places)": ""},
        ),
        "equal numbers change their order": (
            "equal numbers change their order",
            {"None] >= places": "None] <= places"},
        ),
        "nothing is kept for itself": (
            "keeps no share for itself",
            {"None] >= places": "None] > places"},
        ),
        "counts the larger ones": (
            "to tell each number its place",
            {"None] > row": "None] < row"},
        ),
        "the softmax of the first look goes down the columns": (
            "the rows of a look do not sum to 1",
            {"earlier), dim=-1": "earlier), dim=0"},
        ),
        "scores of the first look too low to choose": (
            "your scores are low",
            {"20.0 * (smaller": "1.0 * (smaller"},
        ),
        "a number gives less to those that stand far away": (
            "different weights to those that it counts",
            {
                "20.0 * (smaller | earlier)": "20.0 * (smaller | earlier) - 0.1 * (places[:, None] - places).abs()",
                "(1 / look_1.diagonal() - 1).round()": "(smaller | earlier).sum(-1) - 1",
            },
        ),
        "counts with a sum": (
            "to be written without sum",
            {
                "(1 / look_1.diagonal() - 1).round()": "(smaller | earlier).sum(-1) - 1"
            },
        ),
    },
    "mean_of_real": {
        "the mean of all positions": (
            "PAD is in your mean",
            {"total / is_real.sum(1).clamp(min=1)": "x.mean(1)"},
        ),
        "divides by the length": (
            "left out of the sum but not of the count",
            {"is_real.sum(1).clamp(min=1)": "x.shape[1]"},
        ),
        "NaN for an empty sentence": (
            "an empty sentence gets NaN",
            {".clamp(min=1)": ""},
        ),
        "repairs NaN afterwards": (
            "let none arise",
            {
                "total / is_real.sum(1).clamp(min=1)": "(total / is_real.sum(1)).nan_to_num()"
            },
        ),
        "multiplies PAD by zero, so NaN stays": (
            "0 times NaN is NaN",
            {"x.masked_fill(~is_real, 0)": "(x * is_real)"},
        ),
        "one more for everybody": (
            "you add 1 to every count",
            {"is_real.sum(1).clamp(min=1)": "(is_real.sum(1) + 1)"},
        ),
        "counts, and takes the first ones": (
            "PAD may stand in front",
            {
                "is_real = ": "is_real = padding_mask(may_attend.sum(-1)[:, 0, 0], x.shape[1])[:, 0].mT  # "
            },
        ),
        "the largest of each column": (
            "not the means over the real positions",
            {"0).sum(1)": "0).amax(1)"},
        ),
    },
    "shared_encoder": {
        "copies": (
            "these are copies, and nothing is shared",
            {
                "[block] * times": "[copy.deepcopy(block) for _ in range(times)]"
            },
        ),
        "one copy, which is shared": (
            "these are copies, and nothing is shared",
            {"[block]": "[copy.deepcopy(block)]"},
        ),
        "runs once": ("as many runs as were asked for", {" * times": ""}),
        "a last norm": (
            "nothing behind them",
            {"* times)": "* times, final_norm=True)"},
        ),
        "no encoder": (
            "an Encoder is asked for, and yours is a Repeated",
            {
                "return Encoder([block] * times)": """
    class Repeated(nn.Module):
        def forward(self, x, may_attend=None):
            for _ in range(times):
                x = block(x, may_attend)
            return x

    return Repeated()"""
            },
        ),
        "an encoder of encoders": (
            "'Encoder' object has no attribute 'd_model'",
            {"[block]": "[Encoder([block])]"},
        ),
        "runs without gradients": (
            "the gradients of all runs",
            {
                "return Encoder([block] * times)": """
    encoder = Encoder([block] * times)
    encoder.forward = torch.no_grad()(encoder.forward)
    return encoder"""
            },
        ),
        "frozen, to share it": (
            "changes its input block",
            {"return": "block.requires_grad_(False)\n    return"},
        ),
    },
    "known_sets": {
        "whole rows, in their order": (
            "the order counts in your comparison",
            {
                "frozenset(row) for": "tuple(row) for",
                "frozenset(row) in": "tuple(row) in",
            },
        ),
        "numbers are counted": (
            "how often a number occurs",
            {
                "{frozenset(row) for": "{tuple(sorted(row)) for",
                "[frozenset(row) in": "[tuple(sorted(row)) in",
            },
        ),
        "the sum stands for the set": (
            "equal sums do not make equal sets",
            {
                "frozenset(row) for": "sum(row) for",
                "frozenset(row) in": "sum(row) in",
            },
        ),
        "share of the training rows": (
            "you divide by the number of training rows",
            {"len(hits)": "len(trained_on)"},
        ),
        "the unknown ones": (
            "the share of the sets that are not known",
            {"sum(hits)": "1 - sum(hits)"},
        ),
        "the hits themselves": (
            "a number is asked for, and yours is a list",
            {"sum(hits) / len(hits)": "hits"},
        ),
        "the first three numbers": (
            "whose set of numbers is that of some training row",
            {
                "frozenset(row) for": "frozenset(row[:3]) for",
                "frozenset(row) in": "frozenset(row[:3]) in",
            },
        ),
    },
}

# Mutants of the solutions that are right too, and why.
HIGH = "any high score is as good as 20"
ONE = "the mask has one entry on this axis"
PERMUTED = "each row and each column has one high score, so both ways agree"
EQUIVALENT = {
    "must_choose": {
        "answer = task(row[None])[-1]": "of one row, the last is the first",
        "differs = task(exchanged[None])[-1] != answer": "of one row, the last is the first",
        "differs[[k, j]] = False": "two places in another order",
    },
    "answers": {
        "lengths = torch.tensor([len(row) for row in rows], device=rows[-1].device)": "all rows lie on one device",
        "line[:length] for line, length in zip(logits, lengths, strict=False)": "there are as many lines as lengths",
    },
    "two_looks": {
        "look_1 = torch.softmax(19.0 * (smaller | earlier), dim=-1)": HIGH,
        "look_1 = torch.softmax(21.0 * (smaller | earlier), dim=-1)": HIGH,
        "look_2 = torch.softmax(19.0 * (places[:, None] == count), dim=-1)": HIGH,
        "look_2 = torch.softmax(20.0 * (places[:, None] == count), dim=-0)": PERMUTED,
        "look_2 = torch.softmax(20.0 * (places[:, None] == count), dim=-2)": PERMUTED,
        "look_2 = torch.softmax(21.0 * (places[:, None] == count), dim=-1)": HIGH,
    },
    "mean_of_real": {
        "is_real = may_attend[:, -1, 0, :, None]": ONE,
        "is_real = may_attend[:, 0, -1, :, None]": ONE,
    },
}
