"""lib.experts against loops over tokens, and against all experts at once."""

from functools import partial

import pytest
import torch
from torch import nn

from lib.experts import (
    MixtureOfExperts,
    Router,
    balanced_bias,
    balancing_loss,
    loads,
    route,
)
from lib.modern import GatedFeedForward
from tests.library import no
from tests.library.draw import DEVICE, DTYPES, close, drawn_ids, normal, same
from tests.library.refusals import by_dtype, by_shape, refuses

KINDS = [("softmax", True), ("softmax", False), ("sigmoid", True)]


def mixture(score="softmax", renormalize=True, shared=False, kind=None):
    torch.manual_seed(0)
    router = Router(6, 5, 2, score, renormalize, scale=1.5)
    experts = [GatedFeedForward(6, 4) for _ in range(5)]
    extra = GatedFeedForward(6, 8) if shared else None
    model = MixtureOfExperts(router, experts, extra).to(DEVICE, kind)
    with torch.no_grad():
        router.bias.copy_(normal(5, dtype=kind, seed=3, scale=0.1))
    return model


def test_a_bias_chooses_and_does_not_weigh():
    scores = torch.tensor([0.1, 0.6, 0.3], device=DEVICE)
    bias = torch.tensor([1.0, 0.0, 0.0], device=DEVICE)
    chosen, weights = route(scores, 2, bias, renormalize=False)
    assert chosen.tolist() == [0, 1]
    same(weights, scores[:2])
    close(route(scores, 2)[1], scores[1:] / 0.9)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(("score", "renormalize"), KINDS)
def test_a_mixture_is_a_sum_over_chosen_experts(score, renormalize, shared):
    """Token by token, in plain loops."""
    model = mixture(score, renormalize, shared, torch.float64)
    x = normal(2, 7, 6, dtype=torch.float64)
    output, routing = model(x, need_routing=True)
    same(output, model(x))
    logits = x @ model.router.keys.weight.T
    scores = logits.softmax(-1) if score == "softmax" else logits.sigmoid()
    close(routing.scores, scores)
    for place in [(0, 0), (1, 3), (1, 6)]:
        row, wanted = x[place], scores[place] + model.router.bias
        best = sorted(range(5), key=lambda e: -wanted[e])[:2]
        assert routing.chosen[place].tolist() == best
        kept = scores[place][best]
        weights = 1.5 * (kept / kept.sum() if renormalize else kept)
        parts = [
            weight * model.experts[e](row)
            for weight, e in zip(weights, best, strict=True)
        ]
        parts += [model.shared(row)] if shared else []
        close(output[place], sum(parts))
        close(routing.weights[place], weights)


def test_gradients_are_those_of_all_experts_at_once():
    """Everybody computes everything, and most weights are 0."""
    model, x = mixture(kind=torch.float64), normal(11, 6, dtype=torch.float64)
    x.requires_grad_()
    output, routing = model(x, need_routing=True)
    dense = torch.zeros_like(routing.scores)
    dense = dense.scatter(-1, routing.chosen, routing.weights)
    each = torch.stack([expert(x) for expert in model.experts], -1)
    slow = (each * dense[:, None]).sum(-1)
    inputs = [x, *model.parameters()]
    ours, theirs = (
        torch.autograd.grad(y.square().sum(), inputs, retain_graph=True)
        for y in (output, slow)
    )
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, steps=64)


def test_an_expert_without_a_token_has_the_gradient_zero():
    model = mixture()
    with torch.no_grad():
        model.router.bias.copy_(torch.tensor([9.0, 9, 0, 0, 0]))
    model(normal(4, 6)).sum().backward()
    for e, expert in enumerate(model.experts):
        assert (expert.gate.weight.grad.abs().max() > 0) == (e < 2)


@pytest.mark.parametrize("kind", DTYPES)
def test_precisions(kind):
    """Chosen are the same experts, so that values may be compared."""
    model, x = mixture(kind=kind), normal(1, 4, 6, dtype=kind)
    output, routing = model(x, need_routing=True)
    exact, wide = model.double()(x.double(), need_routing=True)
    same(routing.chosen, wide.chosen)
    close(output.detach(), exact.detach().to(kind), steps=16)
    assert routing.scores.dtype == torch.promote_types(kind, torch.float32)


