"""Wrong answers to the exercises of chapter 13, by misconception."""

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


WRONG = {
    "greedy_with_score": {
        "an ended row goes on writing": with_change(
            GREEDY, "token = token.masked_fill(ended, c.pad_id)", "pass"
        ),
        "the PAD of an ended row adds to its sum": with_change(
            GREEDY, "log.masked_fill(ended, 0.0)", "log"
        ),
        "stops when the first row has ended": with_change(
            GREEDY, "ended.all()", "ended.any()"
        ),
        "forgets which sources are PAD": with_change(
            GREEDY, "memory, None, may_attend)", "memory)"
        ),
        "reads the last token only": with_change(
            GREEDY, "model.decode(ids,", "model.decode(ids[:, -1:],"
        ),
        "returns BOS as a part of the text": with_change(
            GREEDY, "ids[:, 1:]", "ids"
        ),
        "adds probabilities": with_change(
            GREEDY, "log.masked_fill", "log.exp().masked_fill"
        ),
        "the EOS does not count in the sum": with_change(
            GREEDY,
            "log.masked_fill(ended, 0.0)",
            "log.masked_fill(ended | (token == c.eos_id), 0.0)",
        ),
        "PAD and BOS may be written": with_change(
            GREEDY, "logits[:, [c.pad_id, c.bos_id]] = -math.inf", "pass"
        ),
        "lets the library write": """
def greedy_with_score(model, source, limit):
    found = beam_search(model, source, 1, 0, limit)
    return found.best, found.log_p[:, 0]
""",
    },
    "filtered_by_best": {
        "measures by the sum, not by the best": """
def filtered_by_best(logits, share):
    p = logits.softmax(-1)
    return logits.masked_fill(p < share, -math.inf)
""",
        "a share of the best logit": """
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < share * best, -math.inf)
""",
        "subtracts the share from the best logit": """
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < best - share, -math.inf)
""",
        "returns log-probabilities": """
def filtered_by_best(logits, share):
    log = logits.log_softmax(-1)
    best = log.amax(-1, keepdim=True)
    return log.masked_fill(log < best + math.log(share), -math.inf)
""",
        "returns probabilities": """
def filtered_by_best(logits, share):
    p = logits.softmax(-1)
    return p.masked_fill(p < share * p.amax(-1, keepdim=True), -math.inf)
""",
        "the best of the whole batch": """
def filtered_by_best(logits, share):
    best = logits.max()
    return logits.masked_fill(logits < best + math.log(share), -math.inf)
""",
        "takes the first entry for the best": """
def filtered_by_best(logits, share):
    best = logits[..., :1]
    return logits.masked_fill(logits < best + math.log(share), -math.inf)
""",
        "cuts off with 0": """
def filtered_by_best(logits, share):
    best = logits.amax(-1, keepdim=True)
    return logits.masked_fill(logits < best + math.log(share), 0.0)
""",
    },
    "step_aside": {
        "multiplies log p by probabilities": with_change(
            STEP, "log + math.log(share)", "log * share"
        ),
        "adds probabilities to log p": with_change(
            STEP, "log + math.log(share)", "log + share"
        ),
        "an ended text takes a place": with_change(
            STEP, "len(going) == width", "len(going) + len(ended) == width"
        ),
        "keeps the least probable": with_change(STEP, "reverse=True", ""),
        "the best of each beam, not of all": """
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
        "ranks by the last letter alone": with_change(
            STEP,
            "key=candidates.get,",
            "key=lambda t: next_letters(t[:-1])[t[-1]],",
        ),
        "goes on with impossible letters": with_change(
            STEP,
            "candidates[text + letter] = log + math.log(share)",
            "pass\n            candidates[text + letter] = log + "
            "math.log(share + 1e-9)",
        ),
    },
    "continued": {
        "forces the first id at every step": """
def continued(beginning):
    def choose(logits):
        best = logits.argmax(-1)
        return torch.full_like(best, beginning[0]) if beginning else best

    return choose
""",
        "begins again at each call": """
def continued(beginning):
    def choose(logits):
        best, forced = logits.argmax(-1), next(iter(beginning), None)
        return best if forced is None else torch.full_like(best, forced)

    return choose
""",
        "does not force, only allows": """
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
def continued(beginning):
    left = list(beginning)

    def choose(logits):
        best = logits.argmax(-1)
        return torch.full_like(best, left.pop()) if left else best

    return choose
""",
        "ends the text after the beginning": """
def continued(beginning):
    steps = iter([*beginning, 2])

    def choose(logits):
        best, forced = logits.argmax(-1), next(steps, None)
        return best if forced is None else torch.full_like(best, forced)

    return choose
""",
        "writes BOS first": """
def continued(beginning):
    steps = iter([1, *beginning])

    def choose(logits):
        best, forced = logits.argmax(-1), next(steps, None)
        return best if forced is None else torch.full_like(best, forced)

    return choose
""",
        "greedy, whatever is given": """
def continued(beginning):
    return lambda logits: logits.argmax(-1)
""",
        "takes the best of the first row for all": """
def continued(beginning):
    steps = iter(beginning)

    def choose(logits):
        forced = next(steps, None)
        token = logits[0].argmax() if forced is None else forced
        return torch.full_like(logits.argmax(-1), int(token))

    return choose
""",
    },
    "best_of_all": {
        "greedy": """
def best_of_all(next_letters):
    text, p = "", 1.0
    while not text.endswith("."):
        options = next_letters(text)
        letter = max(options, key=options.get)
        text, p = text + letter, p * options[letter]
    return text, p
""",
        "two beams": """
def best_of_all(next_letters):
    beams = {"": 1.0}
    while not all(text.endswith(".") for text in beams):
        beams = beam_step(beams, next_letters, 2)
    best = max(beams, key=beams.get)
    return best, beams[best]
""",
        "stops at the first text that is found finished": """
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
        "takes the least probable out": with_change(
            with_change(BEST, "(-1.0,", "(1.0,"), "-minus_p", "minus_p"
        ),
        "first in, first out": """
def best_of_all(next_letters):
    queue = [(1.0, "")]
    while True:
        p, text = queue.pop(0)
        if text.endswith("."):
            return text, p
        for letter, share in next_letters(text).items():
            queue.append((p * share, text + letter))
""",
        "adds probabilities": """
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
        "the probability without the end": with_change(
            BEST,
            "return text, -minus_p",
            "return text, -minus_p / next_letters(text[:-1])[text[-1]]",
        ),
    },
}
