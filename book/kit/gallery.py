"""The gallery of chapter 18: bugs that run, and what shows them.

Not taught. Each bug is a few lines as they were written, the lines that mend
them, and one number that tells the two apart. What a page shows of a bug is
what is run here: `lines` are executed as they stand.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib.attention import attention, attention_weights
from lib.diagnose.checks import PROPERTIES, diagnose, influence
from lib.masks import causal_mask
from lib.positions import sinusoidal_positions as sinusoids

GITHUB = "https://github.com/"


@dataclass(frozen=True)
class Bug:
    """What was written, what was meant, and the number that shows it."""

    family: str
    name: str
    wrong: str
    right: str
    symptom: str  # what the number is
    look: Callable[[Callable], float]
    limit: float | int  # a right one stays at or below it
    check: str  # what to ask, in Markdown
    where: dict[str, str] = field(default_factory=dict)  # label: address
    told: dict[str, str] = field(default_factory=dict)  # explains it only

    def number(self, lines: str) -> float:
        """What is seen of the function f that the lines define."""
        names = dict(NAMES)
        exec(lines, names)  # the lines above, nobody else's
        return float(torch.as_tensor(self.look(names["f"])).detach())


@dataclass(frozen=True)
class Seen:
    """The number of one property, as `diagnose` finds it."""

    property: str
    convention: dict

    def __call__(self, f: Callable) -> float:
        finding = diagnose(f, **self.convention)[self.property]
        if finding.seen is not None:
            return finding.seen
        return math.inf if finding.verdict == "fails" else 0.0


class Divisor(Seen):
    """What scores are divided by, where `diagnose` finds a factor."""

    def __call__(self, f: Callable) -> float:
        return 1 / super().__call__(f)


def seen(name: str, **convention: object) -> Seen:
    return Seen(name, convention)


def issue(repository: str, number: int, kind: str = "issues") -> dict:
    return {f"{repository} #{number}": f"{GITHUB}{repository}/{kind}/{number}"}


def pull(repository: str, number: int) -> dict:
    return issue(repository, number, "pull")


def drawn(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator)


def rotary(x: Tensor, place: Tensor, dtype: torch.dtype) -> Tensor:
    """Pairs of columns turned; the angles are computed in one dtype."""
    speed = 10_000 ** -(torch.arange(0, x.shape[-1], 2) / x.shape[-1]).double()
    angle = (place.to(dtype)[:, None] * speed.to(dtype)).double()
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = angle.cos(), angle.sin()
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


NAMES = {
    **{"F": F, "torch": torch, "nn": nn, "math": math, "inf": math.inf},
    **{"attention": attention, "weights_of": attention_weights},
    **{"sinusoids": sinusoids, "rotary": rotary, "drawn": drawn},
    "SimpleNamespace": SimpleNamespace,
}
HEADS = {"axes": "n h l d", "heads": 2}
WIDE = {"axes": "n h l d", "heads": 2, "width": 64}
INSIDE = {"call": "x -> out", "mask": "none", "heads": 4, "width": 32}


def masked(line: str) -> str:
    """An attention with one line of its own between scores and weights."""
    return f"""def f(q, k, v, may_attend):
    scores = q @ k.mT / q.shape[-1] ** 0.5
    {line}
    return torch.softmax(scores, dim=-1) @ v
"""


def weighted(line: str, scores: str = "q @ k.mT / q.shape[-1] ** 0.5") -> str:
    """An attention whose weights are made by one line."""
    return f"""def f(q, k, v, may_attend):
    scores = ({scores}).masked_fill(~may_attend, -inf)
    {line}
    return weights @ v
"""


SOFTMAX = "weights = torch.softmax(scores, dim=-1)"
FILL = "scores = scores.masked_fill(~may_attend, -inf)"


def split(cut: str, merge: str) -> str:
    """Heads that are cut and merged by two expressions."""
    return f"""def f(x, heads=4):
    n, l, d = x.shape
    h = {cut}
    out = torch.softmax(h @ h.mT / h.shape[-1] ** 0.5, dim=-1) @ h
    return {merge}
