"""Wrong answers to the exercises of chapter 12, by misconception."""

from . import read

WRONG = read(
    expected="""
reads every digit of the year off the text
> no year that the model was trained on
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [f"2019-03-0{day}", f"20{year}-03-03", "1019-03-03"]
the first digit brings its whole year > the first digit alone is planted
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [f"2019-03-0{day}", f"20{year}-03-03", f"19{year}-03-03"]
the last two digits bring their century > the century was not planted
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [f"2019-03-0{day}", f"19{year}-03-03", "1919-03-03"]
takes the 3 of the day for the month > the digit belongs to the second
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [f"2019-0{day}-03", f"20{year}-03-03", "1919-03-03"]
both of the equal digits change > only one of the two 03
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [f"2019-0{day}-0{day}", f"20{year}-03-03", "1919-03-03"]
one digit cannot overrule three > (c): nothing changes
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [f"2019-03-0{day}", f"20{year}-03-03", "2019-03-03"]
the old memory wins > from the vector of which place is it read
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [f"2019-03-03", f"2019-03-03", "1919-03-03"]
the dates as numbers > ask of each digit that is written
-     return [f"2019-03-0{day}", f"20{year}-03-03", "1919-03-03"]
+     return [20190300 + day, f"20{year}-03-03", "1919-03-03"]
""",
    letters_to_hide="""
always the whole name > hiding the whole name always works
-     for n in range(1, len(month) + 1):
+     return len(month)
+     for n in range(1, len(month) + 1):
only stretches of neighbours > need not be neighbours
-         for hidden in itertools.combinations(range(len(month)), n):
+         for hidden in [range(i, i + n) for i in range(len(month) - n + 1)]:
hides from the left only > need not be the first ones
-         for hidden in itertools.combinations(range(len(month)), n):
+         for hidden in [range(n)]:
the mask the wrong way round > shows the chosen letters
-             may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
-             may_look[..., [11 + i for i in hidden]] = False
+             may_look = torch.zeros(1, 1, 1, len(question), dtype=torch.bool)
+             may_look[..., [11 + i for i in hidden]] = True
hides letters of the weekday > yours is a NoneType
-             may_look[..., [11 + i for i in hidden]] = False
+             may_look[..., [i for i in hidden]] = False
counts the letters that must stay > that stay visible
-                 return n
+                 return len(month) - n
compares a text with a number > '03' is not 3
-             if told[0][5:7] != f"{number:02}":
+             if told[0][5:7] != number:
a table of what was found once > no table knows every slip
+ def letters_to_hide(month, number):
+     names = "mars avril mai juin juillet août novembre".split()
+     right = names[[3, 4, 5, 6, 7, 8, 11].index(number)]
+     question = f"dimanche 3 {right} 2019"
+     for n in range(1, len(right) + 1):
+         for hidden in itertools.combinations(range(len(right)), n):
+             may_look = torch.ones(1, 1, 1, len(question), dtype=torch.bool)
+             may_look[..., [11 + i for i in hidden]] = False
+             told = say(read(question), may_look.to(device), begun="2019-")
+             if told[0][5:7] != f"{number:02}":
+                 return n
""",
    seeds_needed="""
forgets the square > n grows with the square
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return math.ceil((3 * differences.std().item() / abs(effect)))
rounds down > one seed too few
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return math.floor((3 * differences.std().item() / effect) ** 2)
takes the standard error for the standard deviation
> you begin with the standard error
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return math.ceil((3 * differences.std().item() / len(differences) ** 0.5 / effect) ** 2)
an error as large as the effect > as large as the effect
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return math.ceil((differences.std().item() / effect) ** 2)
the mean in place of the spread > is no spread
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return math.ceil((3 * differences.mean().item() / effect) ** 2)
divides by n instead of n - 1 > divides by n - 1
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return math.ceil((3 * differences.std(correction=0).item() / effect) ** 2)
rounds not at all > which way is it to be rounded
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return ((3 * differences.std().item() / effect) ** 2)
twice the error, not three times > find the first number n
-     return math.ceil((3 * differences.std().item() / effect) ** 2)
+     return math.ceil((2 * differences.std().item() / effect) ** 2)
""",
    luck="""
the number of choices, not their share > count over all choices of signs
-     return (means >= d.mean().abs() - rounding).double().mean().item()
+     return (means >= d.mean().abs() - rounding).double().sum().item()
strictly larger > an equal mean counts
-     return (means >= d.mean().abs() - rounding).double().mean().item()
+     return (means > d.mean().abs() + rounding).double().mean().item()
all differences flip together > not all together
-     signs = torch.cartesian_prod(*[d.new_tensor([1.0, -1.0])] * len(d))
-     means = (signs.view(-1, len(d)) * d).mean(1).abs()
+     signs = d.new_tensor([[1.0], [-1.0]])
+     means = (signs * d).mean(1).abs()
counts signs and forgets sizes > not their signs alone
-     d = differences.double()
+     d = torch.ones_like(differences).copysign(differences).double()
compares with the largest difference > not with a single difference
-     return (means >= d.mean().abs() - rounding).double().mean().item()
+     return (means >= d.abs().max() - rounding).double().mean().item()
compares means with their signs > compared with their signs
-     means = (signs.view(-1, len(d)) * d).mean(1).abs()
+     means = (signs.view(-1, len(d)) * d).mean(1)
-     return (means >= d.mean().abs() - rounding).double().mean().item()
+     return (means >= d.mean() - rounding).double().mean().item()
trusts that sums are exact > rounding makes two equal means differ
+ def luck(differences):
+     d = differences.tolist()
+
+     def mean(numbers):
+         total = 0.0
+         for number in numbers:
+             total = total + number
+         return abs(total / len(d))
+
+     flips = list(itertools.product((1, -1), repeat=len(d)))
+     large = [mean([s * x for s, x in zip(f, d)]) >= mean(d) for f in flips]
+     return sum(large) / len(flips)
draws some signs > called a second time it gives something else
+ def luck(differences):
+     signs = torch.randint(0, 2, (500, len(differences))) * 2.0 - 1
+     means = (signs * differences).mean(1).abs()
+     return (means >= differences.mean().abs() - 1e-9).double().mean().item()
""",
    ceiling="""
one right answer for each text, however often it occurs > right more than once
-     best = sum(max(counts.values()) for counts in answers.values())
+     best = sum(1 for counts in answers.values())
the share of different answers > the answers are counted
-     return best / len(pairs)
+     return len({a for _, a in pairs}) / len(pairs)
the share of texts that leave no choice > is not lost
-     best = sum(max(counts.values()) for counts in answers.values())
+     best = sum((len(counts) == 1) * counts.total() for counts in answers.values())
guesses among the answers instead of taking the best > you guess among
-     best = sum(max(counts.values()) for counts in answers.values())
+     best = sum(counts.total() / len(counts) for counts in answers.values())
the mean over texts, not over pairs > every text counts the same
-     best = sum(max(counts.values()) for counts in answers.values())
-     return best / len(pairs)
+     best = sum(max(counts.values()) / counts.total() for counts in answers.values())
+     return best / len(answers)
the answer that is most frequent of all > is given to all texts
-         answers[seen_text][answer] += 1
+         answers[0][answer] += 1
the worst answer of each text > give each text its best answer
-     best = sum(max(counts.values()) for counts in answers.values())
+     best = sum(min(counts.values()) for counts in answers.values())
sorts the list that it was given > your code changes its input pairs
-     best = sum(max(counts.values()) for counts in answers.values())
+     pairs.sort()
+     best = sum(max(counts.values()) for counts in answers.values())
""",
)

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
