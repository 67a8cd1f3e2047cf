"""Checks of the exercises of chapter 10, the whole model. Not taught."""

import itertools
from dataclasses import replace
from functools import cache

import torch
import torch.nn.functional as F

from kit.exercises import expect
from kit.exercises.contract import asks, by_oneself, ids, made
from lib.embedding import TokenEmbedding
from lib.encoder import Encoder, EncoderBlock
from lib.positions import PositionalEncoding
from lib.runtime import device
from lib.transformer import Transformer, TransformerConfig

TIED = ("target", "none", "all")


def sized(draw, source, target, **options):
    """A small configuration; encoder and decoder differ in depth."""
    heads, layers = draw.whole(1, 3), draw.different(2, 1, 2)
    width, d_ff = 2 * heads * draw.whole(2, 3), draw.whole(13, 17)
    sizes = source, target, width, heads, d_ff, *layers
    return TransformerConfig(*sizes, dropout=0.0, **options)


def stirred(draw, case, module):
    """The module with numbers of its own, also in biases and norms."""
    draw.fill(module, lambda x: x / 3 + (x.ndim == 1) / 2)
    return module.to(device(), case.dtype)


def every_choice(draw, case):
    """Each tying with each choice of norms."""
    choices = itertools.product(TIED, (False, True), (None, False, True))
    configs = []
    for tied, first, final in choices:
        rows = draw.different(2, 7, 40)
        rows[1] = rows[tied != "all"]
        options = {"norm_first": first, "final_norms": final, "tied": tied}
        configs.append(sized(draw, *rows, **options))
    return configs


def for_each(answer, configs):
    """The page's model takes the page's configurations only."""
    kind = expect.beside(answer, "TransformerConfig") or TransformerConfig
    return [answer(kind(**vars(config))) for config in configs]


@cache
def count(config):
    with torch.device("meta"):
        model = Transformer(config)
    return sum(p.numel() for p in model.parameters())


def in_attentions(c, more):
    """The count if each attention had more numbers."""
    return count(c) + (c.encoder_layers + 2 * c.decoder_layers) * more


@asks(
    {"configs": made(every_choice)},
    "count part by part: the tables, in each block the matrices, biases and "
    "norms, and the norms at the end. The positions are computed.",
    {
        "a tied output matrix is a table that is there already: count it "
        "once.": lambda c: count(replace(c, tied="none")),
        "the four matrices of an attention have a bias each.": (
            lambda c: in_attentions(c, -4 * c.d_model)
        ),
        "heads cut the same matrices into strips, so their number changes "
        "nothing.": lambda c: in_attentions(
            c, (c.heads - 1) * 4 * c.d_model * (c.d_model + 1)
        ),
        "a decoder block has three sub-layers, and a norm for each.": (
            lambda c: count(c) - c.decoder_layers * 2 * c.d_model
        ),
        "encoder and decoder may be of different depth.": (
            lambda c: count(replace(c, decoder_layers=c.encoder_layers))
        ),
        "final_norms=None leaves the choice to norm_first; "
        "config.has_final_norms knows what is built.": (
            lambda c: count(replace(c, final_norms=bool(c.final_norms)))
        ),
    },
    calls=for_each,
    ways=(by_oneself("Transformer", "parameters", "numel"),),
)
def parameters_of(config):
    return count(config)


def tied_and_not(draw, case):
    v, w = case.sizes["v"], case.sizes["w"]
    sources = (w, w, v)
    configs = [
        sized(draw, source, v, tied=tied)
        for source, tied in zip(sources, TIED, strict=True)
    ]
    return [stirred(draw, case, Transformer(config)) for config in configs]


def begun(draw, case):
    """Three targets: BOS, two tokens over and over, a third one.

    Two end in PAD.
    """
    n, t, v = (case.sizes[letter] for letter in "ntv")
    few = torch.tensor([draw.different(3, 2, v - 1) for _ in range(3)])
    few = few.to(device())
    targets = few[:, draw.ids(0, 1, n, t)]
    targets[:, -1, 1] = few[:, 2]
    targets[:, :, 0], targets[:2, :, -1] = 1, 0
    return list(targets)


