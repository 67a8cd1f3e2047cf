"""Generated faults that change nothing a reader or a test could see.

The key is the module and the fault's name as the report prints it; the value
says why the changed program is the same. An entry that is no longer generated,
or that is noticed after all, is an error.
"""

IN_TUPLE = "`in` finds an id wherever it stands in the tuple"
SILENT = (
    "Vocabulary.decode: silent = (self.pad_id, self.bos_id, self.eos_id)  ->  "
    "silent = "
)
SUM = "a sum does not depend on the order"
AXES = "to exchange two axes is the same both ways"
ON_CPU = "the inputs of a test without a GPU are on the CPU"
TWO_AXES = "logits have two axes here, so that 1 is the last"
FUSED = "a fused optimiser takes the same steps, faster"
PAIRED = "the average is a copy of the model: as many parameters"
ADAM = "model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True"
BOTH = "self.average.parameters(), self.model.parameters(), strict=True"
DUE = "due = asked or number + 1 == steps or (number + 1) % every == 0"
DONE = "done = (step - warmup) / (steps - warmup)"
COSINE = "return peak * (1 + math.cos(math.pi * done)) / 2"
TRAINING = (
    (
        "warmup_rate",
        "return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)",
        "return d_model**-0.5 * min(step * warmup ** (-1.5), step ** (-0.5))",
        "the smaller of two is the same in either order",
    ),
    (
        "cosine_rate",
        "if step <= warmup:",
        "if (step < warmup):",
        "at the peak both formulas give the peak",
    ),
    (
        "cosine_rate",
        DONE,
        DONE.replace("(step - warmup)", "((warmup - step))"),
        "the cosine is the same on both sides of 0",
    ),
    (
        "cosine_rate",
        DONE,
        DONE.replace("(steps - warmup)", "((warmup - steps))"),
        "the cosine is the same on both sides of 0",
    ),
    (
        "cosine_rate",
        COSINE,
        COSINE.replace(
            "(1 + math.cos(math.pi * done))",
            "((math.cos(math.pi * done) + 1))",
        ),
        SUM,
    ),
    (
        "Recipe.numbers",
        'return asdict(self) | {"rate": self.rate(max(step, 1))}',
        'return asdict(self) | {"rate": self.rate(max(1, step))}',
        "the larger of two is the same in either order",
    ),
    (
        "Trainer.__init__",
        f"self.optimiser = torch.optim.Adam( {ADAM} )",
        "self.optimiser = torch.optim.Adam(model.parameters(), "
        "betas=(0.9, 0.98), eps=1e-09)",
        FUSED,
    ),
    (
        "Trainer.__init__",
        ADAM,
        ADAM.replace("True", "False"),
        FUSED,
    ),
    (
        "Trainer.step",
        "recipe, number = self.recipe, len(self.losses) + 1",
        "recipe, number = self.recipe, (1 + len(self.losses))",
        SUM,
    ),
    ("Trainer.step", "batch = batch.to(device)", "batch = batch", ON_CPU),
    (
        "train",
        DUE,
        DUE.replace("number + 1 ==", "(1 + number) =="),
        SUM,
    ),
    (
        "train",
        DUE,
        DUE.replace("(number + 1) %", "((1 + number)) %"),
        SUM,
    ),
    (
        "exact_match",
        "source, decoder_input, target = batch.to(device)",
        "source, decoder_input, target = batch",
        ON_CPU,
    ),
    (
        "exact_match",
        "right += fits.all(-1).sum().item()",
        "right += fits.all(1).sum().item()",
        "targets have two axes, so that 1 is the last",
    ),
    (
        "Trainer.update_average",
        f"pairs = zip( {BOTH} )",
        "pairs = zip(self.average.parameters(), self.model.parameters())",
        PAIRED,
    ),
    (
        "Trainer.update_average",
        BOTH,
        BOTH.replace("True", "False"),
        PAIRED,
    ),
)
DECODERS = (
    (
        "WholeDecoder.__init__",
        "self.ids = torch.empty( len(memory), 0, dtype=torch.int64, "
        "device=memory.device )",
        "self.ids = torch.empty(len(memory), 0, dtype=torch.int64)",
        ON_CPU,
    ),
    (
        "WholeDecoder.__init__",
        "len(memory), 0, dtype=torch.int64, device=memory.device",
        "len(memory), 0, dtype=torch.int32, device=memory.device",
        "ids that are put behind no ids keep their dtype",
    ),
    *(
        (
            "module",
            "StepDecoder = IncrementalDecoder | WholeDecoder",
            f"StepDecoder = {name}",
            "the name stands in annotations only",
        )
        for name in ("IncrementalDecoder", "WholeDecoder")
    ),
)
DECODING = (
    (
        "next_logits",
        "logits = decoder(tokens[:, None])[:, -1]",
        "logits = decoder(tokens[:, None])[:, -0]",
        "there is one position",
    ),
    (
        "next_logits",
        "logits[:, [config.pad_id, config.bos_id]] = -math.inf",
        "logits[:, [config.bos_id, config.pad_id]] = -math.inf",
        "both get the same",
    ),
    (
        "write_tokens",
        "ended = tokens == config.eos_id",
        "ended = tokens == config.pad_id",
        "the first tokens are BOS, which is neither",
    ),
    (
        "greedy",
        "model, source, lambda x: x.argmax(-1), limit, cached, beginning",
        "model, source, lambda x: x.argmax(1), limit, cached, beginning",
        TWO_AXES,
    ),
    (
        "filtered",
        "best, order = logits.sort(dim=-1, descending=True, stable=True)",
        "best, order = logits.sort(descending=True, stable=True)",
        "the last axis is the default",
    ),
    (
        "filtered",
        "p = best.cpu().double().softmax(-1) # CUDA sums in no fixed order",
        "p = best.double().softmax(-1) # CUDA sums in no fixed order",
        ON_CPU,
    ),
    (
        "filtered",
        "best = best.masked_fill(beyond.to(best.device), -math.inf)",
        "best = best.masked_fill(beyond, -math.inf)",
        ON_CPU,
    ),
    (
        "filtered",
        "return torch.empty_like(logits).scatter_(-1, order, best)",
        "return logits.scatter_(-1, order, best)",
        "the logits are a new tensor, and every entry is written",
    ),
    (
        "sample.draw",
        "p = filtered(logits.cpu().double(), **filters).softmax(-1)",
        "p = filtered(logits.double(), **filters).softmax(-1)",
        ON_CPU,
    ),
    (
        "sample.draw",
        "p = filtered(logits.cpu().double(), **filters).softmax(-1)",
        "p = filtered(logits.cpu().double(), **filters).softmax(1)",
        TWO_AXES,
    ),
    (
        "sample.draw",
        "return (p / noise).argmax(-1).to(logits.device)",
        "return (p / noise).argmax(-1)",
        ON_CPU,
    ),
    (
        "sample.draw",
        "return (p / noise).argmax(-1).to(logits.device)",
        "return (p / noise).argmax(1).to(logits.device)",
        TWO_AXES,
    ),
)
SIZES = 'sizes = ("d_model", "heads", "d_ff")'
CHOICES = 'choices = ("dropout", "norm_first", "activation")'
PAIRS = "return {name: getattr(self, name) for name in "
IN_BLOCK = (
    (SIZES, "sizes = ('heads', 'd_model', 'd_ff')"),
    (SIZES, "sizes = ('d_model', 'd_ff', 'heads')"),
    (CHOICES, "choices = ('norm_first', 'dropout', 'activation')"),
    (CHOICES, "choices = ('dropout', 'activation', 'norm_first')"),
    (f"{PAIRS}sizes + choices}}", f"{PAIRS}(choices + sizes)}}"),
)
EQUIVALENT = {
    ("text", SILENT + "(self.bos_id, self.pad_id, self.eos_id)"): IN_TUPLE,
    ("text", SILENT + "(self.pad_id, self.eos_id, self.bos_id)"): IN_TUPLE,
    (
        "softmax",
        "softmax: wide = x.to(torch.promote_types(x.dtype, torch.float32))  "
        "->  wide = x.to(torch.promote_types(torch.float32, x.dtype))",
    ): "promote_types is symmetric",
    (
        "masks",
        "padding_mask: position = torch.arange(max_length, "
        "device=lengths.device)  ->  position = torch.arange(max_length)",
    ): "the lengths of a test without a GPU are on the CPU",
    (
        "masks",
        "causal_mask: may_attend = position[None, :] <= position[:, None]"
        "  ->  may_attend = position[(None,)] <= position[:, None]",
    ): "the axes that an index leaves out stay as they are",
    (
        "masks",
        "causal_mask: may_attend &= position[None, :] > position[:, None] - "
        "window  ->  may_attend &= position[(None,)] > position[:, None] - "
        "window",
    ): "the axes that an index leaves out stay as they are",
    (
        "training",
        "label_smoothed_loss: index = target.masked_fill(~real, 0)"
        ".unsqueeze(-1)  ->  index = target.masked_fill(~real, 1)"
        ".unsqueeze(-1)",
    ): "any id will do where nothing counts",
    (
        "positions",
        "sinusoidal_positions: position = torch.arange(length, "
        "dtype=torch.float64)  ->  position = torch.arange(length)",
    ): "whole numbers become float64 in the next line's product",
    **{
        ("positions", f"{name}.forward: {line}"): SUM
        for name in ("PositionalEncoding", "LearnedPositions")
        for line in (
            "rows = self.table[offset : offset + x.shape[-2]]  ->  "
            "rows = self.table[offset : (x.shape[-2] + offset)]",
            "return self.dropout(x + rows.to(x.dtype))  ->  "
            "return self.dropout((rows.to(x.dtype) + x))",
        )
    },
    (
        "positions",
        "rotary: last = offset + length  ->  last = (length + offset)",
    ): SUM,
    (
        "heads",
        "split_heads: return parts.transpose(1, 2)  ->  "
        "return parts.transpose(2, 1)",
    ): AXES,
    (
        "heads",
        "merge_heads: return x.transpose(1, 2).flatten(2)  ->  "
        "return x.transpose(2, 1).flatten(2)",
    ): AXES,
    **{
        (
            "cache",
            f"PastAttention.__call__: if x.shape[1] > 1:  ->  if {condition}:",
        ): "for one new position the mask hides nothing"
        for condition in (
            "(x.shape[1] >= 1)",
            "x.shape[1] > 0",
            "x.shape[2] > 1",
        )
    },
    (
        "cache",
        "PastAttention.__call__: may_attend = causal_mask(self.length, "
        "x.device)  ->  may_attend = causal_mask(self.length)",
    ): ON_CPU,
    (
        "cache",
        "PastAttention.append: start, end = self.length, self.length + "
        "k.shape[2]  ->  start, end = self.length, (k.shape[2] + self.length)",
    ): SUM,
    (
        "cache",
        "IncrementalDecoder.__call__: model, rows = self.model, "
        "len(self.layers[0][2].k)  ->  model, rows = self.model, "
        "len(self.layers[(-1)][2].k)",
    ): "every layer reads the same memory",
    **{
        ("decoders", f"{place}: {before}  ->  {after}"): why
        for place, before, after, why in DECODERS
    },
    **{
        ("decoding", f"{place}: {before}  ->  {after}"): why
        for place, before, after, why in DECODING
    },
    (
        "dates",
        "splits: total = (LAST - FIRST).days + 1  ->  total = (1 + (LAST - "
        "FIRST).days)",
    ): SUM,
    (
        "dates",
        "splits: days = [FIRST + timedelta(i) for i in range(total)]  ->  "
        "days = [(timedelta(i) + FIRST) for i in range(total)]",
    ): SUM,
    (
        "dates",
        "stretches: return [items[i : i + size] for i in range(0, len(items), "
        "size)]  ->  return [items[i : (size + i)] for i in range(0, "
        "len(items), size)]",
    ): SUM,
    **{
        (
            "dates",
            "ordinal: teens = number % 100 in (11, 12, 13)  ->  teens = "
            f"number % 100 in {order}",
        ): "`in` finds a number wherever it stands in the tuple"
        for order in ("(12, 11, 13)", "(11, 13, 12)")
    },
    **{
        ("training", f"{place}: {before}  ->  {after}"): why
        for place, before, after, why in TRAINING
    },
    (
        "transformer",
        "Transformer.target_mask: return padding & causal_mask("
        "target.shape[1], target.device)  ->  return padding & "
        "causal_mask(target.shape[1])",
    ): ON_CPU,
    **{
        ("transformer", f"TransformerConfig.block: {before}  ->  {after}"): (
            "blocks take them by name"
        )
        for before, after in IN_BLOCK
    },
}