"""


CUT = "x.view(n, l, heads, d // heads).transpose(1, 2)"
MERGE = "out.transpose(1, 2).reshape(n, l, d)"

MASKS = [
    Bug(
        "Masks",
        "the mask is inverted",
        masked("scores = scores.masked_fill(may_attend, -inf)"),
        masked(FILL),
        "share of token pairs with the wrong hearing",
        seen("mask polarity", **HEADS),
        0,
        "shout at one token: who hears it?",
        issue("rasbt/LLMs-from-scratch", 1061)
        | pull("InseeFrLab/torchTextClassifiers", 92),
    ),
    Bug(
        "Masks",
        "the mask is made and thrown away",
        masked("scores.masked_fill(~may_attend, -inf)"),
        masked(FILL),
        "share of token pairs with the wrong hearing",
        seen("mask polarity", **HEADS),
        0,
        "shout at one token: who hears it?",
        issue("opendilab/DI-engine", 333),
    ),
    Bug(
        "Masks",
        "it hides the queries, not the keys",
        masked("scores = scores.masked_fill(~may_attend.mT, -inf)"),
        masked(FILL),
        "share of token pairs with the wrong hearing",
        seen("mask polarity", **HEADS),
        0,
        "shout at one token: who hears it?",
    ),
    Bug(
        "Masks",
        "hidden scores become 0, not -inf",
        masked("scores = scores * may_attend"),
        masked(FILL),
        "share of token pairs with the wrong hearing",
        seen("mask polarity", **HEADS),
        0,
        "shout at one token: who hears it?",
        issue("Shujun-He/RibonanzaNet", 5)
        | issue("hyunwoongko/transformer", 10),
    ),
    Bug(
        "Masks",
        "the mask comes after the softmax",
        weighted(f"{SOFTMAX} * may_attend").replace(
            ".masked_fill(~may_attend, -inf)", ""
        ),
        weighted(SOFTMAX),
        "change when hidden tokens are left out",
        seen("mask before softmax", **HEADS),
        1e-4,
        "hide two tokens, or leave them out",
        pull("huggingface/pytorch-image-models", 2236),
    ),
    Bug(
        "Masks",
        "a finite number hides",
        masked("scores = scores.masked_fill(~may_attend, -20)"),
        masked(FILL),
        "change of the past, all inputs 30 times as large",
        seen("leak, evaluation", **HEADS),
        1e-4,
        "the leak test with large inputs",
    ),
    Bug(
        "Masks",
        "the last PAD counts as a word",
        """def f(lengths, length):
    return torch.arange(length) <= lengths[:, None]
""",
        """def f(lengths, length):
    return torch.arange(length) < lengths[:, None]
""",
        "tokens shown beyond the lengths",
        lambda f: (
            f(torch.tensor([3, 1]), 5).sum() - torch.tensor([3, 1]).sum()
        ),
        0,
        "`mask.sum(-1) == lengths`",
    ),
    Bug(
        "Masks",
        "the triangle is off by one",
        """def f(length):
    return torch.ones(length, length).tril(1) > 0
""",
        """def f(length):
    return torch.ones(length, length).tril() > 0
""",
        "future tokens that are shown",
        lambda f: f(5).triu(1).sum(),
        0,
        "`mask.triu(1).sum() == 0`",
        issue("octo-models/octo", 75),
    ),
    Bug(
        "Masks",
        "masks tiled in the wrong order",
        """def f(x, may_attend, heads=2):
    torch.manual_seed(0)
    mha = nn.MultiheadAttention(16, heads, batch_first=True)
    mask = ~may_attend.repeat(heads, 1, 1)
    return mha(x, x, x, attn_mask=mask)[0]
""",
        """def f(x, may_attend, heads=2):
    torch.manual_seed(0)
    mha = nn.MultiheadAttention(16, heads, batch_first=True)
    mask = ~may_attend.repeat_interleave(heads, 0)
    return mha(x, x, x, attn_mask=mask)[0]
