"""Checks of the exercises of chapter 12, what it learnt. Not taught."""

import inspect
import itertools
import math
import operator
from collections import Counter, defaultdict
from functools import cache, reduce

import torch
from babel.dates import get_month_names

from kit.exercises.contract import asks, made, whole
from kit.trained import date_model
from lib.runtime import device

FRENCH = list(get_month_names("wide", locale="fr").values())
# The short names, one whose letters cannot be chosen one by one, and one
# whose number is lost by its first digit.
NUMBERS = 3, 4, 5, 6, 8, 7, 11
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@cache
def trained():
    """The model for dates, loaded once."""
    return date_model(device())


def memory_of(text):
    model, source, _, _ = trained()
    return model.encode(torch.tensor([source.encode(text)], device=device()))


def written_from(memory):
    """The date that the model writes from a memory, digit by digit."""
    model, _, target, _ = trained()
    ids = torch.tensor([target.encode("", bos=True)], device=device())
    for _ in range(10):
        best = model.decode(ids, memory)[:, -1:].argmax(-1)
        ids = torch.cat([ids, best], dim=1)
    return target.decode(ids[0].tolist())


def without_arguments(answer, *given):
    """An answer has no arguments: its numbers stand in its text."""
    return answer(*given) if inspect.signature(answer).parameters else answer()


def planted(memory, other, begin, end):
    """What is written if a piece of another memory is put in."""
    mixed = memory.clone()
    mixed[:, begin:end] = other[:, begin:end]
    return written_from(mixed)


def in_place(place, date):
    """All three dates, one of them another one."""

    def expected(day, year):
        dates = three_dates(day, year)
        dates[place] = date(day, 1900 + year)
        return dates

    return expected


@cache
def planted_dates(day, year):
    memory = memory_of("dimanche 3 mars 2019")
    of_day = memory_of(f"dimanche {day} mars 2019")
    of_year = memory_of(f"dimanche 3 mars {1900 + year}")
    return (
        planted(memory, of_day, 9, 10),
        planted(memory, of_year, 18, 20),
        planted(memory, of_year, 16, 17),
    )


def three_dates(day, year):
    return list(planted_dates(day, year))


@asks(
    {"day": whole(5, 9, given="day"), "year": whole(58, 84, given="year")},
    "ask of each digit that is written: from the vector of which place is it "
    "read, and which places are planted?",
    {
        "(a): nothing changes, you say, but the decoder reads the day from "
        "the vector that was planted.": in_place(0, lambda d, y: "2019-03-03"),
        "(a): of the two 03 the first comes from mars, and the digit belongs "
        "to the second.": in_place(0, lambda d, y: f"2019-0{d}-03"),
        "(a): only one of the two 03 was read from the digit; the other "
        "comes from mars.": in_place(0, lambda d, y: f"2019-0{d}-0{d}"),
        "(b): the century was not planted: the first two digits are not "
        "those of the other text.": in_place(1, lambda d, y: f"{y}-03-03"),
        "(b): nothing changes, you say, but two digits are planted.": (
            in_place(1, lambda d, y: "2019-03-03")
        ),
        "(c): no year that the model was trained on begins with 10, and the "
        "decoder sees what it has written.": in_place(
            2, lambda d, y: "1019-03-03"
        ),
        "(c): the first digit alone is planted; 19 at the end stays.": (
            in_place(2, lambda d, y: f"{y}-03-03")
        ),
        "(c): nothing changes, you say, but the first digit is read from the "
        "vector that was planted.": in_place(2, lambda d, y: "2019-03-03"),
    },
    leaves_out=("again",),  # the numbers stand in the answer
    calls=without_arguments,
    day=(7, 5, 8, 9),
    year=(84, 65, 76, 58),
)
def expected(day, year):
    return three_dates(day, year)


def drawn_names(draw, case):
    """Months that are to be lost, and two that have a wrong letter."""
    names = [(FRENCH[n - 1], n) for n in NUMBERS]
    return names + [with_a_slip(draw, *named) for named in names[1:3]]


def with_a_slip(draw, name, number):
    """A name with one wrong letter that the model reads all the same.

    Another number of letters is to be hidden than of the right name.
    """
    usual = hidden_letters(name, number)["any"]
    while True:
        place, letter = draw.whole(1, len(name) - 1), draw.lots.choice(LETTERS)
        slip = name[:place] + letter + name[place + 1 :]
        text = f"dimanche 3 {slip} 2019"
        all_of_it = torch.ones(1, len(text), device=device()) == 1
        if slip == name or is_lost(text, number, all_of_it)[0]:
            continue
        fewest = hidden_letters(slip, number)
        ordinary = min(fewest.values()) == fewest["shown"] == 1
        if ordinary and fewest["any"] not in (usual, len(name)):
            return slip, number


