"""lib.diagnose: broken attentions are named, sound ones are left in peace."""

import copy
import math
import runpy
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from kit.gallery import GALLERY, Seen, drawn, function
from lib.attention import attention
from lib.diagnose import __main__ as shell
from lib.diagnose import checks
from lib.diagnose.checks import PROPERTIES, diagnose
from lib.diagnose.convention import Convention, Probe, prepare
from lib.diagnose.report import factor, hearing, judge, message
from lib.efficient import GroupedQueryAttention
from lib.heads import MultiHeadAttention
from tests.library.draw import close, refused, same

INVERTED_PER_HEAD = {"mask": "ignore", "mask_axes": "(n h) q k"}
TORCHS = "q k v attn_mask=mask -> out weights"
# How an attention is called.
PLAIN = {"call": "q k v -> out", "mask": "none"}
ON_X = {"call": "x -> out", "mask": "none"}
CAUSAL = {"call": "x -> out", "mask": "causal"}
MODULE = {"call": "x mask -> out weights", "width": 32, "heads": 4}
MHA = {"call": TORCHS, "heads": 2, **INVERTED_PER_HEAD}


def sdpa(q, k, v, may_attend=None):
    return F.scaled_dot_product_attention(q, k, v, may_attend)


def torchs(width, heads, **options):
    return nn.MultiheadAttention(width, heads, batch_first=True, **options)


def triangle(diagonal, attend=attention):
    """Causal, or off by as many tokens as it says."""

    def f(x):
        shown = torch.ones(x.shape[1], x.shape[1]).tril(diagonal) > 0
        return attend(x, x, x, shown)

    return f


def sound(width, heads, length):
    """Attentions without a bug: functions that ask what is wrong with them."""

    def ask(f, call="q k v mask -> out", **how):
        sizes = {"width": width, "heads": heads, "length": length}
        return lambda: diagnose(f, call, **sizes | how)

    ours = MultiHeadAttention(width, heads, 0.2)
    with_weights = partial(ours, need_weights=True)
    mha = torchs(width, heads, dropout=0.1)
    by_head = partial(mha, average_attn_weights=False)
    late = nn.MultiheadAttention(width, heads)
    causal = triangle(0, lambda *x: mha(*x[:3], attn_mask=~x[3])[0])
    additive = {"mask": "additive", "mask_axes": "(n h) q k"}
    lowest = additive | {"mask": "additive min"}
    keys = {"mask": "ignore", "mask_axes": "n k", "axes": "l n d"}
    each_head, one_head = {"axes": "n h l d"}, {"axes": "l d", "heads": 1}
    ones = each_head | {"mask": "ones", "mask_axes": "n 1 q k"}
    floats = each_head | {"mask": "float ones"}
    merged = {"axes": "n h l d -> n l (h d)", "mask": "none"}
    return {
        "SDPA": ask(sdpa, "q k v may_attend=mask -> out", **each_head),
        "ours": ask(attention, heads=1),
        "one by one": ask(attention, axes="h l d", mask_axes="1 q k"),
        "our module": ask(ours),
        "its method": ask(ours.forward),
        "its weights": ask(with_weights, "q k v mask -> out weights"),
        "grouped": ask(GroupedQueryAttention(width, heads, 1)),
        "torch's": ask(by_head, TORCHS, **INVERTED_PER_HEAD),
        "torch's, additive": ask(mha, TORCHS, **additive),
        "torch's, lowest": ask(mha, TORCHS, **lowest),
        "torch's, causal": ask(causal, **CAUSAL, module=mha),
        "torch's, keys only": ask(
            late, "q k v key_padding_mask=mask -> out weights", **keys
        ),
        "zeros and ones": ask(
            lambda q, k, v, mask: sdpa(q, k, v, mask == 1), **ones
        ),
        "floating zeros and ones": ask(
            lambda q, k, v, mask: [None, sdpa(q, k, v, mask > 0)],
            "q k v mask -> _ out",
            **floats,
        ),
        "merged by itself": ask(
            lambda q, k, v: sdpa(q, k, v).transpose(1, 2).flatten(2),
            "q k v -> out",
            **merged,
        ),
        "without a batch": ask(
            lambda q, k, v, mask: (sdpa(q, k, v, mask), sdpa(q, k, k, mask)),
            mask_axes="q k",
            **one_head,
        ),
    }


