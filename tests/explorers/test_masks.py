"""The mask builder against `lib.masks` and torch, in a browser."""

import itertools
import random

import pytest
import torch
from bs4 import BeautifulSoup
from torch import nn

from kit.explorers.masks import SOURCE, TARGET, mask_explorer
from lib import masks
from lib.attention import attention, attention_weights
from lib.softmax import softmax

PAD, WIDTH = 0, 4
PLACES = {"encoder": "ss", "decoder": "tt", "cross": "ts"}
CONVENTIONS = ("ours", "module", "additive", "numbers")
SETTINGS = [
    dict(zip(("where", "padding", "causal", "convention"), one, strict=True))
    for one in itertools.product(
        PLACES, (False, True), (False, True), CONVENTIONS
    )
]
TEXTS = """(e) => [...e.shadowRoot.querySelectorAll("tbody tr")].map(
  (row) => [...row.querySelectorAll("td")].map((cell) => [
    cell.textContent, cell.classList.contains("seen")]))"""
FAULTS = {
    new: (old, new)
    for old, new in [
        ("key <= query", "key < query"),
        ("key <= query", "key >= query"),
        ("!this.pads[this.keySide][key]", "this.pads[this.keySide][key]"),
        ('this.where === "decoder" ? "target" : "source"', '"source"'),
        ('this.where === "encoder" ? "source" : "target"', '"target"'),
        ("(!this.padding || this.isReal(key))", "this.isReal(key)"),
        ('this.causal && this.where !== "cross"', "this.causal"),
        ("&& (!this.isCausal ||", "|| (!this.isCausal ||"),
        ('yes: "False", no: "True"', 'yes: "True", no: "False"'),
        ('yes: "0", no: "−∞"', 'yes: "1", no: "−∞"'),
        ("`~${triangle}[0, 0]`", "`${triangle}[0, 0]`"),
        ("`${ids} == PAD`", "`${ids} != PAD`"),
        ('"M = pad + causal"', '"M = pad * causal"'),
        ("row.includes(true) ? [] : [i]", "row.includes(false) ? [] : [i]"),
    ]
}


def sample():
    return mask_explorer()


def pads(seed: int) -> dict[str, list[bool]]:
    """Which words are PAD; in some draws all, in some none."""
    draw = random.Random(seed)
    share = draw.choice([0, 0.3, 0.6, 1])
    return {
        "source": [draw.random() < share for _ in SOURCE],
        "target": [draw.random() < share for _ in TARGET],
    }


NOTHING = {"source": [True] * 6, "target": [True] * 5}
FULLEST = [
    {"where": where, "convention": "module", "pads": NOTHING}
    for where in PLACES
]
STATES = [
    setting | {"pads": pads(number)} for number, setting in enumerate(SETTINGS)
]


def ids_of(is_pad: list[bool]) -> torch.Tensor:
    return torch.tensor([[PAD if pad else 7 for pad in is_pad]])


def expected(where, padding, causal, pads) -> torch.Tensor:
    """The mask as the library builds it, of shape (queries, keys)."""
    sides = {"s": ids_of(pads["source"]), "t": ids_of(pads["target"])}
    queries, keys = (sides[side] for side in PLACES[where])
    mask = torch.ones(1, 1, queries.shape[1], keys.shape[1]) == 1
    if padding:
        mask = mask & masks.padding_mask_from_ids(keys, PAD)
    if causal and where != "cross":
        mask = mask & masks.causal_mask(keys.shape[1])
    return mask[0, 0]


def written(mask: torch.Tensor, convention: str) -> list[list[str]]:
    """The mask in another convention, as Python prints it."""
    other = {
        "ours": mask,
        "module": masks.for_torch_mha(mask[None, None], 1, 1, len(mask))[0],
        "additive": masks.additive(mask),
        "numbers": mask.long(),
    }[convention]
    names = {0.0: "0", float("-inf"): "−∞"}
    return [
        [names.get(x) if convention == "additive" else str(x) for x in row]
        for row in other.tolist()
    ]