""",
        "change when a sentence stands in a batch",
        seen(
            "padding invariance",
            call="x mask -> out",
            mask_axes="n q k",
            projections=True,
        ),
        1e-4,
        "each sentence alone, and in the batch",
        pull("line/lighthouse", 77) | issue("ArrowLuo/CLIP4Clip", 22),
    ),
    Bug(
        "Masks",
        "an empty row becomes a mean",
        masked("scores = scores.masked_fill(~may_attend, -1e9)"),
        """def f(q, k, v, may_attend):
    return attention(q, k, v, may_attend)
""",
        "change when only hidden values change",
        seen("fully masked row", **HEADS),
        1e-4,
        "hide everything, and change what is hidden",
        issue("NVIDIA/apex", 1390),
    ),
]
AXES = [
    Bug(
        "Scale and axis",
        "the softmax runs over the queries",
        weighted("weights = torch.softmax(scores, dim=-2)"),
        weighted(SOFTMAX),
        "distance of a query's weights from sum one",
        seen("softmax axis", **HEADS),
        0.01,
        "`weights.sum(-1) == 1`",
        issue("labmlai/annotated_deep_learning_paper_implementations", 146)
        | issue("PetrochukM/PyTorch-NLP", 2),
    ),
    Bug(
        "Scale and axis",
        "the softmax runs over the heads",
        weighted("weights = torch.softmax(scores, dim=1)"),
        weighted(SOFTMAX),
        "distance of a query's weights from sum one",
        seen("softmax axis", **HEADS),
        0.01,
        "`weights.sum(-1) == 1`",
    ),
    Bug(
        "Scale and axis",
        "the scale is forgotten",
        weighted(SOFTMAX, "q @ k.mT"),
        weighted(SOFTMAX),
        "scale; right is 1/sqrt(8)",
        seen("scale", **HEADS),
        0.36,
        "log of two weights against q · k",
        pull("huggingface/blog", 2893),
    ),
    Bug(
        "Scale and axis",
        "the scale of the whole width",
        weighted(SOFTMAX, "q @ k.mT / 64**0.5"),
        weighted(SOFTMAX, "q @ k.mT / 32**0.5"),
        "divisor of the scores; right is sqrt(32)",
        Divisor("scale", WIDE),
        5.7,
        "log of two weights against q · k",
        pull("karpathy/ng-video-lecture", 6)
        | issue("aladdinpersson/Machine-Learning-Collection", 30)
        | issue("chelsea0x3b/dfdx", 171),
    ),
    Bug(
        "Scale and axis",
        "the softmax overflows",
        weighted("weights = scores.exp() / scores.exp().sum(-1, True)"),
        weighted(SOFTMAX),
        "calls that fail if scores are large",
        seen("call", **HEADS),
        0,
        "`f(300 * x).isfinite().all()`",
    ),
]
SHAPES = [
    Bug(
        "Shapes",
        "view for transpose",
        split("x.view(n, heads, l, d // heads)", MERGE),
        split(CUT, MERGE),
        "share of the output that is no mixture of values",
        seen("view or transpose", **INSIDE),
        0.01,
        "solve `output = weights @ values`",
        issue("reczoo/FuxiCTR", 30),
    ),
    Bug(
        "Shapes",
        "the heads are merged without a transpose",
        split(CUT, "out.reshape(n, l, d)"),
        split(CUT, MERGE),
        "share of the output that is no mixture of values",
        seen("view or transpose", **INSIDE),
        0.01,
        "solve `output = weights @ values`",
        issue("ajhalthor/Transformer-Neural-Network", 1),
    ),
    Bug(
        "Shapes",
        "a forgotten transpose",
        split("x.view(n, l, heads, d // heads)", "out.reshape(n, l, d)"),
        split(CUT, MERGE),
        "share of token pairs that do not hear each other",
        seen("view or transpose", **INSIDE),
        0.01,
        "shout at one token: who hears it?",
    ),
    Bug(
        "Shapes",
        "K.T on a tensor with a batch",
        """def f(q, k, v):
    return torch.softmax(q @ k.permute(2, 1, 0), -1) @ v  # what k.T does