SIZES = [(16, 2, 7), (24, 4, 5), (8, 1, 6), (33, 3, 9)]


@pytest.mark.covered(1)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", sound(*SIZES[0]))
def test_nothing_is_reported_that_is_not_there(name, size):
    report = sound(*size)[name]()
    is_finite = name == "torch's, lowest"  # then an empty row is a mean
    assert report.fails == ("fully masked row",) * is_finite, report
    assert report["call"].verdict == "holds"
    notes = [f.name for f in report.findings if f.verdict == "note"]
    assert all(name.startswith("fully masked row") for name in notes)


CAUSES = {
    "a finite number hides": {"leak, evaluation"},
    "an empty row becomes a mean": {"fully masked row", "half precision"},
    "-1e9 in float16": {"fully masked row", "half precision"},
    "an attribute that is never set": {"mask polarity"},
}
KINDS = {
    "the mask is inverted": "the mask is inverted",
    "the mask is made and thrown away": "hides nothing",
    "it hides the queries, not the keys": "transposed",
    "a forgotten transpose": "most tokens do not hear most others",
}
INSIDE = [bug for bug in GALLERY if isinstance(bug.look, Seen)]


@pytest.mark.parametrize("bug", INSIDE, ids=lambda bug: bug.name)
def test_a_bug_of_the_gallery_is_named(bug):
    how = bug.look.convention
    report = diagnose(function(bug.wrong), **how)
    cause = CAUSES.get(bug.name, {bug.look.property})
    assert set(report.causes) == cause, report
    assert KINDS.get(bug.name, "") in report[bug.look.property].words
    assert max(map(len, str(report).splitlines())) <= 79
    assert f"to mend first: {', '.join(report.causes)}" in str(report)
    assert diagnose(function(bug.right), **how).fails == ()


