"""The whole Transformer of the book beside PyTorch's.

The same sizes, weights, embeddings and masks; a training step is a forward
pass, a loss, a backward pass and a step of Adam. Every number says how many
times as many tokens a second ours does as PyTorch's; the aim is 1.05 in
training and 1 in evaluation. On a GPU it is the base model in bfloat16.
"""

import copy
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.timing import ratio, side_by_side
from kit.interop import from_torch
from lib.masks import causal_mask
from lib.transformer import Transformer, TransformerConfig

VOCAB = 100
SIZES = {  # d_model, heads
    "32": (32, 4),
    "64": (64, 4),
    "128": (128, 8),
    "256": (256, 8),
}
BATCHES = {"short": (64, 20, 11), "long": (16, 64, 64)}  # batch, s_len, t_len
GPU_BATCH = (64, 128, 128)


class Torchs(nn.Module):
    """`nn.Transformer` between the tables of one of our models."""

    def __init__(self, theirs: nn.Transformer, ours: Transformer):
        super().__init__()
        self.theirs, self.ours = theirs, copy.deepcopy(ours)
        self.ours.encoder = self.ours.decoder = None

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        model, pad = self.ours, source == 0
        future = ~causal_mask(target.shape[1], target.device)[0, 0]
        states = self.theirs(
            model.positions(model.tables.source_embedding(source)),
            model.positions(model.tables.target_embedding(target)),
            tgt_mask=future,
            src_key_padding_mask=pad,
            tgt_key_padding_mask=target == 0,
            memory_key_padding_mask=pad,
        )
        return F.linear(states, model.tables.output_matrix)


def pair(config: TransformerConfig) -> tuple[Transformer, Torchs]:
    """Our model and PyTorch's, with equal weights."""
    c, ours = config, Transformer(config)
    theirs = nn.Transformer(
        c.d_model, c.heads, c.encoder_layers, c.decoder_layers, c.d_ff,
        c.dropout, batch_first=True,
    )  # fmt: skip
    if not c.has_final_norms:
        theirs.encoder.norm = theirs.decoder.norm = None
    ours.encoder = from_torch(theirs.encoder)
    ours.decoder = from_torch(theirs.decoder)
    return ours, Torchs(theirs, ours)


def config(d_model: int, heads: int, layers: int = 2) -> TransformerConfig:
    """As `nn.Transformer` is by itself: four times as wide inside."""
    return TransformerConfig(
        VOCAB, VOCAB, d_model, heads, 4 * d_model, layers, layers,
        final_norms=True,
    )  # fmt: skip


def sentences(batch: int, length: int) -> Tensor:
    """Random ids; the rows have from half to all of the length."""
    ids = torch.randint(3, VOCAB, (batch, length))
    lengths = torch.randint(length // 2, length + 1, (batch, 1))
    return ids.masked_fill(torch.arange(length) >= lengths, 0)


def training(model: nn.Module, source: Tensor, target: Tensor) -> Callable:
    """One step of training."""
    model.train()
    optimiser = torch.optim.Adam(model.parameters())

    def run():
        logits = model(source, target).flatten(0, 1)
        loss = F.cross_entropy(logits, target.flatten(), ignore_index=0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return run


def evaluation(model: nn.Module, source: Tensor, target: Tensor) -> Callable:
    """One pass without gradients."""
    model.eval()

    def run():
        with torch.no_grad():
            model(source, target)

    return run


def check(ours: nn.Module, theirs: nn.Module, source, target) -> None:
    """Both give the same logits."""
    logits = [m.eval()(source, target)[target != 0] for m in (ours, theirs)]
    torch.testing.assert_close(*logits, atol=1e-3, rtol=1e-3)


def compare(size: str, batch: str) -> dict[str, float]:
    """Tokens a second of our model by those of PyTorch's."""
    ours, theirs = pair(config(*SIZES[size]))
    n, s_len, t_len = BATCHES[batch]
    texts = sentences(n, s_len), sentences(n, t_len)
    check(ours, theirs, *texts)
    full = [torch.randint(3, VOCAB, ids.shape) for ids in texts]
    models = {"ours": ours, "theirs": theirs}
    found = {}
    for name, kind, given in (
        ("evaluation", evaluation, texts),
        ("training", training, texts),
        # torch's encoder leaves PAD out, ours does not
        ("evaluation, no PAD", evaluation, full),
    ):
        runs = {who: kind(model, *given) for who, model in models.items()}
        times = side_by_side(runs, repeats=3)
        found[name] = ratio(times, "theirs", "ours")
    return found


def on_gpu() -> dict[str, float]:
    """The base model in bfloat16, as it is and compiled."""
    ours, theirs = pair(config(512, 8, layers=6))
    n, s_len, t_len = GPU_BATCH
    texts = sentences(n, s_len).cuda(), sentences(n, t_len).cuda()
    models = {"ours": ours.cuda(), "theirs": theirs.cuda()}
    check(*models.values(), *texts)
    models["ours, compiled"] = torch.compile(copy.deepcopy(ours))
    found = {}
    with torch.autocast("cuda", torch.bfloat16):
        for kind in (evaluation, training):
            runs = {n: kind(model, *texts) for n, model in models.items()}
            times = side_by_side(runs, repeats=5)
            for name in ("ours", "ours, compiled"):
                key = f"{kind.__name__}, {name}"
                found[key] = ratio(times, "theirs", name)
    return found


def record() -> dict:
    torch.manual_seed(0)
    if torch.cuda.is_available():
        return {"sizes": {"base": GPU_BATCH}, "gpu": {"base": on_gpu()}}
    return {
        "sizes": {"models": SIZES, "batches": BATCHES},
        "tokens a second, ours by torch's": {
            batch: {size: compare(size, batch) for size in SIZES}
            for batch in BATCHES
        },
    }
