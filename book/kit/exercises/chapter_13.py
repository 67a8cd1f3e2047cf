"""Checks of the exercises of chapter 13, decoding. Not taught."""

import itertools
import math

import torch

from kit.exercises import Wrong, exercise, expect
from lib.runtime import device
from lib.transformer import Transformer, TransformerConfig

PAD, BOS, EOS = 0, 1, 2
LIBRARY = (
    "beam_search",
    "decoder_for",
    "greedy",
    "IncrementalDecoder",
    "next_logits",
    "sample",
    "WholeDecoder",
    "write_tokens",
)


def wild_model():
    """Not trained; its texts have different lengths."""
    config = TransformerConfig(13, 6, 16, 2, 24, 1, 1, tied="none")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        model = Transformer(config).requires_grad_(False)
    for weight in model.parameters():
        weight.mul_(1.5 if weight.ndim > 1 else 1.0)
    return model.double().eval().to(device())


# 13.1


@exercise()
@expect.own_work(*LIBRARY)
def greedy_with_score(answer, draw):
    model = wild_model()
    source = draw.ids(3, 12, 7, 7)
    source[::3, 4:] = PAD
    texts = [alone(model, row[row != PAD], 10) for row in source]
    blind = [alone(model, row, 10)[1] for row in source]
    for limit in (10, 4):
        cut = [(ids[:limit], logs[:limit]) for ids, logs in texts]
        with expect.untouched(source):
            ids, total = answer(model, source, limit)
        expect.tensor(
            ids, dtype=torch.int64, what="what comes first, the ids,"
        )
        expect.tensor(total, (7,), what="what comes second, the sums,")
        wild_ids(
            ids,
            limit,
            [text for text, _ in cut],
            by_itself(answer, model, source),
        )
        wild_sums(total, cut, [logs[:limit] for logs in blind])
    short = min(texts, key=lambda text: len(text[0]))[0]
    row = [text for text, _ in texts].index(short)
    ids, _ = answer(model, source[row : row + 1], 10)
    expect.that(
        ids.shape[1] == len(short),
        "when all rows have ended, at "
        f"{expect.plural(len(short), 'token')}, there is nothing left to "
        f"write: your table has {expect.plural(ids.shape[1], 'column')}.",
    )


def alone(model, source, limit):
    """One text by itself: its ids, and log p of each in two ways."""
    memory, ids, logs = model.encode(source[None]), [BOS], []
    while len(ids) <= limit and ids[-1] != EOS:
        row = torch.tensor([ids], device=device())
        logits = model.decode(row, memory)[0, -1]
        free = logits.clone()
        free[[PAD, BOS]] = -math.inf
        ids.append(free.argmax().item())
        both = free.log_softmax(-1)[ids[-1]], logits.log_softmax(-1)[ids[-1]]
        logs.append([log_p.item() for log_p in both])
    return ids[1:], logs


READS_PAD = (
    "a source that is shorter than the others is read with its PAD: alone it "
    "would get something else."
)


def by_itself(answer, model, source):
    """What the answer writes for a row alone, without its PAD."""

    def write(n):
        row = source[n][source[n] != PAD]
        return answer(model, row[None], 10)[0][0].tolist()

    return write


def wild_ids(ids, limit, texts, write):
    """The texts, row by row."""
    rows = ids.tolist()
    longest = max(map(len, texts))
    expect.that(
        not all(row[0] == BOS for row in rows),
        "BOS begins what the decoder reads, but it is no part of the text.",
    )
    expect.that(
        len(rows[0]) <= limit,
        f"your table has {len(rows[0])} columns, and the limit is {limit}.",
    )
    for row in rows:
        text = row[: row.index(EOS)] if EOS in row else row
        expect.that(
            PAD not in text and BOS not in text,
            "PAD or BOS is written in the middle of a text: they are "
            "impossible.",
        )
        expect.that(
            EOS not in row or not any(row[row.index(EOS) + 1 :]),
            "a row that has ended goes on writing: it is to hold PAD.",
        )
    expect.that(
        len(rows[0]) >= longest,
        f"your table has {expect.plural(len(rows[0]), 'column')}, but the "
        f"longest text has {expect.plural(longest, 'token')}: the others "
        "must go on when one has ended.",
    )
    right = [text + [PAD] * (len(rows[0]) - len(text)) for text in texts]
    wrong = [n for n, row in enumerate(rows) if row != right[n]]
    if not wrong:
        return
    padded = [n for n in wrong if n % 3 == 0]
    if padded:
        n, width = padded[0], len(texts[padded[0]])
        expect.that(write(n)[:width] != texts[n], READS_PAD)
    expect.that(
        all(row[0] == text[0] for row, text in zip(rows, texts, strict=True)),
        "the first token is not the most probable one: what does the decoder "
        "read before anything is written, and which of its rows counts?",
    )
    raise Wrong(
        "the first token is right, a later one is not: what has the decoder "
        "read by then?"
    )


