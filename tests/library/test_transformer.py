"""lib.transformer: sizes, masks, leaks, tying, and torch's whole model."""

import copy
import dataclasses
import math
import os
import pickle
import shutil
import sysconfig
from functools import partial
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import nn
from torch.export import Dim

from kit.interop import from_torch
from lib.efficient import GroupedQueryAttention
from lib.heads import MultiHeadAttention, record_weights
from lib.layers import LayerNorm
from lib.masks import causal_mask
from lib.transformer import (
    Tables,
    Transformer,
    TransformerConfig,
    initialise,
)
from tests.library.draw import DEVICE, close, coins, same
from tests.library.refusals import (
    by_dtype,
    by_shape,
    no_dropout,
    no_floating_tensor,
    no_integer,
    no_size,
    no_switch,
    refuses,
)

SMALL = {
    "source_vocab_size": 17,
    "target_vocab_size": 19,
    "d_model": 6,
    "heads": 3,
    "d_ff": 11,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "dropout": 0.25,
    "max_length": 13,
}
TIED = ("none", "target", "all")
EVERY_TIE = pytest.mark.parametrize("tied", TIED)
ORDERS = pytest.mark.parametrize("norm_first", [False, True])
MODES = pytest.mark.parametrize("training", [False, True])


def config(**options):
    if options.get("tied") == "all":
        options = {"source_vocab_size": 19} | options
    return TransformerConfig(**SMALL | options)


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
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(3, 17, (batch, length), generator=generator)
    return drawn.to(DEVICE)


# The configuration


def test_the_defaults_are_the_base_model():
    c = TransformerConfig(7, 11)
    assert dataclasses.asdict(c) == {
        "source_vocab_size": 7,
        "target_vocab_size": 11,
        "d_model": 512,
        "heads": 8,
        "d_ff": 2048,
        "encoder_layers": 6,
        "decoder_layers": 6,
        "dropout": 0.1,
        "norm_first": False,
        "final_norms": None,
        "activation": "relu",
        "tied": "target",
        "max_length": 5000,
        "pad_id": 0,
        "bos_id": 1,
        "eos_id": 2,
    }


def test_a_config_is_a_value_that_does_not_change():
    c = config()
    with pytest.raises(dataclasses.FrozenInstanceError):
        c.d_model = 12
    assert c == config() and hash(c) == hash(config())


def test_a_config_prints_one_field_a_line():
    c = config()
    assert len(str(c).splitlines()) == len(dataclasses.fields(c))
    assert eval(str(c)) == c


@pytest.mark.parametrize(
    ("norm_first", "final_norms", "wanted"),
    [
        (False, None, False),
        (True, None, True),
        (False, True, True),
        (True, False, False),
    ],
)
def test_final_norms(norm_first, final_norms, wanted):
    options = {"norm_first": norm_first, "final_norms": final_norms}
    assert config(**options).has_final_norms == wanted
    made = model(**options)
    for stack in (made.encoder, made.decoder):
        assert isinstance(stack.norm, LayerNorm) == wanted


# Parameters


def count(made):
    return sum(p.numel() for p in made.parameters())


def test_initialise_takes_each_matrix_by_its_own_size():
    """Heads that share keys have narrower matrices for keys and values."""
    torch.manual_seed(1)
    shared = GroupedQueryAttention(96, 8, 2)
    initialise(shared)
    for (matrix, bias), rows in zip(
        shared.matrices(), (96, 24, 24), strict=True
    ):
        bound = math.sqrt(6 / (96 + rows))
        assert 0.97 * bound < matrix.abs().max().item() <= bound
        assert (bias == 0).all()


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"tied": "all"}, 63_082_496),
        ({"tied": "all", "final_norms": True}, 63_084_544),
        ({"tied": "target"}, 82_026_496),
        ({"tied": "none"}, 100_970_496),
    ],
)
def test_parameters_of_the_base_model(options, wanted):
    c = TransformerConfig(37_000, 37_000, max_length=11, **options)
    with torch.device("meta"):
        assert count(Transformer(c)) == wanted


