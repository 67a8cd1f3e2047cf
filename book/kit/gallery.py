"""The gallery of chapter 20: bugs that run, and what shows them.

Not taught. Each bug is a difference: the lines that were written (-), those
that mend them (+) and those that both have, and one number that tells the two
apart. What a page shows of a bug is what is run here: the lines are executed
as they stand.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lib.attention import attention, attention_weights
from lib.delta import chunked_delta_rule, delta_rule
from lib.diagnose.checks import PROPERTIES, diagnose, influence
from lib.experts import balancing_loss
from lib.masks import causal_mask
from lib.positions import sinusoidal_positions as sinusoids


@dataclass(frozen=True)
class Bug:
    """What was written, what was meant, and the number that shows it."""

    lines: str  # the difference
    symptom: str  # what the number is
    look: Callable[[Callable], float]
    check: str  # what to ask, in Markdown
    where: str = ""  # it was seen: paths on GitHub, with spaces between
    told: str = ""  # it is explained
    limit: float = 1e-5  # a right number stays at or below it
    name: str = ""
    family: str = ""

    @property
    def wrong(self) -> str:
        return without("+", self.lines)

    @property
    def right(self) -> str:
        return without("-", self.lines)

    def number(self, lines: str) -> float:
        """What is seen of the function f that the lines define."""
        return float(torch.as_tensor(self.look(function(lines))).detach())


def without(mark: str, lines: str) -> str:
    """One side of a difference."""
    kept = [line[2:] for line in lines.splitlines() if line[:1] != mark]
    return "\n".join(kept)


def function(lines: str) -> Callable:
    """The function f that some lines define."""
    names = dict(NAMES)
    exec(lines, names)  # the lines above, nobody else's
    return names["f"]


class Seen:
    """The number of one property, as `diagnose` finds it."""

    def __init__(self, name: str, **convention: object):
        self.property, self.convention = name, convention

    def __call__(self, f: Callable) -> float:
        finding = diagnose(f, **self.convention)[self.property]
        if finding.seen is not None:
            return finding.seen
        return math.inf if finding.verdict == "fails" else 0.0


class Divisor(Seen):
    """What scores are divided by, where `diagnose` finds a factor."""

    def __call__(self, f: Callable) -> float:
        return 1 / super().__call__(f)


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
    **{"delta_rule": delta_rule, "chunked_delta_rule": chunked_delta_rule},
    "balancing_loss": balancing_loss,
    "SimpleNamespace": SimpleNamespace,
}
HEADS = {"axes": "n h l d", "heads": 2}
ON_X = {"call": "x -> out", "mask": "none", "heads": 4, "width": 32}
ON_QKV = {"call": "q k v -> out", "mask": "none"}
CAUSAL = {"mask": "causal", "projections": False}


def masked(line: str) -> str:
    """An attention in which one line hides what may not be seen."""
    return f"""\
  def f(q, k, v, may_attend):
      scores = q @ k.mT / q.shape[-1] ** 0.5
-     {line}
+     scores = scores.masked_fill(~may_attend, -inf)
      return torch.softmax(scores, dim=-1) @ v
"""


def weighted(weights: str) -> str:
    """An attention in which one line makes weights of scores."""
    return f"""\
  def f(q, k, v, may_attend):
      scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~may_attend, -inf)
-     weights = {weights}
+     weights = torch.softmax(scores, dim=-1)
      return weights @ v
"""


def accepted(f: Callable, *inputs: object) -> bool:
    """Does it run?"""
    try:
        f(*inputs)
    except Exception:
        return False
    return True


# Numbers in which several bugs show: what it is, how to look, what to ask.
SHOUT = "shout at one token: who hears it?"
HEARING = (
    "share of token pairs with the wrong hearing",
    Seen("mask polarity", **HEADS),
    SHOUT,
)
SUM_ONE = (
    "distance of a query's weights from sum one",
    Seen("softmax axis", **HEADS),
    "`weights.sum(-1) == 1`",
)
MIXTURE = (
    "share of the output that is no mixture of values",
    Seen("view or transpose", **ON_X),
    "solve `output = weights @ values`",
)
MASKS = {
    "the mask is inverted": Bug(
        masked("scores = scores.masked_fill(may_attend, -inf)"),
        *HEARING,
        "rasbt/LLMs-from-scratch/issues/1061 "
        "InseeFrLab/torchTextClassifiers/pull/92",
    ),
    "the mask is made and thrown away": Bug(
        masked("scores.masked_fill(~may_attend, -inf)"),
        *HEARING,
        "opendilab/DI-engine/issues/333",
    ),
    "it hides the queries, not the keys": Bug(
        masked("scores = scores.masked_fill(~may_attend.mT, -inf)"),
        *HEARING,
    ),
    "hidden scores become 0, not -inf": Bug(
        masked("scores = scores * may_attend"),
        *HEARING,
        "Shujun-He/RibonanzaNet/issues/5 hyunwoongko/transformer/issues/10",
    ),
    "the mask comes after the softmax": Bug(
        """\
  def f(q, k, v, may_attend):
