"""The explorer of costs beside the library, which counts as torch does."""

import math
import random
import re

import pytest
import torch

from kit.explorers.costs import cost_explorer
from lib.efficient import GroupedQueryAttention, cache_bytes, layer_operations
from lib.layers import FeedForward
from tests.browser.explorers.shown import number

WIDTHS = [64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 5120, 6144]
WIDTHS += [8192, 12288, 16384]
WORK = ["projections", "network", "pairs"]
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
FULLEST = [
    {"length": 2**20, "width": 12288, "heads": 96, "layers": 128, "number": 4}
]
KEYS = [
    ("Tab Tab ArrowRight", {"length": 65536}),
    ("Tab ArrowLeft", {"width": 3072}),
    ("Tab End", {"heads": 128}),
    ("Tab Home", {"groups": 1}),
    ("Tab Home ArrowRight", {"layers": 2}),
    ("Tab ArrowRight", {"number": 4}),
    # Heads always divide the width, and groups the heads.
    ({"width": 5120, "heads": 128, "groups": 128}, {"groups": 128}),
    ({"width": 768}, {"heads": 128, "groups": 128}),
    ({"width": 64}, {"heads": 16, "groups": 16}),
    ({"width": 768, "heads": 12, "groups": 5}, {"heads": 12, "groups": 4}),
]
SAYS = [({"length": 65536, "width": 4096}, "output", [
    "65,536", "4,096", "64", "64", "48"])]  # fmt: skip
FORMULA = "(row) => row.innerText.replace(/\\s+/g, ' ').trim().split(' = ')"
COST = "(e) => [e.dataset.cost, e.innerText ?? +e.getAttribute('cx')]"
TICK = "(e) => [+e.dataset.bytes, +e.getAttribute('x')]"
SHARE = """(e) => e.getBoundingClientRect().width / e.parentNode.clientWidth"""


def sample():
    return cost_explorer()


def sizes(count, seed=0):
    draw = random.Random(seed)
    for _ in range(count):
        width = draw.choice(WIDTHS)
        heads = [n for n in range(1, 129) if not width % n and 4 * n <= width]
        heads = draw.choice(heads)
        yield {
            "length": 2 ** draw.randint(4, 20),
            "width": width,
            "heads": heads,
            "groups": draw.choice([n for n in range(1, 129) if not heads % n]),
            "layers": draw.randint(1, 128),
            "number": draw.choice([1, 2, 4]),
        }


def parameters(width, heads, groups) -> int:
    """Those of a layer, as torch counts them."""
    with torch.device("meta"):
        attention = GroupedQueryAttention(width, heads, groups, bias=False)
        network = FeedForward(width, 4 * width, bias=False)
    both = [*attention.parameters(), *network.parameters()]
    return sum(weight.numel() for weight in both)


def expected(length, width, heads, groups, layers, number):
    """Operations and bytes by the library and torch."""
    d_head = width // heads
    work = layer_operations(length, width, 4 * width, d_head * groups)
    return {
        "projections": layers * work["projections"],
        "network": layers * work["feed-forward"],
        "pairs": layers * (work["scores"] + work["weighted means"]),
        "weights": layers * number * parameters(width, heads, groups),
        "cache": cache_bytes(length, layers, groups, d_head, number),
        "scores": number * heads * length**2,
    }


def as_read(text: str) -> float:
    """The number that a cell says, with its unit or its power of ten."""
    if " · 10" in text:
        digits, power = text.split(" · 10")
        return float(digits) * 10 ** int(power.translate(RAISED))
    digits, _, unit = text.partition(" ")
    return number(digits) * 1024 ** (UNITS.index(unit) if unit else 0)


def worth(formula: str, size) -> float:
    """Its value; what stands side by side is multiplied."""
    plain = formula.replace("²", "**2").replace("·", "*").replace(",", "")
    python = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", plain)
    return eval(python, dict(zip("ndHGLb", size.values(), strict=True)))


def about(wanted):
    """Equal but for what three digits hide."""
    return pytest.approx(wanted, rel=0.006)


def test_costs_are_those_of_the_library_and_of_torch(shown, few):
    for size in sizes(few(40, 8)):
        shown.set(**size)
        wanted = expected(**size)
        formulas = shown.all(".formula", FORMULA)
        for pair, cost in zip(formulas, wanted.values(), strict=True):
            found = [worth(formula, size) for formula in pair]
            assert found == pytest.approx([cost, cost])
        total = sum(wanted[name] for name in WORK)
        cells = shown.all("td[data-cost]", COST)
        found = {name: as_read(text) for name, text in cells}
        assert found == about(wanted | {"total": total})
        # Dots stand at their bytes, and stripes have their shares.
        (_, low), *_, (_, high) = shown.all("svg [data-bytes]", TICK)
        for name, x in shown.all("circle[data-cost]", COST):
            power = 50 * (x - low) / (high - low)
            assert power == pytest.approx(math.log2(wanted[name]), abs=0.05)
        shares = [wanted[name] / total for name in WORK]
        assert shown.all(".bar span", SHARE) == pytest.approx(shares, abs=4e-3)
        # At n, pairs cost as much as all the rest: n² · pairs = n · rest.
        said = shown.text(".note").replace("\u00a0", " ")
        turn, times = re.fullmatch(
            "All n² pairs are counted, hidden ones too. They cost as much as "
            r"all the rest at n = 5 d \+ d G/H = ([\d,.]+)\. The cache of "
            r"this text is ([\d,.e-]+) times as large as the weights\.", said
        ).groups()  # fmt: skip
        rest = (total - wanted["pairs"]) / wanted["pairs"] * size["length"]
        assert number(turn) == pytest.approx(rest, rel=1e-3)
        assert number(times) == about(wanted["cache"] / wanted["weights"])