def astray(slopes):
    """Of a moved row the sum, one column or the largest number says less."""
    row = torch.arange(len(slopes), device=slopes.device)
    signs, width = torch.zeros_like(slopes), slopes.shape[1]
    signs[row, row % width] = (row % 3 != 2).to(slopes)
    signs[row, (row + 1) % width] = -(row % 3 != 1).to(slopes)
    return signs * slopes.any(-1, keepdim=True)


def one_after_another(answer, models, source, targets):
    counts = []
    for model in models:
        model.tables.target_embedding.table.weight.register_hook(astray)
        counts += [answer(model, source, target) for target in targets]
    return counts


def gradient(model, source, target, clear=True):
    """What stands in `.grad` of the table after the loss of the task."""
    if clear:
        model.zero_grad()
    (-model(source, target).log_softmax(-1)[..., 3].mean()).backward()
    return model.tables.target_embedding.table.weight.grad


def number(condition):
    return condition.sum().item()


def read_or_all(model, source, target):
    is_tied = model.config.tied != "none"
    return model.config.target_vocab_size if is_tied else len(target.unique())


@asks(
    {
        "model": made(tied_and_not, "v w", is_floating=True),
        "source": ids("n s", below="w"),
        "target": made(begun, "n t v"),
    },
    "which rows of the target's table have a number in their gradient that "
    "is not zero?",
    {
        "rows of an earlier call are counted again: backward adds to what "
        "stands in .grad.": lambda *inputs: number(
            gradient(*inputs, clear=False).any(-1)
        ),
        "you count numbers, and a row has as many as the model is wide.": (
            lambda *inputs: number(gradient(*inputs) != 0)
        ),
        "the numbers of a gradient have signs: their sum may be below zero, "
        "or cancel.": lambda *inputs: number(gradient(*inputs).sum(-1) > 0),
        "that is what was read. If the table is tied, every row is also a "
        "row of the output matrix.": lambda model, source, target: number(
            target.unique() != 0
        ),
        "you count every row, but without tying a row moves only if it is "
        "read.": lambda model, source, target: model.config.target_vocab_size,
        "PAD is read as well, but its row is kept at zero and gets no "
        "gradient.": read_or_all,
    },
    calls=one_after_another,
    sizes={"v": (12, 14), "w": (9, 11), "t": (4, 6)},
    leaves_out=("double", "strided", "large"),  # a count stays the same
)
def rows_moved(model, source, target):
    return number(gradient(model, source, target).any(-1))


def stack(draw, case):
    """Of blocks with biases and without, pre-norm or post-norm."""
    first, final, bias = (draw.whole(0, 1) == 1 for _ in range(3))
    sizes = 4 * case.sizes["d"], 2, draw.whole(5, 9)
    options = {"norm_first": first, "bias": bias}
    blocks = [EncoderBlock(*sizes, **options) for _ in range(2)]
    return stirred(draw, case, Encoder(blocks, final or case.is_given))


def embedding(draw, case):
    table = TokenEmbedding(case.sizes["v"], 4 * case.sizes["d"])
    return stirred(draw, case, table)


def scores(ids, embedding, positions, stack):
    """What PyTorch's triangle of True lets a stack write."""
    places = 2 * [ids.shape[1]]
    seen = torch.ones(1, 1, *places, dtype=torch.bool, device=ids.device)
    x = stack(positions(embedding(ids)), seen.tril())
    return F.linear(x, embedding.table.weight)


