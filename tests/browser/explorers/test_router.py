"""The explorer of the router against torch."""

import random

import torch

from kit.explorers.router import (
    KINDS,
    balance_of,
    route,
    router_explorer,
    scores_of,
)
from tests.browser.explorers.shown import close, number

FULLEST = [{"experts": 6, "top": 6, "biases": [-0.95] * 6, "token": 7}]
KEYS = [
    ("Tab Tab ArrowRight", {"experts": 5}),
    ("Tab ArrowRight", {"top": 2}),
    ("Tab ArrowRight Tab Space", {"by": "sigmoid", "renormalize": True}),
    ("Tab Tab Enter", "expert 2"),
    ("Tab Tab Tab Tab", "key of expert 2"),
    ("ArrowRight", {"angles": [45, 140, 225, 315, 90, 270]}),
    ("Tab ArrowLeft", {"biases": [0, -0.05, 0, 0, 0, 0]}),
    ("Tab Enter Tab Tab Space", "3 + 9"),
    ("Shift+Tab Shift+Tab Shift+Tab Shift+Tab Shift+Tab", "expert 5"),
    ("Space", {"expert": 4, "token": 1}),
    ({"experts": 2}, {"top": 2, "expert": 1}),  # no more than there are
]
SAYS = [
    ({}, ".note", "Idle: 3, 4. Balancing loss 1.61, which is 1 where all "
     "loads are equal."),
    ({"experts": 3, "top": 2, "token": 7}, "caption",
     "Scores of “twelve”, load by all tokens"),
    ({"experts": 3}, ".mean", "mean 2.67"),
    ({"experts": 3, "top": 2, "angles": [35] * 6}, ".kind b", ["→ 1 2"] * 8),
]  # fmt: skip
CELLS = "(row) => [...row.cells].slice(1, 5).map((cell) => cell.innerText)"
# Of a bar: how long its parts are, and where the mean is marked.
BAR = """(bar) => {
  const [box, ...parts] = [bar, ...bar.children].map((e) =>
    e.getBoundingClientRect());
  const mark = parts.pop().left - box.left;
  return [...parts.map((part) => part.width), mark].map((x) =>
    8 * x / box.width);
}"""


def sample():
    return router_explorer()


def drawn(draw):
    """A state."""
    return {
        "experts": (experts := draw.randint(2, 6)),
        "top": draw.randint(1, experts),
        "by": draw.choice(["softmax", "sigmoid"]),
        "renormalize": draw.random() < 0.5,
        "angles": [5 * draw.randrange(72) for _ in range(6)],
        "biases": [draw.randint(-9, 9) * draw.randrange(2) / 20
                   for _ in range(6)],
    }  # fmt: skip


def asked(experts, top, by, renormalize, angles, biases):
    """Scores and biases, who is chosen, and with which weights."""
    scores = scores_of(KINDS, angles[:experts], by)
    bias = torch.tensor(biases[:experts]).double()
    return scores, bias, *route(scores, top, bias, renormalize)


def test_what_it_shows_is_what_torch_computes(shown, few):
    draw = random.Random(0)
    for _ in range(few(100, 12)):
        state, token = drawn(draw), draw.randrange(8)
        shown.set(**state, token=token)
        scores, bias, chosen, weights = asked(**state)
        sent = [text.split()[1:] for text in shown.all(".kind b")]
        close([[int(e) for e in row] for row in sent], chosen + 1)
        loads, loss = balance_of(scores, chosen)
        full = torch.zeros_like(scores).scatter(-1, chosen, weights)
        found = shown.all("tbody tr", CELLS)
        assert [row[2] == "–" for row in found] == (full[token] == 0).tolist()
        rows = [[number(t.replace("–", "0")) for t in row] for row in found]
        columns = torch.stack([scores[token], bias, full[token], loads])
        close(rows, columns.T, 6e-3)
        close(shown.numbers("tfoot .number"), columns[[0, 2, 3]].sum(1), 6e-3)
        of_kind = (full > 0).unflatten(0, (2, 4)).sum(dim=1)
        means = loads.double().mean().expand(1, len(loads))
        close(shown.all(".track", BAR), torch.cat([of_kind, means]).T, 0.02)
        shares = (scores.T / scores.sum(dim=1)).mean(dim=1)
        formula = (loads * shares).sum() / loads.double().mean()
        close([number(shown.text(".note b")), loss], [formula] * 2, 6e-3)
        idle = [str(e + 1) for e, load in enumerate(loads) if not load]
        said = f"Idle: {', '.join(idle)}." if idle else "All work."
        assert shown.text(".note").startswith(said)


def test_a_step_moves_each_bias_towards_the_mean_load(shown, few):
    draw = random.Random(1)
    step = shown.get("button", "Balance: one step")
    for state in [drawn(draw) for _ in range(few(20, 4))]:
        shown.set(**state)
        for _ in range(few(10, 4)):
            scores, bias, chosen, _ = asked(**state)
            loads, _ = balance_of(scores, chosen)
            bias += (loads.double().mean() - loads).sign() / 20
            others = state["biases"][len(bias) :]
            step.click()
            state["biases"] = shown.value["biases"]
            close(state["biases"], bias.tolist() + others)


def test_a_point_chooses_its_token(shown):
    for at, name in ((6, "nine"), (2, "8 + 1")):
        shown.element.locator(".token text").nth(at).click()
        assert f"“{name}”" in shown.text("caption")