@cache
def hidden_letters(name, number):
    """The fewest letters, over all choices, and with known mistakes."""
    text = f"dimanche 3 {name} 2019"
    size = len(name)
    choices = [c for c in itertools.product((False, True), repeat=size)][1:]
    table = torch.tensor(choices, device=device())
    shown = torch.ones(len(choices), len(text), device=device()) == 1
    in_name, only = shown.clone(), ~shown
    in_name[:, 11 : 11 + size] = ~table
    only[:, 11 : 11 + size] = table
    lost = list(itertools.compress(choices, is_lost(text, number, in_name)))
    by_shown = itertools.compress(choices, is_lost(text, number, only))
    return {
        "any": fewest(lost),
        "neighbours": fewest(filter(has_no_gap, lost)),
        "left": fewest(c for c in lost if all(c[: sum(c)])),
        "shown": fewest(by_shown),
    }


def has_no_gap(choice):
    """Are the chosen letters neighbours?"""
    return "." not in "".join(".#"[chosen] for chosen in choice).strip(".")


def fewest(choices):
    """The smallest number of letters that are chosen."""
    return min(map(sum, choices), default=0)


def is_lost(text, number, may_look):
    """With each of the masks: is the month that is written another one?"""
    model, _, target, _ = trained()
    ids = target.encode(f"2019-{number:02}", bos=True)
    rows = len(may_look)
    logits = model.decode(
        torch.tensor([ids[:-1]] * rows, device=device()),
        memory_of(text).expand(rows, -1, -1),
        None,
        may_look[:, None, None],
    )
    right = torch.tensor(ids[-2:], device=device())
    return (logits[:, -2:].argmax(-1) != right).any(1).tolist()


def found(which):
    """What a search of another kind finds."""
    return lambda month, number: hidden_letters(month, number)[which]


@asks(
    {"names": made(drawn_names)},
    "try all choices of one letter, then of two, and so on, of the name that "
    "is given. Where does it stand in the text?",
    {
        "you give the number of the month's right name: search for the "
        "letters of the name that is given; no table knows every slip.": (
            lambda month, number: found("any")(FRENCH[number - 1], number)
        ),
        "hiding the whole name always works, but the fewest letters are "
        "asked for.": lambda month, number: len(month),
        "the hidden letters need not be neighbours.": found("neighbours"),
        "the hidden letters need not be the first ones.": found("left"),
        "one letter is enough everywhere, you say: either your mask shows "
        "the chosen letters and hides the rest (True means may look), or you "
        "compare the month with what it can never equal ('03' is not 3).": (
            found("shown")
        ),
        "this is the number of letters that stay visible.": (
            lambda month, number: len(month) - found("any")(month, number)
        ),
    },
    leaves_out=("again",),  # a search takes long, and has many names
    calls=lambda answer, names: [answer(*named) for named in names],
)
def letters_to_hide(month, number):
    return found("any")(month, number)


def drawn_differences(draw, case):
    """Such that no number of seeds is a close call."""
    while True:
        differences = 10 + 3 * draw.normal(case.sizes["n"], dtype=case.dtype)
        exact = (differences.double().std().item() * 3) ** 2
        close = (abs((exact * 100 / e**2 + 0.5) % 1 - 0.5) for e in EFFECTS)
        if min(close) > 0.01:
            return differences


EFFECTS = range(3, 7)  # tenths


def needed(spread, times=3):
    """The first number whose standard error is small enough."""

    def seeds_needed(differences, effect):
        n, s = 1, abs(spread(differences).item())
        while s / math.sqrt(n) > abs(effect) / times:
            n += 1
        return n

    return seeds_needed


def of_both_signs(answer, differences, tenths):
    """Also for differences with which exactly a third is reached."""
    exact = answer(differences.new_tensor([9.0, 9.0, 9.0, 11.0]), 1.0)
    both = [answer(differences, sign * tenths / 10) for sign in (1, -1)]
    return [exact, *both]


@asks(
    {
        "differences": made(drawn_differences, "n", is_floating=True),
        "tenths": whole(EFFECTS[0], EFFECTS[-1]),
    },
    "find the first number n for which s / √n is at most a third of the "
    "effect.",
    {
        "one seed too few: the error would still be above a third of the "
        "effect.": lambda d, effect: int((3 * d.std().item() / effect) ** 2),
        "a number of seeds is whole: which way is it to be rounded?": (
            lambda d, effect: (3 * d.std().item() / effect) ** 2
        ),
        "the error falls with the root of n, so n grows with the square.": (
            lambda d, effect: math.ceil(3 * d.std().item() / abs(effect))
        ),
        "you begin with the standard error, but s is the spread of the "
        "single differences.": needed(lambda d: d.std() / len(d) ** 0.5),
        "the error is then as large as the effect: it is to be a third of "
        "it.": needed(torch.std, times=1),
        "the mean of the differences is no spread.": needed(torch.mean),
        "the spread of a few differences divides by n - 1, as torch's std "
        "does.": needed(lambda d: d.std(correction=0)),
    },
    sizes={"n": (5, 8)},
    leaves_out=("one",),  # one difference has no spread
    calls=of_both_signs,
)
def seeds_needed(differences, effect):
    return needed(torch.std)(differences, effect)


def plain_sum(numbers):
    """Rounded at each step; since Python 3.12 `sum` is more exact."""
    return reduce(operator.add, numbers)


def share(conditions):
    """In which share of the cases a condition holds."""
    conditions = list(conditions)
    return sum(conditions) / len(conditions)


