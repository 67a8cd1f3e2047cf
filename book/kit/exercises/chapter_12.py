"""Checks of the exercises of chapter 12, what it learnt. Not taught."""

import itertools
import math
import operator
from collections import Counter, defaultdict
from functools import cache, reduce

import torch
from babel.dates import get_month_names

from kit.exercises import exercise, expect
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


# 12.1


@exercise(day=(7, 5, 8, 9), year=(84, 65, 76, 58))
def expected(answer, draw):
    day, year = draw.given.day, 1900 + draw.given.year
    got = answer()
    expect.that(
        isinstance(got, list | tuple)
        and len(got) == 3
        and all(isinstance(date, str) for date in got),
        "a list of three dates is asked for, each as a string.",
    )
    a, b, c = got
    memory = memory_of("dimanche 3 mars 2019")
    other_day = memory_of(f"dimanche {day} mars 2019")
    other_year = memory_of(f"dimanche 3 mars {year}")
    expect.close(
        a,
        planted(memory, other_day, 9, 10),
        "(a): only the vector at the 3 is another one. What is read there?",
        [
            (
                "2019-03-03",
                "(a): nothing changes, you say, but the decoder reads the "
                "day from the vector that was planted.",
            ),
            (
                f"2019-0{day}-03",
                "(a): of the two 03 the first comes from mars, and the "
                "digit belongs to the second.",
            ),
            (
                f"2019-0{day}-0{day}",
                "(a): only one of the two 03 was read from the digit; the "
                "other comes from mars.",
            ),
        ],
    )
    planted_years(b, c, memory, other_year, year)


def planted(memory, other, begin, end):
    """What is written if a piece of another memory is put in."""
    mixed = memory.clone()
    mixed[:, begin:end] = other[:, begin:end]
    return written_from(mixed)


def planted_years(b, c, memory, other, year):
    """The second and the third date."""
    expect.close(
        b,
        planted(memory, other, 18, 20),
        "(b): which places of the year are planted, and which are not?",
        [
            (
                f"{year}-03-03",
                f"(b): the century was not planted: the first two digits are "
                f"not those of {year}.",
            ),
            (
                "2019-03-03",
                "(b): nothing changes, you say, but two digits are planted.",
            ),
        ],
    )
    expect.close(
        c,
        planted(memory, other, 16, 17),
        "(c): only the first digit of the year is planted.",
        [
            (
                "1019-03-03",
                "(c): no year that the model was trained on begins with 10, "
                "and the decoder sees what it has written.",
            ),
            (
                f"{year}-03-03",
                f"(c): the first digit alone is planted; the last two come "
                f"from 2019, not from {year}.",
            ),
            (
                "2019-03-03",
                "(c): nothing changes, you say, but the first digit is read "
                "from the vector that was planted.",
            ),
        ],
    )


# 12.2


@exercise()
def letters_to_hide(answer, draw):
    names = [(FRENCH[n - 1], n) for n in NUMBERS]
    right_names = names + names[1:3]
    names += [with_a_slip(draw, *case) for case in names[1:3]]
    got = []
    for name, number in names:
        found = answer(name, number)
        expect.that(
            found is not None,
            f"letters_to_hide({name!r}, {number}) finds nothing: hide the "
            "whole name, and the month is lost. Where does it stand?",
        )
        expect.that(
            isinstance(found, int),
            f"letters_to_hide({name!r}, {number}) gives {found!r}: a number "
            "of letters is asked for.",
        )
        got.append(found)
    right = [hidden_letters(*case)["any"] for case in names]
    wrong = next((i for i in range(len(got)) if got[i] != right[i]), 0)
    looked_up = [hidden_letters(*case)["any"] for case in right_names]
    expect.close(
        got,
        right,
        f"hiding {expect.plural(got[wrong], 'letter')} of "
        f"{names[wrong][0]!r} is not the answer: try all choices of one "
        "letter, then of two, and so on.",
        [
            (
                looked_up,
                f"for {names[-1][0]!r} you give the number of "
                f"{right_names[-1][0]!r}: search for the letters of the name "
                "that is given; no table knows every slip.",
            ),
            *other_searches(names, right),
        ],
    )


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


