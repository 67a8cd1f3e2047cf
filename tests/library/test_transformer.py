"""lib.transformer: sizes, masks, leaks and tying.

That its stacks give torch's numbers: test_interop.
"""

import copy
import dataclasses
import math
import pickle
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn
from torch.export import Dim

from lib.efficient import GroupedQueryAttention
from lib.heads import MultiHeadAttention
from lib.layers import LayerNorm
from lib.masks import causal_mask
from lib.transformer import Tables, Transformer, TransformerConfig, initialise
from tests.library import no
from tests.library.draw import DEVICE, close, coins, drawn_ids, same
from tests.library.refusals import by_dtype, by_shape, refuses

SMALL = TransformerConfig(17, 19, 6, 3, 11, 2, 3, 0.25, max_length=13)
EVERY_TIE = pytest.mark.parametrize("tied", ["none", "target", "all"])


def config(**options):
    if options.get("tied") == "all":
        options = {"source_vocab_size": 19} | options
    return dataclasses.replace(SMALL, **options)


def model(dtype=torch.float64, **options):
    """In evaluation mode, with a table whose PAD row is not zero."""
    torch.manual_seed(1)
    made = Transformer(config(**options)).to(DEVICE, dtype).eval()
    for parameter in made.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return made


def ids(*rows):
    return torch.tensor(rows, device=DEVICE)


SOURCE = ids([5, 3, 16, 2, 0, 0, 0], [7, 4, 9, 9, 11, 3, 2])
TARGET = ids([1, 6, 18, 12, 0], [1, 8, 3, 0, 0])
BOTH = (SOURCE, TARGET)


def random_ids(batch, length, seed=0):
    return drawn_ids(3, 17, batch, length, seed=seed)


def test_a_config_is_a_value_whose_defaults_are_the_base_model():
    c, sizes = TransformerConfig(7, 11), (512, 8, 2048, 6, 6)
    choices = (0.1, False, None, "relu", "target", 5000, 0, 1, 2)
    assert dataclasses.astuple(c) == (7, 11, *sizes, *choices)
    assert hash(c) == hash(TransformerConfig(7, 11))
    assert len(str(c).splitlines()) == len(dataclasses.fields(c))
    assert eval(str(c)) == c


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"tied": "target"}, 82_026_496),
        ({"tied": "none"}, 100_970_496),
        ({"tied": "all"}, 63_082_496),
        ({"tied": "all", "final_norms": True}, 63_084_544),
        ({"tied": "all", "norm_first": True}, 63_084_544),
        ({"tied": "all", "norm_first": True, "final_norms": False},
         63_082_496),
    ],
)  # fmt: skip
def test_parameters_of_the_base_model(options, wanted):
    """No two blocks share any; a final norm of either stack has 1,024."""
    c = TransformerConfig(37_000, 37_000, max_length=11, **options)
    with torch.device("meta"):
        made = Transformer(c)
    assert sum(p.numel() for p in made.parameters()) == wanted


@EVERY_TIE
def test_initialise_leaves_tables_and_norms_alone(tied):
    made = Transformer(config(tied=tied, final_norms=True))
    spared = LayerNorm | nn.Embedding
    kept = [m for m in made.modules() if isinstance(m, spared)]
    kept = [p for module in kept for p in module.parameters()]
    for parameter in kept:
        parameter.data.fill_(7.0)
    initialise(made)
    assert all((parameter == 7).all() for parameter in kept)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("norm_first", [False, True])
def test_no_later_target_token_leaks(training, norm_first):
    """Bit for bit, with the same dropout."""
    made = model(norm_first=norm_first).train(training)
    before, other = random_ids(3, 7, 1), random_ids(3, 7, 1)
    other[:, 3:] = random_ids(3, 7, 2)[:, 3:]
    other[0, 3:] = 0
    logits = []
    for target in (before, other):
        torch.manual_seed(5)
        logits.append(made(random_ids(3, 5), target))
    first, second = logits
    same(second[:, :3], first[:, :3])
    assert (second[:, 3:] != first[:, 3:]).any()


def test_a_new_model_is_initialised():
    linear = [m for m in Transformer(SMALL).modules() if type(m) is nn.Linear]
    assert linear and all((m.bias == 0).all() for m in linear)