@EVERY_TIE
def test_which_tables_are_one(tied):
    made = model(tied=tied)
    source = made.tables.source_embedding.table.weight
    target = made.tables.target_embedding.table.weight
    assert (source is target) == (tied == "all")
    assert (made.tables.output_matrix is target) == (tied != "none")
    assert source.shape == (19 if tied == "all" else 17, 6)
    assert made.tables.output_matrix.shape == target.shape == (19, 6)
    assert made.tables.source_embedding.table.padding_idx == 0
    assert made.tables.target_embedding.table.padding_idx == 0
    matrices = {"none": 3, "target": 2, "all": 1}[tied]
    parts = ("target.table", "source.table", "output")
    assert [n for n in made.state_dict() if "coder." not in n] == [
        f"tables.{part}.weight" for part in parts[:matrices]
    ]


def test_no_blocks_share_weights():
    made = model()
    parts = [*made.encoder.blocks, *made.decoder.blocks]
    assert (len(made.encoder.blocks), len(made.decoder.blocks)) == (2, 3)
    assert count(nn.ModuleList(parts)) == sum(map(count, parts))


def test_options_reach_every_part():
    made = model(norm_first=True, activation="gelu", pad_id=3)
    rates = [m.p for m in made.modules() if isinstance(m, nn.Dropout)]
    assert rates == [0.25] * (1 + 2 * 3 + 3 * 4)
    attentions = [
        m for m in made.modules() if isinstance(m, MultiHeadAttention)
    ]
    assert [(a.dropout, a.heads) for a in attentions] == [(0.25, 3)] * 8
    arounds = [m for m in made.modules() if hasattr(m, "norm_first")]
    assert [m.norm_first for m in arounds] == [True] * (2 * 2 + 3 * 3)
    for part in (*made.encoder.blocks, *made.decoder.blocks):
        assert part.feed_forward.activation is F.gelu
        assert part.feed_forward.widen.out_features == 11
    assert made.positions.table.shape == (13, 6)
    for table in made.tables.children():
        assert table.table.padding_idx == 3


# Initialisation


def test_initialise_is_xavier_uniform_matrix_by_matrix():
    """The largest of many entries comes near the bound, none beyond."""
    torch.manual_seed(1)
    made = Transformer(config(d_model=66, d_ff=101, tied="none"))
    seen = 0
    for module in made.modules():
        if not isinstance(module, nn.Linear):
            continue
        packed = module.out_features == 3 * module.in_features
        for matrix in module.weight.chunk(3 if packed else 1):
            seen += 1
            bound = math.sqrt(6 / sum(matrix.shape))
            largest = matrix.abs().max().item()
            assert 0.97 * bound < largest <= bound
            spread = matrix.std().item() * math.sqrt(3) / bound
            assert abs(spread - 1) < 0.08
        if module.bias is not None:
            assert (module.bias == 0).all()
    assert seen == 8 * 4 + 5 * 2 + 1


@EVERY_TIE
def test_initialise_leaves_tables_and_norms_alone(tied):
    made = Transformer(config(tied=tied, final_norms=True))
    kept = {
        parameter
        for module in made.modules()
        if isinstance(module, LayerNorm | nn.Embedding)
        for parameter in module.parameters()
    }
    wanted = {parameter: parameter.detach() + 1 for parameter in kept}
    for parameter in kept:
        parameter.data += 1
    initialise(made)
    for parameter in kept:
        same(parameter.data, wanted[parameter])


# The forward pass


def by_parts(made, source, target, s_may, t_may, m_may):
    """The whole model, written out."""
    scale, positions = math.sqrt(6), made.positions.table

    def enter(ids, embedding):
        rows = embedding.table.weight[ids] * scale
        return rows + positions[: ids.shape[1]]

    memory = made.encoder(enter(source, made.tables.source_embedding), s_may)
    x = enter(target, made.tables.target_embedding)
    x = made.decoder(x, memory, t_may, m_may)
    return memory, x @ made.tables.output_matrix.T


