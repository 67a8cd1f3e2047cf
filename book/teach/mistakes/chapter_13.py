"""Wrong answers to the exercises of chapter 13, each by its misconception."""

GREEDY = """
def greedy_with_score(model, source, limit):
    c, memory = model.config, model.encode(source)
    may_attend = model.source_mask(source)
    ids = source.new_full((len(source), 1), c.bos_id)
    total = memory.new_zeros(len(source))
    ended = torch.zeros_like(total, dtype=torch.bool)
    for _ in range(limit):
        logits = model.decode(ids, memory, None, may_attend)[:, -1]
        logits[:, [c.pad_id, c.bos_id]] = -math.inf
        log, token = logits.log_softmax(-1).max(-1)
        total = total + log.masked_fill(ended, 0.0)
        token = token.masked_fill(ended, c.pad_id)
        ids = torch.cat([ids, token[:, None]], dim=1)
        ended = ended | (token == c.eos_id)
        if ended.all():
            break
    return ids[:, 1:], total
"""
STEP = """
def step_aside(beams, next_letters, width):
    candidates = {}
    for text, log in beams.items():
        for letter, share in next_letters(text).items():
            if share > 0:
                candidates[text + letter] = log + math.log(share)
    going, ended = {}, {}
    for text in sorted(candidates, key=candidates.get, reverse=True):
        if len(going) == width:
            break
        group = ended if text.endswith(".") else going
        group[text] = candidates[text]
    return going, ended
"""
BEST = """
def best_of_all(next_letters):
    import heapq
    queue = [(-1.0, "")]
    while True:
        minus_p, text = heapq.heappop(queue)
        if text.endswith("."):
            return text, -minus_p
        for letter, share in next_letters(text).items():
            heapq.heappush(queue, (minus_p * share, text + letter))
"""


def with_change(answer: str, before: str, after: str) -> str:
    """The right answer with one thing misunderstood."""
    assert answer.count(before) == 1, before
    return answer.replace(before, after)


def hinted(hint: str, answer: str) -> str:
    """An answer that says which hint it must get."""
    return f"# hint: {hint}\n{answer}"


