"""Wrong answers to the exercises of chapter 9, by misconception."""

from . import read

WRONG = read(
    log_probability="""
leaves EOS out > EOS is missing
-     return log_p[range(len(target)), target].sum().item()
+     return log_p[range(len(target)), target][:-1].sum().item()
does not shift: each position says what it reads
> each position is asked for what it reads
-     given = torch.tensor([[characters.bos_id, *text]], device=device)
-     target = [*text, characters.eos_id]
+     given = torch.tensor([[characters.bos_id, *text, characters.eos_id]], device=device)
+     target = [characters.bos_id, *text, characters.eos_id]
takes the logarithm afterwards > so small that it is 0 as a number
-     log_p = logits.log_softmax(-1)
+     log_p = logits.softmax(-1).log()
forgets the causal mask > your positions see what comes after them
-         logits = book(asked, given, mask, None)[0]
+         logits = book(asked, given, None, None)[0]
adds logits, which are no logarithms of probabilities
> logits are no logarithms
-     log_p = logits.log_softmax(-1)
+     log_p = logits
BOS is not read > write the three rows of ids
-     given = torch.tensor([[characters.bos_id, *text]], device=device)
+     given = torch.tensor([[*text, characters.eos_id]], device=device)
puts EOS behind the text that it is given > your code changes its input text
-     target = [*text, characters.eos_id]
+     target = text
+     text.append(characters.eos_id)
one run for each character > one pass gives all factors
+ def log_probability(book, source, text):
+     asked = torch.tensor([source], device=device)
+     said, total = [characters.bos_id], 0.0
+     for token in [*text, characters.eos_id]:
+         given = torch.tensor([said], device=device)
+         logits = book(asked, given, None, None)[0, -1]
+         total += logits.log_softmax(-1)[token].item()
+         said.append(token)
+     return total
""",
    wait_mask="""
one word too many > one word too many
-     heard = torch.arange(s_len, device=device) < now + k
+     heard = torch.arange(s_len, device=device) <= now + k
the first character waits for nothing > one word too few
-     heard = torch.arange(s_len, device=device) < now + k
+     heard = torch.arange(s_len, device=device) < now + k - 1
hears k words and no more > stops listening after k words
-     heard = torch.arange(s_len, device=device) < now + k
+     heard = torch.arange(s_len, device=device) < 0 * now + k
True = hidden > hides the words that were heard
-     return heard[None, None]
+     return ~heard[None, None]
queries and keys exchanged > queries are the rows
-     return heard[None, None]
+     return heard.T[None, None]
listens to every second word > how many words has each character heard
-     heard = torch.arange(s_len, device=device) < now + k
+     heard = torch.arange(s_len, device=device) < 2 * now + k
the k of the task > right at first, but not
-     heard = torch.arange(s_len, device=device) < now + k
+     heard = torch.arange(s_len, device=device) < now + 3
the sizes of the task > right at first, but not
-     heard = torch.arange(s_len, device=device) < now + k
+     heard = torch.arange(8, device=device) < now + k
""",
    finds_wrong_decoder="""
returns False instead of raising > finds 0 of 24 wrong ones
-             assert torch.equal(moved, should)
+             if not torch.equal(moved, should): return False
asks for exact equality > refuses a right one, that rounds a little differently
-             moved = (run(other) - before).norm(dim=-1) > 1e-4
+             moved = (run(other) - before).norm(dim=-1) > 0
forgets that dropout draws anew
> refuses a right one, that drops numbers in training
-         torch.manual_seed(0)
adds 1, which a norm takes away
> lets pass forgets the causal mask, and norms first
-             other[which, sentence, row] = torch.randn(width)
+             other[which, sentence, row] += 1
-             assert torch.equal(moved, should)
+             assert not (moved & ~should).any()
tests in evaluation mode only > lets pass looks ahead in training only
-     for mode in (True, False):
+     for mode in (False,):
looks for leaks only > lets pass hides the past as well
-             assert torch.equal(moved, should)
+             assert not (moved & ~should).any()
changes the first sentence only > lets pass reads the PAD of the memory
-         for which, sentence, row in torch.ones(2, 2, 8).nonzero().tolist():
+         for which, sentence, row in torch.ones(2, 1, 8).nonzero().tolist():
changes vectors of x only > lets pass never looks at the memory
-         for which, sentence, row in torch.ones(2, 2, 8).nonzero().tolist():
+         for which, sentence, row in torch.ones(1, 2, 8).nonzero().tolist():
""",
    look_across="""
forgets the bias of the queries > the bias of the queries is missing
-     q = split_heads(F.linear(query, W_q, bias), attention.heads)
+     q = split_heads(F.linear(query, W_q), attention.heads)
forgets the output projection > nothing has mixed them yet
-     return attention.out_proj(merge_heads(context))
+     return merge_heads(context)
forgets the mask > the mask is not used
-     context = attention_weights(q, k, may_attend) @ v
+     context = attention_weights(q, k) @ v
takes the mask of the first query for all > a row for each query
-     context = attention_weights(q, k, may_attend) @ v
+     context = attention_weights(q, k, may_attend if may_attend is None else may_attend[:, :, :1]) @ v
merges without bringing the heads back > merged in a wrong order
-     return attention.out_proj(merge_heads(context))
+     return attention.out_proj(context.reshape(query.shape))
the last matrix without its bias > is not that of the whole attention
-     return attention.out_proj(merge_heads(context))
+     return merge_heads(context) @ attention.out_proj.weight.T
asks with the vectors themselves > the queries are not projected
-     q = split_heads(F.linear(query, W_q, bias), attention.heads)
+     q = split_heads(query, attention.heads)
projects the queries three times > written without project
+ def look_across(attention, query, k, v, may_attend=None):
+     q, _, _ = attention.project(query, query, query)
+     context = attention_weights(q, k, may_attend) @ v
+     return attention.out_proj(merge_heads(context))
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "log_probability": {
        "logits = book(asked, given, mask, None)[-1]": "the first of one is the last of one",
        "return log_p[range(len(target)), target].sum()": "a tensor without axes is a number",
    },
    "finds_wrong_decoder": {
        "assert torch.equal(should, moved)": "equal is equal both ways",
        "for mode in (False, True):": "both modes are tried, in any order",
        "for which, sentence, row in torch.ones(2, 2, 8).nonzero():": "a tensor of one number is an index as well",
        "moved = ((before - run(other))).norm(dim=-1) > 1e-4": "a difference has the same size both ways",
        "moved = ((run(other) - before).norm(dim=-1) >= 0.0001)": "nothing moves by exactly this much",
        "other[which, sentence, row] = width": "a vector of equal numbers is another vector as well",
        "torch.manual_seed(-1)": "one seed is as good as another",
        "torch.manual_seed(1)": "one seed is as good as another",
        "words = torch.tensor([[3], [8]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[7], [3]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[8], [2]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[8], [4]], device=device) # the rest is PAD": "other lengths show as much",
        "words = torch.tensor([[9], [3]], device=device) # the rest is PAD": "other lengths show as much",
    },
}
