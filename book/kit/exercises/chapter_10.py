"""Checks of the exercises of chapter 10, the whole model. Not taught."""

import copy
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

from kit.exercises import exercise, expect
from lib.embedding import TokenEmbedding
from lib.encoder import Encoder, EncoderBlock
from lib.masks import causal_mask, padding_mask_from_ids
from lib.positions import PositionalEncoding
from lib.runtime import device
from lib.transformer import Transformer, TransformerConfig


def small(draw, **options):
    """A configuration that is small, and no two sizes of it alike."""
    sizes = {
        "source_vocab_size": 11,
        "target_vocab_size": 9,
        "d_model": 6,
        "heads": 2,
        "d_ff": 15,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "dropout": 0.0,
    }
    torch.manual_seed(draw.whole(0, 9_999))
    return TransformerConfig(**sizes | options)


@exercise()
@expect.own_work("parameters", "numel")
def parameters_of(answer, draw):
    layers = {"encoder_layers": 5, "decoder_layers": 3}
    for options in (
        {"tied": "target"},
        {"tied": "none", **layers},
        {"tied": "all", "source_vocab_size": 9, **layers},
        {"final_norms": True, **layers},
        {"norm_first": True, **layers},
        {"norm_first": True, "final_norms": False, "heads": 3},
        {"d_ff": draw.whole(7, 90), "d_model": 10, "max_length": 77},
    ):
        config = small(draw, **options)
        # The page's model takes the page's configurations only.
        kind = expect.beside(answer, "TransformerConfig") or TransformerConfig
        changed = ", ".join(f"{k}={v}" for k, v in options.items())
        got = answer(kind(**vars(config)))
        expect.that(
            isinstance(got, int),
            "a number of parameters is a whole number, not a "
            f"{type(got).__name__}.",
        )
        expect.close(
            got,
            total(counted(config)),
            f"with {changed} the model has {total(counted(config)):,} "
            f"parameters, and not {got:,}.",
            other_totals(config),
        )


def counted(c):
    """How many numbers PyTorch's layers and our tables have, part by part."""
    tables = {
        "source": c.source_vocab_size if c.tied != "all" else 0,
        "target": c.target_vocab_size,
        "output": c.target_vocab_size if c.tied == "none" else 0,
    }
    parts = {name: rows * c.d_model for name, rows in tables.items()}
    with torch.device("meta"):
        encoder = nn.TransformerEncoderLayer(c.d_model, 1, c.d_ff)
        decoder = nn.TransformerDecoderLayer(c.d_model, 1, c.d_ff)
    layers = c.encoder_layers, c.decoder_layers
    stacks = zip(
        ("encoder", "decoder"), layers, (encoder, decoder), strict=True
    )
    for stack, times, layer in stacks:
        for name, parameter in layer.named_parameters():
            parts[f"{stack}.layers.{name}"] = times * parameter.numel()
        parts[f"{stack}.norm"] = c.has_final_norms * 2 * c.d_model
    return parts


def total(parts, leave_out=(), also=0):
    """The sum of all parts whose names hold none of some words."""
    kept = [
        size
        for name, size in parts.items()
        if not any(word in name for word in leave_out)
    ]
    return sum(kept) + also


def other_totals(config):
    """What typical mistakes count, and hints."""
    c, parts = config, counted(config)
    d, right = c.d_model, total(parts)
    norm, attention = 2 * d, 4 * d * (d + 1)
    rows = c.source_vocab_size + c.target_vocab_size
    tables = total({n: parts[n] for n in ("source", "target", "output")})
    layers = c.encoder_layers + c.decoder_layers
    three = c.encoder_layers + 2 * c.decoder_layers
    wide = layers * (8 * d * d + 5 * d - (2 * d * c.d_ff + c.d_ff + d))
    deep = total({n: s for n, s in parts.items() if "decoder.layers" in n})
    deep = deep * (c.encoder_layers - c.decoder_layers) // c.decoder_layers
    asked = 2 * norm * (bool(c.final_norms) - c.has_final_norms)
    return [
        (
            right - tables + d * (rows + c.target_vocab_size),
            f"with tied={c.tied!r} some of the three tables are one and the "
            "same: count it once.",
        ),
        (
            right - tables + d * rows,
            f"with tied={c.tied!r} there are not two tables: how many are "
            "there?",
        ),
        (
            right - three * 4 * d,
            "the four matrices of an attention have a bias each.",
        ),
        (
            right + three * (c.heads - 1) * attention,
            "heads cut the same matrices into strips, so their number "
            "changes nothing.",
        ),
        (right + wide, "d_ff may be any number, not only four times d."),
        (
            right - c.decoder_layers * attention,
            "a decoder block has two attentions: one looks back, one across.",
        ),
        (
            right - c.decoder_layers * norm,
            "a decoder block has three sub-layers, and a norm for each.",
        ),
        (
            right + deep,
            "encoder and decoder may be of different depth: you count as "
            "many decoder blocks as encoder blocks.",
        ),
        (
            right + asked,
            "final_norms=None leaves the choice to norm_first; "
            "config.has_final_norms knows what is built.",
        ),
        (
            total(parts, ["encoder.norm", "decoder.norm"]),
            "a final norm stands at the end of each stack.",
        ),
        (
            right + c.max_length * d,
            "the positions are sinusoids: they are computed, and nothing in "
            "them is learnt.",
        ),
    ]


