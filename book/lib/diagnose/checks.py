"""Chapter 20: which known bugs does an attention have?

Each check asks one question by calling the attention, and compares one number
with one limit. A `Probe` is an attention that is called as
`probe(x, may_attend)`; the words of a finding stand in `report`.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from .convention import Probe, prepare
from .report import (
    Finding,
    NotOffered,
    Report,
    factor,
    fails,
    hearing,
    judge,
    not_offered,
    note,
    raised,
)

ROUNDING = 1e-4  # more than float32 is wrong by, less than any bug


def relative_change(a: Tensor, b: Tensor) -> float:
    """The largest difference, as a share of the largest number of b."""
    return ((a - b).abs().max() / b.abs().max()).item()


def influence(
    attend: Callable,
    x: Float[Tensor, "batch length width"],
    may_attend: Bool[Tensor, "..."] | None = None,
    loud: float = 300.0,
) -> Float[Tensor, "length length"]:
    """How far output i moves if token j shouts, as a share of the farthest.

    Args:
        attend: called as `attend(x, may_attend)`.
        x: sentences.
        may_attend: boolean, True = may attend, or None.
        loud: what a token is multiplied by, once with each sign, because a
            score that becomes very negative silences the token.
    """
    quiet, columns = attend(x, may_attend), []
    for j in range(x.shape[1]):
        moved = []
        for volume in (loud, -loud):
            shouting = x.clone()
            shouting[:, j] *= volume
            change = attend(shouting, may_attend) - quiet
            moved.append(change.abs().amax((0, 2)))
        columns.append(torch.stack(moved).amax(0))
    table = torch.stack(columns, dim=1).detach()
    return table / table.max()


def check_polarity(probe: Probe) -> Finding:
    """For how many pairs is it wrong who hears whom?"""
    x = probe.draw(1)
    mask, asked = probe.any_mask(x.shape[1])
    table = influence(probe, x, mask)
    if not table.isfinite().all():
        raise NotOffered("the outputs are not numbers")
    wrong, words = hearing(table[: len(asked)] > 0.02, asked)
    return judge("mask polarity", wrong, 0, words)


def check_before_softmax(probe: Probe) -> Finding:
    """Is hiding the last two tokens the same as leaving them out?"""
    x = probe.draw(2)
    kept = x.shape[1] - 2
    hidden = probe(x, probe.hide_after(kept, x.shape[1]))[:, :kept]
    change = relative_change(hidden, probe(x[:, :kept]))
    return judge("mask before softmax", change, ROUNDING)


def check_leak(probe: Probe, training: bool) -> Finding:
    """Does another future change what comes before it, soft or loud?"""
    name = "leak, training" if training else "leak, evaluation"
    inputs = probe.inputs(2, probe.convention.length)
    past, mask = inputs[0].shape[1] - 2, probe.causal(inputs[0].shape[1])
    future = probe.draw(2, number=1)[:, past:]
    others = [torch.cat([x[:, :past], future], dim=1) for x in inputs]
    seen = []
    with probe.mode(training):
        for loud in (1, 30):
            before = probe.cross(*(loud * x for x in inputs), mask)
            after = probe.cross(*(loud * x for x in others), mask)
            seen.append(relative_change(after[:, :past], before[:, :past]))
    if seen[0] <= ROUNDING < seen[1]:
        words = "the future is heard when scores are large: a finite number "
        return fails(name, words + "hides it", seen[1])
    return judge(name, seen[0], ROUNDING)


def check_padding(probe: Probe) -> Finding:
    """Does a sentence give the same alone and padded in a batch?"""
    x = probe.draw(2)
    lengths = (x.shape[1], x.shape[1] - 3)
    padded = probe(x, probe.padding(lengths))
    change = [
        relative_change(padded[[n], :real], probe(x[[n], :real]))
        for n, real in enumerate(lengths)
    ]
    return judge("padding invariance", max(change), ROUNDING)


def check_masked_row(probe: Probe) -> Finding:
    """Does a query without a key get something of the hidden values?"""
    name = "fully masked row"
    x, mask = probe.draw(2), probe.blind(probe.convention.length)
    out = probe(x, mask)[0, 0]
    if not out.isfinite().all():
        return note(name, "a query without a key gets NaN")
    other = torch.cat([x[:, :1], probe.draw(2, number=1)[:, 1:]], dim=1)
    change = (probe(other, mask)[0, 0] - out).abs().max()
    return judge(name, change, ROUNDING)


def check_masked_gradient(probe: Probe) -> Finding:
    """Is the gradient of a loss on the other sentence a number?"""
    name = "fully masked row, gradient"
    x, mask = probe.draw(2), probe.blind(probe.convention.length)
    loss = probe(x.requires_grad_(), mask)[1].square().sum()
    known = probe.gradients(loss, x)
    bad = sum(not part.isfinite().all() for part in known)
    if bad:
        words = f"it makes {bad} of {len(known)} gradients NaN"
        return note(name, words, float(bad))
    return judge(name, 0.0, 0)


def read_weights(
    probe: Probe,
) -> tuple[
    Float[Tensor, "batch heads q_len k_len"],
    Float[Tensor, "batch heads q_len k_len"],
    float,
]:
    """The weights, from output = weights @ values; q @ k.mT; a misfit.

    The projections are set aside (`Probe.bare`), and there are fewer values
    than columns, so that the system has a solution only if the output is a
    mixture of the values, head by head.

    Raises:
        NotOffered: the projections cannot be set aside, or the heads are too
            narrow.
    """
    d_head = probe.convention.d_head
    length = min(5, d_head - 1)
    if length < 3:
        raise NotOffered("its heads are too narrow to read the weights")
    inputs = probe.inputs(16, length)
    with probe.bare():
        out = probe.heads(probe.cross(*(x / d_head**0.25 for x in inputs)))
    q, k, v = (probe.heads(x / d_head**0.25) for x in inputs)
    weights = out @ torch.linalg.pinv(v)
    misfit = (weights @ v - out).norm() / out.norm()
    return weights.detach(), q @ k.mT, misfit.item()


def check_heads(probe: Probe) -> Finding:
    """Is each head's output a mixture of that head's values?"""
    name = "view or transpose"
    x = probe.draw(1) / 2 / probe.convention.d_head**0.25
    reached = influence(probe, x, loud=2.0) > 1e-4
    lost = 1 - reached.float().mean().item()
    if not probe.is_causal and reached.any() and lost > 0.4:
        words = "without a mask, most tokens do not hear most others"
        return fails(name, words, lost)
    return judge(name, read_weights(probe)[2], 0.01)


def check_axis(probe: Probe) -> Finding:
    """How far from one is the sum of a query's weights?"""
    try:
        weights, _, misfit = read_weights(probe)
    except NotOffered:
        weights, misfit = probe.returned_weights(), 0.0
    if not misfit <= 0.01:
        raise NotOffered("its weights cannot be read off the output")
    error = (weights.sum(-1) - 1).abs().max()
    return judge("softmax axis", error, 0.01)