def built():
    """The masks that ids ask for."""
    past = causal_mask(TARGET.shape[1], DEVICE)
    source = (SOURCE != 0)[:, None, None]
    return source, (TARGET != 0)[:, None, None] & past, source


@EVERY_TIE
@ORDERS
def test_the_model_by_parts(tied, norm_first):
    made = model(tied=tied, norm_first=norm_first)
    memory, logits = by_parts(made, *BOTH, *built())
    close(made.encode(SOURCE), memory, steps=64)
    close(made.decode(TARGET, memory, None, built()[0]), logits, steps=256)
    close(made(*BOTH), logits, steps=256)
    assert made(*BOTH).shape == (2, 5, 19)


def test_masks_from_ids():
    made = model()
    source, target, _ = built()
    same(made.source_mask(SOURCE), source)
    same(made.target_mask(TARGET), target)
    made = model(pad_id=9)
    same(made.source_mask(SOURCE), (SOURCE != 9)[:, None, None])
    same(made.target_mask(ids([1, 9])), ids([1, 0], [1, 0])[None, None] == 1)


def test_decode_hides_no_memory_by_itself():
    made = model()
    memory = made.encode(SOURCE)
    everything = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=DEVICE)
    _, logits = by_parts(made, *BOTH, *built()[:2], everything)
    close(made.decode(TARGET, memory), logits, steps=256)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_mask_of_ones_own_replaces_the_built_one(which):
    made, own = model(), [None, None, None]
    lengths = [(7, 7), (5, 5), (5, 7)][which]
    own[which] = coins(2, 3, *lengths, seed=which)
    used = [
        o if o is not None else b for o, b in zip(own, built(), strict=True)
    ]
    _, logits = by_parts(made, *BOTH, *used)
    close(made(*BOTH, *own), logits, steps=256)
    assert (made(*BOTH) - logits).abs().max() > 1e-3


@ORDERS
@EVERY_TIE
def test_gives_the_logits_of_torchs_transformer(norm_first, tied):
    torch.manual_seed(1)
    options = {"norm_first": norm_first, "batch_first": True}
    with pytest.warns(UserWarning, match="nested_tensor"):
        theirs = nn.Transformer(6, 3, 2, 3, 11, 0.0, **options)
    for parameter in theirs.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    theirs = theirs.to(DEVICE, torch.float64)
    made = model(norm_first=norm_first, final_norms=True, tied=tied)
    made.encoder = from_torch(theirs.encoder)
    made.decoder = from_torch(theirs.decoder)
    vectors = theirs(
        made.positions(made.tables.source_embedding(SOURCE)),
        made.positions(made.tables.target_embedding(TARGET)),
        tgt_mask=~causal_mask(5, DEVICE)[0, 0],
        src_key_padding_mask=SOURCE == 0,
        tgt_key_padding_mask=TARGET == 0,
        memory_key_padding_mask=SOURCE == 0,
    )
    wanted = F.linear(vectors, made.tables.output_matrix)
    logits = made(*BOTH)
    assert (logits - wanted).abs().max() < 1e-10
    tables = [*made.tables.parameters()]
    gradients = (
        torch.autograd.grad(out.square().sum(), tables, retain_graph=True)
        for out in (logits, wanted)
    )
    for ours, torchs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, torchs, atol=1e-9, rtol=1e-10)


