"""Chapter 18: which known bugs does an attention have?

Each check asks one question by calling the attention, compares one number
with one limit, and says in words what it saw. `lib.adapters` does the calling.

    python -m lib.diagnose mine.py:my_attention --mask ignore
"""

import sys
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from lib.adapters import (
    Convention,
    Finding,
    NotOffered,
    Patient,
    Report,
    intended_scale,
    renamed,
)

EXACT = 1e-4  # what float32 may be wrong by


def judge(seen: float, limit: float, good: str, bad: str) -> Finding:
    """One number, one limit, and the words for both sides of it."""
    seen = float(torch.as_tensor(seen).detach())
    if seen != seen:
        return Finding("not offered", None, "the outputs are not numbers")
    if seen <= limit:
        return Finding("holds", seen, good)
    return Finding("fails", seen, bad)


def distance(a: Tensor, b: Tensor) -> float:
    """The largest difference, as a share of the largest number in b."""
    return ((a - b).abs().max() / b.abs().max().clamp(min=1e-9)).item()


def heard(
    patient: Patient, x: Tensor, may_attend: Tensor | None = None
) -> Float[Tensor, "q_len k_len"]:
    """Entry (i, j): how far output i moves when token j is shouted."""
    quiet, columns = patient(x, may_attend), []
    for j in range(x.shape[1]):
        moved = []
        for volume in (300, -300):
            shouted = x.clone()
            shouted[:, j] *= volume
            change = patient(shouted, may_attend) - quiet
            moved.append(change.abs().amax((0, 2)))
        columns.append(torch.stack(moved).amax(0))
    table = torch.stack(columns, dim=1)
    return table / table.max()


def read_weights(
    patient: Patient,
) -> tuple[Tensor, Tensor, float]:
    """Out = W V, and we chose V: so W can be read off. With Q Kᵀ, and a misfit."""
    said = patient.convention
    length = min(5, said.d_head - 1)
    if length < 3:
        raise NotOffered("the heads are too narrow to read their weights")
    draws = [
        patient.draw(16, length, i) * said.d_head**-0.25 for i in (1, 2, 3)
    ]
    q, k, v = [draws[0]] * 3 if patient.is_self else draws
    with patient.bare():
        out = patient.heads_of(patient.cross(q, k, v))
    q, k, v = (patient.heads_of(x) for x in (q, k, v))
    weights = out @ torch.linalg.pinv(v)
    misfit = (weights @ v - out).norm() / out.norm()
    return weights, q @ k.mT, misfit.item()


def call(patient: Patient) -> Finding:
    x = patient.draw(2)
    try:
        out = patient(x)
    except Exception:
        patient.needs_mask = patient.takes_mask
        out = patient(x)
    if out.shape != x.shape:
        words = f"the output has the shape {tuple(out.shape)}, not "
        return Finding("fails", None, f"{words}{tuple(x.shape)}")
    if out.isfinite().all() and not patient(300 * x).isfinite().all():
        words = "large scores give no numbers: the softmax overflows"
        return Finding("fails", None, words)
    return Finding("holds", None, "it runs, and the shape is right")


def dropout_off(patient: Patient) -> Finding:
    x = patient.draw(4)
    once = patient(x)
    patient.noise = 1
    try:
        change = distance(patient(x), once)
    finally:
        patient.noise = 0
    return judge(
        change,
        0,
        "two evaluations of one input are the same",
        "two evaluations of one input differ: dropout is still on",
    )


def view_or_transpose(patient: Patient) -> Finding:
    x = patient.draw(1)
    table = heard(patient, x)
    wanted = torch.ones_like(table, dtype=torch.bool)
    if patient.is_causal:
        wanted = wanted.tril()
    if (
        not patient.is_causal
        and ((table < 0.01) & wanted).float().mean() > 0.4
    ):
        only = (table > 0.01).sum().item() / table.numel()
        words = "most tokens do not reach most others, though nothing is masked: the axes of heads and tokens are mixed up"
        return Finding("fails", only, words)
    _, _, misfit = read_weights(patient)
    return judge(
        misfit,
        0.01,
        "each head's output is a mixture of that head's values",
        "the output is no mixture of the values, head by head: heads and tokens are mixed up (view for transpose), or these are not the values",
    )


