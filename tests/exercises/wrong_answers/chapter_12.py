"""Wrong answers to the exercises of chapter 12, by misconception."""

WRONG = {
    "expected": {
        "reads every digit of the year off the text": """
def expected():
    return ["2019-03-07", "2084-03-03", "1019-03-03"]
""",
        "the first digit brings its whole year": """
def expected():
    return ["2019-03-07", "2084-03-03", "1984-03-03"]
""",
        "the last two digits bring their century": """
def expected():
    return ["2019-03-07", "1984-03-03", "1919-03-03"]
""",
        "the old memory wins": """
def expected():
    return ["2019-03-03", "2019-03-03", "2019-03-03"]
""",
        "takes the 3 of the day for the month": """
def expected():
    return ["2019-07-03", "2084-03-03", "1919-03-03"]
""",
        "both of the equal digits change": """
def expected():
    return ["2019-07-07", "2084-03-03", "1919-03-03"]
""",
        "one digit cannot overrule three": """
def expected():
    return ["2019-03-07", "2084-03-03", "2019-03-03"]
""",
    },
    "letters_to_hide": {
        "always the whole name": """
def letters_to_hide(month, number):
    return len(month)
""",
        "only stretches of neighbours": """
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        for first in range(11, 11 + len(month) - n + 1):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., first : first + n] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != f"{number:02}":
                return n
""",
        "hides from the left only": """
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
        may_look[..., 11 : 11 + n] = False
        told = say(read(question), may_look.to(device), begun="2019-")
        if told[0][5:7] != f"{number:02}":
            return n
""",
        "the mask the wrong way round": """
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        for hidden in itertools.combinations(range(len(month)), n):
            may_look = torch.zeros(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., [11 + i for i in hidden]] = True
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != f"{number:02}":
                return n
""",
        "counts the letters that must stay": """
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        for hidden in itertools.combinations(range(len(month)), n):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., [11 + i for i in hidden]] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != f"{number:02}":
                return len(month) - n
""",
        "hides letters of the weekday": """
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        for hidden in itertools.combinations(range(len(month)), n):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., list(hidden)] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != f"{number:02}":
                return n
    return len(month)
""",
        "asks whether all letters may vote at once": """
def letters_to_hide(month, number):
    return 1 if len(month) < 5 else 2
""",
    },
    "seeds_needed": {
        "forgets the square": """
def seeds_needed(differences, effect):
    return math.ceil(3 * differences.std().item() / abs(effect))
""",
        "rounds down": """
def seeds_needed(differences, effect):
    return int((3 * differences.std().item() / abs(effect)) ** 2)
""",
        "takes the standard error for the standard deviation": """
def seeds_needed(differences, effect):
    error = differences.std().item() / math.sqrt(len(differences))
    return math.ceil((3 * error / abs(effect)) ** 2)
""",
        "an error as large as the effect": """
def seeds_needed(differences, effect):
    return math.ceil((differences.std().item() / abs(effect)) ** 2)
""",
        "the mean in place of the spread": """
def seeds_needed(differences, effect):
    return math.ceil((3 * differences.mean().item() / effect) ** 2)
""",
        "divides by n instead of n - 1": """
def seeds_needed(differences, effect):
    spread = differences.std(correction=0).item()
    return math.ceil((3 * spread / abs(effect)) ** 2)
""",
    },
    "luck": {
        "one side only": """
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1)
    return (means >= d.mean().abs() - 1e-9).double().mean().item()
""",
        "strictly larger": """
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means > d.mean().abs() + 1e-9).double().mean().item()
""",
        "all differences flip together": """
def luck(differences):
    d = differences.double()
    means = torch.stack([d.mean(), -d.mean()]).abs()
    return (means >= d.mean().abs() - 1e-9).double().mean().item()
""",
        "counts signs and forgets sizes": """
def luck(differences):
    d = differences.double().sign()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means >= d.mean().abs() - 1e-9).double().mean().item()
""",
        "compares with the largest difference": """
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means >= d.abs().max() - 1e-9).double().mean().item()
""",
        "the chance that all agree, whatever the numbers": """
def luck(differences):
    return 2 / 2 ** len(differences)
""",
        "compares means with their signs": """
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1)
    return (means >= d.mean() - 1e-9).double().mean().item()
""",
    },
    "ceiling": {
        "one right answer for each text, however often it occurs": """
def ceiling(pairs):
    return len({seen for seen, _ in pairs}) / len(pairs)
""",
        "the share of different answers": """
def ceiling(pairs):
    return len({answer for _, answer in pairs}) / len(pairs)
""",
        "the share of texts that leave no choice": """
def ceiling(pairs):
    answers = defaultdict(set)
    for seen, answer in pairs:
        answers[seen].add(answer)
    sure = sum(len(answers[seen]) == 1 for seen, _ in pairs)
    return sure / len(pairs)
""",
        "guesses among the answers instead of taking the best": """
def ceiling(pairs):
    answers = defaultdict(Counter)
    for seen, answer in pairs:
        answers[seen][answer] += 1
    hit = sum(1 / len(answers[seen]) for seen, _ in pairs)
    return hit / len(pairs)
""",
        "the mean over texts, not over pairs": """
def ceiling(pairs):
    answers = defaultdict(Counter)
    for seen, answer in pairs:
        answers[seen][answer] += 1
    best = [max(c.values()) / c.total() for c in answers.values()]
    return sum(best) / len(best)
""",
        "the answer that is most frequent of all": """
def ceiling(pairs):
    best = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return sum(answer == best for _, answer in pairs) / len(pairs)
""",
    },
}
