"""The explorer of costs beside the library, which counts as torch does."""

import re
from itertools import product

import pytest
import torch

from kit.explorers.costs import cost_explorer
from lib.efficient import GroupedQueryAttention, cache_bytes
from lib.layers import FeedForward
from tests.browser.explorers.shown import number

WIDTH, HEADS, LAYERS, CARD = 4_096, 64, 48, 80e9
UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
LENGTHS = [2**power for power in range(4, 21)]
GROUPS = [2**power for power in range(7)]
FULLEST = [{"length": 2**20, "number": 4}]
KEYS = [
    ("Tab Tab ArrowRight", {"length": 65536}),
    ("Tab ArrowLeft Home", {"groups": 1}),
    ("Tab ArrowRight", {"number": 4}),
    ("Tab Space", {"whole": False}),
]
FITS = "It fits: 34.9 GB of 80 GB are left. The largest part: cache, 25.8 GB."
SAYS = [
    ({"length": 65536}, "output", ["65,536", "64"]),
    ({"whole": False}, ".answer", FITS),
]
SHARE = "(e) => e.getBoundingClientRect().width / e.parentNode.clientWidth"
COST = "(e) => [e.dataset.cost, e.innerText]"


def sample():
    return cost_explorer()


def as_read(text: str) -> float:
    digits, unit = text.split()
    return number(digits) * UNITS[unit]


def weights(groups: int) -> int:
    """Numbers of a layer, as torch counts them."""
    with torch.device("meta"):
        attention = GroupedQueryAttention(WIDTH, HEADS, groups, bias=False)
        network = FeedForward(WIDTH, 4 * WIDTH, bias=False)
    both = [*attention.parameters(), *network.parameters()]
    return sum(weight.numel() for weight in both)


def test_parts_and_answer_are_those_of_the_library_and_torch(shown, few):
    states = list(product(LENGTHS, GROUPS, (1, 2, 4), (True, False)))
    for length, groups, each, whole in states[3 :: few(7, 97)]:
        shown.set(length=length, groups=groups, number=each, whole=whole)
        wanted = {
            "weights": LAYERS * each * weights(groups),
            "cache": cache_bytes(length, LAYERS, groups, WIDTH // HEADS, each),
            "scores": each * HEADS * length**2 * whole,
        }
        together = sum(wanted.values())
        cells = shown.all("td[data-cost]", COST)
        found = {name: as_read(text) for name, text in cells}
        assert found == pytest.approx(wanted | {"together": together}, 0.006)
        drawn = shown.all(".bar > *", SHARE)
        most = max(CARD, together)
        shares = [size / most for size in (*wanted.values(), CARD)]
        assert drawn == pytest.approx(shares, abs=4e-3)
        verdict, left, name, size = re.fullmatch(
            r"(It fits|It does not fit): (.*B) .*part: (\w+), (.*B)\.",
            shown.text(".answer").replace(" of 80 GB", ""),
        ).groups()
        assert (verdict == "It fits") == (together <= CARD)
        assert as_read(left) == pytest.approx(abs(CARD - together), rel=0.006)
        assert name == max(wanted, key=wanted.get)
        assert as_read(size) == pytest.approx(wanted[name], rel=0.006)
