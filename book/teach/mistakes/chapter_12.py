"""Wrong answers to the exercises of chapter 12, each by its misconception."""

WRONG = {
    "expected": {
        "reads every digit of the year off the text": """
# hint: no year that the model was trained on
def expected():
    return ["2019-03-07", "2084-03-03", "1019-03-03"]
""",
        "the first digit brings its whole year": """
# hint: the first digit alone is planted
def expected():
    return ["2019-03-07", "2084-03-03", "1984-03-03"]
""",
        "the last two digits bring their century": """
# hint: the century was not planted
def expected():
    return ["2019-03-07", "1984-03-03", "1919-03-03"]
""",
        "the old memory wins": """
# hint: (a): nothing changes
def expected():
    return ["2019-03-03", "2019-03-03", "2019-03-03"]
""",
        "takes the 3 of the day for the month": """
# hint: the digit belongs to the second
def expected():
    return ["2019-07-03", "2084-03-03", "1919-03-03"]
""",
        "both of the equal digits change": """
# hint: only one of the two 03
def expected():
    return ["2019-07-07", "2084-03-03", "1919-03-03"]
""",
        "one digit cannot overrule three": """
# hint: (c): nothing changes
def expected():
    return ["2019-03-07", "2084-03-03", "2019-03-03"]
""",
        "the planted digits are not read": """
# hint: (b): nothing changes
def expected():
    return ["2019-03-07", "2019-03-03", "1919-03-03"]
""",
        "the dates as numbers": """
# hint: each as a string
def expected():
    return [20190307, 20840303, 19190303]
""",
        "the planted 7 ends up in the year": """
# hint: What is read there?
def expected():
    return ["2017-03-03", "2084-03-03", "1919-03-03"]
""",
        "the planted digits come first": """
# hint: which places of the year are planted
def expected():
    return ["2019-03-07", "8419-03-03", "1919-03-03"]
""",
        "the first digit brings its century's last year": """
# hint: (c): only the first digit of the year is planted
def expected():
    return ["2019-03-07", "2084-03-03", "1999-03-03"]
""",
    },
    "letters_to_hide": {
        "always the whole name": """
# hint: hiding the whole name always works
def letters_to_hide(month, number):
    return len(month)
""",
        "only stretches of neighbours": """
# hint: need not be neighbours
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
# hint: need not be the first ones
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
# hint: shows the chosen letters
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
# hint: that stay visible
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
# hint: Where does it stand?
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        for hidden in itertools.combinations(range(len(month)), n):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., list(hidden)] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != f"{number:02}":
                return n
""",
        "asks whether all letters may vote at once": """
# hint: try all choices of one letter
def letters_to_hide(month, number):
    return 1 if len(month) < 5 else 2
""",
        "hides one letter after the other, the worst first": """
# hint: try all choices of one letter
def letters_to_hide(month, number):
    question, hidden = f"dimanche 3 {month} 2019", []
    while True:
        losses = []
        for i in range(11, 11 + len(month)):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., [*hidden, i]] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != f"{number:02}":
                return len(hidden) + 1
            if i not in hidden:
                losses.append((told[1][1], i))
        hidden.append(min(losses)[1])
""",
        "looks at the second digit only": """
# hint: letters_to_hide('novembre', 11) finds nothing
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        for hidden in itertools.combinations(range(len(month)), n):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., [11 + i for i in hidden]] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][6] != f"{number:02}"[1]:
                return n
""",
        "a table of what was found once": """
# hint: no table knows every slip
def letters_to_hide(month, number):
    return {3: 1, 4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 11: 2}[number]
""",
        "a table of the names": """
# hint: your code stops with KeyError
def letters_to_hide(month, number):
    table = {"mars": 1, "avril": 2, "mai": 2, "juin": 2, "août": 2}
    return (table | {"juillet": 2, "novembre": 2})[month]
""",
        "compares a text with a number": """
# hint: '03' is not 3
def letters_to_hide(month, number):
    question = f"dimanche 3 {month} 2019"
    for n in range(1, len(month) + 1):
        for hidden in itertools.combinations(range(len(month)), n):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., [11 + i for i in hidden]] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != number:
                return n
""",
        "returns the letters": """
# hint: a number of letters is asked for
def letters_to_hide(month, number):
    return {3: "r", 4: "ri", 5: "ai", 6: "in", 8: "ao"}[number]
""",
    },
    "predicted_seeds": {
        "three times the seeds": """
# hint: by the root of
def predicted_seeds():
    return 15
""",
        "forgets how many there were": """
# hint: how many times as many
def predicted_seeds():
    return 9
""",
        "counts the further seeds only": """
# hint: these are the further seeds
def predicted_seeds():
    return 40
""",
        "takes the root instead of the square": """
# hint: the root goes the other way
def predicted_seeds():
    return 5 * 3**0.5
""",
        "adds the square instead of multiplying by it": """
# hint: it is to be 3 times smaller
def predicted_seeds():
    return 5 + 3**2
""",
        "takes a third": """
# hint: it is to be 3 times smaller
def predicted_seeds():
    return 5 / 3
""",
        "a word": """
# hint: a number of seeds is asked for
def predicted_seeds():
    return "forty-five"
""",
    },
    "seeds_needed": {
        "forgets the square": """
# hint: n grows with the square
def seeds_needed(differences, effect):
    return math.ceil(3 * differences.std().item() / abs(effect))
""",
        "rounds down": """
# hint: one seed too few
def seeds_needed(differences, effect):
    return int((3 * differences.std().item() / abs(effect)) ** 2)
""",
        "takes the standard error for the standard deviation": """
# hint: you begin with the standard error
def seeds_needed(differences, effect):
    error = differences.std().item() / math.sqrt(len(differences))
    return math.ceil((3 * error / abs(effect)) ** 2)
""",
        "an error as large as the effect": """
# hint: as large as the effect
def seeds_needed(differences, effect):
    return math.ceil((differences.std().item() / abs(effect)) ** 2)
""",
        "the mean in place of the spread": """
# hint: is no spread
def seeds_needed(differences, effect):
    return math.ceil((3 * differences.mean().item() / effect) ** 2)
""",
        "divides by n instead of n - 1": """
# hint: divides by n - 1
def seeds_needed(differences, effect):
    spread = differences.std(correction=0).item()
    return math.ceil((3 * spread / abs(effect)) ** 2)
""",
        "leaves the number as it comes": """
# hint: of the type int
def seeds_needed(differences, effect):
    return float(math.ceil((3 * differences.std().item() / effect) ** 2))
""",
        "rounds not at all": """
# hint: which way is it to be rounded
def seeds_needed(differences, effect):
    return (3 * differences.std().item() / effect) ** 2
""",
        "a tensor": """
# hint: of the type int
def seeds_needed(differences, effect):
    return torch.ceil((3 * differences.std() / effect) ** 2).int()
""",
        "twice the error, not three times": """
# hint: is not the first that is
def seeds_needed(differences, effect):
    return math.ceil((2 * differences.std().item() / effect) ** 2)
""",
    },
    "luck": {
        "one side only": """
# hint: only one side
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1)
    return (means >= d.mean().abs() - 1e-9).double().mean().item()
""",
        "strictly larger": """
# hint: an equal mean counts
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means > d.mean().abs() + 1e-9).double().mean().item()
""",
        "all differences flip together": """
# hint: not all together
def luck(differences):
    d = differences.double()
    means = torch.stack([d.mean(), -d.mean()]).abs()
    return (means >= d.mean().abs() - 1e-9).double().mean().item()
""",
        "counts signs and forgets sizes": """
# hint: not their signs alone
def luck(differences):
    d = differences.double().sign()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means >= d.mean().abs() - 1e-9).double().mean().item()
""",
        "compares with the largest difference": """
# hint: not with a single difference
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means >= d.abs().max() - 1e-9).double().mean().item()
""",
        "the chance that all agree, whatever the numbers": """
# hint: whatever they are
def luck(differences):
    return 2 / 2 ** len(differences)
""",
        "compares means with their signs": """
# hint: compared with their signs
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1)
    return (means >= d.mean() - 1e-9).double().mean().item()
""",
        "trusts that sums are exact": """
# hint: rounding makes two equal means differ
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means >= d.mean().abs()).double().mean().item()
""",
        "changes the order instead of the signs": """
# hint: may change its sign by itself
def luck(differences):
    d = differences.double()
    orders = itertools.permutations(range(len(d)))
    means = torch.stack([d[list(order)].mean() for order in orders]).abs()
    return (means >= d.mean().abs() - 1e-9).double().mean().item()
""",
        "draws some signs": """
# hint: another share of the
def luck(differences):
    d = differences.double()
    signs = 2.0 * torch.randint(2, (7, len(d)), device=d.device) - 1
    means = (signs * d).mean(1).abs()
    return (means >= d.mean().abs() - 1e-9).double().mean().item() * 0.99
""",
        "returns a tensor": """
# hint: as a plain number
def luck(differences):
    d = differences.double()
    signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
    means = (signs * d).mean(1).abs()
    return (means >= d.mean().abs() - 1e-9).double().mean()
""",
    },
    "ceiling": {
        "one right answer for each text, however often it occurs": """
# hint: right more than once
def ceiling(pairs):
    return len({seen for seen, _ in pairs}) / len(pairs)
""",
        "the share of different answers": """
# hint: the answers are counted
def ceiling(pairs):
    return len({answer for _, answer in pairs}) / len(pairs)
""",
        "the share of texts that leave no choice": """
# hint: is not lost
def ceiling(pairs):
    answers = defaultdict(set)
    for seen, answer in pairs:
        answers[seen].add(answer)
    sure = sum(len(answers[seen]) == 1 for seen, _ in pairs)
    return sure / len(pairs)
""",
        "guesses among the answers instead of taking the best": """
# hint: you guess among
def ceiling(pairs):
    answers = defaultdict(Counter)
    for seen, answer in pairs:
        answers[seen][answer] += 1
    hit = sum(1 / len(answers[seen]) for seen, _ in pairs)
    return hit / len(pairs)
""",
        "the mean over texts, not over pairs": """
# hint: every text counts the same
def ceiling(pairs):
    answers = defaultdict(Counter)
    for seen, answer in pairs:
        answers[seen][answer] += 1
    best = [max(c.values()) / c.total() for c in answers.values()]
    return sum(best) / len(best)
""",
        "the answer that is most frequent of all": """
# hint: is given to all texts
def ceiling(pairs):
    best = Counter(answer for _, answer in pairs).most_common(1)[0][0]
    return sum(answer == best for _, answer in pairs) / len(pairs)
""",
        "the worst answer of each text": """
# hint: another share is the best
def ceiling(pairs):
    answers = defaultdict(Counter)
    for seen, answer in pairs:
        answers[seen][answer] += 1
    return sum(min(c.values()) for c in answers.values()) / len(pairs)
""",
        "sorts the list that it was given": """
# hint: your code changes the list
def ceiling(pairs):
    pairs.sort(reverse=True)
    pairs.sort()
    best = [
        max(Counter(a for _, a in group).values())
        for _, group in itertools.groupby(pairs, key=lambda pair: pair[0])
    ]
    return sum(best) / len(pairs)
""",
    },
}

