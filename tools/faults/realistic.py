"""Faults that people write, each found by a pattern in the taught modules.

A pattern is Python in which a name that begins with `_` stands for anything,
the same wherever it occurs. Every place that it fits is a fault of its own.
A pattern that fits nowhere is to be written anew.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from tools.faults.generate import Fault, span

REALISTIC = [  # the right text, and what is written instead
    # Attention: scale, axis, transposing, mask, dropout
    ("_q / math.sqrt(_q.shape[-1])", "_q"),
    ("_q / math.sqrt(_q.shape[-1])", "_q / _q.shape[-1]"),
    ("torch.softmax(_scores, dim=-1)", "torch.softmax(_scores, dim=-2)"),
    ("_q @ _k.mT", "_q @ _k.reshape(_k.mT.shape)"),
    ("_x.masked_fill_(~(_mask | _i), _n)", "_x.masked_fill_(_mask & ~_i, _n)"),
    ("_x.masked_fill_(_mask, -math.inf)", "_x.masked_fill_(_mask, -10.0)"),
    (
        "_x.masked_fill_(~(_mask | _i), _n)\n_y = torch.softmax(_all)",
        "_y = torch.softmax(_all) * _mask",
    ),
    ("_x.masked_fill(_mask, 0.0)", "_x"),
    ("F.dropout(_weights, dropout)", "_weights"),
    ("self.dropout if self.training else 0.0", "self.dropout"),
    # Masks: the diagonal, the direction, padding
    ("_i[None, :] <= _i[:, None]", "_i[None, :] < _i[:, None]"),
    ("_i[None, :] <= _i[:, None]", "_i[None, :] <= _i[:, None] + 1"),
    ("_i[None, :] <= _i[:, None]", "_i[:, None] <= _i[None, :]"),
    ("_ids != pad_id", "_ids == pad_id"),
    ("(_ids != _i)[:, None, None]", "(_ids != _i)[:, None, :, None]"),
    ("_padding & causal_mask(_all)", "_padding"),
    # Heads: view where a transpose belongs, keys for values
    (
        "_y = _x.view(_n, _length, _heads, _d)\nreturn _y.transpose(1, 2)",
        "return _x.reshape(_n, _heads, _length, _d)",
    ),
    ("_x.transpose(1, 2).flatten(2)", "_x.reshape(len(_x), _x.shape[2], -1)"),
    ("_f(q, k, v, may_attend, dropout)", "_f(q, v, k, may_attend, dropout)"),
    ("self.out_proj(_x)", "_x"),
    # Positions
    ("[_angle.sin(), _angle.cos()]", "[_angle.cos(), _angle.sin()]"),
    ("_range(length, dtype=_d)", "_range(1, length + 1, dtype=_d)"),
    ("_even * cos - _odd * sin", "_even * cos + _odd * sin"),
    ("self.positions(_x)", "_x"),
    ("_x * self.scale", "_x"),
    # Blocks
    ("_x + self.dropout(_branch)", "self.dropout(_branch)"),
    ("self.norm_first = norm_first", "self.norm_first = not norm_first"),
    ("_x.square().mean(-1, keepdim=True)", "_x.var(-1, keepdim=True)"),
    ("return self.norm(x)", "return x"),
    ("self.activation(_x)", "_x"),
    ("block(x, may_attend)", "block(x)"),
    ("[_block for _ in range(_layers)]", "[_block] * _layers"),
    ("self.cross_attention(_x, may_attend=_m)", "self.cross_attention(_x)"),
    # Training
    ("_x.zero_grad()", "None"),
    ("_x.sum() / _real.sum()", "_x.sum() / _real.numel()"),
    # Writing: cache, beams, sampling
    ("k, v = _past.append(k, v)", "_past.append(k, v)"),
    ("_model.positions(_x, self.length)", "_model.positions(_x)"),
    ("decoder.keep(_rows)", "None"),
    ("_sums / penalty(_lengths)[_place]", "_sums"),
    ("_x / temperature", "_x * temperature"),
    # Models of today, and several workers
    ("torch.repeat_interleave(_x, _n, dim=1)", "_x.repeat(1, _n, 1, 1)"),
    ("F.silu(_a) * _b", "_a * F.silu(_b)"),
    ("return sum_over_workers(gradient)", "return gradient"),
    # Experts and memories
    ("scores.gather(-1, chosen)", "wanted.gather(-1, chosen)"),
    ("_y.index_add(0, _token, _part)", "_y.index_copy(0, _token, _part)"),
    ("_v - _k @ state", "_v"),
]


def realistic(texts: dict[str, str]) -> list[Fault]:
    """The faults of all patterns; a LookupError if one fits nowhere."""
    faults = []
    for old, new in REALISTIC:
        before = len(faults)
        for module, text in texts.items():
            for place, wrong in fitting(old, new, text):
                faults.append(Fault(module, text, *place, wrong, "realistic"))
        if len(faults) == before:
            raise LookupError(f"no taught module has {old!r}")
    return faults


def fitting(old: str, new: str, source: str) -> Iterator[tuple[tuple, str]]:
    """Where a pattern fits, and the text in its place."""
    *_, last = pattern = ast.parse(old).body
    regex = re.escape("\n".join(map(ast.unparse, pattern)))
    for name in {*re.findall(r"\b_[a-z]*", old)}:
        regex = re.sub(rf"\b{name}\b", f"(?P<{name}>.+)", regex, count=1)
        regex = re.sub(rf"(?<!<)\b{name}\b", f"(?P={name})", regex)
    template = re.sub(r"\b(_[a-z]*)", r"\\g<\1>", new)
    kind = ast.expr if isinstance(last, ast.Expr) else ast.stmt
    for nodes, text in rows(source, kind):
        if len(nodes) == len(pattern) and (fits := re.fullmatch(regex, text)):
            wrong = fits.expand(template)
            wrong = f"({wrong})" if kind is ast.expr else wrong
            yield span(source, nodes[0], nodes[-1]), wrong


@cache
def rows(source: str, kind: type) -> list[tuple[tuple, str]]:
    """All nodes of a kind, alone and with the next one, and their text."""
    runs = []
    for node in ast.walk(ast.parse(source)):
        for _, value in ast.iter_fields(node):
            parts = value if isinstance(value, list) else [value]
            parts = [part for part in parts if isinstance(part, kind)]
            runs += [*zip(parts), *pairwise(parts)]
    return [(nodes, "\n".join(map(ast.unparse, nodes))) for nodes in runs]
