"""Wrong answers to the exercises of chapter 13, each by its misconception."""

from . import read

WRONG = read(
    filtered_by_best="""
measures by the sum, not by the best > measured by the probability itself
-     return logits.masked_fill(logits < best + math.log(share), -math.inf)
+     return logits.masked_fill(logits.softmax(-1) < share, -math.inf)
a share of the best logit > a share of the best logit
-     return logits.masked_fill(logits < best + math.log(share), -math.inf)
+     return logits.masked_fill(logits < share * best, -math.inf)
subtracts the share from the best logit > subtracted from the best logit
-     return logits.masked_fill(logits < best + math.log(share), -math.inf)
+     return logits.masked_fill(logits < best - share, -math.inf)
returns log-probabilities > must stay as it was
-     return logits.masked_fill(logits < best + math.log(share), -math.inf)
+     return logits.log_softmax(-1).masked_fill(logits < best + math.log(share), -math.inf)
the best of the whole batch > each row has its own
-     best = logits.amax(-1, keepdim=True)
+     best = logits.max()
cuts off with 0 > is not cut off
-     return logits.masked_fill(logits < best + math.log(share), -math.inf)
+     return logits.masked_fill(logits < best + math.log(share), 0.0)
more than the share, not at least > that is at least 1
-     return logits.masked_fill(logits < best + math.log(share), -math.inf)
+     return logits.masked_fill(logits <= best + math.log(share), -math.inf)
compares exponentials, which overflow > not for numbers 300 times as large
-     return logits.masked_fill(logits < best + math.log(share), -math.inf)
+     return logits.masked_fill(logits.exp() < share * best.exp(), -math.inf)
""",
    step_aside="""
multiplies log p by probabilities > log p is multiplied
-                 candidates[text + letter] = log + math.log(share)
+                 candidates[text + letter] = log * share
an ended text takes a place > an ended text takes a place
-         if len(going) == width:
+         if len(going) + len(ended) == width:
the best of each beam, not of all > each beam keeps its own best
-         for letter, share in next_letters(text).items():
+         for letter, share in [max(next_letters(text).items(), key=lambda pair: pair[1])]:
-     for text in sorted(candidates, key=candidates.get, reverse=True):
-         if len(going) == width:
+     for text in candidates:
+         if False:
every ended text counts, however improbable > not passed on the way
-         if len(going) == width:
-             break
+         if len(going) == width and text[-1] != ".":
+             continue
divides by a length penalty > the ranking has no penalty
-     for text in sorted(candidates, key=candidates.get, reverse=True):
+     for text in sorted(candidates, key=lambda t: candidates[t] / ((5 + len(t)) / 6) ** 0.6, reverse=True):
one place too many > walk down the ranking
-         if len(going) == width:
+         if len(going) > width:
one dictionary for all > two dictionaries are asked for
-     return going, ended
+     return going | ended
takes the beams out as it goes > your code changes the beams
-     going, ended = {}, {}
+     beams.clear(); going, ended = {}, {}
""",
    best_of_all="""
greedy > this is the greedy text
-         if text.endswith("."):
+         queue.clear()
+         if text.endswith("."):
stops at the first text that is found finished > need not be the best
-             heapq.heappush(queue, (minus_p * share, text + letter))
+             if letter == ".":
+                 return text + letter, -minus_p * share
+             heapq.heappush(queue, (minus_p * share, text + letter))
takes the least probable out > not the most probable text
-     queue = [(-1.0, "")]
+     queue = [(1.0, "")]
-             return text, -minus_p
+             return text, minus_p
a beam search of width 1000 > not the most probable text
+ def best_of_all(next_letters):
+     beams = {"": 1.0}
+     while not max(beams, key=beams.get).endswith("."):
+         beams = beam_step(beams, next_letters, 1000)
+     return max(beams.items(), key=lambda pair: pair[1])
returns the text only > the text alone comes back
-             return text, -minus_p
+             return text
goes on with finished texts > too many questions
-         if text.endswith("."):
-             return text, -minus_p
takes the logarithm of 0 > it has no logarithm
-     queue = [(-1.0, "")]
+     queue = [(0.0, "")]
-             return text, -minus_p
+             return text, math.exp(-minus_p)
-             heapq.heappush(queue, (minus_p * share, text + letter))
+             heapq.heappush(queue, (minus_p - math.log(share), text + letter))
""",
    finds_wrong_search="""
tests nothing > finds 0 of 18 wrong ones
+ def finds_wrong_search(search):
+     pass
looks at the texts and not at the scores > finds 16 of 18 wrong ones
-         assert math.isclose(score, right[text], rel_tol=1e-6)
+         pass
asks for exact equality and refuses a right one > it refuses a right one
-         assert math.isclose(score, right[text], rel_tol=1e-6)
+         assert score == right[text]
relies on the order of equally good texts > that puts equally good texts
-         "bc": {"d": 0.42, "e": 0.41, "f": 0.17},
+         "bc": {"d": 0.415, "e": 0.415, "f": 0.17},
expects plain log p > it refuses a right one, that
-         text: math.log(p[text]) / ((5 + len(text)) / 6) ** alpha for text in p
+         text: math.log(p[text]) for text in p
only wide searches > keeps one text more than the width
-     assert [text for text, _ in found] == ["bcd.", "bce."]
+
no ended text stands between two longer ones > prunes by log p
-         "": {"a": 0.3, "b": 0.7},
+         "": {"b": 1.0},
-         "bc": {"d": 0.42, "e": 0.41, "f": 0.17},
+         "bc": {"d": 0.42, "e": 0.31, "f": 0.27},
""",
)

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "finds_wrong_search": {
        '"": {"a": 0.45, "b": 0.55, \'\': 0.0},': "whatever it is called, an impossible letter is not written",
        "\"a\": {'': 1.0},": "in the narrow table nothing follows this text",
        '"bc": {"d": 0.42, "e": 0.41, "f": -0.83},': "what is not written may have any other share",
        '"bc": {"d": 0.42, "e": 0.41, \'\': 0.17},': "what is pruned may be called anything",
        '"bc": {"d": 1.42, "e": 0.41, "f": 0.17},': "the best of three becomes better still",
        "assert math.isclose(right[text], score, rel_tol=1e-06)": "closeness is symmetric",
        "assert math.isclose(score, right[text])": "rounding is far below this tolerance, too",
        'found = search(lambda text: parting.get(text, {".": 2.0}), 2)': "the same factor for both texts keeps their order",
        "found = search(table.__getitem__, 10)": "wide enough for all texts",
        "found = search(table.__getitem__, 8)": "wide enough for all texts",
    },
}
