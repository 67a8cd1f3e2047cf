"""lib.diagnose: broken attentions are named, sound ones are left in peace."""

import copy
import math
import runpy
import sys
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from kit.gallery import GALLERY, Seen, function
from lib.attention import attention
from lib.diagnose import __main__ as shell
from lib.diagnose import checks as module
from lib.diagnose.checks import (
    PROPERTIES,
    check_scale,
    diagnose,
    influence,
    read_weights,
    relative_change,
    without_means,
)
from lib.diagnose.convention import Convention, Probe, prepare
from lib.diagnose.report import Report, factor, hearing, judge, message
from lib.efficient import GroupedQueryAttention
from lib.heads import MultiHeadAttention
from lib.masks import causal_mask

LAYOUT = {"axes": "n h l d"}
SIZES = ((16, 2, 7), (24, 4, 5), (8, 1, 6), (33, 3, 9))


def sdpa(q, k, v, may_attend=None):
    return F.scaled_dot_product_attention(q, k, v, may_attend)


# Sound ones.


def torchs(width, heads, **options):
    return nn.MultiheadAttention(width, heads, batch_first=True, **options)


def sound(width, heads):
    """Name, attention, and how it is called."""
    mha = torchs(width, heads, dropout=0.1)
    with_weights = partial(mha, average_attn_weights=False)
    attn_mask = {"mask": "ignore", "mask_axes": "(n h) q k"}
    causal = causal_mask(9)[0, 0]
    masked = "q k v attn_mask=mask -> out"
    return {
        "SDPA": (F.scaled_dot_product_attention, masked, LAYOUT),
        "ours": (attention, "q k v mask -> out", LAYOUT),
        "ours, one head": (attention, "q k v mask -> out", {"heads": 1}),
        "a sentence at a time": (
            attention,
            "q k v mask -> out",
            {"axes": "h l d", "mask_axes": "1 q k"},
        ),
        "our module": (
            MultiHeadAttention(width, heads, dropout=0.2),
            "q k v mask -> out",
            {},
        ),
        "our module with weights": (
            partial(MultiHeadAttention(width, heads), need_weights=True),
            "q k v mask -> out weights",
            {},
        ),
        "its method": (
            MultiHeadAttention(width, heads).forward,
            "q k v mask -> out",
            {},
        ),
        "torch's": (with_weights, f"{masked} weights", attn_mask),
        "torch's, additive": (
            mha,
            masked,
            {"mask": "additive", "mask_axes": "(n h) q k"},
        ),
        "torch's, lowest": (
            mha,
            masked,
            {"mask": "additive min", "mask_axes": "(n h) q k"},
        ),
        "torch's, keys only": (
            nn.MultiheadAttention(width, heads),
            "q k v key_padding_mask=mask -> out weights",
            {"mask": "ignore", "mask_axes": "n k", "axes": "l n d"},
        ),
        "torch's on one x": (
            lambda x, mask: mha(x, x, x, attn_mask=mask)[0],
            "x mask -> out",
            attn_mask | {"module": mha},
        ),
        "torch's, causal": (
            lambda x: mha(
                x, x, x, attn_mask=~causal[: len(x[0]), : len(x[0])]
            )[0],
            "x -> out",
            {"mask": "causal", "module": mha},
        ),
        "grouped": (
            GroupedQueryAttention(width, heads, kv_heads=1),
            "q k v mask -> out",
            {},
        ),
        "zeros and ones": (
            lambda q, k, v, mask: sdpa(q, k, v, mask == 1),
            "q k v mask -> out",
            LAYOUT | {"mask": "ones", "mask_axes": "n 1 q k"},
        ),
        "floating zeros and ones": (
            lambda q, k, v, mask: [None, sdpa(q, k, v, mask > 0)],
            "q k v mask -> _ out",
            LAYOUT | {"mask": "float ones"},
        ),
        "merged by itself": (
            lambda q, k, v: sdpa(q, k, v).transpose(1, 2).flatten(2),
            "q k v -> out",
            {"axes": "n h l d -> n l (h d)", "mask": "none"},
        ),
        "without a batch": (
            lambda q, k, v, mask: (sdpa(q, k, v, mask), sdpa(q, k, k, mask)),
            "q k v mask -> out",
            {"axes": "l d", "mask_axes": "q k", "heads": 1},
        ),
    }