""",
        """def f(q, k, v):
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
""",
        "calls that fail",
        seen("call", call="q k v -> out", mask="none"),
        0,
        "call it with unlike sizes",
    ),
    Bug(
        "Shapes",
        "a fused projection of queries only",
        """def f(q, k, v, W=drawn(48, 16) / 4):
    q, k, v = (q @ W.T).chunk(3, dim=-1)
    return attention(q, k, v)
""",
        """def f(q, k, v, W=drawn(48, 16) / 4):
    q, k, v = (x @ w.T for x, w in zip((q, k, v), W.chunk(3)))
    return attention(q, k, v)
""",
        "sources that are not listened to",
        seen(
            "cross lengths",
            call="q k v -> out",
            mask="none",
            projections=True,
        ),
        0,
        "change the keys: does the output move?",
    ),
    Bug(
        "Shapes",
        "a mask of any shape is accepted",
        """def f(side):
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    mask = torch.zeros(side, side)
    return layer(drawn(1, 3, 8), src_mask=mask, is_causal=True)
""",
        """def f(side):
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    mask = torch.zeros(side, side)
    return layer(drawn(1, 3, 8), src_mask=mask)
""",
        "wrong shapes of three that are taken for 3 tokens",
        lambda f: sum(accepted(f, side) for side in (2, 5, 7)),
        0,
        "pass a mask of a wrong shape",
        issue("pytorch/pytorch", 131254),
    ),
]


def accepted(f: Callable, *inputs: object) -> bool:
    """Does it run?"""
    try:
        f(*inputs)
    except Exception:
        return False
    return True


HALF = [
    Bug(
        "Half precision",
        "-1e9 in float16",
        masked("scores = scores.masked_fill(~may_attend, -1e9)"),
        masked(FILL),
        "calls in float16 that fail",
        seen("half precision", **HEADS),
        0.1,
        "`f(q.half(), k.half(), v.half(), mask)`",
        issue("facebookresearch/fairseq", 3575)
        | issue("bentrevett/pytorch-seq2seq", 191),
    ),
    Bug(
        "Half precision",
        "rotary angles in half precision",
        """def f(q, k, place):
    q, k = (rotary(x, place, torch.float16) for x in (q, k))
    return weights_of(q, k)
""",
        """def f(q, k, place):
    q, k = (rotary(x, place, torch.float64) for x in (q, k))
    return weights_of(q, k)
""",
        "change of the weights when all places move by 2,000",
        lambda f: moved_by_shift(f, 2000),
        1e-6,
        "shift all places: nothing may change",
        issue("EleutherAI/gpt-neox", 1003)
        | issue("huggingface/transformers", 29496),
    ),
]


def moved_by_shift(f: Callable, shift: int) -> Tensor:
    """Rotary attention depends on distances alone: what a shift changes."""
    q, k = drawn(8, 32).double(), drawn(8, 32, seed=1).double()
    place = torch.arange(8)
    return (f(q, k, place + shift) - f(q, k, place)).abs().max()


CLASS = """class Attention(nn.Module):
    def forward(self, x):
        mask = torch.ones(len(x[0]), len(x[0])).tril() > 0{mask}
        attend = F.scaled_dot_product_attention
        return attend(x, x, x, mask{dropout})
f = Attention()
"""
DROPPED = """
        if not self.training:
            mask = None"""
CAUSAL = {"call": "x -> out", "mask": "causal", "projections": False}


def smoothed(f: Callable) -> Tensor:
    """How far a smoothed loss is from torch's."""
    logits, target = drawn(3, 5), torch.tensor([0, 3, 1])
    right = F.cross_entropy(logits, target, label_smoothing=0.1)
    return (f(logits, target) - right).abs()


