"""Wrong answers to the exercises of chapter 11, each by its misconception."""

FIT = """
def fit(model, batches, rate):
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for batch in batches:
        logits = model(batch.source, batch.decoder_input).flatten(0, 1)
        loss = F.cross_entropy(logits, batch.target.flatten(), ignore_index=0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses
"""
PARTS = """
def add_gradients(model, *parts):
    tokens = sum((part.target != 0).sum() for part in parts)
    for part in parts:
        share = (part.target != 0).sum() / tokens
        logits = model(part.source, part.decoder_input)
        (share * label_smoothed_loss(logits, part.target)).backward()
"""
SWEEP = """
def sweep(model, batches, low, high):
    optimiser = torch.optim.Adam(model.parameters(), lr=low)
    factor = (high / low) ** (1 / (len(batches) - 1))
    rates, losses = [], []
    for i, batch in enumerate(batches):
        rates.append(low * factor**i)
        optimiser.param_groups[0]["lr"] = rates[-1]
        logits = model(batch.source, batch.decoder_input).flatten(0, 1)
        loss = F.cross_entropy(logits, batch.target.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return rates, losses
"""
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
    "wished": {
        "spreads the share over the other tokens only": """
# hint: yours leaves that one out
def wished(right, vocab, smoothing):
    one = F.one_hot(right, vocab)
    return (1 - smoothing) * one + smoothing / (vocab - 1) * (1 - one)
""",
        "takes nothing from the right token": """
# hint: must be taken from the right token first
def wished(right, vocab, smoothing):
    return F.one_hot(right, vocab) + smoothing / vocab
""",
        "gives each token the whole share": """
# hint: is to be divided among
def wished(right, vocab, smoothing):
    return (1 - smoothing) * F.one_hot(right, vocab) + smoothing
""",
        "spares PAD": """
# hint: PAD is a token of the vocabulary
def wished(right, vocab, smoothing):
    even = torch.full((vocab,), smoothing / (vocab - 1), device=right.device)
    even[0] = 0
    return (1 - smoothing) * F.one_hot(right, vocab) + even
""",
        "mixes up the two shares": """
# hint: have changed places
def wished(right, vocab, smoothing):
    return smoothing * F.one_hot(right, vocab) + (1 - smoothing) / vocab
""",
        "the right token gets none of what is spread": """
# hint: sum to less than 1
def wished(right, vocab, smoothing):
    wish = torch.full((*right.shape, vocab), smoothing / vocab)
    return wish.scatter(-1, right.unsqueeze(-1), 1 - smoothing)
""",
        "whole numbers, if there is nothing to smooth": """
# hint: whole numbers come back
def wished(right, vocab, smoothing):
    one = F.one_hot(right, vocab)
    return (1 - smoothing) * one + smoothing / vocab if smoothing else one
""",
        "takes a list of tokens only": """
# hint: any number of axes
def wished(right, vocab, smoothing):
    wish = torch.full((len(right), vocab), smoothing / vocab)
    wish[range(len(right)), right.cpu()] += 1 - smoothing
    return wish.to(right.device)
""",
    },
    "fit": {
        "never sets the gradients to zero": hinted(
            "the gradients of all steps add up",
            slip(FIT, "        optimiser.zero_grad()\n", ""),
        ),
        "sets them to zero after the backward pass": hinted(
            "cleared before the step",
            slip(
                FIT,
                "optimiser.zero_grad()\n        loss.backward()\n",
                "loss.backward()\n        optimiser.zero_grad()\n",
            ),
        ),
        "counts PAD": hinted(
            "PAD counts in your loss", slip(FIT, ", ignore_index=0", "")
        ),
        "gives the decoder the target, without the shift": hinted(
            "only needs to copy",
            slip(FIT, "batch.decoder_input", "batch.target"),
        ),
        "begins with a new Adam at every step": hinted(
            "Adam forgets its two means",
            slip(
                FIT,
                "        optimiser.zero_grad()\n",
                "        optimiser = torch.optim.Adam(model.parameters(), lr=rate)"
                "\n        optimiser.zero_grad()\n",
            ),
        ),
        "takes the softmax before the cross-entropy": hinted(
            "the softmax is taken twice",
            slip(
                FIT,
                "F.cross_entropy(logits,",
                "F.cross_entropy(logits.softmax(-1),",
            ),
        ),
        "forgets the step": hinted(
            "who takes the step", slip(FIT, "        optimiser.step()\n", "")
        ),
        "uses plain gradient descent": hinted(
            "plain gradient descent",
            slip(FIT, "torch.optim.Adam", "torch.optim.SGD"),
        ),
        "smooths the labels": hinted(
            "no label smoothing here",
            slip(FIT, "ignore_index=0", "ignore_index=0, label_smoothing=0.1"),
        ),
        "returns tensors that keep their graphs": hinted(
            "return plain numbers",
            slip(FIT, "losses.append(loss.item())", "losses.append(loss)"),
        ),
        "sums the loss over the characters": hinted(
            "is not the mean of -log p",
            slip(FIT, "ignore_index=0", 'ignore_index=0, reduction="sum"'),
        ),
        "takes the constants of 2017": hinted(
            "a plain torch.optim.Adam",
            slip(FIT, "lr=rate", "lr=rate, betas=(0.9, 0.98)"),
        ),
        "no step for the last batch": hinted(
            "the last batch needs a step",
            slip(
                FIT,
                "        optimiser.step()\n",
                "        if batch is not batches[-1]:\n"
                "            optimiser.step()\n",
            ),
        ),
        "a step too many at the end": hinted(
            "but the weights in the end are not",
            slip(
                FIT,
                "    return losses",
                "    optimiser.step()\n    return losses",
            ),
        ),
        "trains a copy": hinted(
            "was a copy trained",
            slip(
                FIT,
                "    optimiser = torch",
                "    model = copy.deepcopy(model)\n    optimiser = torch",
            ),
        ),
        "returns the mean of the losses": hinted(
            "the losses are to be a list",
            slip(FIT, "return losses", "return sum(losses) / len(losses)"),
        ),
        "returns the last loss only": hinted(
            "4 batches give 4 losses",
            slip(FIT, "return losses", "return losses[-1:]"),
        ),
    },
    "mismatched": {
        "moves the target but not what the decoder is given": """
# hint: the target moves, but
def mismatched(batch):
    return batch._replace(target=batch.target.roll(1, dims=0))
""",
        "moves what is given but not the target": """
# hint: but the target is still
def mismatched(batch):
    return batch._replace(decoder_input=batch.decoder_input.roll(1, dims=0))
""",
        "takes the answer of the text after it": """
# hint: of a text after it
def mismatched(batch):
    return Batch(
        batch.source,
        batch.decoder_input.roll(-1, dims=0),
        batch.target.roll(-1, dims=0),
    )
""",
        "moves all three, so that all fits again": """
# hint: so that all fits again
def mismatched(batch):
    return Batch(*(ids.roll(1, dims=0) for ids in batch))
""",
        "moves the characters within each answer": """
# hint: torn apart
def mismatched(batch):
    return Batch(
        batch.source,
        batch.decoder_input.roll(1, dims=1),
        batch.target.roll(1, dims=1),
    )
""",
        "moves the texts instead of the answers": """
# hint: the texts are to stay
def mismatched(batch):
    return batch._replace(source=batch.source.roll(-1, dims=0))
""",
        "changes the batch that it was given": """
# hint: the batch that was given is changed
def mismatched(batch):
    batch.decoder_input.copy_(batch.decoder_input.roll(1, dims=0))
    batch.target.copy_(batch.target.roll(1, dims=0))
    return batch
""",
        "returns three tensors": """
# hint: is to be a Batch
def mismatched(batch):
    return (
        batch.source,
        batch.decoder_input.roll(1, dims=0),
        batch.target.roll(1, dims=0),
    )
""",
        "drops what has no partner": """
# hint: must keep their shapes
def mismatched(batch):
    return Batch(
        batch.source[1:], batch.decoder_input[:-1], batch.target[:-1]
    )
""",
        "the first text keeps its answer": """
# hint: the last ones come to the first texts
def mismatched(batch):
    def moved(ids):
        return torch.cat([ids[:1], ids[:-1]])

    return Batch(
        batch.source, moved(batch.decoder_input), moved(batch.target)
    )
""",
        "shuffles the answers": """
# hint: not in the right order
def mismatched(batch):
    order = torch.randperm(len(batch.target))
    while (order == torch.arange(len(order)).roll(1)).all():
        order = torch.randperm(len(order))
    return Batch(batch.source, batch.decoder_input[order], batch.target[order])
""",
        "moves two places": """
# hint: whose answer stands beside it
def mismatched(batch):
    return Batch(
        batch.source,
        batch.decoder_input.roll(2, dims=0),
        batch.target.roll(2, dims=0),
    )
""",
    },
    "add_gradients": {
        "takes the mean of the means": hinted(
            "each part counts the same",
            slip(PARTS, "(part.target != 0).sum() / tokens", "1 / len(parts)"),
        ),
        "weighs by the real characters and divides by nothing": hinted(
            "together they weigh too much",
            slip(
                PARTS,
                "(part.target != 0).sum() / tokens",
                "(part.target != 0).sum()",
            ),
        ),
        "gradients that never come to `.grad`": """
# hint: or never put there
def add_gradients(model, *parts):
    weights, gradients = list(model.parameters()), []
    for part in parts:
        logits = model(part.source, part.decoder_input)
        loss = label_smoothed_loss(logits, part.target)
        gradients.append(torch.autograd.grad(loss, weights))
    return gradients
""",
        "adds up the means": hinted(
            "add up to too much",
            slip(PARTS, "(share * label_smoothed", "(label_smoothed"),
        ),
        "weighs by the number of examples": hinted(
            "weighed by their examples",
            slip(
                PARTS,
                "(part.target != 0).sum() / tokens",
                "len(part.target) / sum(len(p.target) for p in parts)",
            ),
        ),
        "counts PAD among the tokens": hinted(
            "PAD counts in the weight",
            PARTS.replace("(part.target != 0).sum()", "part.target.numel()"),
        ),
        "one backward at the end, over all parts": """
# hint: waits until all parts
def add_gradients(model, *parts):
    tokens = sum((part.target != 0).sum() for part in parts)
    loss = 0
    for part in parts:
        share = (part.target != 0).sum() / tokens
        logits = model(part.source, part.decoder_input)
        loss = loss + share * label_smoothed_loss(logits, part.target)
    loss.backward()
""",
        "clears the gradients before each part": hinted(
            "only the last part is left",
            slip(
                PARTS,
                "        share =",
                "        model.zero_grad()\n        share =",
            ),
        ),
        "forgets the smoothing of the loss": hinted(
            "is to be smoothed",
            slip(
                PARTS, "part.target)).backward", "part.target, 0.0)).backward"
            ),
        ),
        "goes through each part twice, once to count": hinted(
            "is to go through the model once",
            slip(
                PARTS,
                "    for part in parts:\n",
                "    for part in parts:\n"
                "        model(part.source, part.decoder_input)\n",
            ),
        ),
        "forgets the backward pass": hinted(
            "there is no backward pass",
            slip(
                PARTS,
                "(share * label_smoothed_loss(logits, part.target)).backward()",
                "share * label_smoothed_loss(logits, part.target)",
            ),
        ),
        "clears the gradient at the end": hinted(
            "is left in `.grad` when you are done",
            PARTS + "    model.zero_grad()\n",
        ),
        "counts no EOS": hinted(
            "not the gradient of the whole batch",
            PARTS.replace("part.target != 0", "part.target > 2"),
        ),
    },
    "sweep": {
        "lets the rate grow by equal amounts": hinted(
            "by equal amounts",
            slip(
                SWEEP,
                "low * factor**i",
                "low + (high - low) * i / (len(batches) - 1)",
            ),
        ),
        "reaches the highest rate one step too late": hinted(
            "the last rate is not",
            slip(SWEEP, "(len(batches) - 1)", "len(batches)"),
        ),
        "begins one factor too high": hinted(
            "one factor higher", slip(SWEEP, "factor**i", "factor**(i+1)")
        ),
        "notes the rates and never sets them": hinted(
            "Adam never hears of them",
            slip(
                SWEEP,
                '        optimiser.param_groups[0]["lr"] = rates[-1]\n',
                "",
            ),
        ),
        "sets the rate after the step": hinted(
            "after the step that it is meant for",
            slip(
                SWEEP,
                '        optimiser.param_groups[0]["lr"] = rates[-1]\n',
                "",
            ).replace(
                "losses.append",
                'optimiser.param_groups[0]["lr"] = rates[-1]\n'
                "        losses.append",
            ),
        ),
        "begins with a new Adam at every rate": hinted(
            "Adam forgets its two means",
            slip(
                SWEEP,
                '        optimiser.param_groups[0]["lr"] = rates[-1]\n',
                "        optimiser = torch.optim.Adam(model.parameters(), "
                "lr=rates[-1])\n",
            ),
        ),
        "adds up the gradients of all steps": hinted(
            "the gradients of all steps add up",
            slip(SWEEP, "        optimiser.zero_grad()\n", ""),
        ),
        "returns pairs": hinted(
            "two lists are asked for",
            slip(
                SWEEP,
                "return rates, losses",
                "return list(zip(rates, losses, strict=True))",
            ),
        ),
        "ten times the rate at each step": hinted(
            "by the same factor each time",
            slip(
                SWEEP,
                "factor = (high / low) ** (1 / (len(batches) - 1))",
                "factor = 10",
            ),
        ),
        "no step at the highest rate": hinted(
            "the last batch needs a step",
            slip(
                SWEEP,
                "        optimiser.step()\n",
                "        if batch is not batches[-1]:\n"
                "            optimiser.step()\n",
            ),
        ),
        "smooths the labels": hinted(
            "the losses are not those of a training with them",
            slip(
                SWEEP,
                "batch.target.flatten())",
                "batch.target.flatten(), label_smoothing=0.1)",
            ),
        ),
    },
    "log_p": {
        "takes the mean of the characters": hinted(
            "a mean over places", slip(LOG_P, ".sum(-1)", ".mean(-1)")
        ),
        "counts PAD": hinted(
            "PAD counts: a text ends",
            slip(LOG_P, ".masked_fill(batch.target == 0, 0.0)", ""),
        ),
        "leaves out EOS": hinted(
            "EOS is missing",
            slip(LOG_P, "batch.target == 0", "batch.target < 3"),
        ),
        "sums the probabilities": hinted(
            "probabilities are added", slip(LOG_P, "log_softmax", "softmax")
        ),
        "sums the logits": hinted(
            "logits are added", slip(LOG_P, "logits.log_softmax(-1)", "logits")
        ),
        "takes the tokens that were given": hinted(
            "that the decoder is given",
            slip(
                LOG_P,
                "every.gather(-1, batch.target.unsqueeze(-1))",
                "every.gather(-1, batch.decoder_input.unsqueeze(-1))",
            ),
        ),
        "takes the most probable tokens": hinted(
            "the likeliest characters",
            slip(
                LOG_P,
                "every.gather(-1, batch.target.unsqueeze(-1)).squeeze(-1)",
                "every.amax(-1)",
            ),
        ),
        "one number for the whole batch": hinted(
            "one for each", slip(LOG_P, ".sum(-1)", ".sum()")
        ),
        "softmax over the places": hinted(
            "the softmax goes over the places",
            slip(LOG_P, "log_softmax(-1)", "log_softmax(1)"),
        ),
        "the mean of the characters that are no PAD": hinted(
            "a mean over characters",
            slip(
                LOG_P,
                ".sum(-1)",
                ".sum(-1) / (batch.target != 0).sum(-1)",
            ),
        ),
        "returns the probability itself": hinted(
            "its logarithm is asked for",
            slip(LOG_P, ".sum(-1)", ".sum(-1).exp()"),
        ),
        "returns the loss": hinted(
            "this is the loss",
            slip(LOG_P, "return factors", "return -factors"),
        ),
        "scores each character by the row after it": hinted(
            "this is not the sum of log p",
            slip(
                LOG_P,
                "logits.log_softmax(-1)",
                "logits.log_softmax(-1).roll(-1, 1)",
            ),
        ),
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "wished": {
        "return (smoothing / vocab + (1 - smoothing) * F.one_hot(right, vocab))": (
            "a sum in another order"
        ),
    },
    "sweep": {
        "optimiser = torch.optim.Adam(model.parameters())": (
            "each step sets its rate before it is used"
        ),
        'optimiser.param_groups[(-1)]["lr"] = rates[-1]': (
            "there is one group, the first and the last"
        ),
    },
    "log_p": {
        "return factors.masked_fill(batch.target == 0, 0.0).sum(1)": (
            "of two axes the second is the last"
        ),
    },
}