@pytest.mark.covered(1)
@pytest.mark.parametrize("seed", (0, 1))
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", sound(16, 2))
def test_nothing_is_reported_that_is_not_there(name, size, seed):
    width, heads, length = size
    torch.manual_seed(seed)
    f, call, how = sound(width, heads)[name]
    sizes = {"width": width, "heads": heads, "length": length}
    report = diagnose(f, call, **sizes | {"seed": seed} | how)
    finite = how.get("mask") == "additive min"  # then a row has a mean
    assert report.fails == ("fully masked row",) * finite, report
    assert report["call"].verdict == "holds"
    notes = [f.name for f in report.findings if f.verdict == "note"]
    assert all(name.startswith("fully masked row") for name in notes)


def test_a_nan_on_a_fully_masked_row_is_a_note():
    how = {"mask": "ignore", "mask_axes": "(n h) q k", "heads": 2}
    call = "q k v attn_mask=mask -> out weights"
    report = diagnose(torchs(16, 2), call, **how)
    for name in ("fully masked row", "fully masked row, gradient"):
        assert report[name].verdict == "note"
    assert report["fully masked row, gradient"].seen >= 4


# Broken ones.

CAUSES = {
    "a finite number hides": {"leak, evaluation"},
    "an empty row becomes a mean": {"fully masked row", "half precision"},
    "-1e9 in float16": {"fully masked row", "half precision"},
    "an attribute that is never set": {"mask polarity"},
}
INSIDE = [bug for bug in GALLERY if isinstance(bug.look, Seen)]


@pytest.mark.parametrize("bug", INSIDE, ids=lambda bug: bug.name)
def test_a_bug_of_the_gallery_is_named(bug):
    how = bug.look.convention
    report = diagnose(function(bug.wrong), **how)
    cause = CAUSES.get(bug.name, {bug.look.property})
    assert set(report.causes) == cause, report
    assert "to mend first" in str(report)
    right = diagnose(function(bug.right), **how)
    assert right.fails == (), right