def wild_sums(total, texts, blind):
    """The sums of log p, or those of a known mistake."""
    logs = [[first for first, _ in pairs] for _, pairs in texts]
    no_eos = [
        sum(log for log, token in zip(row, ids, strict=True) if token != EOS)
        for row, (ids, _) in zip(logs, texts, strict=True)
    ]
    free = [sum(second for _, second in pairs) for _, pairs in texts]
    expect.close(
        total.cpu(),
        as_sums(map(sum, logs)),
        "the texts are right, their sums of log p are not.",
        [
            (as_sums(no_eos), "the EOS is a token too: its log p counts."),
            (
                as_sums(sum(map(math.exp, row)) for row in logs),
                "probabilities are added: their logarithms are to be.",
            ),
            (
                as_sums(free),
                "PAD and BOS still get a share of the probability: rule them "
                "out before the softmax.",
            ),
            (
                as_sums(sum(first for first, _ in pairs) for pairs in blind),
                READS_PAD,
            ),
        ],
    )


def as_sums(values):
    return torch.tensor(list(values), dtype=torch.float64)


# 13.2


@exercise()
def filtered_by_best(answer, draw):
    share = draw.whole(2, 5) / 10
    some = [0.305, 0.19, 0.165, 0.11, 0.092, 0.08, 0.058]
    logits = torch.tensor(draw.shuffled(some), dtype=torch.float64).log()
    logits = logits.to(device()) + draw.whole(1, 2)
    logits = torch.stack([logits, logits * 3, logits * 0.2 + 20, 7 - logits])
    logits[:, 0] = logits.amin(-1) - 0.1
    p = logits.softmax(-1)
    with expect.untouched(logits):
        got = answer(logits, share)
    expect.tensor(got, (4, 7))
    best = p.amax(-1, keepdim=True)
    inf, top = -math.inf, logits.amax(-1, keepdim=True)
    kept = p >= share * best
    expect.close(
        got,
        logits.where(kept, inf),
        f"with a share of {share} other tokens are to stay: compare each p "
        "with the best p of its row.",
        [
            (
                logits.where(p >= share, inf),
                "a token is measured by the probability itself: it is to be "
                "measured by the best one.",
            ),
            (
                logits.where(logits >= share * top, inf),
                "this is a share of the best logit: logits are logarithms, "
                "of which a share is no share.",
            ),
            (
                logits.where(logits >= top - share, inf),
                "the share is subtracted from the best logit: which "
                "difference of logits is a quotient of probabilities?",
            ),
            (
                logits.log_softmax(-1).where(kept, inf),
                "what is kept must stay as it was: yours are logarithms of "
                "probabilities.",
            ),
            (p.where(kept, 0.0), PROBABILITIES),
            (p.where(kept, inf), PROBABILITIES),
            *(
                (logits.where(kept, low), "what is cut off becomes -inf.")
                for low in (-1e4, -1e9, torch.finfo(logits.dtype).min, -inf)
            ),
            (
                logits.where(kept, 0.0),
                "a logit of 0 is not cut off, since exp(0) is 1.",
            ),
            (
                logits.where(logits >= logits.max() + math.log(share), inf),
                "the best of the whole batch is taken: each row has its own.",
            ),
            (
                logits.where(logits >= logits[:, :1] + math.log(share), inf),
                "the first token of a row need not be the best one.",
            ),
        ],
    )
    even = torch.zeros_like(logits[0])
    expect.that(
        answer(even, 1.0) == 0,
        "a token that is as probable as the best has a share of 1, and that "
        "is at least 1.",
    )


PROBABILITIES = "probabilities come back: logits are asked for."


