"""Wrong answers to the exercises of chapter 20, by misconception."""

from . import read

WRONG = read(
    too_good="""
at the entropy or below > a loss of 0 is honest
-     return loss < random / places * math.log(symbols)
+     return loss <= random / places * math.log(symbols)
averages over texts, not over places > average over places, not over texts
-     places = sum(places for places, _ in texts)
-     random = sum(random for _, random in texts)
-     return loss < random / places * math.log(symbols)
+     shares = [r / p for p, r in texts]
+     return loss < sum(shares) / len(shares) * math.log(symbols)
counts in bits > your line in bits
-     return loss < random / places * math.log(symbols)
+     return loss < random / places * math.log2(symbols)
takes all places to be random > not every place is random
-     return loss < random / places * math.log(symbols)
+     return loss < math.log(symbols)
divides by the places that are known > not over the known ones
-     return loss < random / places * math.log(symbols)
+     return loss < random / max(places - random, 1) * math.log(symbols)
says whether the loss is possible > too good is what lies below
-     return loss < random / places * math.log(symbols)
+     return loss >= random / places * math.log(symbols)
the end of sentence counts as a place > nothing at a known one
-     return loss < random / places * math.log(symbols)
+     return loss < random / (places + 1) * math.log(symbols)
looks at the first text only > you look at the first text only
-     places = sum(places for places, _ in texts)
-     random = sum(random for _, random in texts)
+     places = sum(places for places, _ in texts[:1])
+     random = sum(random for _, random in texts[:1])
""",
    takes_from="""
the library is asked > written without influence
+ def takes_from(attend, x, may_attend):
+     return influence(attend, x, may_attend, loud=1e4) > 0.01
calls every change hearing > only counts in the sum
-     length = x.shape[1]
+     length, before = x.shape[1], attend(x, may_attend)
-             out = attend(shouting, may_attend)[0]
-             found[:, j] |= out.abs().amax(-1) > 20 * x.abs().max()
+             out = (attend(shouting, may_attend) - before)[0]
+             found[:, j] |= out.abs().amax(-1) > 1e-6 * x.abs().max()
has the table the other way round > yours are exchanged
-             found[:, j] |= out.abs().amax(-1) > 20 * x.abs().max()
+             found[j] |= out.abs().amax(-1) > 20 * x.abs().max()
shouts with one sign only > with either sign
-         for loud in (1e4, -1e4):
+         for loud in (1e4,):
a fixed limit for what is loud > what is loud beside them
-             found[:, j] |= out.abs().amax(-1) > 20 * x.abs().max()
+             found[:, j] |= out.abs().amax(-1) > 100
shouts into the input itself > changes its input x
-             shouting = x.clone()
+             shouting = x
gives back the mask that was asked for > whether the attention follows it
-     return found
+     return may_attend[0]
says who does not hear > says who does not hear
-     return found
+     return ~found
""",
    padding_gap="""
alone, the missing rows are zeros > rows of PAD do not count
-         alone = attend(x[[n], :length], shown)
-         gaps.append((together[[n], :length] - alone).abs().max().item())
+         alone = torch.zeros_like(x[[n]])
+         alone[:, :length] = attend(x[[n], :length], shown)
+         gaps.append((together[[n]] - alone).abs().max().item())
the sum of all differences > the gap is the largest difference
-         gaps.append((together[[n], :length] - alone).abs().max().item())
-     return max(gaps)
+         gaps.append((together[[n], :length] - alone).abs().sum().item())
+     return sum(gaps)
lets the padding stand when a sentence is alone > alone, without their padding
-         shown = torch.ones(1, 1, length, dtype=torch.bool)
-         alone = attend(x[[n], :length], shown)
-         gaps.append((together[[n], :length] - alone).abs().max().item())
+         shown = torch.ones(1, 1, x.shape[1], dtype=torch.bool)
+         alone = attend(x[[n]], shown)
+         gaps.append((together[[n], :length] - alone[:, :length]).abs().max().item())
looks at the last sentence only > ask every sentence
-     return max(gaps)
+     return gaps[-1]
takes the largest difference with its sign > downwards counts as much
-         gaps.append((together[[n], :length] - alone).abs().max().item())
+         gaps.append((together[[n], :length] - alone).max().item())
takes the mean over the sentences > not the mean over the sentences
-     return max(gaps)
+     return sum(gaps) / len(gaps)
has a mask with True for PAD > your mask shows PAD
-     real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
+     real = torch.arange(x.shape[1]) >= torch.tensor(lengths)[:, None]
lets one PAD through > tokens, your mask shows
-     real = torch.arange(x.shape[1]) < torch.tensor(lengths)[:, None]
+     real = torch.arange(x.shape[1]) <= torch.tensor(lengths)[:, None]
""",
    window="""
pairs are counted, not tokens > not all pairs
-     return size if (table == ((back >= 0) & (back < size))).all() else None
+     return int(table.sum()) if (table == ((back >= 0) & (back < size))).all() else None
one token of the future is allowed > hears the next token
-     return size if (table == ((back >= 0) & (back < size))).all() else None
+     right = (table.tril() == ((back >= 0) & (back < size))).all()
+     return size if right and not table.triu(2).any() else None
nobody minds the first token > everybody also hears token 0
-     size = int(table[-1].sum())
+     size = int(table[-1].flip(0).long().cumprod(0).sum())
-     return size if (table == ((back >= 0) & (back < size))).all() else None
+     return size if (table == ((back >= 0) & (back < size)))[:, 1:].all() else None
two texts at once > attend takes one text
-     table = influence(lambda x, _: attend(x), drawn(1, length, width)) > 1e-3
+     table = influence(lambda x, _: attend(x), drawn(2, length, width)) > 1e-3
a token does not count itself > a token hears itself
-     return size if (table == ((back >= 0) & (back < size))).all() else None
+     return size - 1 if (table == ((back >= 0) & (back < size))).all() else None
no future, and a look at the last row > compare with the table of a window
-     return size if (table == ((back >= 0) & (back < size))).all() else None
+     right = table[-1, -size:].all() and not table.triu(1).any()
+     return size if right else None
looks only at the row of the last token > you look at the last token only
-     return size if (table == ((back >= 0) & (back < size))).all() else None
+     return size if (table[-1] == ((back >= 0) & (back < size))[-1]).all() else None
a window ends > a window as long as the text
-     return size if (table == ((back >= 0) & (back < size))).all() else None
+     return size if size < length and (table == ((back >= 0) & (back < size))).all() else None
""",
    key_head="""
asks about the values only > ask about both
-     if by_key != by_value:
+     if False:
-     return by_key
+     return by_value
believes in blocks > shared in blocks
-     return by_key
+     return [h * key_heads // query_heads for h in range(query_heads)]
believes in turns > shared in turns
-     return by_key
+     return [h % key_heads for h in range(query_heads)]
shifts all keys of a head alike > a softmax does not see
-             (by_key, moved(k + noise, v)),
+             (by_key, moved(k + other, v)),
-     if by_key != by_value:
+     if False:
asks about the keys only > ask the attention: change the keys
-     if by_key != by_value:
+     if False:
asks with as many queries as keys > attend takes q of the shape
-     q = drawn(1, query_heads, 5, d_head)
+     q = drawn(1, key_heads, 5, d_head)
says which query heads a key head serves > a whole number is asked for
-     return by_key
+     return [[h for h in range(query_heads) if by_key[h] == g] for g in range(key_heads)]
looks at the first row of a causal attention
> Does your change of the keys move every output
-         return (attend(q, k, v) != before).flatten(2).any(-1)[0].tolist()
+         return (attend(q, k, v) != before)[:, :, 0].any(-1)[0].tolist()
""",
    finds_wrong_attention="""
tests nothing > One that it lets pass shows what it should hide
+ def finds_wrong_attention(attend):
+     attend(*(drawn(2, 3, n, 5) for n in (4, 6, 6)), drawn(2, 1, 4, 6) > 0)
asks for exact equality > it refuses a right one
-     torch.testing.assert_close(attend(*given), expected, rtol=0, atol=1e-3)
+     torch.testing.assert_close(attend(*given), expected, rtol=0, atol=0)
asks what nobody has promised, a row without a key
> it refuses a right one, that
-     v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=3) > -0.5
+     v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=3) > 1
hides nothing > makes the mask and throws it away
-     v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=3) > -0.5
+     v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=3) > -9
small scores only > hides with -20
-     q, k = 50 * drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
+     q, k = drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
one width only, the usual 8 > divides by the square root of 8
-     q, k = 50 * drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)
+     q, k = 50 * drawn(2, 3, 4, 8), drawn(2, 3, 6, 8, seed=1)
the inputs are trusted > scales the queries in place
-     assert all(map(torch.equal, given, asked))
a tolerance of a tenth > rounds to eight binary digits
-     torch.testing.assert_close(attend(*given), expected, rtol=0, atol=1e-3)
+     torch.testing.assert_close(attend(*given), expected, rtol=0, atol=1e-1)
""",
)

