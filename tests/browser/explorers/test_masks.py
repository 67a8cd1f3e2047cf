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
from tests.built import first_quick

PAD, WIDTH = 0, 4
PLACES = {"encoder": "ss", "decoder": "tt", "cross": "ts"}
CONVENTIONS = ("ours", "module", "additive", "numbers")
SETTINGS = [
    dict(zip(("where", "padding", "causal", "convention"), one, strict=True))
    for one in itertools.product(
        PLACES, (False, True), (False, True), CONVENTIONS
    )
]
# The cells of the grid with what is seen, and the words beside it.
TEXTS = """(e) => [[...e.shadowRoot.querySelectorAll("tbody tr")].map(
  (row) => [...row.querySelectorAll("td")].map((cell) => [
    cell.textContent, cell.classList.contains("seen")])),
  e.shadowRoot.querySelector(".board > :last-child").textContent]"""
KEYS = [
    ("Tab Tab", "in the decoder"),
    ("ArrowUp", {"where": "encoder", "causal": False}),
    ("Tab Space", {"padding": False}),
    ("Tab Space", {"causal": True}),
    ("Tab ArrowDown", {"convention": "module"}),
    ("Tab Tab Space", "PAD, position 1: is PAD"),
    ("Enter", "like, position 1: is PAD"),
    ("Tab Tab Tab Tab Tab ArrowUp ArrowLeft ArrowLeft", {"cell": [0, 1]}),
    ("ArrowDown ArrowRight", {"cell": [1, 2]}),
    ("Home ArrowLeft PageUp ArrowUp", {"cell": [0, 0]}),
    # Those are the browser's.
    ("Control+End Alt+ArrowDown Meta+ArrowRight", {"cell": [0, 0]}),
    ("End PageDown ArrowRight ArrowDown", {"cell": [5, 5]}),
    ({"where": "cross"}, {"causal": False, "cell": [4, 5]}),
    ({"where": "decoder"}, {"causal": True, "cell": [4, 4]}),
]


def why(where, causal, cell, words):
    state = {"where": where, "causal": causal, "cell": cell}
    return state, ".note", words


SAYS = [
    why("decoder", True, [1, 3], "“ich” may not attend to “Tee”: it comes "
        "later."),
    why("decoder", True, [2, 2], "“mag” may attend to itself."),
    why("decoder", True, [4, 4], "PAD at position 4 may not attend to itself: "
        "nothing stands there."),
    why("decoder", True, [0, 4], "“BOS” may not attend to PAD at position 4: "
        "nothing stands there, and it comes later."),
    why("decoder", False, [0, 1], "“BOS” may attend to “ich”, although it "
        "comes later."),
    why("encoder", False, [0, 1], "“I” may attend to “like”."),
    why("encoder", False, [0, 5], "“I” may not attend to PAD at position 5: "
        "nothing stands there."),
    why("cross", True, [0, 3], "“BOS” may attend to “now”."),
    ({"where": "encoder"}, "tbody th", [*"I like tea now PAD PAD".split()]),
    (
        {"pads": {"target": [True] + [False] * 4}},
        ".warn",
        "“PAD” may attend to nothing. Softmax alone makes NaN of that; the "
        "attention of this book gives the weights 0.",
    ),
]  # fmt: skip


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


def paired(value):
    """What stands below the table: how many pairs, and the alarm."""
    mask = torch.tensor(value["mask"])
    return f"{int(mask.sum())} of {mask.numel()} pairs are allowed."


@pytest.mark.parametrize("seed", first_quick([0, 100, 200, 300]))
def test_with_any_pads_it_is_that_of_the_library(show, seed):
    shown = show(mask_explorer())
    states = [
        setting | {"pads": pads(number)}
        for number, setting in enumerate(SETTINGS, start=seed)
    ]
    found = shown.each(states, TEXTS)
    for state, (value, (cells, said)) in zip(states, found, strict=True):
        compare(value, cells, **state)
        assert paired(value) in said
        alarm = f"{len(value['empty'])} rows may attend to nothing."
        assert (alarm in said) == (len(value["empty"]) > 1)


def test_what_is_said_of_an_empty_row_is_true():
    mask = torch.eye(5).bool()
    mask[0] = False
    assert softmax(masks.additive(mask))[0].isnan().all()
    q, k, v = torch.randn(3, 5, WIDTH)
    assert (attention_weights(q, k, mask)[0] == 0).all()
    assert (attention(q, k, v, mask)[0] == 0).all()


def test_between_two_sentences_nothing_is_causal(show):
    shown = show(mask_explorer())
    shown.get("radio", "across").check()
    causal = shown.get("checkbox", "causal")
    assert causal.is_disabled() and not causal.is_checked()
    shown.get("radio", "decoder").check()
    assert causal.is_enabled() and causal.is_checked()


def test_without_script_it_is_the_table_that_it_starts_with(show):
    soup = BeautifulSoup(mask_explorer().fallback, "html.parser")
    rows = [
        [cell.get_text() for cell in row.find_all("td")]
        for row in soup.select("tbody tr")
    ]
    assert rows == show(mask_explorer()).value["shown"]
    heads = [cell.get_text() for cell in soup.select("thead th")]
    assert heads == ["", "BOS", "ich", "mag", "Tee", "PAD"]