# 13.3


@exercise()
def step_aside(answer, draw):
    names = draw.lots.sample("abcdefgh", 3)
    beams = {name: -draw.whole(1, 30) / 20 for name in names}
    table = {name: shares(draw) for name in names}
    for width in (1, 2, 3, 4, 20):
        one_step(answer, beams, table, width)
    loud = {"p": {".": 0.6, "x": 0.4}, "q": {".": 0.1, "x": 0.55, "y": 0.35}}
    one_step(answer, {"p": -0.1, "q": -0.7}, loud, 1)
    one_step(answer, {"p": 0.0}, {"p": {"x": 0.75, ".": 0.25}}, 1)
    far = {"p": {"x": 0.62, ".": 0.38}, "qqq": {"x": 0.58, ".": 0.42}}
    one_step(answer, {"p": -1.0, "qqq": -1.0}, far, 1)


def shares(draw):
    """Probabilities of four letters; one is impossible."""
    parts = [draw.whole(2, 60) + 0.1 * n for n in range(4)]
    letters = draw.lots.sample([".", "x", "y", "z"], 4)
    table = {c: n / sum(parts) for c, n in zip(letters, parts, strict=True)}
    return table | {"w": 0.0}


def one_step(answer, beams, table, width):
    """The two dictionaries, as lists in the order of the ranking."""
    before = dict(beams)
    with expect.stops(
        "a letter with probability 0 stops your code: it has no logarithm.",
        (ValueError,),
    ):
        got = answer(beams, table.__getitem__, width)
    expect.that(beams == before, "your code changes the beams it was given.")
    expect.that(
        isinstance(got, tuple | list)
        and len(got) == 2
        and all(isinstance(part, dict) for part in got),
        "two dictionaries are asked for: what goes on, and what has ended.",
    )
    expect.that(
        not any(text.endswith("w") for part in got for text in part),
        "a letter with probability 0 is no continuation.",
    )
    got, right = tuple(got), walked(beams, table, width)
    expect.that(
        listed(got) == listed(right) or listed(got) != listed(right)[::-1],
        "the two dictionaries have changed places: first what goes on.",
    )
    mistakes = [
        (listed(walked(beams, table, width, slip)), hint)
        for slip, hint in SLIPS.items()
    ]
    if got == right:
        mistakes.append((listed(got), IN_ORDER))
    elif [list(part) for part in got] == [list(part) for part in right]:
        mistakes.append((listed(got), "the texts are right, log p is not."))
    expect.close(
        listed(got),
        listed(right),
        f"from {beams} with a width of {width} should go on "
        f"{list(right[0])}, and {list(right[1])} should have ended.",
        mistakes,
    )


IN_ORDER = "the texts are right, but not in the order of the ranking."
SLIPS = {
    "product": "log p is multiplied by a probability: to multiply "
    "probabilities, add logarithms.",
    "sum": "a probability is added to log p: its logarithm must be.",
    "forgets": "the log p that a beam had before is lost: add to it.",
    "takes a place": "an ended text takes a place: only unfinished texts "
    "count for the width.",
    "worst": "the ranking begins with the least probable.",
    "all ended": "you collect ended texts that are not passed on the way: "
    "the walk stops when the width is reached.",
    "last letter": "texts are ranked by their last letter alone: log p of "
    "the whole text counts.",
    "penalty": "texts of different lengths are compared by something else "
    "than log p: the ranking has no penalty.",
    "each beam": "each beam keeps its own best: all continuations compete.",
}
SLIPS["next ended"] = SLIPS["all ended"]  # or only those just below


def walked(beams, table, width, slip=""):
    """Walk down the ranking; or do so with a known mistake."""
    ranked = []
    for text, log in beams.items():
        for letter, p in table[text].items():
            if p:
                new = {"product": log * p, "sum": log + p}
                new["forgets"] = math.log(p)
                new = new.get(slip, log + math.log(p))
                key = p if slip == "last letter" else new
                key /= (5 + len(text)) ** 0.6 if slip == "penalty" else 1
                ranked.append((key, text + letter, new))
    ranked.sort(key=lambda entry: entry[0], reverse=slip != "worst")
    if slip == "each beam":
        first = [next(e for e in ranked if e[1][:-1] == b) for b in beams]
        ranked, width = first, len(first)
    going, ended = {}, {}
    for _, text, log in ranked:
        places = len(going) + len(ended) * (slip == "takes a place")
        if places < width or (slip[-5:] == "ended" and text[-1] == "."):
            (ended if text[-1] == "." else going)[text] = log
        elif slip != "all ended":
            break
    return going, ended


