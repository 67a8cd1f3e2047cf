"""Wrong answers to the exercises of chapter 17, by misconception."""

from . import read

WRONG = read(
    sent_bytes="""
a worker alone sends to itself > a worker that is alone sends nothing
-     return 4 * layers * 2 * (world - 1) * tensor / world
+     return 4 * layers * 2 * max(world - 1, 1) * tensor / world
three sums a layer > what goes around the ring
-     return 4 * layers * 2 * (world - 1) * tensor / world
+     return 3 * layers * 2 * (world - 1) * tensor / world
forgets the way back > you have half of it
-     return 4 * layers * 2 * (world - 1) * tensor / world
+     return 2 * layers * 2 * (world - 1) * tensor / world
counts tensors, not what the ring sends of them > that is how much is summed up
-     return 4 * layers * 2 * (world - 1) * tensor / world
+     return 4 * layers * tensor
sends the whole tensor to every other worker > to every other worker
-     return 4 * layers * 2 * (world - 1) * tensor / world
+     return 4 * layers * (world - 1) * tensor
adds up what all workers send > what all workers send together
-     return 4 * layers * 2 * (world - 1) * tensor / world
+     return 4 * layers * 2 * (world - 1) * tensor
sends the weights > the weights stay where they are
-     tensor = batch * length * d_model * bytes_each
+     tensor = 12 * d_model**2 * bytes_each
a number has four bytes > and you take 4
-     tensor = batch * length * d_model * bytes_each
+     tensor = batch * length * d_model * 4
""",
    worker_part="""
splits its columns into all heads > what the worker's own heads add
-         split_heads(x @ W.chunk(world, dim=1)[rank], heads // world)
+         split_heads(x @ W.chunk(world, dim=1)[rank], heads if W.shape[1] // world % heads == 0 else 1)
one wide head on each worker > make one wide head
-         split_heads(x @ W.chunk(world, dim=1)[rank], heads // world)
+         split_heads(x @ W.chunk(world, dim=1)[rank], 1)
forgets the mask > may_attend is not passed on
-     context = merge_heads(attention(q, k, v, may_attend))
+     context = merge_heads(attention(q, k, v))
every worker has the first heads > computes the first heads
-         split_heads(x @ W.chunk(world, dim=1)[rank], heads // world)
+         split_heads(x @ W.chunk(world, dim=1)[0], heads // world)
computes all and takes an equal share > compute all heads and divide
-         split_heads(x @ W.chunk(world, dim=1)[rank], heads // world)
+         split_heads(x @ W, heads)
-     return context @ W_o.chunk(world, dim=0)[rank]
+     return context @ W_o / world
deals the heads out in turn > deal the heads out in turn
-         split_heads(x @ W.chunk(world, dim=1)[rank], heads // world)
+         split_heads(x @ W, heads)[:, rank::world]
-     return context @ W_o.chunk(world, dim=0)[rank]
+     return context @ W_o.unflatten(0, (heads, -1))[rank::world].flatten(0, 1)
""",
    ring_all_reduce="""
only the sums come back > other than 2 values
+ def ring_all_reduce(tensors):
+     return [sum(tensors) for _ in tensors]
sends the whole vector around > whole vectors go around
+ def ring_all_reduce(tensors):
+     total, p = sum(tensors), len(tensors)
+     return [total.clone() for _ in tensors], [(p - 1) * len(total)] * p
stops when everything is added up > still to be handed around
-     for step in range(2 * (p - 1)):
+     for step in range(p - 1):
adds while the sums are handed on > replaces its own and adds nothing
-             if step < p - 1:
+             if True:
always sends the same piece > some worker ends with a wrong piece
-         messages = [pieces[w][(w - step) % p] for w in range(p)]
+         messages = [pieces[w][w] for w in range(p)]
-             other, i = (w + 1) % p, (w - step) % p
+             other, i = (w + 1) % p, w
writes into the vectors that were given > changes its input
-                 message = message + pieces[other][i]
+                 message = pieces[other][i].add_(message)
a sum and a formula, and no ring > nothing went around a ring
+ def ring_all_reduce(tensors):
+     p, n = len(tensors), len(tensors[0])
+     total = sum(tensors)
+     return [total.clone() for _ in tensors], [2 * (p - 1) * n // p] * p
sends to the worker before > your pieces go to the worker before
-         messages = [pieces[w][(w - step) % p] for w in range(p)]
+         messages = [pieces[w][(w + step) % p] for w in range(p)]
-             other, i = (w + 1) % p, (w - step) % p
+             other, i = (w - 1) % p, (w + step) % p
""",
    accumulate="""
all parts go through twice > one by one and once
-     model.zero_grad()
+     for part in parts:
+         model(part.source, part.decoder_input)
+     model.zero_grad()
the gradients are returned > have no gradient
-         (loss * count / sum(counts)).backward()
+         torch.autograd.grad(loss, list(model.parameters()))
all logits are made first > go back after each part
-     for part, count in zip(parts, counts, strict=True):
-         logits = model(part.source, part.decoder_input)
+     made = iter([model(part.source, part.decoder_input) for part in parts])
+     for part, count in zip(parts, counts, strict=True):
+         logits = next(made)
the mean of the means > the mean of the parts' means
-         (loss * count / sum(counts)).backward()
+         (loss * 1 / len(counts)).backward()
no label smoothing > with the loss that is asked for
-         loss = label_smoothed_loss(logits, part.target)
+         loss = label_smoothed_loss(logits, part.target, 0.0)
counts PAD as tokens > PAD is counted
-     counts = [(part.target != 0).sum().item() for part in parts]
+     counts = [part.target.numel() for part in parts]
keeps the gradient that was there before > clear it first
-     model.zero_grad()
+     pass
a step is taken at the end > changes its input model
-         (loss * count / sum(counts)).backward()
+         (loss * count / sum(counts)).backward()
+     for weight in model.parameters():
+         weight.data -= 0.1 * weight.grad
""",
    loss_of="""
a number for the whole part > tokens the summary has
+ def summary(part, target, first):
+     logs = part.double().logsumexp(dim=1)
+     return torch.stack([part.new_tensor(logs.tolist()), *summary_of(part, target, first)])
+
+ def summary_of(part, target, first):
+     own = (target >= first) & (target < first + part.shape[1])
+     place = (target - first).clamp(0, part.shape[1] - 1)
+     yield part.gather(1, place[:, None])[:, 0] * own
+
+ def loss_of(summaries):
+     logs, rights = torch.stack(summaries).unbind(dim=1)
+     return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
the summary is to be written by others > write summary as well
+ def loss_of(summaries):
+     logs, rights = torch.stack(summaries).unbind(dim=2)
+     return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
a loss for each token > one number is asked for
-     return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
+     return (logs.logsumexp(dim=0) - rights.sum(dim=0))
adds up exponentials without the largest score > exponentials overflow
-     return torch.stack([part.logsumexp(dim=1), right], dim=1)
+     return torch.stack([part.exp().sum(dim=1), right], dim=1)
-     return (logs.logsumexp(dim=0) - rights.sum(dim=0)).mean()
+     return (logs.sum(dim=0).log() - rights.sum(dim=0)).mean()
each worker subtracts its own largest score > from its own largest logit
-     columns = part.shape[1]
+     part = part - part.amax(dim=1, keepdim=True)
+     columns = part.shape[1]
every worker takes some column for the target > every worker names a logit
-     right = torch.where(own, right, torch.zeros_like(right))
+     right = right
one column too many is its own > the next one is its neighbour's
-     own = (target >= first) & (target < first + columns)
+     own = (target >= first) & (target <= first + columns)
sends all logits > numbers are sent for each token
+ def summary(part, target, first):
+     return torch.cat([part, target[:, None].to(part.dtype)], dim=1)
+
+
+ def loss_of(summaries):
+     target = summaries[0][:, -1].long()
+     logits = torch.cat([part[:, :-1] for part in summaries], dim=1)
+     return F.cross_entropy(logits, target)
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "worker_part": {
        "return context @ W_o.chunk(world)[rank]": "axis 0 is the one that is cut if none is named",
    },
    "accumulate": {
        "counts = [(part.target != 0).sum() for part in parts]": "a tensor of one number multiplies and divides as the number does",
        "for part, count in zip(parts, counts, strict=False):": "the lists are equally long, so nothing is cut off",
    },
    "loss_of": {
        "right = part.gather(1, place[:, None])[:, -1]": "one column was gathered, the first and the last",
    },
}