def other_searches(names, right):
    """What searches of another kind find, and hints."""
    fewest = [hidden_letters(*case) for case in names]
    lengths = [len(name) for name, _ in names]
    return [
        (
            lengths,
            "hiding the whole name always works, but the fewest letters are "
            "asked for.",
        ),
        (
            [f["neighbours"] for f in fewest],
            "the hidden letters need not be neighbours.",
        ),
        (
            [f["left"] for f in fewest],
            "the hidden letters need not be the first ones.",
        ),
        (
            [f["shown"] for f in fewest],
            "one letter is enough everywhere, you say: either your mask "
            "shows the chosen letters and hides the rest (True means may "
            "look), or you compare the month with what it can never equal "
            "('03' is not 3).",
        ),
        (
            [a - b for a, b in zip(lengths, right, strict=True)],
            "this is the number of letters that stay visible.",
        ),
    ]


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
    counts = [sum(choice) for choice in choices]
    stretch = [
        "".join(".#"[h] for h in choice).strip(".") for choice in choices
    ]
    lost = is_lost(text, number, in_name)
    return {
        "any": least(counts, lost),
        "neighbours": least(
            counts,
            [x and "." not in s for x, s in zip(lost, stretch, strict=True)],
        ),
        "left": least(
            counts,
            [
                x and all(c[:n])
                for x, c, n in zip(lost, choices, counts, strict=True)
            ],
        ),
        "shown": least(counts, is_lost(text, number, only)),
    }


def least(counts, chosen):
    """The smallest count among those that are chosen."""
    return min(
        (n for n, c in zip(counts, chosen, strict=True) if c), default=0
    )


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


# 12.3


@exercise(seeds=(5, 6, 7, 8), times=(3, 4, 2, 10))
def predicted_seeds(answer, draw):
    seeds, times = draw.given.seeds, draw.given.times
    got = answer()
    expect.that(
        isinstance(got, int | float), "a number of seeds is asked for."
    )
    expect.close(
        float(got),
        seeds * times * times,
        f"with n seeds the error is s / √n, and it is to be {times} times "
        "smaller.",
        [
            (
                seeds * times,
                f"{times} times as many seeds divide the error by the root "
                f"of {times} only.",
            ),
            (
                times * times,
                f"this is how many times as many seeds you need: {seeds} of "
                "them gave the error that you begin with.",
            ),
            (
                seeds * times * times - seeds,
                "these are the further seeds: the number of all is asked for.",
            ),
            (
                seeds * math.sqrt(times),
                "the root goes the other way: it is the error that falls "
                "with the root of the number.",
            ),
        ],
    )


# 12.4


@exercise()
def seeds_needed(answer, draw):
    for effect in (draw.whole(3, 6) / 10, -draw.whole(3, 6) / 10):
        n = draw.whole(5, 8)
        differences = 10 + 3 * draw.normal(n, dtype=torch.float64)
        values = differences.tolist()
        got = answer(differences, effect)
        mean = sum(values) / n
        squares = sum((value - mean) ** 2 for value in values)
        spread = math.sqrt(squares / (n - 1))
        right = needed(spread, effect)
        expect.that(
            not isinstance(got, torch.Tensor)
            and not (isinstance(got, float) and got.is_integer()),
            "a number of seeds is a whole number, of the type int.",
        )
        expect.close(
            float(got),
            right,
            f"with {expect.plural(got, 'seed')} the standard error is not the "
            f"first that is at most a third of {effect}.",
            [
                (
                    (3 * spread / effect) ** 2,
                    "a number of seeds is a whole number: which way is it to "
                    "be rounded?",
                ),
                (
                    math.ceil(3 * spread / abs(effect)),
                    "the error falls with the root of n, so n grows with the "
                    "square.",
                ),
                (
                    right - 1,
                    "one seed too few: the error would still be above a "
                    "third of the effect.",
                ),
                (
                    needed(spread / math.sqrt(n), effect),
                    "you begin with the standard error, but s is the spread "
                    "of the single differences.",
                ),
                (
                    needed(spread / 3, effect),
                    "the error is then as large as the effect: it is to be a "
                    "third of it.",
                ),
                (
                    needed(mean, effect),
                    "the mean of the differences is no spread.",
                ),
                (
                    needed(math.sqrt(squares / n), effect),
                    "the spread of a few differences divides by n - 1, as "
                    "torch's std does.",
                ),
            ],
        )


def needed(spread, effect):
    """The first number whose standard error is small enough."""
    n = 1
    while abs(spread) / math.sqrt(n) > abs(effect) / 3:
        n += 1
    return n


# 12.5


@exercise()
def luck(answer, draw):
    rows = [
        [3.0, -5.0, -1.0, -6.0, -6.0],
        [5.0, 4.0, 6.0, 5.0, -1.0],
        draw.normal(draw.whole(4, 7), dtype=torch.float64).tolist(),
        [0.1, 0.2, -0.3, 0.6],
        [0.0, 0.0],
    ]
    for row in rows:
        one_luck(answer, torch.tensor(row, dtype=torch.float64))
    few = draw.uniform(2, dtype=torch.float32)
    one_luck(answer, few[[0, 1, 1, 0, 1, 0]] * (2.0 * draw.mask(6) - 1))


