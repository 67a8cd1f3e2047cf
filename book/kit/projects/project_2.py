"""Project II: Multi-head attention of your own. Not taught.

With given weights, in any array library or in none. PyTorch's
`nn.MultiheadAttention` is the judge.
"""

from typing import Protocol

import torch
from torch import Tensor, nn

from kit.exercises import expect
from kit.projects import Judged, numbers, requires, tensor

Batch = list[list[list[float]]]


class Attention(Protocol):
    """Multi-head attention with weights that somebody else has trained."""

    def __init__(self, weights: dict[str, list], heads: int) -> None:
        """The weights are W_q, W_k, W_v, W_o, lists of rows, and b_q, b_k,
        b_v, b_o: y = x W + b. A ValueError if the heads do not divide the
        width."""

    def __call__(
        self,
        queries: Batch,
        source: Batch | None = None,
        allowed: list[list[list[bool]]] | None = None,
    ) -> Batch:
        """Batch, length, width in and out. Keys and values come from the
        source, or from the queries themselves. allowed[n][i][j]: may query
        i look at key j? A query that may look at nothing gets the context
        zero."""


INTERFACE = Attention


class Adapter(Judged):
    """Somebody's structure; PyTorch's module with its weights judges."""

    def __init__(self, made: type, draw, heads: int = 3) -> None:
        self.oracle = layer(draw, heads)
        last = self.oracle.out_proj
        matrices = [*self.oracle.in_proj_weight.chunk(3), last.weight]
        biases = [*self.oracle.in_proj_bias.chunk(3), last.bias]
        weights = {}
        for n, matrix, bias in zip("qkvo", matrices, biases, strict=True):
            weights[f"W_{n}"] = matrix.T.tolist()
            weights[f"b_{n}"] = bias.tolist()
        self.mine = made(weights, heads)

    def __call__(
        self,
        queries: Tensor,
        source: Tensor | None = None,
        allowed: Tensor | None = None,
    ) -> Tensor:
        """What it gives."""
        lists = [t if t is None else t.tolist() for t in (source, allowed)]
        return tensor(self.mine(queries.tolist(), *lists), "the call")

    def judge(self, *inputs: Tensor | None) -> Tensor:
        return judged(self.oracle, *inputs)


def layer(draw, heads: int, width: int = 12) -> nn.MultiheadAttention:
    """PyTorch's module with drawn weights and biases."""
    module = nn.MultiheadAttention(width, heads, batch_first=True).double()
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(numbers(draw, *weight.shape) / width**0.5)
    return module.requires_grad_(False)


def judged(
    oracle: nn.MultiheadAttention,
    queries: Tensor,
    source: Tensor | None = None,
    allowed: Tensor | None = None,
) -> Tensor:
    """PyTorch's answer; its masks say True where a key is hidden."""
    source = queries if source is None else source
    if allowed is not None:
        allowed = ~allowed.repeat_interleave(oracle.num_heads, 0)
    return oracle(
        queries, source, source, attn_mask=allowed, need_weights=False
    )[0]


@requires(12)
def self_attention(made, draw):
    """Self-attention gives what PyTorch gives."""
    mine, x = Adapter(made, draw), numbers(draw, 2, 5, 12)
    hint = "this is the output of a single head of the whole width."
    mine.check(
        "with 3 heads of width 4 the output is not that of PyTorch.",
        x,
        mistakes=[(judged(one_head(mine.oracle), x), hint)],
    )


def one_head(oracle: nn.MultiheadAttention) -> nn.MultiheadAttention:
    """The same weights in one head."""
    other = nn.MultiheadAttention(oracle.embed_dim, 1, batch_first=True)
    other = other.double().requires_grad_(False)
    other.load_state_dict(oracle.state_dict())
    return other


@requires(8)
def cross_attention(made, draw):
    """The source may be of another length than the queries."""
    Adapter(made, draw).check(
        "4 queries to a source of 7 give something else than PyTorch.",
        numbers(draw, 2, 4, 12),
        numbers(draw, 2, 7, 12),
    )


@requires(10)
def masks(made, draw):
    """What is not allowed is not seen."""
    mine, x = Adapter(made, draw), numbers(draw, 2, 5, 12)
    allowed = draw.mask(2, 5, 5).cpu()
    inverted = judged(mine.oracle, x, None, ~allowed)
    mine.check(
        "with a mask the output is not that of PyTorch.",
        x,
        None,
        allowed,
        mistakes=[
            (judged(mine.oracle, x), "the mask changes nothing."),
            (inverted, "True means that a query may look."),
        ],
    )
    mine.check(
        "with a mask over another source the output is not that of PyTorch.",
        x,
        numbers(draw, 2, 7, 12),
        draw.mask(2, 5, 7).cpu(),
    )


@requires(8)
def empty_rows(made, draw):
    """A query that may look at nothing gets the output's bias alone."""
    mine, x = Adapter(made, draw), numbers(draw, 1, 3, 12)
    allowed = torch.tensor([[[True] * 3, [False] * 3, [True] * 3]])
    got = mine(x, None, allowed)[0, 1]
    expect.that(got.isfinite(), "it gives NaN: softmax over nothing.")
    expect.close(
        got,
        mine.oracle.out_proj.bias,
        "its context must be zero, so that the bias is left.",
    )


@requires(8)
def any_number_of_heads(made, draw):
    """It works with 1, 2, 6 and 12 heads, and with equal length and heads."""
    for heads in (1, 2, 6, 12):
        Adapter(made, draw, heads).check(
            f"with {heads} heads and {heads} positions it goes wrong.",
            numbers(draw, 1, heads, 12),
        )


@requires(6)
def rows_are_alone(made, draw):
    """Rows of a batch do not see each other."""
    mine, x = Adapter(made, draw), numbers(draw, 3, 4, 12)
    together = mine(x)[1:2]
    expect.close(together, mine(x[1:2]), "a row gives something else alone.")
    mine.check(
        "alone and in a batch a row gives the same, but not what PyTorch "
        "gives.",
        x[1:2],
    )


@requires(4)
def large_scores(made, draw):
    """Large scores do not overflow."""
    mine, x = Adapter(made, draw), 1000 * numbers(draw, 1, 4, 12)
    expect.that(mine(x).isfinite(), "the exponential of a score overflows.")
    mine.check("finite, but not attention.", x)


@requires(4)
def refuses(made, draw):
    """Heads that do not divide the width are a ValueError."""
    weights = {f"W_{n}": [[0.0] * 4] * 4 for n in "qkvo"}
    weights |= {f"b_{n}": [0.0] * 4 for n in "qkvo"}
    expect.refusal(
        "3 heads cannot share a width of 4: raise a ValueError.",
        lambda: made(weights, 3),
        ValueError,
    )
