"""The explorer of the cache beside torch, which does what it shows."""

import functools
import random
import re
from types import MethodType

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from kit.explorers.cache import cache_explorer
from lib.cache import CachedSelfAttention
from lib.heads import MultiHeadAttention, attend_in_heads
from lib.masks import causal_mask

TEXT = ["B", *"2019-03-03"]
WIDTHS = [16, 64, 256, 1024]
ROLES = ("query", "key", "value", "score", "out")


def sample():
    return cache_explorer(TEXT)


def attention_of(width):
    """One that does not leave its products to a kernel, which hides them."""
    made = MultiHeadAttention(width, 4, bias=False)

    def attend(self, q, k, v, may_attend=None, **options):
        return attend_in_heads(q, k, v, may_attend, 0.0, need_weights=True)

    made.attend = MethodType(attend, made)
    return made


def counted(run) -> int:
    """Multiplications: half of what torch counts."""
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2


@functools.cache
def done(width):
    """In each step: what both ways multiply, and what the cache then holds."""
    attention, x = attention_of(width), torch.randn(1, len(TEXT), width)
    past, steps = CachedSelfAttention(attention), []
    for t in range(1, len(TEXT) + 1):
        whole, row, mask = x[:, :t], x[:, t - 1 : t], causal_mask(t)
        without = counted(lambda: attention(whole, may_attend=mask))  # noqa: B023
        cached = counted(lambda: past(row))  # noqa: B023
        kept = past.buffer[:, :, :, : past.length].numel()
        steps.append((without, cached, kept))
    return steps


def cells(shown):
    """The states of the cells of each role in each of the two panels."""
    return shown.element.locator(".panel").evaluate_all(
        "(panels, roles) => panels.map((panel) => roles.map((role) =>"
        "[...panel.querySelectorAll(`.${role}[data-state]`)]"
        ".map((e) => e.dataset.state)))",
        ROLES,
    )


def expected_cells(way, role, length, step):
    """As the two ways of attention work, row by row."""
    if role == "score":
        seen = causal_mask(length)[0, 0].tolist()
        return [
            pair(way, i, j, step, seen[i][j])
            for i in range(length)
            for j in range(length)
        ]
    keeps = role in ("key", "value")
    old = ("kept" if keeps else "none") if way else "again"
    states = [old] * (step - 1) + ["new"]
    return states + ["none"] * (length - step)


def pair(way, i, j, step, may_attend):
    if max(i, j) >= step or (way and i < step - 1):
        return "none"
    if i == step - 1:
        return "new"
    return "again" if may_attend else "hidden"


def table(shown):
    """The counters, as the table shows them."""
    rows = shown.element.locator(".counts tbody tr").evaluate_all(
        "(all) => all.map((row) => [...row.cells].map((e) => e.innerText))"
    )
    return {
        name.replace("\u00ad", ""): [
            [number.replace(",", ""), *rest]
            for number, *rest in (text.split("\n") for text in texts)
        ]
        for name, *texts in rows
    }


def worth(text: str) -> int:
    """The value of a formula with its numbers put in."""
    plain = text.replace(",", "").replace("·", "*").replace("²", "**2")
    return eval(re.fullmatch(r"[\d*+ ]+", plain)[0])


def states(count, seed=0):
    draw = random.Random(seed)
    for _ in range(count):
        length, width = draw.randint(1, 11), draw.choice(WIDTHS)
        step = draw.randint(1, length)
        yield {"length": length, "width": width, "step": step}


STATES = list(states(12, seed=1))
FULLEST = [{"length": 11, "width": 1024, "step": 11}]


def compare_with_torch(shown, count=30, seed=0):
    for state in states(count, seed):
        length, width, step = state.values()
        value = shown.set(**state)
        *counts, kept = zip(*done(width)[:step], strict=True)
        both, kept = [sum(way) for way in counts], kept[-1]
        assert value["now"] == [way[-1] for way in counts]
        assert value["multiplications"] == both
        assert value["stored"] == [0, kept]
        rows = table(shown)
        assert rows["rows computed"] == [
            [str(sum(range(step + 1)))],
            [str(step)],
        ]
        now = rows["multiplications, this step"]
        assert [int(cell[0]) for cell in now] == value["now"]
        assert [worth(cell[1]) for cell in now] == value["now"]
        so_far = rows["multiplications"]
        assert [int(cell[0]) for cell in so_far] == both
        assert [int(cell[0]) for cell in rows["numbers kept"]] == [0, kept]
        assert worth(rows["numbers kept"][1][1]) == kept
        said = shown.element.locator(".ahead").inner_text()
        assert f"{both[0] / both[1]:.2f} times" in said
        assert f"Step {step}: the decoder reads “{TEXT[step - 1]}”" in said
        assert cells(shown) == [
            [expected_cells(way, role, length, step) for role in ROLES]
            for way in (0, 1)
        ]