def test_initialise_takes_each_matrix_by_its_own_size():
    """Heads that share keys have narrower matrices for keys and values.

    The largest of many entries comes near the bound, none beyond.
    """
    torch.manual_seed(1)
    shared = GroupedQueryAttention(96, 8, 2)
    initialise(shared)
    for (matrix, bias), rows in zip(
        shared.matrices(), (96, 24, 24), strict=True
    ):
        bound = math.sqrt(6 / (96 + rows))
        assert 0.97 * bound < matrix.abs().max().item() <= bound
        assert (bias == 0).all()


def built():
    """The masks that ids ask for."""
    past = causal_mask(TARGET.shape[1], DEVICE)
    source = (SOURCE != 0)[:, None, None]
    return source, (TARGET != 0)[:, None, None] & past, source


def test_options_reach_every_part():
    made = model(norm_first=True, activation="gelu", pad_id=9)
    parts = [*made.modules()]
    rates = [part.p for part in parts if isinstance(part, nn.Dropout)]
    assert rates == [0.25] * (1 + 2 * 3 + 3 * 4)
    heads = [p for p in parts if isinstance(p, MultiHeadAttention)]
    assert [(part.dropout, part.heads) for part in heads] == [(0.25, 3)] * 8
    for block in (*made.encoder.blocks, *made.decoder.blocks):
        assert block.feed_forward.activation is F.gelu
    for table in made.tables.children():
        assert table.table.padding_idx == 9


@EVERY_TIE
@pytest.mark.parametrize("own", [None, 0, 1, 2])
def test_a_mask_of_ones_own_replaces_the_built_one(own, tied):
    """Beside the whole model, written out."""
    made, masks, used = model(tied=tied), [None] * 3, [*built()]
    if own is not None:
        shape = [(7, 7), (5, 5), (5, 7)][own]
        masks[own] = used[own] = coins(2, 3, *shape, seed=own)
    tables = made.tables

    def enter(ids, embedding):
        rows = embedding.table.weight[ids] * math.sqrt(6)
        return rows + made.positions.table[: ids.shape[1]]

    memory = made.encoder(enter(SOURCE, tables.source_embedding), used[0])
    x = enter(TARGET, tables.target_embedding)
    alone = made.decoder(x, memory, used[1])
    x = made.decoder(x, memory, *used[1:])
    close(made.encode(SOURCE, masks[0]), memory, steps=64)
    close(made(*BOTH, *masks), x @ tables.output_matrix.T, steps=256)
    alone = alone @ tables.output_matrix.T  # decode hides no memory by itself
    close(made.decode(TARGET, memory, masks[1]), alone, steps=256)


def test_no_sequence_the_longest_and_int32_are_welcome():
    made = model()
    source, target = random_ids(2, 13), random_ids(2, 13, 1)
    logits = made(source, target)
    assert logits.shape == (2, 13, 19) and len(made.positions.table) == 13
    same(made(source.int(), target.int()), logits)
    assert made(source[:0], target[:0]).shape == (0, 13, 19)