def polarity_mask(patient: Patient, length: int) -> Tensor | None:
    if patient.is_causal:
        return None
    i = torch.arange(length)
    if "q" in patient.convention.mask_axes and patient.takes_mask:
        return ((i - i[:, None]) % length <= 2)[None, None]
    if not patient.takes_mask:
        raise NotOffered("it takes no mask")
    return (i < length - 2).expand(length, length)[None, None]


def mask_polarity(patient: Patient) -> Finding:
    x = patient.draw(1)
    length = x.shape[1]
    mask = polarity_mask(patient, length)
    asked = (
        mask[0, 0]
        if mask is not None
        else torch.ones(length, length).tril() > 0
    )
    off = ~torch.eye(length, dtype=torch.bool)
    found = heard(patient, x, mask)
    if not found.isfinite().all():
        return Finding("not offered", None, "the outputs are not numbers")
    found = found > 0.02
    wrong = ((found != asked) & off).sum().item() / off.sum().item()
    kinds = {
        "it is heard, and only it, what the mask hides: the mask is inverted": ~asked,
        "the mask hides nothing": torch.ones_like(asked),
        "the mask is transposed: it hides queries, not keys": asked.mT,
        "nothing is heard at all": torch.zeros_like(asked),
    }
    words = "some hidden tokens are heard, or some shown ones are not"
    for said, table in reversed(kinds.items()):
        if ((found == table) | ~off).all():
            words = said
    own = (found != asked).diagonal().any().item()
    if patient.is_causal and own and not wrong:
        return Finding(
            "fails",
            1.0,
            "a token does not hear itself: the causal mask is off by one",
        )
    return judge(
        wrong, 0, "what is hidden is not heard, what is shown is", words
    )


def softmax_axis(patient: Patient) -> Finding:
    good = "the weights of each query sum to one"
    bad = "the weights of a query do not sum to one: the softmax runs over the wrong axis"
    try:
        weights, _, misfit = read_weights(patient)
        if misfit > 0.01:
            raise NotOffered("the weights cannot be read off the output")
    except NotOffered:
        if patient.is_self:
            patient(patient.draw(2))
            if patient.last_weights is None:
                raise
            weights = patient.last_weights
        else:
            q, k, other, v = (patient.draw(2, number=i) for i in (1, 2, 3, 4))
            alike = v[:, :1].expand_as(v).contiguous()
            change = distance(
                patient.cross(q, k, alike), patient.cross(other, k, alike)
            )
            return judge(change, EXACT, good, bad)
    error = (weights.sum(-1) - 1).abs().max().item()
    return judge(error, 0.01, good, bad)


def scale(patient: Patient) -> Finding:
    weights, scores, misfit = read_weights(patient)
    if misfit > 0.01:
        raise NotOffered("the weights cannot be read off the output")
    if patient.is_causal:
        weights, scores = weights[..., -2:, :-1], scores[..., -2:, :-1]
    logs, dots = (centred(t) for t in (weights.clamp(min=1e-12).log(), scores))
    slope = ((logs * dots).sum() / (dots * dots).sum()).item()
    misfit = (logs - slope * dots).norm() / logs.norm().clamp(min=1e-3)
    if not misfit < 0.02:
        raise NotOffered("its scores are no plain dot products")
    wanted = intended_scale(patient.convention)
    words = f"the scores are multiplied by {slope:.4f}"
    width = patient.convention.width
    for name, factor in {
        "no scale at all": 1.0,
        "1/d_head, without the root": 1 / patient.convention.d_head,
        "1/sqrt(d_model), not 1/sqrt(d_head)": width**-0.5,
    }.items():
        if abs(slope / factor - 1) < 0.01:
            words += f" ({name})"
            break
    fine = abs(slope / wanted - 1) < 0.01
    if not fine:
        words += f", not by {wanted:.4f}"
    return Finding("holds" if fine else "fails", slope, words)