def run(code: str, given: dict, queries: int, keys: int) -> torch.Tensor:
    """The weights that attention has with the masks of this code."""
    torch.manual_seed(0)
    q, k = torch.randn(1, queries, WIDTH), torch.randn(1, keys, WIDTH)
    module = nn.MultiheadAttention(WIDTH, 1, batch_first=True)
    found = {}

    def weights_of_ours(q, k, v, mask=None):
        found["weights"] = attention_weights(q[:, None], k[:, None], mask)

    def weights_of_module(q, k, v, **given):
        found["weights"] = module(q, k, k, **given)[1]

    names = {name: ids_of(pads) for name, pads in given.items()} | {
        "PAD": PAD,
        "q": q,
        "k": k,
        "v": torch.eye(keys),
        "scores": (q @ k.mT)[:, None],
        "attention": weights_of_ours,
        "module": weights_of_module,
        "softmax": softmax,
    }
    public = {n: getattr(masks, n) for n in dir(masks) if n[0] != "_"}
    *lines, last = code.splitlines()
    exec("\n".join(lines), public | names, names)
    result = eval(last, public | names)
    if result is None:
        result = found["weights"]
    return result.nan_to_num(0).reshape(queries, keys)


def compare(value, cells, where, padding, causal, convention, pads):
    """Assert that all which is shown is what the library says."""
    mask = expected(where, padding, causal, pads)
    assert value["mask"] == mask.tolist()
    assert value["empty"] == (~mask.any(1)).nonzero().flatten().tolist()
    texts = written(mask, convention)
    assert value["shown"] == texts
    assert [[text for text, _ in row] for row in cells] == texts
    assert [[seen for _, seen in row] for row in cells] == mask.tolist()
    weights = run(value["code"], pads, *mask.shape)
    assert torch.equal(weights > 0, mask)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [100, 200, 300])
def test_with_other_pads_it_is_that_of_the_library_too(show, seed):
    check(show(mask_explorer()), seed)


def check(shown, seed=0):
    states = [
        setting | {"pads": pads(number)}
        for number, setting in enumerate(SETTINGS, start=seed)
    ]
    for state, found in zip(states, shown.each(states, TEXTS), strict=True):
        compare(*found, **state)


def test_what_is_said_of_an_empty_row_is_true(show):
    shown = show(mask_explorer())
    alarm = shown.element.locator(".warn")
    assert alarm.inner_text() == ""
    first = {"target": [True, False, False, False, False]}
    value = shown.set(pads=first)
    assert value["empty"] == [0]
    assert alarm.inner_text() == (
        "“PAD” may attend to nothing. Softmax alone makes NaN of that; "
        "the attention of this book gives the weights 0."
    )
    mask = torch.tensor(value["mask"])
    assert softmax(masks.additive(mask))[0].isnan().all()
    q, k, v = torch.randn(3, 5, WIDTH)
    assert (attention_weights(q, k, mask)[0] == 0).all()
    assert (attention(q, k, v, mask)[0] == 0).all()
    shown.set(pads={"target": [True] * 5})
    assert alarm.inner_text().startswith("5 rows may attend to nothing.")


WHY = [
    ("decoder", True, (1, 3), "“ich” may not attend to “Tee”: it comes "
     "later."),
    ("decoder", True, (2, 2), "“mag” may attend to itself."),
    ("decoder", True, (4, 4), "PAD at position 4 may not attend to "
     "itself: nothing stands there."),
    ("decoder", True, (0, 4), "“BOS” may not attend to PAD at position "
     "4: nothing stands there, and it comes later."),
    ("decoder", False, (0, 1), "“BOS” may attend to “ich”, although it "
     "comes later."),
    ("encoder", False, (0, 1), "“I” may attend to “like”."),
    ("encoder", False, (0, 5), "“I” may not attend to PAD at position "
     "5: nothing stands there."),
    ("cross", True, (0, 3), "“BOS” may attend to “now”."),
]  # fmt: skip


