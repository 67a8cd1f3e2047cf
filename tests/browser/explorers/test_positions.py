"""The explorer of places against the library and torch."""

import random

import torch

from kit.explorers.positions import positions_explorer, vectors
from tests.browser.explorers.shown import close

WAYS = ["turned", "added"]
TIP = "(e) => [+e.getAttribute('cx'), +e.getAttribute('cy')]"
FULLEST = [{"place": 80, "distance": -20}]
KEYS = [
    ("Tab Tab End", {"place": 80, "distance": 1}),
    ("Tab Home ArrowRight", {"place": 80, "distance": -19}),
]
SAME = (
    "The same distance, 20 places on: the turned dot products are equal, the "
    "added ones differ by 0.82."
)
SAYS = [
    ({"distance": -7}, "output", ["20", "−7"]),
    ({}, ".legend span", ["query at place 20", "key at place 21"]),
    ({"distance": -7}, ".legend span", ["query at place 27",
                                        "key at place 20"]),
    ({}, ".note", SAME),
    ({}, ".sums thead th", ["query and key at", "20 and 21", "0 and 1"]),
]  # fmt: skip


def sample():
    return positions_explorer()


def test_hands_and_sums_are_those_of_the_library(shown, few):
    draw, made = random.Random(0), {way: vectors(way, 101) for way in WAYS}
    upright = torch.tensor([1, -1]) * 36
    for _ in range(few(60, 8)):
        place, distance = draw.randint(0, 80), draw.randint(-20, 20)
        shown.set(place=place, distance=distance)
        m = place + max(0, -distance)
        places = torch.tensor([m, m - place])
        sums = []
        for queries, keys in made.values():
            products = queries[places] * keys[places + distance]
            sums.extend(products.sum(dim=1).tolist())
        close(shown.numbers(".sums td"), sums, 6e-3)
        queries, keys = made["turned"]
        q, k = queries[m].view(-1, 2), keys[m + distance].view(-1, 2)
        close(shown.all(".clocks .m .tip", TIP), q * upright)
        close(shown.all(".clocks .n .tip", TIP), k * upright)
        close(shown.numbers("li .number"), (q * k).sum(dim=1), 6e-3)
        assert place == 0 or "dot products are equal" in shown.text(".note")
    turns = 2 * torch.pi * 10_000 ** (torch.arange(4) / 4)
    close(shown.numbers("li small"), turns, 0.6)
