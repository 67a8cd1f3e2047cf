"""Wrong answers to the exercises of chapter 12, by misconception."""

WRONG = {
    "expected": {
        "reads every digit of the year off the text": (
            "no year that the model was trained on",
            {"1919-03-03": "1019-03-03"},
        ),
        "the first digit brings its whole year": (
            "the first digit alone is planted",
            {'"1919-03-03"': 'f"19{year}-03-03"'},
        ),
        "the last two digits bring their century": (
            "the century was not planted",
            {'f"20{year}': 'f"19{year}'},
        ),
        "takes the 3 of the day for the month": (
            "the digit belongs to the second",
            {"2019-03-0{day}": "2019-0{day}-03"},
        ),
        "both of the equal digits change": (
            "only one of the two 03",
            {"2019-03-0{day}": "2019-0{day}-0{day}"},
        ),
        "one digit cannot overrule three": (
            "(c): nothing changes",
            {"1919-03-03": "2019-03-03"},
        ),
        "the old memory wins": (
            "from the vector of which place is it read",
            {"2019-03-0{day}": "2019-03-03", "20{year}-03-03": "2019-03-03"},
        ),
        "the dates as numbers": (
            "ask of each digit that is written",
            {'f"2019-03-0{day}"': "20190300 + day"},
        ),
    },
    "letters_to_hide": {
        "always the whole name": (
            "hiding the whole name always works",
            {"    for n in": "    return len(month)\n    for n in"},
        ),
        "only stretches of neighbours": (
            "need not be neighbours",
            {
                "itertools.combinations(range(len(month)), n)": (
                    "[range(i, i + n) for i in range(len(month) - n + 1)]"
                )
            },
        ),
        "hides from the left only": (
            "need not be the first ones",
            {"itertools.combinations(range(len(month)), n)": "[range(n)]"},
        ),
        "the mask the wrong way round": (
            "shows the chosen letters",
            {"torch.ones(": "torch.zeros(", "= False": "= True"},
        ),
        "hides letters of the weekday": (
            "yours is a NoneType",
            {"11 + i": "i"},
        ),
        "counts the letters that must stay": (
            "that stay visible",
            {"return n": "return len(month) - n"},
        ),
        "compares a text with a number": (
            "'03' is not 3",
            {'f"{number:02}"': "number"},
        ),
        "a table of what was found once": (
            "no table knows every slip",
            """
def letters_to_hide(month, number):
    names = "mars avril mai juin juillet août novembre".split()
    right = names[[3, 4, 5, 6, 7, 8, 11].index(number)]
    question = f"dimanche 3 {right} 2019"
    for n in range(1, len(right) + 1):
        for hidden in itertools.combinations(range(len(right)), n):
            may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
            may_look[..., [11 + i for i in hidden]] = False
            told = say(read(question), may_look.to(device), begun="2019-")
            if told[0][5:7] != f"{number:02}":
                return n
""",
        ),
    },
    "seeds_needed": {
        "forgets the square": (
            "n grows with the square",
            {"/ effect) ** 2": "/ abs(effect))"},
        ),
        "rounds down": ("one seed too few", {"math.ceil": "math.floor"}),
        "takes the standard error for the standard deviation": (
            "you begin with the standard error",
            {".item()": ".item() / len(differences) ** 0.5"},
        ),
        "an error as large as the effect": (
            "as large as the effect",
            {"3 * ": ""},
        ),
        "the mean in place of the spread": (
            "is no spread",
            {".std()": ".mean()"},
        ),
        "divides by n instead of n - 1": (
            "divides by n - 1",
            {".std()": ".std(correction=0)"},
        ),
        "rounds not at all": (
            "which way is it to be rounded",
            {"math.ceil(": "("},
        ),
        "twice the error, not three times": (
            "find the first number n",
            {"3 * ": "2 * "},
        ),
    },
    "luck": {
        "the number of choices, not their share": (
            "count over all choices of signs",
            {".double().mean()": ".double().sum()"},
        ),
        "strictly larger": (
            "an equal mean counts",
            {">= d.mean().abs() - rounding": "> d.mean().abs() + rounding"},
        ),
        "all differences flip together": (
            "not all together",
            {
                "torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))": "d.new_tensor([[1.0], [-1.0]])",
                ".view(-1, len(d))": "",
            },
        ),
        "counts signs and forgets sizes": (
            "not their signs alone",
            {
                "differences.double()": "torch.ones_like(differences).copysign(differences).double()"
            },
        ),
        "compares with the largest difference": (
            "not with a single difference",
            {">= d.mean().abs()": ">= d.abs().max()"},
        ),
        "compares means with their signs": (
            "compared with their signs",
            {".mean(1).abs()": ".mean(1)", "d.mean().abs()": "d.mean()"},
        ),
        "trusts that sums are exact": (
            "rounding makes two equal means differ",
            """
def luck(differences):
    d = differences.tolist()

    def mean(numbers):
        total = 0.0
        for number in numbers:
            total = total + number
        return abs(total / len(d))

    flips = list(itertools.product((1, -1), repeat=len(d)))
    large = [mean([s * x for s, x in zip(f, d)]) >= mean(d) for f in flips]
    return sum(large) / len(flips)
""",
        ),
        "draws some signs": (
            "called a second time it gives something else",
            """
def luck(differences):
    signs = torch.randint(0, 2, (500, len(differences))) * 2.0 - 1
    means = (signs * differences).mean(1).abs()
    return (means >= differences.mean().abs() - 1e-9).double().mean().item()
""",
        ),
    },
    "ceiling": {
        "one right answer for each text, however often it occurs": (
            "right more than once",
            {"max(counts.values())": "1"},
        ),
        "the share of different answers": (
            "the answers are counted",
            {"best / len": "len({a for _, a in pairs}) / len"},
        ),
        "the share of texts that leave no choice": (
            "is not lost",
            {
                "max(counts.values()) for": "(len(counts) == 1) * counts.total() for"
            },
        ),
        "guesses among the answers instead of taking the best": (
            "you guess among",
            {"max(counts.values())": "counts.total() / len(counts)"},
        ),
        "the mean over texts, not over pairs": (
            "every text counts the same",
            {
                "max(counts.values())": "max(counts.values()) / counts.total()",
                "len(pairs)": "len(answers)",
            },
        ),
        "the answer that is most frequent of all": (
            "is given to all texts",
            {"answers[seen_text][answer]": "answers[0][answer]"},
        ),
        "the worst answer of each text": (
            "give each text its best answer",
            {"max(counts.values())": "min(counts.values())"},
        ),
        "sorts the list that it was given": (
            "your code changes its input pairs",
            {"    best = ": "    pairs.sort()\n    best = "},
        ),
    },
}

# Mutants of the solutions that are right too, and why.
NOTHING = "hiding nothing loses nothing"
NEVER = "no name has to be hidden as a whole"
EQUIVALENT = {
    "letters_to_hide": {
        "for n in range(0, len(month) + 1):": NOTHING,
        "for n in range(1, len(month) + 0):": NEVER,
        "for n in range(1, len(month) + 2):": NEVER,
        "for n in range(1, len(month)):": NEVER,
        "for n in range(len(month) + 1):": NOTHING,
        "told = say(read(question), may_look.to(device))": "the model writes this beginning by itself",
        "unstable 0": "five letters are always enough",
    },
    "seeds_needed": {
        "return math.ceil((3 * differences.std() / effect) ** 2)": "math.ceil takes a tensor that holds one number",
    },
    "luck": {
        "means = (signs * d).mean(1).abs()": "of two axes, the last is axis 1",
        "return (means >= d.mean().abs() - rounding).double().mean()": "a tensor without axes is a number",
        "rounding = 1e-09": "of numbers of one size it lies between what is rounded and what differs",
        "signs = torch.cartesian_prod(*[d.new_tensor([-1.0, 1.0])] * len(d))": "the same choices in another order",
    },
}
