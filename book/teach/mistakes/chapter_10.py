"""Wrong answers to the exercises of chapter 10, by misconception."""

from . import read

WRONG = read(
    parameters_of="""
builds the model and counts
> to be written without Transformer and numel and parameters
+ def parameters_of(config):
+     return sum(p.numel() for p in Transformer(config).parameters())
an output matrix of its own, also when it is tied > count it once
-     if config.tied != "all":
+     if True:
-     if config.tied == "none":
+     if True:
tables do not depend on tying > count part by part
-     if config.tied != "all":
+     if True:
-     if config.tied == "none":
+     if False:
no biases in the attention > have a bias each
-     attention = 4 * d * (d + 1)
+     attention = 4 * d * d
attention grows with the heads > heads cut the same matrices
-     attention = 4 * d * (d + 1)
+     attention = config.heads * 4 * d * (d + 1)
two norms in the decoder > a norm for each
-     decoder = config.decoder_layers * (2 * attention + network + 6 * d)
+     decoder = config.decoder_layers * (2 * attention + network + 4 * d)
the decoder is as deep as the encoder > of different depth
-     decoder = config.decoder_layers * (2 * attention + network + 6 * d)
+     decoder = config.encoder_layers * (2 * attention + network + 6 * d)
final norms only if they are asked for > final_norms=None leaves the choice
-     return rows * d + encoder + decoder + config.has_final_norms * 4 * d
+     return rows * d + encoder + decoder + bool(config.final_norms) * 4 * d
""",
    rows_moved="""
gradients of the call before are added > counted again
-     model.zero_grad()
counts numbers, not rows > you count numbers
-     return int((gradient.abs().sum(-1) > 0).sum())
+     return int((gradient != 0).sum())
every row, whatever the tying > without tying a row moves only if it is read
-     return int((gradient.abs().sum(-1) > 0).sum())
+     return len(gradient)
every token that was read, tied or not > that is what was read
+ def rows_moved(model, source, target):
+     return len(set(target.flatten().tolist()) - {0})
signs cancel in the sum > have signs
-     return int((gradient.abs().sum(-1) > 0).sum())
+     return int((gradient.sum(-1) > 0).sum())
one number stands for its row > is not zero
-     return int((gradient.abs().sum(-1) > 0).sum())
+     return int((gradient[:, 0] != 0).sum())
counts PAD as a row that is read > PAD is read as well
+ def rows_moved(model, source, target):
+     tied = model.config.tied != "none"
+     return model.config.target_vocab_size if tied else len(target.unique())
takes a step as well > changes its input
-     return int((gradient.abs().sum(-1) > 0).sum())
+     torch.optim.SGD(model.parameters(), lr=1e-4).step()
+     return int((gradient.abs().sum(-1) > 0).sum())
""",
    next_token_logits="""
no positions > the positions are missing
-     x = stack(positions(embedding(ids)), mask)
+     x = stack(embedding(ids), mask)
no mask > every place sees what comes later
-     x = stack(positions(embedding(ids)), mask)
+     x = stack(positions(embedding(ids)), None)
the factor of the embedding in the output > used without the factor
-     return x @ embedding.table.weight.T
+     return x @ embedding.table.weight.T * embedding.scale
probabilities instead of scores > these are probabilities
-     return x @ embedding.table.weight.T
+     return (x @ embedding.table.weight.T).softmax(-1)
scores of the last place alone > not the last place alone
-     return x @ embedding.table.weight.T
+     return x[:, -1] @ embedding.table.weight.T
id 0 is taken for PAD > id 0 is a token like any other
-     mask = causal_mask(ids.shape[1], ids.device)
+     mask = causal_mask(ids.shape[1], ids.device) & padding_mask_from_ids(ids, 0)
the row without its factor > read without their factor
-     x = stack(positions(embedding(ids)), mask)
+     x = stack(positions(embedding.table(ids)), mask)
the embedding is added once more at the end
> not the scores of a model that only writes
-     return x @ embedding.table.weight.T
+     return (x + embedding(ids)) @ embedding.table.weight.T
""",
    decode_from_two="""
looks at the PAD of both > a mask must go along with it
-     return model.decode(target, memory, memory_may_attend=mask)
+     return model.decode(target, memory, memory_may_attend=None)
looks at the PAD of the second > the PAD of the second source is seen
-     mask = torch.cat(masks, dim=-1)
+     mask = torch.cat([masks[0], torch.ones_like(masks[1])], dim=-1)
masks in the wrong order > in another order than the memories
-     mask = torch.cat(masks, dim=-1)
+     mask = torch.cat(masks[::-1], dim=-1)
the mean of two answers > the mean of two answers
+ def decode_from_two(model, first, second, target):
+     return (model(first, target) + model(second, target)) / 2
one sentence of both > encoded as one sentence
+ def decode_from_two(model, first, second, target):
+     return model(torch.cat([first, second], dim=1), target)
the first alone > only the first source
-     sources = (first, second)
+     sources = (first,)
adds the two memories > does not look at both memories
+ def decode_from_two(model, first, second, target):
+     longest = max(first.shape[1], second.shape[1])
+     pair = [F.pad(ids, (0, longest - ids.shape[1])) for ids in (first, second)]
+     memory = sum(model.encode(ids) for ids in pair)
+     mask = model.source_mask(pair[0]) | model.source_mask(pair[1])
+     return model.decode(target, memory, memory_may_attend=mask)
""",
)

# Mutants of the solutions that are right too, and why.
SAME_ROWS = "any loss on the logits moves the same rows"
EQUIVALENT = {
    "rows_moved": {
        "(-logits.log_softmax(-1)[..., 2].mean()).backward()": SAME_ROWS,
        "(-logits.log_softmax(-1)[..., 3].sum()).backward()": SAME_ROWS,
        "(-logits.log_softmax(-1)[..., 4].mean()).backward()": SAME_ROWS,
        "(-logits.log_softmax(-1)[...,].mean()).backward()": SAME_ROWS,
        "(logits.log_softmax(-1)[..., 3].mean()).backward()": SAME_ROWS,
        "return (gradient.abs().sum(-1) > 0).sum()": "a tensor without axes is a number",
        "return int((gradient.abs().mean(-1) > 0).sum())": "a mean of sizes is zero where their sum is",
        "unstable 0": "where a gradient is not zero, it is so either way",
    },
    "decode_from_two": {
        "sources = (second, first)": "the rows of a memory have no order",
    },
}
