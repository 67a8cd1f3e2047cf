"""Wrong answers to the exercises of chapter 13, each by its misconception."""

WRONG = {
    "filtered_by_best": {
        "measures by the sum, not by the best": (
            "measured by the probability itself",
            {"logits < best + math.log(share)": "logits.softmax(-1) < share"},
        ),
        "a share of the best logit": (
            "a share of the best logit",
            {"best + math.log(share)": "share * best"},
        ),
        "subtracts the share from the best logit": (
            "subtracted from the best logit",
            {"best + math.log(share)": "best - share"},
        ),
        "returns log-probabilities": (
            "must stay as it was",
            {"return logits.": "return logits.log_softmax(-1)."},
        ),
        "the best of the whole batch": (
            "each row has its own",
            {"amax(-1, keepdim=True)": "max()"},
        ),
        "cuts off with 0": ("is not cut off", {"-math.inf": "0.0"}),
        "more than the share, not at least": (
            "that is at least 1",
            {"<": "<="},
        ),
        "compares exponentials, which overflow": (
            "not for numbers 300 times as large",
            {
                "logits < best + math.log(share)": "logits.exp() < share * best.exp()"
            },
        ),
    },
    "step_aside": {
        "multiplies log p by probabilities": (
            "log p is multiplied",
            {"log + math.log(share)": "log * share"},
        ),
        "an ended text takes a place": (
            "an ended text takes a place",
            {"len(going) == width": "len(going) + len(ended) == width"},
        ),
        "the best of each beam, not of all": (
            "each beam keeps its own best",
            {
                "next_letters(text).items()": "[max(next_letters(text).items(), key=lambda pair: pair[1])]",
                "sorted(candidates, key=candidates.get, reverse=True)": "candidates",
                "len(going) == width": "False",
            },
        ),
        "every ended text counts, however improbable": (
            "not passed on the way",
            {
                "if len(going) == width": 'if len(going) == width and text[-1] != "."',
                "break": "continue",
            },
        ),
        "divides by a length penalty": (
            "the ranking has no penalty",
            {
                "key=candidates.get": (
                    "key=lambda t: candidates[t] / ((5 + len(t)) / 6) ** 0.6"
                )
            },
        ),
        "one place too many": (
            "walk down the ranking",
            {"== width": "> width"},
        ),
        "one dictionary for all": (
            "two dictionaries are asked for",
            {"return going, ended": "return going | ended"},
        ),
        "takes the beams out as it goes": (
            "your code changes the beams",
            {"going, ended = {}, {}": "beams.clear(); going, ended = {}, {}"},
        ),
    },
    "best_of_all": {
        "greedy": (
            "this is the greedy text",
            {
                "heapq.heappop(queue)": "heapq.heappop(queue)\n        queue.clear()"
            },
        ),
        "stops at the first text that is found finished": (
            "need not be the best",
            {
                "            heapq.heappush": (
                    '            if letter == ".":\n'
                    "                return text + letter, -minus_p * share\n"
                    "            heapq.heappush"
                )
            },
        ),
        "takes the least probable out": (
            "not the most probable text",
            {"(-1.0,": "(1.0,", "-minus_p": "minus_p"},
        ),
        "a beam search of width 1000": (
            "not the most probable text",
            """
def best_of_all(next_letters):
    beams = {"": 1.0}
    while not max(beams, key=beams.get).endswith("."):
        beams = beam_step(beams, next_letters, 1000)
    return max(beams.items(), key=lambda pair: pair[1])
""",
        ),
        "returns the text only": (
            "the text alone comes back",
            {"return text, -minus_p": "return text"},
        ),
        "goes on with finished texts": (
            "too many questions",
            {
                '        if text.endswith("."):\n            return text, -minus_p\n': ""
            },
        ),
        "takes the logarithm of 0": (
            "it has no logarithm",
            {
                "(-1.0,": "(0.0,",
                "-minus_p": "math.exp(-minus_p)",
                "minus_p * share": "minus_p - math.log(share)",
            },
        ),
    },
    "finds_wrong_search": {
        "tests nothing": (
            "finds 0 of 18 wrong ones",
            """
def finds_wrong_search(search):
    pass
""",
        ),
        "looks at the texts and not at the scores": (
            "finds 16 of 18 wrong ones",
            {"assert math.isclose(score, right[text], rel_tol=1e-6)": "pass"},
        ),
        "asks for exact equality and refuses a right one": (
            "it refuses a right one",
            {
                "math.isclose(score, right[text], rel_tol=1e-6)": "score == right[text]"
            },
        ),
        "relies on the order of equally good texts": (
            "that puts equally good texts",
            {'"d": 0.42, "e": 0.41': '"d": 0.415, "e": 0.415'},
        ),
        "expects plain log p": (
            "it refuses a right one, that",
            {" / ((5 + len(text)) / 6) ** alpha": ""},
        ),
        "only wide searches": (
            "keeps one text more than the width",
            {'    assert [text for text, _ in found] == ["bcd.", "bce."]': ""},
        ),
        "no ended text stands between two longer ones": (
            "prunes by log p",
            {
                '"a": 0.3, "b": 0.7': '"b": 1.0',
                '"e": 0.41': '"e": 0.31',
                '"f": 0.17': '"f": 0.27',
            },
        ),
    },
}

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