TRAINING = [
    Bug(
        "Training",
        "dropout stays on in evaluation",
        CLASS.format(mask="", dropout=", 0.1"),
        CLASS.format(mask="", dropout=", 0.1 * self.training"),
        "difference of two evaluations",
        seen("dropout off in evaluation", **CAUSAL),
        0,
        "call it twice: equal?",
        pull("huggingface/pytorch-image-models", 1978),
        told=issue("pytorch/pytorch", 124464),
    ),
    Bug(
        "Training",
        "the mask is used in training only",
        CLASS.format(mask=DROPPED, dropout=""),
        CLASS.format(mask="", dropout=""),
        "change of the past by another future, in evaluation",
        seen("leak, evaluation", **CAUSAL),
        1e-4,
        "the leak test after `model.eval()`",
        {
            "d2l-ai/d2l-en, transformer.md": f"{GITHUB}d2l-ai/d2l-en/blob/"
            "master/chapter_attention-mechanisms-and-transformers/"
            "transformer.md"
        },
    ),
    Bug(
        "Training",
        "PAD counts in the loss",
        """def f(logits, target, pad_id=0):
    return F.cross_entropy(logits.mT, target)
""",
        """def f(logits, target, pad_id=0):
    return F.cross_entropy(logits.mT, target, ignore_index=pad_id)
""",
        "change of the loss by two more PADs",
        lambda f: (
            f(drawn(2, 5, 9), torch.tensor([[3, 4, 2, 0, 0], [5, 2, 0, 0, 0]]))
            - f(drawn(2, 5, 9)[:, :3], torch.tensor([[3, 4, 2], [5, 2, 0]]))
        ).abs(),
        1e-6,
        "pad the batch further: the loss stays",
        issue("lukas-blecher/LaTeX-OCR", 305),
    ),
    Bug(
        "Training",
        "the target is not shifted",
        """def f(text):
    return text[:, :-1], text[:, :-1]  # what is read, what is to be said
""",
        """def f(text):
    return text[:, :-1], text[:, 1:]  # what is read, what is to be said
""",
        "places where the answer is what was just read",
        lambda f: (
            f(torch.arange(6)[None])[0] == f(torch.arange(6)[None])[1]
        ).sum(),
        0,
        "`(read == say).float().mean()`",
        issue("Project-MONAI/GenerativeModels", 314),
    ),
    Bug(
        "Training",
        "embeddings without sqrt(d_model)",
        """def f(table, ids):
    return table[ids]
""",
        """def f(table, ids):
    return table[ids] * table.shape[1] ** 0.5
""",
        "norm of a position over the norm of a word",
        lambda f: (
            sinusoids(7, 64).norm(dim=1).mean()
            / f(drawn(9, 64) / 8, torch.arange(7)).norm(dim=1).mean()
        ),
        1.0,
        "compare the two norms that are added",
        told=issue("harvardnlp/annotated-transformer", 60),
    ),
    Bug(
        "Training",
        "label smoothing over V - 1",
        """def f(logits, target, smoothing=0.1):
    p = F.one_hot(target, logits.shape[-1]).float()
    q = torch.where(p > 0, 1 - smoothing, smoothing / (p.shape[-1] - 1))
    return -(q * logits.log_softmax(-1)).sum(-1).mean()
""",
        """def f(logits, target, smoothing=0.1):
    p = F.one_hot(target, logits.shape[-1]).float()
    q = (1 - smoothing) * p + smoothing / p.shape[-1]
    return -(q * logits.log_softmax(-1)).sum(-1).mean()
""",
        "distance from torch's loss",
        smoothed,
        1e-6,
        "compare with `F.cross_entropy(label_smoothing=)`",
        told=issue("k2-fsa/icefall", 107)
        | {
            "facebookresearch/fairseq, label_smoothed_cross_entropy.py": (
                f"{GITHUB}facebookresearch/fairseq/blob/main/fairseq/"
                "criterions/label_smoothed_cross_entropy.py"
            )
        },
    ),
    Bug(
        "Training",
        "a mean of means over uneven batches",
        """def f(losses):
    return torch.stack([part.mean() for part in losses]).mean()
""",
        """def f(losses):
    return torch.cat(losses).mean()
""",
        "distance from the loss of the whole batch",
        lambda f: (
            f([drawn(2), drawn(9, seed=1)])
            - torch.cat([drawn(2), drawn(9, seed=1)]).mean()
        ).abs(),
        1e-6,
        "one batch of 11, or one of 2 and one of 9",
        pull("huggingface/transformers", 34191)
        | pull("meta-pytorch/torchtune", 1875),
    ),
]


