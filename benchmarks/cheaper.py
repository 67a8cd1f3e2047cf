"""What cheaper attentions lose on the dates of chapter 11: `make ablations`.

As in benchmarks/ablations.py: the plain recipe, 400 steps, five seeds. The
attentions of the model are exchanged before training; what they share with
the plain model begins with the same weights.
"""

import torch
import torch.nn.functional as F

from benchmarks.ablations import Variant, compare, exchange
from lib.efficient import GroupedQueryAttention
from lib.heads import MultiHeadAttention
from lib.transformer import Transformer

NEAR = 2  # a window reaches so far to both sides


class Near(MultiHeadAttention):
    """Sees NEAR positions to each side, if a mask does not hide them."""

    def attend(self, q, k, v, may_attend=None, **options):
        place = torch.arange(q.shape[2], device=q.device)
        band = (place[:, None] - place).abs() <= NEAR
        return super().attend(q, k, v, may_attend & band, **options)


class Linear(MultiHeadAttention):
    """Linear attention, elu + 1; on short texts the product is as quick."""

    def attend(self, q, k, v, may_attend=None, **options):
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


VARIANTS = {
    "4 key heads": Variant(),
    "2 key heads": Variant(lambda model: share(model, 2)),
    "1 key head": Variant(lambda model: share(model, 1)),
    "window of 5": Variant(lambda model: exchange(model, Near, "cross")),
    "linear self-attention": Variant(
        lambda model: exchange(model, Linear, "cross")
    ),
    "linear everywhere": Variant(lambda model: exchange(model, Linear)),
}


def record() -> dict:
    return compare(VARIANTS)