def test_it_says_why(show):
    shown = show(mask_explorer())
    for where, causal, cell, words in WHY:
        shown.set(where=where, causal=causal, cell=cell)
        assert shown.element.locator(".note").inner_text() == words


def test_the_number_of_pairs_is_counted(show, few):
    shown = show(mask_explorer())
    for seed in range(few(12, 3)):
        value = shown.set(pads=pads(seed), where="encoder", causal=seed % 2)
        allowed = sum(map(sum, value["mask"]))
        shown.get("group").get_by_text(
            f"{allowed} of 36 pairs are allowed.", exact=True
        ).wait_for()


def test_arrow_keys_move_in_the_grid(show, few):
    shown = show(mask_explorer())
    cell = shown.element.locator("td[tabindex='0']")
    assert cell.count() == 1
    cell.focus()
    at = [1, 3]
    steps = {
        "ArrowUp": (-1, 0),
        "ArrowDown": (1, 0),
        "ArrowLeft": (0, -1),
        "ArrowRight": (0, 1),
    }
    draw = random.Random(1)
    for key in draw.choices([*steps], k=few(25, 8)):
        shown.press(key)
        at = [
            min(4, max(0, x + step))
            for x, step in zip(at, steps[key], strict=True)
        ]
        assert shown.value["cell"] == at
        assert cell.count() == 1
        assert cell.get_attribute("aria-selected") == "true"
        assert cell.evaluate("(e) => e.matches(':focus')")
    shown.press("Home", "PageUp")
    assert shown.value["cell"] == [0, 0]
    shown.press("Control+End", "Alt+ArrowDown", "Meta+ArrowRight")
    assert shown.value["cell"] == [0, 0]  # those are the browser's
    shown.press("End", "PageDown")
    assert shown.value["cell"] == [4, 4]


def test_everything_can_be_done_by_keyboard_alone(show):
    shown = show(mask_explorer())

    def tab_to(name):
        for _ in range(15):
            if shown.focused().startswith(name):
                return
            shown.press("Tab")
        raise AssertionError(f"Tab does not reach {name}")

    tab_to("in the decoder")
    shown.press("ArrowUp")
    assert (shown.value["where"], shown.value["causal"]) == ("encoder", False)
    tab_to("padding")
    shown.press("Space")
    assert shown.value["padding"] is False
    tab_to("causal")
    shown.press("Space")
    assert shown.value["causal"] is True
    tab_to("convention")
    shown.press("ArrowDown")
    assert shown.value["convention"] == "module"
    tab_to("like, position 1")
    shown.press("Space")
    assert shown.value["pads"]["source"][1] is True
    assert shown.focused() == "PAD, position 1: is PAD"
    shown.press("Enter")
    assert shown.value["pads"]["source"][1] is False


def test_between_two_sentences_nothing_is_causal(show):
    shown = show(mask_explorer())
    shown.get("radio", "across").check()
    causal = shown.get("checkbox", "causal")
    assert causal.is_disabled() and not causal.is_checked()
    shown.get("radio", "decoder").check()
    assert causal.is_enabled() and causal.is_checked()


def test_start_again_brings_everything_back(show):
    shown = show(mask_explorer())
    first = shown.value
    shown.set(where="cross", convention="numbers", pads=pads(3), cell=[4, 5])
    assert shown.value != first
    shown.get("button", "Start again").click()
    assert shown.value == first
    assert shown.get("radio", "decoder").is_checked()


def test_without_script_it_is_the_table_that_it_starts_with(show):
    soup = BeautifulSoup(mask_explorer().fallback, "html.parser")
    rows = [
        [cell.get_text() for cell in row.find_all("td")]
        for row in soup.select("tbody tr")
    ]
    assert rows == show(mask_explorer()).value["shown"]
    heads = [cell.get_text() for cell in soup.select("thead th")]
    assert heads == ["", "BOS", "ich", "mag", "Tee", "PAD"]