def from_torch_norm(f: Callable) -> Tensor:
    x = drawn(4, 8)
    return (f(x) - F.layer_norm(x, (8,))).abs().max()


NORMS = [
    Bug(
        "Norms",
        "LayerNorm with the unbiased deviation",
        """def f(x, eps=1e-6):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (x.std(-1, keepdim=True) + eps)
""",
        """def f(x, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True)
    return centred / (variance + eps).sqrt()
""",
        "distance from nn.LayerNorm at width 8",
        from_torch_norm,
        1e-5,
        "compare with `nn.LayerNorm`",
        pull("harvardnlp/annotated-transformer", 119)
        | issue("hyunwoongko/transformer", 7),
    ),
    Bug(
        "Norms",
        "f(x) + LayerNorm(x)",
        """def f(x, sublayer, norm):
    return sublayer(x) + norm(x)
""",
        """def f(x, sublayer, norm):
    return x + sublayer(norm(x))
""",
        "share of x that a sub-layer of zeros loses",
        lambda f: (
            1
            - f(10 * drawn(4, 8), torch.zeros_like, nn.LayerNorm(8)).norm()
            / (10 * drawn(4, 8)).norm()
        ),
        0,
        "a sub-layer of zeros must hand x on",
    ),
    Bug(
        "Norms",
        "a number where a configuration is expected",
        """def f(config):
    return Norm(config.d_model)

class Norm(nn.LayerNorm):
    def __init__(self, config):
        super().__init__(config.d_model)
""",
        """def f(config):
    return Norm(config)

class Norm(nn.LayerNorm):
    def __init__(self, config):
        super().__init__(config.d_model)
""",
        "constructions that fail",
        lambda f: not accepted(f, SimpleNamespace(d_model=8)),
        0,
        "build every class once in a test",
    ),
]


STEPS = {
    (): {"a": -0.6, "b": -0.9},
    ("a",): {".": -0.7, "c": -1.4},
    ("b",): {".": -1.2, "d": -0.8},
    ("a", "c"): {".": -2.0},
    ("b", "d"): {".": -0.2},
}


def beams(stop: str) -> str:
    """A beam search over a table of steps; what ends it is one line."""
    return f"""def f(steps, width=2):
    alive, ended = [((), 0.0)], []
    while alive{stop}:
        longer = [(text + (token,), total + log_p)
                  for text, total in alive
                  for token, log_p in steps[text].items()]
        longer.sort(key=lambda pair: -pair[1])
        ended += [pair for pair in longer if pair[0][-1] == "."]
        alive = [p for p in longer if p[0][-1] != "."][:width]
    return max(total / len(text) for text, total in ended)
"""


def changed_by_the_future(f: Callable) -> Tensor:
    """How far rows 0 to 4 move when the last of six tokens is exchanged."""
    x, mask = drawn(6, 8), causal_mask(6)[0, 0]
    other = torch.cat([x[:5], drawn(1, 8, seed=1)])
    return (f(x, mask) - f(other, mask))[:5].abs().max()