@exercise()
def whole_pass(answer, draw):
    model = Transformer(small(draw)).double().to(device())
    parts = SimpleNamespace(
        source_table=model.tables.source,
        target_table=model.tables.target,
        positions=model.positions,
        encoder_blocks=list(model.encoder.blocks),
        decoder_blocks=list(model.decoder.blocks),
    )
    source = F.pad(draw.ids(1, 10, 2, 5), (0, 2))
    source[0, 3:] = 0
    target = draw.ids(1, 8, 2, 6)
    in_front = target.clone()
    in_front[0, :2] = 0
    for begun in (target, target[:, :1], in_front):
        with torch.no_grad(), expect.untouched(source, begun):
            got = answer(parts, source, begun)
            expected = model(source, begun)
            mistakes = list(other_passes(parts, source, begun))
        expect.close(
            got,
            expected,
            f"for the target {begun[0].tolist()} the logits are not the "
            "model's. Follow figure 10.4 from bottom to top.",
            mistakes,
            1e-6,
        )


def other_passes(parts, source, target):
    """The logits of passes with one mistake, and hints."""
    table = parts.target_table.table
    no_pad = padding_mask_from_ids(source, 0)
    real = padding_mask_from_ids(target, 0)
    causal = causal_mask(target.shape[1], target.device)
    right = {
        "encoder": no_pad,
        "memory": no_pad,
        "target": causal & real,
        "x": parts.positions(parts.source_table(source)),
        "y": parts.positions(parts.target_table(target)),
        "depth": len(parts.decoder_blocks),
        "looks_at": "memory",
    }
    wrong = {
        "the decoder sees what comes later: its own mask hides PAD and the "
        "future.": {"target": real},
        "the decoder looks at the PAD of its own target.": {"target": causal},
        "the encoder reads the PAD of the source.": {"encoder": None},
        "the cross-attention reads the PAD of the source.": {"memory": None},
        "a mask of this book says True where one may look, and yours is "
        "True at the PAD of the source.": {
            "encoder": ~no_pad,
            "memory": ~no_pad,
        },
        "the source knows no positions.": {"x": parts.source_table(source)},
        "the target knows no positions.": {"y": parts.target_table(target)},
        "the target is read with the table of the source.": {
            "y": parts.positions(parts.source_table(target))
        },
        "the table's rows are read without their factor: call the "
        "TokenEmbedding, not the table inside it.": {
            "y": parts.positions(table(target))
        },
        "each decoder block looks at the encoder block beside it; all must "
        "look at the memory, which is the last one's output.": {
            "looks_at": "beside"
        },
        "the decoder looks at the source as it was embedded: the blocks of "
        "the encoder read it first, one after the other.": {
            "looks_at": "source"
        },
        "some blocks of the decoder are left out: it may have more than the "
        "encoder.": {"depth": len(parts.encoder_blocks)},
    }
    for hint, change in wrong.items():
        yield states(parts, **right | change) @ table.weight.T, hint
    logits = states(parts, **right) @ table.weight.T
    yield (
        logits * parts.target_table.scale,
        ("as a row of the output matrix, a row is used without the factor."),
    )
    yield logits.softmax(-1), "these are probabilities; logits are asked for."


def states(parts, encoder, memory, target, x, y, depth, looks_at):
    """What comes out of the last decoder block."""
    source, read = x, []
    for block in parts.encoder_blocks:
        x = block(x, encoder)
        read.append(x)
    for number, block in enumerate(parts.decoder_blocks[:depth]):
        beside = read[min(number, len(read) - 1)]
        seen = {"memory": x, "beside": beside, "source": source}[looks_at]
        y = block(y, seen, target, memory)
    return y