class Module(nn.Module):
    """Self-attention with projections inside, one line of it exchanged."""

    def __init__(self, bug="", width=32, heads=4):
        super().__init__()
        self.bug, self.heads = bug, heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):
        n, length, d = x.shape
        bug, parts = self.bug, self.qkv(x).chunk(3, dim=-1)
        if bug == "view":
            cut = [t.reshape(n, self.heads, length, -1) for t in parts]
        else:
            cut = [
                t.reshape(n, length, self.heads, -1).transpose(1, 2)
                for t in parts
            ]
        q, k, v = cut
        scores = q @ k.mT / math.sqrt(d if bug == "scale" else d // self.heads)
        if bug == "inverted":
            mask = ~mask
        if bug == "transposed":
            mask = mask.mT
        fill = {"finite": -20.0, "half": -1e9}.get(bug, -math.inf)
        if bug == "training only" and not self.training:
            mask = torch.ones_like(mask)
        if bug == "evaluation only" and self.training:
            mask = torch.ones_like(mask)
        if bug == "first sentence":
            mask = mask[:1].expand_as(mask)
        if bug not in ("after", "ignored"):
            scores = scores.masked_fill(~mask, fill)
        weights = scores.softmax(-2 if bug == "axis" else -1)
        if bug == "after":
            weights = weights * mask
        if bug == "dropout":
            weights = F.dropout(weights, 0.5)
        out = weights @ v
        shown = torch.softmax(q @ k.mT, -1) if bug == "maps" else weights
        out = out if bug == "merge" else out.transpose(1, 2)
        return self.out(out.reshape(n, length, d)), shown


BUGS = {
    "": (),
    "view": ("view or transpose",),
    "merge": ("view or transpose",),
    "scale": ("scale",),
    "inverted": ("mask polarity",),
    "transposed": ("mask polarity",),
    "ignored": ("mask polarity",),
    "after": ("mask before softmax",),
    "axis": ("softmax axis",),
    "finite": ("leak, training", "leak, evaluation"),
    "half": ("fully masked row", "half precision"),
    "training only": ("leak, evaluation",),
    "evaluation only": ("leak, training",),
    "first sentence": ("padding invariance",),
    "dropout": ("dropout off in evaluation",),
    "maps": ("weights agree with output",),
}


@pytest.mark.covered(1)
@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("seed", (0, 1, 2))
def test_a_bug_behind_projections_is_named(bug, seed):
    torch.manual_seed(seed)
    broken = Module(bug)
    state = copy.deepcopy(broken.state_dict())
    how = {"width": 32, "heads": 4, "seed": seed}
    report = diagnose(broken, "x mask -> out weights", **how)
    assert set(report.causes[:1]) == set(BUGS[bug][:1]), report
    assert set(BUGS[bug]) <= set(report.fails)
    assert broken.training
    for name, tensor in broken.state_dict().items():
        assert torch.equal(tensor, state[name])


def test_the_words_say_what_kind_of_mask_it_is():
    said = {"inverted": "inverted", "ignored": "hides nothing"}
    said["transposed"] = "transposed"
    for bug, word in said.items():
        how = {"width": 32, "heads": 4}
        report = diagnose(Module(bug), "x mask -> out", **how)
        assert word in report["mask polarity"].words


def causal(diagonal):
    def f(x):
        shown = torch.ones(x.shape[1], x.shape[1]).tril(diagonal) > 0
        return attention(x, x, x, shown)

    return f


def test_a_triangle_that_is_one_off_is_seen():
    how = {"call": "x -> out", "mask": "causal"}
    assert diagnose(causal(0), **how).fails == ()
    early = diagnose(causal(1), **how)
    assert early.causes == ("mask polarity",)
    late = diagnose(causal(-1), **how)
    assert "does not hear itself" in late["mask polarity"].words


def test_rows_without_a_key_in_every_call_are_a_failure_of_the_call():
    def f(x):
        hidden = torch.ones(x.shape[1], x.shape[1]).triu() > 0
        weights = (x @ x.mT).masked_fill(hidden, -math.inf).softmax(-1)
        return weights @ x

    report = diagnose(f, "x -> out", mask="causal")
    assert report.causes == ("call",)
    assert "no numbers" in report["call"].words
    others = {report[name].verdict for name in PROPERTIES[1:]}
    assert others == {"not offered"}


@pytest.mark.parametrize(
    ("f", "word"),
    [
        (lambda q, k, v: q @ k @ v, "RuntimeError"),
        (lambda q, k, v: (q @ k.mT).softmax(-1) @ v[..., :3], "shape"),
        (lambda q, k: q, "TypeError"),
    ],
)
def test_what_cannot_be_called_is_a_finding(f, word):
    report = diagnose(f, "q k v -> out", mask="none")
    assert report.causes == ("call",) and word in report["call"].words


def test_queries_of_another_number_may_fail():
    def padded(q, k, v):
        out = sdpa(q, k, v)
        return out if q.shape == k.shape else out.repeat(1, 2, 1)

    report = diagnose(padded, "q k v -> out", mask="none")
    assert report.causes == ("cross lengths",)
    assert "shape" in report["cross lengths"].words


def test_half_precision_that_is_not_finite_or_wrong():
    def overflows(q, k, v):
        scores = (q * 3000) @ (k.mT / 3000 / q.shape[-1] ** 0.5)
        return (scores * 200 / 200).softmax(-1) @ v * (v / v)

    def rounds(q, k, v):
        out = sdpa(q, k, v)
        return out if out.dtype == torch.float32 else out.round()

    def large(q, k, v):
        return sdpa(q, k, v) * 1e5 / 1e5

    how = {"call": "q k v -> out", "mask": "none"}
    assert "half precision" in diagnose(rounds, **how).fails
    finding = diagnose(large, **how)["half precision"]
    assert finding.verdict == "fails" and "not finite" in finding.words
    assert diagnose(overflows, **how)["call"].verdict == "holds"


def test_positions_inside_are_no_bug_if_they_are_declared():
    def placed(q, k, v):
        places = torch.linspace(0, 3, k.shape[-2])
        scores = q @ k.mT / 4 + places
        return scores.softmax(-1) @ v

    how = {"call": "q k v -> out", "mask": "none"}
    assert "permutation equivariance" in diagnose(placed, **how).fails
    report = diagnose(placed, **how, positions=True)
    assert report["permutation equivariance"].verdict == "not offered"


def test_an_intended_scale_is_right_and_another_one_is_not():
    how = {"call": "q k v -> out", "mask": "none"}

    def unscaled(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, scale=1.0)

    assert diagnose(unscaled, **how).causes == ("scale",)
    assert diagnose(unscaled, **how, scale=1.0).fails == ()
    finding = diagnose(unscaled, **how)["scale"]
    assert "no scale" in finding.words
    assert finding.seen == pytest.approx(1, abs=1e-3)


# What is not offered.


class Hidden(nn.Module):
    """Something around the attention that cannot be set aside."""

    def __init__(self, kind, width=16):
        super().__init__()
        self.kind = kind
        self.norm = nn.LayerNorm(width)
        self.to_q = nn.Linear(width, width)
        self.to_kv = nn.Linear(width, 7 if kind == "narrow" else 2 * width)
        if kind == "narrow":
            self.widen = nn.Linear(7, 2 * width)
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, x):
        x = self.norm(x) if self.kind == "norm" else x
        q, kv = self.to_q(x), self.to_kv(x)
        kv = self.widen(kv) if self.kind == "narrow" else kv
        k, v = kv.chunk(2, dim=-1)
        if self.kind == "cosine":
            q, k = F.normalize(q, dim=-1), 9 * F.normalize(k, dim=-1)
        return sdpa(q, k, v) * self.gain