def without_means(t: Tensor) -> Tensor:
    """Without what all of a row, or all of a column, has in common."""
    t = t - t.mean(-1, keepdim=True)
    return t - t.mean(-2, keepdim=True)


def check_scale(probe: Probe) -> Finding:
    """By what is q · k multiplied before the exponential?"""
    weights, scores, misfit = read_weights(probe)
    if probe.is_causal:  # the last two queries, and what both of them see
        weights, scores = weights[..., -2:, :-1], scores[..., -2:, :-1]
    logs = without_means(weights.clamp(min=1e-12).log())
    dots = without_means(scores)
    slope = (logs * dots).sum() / (dots * dots).sum()
    rest = (logs - slope * dots).norm() / logs.norm().clamp(min=1e-3)
    if not (misfit <= 0.01 and rest <= 0.02):
        raise NotOffered("its scores are no plain dot products")
    said = probe.convention
    words = factor(slope.item(), said.d_head, said.width)
    right = abs(slope / said.intended_scale - 1) < 0.01
    verdict = "holds" if right else "fails"
    return Finding("scale", verdict, slope.item(), words)


def check_weights(probe: Probe) -> Finding:
    """How much of the output do the returned weights not explain?"""
    fetched, out = probe.fetched()
    misfit = torch.linalg.lstsq(fetched, out, driver="gelsd").solution
    rest = (fetched @ misfit - out).norm() / out.norm()
    return judge("weights agree with output", rest, 0.01)


def check_permutation(probe: Probe) -> Finding:
    """Do reordered tokens give the same outputs in that order?"""
    probe.needs_no_positions()
    x = probe.draw(2)
    order = torch.arange(x.shape[1]).flip(0)
    if probe.is_causal:  # only the last token sees all others
        order = torch.cat([order[1:], order[:1]])
        change = relative_change(probe(x[:, order])[:, -1], probe(x)[:, -1])
    else:
        change = relative_change(probe(x[:, order]), probe(x)[:, order])
    return judge("permutation equivariance", change, ROUNDING)