@asks(
    {
        "ids": ids("n t", below="v"),
        "embedding": made(embedding, "v d", is_floating=True),
        "positions": made(
            lambda draw, case: PositionalEncoding(4 * case.sizes["d"]), "d"
        ),
        "stack": made(stack, "d", is_floating=True),
    },
    "these are not the scores of a model that only writes.",
    {
        "every place sees what comes later: which mask makes an encoder look "
        "back only?": lambda i, e, p, s: scores(i, e, p, lambda x, _: s(x)),
        "there is no PAD here: id 0 is a token like any other.": (
            lambda i, e, p, s: scores(
                i, e, p, lambda x, seen: s(x, seen & (i != 0)[:, None, None])
            )
        ),
        "the positions are missing.": (
            lambda i, e, p, s: scores(i, e, lambda x: x, s)
        ),
        "the rows are read without their factor: call the TokenEmbedding "
        "itself.": lambda i, e, p, s: scores(
            i, e, lambda x: p(x / e.scale), s
        ),
        "as a row of the output matrix, a row is used without the factor.": (
            lambda i, e, p, s: scores(i, e, p, s) * e.scale
        ),
        "these are probabilities; scores are asked for.": (
            lambda i, e, p, s: scores(i, e, p, s).softmax(-1)
        ),
        "each place says its next token, not the last place alone.": (
            lambda i, e, p, s: scores(i, e, p, s)[:, -1]
        ),
    },
    sizes={"v": (2, 4)},
)
def next_token_logits(ids, embedding, positions, stack):
    return scores(ids, embedding, positions, stack)


def translator(draw, case):
    sizes = case.sizes["w"], case.sizes["v"]
    config = sized(draw, *sizes, norm_first=draw.whole(0, 1) == 1)
    return stirred(draw, case, Transformer(config))


def texts(length, rows):
    """Ids with PAD behind most of them, and always behind the first."""

    def drawn(draw, case):
        n, size, last = (case.sizes[s] for s in ("n", length, rows))
        ends = draw.ids(1, size, n, 1)
        ends[0] = max(1, size - 1)
        real = torch.arange(size, device=device()) < ends
        return draw.ids(1, last - 1, n, size) * real

    return made(drawn, f"n {length} {rows}")


def both(one, two):
    """Two memories, or two masks, beside each other."""
    return torch.cat([one, two], 1 if one.ndim == 3 else -1)


def under(mask):
    """The logits under another mask over both memories."""

    def logits(model, first, second, target):
        memory = both(model.encode(first), model.encode(second))
        masks = model.source_mask(first), model.source_mask(second)
        return model.decode(target, memory, memory_may_attend=mask(*masks))

    return logits


@asks(
    {
        "model": made(translator, "v w", is_floating=True),
        "first": texts("i", "w"),
        "second": texts("j", "w"),
        "target": texts("t", "v"),
    },
    "the decoder does not look at both memories, and at these only.",
    {
        "the decoder looks at PAD: the memory does not say which of its rows "
        "were PAD, so a mask must go along with it.": under(
            lambda one, two: None
        ),
        "the PAD of the second source is seen.": under(
            lambda one, two: both(one, torch.ones_like(two))
        ),
        "the masks are joined in another order than the memories.": under(
            lambda one, two: both(two, one)
        ),
        "that is the mean of two answers: one decoder is to look at both "
        "memories at once.": lambda model, first, second, target: (
            (model(first, target) + model(second, target)) / 2
        ),
        "the two sources were encoded as one sentence; each is to be read "
        "apart.": lambda model, first, second, target: model(
            torch.cat([first, second], 1), target
        ),
        "only the first source is used.": (
            lambda model, first, second, target: model(first, target)
        ),
    },
    sizes={"v": (5, 9), "w": (5, 9)},
    leaves_out=("strided", "large"),  # whole numbers know neither
)
def decode_from_two(model, first, second, target):
    """Each sentence by itself, and without any PAD."""
    logits = []
    for one, two, begun in zip(first, second, target, strict=True):
        memories = [model.encode(ids[ids != 0][None]) for ids in (one, two)]
        logits.append(model.decode(begun[None], torch.cat(memories, 1)))
    return torch.cat(logits)