def test_loads_count_the_tokens_of_each_expert():
    chosen = torch.tensor([[[0, 3], [3, 1]], [[0, 1], [3, 0]]], device=DEVICE)
    assert loads(chosen, 5).tolist() == [3, 2, 0, 3, 0]


@pytest.mark.parametrize("top_k", [1, 2, 5])
def test_the_loss_is_1_where_all_get_the_same(top_k):
    """And larger where scores follow the load."""
    even = torch.full((5, 5), 0.2, device=DEVICE)
    each = torch.arange(5, device=DEVICE)
    turns = (each[:, None] + each[:top_k]) % 5
    close(balancing_loss(even, turns), torch.tensor(1.0, device=DEVICE))
    uneven = torch.tensor([[4.0, 3, 2, 1, 0.5]], device=DEVICE).expand(5, 5)
    best = route(uneven, top_k)[0]
    more = balancing_loss(uneven, best).item() - 1
    assert more > 0.02 if top_k < 5 else abs(more) < 1e-5


def test_the_loss_pushes_where_the_load_is():
    scores = torch.full((3, 4), 0.25, dtype=torch.float64, device=DEVICE)
    scores.requires_grad_()
    chosen = torch.tensor([[0], [0], [2]], device=DEVICE)
    (slope,) = torch.autograd.grad(balancing_loss(scores, chosen), scores)
    assert (slope[:, 0] > slope[:, 2]).all()
    assert (slope[:, 2] > slope[:, 1]).all()
    close(slope[:, 1], slope[:, 3])


def test_a_bias_moves_towards_equal_loads():
    bias = torch.zeros(4, dtype=torch.float64, device=DEVICE)
    chosen = torch.tensor([[0, 1], [0, 1], [0, 2], [0, 3]], device=DEVICE)
    moved = balanced_bias(bias, chosen, rate=0.5)
    assert moved.tolist() == [-0.5, 0, 0.5, 0.5]


scores, x = torch.rand(2, 3, 6), torch.zeros(2, 3, 6)
router = partial(Router, d_model=6, experts=5, top_k=2)
choose = partial(route, scores=scores, top_k=2)
experts = [nn.Identity()] * 5
build = partial(MixtureOfExperts, router=router(), experts=experts)
chosen = drawn_ids(0, 5, 2, 3, 2).cpu()
test_bad_input_is_refused = refuses(
    *no.size(router, "d_model", "experts"),
    ("top_k", router, ValueError, "1 to 5", {"6": 6, "0": 0}),
    ("top_k", router, TypeError, "an integer", {"float": 2.0}),
    ("score", router, ValueError, "softmax, sigmoid", {"'relu'": "relu"}),
    ("scale", router, ValueError, "above 0", {"0": 0, "-1": -1}),
    *no.switch(router, "renormalize"),
    *no.switch(choose, "renormalize"),
    ("top_k", choose, ValueError, "1 to 6", {"7": 7}),
    ("bias", choose, ValueError, "the experts of the scores, 6",
     {"5 (shape (5,))": torch.zeros(5)}),
    ("bias", choose, TypeError, "torch.float32",
     by_dtype(torch.zeros(6).double())),
    *no.floating_tensor(choose, "scores"),
    ("x", router(), ValueError, "width 6", by_shape(x[..., :5])),
    ("x", build(), ValueError, "at least 2 axes", {"1": x[0, 0]}),
    ("router", build, TypeError, "a Router", {"Linear": nn.Linear(6, 5)}),
    ("experts", build, ValueError, "5, as the router has", {"4": experts[:4]}),
    ("experts", build, TypeError, "a Module", {"int": [1] * 5}),
    ("experts", build, TypeError, "a list of modules", {"str": "abcde"}),
    ("shared", build, TypeError, "a Module", {"int": 1}),
    ("chosen", partial(loads, experts=4), ValueError, "ids from 0 to 3",
     {"4": torch.tensor([[0, 4]])}),
    ("chosen", partial(loads, experts=4), TypeError, "integer tensor",
     by_dtype(chosen.float())),
    ("experts", partial(loads, chosen), ValueError, "at least 1", {"0": 0}),
    ("rate", partial(balanced_bias, torch.zeros(5), chosen), ValueError,
     "above 0", {"0": 0}),
    ("bias", partial(balanced_bias, chosen=chosen), ValueError, "1 axes",
     {"2": torch.zeros(5, 1)}),
)  # fmt: skip