def listed(parts):
    return [[(t, float(log)) for t, log in part.items()] for part in parts]


# 13.4


@exercise()
def continued(answer, draw):
    rows, vocab = draw.whole(3, 5), draw.whole(8, 11)
    for given in (draw.different(3, 3, vocab - 1), [7], []):
        steps = 2 * draw.normal(len(given) + 3, rows, vocab)
        before = list(given)
        choose = answer(given)
        expect.that(callable(choose), "a function for `choose` is asked for.")
        got = [choose(logits) for logits in steps]
        for step, tokens in enumerate(got):
            expect.tensor(
                tokens, (rows,), torch.int64, f"what step {step} chooses"
            )
        expect.that(given == before, "the list of ids is changed.")
        best = steps.argmax(-1).tolist()
        wanted = [[token] * rows for token in given] + best[len(given) :]
        chosen(answer, [t.tolist() for t in got], wanted, best, given)
        again = answer(given)(steps[0]).tolist()
        expect.that(again == wanted[0], "a second text begins differently.")


def chosen(answer, got, wanted, best, given):
    """What each step chooses, or a known mistake."""
    rows = len(best[0])

    def forced(tokens):
        tokens = [[token] * rows for token in tokens]
        return tokens + best[len(tokens) :]

    after = len(given)
    mistakes = [(best, "nothing is forced: the beginning is not written.")]
    if given:
        mistakes += [
            (
                [[given[0]] * rows] * len(best),
                "the first id is written at every step: how does your "
                "function know which step it is?",
            ),
            (
                forced([BOS, *given]),
                "BOS is written first: the loop has given it already.",
            ),
            (
                forced([*given, EOS]),
                "the text ends after the beginning: the model is to go on.",
            ),
            (
                forced(given[::-1]),
                "the ids of the beginning come in the reverse order.",
            ),
        ]
    mistakes.append(
        (
            [*wanted[:after], *([row[0]] * rows for row in best[after:])],
            "after the beginning all rows write what is best for the first "
            "one.",
        )
    )
    expect.close(
        got,
        wanted,
        f"with the beginning {given} the steps choose {got}.",
        mistakes,
    )


# 13.5


@exercise()
def best_of_all(answer, draw):
    for table in (
        spread,
        chain,
        late,
        crowd,
        close_to_longer,
        tree(draw, 3),
        certain,
    ):
        asked = []

        def ask(text, table=table, asked=asked):
            expect.that(
                not text.endswith("."),
                f"{text!r} has ended, and you ask what comes next.",
            )
            expect.that(
                len(asked) < 400,
                "too many questions: go on with the most probable text each "
                "time, finished or not.",
            )
            asked.append(text)
            return table(text)

        one_best(answer(ask), table)


def one_best(got, table):
    """The text and its probability, or those of a known mistake."""
    expect.that(
        isinstance(got, tuple | list) and len(got) == 2,
        "two things are asked for: the text and its probability.",
    )
    text, p = got
    best, best_p = first_finished(table)
    first, first_p = found_first(table)
    stop = table(best[:-1])["."]
    expect.that(
        text != best or 0 < p <= 1,
        f"the text is right, but {p:.2f} is no probability: they are "
        "multiplied on the way.",
    )
    expect.close(
        (text, float(p)),
        (best, best_p),
        f"a text is found, {text!r}, but {best!r} with {best_p:.3f} is more "
        "probable.",
        [
            (
                greedy_of(table),
                "this is the greedy text: a less probable first letter can "
                "lead to a better one.",
            ),
            (
                (first, first_p),
                "the first finished text that turns up need not be the best: "
                "wait until it comes to the head of the queue.",
            ),
            (
                (best, best_p / stop),
                "the text is right; its probability is to include that of "
                "the full stop.",
            ),
        ],
    )


def certain(text):
    """One text, and a very long one."""
    return {"a": 1.0} if len(text) < 40 else {".": 1.0}


