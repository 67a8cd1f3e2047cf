"""Chapter 18: many feed-forward networks, of which a token uses a few.

Not here: a limit on the tokens of an expert (Switch Transformer), and a choice
among groups of experts (DeepSeek-V3).
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from . import validate

SCORES = {"softmax": partial(torch.softmax, dim=-1), "sigmoid": torch.sigmoid}


def route(
    scores: Float[Tensor, "*lead experts"],
    top_k: int,
    bias: Float[Tensor, " experts"] | None = None,
    renormalize: bool = True,
) -> tuple[Int[Tensor, "*lead top_k"], Float[Tensor, "*lead top_k"]]:
    """The experts of each token, best first, and what each one weighs.

    Sources: Shazeer et al. 2017, section 2.1, for the few best; Wang et al.
    2024, equation 2, for the bias.

    Args:
        scores: positive, as from a softmax or a sigmoid.
        top_k: how many experts a token gets.
        bias: added where experts are chosen, and not to what they weigh.
        renormalize: the weights of a token sum to 1.
    """
    validate.routing(scores, top_k, bias)
    validate.booleans(renormalize=renormalize)
    wanted = scores if bias is None else scores + bias
    chosen = wanted.topk(top_k, dim=-1).indices
    weights = scores.gather(-1, chosen)
    if renormalize:
        weights = weights / weights.sum(-1, keepdim=True)
    return chosen, weights


class Routing(NamedTuple):
    """What a router says of each token."""

    scores: Float[Tensor, "*lead experts"]
    chosen: Int[Tensor, "*lead top_k"]
    weights: Float[Tensor, "*lead top_k"]


class Router(nn.Module):
    """A key for each expert: its product with a token is the expert's score.

    Sources: Fedus et al. 2022, section 2.1, for softmax; DeepSeek-AI 2024b,
    section 2.1.2, for sigmoid. Scores are computed in float32 at least.

    Args:
        experts: their number.
        top_k, renormalize: as in `route`.
        score: "softmax" (experts compete) or "sigmoid" (each for itself).
        scale: a factor on all weights.
    """

    def __init__(
        self,
        d_model,
        experts,
        top_k,
        score="softmax",
        renormalize=True,
        scale=1.0,
    ):
        super().__init__()
        validate.router(d_model, experts, top_k)
        validate.choice("score", score, tuple(SCORES))
        validate.booleans(renormalize=renormalize)
        validate.above("scale", scale, 0)
        self.keys = nn.Linear(d_model, experts, bias=False)
        self.bias = nn.Buffer(torch.zeros(experts))
        self.top_k, self.score = top_k, score
        self.renormalize, self.scale = renormalize, scale

    def forward(self, x: Float[Tensor, "*lead d_model"]) -> Routing:
        """The scores of all experts, and the few that are chosen."""
        validate.shapes("x: ... d_model", x=x, d_model=self.keys.in_features)
        wide = torch.promote_types(x.dtype, torch.float32)
        scores = SCORES[self.score](self.keys(x).to(wide))
        chosen, weights = route(
            scores, self.top_k, self.bias.to(wide), self.renormalize
        )
        return Routing(scores, chosen, self.scale * weights.to(x.dtype))


class MixtureOfExperts(nn.Module):
    """Σ weight · expert(x) over the chosen experts of each token.

    Sources: Shazeer et al. 2017, equation 1; Dai et al. 2024, section 3.2, for
    the shared expert. Only the chosen experts compute.

    Args:
        router: chooses among as many experts as there are.
        experts: networks that keep the width, such as `GatedFeedForward`.
        shared: one more that every token gets, with weight 1; or None.
    """

    def __init__(
        self,
        router: Router,
        experts: Sequence[nn.Module],
        shared: nn.Module | None = None,
    ):
        super().__init__()
        validate.mixture(router, Router, experts, shared)
        self.router, self.shared = router, shared
        self.experts = nn.ModuleList(experts)

    def forward(
        self,
        x: Float[Tensor, "*lead tokens d_model"],
        *,
        need_routing: bool = False,
    ) -> Float[Tensor, "*lead tokens d_model"] | tuple[Tensor, Routing]:
        """The mixture, and if asked also who was chosen."""
        validate.shapes("x: ... tokens d_model", x=x)
        routing = self.router(x)
        output = torch.zeros_like(x) if self.shared is None else self.shared(x)
        rows, output = x.flatten(0, -2), output.flatten(0, -2)
        chosen = routing.chosen.flatten(0, -2)
        weights = routing.weights.flatten(0, -2)
        for e, expert in enumerate(self.experts):
            token, place = torch.where(chosen == e)
            part = weights[token, place, None] * expert(rows[token])
            output = output.index_add(0, token, part)
        output = output.view_as(x)
        return (output, routing) if need_routing else output


def loads(
    chosen: Int[Tensor, "*lead top_k"], experts: int
) -> Int[Tensor, " {experts}"]:
    """How many tokens each expert gets."""
    validate.chosen(chosen, experts)
    return torch.bincount(chosen.flatten(), minlength=experts)


def balancing_loss(
    scores: Float[Tensor, "*lead experts"], chosen: Int[Tensor, "*lead top_k"]
) -> Float[Tensor, ""]:
    """experts · Σ f_e P_e: 1 if all experts get the same.

    f_e is the share of all choices that fell on expert e, P_e its mean score;
    the scores of a token are divided by their sum. The gradient is that of P.
    Sources: Fedus et al. 2022, equations 4 to 6; DeepSeek-AI 2024b, equations
    17 to 20.
    """
    validate.routing(scores, chosen.shape[-1], None)
    experts = scores.shape[-1]
    share = loads(chosen, experts) / chosen.numel()
    mean = (scores / scores.sum(-1, keepdim=True)).flatten(0, -2).mean(0)
    return experts * (share * mean).sum()


def balanced_bias(
    bias: Float[Tensor, " experts"],
    chosen: Int[Tensor, "*lead top_k"],
    rate: float = 1e-3,
) -> Float[Tensor, " experts"]:
    """Up by `rate` for experts with too few tokens, down for the others.

    Source: Wang et al. 2024, algorithm 1.
    """
    validate.shapes("bias: experts", bias=bias)
    validate.above("rate", rate, 0)
    load = loads(chosen, len(bias)).to(bias.dtype)
    return bias + rate * torch.sign(load.mean() - load)
