"""Right answers in chapter 13 by other routes than the book's."""

RIGHT = {
    "filtered_by_best": {
        "compares probabilities": """
def filtered_by_best(logits, share):
    p = F.softmax(logits, dim=-1)
    return torch.where(p >= share * p.max(-1, True).values, logits, -torch.inf)
""",
        "sorts, and goes back to where each token stood": """
@torch.no_grad()
def filtered_by_best(logits, share):
    ranked, places = logits.sort(-1, descending=True)
    log_p = torch.log_softmax(ranked, -1)
    ranked[log_p - log_p[..., :1] < math.log(share)] = float("-inf")
    return torch.empty_like(logits).scatter(-1, places, ranked)
""",
        "goes through the rows, and lists what falls": """
def filtered_by_best(logits, share):
    rows = logits.clone().reshape(-1, logits.shape[-1])
    for row in rows:
        ratios = [math.exp(x - max(row)) for x in row]
        row[[n for n, r in enumerate(ratios) if r < share]] = -math.inf
    return rows.view(logits.shape)
""",
        "adds -inf, in single precision where it can": """
def filtered_by_best(logits, share):
    ratio = torch.exp(logits - logits.amax(dim=-1, keepdim=True))
    return logits + torch.where(ratio < share, -math.inf, 0.0).to(logits)
""",
    },
    "step_aside": {
        "returns a list of two": """
def step_aside(beams, next_letters, width):
    found = [
        (log + math.log(p), text + letter)
        for text, log in beams.items()
        for letter, p in next_letters(text).items()
        if p
    ]
    groups = [{}, {}]
    for log, text in sorted(found, key=lambda pair: -pair[0]):
        if len(groups[0]) < width:
            groups[text[-1] == "."][text] = log
    return groups
""",
        "takes the best out of a heap": """
def step_aside(beams, next_letters, width):
    import heapq
    from collections import OrderedDict

    heap, walked = [], (OrderedDict(), OrderedDict())
    for text in beams:
        for c, p in next_letters(text).items():
            if p != 0.0:
                heapq.heappush(heap, (-beams[text] - math.log(p), text + c))
    while heap and len(walked[0]) < width:
        log, text = heapq.heappop(heap)
        walked[text.endswith(".")][text] = -log
    return walked
""",
        "ranks a tensor, and its numbers have no axes": """
def step_aside(beams, next_letters, width):
    tables = [(t, c, p) for t in beams for c, p in next_letters(t).items()]
    logs = torch.tensor([beams[t] for t, _, _ in tables])
    logs = logs + torch.tensor([p for _, _, p in tables]).log()
    going, ended = {}, {}
    for place in logs.argsort(descending=True):
        text = "".join(tables[place][:2])
        if len(going) < width and logs[place] > -torch.inf:
            (ended if "." in text else going)[text] = logs[place]
    return going, ended
""",
    },
    "best_of_all": {
        "goes down every branch that can still be better": """
def best_of_all(next_letters):
    best = ["", 0.0]

    def visit(text, p):
        if text.endswith("."):
            best[:] = text, p
            return
        for letter, share in next_letters(text).items():
            if p * share > best[1]:
                visit(text + letter, p * share)

    visit("", 1.0)
    return best
""",
        "keeps the queue in a dictionary, with logarithms": """
def best_of_all(next_letters):
    queue = {"": 0.0}
    while True:
        text = max(queue, key=queue.get)
        log = queue.pop(text)
        if text[-1:] == ".":
            return text, torch.tensor(log).exp()
        for c, share in next_letters(text).items():
            queue[text + c] = log + (math.log(share) if share else -math.inf)
""",
        "writes nothing that is impossible, and asks each text once": """
def best_of_all(next_letters):
    from functools import lru_cache
    from queue import PriorityQueue

    ask, queue = lru_cache(None)(next_letters), PriorityQueue()
    queue.put((-1, ""))
    while not (first := queue.get())[1].endswith("."):
        for c in filter(ask(first[1]).get, ask(first[1])):
            queue.put((first[0] * ask(first[1])[c], first[1] + c))
    return first[1], -first[0]
""",
    },
    "finds_wrong_search": {
        "has a search of its own, and compares on drawn tables": """
def finds_wrong_search(search):
    import random
    alpha = 0.6  # given

    def score(text, p):
        return math.log(p) / ((5 + len(text)) / 6) ** alpha

    for seed in range(40):
        def ask(text):
            assert "." not in text
            lots = random.Random(f"{seed}{text}")
            p = [lots.random() + len(text) * (c == ".") for c in "abc."]
            p = dict(zip("abc.", [x / sum(p) for x in p])) | {"z": 0.0}
            return {".": 1.0} if len(text) > 3 else p

        beams, width = {"": 1.0}, 999 if seed == 9 else 1 + seed % 9
        while not all(t.endswith(".") for t in beams):
            new = {t: p for t, p in beams.items() if "." in t}
            for t in beams.keys() - new.keys():
                new |= {t + c: beams[t] * p for c, p in ask(t).items() if p}
            ranked = sorted(new, key=lambda t: -score(t, new[t]))
            beams = {t: new[t] for t in ranked[:width]}
        found = search(ask, width)
        assert [t for t, _ in found] == list(beams), (found, beams)
        for t, x in found:
            torch.testing.assert_close(x, score(t, beams[t]))
""",
        "watches which texts the search asks about, step by step": """
def finds_wrong_search(search):
    import random
    alpha = 0.6  # given
    lots = random.Random(13)

    def score(text):
        return math.log(p[text]) / ((5 + len(text)) / 6) ** alpha

    for width in [*range(1, 6)] * 30 + [500]:
        p, asked = {"": 1.0}, {}

        def ask(text):
            assert text[-1:] != "."
            if text not in asked:
                a, b = lots.random() * 0.7, lots.random() * 0.3
                rest = {"a": a, "b": b, ".": 1 - a - b}
                asked[text] = {".": 1.0} if len(text) > 6 else rest
                p.update((text + c, p[text] * x) for c, x in asked[text].items())
            return {"z": 0.0, **asked[text]}

        found, kept, n = search(ask, width), [""], 0
        while going := {t for t in kept if t[-1:] != "."}:
            assert going == {t for t in asked if len(t) == n}
            n += 1
            kept = [t for t in p if len(t) == n or t in kept and t not in going]
            kept = sorted(kept, key=score, reverse=True)[:width]
        assert [text for text, _ in found] == kept
        assert max(abs(x - score(text)) for text, x in found) < 1e-6
""",
        "takes the tree of the chapter, and a tree with a long branch": """
def finds_wrong_search(search):
    alpha = 0.6  # given

    def branch(text):
        if len(text) == 6:
            return {"c": 0.64, "d": 0.36}
        if not text:
            return {"a": 0.3, "b": 0.7}
        return {".": 1.0} if text == "a" or len(text) > 6 else {"b": 1.0}

    shortest = {"august.", "agosto."}
    longest = {"augustus.", "augusti.", "augusts.", "augusztus."}
    for tree, width, texts in (
        (august, 1, {"august."}),
        (august, 2, shortest),
        (august, 6, shortest | longest),
        (august, 9, shortest | longest),
        (branch, 2, {"bbbbbbc.", "bbbbbbd."}),
    ):
        found = search(lambda text: tree(text) | {"x": 0.0}, width)
        scores = [score for _, score in found]
        assert len(found) == len(texts) and dict(found).keys() == texts
        assert scores == sorted(scores)[::-1]
        for text, score in found:
            log = score * ((5 + len(text)) / 6) ** alpha
            p = math.prod(tree(text[:n])[c] for n, c in enumerate(text))
            assert round(log - math.log(p), 6) == 0
""",
    },
}