@given(
    st.tuples(*[st.sampled_from([1, 2, 5, 7])] * 2),
    st.tuples(*[st.sampled_from([0, 1, 4, 6])] * 2),
    st.sampled_from([1, 2, 5]),
    st.booleans(),
    st.sampled_from(TIED),
)
def test_padding_changes_no_real_position(
    lengths, padding, batch, norm_first, tied
):
    """A sentence alone, or last in a batch of others and padded."""
    made = model(norm_first=norm_first, tied=tied)
    alone, padded = [], []
    for seed, (length, more) in enumerate(zip(lengths, padding, strict=True)):
        sentence = random_ids(1, length, seed)
        whole = random_ids(batch, length + more, seed + 2)
        whole[-1, :length], whole[-1, length:] = sentence[0], 0
        alone.append(sentence)
        padded.append(whole)
    memory = made.encode(padded[0])[-1, : lengths[0]]
    assert (memory - made.encode(alone[0])[0]).abs().max() < 1e-12
    logits = made(*padded)[-1, : lengths[1]]
    assert (logits - made(*alone)[0]).abs().max() < 1e-12


# Leaks


def run(made, source, target, *masks):
    """One pass, always with the same dropout."""
    torch.manual_seed(5)
    return made(source, target, *masks)


@MODES
@ORDERS
def test_no_later_target_token_leaks(training, norm_first):
    made = model(norm_first=norm_first).train(training)
    source = random_ids(3, 5)
    before, other = random_ids(3, 7, 1), random_ids(3, 7, 1)
    other[:, 3:] = random_ids(3, 7, 2)[:, 3:]
    other[0, 3:] = 0
    first, second = run(made, source, before), run(made, source, other)
    same(second[:, :3], first[:, :3])
    assert (second[:, 3:] != first[:, 3:]).any()


@MODES
def test_the_row_of_pad_is_never_seen(training):
    made = model(tied="none").train(training)
    before = run(made, *BOTH)
    made.tables.source_embedding.table.weight.data[0] = 1e6
    same(run(made, *BOTH), before)
    made.tables.target_embedding.table.weight.data[0] = 1e6
    real = TARGET != 0
    after = run(made, *BOTH)
    same(after[real], before[real])
    assert (after[~real] != before[~real]).any()


def test_record_weights_of_every_attention():
    made = model()
    with record_weights(made) as weights:
        close(made(*BOTH), model()(*BOTH), steps=256)
    shapes = {f"encoder.blocks.{i}.attention": (2, 3, 7, 7) for i in range(2)}
    for i in range(3):
        shapes[f"decoder.blocks.{i}.self_attention"] = (2, 3, 5, 5)
        shapes[f"decoder.blocks.{i}.cross_attention"] = (2, 3, 5, 7)
    assert {n: tuple(w.shape) for n, w in weights.items()} == shapes


def test_the_longest_sequence_and_int32_are_welcome():
    made = model()
    source, target = random_ids(2, 13), random_ids(2, 13, 1)
    logits = made(source, target)
    assert logits.shape == (2, 13, 19)
    same(made(source.int(), target.int()), logits)
    assert made(source[:0], target[:0]).shape == (0, 13, 19)


def test_a_sentence_of_pad_alone_gives_finite_numbers():
    made = model().train()
    source, target = SOURCE.clone(), TARGET.clone()
    source[0], target[1] = 0, 0
    logits = made(source, target)
    logits.square().sum().backward()
    assert logits.isfinite().all()
    assert all(p.grad.isfinite().all() for p in made.parameters())


# Copies


@EVERY_TIE
def test_copies_give_the_same_numbers(tied, tmp_path):
    made = model(tied=tied, activation="gelu_tanh")
    wanted = made(*BOTH)
    save_file(made.state_dict(), tmp_path / "model.safetensors")
    fresh = Transformer(made.config).to(DEVICE, torch.float64).eval()
    fresh.load_state_dict(load_file(tmp_path / "model.safetensors"))
    twins = copy.deepcopy(made), pickle.loads(pickle.dumps(made)), fresh
    for twin in twins:
        same(twin(*BOTH), wanted)
        assert twin.config == made.config
        assert count(twin) == count(made)
        target = twin.tables.target_embedding.table.weight
        assert (twin.tables.output_matrix is target) == (tied != "none")