-     scores = (q @ k.mT / q.shape[-1] ** 0.5)
+     scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~may_attend, -inf)
-     weights = torch.softmax(scores, dim=-1) * may_attend
+     weights = torch.softmax(scores, dim=-1)
      return weights @ v
""",
        "change when hidden tokens are left out",
        Seen("mask before softmax", **HEADS),
        "hide two tokens, or leave them out",
        "huggingface/pytorch-image-models/pull/2236",
    ),
    "a finite number hides": Bug(
        masked("scores = scores.masked_fill(~may_attend, -20)"),
        "change of the past, all inputs 30 times as large",
        Seen("leak, evaluation", **HEADS),
        "the leak test with large inputs",
    ),
    "the last PAD counts as a word": Bug(
        """\
  def f(lengths, length):
-     return torch.arange(length) <= lengths[:, None]
+     return torch.arange(length) < lengths[:, None]
""",
        "tokens shown beyond the lengths",
        lambda f: f(torch.tensor([3, 1]), 5).sum() - (3 + 1),
        "`mask.sum(-1) == lengths`",
    ),
    "the triangle is off by one": Bug(
        """\
  def f(length):
-     return torch.ones(length, length).tril(1) > 0
+     return torch.ones(length, length).tril() > 0
""",
        "future tokens that are shown",
        lambda f: f(5).triu(1).sum(),
        "`mask.triu(1).sum() == 0`",
        "octo-models/octo/issues/75",
    ),
    "masks tiled in the wrong order": Bug(
        """\
  def f(x, may_attend, heads=2):
      torch.manual_seed(0)
      mha = nn.MultiheadAttention(16, heads, batch_first=True)
-     mask = ~may_attend.repeat(heads, 1, 1)
+     mask = ~may_attend.repeat_interleave(heads, 0)
      return mha(x, x, x, attn_mask=mask)[0]
""",
        "change when a sentence stands in a batch",
        Seen(
            "padding invariance",
            call="x mask -> out",
            mask_axes="n q k",
            projections=True,
        ),
        "each sentence alone, and in the batch",
        "line/lighthouse/pull/77 ArrowLuo/CLIP4Clip/issues/22",
    ),
    "an empty row becomes a mean": Bug(
        """\
  def f(q, k, v, may_attend):
+     return attention(q, k, v, may_attend)
-     scores = q @ k.mT / q.shape[-1] ** 0.5
-     scores = scores.masked_fill(~may_attend, -1e9)
-     return torch.softmax(scores, dim=-1) @ v
""",
        "change when only hidden values change",
        Seen("fully masked row", **HEADS),
        "hide everything, and change what is hidden",
        "NVIDIA/apex/issues/1390",
    ),
}
AXES = {
    "the softmax runs over the queries": Bug(
        weighted("torch.softmax(scores, dim=-2)"),
        *SUM_ONE,
        "labmlai/annotated_deep_learning_paper_implementations/issues/146 "
        "PetrochukM/PyTorch-NLP/issues/2",
    ),
    "the softmax runs over the heads": Bug(
        weighted("torch.softmax(scores, dim=1)"),
        *SUM_ONE,
    ),
    "the scale is forgotten": Bug(
        """\
  def f(q, k, v, may_attend):
-     scores = (q @ k.mT).masked_fill(~may_attend, -inf)
+     scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~may_attend, -inf)
      weights = torch.softmax(scores, dim=-1)
      return weights @ v