# Mutants of the solutions that are right too, and why.
ALL_SHOWN = "all is shown, so every shape that broadcasts says the same"
BETWEEN = "what is heard is hundreds of times the limit, what is not below it"
EITHER_WAY = "the two are compared alike in either order"
LOUD = "another large number, or the other sign first, is a shout as well"
FAR = "what is asked about is far larger than the rounding of float32"
NUMBER = "a tensor without axes is a number"
ONE_TEXT = "there is one text, the first and the last"
OTHER = "other numbers or sizes ask the same question"
EQUIVALENT = {
    "takes_from": {
        "for loud in (-10000.0, 10000.0):": LOUD,
        "for loud in (10001.0, -1e4):": LOUD,
        "for loud in (1e4, -10001.0):": LOUD,
        "for loud in (1e4, -9999.0):": LOUD,
        "for loud in (9999.0, -1e4):": LOUD,
        "found[:, j] |= (out.abs().amax(-1) >= 20 * x.abs().max())": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > 19 * x.abs().max()": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > 20 * x.max()": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > 21 * x.abs().max()": BETWEEN,
        "found[:, j] |= out.abs().amax(-1) > x.abs().max()": BETWEEN,
        "out = attend(shouting, may_attend)[-1]": ONE_TEXT,
        "x.float()": FAR,
    },
    "padding_gap": {
        "gaps.append(((alone - together[[n], :length])).abs().max().item())": EITHER_WAY,
        "gaps.append((together[[n], :length] - alone).abs().max())": NUMBER,
        "shown = torch.ones(1, 1, dtype=torch.bool)": ALL_SHOWN,
        "shown = torch.ones(1, length, 1, dtype=torch.bool)": ALL_SHOWN,
        "shown = torch.ones(1, length, dtype=torch.bool)": ALL_SHOWN,
        "x.float()": FAR,
    },
    "window": {
        "size = table[-1].sum()": NUMBER,
        "table = (influence(lambda x, _: attend(x), drawn(1, length, width)) >= 0.001)": "no number of the table is a thousandth to the last bit",
    },
    "key_head": {
        "(by_key, moved((k - noise), v)),": OTHER,
        "(by_value, moved(k, (v - noise))),": OTHER,
        "for found, moves in ((by_value, moved(k, v + noise)), (by_key, moved(k + noise, v))):": "keys and values are asked about in either order",
        "k, v = (drawn(1, key_heads, 5, d_head) for s in (1, 2))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (0, 2))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 1))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (1, 3))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (2, 1))": OTHER,
        "k, v = (drawn(1, key_heads, 5, d_head, seed=s) for s in (2, 2))": OTHER,
        "noise = (other / drawn(1, key_heads, 5, d_head, seed=3))": OTHER,
        "noise = other * drawn(1, 5, d_head, seed=3)": OTHER,
        "noise = other * drawn(1, key_heads, 5, d_head)": OTHER,
        "noise = other * drawn(1, key_heads, 5, d_head, seed=2)": OTHER,
        "noise = other * drawn(1, key_heads, 5, d_head, seed=4)": OTHER,
        "noise = other * drawn(key_heads, 5, d_head, seed=3)": OTHER,
        "other[:, group] = 2.0": OTHER,
        "return (attend(q, k, v) != before).flatten(2).any(-1)[-1].tolist()": ONE_TEXT,
        "return (attend(q, k, v) != before).flatten(2).any(-1)[0]": "a tensor of one truth value counts as that value",
    },
    "finds_wrong_attention": {
        "assert all(map(torch.equal, asked, given))": EITHER_WAY,
        "assert attend(q.half(), k.half(), v.half(), shown).mean().isfinite()": "a mean of few numbers is finite exactly if their sum is",
        "q, k = (50 / drawn(2, 3, 4, 5)), drawn(2, 3, 6, 5, seed=1)": OTHER,
        "q, k = 49 * drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)": OTHER,
        "q, k = 51 * drawn(2, 3, 4, 5), drawn(2, 3, 6, 5, seed=1)": OTHER,
        "torch.testing.assert_close(expected, attend(*given), rtol=0, atol=0.001)": EITHER_WAY,
        "v, shown = drawn(2, 3, 6, 6, seed=2), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=1), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), (drawn(2, 1, 4, 6, seed=3) >= -0.5)": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=2) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=3) > -1.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=2), drawn(2, 1, 4, 6, seed=4) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 7, seed=3), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
        "v, shown = drawn(2, 3, 6, 8, seed=2), drawn(2, 1, 4, 6, seed=3) > -0.5": OTHER,
    },
}