WRONG = {
    "greedy_with_score": {
        "an ended row goes on writing": hinted(
            "goes on writing",
            with_change(
                GREEDY, "token = token.masked_fill(ended, c.pad_id)", "pass"
            ),
        ),
        "the PAD of an ended row adds to its sum": hinted(
            "their sums of log p are not",
            with_change(GREEDY, "log.masked_fill(ended, 0.0)", "log"),
        ),
        "stops when the first row has ended": hinted(
            "when one has ended",
            with_change(GREEDY, "ended.all()", "ended.any()"),
        ),
        "forgets which sources are PAD": hinted(
            "with its PAD",
            with_change(GREEDY, "memory, None, may_attend)", "memory)"),
        ),
        "reads the last token only": hinted(
            "what has the decoder",
            with_change(
                GREEDY, "model.decode(ids,", "model.decode(ids[:, -1:],"
            ),
        ),
        "returns BOS as a part of the text": hinted(
            "no part of the text", with_change(GREEDY, "ids[:, 1:]", "ids")
        ),
        "adds probabilities": hinted(
            "probabilities are added",
            with_change(GREEDY, "log.masked_fill", "log.exp().masked_fill"),
        ),
        "the EOS does not count in the sum": hinted(
            "the EOS is a token too",
            with_change(
                GREEDY,
                "log.masked_fill(ended, 0.0)",
                "log.masked_fill(ended | (token == c.eos_id), 0.0)",
            ),
        ),
        "PAD and BOS may be written": hinted(
            "they are impossible",
            with_change(
                GREEDY, "logits[:, [c.pad_id, c.bos_id]] = -math.inf", "pass"
            ),
        ),
        "one token too many": hinted(
            "and the limit is 10",
            with_change(GREEDY, "range(limit)", "range(limit + 1)"),
        ),
        "begins with PAD": hinted(
            "the first token is not the most probable",
            with_change(GREEDY, "1), c.bos_id)", "1), c.pad_id)"),
        ),
        "ids that are no whole numbers": hinted(
            "holds float64, not int64",
            with_change(
                GREEDY, "ids[:, 1:], total", "ids[:, 1:].double(), total"
            ),
        ),
        "lets the library write": """
# hint: write it without beam_search
def greedy_with_score(model, source, limit):
    found = beam_search(model, source, 1, 0, limit)
    return found.best, found.log_p[:, 0]
""",
        "writes PAD until the limit": hinted(
            "there is nothing left to write",
            with_change(GREEDY, "if ended.all():", "if False:"),
        ),
        "knows p before it rules out PAD and BOS": hinted(
            "rule them out before the softmax",
            with_change(
                GREEDY,
                "        logits[:, [c.pad_id, c.bos_id]] = -math.inf\n"
                "        log, token = logits.log_softmax(-1).max(-1)\n",
                "        every = logits.log_softmax(-1)\n"
                "        every[:, [c.pad_id, c.bos_id]] = -math.inf\n"
                "        log, token = every.max(-1)\n",
            ),
        ),
    },
    "filtered_by_best": {
        "measures by the sum, not by the best": """
# hint: measured by the probability itself
def filtered_by_best(logits, share):
    p = logits.softmax(-1)
    return logits.masked_fill(p < share, -math.inf)
""",
        "a share of the best logit": """
# hint: a share of the best logit
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < share * best, -math.inf)
""",
        "subtracts the share from the best logit": """
# hint: subtracted from the best logit
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < best - share, -math.inf)
""",
        "returns log-probabilities": """
# hint: must stay as it was
def filtered_by_best(logits, share):
    log = logits.log_softmax(-1)
    best = log.amax(-1, keepdim=True)
    return log.masked_fill(log < best + math.log(share), -math.inf)
""",
        "returns probabilities": """
# hint: probabilities come back
def filtered_by_best(logits, share):
    p = logits.softmax(-1)
    return p.masked_fill(p < share * p.amax(-1, keepdim=True), -math.inf)
""",
        "the best of the whole batch": """
# hint: each row has its own
def filtered_by_best(logits, share):
    best = logits.max()
    return logits.masked_fill(logits < best + math.log(share), -math.inf)
""",
        "takes the first entry for the best": """
# hint: need not be the best one
def filtered_by_best(logits, share):
    best = logits[..., :1]
    return logits.masked_fill(logits < best + math.log(share), -math.inf)
""",
        "cuts off with 0": """
# hint: is not cut off
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < best + math.log(share), 0.0)
""",
        "more than the share, not at least": """
# hint: that is at least 1
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits <= best + math.log(share), -math.inf)
""",
        "cuts off with a large negative number": """
# hint: what is cut off becomes -inf
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < best + math.log(share), -1e9)
""",
        "takes another logarithm": """
# hint: compare each p with the best p
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < best + math.log10(share), -math.inf)
""",
    },
    "step_aside": {
        "multiplies log p by probabilities": hinted(
            "log p is multiplied",
            with_change(STEP, "log + math.log(share)", "log * share"),
        ),
        "adds probabilities to log p": hinted(
            "its logarithm must be",
            with_change(STEP, "log + math.log(share)", "log + share"),
        ),
        "an ended text takes a place": hinted(
            "an ended text takes a place",
            with_change(
                STEP, "len(going) == width", "len(going) + len(ended) == width"
            ),
        ),
        "keeps the least probable": hinted(
            "begins with the least probable",
            with_change(STEP, "reverse=True", ""),
        ),
        "the best of each beam, not of all": """
# hint: each beam keeps its own best
def step_aside(beams, next_letters, width):
    going, ended = {}, {}
    for text, log in beams.items():
        options = next_letters(text)
        for letter in sorted(options, key=options.get, reverse=True)[:1]:
            group = ended if letter == "." else going
            group[text + letter] = log + math.log(options[letter])
    return going, ended
""",
        "every ended text counts, however improbable": """
# hint: not passed on the way
def step_aside(beams, next_letters, width):
    candidates = {}
    for text, log in beams.items():
        for letter, share in next_letters(text).items():
            if share > 0:
                candidates[text + letter] = log + math.log(share)
    ranked = sorted(candidates, key=candidates.get, reverse=True)
    going = [text for text in ranked if not text.endswith(".")][:width]
    ended = [text for text in ranked if text.endswith(".")]
    return (
        {text: candidates[text] for text in going},
        {text: candidates[text] for text in ended},
    )
""",
        "ranks by the last letter alone": hinted(
            "by their last letter alone",
            with_change(
                STEP,
                "key=candidates.get,",
                "key=lambda t: next_letters(t[:-1])[t[-1]],",
            ),
        ),
        "goes on with impossible letters": hinted(
            "is no continuation",
            with_change(
                STEP,
                "candidates[text + letter] = log + math.log(share)",
                "pass\n            candidates[text + letter] = log + "
                "math.log(share + 1e-9)",
            ),
        ),
        "takes the logarithm of 0": hinted(
            "it has no logarithm",
            with_change(STEP, "if share > 0:", "if True:"),
        ),
        "one dictionary for all": hinted(
            "two dictionaries are asked for",
            with_change(STEP, "return going, ended", "return going | ended"),
        ),
        "divides by a length penalty": hinted(
            "the ranking has no penalty",
            with_change(
                STEP,
                "key=candidates.get,",
                "key=lambda t: candidates[t] / ((5 + len(t)) / 6) ** 0.6,",
            ),
        ),
        "one place too many": hinted(
            "should have ended",
            with_change(STEP, "== width:", "== width + 1:"),
        ),
        "what has ended comes first": hinted(
            "have changed places",
            with_change(STEP, "return going, ended", "return ended, going"),
        ),
        "the last of the ranking comes first": hinted(
            "not in the order of the ranking",
            with_change(
                STEP,
                "return going,",
                "going = dict(reversed(going.items()))\n    return going,",
            ),
        ),
        "gives back probabilities": hinted(
            "log p is not",
            with_change(
                STEP,
                "return going, ended",
                "return tuple(\n"
                "        {t: math.exp(p) for t, p in part.items()}\n"
                "        for part in (going, ended)\n    )",
            ),
        ),
        "an ended text just after the last place": hinted(
            "not passed on the way",
            with_change(
                STEP,
                "if len(going) == width:",
                'if len(going) == width and not text.endswith("."):',
            ),
        ),
        "takes the beams out as it goes": hinted(
            "your code changes the beams",
            with_change(
                STEP,
                "    going, ended = {}, {}\n",
                "    beams.clear()\n    going, ended = {}, {}\n",
            ),
        ),
        "forgets what was before": hinted(
            "that a beam had before is lost",
            with_change(STEP, "log + math.log(share)", "math.log(share)"),
        ),
    },
    "continued": {
        "forces the first id at every step": """
# hint: the first id is written at every step
def continued(beginning):
    def choose(logits):
        best = logits.argmax(-1)
        return torch.full_like(best, beginning[0]) if beginning else best

    return choose
""",
        "begins again at each call": """
# hint: the first id is written at every step
def continued(beginning):
    def choose(logits):
        best, forced = logits.argmax(-1), next(iter(beginning), None)
        return best if forced is None else torch.full_like(best, forced)

    return choose
""",
        "does not force, only allows": """
# hint: the steps choose
def continued(beginning):
    def choose(logits):
        if beginning:
            kept = torch.full_like(logits, -math.inf)
            kept[:, beginning] = logits[:, beginning]
            return kept.argmax(-1)
        return logits.argmax(-1)

    return choose
""",
        "writes the beginning in the wrong order": """
# hint: in the reverse order
def continued(beginning):
    left = list(beginning)

    def choose(logits):
        best = logits.argmax(-1)
        return torch.full_like(best, left.pop()) if left else best

    return choose
""",
        "ends the text after the beginning": """
# hint: the model is to go on
def continued(beginning):
    steps = iter([*beginning, 2])

    def choose(logits):
        best, forced = logits.argmax(-1), next(steps, None)
        return best if forced is None else torch.full_like(best, forced)

    return choose
""",
        "writes BOS first": """
# hint: BOS is written first
def continued(beginning):
    steps = iter([1, *beginning])

    def choose(logits):
        best, forced = logits.argmax(-1), next(steps, None)
        return best if forced is None else torch.full_like(best, forced)

    return choose
""",
        "greedy, whatever is given": """
# hint: nothing is forced
def continued(beginning):
    return lambda logits: logits.argmax(-1)
""",
        "takes the best of the first row for all": """
# hint: best for the first
def continued(beginning):
    steps = iter(beginning)

    def choose(logits):
        forced = next(steps, None)
        token = logits[0].argmax() if forced is None else forced
        return torch.full_like(logits.argmax(-1), int(token))

    return choose
""",
        "takes the ids out of the list": """
# hint: the list of ids is changed
def continued(beginning):
    def choose(logits):
        best = logits.argmax(-1)
        return torch.full_like(best, beginning.pop(0)) if beginning else best

    return choose
""",
        "chooses at once": """
# hint: a function for `choose`
def continued(beginning):
    return [torch.tensor([token]) for token in beginning]
""",
        "one iterator for all texts": """
# hint: a second text begins differently
STEPS = {}


def continued(beginning):
    steps = STEPS.setdefault(tuple(beginning), iter(beginning))

    def choose(logits):
        best, forced = logits.argmax(-1), next(steps, None)
        return best if forced is None else torch.full_like(best, forced)

    return choose
""",
        "plain numbers": """
# hint: not a tensor
def continued(beginning):
    steps = iter(beginning)

    def choose(logits):
        best, forced = logits.argmax(-1), next(steps, None)
        return best if forced is None else forced

    return choose
""",
    },
    "best_of_all": {
        "greedy": """
# hint: this is the greedy text
def best_of_all(next_letters):
    text, p = "", 1.0
    while not text.endswith("."):
        options = next_letters(text)
        letter = max(options, key=options.get)
        text, p = text + letter, p * options[letter]
    return text, p
""",
        "two beams": """
# hint: too many questions
def best_of_all(next_letters):
    beams = {"": 1.0}
    while not all(text.endswith(".") for text in beams):
        beams = beam_step(beams, next_letters, 2)
    best = max(beams, key=beams.get)
    return best, beams[best]
""",
        "stops at the first text that is found finished": """
# hint: need not be the best
def best_of_all(next_letters):
    import heapq
    queue = [(-1.0, "")]
    while True:
        minus_p, text = heapq.heappop(queue)
        for letter, share in next_letters(text).items():
            if letter == ".":
                return text + letter, -minus_p * share
            heapq.heappush(queue, (minus_p * share, text + letter))
""",
        "takes the least probable out": hinted(
            "is more probable",
            with_change(
                with_change(BEST, "(-1.0,", "(1.0,"), "-minus_p", "minus_p"
            ),
        ),
        "first in, first out": """
# hint: need not be the best
def best_of_all(next_letters):
    queue = [(1.0, "")]
    while True:
        p, text = queue.pop(0)
        if text.endswith("."):
            return text, p
        for letter, share in next_letters(text).items():
            queue.append((p * share, text + letter))
""",
        "a beam search of width 30": """
# hint: is more probable
def best_of_all(next_letters):
    beams = {"": 1.0}
    while True:
        new = {}
        for text, p in beams.items():
            if text.endswith("."):
                new[text] = p
                continue
            for letter, share in next_letters(text).items():
                new[text + letter] = p * share
        ranked = sorted(new, key=new.get, reverse=True)[:30]
        beams = {text: new[text] for text in ranked}
        if ranked[0].endswith("."):
            return ranked[0], beams[ranked[0]]
""",
        "divides by a length penalty": """
# hint: is more probable
def best_of_all(next_letters):
    import heapq
    queue = [(0.0, "", 0.0)]
    while True:
        _, text, log = heapq.heappop(queue)
        if text.endswith("."):
            return text, math.exp(log)
        for letter, share in next_letters(text).items():
            new = log + math.log(share)
            worth = new / ((6 + len(text)) / 6) ** 0.6
            heapq.heappush(queue, (-worth, text + letter, new))
""",
        "adds probabilities": """
# hint: is more probable
def best_of_all(next_letters):
    import heapq
    queue = [(0.0, "")]
    while True:
        minus_p, text = heapq.heappop(queue)
        if text.endswith("."):
            return text, -minus_p
        for letter, share in next_letters(text).items():
            heapq.heappush(queue, (minus_p - share, text + letter))
""",
        "ranks by the mean of log p": """
# hint: is more probable
def best_of_all(next_letters):
    import heapq
    queue = [(0.0, "", 1.0)]
    while True:
        _, text, p = heapq.heappop(queue)
        if text.endswith("."):
            return text, p
        for letter, share in next_letters(text).items():
            mean = -math.log(p * share) / (len(text) + 1)
            heapq.heappush(queue, (mean, text + letter, p * share))
""",
        "the probability without the end": hinted(
            "include that of the full stop",
            with_change(
                BEST,
                "return text, -minus_p",
                "return text, -minus_p / next_letters(text[:-1])[text[-1]]",
            ),
        ),
        "returns the text only": hinted(
            "two things are asked for",
            with_change(BEST, "return text, -minus_p", "return text"),
        ),
        "goes on with finished texts": hinted(
            "has ended, and you ask",
            with_change(
                with_change(
                    BEST,
                    '        if text.endswith("."):\n'
                    "            return text, -minus_p\n",
                    "",
                ),
                "            heapq.heappush",
                '            if text.endswith("."):\n'
                "                return text, -minus_p\n"
                "            heapq.heappush",
            ),
        ),
        "returns the number of its queue": hinted(
            "is no probability",
            with_change(BEST, "return text, -minus_p", "return text, minus_p"),
        ),
    },
    "finds_wrong_search": {
        "tests nothing": """
# hint: finds 0 of 18 wrong ones
def finds_wrong_search(search):
    pass
""",
        "runs it and looks at nothing": """
# hint: follows one text only
def finds_wrong_search(search):
    search(august, 2)
""",
        "prints instead of raising": """
# hint: finds 0 of 18
def finds_wrong_search(search):
    found = search(august, 2)
    if [text for text, _ in found] != ["agosto.", "august."]:
        print("wrong")
""",
        "looks only at the number of texts": """
# hint: gives the worst text first
def finds_wrong_search(search):
    assert len(search(august, 2)) == 2
""",
        "looks at the texts and not at the scores": """
# hint: ranks by log p and forgets
def finds_wrong_search(search):
    found = [text for text, _ in search(august, 2)]
    assert found == ["agosto.", "august."]
    assert len({text for text, _ in search(august, 6)}) == 6
""",
        "tries a width of 1 only": """
# hint: One that it lets pass follows one text only
def finds_wrong_search(search):
    (text, score), = search(august, 1)
    assert text == "august."
    assert abs(score - math.log(0.2) / 2**0.6) < 1e-6
""",
        "asks for exact equality and refuses a right one": """
# hint: it refuses a right one, that multiplies probabilities
def finds_wrong_search(search):
    table = {"": {"a": 0.7, "b": 0.3}, "a": {"c": 0.9}, "ac": {"d": 0.9}}
    found = search(lambda text: table.get(text, {".": 1.0}), 1)
    log_p = math.log(0.7) + math.log(0.9) + math.log(0.9)
    assert found == [("acd.", log_p / 1.5**0.6)]
""",
        "relies on the order of equally good texts": """
# hint: that puts equally good texts
def finds_wrong_search(search):
    found = search(lambda text: {"": {"a": 0.5, "b": 0.5}}.get(text, {".": 1}), 2)
    assert [text for text, _ in found] == ["a.", "b."]
""",
        "expects plain log p": """
# hint: it refuses a right one, that keeps its beams in a list
def finds_wrong_search(search):
    text, score = search(august, 2)[0]
    assert abs(score - math.log(0.4)) < 1e-6
""",
        "only wide searches": """
# hint: keeps one text more than the width allows
def finds_wrong_search(search):
    table = {
        "": {"a": 0.45, "b": 0.55, "z": 0.0}, "a": {".": 1.0},
        "b": {"c": 0.8, ".": 0.2}, "bc": {"d": 0.9, ".": 0.1},
        "bcd": {".": 1.0},
    }
    p = {"a.": 0.45, "bcd.": 0.396, "b.": 0.11, "bc.": 0.044}
    right = {t: math.log(p[t]) / ((5 + len(t)) / 6) ** 0.6 for t in p}
    found = search(table.__getitem__, 9)
    assert [t for t, _ in found] == sorted(right, key=right.get)[::-1]
    assert all(abs(score - right[t]) < 1e-6 for t, score in found)
""",
        "no table with an ended text between two longer ones": """
# hint: prunes by log p and divides
def finds_wrong_search(search):
    table = {
        "": {"a": 0.45, "b": 0.55, "z": 0.0}, "a": {".": 1.0},
        "b": {"c": 0.8, ".": 0.2}, "bc": {"d": 0.9, ".": 0.1},
        "bcd": {".": 1.0},
    }
    p = {"a.": 0.45, "bcd.": 0.396, "b.": 0.11, "bc.": 0.044}
    right = {t: math.log(p[t]) / ((5 + len(t)) / 6) ** 0.6 for t in p}
    for width in (1, 2, 9):
        found = search(table.__getitem__, width)
        assert len(found) == min(width, 4)
        assert all(abs(score - right[t]) < 1e-6 for t, score in found)
    assert [t for t, _ in found] == sorted(right, key=right.get)[::-1]
""",
    },
}

# Mutants of the solutions that are right too, and why.
EQUIVALENT = {
    "greedy_with_score": {
        "logits[:, [c.bos_id, c.pad_id]] = -math.inf": (
            "the same two columns in another order"
        ),
    },
    "finds_wrong_search": {
        '"": {"a": 0.45, "b": 0.55, \'\': 0.0},': (
            "whatever it is called, an impossible letter is not written"
        ),
        "\"a\": {'': 1.0},": "in the narrow table nothing follows this text",
        '"bc": {"d": 0.42, "e": 0.41, \'\': 0.17},': (
            "what is pruned may be called anything"
        ),
        '"bc": {"d": 1.42, "e": 0.41, "f": 0.17},': (
            "the best of three becomes better still"
        ),
        "assert math.isclose(right[text], score, rel_tol=1e-06)": (
            "closeness is symmetric"
        ),
        "assert math.isclose(score, right[text])": (
            "rounding is far below this tolerance, too"
        ),
        'found = search(lambda text: parting.get(text, {".": 2.0}), 2)': (
            "the same factor for both texts keeps their order"
        ),
        "found = search(table.__getitem__, 10)": "wide enough for all texts",
        "found = search(table.__getitem__, 8)": "wide enough for all texts",
    },
}
