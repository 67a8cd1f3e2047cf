"""The explorer of costs beside the library, and what torch counts."""

import math
import random
import re

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from kit.explorers.costs import cost_explorer
from lib.cache import CachedSelfAttention
from lib.efficient import GroupedQueryAttention, cache_bytes, layer_operations
from lib.layers import FeedForward

LENGTHS = [2**power for power in range(4, 21)]
WIDTHS = [64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 5120, 6144]
WIDTHS += [8192, 12288, 16384]
DTYPES = {1: torch.int8, 2: torch.float16, 4: torch.float32}
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]


def sample():
    return cost_explorer()


def divisors(number, most):
    return [k for k in range(1, int(most) + 1) if number % k == 0]


def sizes(count, seed=0, lengths=LENGTHS, widths=WIDTHS):
    draw = random.Random(seed)
    for _ in range(count):
        width = draw.choice(widths)
        heads = draw.choice(divisors(width, min(128, width / 4)))
        yield {
            "length": draw.choice(lengths),
            "width": width,
            "heads": heads,
            "groups": draw.choice(divisors(heads, heads)),
            "layers": draw.randint(1, 128),
            "number": draw.choice([1, 2, 4]),
        }


STATES = list(sizes(20, seed=3))
FULLEST = [
    {"length": 2**20, "width": 12288, "heads": 96, "layers": 128, "number": 4}
]


def block(size, device="meta"):
    """Attention and feed-forward network of a layer, without biases."""
    width, heads, groups = size["width"], size["heads"], size["groups"]
    with torch.device(device):
        attention = GroupedQueryAttention(width, heads, groups, bias=False)
        return attention, FeedForward(width, 4 * width, bias=False)


def weights_of(size) -> int:
    """The bytes of all parameters, as torch would store them."""
    dtype = DTYPES[size["number"]]
    found = [
        torch.empty_like(weight, dtype=dtype).nbytes
        for part in block(size)
        for weight in part.parameters()
    ]
    return size["layers"] * sum(found)


def expected(size):
    """Operations and bytes by the library's formulas and torch's tensors."""
    n, width, heads = size["length"], size["width"], size["heads"]
    d_head, layers = width // heads, size["layers"]
    kv_width = d_head * size["groups"]
    work = layer_operations(n, width, 4 * width, kv_width)
    dtype = DTYPES[size["number"]]
    scores = torch.empty(heads, n, n, dtype=dtype, device="meta")
    kept = cache_bytes(n, layers, size["groups"], d_head, size["number"])
    return {
        "projections": layers * work["projections"],
        "network": layers * work["feed-forward"],
        "pairs": layers * (work["scores"] + work["weighted means"]),
        "weights": weights_of(size),
        "cache": kept,
        "scores": scores.nbytes,
    }


def as_read(text: str) -> float:
    """The number that a cell says, with its unit or its power of ten."""
    text = text.replace(",", "")
    if " · 10" in text:
        digits, power = text.split(" · 10")
        return float(digits) * 10 ** int(power.translate(RAISED))
    number, _, unit = text.partition(" ")
    return float(number) * 1024 ** (UNITS.index(unit) if unit else 0)


def as_python(formula: str) -> str:
    """A formula of the page: what stands side by side is multiplied."""
    plain = formula.replace("²", "**2").replace("·", "*").replace(",", "")
    return re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", plain)


def worth(formula: str, size) -> float:
    """Its value, with the letters of the page."""
    letters = {
        "n": size["length"],
        "d": size["width"],
        "H": size["heads"],
        "G": size["groups"],
        "L": size["layers"],
        "b": size["number"],
    }
    return eval(as_python(formula), {}, letters)


def formulas(shown):
    """Each cost's formula, and the same with the numbers put in."""
    rows = shown.element.locator(".formula").all_inner_texts()
    names = ["projections", "network", "pairs", "weights", "cache", "scores"]
    pairs = (" ".join(row.split()).split(" = ") for row in rows)
    return dict(zip(names, pairs, strict=True))


def places(shown, what):
    """Where something is drawn on the scale of bytes."""
    return shown.element.locator(f"svg {what}").evaluate_all(
        "(all) => all.map((e) => [e.dataset.bytes ?? e.dataset.cost,"
        " +(e.getAttribute('x') ?? e.getAttribute('cx'))])"
    )


def compare_with_torch(shown, count=40, seed=0):
    for size in sizes(count, seed):
        value, wanted = shown.set(**size), expected(size)
        assert {name: value[name] for name in size} == size
        found = value["operations"] | value["bytes"]
        assert found == pytest.approx(wanted, rel=1e-14)
        for name, (formula, numbers) in formulas(shown).items():
            assert worth(formula, size) == pytest.approx(wanted[name])
            assert worth(numbers, size) == pytest.approx(wanted[name])
        total = sum(wanted[name] for name in value["operations"])
        cells = shown.element.locator("td[data-cost]").evaluate_all(
            "(all) => all.map((td) => [td.dataset.cost, td.innerText])"
        )
        assert {name: as_read(text) for name, text in cells} == pytest.approx(
            wanted | {"total": total}, rel=0.006
        )
        check_drawing(shown, wanted, total)


def check_drawing(shown, wanted, total):
    """Dots stand at their bytes, and stripes have their shares."""
    ticks = {math.log2(float(n)): x for n, x in places(shown, "[data-bytes]")}
    low, high = ticks[0], ticks[50]
    for name, x in places(shown, "[data-cost]"):
        power = 50 * (x - low) / (high - low)
        assert power == pytest.approx(math.log2(wanted[name]), abs=0.05)
    room, *stripes = shown.element.locator(".bar").evaluate(
        "(bar) => [bar.clientWidth, ...['projections', 'network', 'pairs']"
        ".map((name) => bar.querySelector(`.${name}`)"
        ".getBoundingClientRect().width)]"
    )
    for name, stripe in zip(wanted, stripes, strict=False):
        assert stripe == pytest.approx(room * wanted[name] / total, abs=1)