@pytest.mark.parametrize("kind", ["norm", "narrow", "cosine", ""])
def test_what_cannot_be_set_aside_is_not_guessed(kind):
    torch.manual_seed(0)
    report = diagnose(Hidden(kind), "x -> out", mask="none")
    assert report.fails == ()
    expected = "not offered" if kind else "holds"
    assert report["scale"].verdict == expected


class PerHead(nn.Module):
    """One matrix a head, as a stack."""

    def __init__(self, heads=2, width=16):
        super().__init__()
        size = (heads, width, width // heads)
        self.W = nn.ParameterList([torch.randn(size) / 4 for _ in range(3)])
        self.b_q = nn.Parameter(
            torch.randn(heads, 1, width // heads).flatten()
        )
        self.W_o = nn.Parameter(torch.randn(heads, width // heads, width) / 4)

    def forward(self, x):
        q, k, v = (torch.einsum("nld,hde->nhle", x, W) for W in self.W)
        heads = q.shape[1]
        q = q + self.b_q.view(heads, 1, -1)
        return torch.einsum("nhle,hed->nld", sdpa(q, k, v), self.W_o)


def test_matrices_in_stacks_can_be_set_aside():
    report = diagnose(PerHead(), "x -> out", mask="none", heads=2)
    assert report.fails == () and report["scale"].verdict == "holds"
    assert report["view or transpose"].verdict == "holds"


def test_matrices_written_the_other_way_round_can_be_set_aside():
    class Fused(nn.Module):
        def __init__(self):
            super().__init__()
            self.W = nn.Parameter(torch.randn(16, 48) / 4)

        def forward(self, x):
            return sdpa(*(x @ self.W).chunk(3, dim=-1))

    assert diagnose(Fused(), "x -> out", mask="none")["scale"].seen == (
        pytest.approx(1 / 4, rel=1e-3)
    )


def test_stacks_of_odd_shapes_are_not_set_aside():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self.W = nn.Parameter(torch.ones(2, 5, 3))

        def forward(self, x):
            return sdpa(x, x, x) + 0 * self.W.sum()

    report = diagnose(Odd(), "x -> out", mask="none")
    assert "not square" in report["scale"].words


def test_projections_out_of_reach_are_not_judged():
    W = torch.randn(16, 16)
    report = diagnose(
        lambda x: sdpa(x @ W, x, x), "x -> out", mask="none", projections=True
    )
    for name in ("scale", "view or transpose", "half precision"):
        assert report[name].words == "its projections are out of reach"


def test_what_a_convention_cannot_say_is_not_offered():
    plain = diagnose(
        lambda q, k, v: sdpa(q, k, v), "q k v -> out", mask="none"
    )
    for name in ("mask polarity", "mask before softmax", "leak, evaluation"):
        assert plain[name].verdict == "not offered"
    assert "takes no mask" in plain["padding invariance"].words
    assert plain["weights agree with output"].verdict == "not offered"
    same = diagnose(attention, mask_axes="q k")
    assert same["padding invariance"].verdict == "not offered"
    assert same["fully masked row"].verdict == "holds"
    keys = diagnose(attention, mask_axes="1 1 k")
    assert keys["fully masked row"].verdict == "not offered"
    narrow = diagnose(attention, width=3)
    assert "too narrow" in narrow["scale"].words


def test_mean_weights_and_missing_ones_are_not_offered():
    how = {"mask": "ignore", "mask_axes": "(n h) q k", "heads": 2}
    call = "q k v attn_mask=mask -> out weights"
    mean = diagnose(torchs(16, 2), call, **how)
    assert "means" in mean["weights agree with output"].words
    without = partial(torchs(16, 2), need_weights=False)
    none = diagnose(without, call, **how)
    assert none["weights agree with output"].verdict == "not offered"
    one = diagnose(torchs(16, 1), call, **how | {"heads": 1})
    assert one["weights agree with output"].verdict == "holds"


def test_returned_weights_serve_where_none_can_be_read():
    wide = diagnose(
        lambda x, m: Module("axis", 8, 4).requires_grad_(False)(x, m),
        "x mask -> out weights",
        width=8,
        heads=4,
        projections=True,
    )
    assert wide["softmax axis"].verdict == "fails"


def test_a_module_that_is_only_named_is_put_back():
    torch.manual_seed(0)
    mine = Module()
    mine.register_buffer("places", torch.arange(3.0))
    loss = mine(torch.randn(1, 3, 32), torch.ones(1, 1, 3, 3) > 0)[0].sum()
    loss.backward()
    grads = [p.grad.clone() for p in mine.parameters()]
    before = copy.deepcopy(mine.state_dict())
    how = {"width": 32, "heads": 4, "module": mine}
    report = diagnose(lambda x, m: mine(x, m)[0], "x mask -> out", **how)
    assert report.fails == () and mine.training
    for name, tensor in mine.state_dict().items():
        assert torch.equal(tensor, before[name])
        assert tensor.dtype == torch.float32
    for p, grad in zip(mine.parameters(), grads, strict=True):
        assert torch.equal(p.grad, grad)


def test_the_generator_of_the_reader_is_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    broken = Module("dropout")
    torch.manual_seed(3)
    diagnose(broken, "x mask -> out", width=32, heads=4)
    assert torch.equal(torch.rand(2), expected)


# The parts.


def test_relative_change_is_a_share_of_the_largest():
    a, b = torch.tensor([1.0, -2.0]), torch.tensor([1.0, -4.0])
    assert relative_change(a, b) == 0.5


def test_who_hears_is_the_mask_of_a_sound_attention():
    torch.manual_seed(0)
    x, mask = torch.randn(2, 6, 8), torch.rand(6, 6) > 0.5
    mask |= torch.eye(6) > 0
    table = influence(lambda x, m: attention(x, x, x, m), x, mask)
    assert ((table > 0.02) == mask).all() and table.max() == 1
    assert (table[~mask] == 0).all()


def test_weights_are_read_exactly():
    probe = prepare(attention, axes="n h l d", heads=2)
    weights, scores, misfit = read_weights(probe)
    expected = torch.softmax(scores / 8**0.5, dim=-1)
    torch.testing.assert_close(weights, expected, atol=1e-3, rtol=0)
    assert misfit < 1e-5 and weights.shape == (16, 2, 5, 5)
    assert check_scale(probe).seen == pytest.approx(8**-0.5, rel=1e-3)


def test_without_means_no_row_and_no_column_has_one():
    t = without_means(torch.randn(2, 4, 5))
    for axis in (-1, -2):
        assert t.mean(axis).abs().max() < 1e-6


def test_findings_have_words():
    assert judge("scale", float("nan"), 1).verdict == "not offered"
    assert "no numbers" not in judge("scale", 0.0, 1).words
    assert "1/sqrt(d_head)" in factor(8**-0.5, 8, 16)
    assert "1/sqrt(d_model)" in factor(0.25, 8, 16)
    assert "1/d_head" in factor(1 / 8, 8, 16)
    assert factor(0.9999, 8, 16) == factor(0.9995, 8, 16)
    assert factor(0.7, 8, 16) == "the scores are multiplied by 0.7000"
    assert message(ValueError("")) == "raises ValueError: no message"
    nobody = torch.zeros(4, 4, dtype=torch.bool)
    asked = torch.ones(4, 4).tril() > 0
    assert hearing(nobody, asked)[1] == "nothing is heard at all"
    odd = asked.clone()
    odd[0, 3] = True
    assert hearing(odd, asked) == (1 / 12, "")


def test_a_report_is_at_most_79_wide():
    for bug in ("view", "half", "ignored"):
        report = diagnose(Module(bug), "x mask -> out", width=32, heads=4)
        assert isinstance(report, Report) and report.fails
        assert max(map(len, str(report).splitlines())) <= 79


def test_an_unreadable_number_is_no_failure():
    def silent(q, k, v, mask):
        return torch.full_like(q, math.nan)

    probe = Probe(silent, Convention())
    probe.needs_mask = True
    with pytest.raises(module.NotOffered, match="not numbers"):
        module.check_polarity(probe)
    assert module.examine("scale", probe).verdict == "not offered"
    assert module.examine("softmax axis", probe).verdict == "not offered"


# Conventions.


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"call": "q v mask -> out"}, "call"),
        ({"call": "q k v mask"}, "call"),
        ({"call": "q k v mask -> weights"}, "call"),
        ({"axes": "d l n"}, "axes"),
        ({"axes": "n l d -> d"}, "axes"),
        ({"mask": "maybe"}, "mask"),
        ({"mask": "none"}, "mask"),
        ({"call": "x -> out"}, "mask"),
        ({"mask_axes": "n q"}, "mask_axes"),
        ({"mask_axes": "n n k"}, "mask_axes"),
        ({"width": 7, "heads": 2}, "width"),
        ({"length": 3}, "length"),
    ],
)
def test_an_impossible_convention_is_refused(options, word):
    with pytest.raises(ValueError, match=word):
        diagnose(attention, **options)


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("f", "options", "word"),
    [
        (attention, {"shape": 3}, "an option"),
        (attention, {"width": 4.0}, "width"),
        (attention, {"positions": 1}, "positions"),
        ("attention", {}, "attention"),
    ],
)
def test_a_wrong_kind_is_refused(f, options, word):
    with pytest.raises(TypeError, match=word):
        diagnose(f, **options)


