"""Wrong answers to the exercises of chapter 11, by misconception."""

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


WRONG = {
    "wished": {
        "spreads the share over the other tokens only": """
def wished(right, vocab, smoothing):
    one = F.one_hot(right, vocab)
    return (1 - smoothing) * one + smoothing / (vocab - 1) * (1 - one)
""",
        "takes nothing from the right token": """
def wished(right, vocab, smoothing):
    return F.one_hot(right, vocab) + smoothing / vocab
""",
        "gives each token the whole share": """
def wished(right, vocab, smoothing):
    return (1 - smoothing) * F.one_hot(right, vocab) + smoothing
""",
        "spares PAD": """
def wished(right, vocab, smoothing):
    even = torch.full((vocab,), smoothing / (vocab - 1), device=right.device)
    even[0] = 0
    return (1 - smoothing) * F.one_hot(right, vocab) + even
""",
        "mixes up the two shares": """
def wished(right, vocab, smoothing):
    return smoothing * F.one_hot(right, vocab) + (1 - smoothing) / vocab
""",
        "takes a list of tokens only": """
def wished(right, vocab, smoothing):
    wish = torch.full((len(right), vocab), smoothing / vocab)
    wish[range(len(right)), right.cpu()] += 1 - smoothing
    return wish.to(right.device)
""",
    },
    "fit": {
        "never sets the gradients to zero": slip(
            FIT, "        optimiser.zero_grad()\n", ""
        ),
        "sets them to zero after the backward pass": slip(
            FIT,
            "optimiser.zero_grad()\n        loss.backward()\n",
            "loss.backward()\n        optimiser.zero_grad()\n",
        ),
        "counts PAD": slip(FIT, ", ignore_index=0", ""),
        "gives the decoder the target, without the shift": slip(
            FIT, "batch.decoder_input", "batch.target"
        ),
        "begins with a new Adam at every step": slip(
            FIT,
            "        optimiser.zero_grad()\n",
            "        optimiser = torch.optim.Adam(model.parameters(), lr=rate)"
            "\n        optimiser.zero_grad()\n",
        ),
        "takes the softmax before the cross-entropy": slip(
            FIT,
            "F.cross_entropy(logits,",
            "F.cross_entropy(logits.softmax(-1),",
        ),
        "forgets the step": slip(FIT, "        optimiser.step()\n", ""),
        "uses plain gradient descent": slip(
            FIT, "torch.optim.Adam", "torch.optim.SGD"
        ),
        "smooths the labels": slip(
            FIT, "ignore_index=0", "ignore_index=0, label_smoothing=0.1"
        ),
        "returns tensors that keep their graphs": slip(
            FIT, "losses.append(loss.item())", "losses.append(loss)"
        ),
    },
    "mismatched": {
        "moves the target but not what the decoder is given": """
def mismatched(batch):
    return batch._replace(target=batch.target.roll(1, dims=0))
""",
        "moves what is given but not the target": """
def mismatched(batch):
    return batch._replace(decoder_input=batch.decoder_input.roll(1, dims=0))
""",
        "takes the answer of the text after it": """
def mismatched(batch):
    return Batch(
        batch.source,
        batch.decoder_input.roll(-1, dims=0),
        batch.target.roll(-1, dims=0),
    )
""",
        "moves all three, so that all fits again": """
def mismatched(batch):
    return Batch(*(ids.roll(1, dims=0) for ids in batch))
""",
        "moves the characters within each answer": """
def mismatched(batch):
    return Batch(
        batch.source,
        batch.decoder_input.roll(1, dims=1),
        batch.target.roll(1, dims=1),
    )
""",
        "moves the texts instead of the answers": """
def mismatched(batch):
    return batch._replace(source=batch.source.roll(-1, dims=0))
""",
        "changes the batch that it was given": """
def mismatched(batch):
    batch.decoder_input.copy_(batch.decoder_input.roll(1, dims=0))
    batch.target.copy_(batch.target.roll(1, dims=0))
    return batch
""",
    },
    "add_gradients": {
        "takes the mean of the means": slip(
            PARTS, "(part.target != 0).sum() / tokens", "1 / len(parts)"
        ),
        "adds up the means": slip(
            PARTS, "(share * label_smoothed", "(label_smoothed"
        ),
        "weighs by the number of examples": slip(
            PARTS,
            "(part.target != 0).sum() / tokens",
            "len(part.target) / sum(len(p.target) for p in parts)",
        ),
        "counts PAD among the tokens": PARTS.replace(
            "(part.target != 0).sum()", "part.target.numel()"
        ),
        "one backward at the end, over all parts": """
def add_gradients(model, *parts):
    tokens = sum((part.target != 0).sum() for part in parts)
    loss = 0
    for part in parts:
        share = (part.target != 0).sum() / tokens
        logits = model(part.source, part.decoder_input)
        loss = loss + share * label_smoothed_loss(logits, part.target)
    loss.backward()
""",
        "clears the gradients before each part": slip(
            PARTS,
            "        share =",
            "        model.zero_grad()\n        share =",
        ),
        "forgets the smoothing of the loss": slip(
            PARTS, "part.target)).backward", "part.target, 0.0)).backward"
        ),
    },
    "sweep": {
        "lets the rate grow by equal amounts": slip(
            SWEEP,
            "low * factor**i",
            "low + (high - low) * i / (len(batches) - 1)",
        ),
        "reaches the highest rate one step too late": slip(
            SWEEP, "(len(batches) - 1)", "len(batches)"
        ),
        "begins one factor too high": slip(
            SWEEP, "factor**i", "factor**(i+1)"
        ),
        "notes the rates and never sets them": slip(
            SWEEP, '        optimiser.param_groups[0]["lr"] = rates[-1]\n', ""
        ),
        "sets the rate after the step": slip(
            SWEEP,
            '        optimiser.param_groups[0]["lr"] = rates[-1]\n',
            "",
        ).replace(
            "losses.append",
            'optimiser.param_groups[0]["lr"] = rates[-1]\n'
            "        losses.append",
        ),
        "begins with a new Adam at every rate": slip(
            SWEEP,
            '        optimiser.param_groups[0]["lr"] = rates[-1]\n',
            "        optimiser = torch.optim.Adam(model.parameters(), "
            "lr=rates[-1])\n",
        ),
        "adds up the gradients of all steps": slip(
            SWEEP, "        optimiser.zero_grad()\n", ""
        ),
    },
    "log_p": {
        "takes the mean of the characters": slip(
            LOG_P, ".sum(-1)", ".mean(-1)"
        ),
        "counts PAD": slip(LOG_P, ".masked_fill(batch.target == 0, 0.0)", ""),
        "leaves out EOS": slip(LOG_P, "batch.target == 0", "batch.target < 3"),
        "sums the probabilities": slip(LOG_P, "log_softmax", "softmax"),
        "sums the logits": slip(LOG_P, "logits.log_softmax(-1)", "logits"),
        "takes the tokens that were given": slip(
            LOG_P,
            "every.gather(-1, batch.target.unsqueeze(-1))",
            "every.gather(-1, batch.decoder_input.unsqueeze(-1))",
        ),
        "takes the most probable tokens": slip(
            LOG_P,
            "every.gather(-1, batch.target.unsqueeze(-1)).squeeze(-1)",
            "every.amax(-1)",
        ),
        "one number for the whole batch": slip(LOG_P, ".sum(-1)", ".sum()"),
        "softmax over the places": slip(
            LOG_P, "log_softmax(-1)", "log_softmax(1)"
        ),
    },
}
