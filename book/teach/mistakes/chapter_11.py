"""Wrong answers to the exercises of chapter 11, each by its misconception."""

LOG_P = """
@torch.no_grad()
def log_p(model, batch):
    logits = model(batch.source, batch.decoder_input)
    every = logits.log_softmax(-1)
    factors = every.gather(-1, batch.target.unsqueeze(-1)).squeeze(-1)
    return factors.masked_fill(batch.target == 0, 0.0).sum(-1)
"""


def slip(text: str, right: str, wrong: str) -> str:
    """An answer with one thing changed, which must stand in it once."""
    assert text.count(right) == 1, right
    return text.replace(right, wrong)


def hinted(hint: str, answer: str) -> str:
    """An answer that says which hint it must get."""
    return f"# hint: {hint}\n{answer}"


WRONG = {
    "fit": {
        "never sets the gradients to zero": (
            "the gradients of all steps add up",
            {"        optimiser.zero_grad()\n": ""},
        ),
        "sets them to zero after the backward pass": (
            "is the gradient still there",
            {
                "        optimiser.zero_grad()\n": "",
                "        optimiser.step()\n": (
                    "        optimiser.zero_grad()\n        optimiser.step()\n"
                ),
            },
        ),
        "counts PAD": ("PAD counts in your loss", {", ignore_index=0": ""}),
        "gives the decoder the target, without the shift": (
            "only needs to copy",
            {"batch.decoder_input": "batch.target"},
        ),
        "begins with a new Adam at every step": (
            "Adam forgets its two means",
            {
                "optimiser.zero_grad()": (
                    "optimiser = torch.optim.Adam(model.parameters(), lr=rate)\n"
                    "        optimiser.zero_grad()"
                )
            },
        ),
        "takes the constants of 2017": (
            "a plain torch.optim.Adam",
            {"lr=rate": "lr=rate, betas=(0.9, 0.98)"},
        ),
        "returns tensors that keep their graphs": (
            "return plain numbers",
            {"loss.item()": "loss"},
        ),
        "trains without dropout": (
            "eval turns dropout off",
            {"    losses = []": "    losses = []\n    model.eval()"},
        ),
    },
    "mismatched": {
        "moves the target but not what the decoder is given": (
            "the target moves, but",
            {"decoder_input.roll(places, dims=0)": "decoder_input"},
        ),
        "moves what is given but not the target": (
            "but the target is still",
            {"target.roll(places, dims=0)": "target"},
        ),
        "takes the answer of the text after it": (
            "of a text after it",
            {
                "input.roll(p": "input.roll(-p",
                "target.roll(p": "target.roll(-p",
            },
        ),
        "moves all three, so that all fits again": (
            "so that all fits again",
            {"batch.source": "batch.source.roll(places, dims=0)"},
        ),
        "moves the characters within each answer": (
            "torn apart",
            {
                "input.roll(places, dims=0": "input.roll(places, dims=1",
                "target.roll(places, dims=0": "target.roll(places, dims=1",
            },
        ),
        "moves twice as far": (
            "whose answer is to stand beside it",
            {"# (a)": "places *= 2  # (a)"},
        ),
        "returns three tensors": (
            "is to be a Batch",
            {"return Batch": "return "},
        ),
        "changes the batch that it was given": (
            "in place",
            {"# (a)": "batch.source.zero_()  # (a)"},
        ),
    },
    "add_gradients": {
        "takes the mean of the means": (
            "each part counts the same",
            {"share * ": "1 / len(parts) * "},
        ),
        "adds up the means": ("add up to too much", {"share * ": ""}),
        "weighs by the number of examples": (
            "weighed by their examples",
            {"share * ": "len(part[0]) / sum(len(p[0]) for p in parts) * "},
        ),
        "counts PAD among the tokens": (
            "PAD counts in the weight",
            {
                "sum((part.target != 0).sum()": "sum(part.target.numel()",
                "(part.target != 0).sum()": "part.target.numel()",
            },
        ),
        "one backward at the end, over all parts": (
            "are in memory at once",
            {
                "    for part in parts:": "    loss = 0\n    for part in parts:",
                "        (share * label_smoothed_loss(logits, part.target)).backward()": (
                    "        loss += share * label_smoothed_loss(logits, part.target)\n"
                    "    loss.backward()"
                ),
            },
        ),
        "forgets the smoothing of the loss": (
            "is to be smoothed",
            {"logits, part.target)": "logits, part.target, 0.0)"},
        ),
        "clears the gradient at the end": (
            "is left in `.grad` when you are done",
            {".backward()": ".backward()\n    model.zero_grad()"},
        ),
        "counts no EOS": (
            "not the gradient of the whole batch",
            {"share = (part.target != 0)": "share = (part.target > 2)"},
        ),
    },
    "sweep": {
        "lets the rate grow by equal amounts": (
            "by equal amounts",
            {"low * factor**i": "low + (high - low) * i / (len(batches) - 1)"},
        ),
        "reaches the highest rate one step too late": (
            "the last rate is not",
            {"(len(batches) - 1)": "len(batches)"},
        ),
        "notes the rates and never sets them": (
            "Adam never hears of them",
            {'        optimiser.param_groups[0]["lr"] = rates[-1]\n': ""},
        ),
        "sets the rate after the step": (
            "after the step that it is meant for",
            {
                '        optimiser.param_groups[0]["lr"] = rates[-1]\n': "",
                "losses.append": (
                    'optimiser.param_groups[0]["lr"] = rates[-1]\n'
                    "        losses.append"
                ),
            },
        ),
        "begins with a new Adam at every rate": (
            "Adam forgets its two means",
            {
                'optimiser.param_groups[0]["lr"] = rates[-1]': (
                    "optimiser = torch.optim.Adam(model.parameters(), rates[-1])"
                )
            },
        ),
        "adds up the gradients of all steps": (
            "the gradients of all steps add up",
            {"        optimiser.zero_grad()\n": ""},
        ),
        "smooths the labels": (
            "a step of a plain torch.optim.Adam",
            {"target.flatten())": "target.flatten(), label_smoothing=0.1)"},
        ),
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "sweep": {
        "optimiser = torch.optim.Adam(model.parameters())": "each step sets its rate before it is used",
        'optimiser.param_groups[-1]["lr"] = rates[-1]': "there is one group, the first and the last",
    },
}