FILE = """
from torch.nn.functional import scaled_dot_product_attention as mine

def inverted(q, k, v, mask):
    return mine(q, k, v, ~mask)

class Plain:
    def __call__(self, q, k, v, mask):
        return mine(q, k, v, mask)
"""


def test_a_file_can_be_named_in_a_shell(tmp_path, capsys):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    assert shell.main([f"{path}:mine", "--width", "8"]) == 0
    assert "nothing; no known bug" in capsys.readouterr().out
    assert shell.main([f"{path}:Plain()"]) == 0
    with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr("sys.argv", ["diagnose", f"{path}:Plain()"])
        patch.delitem(sys.modules, "lib.diagnose.__main__")
        runpy.run_module("lib.diagnose", run_name="__main__")
    assert shell.main([f"{path}:inverted"]) == 1
    assert "to mend first: mask polarity" in capsys.readouterr().out


def test_public_hands_over_to_the_conformance_table(monkeypatch, capsys):
    run = []
    monkeypatch.setattr("runpy.run_path", lambda *a, **k: run.append((a, k)))
    monkeypatch.setattr("sys.argv", ["diagnose"])
    assert shell.main(["--public", "--some"]) == 0
    assert run[0][0][0].endswith("conformance.py")
    monkeypatch.setattr("pathlib.Path.exists", lambda path: False)
    assert shell.main(["--public"]) == 2
    assert "is not there" in capsys.readouterr().out
