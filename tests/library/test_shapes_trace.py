"""kit.shapes: what is recorded is the pass itself, and nothing stays."""

from dataclasses import replace

import pytest
import torch

from kit.shapes import Step, in_words, table, trace, words
from lib.heads import MultiHeadAttention, record_weights
from lib.transformer import Transformer, TransformerConfig
from tests.library.draw import DEVICE, refused, same

CONFIG = TransformerConfig(17, 19, 30, 6, 60, 2, 3)
SOURCE = torch.tensor([[5, 3, 2], [7, 2, 0]], device=DEVICE)
TARGET = torch.tensor([[1, 6, 18, 9], [1, 8, 0, 0]], device=DEVICE)
BOTH = (SOURCE, TARGET)
HOOKS = ("_forward_hooks", "_forward_pre_hooks")


def attention(stage, q_len, k_len, mask):
    split = {"Q": q_len, "K": k_len, "V": k_len}
    return [
        (stage, "mask", mask),
        *((stage, f"{x}, split", (2, 6, n, 5)) for x, n in split.items()),
        (stage, "weights", (2, 6, q_len, k_len)),
        (stage, "heads merged", (2, q_len, 30)),
        (stage, "output", (2, q_len, 30)),
        (stage, "added, normed", (2, q_len, 30)),
    ]


def network(length):
    widths = {"hidden": 60, "output": 30, "added, normed": 30}
    return [("feed-forward", n, (2, length, d)) for n, d in widths.items()]


def entrance(side, length):
    return [
        (side, "ids", (2, length)),
        (side, "embedding", (2, length, 30)),
        (side, "with positions", (2, length, 30)),
    ]


EXPECTED = [
    *entrance("source", 3),
    *attention("self-attention", 3, 3, (2, 1, 1, 3)),
    *network(3),
    ("encoder", "memory", (2, 3, 30)),
    *entrance("target", 4),
    *attention("causal attention", 4, 4, (2, 1, 4, 4)),
    *attention("cross-attention", 4, 3, (2, 1, 1, 3)),
    *network(4),
    ("decoder", "states", (2, 4, 30)),
    ("output", "logits", (2, 4, 19)),
]


def model(**options):
    torch.manual_seed(0)
    return Transformer(replace(CONFIG, **options)).to(DEVICE)


def hooks(made):
    """Whatever a trace could leave behind in a model."""
    return [
        (name, [*getattr(module, kind)], "project" in vars(module))
        for name, module in made.named_modules()
        for kind in HOOKS
    ]


@pytest.mark.parametrize("tied", ["none", "target", "all"])
def test_all_shapes_in_order(tied):
    made = model(tied=tied, source_vocab_size=19)
    assert trace(made, *BOTH) == [Step(*step) for step in EXPECTED]


def test_pre_norm_and_final_norms_have_the_same_shapes():
    steps = trace(model(norm_first=True), *BOTH)
    expected = [
        (where, tensor.replace("added, normed", "added"), shape)
        for where, tensor, shape in EXPECTED
    ]
    assert steps == [Step(*step) for step in expected]


def test_the_pass_itself_is_recorded():
    """A model that does not do what its configuration says."""
    made = model()
    attention = made.encoder.blocks[0].attention
    project = MultiHeadAttention.project

    def narrower(*inputs):
        q, k, v = project(attention, *inputs)
        return [q[..., :2], k[..., :2], v]

    attention.project = narrower
    shapes = {s.tensor: s.shape for s in trace(made, *BOTH)[3:11]}
    assert shapes["Q, split"] == (2, 6, 3, 2)
    assert shapes["V, split"] == (2, 6, 3, 5)


@pytest.mark.parametrize("training", [False, True])
def test_nothing_stays_behind(training):
    made = model().train(training)
    clean, state = hooks(made), torch.get_rng_state()
    wanted = made.eval()(*BOTH)
    made.train(training)
    trace(made, *BOTH)
    assert hooks(made) == clean
    assert torch.equal(torch.get_rng_state(), state)  # no dropout was drawn
    assert all(m.training == training for m in made.modules())
    assert all(p.grad is None for p in made.parameters())
    same(made.eval()(*BOTH), wanted)


def test_every_module_keeps_its_own_mode():
    made = model().train()
    made.encoder.eval()
    modes = [m.training for m in made.modules()]
    trace(made, *BOTH)
    assert [m.training for m in made.modules()] == modes


def test_nothing_stays_behind_after_an_error():
    made = model().train()
    clean = hooks(made)
    for source, target in [(SOURCE + 17, TARGET), (SOURCE, TARGET + 19)]:
        with pytest.raises(ValueError, match="expected ids from 0"):
            trace(made, source, target)
        assert hooks(made) == clean
        assert made.training
    assert trace(made, *BOTH) == [Step(*step) for step in EXPECTED]


def test_inside_another_recording():
    made = model()
    with record_weights(made) as weights:
        trace(made, *BOTH)
    assert weights["decoder.blocks.2.cross_attention"].shape == (2, 6, 4, 3)


@pytest.mark.bad_input
def test_no_module_is_refused():
    with refused(TypeError, "model", "a Module", "str"):
        trace("model", *BOTH)


NAMES = {
    **{1: "1", 2: "batch", 3: "s_len", 4: "t_len", 5: "d_head", 6: "heads"},
    **{19: "vocab", 30: "d_model", 60: "d_ff"},
}


def test_sizes_have_names():
    assert words(model(), *BOTH) == NAMES
    assert in_words((2, 1, 4, 3), NAMES) == "batch 1 t_len s_len"


@pytest.mark.bad_input
@pytest.mark.parametrize(
    "options, inputs, got",
    [
        ({}, (SOURCE, TARGET[:, :3]), "3 for both s_len and t_len"),
        ({}, (SOURCE[:1], TARGET[:1]), "1 for both 1 and batch"),
        ({"d_ff": 30}, BOTH, "30 for both d_model and d_ff"),
        ({"target_vocab_size": 60}, BOTH, "60 for both d_ff and vocab"),
        ({"heads": 15}, BOTH, "2 for both batch and d_head"),
    ],
)
def test_a_size_that_names_two_axes_is_refused(options, inputs, got):
    with refused(ValueError, "sizes", "different", got):
        words(model(**options), *inputs)


def test_the_table_has_a_line_for_each_step():
    steps = trace(model(), *BOTH)
    head, *lines = table(steps, NAMES).split("\n")
    assert head.split() == ["stage", "tensor", "axes", "sizes"]
    assert len(lines) == len(steps)
    before = None
    for line, step in zip(lines, steps, strict=True):
        stage, tensor, axes = line[:17], line[17:33], line[33:61]
        assert stage.strip() == ("" if step.where == before else step.where)
        assert tensor.strip() == step.tensor
        assert axes.strip() == in_words(step.shape, NAMES)
        assert line[61:] == " × ".join(map(str, step.shape))
        before = step.where


def test_the_table_fits_the_page():
    made = model(d_model=512, heads=8, d_ff=2048, target_vocab_size=37_000)
    source = torch.randint(3, 17, (12, 21), device=DEVICE)
    target = torch.randint(3, 17, (12, 23), device=DEVICE)
    steps = trace(made, source, target)
    text = table(steps, words(made, source, target))
    assert max(map(len, text.split("\n"))) <= 79