DECODING = [
    Bug(
        "Decoding",
        "every new token stands at place 0",
        """def f(embedded, written):
    return embedded + sinusoids(1, embedded.shape[-1])
""",
        """def f(embedded, written):
    table = sinusoids(written + 1, embedded.shape[-1])
    return embedded + table[-1:]
""",
        "change against the whole text, row 5",
        lambda f: (
            (f(drawn(6, 8)[5:], 5) - (drawn(6, 8) + sinusoids(6, 8))[5:])
            .abs()
            .max()
        ),
        1e-6,
        "token by token equals all at once",
        pull("ml-explore/mlx-lm", 93),
    ),
    Bug(
        "Decoding",
        "is_causal with one query and many keys",
        """def f(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
""",
        """def f(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)
""",
        "change against the last row of the whole",
        lambda f: (
            (
                f(drawn(6, 8)[5:], drawn(6, 8, seed=1), drawn(6, 8, seed=2))
                - F.scaled_dot_product_attention(
                    *(drawn(6, 8, seed=s) for s in range(3)), is_causal=True
                )[5:]
            )
            .abs()
            .max()
        ),
        1e-5,
        "token by token equals all at once",
        told=issue("pytorch/pytorch", 103082),
    ),
    Bug(
        "Decoding",
        "maps of another forward pass",
        """def f(q, k, v, may_attend):
    return attention(q, k, v, may_attend), weights_of(q, k)
""",
        """def f(q, k, v, may_attend):
    weights = weights_of(q, k, may_attend)
    return weights @ v, weights
""",
        "share of the output that the maps do not explain",
        seen(
            "weights agree with output",
            call="q k v mask -> out weights",
            mask_axes="n q k",
        ),
        0.01,
        "`output == weights @ values`",
    ),
    Bug(
        "Decoding",
        "maps of a stack that has lost its mask",
        """def f(x, may_attend, layers=2):
    maps = []
    for _ in range(layers):
        maps.append(weights_of(x, x, may_attend))
        x = attention(x, x, x)
    return maps
""",
        """def f(x, may_attend, layers=2):
    maps = []
    for _ in range(layers):
        maps.append(weights_of(x, x, may_attend))
        x = attention(x, x, x, may_attend)
    return maps
""",
        "change of the second map by another future",
        lambda f: changed_by_the_future(lambda x, mask: f(x, mask)[1]),
        1e-6,
        "change a hidden token: does the map of an earlier token move?",
        {
            "phlippe/uvadlc_notebooks, tutorial 6": f"{GITHUB}phlippe/"
            "uvadlc_notebooks/blob/master/docs/tutorial_notebooks/tutorial6/"
            "Transformers_and_MHAttention.ipynb"
        },
    ),
    Bug(
        "Decoding",
        "a beam search that stops too early",
        beams(" and len(ended) < width"),
        beams(""),
        "score by which a text that exists is better",
        lambda f: -1.9 / 3 - f(STEPS),
        1e-6,
        "compare with all texts of a small table",
        issue("OpenNMT/OpenNMT-py", 1320) | pull("joeynmt/joeynmt", 149),
    ),
    Bug(
        "Decoding",
        "left padding moves the places",
        """def f(shown):
    return torch.arange(shown.shape[1]).expand_as(shown)
""",
        """def f(shown):
    return (shown.cumsum(1) - 1).clamp(min=0)
""",
        "place of the first word after three PADs",
        lambda f: f(torch.tensor([[0, 0, 0, 1, 1, 1]]))[0, 3],
        0,
        "the first real token stands at place 0",
        pull("ndif-team/nnsight", 673),
    ),
]
UNRUN = [
    Bug(
        "Code that never ran",
        "a block that takes no mask",
        """def f(x, mask=None):
    return attention(x, x, x)  # the mask ends here
""",
        """def f(x, mask=None):
    return attention(x, x, x, mask)
""",
        "share of token pairs with the wrong hearing",
        seen("mask polarity", call="x mask -> out", mask_axes="n q k"),
        0,
        "does the output depend on the mask?",
        issue("keras-team/keras", 23038)
        | issue("facebookresearch/xformers", 103),
    ),
    Bug(
        "Code that never ran",
        "an attribute that is never set",
        """class Attention(nn.Module):
    def __init__(self, is_causal=True):
        super().__init__()
        self.causal = is_causal

    def forward(self, q, k, v):
        is_causal = getattr(self, "is_causal", False)
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
f = Attention()
""",
        """class Attention(nn.Module):
    def __init__(self, is_causal=True):
        super().__init__()
        self.is_causal = is_causal

    def forward(self, q, k, v):
        is_causal = self.is_causal
        return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
f = Attention()
""",
        "change of the past by another future",
        seen(
            "leak, evaluation",
            call="q k v -> out",
            mask="causal",
            projections=False,
        ),
        1e-4,
        "the leak test with the flag on, and off",
        issue("huggingface/transformers", 48172),
    ),
    Bug(
        "Code that never ran",
        "a misspelt method for 3-D masks",
        """def f(mask):
    if mask.ndim == 3:
        mask = mask.unsqeeze(1)
    return mask
""",
        """def f(mask):
    if mask.ndim == 3:
        mask = mask.unsqueeze(1)
    return mask
""",
        "ranks of three that fail",
        lambda f: sum(
            not accepted(f, torch.ones([2] * rank)) for rank in (2, 3, 4)
        ),
        0,
        "call it once for every branch",
    ),
    Bug(
        "Code that never ran",
        "a keyword that the constructor lacks",
        """def f():
    return Block(d_model=8, heads=2, dropout=0.1)

class Block(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
""",
        """def f():
    return Block(d_model=8, heads=2, dropout=0.1)

class Block(nn.Module):
    def __init__(self, d_model, heads, dropout):
        super().__init__()
""",
        "constructions that fail",
        lambda f: not accepted(f),
        0,
        "build every class once in a test",
    ),
]
GALLERY = [*MASKS, *AXES, *SHAPES, *HALF, *TRAINING, *NORMS, *DECODING, *UNRUN]