class Module(nn.Module):
    """Self-attention with projections, of which parts can be exchanged."""

    def __init__(self, width=32, heads=4, **parts):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.gain = nn.Parameter(torch.ones(1))
        self.heads, self.scale = heads, (width // heads) ** -0.5
        for name, part in parts.items():
            setattr(self, name, part)

    def turn(self, x):
        return x

    def weigh(self, scores, mask):
        return scores.masked_fill(~mask, -math.inf).softmax(-1)

    def forward(self, x, mask):
        parts = self.qkv(x).unflatten(2, (3, self.heads, -1))
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        scores = self.scale * self.turn(q) @ self.turn(k).mT
        weights = self.weigh(scores, mask)
        out = (weights @ v).transpose(1, 2).flatten(2) * self.gain
        return self.out(out), weights


class PerHead(nn.Module):
    """A stack with one matrix for each head."""

    def __init__(self):
        super().__init__()
        size = (2, 16, 8)
        self.W = nn.ParameterList([torch.randn(size) / 4 for _ in range(3)])
        self.b_q = nn.Parameter(torch.randn(16))
        self.W_o = nn.Parameter(torch.randn(2, 8, 16) / 4)

    def forward(self, x):
        q, k, v = (torch.einsum("nld,hde->nhle", x, W) for W in self.W)
        out = sdpa(q + self.b_q.view(2, 1, 8), k, v)
        return torch.einsum("nhle,hed->nld", out, self.W_o)


class Matrix(nn.Module):
    """One matrix, written the other way round or of an odd shape."""

    def __init__(self, *shape):
        super().__init__()
        self.W = nn.Parameter(torch.randn(shape) / 4)

    def forward(self, x):
        if self.W.ndim == 2:
            return x @ self.W
        return torch.cat([x, x, x], dim=-1) + 0 * self.W.sum()


def wrong_axis(scores, mask):
    return scores.masked_fill(~mask, -math.inf).softmax(-2)


def small_number(scores, mask):
    return scores.masked_fill(~mask, -20).softmax(-1)


class EvaluationOnly(Module):
    def weigh(self, scores, mask):
        return super().weigh(scores, mask | self.training)


def linear(*widths):
    return nn.Sequential(*map(nn.Linear, widths, widths[1:]))


def rows_without_a_key(x):
    hidden = torch.ones(x.shape[1], x.shape[1]).triu() > 0
    return (x @ x.mT).masked_fill(hidden, -math.inf).softmax(-1) @ x


def as_many_queries_as_keys(q, k, v):
    out = sdpa(q, k, v)
    return out if q.shape == k.shape else out.repeat(1, 2, 1)


def rounded_if_half(q, k, v):
    out = sdpa(q, k, v)
    return out if out.dtype == torch.float32 else out.round()


def with_positions(q, k, v):
    places = torch.linspace(0, 3, k.shape[-2])
    return (q @ k.mT / 4 + places).softmax(-1) @ v


def unscaled(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, scale=1.0)


def projected_outside(x):
    return sdpa(x @ drawn(16, 16), x, x)


torch.manual_seed(0)  # for the weights of these modules
LATE = triangle(-1)  # so its first query is without a key
FROZEN = Module(8, 4, weigh=wrong_axis).requires_grad_(False)
NORMED = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 96))
OUTSIDE = ON_X | {"projections": True}
SAID = {  # attention, how it is called, verdict, words
    "call": [
        (lambda q, k, v: q @ k @ v, PLAIN, "fails", "RuntimeError"),
        (lambda q, k: q, PLAIN, "fails", "TypeError"),
        (lambda q, k, v: v[..., :3], PLAIN, "fails", "shape"),
        (rows_without_a_key, CAUSAL, "fails", "no numbers"),
    ],
    "mask polarity": [
        (triangle(0), CAUSAL, "holds", "is heard"),
        (triangle(1), CAUSAL, "fails", "some hidden tokens"),
        (LATE, CAUSAL, "fails", "does not hear itself"),
        (sdpa, PLAIN, "not offered", "takes no mask"),
    ],
    "mask before softmax": [
        (sdpa, PLAIN, "not offered", "takes no mask"),
    ],
    "softmax axis": [
        (
            lambda x, mask: FROZEN(x, mask),
            MODULE | {"width": 8, "projections": True},
            "fails",
            "another axis",
        ),
    ],
    "scale": [
        (unscaled, PLAIN, "fails", "no scale"),
        (unscaled, PLAIN | {"scale": 1.0}, "holds", "no scale"),
        (Module(scale=32**-0.5), MODULE, "fails", "1/sqrt(d_model)"),
        (Module(qkv=Matrix(32, 96)), MODULE, "holds", "1/sqrt(d_head)"),
        (PerHead(), ON_X | {"heads": 2}, "holds", "0.3536"),
        (Module(qkv=Matrix(2, 5, 3)), MODULE, "not offered", "not square"),
        (Module(qkv=linear(32, 7, 96)), MODULE, "not offered", "not square"),
        (Module(qkv=NORMED), MODULE, "not offered", "cannot be set aside"),
        (Module(turn=F.normalize), MODULE, "not offered", "no plain dot"),
        (projected_outside, OUTSIDE, "not offered", "out of reach"),
        (attention, {"width": 3}, "not offered", "too narrow"),
    ],
    "fully masked row": [
        (torchs(16, 2), MHA, "note", "gets NaN"),
        (attention, {"mask_axes": "q k"}, "holds", ""),
        (attention, {"mask_axes": "1 1 k"}, "not offered", "each sentence"),
    ],
    "fully masked row, gradient": [
        (torchs(16, 2), MHA, "note", "makes 4 of 5 gradients"),
    ],
    "leak, training": [
        (EvaluationOnly(), MODULE, "fails", "another future"),
        (Module(weigh=small_number), MODULE, "fails", "a finite number"),
    ],
    "leak, evaluation": [
        (sdpa, PLAIN, "not offered", "no mask for each query"),
    ],
    "padding invariance": [
        (sdpa, PLAIN, "not offered", "takes no mask"),
        (attention, {"mask_axes": "q k"}, "not offered", "each sentence"),
    ],
    "half precision": [
        (rounded_if_half, PLAIN, "fails", "something else"),
        (lambda *qkv: sdpa(*qkv) * 1e5 / 1e5, PLAIN, "fails", "not finite"),
        (projected_outside, OUTSIDE, "not offered", "out of reach"),
    ],
    "view or transpose": [
        (PerHead(), ON_X | {"heads": 2}, "holds", ""),
        (projected_outside, OUTSIDE, "not offered", "out of reach"),
    ],
    "weights agree with output": [
        (torchs(16, 1), MHA | {"heads": 1}, "holds", ""),
        (torchs(16, 2), MHA, "not offered", "means over the heads"),
        (sdpa, PLAIN, "not offered", "returns no weights"),
        (
            partial(torchs(16, 2), need_weights=False),
            MHA,
            "not offered",
            "returns no weights",
        ),
    ],
    "permutation equivariance": [
        (with_positions, PLAIN, "fails", "the order"),
        (with_positions, PLAIN | {"positions": True}, "not offered", "inside"),
    ],
    "cross lengths": [
        (as_many_queries_as_keys, PLAIN, "fails", "the shape (2, 8, 16)"),
        (triangle(0), CAUSAL, "not offered", "its own queries only"),
    ],
}


