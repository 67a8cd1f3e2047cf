"""Wrong answers to the exercises of chapter 1, by their misconceptions."""

from . import read

WRONG = read(
    unknown_share="""
counts distinct tokens > a set holds it once
-     ids = vocabulary.encode(text)
+     ids = [vocabulary.ids.get(t, vocabulary.unk_id) for t in set(vocabulary.split(text))]
cuts at the spaces, so that punctuation sticks to its word
> a comma sticks to its word
-     ids = vocabulary.encode(text)
+     ids = [vocabulary.ids.get(t, vocabulary.unk_id) for t in text.split()]
the number, not the share > that is the number of unknown tokens
-     return ids.count(vocabulary.unk_id) / len(ids)
+     return ids.count(vocabulary.unk_id)
the share that is known > that is the share of the known tokens
-     return ids.count(vocabulary.unk_id) / len(ids)
+     return 1 - ids.count(vocabulary.unk_id) / len(ids)
counts BOS and EOS as tokens of the text > BOS and EOS are no tokens
-     ids = vocabulary.encode(text)
+     ids = vocabulary.encode(text, bos=True, eos=True)
finds words by itself, whatever the vocabulary's cut > let it do the cutting
-     ids = vocabulary.encode(text)
+     ids = [vocabulary.ids.get(t, vocabulary.unk_id) for t in split_words(text)]
UNK is the last id > count the ids of the text that are UNK
-     return ids.count(vocabulary.unk_id) / len(ids)
+     return ids.count(len(vocabulary) - 1) / len(ids)
a text has two tokens at least > count the ids of the text that are UNK
-     return ids.count(vocabulary.unk_id) / len(ids)
+     return ids.count(vocabulary.unk_id) / max(len(ids), 2)
""",
    OwnEmbedding="""
a plain tensor, which nothing trains > a plain tensor is none
-         self.table = nn.Parameter(start)
+         self.table = start
the factor is trained too > the factor is a plain number
-         self.table = nn.Parameter(start)
+         self.f = nn.Parameter(start[0])
+         self.table = nn.Parameter(start)
looks up in a detached table > no gradient reaches the table
-         return self.table[ids] * self.scale
+         return self.table.data[ids] * self.scale
forgets the root > but not multiplied by the root
-         return self.table[ids] * self.scale
+         return self.table[ids]
PAD gets no gradient without being asked > no id is special here
-         return self.table[ids] * self.scale
+         return F.embedding(ids, self.table, padding_idx=0) * self.scale
the root twice, in the table and in the look-up > these are not the rows
-         return self.table[ids] * self.scale
+         return self.table[ids] / self.scale
starts at standard deviation 1, as nn.Embedding does
> the numbers of the table are to lie around 0
-         start = torch.randn(vocab_size, d_model) / self.scale
+         start = torch.randn(vocab_size, d_model)
one vector for all words > no two words start alike
-         start = torch.randn(vocab_size, d_model) / self.scale
+         start = (torch.randn(d_model) / self.scale).repeat(vocab_size, 1)
""",
    table_gradient="""
keeps one contribution of an id that occurs twice
> keeps only one of its gradients
-     return one_hot.T @ upstream
+     grad = 0.0 * (one_hot.T @ upstream)
+     grad[ids] += upstream
+     return grad
averages what an id receives > you take the mean of what an id receives
-     return one_hot.T @ upstream
+     return one_hot.T @ upstream / one_hot.sum(0).clamp(1)[:, None]
ignores rows > yours ends at the largest id
-     one_hot = F.one_hot(ids, num_classes=rows).to(upstream.dtype)
+     one_hot = F.one_hot(ids).to(upstream.dtype)
counts uses and ignores upstream > you count how often an id is read
-     return one_hot.T @ upstream
+     return one_hot.T @ torch.ones_like(upstream)
is the gradient of the vectors, not of the table
> yours has one row for each id
-     return one_hot.T @ upstream
+     return upstream
gives PAD's row no gradient > id 0 was read as well
-     return one_hot.T @ upstream
+     return (one_hot * (ids > 0)[:, None]).T @ upstream
divides by the root of the count > is the sum of all gradients
-     return one_hot.T @ upstream
+     return one_hot.T @ upstream / one_hot.sum(0).clamp(1)[:, None].sqrt()
leaves it to autograd > written without autograd
-     return one_hot.T @ upstream
+     table = one_hot[:rows].new_zeros(rows, upstream.shape[1]).requires_grad_()
+     return torch.autograd.grad(table[ids], table, upstream)[0]
""",
    pad_in_front="""
pads at the end > the padding is to stand in front
-         [pad_id] * begin + row
+         row + [pad_id] * begin
PAD is always 0 > the filler is pad_id
-         [pad_id] * begin + row
+         [0] * begin + row
begins are lengths > your columns are the lengths
-     return torch.tensor(rows), begins
+     return torch.tensor(rows), [len(row) for row in sequences]
the column of the last padding > the column of the last PAD
-     return torch.tensor(rows), begins
+     return torch.tensor(rows), [begin - 1 for begin in begins]
shares the padding between both sides
> the last token belongs into the last column
-         [pad_id] * begin + row
+         [pad_id] * (begin // 2) + row + [pad_id] * (begin - begin // 2)
changes the caller's lists > the caller's lists are changed
-     rows = [
-         [pad_id] * begin + row
+     for begin, row in zip(begins, sequences):
+         row[:0] = [pad_id] * begin
+     rows = [
+         row
begins as a tensor > a list of whole numbers
-     return torch.tensor(rows), begins
+     return torch.tensor(rows), torch.tensor(begins)
finds the beginning by the first token > of the first token of an empty list
-     return torch.tensor(rows), begins
+     return torch.tensor(rows), [r.index(row[0]) for r, row in zip(rows, sequences)]
""",
    pretrained_table="""
rows in the order of the download > a token has its own vector if there is one
-     rows = [downloaded.get(token, mean) for token in vocabulary.tokens]
+     rows = [downloaded.get(token, mean) for token in sorted(
+         vocabulary.tokens,
+         key=[*vocabulary.tokens[:4], *downloaded, *sorted(vocabulary.tokens)].index,
+     )]
forgets that the special tokens have rows
> the four special tokens have rows too
-     rows = [downloaded.get(token, mean) for token in vocabulary.tokens]
+     rows = [downloaded.get(token, mean) for token in vocabulary.tokens[4:]]
-     rows[vocabulary.pad_id] = 0
PAD gets the mean > row 0 is PAD's
-     rows[vocabulary.pad_id] = 0
zeros for every token without a vector > so that the model takes it for PAD
-     mean = vectors.mean(dim=0).tolist()
+     mean = vectors.mean(dim=0).mul(0).tolist()
zeros for all special tokens > only PAD is zero
-     rows[vocabulary.pad_id] = 0
+     rows[:4] = 0
the mean of the words that are used, not of all
> it is to be that of all downloaded ones
-     vectors = torch.tensor(list(downloaded.values()), dtype=torch.float32)
+     vectors = torch.tensor([downloaded[t] for t in vocabulary.tokens if t in downloaded], dtype=torch.float32)
one mean over all numbers > and else the mean of all
-     mean = vectors.mean(dim=0).tolist()
+     mean = vectors.mean().expand(len([*downloaded.values()][0])).tolist()
the mean joins the dictionary > the dictionary of the caller is changed
-     rows = [downloaded.get(token, mean) for token in vocabulary.tokens]
+     downloaded['mean'] = mean
+     rows = [downloaded.get(token, mean) for token in vocabulary.tokens]
""",
    merge_commonest="""
merges the first occurrence only > merge every place of the pair
-             i += 2
+             return merged + tokens[i + 2 :]
the last of equally common pairs wins > of two common pairs the first wins
-     pairs = Counter(zip(tokens, tokens[1:], strict=False))
+     pairs = Counter([*zip(tokens, tokens[1:])][::-1])
merges from the right > go from left to right
-     merged, i = [], 0
+     merged, i, tokens = [], 0, tokens[::-1]
-         if tokens[i : i + 2] == [left, right]:
+         if tokens[i : i + 2] == [right, left]:
-     return merged
+     return merged[::-1]
cuts the text into pairs before it counts
> every token has a pair with the next one
-     pairs = Counter(zip(tokens, tokens[1:], strict=False))
+     pairs = Counter([*zip(tokens, tokens[1:])][::2])
leaves out the spaces > a space is a token like any other
-     pairs = Counter(zip(tokens, tokens[1:], strict=False))
+     pairs = Counter(
+         [p for p in zip(tokens, tokens[1:]) if " " not in p] or zip(tokens, tokens[1:])
+     )
counts a pair by its text > which pair of neighbours is the commonest
-     pairs = Counter(zip(tokens, tokens[1:], strict=False))
-     left, right = max(pairs, key=pairs.get)
+     pairs = Counter(zip(tokens, tokens[1:]))
+     texts = Counter("".join(pair) for pair in zip(tokens, tokens[1:]))
+     left, right = max(pairs, key=lambda pair: texts["".join(pair)])
joins the tokens to a text > you return a str
-     return merged
+     return "".join(merged)
changes the list while it reads > the caller's list is changed
-             merged.append(left + right)
-             i += 2
+             tokens[i : i + 2] = [left + right]
+             i += 1
-             merged.append(tokens[i])
-             i += 1
-     return merged
+             i += 1
+     return tokens
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "pad_in_front": {
        "for begin, row in zip(begins, sequences, strict=False)": "there is one beginning a sequence, so the lengths agree",
    },
    "pretrained_table": {
        "rows = torch.tensor(rows)": "a mean among the rows makes all of them floats",
    },
}