@pytest.mark.slow
def test_counters_and_cells_are_what_the_library_does(show):
    compare_with_torch(show(sample()), count=40)


def test_a_date_is_that_of_the_chapter(show):
    value = show(sample()).set(length=11, step=11, width=64)
    assert value["rows"] == [66, 11]
    assert value["stored"] == [0, 128 * 11]


def test_steps_by_keys_and_by_buttons(show):
    shown = show(sample())
    shown.set(step=1)
    back, forward = (shown.get("button", name) for name in ("Back", "Next"))
    assert back.is_disabled()
    forward.focus()
    shown.press("Enter", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert shown.value["step"] == 3
    shown.press("Tab", "Tab")
    assert shown.focused().startswith("Step")
    shown.press("End")
    assert shown.value["step"] == 6 and forward.is_disabled()
    shown.press("ArrowLeft")
    assert shown.value["step"] == 5
    back.press("Enter")
    assert shown.value["step"] == 4
    shown.get("slider", "Text length").press("ArrowLeft")
    shown.get("slider", "Text length").press("ArrowLeft")
    assert shown.value["length"] == 4 == shown.value["step"]
    shown.get("combobox", "Width").focus()
    shown.press("ArrowDown")
    assert shown.value["width"] == 256
    assert shown.value["step"] == 4  # the list has its own use for arrows


def test_the_last_step_can_be_left_by_keys(show):
    shown = show(sample())
    shown.get("button", "Next").focus()
    shown.press("Enter", "Enter", "Enter")
    assert shown.value["step"] == 6
    shown.press("ArrowLeft")
    assert shown.value["step"] == 5


@pytest.mark.slow
def test_it_plays_only_if_asked_and_stops_at_the_end(show):
    shown = show(sample(), apart=True)
    shown.page.clock.install()
    shown.page.clock.run_for(20_000)
    assert shown.value["step"] == 4
    shown.set(step=1)
    play = shown.get("button", "Play")
    play.press("Enter")
    shown.page.clock.run_for(2_500)
    assert shown.value["step"] == 3
    shown.get("button", "Pause").press("Enter")
    shown.page.clock.run_for(5_000)
    assert shown.value["step"] == 3
    play.press("Enter")
    shown.page.clock.run_for(60_000)
    assert shown.value["step"] == 6
    assert play.is_visible()
    play.press("Enter")
    assert shown.value["step"] == 1


def test_who_wants_no_motion_gets_none(show):
    shown = show(sample())
    shown.page.emulate_media(reduced_motion="reduce")
    shown.set(step=2)
    assert not shown.get("button", "Play").is_visible()
    shown.get("button", "Next").press("Enter")
    assert shown.value["step"] == 3


def test_the_fallback_counts_the_same(show):
    rows = re.findall(
        r'<tr><th scope="row">(.*?)</th>(.*)</tr>', sample().fallback
    )
    assert [name for name, _ in rows] == [
        "1 B",
        "2 2",
        "3 0",
        "4 1",
        "5 9",
        "6 -",
    ]
    steps = done(64)[:6]
    for t, (_, row) in enumerate(rows, start=1):
        found = [int(n.replace(",", "")) for n in re.findall(r"[\d,]+", row)]
        sums = [sum(way) for way in [*zip(*steps[:t], strict=True)][:2]]
        assert found == [*sums, 2 * t * 64]


FAULTS = {
    "the whole is recomputed with a cache": (
        "(t, d) => 4 * d * d + 2 * t * d,",
        "(t, d) => 4 * t * d * d + 2 * t * d,",
    ),
    "queries are kept": (
        "this.cell(\"query\", ofRow[way](i, t, false))",
        "this.cell(\"query\", ofRow[way](i, t, true))",
    ),
    "only keys are kept": (
        "stored: [0, 2 * step * width]",
        "stored: [0, step * width]",
    ),
    "the mask hides what may be seen": (
        "i < j && i < t ? \"hidden\"",
        "i <= j && i < t ? \"hidden\"",
    ),
    "the first step is forgotten": (
        "STEPS[way](i + 1, width)",
        "STEPS[way](i, width)",
    ),
    "the formula is that of another step": (
        "`4 · ${t} · ${d}² + 2 · ${t}² · ${d}`",
        "`4 · ${t} · ${d}² + 2 · ${t} · ${d}`",
    ),
}  # fmt: skip


def check(shown):
    compare_with_torch(shown, count=8)
