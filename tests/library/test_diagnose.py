"""lib.diagnose: broken attentions are named, sound ones are left in peace."""

import copy
import math
import runpy
from functools import partial
from itertools import cycle

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from kit.gallery import GALLERY, Seen, drawn, function
from lib.attention import attention
from lib.diagnose import __main__ as shell
from lib.diagnose import checks
from lib.diagnose.checks import PROPERTIES, diagnose
from lib.diagnose.convention import prepare
from lib.diagnose.report import factor, hearing, message
from lib.heads import MultiHeadAttention
from tests.library.draw import close, same
from tests.library.refusals import refuses

TORCHS = "q k v attn_mask=mask -> out weights"
# How an attention is called.
PLAIN = {"call": "q k v -> out", "mask": "none"}
LOWEST = "additive min"
ON_X = {"call": "x -> out", "mask": "none"}
CAUSAL = {"call": "x -> out", "mask": "causal"}
MODULE = {"call": "x mask -> out weights", "width": 32, "heads": 4}
MHA = {"call": TORCHS, "mask": "ignore", "mask_axes": "(n h) q k", "heads": 2}


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


def called(f, **how):
    return f, how


def sound(width, heads):
    """Attentions without a bug, and how each wants to be called."""
    ours = MultiHeadAttention(width, heads, 0.2)
    with_weights = partial(ours, need_weights=True)
    mha = torchs(width, heads, dropout=0.1)
    by_head = partial(mha, average_attn_weights=False)
    causal = triangle(0, lambda *x: mha(*x[:3], attn_mask=~x[3])[0])
    late = nn.MultiheadAttention(width, heads)
    keys = {"call": "q k v key_padding_mask=mask -> out weights"}
    keys |= {"axes": "l n d", "mask": "ignore", "mask_axes": "n k"}
    split = {"axes": "n h l d", "mask_axes": "n 1 q k"}
    merged = PLAIN | {"axes": "n h l d -> n l (h d)"}
    return {
        "by keyword": called(
            sdpa, call="q k v may_attend=mask -> out", axes="n h l d"
        ),
        "one by one": called(attention, axes="h l d", mask_axes="1 q k"),
        "a method": called(ours.forward),
        "weights": called(with_weights, call="q k v mask -> out weights"),
        "torch's": called(by_head, **MHA | {"heads": heads}),
        "additive": called(mha, **MHA | {"heads": heads, "mask": "additive"}),
        "lowest": called(mha, **MHA | {"heads": heads, "mask": LOWEST}),
        "causal": called(causal, **CAUSAL, module=mha),
        "keys only": called(late, **keys),
        "ones": called(
            lambda q, k, v, mask: sdpa(q, k, v, mask == 1),
            **split | {"mask": "ones"},
        ),
        "floating ones": called(
            lambda q, k, v, mask: [None, sdpa(q, k, v, mask > 0)],
            **split | {"call": "q k v mask -> _ out", "mask": "float ones"},
        ),
        "merged": called(
            lambda q, k, v: sdpa(q, k, v).transpose(1, 2).flatten(2), **merged
        ),
        "without a batch": called(
            lambda q, k, v, mask: (sdpa(q, k, v, mask), sdpa(q, k, k, mask)),
            **{"axes": "l d", "heads": 1, "mask_axes": "q k"},
        ),
    }


SIZES = [(16, 2, 7), (24, 4, 5), (8, 1, 6), (33, 3, 9)]


@pytest.mark.parametrize(
    ("name", "size"), [*zip(sound(16, 2), cycle(SIZES), strict=False)]
)
def test_nothing_is_reported_that_is_not_there(name, size):
    width, heads, length = size
    f, how = sound(width, heads)[name]
    sizes = {"width": width, "heads": heads, "length": length}
    report = diagnose(f, **sizes | how)
    is_finite = name == "lowest"  # then an empty row is a mean
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


class Transposed(nn.Module):
    """A linear layer, its matrix written the other way round."""

    def __init__(self):
        super().__init__()
        self.W = nn.Parameter(torch.randn(32, 96) / 4)

    def forward(self, x):
        return x @ self.W


def wrong_axis(scores, mask):
    return scores.masked_fill(~mask, -math.inf).softmax(-2)


def small_number(scores, mask):
    return scores.masked_fill(~mask, -20).softmax(-1)


class EvaluationOnly(Module):
    def weigh(self, scores, mask):
        return super().weigh(scores, mask | self.training)


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


def no_numbers(q, k, v, mask):
    return q * mask.sum() * math.nan


def unscaled(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, scale=1.0)


def projected_outside(x):
    return sdpa(x @ drawn(16, 16), x, x)


