"""Chapter 19: a memory that overwrites, and does not grow.

`delta_rule` reads and writes token by token, `chunked_delta_rule` gives the
same from products over chunks. Both are causal and take, like
`lib.efficient.linear_attention`, any number of leading axes. The layer around
them stands in `lib.gated_delta`.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from . import validate


def delta_rule(
    q: Float[Tensor, "*lead length d_head"],
    k: Float[Tensor, "*lead length d_head"],
    v: Float[Tensor, "*lead length d_value"],
    beta: Float[Tensor, "*lead length"],
    decay: Float[Tensor, "*lead length"] | None = None,
    state: Float[Tensor, "*lead d_head d_value"] | None = None,
) -> tuple[
    Float[Tensor, "*lead length d_value"],
    Float[Tensor, "*lead d_head d_value"],
]:
    """S = αS, then S = S + β k (v - kᵀS), and the output is qᵀS.

    Sources: Widrow and Hoff 1960 for the rule, Schlag et al. 2021, section
    4.2, for the memory, Yang et al. 2025, section 3.1, for α.

    Args:
        k: of length 1, so that β = 1 replaces what the key finds.
        beta: how much of the error is written, 0 to 1.
        decay: α, what is left of the memory before each token; None: all.
        state: the memory before the first token; None: nothing.

    Returns:
        What each query finds, in the dtype of v, and the memory after the
        last token, at least in float32.
    """
    validate.delta_text(q, k, v, beta, decay, state)
    dtype, wide = v.dtype, torch.promote_types(v.dtype, torch.float32)
    decay = torch.ones_like(beta) if decay is None else decay
    state = k[..., :0, :].mT @ v[..., :0, :] if state is None else state
    state = state.to(wide)
    q, k, v, beta, decay = (x.to(wide) for x in (q, k, v, beta, decay))
    found = []
    for t in range(q.shape[-2]):
        q_t, k_t, v_t = (x[..., t : t + 1, :] for x in (q, k, v))
        state = decay[..., t, None, None] * state
        error = v_t - k_t @ state
        state = state + beta[..., t, None, None] * k_t.mT @ error
        found.append(q_t @ state)
    return torch.cat(found, dim=-2).to(dtype), state


def decays(
    decay: Float[Tensor, "*lead length"],
) -> Float[Tensor, "*lead length length"]:
    """Entry (i, j): what is left after token i of what token j wrote.

    The product of the α of all tokens after j, up to i; 0 where j is later.
    """
    validate.shapes("decay: *lead length", decay=decay)
    length = decay.shape[-1]
    after = torch.ones(length, length, device=decay.device).tril(-1) > 0
    factors = decay[..., :, None].expand(*decay.shape, length)
    return factors.where(after, 1.0).cumprod(dim=-2).tril()


def delta_chunk(
    q: Float[Tensor, "*lead length d_head"],
    k: Float[Tensor, "*lead length d_head"],
    v: Float[Tensor, "*lead length d_value"],
    beta: Float[Tensor, "*lead length"],
    decay: Float[Tensor, "*lead length"] | None = None,
    state: Float[Tensor, "*lead d_head d_value"] | None = None,
) -> tuple[
    Float[Tensor, "*lead length d_value"],
    Float[Tensor, "*lead d_head d_value"],
]:
    """As `delta_rule`, by matrix products over all tokens at once.

    Source: Yang et al. 2024, section 3.2. What token i writes, u_i, is its
    error: it needs what all tokens before it have written. These are
    equations, one for each token, and triangular:
    u_i + β_i Σ (what is left of j) (k_i·k_j) u_j = β_i (v_i - k_iᵀS), where
    the sum is over all j before i.
    """
    validate.delta_text(q, k, v, beta, decay, state)
    dtype, wide = v.dtype, torch.promote_types(v.dtype, torch.float32)
    decay = torch.ones_like(beta) if decay is None else decay
    state = k[..., :0, :].mT @ v[..., :0, :] if state is None else state
    state, beta = state.to(wide), beta.to(wide)[..., None]
    q, k, v, decay = (x.to(wide) for x in (q, k, v, decay))
    left, before = decays(decay), decay.cumprod(dim=-1)[..., None]
    meets = beta * (k @ k.mT) * left
    errors = beta * (v - before * (k @ state))
    written = torch.linalg.solve_triangular(
        meets, errors, upper=False, unitriangular=True
    )
    found = before * (q @ state) + (q @ k.mT * left) @ written
    kept = before[..., -1:, :] * state
    state = kept + (left[..., -1, :, None] * k).mT @ written
    return found.to(dtype), state


def chunked_delta_rule(
    q: Float[Tensor, "*lead length d_head"],
    k: Float[Tensor, "*lead length d_head"],
    v: Float[Tensor, "*lead length d_value"],
    beta: Float[Tensor, "*lead length"],
    decay: Float[Tensor, "*lead length"] | None = None,
    state: Float[Tensor, "*lead d_head d_value"] | None = None,
    chunk: int = 64,
) -> tuple[
    Float[Tensor, "*lead length d_value"],
    Float[Tensor, "*lead d_head d_value"],
]:
    """As `delta_rule`, by `chunk` tokens at once; equal up to rounding.

    Source: Yang et al. 2024, section 3.2. From chunk to chunk only the memory
    is passed on.
    """
    validate.delta_text(q, k, v, beta, decay, state)
    validate.positive(chunk=chunk)
    decay = torch.ones_like(beta) if decay is None else decay
    rows = [x.split(chunk, dim=-2) for x in (q, k, v)]
    numbers = [x.split(chunk, dim=-1) for x in (beta, decay)]
    found = []
    for part in zip(*rows, *numbers, strict=True):
        output, state = delta_chunk(*part, state)
        found.append(output)
    return torch.cat(found, dim=-2), state