@pytest.mark.parametrize(
    ("name", "f", "how", "verdict", "words"),
    [(name, *row) for name, rows in SAID.items() for row in rows],
)
def test_what_is_said_of_a_property(name, f, how, verdict, words):
    report = diagnose(f, **how)
    finding = report[name]
    assert (finding.verdict, words in finding.words) == (verdict, True), report
    is_cause = verdict == "fails" and f is not LATE
    assert (name in report.causes) == is_cause, report
    others = {report[other].verdict for other in PROPERTIES[1:]}
    assert (others == {"not offered"}) == ("call" in report.fails)


def test_a_module_is_put_back_and_random_numbers_too():
    torch.manual_seed(3)
    mine = Module(weigh=lambda s, mask: F.dropout(s.softmax(-1), 0.5))
    mine.register_buffer("places", torch.arange(3.0))
    mine(torch.randn(1, 3, 32), torch.ones(1, 1, 3, 3) > 0)[0].sum().backward()
    before = copy.deepcopy(mine.state_dict()), torch.get_rng_state()
    grads = [p.grad.clone() for p in mine.parameters()]
    diagnose(mine, **MODULE)
    diagnose(lambda x, mask: mine(x, mask), **MODULE, module=mine)
    assert mine.training
    same((mine.state_dict(), torch.get_rng_state()), before)
    same([p.grad for p in mine.parameters()], grads)


# The parts.


def test_the_numbers_are_those_of_the_definitions():
    a, b = torch.tensor([1.0, -2.0]), torch.tensor([1.0, -4.0])
    assert checks.relative_change(a, b) == 0.5
    x, mask = drawn(2, 6, 8), torch.ones(6, 6).tril(1).flip(1) > 0
    mask |= torch.eye(6) > 0
    heard = checks.influence(lambda x, m: attention(x, x, x, m), x, mask)
    same(heard > 0.02, mask)
    assert heard.max() == 1 and (heard[~mask] == 0).all()
    probe = prepare(attention, axes="n h l d", heads=2)
    weights, scores, misfit = checks.read_weights(probe)
    close(weights, torch.softmax(scores / 8**0.5, dim=-1), 8000)
    assert misfit < 1e-5 and weights.shape == (16, 2, 5, 5)
    assert checks.check_scale(probe).seen == pytest.approx(8**-0.5, rel=1e-3)
    t = checks.without_means(drawn(2, 4, 5))
    close(t.mean(-1), torch.zeros(2, 4))
    close(t.mean(-2), torch.zeros(2, 5))