def no_compiler() -> bool:
    """torch.compile's own backend writes C++ that includes Python.h."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    header = Path(sysconfig.get_path("include"), "Python.h")
    return not (compiler and header.exists())


INDUCTOR = pytest.param(
    "inductor",
    marks=pytest.mark.skipif(
        no_compiler(),
        reason="no C++ compiler or no Python.h (apt install g++ python3-dev)",
    ),
)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pytest.mark.parametrize("backend", ["aot_eager", INDUCTOR])
def test_compiled_it_gives_the_same_numbers(backend):
    torch.compiler.reset()
    layers = {"encoder_layers": 1, "decoder_layers": 1}
    choices = {"norm_first": True, "activation": "gelu_tanh"}
    made = model(torch.float32, **layers, **choices)
    compiled = torch.compile(made, fullgraph=True, backend=backend)
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
small = partial(TransformerConfig, **SMALL)
short = partial(small, target_vocab_size=5)
NO_CONFIG = {"dict": SMALL, "NoneType": None, "int": 512}
UNKNOWN = {"'tanh'": "tanh", "function": F.relu}
NO_WAY = {"'both'": "both", "True": True}
ONES, made = torch.ones(2, 5, dtype=torch.int64), model().cpu()
whole, encode = partial(made, source=ONES, target=ONES), made.encode
remember, decode = (
    partial(made.decode, ONES),
    partial(made.decode, memory=encode(ONES)),
)
RANKS = by_shape(ONES[0], ONES[..., None])
LENGTHS = by_shape(ONES[:, :0], ONES[:, :1].repeat(1, 14))
NUMBERS = by_dtype(torch.ones(1, 1, 1, 1))
MISFIT = by_shape(torch.ones(2, 1, 1, 3) > 0)
MASKS = {
    "(2, 3, 5, 5)": [
        lambda may_attend: made(ONES, ONES[:, :4], may_attend),
        lambda may_attend: made(ONES[:, :4], ONES, None, may_attend),
    ],
    "(2, 3, 5, 4)": [
        lambda may_attend: made(ONES[:, :4], ONES, None, None, may_attend)
    ],
}
test_bad_input_is_refused = refuses(
    *no_size(small, *SIZES),
    *no_integer(small, *SPECIAL_IDS),
    *((n, small, ValueError, "at least 0", {"-1": -1}) for n in SPECIAL_IDS),
    ("d_model", small, ValueError, "a multiple of heads=3", {"7": 7}),
    ("d_model", small, ValueError, "an even number", {"9": 9}),
    *no_dropout(small),
    *no_switch(small, "norm_first", "final_norms"),
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
    *(
        (name, call, *answer)
        for name, call, size in (
            ("source", whole, 17),
            ("source", encode, 17),
            ("target", whole, 19),
            ("target", decode, 19),
        )
        for answer in (
            (TypeError, "a tensor", {"list": [[1, 2]]}),
            (TypeError, "an integer tensor", by_dtype(ONES > 0, 1.0 * ONES)),
            (ValueError, "2 axes", RANKS),
            (ValueError, "1 to 13 positions (max_length)", LENGTHS),
            (ValueError, f"ids from 0 to {size - 1}", {"-1": ONES - 2}),
            (
                ValueError,
                f"ids from 0 to {size - 1}",
                {f"{size}": size * ONES},
            ),
        )
    ),
    ("target", whole, ValueError, "the batch of the source", {"1": ONES[:1]}),
    *no_floating_tensor(remember, "memory"),
    *(
        ("may_attend", call, *answer)
        for scores, calls in MASKS.items()
        for call in calls
        for answer in (
            (TypeError, "True = may attend", NUMBERS),
            (ValueError, scores, MISFIT),
        )
    ),
)


@pytest.mark.bad_input
@pytest.mark.parametrize("name", ["bos_id", "eos_id"])
def test_pad_neither_begins_nor_ends_a_target(name):
    with pytest.raises(ValueError, match=f"{name}: .* than pad_id=0, because"):
        config(**{name: 0})