def bug(name: str) -> Bug:
    """A bug of the gallery by its name."""
    return next(one for one in GALLERY if one.name == name)


def function(lines: str) -> Callable:
    """The function f that some lines define."""
    names = dict(NAMES)
    exec(lines, names)
    return names["f"]


def spread() -> tuple[list[str], list[str], list[set], list[set]]:
    """What `diagnose` says about the attentions of the gallery.

    Their names, the properties that fail for any of them, those that fail
    for each, and those to be mended first.
    """
    inside = [one for one in GALLERY if isinstance(one.look, Seen)]
    reports = [
        diagnose(function(one.wrong), **one.look.convention) for one in inside
    ]
    fails = [set(report.fails) for report in reports]
    names = [name for name in PROPERTIES if any(name in f for f in fails)]
    causes = [set(report.causes) for report in reports]
    return [one.name for one in inside], names, fails, causes


def listeners(length: int = 6) -> dict[str, Tensor]:
    """Who hears whom, in attentions that were all asked to be causal."""
    x, mask = drawn(1, length, 12), causal_mask(length)[0]
    one_off = "torch.ones_like(scores).tril(1) == 0"
    view = f"""def f(q, k, v, may_attend):
    q, k, v = (x.view(1, 3, {length}, 4) for x in (q, k, v))
    out = attention(q, k, v, may_attend)
    return out.transpose(1, 2).reshape(1, {length}, 12)
"""
    lines = {
        "as it should be": masked(FILL),
        "inverted": bug("the mask is inverted").wrong,
        "thrown away": bug("the mask is made and thrown away").wrong,
        "hides queries": bug("it hides the queries, not the keys").wrong,
        "off by one": masked(f"scores = scores.masked_fill({one_off}, -inf)"),
        "after softmax": bug("the mask comes after the softmax").wrong,
        "softmax on queries": bug("the softmax runs over the queries").wrong,
        "view, not transpose": view,
    }
    tables = {}
    for name, text in lines.items():
        f = function(text)
        table = influence(
            lambda x, m, f=f: f(x, x, x, m).nan_to_num(), x, mask
        )
        tables[name] = table
    return tables
