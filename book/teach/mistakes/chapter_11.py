"""Wrong answers to the exercises of chapter 11, each by its misconception."""

from . import read

WRONG = read(
    fit="""
never sets the gradients to zero > the gradients of all steps add up
-         optimiser.zero_grad()
sets them to zero after the backward pass > is the gradient still there
-         optimiser.zero_grad()
-         loss.backward()
+         loss.backward()
+         optimiser.zero_grad()
counts PAD > PAD counts in your loss
-         loss = F.cross_entropy(logits, batch.target.flatten(), ignore_index=0)
+         loss = F.cross_entropy(logits, batch.target.flatten())
gives the decoder the target, without the shift > only needs to copy
-         logits = model(batch.source, batch.decoder_input).flatten(0, 1)
+         logits = model(batch.source, batch.target).flatten(0, 1)
begins with a new Adam at every step > Adam forgets its two means
-         optimiser.zero_grad()
+         optimiser = torch.optim.Adam(model.parameters(), lr=rate)
+         optimiser.zero_grad()
takes the constants of 2017 > a plain torch.optim.Adam
-     optimiser = torch.optim.Adam(model.parameters(), lr=rate)
+     optimiser = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
returns tensors that keep their graphs > return plain numbers
-         losses.append(loss.item())
+         losses.append(loss)
trains without dropout > eval turns dropout off
-     for batch in batches:
+     model.eval()
+     for batch in batches:
""",
    mismatched="""
moves the target but not what the decoder is given > the target moves, but
-         batch.decoder_input.roll(places, dims=0),
+         batch.decoder_input,
moves what is given but not the target > but the target is still
-         batch.target.roll(places, dims=0),
+         batch.target,
takes the answer of the text after it > of a text after it
-         batch.decoder_input.roll(places, dims=0),
-         batch.target.roll(places, dims=0),
+         batch.decoder_input.roll(-places, dims=0),
+         batch.target.roll(-places, dims=0),
moves all three, so that all fits again > so that all fits again
-         batch.source,
+         batch.source.roll(places, dims=0),
moves the characters within each answer > torn apart
-         batch.decoder_input.roll(places, dims=0),
-         batch.target.roll(places, dims=0),
+         batch.decoder_input.roll(places, dims=1),
+         batch.target.roll(places, dims=1),
moves twice as far > whose answer is to stand beside it
-     # (a) Yes: eight texts can be told apart, so any answers can be learnt.
+     places *= 2  # (a) Yes: eight texts can be told apart, so any answers can be learnt.
returns three tensors > is to be a Batch
-     return Batch(
+     return (
changes the batch that it was given > in place
-     # (a) Yes: eight texts can be told apart, so any answers can be learnt.
+     batch.source.zero_()  # (a) Yes: eight texts can be told apart, so any answers can be learnt.
""",
    add_gradients="""
takes the mean of the means > each part counts the same
-         (share * label_smoothed_loss(logits, part.target)).backward()
+         (1 / len(parts) * label_smoothed_loss(logits, part.target)).backward()
adds up the means > add up to too much
-         (share * label_smoothed_loss(logits, part.target)).backward()
+         (label_smoothed_loss(logits, part.target)).backward()
weighs by the number of examples > weighed by their examples
-         (share * label_smoothed_loss(logits, part.target)).backward()
+         (len(part[0]) / sum(len(p[0]) for p in parts) * label_smoothed_loss(logits, part.target)).backward()
counts PAD among the tokens > PAD counts in the weight
-     tokens = sum((part.target != 0).sum() for part in parts)
+     tokens = sum(part.target.numel() for part in parts)
-         share = (part.target != 0).sum() / tokens
+         share = part.target.numel() / tokens
one backward at the end, over all parts > are in memory at once
-     for part in parts:
+     loss = 0
+     for part in parts:
-         (share * label_smoothed_loss(logits, part.target)).backward()
+         loss += share * label_smoothed_loss(logits, part.target)
+     loss.backward()
forgets the smoothing of the loss > is to be smoothed
-         (share * label_smoothed_loss(logits, part.target)).backward()
+         (share * label_smoothed_loss(logits, part.target, 0.0)).backward()
clears the gradient at the end > is left in `.grad` when you are done
-         (share * label_smoothed_loss(logits, part.target)).backward()
+         (share * label_smoothed_loss(logits, part.target)).backward()
+     model.zero_grad()
counts no EOS > not the gradient of the whole batch
-         share = (part.target != 0).sum() / tokens
+         share = (part.target > 2).sum() / tokens
""",
    sweep="""
lets the rate grow by equal amounts > by equal amounts
-         rates.append(low * factor**i)
+         rates.append(low + (high - low) * i / (len(batches) - 1))
reaches the highest rate one step too late > the last rate is not
-     factor = (high / low) ** (1 / (len(batches) - 1))
+     factor = (high / low) ** (1 / len(batches))
notes the rates and never sets them > Adam never hears of them
-         optimiser.param_groups[0]["lr"] = rates[-1]
sets the rate after the step > after the step that it is meant for
-         optimiser.param_groups[0]["lr"] = rates[-1]
-         logits = model(batch.source, batch.decoder_input).flatten(0, 1)
+         logits = model(batch.source, batch.decoder_input).flatten(0, 1)
-         losses.append(loss.item())
+         optimiser.param_groups[0]["lr"] = rates[-1]
+         losses.append(loss.item())
begins with a new Adam at every rate > Adam forgets its two means
-         optimiser.param_groups[0]["lr"] = rates[-1]
+         optimiser = torch.optim.Adam(model.parameters(), rates[-1])
adds up the gradients of all steps > the gradients of all steps add up
-         optimiser.zero_grad()
smooths the labels > a step of a plain torch.optim.Adam
-         loss = F.cross_entropy(logits, batch.target.flatten())
+         loss = F.cross_entropy(logits, batch.target.flatten(), label_smoothing=0.1)
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "sweep": {
        "optimiser = torch.optim.Adam(model.parameters())": "each step sets its rate before it is used",
        'optimiser.param_groups[-1]["lr"] = rates[-1]': "there is one group, the first and the last",
    },
}