def check_cross(probe: Probe) -> Finding:
    """Fewer queries than keys: do other keys and values change the output?"""
    probe.needs_two_sources()
    _, k, v = probe.inputs(2, probe.convention.length)
    q, other = probe.draw(2, 4), probe.draw(2, number=3)
    out = probe.cross(q, k, v)
    if out.shape != q.shape:
        words = f"the output has the shape {tuple(out.shape)}"
        return fails("cross lengths", words)
    moved = [probe.cross(q, *kv) for kv in ((other, v), (k, other))]
    deaf = [not torch.any(part != out) for part in moved]
    return judge("cross lengths", sum(deaf), 0)


def check_half(probe: Probe) -> Finding:
    """How far is half precision from float32, with something hidden?"""
    name = "half precision"
    probe.needs_projections_in_reach()
    x = probe.draw(2)
    mask = probe.some_hidden(x.shape[1])
    right, change = probe(x, mask), []
    for dtype in (torch.float16, torch.bfloat16):
        with probe.of_dtype(dtype):
            out = probe(x.to(dtype), mask)
        if right.isfinite().all() and not out.isfinite().all():
            return fails(name, f"{dtype} gives numbers that are not finite")
        change.append(relative_change(out.float(), right))
    return judge(name, max(change), 0.1)


def check_dropout(probe: Probe) -> Finding:
    """By how much do two evaluations of one input differ?"""
    x = probe.draw(4)
    once = probe(x)
    with probe.other_noise():
        change = relative_change(probe(x), once)
    return judge("dropout off in evaluation", change, 0)


def check_call(probe: Probe) -> Finding:
    """Does it run, and stay finite where scores are large?

    Whether it wants a mask even where nothing is hidden is found out, too.
    """
    x = probe.draw(2)
    try:
        probe(x)
    except Exception:
        probe.needs_mask = probe.takes_mask
    out = probe(x)
    if out.shape != x.shape:
        words = f"the output has the shape {tuple(out.shape)}"
        return fails("call", f"{words}, the input {tuple(x.shape)}")
    if out.isfinite().all() and not probe(300 * x).isfinite().all():
        return fails("call", "large scores overflow in the softmax")
    if not out.isfinite().all() and not probe.needs_mask:
        return fails("call", "the outputs are no numbers: a row has no key")
    return judge("call", 0.0, 0)


CHECKS = {
    "call": check_call,
    "mask polarity": check_polarity,
    "mask before softmax": check_before_softmax,
    "softmax axis": check_axis,
    "scale": check_scale,
    "fully masked row": check_masked_row,
    "fully masked row, gradient": check_masked_gradient,
    "leak, training": lambda probe: check_leak(probe, True),
    "leak, evaluation": lambda probe: check_leak(probe, False),
    "padding invariance": check_padding,
    "half precision": check_half,
    "view or transpose": check_heads,
    "weights agree with output": check_weights,
    "dropout off in evaluation": check_dropout,
    "permutation equivariance": check_permutation,
    "cross lengths": check_cross,
}
PROPERTIES = tuple(CHECKS)


def examine(name: str, probe: Probe) -> Finding:
    """One check in evaluation mode; an exception inside is a finding."""
    try:
        with probe.mode(training=False):
            return CHECKS[name](probe)
    except Exception as error:
        return raised(name, error)


def diagnose(
    attention: Callable, call: str = "q k v mask -> out", **convention: object
) -> Report:
    """Which known bugs does an attention have?

    Args:
        attention: a function, a module (a copy of it is used), or anything
            else that can be called.
        call: what goes in, in order, and what comes out. In: `q k v` or `x`,
            and `mask`, each by position or as `name=mask`. Out: `out`, and
            `weights` if they are returned; `_` is left aside.
        **convention: how it wants to be called; the fields of
            `lib.diagnose.convention.Convention`, such as axes="n h l d",
            mask="ignore", mask_axes="n k", width=16, heads=2.
    """
    probe = prepare(attention, call, **convention)
    findings = [examine("call", probe)]
    for name in PROPERTIES[1:]:
        if findings[0].verdict == "holds":
            findings.append(examine(name, probe))
        else:
            findings.append(not_offered(name, "the call fails"))
    return Report(tuple(findings))