@exercise()
def rows_moved(answer, draw):
    for tied in ("target", "none"):
        source = torch.tensor([draw.different(5, 4, 10)], device=device())
        model, so_far = telling(draw, tied, source), 0
        before = copy.deepcopy(model.state_dict())
        for read in ([1, 5, 5, 0], [1, 7, 4, 8], [1, 6, 0, 0]):
            target = torch.tensor([read], device=source.device)
            slopes, of_source = gradients(model, source, target)
            so_far = so_far + slopes
            right = slopes.any(-1).sum().item()
            got = answer(model, source, target)
            expect.that(
                isinstance(got, int),
                "how many rows is a whole number, and yours is a "
                f"{type(got).__name__}.",
            )
            expect.close(
                got,
                right,
                f"with tied={tied!r}, the target {read} moves "
                f"{expect.plural(right, 'row')}, and not {got}.",
                [
                    (
                        so_far.any(-1).sum().item(),
                        "rows of an earlier call are counted again: backward "
                        "adds to what stands in .grad.",
                    ),
                    *other_counts(slopes, of_source, read, tied),
                ],
            )
        now = model.state_dict()
        expect.that(
            all(torch.equal(now[name], before[name]) for name in before),
            "the weights of the model have changed: a gradient is asked for, "
            "and no step.",
        )


def telling(draw, tied, source):
    """A model that tells a wrong count by signs from other mistakes."""
    target = torch.tensor([[1, 5, 5, 0]], device=device())
    positive = 1
    while positive in (1, 2, 3, 5, 9):
        model = Transformer(small(draw, tied=tied)).to(device())
        if tied == "none":
            return model
        slopes, _ = gradients(model, source, target)
        positive = (slopes.sum(-1) > 0).sum().item()
    return model


def gradients(model, source, target):
    """Of the target's table and of the source's, without `.grad`."""
    with torch.enable_grad():
        loss = -model(source, target).log_softmax(-1)[..., 3].mean()
    tables = model.tables.target_embedding, model.tables.source_embedding
    return torch.autograd.grad(loss, [t.table.weight for t in tables])


def other_counts(slopes, of_source, read, tied):
    """What typical mistakes count, and hints."""
    known = len(set(read) - {0})
    counts = [
        (
            slopes.count_nonzero().item(),
            "you count numbers, and a row has as many as the model is wide.",
        ),
        (
            of_source.any(-1).sum().item(),
            "these are rows of the source's table.",
        ),
        (
            (slopes.sum(-1) > 0).sum().item(),
            "the numbers of a gradient have signs: their sum may be below "
            "zero, or cancel.",
        ),
    ]
    if tied == "target":
        what_is_read = (
            "that is what was read. If the table is tied, every row is also "
            "a row of the output matrix."
        )
        return [
            (known, what_is_read),
            (len(set(read)), what_is_read),
            *counts,
        ]
    return counts + [
        (
            len(slopes),
            "you count every row, but without tying a row moves only if it "
            "is read.",
        ),
        (
            len(set(read)),
            "PAD is read as well, but its row is kept at zero and gets no "
            "gradient.",
        ),
    ]


@exercise()
def next_token_logits(answer, draw):
    torch.manual_seed(draw.whole(0, 9_999))
    embedding, positions = TokenEmbedding(11, 8), PositionalEncoding(8)
    stack = Encoder([EncoderBlock(8, 2, 16) for _ in range(2)])
    for part in (embedding, positions, stack):
        part.double().to(device())
    ids = draw.ids(0, 10, 3, 6)
    ids[0, 1] = 0
    with torch.no_grad(), expect.untouched(ids):
        got = answer(ids, embedding, positions, stack)
        table = embedding.table.weight
        causal = causal_mask(6, ids.device)

        entered = positions(embedding(ids))

        def logits(mask=causal, x=entered):
            return stack(x, mask) @ table.T

        expected = [
            stack(entered[:, :t], causal[..., :t, :t])[:, -1]
            for t in range(1, 7)
        ]
        expected = torch.stack(expected, dim=1) @ table.T
        unplaced = stack(embedding(ids), causal)
        placed = stack(entered, causal)
        mistakes = [
            (
                logits(None),
                "every place sees what comes later: which mask makes an "
                "encoder look back only?",
            ),
            (
                logits(~causal),
                "your mask is turned round: only the future is seen.",
            ),
            (
                logits(causal & padding_mask_from_ids(ids, 0)),
                "there is no PAD here: id 0 is a token like any other.",
            ),
            (logits(x=embedding(ids)), "the positions are missing."),
            (
                positions(unplaced) @ table.T,
                "the positions come after the stack, where nobody can look "
                "by them.",
            ),
            (
                positions(placed) @ table.T,
                "the positions are added twice, also behind the stack.",
            ),
            (
                logits(x=positions(table[ids])),
                "the rows are read without their factor: call the "
                "TokenEmbedding itself.",
            ),
            (
                expected * embedding.scale,
                "as a row of the output matrix, a row is used without the "
                "factor.",
            ),
            (
                expected.softmax(-1),
                "these are probabilities; scores are asked for.",
            ),
            (
                expected[:, -1],
                "each place says its next token, not the last place alone.",
            ),
        ]
    expect.close(
        got, expected, "not the scores of a model that only writes.", mistakes
    )