def centred(t: Tensor) -> Tensor:
    """Without what a whole row or a whole column has in common."""
    return (
        t
        - t.mean(-1, keepdim=True)
        - t.mean(-2, keepdim=True)
        + t.mean((-1, -2), keepdim=True)
    )


def mask_before_softmax(patient: Patient) -> Finding:
    x, mask = patient.draw(2), None
    kept = x.shape[1] - 2
    if not patient.is_causal:
        if not patient.takes_mask:
            raise NotOffered("it takes no mask")
        mask = (torch.arange(x.shape[1]) < kept)[None, None, None]
    hidden = patient(x, mask)[:, :kept]
    return judge(
        distance(hidden, patient(x[:, :kept])),
        EXACT,
        "hiding tokens is the same as leaving them out",
        "hiding tokens is not the same as leaving them out: they still count in the softmax",
    )


def masked_row(patient: Patient) -> tuple[Tensor, Tensor, int]:
    """Sentences, a mask that hides everything once, and the row it hits."""
    x = patient.draw(2)
    if patient.is_causal:
        raise NotOffered("its causal mask leaves every query a key")
    length = x.shape[1]
    mask = torch.ones(2, 1, length, length, dtype=torch.bool)
    if patient.takes_mask and "q" in patient.convention.mask_axes:
        mask[0, :, 0] = False
    else:
        patient.needs("n")
        mask[0] = False
    return x, mask


def fully_masked_row(patient: Patient) -> Finding:
    x, mask = masked_row(patient)
    try:
        out = patient(x, mask)[0, 0]
    except Exception as error:
        return Finding(
            "note",
            None,
            f"a query without any key raises {type(error).__name__}",
        )
    if not out.isfinite().all():
        return Finding("note", None, "a query without any key gets NaN")
    other = x.clone()
    other[0, 1:] = patient.draw(2, number=5)[0, 1:]
    change = (patient(other, mask)[0, 0] - out).abs().max()
    return judge(
        change,
        EXACT,
        "a query without any key gets nothing of the hidden values",
        "a query without any key gets a mean of the hidden values",
    )


def masked_gradient(patient: Patient) -> Finding:
    x, mask = masked_row(patient)
    x.requires_grad_()
    try:
        loss = patient(x, mask)[1].square().sum()
    except Exception as error:
        return Finding(
            "note",
            None,
            f"a query without any key raises {type(error).__name__}",
        )
    wanted = [x]
    if patient.module is not None:
        wanted += [p for p in patient.module.parameters() if p.requires_grad]
    parts = torch.autograd.grad(loss, wanted, allow_unused=True)
    bad = [g for g in parts if g is not None and not g.isfinite().all()]
    if bad:
        return Finding(
            "note",
            float(len(bad)),
            "the row of one sentence makes gradients of a loss on another NaN",
        )
    return Finding(
        "holds", 0.0, "gradients of a loss on another sentence are numbers"
    )


def leak(patient: Patient, training: bool) -> Finding:
    x = patient.draw(2)
    cut = x.shape[1] - 2
    mask = patient.causal(x.shape[1])
    other = x.clone()
    other[:, cut:] = patient.draw(2, number=6)[:, cut:]
    with patient.mode(training):
        before = patient(x, mask)[:, :cut]
        change = distance(patient(other, mask)[:, :cut], before)
        loud = max(
            distance(
                patient(torch.cat([x[:, :cut], s * x[:, cut:]], 1), mask)[
                    :, :cut
                ],
                before,
            )
            for s in (100, -100)
        )
    if change <= EXACT < loud:
        return Finding(
            "fails",
            loud,
            "a loud future is heard: what hides it is a finite number",
        )
    return judge(
        change,
        EXACT,
        "a different future changes nothing before it",
        "a different future changes the outputs before it",
    )


