"""What cheaper attentions lose on the dates of chapter 11: `make ablations`.

As in benchmarks/ablations.py: the plain recipe, 400 steps, five seeds. The
attentions of the model are exchanged before training; what they share with
the plain model begins with the same weights.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F

from benchmarks import ablations
from benchmarks.ablations import SEEDS, STEPS, Task, commit
from benchmarks.timing import circumstances
from lib.efficient import GroupedQueryAttention
from lib.heads import MultiHeadAttention
from lib.runtime import setup
from lib.transformer import Transformer

RESULT = Path(__file__).parent / "results" / "cheaper.json"
NEAR = 2  # a window reaches so far to both sides


class Near(MultiHeadAttention):
    """Sees NEAR positions to each side, if a mask does not hide them."""

    def attend(self, q, k, v, may_attend=None, **options):
        place = torch.arange(q.shape[2], device=q.device)
        band = (place[:, None] - place).abs() <= NEAR
        return super().attend(q, k, v, may_attend & band, **options)


class Linear(MultiHeadAttention):
    """Linear attention, elu + 1; on short texts the product is as quick."""

    def attend(self, q, k, v, may_attend=None, *, need_weights=False):
        weights = (F.elu(q) + 1) @ (F.elu(k) + 1).mT
        weights = weights.masked_fill(~may_attend, 0.0)
        weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-6)
        return weights @ v, None


def share(model: Transformer, kv_heads: int) -> None:
    """The first heads of keys and values stay, the others are gone."""
    for name, old in list(model.named_modules()):
        if isinstance(old, MultiHeadAttention):
            new = GroupedQueryAttention(old.d_model, old.heads, kv_heads)
            copy_first(old, new)
            owner, _, last = name.rpartition(".")
            setattr(model.get_submodule(owner), last, new)


@torch.no_grad()
def copy_first(old: MultiHeadAttention, new: GroupedQueryAttention) -> None:
    """The weights of the new module are the first rows of the old ones."""
    for had, has in zip(old.matrices(), new.matrices(), strict=True):
        for one, other in zip(had, has, strict=True):
            other.copy_(one[: len(other)])
    new.out_proj.load_state_dict(old.out_proj.state_dict())


def exchange(model: Transformer, kind: type, everywhere: bool) -> None:
    """Attentions become those of a class: all, or self-attentions only."""
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            if everywhere or not name.endswith("cross_attention"):
                module.__class__ = kind


VARIANTS = {
    "4 key heads": lambda model: None,
    "2 key heads": lambda model: share(model, 2),
    "1 key head": lambda model: share(model, 1),
    "window of 5": lambda model: exchange(model, Near, False),
    "linear self-attention": lambda model: exchange(model, Linear, False),
    "linear everywhere": lambda model: exchange(model, Linear, True),
}


def run(name: str, seed: int, task: Task) -> dict:
    """Train one variant from one seed."""
    plain = ablations.VARIANTS["plain recipe"]
    ablations.VARIANTS[name] = (VARIANTS[name], *plain[1:])
    try:
        found = ablations.run(name, seed, task)
    finally:
        del ablations.VARIANTS[name]
    kept = ("CPU s", "exact match", "loss", "first losses")
    return {key: found[key] for key in kept}


def main() -> None:
    torch.set_num_threads(1)
    setup()
    task = Task()
    runs = {name: [] for name in VARIANTS}
    for seed in range(SEEDS):
        for name, found in runs.items():
            found.append(run(name, seed, task))
            print(f"{seed} {name:22} {found[-1]['exact match']:.1%}", flush=1)
    about = circumstances() | {"commit": commit(), "steps": STEPS}
    record = about | {"seeds": SEEDS, "runs": runs}
    RESULT.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