@pytest.mark.slow
def test_costs_are_those_of_the_library_and_of_torch(show):
    compare_with_torch(show(sample()), count=40)


def test_small_decoders_cost_what_torch_counts(show, few):
    shown = show(sample())
    for size in sizes(
        few(25, 5), 1, lengths=[16, 32, 64], widths=[64, 128, 256]
    ):
        size = size | {"number": 4, "layers": 1}
        attention, network = block(size, "cpu")
        x = torch.randn(1, size["length"], size["width"])
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            network(attention(x, need_weights=True)[0])
        value = shown.set(**size)
        assert sum(value["operations"].values()) == counter.get_total_flops()
        past = CachedSelfAttention(attention)
        with torch.no_grad():
            past(x)
            q, k, _ = attention.project(x, x, x)
        kept = past.buffer[:, :, :, : past.length]
        assert value["bytes"]["cache"] == kept.numel() * kept.itemsize
        k = k.repeat_interleave(size["heads"] // size["groups"], dim=1)
        assert value["bytes"]["scores"] == (q @ k.mT).nbytes
        parameters = [*attention.parameters(), *network.parameters()]
        assert value["bytes"]["weights"] == sum(p.nbytes for p in parameters)


def test_the_sentence_says_where_pairs_lead(show, few):
    shown = show(sample())
    for size in sizes(few(20, 4), 2):
        shown.set(**size)
        said = shown.element.locator(".note").inner_text()
        assert said.startswith("All n² pairs are counted, hidden ones too.")
        all_pairs = 4 * size["length"] ** 2 * size["width"] * size["layers"]
        counted = shown.value["operations"]["pairs"]  # a float64
        assert counted == pytest.approx(all_pairs, rel=1e-12)
        turn = re.search(r"G/H = ([\d,.]+)\. ", said)[1].replace(",", "")
        wanted = expected(size | {"length": 1})
        rest = wanted["projections"] + wanted["network"]
        # at n: n² · pairs = n · rest
        assert float(turn) == pytest.approx(rest / wanted["pairs"], rel=1e-3)
        ratio = expected(size)["cache"] / expected(size)["weights"]
        times = re.search(r"is ([\d,.e-]+) times", said)[1].replace(",", "")
        assert float(times) == pytest.approx(ratio, rel=0.006)


def test_the_keyboard_alone(show):
    shown = show(sample())
    assert len(shown.stops()) == 7
    shown.page.evaluate("document.activeElement.blur()")
    shown.press("Tab", "Tab", "ArrowRight", "Tab", "ArrowLeft")
    assert [shown.value[name] for name in ("length", "width")] == [65536, 3072]
    shown.press("Tab", "End")
    assert shown.value["heads"] == 128
    shown.press("Tab", "Home")
    assert shown.value["groups"] == 1
    assert (
        shown.get("slider", "tokens n").get_attribute("aria-valuetext")
        == "65,536"
    )
    shown.press("Tab", "Home", "ArrowRight", "Tab", "ArrowRight")
    assert shown.value["layers"] == 2 and shown.value["number"] == 4


def test_heads_always_divide_the_width_and_groups_the_heads(show):
    shown = show(sample())
    value = shown.set(width=768)
    assert value["heads"] == 64 and value["groups"] == 64
    value = shown.set(width=5120, heads=128, groups=128)
    assert value["heads"] == value["groups"] == 128
    value = shown.set(width=768)
    assert value["heads"] == value["groups"] == 128
    value = shown.set(width=64)
    assert value["heads"] == value["groups"] == 16
    value = shown.set(width=768, heads=12, groups=5)
    assert value["heads"] == 12 and value["groups"] == 4


def test_the_fallback_counts_the_same():
    cells = re.findall(r"<td>([\d,]+)</td>", sample().fallback)
    found = [int(cell.replace(",", "")) for cell in cells]
    size = {"length": 32_768, "width": 4_096, "heads": 64, "groups": 64}
    wanted = expected(size | {"layers": 48, "number": 2})
    half = wanted["pairs"] // 2
    assert found == [
        wanted["projections"],
        half,
        half,
        wanted["network"],
        wanted["weights"],
        wanted["cache"],
        wanted["scores"],
    ]


FAULTS = {
    "keys of all heads are projected": (
        "4 * n * d * (d + kv) * l",
        "4 * n * d * (d + d) * l",
    ),
    "one layer has weights": (
        "(10 * d + 2 * kv) * d * l * b",
        "(10 * d + 2 * kv) * d * b",
    ),
    "only keys are kept": (
        "2 * n * kv * l * b]",
        "n * kv * l * b]",
    ),
    "the formula forgets the groups": (
        '"2 n d G/H L b"',
        '"2 n d L b"',
    ),
    "the numbers put in are not those": (
        "[[heads, `${grouped(n)}²`, b]",
        "[[heads, `${grouped(n)}`, b]",
    ),
    "the scale is not logarithmic": (
        "Math.log2(amount) / 10)",
        "amount / 2 ** 40)",
    ),
    "a kibibyte has 1,000 bytes": (
        "short(x / 1024 ** unit)",
        "short(x / 1000 ** unit)",
    ),
}


def check(shown):
    compare_with_torch(shown, count=8)
