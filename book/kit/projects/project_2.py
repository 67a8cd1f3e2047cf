"""Project II: Multi-head attention of your own. Not taught.

With given weights, in any array library or in none. PyTorch's
`nn.MultiheadAttention` is the judge.
"""

from typing import Protocol

import torch
from torch import Tensor, nn

from kit.exercises import expect
from kit.projects import requires

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


class Adapter:
    """Tensors outside, somebody's structure of plain lists inside."""

    def __init__(self, made: type, oracle: nn.MultiheadAttention) -> None:
        projections = oracle.in_proj_weight.chunk(3), oracle.in_proj_bias
        weights = {
            f"W_{name}": w.T.tolist()
            for name, w in zip("qkv", projections[0], strict=True)
        }
        biases = projections[1].chunk(3)
        weights |= {
            f"b_{name}": b.tolist()
            for name, b in zip("qkv", biases, strict=True)
        }
        weights["W_o"] = oracle.out_proj.weight.T.tolist()
        weights["b_o"] = oracle.out_proj.bias.tolist()
        self.mine = made(weights, oracle.num_heads)

    def __call__(
        self,
        queries: Tensor,
        source: Tensor | None = None,
        allowed: Tensor | None = None,
    ) -> Tensor:
        """What it gives."""
        lists = [t if t is None else t.tolist() for t in (source, allowed)]
        got = self.mine(queries.tolist(), *lists)
        expect.that(
            isinstance(got, list),
            f"the call gives a {type(got).__name__}, not lists of numbers.",
        )
        return torch.tensor(got, dtype=torch.float64)


def layer(draw, heads: int = 3, width: int = 12) -> nn.MultiheadAttention:
    """PyTorch's module with drawn weights and biases."""
    module = nn.MultiheadAttention(width, heads, batch_first=True).double()
    with torch.no_grad():
        for weight in module.parameters():
            drawn = draw.normal(*weight.shape, dtype=torch.float64)
            weight.copy_(drawn.cpu() / width**0.5)
    return module.requires_grad_(False)


def numbers(draw, *shape: int) -> Tensor:
    return draw.normal(*shape, dtype=torch.float64).cpu()


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
    oracle, x = layer(draw), numbers(draw, 2, 5, 12)
    expect.close(
        Adapter(made, oracle)(x),
        judged(oracle, x),
        "with 3 heads of width 4 the output is not that of PyTorch.",
        [
            (
                judged(one_head(oracle), x),
                "this is the output of a single head of the whole width.",
            )
        ],
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
    oracle = layer(draw)
    queries, source = numbers(draw, 2, 4, 12), numbers(draw, 2, 7, 12)
    expect.close(
        Adapter(made, oracle)(queries, source),
        judged(oracle, queries, source),
        "4 queries to a source of 7 give something else than PyTorch.",
    )


@requires(10)
def masks(made, draw):
    """What is not allowed is not seen."""
    oracle, x = layer(draw), numbers(draw, 2, 5, 12)
    allowed = draw.mask(2, 5, 5).cpu()
    expect.close(
        Adapter(made, oracle)(x, None, allowed),
        judged(oracle, x, None, allowed),
        "with a mask the output is not that of PyTorch.",
        [
            (judged(oracle, x), "the mask changes nothing."),
            (
                judged(oracle, x, None, ~allowed),
                "True means that a query may look.",
            ),
        ],
    )
    source, allowed = numbers(draw, 2, 7, 12), draw.mask(2, 5, 7).cpu()
    expect.close(
        Adapter(made, oracle)(x, source, allowed),
        judged(oracle, x, source, allowed),
        "with a mask over another source the output is not that of PyTorch.",
    )


@requires(8)
def empty_rows(made, draw):
    """A query that may look at nothing gets the output's bias alone."""
    oracle, x = layer(draw), numbers(draw, 1, 3, 12)
    allowed = torch.tensor([[[True] * 3, [False] * 3, [True] * 3]])
    got = Adapter(made, oracle)(x, None, allowed)[0, 1]
    expect.that(got.isfinite(), "it gives NaN: softmax over nothing.")
    expect.close(
        got,
        oracle.out_proj.bias,
        "its context must be zero, so that the bias is left.",
    )


@requires(8)
def any_number_of_heads(made, draw):
    """It works with 1, 2, 6 and 12 heads, and with equal length and heads."""
    for heads in (1, 2, 6, 12):
        oracle, x = layer(draw, heads), numbers(draw, 1, heads, 12)
        expect.close(
            Adapter(made, oracle)(x),
            judged(oracle, x),
            f"with {heads} heads and {heads} positions it goes wrong.",
        )


@requires(6)
def rows_are_alone(made, draw):
    """Rows of a batch do not see each other."""
    oracle, x = layer(draw), numbers(draw, 3, 4, 12)
    mine = Adapter(made, oracle)
    alone = mine(x[1:2])
    expect.close(mine(x)[1:2], alone, "a row gives something else alone.")
    expect.close(
        alone,
        judged(oracle, x[1:2]),
        "alone and in a batch a row gives the same, but not what PyTorch "
        "gives.",
    )


@requires(4)
def large_scores(made, draw):
    """Large scores do not overflow."""
    oracle, x = layer(draw), 1000 * numbers(draw, 1, 4, 12)
    got = Adapter(made, oracle)(x)
    expect.that(got.isfinite(), "the exponential of a score overflows.")
    expect.close(got, judged(oracle, x), "finite, but not attention.")


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