""",
        "scale; right is 1/sqrt(8)",
        Seen("scale", **HEADS),
        "log of two weights against q · k",
        "huggingface/blog/pull/2893",
        limit=0.36,
    ),
    "the scale of the whole width": Bug(
        """\
  def f(q, k, v, may_attend):
-     scores = (q @ k.mT / 64**0.5).masked_fill(~may_attend, -inf)
+     scores = (q @ k.mT / 32**0.5).masked_fill(~may_attend, -inf)
      weights = torch.softmax(scores, dim=-1)
      return weights @ v
""",
        "divisor of the scores; right is sqrt(32)",
        Divisor("scale", width=64, **HEADS),
        "log of two weights against q · k",
        "karpathy/ng-video-lecture/pull/6 "
        "aladdinpersson/Machine-Learning-Collection/issues/30 "
        "chelsea0x3b/dfdx/issues/171",
        limit=5.7,
    ),
    "the softmax overflows": Bug(
        weighted("scores.exp() / scores.exp().sum(-1, True)"),
        "calls that fail if scores are large",
        Seen("call", **HEADS),
        "`f(300 * x).isfinite().all()`",
    ),
}
SHAPES = {
    "view for transpose": Bug(
        """\
  def f(x, heads=4):
      n, l, d = x.shape