def leak_training(patient: Patient) -> Finding:
    return leak(patient, True)


def leak_evaluation(patient: Patient) -> Finding:
    return leak(patient, False)


def padding_invariance(patient: Patient) -> Finding:
    x = patient.draw(2)
    length = x.shape[1]
    lengths, mask = [length, length - 3], None
    if not patient.is_causal:
        patient.needs("n")
        mask = torch.arange(length) < torch.tensor(lengths)[:, None]
        mask = mask[:, None, None]
    padded = patient(x, mask)
    change = max(
        distance(padded[n : n + 1, :real], patient(x[n : n + 1, :real]))
        for n, real in enumerate(lengths)
    )
    return judge(
        change,
        EXACT,
        "a sentence gives the same alone and padded in a batch",
        "a sentence gives something else when it stands padded in a batch",
    )


def half_precision(patient: Patient) -> Finding:
    x, mask = patient.draw(2), None
    length = x.shape[1]
    if patient.takes_mask:
        mask = (torch.arange(length) < length - 2)[None, None, None]
    right, worst = patient(x, mask), 0.0
    for dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        try:
            with patient.of_dtype(dtype):
                out = patient(x.to(dtype), mask)
        except Exception as error:
            return Finding(
                "fails",
                None,
                f"{name} raises {type(error).__name__}: {first_words(error)}",
            )
        if out.dtype != dtype:
            return Finding(
                "fails", None, f"{name} goes in, {out.dtype} comes out"
            )
        if right.isfinite().all() and not out.isfinite().all():
            return Finding("fails", None, f"{name} gives no numbers")
        worst = max(worst, distance(out.float(), right))
    return judge(
        worst,
        0.1,
        "float16 and bfloat16 give the same but for rounding",
        "half precision gives something else",
    )


def weights_agree(patient: Patient) -> Finding:
    """Is the output a linear function of what the weights say it fetches?"""
    said = patient.convention
    if "weights" not in said.gives:
        raise NotOffered("it returns no weights")
    width, heads, length = said.width, said.heads, said.length
    many = 3 * (width * heads + 1) // length + 2
    x = patient.draw(many)
    mask = None
    if patient.takes_mask:
        mask = (torch.arange(length) < length - 2)[None, None, None]
    out, weights = patient(x, mask), patient.last_weights
    if weights is None:
        raise NotOffered("it returns no weights")
    if weights.ndim == 3:
        if heads > 1:
            return mean_weights_agree(patient)
        weights = weights[:, None]
    fetched = (
        torch.einsum("nhqk,nkd->nqhd", weights, x).flatten(2).flatten(0, 1)
    )
    fetched = torch.cat([fetched, torch.ones(len(fetched), 1)], 1).double()
    wanted = out.flatten(0, 1).double()
    solution = torch.linalg.lstsq(fetched, wanted, driver="gelsd").solution
    misfit = (fetched @ solution - wanted).norm() / wanted.norm()
    return judge(
        misfit,
        0.01,
        "the output is what these weights fetch",
        "the output is not what these weights fetch",
    )


def mean_weights_agree(patient: Patient) -> Finding:
    weights, _, misfit = read_weights(patient)
    with patient.bare():
        pass
    raise NotOffered("the weights are averaged over the heads")


def permutation(patient: Patient) -> Finding:
    patient.needs_positions_outside()
    x = patient.draw(2)
    order = torch.randperm(
        x.shape[1], generator=torch.Generator().manual_seed(1)
    )
    if patient.is_causal:
        order = torch.arange(x.shape[1])
        order[:-1] = order[:-1].flip(0)
        change = distance(patient(x[:, order])[:, -1], patient(x)[:, -1])
    else:
        change = distance(patient(x[:, order]), patient(x)[:, order])
    return judge(
        change,
        EXACT,
        "tokens in another order give the same outputs in that order",
        "the order of the tokens matters: positions inside (say positions=True), or heads and tokens are mixed up",
    )