@exercise()
def decode_from_two(answer, draw):
    model = Transformer(small(draw)).double().to(device())
    first, second = draw.ids(1, 10, 3, 5), draw.ids(1, 10, 3, 4)
    first[0, 3:], second[1, 2:], second[2, 3:] = 0, 0, 0
    target = draw.ids(1, 8, 3, 6)
    for pair in ((first, second), (second, first), (first, 0 * second)):
        with torch.no_grad(), expect.untouched(*pair, target):
            got = answer(model, *pair, target)
            expected = one_by_one(model, *pair, target)
            mistakes = other_memories(model, *pair, target)
        expect.close(
            got,
            expected,
            "the decoder does not look at both memories, and at these only.",
            mistakes,
        )


def one_by_one(model, first, second, target):
    """The logits, each sentence by itself and without any PAD."""
    rows = []
    for one, two, begun in zip(first, second, target, strict=True):
        real = [ids[ids != 0][None] for ids in (one, two)]
        memories = [model.encode(ids) for ids in real if ids.numel()]
        rows.append(model.decode(begun[None], torch.cat(memories, dim=1)))
    return torch.cat(rows)


def other_memories(model, first, second, target):
    """What typical mistakes give, and hints."""
    ids = first, second
    one, two = (model.encode(source) for source in ids)
    seen, also = (model.source_mask(source) for source in ids)
    both, masks = torch.cat([one, two], 1), torch.cat([seen, also], -1)

    def decode(mask, memory=both):
        return model.decode(target, memory, memory_may_attend=mask)

    mean = (model(first, target) + model(second, target)) / 2
    return [
        (
            decode(None),
            "the decoder looks at PAD: the memory does not say which of its "
            "rows were PAD, so a mask must go along with it.",
        ),
        (
            decode(torch.cat([seen, torch.ones_like(also)], -1)),
            "the PAD of the second source is seen.",
        ),
        (
            decode(torch.cat([also, seen], -1)),
            "the masks are joined in another order than the memories.",
        ),
        (decode(~masks), "your mask hides what it should show."),
        (
            mean,
            "that is the mean of two answers: one decoder is to look at both "
            "memories at once.",
        ),
        (
            model(torch.cat(ids, 1), target),
            "the two sources were encoded as one sentence; each is to be "
            "read apart.",
        ),
        (decode(seen, one), "only the first source is used."),
        (decode(also, two), "only the second source is used."),
    ]


@exercise(distance=(1_000, 500, 300, 2_000))
def layers_needed(answer, draw):
    for distance in (1, 2, 5, 63, draw.whole(8, 40)):
        for holes in (False, True):
            got = answer(distance, holes)
            examine_layers(got, distance, holes, reached(holes))
    far = draw.given.distance
    expect.that(
        answer(far, False) == far and answer(far, True) == far.bit_length(),
        f"right for short distances, but not for {far:,}.",
    )


def examine_layers(got, distance, holes, far):
    """One number of layers, held against a signal that is sent through."""
    case = f"layers_needed({distance}, {holes})"
    expect.that(
        isinstance(got, int),
        f"{case} is a {type(got).__name__}, and layers are counted in whole "
        "numbers.",
    )
    right = sum(place < distance for place in far)
    mistakes = [
        (
            sum(2 * place < distance for place in far),
            "a layer of width 3 reaches one neighbour to each side, and the "
            "way goes to one side only.",
        ),
        (
            right + 1,
            f"one layer less is enough for {case}: to reach a place is to "
            "see it.",
        ),
    ]
    if holes:
        mistakes += [
            (
                distance,
                "the holes make no difference in your answer: with them, "
                "each layer reaches twice as far as the one before.",
            ),
            (
                sum(2**n < distance for n in range(9)),
                "you take the last layer's reach alone, but the layers add "
                "theirs up: 1, then 1 + 2.",
            ),
        ]
    place = far[max(0, min(got, len(far) - 1))]
    expect.close(
        got,
        right,
        f"after {expect.plural(got, 'layer')} the last position sees "
        f"{expect.plural(place, 'place')} back, and {distance} is "
        f"asked for: {case}.",
        mistakes,
    )


def reached(holes):
    """How far back a signal is felt after each number of layers, tried."""
    signal = torch.zeros(1, 1, 400)
    signal[..., 0] = 1.0
    found = [0]
    for n in range(8 if holes else 70):
        hole = 2**n if holes else 1
        signal = F.conv1d(
            signal, torch.ones(1, 1, 3), padding=hole, dilation=hole
        )
        signal = (signal > 0).float()
        found.append(signal[0, 0].nonzero().max().item())
    return found