def drawn_rows(draw, case):
    """Among them equal means, exactly and but for rounding."""
    few = draw.uniform(2)[[0, 1, 1, 0, 1, 0]] * (2.0 * draw.mask(6) - 1)
    rows = [[3.0, -5.0, -1.0, -6.0, -6.0], [5.0, 4.0, 6.0, 5.0, -1.0]]
    rows += [[0.1, 0.2, -0.3, 0.6], [0.0, 0.0]]
    rows = [torch.tensor(r, dtype=torch.float64).to(few.device) for r in rows]
    some = draw.normal(draw.whole(4, 7), dtype=torch.float64)
    return [*rows, some, some / 1e4, few, few * 1e3]


def means_of(differences):
    """The means of all choices of signs, the observed one first."""
    d = differences.double().tolist()
    return [
        plain_sum([s * x for s, x in zip(signs, d, strict=True)]) / len(d)
        for signs in itertools.product((1, -1), repeat=len(d))
    ]


def flips(counts):
    """The share of choices of signs with a mean that counts.

    The least size that is as large is smaller by what rounding makes.
    """

    def luck(differences):
        means = means_of(differences)
        rounding = 1e-9 * differences.abs().max().item()
        least = abs(means[0]) - rounding
        return share(counts(m, means[0], least) for m in means)

    return luck


def signs_alone(differences):
    return flips(lambda m, mean, least: abs(m) >= least)(
        torch.ones_like(differences).copysign(differences)
    )


@asks(
    {"differences": made(drawn_rows)},
    "count over all choices of signs, and compare the size of each mean with "
    "that of the one observed.",
    {
        "only one side is counted: a mean as far below 0 is as large, too.": (
            flips(lambda m, mean, least: m >= least)
        ),
        "means are compared with their signs: their size counts.": flips(
            lambda m, mean, least: m >= mean - (abs(mean) - least)
        ),
        "an equal mean counts as at least as large; the one that was "
        "observed is among them.": flips(
            lambda m, mean, least: abs(m) > 2 * abs(mean) - least
        ),
        "rounding makes two equal means differ: allow for it.": flips(
            lambda m, mean, least: abs(m) >= abs(mean)
        ),
        "a share of 1 says that no choice makes the mean smaller: each "
        "difference may change its sign by itself, not all together.": (
            lambda d: 1.0
        ),
        "the sizes of the differences count, not their signs alone.": (
            signs_alone
        ),
        "the means are to be compared with the mean that was observed, not "
        "with a single difference.": lambda d: share(
            abs(m) >= d.abs().max().item() * (1 - 1e-9) for m in means_of(d)
        ),
        "this is the share if all differences agree, whatever they are.": (
            lambda d: 2 / 2 ** len(d)
        ),
    },
    calls=lambda answer, rows: [answer(row) for row in rows],
)
def luck(differences):
    return flips(lambda m, mean, least: abs(m) >= least)(differences)


def drawn_pairs(draw, case):
    if not case.is_given:
        return [
            (draw.lots.choice("abcd"), draw.whole(1, 3))
            for _ in range(draw.whole(1, 15))
        ]
    pairs = [("a", 1)] * 4 + [("a", 2)] * 2 + [("b", 2)] * 3 + [("c", 3)]
    return draw.shuffled(pairs + [("c", 1)] * 2 + [("d", 2)] * 2)


def answers_of(pairs):
    """How often each answer stands beside each text."""
    counts = defaultdict(Counter)
    for text, answer in pairs:
        counts[text][answer] += 1
    return counts


def of_texts(value, mean=False):
    """A sum over the texts, of what is made of the counts of each."""

    def ceiling(pairs):
        counts = answers_of(pairs)
        total = sum(value(each) for each in counts.values())
        return total / len(counts if mean else pairs)

    return ceiling


@asks(
    {"pairs": made(drawn_pairs)},
    "give each text its best answer, and count the pairs that are right.",
    {
        "a text can be right more than once: as often as its best answer "
        "occurs beside it.": of_texts(lambda counts: 1),
        "the answers are counted, but a reader is asked for each text.": (
            lambda pairs: len({answer for _, answer in pairs}) / len(pairs)
        ),
        "a text with several answers is not lost: one of them is right some "
        "of the time.": of_texts(
            lambda counts: counts.total() * (len(counts) == 1)
        ),
        "you guess among the answers of a text; it is better to give always "
        "the same one.": of_texts(lambda counts: counts.total() / len(counts)),
        "every text counts the same, but a text that occurs more often "
        "should count more.": of_texts(
            lambda counts: max(counts.values()) / counts.total(), mean=True
        ),
        "the same answer is given to all texts: whoever reads a text can do "
        "better.": lambda pairs: (
            max(Counter(answer for _, answer in pairs).values()) / len(pairs)
        ),
    },
)
def ceiling(pairs):
    """Every answer is tried for every text."""
    answers = {answer for _, answer in pairs}
    hits = sum(
        max(pairs.count((text, answer)) for answer in answers)
        for text in {text for text, _ in pairs}
    )
    return hits / len(pairs)
