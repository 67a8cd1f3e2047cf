"""Chapter 19: a small model drafts, the large one decides.

Speculative decoding writes one text with the probabilities of a large model,
the target, in fewer calls of it. A model is here a function from the ids of a
text to the probabilities of what follows each of them; what it keeps from
call to call is its own affair. Where each row of the target is 1 for one
token and 0 for all others, the text is that of greedy decoding.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from . import validate


def acceptance_rate(
    p: Float[Tensor, "*lead vocab"], q: Float[Tensor, "*lead vocab"]
) -> Float[Tensor, "*lead"]:
    """alpha = sum of min(p, q): how often a token drafted by q is accepted.

    Source: Leviathan et al. 2023, corollary 3.6.
    """
    validate.two_models(p, q)
    return torch.minimum(p, q).sum(-1)


def adjusted(
    p: Float[Tensor, "*lead vocab"], q: Float[Tensor, "*lead vocab"]
) -> Float[Tensor, "*lead vocab"]:
    """max(0, p - q), normalised: what q leaves to be drawn.

    Source: Leviathan et al. 2023, section 2.3. Where q equals p, nothing is
    left, and the result is p.
    """
    validate.two_models(p, q)
    left = (p - q).clamp(min=0)
    total = left.sum(-1, keepdim=True)
    return torch.where(total > 0, left / total, p)


def expected_tokens(alpha: float, gamma: int) -> float:
    """1 + alpha + ... + alpha^gamma = (1 - alpha^(gamma+1)) / (1 - alpha).

    So many tokens come of one call of the target, if each of gamma drafted
    tokens is accepted with the same probability. Source: Leviathan et al.
    2023, equation 1.
    """
    validate.share("alpha", alpha)
    validate.positive(gamma=gamma)
    return sum(alpha**i for i in range(gamma + 1))


def accept(
    p: Float[Tensor, "looked_at vocab"],
    q: Float[Tensor, "gamma vocab"],
    drafted: Int[Tensor, " gamma"],
    generator: torch.Generator | None = None,
) -> Int[Tensor, " tokens"]:
    """The drafted tokens up to the first rejected one, and one token more.

    A token x is accepted with probability min(1, p(x) / q(x)). At the first
    rejection a token is drawn from `adjusted` in its place; if there is none,
    one is drawn from the last row of p.

    Args:
        p: of the target, one row for each drafted token and one for what
            follows the last.
        q: of the draft, the rows from which the tokens were drawn.
        generator: of random numbers, on the CPU.

    Raises:
        ValueError: rows that do not sum to 1, another vocabulary, or a token
            that q cannot have drawn.
    """
    validate.to_accept(p, q, drafted)
    validate.generator(generator)
    p, q, x = p.cpu().double(), q.cpu().double(), drafted.cpu()
    row = torch.arange(len(x))
    chance = p[row, x] / q[row, x]  # 1 or more: in any case
    coins = torch.rand(len(x), generator=generator, dtype=torch.float64)
    n = [*(coins < chance).tolist(), False].index(False)
    rest = adjusted(p[n], q[n]) if n < len(x) else p[n]
    one_more = torch.multinomial(rest, 1, generator=generator)
    return torch.cat([x[:n], one_more]).to(drafted)


def speculative_step(
    target: Callable[[Tensor], Tensor],
    draft: Callable[[Tensor], Tensor],
    ids: Int[Tensor, " length"],
    gamma: int,
    generator: torch.Generator | None = None,
) -> Int[Tensor, " tokens"]:
    """One call of the target writes 1 to gamma + 1 tokens.

    Source: Leviathan et al. 2023, algorithm 1.

    Args:
        target, draft: from the ids of a text to a row of probabilities for
            what follows each of them, (length, vocab). Earlier rows than the
            last gamma + 1 of the target, and than the last one of the draft,
            are not looked at and may be left out.
        ids: the text so far.
        gamma: the number of drafted tokens.
        generator: as in `accept`.
    """
    validate.to_draft(target, draft, ids, gamma)
    text, q = ids, []
    for _ in range(gamma):
        rows = draft(text)
        validate.said("draft", rows)
        q.append(rows[-1].cpu().double())
        token = torch.multinomial(q[-1], 1, generator=generator)
        text = torch.cat([text, token.to(text)])
    p = target(text)
    validate.said("target", p, gamma + 1)
    drafted = text[len(ids) :]
    return accept(p[-gamma - 1 :], torch.stack(q), drafted, generator)
