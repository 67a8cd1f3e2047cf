"""Wrong answers to the exercises of chapter 14, each by its misconception."""

from . import read

WRONG = read(
    append_and_attend="""
a triangle that begins at the top left > begins at the top left
-     may_attend = may_attend.tril(diagonal=old)
+     may_attend = may_attend.tril()
no mask: new rows see later ones > a new row sees a later one
-     may_attend = may_attend.tril(diagonal=old)
+     may_attend = may_attend
a row does not see itself > a row does not see itself
-     may_attend = may_attend.tril(diagonal=old)
+     may_attend = may_attend.tril(diagonal=old - 1)
puts the new rows in front of the old > stand before the old ones
-     keys = torch.cat([keys, x @ W_k])
-     values = torch.cat([values, x @ W_v])
+     keys = torch.cat([x @ W_k, keys])
+     values = torch.cat([x @ W_v, values])
-     may_attend = may_attend.tril(diagonal=old)
+     may_attend = may_attend.tril() | (torch.arange(old + new) >= new)
remembers the new rows only > only what is new comes back
-     return attention(x @ W_q, keys, values, may_attend), keys, values
+     return attention(x @ W_q, keys, values, may_attend), keys[old:], values[old:]
returns the context only > three tensors are asked for
-     return attention(x @ W_q, keys, values, may_attend), keys, values
+     return attention(x @ W_q, keys, values, may_attend)
divides by the width of the values > by which width the scores are divided
-     return attention(x @ W_q, keys, values, may_attend), keys, values
+     return attention(x @ W_q * (keys.shape[-1] / values.shape[-1]) ** 0.5, keys, values, may_attend), keys, values
lets exponentials overflow > times as large
-     return attention(x @ W_q, keys, values, may_attend), keys, values
+     return (e := (x @ W_q @ keys.mT / keys.shape[-1] ** 0.5).exp() * may_attend) @ values / e.sum(-1, keepdim=True), keys, values
""",
    write_and_drop="""
never drops a row > rows that have ended go on
+ def write_and_drop(model, source, limit):
+     texts = greedy(model, source, limit).tolist()
+     pad = model.config.pad_id
+     return [[token for token in text if token != pad] for text in texts]
one text after the other, with a decoder each > written together
+ def write_and_drop(model, source, limit):
+     return [greedy(model, row[None], limit)[0].tolist() for row in source]
forgets who is who > still belong together
-         for row, token in zip(who.tolist(), tokens.tolist(), strict=True):
+         for row, token in zip(range(len(who)), tokens.tolist(), strict=True):
drops the rows but goes on with the first tokens > still belong together
-         who, tokens = who[going], tokens[going]
+         who, tokens = who[going], tokens[: len(going)]
stops all rows with the first that ends > all texts stop with the first
-         if len(going) == 0:
+         if len(going) < len(source):
the shortest text first > not in the order of their sources
-     return texts
+     return sorted(texts, key=len)
leaves the PAD in > filled up with PAD
+ def write_and_drop(model, source, limit):
+     return greedy(model, source, limit).tolist()
goes on when nobody is left > all texts are to be written together
-         if len(going) == 0:
+         if False:
""",
    rewind="""
resets the decoder's count only > still remember
-         past.length = length
+         pass
resets the pasts only > the decoder counts, too
-     decoder.length = length
resets the first block only > a past of its own
-     for _, past, _ in decoder.layers:
+     for _, past, _ in decoder.layers[:1]:
throws the buffers away > the buffers are thrown away
-         past.length = length
+         past.length, past.buffer = length, None
copies what stays > copied to another place
-         past.length = length
+         past.length, past.buffer = length, past.buffer[:, :, :, :length].clone()
clears what is forgotten > takes their place anyway
-         past.length = length
+         past.length = length; past.buffer[:, :, :, length:] = 0
goes back by `length` tokens > not how many go
-     decoder.length = length
+     decoder.length -= length
-         past.length = length
+         past.length -= length
forgets the source as well > the keys of the source change
-     for _, past, _ in decoder.layers:
-         past.length = length
+     for _, past, across in decoder.layers:
+         past.length, across.k, across.v = length, across.k[:, :, :length], across.v[:, :, :length]
""",
    accepted="""
counts right tokens after a wrong one, too > after the first wrong one
-     return agree.long().cumprod(dim=1).sum().item()
+     return agree.long().sum().item()
writes itself, token by token, and compares > one call scores all
+ def accepted(model, source, guess):
+     own = greedy(model, source, len(guess))[0].tolist()
+     right = 0
+     for mine, guessed in zip(own, guess):
+         if mine != guessed:
+             break
+         right += 1
+     return right
hands over the guess without BOS > yours is compared with one that it has read
-     logits = decoder_for(model, source)(torch.cat([bos, ids[:, :-1]], dim=1))
+     logits = decoder_for(model, source)(ids)
all or nothing > counts for nothing if one
-     return agree.long().cumprod(dim=1).sum().item()
+     return agree.all().mul(len(guess)).item()
the place of the first wrong token, also where there is none
> gets 0: all of its tokens
-     return agree.long().cumprod(dim=1).sum().item()
+     return (~agree).int().argmax().item()
lets PAD and BOS win > PAD or BOS wins
-     logits[..., [config.pad_id, config.bos_id]] = -math.inf
+     logits[..., []] = -math.inf
one token more, that the model adds itself > before the first that differs
-     return agree.long().cumprod(dim=1).sum().item()
+     return agree.long().cumprod(dim=1).sum().item() + 1
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "write_and_drop": {
        "for row, token in zip(who, tokens.tolist(), strict=True):": "a tensor with one number is an index, too",
        "for row, token in zip(who.tolist(), tokens, strict=True):": "a tensor without axes is a number",
        "for row, token in zip(who.tolist(), tokens.tolist(), strict=False):": "both lists have the same length",
    },
    "accepted": {
        "logits[..., [config.bos_id, config.pad_id]] = -math.inf": "the same two columns in another order",
        "return agree.cumprod(dim=1).sum().item()": "torch multiplies booleans as 0 and 1",
        "return agree.long().cumprod(dim=1).sum()": "a tensor without axes is a number",
    },
}