@EVERY_TIE
def test_copies_give_the_same_numbers(tied, tmp_path):
    """A file holds a tied matrix once: safetensors would refuse two."""
    made = model(tied=tied, activation="gelu_tanh")
    save_file(made.state_dict(), tmp_path / "model.safetensors")
    fresh = Transformer(made.config).to(DEVICE, torch.float64).eval()
    fresh.load_state_dict(load_file(tmp_path / "model.safetensors"))
    twins = copy.deepcopy(made), pickle.loads(pickle.dumps(made)), fresh
    for twin in twins:
        same(twin(*BOTH), made(*BOTH))
        assert twin.config == made.config
        assert len([*twin.parameters()]) == len([*made.parameters()])


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_compiled_it_gives_the_same_numbers():
    torch.compiler.reset()
    layers = {"encoder_layers": 1, "decoder_layers": 1}
    choices = {"norm_first": True, "activation": "gelu_tanh"}
    made = model(torch.float32, **layers, **choices)
    compiled = torch.compile(made, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        close(compiled(*BOTH), made(*BOTH), steps=256)


@pytest.mark.compiled
def test_exported_it_takes_any_batch_and_lengths():
    made = model(torch.float32)
    sizes = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    exported = torch.export.export(
        made, BOTH, dynamic_shapes=(sizes, sizes)
    ).module()
    other = random_ids(5, 11), random_ids(5, 3, 1)
    other[0][2, 4:], other[1][3, 1:] = 0, 0
    for inputs in (BOTH, other):
        close(exported(*inputs), made(*inputs), steps=256)


# Bad input

SIZES = ["source_vocab_size", "target_vocab_size", "d_model", "heads", "d_ff"]
SIZES += ["encoder_layers", "decoder_layers", "max_length"]
SPECIAL_IDS = ["pad_id", "bos_id", "eos_id"]
small = partial(dataclasses.replace, SMALL)
short = partial(small, target_vocab_size=5)
NO_CONFIG = {"dict": dataclasses.asdict(SMALL), "NoneType": None, "int": 512}
UNKNOWN = {"'tanh'": "tanh", "function": F.relu}
NO_WAY = {"'both'": "both", "True": True}
ONES, made = torch.ones(2, 5, dtype=torch.int64), model().cpu()
whole, encode = partial(made, source=ONES, target=ONES), made.encode
remember = partial(made.decode, ONES)
decode = partial(made.decode, memory=encode(ONES))
NO_IDS = by_dtype(ONES > 0, 1.0 * ONES)
LENGTHS = by_shape(ONES[:, :0], ONES[:, :1].repeat(1, 14))
NUMBERS = by_dtype(torch.ones(1, 1, 1, 1))
MISFIT = by_shape(torch.ones(2, 1, 1, 3) > 0)


def no_mask(place, scores):
    """Bad masks in one of the three places of a whole pass."""
    fewer = ONES[:, :4]
    given = (fewer, ONES) if place == 1 else (ONES, fewer)

    def call(may_attend):
        made(*given, *[None] * place, may_attend)

    return [
        ("may_attend", call, TypeError, "True = may attend", NUMBERS),
        ("may_attend", call, ValueError, scores, MISFIT),
    ]


test_bad_input_is_refused = refuses(
    *no.size(small, *SIZES),
    *no.integer(small, *SPECIAL_IDS),
    *((n, small, ValueError, "at least 0", {"-1": -1}) for n in SPECIAL_IDS),
    ("d_model", small, ValueError, "a multiple of heads=3", {"7": 7}),
    ("d_model", small, ValueError, "an even number", {"9": 9}),
    *no.dropout(small),
    *no.switch(small, "norm_first", "final_norms"),
    ("activation", small, ValueError, "one of relu, gelu", UNKNOWN),
    ("tied", small, ValueError, "one of none, target, all", NO_WAY),
    ("tied", small, ValueError, 'one size for "all"', {"17 and 19": "all"}),
    ("pad_id", small, ValueError, "an id below 17", {"17": 17, "18": 18}),
    ("pad_id", short, ValueError, "an id below 5", {"5": 5}),
    ("bos_id", small, ValueError, "an id below 19", {"19": 19}),
    ("eos_id", small, ValueError, "an id below 19", {"19": 19}),
    ("eos_id", small, ValueError, "another id than bos_id=1", {"same": 1}),
    ("config", Transformer, TypeError, "a TransformerConfig", NO_CONFIG),
    ("config", Tables, TypeError, "a TransformerConfig", NO_CONFIG),
    ("source", encode, TypeError, "a tensor", {"list": [[1, 2]]}),
    ("source", encode, TypeError, "an integer tensor", NO_IDS),
    ("source", encode, ValueError, "2 axes", by_shape(ONES[0])),
    ("source", encode, ValueError, "1 to 13 positions", LENGTHS),
    ("source", encode, ValueError, "0 to 16", {"-1": -ONES, "17": 17 * ONES}),
    ("target", decode, ValueError, "0 to 18", {"-1": -ONES, "19": 19 * ONES}),
    ("target", decode, ValueError, "1 to 13 positions", LENGTHS),
    ("target", whole, ValueError, "the batch of the source", {"1": ONES[:1]}),
    *no.floating_tensor(remember, "memory"),
    *no_mask(0, "(2, 3, 5, 5)"),
    *no_mask(1, "(2, 3, 5, 5)"),
    *no_mask(2, "(2, 3, 4, 5)"),
)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["bos_id", "eos_id"])
def test_pad_neither_begins_nor_ends_a_target(name):
    with pytest.raises(ValueError, match=f"{name}: .* than pad_id=0, because"):
        config(**{name: 0})