def cross_lengths(patient: Patient) -> Finding:
    if patient.is_self or patient.is_causal:
        raise NotOffered("it attends to itself only")
    length = patient.convention.length
    q, k, v = (
        patient.draw(2, length - 3),
        patient.draw(2, number=1),
        patient.draw(2, number=2),
    )
    out = patient.cross(q, k, v)
    if out.shape != q.shape:
        return Finding(
            "fails",
            None,
            f"the output has the shape {tuple(out.shape)}, not {tuple(q.shape)}",
        )
    other = patient.draw(2, number=3)
    deaf = min(
        (patient.cross(q, other, v) - out).abs().max().item(),
        (patient.cross(q, k, other) - out).abs().max().item(),
    )
    if deaf < EXACT:
        return Finding(
            "fails",
            deaf,
            "other keys, or other values, change nothing: it attends to its queries",
        )
    return Finding("holds", deaf, "queries and keys may differ in number")


CHECKS = {
    "call": call,
    "mask polarity": mask_polarity,
    "mask before softmax": mask_before_softmax,
    "softmax axis": softmax_axis,
    "scale": scale,
    "fully masked row": fully_masked_row,
    "fully masked row, gradient": masked_gradient,
    "leak, training": leak_training,
    "leak, evaluation": leak_evaluation,
    "padding invariance": padding_invariance,
    "half precision": half_precision,
    "view or transpose": view_or_transpose,
    "weights agree with output": weights_agree,
    "dropout off in evaluation": dropout_off,
    "permutation equivariance": permutation,
    "cross lengths": cross_lengths,
}
PROPERTIES = tuple(CHECKS)
# What is asked first, because it has the others as its consequences.
ORDER = (
    "call",
    "dropout off in evaluation",
    "view or transpose",
    "mask polarity",
    "softmax axis",
    "mask before softmax",
)


def first_words(error: Exception) -> str:
    """The first line of a message."""
    return (str(error).strip() or "no message").splitlines()[0][:90]


def examine(name: str, patient: Patient) -> Finding:
    """One check; whatever happens in it is a finding."""
    try:
        with patient.mode(False):
            finding = CHECKS[name](patient)
    except NotOffered as reason:
        finding = Finding("not offered", None, str(reason))
    except Exception as error:
        words = f"raises {type(error).__name__}: {first_words(error)}"
        finding = Finding("fails", None, words)
    return renamed(finding, name)


def causes(found: dict[str, Finding]) -> tuple[str, ...]:
    """What fails, without what only follows from it."""
    failing = [name for name, f in found.items() if f.verdict == "fails"]
    only_there = {"leak, training", "leak, evaluation"} & set(failing)
    if (
        len(only_there) == 1
        and found["leak, training"].verdict != "not offered"
    ):
        return tuple(only_there)
    for name in ORDER:
        if name in failing:
            return (name,)
    return tuple(failing)


def diagnose(
    attention: Callable, call: str = "q k v mask -> out", **convention: object
) -> Report:
    """Which known bugs does an attention have?"""
    said = Convention(call=call, **convention)
    patient = Patient(attention, said)
    found = {"call": examine("call", patient)}
    runs = found["call"].verdict == "holds"
    for name in PROPERTIES[1:]:
        found[name] = (
            examine(name, patient)
            if runs
            else Finding("not offered", None, "the call fails", name)
        )
    return Report(tuple(found.values()), causes(found))


def main(arguments: list[str]) -> int:
    """`python -m lib.diagnose FILE.py:NAME [--call ... --mask ...]`."""
    from lib.adapters import command_line  # noqa: PLC0415

    return command_line(arguments, diagnose)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