def test_findings_have_words():
    assert judge("scale", float("nan"), 1).verdict == "not offered"
    assert factor(8**-0.5, 8, 16).endswith("0.3536 (1/sqrt(d_head))")
    assert "1/sqrt(d_model)" in factor(0.25, 8, 16)
    assert "1/d_head" in factor(1 / 8, 8, 16)
    assert factor(0.9999, 8, 16) == factor(0.9995, 8, 16)
    assert factor(0.7, 8, 16) == "the scores are multiplied by 0.7000"
    assert message(ValueError("")) == "raises ValueError: no message"
    asked = torch.ones(4, 4).tril() > 0
    assert hearing(asked & False, asked)[1] == "nothing is heard at all"
    odd = asked.clone()
    odd[0, 3] = True
    assert hearing(odd, asked) == (1 / 12, "")


def test_an_unreadable_number_is_no_failure():
    probe = Probe(
        lambda q, k, v, m: torch.full_like(q, math.nan), Convention()
    )
    probe.needs_mask = True
    for name in ("mask polarity", "scale", "softmax axis"):
        assert checks.examine(name, probe).verdict == "not offered"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    ("options", "kind", "argument", "expected", "got"),
    [
        ({"call": "q v mask -> out"}, ValueError, "call", "a pattern", "q v"),
        ({"call": "q k v mask"}, ValueError, "call", "a pattern", "mask"),
        ({"call": "q k v -> weights"}, ValueError, "call", "a pattern", "w"),
        ({"axes": 3}, TypeError, "axes", "a string", "int"),
        ({"axes": "d l n"}, ValueError, "axes", "n l d", "d l n"),
        ({"axes": "n l d -> d"}, ValueError, "axes", "n l d", "-> d"),
        ({"mask": "maybe"}, ValueError, "mask", "keep", "maybe"),
        ({"mask": "none"}, ValueError, "mask", "'keep'", "none"),
        ({"call": "x -> out"}, ValueError, "mask", "'causal'", "keep"),
        ({"mask_axes": "n q"}, ValueError, "mask_axes", "n 1 q k", "n q"),
        ({"mask_axes": "n n k"}, ValueError, "mask_axes", "n k", "n n k"),
        ({"mask_axes": 3}, TypeError, "mask_axes", "a string", "int"),
        ({"width": 7, "heads": 2}, ValueError, "width", "2 heads", "7"),
        ({"length": 3}, ValueError, "length", "at least 4", "3"),
        ({"shape": 3}, TypeError, "an option", "axes, mask", "shape"),
        ({"width": 4.0}, TypeError, "width", "an integer", "float"),
        ({"positions": 1}, TypeError, "positions", "True or False", "int"),
        ({"attention": "a"}, TypeError, "attention", "function", "str"),
    ],
)
def test_an_impossible_convention_is_refused(
    options, kind, argument, expected, got
):
    with refused(kind, argument, expected, got):
        diagnose(**{"attention": attention} | options)


FILE = """
from torch.nn.functional import scaled_dot_product_attention as mine

def inverted(q, k, v, mask):
    return mine(q, k, v, ~mask)

class Plain:
    def __call__(self, q, k, v, mask):
        return mine(q, k, v, mask)
"""


def test_a_file_can_be_named_in_a_shell(tmp_path, capsys, monkeypatch):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    assert shell.main([f"{path}:mine", "--width", "8"]) == 0
    assert "nothing; no known bug" in capsys.readouterr().out
    assert shell.main([f"{path}:inverted"]) == 1
    assert "to mend first: mask polarity" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["diagnose", f"{path}:Plain()"])
    monkeypatch.delitem(runpy.sys.modules, shell.__name__)
    with pytest.raises(SystemExit, match="0"):
        runpy.run_module("lib.diagnose", run_name="__main__")


def test_public_hands_over_to_the_conformance_table(monkeypatch, capsys):
    run = []
    monkeypatch.setattr("runpy.run_path", lambda *a, **k: run.append((a, k)))
    monkeypatch.setattr("sys.argv", ["diagnose"])
    assert shell.main(["--public", "--some"]) == 0
    assert run[0][0][0].endswith("conformance.py")
    monkeypatch.setattr("pathlib.Path.exists", lambda path: False)
    assert shell.main(["--public"]) == 2
    assert "is not there" in capsys.readouterr().out