torch.manual_seed(0)  # for the weights of these modules
LATE = triangle(-1)  # so its first query is without a key
FROZEN = Module(8, 4, weigh=wrong_axis).requires_grad_(False)
NARROW = nn.Sequential(nn.Linear(32, 7), nn.Linear(7, 96))
NOT_SQUARE = ("not offered", "not square")
NORMED = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 96))
OUTSIDE = ON_X | {"projections": True}
CLOSED = MODULE | {"width": 8, "projections": True}
WITHOUT = partial(torchs(16, 2), need_weights=False)
SAID = {  # attention, how it is called, verdict, words
    "call": [
        (lambda q, k: q, PLAIN, "fails", "TypeError"),
        (lambda q, k, v: v[..., :3], PLAIN, "fails", "shape"),
        (rows_without_a_key, CAUSAL, "fails", "no numbers"),
    ],
    "mask polarity": [
        (triangle(0), CAUSAL, "holds", "is heard"),
        (triangle(1), CAUSAL, "fails", "some hidden tokens"),
        (LATE, CAUSAL, "fails", "does not hear itself"),
        (sdpa, PLAIN, "not offered", "takes no mask"),
        (no_numbers, {}, "not offered", "not numbers"),
    ],
    "mask before softmax": [(sdpa, PLAIN, "not offered", "takes no mask")],
    "softmax axis": [
        (no_numbers, {}, "not offered", "cannot be read off"),
        (lambda x, mask: FROZEN(x, mask), CLOSED, "fails", "another axis"),
    ],
    "scale": [
        (no_numbers, {}, "not offered", "no plain dot"),
        (unscaled, PLAIN | {"scale": 1.0}, "holds", "no scale"),
        (Module(qkv=Transposed()), MODULE, "holds", "1/sqrt(d_head)"),
        (PerHead(), ON_X | {"heads": 2}, "holds", "0.3536"),
        (Module(odd=nn.Bilinear(5, 3, 2)), MODULE, *NOT_SQUARE),
        (Module(qkv=NARROW), MODULE, *NOT_SQUARE),
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
        (torchs(16, 2), MHA, "note", "makes 4 of 5 gradients")
    ],
    "leak, training": [
        (EvaluationOnly(), MODULE, "fails", "another future"),
        (Module(weigh=small_number), MODULE, "fails", "a finite number"),
    ],
    "leak, evaluation": [
        (sdpa, PLAIN, "not offered", "no mask for each query"),
    ],
    "padding invariance": [
        (attention, {"mask_axes": "q k"}, "not offered", "each sentence"),
    ],
    "half precision": [
        (rounded_if_half, PLAIN, "fails", "something else"),
        (lambda *qkv: sdpa(*qkv) * 1e5 / 1e5, PLAIN, "fails", "not finite"),
        (projected_outside, OUTSIDE, "not offered", "out of reach"),
    ],
    "weights agree with output": [
        (torchs(16, 1), MHA | {"heads": 1}, "holds", ""),
        (torchs(16, 2), MHA, "not offered", "means over the heads"),
        (sdpa, PLAIN, "not offered", "returns no weights"),
        (WITHOUT, MHA, "not offered", "returns no weights"),
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


def test_findings_have_words():
    for seen, words in {
        8**-0.5: "0.3536 (1/sqrt(d_head))",
        0.25: "0.2500 (1/sqrt(d_model))",
        0.1251: "0.1250 (1/d_head)",
        0.7: "0.7000",
    }.items():
        assert factor(seen, 8, 16) == f"the scores are multiplied by {words}"
    assert message(ValueError("")) == "raises ValueError: no message"
    asked = torch.ones(4, 4).tril() > 0
    assert hearing(asked & False, asked)[1] == "nothing is heard at all"
    odd = asked.clone()
    odd[0, 3] = True
    assert hearing(odd, asked) == (1 / 12, "")


def quoted(*words):
    return {repr(word): word for word in words}


call = partial(diagnose, attention)
on_x = partial(call, "x -> out")
NO_CALLS = "q v mask -> out", "q q k v -> out", "q k v mask", "q k v -> out x"
NO_MASK_AXES = quoted("n q", "n n k", "x k")
test_an_impossible_convention_is_refused = refuses(
    ("attention", diagnose, TypeError, "a function", {"str": "a"}),
    ("an option", call, TypeError, "axes, mask", {"'option'": 3}),
    ("call", call, ValueError, "a pattern such as", quoted(*NO_CALLS)),
    ("axes", call, TypeError, "a string", {"int": 3}),
    ("axes", call, ValueError, "n l d", quoted("d l n", "n l d -> d")),
    ("mask", call, ValueError, "one of keep, ignore", quoted("maybe")),
    ("mask", call, ValueError, "'keep'", quoted("none")),
    ("mask", on_x, ValueError, "'none' or 'causal'", quoted("keep")),
    ("mask_axes", call, TypeError, "a string", {"int": 3}),
    ("mask_axes", call, ValueError, "such as 'n 1 q k'", NO_MASK_AXES),
    ("width", partial(call, heads=2), ValueError, "2 heads", {"7": 7}),
    ("width", call, TypeError, "an integer", {"float": 4.0}),
    ("length", call, ValueError, "at least 4", {"3": 3}),
    ("positions", call, TypeError, "True or False", {"int": 1}),
)


FILE = """
from lib.attention import attention

def inverted(q, k, v, mask):
    return attention(q, k, v, ~mask)
"""


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("inverted", 1, "to mend first: mask polarity"),
        ("lambda *parts: attention(*parts)", 0, "nothing; no known bug"),
    ],
)
def test_a_file_can_be_named_in_a_shell(
    name, code, words, tmp_path, capsys, monkeypatch
):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    arguments = ["diagnose", f"{path}:{name}", "--width", "8"]
    monkeypatch.setattr("sys.argv", arguments)
    monkeypatch.delitem(runpy.sys.modules, shell.__name__, raising=False)
    with pytest.raises(SystemExit, match=str(code)):
        runpy.run_module("lib.diagnose", run_name="__main__")
    assert words in capsys.readouterr().out


def test_public_hands_over_to_the_conformance_table(monkeypatch, capsys):
    run = []
    monkeypatch.setattr("runpy.run_path", lambda *a, **k: run.append((a, k)))
    monkeypatch.setattr("sys.argv", ["diagnose"])
    assert shell.main(["--public", "--some"]) == 0
    assert run[0][0][0].endswith("conformance.py")
    monkeypatch.setattr("pathlib.Path.exists", lambda path: False)
    assert shell.main(["--public"]) == 2
    assert "is not there" in capsys.readouterr().out