def spread(text):
    """Short is best; a likely beginning parts, another goes on for long."""
    if text.startswith("ax"):
        return {"x": 1.0} if len(text) < 6 else {".": 1.0}
    tables = {
        "": {"a": 0.42, "b": 0.18, ".": 0.4},
        "a": {"x": 0.45, "y": 0.55},
        "ay": {c: 0.2 for c in "klmno"},
    }
    return tables.get(text, {".": 1.0})


def late(text):
    """Seven beginnings look better than the best one; texts never end."""
    if text == "":
        return {c: 0.13 for c in "abcdefg"} | {"z": 0.09}
    ends = 0.9 if text == "z" else 0.5 if text == "aa" else 0.01
    return {".": ends, "a": (1 - ends) / 2, "b": (1 - ends) / 2}


def crowd(text):
    """More beginnings than a beam would keep look better than the best."""
    if text == "":
        letters = "abcdefghijklmnopqrstuvwxyABCDEFGHIJKLMNOPQRSTUVWXY"
        return dict.fromkeys(letters, 0.0197) | {"z": 0.015}
    tables = {"b": {"c": 0.7, ".": 0.3}, "z": {".": 1.0}}
    longer = {".": 0.01} | dict.fromkeys("abc", 0.33)
    return tables.get(text, longer if len(text) == 1 else {".": 1.0})


def close_to_longer(text):
    """The best text is short; a longer one would win by a length penalty."""
    tables = {
        "": {"a": 0.3, "b": 0.7},
        "b": {"c": 0.42, "x": 0.58},
        "bc": {"d": 1.0},
        "bx": {"k": 0.5, "l": 0.5},
    }
    return tables.get(text, {".": 1.0})


def chain(text):
    """A short text is found first, and is not the best."""
    tables = {"": {".": 0.3, "a": 0.7}, "a": {".": 0.2, "b": 0.8}}
    return tables.get(text, {".": 1.0})


def tree(draw, depth):
    """All texts up to a length, with probabilities that are drawn."""
    table = {}
    for size in range(depth):
        for letters in itertools.product("abc", repeat=size):
            parts = [draw.whole(1, 50) for _ in "abc."]
            table["".join(letters)] = {
                c: n / sum(parts) for c, n in zip("abc.", parts, strict=True)
            }
    return lambda text: table.get(text, {".": 1.0})


def first_finished(table):
    """The best text: list all, as long as they can still be the best."""
    best, best_p, alive = "", 0.0, [("", 1.0)]
    while alive:
        longer = []
        for text, p in alive:
            for letter, share in table(text).items():
                if p * share > best_p and letter == ".":
                    best, best_p = text + letter, p * share
                elif letter != ".":
                    longer.append((text + letter, p * share))
        alive = [(text, p) for text, p in longer if p > best_p]
    return best, best_p


def found_first(table):
    """The first finished text that turns up on the way of the best."""
    queue = [(1.0, "")]
    while True:
        queue.sort(key=lambda entry: (entry[0], [-ord(c) for c in entry[1]]))
        p, text = queue.pop()
        for letter, share in table(text).items():
            if letter == ".":
                return text + letter, p * share
            queue.append((p * share, text + letter))


def greedy_of(table):
    """The likeliest letter each time, and the probability of the text."""
    text, p = "", 1.0
    while not text.endswith("."):
        options = table(text)
        letter = max(options, key=options.get)
        text, p = text + letter, p * options[letter]
    return text, p


# 13.6


@exercise(alpha=(0.6, 0.5, 0.7, 0.8))
def finds_wrong_search(answer, draw):
    alpha = draw.given.alpha
    expect.kills_mutants(
        answer,
        right={
            "keeps its beams in a list": search_by(alpha),
            "multiplies probabilities and takes the logarithm last": (
                by_products(alpha)
            ),
            "ranks a tensor with topk": by_tensors(alpha),
            "puts equally good texts in the reverse order": (
                search_by(alpha, "ties")
            ),
        },
        wrong={does: search_by(alpha, slip) for slip, does in FAULTS.items()},
    )


