"""Chapter 7: what stands around attention in a layer.

Residual connection, layer normalisation and the position-wise feed-forward
network. Gated feed-forward variants are described in the chapter only.
"""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from . import validate

ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
}


def layer_norm(
    x: Float[Tensor, "... d_model"],
    weight: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    eps: float = 1e-5,
) -> Float[Tensor, "... d_model"]:
    """(x - mean) / sqrt(variance + eps) · weight + bias at each position.

    Source: Ba et al. 2016, section 3. Mean and variance run over the last
    axis, and the variance divides by d_model, not by d_model - 1. The gain is
    called `weight`, as in torch. Half precision is computed in float32.
    """
    validate.norm(x, weight, bias)
    validate.real("eps", eps, least=0)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    centred = wide - wide.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    normed = centred / torch.sqrt(variance + eps)
    return (normed * weight + bias).to(x.dtype)


class LayerNorm(nn.Module):
    """`layer_norm` with a gain and a bias that are learnt.

    The numbers come from torch's kernel, which does the same in one pass over
    the memory.

    Args:
        eps: keeps the root away from zero.
        bias: learn a bias beside the gain.
    """

    def __init__(self, d_model, eps=1e-5, bias=True):
        super().__init__()
        validate.positive(d_model=d_model)
        validate.real("eps", eps, least=0)
        validate.booleans(bias=bias)
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(
        self, x: Float[Tensor, "... d_model"]
    ) -> Float[Tensor, "... d_model"]:
        """Every position with mean `bias` and spread `weight`."""
        validate.shapes("x: ... d_model", x=x, d_model=self.d_model)
        shape = (self.d_model,)
        return F.layer_norm(x, shape, self.weight, self.bias, self.eps)


class FeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2, at every position alike.

    Source: Vaswani et al. 2017, equation 2.

    Args:
        d_ff: the hidden width, usually 4 · d_model.
        dropout: on the hidden layer, in training only.
        activation: "relu", "gelu", or "gelu_tanh", which is GPT-2's.
        bias: add b_1 and b_2.
    """

    def __init__(
        self, d_model, d_ff, dropout=0.0, activation="relu", bias=True
    ):
        super().__init__()
        validate.positive(d_model=d_model, d_ff=d_ff)
        validate.probability("dropout", dropout)
        validate.choice("activation", activation, tuple(ACTIVATIONS))
        validate.booleans(bias=bias)
        self.widen = nn.Linear(d_model, d_ff, bias)
        self.narrow = nn.Linear(d_ff, d_model, bias)
        self.activation = ACTIVATIONS[activation]
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "... d_model"]
    ) -> Float[Tensor, "... d_model"]:
        """The same small network at each position."""
        d_model = self.widen.in_features
        validate.shapes("x: ... d_model", x=x, d_model=d_model)
        hidden = self.activation(self.widen(x))
        return self.narrow(self.dropout(hidden))


class Residual(nn.Module):
    """Norm(x + f(x)), or with `norm_first` x + f(Norm(x)).

    Sources: He et al. 2016 for the sum, Vaswani et al. 2017 for the first
    form (post-norm), Xiong et al. 2020 for the second (pre-norm).

    Args:
        dropout: on f, in training only.
        norm_first: normalise before f instead of after the sum.
        norm: a module that keeps the shape of x; by default a `LayerNorm`.
    """

    def __init__(self, d_model, dropout=0.0, norm_first=False, norm=None):
        super().__init__()
        validate.around(d_model, dropout, norm_first, norm)
        self.d_model = d_model
        self.norm = LayerNorm(d_model) if norm is None else norm
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        x: Float[Tensor, "... d_model"],
        sublayer: Callable[[Tensor], Tensor],
    ) -> Float[Tensor, "... d_model"]:
        """The sum of x and the sublayer of x, normalised."""
        validate.shapes("x: ... d_model", x=x, d_model=self.d_model)
        branch = sublayer(self.norm(x) if self.norm_first else x)
        validate.same_shape("the result of sublayer", branch, x)
        total = x + self.dropout(branch)
        return total if self.norm_first else self.norm(total)
