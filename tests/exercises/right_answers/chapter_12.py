"""Right answers in chapter 12 by other routes than the book's."""

RIGHT = {
    "expected": {
        "returns a tuple": """
def expected():
    day, year = 7, 84  # given
    return f"2019-03-{day:02}", f"20{year:02}-03-03", "19" + "19-03-03"
""",
        "joins numbers": """
def expected():
    day, year = 7, 84  # given
    rows = [(2019, 3, day), (2000 + year, 3, 3), (1919, 3, 3)]
    return ["-".join(f"{n:02}" for n in row) for row in rows]
""",
        "asks the calendar": """
from datetime import date

def expected():
    day, year = 7, 84  # given
    dates = [date(2019, 3, day), date(2000 + year, 3, 3), date(1919, 3, 3)]
    return list(map(str, dates))
""",
    },
    "letters_to_hide": {
        "goes through all choices, and keeps the smallest": """
def letters_to_hide(month, number):
    text = f"dimanche 3 {month} 2019"
    memory, best = read(text), len(month)
    for choice in itertools.product((True, False), repeat=len(month)):
        hidden = choice.count(False)
        if hidden >= best:
            continue
        seen = torch.tensor([True] * 11 + list(choice) + [True] * 5)
        if say(memory, seen[None, None, None], begun="2019-")[0][5:7] != str(number).zfill(2):
            best = hidden
    return best
""",
        "writes the choices in binary": """
def letters_to_hide(month, number):
    text, memory = f"dimanche 3 {month} 2019", read(f"dimanche 3 {month} 2019")
    for bits in sorted(range(1, 2 ** len(month)), key=int.bit_count):
        seen = torch.ones(1, 1, 1, len(text), device=device) > 0
        for i in range(len(month)):
            seen[0, 0, 0, text.index(month) + i] = not bits >> i & 1
        if say(memory, seen, begun="2019-")[0][5:7] != f"{number:02d}":
            return bits.bit_count()
""",
        "is recursive": """
def letters_to_hide(month, number):
    text = f"dimanche 3 {month} 2019"
    memory = read(text)

    def lost(hidden):
        seen = torch.ones(len(text), dtype=torch.bool)
        seen[[11 + i for i in hidden]] = False
        written = say(memory, seen.view(1, 1, 1, -1), begun="2019-")[0]
        return int(written.split("-")[1]) != number

    def search(left, start, hidden):
        if left == 0:
            return bool(hidden) and lost(hidden)
        return any(search(left - 1, i + 1, [*hidden, i]) for i in range(start, len(month)))

    return next(n for n in range(1, len(month) + 1) if search(n, 0, []))
""",
    },
    "seeds_needed": {
        "counts up": """
def seeds_needed(differences, effect):
    n, wanted = 1, abs(effect) / 3
    spread = differences.std().item()
    while spread / n**0.5 > wanted:
        n += 1
    return n
""",
        "takes the variance": """
def seeds_needed(differences, effect):
    d = differences.double() - differences.double().mean()
    variance = float(d @ d) / (len(d) - 1)
    return -int(-9 * variance // effect**2)
""",
        "returns a tensor with a whole number": """
import statistics

def seeds_needed(differences, effect):
    s = statistics.stdev(differences.tolist())
    return torch.tensor(9 * s * s / effect / effect, dtype=torch.float64).ceil().long()
""",
    },
    "luck": {
        "counts with numbers of Python": """
def luck(differences):
    d = differences.tolist()
    sums = [abs(math.fsum(s * x for s, x in zip(signs, d))) for signs in itertools.product((1, -1), repeat=len(d))]
    return sum(total > abs(math.fsum(d)) - 1e-9 for total in sums) / len(sums)
""",
        "builds the sums one difference after the other": """
def luck(differences):
    sums = torch.zeros(1, dtype=torch.float64)
    for x in differences.double():
        sums = torch.cat([sums + x, sums - x])
    return (sums.abs() >= sums[0].abs() - 1e-9).double().mean()
""",
        "writes numbers in binary": """
def luck(differences):
    n = len(differences)
    bits = torch.arange(2**n)[:, None] >> torch.arange(n) & 1
    means = (differences.double() * (1.0 - 2 * bits)).mean(dim=1)
    observed = differences.double().mean()
    close = torch.isclose(means.abs(), observed.abs(), rtol=1e-9, atol=1e-12)
    return float(((means.abs() > observed.abs()) | close).sum()) / 2**n
""",
    },
    "ceiling": {
        "sorts and groups": """
def ceiling(pairs):
    hits = 0
    for _, group in itertools.groupby(sorted(pairs), key=lambda pair: pair[0]):
        answers = [answer for _, answer in group]
        hits += max(answers.count(a) for a in answers)
    return hits / len(pairs)
""",
        "counts pairs": """
def ceiling(pairs):
    best = {}
    for (text, _), n in Counter(pairs).items():
        best[text] = max(n, best.get(text, 0))
    return sum(best.values()) / len(pairs)
""",
        "returns a tensor without axes": """
def ceiling(pairs):
    texts = sorted({t for t, _ in pairs})
    answers = sorted({a for _, a in pairs})
    table = torch.zeros(len(texts), len(answers), dtype=torch.float64)
    for text, answer in pairs:
        table[texts.index(text), answers.index(answer)] += 1
    return table.amax(1).sum() / table.sum()
""",
    },
}
