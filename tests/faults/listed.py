"""Faults that people write, one line each. Add yours.

`old` must occur exactly once in the module.
"""

from tests.faults.fault import Fault

LISTED = [
    # Chapter 1: text
    Fault(
        "text",
        "pad_id, bos_id, eos_id, unk_id = range(4)",
        "bos_id, eos_id, pad_id, unk_id = range(4)",
        "the ids of the special tokens are taken in another order",
    ),
    Fault(
        "text",
        "[*SPECIALS, *sorted(ordinary)]",
        "[*sorted(ordinary), *SPECIALS]",
        "the special tokens come last",
    ),
    Fault(
        "text",
        "*sorted(ordinary)]",
        "*reversed(sorted(ordinary))]",
        "the vocabulary is not in sorted order",
    ),
    Fault(
        "text",
        "self.ids.get(token, self.unk_id)",
        "self.ids.get(token, self.eos_id)",
        "an unknown word ends the sentence",
    ),
    Fault(
        "text",
        "for token in self.split(text)]\n",
        "for token in self.split(text) if token in self.ids]\n",
        "unknown words are left out",
    ),
    Fault(
        "text",
        "[self.bos_id] * bos + ids + [self.eos_id] * eos",
        "[self.eos_id] * bos + ids + [self.bos_id] * eos",
        "BOS and EOS are swapped",
    ),
    Fault(
        "text",
        "silent = (self.pad_id, self.bos_id, self.eos_id)",
        "silent = (self.bos_id, self.eos_id)",
        "decode keeps PAD",
    ),
    Fault(
        "text",
        "silent = (self.pad_id, self.bos_id, self.eos_id)",
        "silent = range(4)",
        "decode hides UNK",
    ),
    Fault(
        "text",
        "ids + [pad_id] * (longest - len(ids))",
        "[pad_id] * (longest - len(ids)) + ids",
        "padding in front",
    ),
    Fault(
        "text",
        "pad_id: int = Vocabulary.pad_id",
        "pad_id: int = Vocabulary.unk_id",
        "pad_batch fills up with another id by default",
    ),
    Fault(
        "text",
        "ids + [pad_id] *",
        "ids + [Vocabulary.pad_id] *",
        "pad_batch ignores its pad_id",
    ),
    Fault(
        "text",
        "max(len(ids) for ids in rows)",
        "min(len(ids) for ids in rows)",
        "rows are filled up to the shortest",
    ),
    Fault(
        "text",
        r"\w+(?:['’]\w+)*|[^\w\s]",
        r"\w+(?:['’]\w+)*",
        "punctuation is dropped",
    ),
    Fault(
        "text",
        r"\w+(?:['’]\w+)*|[^\w\s]",
        r"\w+|[^\w\s]",
        "an apostrophe splits its word",
    ),
    Fault(
        "text",
        "split(text)], split, join)",
        "split(text.lower())], split, join)",
        "the case of words is dropped",
    ),  # fmt: skip
    # Chapter 1: embedding
    Fault(
        "embedding",
        "self.table(ids) * self.scale",
        "self.table(ids)",
        "sqrt(d_model) is forgotten",
    ),
    Fault(
        "embedding",
        "self.table(ids) * self.scale",
        "self.table(ids) / self.scale",
        "divided by sqrt(d_model)",
    ),
    Fault(
        "embedding",
        "self.scale = math.sqrt(d_model)",
        "self.scale = d_model",
        "scaled by d_model, not by its root",
    ),
    Fault(
        "embedding",
        "std=1 / self.scale",
        "std=1",
        "the table starts with standard deviation 1",
    ),
    Fault(
        "embedding",
        "nn.init.zeros_(self.table.weight[pad_id])",
        "pass",
        "the row of PAD is not zero",
    ),
    Fault(
        "embedding",
        "nn.Embedding(vocab_size, d_model, pad_id)",
        "nn.Embedding(vocab_size, d_model)",
        "the row of PAD gets a gradient",
    ),
    Fault(
        "embedding",
        "if pad_id is not None:",
        "if pad_id:",
        "PAD with id 0 is taken for no PAD",
    ),
    # Chapter 2: softmax
    Fault(
        "softmax",
        "exp.sum(dim, keepdim=True)",
        "exp.sum(0, keepdim=True)",
        "softmax over the wrong axis",
    ),
    Fault(
        "softmax",
        "dim: int = -1",
        "dim: int = 0",
        "the first axis is the default",
    ),
    Fault(
        "softmax",
        "wide - wide.amax(dim, keepdim=True)",
        "wide",
        "the maximum is not subtracted",
    ),
    Fault(
        "softmax",
        "wide.amax(dim, keepdim=True)",
        "wide.max()",
        "the maximum of all is subtracted, not that of the slice",
    ),
    Fault(
        "softmax",
        "wide.amax(dim, keepdim=True)",
        "wide.mean(dim, keepdim=True)",
        "the mean is subtracted",
    ),
    Fault(
        "softmax",
        "x.to(torch.promote_types(x.dtype, torch.float32))",
        "x",
        "half precision is not computed in float32",
    ),
    Fault(
        "softmax",
        "x.to(torch.promote_types(x.dtype, torch.float32))",
        "x.float()",
        "float64 is computed in float32",
    ),
    Fault(
        "softmax",
        "keepdim=True)).to(x.dtype)",
        "keepdim=True))",
        "half precision comes back as float32",
    ),
    # Chapter 3: attention
    Fault(
        "attention",
        "einsum(q, k, pattern) / math.sqrt(q.shape[-1])",
        "einsum(q, k, pattern)",
        "the scale is missing",
    ),
    Fault(
        "attention",
        "math.sqrt(q.shape[-1])",
        "q.shape[-1]",
        "divided by d, not by its root",
    ),
    Fault(
        "attention",
        "math.sqrt(q.shape[-1])",
        "math.sqrt(q.shape[-2])",
        "scaled by the number of queries, not by their width",
    ),
    Fault(
        "attention",
        "scores = einsum(q, k, pattern)",
        "scores = einsum(k, q, pattern)",
        "queries and keys are swapped",
    ),
    Fault(
        "attention",
        "-> ... q_len k_len",
        "-> ... k_len q_len",
        "the scores are transposed",
    ),
    Fault(
        "attention",
        "        return softmax(scores)\n",
        "        return softmax(scores, -2)\n",
        "softmax over the queries",
    ),
    Fault(
        "attention",
        "softmax(scores).masked_fill(idle, 0.0)",
        "softmax(scores, -2).masked_fill(idle, 0.0)",
        "softmax over the queries, with a mask",
    ),
    Fault(
        "attention",
        "~(may_attend | idle)",
        "(may_attend | idle)",
        "the mask is inverted",
    ),
    Fault(
        "attention",
        "~(may_attend | idle), -math.inf",
        "~(may_attend | idle), -1e9",
        "the fill is a finite number",
    ),
    Fault(
        "attention",
        "~(may_attend | idle), -math.inf",
        "~(may_attend | idle), 0.0",
        "masked scores are set to zero",
    ),
    Fault(
        "attention",
        "softmax(scores).masked_fill(idle, 0.0)",
        "softmax(scores)",
        "a row that may attend to nothing attends to everything",
    ),
    Fault(
        "attention",
        "~(may_attend | idle)",
        "~may_attend",
        "a row that may attend to nothing passes through NaN",
    ),
    Fault(
        "attention",
        "scores = scores.masked_fill(~(may_attend | idle), -math.inf)\n"
        "    return softmax(scores).masked_fill(idle, 0.0)",
        "return softmax(scores).masked_fill(~may_attend, 0.0)",
        "the mask comes after the softmax",
    ),
    Fault(
        "attention",
        "attention_weights(q, k, may_attend)",
        "attention_weights(q, k)",
        "the mask is not passed on",
    ),
    Fault(
        "attention",
        "F.dropout(weights, dropout)",
        "weights",
        "no weight is dropped",
    ),
    Fault(
        "attention",
        "F.dropout(weights, dropout)",
        "F.dropout(weights, 0.1)",
        "weights are always dropped",
    ),
    Fault(
        "attention",
        "F.dropout(weights, dropout)",
        "F.dropout(weights, dropout) * (1 - dropout)",
        "the weights that stay are not divided by 1 - dropout",
    ),
    Fault(
        "attention",
        "return einsum(weights, v, pattern)",
        "return einsum(weights.mT.contiguous().view_as(weights), v, pattern)",
        "the weights are transposed before they meet the values",
    ),
]