def plain_sum(numbers):
    """Rounded at each step; since Python 3.12 `sum` is more exact."""
    return reduce(operator.add, numbers)


def one_luck(answer, differences):
    """One row of differences, in exact arithmetic where that matters."""
    with expect.untouched(differences):
        got = answer(differences)
    expect.that(
        isinstance(got, float), "a share is asked for, as a plain number."
    )
    d = differences.double().tolist()
    n, mean = len(d), plain_sum(d) / len(d)
    flips = [
        plain_sum([sign * x for sign, x in zip(signs, d, strict=True)]) / n
        for signs in itertools.product((1, -1), repeat=n)
    ]
    signs_only = [sum(s) for s in itertools.product((1, -1), repeat=n)]
    agree = sum(math.copysign(1, x) for x in d)
    largest = max(map(abs, d))
    expect.close(
        got,
        share(abs(m) >= abs(mean) - 1e-9 for m in flips),
        f"for {[round(x, 2) for x in d]} another share of the {2**n} choices "
        "of signs has a mean as large.",
        [
            (
                share(m >= abs(mean) - 1e-9 for m in flips),
                "only one side is counted: a mean as far below 0 is as "
                "large, too.",
            ),
            (
                share(m >= mean - 1e-9 for m in flips),
                "means are compared with their signs: their size counts.",
            ),
            (
                share(abs(m) > abs(mean) + 1e-9 for m in flips),
                "an equal mean counts as at least as large; the one that was "
                "observed is among them.",
            ),
            (
                share(abs(m) >= abs(mean) for m in flips),
                "rounding makes two equal means differ: allow for it.",
            ),
            (
                1.0,
                "a share of 1 says that no choice makes the mean smaller: "
                "each difference may change its sign by itself, not all "
                "together.",
            ),
            (
                share(abs(m) >= abs(agree) for m in signs_only),
                "the sizes of the differences count, not their signs alone.",
            ),
            (
                share(abs(m) >= largest - 1e-9 for m in flips),
                "the means are to be compared with the mean that was "
                "observed, not with a single difference.",
            ),
            (
                2 / 2**n,
                "this is the share if all differences agree, whatever they "
                "are.",
            ),
        ],
    )


def share(conditions):
    """In which share of the cases a condition holds."""
    conditions = list(conditions)
    return sum(conditions) / len(conditions)


# 12.6


@exercise()
def ceiling(answer, draw):
    given = [("a", 1)] * 4 + [("a", 2)] * 2 + [("b", 2)] * 3 + [("c", 3)]
    given += [("c", 1)] * 2 + [("d", 2)] * 2
    one_ceiling(answer, draw.shuffled(given))
    for _ in range(3):
        number = draw.whole(1, 15)
        pairs = [
            (draw.lots.choice("abcd"), draw.whole(1, 3)) for _ in range(number)
        ]
        one_ceiling(answer, pairs)


def one_ceiling(answer, pairs):
    """The best share, by trying every answer for every text."""
    before, got = list(pairs), answer(pairs)
    expect.that(pairs == before, "your code changes the list of pairs.")
    texts, answers = {t for t, _ in pairs}, {a for _, a in pairs}
    best = {
        text: max(answers, key=lambda a, text=text: pairs.count((text, a)))
        for text in texts
    }
    several = defaultdict(set)
    for text, a in pairs:
        several[text].add(a)
    of_text = Counter(text for text, _ in pairs)
    n = len(pairs)
    hits = {t: pairs.count((t, best[t])) for t in texts}
    expect.close(
        float(got),
        sum(hits.values()) / n,
        f"for {pairs} another share is the best: {sum(hits.values())} of {n} "
        "pairs can be right.",
        [
            (
                len(texts) / n,
                "a text can be right more than once: as often as its best "
                "answer occurs beside it.",
            ),
            (
                len(answers) / n,
                "the answers are counted, but a reader is asked for each "
                "text.",
            ),
            (
                share(len(several[t]) == 1 for t, _ in pairs),
                "a text with several answers is not lost: one of them is "
                "right some of the time.",
            ),
            (
                sum(1 / len(several[t]) for t, _ in pairs) / n,
                "you guess among the answers of a text; it is better to give "
                "always the same one.",
            ),
            (
                sum(hits[t] / of_text[t] for t in texts) / len(texts),
                "every text counts the same, but a text that occurs more "
                "often should count more.",
            ),
            (
                max(Counter(a for _, a in pairs).values()) / n,
                "the same answer is given to all texts: whoever reads a text "
                "can do better.",
            ),
        ],
    )