# Mutants of the solutions that are right too, and why.
NOTHING = "hiding nothing loses nothing"
NEVER = "no name has to be hidden as a whole"
BY_ITSELF = "the model writes this beginning by itself"
EQUIVALENT = {
    "letters_to_hide": {
        "for n in range(0, len(month) + 1):": NOTHING,
        "for n in range(len(month) + 1):": NOTHING,
        "for n in range(1, (1 + len(month))):": "a sum in another order",
        "for n in range(1, len(month) + 0):": NEVER,
        "for n in range(1, len(month) + 2):": NEVER,
        "for n in range(1, len(month)):": NEVER,
        "may_look[..., [(i + 11) for i in hidden]] = False": (
            "a sum in another order"
        ),
        'told = say(read(question), may_look, begun="2019-")': (
            "the mask lies on the same device on a CPU"
        ),
        "told = say(read(question), may_look.to(device))": BY_ITSELF,
        "told = say(read(question), may_look.to(device), begun='2019')": (
            BY_ITSELF
        ),
    },
    "seeds_needed": {
        "return math.ceil((3 * differences.std() / effect) ** 2)": (
            "math.ceil takes a tensor that holds one number"
        ),
    },
    "luck": {
        "return ((means > d.mean().abs() - 1e-09)).double().mean().item()": (
            "what is allowed for rounding lets equal means through"
        ),
        "signs = torch.cartesian_prod(*[d.new_tensor([-1.0, 1.0])] * len(d))": (
            "the same choices in another order"
        ),
    },
}