FAULTS = {
    "greedy": "follows one text only, whatever the width",
    "worst first": "gives the worst text first",
    "no penalty": "ranks by log p and forgets the length penalty",
    "first end": "stops as soon as the first text has ended",
    "best end": "stops as soon as the best text has ended",
    "extends": "goes on with texts that have ended",
    "forgets ended": "forgets a text once it has ended",
    "twice": "begins with several empty texts and finds each text twice",
    "wider": "keeps one text more than the width allows",
    "adds": "adds probabilities instead of their logarithms",
    "multiplies": "multiplies by the length penalty",
    "no stop": "leaves the full stop out of the length",
    "plain length": "divides by the length itself",
    "one": "has an alpha of 1",
    "log p": "ranks by the score but gives log p beside the text",
    "each beam": "keeps the best continuation of each beam",
    "impossible": "writes letters of probability 0",
    "penalty last": "prunes by log p and divides by the penalty at the end",
}


def search_by(alpha, slip=""):
    """A beam search on a table; `slip` names what is wrong with it."""

    def worth(text, log, at_the_end=False):
        length = len(text) - (slip == "no stop" and text.endswith("."))
        divisor = ((5 + length) / 6) ** (1 if slip == "one" else alpha)
        if slip == "no penalty" or (slip == "penalty last" and not at_the_end):
            divisor = 1
        if slip == "plain length":
            divisor = max(length, 1)
        return log * divisor if slip == "multiplies" else log / divisor

    def longer(text, log, next_letters):
        if text.endswith(".") and slip != "extends":
            return [] if slip == "forgets ended" else [(text, log)]
        found = [
            (text + c, log + (p if slip == "adds" else math.log(p or 1e-9)))
            for c, p in next_letters(text).items()
            if p > 0 or slip == "impossible"
        ]
        found.sort(key=lambda pair: -pair[1])
        return found[:1] if slip == "each beam" else found

    def done(beams):
        ended = [text.endswith(".") for text, _ in beams]
        if slip == "first end":
            return any(ended)
        return all(ended) or (slip == "best end" and ended[0])

    def search(next_letters, width):
        keep = 1 if slip == "greedy" else width + (slip == "wider")
        beams = [("", 0.0)] * (2 if slip == "twice" else 1)
        for _ in range(60):
            found = [new for b in beams for new in longer(*b, next_letters)]
            if slip == "ties":
                found.sort(reverse=True)
            found.sort(key=lambda pair: worth(*pair), reverse=True)
            beams = found[:keep]
            if done(beams):
                break
        scores = [
            (t, log if slip == "log p" else worth(t, log, True))
            for t, log in beams
        ]
        ways = slip != "worst first"
        return sorted(scores, key=lambda pair: pair[1], reverse=ways)

    return search


def by_products(alpha):
    """The same search with probabilities, in dictionaries."""

    def score(text, p):
        return math.log(p) / ((5 + len(text)) / 6) ** alpha

    def search(next_letters, width):
        beams = {"": 1.0}
        while not all(text.endswith(".") for text in beams):
            new = {t: p for t, p in beams.items() if t.endswith(".")}
            for text in [t for t in beams if not t.endswith(".")]:
                for letter, share in next_letters(text).items():
                    if share > 0:
                        new[text + letter] = beams[text] * share
            worth = {text: score(text, p) for text, p in new.items()}
            ranked = sorted(new, key=worth.get, reverse=True)
            beams = {text: new[text] for text in ranked[:width]}
        return [(text, score(text, p)) for text, p in beams.items()]

    return search


def by_tensors(alpha):
    """The same search; sums and lengths stand in tensors."""

    def search(next_letters, width):
        texts, logs = [""], torch.zeros(1, dtype=torch.float64)
        while not all(text.endswith(".") for text in texts):
            new, sums = [], []
            for text, log in zip(texts, logs, strict=True):
                ended = text.endswith(".")
                letters = {"": 1.0} if ended else next_letters(text)
                new += [text + letter for letter in letters]
                p = torch.tensor(list(letters.values()), dtype=torch.float64)
                sums.append(log + p.log())
            sums = torch.cat(sums)
            lengths = torch.tensor([len(text) for text in new])
            scores = sums / ((5 + lengths.double()) / 6) ** alpha
            possible = int(scores.isfinite().sum())
            scores, best = scores.topk(min(width, possible))
            texts, logs = [new[i] for i in best.tolist()], sums[best]
        return list(zip(texts, scores.tolist(), strict=True))

    return search