-     h = x.view(n, heads, l, d // heads)
+     h = x.view(n, l, heads, d // heads).transpose(1, 2)
      out = torch.softmax(h @ h.mT / h.shape[-1] ** 0.5, dim=-1) @ h
      return out.transpose(1, 2).reshape(n, l, d)
""",
        *MIXTURE,
        "reczoo/FuxiCTR/issues/30",
    ),
    "the heads are merged without a transpose": Bug(
        """\
  def f(x, heads=4):
      n, l, d = x.shape
      h = x.view(n, l, heads, d // heads).transpose(1, 2)
      out = torch.softmax(h @ h.mT / h.shape[-1] ** 0.5, dim=-1) @ h
-     return out.reshape(n, l, d)
+     return out.transpose(1, 2).reshape(n, l, d)
""",
        *MIXTURE,
        "ajhalthor/Transformer-Neural-Network/issues/1",
    ),
    "a forgotten transpose": Bug(
        """\
  def f(x, heads=4):
      n, l, d = x.shape
-     h = x.view(n, l, heads, d // heads)
+     h = x.view(n, l, heads, d // heads).transpose(1, 2)
      out = torch.softmax(h @ h.mT / h.shape[-1] ** 0.5, dim=-1) @ h
-     return out.reshape(n, l, d)
+     return out.transpose(1, 2).reshape(n, l, d)
""",
        "share of token pairs that do not hear each other",
        Seen("view or transpose", **ON_X),
        SHOUT,
    ),
    "K.T on a tensor with a batch": Bug(
        """\
  def f(q, k, v):
-     return torch.softmax(q @ k.permute(2, 1, 0), -1) @ v  # what k.T does
+     return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v
""",
        "calls that fail",
        Seen("call", **ON_QKV),
        "call it with unlike sizes",
    ),
    "a fused projection of queries only": Bug(
        """\
  def f(q, k, v, W=drawn(48, 16) / 4):
-     q, k, v = (q @ W.T).chunk(3, dim=-1)
+     q, k, v = (x @ w.T for x, w in zip((q, k, v), W.chunk(3)))
      return attention(q, k, v)
""",
        "sources that are not listened to",
        Seen("cross lengths", projections=True, **ON_QKV),
        "change the keys: does the output move?",
    ),
    "a mask of any shape is accepted": Bug(
        """\
  def f(side):
      layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
      mask = torch.zeros(side, side)
-     return layer(drawn(1, 3, 8), src_mask=mask, is_causal=True)
+     return layer(drawn(1, 3, 8), src_mask=mask)
""",
        "wrong shapes of three that are taken for 3 tokens",
        lambda f: sum(accepted(f, side) for side in (2, 5, 7)),
        "pass a mask of a wrong shape",
        "pytorch/pytorch/issues/131254",
    ),
}


def moved_by_shift(f: Callable) -> Tensor:
    """Rotary attention depends on distances alone: what a shift changes."""
    q, k = drawn(8, 32).double(), drawn(8, 32, seed=1).double()
    place = torch.arange(8)
    return (f(q, k, place + 2000) - f(q, k, place)).abs().max()


HALF = {
    "-1e9 in float16": Bug(
        masked("scores = scores.masked_fill(~may_attend, -1e9)"),
        "calls in float16 that fail",
        Seen("half precision", **HEADS),
        "`f(q.half(), k.half(), v.half(), mask)`",
        "facebookresearch/fairseq/issues/3575 "
        "bentrevett/pytorch-seq2seq/issues/191",
        limit=0.1,
    ),
    "rotary angles in half precision": Bug(
        """\
  def f(q, k, place):
-     q, k = (rotary(x, place, torch.float16) for x in (q, k))
+     q, k = (rotary(x, place, torch.float64) for x in (q, k))
      return weights_of(q, k)
""",
        "change of the weights when all places move by 2,000",
        moved_by_shift,
        "shift all places: nothing may change",
        "EleutherAI/gpt-neox/issues/1003 "
        "huggingface/transformers/issues/29496",
    ),
}


def changed_by_padding(f: Callable) -> Tensor:
    """How far a loss moves if two more PADs are read."""
    logits, target = drawn(2, 5, 9), torch.tensor([[3, 4, 2], [5, 2, 0]])
    return (f(logits, F.pad(target, (0, 2))) - f(logits[:, :3], target)).abs()


def position_over_word(f: Callable) -> Tensor:
    """The norm of a position, where that of a word is 1."""
    words = f(drawn(9, 64) / 8, torch.arange(7))
    return sinusoids(7, 64).norm(dim=1).mean() / words.norm(dim=1).mean()


def smoothed(f: Callable) -> Tensor:
    """How far a smoothed loss is from torch's."""
    logits, target = drawn(3, 5), torch.tensor([0, 3, 1])
    right = F.cross_entropy(logits, target, label_smoothing=0.1)
    return (f(logits, target) - right).abs()


def from_mean(f: Callable) -> Tensor:
    """How far the loss of two parts is from that of the whole."""
    parts = [drawn(2), drawn(9, seed=1)]
    return (f(parts) - torch.cat(parts).mean()).abs()


TRAINING = {
    "dropout stays on in evaluation": Bug(
        """\
  class Attention(nn.Module):
      def forward(self, x):
          mask = torch.ones(len(x[0]), len(x[0])).tril() > 0
          attend = F.scaled_dot_product_attention
-         return attend(x, x, x, mask, 0.1)
+         return attend(x, x, x, mask, 0.1 * self.training)
  f = Attention()
""",
        "difference of two evaluations",
        Seen("dropout off in evaluation", call="x -> out", **CAUSAL),
        "call it twice: equal?",
        "huggingface/pytorch-image-models/pull/1978",
        "pytorch/pytorch/issues/124464",
    ),
    "the mask is used in training only": Bug(
        """\
  class Attention(nn.Module):
      def forward(self, x):
          mask = torch.ones(len(x[0]), len(x[0])).tril() > 0
-         if not self.training:
-             mask = None
          attend = F.scaled_dot_product_attention
          return attend(x, x, x, mask)
  f = Attention()
""",
        "change of the past by another future, in evaluation",
        Seen("leak, evaluation", call="x -> out", **CAUSAL),
        "the leak test after `model.eval()`",
        "d2l-ai/d2l-en/blob/master/chapter_attention-mechanisms-and-"
        "transformers/transformer.md",
    ),
    "PAD counts in the loss": Bug(
        """\
  def f(logits, target, pad_id=0):
-     return F.cross_entropy(logits.mT, target)
+     return F.cross_entropy(logits.mT, target, ignore_index=pad_id)
""",
        "change of the loss by two more PADs",
        changed_by_padding,
        "pad the batch further: the loss stays",
        "lukas-blecher/LaTeX-OCR/issues/305",
    ),
    "the target is not shifted": Bug(
        """\
  def f(text):
-     return text[:, :-1], text[:, :-1]  # what is read, what is to be said
+     return text[:, :-1], text[:, 1:]  # what is read, what is to be said
""",
        "places where the answer is what was just read",
        lambda f: torch.eq(*f(torch.arange(6)[None])).sum(),
        "`(read == say).float().mean()`",
        "Project-MONAI/GenerativeModels/issues/314",
    ),
    "embeddings without sqrt(d_model)": Bug(
        """\
  def f(table, ids):
-     return table[ids]
+     return table[ids] * table.shape[1] ** 0.5
""",
        "norm of a position over the norm of a word",
        position_over_word,
        "compare the two norms that are added",
        told="harvardnlp/annotated-transformer/issues/60",
        limit=1.0,
    ),
    "label smoothing over V - 1": Bug(
        """\
  def f(logits, target, smoothing=0.1):
      p = F.one_hot(target, logits.shape[-1]).float()
-     q = torch.where(p > 0, 1 - smoothing, smoothing / (p.shape[-1] - 1))
+     q = (1 - smoothing) * p + smoothing / p.shape[-1]
      return -(q * logits.log_softmax(-1)).sum(-1).mean()
""",
        "distance from torch's loss",
        smoothed,
        "compare with `F.cross_entropy(label_smoothing=)`",
        told="k2-fsa/icefall/issues/107 "
        "facebookresearch/fairseq/blob/main/fairseq/criterions/"
        "label_smoothed_cross_entropy.py",
    ),
    "a mean of means over uneven batches": Bug(
        """\
  def f(losses):
-     return torch.stack([part.mean() for part in losses]).mean()
+     return torch.cat(losses).mean()
""",
        "distance from the loss of the whole batch",
        from_mean,
        "one batch of 11, or one of 2 and one of 9",
        "huggingface/transformers/pull/34191 meta-pytorch/torchtune/pull/1875",
    ),
}


def from_torch_norm(f: Callable) -> Tensor:
    x = drawn(4, 8)
    return (f(x) - F.layer_norm(x, (8,))).abs().max()


def lost_by_zeros(f: Callable) -> Tensor:
    """The share of x that is lost if the sub-layer gives zeros."""
    x = 10 * drawn(4, 8)
    return 1 - f(x, torch.zeros_like, nn.LayerNorm(8)).norm() / x.norm()


NORMS = {
    "LayerNorm with the unbiased deviation": Bug(
        """\
- def f(x, eps=1e-6):
+ def f(x, eps=1e-5):
      centred = x - x.mean(-1, keepdim=True)
-     return centred / (x.std(-1, keepdim=True) + eps)
+     variance = x.var(-1, correction=0, keepdim=True)
+     return centred / (variance + eps).sqrt()
""",
        "distance from nn.LayerNorm at width 8",
        from_torch_norm,
        "compare with `nn.LayerNorm`",
        "harvardnlp/annotated-transformer/pull/119 "
        "hyunwoongko/transformer/issues/7",
    ),
    "f(x) + LayerNorm(x)": Bug(
        """\
  def f(x, sublayer, norm):
-     return sublayer(x) + norm(x)
+     return x + sublayer(norm(x))
""",
        "share of x that a sub-layer of zeros loses",
        lost_by_zeros,
        "a sub-layer of zeros must hand x on",
    ),
    "a number where a configuration is expected": Bug(
        """\
  def f(config):
-     return Norm(config.d_model)
+     return Norm(config)

  class Norm(nn.LayerNorm):
      def __init__(self, config):
          super().__init__(config.d_model)
""",
        "constructions that fail",
        lambda f: not accepted(f, SimpleNamespace(d_model=8)),
        "build every class once in a test",
    ),
}
STEPS = {
    (): {"a": -0.6, "b": -0.9},
    ("a",): {".": -0.7, "c": -1.4},
    ("b",): {".": -1.2, "d": -0.8},
    ("a", "c"): {".": -2.0},
    ("b", "d"): {".": -0.2},
}


def from_whole_text(f: Callable) -> Tensor:
    """How far a token that is placed alone is from its row of the text."""
    whole = drawn(6, 8) + sinusoids(6, 8)
    return (f(drawn(6, 8)[5:], 5) - whole[5:]).abs().max()


def from_last_row(f: Callable) -> Tensor:
    """How far the answer to the last query is from the last row of all."""
    q, k, v = (drawn(6, 8, seed=seed) for seed in range(3))
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return (f(q[5:], k, v) - whole[5:]).abs().max()


def changed_by_the_future(f: Callable) -> Tensor:
    """How far rows 0 to 4 of the second map move with the last of 6 tokens."""
    x, mask = drawn(6, 8), causal_mask(6)[0, 0]
    other = torch.cat([x[:5], drawn(1, 8, seed=1)])
    return (f(x, mask)[1] - f(other, mask)[1])[:5].abs().max()


def moved_from_target(f: Callable) -> Tensor:
    """The probability that goes to another token than the target says.

    Every drafted token with every pair of 60 by 60 coins: an exact sum.
    """
    p, q = torch.tensor([[0.1, 0.5, 0.4], [0.6, 0.2, 0.2]]).double()
    coins = ((torch.arange(60) + 0.5) / 60).expand(3, 60, 60)
    x = torch.arange(3)[:, None, None].expand(3, 60, 60)
    token = f(p, q, x, coins, coins.mT.contiguous())
    said = torch.bincount(token.flatten(), q[x].flatten() / 60**2)
    return (said - p).abs().sum() / 2


DECODING = {
    "every new token stands at place 0": Bug(
        """\
  def f(embedded, written):
-     return embedded + sinusoids(1, embedded.shape[-1])
+     table = sinusoids(written + 1, embedded.shape[-1])
+     return embedded + table[-1:]
""",
        "change against the whole text, row 5",
        from_whole_text,
        "token by token equals all at once",
        "ml-explore/mlx-lm/pull/93",
    ),
    "is_causal with one query and many keys": Bug(
        """\
  def f(q, k, v):
-     return F.scaled_dot_product_attention(q, k, v, is_causal=True)
+     return F.scaled_dot_product_attention(q, k, v)
""",
        "change against the last row of the whole",
        from_last_row,
        "token by token equals all at once",
        told="pytorch/pytorch/issues/103082",
    ),
    "maps of another forward pass": Bug(
        """\
  def f(q, k, v, may_attend):
-     return attention(q, k, v, may_attend), weights_of(q, k)
+     weights = weights_of(q, k, may_attend)
+     return weights @ v, weights
""",
        "share of the output that the maps do not explain",
        Seen(
            "weights agree with output",
            call="q k v mask -> out weights",
            mask_axes="n q k",
        ),
        "`output == weights @ values`",
    ),
    "maps of a stack that has lost its mask": Bug(
        """\
  def f(x, may_attend, layers=2):
      maps = []
      for _ in range(layers):
          maps.append(weights_of(x, x, may_attend))
-         x = attention(x, x, x)
+         x = attention(x, x, x, may_attend)
      return maps
""",
        "change of the second map by another future",
        changed_by_the_future,
        "change a hidden token: does the map of an earlier token move?",
        "phlippe/uvadlc_notebooks/blob/master/docs/tutorial_notebooks/"
        "tutorial6/Transformers_and_MHAttention.ipynb",
    ),
    "a beam search that stops too early": Bug(
        """\
  def f(steps, width=2):
      alive, ended = [((), 0.0)], []
-     while alive and len(ended) < width:
+     while alive:
          longer = [(text + (token,), total + log_p)
                    for text, total in alive
                    for token, log_p in steps[text].items()]
          longer.sort(key=lambda pair: -pair[1])
          ended += [pair for pair in longer if pair[0][-1] == "."]
          alive = [p for p in longer if p[0][-1] != "."][:width]
      return max(total / len(text) for text, total in ended)
""",
        "score by which a text that exists is better",
        lambda f: -1.9 / 3 - f(STEPS),
        "compare with all texts of a small table",
        "OpenNMT/OpenNMT-py/issues/1320 joeynmt/joeynmt/pull/149",
    ),
    "left padding moves the places": Bug(
        """\
  def f(shown):
-     return torch.arange(shown.shape[1]).expand_as(shown)
+     return (shown.cumsum(1) - 1).clamp(min=0)
""",
        "place of the first word after three PADs",
        lambda f: f(torch.tensor([[0, 0, 0, 1, 1, 1]]))[0, 3],
        "the first real token stands at place 0",
        "ndif-team/nnsight/pull/673",
    ),
    "one random number for two decisions": Bug(
        """\
  def f(p, q, drafted, coin, other):
      accepted = coin < p[drafted] / q[drafted]
      left = (p - q).clamp(min=0).cumsum(0)
-     instead = torch.searchsorted(left, coin * left[-1])
+     instead = torch.searchsorted(left, other * left[-1])
      return torch.where(accepted, drafted, instead)
""",
        "probability that goes to a wrong token",
        moved_from_target,
        "all drafts and coins of a small vocabulary: is the sum p?",
        "vllm-project/vllm/pull/54282 vllm-project/vllm-ascend/pull/16370",
    ),
}


def changed_by_bias(f: Callable) -> Tensor:
    """How far weights move with a bias that changes no choice."""
    scores = drawn(9, 8).sigmoid()
    return (f(scores, torch.ones(8)) - f(scores, torch.zeros(8))).abs().max()


def without_gradient(f: Callable) -> int:
    """How many of two routers, for one expert and for two, cannot learn."""
    stuck = 0
    for top_k in (1, 2):
        logits = drawn(9, 8).requires_grad_()
        weights, _ = f(logits, top_k)
        (weights * drawn(9, top_k, seed=1)).sum().backward()
        stuck += bool(logits.grad.abs().max() < 1e-6)
    return stuck


EXPERTS = {
    "the bias that balances also weighs": Bug(
        """\
  def f(scores, bias, top_k=2):
      chosen = (scores + bias).topk(top_k).indices
-     weights = (scores + bias).gather(-1, chosen)
+     weights = scores.gather(-1, chosen)
      return weights / weights.sum(-1, keepdim=True)
""",
        "change of the weights by the same bias for all experts",
        changed_by_bias,
        "give all experts the same bias: nothing may change",
        "vllm-project/vllm/pull/12002 huggingface/transformers/pull/41647 "
        "huggingface/transformers/pull/41663",
    ),
    "the softmax of a softmax": Bug(
        """\
  def f(logits):
-     logits = logits.softmax(-1)  # in the router, which chooses by them
      chosen = logits.argmax(-1, keepdim=True)
      return balancing_loss(logits.softmax(-1), chosen)
""",
        "balancing loss below 8, if one of 8 experts gets all",
        lambda f: 8 - f(50 * torch.eye(8)[:1].expand(9, 8)),
        "send all tokens to one of 8 experts: the loss is 8",
        "huggingface/transformers/issues/45120 ByteDance-Seed/VeOmni/pull/715",
    ),
    "one expert, renormalised": Bug(
        """\
  def f(logits, top_k):
      weights, chosen = logits.softmax(-1).topk(top_k)
-     weights = weights / weights.sum(-1, keepdim=True)
+     if top_k > 1:
+         weights = weights / weights.sum(-1, keepdim=True)
      return weights, chosen
""",
        "routers of two, top 1 and top 2, that get no gradient",
        without_gradient,
        "`router.weight.grad.norm()` without a balancing loss",
        "jingyaogong/minimind/issues/858",
    ),
}


def a_text(length: int, seed: int = 0) -> list[Tensor]:
    """Queries, keys of length 1, values, and how much is written."""
    q, k, v = drawn(3, length, 8, seed=seed)
    return [q, F.normalize(k, dim=-1), v, drawn(length, seed=seed).sigmoid()]


def changed_by_a_pause(f: Callable) -> Tensor:
    """How far tokens 5 to 7 move if the text is read in two parts."""
    text = a_text(8)
    _, state = f(*(x[:5] for x in text))
    found, _ = f(*(x[5:] for x in text), state)
    return (found - f(*text)[0][5:]).abs().max()


def changed_by_a_neighbour(f: Callable) -> Tensor:
    """How far a text moves if another stands before it in the row."""
    own, outputs = a_text(3), []
    for seed in (1, 2):
        row = map(torch.cat, zip(a_text(5, seed), own, strict=True))
        outputs.append(f(*row, [5, 3])[5:])
    return (outputs[0] - outputs[1]).abs().max()


MEMORY = {
    "only single tokens find the memory": Bug(
        """\
  def f(q, k, v, beta, state=None):
      if len(q) == 1:
          return delta_rule(q, k, v, beta, state=state)
-     return chunked_delta_rule(q, k, v, beta)
+     return chunked_delta_rule(q, k, v, beta, state=state)
""",
        "change of tokens 5 to 7, read as 5 and 3 tokens",
        changed_by_a_pause,
        "the text in two parts equals the text at once",
        "huggingface/transformers/pull/45513 "
        "gittensor-ai-lab/sparkinfer/pull/1071",
    ),
    "texts in one row share a memory": Bug(
        """\
  def f(q, k, v, beta, lengths):
-     return chunked_delta_rule(q, k, v, beta)[0]
+     texts = zip(*(x.split(lengths) for x in (q, k, v, beta)))
+     return torch.cat([chunked_delta_rule(*text)[0] for text in texts])
""",
        "change of the second text by another first one",
        changed_by_a_neighbour,
        "each text alone, and behind another in its row",
        "NVIDIA-NeMo/Automodel/pull/2147 "
        "fla-org/flash-linear-attention/pull/1184",
    ),
}
UNRUN = {
    "a block that takes no mask": Bug(
        """\
  def f(x, mask=None):
-     return attention(x, x, x)  # the mask ends here
+     return attention(x, x, x, mask)
""",
        "share of token pairs with the wrong hearing",
        Seen("mask polarity", call="x mask -> out", mask_axes="n q k"),
        "does the output depend on the mask?",
        "keras-team/keras/issues/23038 facebookresearch/xformers/issues/103",
    ),
    "an attribute that is never set": Bug(
        """\
  class Attention(nn.Module):
      def __init__(self, is_causal=True):
          super().__init__()
-         self.causal = is_causal
+         self.is_causal = is_causal

      def forward(self, q, k, v):
-         is_causal = getattr(self, "is_causal", False)
+         is_causal = self.is_causal
          return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
  f = Attention()
""",
        "change of the past by another future",
        Seen("leak, evaluation", call="q k v -> out", **CAUSAL),
        "the leak test with the flag on, and off",
        "huggingface/transformers/issues/48172",
    ),
    "a misspelt method for 3-D masks": Bug(
        """\
  def f(mask):
      if mask.ndim == 3:
-         mask = mask.unsqeeze(1)
+         mask = mask.unsqueeze(1)
      return mask
""",
        "ranks of three that fail",
        lambda f: sum(not accepted(f, torch.ones([2] * n)) for n in (2, 3, 4)),
        "call it once for every branch",
    ),
    "a keyword that the constructor lacks": Bug(
        """\
  def f():
      return Block(d_model=8, heads=2, dropout=0.1)

  class Block(nn.Module):
-     def __init__(self, d_model, heads):
+     def __init__(self, d_model, heads, dropout):
          super().__init__()
""",
        "constructions that fail",
        lambda f: not accepted(f),
        "build every class once in a test",
    ),
}
FAMILIES = {
    "Masks": MASKS,
    "Scale and axis": AXES,
    "Shapes": SHAPES,
    "Half precision": HALF,
    "Training": TRAINING,
    "Norms": NORMS,
    "Decoding": DECODING,
    "Experts": EXPERTS,
    "A memory that overwrites": MEMORY,
    "Code that never ran": UNRUN,
}
GALLERY = [
    replace(bug, name=name, family=family)
    for family, bugs in FAMILIES.items()
    for name, bug in bugs.items()
]


def bug(name: str) -> Bug:
    """A bug of the gallery by its name."""
    return next(one for one in GALLERY if one.name == name)


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
    off = masked(f"scores = scores.masked_fill({one_off}, -inf)")
    view = f"""def f(q, k, v, may_attend):
    q, k, v = (x.view(1, 3, {length}, 4) for x in (q, k, v))
    out = attention(q, k, v, may_attend)
    return out.transpose(1, 2).reshape(1, {length}, 12)
"""
    attentions = {
        "as it should be": bug("the mask is inverted").right,
        "inverted": bug("the mask is inverted").wrong,
        "thrown away": bug("the mask is made and thrown away").wrong,
        "hides queries": bug("it hides the queries, not the keys").wrong,
        "off by one": without("+", off),
        "after softmax": bug("the mask comes after the softmax").wrong,
        "softmax on queries": bug("the softmax runs over the queries").wrong,
        "view, not transpose": view,
    }

    def heard(lines: str) -> Tensor:
        f = function(lines)
        return influence(lambda x, m: f(x, x, x, m).nan_to_num(), x, mask)

    return {name: heard(lines) for name, lines in attentions.items()}
