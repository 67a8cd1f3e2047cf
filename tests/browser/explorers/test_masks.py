"""The mask builder against `lib.masks` and torch, in a browser."""

import itertools
import random

import pytest
import torch
from torch import nn

from kit.explorers.masks import SOURCE, TARGET, mask_explorer
from lib import masks
from lib.attention import attention_weights
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
# The cells of the grid with what is seen, the words beside it, the code.
READ = """({ shadowRoot: root }) => [
  [...root.querySelectorAll("tbody tr")].map((row) => [
    ...row.querySelectorAll("td")].map((cell) => [
      cell.textContent, cell.classList.contains("seen")])),
  root.querySelector(".board > :last-child").textContent,
  [...root.querySelectorAll(".code code")].map((line) => [
    [...line.childNodes].slice(0, -1).map((part) => part.textContent).join(""),
    line.lastChild.textContent])]"""
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
    ({"where": "cross"}, {"cell": [4, 5]}),
    ({"where": "decoder"}, {"cell": [4, 4]}),
]


ALARM = (
    "“PAD” may attend to nothing. Softmax alone makes NaN of that; the "
    "attention of this book gives the weights 0."
)
REASONS = [
    ("decoder", True, [1, 3], "“ich” may not attend to “Tee”: it comes "
     "later."),
    ("decoder", True, [2, 2], "“mag” may attend to itself."),
    ("decoder", True, [4, 4], "PAD at position 4 may not attend to itself: "
     "nothing stands there."),
    ("decoder", True, [0, 4], "“BOS” may not attend to PAD at position 4: "
     "nothing stands there, and it comes later."),
    ("decoder", False, [0, 1], "“BOS” may attend to “ich”, although it comes "
     "later."),
    ("encoder", False, [0, 1], "“I” may attend to “like”."),
    ("encoder", False, [0, 5], "“I” may not attend to PAD at position 5: "
     "nothing stands there."),
    ("cross", True, [3, 3], "“Tee” may attend to “now”."),
]  # fmt: skip
SAYS = [
    *(
        ({"where": where, "causal": causal, "cell": cell}, ".note", words)
        for where, causal, cell, words in REASONS
    ),
    ({"where": "encoder"}, "tbody th", [*"I like tea now PAD PAD".split()]),
    ({"where": "cross"}, "tbody th", [*"BOS ich mag Tee PAD".split()]),
    ({"convention": "module"}, ".sum > .joins", "|"),
    # Between two sentences nothing is causal.
    ({}, "label:has(:disabled)", []),
    ({"where": "cross"}, "label:has(:disabled:not(:checked))", "causal"),
    (
        {"pads": {"source": [False] * 6, "target": [True] + [False] * 4}},
        ".warn",
        ALARM,
    ),
]


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


def run(lines, given: dict, queries: int, keys: int) -> torch.Tensor:
    """The weights that attention has with the masks of this code.

    On the way, the masks have the shapes that stand beside them.
    """
    torch.manual_seed(0)
    q, k = torch.randn(1, queries, WIDTH), torch.randn(1, keys, WIDTH)
    module = nn.MultiheadAttention(WIDTH, 1, batch_first=True)
    names = {name: getattr(masks, name) for name in dir(masks)}
    names |= {name: ids_of(pads) for name, pads in given.items()} | {
        "PAD": PAD,
        "q": q,
        "k": k,
        "v": torch.eye(keys),
        "scores": (q @ k.mT)[:, None],
        "attention": lambda q, k, v, mask=None: attention_weights(
            q[:, None], k[:, None], mask
        ),
        "module": lambda q, k, v, **masks: module(q, k, k, **masks)[1],
        "softmax": softmax,
    }
    *made, (last, _) = lines
    for line, axes in made:
        name, _, code = line.partition(" = ")
        names[name] = eval(code, names)
        assert str(tuple(names[name].shape)) == axes
    return eval(last, names).nan_to_num(0).reshape(queries, keys)


@pytest.mark.parametrize("seed", first_quick([0, 100, 200, 300]))
def test_with_any_pads_it_is_that_of_the_library(shown, seed):
    states = [
        setting | {"pads": pads(number)}
        for number, setting in enumerate(SETTINGS, start=seed)
    ]
    found = shown.each(states, READ)
    for state, (cells, said, lines) in zip(states, found, strict=True):
        convention = state.pop("convention")
        mask = expected(**state)
        texts = [[text for text, _ in row] for row in cells]
        assert texts == written(mask, convention)
        assert [[seen for _, seen in row] for row in cells] == mask.tolist()
        weights = run(lines, state["pads"], *mask.shape)
        assert torch.equal(weights > 0, mask)
        assert f"{mask.sum()} of {mask.numel()} pairs are allowed." in said
        empty = int((~mask.any(1)).sum())
        alarm = f"{empty} rows may attend to nothing."
        assert (alarm in said) == (empty > 1)
